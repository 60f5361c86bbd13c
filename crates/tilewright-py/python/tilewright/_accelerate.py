"""``accelerate``: torch's own copies on the CPU, by this package where strides make them slow.

torch copies through one operation, ``aten::copy_``: ``contiguous``, ``clone``, ``to`` and the copies inside other
operations end in its kernel. A kernel for the CPU stands before that while an ``Accelerated`` is in use, and hands on
everything that is left alone. Other operations, devices and subclasses never come here.
"""

from __future__ import annotations

import importlib
import operator
import threading
from types import TracebackType
from typing import Any

from tilewright._errors import ArgumentError
from tilewright._tilewright import copy_if_strided as _copy_if_strided

__all__ = ["Accelerated", "accelerate"]

_torch: Any = importlib.import_module("torch")

# Below this number of bytes the detour takes longer than torch's own copy; measured by benches/copies.py.
LEAST = 1 << 16

# The types of a number that torch gives to kernels in Python in place of a tensor of no dims.
_NUMBERS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}

# torch has one kernel for all devices, which is also the one for no device: the way past the one that stands before it.
# torch lets go of the interpreter on that way.
_PAST = _torch._C.DispatchKeySet(_torch._C.DispatchKey.Undefined)

_active: list[Accelerated] = []
_library: Any = None
# Held while the kernel comes and goes.
_changing = threading.Lock()


class Accelerated:
    """torch's copies while they are accelerated. ``taken`` counts the copies that were, ``nbytes`` their bytes, ``left``
    those that were left to torch.

    It is a context manager; ``stop`` ends it as well.
    """

    def __init__(self, least: int, threads: int | None) -> None:
        self.least = least
        self.threads = threads
        self.taken = 0
        self.left = 0
        self.nbytes = 0

    def __enter__(self) -> Accelerated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Restores torch's kernel if no other acceleration is in use; a second call does nothing."""
        with _changing:
            if self in _active:
                _active.remove(self)
                if not _active:
                    _restore()

    def __repr__(self) -> str:
        state = "in use" if self in _active else "stopped"
        return f"<Accelerated: {state}, {self.taken} copies taken of {self.nbytes} bytes, {self.left} left to torch>"


def accelerate(*, least: int = LEAST, threads: int | None = None) -> Accelerated:
    """Makes ``.contiguous()``, ``.copy_()``, ``.clone(memory_format=…)`` and ``.to(memory_format=…)`` of tensors on the
    CPU use this package's engine, from now on or within a ``with``.

    Taken are copies of ``least`` bytes or more between two tensors of one element type whose elements lie in different
    orders, or with gaps. All else is torch's as before: other element types, devices, subclasses, what broadcasts, small
    tensors, tensors that share memory, and every error. Gradients are as ever: they are recorded before a kernel runs.
    Results have the same bits and strides. It holds for all threads of the process. Where several are in use, the last
    one decides and counts.

    What is left alone pays for the question, some microseconds a copy whatever its size. Other operations pay nothing.

    :param least: in bytes
    :param threads: ``torch.get_num_threads()`` unless given; 0 is one per core
    :raises ArgumentError: for negative numbers

    >>> import torch
    >>> images = torch.rand(8, 3, 64, 64)
    >>> with accelerate() as copies:
    ...     last = images.contiguous(memory_format=torch.channels_last)
    >>> copies
    <Accelerated: stopped, 1 copies taken of 393216 bytes, 0 left to torch>
    """
    least = _number("least", least)
    made = Accelerated(least, None if threads is None else _number("threads", threads))
    with _changing:
        if not _active:
            _replace()
        _active.append(made)
    return made


def _number(name: str, value: Any) -> int:
    """A number for the engine; TypeError if it is not an integer."""
    if isinstance(value, bool):
        raise TypeError(f"{name}= takes an integer, not bool")
    number = operator.index(value)
    if not 0 <= number < 1 << 63:
        raise ArgumentError(f"{name}={number}; it must be at least 0 and below 2^63")
    return number


def _replace() -> None:
    global _library
    _library = _torch.library.Library("aten", "IMPL")
    _library.impl("copy_", _copy, "CPU")


def _restore() -> None:
    global _library
    library, _library = _library, None
    # A program that was compiled meanwhile may have left the kernel here, and torch would call it when it is gone.
    _torch.ops.aten.copy_.default._dispatch_cache.clear()
    library._destroy()


def _copy(dst: Any, src: Any, non_blocking: bool = False) -> Any:
    """The kernel: the copy is taken, or handed on to torch's own."""
    # Another thread may have stopped it in between.
    accelerated = _active[-1] if _active else None
    if not isinstance(src, _torch.Tensor):
        src = _torch.scalar_tensor(src, dtype=getattr(_torch, _NUMBERS[type(src)]))
    elif accelerated is not None and (nbytes := dst.nbytes) >= accelerated.least and src.is_cpu:
        threads = accelerated.threads
        if threads is None:
            threads = _torch.get_num_threads()
        if _copy_if_strided(dst, src, accelerated.least, threads):
            accelerated.taken += 1
            accelerated.nbytes += nbytes
            return dst
    if accelerated is not None:
        accelerated.left += 1
    return _torch.ops.aten.copy_.default.redispatch(_PAST, dst, src, non_blocking)
