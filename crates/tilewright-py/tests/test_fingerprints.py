"""Fingerprints of arrays and files: the same in every layout, and sums of parts."""

import itertools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


def some(dtype: Any, shape: tuple[int, ...]) -> Any:
    return (np.arange(np.prod(shape, dtype=int)) % 97).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_layout_changes_it(dtype: Any) -> None:
    array = some(dtype, (40, 50))
    found = tw.fingerprint(array)
    for to in ["row-major", "col-major", "zN[C0=16]", "{1,0:T(8,128)}", "{0,1}pad(48,64)"]:
        storage = tw.relayout(array, to)
        assert tw.fingerprint(storage, layout=to, dims=(40, 50)) == found
    assert tw.fingerprint(np.asfortranarray(array)) == found
    assert tw.fingerprint(array[::-1][::-1]) == found
    if np.dtype(dtype).kind in "iufc" and np.dtype(dtype).itemsize > 1:
        assert tw.fingerprint(array.astype(np.dtype(dtype).newbyteorder(">"))) == found
    others = [array.T.reshape(40, 50), array[::-1], array[:, ::-1]]
    assert dtype == "?" or all(tw.fingerprint(other) != found for other in others)


def test_parts_add_up() -> None:
    array = some("f4", (7, 9, 5))
    whole = tw.fingerprint(array)
    for cuts in itertools.product(range(8), range(10), range(6)):
        total = tw.Fingerprint("0" * 16)
        for sides in itertools.product(*[[(0, cut), (cut, extent)] for cut, extent in zip(cuts, array.shape, strict=True)]):
            part = array[tuple(slice(*side) for side in sides)]
            total += tw.fingerprint(part, origin=[side[0] for side in sides])
        assert total == whole
    assert tw.fingerprint(array, key="ab") != whole


def test_packed_and_unpacked() -> None:
    array = some("i1", (6, 8)) % 8
    packed = tw.relayout(array, "row-major", dtype="s4", bits=4)
    found = tw.fingerprint(array.astype(ml_dtypes.int4))
    assert tw.fingerprint(packed, layout="s4[6,8]{1,0:E(4)}") == found


def test_sums_of_experts_rows_and_nothing() -> None:
    """`sum()` begins with 0, and adds what has no element in common, in any order; nothing has the fingerprint of nothing."""
    experts = some(ml_dtypes.bfloat16, (6, 8, 10))
    whole = tw.fingerprint(experts)
    parts = [tw.fingerprint(experts[i : i + 1], origin=(i, 0, 0)) for i in range(6)]
    assert sum(parts) == sum(reversed(parts)) == sum(parts[1:], parts[0]) == whole
    assert sum(parts[:-1]) != whole and sum(parts, parts[0]) != whole
    # Of experts in another order the parts are those of other places.
    assert sum(tw.fingerprint(experts[i : i + 1], origin=((i + 1) % 6, 0, 0)) for i in range(6)) != whole
    ones = [tw.fingerprint(experts[i : i + 1, j : j + 1], origin=(i, j, 0)) for i in range(6) for j in range(8)]
    assert sum(ones) == whole
    nothing = tw.Fingerprint("0" * 16)
    for dims in [(0,), (0, 3), (3, 0, 2)]:
        assert tw.fingerprint(np.zeros(dims, np.float32)) == nothing
    assert sum([nothing, whole]) == whole and sum([]) == 0
    for other in (1, -1, 0.5, "0", None):
        with pytest.raises(TypeError):
            other + whole
    # One replica more is twice the number, and no number is taken for another.
    assert whole + whole != whole and str(nothing) == "0" * 16


def test_empties(tmp_path: Path) -> None:
    """An empty list of names is a mistake wherever names are taken; no arrays, and arrays of nothing, are none."""
    array = some("f4", (4, 6))
    np.save(tmp_path / "a.npy", array)
    for ask in (
        lambda: tw.fingerprints(tmp_path / "a.npy", tensors=[]),
        lambda: tw.same_data(tmp_path / "a.npy", tmp_path / "a.npy", tensors=[]),
        lambda: tw.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="zN", tensors=[]),
        lambda: tw.verify(tmp_path / "a.npy", tmp_path / "a.npy", tensors=()),
    ):
        with pytest.raises(tw.ArgumentError, match="tensors= is empty"):
            ask()
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
    for name in ["none.safetensors", "none.npz"]:
        tw.save({}, tmp_path / name)
        assert dict(tw.info(tmp_path / name)) == {} and tw.fingerprints(tmp_path / name) == {}
    assert tw.same_data(tmp_path / "none.safetensors", tmp_path / "none.npz")
    tw.save({"w": array[:0], "v": array[:, :0]}, tmp_path / "empty.safetensors", to="zN", verify=True)
    assert set(tw.fingerprints(tmp_path / "empty.safetensors").values()) == {tw.Fingerprint("0" * 16)}
    assert tw.verify(tmp_path / "empty.safetensors") is None


def test_words_without_a_note(tmp_path: Path) -> None:
    """What no file says of its words is said by `from_`, of files as of arrays."""
    x = (np.arange(64 * 64) * 7 % 16).astype(np.uint8).reshape(64, 64)
    words = tw.relayout(x, "GPTQ as s32", dtype="u4", bits=4)
    tw.save({"l.qweight": words, "l.s": x[0]}, tmp_path / "gptq.safetensors")
    keywords: dict[str, Any] = {"tensors": "*qweight", "from_": "GPTQ", "dtype": "u4"}
    out = tmp_path / "awq.safetensors"
    tw.convert(tmp_path / "gptq.safetensors", out, to="AWQ", store="s32", **keywords)
    assert tw.same_data(tmp_path / "gptq.safetensors", out, **keywords)
    assert not tw.same_data(tmp_path / "gptq.safetensors", out)
    found = tw.fingerprints(tmp_path / "gptq.safetensors", **keywords)
    assert found == {"l.qweight": tw.fingerprint(words, layout="GPTQ", dtype="u4")} == tw.fingerprints(out, tensors="*qweight")
    with pytest.raises(tw.Error, match=r'"l.s"'):
        tw.fingerprints(tmp_path / "gptq.safetensors", from_="GPTQ", dtype="u4")
    with pytest.raises(tw.Error, match="from_"):
        tw.fingerprints(tmp_path / "gptq.safetensors", dtype="u4")
    (tmp_path / "raw").write_bytes(tw.relayout(x, "zN").tobytes())
    raw = tw.fingerprints(f"raw:{tmp_path / 'raw'}", from_="zN", dims=(64, 64), dtype="u8")
    assert raw == {"array": tw.fingerprint(x)}


def test_a_result_alone(tmp_path: Path) -> None:
    """`verify(path)`: data against what is recorded."""
    tw.save({"a": some("f2", (20, 24)), "b": some("f2", (16, 24))}, tmp_path / "in.safetensors")
    out = tmp_path / "out.safetensors"
    tw.convert(tmp_path / "in.safetensors", out, to="zN")
    assert tw.verify(out) is None and tw.verify(out, tensors="a") is None
    with pytest.raises(tw.ArgumentError, match="records no fingerprint"):
        tw.verify(tmp_path / "in.safetensors")
    with pytest.raises(tw.ArgumentError, match="against= names the original"):
        tw.verify(out, store="s32")
    whole = out.read_bytes()
    key = b'"tilewright.data.b"'
    # The same length, and another key: the layout of b has no record, and stands beside one of no tensor.
    out.write_bytes(whole.replace(key, b'"tilewright.note.b"'))
    with pytest.warns(UserWarning, match='a layout is recorded for "b", and no fingerprint: not compared') as issued:
        assert tw.verify(out) is None
    assert issued[0].filename == __file__
    out.write_bytes(whole.replace(key, b'"tilewright.data.c"'))
    with pytest.warns(UserWarning, match="not compared"):
        assert tw.verify(out) == 'tensor "c": it is missing, but "tilewright.data.c" is about it'
    for at in (len(whole) - 768, len(whole) - 1):
        wrong = bytearray(whole)
        wrong[at] ^= 4
        out.write_bytes(wrong)
        told = tw.verify(out)
        # Padding is no data: the last rows of `a` and the last columns of both are.
        assert told is None or "is recorded" in told
        for to in ("row-major", "nZ", "zN"):
            run = lambda to=to: tw.convert(out, tmp_path / "again.safetensors", to=to, force=True)  # noqa: E731
            if told is None:
                run()
            else:
                with pytest.raises(tw.FileError, match="is recorded"):
                    run()


def test_values() -> None:
    found = tw.fingerprint(some("f4", (2, 3)))
    assert tw.Fingerprint(str(found)) == found == pickle.loads(pickle.dumps(found)) and len({found, found}) == 1
    assert repr(found) == f"Fingerprint('{found}')"


def test_files(tmp_path: Path) -> None:
    array = some("f4", (40, 50))
    np.save(tmp_path / "a.npy", array)
    tw.convert(tmp_path / "a.npy", tmp_path / "b.npy", to="zN")
    one, other = (tw.fingerprints(tmp_path / name) for name in ["a.npy", "b.npy"])
    assert one == other == {"array": tw.fingerprint(array)} and one.all == other.all
    ran = subprocess.run(
        [sys.executable, "-m", "tilewright", "fingerprint", str(tmp_path / "a.npy")], capture_output=True, check=True, text=True
    )
    assert ran.stdout.split() == ["array", "f32", "[40,50]", str(one["array"]), "all", one.all]
    assert tw.same_data(tmp_path / "a.npy", tmp_path / "b.npy")
    array[3, 4] += 1
    np.save(tmp_path / "c.npy", array)
    same = tw.same_data(tmp_path / "b.npy", tmp_path / "c.npy")
    assert not same and same.tensors[0]["coord"] == [3, 4] and "(3,4)" in str(same)


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"origin": (1,)}, tw.MismatchError, "origin"),
        ({"key": "xyz"}, tw.ParseError, "key="),
        ({"layout": "zN", "dims": (99, 99)}, tw.MismatchError, "bytes"),
        ({"dtype": "f64"}, tw.DtypeError, "f64"),
    ],
)
def test_what_is_refused(asked: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        tw.fingerprint(some("f4", (2, 3)), **asked)
    with pytest.raises(tw.Error):
        tw.fingerprint(np.zeros(3, "V5"))
    with pytest.raises(tw.FileError):
        tw.fingerprints("nowhere.npy")
