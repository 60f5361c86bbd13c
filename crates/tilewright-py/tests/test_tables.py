"""Index tables: layouts, moves of arrays, files."""

import numpy as np
import pytest
import tilewright as tw


def shuffled(count, seed=0):
    return np.random.default_rng(seed).permutation(count)


def text(order):
    return ",".join("-" if entry is None or entry < 0 else str(entry) for entry in order)


def test_offsets_are_those_of_the_definition():
    order = [2, None, 0, 1]
    rows = tw.TabledLayout(f"f16[3,8] table(0; {text(order)}) row-major")
    for place, index in enumerate(order):
        for column in range(8):
            if index is None:
                assert rows.coord(place * 8 + column) is None
            else:
                assert rows.offset(index, column) == place * 8 + column
                assert rows.coord(place * 8 + column) == (index, column)
    assert (rows.dims, rows.size, rows.capacity, rows.padding) == ((3, 8), 24, 32, 8)
    assert rows.tables == [(((0, 1),), order)]
    assert rows.spec == "f16[3,8] table(0; 2,-,0,1) row-major"
    assert eval(repr(rows), {"TabledLayout": tw.TabledLayout}) == rows  # noqa: S307
    assert "dim 0: 3 indices stored at 4 places" in rows.explain()
    with pytest.raises(tw.OutOfRangeError):
        rows.offset(3, 0)


def test_tables_that_are_digits_are_tensor_layouts():
    halves = tw.parse("f16[8,4] table(0; 4..8,0..4) row-major")
    assert isinstance(halves, tw.TensorLayout)
    assert halves.offset(0, 0) == 16
    assert tw.same("f16[8,4] table(0; 0..8) row-major", "f16[8,4] row-major")


def test_comparisons_say_where():
    a = "f16[4,8] table(0; 0,2,3,1) row-major"
    assert tw.same(a, a)
    found = tw.same(a, "f16[4,8] row-major")
    assert not found and found.coord == [1, 0] and (found.left, found.right) == (24, 8)
    assert tw.TabledLayout(a).same("f16[4,8] table(0; 0,2,3,1) row-major")


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("rest", ["row-major", "col-major", "zN[C0=16]"])
def test_arrays_are_moved_as_numpy_takes_them(dtype, dim, rest):
    array = np.arange(48 * 80, dtype="u8").reshape(48, 80).astype(dtype)
    order = shuffled(array.shape[dim])
    taken = np.take(array, order, axis=dim)
    name = {"u1": "u8", "f2": "f16", "f4": "f32", "f8": "f64"}[dtype]
    spec = f"{name}[48,80] table({dim}; {text(order)}) {rest}"
    moved = tw.relayout(array, spec)
    plain = tw.relayout(taken, rest)
    assert moved.tobytes() == plain.tobytes()
    back = tw.relayout(moved, "row-major", from_=spec)
    assert (back == array).all()
    plan = tw.Plan("row-major", spec, dims=(48, 80), dtype=name)
    assert plan.run(array).tobytes() == plain.tobytes()
    assert isinstance(plan.to, tw.TabledLayout) and plan.to.spec in repr(plan)


def test_holes_hold_the_fill():
    array = np.arange(6, dtype="u1").reshape(3, 2)
    spec = "u8[3,2] table(0; 2,-,0,1) row-major"
    moved = tw.relayout(array, spec, fill="0x7f")
    assert moved.tolist() == [[4, 5], [0x7F, 0x7F], [0, 1], [2, 3]]


def test_lists_are_read_from_files(tmp_path):
    order = shuffled(64)
    np.save(tmp_path / "order.npy", order)
    (tmp_path / "order.txt").write_text("\n".join(map(str, order)))
    array = np.arange(64 * 5, dtype="f4").reshape(64, 5)
    for name in ["order.npy", "order.txt"]:
        moved = tw.relayout(array, f"table(0; @{tmp_path / name}) row-major")
        assert (moved == array[order]).all()
    with pytest.raises(tw.Error, match="no such"):
        tw.relayout(array, "table(0; @no such file) row-major")


def test_files_keep_the_order(tmp_path):
    order = shuffled(64)
    array = np.arange(64 * 48, dtype="f4").reshape(64, 48)
    plain, there, back = (tmp_path / name for name in ["a.safetensors", "b.safetensors", "c.safetensors"])
    tw.save({"w": array, "order": order}, plain)
    tw.convert(plain, there, rules={"w": "table(0; tensor order) zN[C0=8]"}, verify=True)
    layout = tw.info(there)["w"]
    assert isinstance(layout, tw.TabledLayout)
    assert layout.tables == [(((0, 1),), list(order))]
    with tw.open(there) as checkpoint:
        assert (checkpoint["w"] == array).all()
        assert (checkpoint.get("w", box=(slice(3, 9), slice(1, 40))) == array[3:9, 1:40]).all()
        assert checkpoint.layout("w") == layout
    tw.verify(there, plain)
    assert tw.same_data(plain, there)
    tw.convert(there, back, to="row-major")
    with tw.open(back) as checkpoint:
        assert (checkpoint["w"] == array).all()


def test_a_tensor_is_read_in_the_order_of_a_table(tmp_path):
    order = shuffled(64)
    array = np.arange(64 * 48, dtype="f4").reshape(64, 48)
    tw.save({"w": array, "order": order}, tmp_path / "a.safetensors")
    with tw.open(tmp_path / "a.safetensors") as checkpoint:
        assert (checkpoint.get("w", to="table(0; tensor order) row-major") == array[order]).all()
        blocks = checkpoint.get("w", to="table(0; tensor order) zN[C0=8]")
        assert blocks.tobytes() == tw.relayout(array[order], "zN[C0=8]").tobytes()
        with pytest.raises(tw.Error, match="index tables, whose numbers count the whole tensor"):
            checkpoint.get("w", to="table(0; 0,2,1,3,4) row-major", box=(slice(5),))
        # A list that a stride expresses needs no table.
        turned = checkpoint.get("w", to="table(0; 1,0) zN[C0=8]", box=(slice(2),))
        assert turned.tobytes() == tw.relayout(array[:2][::-1].copy(), "zN[C0=8]").tobytes()


def test_what_is_refused():
    with pytest.raises(tw.Error, match="index 2 of the array is stored at 1 and at 2"):
        tw.TabledLayout("f16[4,8] table(0; 0,2,2,1) row-major")
    with pytest.raises(tw.UnsupportedError, match="index table"):
        tw.TensorLayout("f16[4,8] table(0; 0,2,3,1) row-major")
    with pytest.raises(tw.UnsupportedError, match="index table"):
        tw.show("f16[4,8] table(0; 0,2,3,1) row-major")
