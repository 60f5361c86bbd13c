"""Defects of transformers in loading and saving converted checkpoints: the audit finds and names each of them.

    python defects.py

Each function makes a small checkpoint, shows by transformers itself that the defect is there, and asks the audit. A defect that a
version of transformers no longer has is reported and is no failure.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightRenaming, revert_weight_conversion

import tilewright as tw
import tilewright.transformers as tt

WORK = tempfile.TemporaryDirectory()
SIZES = {"hidden_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 99}


def folder(tensors: dict[str, Any], config: Any) -> pathlib.Path:
    """A checkpoint in a folder."""
    path = pathlib.Path(tempfile.mkdtemp(dir=WORK.name))
    save_file({name: tensor.contiguous().clone() for name, tensor in tensors.items()}, path / "model.safetensors", {"format": "pt"})
    config.save_pretrained(path)
    return path


def published(model: Any) -> dict[str, Any]:
    """The checkpoint that a model is published as, by the reverse mapping."""
    model._weight_conversions = get_model_conversion_mapping(model, add_legacy=False)
    return revert_weight_conversion(model, dict(model.state_dict()))


def saved(cls: Any, path: pathlib.Path, dtype: Any = torch.float32) -> tuple[Any, dict[str, Any]]:
    """The model that is loaded from a folder, and what it saves."""
    model = cls.from_pretrained(path, dtype=dtype)
    out = tempfile.mkdtemp(dir=WORK.name)
    model.save_pretrained(out)
    return model, load_file(out + "/model.safetensors")


def expect(path: pathlib.Path, kind: str, there: bool, *, loses: bool = True) -> None:
    """Asks the audit of a folder: a defect that is there must be found, under this kind."""
    audit = tt.audit(path)
    found = [one for one in audit.findings if one.kind == kind and one.loses == loses]
    print(f"  {audit}".replace("\n", "\n  "))
    if not there:
        print(f"  transformers {transformers.__version__} does not do this any more")
    elif not found:
        raise AssertionError(f"the audit does not find `{kind}`")


def square_experts(inner: int) -> None:
    """Experts published as [E, in, out] are not transposed where two dims are equal; saving never transposes back."""
    cls = transformers.Qwen3VLMoeForConditionalGeneration
    text = SIZES | {"head_dim": 12, "moe_intermediate_size": inner, "intermediate_size": 56, "num_experts": 4, "num_experts_per_tok": 2}
    vision = {"depth": 1, "hidden_size": 32, "intermediate_size": 40, "num_heads": 4, "out_hidden_size": 48, "deepstack_visual_indexes": [0]}
    config = transformers.Qwen3VLMoeConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)
    config.architectures = [cls.__name__]
    want = {name: tensor.clone() for name, tensor in cls(config).state_dict().items()}
    path = folder({name: one.transpose(1, 2) if ".mlp.experts." in name else one for name, one in want.items()}, config)
    model, back = saved(cls, path)
    wrong = [name for name, tensor in model.state_dict().items() if not torch.equal(tensor, want[name])]
    if inner in (24, 48):
        expect(path, "square", bool(wrong))
    before = load_file(path / "model.safetensors")
    expect(path, "reshaped", any(back[name].shape != before[name].shape for name in before))
    # The recipe transposes squares too, and its inverse gives the published layout.
    recipe = path / "recipe.toml"
    recipe.write_text(tt.recipe(path, path))
    tw.convert_recipe(path / "model.safetensors", path / "turned.safetensors", recipe, verify=True)
    made = load_file(path / "turned.safetensors")
    assert all(torch.equal(made[name], want[name]) for name in want)


def names_after_saving() -> None:
    """Saving writes other names than those that were loaded, the base class then starts with a random norm, and saving changes the
    mapping."""
    cls = transformers.DeepseekV4ForCausalLM
    config = cls.config_class(**(SIZES | {"num_hidden_layers": 2}), moe_intermediate_size=20, n_routed_experts=4, num_local_experts=4,
                              num_experts_per_tok=2, q_lora_rank=24, o_lora_rank=10, o_groups=2, qk_rope_head_dim=8, index_head_dim=16,
                              index_n_heads=2, num_nextn_predict_layers=0)
    config.architectures = [cls.__name__]
    own = {"embed_tokens.weight": "embed.weight", "hc_head.hc_fn": "hc_head_fn", "hc_head.hc_base": "hc_head_base", "hc_head.hc_scale": "hc_head_scale"}
    names = {name: name.removeprefix("model.") for name in published(cls(config))}
    tensors = {own.get(names[name], names[name]): tensor for name, tensor in published(cls(config)).items()}
    path = folder(tensors, config)
    gone = set(tensors) - set(saved(cls, path)[1])
    expect(path, "renamed", bool(gone))
    expect(path, "base", bool(gone))
    expect(path, "mapping", reverse_changes(), loses=False)


def small(kind: str, **more: Any) -> tuple[Any, Any, dict[str, Any]]:
    """A small mixture of experts: its class, its configuration, and its published tensors."""
    cls = getattr(transformers, kind)
    config = cls.config_class(**(SIZES | {"moe_intermediate_size": 20, "num_experts_per_tok": 2, "tie_word_embeddings": False} | more))
    config.architectures = [cls.__name__]
    return cls, config, published(cls(config))


def predictions_dropped() -> None:
    """Tensors that a class ignores are gone after saving, and nothing says so."""
    cls, config, tensors = small("Qwen3NextForCausalLM", layer_types=["full_attention"], shared_expert_intermediate_size=20, num_experts=4)
    path = folder(tensors | {"mtp.fc.weight": torch.ones(48, 96)}, config)
    expect(path, "ignored", "mtp.fc.weight" not in saved(cls, path)[1])


def bias_rounded() -> None:
    """A float32 router bias of a bf16 checkpoint is rounded."""
    cls, config, tensors = small("MiniMaxM2ForCausalLM", intermediate_size=20, num_local_experts=4, dtype="bfloat16")
    tensors = {name: tensor.bfloat16() for name, tensor in tensors.items()}
    bias = next(name for name in tensors if "correction_bias" in name)
    tensors[bias] = torch.tensor([1.001, 1.002, 1.003, 1.004])
    path = folder(tensors, config)
    expect(path, "rounded", saved(cls, path, "auto")[1][bias].dtype != torch.float32)


def router_widened() -> None:
    """A bf16 router becomes float32 in the saved file."""
    cls, config, tensors = small("Glm4MoeForCausalLM", num_hidden_layers=2, intermediate_size=56, n_routed_experts=4, n_group=1,
                                 topk_group=1, first_k_dense_replace=1, dtype="bfloat16")
    path = folder({name: tensor.bfloat16() for name, tensor in tensors.items()}, config)
    back = saved(cls, path, "auto")[1]
    expect(path, "widened", any(tensor.dtype == torch.float32 for tensor in back.values()), loses=False)


def hole_in_experts() -> None:
    """Experts 0, 1, 3, 4 of a model with four are loaded as 0, 1, 2, 3."""
    cls, config, tensors = small("Qwen3MoeForCausalLM", intermediate_size=56, num_experts=4)
    moved = {name.replace("experts.3.", "experts.4.").replace("experts.2.", "experts.3."): one for name, one in tensors.items()}
    path = folder(moved, config)
    expect(path, "hole", any("experts.2." in name for name in saved(cls, path)[1]))
    refused(path, "are missing")


def two_for_one() -> None:
    """Stacked experts beside single ones: one is taken, the other is dropped without a word."""
    cls, config, tensors = small("Qwen3MoeForCausalLM", intermediate_size=56, num_experts=4)
    stacked = "model.layers.0.mlp.experts.gate_up_proj"
    path = folder(tensors | {stacked: torch.full((4, 40, 48), 7.0)}, config)
    expect(path, "collision", stacked not in saved(cls, path)[1])
    refused(path, "beside the list")


def refused(path: pathlib.Path, says: str) -> None:
    """The generator refuses what the audit finds."""
    try:
        tt.recipe(path, path)
    except tw.UnsupportedError as error:
        assert says in str(error), error
    else:
        raise AssertionError("a recipe was written")


def reverse_changes() -> bool:
    """Returns true if the reverse of a renaming changes the renaming."""
    renaming = WeightRenaming(r"^embed\.weight", "embed_tokens.weight")
    before = list(renaming._original_source_patterns)
    renaming.reverse_transform()
    return before != list(renaming._original_source_patterns)


def base_class_reads_nothing() -> None:
    """The base class reads nothing of the checkpoint of a head."""
    cls = transformers.ColQwen2ForRetrieval
    text = {key: SIZES[key] for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size")}
    vision = {"depth": 1, "embed_dim": 32, "hidden_size": 48, "num_heads": 4, "mlp_ratio": 2}
    config = transformers.ColQwen2Config(vlm_config=transformers.Qwen2VLConfig(text_config=text | {"intermediate_size": 56}, vision_config=vision))
    config.architectures = [cls.__name__]
    model = cls(config)
    path = folder(published(model), config)
    said = type(model.vlm).from_pretrained(path, config=model.vlm.config, output_loading_info=True)[1]
    expect(path, "base", bool(said["missing_keys"]), loses=False)


def published_again() -> None:
    """The way back: names, dims, element types, and what the class dropped; equal if nothing was trained."""
    cls, config, tensors = small("Qwen3NextForCausalLM", layer_types=["full_attention"], shared_expert_intermediate_size=20, num_experts=4)
    path = folder(tensors | {"mtp.fc.weight": torch.ones(48, 96)}, config)
    for original in (True, False):
        tuned = pathlib.Path(tempfile.mkdtemp(dir=WORK.name))
        cls.from_pretrained(path, dtype=torch.float32).save_pretrained(tuned, save_original_format=original)
        out = tuned / "again"
        says = tt.restore(tuned, out, path)
        assert says == [f"carried mtp.fc.weight from {path}"], says
        assert tw.same_data(path, out), "the published tensors differ"
    cls, config, tensors = small("MiniMaxM2ForCausalLM", intermediate_size=20, num_local_experts=4, dtype="bfloat16")
    tensors = {name: tensor.bfloat16() for name, tensor in tensors.items()}
    bias = next(name for name in tensors if "correction_bias" in name)
    path = folder(tensors | {bias: torch.tensor([1.001, 1.002, 1.003, 1.004])}, config)
    tuned = pathlib.Path(tempfile.mkdtemp(dir=WORK.name))
    cls.from_pretrained(path, dtype="auto").save_pretrained(tuned)
    assert len(tt.restore(tuned, tuned / "again", path)) == 1
    assert tw.same_data(path, tuned / "again"), "the published tensors differ"


def loaded_without_a_copy() -> None:
    """A model that is loaded by a recipe has the tensors that transformers loads."""
    cls, config, tensors = small("Qwen3MoeForCausalLM", intermediate_size=56, num_experts=4)
    path = folder(tensors, config)
    want, got = saved(cls, path)[0].state_dict(), tt.load(cls, path, dtype=torch.float32).state_dict()
    assert want.keys() == got.keys() and all(torch.equal(want[name], got[name]) for name in want)


DEFECTS: list[tuple[str, Callable[[], None]]] = [
    *((f"square experts, {inner}", lambda inner=inner: square_experts(inner)) for inner in (20, 24, 48)),
    *((one.__name__.replace("_", " "), one) for one in (
        names_after_saving, predictions_dropped, bias_rounded, router_widened, hole_in_experts, two_for_one,
        base_class_reads_nothing, published_again, loaded_without_a_copy,
    )),
]


def main() -> int:
    """Asks about all defects; the exit code is 1 if the audit misses one."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    failed = 0
    for name, act in DEFECTS:
        print(f"{name}: {(act.__doc__ or square_experts.__doc__ or '').strip()}", flush=True)
        try:
            act()
        except (AssertionError, tw.Error) as error:
            failed += 1
            print(f"  FAILED: {error}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
