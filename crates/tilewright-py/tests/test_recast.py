"""``convert_recipe``: the pairs of the corpus, both ways."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw

PAIRS = Path(__file__).resolve().parents[3] / "corpus" / "recipes"
FAMILIES = sorted(path.name for path in PAIRS.iterdir() if path.is_dir())


def tensors(path: Path) -> dict[str, tuple[str, list[int], bytes]]:
    """The tensors of a safetensors file: type, shape and bytes."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)

    def part(span: list[int]) -> bytes:
        return data[8 + length + span[0] : 8 + length + span[1]]

    return {name: (it["dtype"], it["shape"], part(it["data_offsets"])) for name, it in header.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_pairs_become_one_another(tmp_path: Path, family: str) -> None:
    folder = PAIRS / family
    source = tmp_path / "in"
    source.mkdir()
    shutil.copy(folder / "before.safetensors", source / "model.safetensors")
    config = folder / "config.json"
    if config.exists():
        shutil.copy(config, source)
    report = tw.convert_recipe(source, tmp_path / "out", folder / "recipe.toml", verify=True)
    assert report.verified and report.files == (("config.json",) if config.exists() else ())
    assert tensors(tmp_path / "out/model.safetensors") == tensors(folder / "after.safetensors")
    assert report.bytes_out == sum(row.bytes_out for row in report.tensors)
    tw.convert_recipe(tmp_path / "out", tmp_path / "back.safetensors", memory=4096)
    is_, was = tensors(tmp_path / "back.safetensors"), tensors(folder / "before.safetensors")
    assert is_ == {name: tensor for name, tensor in was.items() if name in is_}
    assert set(was) - set(is_) <= {"rope.freqs"}


def test_what_is_refused(tmp_path: Path) -> None:
    before = PAIRS / "mixtral/before.safetensors"
    out = tmp_path / "out.safetensors"
    with pytest.raises(tw.Error, match="records no recipe"):
        tw.convert_recipe(before, out)
    with pytest.raises(tw.Error, match="tensor|rule"):
        tw.convert_recipe(PAIRS / "mixtral/after.safetensors", out, PAIRS / "mixtral/recipe.toml")
    with pytest.raises(FileNotFoundError):
        tw.convert_recipe(before, out, tmp_path / "none.toml")
    recipe = tmp_path / "r.toml"
    recipe.write_text("[[map]]\nfrom = 'w'\nto = 'w'\nop = 'w + 1'")
    with pytest.raises(tw.Error, match="never compute"):
        tw.convert_recipe(before, out, recipe)
    assert not out.exists()


def test_sizes_that_do_not_follow_are_given(tmp_path: Path) -> None:
    source, out, recipe = tmp_path / "in.safetensors", tmp_path / "out.safetensors", tmp_path / "r.toml"
    rows = np.arange(12 * 4, dtype=np.float32).reshape(12, 4)
    tw.save({"qkv": rows}, source)
    recipe.write_text("[[map]]\nfrom = 'qkv : (a + b) h'\nto = ['q : a h', 'k : b h']")
    with pytest.raises(tw.Error):
        tw.convert_recipe(source, out, recipe)
    plan = tw.convert_recipe(source, out, recipe, sizes={"a": 8}, dry_run=True)
    assert plan.dry_run and plan.bytes_written is None and not out.exists()
    assert {row.name: row.to for row in plan.tensors} == {"q": "f32[8,4] row-major", "k": "f32[4,4] row-major"}
    tw.convert_recipe(source, out, recipe, sizes={"a": 8})
    assert tensors(out)["k"][2] == rows[8:].tobytes()
    with pytest.raises(FileExistsError):
        tw.convert_recipe(source, out, recipe, sizes={"a": 8})


def test_a_callback_ends_the_run(tmp_path: Path) -> None:
    family = PAIRS / "qwen3_moe"

    def stop(done: int, total: int) -> None:
        raise RuntimeError(f"{done} of {total}")

    with pytest.raises(RuntimeError):
        tw.convert_recipe(family / "before.safetensors", tmp_path / "o.safetensors", family / "recipe.toml", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_of_another_model_is_refused_and_not_offered(tmp_path: Path) -> None:
    shutil.copy(PAIRS / "gpt_neox_split/before.safetensors", tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "bloom", "n_head": 4, "num_attention_heads": 4}')
    found = tw.guess_recipe(tmp_path)
    assert found["recipes"] == []
    why = {one["name"]: one["why"] for one in found["near"]}
    assert "`model_type` is \"bloom\"" in why["gpt-neox-qkv-to-split"]
    assert found["model"] == {"model_type": "bloom"}
    out = tmp_path / "out.safetensors"
    with pytest.raises(tw.Error, match=r"contradicts the recipe: `model_type`.*any_config=True"):
        tw.convert_recipe(tmp_path / "model.safetensors", out, "gpt-neox-qkv-to-split")
    tw.convert_recipe(tmp_path / "model.safetensors", out, "gpt-neox-qkv-to-split", any_config=True)
    assert tw.same_data(tmp_path / "model.safetensors", out)


def test_metadata_that_contradict_the_tensors_are_refused(tmp_path: Path) -> None:
    folder = PAIRS / "llama_gguf"
    wrong = (folder / "after.gguf").read_bytes().replace(b"block_count\x04\0\0\0\x02", b"block_count\x04\0\0\0\x07")
    (tmp_path / "wrong.gguf").write_bytes(wrong)
    job = (folder / "before.safetensors", tmp_path / "o.gguf", folder / "recipe.toml")
    with pytest.raises(tw.Error, match=r"`llama.block_count` is 7.*trust_metadata=True"):
        tw.convert_recipe(*job, metadata=tmp_path / "wrong.gguf")
    tw.convert_recipe(*job, metadata=tmp_path / "wrong.gguf", trust_metadata=True)


def test_a_result_without_a_record_is_compared_by_its_recipe(tmp_path: Path) -> None:
    source, out, recipe = tmp_path / "in.safetensors", tmp_path / "out.npy", tmp_path / "turn.toml"
    tw.save({"w": np.arange(6, dtype=np.int32).reshape(2, 3)}, source)
    recipe.write_text("[[map]]\nfrom = 'w : a b'\nto = 'v : b a'")
    with pytest.warns(UserWarning, match="a later comparison needs the recipe"):
        tw.convert_recipe(source, out, recipe)
    assert tw.verify(out, source, recipe=recipe) is None
    with pytest.raises(tw.Error, match="a value of padding does not apply; leave out to="):
        tw.verify(out, source, recipe=recipe, fill="one")
    with pytest.raises(tw.ArgumentError, match="recipe="):
        tw.verify(out, recipe=recipe)
    data = bytearray(out.read_bytes())
    data[-4] ^= 1
    out.write_bytes(data)
    assert tw.verify(out, source, recipe=recipe) == 'tensor "v" has 0x4 at [2, 1], expected 0x5'
