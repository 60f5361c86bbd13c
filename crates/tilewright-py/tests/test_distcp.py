"""torch's own checkpoints in other shards: what torch reads of them is what the result holds."""

import os
import pickle
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
dcp = pytest.importorskip("torch.distributed.checkpoint")

DATA = Path(__file__).resolve().parents[3] / "corpus" / "data" / "sharded"


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A checkpoint of one process with every element type, entries that are not tensors, and a tensor without elements."""
    names = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8"]
    tensors = {}
    for number, name in enumerate([*names, "uint64", "uint32", "uint16", "uint8", "bool", "complex64"]):
        dtype = getattr(torch, name)
        bits = torch.randint(0, 2, (9 + number, 7 * dtype.itemsize), dtype=torch.uint8)
        tensors[f"of.{name}"] = bits.view(dtype)
    more = {"scalar": torch.tensor(2.5), "none": torch.zeros(0, 4), "vector": torch.arange(11)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save({**tensors, **more, "step": 7, "name": {"of": "it"}}, checkpoint_id=str(tmp_path / "ckpt"), no_dist=True)
    return tmp_path / "ckpt", {**tensors, **more}


def same(path: Path, tensors: dict[str, Any]) -> None:
    held = tw.open(path)
    assert set(held) == set(tensors)
    for name, tensor in tensors.items():
        own = held.get(name, framework="torch")
        assert own.dtype == tensor.dtype and own.shape == tensor.shape
        assert bytes(own.reshape(-1).view(torch.uint8).tolist()) == bytes(tensor.reshape(-1).view(torch.uint8).tolist())


def test_what_torch_saved(saved: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, tensors = saved
    with pytest.warns(UserWarning, match="2 entries are not tensors and are left out: step, name"):
        plan = tw.reshard(path, tmp_path / "out")
    plan = pickle.loads(pickle.dumps(plan))
    plan.run()
    same(plan.output / "model.safetensors", tensors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        split = tw.reshard(path, tmp_path / "split", mesh="tp=3", rules={"of.*": "[Shard(0)]"}, form="dcp")
        split.run()
        tw.reshard(split.output, tmp_path / "whole").run()
    same(tmp_path / "whole" / "model.safetensors", tensors)


def test_what_ranks_saved(tmp_path: Path) -> None:
    """A checkpoint of four ranks."""
    tw.reshard(DATA / "distcp" / "ckpt", tmp_path / "out").run()
    assert tw.same_data(tmp_path / "out" / "model.safetensors", DATA / "dcp_hf" / "full.safetensors")


def test_a_result_lies_apart_from_its_source(saved: tuple[Path, dict[str, Any]]) -> None:
    path, _ = saved
    for out in (path / "out", path.parent):
        with warnings.catch_warnings(), pytest.raises(tw.Error, match="the result must be a separate folder"):
            warnings.simplefilter("ignore")
            tw.reshard(path, out)


def test_a_pickle_is_not_run(saved: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, _ = saved

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "ran"),)

    (path / ".metadata").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(tw.UnsupportedError, match=r"names \w+\.mkdir, which torch's writer never names; it is not run"):
        tw.reshard(path, tmp_path / "out")
    assert not (tmp_path / "ran").exists()
    for wrong in (b"", b"no pickle", pickle.dumps(3)):
        (path / ".metadata").write_bytes(wrong)
        with pytest.raises(tw.FileError, match="is not a list of a checkpoint of torch") as corrupt:
            tw.reshard(path, tmp_path / "out")
        assert corrupt.value.kind == "corrupt"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    dcp.save({"w": torch.arange(12.0).reshape(3, 4)}, checkpoint_id=str(tmp_path / "small"), no_dist=True)
    return tmp_path / "small"


def changed(path: Path, change: Any) -> None:
    """The list of a checkpoint with its one item changed."""
    metadata = pickle.loads((path / ".metadata").read_bytes())
    change(metadata)
    (path / ".metadata").write_bytes(pickle.dumps(metadata))


def place(metadata: Any) -> Any:
    return next(iter(metadata.storage_data.values()))


def test_what_lies_beside_goes_along(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files go along, also where the checkpoint is named from its folder; files of the checkpoint itself do not."""
    (small / "config.json").write_text("{}")
    (small / "logs").mkdir()
    changed(small, lambda it: it.storage_data.update(other(it, "bytes.distcp")))
    (small / "bytes.distcp").write_bytes(b"no tensor")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="not taken along: logs"):
        plan = tw.reshard("small", "out", extents={"w": (3, 4)})
    monkeypatch.chdir("/")
    plan.run()
    assert {path.name for path in plan.output.iterdir()} == {"config.json", "model.safetensors"}
    with pytest.raises(tw.MismatchError, match=r"listed with extents \[3, 4\], but its stated extents are \[3, 5\]"):
        tw.reshard(small, tmp_path / "longer", extents={"w": (3, 5)})


def other(metadata: Any, file: str) -> dict[Any, Any]:
    """An item that is not a tensor, in a file of its own."""
    index, own = next(iter(metadata.storage_data.items()))
    return {replace(index, fqn="step", offset=None, index=None): replace(own, relative_path=file)}


def test_lists_that_contradict_the_files(small: Path, tmp_path: Path) -> None:
    plan = tw.reshard(small, tmp_path / "good")
    whole = (small / ".metadata").read_bytes()
    cases: list[tuple[Any, type[tw.Error], str]] = [
        (lambda it: setattr(place(it), "transform_descriptors", ["zstd"]), tw.UnsupportedError, "are not raw"),
        (lambda it: setattr(place(it), "length", 100), tw.FileError, "is not an item of torch.save"),
        (lambda it: setattr(place(it), "offset", 1 << 40), tw.FileError, "is not an item of torch.save"),
        (lambda it: setattr(place(it), "relative_path", "../small"), tw.FileError, "outside of its folder"),
        (lambda it: setattr(place(it), "relative_path", "/etc/passwd"), tw.FileError, "outside of its folder"),
        (lambda it: setattr(place(it), "relative_path", "none.distcp"), FileNotFoundError, "none.distcp"),
        (lambda it: it.storage_data.clear(), tw.MismatchError, "w"),
        (lambda it: it.state_dict_metadata["w"].chunks.clear(), tw.FileError, "has no box at"),
        (lambda it: setattr(it.state_dict_metadata["w"].chunks[0], "sizes", torch.Size([4, 3])), tw.FileError, "has extents"),
        (lambda it: setattr(it.state_dict_metadata["w"], "size", torch.Size([4, 4])), tw.MismatchError, "w"),
        (
            lambda it: setattr(it.state_dict_metadata["w"].properties, "dtype", torch.float64),
            tw.FileError,
            "has elements of float32, but the list states float64",
        ),
    ]
    for change, kind, says in cases:
        changed(small, change)
        with pytest.raises(kind, match=says):
            tw.reshard(small, tmp_path / "out")
        (small / ".metadata").write_bytes(whole)
    # The list is watched, as a source is.
    os.utime(small / ".metadata", (1, 1))
    with pytest.raises(tw.FileError, match="changed since"):
        plan.run()


def test_items_that_are_not_as_they_should_be(small: Path, tmp_path: Path) -> None:
    data = small / "__0_0.distcp"
    with zipfile.ZipFile(data) as file:
        members = {name: file.read(name) for name in file.namelist()}
    swapped = {**members, "archive/byteorder": b"big"}
    tensor = torch.arange(24.0).reshape(4, 6)
    views = [tensor[:3, :4], tensor.T[:3, :4], tensor[1:, :4]]
    for item, says in [
        (lambda path: packed(path, members, zipfile.ZIP_DEFLATED), "compressed"),
        (lambda path: packed(path, swapped, zipfile.ZIP_STORED), "big-endian"),
        *((lambda path, view=view: torch.save(view, path), "strides|part|from element") for view in views),
    ]:
        item(data)
        changed(small, lambda it: setattr(place(it), "length", data.stat().st_size))
        with pytest.raises(tw.UnsupportedError, match=says):
            tw.reshard(small, tmp_path / "out")


@pytest.mark.parametrize("lazily", ["conj", "_neg_view"])
def test_elements_that_are_not_their_bytes(lazily: str, tmp_path: Path) -> None:
    """torch keeps conjugation and negation as words beside the bytes."""
    numbers = torch.complex(torch.arange(6.0), torch.arange(6.0) + 1)
    dcp.save({"w": getattr(torch, lazily)(numbers)}, checkpoint_id=str(tmp_path / "lazy"), no_dist=True)
    with pytest.raises(tw.UnsupportedError, match=r"is stored with \{'(conj|neg)': True\}.*resolve_conj\(\)"):
        tw.reshard(tmp_path / "lazy", tmp_path / "out")
    resolved = getattr(torch, lazily)(numbers).resolve_conj().resolve_neg()
    dcp.save({"w": resolved}, checkpoint_id=str(tmp_path / "plain"), no_dist=True)
    tw.reshard(tmp_path / "plain", tmp_path / "out").run()
    same(tmp_path / "out" / "model.safetensors", {"w": resolved})


def test_types_that_are_swapped(tmp_path: Path) -> None:
    """The list's type of each tensor is compared with the item's, of every pair as wide as each other."""
    wide = {2: ["float16", "bfloat16", "int16", "uint16"], 1: ["float8_e4m3fn", "float8_e5m2", "int8", "uint8", "bool"]}
    for names in wide.values():
        for name in names:
            path = tmp_path / name
            dcp.save({"w": torch.zeros(3).to(getattr(torch, name))}, checkpoint_id=str(path), no_dist=True)
            whole = (path / ".metadata").read_bytes()
            for other in names:
                properties = lambda it: it.state_dict_metadata["w"].properties
                changed(path, lambda it, other=other: setattr(properties(it), "dtype", getattr(torch, other)))
                if other == name:
                    tw.reshard(path, tmp_path / "out")
                else:
                    with pytest.raises(tw.FileError, match=f"has elements of {name}, but the list states {other}"):
                        tw.reshard(path, tmp_path / "out")
                (path / ".metadata").write_bytes(whole)


def packed(path: Path, members: dict[str, bytes], method: int) -> None:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
