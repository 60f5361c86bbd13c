"""Moving the elements of arrays: ``relayout`` and its cache of plans; copies between strided arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from tilewright import _tilewright
from tilewright._tilewright import Layout, TensorLayout

__all__ = [
    "PlanCacheInfo",
    "contiguous",
    "copy_",
    "empty_like",
    "plan_cache_clear",
    "plan_cache_info",
    "relayout",
]

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tilewright.forked)


class PlanCacheInfo(NamedTuple):
    """Number of calls of ``relayout`` that found their plan, and number of plans kept."""

    hits: int
    misses: int
    size: int
    maxsize: int


def relayout(
    array: Any,
    to: str | Layout | TensorLayout | None = None,
    *,
    from_: str | Layout | TensorLayout | None = None,
    out: Any = None,
    threads: int | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    bits: int | None = None,
    fill: str | int | None = None,
    order: str = "C",
) -> Any:
    """Moves the elements of ``array`` into the layout ``to`` and gives the storage as an array.

    ``array`` is NumPy's, a torch tensor on the CPU or a CUDA device, or whatever has ``__dlpack__``, ``__array_interface__`` or a
    buffer. It is read where it is, whatever its strides: what could only be done by way of a copy raises
    ``CopyError``. The interpreter is free while bytes move. Meanwhile NumPy refuses to resize the arrays, and a
    buffer stays exported. No other thread may write to them, nor move their memory in a way that nothing can hold:
    ``ndarray.__setstate__``, torch's ``resize_`` and ``set_``, an ``__array_interface__`` whose object frees it.

    - Without ``from_``, the array's shape are the logical dims, and its strides are followed: negative ones and
      those of broadcast dims too.
    - With ``from_``, the array's bytes are a storage in that layout, of the dims it names or of ``dims``. Where the
      layout only puts the dims in another order, such as ``NHWC``, the array's shape tells the dims.
    - The result has the shape of the storage, outermost extent first, as in a safetensors file: of ``zN`` for
      (100, 30) 16-bit elements (2, 7, 16, 16), of ``row-major`` the logical dims. Packed elements are bytes.
      It is torch's for a torch tensor, else NumPy's; of an array on a CUDA device it is there, of its library or a
      ``DeviceArray``, and ready in the order of the library's current stream. With ``order="F"`` the same bytes are an array in Fortran's order,
      innermost extent first: the transpose, so that ``col-major`` keeps the logical shape.
    - ``out`` is written instead, and given back: an array of the result's size and element type, or of bytes,
      contiguous. Without ``to``, its own shape and strides are the destination.
    - A storage in Fortran's order, as ``order="F"`` gives it, is taken as ``out`` and with ``from_``, too: its shape is
      that of the storage, innermost extent first. A shape that reads the same both ways does not say that: of such an
      array pass ``array.T``, and with ``out`` say ``order="F"``.
    - A tensor that requires a gradient is read, and the result has none; ``tilewright.torch`` has an operation for
      autograd and for ``torch.compile``.

    :param to: the destination, in any notation, or a layout that was read before
    :param from_: the layout of the storage that ``array`` is; of packed elements with their width, ``s4[4,6]{1,0:E(4)}``
    :param out: where to write
    :param threads: one per core unless given, as everywhere in the package
    :param dims: the logical dims of a storage whose layout does not name them
    :param dtype: the element type, if the array cannot express it (bf16 in 16-bit integers)
    :param bits: the width of a stored element of the result, to pack or to unpack small integers; a value that does not
        fit raises ``DtypeError``
    :param fill: what padding holds: ``0``, ``one``, ``lowest``, ``highest`` or ``0x…``; zero unless the layout says
    :param order: ``"C"`` or ``"F"``, how a new result lists the extents of the storage
    :raises Error: ``MismatchError``, ``DtypeError``, ``ReadOnlyError``, ``OverlapError``, ``DeviceError``,
        ``CopyError``, ``UnsupportedError`` for an output in which elements share storage, and what a SPEC raises

    >>> import numpy as np
    >>> array = np.arange(6, dtype=np.int32).reshape(2, 3)
    >>> relayout(array, "col-major")
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    >>> relayout(array, "col-major", order="F")
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    >>> relayout(array.astype(np.float16), "zN").shape
    (1, 1, 16, 16)

    Back again, a storage needs the dims that are not in its shape:

    >>> zn = relayout(array, to="zN[M0=2,C0=2]")
    >>> relayout(zn, from_="zN[M0=2,C0=2]", dims=(2, 3), to="row-major").tolist()
    [[0, 1, 2], [3, 4, 5]]

    A layout that only orders the dims finds them in the shape:

    >>> images = np.zeros((2, 4, 5, 3), np.float32)
    >>> relayout(images, "NCHW", from_="NHWC").shape
    (2, 3, 4, 5)

    Small integers are packed by ``bits``, and unpacked from a layout that says their width:

    >>> packed = relayout(array.astype(np.int8), to="row-major", dtype="s4", bits=4)
    >>> packed.tolist()
    [16, 50, 84]
    >>> relayout(packed, from_="s4[2,3]{1,0:E(4)}", to="row-major", bits=8).tolist()
    [[0, 1, 2], [3, 4, 5]]

    Into an array that exists, whatever its strides:

    >>> out = np.empty((2, 3), np.int32, order="F")
    >>> relayout(array, out=out) is out
    True
    """
    return _tilewright.relayout(
        array,
        to,
        from_=from_,
        out=out,
        threads=threads,
        dims=dims,
        dtype=dtype,
        bits=bits,
        fill=fill,
        order=order,
    )


def plan_cache_info() -> PlanCacheInfo:
    """How often ``relayout`` found its plan since the start or the last ``plan_cache_clear``.

    >>> import numpy as np
    >>> plan_cache_clear()
    >>> for _ in range(3):
    ...     _ = relayout(np.zeros((4, 8), np.float32), to="col-major")
    >>> plan_cache_info()
    PlanCacheInfo(hits=2, misses=1, size=1, maxsize=256)
    """
    return PlanCacheInfo(*_tilewright.plan_cache_info())


def plan_cache_clear() -> None:
    """Forgets all plans of ``relayout``, and counts from 0."""
    _tilewright.plan_cache_clear()


def copy_(dst: Any, src: Any, /, *, threads: int | None = None) -> Any:
    """Copies the elements of ``src`` to those of ``dst``, whatever the strides of both, and gives ``dst``.

    Both are on the CPU, or both on one CUDA device: NumPy's arrays, torch tensors, or whatever has ``__dlpack__``,
    ``__array_interface__`` or a buffer; they need not be of one library. They have one element type: nothing is converted. Types that layouts
    have no name for, such as structures, move as bytes, within one library. ``src`` is broadcast to the shape
    of ``dst``. Strides are any: negative, 0 in ``src``, of a number of bytes that is not a whole element. What lies between
    the elements of ``dst`` is left alone. The interpreter is free while bytes move; no other thread may use
    the memory of ``dst`` meanwhile, from its lowest element to its highest. On a device the copy is queued on the current
    stream of the library of ``dst``, or of that of ``src``; the current stream of the other one waits for it, and it for
    them. A library that names no stream finds it done when this returns.

    :param threads: one per core unless given, as everywhere in the package
    :raises Error: ``MismatchError`` for shapes, ``DtypeError`` for two element types, ``ReadOnlyError`` also for a
        tensor that requires a gradient, ``OverlapError`` where the memory of both, each from its lowest element
        to its highest, has a byte in common, ``UnsupportedError`` for a ``dst`` in which elements share storage,
        ``DeviceError``, ``CopyError`` for tensors that are conjugated or negated lazily

    >>> import numpy as np
    >>> images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    >>> out = np.zeros((4, 2, 3), np.uint8)
    >>> copy_(out, images.transpose(2, 0, 1)) is out
    True
    >>> out[1].tolist()
    [[1, 5, 9], [13, 17, 21]]
    >>> copy_(out, np.broadcast_to(np.float32(1), out.shape))
    Traceback (most recent call last):
        ...
    tilewright.DtypeError: a source of f32 where the destination is of u8; nothing is converted
    """
    return _tilewright.copy_(dst, src, threads=threads)


def contiguous(array: Any, /, *, threads: int | None = None) -> Any:
    """The array itself where its elements lie densely, the last dim fastest; else a new array with them so.

    What arrays are taken is as for ``copy_``. The new array is of the same library and element type, but NumPy's for
    libraries other than NumPy and torch. No gradient follows it.

    :param threads: one per core unless given
    :raises Error: as ``copy_``

    >>> import numpy as np
    >>> array = np.arange(6).reshape(2, 3)
    >>> contiguous(array) is array
    True
    >>> contiguous(array.T).flags.c_contiguous
    True
    """
    return _tilewright.contiguous(array, threads=threads)


def empty_like(array: Any, /, layout: str | Layout | TensorLayout | None = None) -> Any:
    """A new array of the shape and element type of ``array``, its elements not yet written, which lie as ``layout`` says.

    Without ``layout`` they lie densely, the last dim fastest. Memory of 64 kB or more begins on a cache line.

    :param layout: a layout whose places strides of the array's dims can say, such as ``col-major`` or ``channels_last``
    :raises Error: ``UnsupportedError`` for a layout that strides cannot say, such as ``zN``: ``relayout`` gives its storage

    >>> import numpy as np
    >>> images = np.zeros((2, 3, 4, 5), np.float32)
    >>> out = empty_like(images, "channels_last")
    >>> out.shape, [stride // 4 for stride in out.strides]
    ((2, 3, 4, 5), [60, 1, 15, 3])
    >>> empty_like(np.zeros((100, 30), np.float16), "zN")
    Traceback (most recent call last):
        ...
    tilewright.UnsupportedError: strides of the array's dims cannot express f16[100,30] zN; relayout(array, to) gives its storage
    """
    return _tilewright.empty_like(array, layout)
