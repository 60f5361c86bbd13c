"""mlx-lm as a consumer: what its models make of published weights, and the models themselves, on the CPU."""

import importlib
import importlib.util
import json

import numpy as np
import torch
from safetensors.torch import load_file

HERE = bool(importlib.util.find_spec("mlx")) and bool(importlib.util.find_spec("mlx_lm"))


def arrays(path):
    import mlx.core as mx

    return {name: mx.array(tensor.numpy()) for name, tensor in load_file(path).items()}


def model(folder):
    """The model of a folder's configuration, without weights."""
    config = json.loads((folder / "config.json").read_text())
    # Keys of published configurations that transformers does not write any more.
    rope = config.get("rope_parameters", {})
    older = {"rope_theta": rope.get("rope_theta", 10000.0), "rope_scaling": None, "partial_rotary_factor": rope.get("partial_rotary_factor", 1.0)}
    older |= {"num_experts": config.get("num_local_experts"), "head_dim": config["hidden_size"] // config["num_attention_heads"]}
    config = older | config
    module = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    return module.Model(module.ModelArgs.from_dict(config))


def differences(published, ours):
    """The tensors of two folders that differ after mlx-lm has made its own of the first."""
    theirs, found = model(published).sanitize(arrays(published / "model.safetensors")), arrays(ours / "model.safetensors")
    wrong = [f"{name} is {'missing' if name in theirs else 'too much'}" for name in sorted(theirs.keys() ^ found.keys())]
    return wrong + [f"{name} differs" for name in theirs.keys() & found.keys() if not np.array_equal(np.array(theirs[name]), np.array(found[name]))]


def logits(ours, tokens):
    """The logits behind the last token, by mlx-lm's model with these weights alone."""
    import mlx.core as mx

    made = model(ours)
    made.load_weights(list(arrays(ours / "model.safetensors").items()), strict=True)
    return torch.from_numpy(np.array(made(mx.array([tokens]))[0, -1]))
