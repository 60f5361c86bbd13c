"""A notebook, executed: layouts, comparisons, plans and the other answers show themselves as pictures or tables."""

import itertools

import pytest

import tilewright as tw

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed; tests/requirements.txt lists it")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed; nbclient brings it")
pytest.importorskip("ipykernel", reason="ipykernel is not installed; tests/requirements.txt lists it")

PICTURE = "tw-scene"
# What a cell says, and what its output has in it.
CELLS = [
    ('tw.parse("f16[100,30] zN")', [PICTURE]),
    ('tw.Layout("(4,8):(8,1)")', [PICTURE]),
    ('tw.same("f32[4,6] row-major", "f32[4,6] col-major")', ["differ at (0,1): 1 vs 4", PICTURE]),
    ('tw.Plan("f32[4,6] row-major", "col-major")', ["<pre>", PICTURE]),
    ('tw.Plan.of(np.zeros((4, 6), np.float32), "zN")', [PICTURE]),
    ('tw.parse("f32[4,6] zN").draw("memory")', [PICTURE]),
    ('tw.infer(np.arange(6), np.arange(6))', ["<pre>", PICTURE]),
    ('tw.explain("f32[3,5]{1,0:T(2,2)}")', ["<table>", "padding"]),
    # Layouts of different arrays have no picture in common.
    ('tw.same("f32[4,6]", "f32[6,4]")', ["<pre>differ: extents (4,6) vs (6,4)</pre>"]),
    ('tw.parse("f32[5,6,7]{2,1,0:T(2,*,4)}")', [PICTURE]),
]


def test_values_show_themselves() -> None:
    notebook = nbformat.v4.new_notebook()
    setup = "import numpy as np, tilewright as tw"
    notebook.cells = [nbformat.v4.new_code_cell(text) for text in [setup, *(text for text, _ in CELLS)]]
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell, (text, wanted) in zip(notebook.cells[1:], CELLS, strict=True):
        data = cell.outputs[0].data
        assert all(part in data["text/html"] for part in wanted), (text, data["text/html"][:300])
        assert "object at 0x" not in data["text/plain"], text


@pytest.mark.parametrize("dims", [(3,), (16, 16), (4096, 4096), (1000000, 1000000), (64, 64, 64), (7, 1, 300, 5, 900)])
def test_what_shows_itself_is_small(dims: tuple[int, ...]) -> None:
    layouts = [tw.parse(text, dims=dims, dtype="f16") for text in ["row-major", "col-major"]]
    if len(dims) == 2:
        layouts += [tw.parse(text, dims=dims, dtype="f16") for text in ["zN", "{0,1:T(8,128)(2,1)}"]]
    for a, b in itertools.product(layouts, layouts):
        for value in [a, tw.same(a, b), tw.Plan(a, b)]:
            shown = value._repr_html_()
            assert PICTURE in shown and len(shown) <= 60_000, (a, b, type(value), len(shown))
            # What has no room is counted.
            assert ("left out" in shown) or a.size <= 256, (a, b, type(value))
