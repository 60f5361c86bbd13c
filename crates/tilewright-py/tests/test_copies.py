"""``copy_``, ``contiguous`` and ``empty_like`` on NumPy's arrays; torch's are in ``test_accelerate.py``."""

import random
from typing import Any

import numpy as np
import pytest
from interpreter import others_run

import tilewright as tw

ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = [
    "?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i8", "S3", "U2", "M8[s]", "m8[D]", "V5",
    [("a", "u1"), ("b", "f4")], [("a", "f8"), ("b", "f8")], [("a", "i4", (3,)), ("b", "u1")],
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.float4_e2m1fn,
]


def array(random: random.Random, dtype: Any) -> Any:
    """An array of random bytes, of rank 0 to 4."""
    dtype = np.dtype(dtype)
    shape = [random.choice([0, 1, 2, 3, 5, 8, 17]) for _ in range(random.randrange(5))]
    count = int(np.prod(shape, dtype=int))
    most = 2 if dtype == np.bool_ else 128
    values = np.frombuffer(bytes(random.randrange(most) for _ in range(count * dtype.itemsize)), np.uint8)
    return np.ndarray(shape, dtype, values.copy()) if count else np.empty(shape, dtype)


def view(random: random.Random, array: Any) -> Any:
    """The dims in any order, cut, stepped over, reversed, repeated."""
    array = array.transpose(random.sample(range(array.ndim), array.ndim))
    cuts = []
    for extent in array.shape:
        step = random.choice([1, 1, 2, 3, -1, -2])
        cuts.append(slice(None, None, step) if random.random() < 0.5 else slice(random.randrange(extent + 1), None))
    array = array[(*cuts, ...)]
    if random.random() < 0.2:
        array = np.broadcast_to(array, (random.randrange(1, 4), *array.shape))
    return array


def raw(array: Any) -> bytes:
    return bytes(array.tobytes())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_random_views_are_copied_as_numpy_copies_them(dtype: Any) -> None:
    dice = random.Random(str(dtype))
    for _ in range(60):
        source = view(dice, array(dice, dtype))
        # A destination with gaps that stay as they are.
        around = np.frombuffer(dice.randbytes((source.size * 2 + 2) * source.itemsize), np.uint8).copy()
        flat = around.view(np.dtype((np.void, source.itemsize)))[: source.size * 2].view(source.dtype)
        out = flat[:: dice.choice([1, 2])][: source.size].reshape(source.shape[::-1]).T
        assert np.shares_memory(out, around) or source.size == 0
        expected = around.copy()
        at = out.__array_interface__["data"][0] - around.__array_interface__["data"][0]
        there = np.ndarray(out.shape, out.dtype, expected, at, out.strides) if source.size else out.copy()
        there[...] = source
        assert tw.copy_(out, source) is out
        assert raw(around) == raw(expected)
        dense = tw.contiguous(source)
        assert dense.flags.c_contiguous and dense.dtype == source.dtype and dense.shape == source.shape
        assert raw(dense) == raw(source)
        assert (dense is source) == source.flags.c_contiguous


def test_sources_are_broadcast() -> None:
    for shape, to in [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1, 1, 3), (4, 2, 3)), ((2, 0), (5, 2, 0))]:
        source = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        out = np.full(to, -1)
        assert (tw.copy_(out, source) == np.broadcast_to(source, to)).all()
    for shape in [(2,), (3, 3), (1, 2, 3), (0, 3)]:
        with pytest.raises(tw.MismatchError, match="source of shape"):
            tw.copy_(np.zeros((2, 3)), np.zeros(shape))


def test_strides_of_no_whole_elements() -> None:
    packed = np.zeros(7, np.dtype([("a", "u1"), ("b", "f8")]))
    packed["b"] = np.arange(7)
    assert packed["b"].strides == (9,)
    assert tw.contiguous(packed["b"]).tolist() == list(range(7))
    tw.copy_(packed["b"], np.arange(7.0)[::-1])
    assert packed["b"].tolist() == list(range(7))[::-1] and not packed["a"].any()


def test_large_arrays() -> None:
    source = np.arange(3_000_000, dtype=np.uint16).reshape(100, 150, 200)
    for order in [(2, 1, 0), (1, 0, 2), (0, 2, 1)]:
        for threads in [1, 2, None]:
            turned = source.transpose(order)
            assert (tw.contiguous(turned, threads=threads) == turned).all()
            out = tw.empty_like(turned)
            assert (tw.copy_(out, turned[::-1], threads=threads) == turned[::-1]).all()


@pytest.mark.parametrize(
    ("out", "source", "error", "says"),
    [
        (np.zeros(3), np.zeros(3, np.float32), tw.DtypeError, "f32 where the destination is of f64"),
        (np.zeros(3), np.zeros(3, ">f8"), tw.DtypeError, "big-endian"),
        (np.zeros(3, "S4"), np.zeros(3, "S3"), tw.DtypeError, "3 bytes where the destination is of 4"),
        (np.zeros(3, "V4"), np.zeros(3, "f4"), tw.DtypeError, "nothing is converted"),
        (np.broadcast_to(np.float64(1), 3), np.zeros(3), tw.ReadOnlyError, "read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(3), (2, 2), (8, 8)), np.zeros((2, 2)), tw.UnsupportedError, "share"),
        (np.zeros(3, object), np.zeros(3, object), tw.DtypeError, "Python objects"),
        ([1, 2], np.zeros(2), tw.ArrayError, "list"),
        (np.zeros(2), 3.0, tw.ArrayError, "float"),
    ],
)  # fmt: skip
def test_what_is_refused(out: Any, source: Any, error: type[Exception], says: str) -> None:
    before = np.array(out).tobytes()
    with pytest.raises(error, match=says):
        tw.copy_(out, source)
    assert np.array(out).tobytes() == before


def test_overlap() -> None:
    array = np.arange(12).reshape(3, 4)
    for out, source in [(array, array), (array[1:], array[:-1]), (array[:, :2], array[:, 2:])]:
        with pytest.raises(tw.OverlapError, match="lowest"):
            tw.copy_(out, source)
    assert (array.ravel() == np.arange(12)).all()
    tw.copy_(array[2:], array[:1])
    assert array[2].tolist() == [0, 1, 2, 3]


def test_the_interpreter_is_free() -> None:
    source = np.zeros((1000, 1000), np.uint8).T
    assert others_run(lambda: tw.contiguous(source, threads=1))


@pytest.mark.parametrize("dtype", ["u1", "f4", "c16", ml_dtypes.bfloat16, [("a", "i4"), ("b", "u1")]], ids=str)
def test_empty_arrays_lie_as_asked(dtype: Any) -> None:
    array = np.zeros((2, 3, 4, 5), dtype)
    for layout, strides in [
        (None, (60, 20, 5, 1)),
        ("row-major", (60, 20, 5, 1)),
        ("col-major", (1, 2, 6, 24)),
        ("channels_last", (60, 1, 15, 3)),
        ("(2,3,4,5):(1024,256,32,1)", (1024, 256, 32, 1)),
    ]:
        out = tw.empty_like(array, layout)
        assert out.shape == array.shape and out.dtype == array.dtype and out.flags.writeable
        assert out.strides == tuple(one * array.itemsize for one in strides)
        assert tw.copy_(out, array) is out and raw(out) == raw(array)
    one = np.zeros((1, 3, 4, 5), dtype)
    assert (tw.copy_(tw.empty_like(one, "channels_last"), one) == one).all()
    with pytest.raises(tw.UnsupportedError, match="relayout"):
        tw.empty_like(np.zeros((40, 50), np.float16), "zN")
    with pytest.raises(tw.MismatchError):
        tw.empty_like(array, "f32[2,3]{1,0}")


def test_plans_are_kept() -> None:
    out, source = np.zeros((8, 8)), np.zeros((8, 8)).T
    for _ in range(3):
        tw.copy_(out, source)
    again = np.ones((8, 8))
    assert (tw.copy_(out, again.T) == 1).all()
