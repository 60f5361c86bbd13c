"""Bank conflicts of shared memory, and the swizzle between two layouts."""

import pytest

import tilewright as tw
from tilewright import algebra


def test_a_report() -> None:
    found = tw.bank_conflicts("f32[32,32] row-major", ["write row", "column"], fix=True)
    assert (found.conflicts, found.degrees) == (32 * 31, [1, 32])
    assert found.fixed is not None
    assert tw.bank_conflicts(found.fixed, ["write row", "column"]).conflicts == 0
    assert str(found.fixed) == "f32[32,32] Sw<5,0,5> o (32,32):(32,1)"
    fixes = [line for line in str(found).splitlines() if line.startswith("fix:")]
    assert fixes == ["fix: Sw<5,0,5>, the least swizzle"]
    assert repr(found) == "<BankConflicts: 992>"
    assert found.as_dict()["accesses"][1]["worst"]["words"][1]["threads"] == [1]
    assert found.draw().svg.startswith("<svg")
    assert "0 T1" in found._repr_html_()


def test_without_a_fix_there_is_none() -> None:
    found = tw.bank_conflicts("row-major", "column", dims=(64, 32), dtype="f16")
    assert found.fixed is None
    assert found.as_dict()["fix"] is None


def test_an_unknown_access_is_refused() -> None:
    with pytest.raises(tw.Error, match="is not an access"):
        tw.bank_conflicts("f32[4,4] row-major", "diagonal")
    with pytest.raises(tw.Error, match="width of an element"):
        tw.bank_conflicts("(4,4):(4,1)", "row")
    with pytest.raises(tw.Error, match="31x4|31 banks"):
        tw.bank_conflicts("f32[4,4] row-major", "row", banks="31x4")
    with pytest.raises(tw.Error, match="no access"):
        tw.bank_conflicts("f32[4,4] row-major", [])
    with pytest.raises(TypeError):
        tw.bank_conflicts("f32[4,4] row-major", [5])  # type: ignore[list-item]


def test_swizzle_between() -> None:
    swizzle = algebra.swizzle_between("(8,64):(64,1)", "Sw<3,3,3> o (8,64):(64,1)")
    assert swizzle == tw.Swizzle(3, 3, 3)
    with pytest.raises(tw.Error, match=r"64 would become 1 at \(1,0\)"):
        algebra.swizzle_between("(8,64):(64,1)", "(8,64):(1,8)")
