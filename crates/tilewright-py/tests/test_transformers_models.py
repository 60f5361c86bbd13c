"""Small models of transformers itself: loading, audits and the way back. Skipped where transformers is not installed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import tilewright as tw
import tilewright.transformers as tt

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

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
