"""Small models of transformers itself: loading, audits and the way back. Skipped where transformers is not installed."""

from __future__ import annotations

import itertools
import json
import pathlib
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

import tilewright as tw
import tilewright.transformers as tt
from tilewright._transformers import files, loader

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")
core_model_loading = pytest.importorskip("transformers.core_model_loading")

SIZES = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
         "vocab_size": 33, "intermediate_size": 28}
EXPERTS = SIZES | {"moe_intermediate_size": 20, "num_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False}


def tensors_of(model: Any) -> dict[str, Any]:
    """The checkpoint that a model is published as."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import revert_weight_conversion

    model._weight_conversions = get_model_conversion_mapping(model, add_legacy=False)
    return {name: tensor.detach().clone() for name, tensor in revert_weight_conversion(model, dict(model.state_dict())).items()}


def write(path: pathlib.Path, tensors: dict[str, Any], config: Any) -> pathlib.Path:
    """A checkpoint in a folder."""
    path.mkdir()
    whole = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    safetensors.save_file(whole, path / "model.safetensors", {"format": "pt"})
    config.save_pretrained(path)
    return path


def small(name: str, **keys: Any) -> tuple[Any, Any, dict[str, Any]]:
    """A small model: its class, its configuration, and its published tensors."""
    torch.manual_seed(0)
    cls = getattr(transformers, name)
    config = cls.config_class(**keys)
    config.architectures = [name]
    return cls, config, tensors_of(cls(config))


def read(folder: pathlib.Path) -> dict[str, Any]:
    """The tensors of a folder."""
    return {name: one for file in folder.glob("*.safetensors") for name, one in safetensors.load_file(file).items()}


def llama(**keys: Any) -> tuple[Any, Any, dict[str, Any]]:
    """A small Llama."""
    return small("LlamaForCausalLM", **(SIZES | keys))


def test_tied_tensors_with_values_of_their_own_stay_apart(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=True)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"] + 1
    path = write(tmp_path / "published", tensors, config)
    want, got = cls.from_pretrained(path, dtype=torch.float32), tt.load(cls, path, dtype=torch.float32)
    assert torch.equal(got.lm_head.weight, tensors["lm_head.weight"])
    assert all(torch.equal(got.state_dict()[name], one) for name, one in want.state_dict().items())
    found = [one for one in tt.audit(path).findings if one.kind == "tied"]
    assert [one.names for one in found] == [("lm_head.weight",)] and not found[0].loses
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    equal = tt.load(cls, write(tmp_path / "equal", tensors, config), dtype=torch.float32)
    assert equal.lm_head.weight is equal.model.embed_tokens.weight


# The way back.


def saved(cls: Any, path: pathlib.Path, out: pathlib.Path, change: Any = None, **options: Any) -> pathlib.Path:
    """What transformers saves of a folder, after a change of the model."""
    model = cls.from_pretrained(path, **({"dtype": torch.float32} | options))
    if change is not None:
        with torch.no_grad():
            change(model)
    model.save_pretrained(out)
    return out


def edited(folder: pathlib.Path, change: Any) -> pathlib.Path:
    """A folder whose tensors were changed."""
    tensors = read(folder)
    change(tensors)
    safetensors.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def refused(tuned: pathlib.Path, out: pathlib.Path, path: pathlib.Path, says: str, **options: Any) -> None:
    """The way back is refused, and nothing is left of it."""
    with pytest.raises(tw.Error, match=says):
        tt.restore(tuned, out, path, **options)
    assert not out.exists()


def qwen(inner: int) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    """A model whose experts are published as [E, in, out]: its tensors, and the published ones."""
    text = EXPERTS | {"hidden_size": 48, "head_dim": 12, "moe_intermediate_size": inner}
    vision = {"depth": 1, "hidden_size": 32, "intermediate_size": 40, "num_heads": 4, "out_hidden_size": 48, "deepstack_visual_indexes": [0]}
    cls = transformers.Qwen3VLMoeForConditionalGeneration
    config = transformers.Qwen3VLMoeConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)
    config.architectures = [cls.__name__]
    torch.manual_seed(0)
    want = {name: tensor.clone() for name, tensor in cls(config).state_dict().items()}
    return cls, config, want, {name: one.transpose(1, 2) if ".mlp.experts." in name else one for name, one in want.items()}


@pytest.mark.parametrize("inner", [24, 48])
def test_square_experts_come_back_as_they_were_published(tmp_path: pathlib.Path, inner: int) -> None:
    cls, config, _, tensors = qwen(inner)
    path = write(tmp_path / "published", tensors, config)
    assert tt.restore(saved(cls, path, tmp_path / "tuned"), tmp_path / "again", path) == []
    assert tw.same_data(path, tmp_path / "again")
    tt.load(cls, path, dtype=torch.float32).save_pretrained(tmp_path / "turned")
    assert tt.restore(tmp_path / "turned", tmp_path / "again2", path) == []
    assert tw.same_data(path, tmp_path / "again2")


def test_headers_are_read_once_however_much_is_carried(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    more = {f"mtp.{at}.weight": torch.full((2,), float(at)) for at in range(40)}
    path = write(tmp_path / "published", tensors | more, config)
    tuned, counts = saved(cls, path, tmp_path / "tuned"), Counter[str]()
    header = files._header

    def counted(file: pathlib.Path, shared: Any) -> Any:
        counts[f"{file.parent.name}/{file.name}"] += 1
        return header(file, shared)

    monkeypatch.setattr(files, "_header", counted)
    assert len(tt.restore(tuned, tmp_path / "again", path)) == 40
    # The result is read once more after the last tensor was carried: it must be what was published.
    assert counts.pop("out/model.safetensors") == 1 and set(counts.values()) == {1}
    assert tw.same_data(path, tmp_path / "again")


def test_one_expert_is_a_list(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = small("MixtralForCausalLM", **(SIZES | {"num_local_experts": 1, "num_experts_per_tok": 1}))
    path = write(tmp_path / "published", tensors, config)
    want, got = cls.from_pretrained(path, dtype=torch.float32), tt.load(cls, path, dtype=torch.float32)
    assert all(torch.equal(got.state_dict()[name], one) for name, one in want.state_dict().items())
    assert not tt.audit(path).loses
    assert tt.restore(saved(cls, path, tmp_path / "tuned"), tmp_path / "again", path) == []
    assert tw.same_data(path, tmp_path / "again")
    late = {name.replace("experts.0.", "experts.1."): one for name, one in tensors.items()}
    found = [one for one in tt.audit(write(tmp_path / "late", late, config)).findings if one.kind == "hole"]
    assert len(found) == 1 and found[0].loses and "the numbers [0] are missing" in found[0].message


def test_a_configuration_may_be_given_to_load(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path = write(tmp_path / "published", tensors, config)
    (path / "config.json").unlink()
    with pytest.raises(tw.FileError, match="there is no config.json"):
        tt.load(cls, path)
    model = tt.load(cls, path, config=config, dtype=torch.float32)
    assert torch.equal(model.lm_head.weight, tensors["lm_head.weight"])


def test_trained_square_experts_are_refused_unless_the_caller_says_how_they_were_loaded(tmp_path: pathlib.Path) -> None:
    cls, config, _, tensors = qwen(24)
    path = write(tmp_path / "published", tensors, config)

    def train(model: Any) -> None:
        for name, one in model.named_parameters():
            one += 1 if "experts.gate_up" in name else 0

    tuned = saved(cls, path, tmp_path / "tuned", train)
    refused(tuned, tmp_path / "no", path, r"experts.gate_up_proj' are equal .*--squares copied")
    for squares, turns in (("copied", False), ("transposed", True)):
        out = tmp_path / squares
        tt.restore(tuned, out, path, squares=squares)
        name = next(name for name in tensors if "experts.gate_up" in name)
        assert torch.equal(read(out)[name], tensors[name].transpose(1, 2) + 1 if turns else tensors[name] + 1)


def test_missing_and_more_tensors_are_refused_by_name(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path = write(tmp_path / "published", tensors | {"extra.weight": torch.ones(2)}, config)
    tuned = saved(cls, path, tmp_path / "tuned")
    assert tt.restore(tuned, tmp_path / "again", path) == [f"carried extra.weight from {path}"]
    norm = "model.layers.0.input_layernorm.weight"
    lacks = edited(saved(cls, path, tmp_path / "lacks"), lambda tensors: tensors.pop(norm))
    refused(lacks, tmp_path / "no", path, f"lacks 1 tensors of the model: '{norm}'")
    more = edited(saved(cls, path, tmp_path / "more"), lambda tensors: tensors.update({"value.weight": torch.ones(3)}))
    refused(more, tmp_path / "no", path, "do not belong to the published checkpoint: 'value.weight'")
    same = edited(saved(cls, path, tmp_path / "same"), lambda tensors: tensors.update({"extra.weight": torch.ones(2)}))
    tt.restore(same, tmp_path / "same-again", path)
    assert tw.same_data(path, tmp_path / "same-again")


def test_other_dims_and_element_types_are_refused_by_name(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False, dtype="bfloat16")
    path = write(tmp_path / "published", {name: one.bfloat16() for name, one in tensors.items()}, config)
    resized = saved(cls, path, tmp_path / "resized", lambda model: model.resize_token_embeddings(40))
    refused(resized, tmp_path / "no", path, r"'lm_head.weight' is BF16\[33, 24\].* BF16\[40, 24\]")
    half = saved(cls, path, tmp_path / "half", dtype=torch.float16)
    for rounds in (False, True):
        refused(half, tmp_path / "no", path, "changes from BF16 to F16", round=rounds)


def test_tied_tensors_come_back(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=True)
    embed, head = "model.embed_tokens.weight", "lm_head.weight"
    for at, values in enumerate((tensors[embed], tensors[embed] + 1)):
        path = write(tmp_path / f"published{at}", tensors | {head: values}, config)
        assert tt.restore(saved(cls, path, tmp_path / f"tuned{at}"), tmp_path / f"again{at}", path) == []
        assert tw.same_data(path, tmp_path / f"again{at}")
    path = write(tmp_path / "one", {name: one for name, one in tensors.items() if name != head}, config)
    both = edited(saved(cls, path, tmp_path / "both"), lambda tensors: tensors.update({head: tensors[embed].clone()}))
    assert len(tt.restore(both, tmp_path / "one-again", path)) == 1
    assert tw.same_data(path, tmp_path / "one-again")
    other = edited(saved(cls, path, tmp_path / "other"), lambda tensors: tensors.update({head: tensors[embed] + 1}))
    refused(other, tmp_path / "no", path, "'lm_head.weight'")


def test_a_checkpoint_with_the_second_name_alone_comes_back(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=True)
    own = {name.replace("model.embed_tokens", "lm_head"): one for name, one in tensors.items() if name != "lm_head.weight"}
    path = write(tmp_path / "published", own, config)
    assert "random" not in {one.kind for one in tt.audit(path).findings}
    tuned = saved(cls, path, tmp_path / "tuned")
    assert "model.embed_tokens.weight" in read(tuned)
    assert tt.restore(tuned, tmp_path / "again", path) == [] and tw.same_data(path, tmp_path / "again")
    assert torch.equal(tt.load(cls, path, dtype=torch.float32).model.embed_tokens.weight, own["lm_head.weight"])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_float32_that_was_loaded_in_fewer_bits_is_exact_again_or_named(tmp_path: pathlib.Path, dtype: str) -> None:
    cls, config, tensors = small("Qwen3MoeForCausalLM", **EXPERTS)
    name = "model.layers.0.mlp.experts.1.up_proj.weight"
    tensors[name].view(torch.int32)[0, 0] = 0x7F800001  # NaN
    path = write(tmp_path / "published", tensors, config)
    says = tt.restore(saved(cls, path, tmp_path / "tuned", dtype=dtype), tmp_path / "again", path)
    assert f"carried {name} from {path}: transformers had rounded it" in says and len(says) == len(tensors)
    assert tw.same_data(path, tmp_path / "again")

    def train(model: Any) -> None:
        model.model.layers[0].mlp.experts.down_proj[2] += 1

    says = tt.restore(saved(cls, path, tmp_path / "trained", train, dtype=dtype), tmp_path / "out", path)
    assert "1 float32 tensors were trained in fewer bits" in says[-1] and "experts.2.down_proj" in says[-1]


# Loading by a recipe.


def test_a_recipe_must_make_every_parameter_and_may_not_round(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path = write(tmp_path / "published", tensors, config)
    norm = "model.norm.weight"
    with pytest.raises(tw.UnsupportedError, match=f"does not make 1 parameters of LlamaForCausalLM.*'{norm}'"):
        tt.load(cls, path, recipe=f'pass = ["model.embed*", "model.layers.*", "lm_head.*"]\ndrop = ["{norm}"]')
    others = ", ".join(f'"{name}"' for name in tensors if name != norm)
    recipe = f'pass = [{others}]\n[[map]]\nfrom = "{norm}"\nto = "{norm}"\ndtype = "bf16"\nfrom_dtype = "f32"\n'
    for text in (recipe, recipe + "round = true\n"):
        with pytest.raises(tw.UnsupportedError, match=rf"'{norm}' would be rounded.*pass allow=\('round',\)"):
            tt.load(cls, path, recipe=text)
    model = tt.load(cls, path, recipe=recipe + "round = true\n", allow=("round",), dtype=torch.float32)
    assert torch.equal(model.model.norm.weight, tensors[norm].bfloat16().float())


def test_a_recipe_may_not_lose_a_tied_tensor_with_values_of_its_own(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=True)
    embed, head = "model.embed_tokens.weight", "lm_head.weight"
    tensors[head] = tensors[embed] + 1
    path = write(tmp_path / "published", tensors, config)
    recipe = f'pass = ["model.*"]\nuntie = [["{embed}", "{head}"]]'
    with pytest.raises(tw.UnsupportedError, match=f"'{head}' has other values than '{embed}'"):
        tt.load(cls, path, recipe=recipe)
    both = tt.load(cls, path, recipe='pass = ["*"]', dtype=torch.float32)
    assert torch.equal(both.lm_head.weight, tensors[head])
    tensors[head] = tensors[embed]
    assert tt.load(cls, write(tmp_path / "equal", tensors, config), recipe=recipe) is not None


def test_missing_last_experts_are_a_finding(tmp_path: pathlib.Path) -> None:
    _, config, tensors = small("Qwen3MoeForCausalLM", **EXPERTS)
    whole = write(tmp_path / "published", tensors, config)
    assert not tt.audit(whole).loses
    path = write(tmp_path / "fewer", {name: one for name, one in tensors.items() if "experts.3." not in name}, config)
    found = [one for one in tt.audit(path).findings if one.kind == "shape"]
    assert len(found) == 1 and found[0].loses and len(found[0].names) == 2
    assert "(3, 40, 24) instead of (4, 40, 24)" in found[0].message or "(3, 24, 20) instead of (4, 24, 20)" in found[0].message


def test_names_are_read_in_the_order_of_the_loader() -> None:
    names = ["a.10.w", "a.9.w", "a.x.w", "a", "a-b.1", "b.shard_2", "b.shard_11", "b.shard", "10", "9.a", "a.9", "a.010.w"]
    for some in itertools.permutations(names, 2):
        assert sorted(some, key=loader._natural) == sorted(some, key=core_model_loading.dot_natural_key), some


# What config.json may ask for.


def configured(path: pathlib.Path, **keys: Any) -> pathlib.Path:
    """A folder whose config.json has these keys."""
    file = path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))
    return path


@pytest.mark.parametrize("name", ["pipeline", "AutoTokenizer", "AutoModelForCausalLM", "LlamaConfig", "models", "__version__"])
def test_only_classes_of_models_are_called(tmp_path: pathlib.Path, name: str) -> None:
    _, config, tensors = llama()
    path = configured(write(tmp_path / "published", tensors, config), architectures=[name])
    with pytest.raises(tw.ArgumentError, match=f"no class of a model with the name {name}"):
        tt.audit(path)
    with pytest.raises(tw.ArgumentError, match=f"no class of a model with the name {name}"):
        tt.recipe(config, path, cls=name)


@pytest.mark.parametrize("names", ["LlamaForCausalLM", [1], {"a": 1}, 7, [["LlamaForCausalLM"]]])
def test_architectures_of_other_types_are_refused(tmp_path: pathlib.Path, names: Any) -> None:
    _, config, tensors = llama()
    path = configured(write(tmp_path / "published", tensors, config), architectures=names)
    with pytest.raises(tw.ArgumentError, match="architectures"):
        tt.audit(path)


def test_code_of_the_folder_is_not_run(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path, ran = write(tmp_path / "published", tensors, config), tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')\nfrom transformers import LlamaConfig as Own, LlamaForCausalLM as OwnModel\n"
    (path / "own.py").write_text(code)
    configured(path, auto_map={"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.OwnModel"})
    tuned = saved(cls, path, tmp_path / "tuned")
    assert not tt.audit(path).loses and "pass" in tt.recipe(path, path)
    assert torch.equal(tt.load(cls, path, dtype=torch.float32).lm_head.weight, tensors["lm_head.weight"])
    assert tt.restore(tuned, tmp_path / "again", path) == []
    configured(path, model_type="own")
    with pytest.raises(tw.ArgumentError, match="cannot read the configuration"):
        tt.audit(path)
    assert not ran.exists()


def test_a_kernel_that_config_json_names_is_not_used(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path = write(tmp_path / "published", tensors, config)
    plain = tt.load(cls, path, dtype=torch.float32)
    assert plain.config._attn_implementation == cls.from_pretrained(path).config._attn_implementation
    from transformers import modeling_utils

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was asked for")

    monkeypatch.setattr(modeling_utils, "lazy_import_flash_attention", refuse)
    for key in ("attn_implementation", "_attn_implementation"):
        for kernel in ("evil/kernel", "flash_attention_2"):
            asked = configured(path, **{key: kernel})
            assert not tt.audit(asked).loses and "pass" in tt.recipe(asked, asked)
            with pytest.raises(tw.UnsupportedError, match=f"asks for the attention '{kernel}'"):
                tt.load(cls, asked)
            assert tt.load(cls, asked, attn_implementation="eager").config._attn_implementation == "eager"


# The program.


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the program in another process."""
    return subprocess.run([sys.executable, "-m", "tilewright", *map(str, arguments)], capture_output=True, text=True, check=False)


def test_the_program_converts_and_rounds_and_fails_without_a_traceback(tmp_path: pathlib.Path) -> None:
    _, config, tensors = llama(tie_word_embeddings=False, dtype="bfloat16")
    path = write(tmp_path / "published", tensors | {"mtp.weight": torch.ones(3)}, config)
    out = tmp_path / "out"
    done = run("convert", "--memory", "64MiB", path, out, "--recipe", "transformers", "--keep")
    assert done.returncode == 0 and read(out)["model.norm.weight"].dtype == torch.float32 and "mtp.weight" in read(out), done.stderr
    done = run("convert", path, tmp_path / "rounded", "--round", "--recipe=transformers")
    norm = read(tmp_path / "rounded")["model.norm.weight"]
    assert done.returncode == 0 and torch.equal(norm, tensors["model.norm.weight"].bfloat16()), done.stderr
    done = run("recipe", "transformers", path, "-o", tmp_path / "missing" / "recipe.toml")
    assert done.returncode == 3 and done.stderr.startswith("error: ") and "missing" in done.stderr
    done = run("recipe", "audit", path, "--class", "LlamaForCausalLM", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["loses"] and [one["kind"] for one in found["findings"]] == ["ignored", "rounded"]
    configured(path, architectures={"a": 1})
    done = run("recipe", "audit", path)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
    header = b"[" * 200_000
    (path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    done = run("recipe", "audit", path)
    assert done.returncode == 3 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


def test_load_reads_the_single_file_before_the_index(tmp_path: pathlib.Path) -> None:
    cls, config, tensors = llama(tie_word_embeddings=False)
    path = write(tmp_path / "published", tensors, config)
    other = {name: one + 1 for name, one in tensors.items()}
    safetensors.save_file(other, path / "other.safetensors")
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": dict.fromkeys(tensors, "other.safetensors")}))
    want, got = cls.from_pretrained(path, dtype=torch.float32), tt.load(cls, path, dtype=torch.float32)
    assert torch.equal(want.model.norm.weight, got.model.norm.weight)
