"""``accelerate``: torch's own copies on the CPU, by this package where strides make them slow.

torch copies through one operation, ``aten::copy_``: ``contiguous``, ``clone``, ``to`` and the copies inside other
operations end in its kernel for the CPU. That kernel is replaced while an ``Accelerated`` is in use, and is asked for
everything that is left alone. Other operations, devices and subclasses never come here.
"""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import Any

from tilewright._tilewright import copy_if_strided as _copy_if_strided

__all__ = ["Accelerated", "accelerate"]

_torch: Any = importlib.import_module("torch")

# Below this number of bytes the detour takes longer than torch's own copy; measured by benches/copies.py.
LEAST = 1 << 16

# The types of a number that torch gives to kernels in Python in place of a tensor of no dims.
_NUMBERS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}

_active: list[Accelerated] = []
_library: Any = None
_original: Any = None


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
        """Gives torch its kernel back, if no other is in use; a second call does nothing."""
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

    What is left alone pays for the question: about 4 µs a copy, whatever its size. Other operations pay nothing.

    :param least: in bytes
    :param threads: ``torch.get_num_threads()`` unless given

    >>> import torch
    >>> images = torch.rand(8, 3, 64, 64)
    >>> with accelerate() as copies:
    ...     last = images.contiguous(memory_format=torch.channels_last)
    >>> copies
    <Accelerated: stopped, 1 copies taken of 393216 bytes, 0 left to torch>
    """
    made = Accelerated(least, threads)
    _active.append(made)
    if len(_active) == 1:
        _replace()
    return made


def _replace() -> None:
    global _library, _original
    try:
        _original = _torch.library.get_kernel("aten::copy_", "CPU")
        _library = _torch.library.Library("aten", "IMPL")
        _library.impl("copy_", _copy, "CPU", with_keyset=True)
    except BaseException:
        _active.clear()
        raise


def _restore() -> None:
    global _library
    library, _library = _library, None
    # A program that was compiled meanwhile may have left the kernel here, and torch would call it when it is gone.
    _torch.ops.aten.copy_.default._dispatch_cache.clear()
    library._destroy()


def _copy(keyset: Any, dst: Any, src: Any, non_blocking: bool = False) -> Any:
    """The kernel: the copy is taken, or torch's own runs."""
    # Another thread may have stopped it in between.
    accelerated = _active[-1] if _active else None
    if not isinstance(src, _torch.Tensor):
        src = _torch.scalar_tensor(src, dtype=getattr(_torch, _NUMBERS[type(src)]))
    elif accelerated is not None and (nbytes := dst.nbytes) >= accelerated.least and src.is_cpu:
        threads = accelerated.threads or _torch.get_num_threads()
        if _copy_if_strided(dst, src, accelerated.least, threads):
            accelerated.taken += 1
            accelerated.nbytes += nbytes
            return dst
    if accelerated is not None:
        accelerated.left += 1
    return _original.call_boxed(keyset, dst, src, non_blocking)
