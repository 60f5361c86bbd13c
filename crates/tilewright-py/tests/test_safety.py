"""Arrays that lie about their memory or change it, and panics: an exception of the package, never a crash."""

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import _errors


class Lending(np.ndarray):
    """A subclass that gives the address of an array that is freed at once."""

    @property
    def __array_struct__(self) -> Any:
        return np.full(self.shape, 7, np.uint32).__array_struct__


class Hiding(np.ndarray):
    """A subclass that says that its elements are numbers."""

    dtype = np.dtype(np.int64)


class Posing:
    """An object that says that it is an array."""

    __class__ = np.ndarray  # type: ignore[assignment]


def test_a_subclass_is_read_where_numpy_says() -> None:
    plain = np.arange(120_000, dtype=np.uint32).reshape(300, 400)
    lending = plain.view(Lending)
    assert tw.Memory(lending).address == plain.ctypes.data
    for _ in range(20):
        assert (tw.relayout(lending, to="col-major") == plain.T).all()
    out = np.zeros_like(plain).view(Lending)
    tw.relayout(plain, to="row-major", out=out)
    assert (out == plain).all()
    with pytest.raises(tw.DtypeError):
        tw.relayout(np.array([None, 1]).view(Hiding), to="row-major")
    with pytest.raises(tw.ArrayError):
        tw.relayout(Posing(), to="row-major")


class Tensor(ctypes.Structure):
    """DLPack's ``DLManagedTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class Exporting:
    """An object that exports this tensor of 32-bit integers."""

    def __init__(self, data: int | None, byte_offset: int, extent: int, stride: int = 1) -> None:
        self.shape, self.strides = (ctypes.c_int64 * 1)(extent), (ctypes.c_int64 * 1)(stride)
        self.tensor = Tensor(data, 1, 0, 1, 0, 32, 1, self.shape, self.strides, byte_offset, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self) -> Any:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


@pytest.mark.parametrize("data", [None, 1, 8, 64, 2**63, 2**64 - 64, 2**64 - 1])
@pytest.mark.parametrize("byte_offset", [64, 2**32, 2**63, 2**64 - 64, 2**64 - 1])
def test_tensors_without_memory_are_refused(data: int | None, byte_offset: int) -> None:
    fits = data is not None and 12 <= data + byte_offset < 2**64 - 16
    for stride in (1, -1):
        if not fits:
            with pytest.raises(tw.ArrayError):
                tw.Memory(Exporting(data, byte_offset, 4, stride))
    # No element is read.
    if data is None:
        assert tw.Memory(Exporting(data, byte_offset, 0)).nbytes == 0


def test_an_offset_of_dlpack_is_followed() -> None:
    array = np.arange(20, dtype=np.int32)
    got = tw.relayout(Exporting(array.ctypes.data, 64, 4), to="row-major")
    assert got.tolist() == [16, 17, 18, 19]
    assert tw.relayout(Exporting(array.ctypes.data, 12, 4, -1), to="row-major").tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(
    "seen",
    [lambda a: a, lambda a: a[1:], lambda a: a[1:][::2], lambda a: a.view(Lending), memoryview, lambda a: np.asarray(memoryview(a))[3:]],
)
def test_numpy_resizes_no_array_that_is_seen(seen: Callable[[Any], Any]) -> None:
    array = np.arange(1000, dtype=np.uint32)
    memory = tw.Memory(seen(array))
    with pytest.raises(ValueError, match="resize"):
        array.resize(100_000, refcheck=False)
    assert memory.nbytes <= array.nbytes == 4000
    del memory
    array.resize(100_000, refcheck=False)


def test_a_buffer_stays_exported() -> None:
    data = bytearray(16)
    memory = tw.Memory(data)
    with pytest.raises(BufferError):
        data.extend(bytes(1 << 20))
    del memory
    data.extend(bytes(1 << 20))


def test_a_thread_that_resizes_waits_or_is_refused() -> None:
    small, large = 1 << 19, 1 << 20
    array = np.ones(small, np.uint32)
    done = threading.Event()

    def resize() -> None:
        while not done.is_set():
            for size in (large, small):
                try:
                    array.resize(size, refcheck=False)
                except ValueError:
                    pass

    other = threading.Thread(target=resize)
    other.start()
    try:
        for _ in range(100):
            got = tw.relayout(array, to="row-major")
            assert got.size in (small, large)
            assert (got[:small] == 1).all() and not got[small:].any()
    finally:
        done.set()
        other.join()


def panic() -> BaseException:
    """What makes PyO3 panic when it is raised: its own exception, made without the package's ``__new__``."""
    [found] = [found for found in BaseException.__subclasses__() if vars(found).get("__new__") is _errors.panicked]
    return BaseException.__new__(found, "the moon is full")


class Panicking:
    """An object that makes whoever asks it panic."""

    def __getattr__(self, name: str) -> Any:
        raise panic()

    def __index__(self) -> int:
        raise panic()

    def __str__(self) -> str:
        raise panic()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tw.Memory(Panicking()),
        lambda: tw.relayout(Panicking(), to="row-major"),
        lambda: tw.relayout(np.zeros(3), to="row-major", dtype=Panicking()),
        lambda: tw.Plan.of(Panicking(), to="row-major"),
        lambda: tw.TensorLayout.of(Panicking()),
        lambda: tw.Layout("(4,8)")(Panicking()),
        lambda: tw.Layout("(4,8)")[Panicking()],  # type: ignore[index]
        lambda: tw.parse("zN", dims=(3, Panicking())),  # type: ignore[arg-type]
    ],
)
def test_a_panic_is_an_exception_of_the_package(call: Callable[[], object]) -> None:
    for kind in (tw.InternalError, tw.Error, RuntimeError, Exception):
        with pytest.raises(kind) as raised:
            call()
        assert type(raised.value) is tw.InternalError and raised.value.kind == "internal"
        assert str(raised.value).startswith("the moon is full; ")


def test_a_panic_in_a_thread_of_a_conversion_is_one_too(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((64, 64)))

    def progress(_done: int, _total: int) -> None:
        raise panic()

    with pytest.raises(tw.InternalError):
        tw.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="col-major", progress=progress)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
