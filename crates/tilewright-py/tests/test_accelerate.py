"""torch's tensors copied, and torch's own copies accelerated: the same bits, strides and errors."""

import importlib
import random
import threading
from typing import Any

import numpy as np
import pytest
from interpreter import others_run

import tilewright as tw

torch = pytest.importorskip("torch", reason="torch is not installed; cargo xtask oracles installs it")
ours: Any = importlib.import_module("tilewright.torch")

NAMES = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32",
    "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
]
DTYPES = [getattr(torch, name) for name in NAMES if hasattr(torch, name)]


def tensor(dice: random.Random, dtype: Any, ranks: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> Any:
    shape = [dice.choice([0, 1, 2, 3, 5, 8, 17]) for _ in range(dice.choice(ranks))]
    size = torch.empty(0, dtype=dtype).element_size()
    most = 2 if dtype is torch.bool else 100
    raw = torch.tensor([dice.randrange(most) for _ in range(int(np.prod(shape, dtype=int)) * size)], dtype=torch.uint8)
    return raw.view(dtype).reshape(shape) if raw.numel() else torch.empty(shape, dtype=dtype)


def view(dice: random.Random, tensor: Any) -> Any:
    tensor = tensor.permute(dice.sample(range(tensor.dim()), tensor.dim()))
    for dim in range(tensor.dim()):
        if dice.random() < 0.4:
            step, first = dice.choice([1, 2, 3]), dice.randrange(tensor.shape[dim] + 1)
            cuts = [slice(None)] * tensor.dim()
            cuts[dim] = slice(first, None, step)
            tensor = tensor[tuple(cuts)]
    if dice.random() < 0.2:
        tensor = tensor.expand(dice.randrange(1, 4), *tensor.shape)
    return tensor


def raw(tensor: Any) -> bytes:
    """The bytes of the elements in row-major order, read by torch one stride at a time."""
    size = tensor.element_size()
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
    return bytes(tensor.detach().view(words[size]).contiguous().numpy().tobytes())


def copies(view: Any) -> list[Any]:
    """Calls that copy; each gives a new tensor, or changes one of its own."""
    calls = [
        lambda: view.contiguous(),
        lambda: view.clone(),
        lambda: view.clone(memory_format=torch.contiguous_format),
        lambda: torch.empty(view.shape[::-1], dtype=view.dtype).permute(tuple(reversed(range(view.dim())))).copy_(view),
        lambda: torch.zeros((*view.shape, 2), dtype=view.dtype)[..., 1].copy_(view),
        lambda: view.to(view.dtype, copy=True),
        lambda: view.reshape(-1),
    ]
    if view.dim() == 4:
        calls += [lambda: view.contiguous(memory_format=torch.channels_last)]
        calls += [lambda: view.to(memory_format=torch.channels_last)]
        calls += [lambda: view.clone(memory_format=torch.channels_last)]
    return calls


def outcome(call: Any) -> Any:
    """The bits and strides of a result, or the error."""
    try:
        made = call()
    except (RuntimeError, NotImplementedError) as error:
        return type(error), str(error)
    return made.dtype, tuple(made.shape), made.stride(), raw(made)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_torch_copies_the_same(dtype: Any) -> None:
    dice = random.Random(str(dtype))
    taken = 0
    for _ in range(1000 // len(DTYPES) + 1):
        source = view(dice, tensor(dice, dtype))
        for call in copies(source):
            expected = outcome(call)
            with ours.accelerate(least=1) as counts:
                found = outcome(call)
            assert found == expected
            taken += counts.taken
    assert taken > 10


def test_errors_are_torch_s() -> None:
    base = torch.zeros(6)
    for call in [
        lambda: torch.zeros(2, 3).copy_(torch.zeros(4, 3)),
        lambda: base[:1].expand(4).copy_(torch.ones(4)),
        lambda: torch.zeros(2, 3, device="meta").to("cpu"),
        lambda: torch.zeros(3).copy_("x"),
    ]:
        with pytest.raises((RuntimeError, NotImplementedError, TypeError)) as expected:
            call()
        with ours.accelerate(least=1), pytest.raises(type(expected.value)) as found:
            call()
        assert str(found.value).splitlines()[0] == str(expected.value).splitlines()[0]


def test_what_is_left_alone() -> None:
    other = torch.rand(64, 64).t()
    with ours.accelerate(least=1) as counts:
        torch.zeros(64, 64).copy_(other.double())  # another type
        torch.rand(64, 64).clone()  # dense already
        torch.zeros(64, 64).copy_(torch.rand(64))  # broadcast
        torch.zeros(3).fill_(2.5)
        torch.zeros(4)[1] = 2.5
        buffer = torch.arange(16.0).reshape(4, 4)
        assert torch.equal(buffer.copy_(buffer.clone().t()), torch.arange(16.0).reshape(4, 4).t())
        windows = torch.as_strided(torch.zeros(6), (3, 3), (1, 1))  # torch does not see that they share
        assert windows.copy_(torch.arange(9.0).reshape(3, 3).t())[2, 2] == 8
        conjugated = torch.rand(8, 8, dtype=torch.complex64).conj()
        assert torch.equal(conjugated.t().contiguous().resolve_conj(), conjugated.resolve_conj().t())
    assert counts.left > 0
    with ours.accelerate(least=1 << 20) as counts:
        other.contiguous()
    assert (counts.taken, counts.left) == (0, 1)
    other.contiguous()
    assert (counts.taken, counts.left) == (0, 1), "it is stopped"


def test_numbers_and_types_are_converted_as_ever() -> None:
    for dtype in [torch.float32, torch.int32, torch.bool, torch.complex64, torch.bfloat16]:
        for number in [True, 3, -2.5, float("inf"), 1e30, 2**40]:
            def written(dtype: Any = dtype, number: Any = number) -> Any:
                made = torch.zeros(3, dtype=dtype)
                made[1] = number
                return made

            expected = outcome(written)
            with ours.accelerate(least=1):
                assert outcome(written) == expected


def test_gradients_are_recorded() -> None:
    for least in [1, 1 << 30]:
        source = torch.rand(32, 48, requires_grad=True)
        with ours.accelerate(least=least) as counts:
            made = source.t().contiguous()
            (made * torch.arange(32.0)).sum().backward()
        assert torch.equal(source.grad, torch.arange(32.0)[:, None].expand(32, 48))
        assert (counts.taken > 0) == (least == 1)
    weights = torch.nn.Parameter(torch.zeros(16, 8))
    with ours.accelerate(least=1) as counts, torch.no_grad():
        weights.copy_(torch.rand(8, 16).t())
    assert counts.taken == 1 and weights.requires_grad and weights._version == 1
    with ours.accelerate(least=1), pytest.raises(RuntimeError, match="leaf"):
        weights.copy_(torch.rand(8, 16).t())


def test_nested_and_stopped() -> None:
    source = torch.rand(32, 48).t()
    outer = ours.accelerate(least=1)
    with ours.accelerate(least=1) as inner:
        source.contiguous()
    source.contiguous()
    outer.stop()
    outer.stop()
    source.contiguous()
    assert (outer.taken, inner.taken) == (1, 1)
    assert "stopped, 1 copies taken of 6144 bytes" in repr(outer)
    made = ours.accelerate(least=1)
    source.contiguous()
    made.stop()
    assert made.taken == 1


@pytest.mark.parametrize(("asked", "error"), [
    ({"threads": -1}, tw.ArgumentError), ({"least": -5}, tw.ArgumentError), ({"least": 1e4}, TypeError),
    ({"threads": "2"}, TypeError), ({"threads": True}, TypeError), ({"threads": 2**70}, tw.ArgumentError),
])  # fmt: skip
def test_arguments(asked: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ours.accelerate(**asked)
    with ours.accelerate(least=1) as counts:
        torch.rand(8, 16).t().contiguous()
    assert counts.taken == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_interpreter_is_free(dtype: Any) -> None:
    """While a copy is taken, and while torch converts what is left to it."""
    source, out = torch.zeros(1000, 1000).t(), torch.zeros(1000, 1000, dtype=dtype)
    with ours.accelerate(least=1, threads=1):
        assert others_run(lambda: out.copy_(source))


def test_it_comes_and_goes_while_others_copy() -> None:
    source, ends = torch.rand(64, 64).t(), threading.Event()

    def copy() -> None:
        while not ends.is_set():
            assert torch.equal(source.contiguous(), source)

    workers = [threading.Thread(target=copy) for _ in range(2)]
    for worker in workers:
        worker.start()
    for _ in range(30):
        with ours.accelerate(least=1):
            source.contiguous()
    ends.set()
    for worker in workers:
        worker.join()


def test_large_copies() -> None:
    base = torch.arange(2 * 30 * 400 * 50).reshape(2, 30, 400, 50)
    for view in [base.permute(0, 2, 3, 1), base[:, ::2, 3:, 1:].transpose(1, 3), base.transpose(0, 3)]:
        expected = outcome(view.contiguous)
        with ours.accelerate() as counts:
            assert outcome(view.contiguous) == expected
        assert counts.taken == 1


def test_threads_of_the_process() -> None:
    source, found = torch.rand(320, 480).t(), []
    with ours.accelerate(least=1) as counts:
        workers = [threading.Thread(target=lambda: found.append(source.contiguous())) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert counts.taken == 4 and all(torch.equal(made, source) for made in found)


def test_compiled_programs_and_subclasses() -> None:
    class Other(torch.Tensor):
        pass

    with ours.accelerate(least=1) as counts:
        wrapped = torch.rand(8, 16).as_subclass(Other).t().contiguous()
        assert type(wrapped) is Other
        torch._dynamo.reset()
        compiled = torch.compile(lambda array: array.t().contiguous() * 2, fullgraph=True, backend="aot_eager")
        array = torch.rand(8, 16)
        assert torch.equal(compiled(array), array.t() * 2)
    assert counts.taken > 0
    # The kernel is gone, and nothing that was compiled calls it.
    taken = counts.taken
    assert torch.equal(compiled(array), array.t() * 2)
    torch._dynamo.reset()
    again = torch.compile(lambda array: array.t().contiguous() * 3, fullgraph=True, backend="aot_eager")
    assert torch.equal(again(array), array.t() * 3) and counts.taken == taken


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_our_own_copies(dtype: Any) -> None:
    dice = random.Random(str(dtype) + " ours")
    for _ in range(40):
        source = view(dice, tensor(dice, dtype))
        made = tw.contiguous(source)
        assert made.dtype is dtype and made.is_contiguous() and raw(made) == raw(source)
        out = tw.empty_like(source, "col-major" if source.dim() else None)
        assert tw.copy_(out, source) is out and raw(out) == raw(source)


def test_between_libraries() -> None:
    tensor = torch.rand(4, 6)
    array = np.zeros((6, 4), np.float32)
    tw.copy_(array, tensor.t())
    assert (array == tensor.numpy().T).all()
    tw.copy_(tensor, array[::-1].T)
    assert (tensor.numpy() == array[::-1].T).all()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tw.copy_(narrow := np.zeros(6, ml_dtypes.bfloat16), torch.arange(6).bfloat16())
    assert narrow.astype(float).tolist() == list(range(6))


def test_tensors_that_are_refused() -> None:
    shrunk = torch.rand(30, 40).t()
    shrunk.untyped_storage().resize_(8)
    with pytest.raises(tw.ArrayError, match="8 bytes"):
        tw.copy_(shrunk, torch.zeros(40, 30))
    with pytest.raises(tw.ArrayError, match="8 bytes"):
        tw.contiguous(shrunk)
    with pytest.raises(tw.DtypeError, match="qint8"):
        tw.contiguous(torch.quantize_per_tensor(torch.zeros(4, 6), 1.0, 0, torch.qint8).t())
    with pytest.raises(tw.ReadOnlyError, match="gradient"):
        tw.copy_(torch.zeros(3, requires_grad=True), torch.zeros(3))
    with pytest.raises(tw.DeviceError):
        tw.copy_(torch.zeros(3, device="meta"), torch.zeros(3))
    with pytest.raises(tw.CopyError, match="resolve_conj"):
        tw.contiguous(torch.zeros(3, dtype=torch.complex64).conj())
    with pytest.raises(tw.UnsupportedError, match="share"):
        tw.copy_(torch.zeros(1).expand(4), torch.zeros(4))
    parameter = torch.nn.Parameter(torch.rand(4, 6))
    assert not tw.contiguous(parameter.t()).requires_grad
