"""Megatron-Core as a consumer: its formulas, written out with slices, and its own model on processes of torch.

The result of the recipe names what a rank holds `rankNN.…`; the vocabulary is whole and padded, and each rank takes its rows.
"""

import contextlib
import importlib.util
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch
from safetensors.torch import load_file

HERE = bool(importlib.util.find_spec("megatron")) and bool(importlib.util.find_spec("megatron.core"))
VOCABULARY = ("embedding.word_embeddings.weight", "output_layer.weight")


def held(result, rank, ranks):
    """What a rank holds of a result."""
    prefix = f"rank{rank:02}."
    mine = {}
    for name, tensor in result.items():
        if name in VOCABULARY:
            mine[name] = tensor.chunk(ranks)[rank]
        elif name.startswith(prefix):
            mine[name[len(prefix) :]] = tensor
        elif not name.startswith("rank"):
            mine[name] = tensor
    return mine


def head_dim(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def expected(state, config, rank, ranks, padded):
    """The same by Megatron's formulas: groups are dealt to ranks, and a group is its query heads, its key, its value."""
    groups, rows = config.num_key_value_heads, head_dim(config.to_dict())
    mine = {}
    for layer in range(config.num_hidden_layers):
        ours, theirs = f"decoder.layers.{layer}", f"model.layers.{layer}"
        per = config.num_attention_heads // groups * rows
        for kind in ("weight", "bias"):
            if f"{theirs}.self_attn.q_proj.{kind}" not in state:
                continue
            q, k, v = (state[f"{theirs}.self_attn.{one}_proj.{kind}"] for one in "qkv")
            pieces = []
            for group in range(rank * groups // ranks, (rank + 1) * groups // ranks):
                pieces += [q[group * per : (group + 1) * per], k[group * rows : (group + 1) * rows], v[group * rows : (group + 1) * rows]]
            mine[f"{ours}.self_attention.linear_qkv.{kind}"] = torch.cat(pieces)
        for one in "qk":
            if f"{theirs}.self_attn.{one}_norm.weight" in state:
                mine[f"{ours}.self_attention.{one}_layernorm.weight"] = state[f"{theirs}.self_attn.{one}_norm.weight"]
        mine[f"{ours}.self_attention.linear_proj.weight"] = state[f"{theirs}.self_attn.o_proj.weight"].chunk(ranks, 1)[rank]
        gate, up = (state[f"{theirs}.mlp.{one}_proj.weight"].chunk(ranks)[rank] for one in ("gate", "up"))
        mine[f"{ours}.mlp.linear_fc1.weight"] = torch.cat([gate, up])
        mine[f"{ours}.mlp.linear_fc2.weight"] = state[f"{theirs}.mlp.down_proj.weight"].chunk(ranks, 1)[rank]
        mine[f"{ours}.self_attention.linear_qkv.layer_norm_weight"] = state[f"{theirs}.input_layernorm.weight"]
        mine[f"{ours}.mlp.linear_fc1.layer_norm_weight"] = state[f"{theirs}.post_attention_layernorm.weight"]
    mine["decoder.final_layernorm.weight"] = state["model.norm.weight"]
    for name, one in zip(VOCABULARY, ("model.embed_tokens.weight", "lm_head.weight")):
        filled = torch.zeros(padded, config.hidden_size, dtype=state[one].dtype)
        filled[: config.vocab_size] = state[one]
        mine[name] = filled.chunk(ranks)[rank]
    return mine


def differences(result, state, config, ranks, padded):
    """The tensors that differ from the formulas, on any rank."""
    wrong = []
    for rank in range(ranks):
        mine, theirs = held(result, rank, ranks), expected(state, config, rank, ranks, padded)
        for name in sorted(mine.keys() | theirs.keys()):
            if name not in mine or name not in theirs:
                wrong.append(f"rank {rank}: {name} is {'missing' if name not in mine else 'too much'}")
            elif mine[name].shape != theirs[name].shape:
                wrong.append(f"rank {rank}: {name} is {list(mine[name].shape)}, not {list(theirs[name].shape)}")
            elif not torch.equal(mine[name], theirs[name]):
                wrong.append(f"rank {rank}: {name} differs")
    return wrong


def logits(path, config, ranks, padded, tokens):
    """The logits behind the last token, by Megatron's own model on its own ranks."""
    with tempfile.TemporaryDirectory() as folder:
        work = (ranks, str(path), config.to_dict(), padded, tokens, folder)
        torch.multiprocessing.spawn(run, args=work, nprocs=ranks)
        return torch.from_numpy(np.load(os.path.join(folder, "logits.npy")))[: config.vocab_size]


def run(rank, ranks, path, config, padded, tokens, folder):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    # Megatron asks for the current device where it has one of CUDA alone, and draws dropout there.
    torch.cuda.current_device = lambda: "cpu"
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel import random

    parallel_state.initialize_model_parallel(tensor_model_parallel_size=ranks)
    random.CudaRNGStatesTracker.fork = lambda *_: contextlib.nullcontext()
    made = model(config, ranks, padded)
    theirs = {
        name.replace("self_attention.linear_qkv.layer_norm_weight", "input_layernorm.weight").replace("mlp.linear_fc1.layer_norm_weight", "pre_mlp_layernorm.weight"): tensor
        for name, tensor in held(load_file(path), rank, ranks).items()
    }
    missing, surplus = made.load_state_dict(theirs, strict=False)
    missing = [name for name in missing if not name.endswith("_extra_state")]
    assert not missing and not surplus, f"missing {missing}, too much {surplus}"
    length = len(tokens)
    mask = torch.triu(torch.ones(1, 1, length, length, dtype=torch.bool), 1)
    with torch.no_grad():
        out = made(torch.tensor([tokens]), torch.arange(length)[None], mask)
    if rank == 0:
        np.save(os.path.join(folder, "logits.npy"), out[0, -1].float().numpy())
    torch.distributed.destroy_process_group()


def model(config, ranks, padded):
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig

    sizes = TransformerConfig(
        num_layers=config["num_hidden_layers"], hidden_size=config["hidden_size"], ffn_hidden_size=config["intermediate_size"],
        num_attention_heads=config["num_attention_heads"], num_query_groups=config["num_key_value_heads"],
        kv_channels=head_dim(config), add_qkv_bias=config["model_type"] == "qwen2", qk_layernorm=config["model_type"] == "qwen3", layernorm_epsilon=config["rms_norm_eps"], tensor_model_parallel_size=ranks,
        normalization="RMSNorm", gated_linear_unit=True, activation_func=torch.nn.functional.silu, add_bias_linear=False,
        use_cpu_initialization=True, hidden_dropout=0, attention_dropout=0, gradient_accumulation_fusion=False,
        masked_softmax_fusion=False, apply_rope_fusion=False, bias_dropout_fusion=False, bias_activation_fusion=False,
        persist_layer_norm=False,
    )  # fmt: skip
    spec = get_gpt_layer_local_spec(normalization="RMSNorm", qk_layernorm=config["model_type"] == "qwen3")
    words = {"vocab_size": padded, "max_sequence_length": 64, "position_embedding_type": "rope", "rotary_base": 10000}
    made = GPTModel(config=sizes, transformer_layer_spec=spec, share_embeddings_and_output_weights=False, parallel_output=False, **words)
    return made.eval()
