"""Orbax's checkpoints in other shards: what tensorstore reads of them is what the result holds."""

import json
import os
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
    with pytest.raises(tw.FileError, match="is no checkpoint of Orbax"):
        orbax.unpack(tmp_path / "none", tmp_path / "boxes")
    (saved / "commit_success.txt").unlink()
    with pytest.raises(tw.FileError, match="was not finished"):
        orbax.unpack(saved, tmp_path / "boxes")


DATA = Path(os.environ.get("TILEWRIGHT_SHARDED_DATA", "/nonexistent"))


@pytest.mark.skipif(not (DATA / "orbax").is_dir(), reason="TILEWRIGHT_SHARDED_DATA has no checkpoint of Orbax")
@pytest.mark.parametrize("kind", ["ocdbt", "zarr2", "zarr3"])
def test_what_orbax_saved(kind: str, tmp_path: Path) -> None:
    orbax.unpack(DATA / "orbax" / kind / "ckpt", tmp_path / "boxes")
    tw.reshard(tmp_path / "boxes", tmp_path / "whole").run()
    assert tw.same_data(tmp_path / "whole" / "model.safetensors", DATA / "orbax" / kind / "full.safetensors")
