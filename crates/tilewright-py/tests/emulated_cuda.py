"""The memory of a CUDA device that is emulated on the host, and arrays in it that speak DLPack; stand-ins for torch and cupy.

Loaded where ``TILEWRIGHT_LIBCUDA`` names the emulated driver: nothing here is of use beside a real one. What is queued on a
stream there runs when somebody waits for it, so work that nobody ordered is found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

CUDA = 2


class Driver:
    """The calls of the emulated driver that arrays need."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["TILEWRIGHT_LIBCUDA"])
        self.library.emulated_alloc.restype = ctypes.c_uint64
        self.library.emulated_alloc.argtypes = [ctypes.c_int, ctypes.c_ulonglong]
        for name in ("emulated_get", "emulated_put"):
            getattr(self.library, name).argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_ulonglong]
        self.library.emulated_stream.restype = ctypes.c_void_p
        self.library.emulated_capture.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.library.emulated_fail.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
        self.library.cuMemFreeAsync.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
        self.library.cuEventCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
        self.library.cuEventRecord.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.library.cuStreamWaitEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
        self.library.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
        self.library.cuMemcpyHtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
        self.library.cuMemcpyDtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
        self.library.cuMemsetD8Async.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
        self.check(self.library.cuInit(0))

    def check(self, code: int) -> None:
        assert code == 0, f"the driver's error {code}"

    @contextlib.contextmanager
    def within(self, device: int) -> Iterator[None]:
        """The primary context of a device is the current one."""
        context = ctypes.c_void_p()
        self.check(self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.library.cuCtxPushCurrent_v2(context))
        try:
            yield
        finally:
            self.check(self.library.cuCtxPopCurrent_v2(ctypes.byref(context)))

    def allocate(self, device: int, size: int) -> int:
        address = self.library.emulated_alloc(device, size)
        assert address
        return int(address)

    def stream(self, device: int) -> int:
        with self.within(device):
            made = ctypes.c_void_p()
            self.check(self.library.cuStreamCreate(ctypes.byref(made), 1))
        return int(made.value or 0)

    def wait_for(self, device: int, stream: int, other: int) -> None:
        """What is queued on ``stream`` from now on comes behind what is queued on ``other``."""
        with self.within(device):
            event = ctypes.c_void_p()
            self.check(self.library.cuEventCreate(ctypes.byref(event), 2))
            self.check(self.library.cuEventRecord(event, other))
            self.check(self.library.cuStreamWaitEvent(stream, event, 0))

    def free(self, device: int, address: int, stream: int) -> None:
        with self.within(device):
            self.check(self.library.cuMemFreeAsync(address, stream))

    def copy(self, address: int, data: bytes, stream: int) -> None:
        """Queues a copy from the host, in the current context."""
        self.check(self.library.cuMemcpyHtoDAsync_v2(address, data, len(data), stream))

    def free_bytes(self, device: int) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        with self.within(device):
            self.check(self.library.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        return free.value

    def put(self, address: int, data: bytes) -> None:
        self.check(self.library.emulated_put(address, data, len(data)))

    def get(self, address: int, size: int) -> bytes:
        to = ctypes.create_string_buffer(max(size, 1))
        self.check(self.library.emulated_get(address, to, size))
        return to.raw[:size]


driver = Driver()


class Memory:
    """Bytes of a device, freed on a stream, as allocators do whose memory is ordered by streams."""

    def __init__(self, size: int, device: int = 0, stream: int = 1) -> None:
        self.device, self.stream, self.size = device, stream, max(size, 1)
        self.address = driver.allocate(device, self.size)

    def __del__(self) -> None:
        driver.free(self.device, self.address, self.stream)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Unversioned(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# Those of DLPack, by the names of NumPy and ml_dtypes.
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NARROW = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}


class Array:
    """An array in the memory of a device that shares itself by DLPack; strides count elements.

    ``asked`` has the streams that it was asked for; ``queued`` is the stream on which its library has work on it, if any.
    """

    kind = CUDA

    def __init__(
        self,
        memory: Memory,
        dtype: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        first: int = 0,
        *,
        versioned: bool = True,
        flags: int = 0,
        queued: int | None = None,
    ) -> None:
        self.memory, self.dtype, self.shape = memory, np.dtype(dtype), shape
        if strides is None:
            strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))
        self.strides, self.first = strides, first
        self.versioned, self.flags, self.queued = versioned, flags, queued
        self.asked: list[Any] = []

    @classmethod
    def of(cls, data: Any, device: int = 0, **how: Any) -> Any:
        """The elements of an array of NumPy's on a device, with its strides."""
        base = data
        while isinstance(base.base, np.ndarray):
            base = base.base
        memory = Memory(base.nbytes, device)
        driver.put(memory.address, base.tobytes(order="A"))
        first = (data.ctypes.data - base.ctypes.data) // data.itemsize
        return cls(memory, data.dtype, data.shape, tuple(s // data.itemsize for s in data.strides), first, **how)

    def numpy(self) -> Any:
        """The elements, once all that is queued on any stream is done."""
        data = np.frombuffer(driver.get(self.memory.address, self.memory.size), np.uint8)
        data = data[: self.memory.size // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)
        strides = [stride * self.dtype.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(data[self.first :], self.shape, strides)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.kind, self.memory.device)

    def __dlpack__(self, *, stream: Any = None, **keywords: Any) -> Any:
        if not self.versioned and keywords:
            raise TypeError("no such keywords")
        self.asked.append(stream)
        if self.queued is not None and stream not in (self.queued, -1):
            driver.wait_for(self.memory.device, stream, self.queued)
        code = _NARROW.get(self.dtype.name, _CODES.get(self.dtype.kind, 0))
        rank = len(self.shape)
        kept = (ctypes.c_int64 * rank)(*self.shape), (ctypes.c_int64 * rank)(*self.strides)
        data = self.memory.address + self.first * self.dtype.itemsize
        tensor = _Tensor(data, self.kind, self.memory.device, rank, code, self.dtype.itemsize * 8, 1, kept[0], kept[1], 0)
        made: Any = _Versioned(1, 0, None, None, self.flags, tensor) if self.versioned else _Unversioned(tensor)
        # Without a deleter a tensor lives as long as its array.
        self.__dict__.setdefault("_exported", []).append((made, kept))
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return capsule(ctypes.addressof(made), b"dltensor_versioned" if self.versioned else b"dltensor", None)


class Streams:
    """The current stream of each device, as a library has it."""

    def __init__(self) -> None:
        self.now = {0: 0, 1: 0}

    @contextlib.contextmanager
    def use(self, stream: int, device: int = 0) -> Iterator[int]:
        before, self.now[device] = self.now[device], stream
        try:
            yield stream
        finally:
            self.now[device] = before


torch_streams, cupy_streams = Streams(), Streams()


class Tensor(Array):
    """torch's, as far as it is asked."""

    is_cpu, is_cuda, requires_grad, layout = False, True, False, "strided"

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        self.element, self.dtype = self.dtype, _Dtype.of(self.dtype)

    @property
    def device(self) -> str:
        return f"cuda:{self.memory.device}"

    def numpy(self) -> Any:
        return Array.numpy(self.plain())

    def plain(self) -> Array:
        return Array(self.memory, self.element, self.shape, self.strides, self.first)

    def data_ptr(self) -> int:
        return int(self.memory.address + self.first * self.element.itemsize)

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def storage_offset(self) -> int:
        return self.first

    def untyped_storage(self) -> Any:
        return types.SimpleNamespace(nbytes=lambda: self.memory.size)

    def element_size(self) -> int:
        return int(self.element.itemsize)

    def get_device(self) -> int:
        return int(self.memory.device)

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def permute(self, order: tuple[int, ...]) -> Any:
        shape, strides = (tuple(one[i] for i in order) for one in (self.shape, self.strides))
        return Tensor(self.memory, self.element, shape, strides, self.first)

    def as_strided(self, shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> Any:
        return Tensor(self.memory, self.element, shape, strides, first)

    def view(self, dtype: Any) -> Any:
        assert self.element.itemsize == 1
        inner = dtype.element.itemsize
        return Tensor(self.memory, dtype.element, (*self.shape[:-1], self.shape[-1] // inner))

    def reshape(self, shape: tuple[int, ...]) -> Any:
        return Tensor(self.memory, self.element, tuple(shape))

    def __getitem__(self, part: slice) -> Any:
        first = self.first + (part.start or 0)
        return Tensor(self.memory, self.element, (part.stop - (part.start or 0),), (1,), first)

    def copy_(self, other: Any) -> Any:
        device = self.memory.device
        with driver.within(device):
            driver.copy(self.data_ptr(), other.tobytes(), torch_streams.now[device])
        return self


class _Dtype:
    """An element type of torch's."""

    made: dict[str, _Dtype] = {}

    def __init__(self, element: Any) -> None:
        self.element, self.is_complex = element, element.kind == "c"

    @classmethod
    def of(cls, element: Any) -> _Dtype:
        return cls.made.setdefault(element.name, cls(element))

    def __str__(self) -> str:
        return f"torch.{self.element.name}"


def install_torch(hip: str | None = None) -> types.ModuleType:
    """A module ``torch`` whose tensors are on devices."""
    torch: Any = types.ModuleType("torch")
    torch.Tensor, torch.strided = Tensor, Tensor.layout
    torch.version = types.SimpleNamespace(hip=hip)
    for name in ("float32", "float64", "float16", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "uint16", "uint32"):
        setattr(torch, name, _Dtype.of(np.dtype(name)))

    def empty(shape: tuple[int, ...], *, dtype: Any, device: str = "cpu") -> Any:
        assert device.startswith("cuda:"), f"a tensor on {device}"
        ordinal = int(device.removeprefix("cuda:"))
        size = int(np.prod(shape, dtype=np.int64)) * dtype.element.itemsize
        return Tensor(Memory(size, ordinal, torch_streams.now[ordinal] or 1), dtype.element, tuple(shape))

    def current_stream(device: Any = 0) -> Any:
        return types.SimpleNamespace(cuda_stream=torch_streams.now[int(device)])

    torch.empty = empty
    torch.from_numpy = lambda array: array
    torch.cuda = types.SimpleNamespace(current_stream=current_stream, current_device=lambda: 0)
    sys.modules["torch"] = torch
    return sys.modules["torch"]


class ndarray(Array):
    """cupy's."""

    __module__ = "cupy"

    def transpose(self, order: tuple[int, ...]) -> Any:
        shape, strides = (tuple(one[i] for i in order) for one in (self.shape, self.strides))
        return ndarray(self.memory, self.dtype, shape, strides, self.first)

    def view(self, dtype: Any) -> Any:
        assert self.dtype.itemsize == 1 and not isinstance(dtype, str), "a name that only NumPy may know"
        inner = np.dtype(dtype).itemsize
        return ndarray(self.memory, dtype, (*self.shape[:-1], self.shape[-1] // inner))

    def reshape(self, shape: tuple[int, ...]) -> Any:
        return ndarray(self.memory, self.dtype, tuple(shape))

    def __getitem__(self, part: slice) -> Any:
        first = self.first + (part.start or 0)
        return ndarray(self.memory, self.dtype, (part.stop - (part.start or 0),), (1,), first)

    def set(self, data: Any) -> None:
        """Copies on the current stream of the current device, whatever device the array is on."""
        with driver.within(cupy_current[0]):
            driver.copy(self.memory.address + self.first * self.dtype.itemsize, data.tobytes(), cupy_streams.now[cupy_current[0]])


cupy_current = [0]


def install_cupy() -> types.ModuleType:
    """A module ``cupy``."""
    cupy: Any = types.ModuleType("cupy")
    current = cupy_current

    class Device:
        def __init__(self, ordinal: int) -> None:
            self.ordinal = ordinal

        def __enter__(self) -> None:
            self.before, current[0] = current[0], self.ordinal

        def __exit__(self, *_error: object) -> None:
            current[0] = self.before

    def empty(shape: tuple[int, ...], dtype: Any) -> Any:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        return ndarray(Memory(size, current[0], cupy_streams.now[current[0]] or 1), dtype, tuple(shape))

    cupy.ndarray, cupy.empty = ndarray, empty
    cupy.cuda = types.SimpleNamespace(
        Device=Device, runtime=types.SimpleNamespace(getDevice=lambda: current[0]), get_current_stream=lambda: types.SimpleNamespace(ptr=cupy_streams.now[current[0]])
    )
    sys.modules["cupy"] = cupy
    return sys.modules["cupy"]
