"""``relayout`` and ``Plan`` on arrays of NumPy's: the same elements in other places, or a typed exception."""

import gc
import itertools
import os
import sys
import threading
import time
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw

DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32", "float32", "int64",
    "uint64", "float64", "complex64", "complex128",
]
NARROW = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4", "uint4", "int2"]


def counted(shape: tuple[int, ...], dtype: Any = np.uint32) -> np.ndarray:
    random = np.random.default_rng(7)
    width = np.dtype(dtype).itemsize
    flat = random.integers(0, 256, int(np.prod(shape)) * width, dtype=np.uint8)
    return flat.view(dtype).reshape(shape)


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex128"])
def test_every_permutation_is_numpys(rank: int, dtype: str) -> None:
    random = np.random.default_rng(rank)
    letters = "ABCDE"[:rank]
    for order in itertools.permutations(range(rank)):
        shape = tuple(int(extent) for extent in random.integers(1, 9, rank))
        array = counted(shape, dtype)
        to = f"order:{letters}->{''.join(letters[dim] for dim in order)}"
        got = tw.relayout(array, to=to)
        assert same_bytes(got, np.ascontiguousarray(array.transpose(order))), (shape, to)
        # The same from a view: the array's strides are followed.
        view = array.transpose(order)
        assert same_bytes(tw.relayout(view, to="row-major"), np.ascontiguousarray(view))


@pytest.mark.parametrize("name", DTYPES + NARROW)
def test_every_dtype(name: str) -> None:
    dtype = np.dtype(name) if name in DTYPES else np.dtype(getattr(ml_dtypes, name))
    array = counted((6, 10), dtype)
    got = tw.relayout(array, to="col-major")
    assert same_bytes(got, np.ascontiguousarray(array.T))
    assert tw.Memory(array).dtype == tw.TensorLayout.of(array).dtype is not None


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "S3", "U2", "V5", ">f4", ">i8", [("a", "i4"), ("b", "f8")]])
def test_elements_without_a_name_are_moved_as_they_are(dtype: Any) -> None:
    array = counted((6, 10), np.dtype((np.void, np.dtype(dtype).itemsize))).view(dtype)
    assert same_bytes(tw.relayout(array, to="col-major"), np.ascontiguousarray(array.T))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::-1, ::2],
        lambda a: a[::2, 1:3, ::-3],
        lambda a: a[2],
        lambda a: a[..., 3],
        lambda a: a[:0],
        lambda a: a[:, :, 0:1],
        lambda a: np.broadcast_to(a[:, :1], a.shape),
        lambda a: np.broadcast_to(a[0, 0, 0], (3, 4)),
        lambda a: a[0, 0, :1].reshape(()),
        lambda a: a.swapaxes(0, 2)[::-1],
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=0),
    ],
)
def test_views_are_read_where_they_are(view: Any) -> None:
    array = view(counted((4, 5, 6)))
    for to, wanted in [("row-major", array), ("col-major", array.T)]:
        got = tw.relayout(array, to=to)
        assert got.tobytes() == wanted.tobytes() and got.size == array.size


def test_tiles_and_back() -> None:
    array = counted((100, 30), np.float16)
    zn = tw.parse("zN", dims=array.shape, dtype="f16")
    packed = tw.relayout(array, to=zn)
    assert packed.shape == zn.storage_shape == (2, 7, 16, 16)
    flat = packed.reshape(-1)
    for coord in itertools.product(range(0, 100, 7), range(0, 30, 3)):
        assert flat[zn.offset(coord)].tobytes() == array[coord].tobytes()
    wanted = np.zeros((112, 32), np.float16)
    wanted[:100, :30] = array
    assert packed.tobytes() == wanted.reshape(7, 16, 2, 16).transpose(2, 0, 1, 3).tobytes()
    for back in [
        tw.relayout(packed, from_=zn, to="row-major"),
        tw.relayout(packed, from_="zN", dims=(100, 30), to="row-major"),
        tw.relayout(packed.tobytes(), from_="f16[100,30] zN", to="row-major"),
    ]:
        assert same_bytes(back, array)


def test_padding_holds_what_is_asked() -> None:
    array = np.ones((3, 5), np.float32)
    tiles = "{1,0:T(2,2)}"
    assert tw.relayout(array, to=tiles).sum() == 15
    assert tw.relayout(array, to=tiles, fill="one").sum() == 24
    assert np.isneginf(tw.relayout(array, to=tiles, fill="lowest")).sum() == 9
    assert tw.relayout(np.zeros((3, 5), np.int8), to=tiles, fill="0x7f").sum() == 9 * 127
    assert tw.relayout(array, to="f32[3,5]{0,1}pad(4,6)fill(highest)").max() == np.inf
    with pytest.raises(tw.MismatchError):
        tw.relayout(array, to="f32[3,5]{0,1}pad(4,6)fill(0)", fill="one")
    with pytest.raises(tw.ParseError):
        tw.relayout(array, to=tiles, fill="two")


@pytest.mark.parametrize("dtype", ["uint8", "float64", "V5", "datetime64[s]", [("a", "i4"), ("b", "f8")]])
def test_large_results_begin_on_a_cache_line(dtype: Any) -> None:
    array = counted((300, 700), np.dtype((np.void, np.dtype(dtype).itemsize))).view(dtype)
    got = tw.relayout(array, to="col-major")
    assert got.ctypes.data % 64 == 0 and same_bytes(got, np.ascontiguousarray(array.T))


def test_four_bits_are_packed_and_unpacked() -> None:
    array = (np.arange(24).reshape(4, 6) % 16 - 8).astype(ml_dtypes.int4)
    packed = tw.relayout(array, to="s4[4,6]{1,0:E(4)}")
    assert packed.dtype == np.uint8 and packed.shape == (4, 3)
    values = array.astype(np.int8).reshape(-1, 2).view(np.uint8) & 0xF
    assert (packed.reshape(-1) == values[:, 0] | values[:, 1] << 4).all()
    assert (tw.relayout(array, to="row-major", bits=4) == packed).all()
    back = tw.relayout(packed, from_="s4[4,6]{1,0:E(4)}", to="col-major", bits=8)
    assert back.dtype == array.dtype and (back.astype(np.int8) == array.T.astype(np.int8)).all()


def test_the_element_type_can_be_told() -> None:
    array = counted((20, 40), np.uint16)
    assert tw.relayout(array, to="zN", dtype="bf16").dtype == ml_dtypes.bfloat16
    with pytest.raises(tw.DtypeError):
        tw.relayout(array, to="zN", dtype="f32")
    with pytest.raises(tw.MismatchError):
        tw.relayout(array, to="f32[20,40] zN")


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_output_of_ones_own(order: Any) -> None:
    array = counted((6, 10))
    out = np.empty((6, 10), np.uint32, order=order)
    assert tw.relayout(array, out=out) is out and (out == array).all()
    out = np.empty((3, 10, 2), np.uint32).transpose(2, 0, 1)
    array = counted((2, 3, 10))
    assert tw.relayout(array[::-1], out=out) is out and (out == array[::-1]).all()
    storage = np.empty(60, np.uint32)
    address = storage.ctypes.data
    assert tw.relayout(array, to="order:ABC->CBA", out=storage) is storage
    assert storage.ctypes.data == address and (storage == array.T.reshape(-1)).all()
    data = bytearray(240)
    assert tw.relayout(array, to="order:ABC->CBA", out=data) is data and data == storage.tobytes()
    assert tw.relayout(array, to="order:ABC->CBA", out=memoryview(bytearray(240))).tobytes() == data


# The ranks that a layout fits, where not every one.
RANKS = {"zN": [2, 3, 4], "{0,1:T(2,2)}": [2], "NHWC": [4], "{1,0:E(4)}": [2]}
SMALL = [(), (5,), (2, 3), (3, 3), (1, 4), (2, 3, 4), (3, 3, 3), (2, 1, 3, 2)]


@pytest.mark.parametrize("shape", SMALL, ids=str)
@pytest.mark.parametrize("to", ["row-major", "col-major", "zN", "{0,1:T(2,2)}", "NHWC", "{1,0:E(4)}"])
def test_fortran_order_is_the_transpose_over_the_same_bytes(shape: tuple[int, ...], to: str) -> None:
    asked: dict[str, Any] = {"dtype": "s4"} if "E(4)" in to else {}
    array = np.asarray(counted(shape, np.int8) >> (4 if asked else 0))
    if len(shape) not in RANKS.get(to, range(5)):
        with pytest.raises(tw.Error):
            tw.relayout(array, to, **asked)
        return
    rows = tw.relayout(array, to, **asked)
    columns = tw.relayout(array, to, order="F", **asked)
    assert columns.flags.f_contiguous and same_bytes(columns.T, rows)
    assert tw.Plan.of(array, to, order="F", **asked).shape == columns.shape
    # As an output, and as a storage to read.
    for out, order in [(np.empty_like(columns), "F"), (np.empty_like(rows), "C")]:
        assert tw.relayout(array, to, out=out, order=order, **asked) is out
        assert (out == (columns if out.shape == columns.shape and out.flags.f_contiguous else rows)).all()
    for storage in [rows, columns]:
        if storage is columns and is_undecided(columns):
            storage = columns.T
        back = tw.relayout(storage, "row-major", from_=to, dims=shape, dtype="s4" if asked else None, bits=8)
        assert (back.astype(np.int8) & 15 == array & 15).all() if asked else same_bytes(back, array)


def is_undecided(array: np.ndarray) -> bool:
    """Whether an array in Fortran's order may as well be the transpose of one in C's, by its shape."""
    return array.shape == array.shape[::-1] and not array.flags.c_contiguous


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 2), (2, 1, 3, 1, 2)], ids=str)
def test_a_shape_that_reads_the_same_both_ways_does_not_say_which(shape: tuple[int, ...]) -> None:
    array = counted(shape)
    turned = np.asfortranarray(array)
    bytes_side_by_side = {"from_": "row-major", "dims": shape}
    with pytest.raises(tw.CopyError, match=r"pass array.T for the first, numpy.ascontiguousarray\(array\) for the"):
        tw.relayout(turned, "row-major", **bytes_side_by_side)
    assert same_bytes(tw.relayout(turned.T, "row-major", **bytes_side_by_side), array.T)
    assert same_bytes(tw.relayout(np.ascontiguousarray(turned), "row-major", **bytes_side_by_side), array)
    with pytest.raises(tw.CopyError, match="order='F'"):
        tw.relayout(array, "col-major", out=np.empty_like(turned))
    out = np.empty_like(turned)
    assert tw.relayout(array, "col-major", out=out, order="F") is out and (out == array).all()
    # The array's own strides are followed, and an output's, where no storage is spoken of.
    assert same_bytes(tw.relayout(turned, "row-major"), array)
    out = np.empty_like(turned)
    assert tw.relayout(array, out=out) is out and (out == array).all()
    with pytest.raises(tw.CopyError, match=r"pass src.T"):
        tw.Plan("row-major", "row-major", dims=shape, dtype="u32").run(turned)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_no_value_is_cut(dtype: str, bits: int) -> None:
    kind = np.dtype(dtype)
    if bits >= 8 * kind.itemsize:
        return
    signed = kind.kind == "i"
    spec = f"{'s' if signed else 'u'}{bits}[2,3]{{1,0:E({bits})}}" if bits in (1, 2, 4) else None
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    kept = np.array([[least, 0, most], [most, least, 0]], kind)
    packed = tw.relayout(kept, "row-major", bits=bits)
    if spec is not None:
        back = tw.relayout(packed, "row-major", from_=spec, bits=8)
        numbers = back.view(np.int8) if signed and back.dtype == np.uint8 else back
        assert (numbers.astype(np.int64) == kept).all()
    else:
        assert (packed.view(f"{kind.kind}{bits // 8}") == kept).all()
    for wrong in {least - 1, most + 1, 1 << bits}:
        if not np.iinfo(kind).min <= wrong <= np.iinfo(kind).max:
            continue
        cut = kept.copy()
        cut[1, 1] = wrong
        calls: list[Any] = [
            lambda cut=cut: tw.relayout(cut, "row-major", bits=bits),
            lambda cut=cut: tw.relayout(np.asfortranarray(cut), "col-major", bits=bits),
            lambda cut=cut: tw.relayout(np.stack([cut, cut + 1], axis=2)[:, :, 0], "zN", bits=bits),
            lambda cut=cut: tw.Plan.of(cut, "row-major", bits=bits).run(cut),
            lambda cut=cut: tw.relayout(cut, out=np.empty((2, 3), f"{kind.kind}{bits // 8}")) if bits >= 8 else
            tw.relayout(cut, f"{{1,0:E({bits})}}"),
        ]
        for call in calls:
            with pytest.raises(tw.DtypeError, match=rf"element \(1, 1\), which is {wrong}; {least} to {most} fit"):
                call()
    # What no element lies at is not looked at.
    view = np.stack([kept, np.full_like(kept, np.iinfo(kind).max)], axis=2)[:, :, 0]
    assert same_bytes(tw.relayout(view, "row-major", bits=bits), packed)


def test_patterns_of_small_integers_are_values_too() -> None:
    # Nibbles in bytes, with a sign or without.
    nibbles = np.array([0, 7, 8, 15], np.uint8)
    packed = tw.relayout(nibbles, "row-major", dtype="s4", bits=4)
    signed = tw.relayout(nibbles | np.where(nibbles > 7, 0xF0, 0).astype(np.uint8), "row-major", dtype="s4", bits=4)
    assert same_bytes(packed, signed) and packed.tolist() == [0x70, 0xF8]
    # Of an element type of 4 bits the others are no part of a value.
    ours = np.array([0x10, 0xF7, 0x28, 15], np.uint8).view(ml_dtypes.int4)
    assert same_bytes(tw.relayout(ours, "row-major", bits=4), packed)
    with pytest.raises(tw.DtypeError, match=r"element \(3,\), which is 15; -8 to 7 fit"):
        tw.relayout(nibbles.astype(np.int16) - np.array([0, 0, 16, 0], np.int16), "row-major", dtype="s16", bits=4)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_floats_have_no_bits_to_spare(dtype: str) -> None:
    with pytest.raises((tw.DtypeError, tw.UnsupportedError)) as raised:
        tw.relayout(np.zeros((2, 3), dtype), "row-major", bits=8)
    assert "only integers are packed" in str(raised.value)


def test_a_column_major_result_keeps_its_shape() -> None:
    array = counted((2, 3))
    columns = tw.relayout(array, "col-major", order="F")
    assert columns.shape == (2, 3) and (columns == array).all() and columns.flags.f_contiguous
    large = counted((300, 700), np.uint16)
    kept = tw.relayout(large, "col-major", order="F")
    assert (kept == large).all() and kept.flags.f_contiguous and kept.ctypes.data % 64 == 0
    for wrong in [np.empty((3, 2), np.uint32, order="F"), np.empty((6, 1), np.uint32)[::-1]]:
        with pytest.raises(tw.CopyError):
            tw.relayout(array, "col-major", out=wrong)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_a_shape_tells_the_dims_of_an_order(rank: int) -> None:
    letters = "ABCD"[:rank]
    for order in itertools.permutations(range(rank)):
        layout = f"order:{letters}->{''.join(letters[dim] for dim in order)}"
        for shape in itertools.product([1, 2, 3], repeat=rank):
            array = counted(shape, np.uint8)
            stored = tw.relayout(array, layout)
            assert same_bytes(tw.relayout(stored, "row-major", from_=layout), array)
            turned = tw.relayout(array, layout, order="F")
            if is_undecided(turned):
                turned = turned.T
            back = tw.relayout(turned, "row-major", from_=layout, dims=shape)
            assert back.tobytes() == array.tobytes()


def test_a_transposed_array_does_not_tell_its_dims() -> None:
    for array in [counted((4, 4)), counted((2, 3)), counted((2, 3, 4))]:
        with pytest.raises(tw.NeedsDimsError):
            tw.relayout(array.T, "col-major", from_="row-major")


def test_dims_that_a_shape_does_not_tell() -> None:
    images = counted((2, 3, 4, 5), np.float32)
    assert same_bytes(tw.relayout(tw.relayout(images, "NHWC"), "NCHW", from_="NHWC"), images)
    assert same_bytes(tw.relayout(images, "NHWC", from_="NCHW"), tw.relayout(images, "NHWC"))
    array = counted((6, 11), np.uint16)
    for layout in ["zN", "{1,0:T(2,2)}", "(m1 m0:11) n -> m1 n m0", "m (n1 n0:11) -> m n1 n0", "{0,1}pad(13,17)"]:
        with pytest.raises(tw.Error):
            tw.relayout(array, "row-major", from_=layout)
    # Packed elements in bytes are fewer than the dims say.
    with pytest.raises(tw.NeedsDimsError):
        tw.relayout(counted((4, 3), np.uint8), "row-major", from_="{1,0:E(4)}", dtype="s4", bits=8)
    with pytest.raises(tw.NeedsDimsError):
        tw.relayout(bytes(6), "row-major", from_="NHWC")


def test_layouts_by_position_and_by_name() -> None:
    array = counted((2, 3))
    wanted = tw.relayout(array, to="col-major")
    assert same_bytes(tw.relayout(array, "col-major"), wanted)
    plans = [
        tw.Plan.of(array, "col-major"),
        tw.Plan("u32[2,3] row-major", "col-major"),
        tw.Plan(to="col-major", from_="u32[2,3] row-major"),
    ]
    assert all(same_bytes(plan.run(array), wanted) for plan in plans)


def test_outputs_that_are_refused() -> None:
    array = counted((4, 6))
    cases: list[tuple[type[tw.Error], Any, dict[str, Any]]] = [
        (tw.MismatchError, np.empty((5, 5), np.uint32), {"to": "col-major"}),
        (tw.MismatchError, np.empty((6, 4), np.uint32), {}),
        (tw.DtypeError, np.empty((6, 4), np.float32), {"to": "col-major"}),
        (tw.DtypeError, np.empty((3, 4), np.uint64), {"to": "col-major"}),
        (tw.CopyError, np.empty((4, 6), np.uint32).T, {"to": "col-major"}),
        (tw.CopyError, np.empty((4, 12), np.uint32)[:, ::2], {}),
        (tw.CopyError, np.empty((9, 6), np.uint32)[2:8, :4].T, {}),
        (tw.ReadOnlyError, bytes(96), {"to": "col-major"}),
        (tw.ReadOnlyError, np.broadcast_to(np.uint32(0), (4, 6)), {"to": "col-major"}),
    ]
    for error, out, asked in cases:
        with pytest.raises(error):
            tw.relayout(array, out=out, **asked)
    locked = np.empty((6, 4), np.uint32)
    locked.flags.writeable = False
    with pytest.raises(tw.ReadOnlyError):
        tw.relayout(array, to="col-major", out=locked)
    writable = np.lib.stride_tricks.as_strided(np.empty(4, np.uint32), (4, 6), (4, 0))
    with pytest.raises(tw.Error):
        tw.relayout(array, out=writable)
    whole = counted((10, 10))
    for source, out in [(whole[:4, :4], whole[4:8, :4].reshape(-1)), (whole[:4].reshape(-1), whole[3:7].reshape(-1))]:
        if np.shares_memory(source, out) or np.may_share_memory(source, out):
            with pytest.raises(tw.OverlapError):
                tw.relayout(source, to="col-major", out=out)
    with pytest.raises(tw.OverlapError):
        tw.relayout(whole, to="col-major", out=whole)
    with pytest.raises(tw.OverlapError):
        tw.relayout(whole.T, out=whole)


def test_byte_orders_are_never_mixed() -> None:
    big = np.arange(6, dtype=">f4").reshape(2, 3)
    little = big.astype("<f4")
    stored: dict[str, Any] = {"from_": "f32[2,3] row-major", "to": "col-major"}
    for source, other in [(big, little), (little, big)]:
        for asked in [{"to": "col-major"}, stored]:
            with pytest.raises(tw.DtypeError, match="big-endian"):
                tw.relayout(source, out=np.empty((3, 2), other.dtype), **asked)
            out = np.empty((3, 2), source.dtype)
            assert (tw.relayout(source, out=out, **asked) == little.T).all()
            assert (tw.relayout(source, **asked) == little.T).all()
        with pytest.raises(tw.DtypeError, match="big-endian"):
            tw.relayout(source, out=np.empty((2, 3), other.dtype, order="F"))
    plan = tw.Plan("f32[2,3] row-major", "col-major")
    assert (plan.run(little) == little.T).all()
    with pytest.raises(tw.DtypeError, match="big-endian"):
        plan.run(big)
    # Bytes are bytes, in whatever order their owner has them.
    data = bytearray(24)
    tw.relayout(big, to="col-major", out=data)
    assert data == np.ascontiguousarray(big.T).tobytes()
    with pytest.raises(tw.UnsupportedError, match="little-endian"):
        tw.relayout(counted((2, 3), ">u2"), to="col-major", dtype="bf16")


@pytest.mark.parametrize(
    ("dtype", "other"),
    [
        ("datetime64[s]", "datetime64[ms]"),
        ("datetime64[s]", "float64"),
        ("datetime64[s]", "timedelta64[s]"),
        ("float64", "datetime64[s]"),
        ([("a", "i4"), ("b", "f4")], [("a", "f4"), ("b", "i4")]),
    ],
)
def test_an_output_has_the_element_type_of_the_source(dtype: Any, other: Any) -> None:
    array = np.zeros((2, 3), dtype)
    with pytest.raises(tw.DtypeError):
        tw.relayout(array, to="col-major", out=np.zeros((3, 2), other))
    out = np.ones((3, 2), dtype)
    assert tw.relayout(array, to="col-major", out=out) is out and not out.view(np.uint8).any()


class Interface:
    """An object with nothing but an interface."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Copying:
    """An object that gives an array, but a new one each time."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros((2, 3))


class Duplicating:
    """An array whose library shares a copy of it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**{**keywords, "copy": True})


class Elsewhere:
    """An array in the memory of a device that is none of CUDA's."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (8, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("not asked for")


class Pack:
    """An array known only by its capsule."""

    def __init__(self, array: np.ndarray, versioned: bool = True) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        if not self.versioned:
            if keywords:
                raise TypeError("not known")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**keywords)


def test_arrays_of_others() -> None:
    array = counted((4, 6))
    wanted = np.ascontiguousarray(array.T)
    for other in [Interface(array), Pack(array), Pack(array, False), memoryview(array)]:
        assert (tw.relayout(other, to="col-major") == wanted).all()
        assert tw.Memory(other).address == array.ctypes.data
    assert (tw.relayout(Pack(array[::-1, ::2]), to="row-major") == array[::-1, ::2]).all()
    assert tw.relayout(b"abcdef", from_="u8[2,3]", to="col-major").tobytes() == b"adbecf"
    out = np.empty((6, 4), np.uint32)
    pack = Pack(out)
    assert tw.relayout(array, to="col-major", out=pack) is pack and (out == wanted).all()
    with pytest.raises(tw.ReadOnlyError):
        tw.relayout(array, to="col-major", out=Pack(out, versioned=False))
    locked = array.copy()
    locked.flags.writeable = False
    assert not tw.Memory(Pack(locked)).writable
    # What is written to a copy is lost.
    for asked in [{"array": Duplicating(array)}, {"array": array, "out": Duplicating(out)}]:
        with pytest.raises(tw.CopyError):
            tw.relayout(**asked, to="col-major")


def test_capsules_are_given_back() -> None:
    array = counted((4, 6))
    gone = weakref.ref(array)
    memory = tw.Memory(Pack(array))
    del array
    gc.collect()
    assert gone() is not None and memory.nbytes == 96
    del memory
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("array", [None, 1, 1.5, "text", [1, 2], object(), {}, np.float32, Copying()])
def test_what_is_no_array(array: Any) -> None:
    with pytest.raises(tw.ArrayError):
        tw.relayout(array, to="row-major")


def test_arrays_that_say_nothing_of_their_memory() -> None:
    class Host:
        def __dlpack_device__(self) -> object:
            return (1, 0)

        def __dlpack__(self, **_: object) -> object:
            return None

    class Vague(Host):
        def __dlpack_device__(self) -> object:
            return "cpu"

    class Traced(Host):
        def __dlpack_device__(self) -> object:
            raise AttributeError("traced")

    for array in (Host(), Vague(), Traced()):
        with pytest.raises(tw.ArrayError, match="memory"):
            tw.relayout(array, to="row-major")


def test_arrays_that_are_refused() -> None:
    with pytest.raises(tw.DtypeError):
        tw.relayout(np.array([None, 1]), to="row-major")
    with pytest.raises(tw.DtypeError):
        tw.relayout(np.zeros(3, [("a", "i4"), ("b", "O")]), to="row-major")
    with pytest.raises(tw.ArrayError):
        tw.relayout(np.ma.masked_array([1, 2], [0, 1]), to="row-major")
    with pytest.raises(tw.DeviceError):
        tw.relayout(Elsewhere(), to="row-major")
    with pytest.raises(tw.CopyError):
        tw.relayout(np.zeros(4, [("a", "i4"), ("b", "i2")])["a"], to="row-major")
    with pytest.raises(tw.CopyError):
        tw.relayout(np.zeros((4, 6))[:, ::2], from_="f64[4,3]", to="col-major")
    with pytest.raises(tw.MismatchError):
        tw.relayout(np.zeros((4, 6)), from_="f64[4,7]", to="col-major")
    with pytest.raises(tw.DtypeError):
        tw.relayout(np.zeros((4, 6), np.float32), from_="f64[4,3]", to="col-major")
    with pytest.raises(tw.MismatchError):
        tw.relayout(np.zeros((4, 6)), to="NHWC")
    with pytest.raises(tw.UnsupportedError):
        tw.relayout(np.zeros((4, 6)), to="(4,6):(0,1)")
    with pytest.raises(tw.ArgumentError):
        tw.relayout(np.zeros((4, 6)))
    with pytest.raises(tw.NeedsDimsError):
        tw.relayout(np.zeros((4, 6)), from_="zN", to="row-major")
    with pytest.raises(tw.LimitError):
        tw.relayout(np.zeros((1,) * 40), to="row-major")
    with pytest.raises(TypeError):
        tw.relayout(np.zeros((4, 6)), to=7)  # type: ignore[arg-type]


def test_all_errors_are_value_errors() -> None:
    kinds = [getattr(tw, name) for name in tw._errors.__all__]
    assert len(kinds) > 15 and all(issubclass(kind, tw.Error) for kind in kinds)
    assert issubclass(tw.Error, ValueError)


def test_repeated_calls_hit_the_plan_cache() -> None:
    tw.plan_cache_clear()
    for _ in range(10):
        tw.relayout(counted((8, 8)), to="col-major")
    assert tw.plan_cache_info() == (9, 1, 1, 256)
    tw.relayout(counted((8, 8)).T, to="col-major")
    tw.relayout(counted((8, 8), np.float32), to="col-major")
    tw.relayout(counted((8, 9)), to="col-major")
    tw.relayout(counted((8, 8)), to="row-major")
    assert tw.plan_cache_info() == (9, 5, 5, 256)
    for extent in range(1, 600):
        tw.relayout(np.zeros(extent, np.int8), to="row-major")
    assert tw.plan_cache_info().size <= 256
    tw.relayout(np.zeros(599, np.int8), to="row-major")
    assert tw.plan_cache_info().hits == 10


def test_a_plan_is_reused() -> None:
    array = counted((6, 10))
    plan = tw.Plan.of(array, to="col-major")
    out = np.empty((10, 6), np.uint32)
    for _ in range(3):
        array += 1
        assert plan.run(array, out) is out and (out == array.T).all()
    assert (plan.run(array) == array.T).all()
    assert plan.src_bytes == plan.dst_bytes == 240 and plan.shape == (10, 6)
    assert plan.kernel in str(plan) and "240" in str(plan)
    for other in [array.T, array[:5], array.astype(np.float32), array[::-1]]:
        with pytest.raises(tw.MismatchError):
            plan.run(other)
    storages = tw.Plan("f16[6,10] zN", "row-major")
    zn = tw.relayout(np.ones((6, 10), np.float16), to="zN")
    assert (storages.run(zn) == 1).all() and storages.run(zn).shape == (6, 10)
    assert (storages.run(zn.tobytes()) == 1).all()
    assert storages.from_.spec == "f16[6,10] zN" and storages.to.dims == (6, 10)
    for other, error in [(zn[..., :8], tw.CopyError), (zn.view(np.int16), tw.DtypeError), (b"1", tw.MismatchError)]:
        with pytest.raises(error):
            storages.run(other)


@pytest.mark.parametrize("threads", [None, 0, 1, 2, 3, 8])
def test_threads(threads: int | None) -> None:
    array = counted((500, 700))
    got = tw.relayout(array, to="col-major", threads=threads)
    assert same_bytes(got, np.ascontiguousarray(array.T))


def test_many_threads_share_a_plan_and_the_cache() -> None:
    plan = tw.Plan.of(np.empty((600, 500), np.uint32), to="col-major")
    wrong: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for turn in range(12):
            array = random.integers(0, 1 << 30, (600, 500), np.uint32)
            out = np.empty((500, 600), np.uint32)
            plan.run(array, out, threads=turn % 3)
            got = tw.relayout(array, to="col-major", threads=turn % 3)
            if not ((out == array.T).all() and (got == array.T).all()):
                wrong.append((seed, turn))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_the_interpreter_is_free_while_bytes_move() -> None:
    array = counted((4096, 4096))
    plan, out = tw.Plan.of(array, to="col-major"), np.empty((4096, 4096), np.uint32)
    turns, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    other = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    # Nobody is asked to let go of the interpreter: the other thread runs where it is let go by itself.
    sys.setswitchinterval(1000)
    try:
        other.start()
        before = turns[0]
        for _ in range(5):
            plan.run(array, out, threads=1)
        after = turns[0]
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        other.join()
    assert after > before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_fork_moves_too() -> None:
    array = counted((1000, 1000))
    plan = tw.Plan.of(array, to="col-major")
    wanted = plan.run(array, threads=2)
    assert (tw.relayout(array, to="col-major") == wanted).all()
    child = os.fork()
    if child == 0:
        right = (plan.run(array, threads=2) == wanted).all() and (plan.run(array) == wanted).all()
        right = right and (tw.relayout(array, to="col-major") == wanted).all()
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_shared_memory_is_written_where_it_is() -> None:
    from multiprocessing import shared_memory

    array = counted((30, 40))
    shared = shared_memory.SharedMemory(create=True, size=4800)
    try:
        tw.relayout(array, to="col-major", out=shared.buf[:4800])
        assert bytes(shared.buf[:4800]) == array.T.tobytes()
    finally:
        shared.close()
        shared.unlink()


def test_truth_values_are_not_cut() -> None:
    odd = np.array([[2, 0]], np.uint8).view(bool)
    with pytest.raises(tw.DtypeError, match="cuts"):
        tw.relayout(odd, "row-major", bits=1)
    assert tw.relayout(np.array([[True, False, True]]), "row-major", bits=1).tolist() == [5]
