"""Tiny models of the families, made from configurations: nothing is downloaded.

`model(family, size)` is a model of transformers with random parameters. In the size `apart` no two sizes coincide, in `square`
all that can coincide do, and `grouped` has 9 heads with 3 for keys and values, as small models have.
"""

import os

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")

import torch
import transformers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForImageTextToText

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

#: hidden, rows of a head, heads, heads of keys and values, intermediate, that of an expert, experts, words.
SIZES = {
    "apart": (48, 12, 6, 3, 168, 56, 5, 104),
    "square": (32, 8, 4, 4, 32, 32, 4, 32),
    "grouped": (72, 8, 9, 3, 120, 40, 6, 96),
}


def dims(size):
    hidden, head, heads, groups, inner, moe, experts, words = SIZES[size]
    return {
        "hidden_size": hidden, "head_dim": head, "num_attention_heads": heads, "num_key_value_heads": groups,
        "intermediate_size": inner, "moe_intermediate_size": moe, "num_experts": experts, "vocab_size": words,
        "num_hidden_layers": 2, "max_position_embeddings": 64, "num_experts_per_tok": 2, "tie_word_embeddings": False,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip


def whole_heads(size):
    """Sizes of families whose heads together are as wide as the hidden state."""
    sizes = dims(size) | {"hidden_size": SIZES[size][1] * SIZES[size][2]}
    del sizes["head_dim"]
    return sizes


def tied(sizes):
    """With the embeddings as the weights of the last layer."""
    return sizes | {"tie_word_embeddings": True}


def mixture(size):
    """What mixtures of experts call their sizes."""
    experts = SIZES[size][6]
    return dims(size) | {"num_local_experts": experts, "n_routed_experts": experts, "moe_num_experts": experts}


def latent(size):
    """DeepSeek: attention through latent vectors, a dense layer and one of experts."""
    apart = {"q_lora_rank": 28, "kv_lora_rank": 16, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 20}
    square = {"q_lora_rank": 32, "kv_lora_rank": 32, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8}
    heads = SIZES[size][2]
    return mixture(size) | (square if size == "square" else apart) | {
        "head_dim": None, "num_key_value_heads": heads, "first_k_dense_replace": 1, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
    }  # fmt: skip


def hybrid(size):
    """Linear attention whose keys and values have other widths than the rest."""
    apart = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 10}
    square = {"linear_num_key_heads": 4, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
    return whole_heads(size) | (square if size == "square" else apart) | {"layer_types": ["linear_attention", "full_attention"]}


def shared(sizes):
    """With experts that all tokens share, of a width of their own."""
    return lambda size: sizes(size) | {"shared_expert_intermediate_size": 64, "moe_num_shared_experts": 1, "n_shared_experts": 1}


def four(size):
    """With feed-forward layers four times as wide as the hidden state, as llama.cpp writes into the metadata."""
    sizes = whole_heads(size)
    return sizes | {"intermediate_size": 4 * sizes["hidden_size"], "num_key_value_heads": sizes["num_attention_heads"]}


def short(size):
    """LFM2: a layer with a short convolution, and one with attention."""
    return whole_heads(size) | {"layer_types": ["conv", "full_attention"], "full_attn_idxs": [1], "block_auto_adjust_ff_dim": False}


def ernie(size):
    """llama.cpp takes the intermediate width over the heads of keys for the width of shared experts."""
    hidden, _, heads, groups, _, moe, _, _ = SIZES[size]
    return shared(mixture)(size) | {"head_dim": hidden // heads, "intermediate_size": moe * groups}


GROUPED = {"first_k_dense_replace": 1, "n_group": 1, "topk_group": 1}
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
HALF_ROPE = PLAIN_ROPE | {"partial_rotary_factor": 0.5}

#: The sizes of a family, and what it says besides.
FAMILIES = {
    "bloom": (whole_heads, {}),
    "cohere": (lambda size: tied(whole_heads(size)), {}),
    "cohere2": (lambda size: tied(whole_heads(size)), {"sliding_window": 16, "rotary_pct": 1.0}),
    "deepseek_v2": (latent, {"topk_method": "greedy"}),
    "deepseek_v3": (latent, {"scoring_func": "sigmoid", "norm_topk_prob": True, "routed_scaling_factor": 2.5}),
    "dots1": (lambda size: shared(mixture)(size) | {"num_key_value_heads": SIZES[size][2]}, {**GROUPED, "scoring_func": "sigmoid", "norm_topk_prob": True, "routed_scaling_factor": 2.5}),
    "ernie4_5": (dims, {}),
    "ernie4_5_moe": (ernie, {"moe_k": 2, "moe_layer_start_index": 1}),
    "exaone4": (dims, {"sliding_window": None, "sliding_window_pattern": 0, "layer_types": ["full_attention"] * 2}),
    "falcon": (lambda size: whole_heads(size) | {"num_kv_heads": SIZES[size][3]}, {}),
    "glm4": (dims, {}),
    "glm4_moe": (shared(mixture), {**GROUPED, "use_qk_norm": True}),
    "gpt2": (whole_heads, {"n_ctx": 64}),
    "gpt_bigcode": (whole_heads, {}),
    "gpt_neox": (whole_heads, {"rope_parameters": HALF_ROPE}),
    "gpt_oss": (mixture, {"sliding_window": 16, "rope_parameters": PLAIN_ROPE}),
    "granite": (whole_heads, {}),
    "granitemoe": (lambda size: mixture(size) | whole_heads(size), {}),
    "hunyuan_v1_dense": (dims, {}),
    "lfm2": (short, {}),
    "llama": (dims, {}),
    "mistral": (dims, {}),
    "mixtral": (mixture, {}),
    "nomic_bert": (dims, {}),
    "olmo": (whole_heads, {}),
    "olmo2": (whole_heads, {}),
    "olmo3": (whole_heads, {"sliding_window": 16}),
    "olmo_hybrid": (hybrid, {}),
    "olmoe": (lambda size: whole_heads(size) | {"num_key_value_heads": SIZES[size][2]}, {}),
    "phi": (four, {}),
    "phi3": (whole_heads, {}),
    "qwen2": (whole_heads, {}),
    "qwen2_moe": (shared(whole_heads), {"decoder_sparse_step": 1, "mlp_only_layers": []}),
    "qwen3": (dims, {}),
    "qwen3_moe": (dims, {"norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}),
    "seed_oss": (dims, {"attention_bias": True, "attention_out_bias": False}),
    "smollm3": (whole_heads, {}),
    "stablelm": (whole_heads, {"use_qkv_bias": True, "rope_parameters": HALF_ROPE}),
    "starcoder2": (whole_heads, {}),
    "step3p5_vision": (whole_heads, {"image_size": 16, "patch_size": 4, "num_channels": 3}),
}


def config(family, size, **more):
    kind = CONFIG_MAPPING[family]
    sizes, besides = FAMILIES[family]
    known = {*kind().to_dict(), *kind.attribute_map, "tie_word_embeddings", "pad_token_id", "bos_token_id", "eos_token_id"}
    return kind(**{name: value for name, value in sizes(size).items() if name in known} | besides | more)


def model(family, size, dtype=torch.float32, auto=AutoModelForCausalLM, **more):
    return drawn(auto.from_config(config(family, size, **more)), dtype)


def seeing(family, size, dtype=torch.float32):
    """A model of text and images: its parts have configurations of their own."""
    hidden, head, heads, groups, inner, moe, experts, words = SIZES[size]
    text = dims(size) | {"hidden_size": head * heads}
    del text["head_dim"]
    ids = {"image_token_id": 5, "video_token_id": 6}
    if family == "ernie4_5_vl_moe":
        text |= {"moe_num_experts": experts, "moe_intermediate_size": [moe, moe // 2], "moe_k": 2, "mlp_layer_types": ["dense", "sparse"], "moe_num_shared_experts": 1}
        text["rope_parameters"] = {"rope_theta": 500000.0, "rope_type": "default", "mrope_section": [head // 6, head // 6, head // 2 - 2 * (head // 6)]}
        vision = {"depth": 2, "hidden_size": 32, "num_heads": 4, "intermediate_size": 40, "patch_size": 4}
        ids |= {"image_start_token_id": 7, "image_end_token_id": 8, "video_start_token_id": 9, "video_end_token_id": 10}
    else:
        text["rope_parameters"] = {"rope_theta": 10000.0, "rope_type": "default", "mrope_section": [head // 2 - 2, 1, 1]}
        vision = {"depth": 2, "embed_dim": 32, "hidden_size": head * heads, "num_heads": 4, "patch_size": 4}
        ids |= {"vision_start_token_id": 7, "vision_end_token_id": 8}
    for one in ("moe_intermediate_size", "num_experts", "num_experts_per_tok"):
        if family != "ernie4_5_vl_moe" or one != "moe_intermediate_size":
            text.pop(one, None)
    made = CONFIG_MAPPING[family](text_config=text, vision_config=vision, tie_word_embeddings=family == "ernie4_5_vl_moe", **ids)
    return drawn(AutoModelForImageTextToText.from_config(made), dtype)


def drawn(made, dtype=torch.float32):
    """The model with parameters that all differ: those of norms near one, the others around zero."""
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, held in made.state_dict().items():
            if held.is_floating_point():
                wide = torch.randn(held.shape, generator=draw)
                held.copy_(1 + 0.1 * wide if "norm" in name and name.endswith("weight") else 0.2 * wide)
    return made.to(dtype).eval()


TOKENS = [3, 17, 24, 8, 29]


def logits(made, tokens=None):
    with torch.no_grad():
        return made(torch.tensor([tokens or TOKENS])).logits[0, -1].float()
