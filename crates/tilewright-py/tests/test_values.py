"""Layouts, swizzles and answers as Python's values."""

import builtins
import types
import copy
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

MODEL = Path(__file__).resolve().parents[3] / "corpus" / "data" / "tiny_llm_mixed.safetensors"
LAYOUTS = [
    tw.Layout("((4,2),(4,3)):((4,16),(1,32))"),
    tw.Layout("Sw<3,3,3> o (8,64):(64,1)"),
    tw.Layout((4, (2, 3)), (6, (3, 1))),
    tw.Layout(()),
    tw.Layout(7),
    tw.Layout("(4,8):(-8,1)+24"),
    tw.Swizzle(3, 3, 3),
    tw.Swizzle.of_images([2, 4, 1]),
    tw.parse("f16[100,30] zN"),
    tw.parse("s4[3,5]{1,0:T(2,2)E(4)}"),
    tw.parse("f32[2,3]{0,1}pad(3,5)fill(0)"),
    tw.parse("f32[5,6,7]{2,1,0:T(2,*,4)}"),
    tw.evaluate("<3:1,(2,4):(1,8)>"),
    tw.evaluate("{lane=[1,2],warp=[4]} -> (row:8)"),
]


@pytest.mark.parametrize("value", LAYOUTS, ids=str)
def test_values_are_equal_hashed_copied_and_pickled(value: object) -> None:
    for other in [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]:
        assert other == value and hash(other) == hash(value) and repr(other) == repr(value)
    assert value != object() and value is not None
    assert sum(value == other for other in LAYOUTS) == 1
    assert len({value, copy.copy(value)}) == 1


@pytest.mark.parametrize("value", [value for value in LAYOUTS if isinstance(value, (tw.Layout, tw.Swizzle, tw.TensorLayout))], ids=str)
def test_reprs_are_expressions(value: object) -> None:
    assert eval(repr(value), vars(tw).copy()) == value


def test_layouts() -> None:
    layout = tw.Layout((4, (2, 3)), (6, (3, 1)))
    assert (layout.shape, layout.stride, layout.size, layout.rank, layout.depth) == ((4, (2, 3)), (6, (3, 1)), 24, 2, 2)
    assert layout((1, (1, 2))) == layout((1, 5)) == layout(1 + 4 * 5) == 6 + 3 + 2
    assert len(layout) == 2 and layout[1] == layout[-1] == tw.Layout("(2,3):(3,1)")
    assert layout.offsets() == [layout(index) for index in range(24)]
    assert layout.injective() and layout.exhaustive() and layout.cosize == 24
    assert tw.Layout((2, 3)) == tw.Layout("(2,3):(1,2)") == tw.Layout([2, 3])
    assert tw.Layout(np.int64(8), np.int32(2)) == tw.Layout("8:2")
    assert [str(axis) for axis in layout] == ["4:6", "(2,3):(3,1)"]
    with pytest.raises(IndexError):
        layout[2]
    with pytest.raises(tw.OutOfRangeError):
        layout(24)
    with pytest.raises(tw.Error):
        layout((4, 0))
    with pytest.raises(tw.Error):
        tw.Layout((2, 3), (1, (2, 3)))
    with pytest.raises(tw.Error):
        tw.Layout((1 << 40, 1 << 40))
    with pytest.raises(TypeError):
        tw.Layout(1.5)
    with pytest.raises(TypeError):
        tw.Layout(True)


def test_the_algebra_takes_every_spelling() -> None:
    layout = tw.Layout("(6,2):(8,2)")
    for b in [tw.Layout("(4,3):(3,1)"), "(4,3):(3,1)", tw.parse("(4,3):(3,1)")]:
        assert layout @ b == tw.algebra.composition(layout, b) == tw.Layout("((2,2),3):((24,2),8)")
    tiles = tw.Layout("((3,2),(4,2)):((8,24),(1,4))")
    for tiler in [(3, 4), [3, 4], "<3,4>", (tw.Layout(3), tw.Layout(4)), tw.evaluate("<3,4>")]:
        assert tw.algebra.logical_divide(tw.Layout((6, 8), (8, 1)), tiler) == tiles
    assert tw.algebra.slice((None, 1), "(4,8):(8,1)") == tw.algebra.slice((..., 1), "(4,8):(8,1)")
    assert tw.algebra.complement("4:2", 24) == tw.evaluate("complement(4:2, 24)")
    assert tw.algebra.size(tw.parse("f32[3,5] row-major")) == 15
    with pytest.raises(tw.NoLayoutError) as raised:
        tw.algebra.composition("(6,2):(1,7)", "(3,2):(2,3)")
    assert "at (2,1)" in str(raised.value)
    with pytest.raises(tw.MismatchError):
        tw.algebra.logical_divide("10:1", "12:1")
    with pytest.raises(tw.ArgumentError):
        tw.algebra.operation("size")
    with pytest.raises(tw.ParseError, match="did you mean"):
        tw.algebra.operation("siez", 4)
    deep: object = 1
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(tw.LimitError):
        tw.algebra.size(deep)


def test_functions_are_all_here() -> None:
    names = {name for name, _, _ in tw.functions()}
    # The two that are methods of a layout, and `same`, which says more than true or false.
    assert {name for name in names if not hasattr(tw.algebra, name)} == {"offset", "coord", "same"}
    assert set(tw.algebra.__all__) <= names and all(hasattr(tw, name) for name in tw.__all__)


def test_layouts_of_arrays() -> None:
    zn = tw.parse("zN", dims=(100, 30), dtype=np.float16)
    assert zn == tw.parse("f16[100,30] zN") == tw.parse("FRACTAL_NZ", (100, 30), "float16")
    assert zn != tw.parse("bf16[100,30] zN") and zn.same("bf16[100,30] zN")
    assert (zn.dims, zn.rank, zn.dtype, zn.bits, zn.size) == ((100, 30), 2, "f16", 16, 3000)
    assert (zn.capacity, zn.nbytes, zn.padding, zn.fill) == (3584, 7168, 584, None)
    assert zn.offset([16, 0]) == 256 and zn.coord(256) == (16, 0) and zn.coord(3583) is None
    assert zn.injective and "zN" in zn.recognise()
    assert zn.layout == tw.Layout("((16,7),(16,2)):((16,256),(1,1792))")
    with pytest.raises(tw.OutOfRangeError):
        zn.coord(3584)
    with pytest.raises(tw.OutOfRangeError):
        zn.offset((100, 0))
    with pytest.raises(tw.UnsupportedError):
        zn.translate("numpy")
    with pytest.raises(tw.UnsupportedError):
        tw.parse("f32[5,6,7]{2,1,0:T(2,*,4)}").layout
    for dtype in ["bf16", "BF16", "bfloat16", "torch.bfloat16"]:
        assert tw.parse("row-major", (3,), dtype).dtype == "bf16"
    import ml_dtypes

    for thing in [ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16)]:
        assert tw.parse("row-major", (3,), thing).dtype == "bf16"
    assert tw.parse("row-major", (3,), np.dtype("<f4")).dtype == "f32"
    with pytest.raises(tw.ParseError):
        tw.parse("row-major", (3,), "f33")


def test_layouts_of_arrays_have_numpys_names() -> None:
    for spec in ["f16[100,30] zN", "f32[7] row-major", "f32[] row-major", "f32[2,3,4]{0,1,2}"]:
        layout = tw.parse(spec)
        assert layout.shape == layout.dims and layout.ndim == layout.rank == len(layout.shape)
        for coord in np.ndindex(*(min(extent, 3) for extent in layout.shape)):
            assert layout.offset(*coord) == layout.offset(coord) == layout.offset(list(coord))
    zn = tw.parse("f16[100,30] zN")
    assert zn.offset(16, 0) == zn.offset(np.int64(16), np.int8(0)) == 256
    assert tw.parse("f32[7] row-major").offset(np.int64(5)) == 5
    layout = tw.Layout((4, (2, 3)), (6, (3, 1)))
    assert layout(1, (1, 2)) == layout((1, (1, 2))) and layout(1, 5) == layout(1 + 4 * 5)
    for wrong in [(), (16,), (16, 0, 0), (100, 0)]:
        with pytest.raises(tw.Error):
            zn.offset(*wrong)
    with pytest.raises(TypeError):
        zn.offset(16, 0.5)  # type: ignore[arg-type]


def test_errors_are_named_as_they_are_caught() -> None:
    for name in [*tw._errors.__all__, "FileExistsError", "FileNotFoundError", "OverflowError", "PermissionError"]:
        error = getattr(tw, name)
        assert (error.__module__, error.__qualname__) == ("tilewright", name) and issubclass(error, tw.Error)
    with pytest.raises(tw.ParseError) as raised:
        tw.parse("row-mayor")
    assert raised.exconly().startswith("tilewright.ParseError: no notation reads this")


def test_errors_name_arguments() -> None:
    array = np.zeros((2, 3), np.float32)
    for says, call in [
        (r"dims=\(3, 2\) of an array of shape \(2, 3\); for a storage, give from_=", lambda: tw.relayout(array, "zN", dims=(3, 2))),
        ("give to=, or an array with a layout as out=", lambda: tw.relayout(array)),
        ("dtype=f16 of elements of 32 bits", lambda: tw.relayout(array, "zN", dtype="f16")),
        ("order= takes 'C' .* or 'F', not 'K'", lambda: tw.relayout(array, "zN", order="K")),
        ("to= takes a layout: text, a Layout, a TensorLayout or a TabledLayout; not int", lambda: tw.relayout(array, 5)),  # type: ignore[arg-type]
        ("from_= takes a layout", lambda: tw.relayout(array, "zN", from_=5)),  # type: ignore[arg-type]
        ("spec= takes a layout", lambda: tw.parse(5)),  # type: ignore[arg-type]
        ("give the layout as to=, or give layouts as rules=", lambda: tw.convert(MODEL, "x.safetensors")),
        ("rules= takes a mapping", lambda: tw.convert(__file__, "x.npy", rules=["zN"])),  # type: ignore[arg-type]
        ("threads= takes an integer, not str", lambda: tw.convert(__file__, "x.npy", to="zN", threads="two")),  # type: ignore[arg-type]
        ("dims= takes a sequence of integers, such as .*; not int", lambda: tw.convert(__file__, "x.npy", to="zN", dims=3)),  # type: ignore[arg-type]
        ("threads= takes an integer, not str", lambda: tw.relayout(array, "zN", threads="two")),  # type: ignore[arg-type]
        ("dims= takes a sequence of integers, such as .*; not str", lambda: tw.parse("zN", dims="34")),  # type: ignore[arg-type]
        ("dims= takes an integer, not float", lambda: tw.parse("zN", dims=(3, 4.0))),  # type: ignore[arg-type]
        ("coord= takes an integer, not float", lambda: tw.parse("f16[4,4]").offset(3, 0.5)),  # type: ignore[arg-type]
        ("values= needs threads=", lambda: tw.parse("f32[4,4]").draw(values=4)),
    ]:
        with pytest.raises((tw.Error, TypeError), match=says):
            call()


def test_formats_by_a_word() -> None:
    names = lambda word: [format.name for format in tw.formats(word)]  # noqa: E731
    for format in tw.formats():
        for word in [format.name, *format.aliases]:
            assert names(word) == [format.name]
    assert "NC1HWC0" in names("Ascend") and names("ascend") == names("Ascend") and "COL32" in names("cublas")
    with pytest.raises(tw.ArgumentError, match="NC1HWC0"):
        tw.formats("NC1HWC1")
    with pytest.raises(tw.ArgumentError):
        tw.formats("")


def test_errors_say_where() -> None:
    text = "{0,1:T(8,128)(2,x)}"
    with pytest.raises(tw.ParseError) as raised:
        tw.parse(text)
    error = raised.value
    assert error.span is not None and text[error.span[0] : error.span[1]] == "x"
    lines = str(error).splitlines()
    assert lines[0] == error.message and lines[2].index("^") - lines[1].index("{") == error.span[0]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and (again.span, again.kind, str(again)) == (error.span, "parse", str(error))
    with pytest.raises(tw.AmbiguousError):
        tw.parse("nz")
    with pytest.raises(tw.NeedsDimsError, match=r"dims=\(100, 100\)"):
        tw.parse("zN")
    with pytest.raises(tw.NeedsDtypeError, match='dtype="bf16"'):
        tw.parse("zN", dims=(3, 5))
    with pytest.raises(tw.MismatchError):
        tw.parse("NHWC", dims=(3, 5))
    with pytest.raises(tw.OverflowError):
        tw.parse("row-major", dims=(1 << 40, 1 << 40))
    with pytest.raises(tw.LimitError):
        tw.parse(" " * 100_000)


def test_answers_in_words() -> None:
    explanation = tw.explain("f32[3,5]{1,0:T(2,2)}")
    assert (explanation.padding, explanation.capacity, explanation.nbytes) == (9, 24, 96)
    assert explanation.padding_share == 9 / 24 and explanation.injective is True
    assert "9 elements" in str(explanation) and dict(explanation.notations)["numpy"] is None
    assert tw.same("(2,3):(3,1)", "row-major") and not tw.same("(2,3):(3,1)", "col-major")
    differs = tw.same("(2,3):(3,1)", "(2,3):(1,2)")
    assert (differs.coord, differs.left, differs.right) == ([0, 1], 1, 2)
    assert str(differs) == "differ at (0,1): 1 vs 2"
    assert repr(differs) == "<Comparison: differ at (0,1): 1 vs 2>" and repr(explanation) == str(explanation)
    assert tw.same("f32[2,3] row-major", "(2,3):(3,1) capacity 8").notes
    assert len(tw.formats()) > 60 and len(tw.notations()) > 15
    for format in tw.formats():
        assert format.name in format.example.spec or format.example.dims, format
    names = tw.add_formats("[[format]]\nname = 'slabs'\npattern = '(m1 m0:8) n -> m1 n m0'")
    assert names == ["slabs"] and tw.parse("slabs", dims=(16, 3)).offset((1, 0)) == 1
    with pytest.raises(tw.Error, match="line 2"):
        tw.add_formats("[[format]]\nname = 'zN'\npattern = 'm n -> m n'")


def test_infer_finds_formats() -> None:
    array = np.arange(800, dtype=np.float16).reshape(20, 40)
    found = tw.infer(array, tw.relayout(array, to="zN"))
    assert found and found.layout is not None and "zN" in found.layout.recognise()
    assert found.padding == bytes(2) and found.only
    nothing = tw.infer(array, np.zeros(800, np.float16))
    assert not nothing and nothing.layout is None and nothing.answer == "none" and nothing.why
    many = tw.infer(np.zeros((4, 4), np.int8), np.zeros(16, np.int8))
    assert many.answer == "ambiguous"
    with pytest.raises(tw.CopyError):
        tw.infer(array.T, array)


def test_pictures(tmp_path: Path) -> None:
    layout = tw.parse("f32[3,5]{1,0:T(2,2)}")
    assert layout.show().splitlines()[3] == " 0  |  0 |  1 |  4 |  5 |  8 |  . |"
    fragment = tw.parse("((8,2),(2,4)):((16,2),(1,4))")
    swizzled = tw.parse("f16[8,64] Sw<3,3,3> o (8,64):(64,1)")
    for drawing in [
        layout.draw(),
        layout.draw("memory"),
        layout.draw(to="row-major"),
        fragment.draw(threads=32, values=4),
        swizzled.draw("banks", vector=8),
        tw.Layout("(4,8):(8,1)").draw(),
        tw.algebra.make_layout_tv("(4,8):(8,1)", "(1,2):(2,1)").draw(tile=(4, 16)),
        tw.draw_step("composition", "(6,2):(8,2)", "(4,3):(3,1)"),
        tw.draw_step("blocked_product", "(2,2):(1,2)", "(3,2)"),
    ]:
        assert drawing.svg.startswith("<svg") and drawing.svg.rstrip().endswith("</svg>")
        assert "tw-scene" in drawing._repr_html_() and "<html" in drawing.html.lower()
        assert str(drawing) == drawing.text(colours=False) and repr(drawing).startswith("<Drawing of ")
        assert "tikzpicture" in drawing.tikz and "\x1b" not in drawing.text(colours=False)
        for end in ["svg", "html", "tex", "txt"]:
            drawing.save(tmp_path / f"picture.{end}")
            assert (tmp_path / f"picture.{end}").stat().st_size > 0
        with pytest.raises(tw.ArgumentError):
            drawing.save(tmp_path / "picture.jpeg")
        with pytest.raises(OSError):
            drawing.save(tmp_path / "nowhere" / "picture.svg")
    assert "tw-scene" in layout._repr_html_() and "tw-scene" in tw.Layout("(4,8):(8,1)")._repr_html_()
    for wrong in [{"vector": 3}, {"threads": 7, "values": 4}, {"values": 4}, {"to": "f32[5,3]"}]:
        with pytest.raises(tw.Error):
            layout.draw(**wrong)
    with pytest.raises(tw.ArgumentError):
        tw.draw_step("coalesce", "4:1", "2:1")
    large = tw.parse("f32[100000,100000] row-major")
    assert len(large._repr_html_()) < 10_000_000
    with pytest.raises(tw.ArgumentError):
        layout.draw("portrait")


def test_no_text_makes_a_panic() -> None:
    pieces = "(){}[]<>:,+-*_^ oSwTLE0123456789xyzfNCHWzn'\"\\é\n\0=#@>".strip()
    source = random.Random(11)
    asked = [tw.parse, tw.evaluate, tw.evaluate_text, tw.Layout, tw.explain, tw.distribution]
    for _ in range(300):
        text = "".join(source.choices(pieces, k=source.randrange(24)))
        for ask in asked:
            try:
                ask(text)
            except tw.Error:
                pass


def test_maps_that_are_no_layouts_are_drawn() -> None:
    assert ">1,2</text>" in tw.algebra.make_identity_layout((2, 3)).draw().svg
    assert ">T2</text>" in tw.evaluate("{lane=[[0,1],[1,0]]} -> (row:2,column:2)").draw().svg
    with pytest.raises(tw.UnsupportedError):
        tw.evaluate("<3,4>").draw()


def test_values_of_the_language_have_accessors() -> None:
    linear = tw.evaluate("{lane=[[1,0],[0,2]],warp=[[0,1]]} -> (row:2,column:4)")
    assert linear.bases == {"lane": [(1, 0), (0, 2)], "warp": [(0, 1)]}
    assert (linear.in_dims, linear.out_dims) == ({"lane": 4, "warp": 2}, {"row": 2, "column": 4})
    # A map is made of its accessors again, dim by dim.
    ins = ",".join(f"{name}=[{','.join(map(str, map(list, images)))}]" for name, images in linear.bases.items())
    outs = ",".join(f"{name}:{size}" for name, size in linear.out_dims.items())
    assert tw.evaluate(f"{{{ins}}} -> ({outs})".replace(" ", "").replace("->", " -> ")) == linear
    assert tw.evaluate("[lane:32,warp]").dims == {"lane": 32, "warp": None}
    assert tw.evaluate("<3:2,4,_,<5,6>>").parts[:3] == (tw.Layout("3:2"), 4, None)
    assert tw.evaluate("<3:2,4,_,<5,6>>").parts[3].parts == (5, 6)
    slicer = tw.evaluate("((1,_),2,_)")
    assert (slicer.parts[0].parts, slicer.parts[1:]) == ((1, None), (2, None))
    identity = tw.algebra.make_identity_layout((2, (3, 4)))
    assert identity.shape == (2, (3, 4))
    assert [path for path, _ in identity.components] == [(0,), (1, 0), (1, 1)]
    assert [int(layout(1)) for _, layout in identity.components] == [1, 0, 0]
    for value, missing in [(linear, "dims"), (linear, "parts"), (slicer, "bases"), (identity, "in_dims")]:
        assert not hasattr(value, missing)
        with pytest.raises(AttributeError, match=f"'{value.kind}' has no '{missing}'"):
            getattr(value, missing)


def test_an_import_of_everything_hides_nothing_of_pythons() -> None:
    assert not set(tw.__all__) & set(dir(builtins))
    names: dict[str, Any] = {}
    exec("from tilewright import *", names)
    assert names["parse"] is tw.parse and "filter" not in names
    # What one types daily; the operations are those of the algebra, and what typing needs is nobody's.
    public = {name for name in vars(tw) if not name.startswith("_")} - set(tw.__all__)
    modules = {name for name in public if isinstance(getattr(tw, name), types.ModuleType)}
    errors = {name for name in public if name.endswith("Error")}
    # Python has an `open` of its own.
    assert public - modules - errors == {"annotations", "open"}
    assert not set(tw.__all__) & set(tw.algebra.__all__) and tw.algebra.filter("(4,3):(0,1)").size == 3
    exec("from tilewright.algebra import *", names)
    assert names["coalesce"] is tw.algebra.coalesce and not {"filter", "slice", "Any"} & set(names)
    # Whoever catches Python's own catches these.
    assert issubclass(tw.FileExistsError, builtins.FileExistsError)
    assert issubclass(tw.OverflowError, builtins.OverflowError)


def test_integers_out_of_bounds_are_typed() -> None:
    """Python's integers have no bounds, the library's have: ``ValueError`` with the number and what is expected."""
    zn = tw.parse("f16[20,40] zN")
    array = np.zeros((3, 4), np.float32)
    for name, call in [
        ("dims", lambda: tw.parse("row-major", dims=(-1, 4))),
        ("dims", lambda: tw.parse("row-major", dims=(1 << 64, 4))),
        ("coord", lambda: zn.offset((-1, 39))),
        ("coord", lambda: zn.offset(-1, 39)),
        ("coord", lambda: zn.offset(-1)),
        ("offset", lambda: zn.coord(1 << 70)),
        ("threads", lambda: zn.draw("threads", threads=-1)),
        ("vector", lambda: zn.draw("banks", vector=-8)),
        ("tile", lambda: tw.Layout("(4,2):(1,4)").draw(tile=(4, -2))),
        ("bits", lambda: tw.Swizzle(-1, 0, 0)),
        ("shift", lambda: tw.Swizzle(3, 3, 1000)),
        ("offset", lambda: tw.Swizzle(3, 3, 3)(-1)),
        ("threads", lambda: tw.relayout(array, to="col-major", threads=-1)),
        ("bits", lambda: tw.relayout(array, to="col-major", bits=-8)),
        ("threads", lambda: tw.relayout(array, to="col-major", threads=10**5000)),
        ("dims", lambda: tw.Plan("u16[2,3] row-major", "col-major", dims=(2, -3))),
        ("threads", lambda: tw.Plan.of(array, to="col-major").run(array, threads=-1)),
        ("dims", lambda: tw.infer(array, array, dims=(-3, -4))),
        ("memory", lambda: tw.convert("a.npy", "b.npy", to="col-major", memory=-1)),
        ("threads", lambda: tw.convert("a.npy", "b.npy", to="col-major", threads=-1)),
        ("memory", lambda: tw.verify("a.npy", "b.npy", to="col-major", memory=-1)),
    ]:
        with pytest.raises(tw.ArgumentError, match=f"^{name}= takes an integer from .*, not"):
            call()
    for dims in (4, "34", 2.0):
        with pytest.raises(TypeError):
            tw.parse("row-major", dims=dims)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tw.parse("row-major", dims=(2.0, 4))  # type: ignore[arg-type]
    assert tw.parse("row-major", dims=np.array([3, 4])).dims == (3, 4)


def test_types_of_python_s_own_are_those_of_numpy() -> None:
    for python in (float, int, bool, complex):
        expected = tw.TensorLayout.of(np.zeros((2, 3), python)).dtype
        assert tw.parse("row-major", dims=(2, 3), dtype=python).dtype == expected


SHOWN = {
    "f32[3,4] col-major": [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]],
    "f32[3,4] row-major": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
    "(4,2):(2,1)": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "(2,3):(8,2)": [[0, 2, 4], [8, 10, 12]],
    "(2,3):(-3,1)": [[0, 1, 2], [-3, -2, -1]],
    "f16[2,4] zN[M0=2,C0=2]": [[0, 1, 4, 5], [2, 3, 6, 7]],
    "f16[2,4] nZ[M0=2,C0=2]": [[0, 2, 4, 6], [1, 3, 5, 7]],
    "f32[2,3]{1,0:T(2,2)}": [[0, 1, 4, "."], [2, 3, 6, "."]],
    "((2,2),2):((1,4),2)": [[0, 2], [1, 3], [4, 6], [5, 7]],
    "Sw<1,0,1> o (2,2):(2,1)": [[0, 1], [3, 2]],
}


@pytest.mark.parametrize("spec", SHOWN)
def test_show_says_offsets(spec: str) -> None:
    rows = [line.split("|")[1:-1] for line in tw.parse(spec).show().splitlines() if "|" in line]
    assert [[cell.strip() for cell in row] for row in rows] == [[str(x) for x in row] for row in SHOWN[spec]]


def test_show_has_the_options_of_the_program() -> None:
    layout = tw.parse("f32[3,4] col-major")
    assert layout.show().splitlines()[0] == "(3,4):(1,3)"
    assert layout.show(numbers=True).splitlines()[3] == " 0  |  0 |  1 |  2 |  3 |"
    assert layout.show(names=True) == "a b c d\ne f g h\ni j k l\n"
    assert layout.show(memory=True) == "a e i b f j c g k d h l\n"
    assert layout.show(tiles=True).splitlines()[3] == " 0  |  0  3  6  9 |"
    both = layout.show("row-major", numbers=True).splitlines()
    assert both[:2] == ["A  (3,4):(1,3)", "B  (3,4):(4,1)"]
    large = tw.parse("f16[4096,4096] zN")
    assert max(map(len, large.show().splitlines())) <= 100
    assert max(map(len, large.show(width=60).splitlines()[1:])) <= 60
    assert large.show(rows=5).splitlines()[-1].startswith("left out: 4092 of 4096 rows")


def test_make_layout_is_that_of_cute() -> None:
    make = tw.algebra.make_layout
    assert str(make((4, 2), (1, 4))) == "(4,2):(1,4)"
    assert str(make((4, 2))) == "(4,2):(1,4)"
    assert str(make(5, 2)) == "5:2"
    assert str(make(tw.Layout("4:1"), "(2,2):(4,8)")) == "(4,(2,2)):(1,(4,8))"
    with pytest.raises(tw.MismatchError):
        make((4, 2), (1, 4), (2, 2))
    assert str(tw.evaluate("make_layout((4,2), (1,4))")) == str(tw.parse("make_layout((4,2), (1,4))").layout)


def test_a_tensor_layout_in_a_tuple_is_a_tiler() -> None:
    layout, rows = tw.Layout("(6,8):(8,1)"), tw.parse("f16[3] row-major")
    assert str(rows.layout) == "(3):(1)"
    divided = tw.algebra.logical_divide(layout, (rows, 4))
    assert str(divided) == str(tw.algebra.logical_divide(layout, (rows.layout, 4)))
    # A tile keeps the brackets of its tiler, as CuTe's `composition` does.
    assert str(divided) == "(((3),2),(4,2)):(((8),24),(1,4))"
    assert divided == tw.algebra.logical_divide(layout, (tw.Layout("(3):(1)"), 4))
