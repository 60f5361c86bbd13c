"""torch's tensors: read where they are, results torch's own. ``cargo xtask oracles`` installs torch."""

import doctest
import importlib
import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch", reason="torch is not installed; cargo xtask oracles installs it")

operations: Any = importlib.import_module("tilewright.torch")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128", "float8_e4m3fn", "float8_e5m2",
]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name: str) -> None:
    dtype = getattr(torch, name)
    size = torch.empty(0, dtype=dtype).element_size()
    raw = torch.randint(0, 2 if name == "bool" else 255, (6, 10 * size), dtype=torch.uint8)
    tensor = raw.view(dtype)
    assert tw.Memory(tensor).address == tensor.data_ptr() == raw.data_ptr()
    got = tw.relayout(tensor, to="col-major")
    assert isinstance(got, torch.Tensor) and got.dtype is dtype and tuple(got.shape) == (10, 6)
    assert torch.equal(got.view(torch.uint8), tensor.t().contiguous().view(torch.uint8))


def test_memory_is_shared() -> None:
    tensor = torch.arange(24, dtype=torch.float32).reshape(4, 6).share_memory_()
    assert tw.Memory(tensor).address == tensor.data_ptr()
    out = torch.empty(6, 4).share_memory_()
    address = out.data_ptr()
    assert tw.relayout(tensor, to="col-major", out=out) is out
    assert out.data_ptr() == address == tw.Memory(out).address and torch.equal(out, tensor.t())
    array = np.empty((6, 4), np.float32)
    tw.relayout(tensor, to="col-major", out=array)
    assert (array == tensor.numpy().T).all()
    view = torch.from_numpy(array)
    tw.relayout(tensor + 1, to="col-major", out=view)
    assert (array == tensor.numpy().T + 1).all()


def test_views() -> None:
    tensor = torch.arange(120, dtype=torch.int32).reshape(4, 5, 6)
    for view in [tensor.permute(2, 0, 1), tensor[1:, ::2, 1::3], tensor[0].expand(3, 5, 6), tensor[:, 0], tensor[:0]]:
        assert torch.equal(tw.relayout(view, to="row-major"), view.contiguous())
    images = torch.rand(2, 3, 4, 5)
    out = torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert tw.relayout(images, out=out) is out and torch.equal(out, images)
    assert torch.equal(tw.relayout(images, to="channels_last").flatten(), out.permute(0, 2, 3, 1).flatten())


def test_what_is_refused() -> None:
    with pytest.raises(tw.DeviceError):
        tw.relayout(torch.empty(3, device="meta"), to="row-major")
    with pytest.raises(tw.ReadOnlyError, match="gradient"):
        tw.relayout(torch.zeros(3), to="row-major", out=torch.zeros(3, requires_grad=True))
    with pytest.raises(tw.ArrayError, match="to_dense"):
        tw.relayout(torch.eye(3).to_sparse(), to="row-major")
    with pytest.warns(UserWarning, match="prototype"), pytest.raises(tw.ArrayError):
        tw.relayout(torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), to="row-major")
    with pytest.raises(tw.CopyError, match="resolve_conj"):
        tw.relayout(torch.zeros(3, dtype=torch.complex64).conj(), to="row-major")
    tensor = torch.zeros(4, 4)
    with pytest.raises(tw.OverlapError):
        tw.relayout(tensor, to="col-major", out=tensor.t())
    with pytest.raises(tw.Error):
        tw.relayout(tensor, out=torch.zeros(4).expand(4, 4))


def test_parameters_are_read() -> None:
    weights = torch.nn.Parameter(torch.rand(4, 6))
    for tensor in [weights, weights * 2]:
        got = tw.relayout(tensor, "col-major")
        assert torch.equal(got, tensor.detach().t()) and not got.requires_grad
    module = torch.nn.Linear(30, 100)
    assert tuple(tw.relayout(module.weight, "zN").shape) == (4, 7, 16, 8)


def test_fortran_order() -> None:
    tensor = torch.arange(24).reshape(2, 3, 4)
    rows, columns = (tw.relayout(tensor, "col-major", order=order) for order in "CF")
    assert torch.equal(columns, tensor) and torch.equal(columns.permute(2, 1, 0), rows)
    assert columns.stride() == (1, 2, 6)
    out = torch.empty_strided((2, 3, 4), (1, 2, 6), dtype=tensor.dtype)
    assert torch.equal(tw.relayout(tensor, "col-major", out=out), tensor)
    assert torch.equal(tw.relayout(columns, "row-major", from_="col-major", dims=(2, 3, 4)), tensor)


CASES = [
    ((100, 30), {"to": "zN"}),
    ((100, 30), {"to": "zN", "order": "F"}),
    ((2, 3, 4, 5), {"to": "NHWC"}),
    ((2, 4, 5, 3), {"to": "NCHW", "from_": "NHWC"}),
    ((3, 5), {"to": "{1,0:T(2,2)}", "fill": "one"}),
    ((24,), {"to": "row-major", "from_": "{1,0:T(2,2)}", "dims": [3, 5]}),
    ((0, 4), {"to": "col-major"}),
    ((6,), {"to": "row-major"}),
]


@pytest.mark.parametrize(("shape", "asked"), CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int8])
def test_the_operation_is_relayout(shape: tuple[int, ...], asked: dict[str, Any], dtype: Any) -> None:
    tensor = torch.randint(0, 100, shape).to(dtype)
    wanted = tw.relayout(tensor, **asked)
    for function in [moved := partial(operations.relayout, **asked), compiled(moved)]:
        got = function(tensor)
        assert torch.equal(got, wanted) and got.stride() == wanted.stride() and got.dtype == wanted.dtype
    rest = {name: value for name, value in asked.items() if name != "to"}
    torch.library.opcheck(torch.ops.tilewright.relayout, (tensor, asked["to"]), rest)


FORTRAN = [
    ((2, 3, 4, 5), "NHWC", {"to": "NCHW", "from_": "NHWC", "dims": [2, 3, 4, 5]}),
    ((2, 3, 4, 5), "NHWC", {"to": "NCHW", "from_": "NHWC", "dims": [2, 3, 4, 5], "order": "F"}),
    ((2, 3, 4, 5), "NHWC", {"to": "CHWN", "from_": "NHWC", "dims": [2, 3, 4, 5]}),
    ((3, 5), "{1,0:T(2,2)}", {"to": "row-major", "from_": "{1,0:T(2,2)}", "dims": [3, 5]}),
    ((4, 6), "col-major", {"to": "row-major", "from_": "col-major", "dims": [4, 6]}),
]


@pytest.mark.parametrize(("dims", "lies", "asked"), FORTRAN, ids=str)
def test_storages_in_fortran_s_order(dims: tuple[int, ...], lies: str, asked: dict[str, Any]) -> None:
    array = torch.rand(dims, dtype=torch.float64)
    storage = tw.relayout(array, lies, order="F")
    assert not storage.is_contiguous()
    moved = partial(operations.relayout, **asked)
    wanted = tw.relayout(storage, **asked)
    for function in [moved, compiled(moved)]:
        source = storage.detach().clone().requires_grad_()
        got = function(source)
        assert torch.equal(got, wanted) and got.stride() == wanted.stride()
        weights = torch.rand_like(got)
        (got * weights).sum().backward()
        # The sum of weights times elements: the gradient is the weight at each element's place.
        back = {"to": lies, "from_": asked["to"], "dims": dims, "order": "F"}
        turned = weights.permute(*reversed(range(weights.dim()))) if asked.get("order") == "F" else weights
        assert torch.equal(source.grad, tw.relayout(turned.contiguous(), **back))
    source = storage.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(moved, (source,))
    rest = {name: value for name, value in asked.items() if name != "to"}
    torch.library.opcheck(torch.ops.tilewright.relayout, (source, asked["to"]), rest)


@pytest.mark.parametrize("fill", ["one", "lowest", "highest", "0x7", "0", ""])
def test_no_gradient_is_in_padding(fill: str) -> None:
    lies = "f32[2,3]{0,1}pad(3,5)" + (f"fill({fill})" if fill else "")
    storage = tw.relayout(torch.rand(2, 3), lies)
    moved = partial(operations.relayout, to="row-major", from_=lies)
    wanted = tw.relayout(torch.full((2, 3), 2.0), "f32[2,3]{0,1}pad(3,5)")
    for function in [moved, compiled(moved)]:
        source = storage.clone().requires_grad_()
        function(source).mul(2).sum().backward()
        assert torch.equal(source.grad, wanted)
    # What is moved there has its padding filled, which no gradient follows.
    source = torch.rand(2, 3, requires_grad=True)
    operations.relayout(source, lies).mul(2).sum().backward()
    assert torch.equal(source.grad, torch.full((2, 3), 2.0))


def test_packing_changes_the_element_type() -> None:
    tensor = torch.randint(-8, 8, (4, 6), dtype=torch.int8)
    asked: dict[str, Any] = {"to": "row-major", "dtype": "s4", "bits": 4}
    got = compiled(partial(operations.relayout, **asked))(tensor)
    assert got.dtype is torch.uint8 and torch.equal(got, tw.relayout(tensor, **asked))


@pytest.mark.parametrize("dtype", ["f16", "float16", np.float16, np.dtype("float16"), torch.float16], ids=str)
def test_element_types_are_given_as_anywhere(dtype: Any) -> None:
    tensor = torch.rand(4, 6).half()
    wanted = tw.relayout(tensor, "col-major", dtype=dtype)
    moved = partial(operations.relayout, to="col-major", dtype=dtype)
    for function in [moved, compiled(moved)]:
        assert torch.equal(function(tensor), wanted)


def test_the_arguments_are_those_of_relayout_but_out() -> None:
    there, here = (list(inspect.signature(function).parameters) for function in (tw.relayout, operations.relayout))
    assert set(there) - set(here) == {"out"} and set(here) <= set(there)
    for dtype, python in [(torch.float64, float), (torch.int64, int), (torch.bool, bool)]:
        tensor = torch.zeros(2, 3, dtype=dtype)
        assert operations.relayout(tensor, "col-major", dtype=python).dtype is dtype
    with pytest.raises(tw.Error) as raised:
        operations.relayout(torch.zeros(2, 3), "col-major", dtype="float99")
    with pytest.raises(tw.Error) as elsewhere:
        tw.relayout(torch.zeros(2, 3), "col-major", dtype="float99")
    assert str(raised.value) == str(elsewhere.value)


@pytest.mark.parametrize(("shape", "asked"), CASES, ids=str)
def test_gradients_go_the_same_way_back(shape: tuple[int, ...], asked: dict[str, Any]) -> None:
    tensor = torch.rand(shape, dtype=torch.float64, requires_grad=True)
    moved = partial(operations.relayout, **asked)
    moved(tensor).mul(weights := torch.rand_like(moved(tensor))).sum().backward()
    # The sum of weights times elements: the gradient is the weights, each at its element's place.
    with torch.no_grad():
        again = sum(float(a * b) for a, b in zip(moved(tensor).flatten(), weights.flatten(), strict=True))
        padding = float((moved(torch.zeros_like(tensor)) * weights).sum())
        assert again == pytest.approx(float((tensor * tensor.grad).sum()) + padding)
    assert tensor.numel() > 100 or torch.autograd.gradcheck(moved, (tensor,))


def jvp(function: Any, at: Any, along: Any) -> Any:
    return torch.func.jvp(function, (at,), (along,))


@pytest.mark.parametrize(("shape", "asked"), [*CASES, ((2, 3), {"to": "f64[2,3]{0,1}pad(3,5)fill(one)"})], ids=str)
def test_tangents_go_the_same_way_there(shape: tuple[int, ...], asked: dict[str, Any]) -> None:
    at, along = torch.rand(shape, dtype=torch.float64), torch.rand(shape, dtype=torch.float64)
    moved = partial(operations.relayout, **asked)
    padding = tw.relayout(torch.zeros_like(at), **asked)
    wanted = tw.relayout(along, **asked) - padding
    both = partial(jvp, moved)
    for function in [both, compiled(both)]:
        value, tangent = function(at, along)
        assert torch.equal(value, tw.relayout(at, **asked)) and torch.equal(tangent, wanted)
        assert tangent.stride() == value.stride()
    # The way without functions, and both modes together.
    with torch.autograd.forward_ad.dual_level():
        dual = moved(torch.autograd.forward_ad.make_dual(at, along))
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(dual).tangent, wanted)
    if 0 < at.numel() < 100:
        assert torch.autograd.gradcheck(moved, (at.requires_grad_(),), check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(moved, (at,), check_fwd_over_rev=True)


def test_tangents_of_storages_in_fortran_s_order() -> None:
    for dims, lies, asked in FORTRAN:
        storage = tw.relayout(torch.rand(dims, dtype=torch.float64), lies, order="F")
        for along in [torch.rand_like(storage), torch.rand(storage.shape, dtype=torch.float64)]:
            value, tangent = jvp(partial(operations.relayout, **asked), storage, along)
            kept = torch.empty_like(storage).copy_(along)
            assert torch.equal(tangent, tw.relayout(kept, **asked)) and torch.equal(value, tw.relayout(storage, **asked))


def test_derivatives_of_functions_of_it() -> None:
    at = torch.rand(3, 5, dtype=torch.float64)
    tiles = partial(operations.relayout, to="{1,0:T(2,2)}", fill="one")

    def cubes(weights: Any) -> Any:
        return (tiles(weights) ** 3).sum()

    inner = torch.func.grad(cubes)(at)
    assert torch.allclose(inner, 3 * at**2)
    for twice in [torch.func.jacfwd(torch.func.grad(cubes)), torch.func.jacrev(torch.func.jacfwd(cubes))]:
        hessian = twice(at).reshape(15, 15)
        assert torch.allclose(hessian, torch.diag(6 * at.flatten()))
    _, second = jvp(lambda x: jvp(tiles, x * x, x)[1], at, torch.ones_like(at))
    assert torch.equal(second, jvp(tiles, at, torch.ones_like(at))[1])
    with torch.no_grad():
        assert torch.equal(jvp(tiles, at, at)[1].sum(), tw.relayout(at, "{1,0:T(2,2)}").sum())


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_many_at_once_are_one_after_the_other(dim: int) -> None:
    array = torch.rand(4, 3, 5)
    cases: list[dict[str, Any]] = [
        {"to": "zN"}, {"to": "col-major", "order": "F"}, {"to": "row-major", "from_": "col-major"},
    ]
    for asked in cases:
        moved = partial(operations.relayout, **asked)
        if "from_" in asked:
            moved = partial(moved, dims=[extent for at, extent in enumerate(array.shape) if at != dim])
        for function in [torch.vmap(moved, in_dims=dim), compiled(torch.vmap(moved, in_dims=dim))]:
            got = function(array)
            for one, many in zip(array.unbind(dim), got.unbind(0), strict=True):
                assert torch.equal(many, moved(one.contiguous()))
    assert tuple(torch.vmap(partial(operations.relayout, to="zN"))(torch.rand(0, 3, 5)).shape) == (0, 1, 1, 16, 8)


def test_a_truth_value_is_no_width() -> None:
    for relayout in [tw.relayout, operations.relayout]:
        with pytest.raises(TypeError, match="bits= takes an integer, not bool"):
            relayout(torch.zeros(2, 3, dtype=torch.int8), "row-major", bits=True)


def test_a_module_compiles_whole() -> None:
    """One graph, no break, with layouts as text and as values."""
    zn = tw.parse("f16[100,30] zN")

    def packed(weights: Any) -> Any:
        return operations.relayout(weights * 2, zn if weights.dim() == 2 else "row-major").reshape(-1) + 1

    weights = torch.ones(100, 30, dtype=torch.float16)
    assert torch.equal(compiled(packed)(weights), packed(weights))


def compiled(function: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def test_docstrings() -> None:
    failed, tried = doctest.testmod(operations)
    assert failed == 0 and tried > 0
