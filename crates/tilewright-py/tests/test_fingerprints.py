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
