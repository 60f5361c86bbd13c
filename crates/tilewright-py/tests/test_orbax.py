"""Orbax's checkpoints in other shards: what tensorstore reads of them is what the result holds."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

tensorstore = pytest.importorskip("tensorstore")
orbax = pytest.importorskip("tilewright.orbax")

#: By name: element type, extents, extents of a chunk.
ARRAYS = {
    "w": ("float32", (16, 6), (8, 3)),
    "layer.k": ("bfloat16", (5, 4), (2, 4)),
    "layer.step": ("int32", (), ()),
    "b": ("int8", (7,), (1,)),
    "none": ("float32", (0, 4), (2, 4)),
    "no.columns": ("int16", (3, 0), (1, 1)),
}


def numbers(name: str) -> Any:
    dtype, shape, _ = ARRAYS[name]
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape).astype(tensorstore.dtype(dtype).numpy_dtype)


@pytest.fixture(params=["zarr", "zarr3", "ocdbt"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder as Orbax writes it."""
    path = tmp_path / "ckpt"
    path.mkdir()
    tree: dict[str, Any] = {"use_ocdbt": request.param == "ocdbt", "use_zarr3": request.param != "zarr", "tree_metadata": {}}
    for name, (dtype, shape, chunk) in ARRAYS.items():
        keys = [{"key": key, "key_type": 2} for key in name.split(".")]
        tree["tree_metadata"][name] = {"key_metadata": keys, "value_metadata": {"value_type": "jax.Array"}}
        place = {"driver": "file", "path": f"{path}/{name}/"}
        if request.param == "ocdbt":
            place = {"driver": "ocdbt", "base": f"file://{path}/", "path": f"{name}/"}
        layout = tensorstore.ChunkLayout(write_chunk_shape=chunk)
        store = {"driver": "zarr" if request.param == "zarr" else "zarr3", "kvstore": place}
        made = tensorstore.open(store, create=True, dtype=tensorstore.dtype(dtype), shape=shape, chunk_layout=layout).result()
        made.write(numbers(name)).result()
    (path / "_METADATA").write_text(json.dumps(tree))
    (path / "commit_success.txt").write_text("")
    return path


def test_chunks_become_boxes(saved: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    orbax.unpack(saved, tmp_path / "boxes", memory=100, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == sum(numbers(name).nbytes for name in ARRAYS) and len(seen) > 10
    plan = tw.reshard(tmp_path / "boxes", tmp_path / "out", mesh="tp=2", rules={"w": "P(None, 'tp')", "layer.k": "[Shard(0)]"})
    plan.run()
    tw.reshard(plan.output, tmp_path / "whole", from_mesh="tp=2", from_rules={"w": "row", "layer.k": "[Shard(0)]", "*": "P()"}).run()
    held = tw.open(tmp_path / "whole" / "model.safetensors")
    assert set(held) == set(ARRAYS)
    for name in ARRAYS:
        expected = numbers(name)
        assert held[name].dtype == expected.dtype and np.array_equal(np.asarray(held[name]), expected)


def test_what_is_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(tw.UnsupportedError, match=r"whose chunks are compressed; tilewright\.orbax\.unpack"):
        tw.reshard(saved, tmp_path / "out")
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError):
        orbax.unpack(saved, tmp_path / "there")
    with pytest.raises(tw.FileError, match="is not a checkpoint of Orbax"):
        orbax.unpack(tmp_path / "none", tmp_path / "boxes")
    (saved / "commit_success.txt").unlink()
    with pytest.raises(tw.FileError, match="was not finished"):
        orbax.unpack(saved, tmp_path / "boxes")


def test_an_unpack_that_ends_early_leaves_no_folder(saved: Path, tmp_path: Path) -> None:
    """Until all of it is written nothing has its name; what raises leaves nothing, and what is killed only a hidden folder."""

    def raises(_done: int, _total: int) -> None:
        assert not (tmp_path / "boxes").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        orbax.unpack(saved, tmp_path / "boxes", memory=100, progress=raises)
    assert [path.name for path in tmp_path.iterdir()] == ["ckpt"]
    code = (
        "import os, sys, tilewright.orbax\n"
        "kill = lambda done, total: os._exit(9) if done > 100 else None\n"
        "tilewright.orbax.unpack(sys.argv[1], sys.argv[2], memory=100, progress=kill)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, saved, tmp_path / "boxes"], check=False).returncode == 9
    assert not (tmp_path / "boxes").exists()
    left = [path.name for path in tmp_path.iterdir() if path.name != "ckpt"]
    assert len(left) == 1 and left[0].startswith(".boxes.") and left[0].endswith(".unpacking")
    orbax.unpack(saved, tmp_path / "boxes")
    assert sorted((tmp_path / "boxes").glob("*")) != []


def test_a_chunk_that_is_missing(saved: Path, tmp_path: Path) -> None:
    """Where the checkpoint says that every chunk is stored, one that is missing is no zeros. And boxes say how large the whole is."""
    orbax.unpack(saved, tmp_path / "boxes")
    assert tw.reshard(tmp_path / "boxes", tmp_path / "out").assumed == {}
    last = sorted((tmp_path / "boxes").glob("*.safetensors"))[-1]
    last.unlink()
    with pytest.raises(tw.Error, match="a shard file may be missing"):
        tw.reshard(tmp_path / "boxes", tmp_path / "out")
    tree = json.loads((saved / "_METADATA").read_text())
    (saved / "_METADATA").write_text(json.dumps({**tree, "store_array_data_equal_to_fill_value": True}))
    chunks = [path for path in (saved / "w").rglob("*") if path.is_file() and not path.name.startswith((".z", "zarr"))]
    if not chunks:
        pytest.skip("one store has all chunks")
    chunks[-1].unlink()
    with pytest.raises(tw.FileError, match="a file of it may be missing"):
        orbax.unpack(saved, tmp_path / "again")


def test_names_that_collide(saved: Path, tmp_path: Path) -> None:
    tree = json.loads((saved / "_METADATA").read_text())
    entry = {"key_metadata": [{"key": "layer.k"}], "value_metadata": {"value_type": "jax.Array"}}
    tree["tree_metadata"]["('layer.k',)"] = entry
    (saved / "_METADATA").write_text(json.dumps(tree))
    with pytest.raises(tw.UnsupportedError, match=r"\['layer', 'k'\] and \['layer\.k'\] of .* have the same name, 'layer\.k'"):
        orbax.unpack(saved, tmp_path / "boxes")
    for wrong in ("", "[]", "{}", '{"tree_metadata": 3}', '{"tree_metadata": {"x": 3}}', '{"tree_metadata": {"x": {"key_metadata": 7}}}'):
        (saved / "_METADATA").write_text(wrong)
        with pytest.raises(tw.FileError, match="is not a checkpoint of Orbax"):
            orbax.unpack(saved, tmp_path / "boxes")


#: Checkpoints that Orbax wrote, in an archive, since chunks are files.
DATA = Path(__file__).resolve().parents[3] / "corpus" / "data" / "sharded" / "orbax.tar.gz"


@pytest.mark.parametrize("kind", ["ocdbt", "zarr2", "zarr3"])
def test_what_orbax_saved(kind: str, tmp_path: Path) -> None:
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path, filter="data")
    orbax.unpack(tmp_path / "orbax" / kind / "ckpt", tmp_path / "boxes")
    tw.reshard(tmp_path / "boxes", tmp_path / "whole").run()
    assert tw.same_data(tmp_path / "whole" / "model.safetensors", tmp_path / "orbax" / kind / "full.safetensors")
