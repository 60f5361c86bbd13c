"""Layouts as code: what is printed runs, and says what the layout says."""

import itertools

import numpy
import pytest
import tilewright as tw


def functions(spec, **array):
    """The offset function and its inverse, run by Python."""
    names = {}
    for inverse in (False, True):
        exec(tw.emit(spec, to="python", inverse=inverse, **array), names)
    return names["offset"], names["coord"]


@pytest.mark.parametrize("spec, dims, dtype", [
    ("zN", (37, 50), "f16"),
    ("{1,0:T(8,128)(2,1)}", (9, 130), "bf16"),
    ("NC1HWC0", (2, 20, 3, 5), "f16"),
    ("Sw<2,1,3> o (8,16):(16,1)", None, None),
])
def test_functions_say_what_the_layout_says(spec, dims, dtype):
    layout = tw.parse(spec, dims=dims, dtype=dtype)
    offset, coord = functions(spec, dims=dims, dtype=dtype)
    there = set()
    for x in itertools.product(*map(range, layout.dims)):
        at = layout.offset(*x)
        assert offset(*x) == at and coord(at) == x
        there.add(at)
    assert all((coord(at) is None) == (at not in there) for at in range(layout.capacity))


def test_named_extents_and_blocks_of_integers():
    offset, _ = functions("zN", dims=("M", "N"), dtype="f16", assume=["M % 16 == 0"])
    layout = tw.parse("zN", dims=(48, 33), dtype="f16")
    rows, columns = numpy.meshgrid(numpy.arange(48), numpy.arange(33), indexing="ij")
    # As Triton does: all coordinates at once.
    found = offset(rows, columns, 48, 33)
    assert found.tolist() == [[layout.offset(i, j) for j in range(33)] for i in range(48)]
    assert tw.emit("zN", dims="M,N", dtype="f16", assume="M % 16 == 0") == tw.emit(
        "zN", dims=["M", "N"], dtype="f16", assume=["M % 16 == 0"]
    )
    assert tw.emit(layout, to="rust", name="at").splitlines()[2] == "pub const fn at(i0: u64, i1: u64) -> u64 {"


def test_what_is_no_function_is_refused():
    with pytest.raises(tw.Error, match="expected one of c, cuda"):
        tw.emit("(2,3):(3,1)", to="cobol")
    with pytest.raises(tw.Error, match="several coordinates"):
        tw.emit("(2,3):(0,1)", inverse=True)
    with pytest.raises(tw.Error, match="expected a number or a name"):
        tw.emit("zN", dims=(1.5, 2), dtype="f16")
    with pytest.raises(ValueError, match="expected 32 or 64"):
        tw.emit("(2,3):(3,1)", bits=16)
