"""Moves on a CUDA device, in a process where it is emulated; ``test_cuda.py`` starts it."""

import ctypes
import gc
import itertools
import sys
import types
from pathlib import Path
from typing import Any

import emulated_cuda as cuda
import numpy as np
import pytest

import tilewright as tw

torch, cupy = cuda.install_torch(), cuda.install_cupy()
driver = cuda.driver

SHAPES = [(1,), (7,), (64, 96), (100, 30), (3, 5, 7), (16, 0)]
LAYOUTS = ["row-major", "col-major"]


def elements(shape: tuple[int, ...], dtype: Any) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    size = count * np.dtype(dtype).itemsize
    data = np.random.default_rng(count).integers(0, 256, size, np.uint8)
    return (data & 1 if np.dtype(dtype) == bool else data).view(dtype).reshape(shape)


def same(got: Any, wanted: Any) -> bool:
    return bool(got.shape == wanted.shape and got.tobytes() == wanted.tobytes())


@pytest.mark.parametrize("made", [cuda.Tensor, cuda.ndarray])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex64", "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_result_is_that_of_the_cpu_in_the_same_library(made: Any, dtype: str, shape: tuple[int, ...]) -> None:
    data = elements(shape, dtype)
    formats = [*LAYOUTS, "zN"] if len(shape) == 2 and dtype == "int16" and data.size else LAYOUTS
    for to, order in itertools.product(formats, "CF"):
        got = tw.relayout(made.of(data), to=to, order=order)
        assert type(got) is made and got.memory.device == 0
        assert same(got.numpy(), tw.relayout(data, to=to, order=order)), (to, order)
        assert got.dtype == made.of(data).dtype


@pytest.mark.parametrize("made", [cuda.Tensor, cuda.ndarray])
def test_strides_are_followed(made: Any) -> None:
    whole = elements((12, 10), np.float32)
    for view in (whole.T, whole[::2], whole[:, 3:7], whole[2:9, 1:].T):
        assert same(tw.relayout(made.of(view), to="row-major").numpy(), np.ascontiguousarray(view))
        got = tw.contiguous(made.of(view))
        assert type(got) is made and same(got.numpy(), np.ascontiguousarray(view))
    plain = made.of(whole)
    assert tw.contiguous(plain) is plain


@pytest.mark.parametrize("made", [cuda.Tensor, cuda.ndarray])
def test_storages_come_back(made: Any) -> None:
    data = elements((100, 30), np.int16)
    blocks = tw.relayout(made.of(data), to="zN")
    assert blocks.shape == (2, 7, 16, 16)
    assert same(tw.relayout(blocks, from_="zN", dims=(100, 30), to="row-major").numpy(), data)
    plan = tw.Plan("s16[100,30] row-major", "zN")
    assert same(plan.run(made.of(data)).numpy(), plan.run(data))
    out = made(cuda.Memory(data.size * 2), np.int16, (30, 100))
    assert tw.relayout(made.of(data), to="col-major", out=out) is out
    assert same(out.numpy(), data.T.copy())


def test_both_kinds_of_capsules_are_read() -> None:
    data = elements((8, 6), np.int32)
    for versioned in (True, False):
        got = tw.relayout(cuda.ndarray.of(data, versioned=versioned), to="col-major")
        assert same(got.numpy(), data.T.copy())


def test_arrays_are_copied_where_their_library_lets_them_be_written() -> None:
    data = elements((12, 10), np.float32)
    for made in (cuda.Tensor, cuda.ndarray, cuda.Array):
        to = made(cuda.Memory(480), np.float32, (12, 10), (1, 12))
        assert tw.copy_(to, made.of(data)) is to and same(np.ascontiguousarray(to.numpy()), data)
        tw.copy_(to, made.of(data[3]))
        assert (to.numpy() == data[3]).all()
    for how in ({"versioned": False}, {"flags": 1}):
        to = cuda.ndarray(cuda.Memory(480), np.float32, (12, 10), **how)
        before = driver.get(to.memory.address, 480)
        with pytest.raises(tw.ReadOnlyError):
            tw.copy_(to, cuda.ndarray.of(data))
        assert driver.get(to.memory.address, 480) == before


@pytest.mark.parametrize(("made", "streams"), [(cuda.Tensor, cuda.torch_streams), (cuda.ndarray, cuda.cupy_streams)])
def test_moves_are_queued_on_the_current_stream(made: Any, streams: cuda.Streams) -> None:
    data = elements((64, 96), np.float32)
    with streams.use(driver.stream(0)) as stream:
        array = made.of(data)
        if made is cuda.ndarray:
            tw.relayout(array, to="col-major")
            # The order is made by the stream, which is known.
            assert set(array.asked) == {-1}
        got = tw.relayout(array, to="col-major")
        # Nothing has waited: an event behind the move is not done before the stream is.
        with driver.within(0):
            assert driver.library.cuStreamQuery(ctypes.c_void_p(stream)) == 600
            driver.check(driver.library.cuStreamSynchronize(stream))
            assert driver.library.cuStreamQuery(ctypes.c_void_p(stream)) == 0
        assert same(got.numpy(), data.T.copy())


def test_a_source_of_another_stream_is_ordered_before_and_held() -> None:
    data = elements((64, 96), np.float32)
    own, other = driver.stream(0), driver.stream(0)
    with cuda.torch_streams.use(own):
        for made in (cuda.ndarray, cuda.Array):
            with cuda.cupy_streams.use(other):
                source = made.of(data)
                source.memory.stream = other
                source.queued = other
                with driver.within(0):
                    driver.check(driver.library.cuMemsetD8Async(source.memory.address, 7, data.nbytes, other))
                to = cuda.Tensor(cuda.Memory(data.nbytes, 0, own), np.float32, data.shape)
                tw.copy_(to, source)
                assert source.asked[-1] == (-1 if made is cuda.ndarray else own)
                # It is freed on its own stream, which knows nothing of the move.
                del source
                gc.collect()
                with driver.within(0):
                    driver.check(driver.library.cuStreamSynchronize(other))
                assert to.numpy().tobytes() == b"\7" * data.nbytes


def fill(array: Any, byte: int, stream: int) -> None:
    """Queues on a stream that the memory of an array is set."""
    with driver.within(array.memory.device):
        driver.check(driver.library.cuMemsetD8Async(array.memory.address, byte, array.memory.size, stream))


def wait_for(stream: int, device: int = 0) -> None:
    """Waits for a stream, and for what it waits for, alone."""
    with driver.within(device):
        driver.check(driver.library.cuStreamSynchronize(stream))


def blank(made: Any, data: Any, stream: int, device: int = 0) -> Any:
    return made(cuda.Memory(data.nbytes, device, stream), data.dtype, data.shape)


def test_held_arrays_go_when_the_stream_has_passed() -> None:
    data = elements((64, 96), np.float32)
    kept = []

    class Counted(cuda.Tensor):
        def __del__(self) -> None:
            kept.append(1)

    with cuda.cupy_streams.use(driver.stream(0)) as own, cuda.torch_streams.use(driver.stream(0)):
        to = blank(cuda.ndarray, data, own)
        tw.copy_(to, Counted.of(data))
        assert not kept
        wait_for(own)
        tw.copy_(to, cuda.ndarray.of(data))
        assert kept == [1]


PAIRS = [
    (cuda.Tensor, cuda.torch_streams, cuda.ndarray, cuda.cupy_streams),
    (cuda.ndarray, cuda.cupy_streams, cuda.Tensor, cuda.torch_streams),
]


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize(("made", "streams", "other", "others"), PAIRS)
def test_two_streams_are_ordered_before_a_move_and_behind_it(
    made: Any, streams: cuda.Streams, other: Any, others: cuda.Streams, device: int
) -> None:
    data = elements((64, 96), np.float32)
    with streams.use(driver.stream(device), device) as mine, others.use(driver.stream(device), device) as its:
        source, to = made.of(data, device), blank(other, data, its, device)
        fill(source, 7, mine)
        tw.copy_(to, source)
        # The source's library writes it at once, and its stream is waited for first.
        fill(source, 9, mine)
        wait_for(mine, device)
        assert to.numpy().tobytes() == b"\7" * data.nbytes
        assert source.numpy().tobytes() == b"\x09" * data.nbytes


def test_what_torch_exports_to_nobody_is_ordered() -> None:
    # Tensors that need a gradient, and their element types, are refused by torch's own capsules.
    class Closed(cuda.Tensor):
        requires_grad = True

        def __dlpack__(self, **_keywords: Any) -> Any:
            raise BufferError("can't export tensors that require gradient")

    data = elements((64, 96), np.float32)
    for current in (driver.stream(0), 2, 1):
        with cuda.cupy_streams.use(driver.stream(0)) as own, cuda.torch_streams.use(current):
            source, to = Closed.of(data), blank(cuda.ndarray, data, own)
            fill(source, 5, current)
            tw.copy_(to, source)
            wait_for(own)
            assert to.numpy().tobytes() == b"\5" * data.nbytes


@pytest.mark.parametrize(("made", "streams"), [(cuda.Tensor, cuda.torch_streams), (cuda.ndarray, cuda.cupy_streams)])
def test_a_library_without_a_stream_finds_its_array_moved(made: Any, streams: cuda.Streams) -> None:
    data = elements((64, 96), np.float32)
    with streams.use(driver.stream(0)) as own:
        to, later = blank(cuda.Array, data, 1), driver.stream(0)
        tw.copy_(to, made.of(data))
        # Its library knows no stream to wait for: it reads on one of its own.
        read = blank(cuda.Array, data, 1)
        with driver.within(0):
            driver.check(driver.library.cuMemcpyDtoDAsync_v2(read.memory.address, to.memory.address, data.nbytes, later))
        wait_for(later)
        assert read.numpy().tobytes() == data.tobytes()
        # And it may write a source again as soon as the call has returned.
        target = blank(made, data, own)
        tw.copy_(target, to)
        fill(to, 3, later)
        wait_for(later)
        assert target.numpy().tobytes() == data.tobytes()


def own_array(data: Any) -> Any:
    return tw.relayout(Plain.of(data), to="row-major")


def test_own_arrays_remember_who_reads_them() -> None:
    data = elements((64, 96), np.float32)
    first, second, third = (driver.stream(0) for _ in range(3))
    own = own_array(data)
    one, two, three = blank(cuda.Tensor, data, first), blank(cuda.Tensor, data, second), cuda.Tensor.of(data[::-1])
    for stream, to in ((first, one), (second, two)):
        with cuda.torch_streams.use(stream):
            tw.copy_(to, own)
    with cuda.torch_streams.use(third):
        tw.copy_(own, three)
    # The write waits for both, and a view knows as much.
    wait_for(third)
    assert one.numpy().tobytes() == two.numpy().tobytes() == data.tobytes()
    with cuda.torch_streams.use(first):
        tw.copy_(one, own.transpose([0, 1]))
    wait_for(first)
    assert same(one.numpy(), data[::-1].copy())


def test_the_default_streams_have_the_numbers_of_dlpack() -> None:
    data = elements((64, 96), np.float32)
    for current, asked in ((0, 1), (1, 1), (2, 2)):
        with cuda.cupy_streams.use(current):
            array, to = cuda.Array.of(data), cuda.ndarray(cuda.Memory(data.nbytes), np.float32, data.shape)
            tw.copy_(to, array)
            assert same(to.numpy(), data)
            assert array.asked[-1] == asked


def refused(error: type[Exception], says: str, work: Any, *written: Any) -> Any:
    """What ``work`` raises; the arrays are as they were."""
    before = [driver.get(array.memory.address, array.memory.size) for array in written]
    with pytest.raises(error, match=says) as raised:
        work()
    assert [driver.get(array.memory.address, array.memory.size) for array in written] == before
    return raised.value


def outputs(device: int = 0) -> list[Any]:
    return [made(cuda.Memory(480, device), np.float32, (10, 12)) for made in (cuda.Tensor, cuda.ndarray, cuda.Array)]


def test_devices_that_differ_are_refused() -> None:
    data = elements((12, 10), np.float32)
    for source, out in itertools.product((cuda.Tensor.of(data), cuda.ndarray.of(data)), outputs(1)):
        says = "source is on CUDA device 0 and the destination on CUDA device 1"
        refused(tw.DeviceError, says, lambda s=source, o=out: tw.relayout(s, to="col-major", out=o), out)
    host = np.zeros((10, 12), np.float32)
    for out in outputs():
        refused(tw.DeviceError, "on the CPU and the destination on CUDA device 0", lambda o=out: tw.copy_(o, host), out)
        refused(tw.DeviceError, "on CUDA device 0 and the destination on the CPU", lambda o=out: tw.copy_(host, o), out)
        refused(tw.DeviceError, "CUDA device 0", lambda o=out: tw.Memory(o), out) if not isinstance(out, cuda.Tensor) else None
    assert not host.any()


def test_outputs_that_do_not_fit_are_refused() -> None:
    data = elements((12, 10), np.float32)
    for out in outputs():
        wrong = type(out)(out.memory, np.float32, (5, 12))
        refused(tw.MismatchError, "480 contiguous bytes", lambda o=wrong: tw.relayout(cuda.Tensor.of(data), to="col-major", out=o), out)
        wrong = type(out)(out.memory, np.int32, (10, 12))
        refused(tw.DtypeError, "s32", lambda o=wrong: tw.relayout(cuda.Tensor.of(data), to="col-major", out=o), out)
        refused(tw.DtypeError, "f32", lambda o=out: tw.copy_(o, cuda.ndarray.of(np.zeros((10, 12), np.int32))), out)
        refused(tw.MismatchError, "shape", lambda o=out: tw.copy_(o, cuda.ndarray.of(data)), out)
        shared = cuda.ndarray(out.memory, np.float32, (12, 10))
        refused(tw.OverlapError, "overlap", lambda o=out, s=shared: tw.relayout(s, to="col-major", out=o), out)
        turned = cuda.ndarray(out.memory, np.float32, (10, 12), (1, 10))
        refused(tw.OverlapError, "overlap", lambda o=out, s=turned: tw.copy_(o, s), out)


def test_captured_streams_take_code_that_is_loaded() -> None:
    data = elements((33, 17), np.float64)
    stream = driver.stream(0)
    source, out = cuda.Tensor.of(data), cuda.Tensor(cuda.Memory(data.nbytes), np.float64, (17, 33))
    with cuda.torch_streams.use(stream):
        driver.library.emulated_capture(stream, 1)
        try:
            move = lambda: tw.relayout(source, to="col-major", out=out)  # noqa: E731
            error = refused(tw.DeviceError, "once before the capture", move, out)
            assert error.kind == "captured"
            driver.library.emulated_capture(stream, 0)
            move()
            assert same(out.numpy(), data.T.copy())
            driver.put(out.memory.address, bytes(data.nbytes))
            driver.library.emulated_capture(stream, 1)
            move()
            # It became part of a graph, which nobody has launched.
            assert not out.numpy().any()
        finally:
            driver.library.emulated_capture(stream, 0)


def test_a_source_is_held_where_a_launch_fails_behind_another() -> None:
    data, kept = elements((100, 30), np.int16), []

    class Counted(cuda.Tensor):
        def __del__(self) -> None:
            kept.append(1)

    with cuda.cupy_streams.use(driver.stream(0)) as own, cuda.torch_streams.use(driver.stream(0)):
        out = cuda.ndarray(cuda.Memory(2 * 7 * 512, 0, own), np.int16, (2, 7, 16, 16))
        tw.relayout(cuda.Tensor.of(data), to="zN", out=out)
        # The first of two kernels is taken, and reads the source.
        driver.library.emulated_fail(b"cuLaunchKernel", 1, 719)
        try:
            tw.relayout(Counted.of(data), to="zN", out=out)
        except tw.DeviceError as error:
            assert error.kind == "driver"
        assert not driver.library.emulated_pending()
        gc.collect()
        assert not kept
        wait_for(own)
        tw.relayout(cuda.Tensor.of(data), to="zN", out=out)
        assert kept == [1]


def test_captures_take_no_arrays_of_other_streams() -> None:
    data = elements((33, 17), np.float64)
    stream, other = driver.stream(0), driver.stream(0)
    own, idle = own_array(data), cuda.Tensor.of(data)
    with cuda.torch_streams.use(stream), cuda.cupy_streams.use(other):
        out = blank(cuda.Tensor, data, stream)
        for source in (idle, own, cuda.ndarray.of(data), cuda.Array.of(data)):
            tw.copy_(out, source)
        wait_for(stream)
        with cuda.torch_streams.use(other):
            tw.copy_(own, idle)
        pending = [(cuda.ndarray.of(data), "not use it on the stream"), (cuda.Array.of(data), "not use it on the stream"), (own, "not finished")]
        driver.put(out.memory.address, bytes(data.nbytes))
        with cuda.torch_streams.use(other):
            tw.copy_(own, idle)
        driver.library.emulated_capture(stream, 1)
        try:
            for source, says in pending:
                with pytest.raises(tw.DeviceError, match=says) as raised:
                    tw.copy_(out, source)
                assert raised.value.kind == "captured"
            with pytest.raises(tw.DeviceError, match="wait for it before the capture") as raised:
                own.__dlpack__(stream=stream)
            assert raised.value.kind == "captured"
            # The other way round: a source of a stream that is captured.
            with pytest.raises(tw.DeviceError, match="being captured") as raised:
                tw.copy_(cuda.ndarray.of(data), cuda.Tensor.of(data))
            assert raised.value.kind == "captured"
            # What is done needs no order, and the capture goes on.
            wait_for(other)
            tw.copy_(out, own)
            own.__dlpack__(stream=stream)
            tw.copy_(own, idle)
        finally:
            driver.library.emulated_capture(stream, 0)
    assert not out.numpy().any()
    # What was captured has not written anything, and no mark of before was lost.
    assert own.numpy().tobytes() == data.tobytes()


def test_a_mark_is_not_lost_in_a_capture() -> None:
    data = elements((33, 17), np.float64)
    stream, other = driver.stream(0), driver.stream(0)
    own, idle = own_array(np.zeros_like(data)), cuda.Tensor.of(data)
    with cuda.torch_streams.use(stream):
        tw.copy_(own, idle)
        driver.library.emulated_capture(stream, 1)
        try:
            with pytest.raises(tw.DeviceError, match="not finished"):
                tw.copy_(own, idle)
        finally:
            driver.library.emulated_capture(stream, 0)
    with cuda.cupy_streams.use(other):
        to = blank(cuda.ndarray, data, other)
        tw.copy_(to, own)
        wait_for(other)
    assert same(to.numpy(), data)


def test_files_are_copied_on_the_streams_of_their_device(tmp_path: Path) -> None:
    data = elements((70, 90), np.float32)
    narrow = data.view(np.uint8).reshape(-1)[: 2 * 33].copy().view("bfloat16") if "ml_dtypes" in sys.modules else data
    path = tmp_path / "a.safetensors"
    tw.save({"a": data, "b": narrow}, path)
    with tw.open(path) as m, cuda.cupy_streams.use(driver.stream(1), 1) as its, cuda.torch_streams.use(driver.stream(1), 1) as own:
        for framework, stream in (("cupy", its), ("torch", own)):
            got = m.get("a", framework=framework, device="cuda:1", to="col-major")
            wait_for(stream, 1)
            assert got.memory.device == 1 and same(got.numpy(), data.T.copy())
        assert m.get("b", framework="cupy", device="cuda:1").numpy().tobytes() == narrow.tobytes()


def test_the_copy_that_is_moved_to_a_layout_is_let_go(tmp_path: Path) -> None:
    data = elements((512, 512), np.float32)
    path = tmp_path / "a.safetensors"
    tw.save({"a": data}, path)
    with tw.open(path) as m:
        for framework in (None, "torch", "cupy"):
            # What was held before is let go by a move.
            wait_for(1)
            tw.relayout(Plain.of(data[:1]), to="row-major").numpy()
            tw.relayout(cuda.Tensor.of(data[:1]), to="row-major")
            gc.collect()
            wait_for(1)
            before = driver.free_bytes(0)
            got = m.get("a", framework=framework, device="cuda", to="col-major")
            if framework is not None:
                # Freed on its library's stream.
                wait_for(1)
            assert before - driver.free_bytes(0) <= data.nbytes + 512
            assert same(got.numpy(), data.T.copy())
            del got


def test_other_devices_are_named() -> None:
    class There(cuda.Array):
        kind = 10

    array = There.of(elements((4, 4), np.float32))
    error = refused(tw.DeviceError, "AMD's ROCm", lambda: tw.relayout(array, to="col-major"), array)
    assert error.kind == "device"

    class Lying(cuda.Array):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    refused(tw.ArrayError, "of another kind", lambda: tw.relayout(Lying.of(elements((4, 4), np.float32)), to="col-major"))

    class Elsewhere(cuda.ndarray):
        __module__ = "cupy"

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 1)

    refused(tw.ArrayError, "another kind or number", lambda: tw.relayout(Elsewhere.of(elements((4, 4), np.float32)), to="col-major"))


def test_tensors_of_rocm_are_refused() -> None:
    torch.version.hip = "6.1"
    try:
        refused(tw.DeviceError, "AMD's ROCm", lambda: tw.relayout(cuda.Tensor.of(elements((4, 4), np.float32)), to="col-major"))
    finally:
        torch.version.hip = None


def test_elements_that_lose_bits_are_refused() -> None:
    array = cuda.ndarray.of(elements((4, 4), np.int32))
    refused(tw.DeviceError, "CPU", lambda: tw.relayout(array, to="row-major", bits=8), array)


def test_an_error_of_the_driver_is_typed() -> None:
    data = elements((12, 10), np.float32)
    out = outputs()[0]
    tw.relayout(cuda.Tensor.of(data), to="col-major", out=out)
    driver.library.emulated_fail(b"cuLaunchKernel", 0, 719)
    error = refused(tw.DeviceError, "719", lambda: tw.relayout(cuda.Tensor.of(data), to="col-major", out=out), out)
    assert error.kind == "driver"


class Plain(cuda.Array):
    """A library without a way to make arrays that others write."""


def taken(array: Any, stream: int = 1) -> Any:
    """The elements of a DeviceArray, read through its capsules, which are both used up."""
    capsules = [array.__dlpack__(stream=stream), array.__dlpack__(stream=-1, max_version=(1, 0))]
    assert [b"_versioned" in repr(one).encode() for one in capsules] == [False, True]
    assert array.__dlpack_device__() == (2, int(array.device[-1]))
    # A move takes it by its capsule, too.
    return tw.relayout(array, to="row-major").numpy()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_results_of_other_libraries_are_arrays_of_this_one(dtype: str, shape: tuple[int, ...]) -> None:
    data = elements(shape, dtype)
    for to, order in itertools.product(LAYOUTS, "CF"):
        got = tw.relayout(Plain.of(data, 1), to=to, order=order)
        wanted = tw.relayout(data, to=to, order=order)
        assert isinstance(got, tw.DeviceArray) and got.device == "cuda:1" and got.dtype == dtype
        assert (got.shape, got.nbytes) == (wanted.shape, wanted.nbytes)
        assert same(got.numpy(), wanted)
        assert taken(got).tobytes() == wanted.tobytes()


def test_a_stream_that_takes_a_result_waits_for_it() -> None:
    data = elements((64, 96), np.float32)
    made, later = driver.stream(0), driver.stream(0)
    out = tw.relayout(Plain.of(data), to="row-major")
    with cuda.torch_streams.use(made):
        tw.copy_(out, cuda.Tensor.of(data[::-1]))
    with cuda.cupy_streams.use(later):
        to = cuda.ndarray(cuda.Memory(data.nbytes, 0, later), np.float32, data.shape)
        tw.copy_(to, out)
        # Only the later stream is waited for.
        with driver.within(0):
            driver.check(driver.library.cuStreamSynchronize(later))
    assert same(to.numpy(), data[::-1].copy())


def test_the_interface_of_numba_names_the_memory() -> None:
    out = tw.relayout(Plain.of(elements((6, 4), np.float32)), to="col-major")
    says = out.__cuda_array_interface__
    assert (says["shape"], says["typestr"], says["data"], says["stream"]) == ((4, 6), "<f4", (out.address, False), 1)
    assert says["strides"] == out.strides == (24, 4) and out.transpose().strides == (4, 24)
    for wrong in ({"dl_device": (1, 0)}, {"copy": True}):
        with pytest.raises(BufferError):
            out.__dlpack__(**wrong)
    with pytest.raises(tw.ArgumentError):
        out.__dlpack__(stream=0)
    with pytest.raises(tw.ArgumentError):
        out.transpose([0, 0])


def test_results_of_jax_are_jaxs() -> None:
    jax, dlpack = types.ModuleType("jax"), types.ModuleType("jax.dlpack")
    dlpack.from_dlpack = lambda array: ("jax", array)  # type: ignore[attr-defined]
    sys.modules |= {"jax": jax, "jax.dlpack": dlpack}
    try:
        made = type("ArrayImpl", (cuda.Array,), {"__module__": "jaxlib._jax"})
        data = elements((6, 4), np.float32)
        for got in (tw.relayout(made.of(data), to="col-major"), tw.contiguous(made.of(data.T))):
            assert got[0] == "jax" and (got[1].numpy() == data.T).all()
    finally:
        del sys.modules["jax"], sys.modules["jax.dlpack"]


def test_tensors_of_files_are_read_to_a_device(tmp_path: Path) -> None:
    big = elements((700, 9001), np.float32)
    tensors = {"big": big, "odd": elements((37, 53), np.int16), "one": np.float32(3).reshape(()), "none": big[:0]}
    path = tmp_path / "a.npz"
    np.savez(path, **tensors)
    files = [path]
    tw.save({"big": big, "odd": tensors["odd"]}, tmp_path / "b.safetensors", to="col-major")
    files.append(tmp_path / "b.safetensors")
    for file in files:
        with tw.open(file) as m:
            for name, framework, device in itertools.product(m, (None, "torch", "cupy"), ("cuda", "cuda:1")):
                to = {} if tensors[name].ndim < 2 or not tensors[name].size else {"to": "col-major"}
                box = {"box": [slice(3, 30), slice(1, 50)]} if to else {}
                for how in ({}, to, box, {**to, **box}):
                    got = m.get(name, framework=framework, device=device, **how)
                    wanted = m.get(name, **how)
                    kinds: dict[Any, Any] = {None: tw.DeviceArray, "torch": cuda.Tensor, "cupy": cuda.ndarray}
                    assert type(got) is kinds[framework] and got.__dlpack_device__() == (2, int(device == "cuda:1"))
                    assert got.shape == wanted.shape and same(got.numpy(), wanted), (name, framework, how)
            with pytest.raises(tw.ArgumentError, match="'cpu', 'cuda' or 'cuda:1', not 'tpu'"):
                m.get("odd", device="tpu")
            with pytest.raises(tw.ArgumentError, match="'torch', 'cupy' or 'jax'"):
                m.get("odd", device="cuda", framework="numpy")
            with pytest.raises(tw.ArgumentError, match="out="):
                m.get("odd", device="cuda", out=np.zeros((37, 53), np.int16))
            with pytest.raises(tw.DeviceError, match="device 7"):
                m.get("odd", device="cuda:7")
            assert same(m.get("odd", device="cpu"), m["odd"])
