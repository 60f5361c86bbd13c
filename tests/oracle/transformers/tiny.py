"""Tiny models of every type of transformers' conversion mapping, from their own classes and configurations.

A configuration is made with its defaults, and its sizes are replaced by small ones that differ from each other, so that a wrong
order of dims shows. What a type needs besides is in `MORE`.
"""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Callable
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PretrainedConfig, conversion_mapping
from transformers.models.auto import modeling_auto

#: Sizes of text and of vision, by the keys that configurations have for them.
SIZES = {
    "hidden": (24, 16),
    "inner": (28, 20),
    "expert": (10, 12),
}
KEYS = {
    "hidden": "hidden_size d_model n_embd embed_dim dim text_embed_dim word_embed_proj_dim width n_embed embedding_size "
    "encoder_hidden_size decoder_hidden_size hidden_dim model_dim emb_dim",
    "inner": "intermediate_size d_ff ffn_dim n_inner ffn_hidden_size encoder_ffn_dim decoder_ffn_dim mlp_dim "
    "ffn_intermediate_size dense_intermediate_size mlp_intermediate_size encoder_intermediate_size intermediate_dim block_ff_dim",
    "expert": "moe_intermediate_size expert_ffn_hidden_size expert_intermediate_size expert_ffn_size moe_ffn_hidden_size "
    "moe_hidden_size",
}
#: Numbers by the keys that configurations have for them.
NUMBERS = {
    2: "num_hidden_layers num_layers n_layer n_layers depth encoder_layers decoder_layers num_encoder_layers num_decoder_layers "
    "num_blocks vision_layers encoder_num_hidden_layers decoder_num_hidden_layers encoder_num_layers decoder_num_layers "
    "num_hidden_groups num_key_value_heads num_kv_heads n_kv_heads n_head_kv multi_query_group_num attention_groups "
    "encoder_num_key_value_heads decoder_num_key_value_heads num_experts_per_tok num_experts_per_token top_k moe_k moe_topk "
    "moe_top_k topk n_activated_experts top_k_experts linear_num_key_heads o_groups index_n_heads",
    4: "num_attention_heads n_head num_heads n_heads encoder_attention_heads decoder_attention_heads num_query_heads "
    "encoder_num_attention_heads decoder_num_attention_heads linear_num_value_heads patch_size spatial_patch_size "
    "qk_rope_head_dim hidden_size_per_layer_input linear_key_head_dim mamba_n_heads mamba_num_heads index_topk",
    5: "num_experts num_local_experts n_routed_experts moe_num_experts num_routed_experts n_experts expert_num "
    "linear_value_head_dim",
    1: "n_group topk_group num_expert_groups moe_num_groups n_shared_experts num_shared_experts moe_num_shared_experts "
    "first_k_dense_replace num_dense_layers moe_layer_start_index decoder_sparse_step mamba_n_groups n_groups",
    0: "num_nextn_predict_layers num_mtp_layers mtp_num_hidden_layers decoder_start_token_id",
    6: "v_head_dim o_lora_rank mamba_d_state ssm_state_size",
    8: "head_dim attention_head_dim global_head_dim index_head_dim",
    9: "kv_lora_rank",
    10: "qk_nope_head_dim",
    12: "mamba_d_head mamba_head_dim",
    14: "qk_head_dim q_lora_rank",
    16: "image_size",
    28: "shared_expert_intermediate_size shared_intermediate_size moe_shared_expert_intermediate_size",
    32: "max_position_embeddings",
    40: "vocab_size vocab_size_per_layer_input",
}
#: Keys that are set although the configuration leaves them open.
OPEN = ("head_dim", "num_key_value_heads", "moe_intermediate_size", "vocab_size")
#: The ends of the keys of lists with an entry for each layer.
PER_LAYER = ("layer_types", "_layers_type", "_per_layer")
LAYERS = "no_rope_layers moe_layers_pattern layer_pattern block_types compress_ratios moe_layers indexer_types".split()
VISION = ("vision", "audio", "vit", "sam", "backbone", "encoder_config")
#: The most elements of a model.
MOST = 40_000_000


def sizes(vision: bool) -> dict[str, Any]:
    """The small sizes, by key."""
    found: dict[str, Any] = {"mlp_only_layers": []}
    for kind, keys in KEYS.items():
        found.update(dict.fromkeys(keys.split(), SIZES[kind][vision]))
    for number, keys in NUMBERS.items():
        found.update(dict.fromkeys(keys.split(), number))
    return found


def put(config: Any, key: str, value: Any) -> None:
    """Sets a key, if the configuration takes it."""
    try:
        setattr(config, key, value)
    except Exception:  # noqa: BLE001  (a configuration may refuse a value of its own)
        pass


def everywhere(**values: Any) -> Callable[[Any], None]:
    """Sets keys in a configuration and those within it, where they are."""

    def act(config: Any) -> None:
        for own in [config, *(one for one in vars(config).values() if hasattr(one, "to_dict"))]:
            for key in vars(own).keys() & values.keys():
                put(own, key, values[key])

    return act


def shrink(config: Any, vision: bool, given: dict[str, Any], seen: set[int]) -> None:
    """Replaces the sizes of a configuration and of those within it."""
    if id(config) in seen:
        return
    seen.add(id(config))
    known = sizes(vision) | given
    for key, value in list(vars(config).items()):
        if isinstance(value, PretrainedConfig):
            shrink(value, any(part in key for part in VISION), {}, seen)
        elif key in known and not isinstance(value, bool) and (isinstance(value, int) or key in given or value is None and key in OPEN):
            put(config, key, known[key])
        elif key == "mlp_only_layers":
            put(config, key, [])
        elif key.endswith(("_token_id", "_token_index", "_index")) and isinstance(value, int) and value > 30:
            put(config, key, 3 + len(key) % 9)
        elif key.endswith(("_token_id", "_index")) and isinstance(value, list):
            put(config, key, [2])
    layers(config, given)
    for key in ("tie_word_embeddings", "tie_encoder_decoder"):
        if getattr(config, key, False):
            put(config, key, False)
    for key in ("dtype", "torch_dtype"):
        if vars(config).get(key) is not None:
            put(config, key, None)


def layers(config: Any, given: dict[str, Any]) -> None:
    """Lists with an entry for each layer: one of each kind, or as many as there are layers."""
    own = vars(config)
    kinds = own.get("layer_types")
    if isinstance(kinds, list) and kinds:
        some = list(dict.fromkeys(kinds))
        some = some if len(some) > 1 else some * 2
        put(config, "layer_types", some)
        for key in ("num_hidden_layers", "num_layers"):
            if key in own and key not in given:
                put(config, key, len(some))
    count = own.get("num_hidden_layers") or own.get("num_layers")
    for key, value in list(own.items()) if isinstance(count, int) else ():
        listed = isinstance(value, list) and len(value) > count and key != "layer_types"
        if listed and (key.endswith(PER_LAYER) or key.startswith("layers_") or key in LAYERS):
            some = list(dict.fromkeys(value))
            put(config, key, value[:count] if isinstance(value[0], int) else (some + some * count)[:count])


def heads_of_keys(config: Any, depth: int = 0) -> None:
    """As many key heads as query heads, where a chunk needs equal parts."""
    own = vars(config)
    if "num_key_value_heads" in own:
        config.num_key_value_heads = config.num_attention_heads
    for key in {"head_dim", "attention_head_dim"} & own.keys() if "hidden_size" in own else ():
        if isinstance(own[key], int):
            put(config, key, config.hidden_size // config.num_attention_heads)
    for value in list(own.values()) if depth < 4 else ():
        if hasattr(value, "to_dict"):
            heads_of_keys(value, depth + 1)


def beit(config: Any) -> None:
    """Four layers, of which each gives an output."""
    config.out_indices, config.num_hidden_layers = [0, 1, 2, 3], 4


def ernie(config: Any) -> None:
    """Two sizes of experts, and a vision that is narrower."""
    everywhere(moe_intermediate_size=[10, 6], moe_num_experts=6, hidden_size=32)(config)
    config.vision_config.hidden_size = 16
    if isinstance(config.text_config.rope_parameters, dict):
        config.text_config.rope_parameters["mrope_section"] = [2, 1, 1]


def heads_of_vision(config: Any) -> None:
    """A head of two steps and a convolution, which the configuration leaves open."""
    config.head_config = type(config).sub_configs["head_config"](
        upsample_out_channels=[12, 10], upsample_kernel_sizes=[4, 4], conv_out_channels=[9], conv_kernel_sizes=[1],
        scale_conv_out_channels=[6, 5], scale_conv_kernel_sizes=[1, 1], scale_final_input_size=20, scale_final_hidden_sizes=[7, 6],
    )


def words_of_images(config: Any) -> None:
    """A vocabulary with words for pictures, and a small encoder of pictures."""
    everywhere(base_channels=32, channel_multiplier=[1, 1], num_res_blocks=1, codebook_size=12)(config)
    config.vocabulary_map = {"<|extra_200|>": 1, "<image>": 2, "<|visual token 000000|>": 3, "<|visual token 000001|>": 4}


def talker(config: Any) -> None:
    """A talker whose configuration leaves a key open that its class reads."""
    config.talker_config.spatial_merge_size = 2
    put(config.code2wav_config, "decoder_dim", 96)
    put(config.talker_config.text_config, "shared_expert_intermediate_size", 28)


INKLING = {"fix": everywhere(unpadded_vocab_size=34, text_hidden_size=24, projection_hidden_dim=18, swa_head_dim=8,
                             swa_num_attention_heads=4, rel_extent=6, d_rel=5, mel_vocab_size=4)}
DOTS = everywhere(adapter_in_dim=16, adapter_out_dim=24, adapter_input_size=16, downsample_hidden_size=12,
                  shared_experts_intermediate_size=28, num_key_value_heads=4, sliding_window=8)
SAPIENS = "ImageMatting NormalEstimation PointmapEstimation PoseEstimation SemanticSegmentation".split()
DETR = {"keys": {"d_model": 64, "hidden_size": 64, "num_attention_heads": 8, "encoder_attention_heads": 8}}
#: What types need besides small sizes: arguments, keys, and a change at the end.
MORE: dict[str, dict[str, Any]] = {
    "lfm2_moe": {"init": {"layer_types": ["full_attention", "conv", "conv", "full_attention"], "num_hidden_layers": 4}},
    "BeitForSemanticSegmentation": {"fix": beit},
    **dict.fromkeys(["inkling_mm_model", "inkling2", "inkling2_text", "inkling2_loop", "inkling2_loop_text"], INKLING),
    "NemotronH_Omni_Reasoning_V3": {"fix": everywhere(max_img_size=32, projector_hidden_size=64)},
    "glm5_next": {"fix": everywhere(out_hidden_size=24, projection_intermediate_size=26, linear_head_dim=4, linear_num_heads=4,
                                    num_key_value_heads=4, index_kpool=4)},
    "glm5_next_text": {"fix": everywhere(linear_head_dim=8, num_key_value_heads=4)},
    "minimax_m3_vl": {"fix": everywhere(projector_hidden_size=22, index_block_size=4)},
    **dict.fromkeys(["Dots3NoteForConditionalGeneration", "Dots3NoteModel"], {"fix": DOTS}),
    "Dots3NoteTextModel": {"fix": everywhere(num_key_value_heads=4, shared_experts_intermediate_size=28)},
    "glm4v_moe": {"fix": everywhere(out_hidden_size=24)},
    "dots1": {"fix": everywhere(num_local_experts=6, n_routed_experts=6, n_shared_experts=1)},
    "deepseek_ocr2": {"fix": everywhere(mlp_layer_types=["dense", "sparse"])},
    "gemma3n_text": {"fix": everywhere(num_kv_shared_layers=0)},
    "ernie4_5_vl_moe": {"fix": ernie},
    "dory": {"keys": {"n_input_layers": 1, "n_recurrent_layers": 0, "n_output_layers": 1}},
    "mistral_large4_text": {"fix": everywhere(kv_source_layers=[0, 1])},
    "qwen4_exp_text": {"fix": everywhere(indexer_n_heads=2, indexer_kv_heads=2, indexer_head_dim=8, indexer_budget=8,
                                         indexer_compress_ratio=4, ple_layer_ids=[1], ple_embed_dim=8, ngram_vocab_size_base=20,
                                         make_ngram_vocab_size_divisible_by=4, split_ngram_parts=4, hc_lowrank=5,
                                         heads_per_ngram=2)},
    # Saving cuts the joined convolutions in equal parts, so only equal ones are published as they were.
    "olmo_hybrid": {"fix": everywhere(linear_num_key_heads=4, linear_key_head_dim=5)},
    "deepseek_v4": {"fix": everywhere(o_lora_rank=6, q_lora_rank=14)},
    "kimi_k25": {"fix": everywhere(pos_emb_height=6, pos_emb_width=6, projection_hidden_size=30)},
    "hrm_text": {"fix": everywhere(num_layers_per_stack=1)},
    "t5gemma2_encoder": {"fix": lambda config: [put(one, "dropout_rate", 0.0) for one in (config, config.text_config)]},
    "qwen3_omni_moe": {"fix": talker},
    **dict.fromkeys(["deformable_detr", "DetrForSegmentation", "ConditionalDetrForSegmentation", "lw_detr", "rf_detr"], DETR),
    **dict.fromkeys(["RfDetrModel", "RfDetrForObjectDetection", "RfDetrForInstanceSegmentation"], DETR),
    **dict.fromkeys(["MimiModel", "MimiDecoderModel"], {"fix": everywhere(upsample_groups=24, num_filters=4)}),
    **dict.fromkeys(["dots3_note_vision_encoder", "dots3_note_audio_encoder"], {"fix": DOTS}),
    **dict.fromkeys(["VibeVoiceAsrModel", "vibevoice_asr"], {"fix": everywhere(num_filters=2, depths=[1] * 7)}),
    **dict.fromkeys([f"Sapiens2For{head}" for head in SAPIENS], {"fix": heads_of_vision}),
    "Emu3Model": {"fix": words_of_images},
    **dict.fromkeys(["nemo_speechlm", "gradium_phonon_tts"], {"fix": heads_of_keys}),
}

AUTO = ("CAUSAL_LM", "IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "OBJECT_DETECTION", "PRETRAINING")


def types() -> list[str]:
    """All types and classes of the mapping."""
    conversion_mapping.get_checkpoint_conversion_mapping("any")
    return sorted(one for one in conversion_mapping._checkpoint_conversion_mapping_cache if one != "legacy")


def classes(name: str) -> list[Any]:
    """The classes of a type, or the class of this name."""
    if not name.islower() and hasattr(transformers, name):
        return [getattr(transformers, name)]
    found: list[Any] = []
    for mapping in [*(f"MODEL_FOR_{auto}_MAPPING_NAMES" for auto in AUTO), "MODEL_MAPPING_NAMES"]:
        names = getattr(modeling_auto, mapping, {}).get(name)
        for one in names if isinstance(names, (tuple, list)) else [names]:
            if one and hasattr(transformers, one) and getattr(transformers, one) not in found:
                found.append(getattr(transformers, one))
    return found or _in_modules(name)


def _in_modules(name: str) -> list[Any]:
    """Classes that only the modules of transformers name."""
    if name in CONFIG_MAPPING:
        config = CONFIG_MAPPING[name]
        module = importlib.import_module(config.__module__.replace("configuration_", "modeling_"))
        own = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, transformers.PreTrainedModel)]
        own = [one for one in own if getattr(one, "config_class", None) is config and one.__module__ == module.__name__]
        own = [one for one in own if not one.__name__.endswith("PreTrainedModel")]
        return sorted(own, key=lambda one: (not one.__name__.endswith(("ForConditionalGeneration", "ForCausalLM")), len(one.__name__)))
    for path in glob.glob(os.path.dirname(transformers.__file__) + "/models/*/modeling_*.py"):
        with open(path, encoding="utf-8") as file:
            if re.search(rf"^class {re.escape(name)}\(", file.read(), re.M):
                parts = path.split(os.sep)
                return [getattr(importlib.import_module(f"transformers.models.{parts[-2]}.{parts[-1][:-3]}"), name)]
    return []


def config_of(name: str, cls: Any) -> Any:
    """The small configuration of a class."""
    made = cls.config_class
    if name in CONFIG_MAPPING and issubclass(CONFIG_MAPPING[name], made):
        made = CONFIG_MAPPING[name]
    more = MORE.get(name, MORE.get(getattr(made, "model_type", ""), {}))
    config = made(**more.get("init", {}))
    shrink(config, "Vision" in cls.__name__ or "ViT" in cls.__name__, more.get("keys", {}), set())
    more.get("fix", lambda config: None)(config)
    return config


def build(name: str) -> tuple[Any, Any]:
    """The first class of a type that can be made small, and its configuration.

    :raises ValueError: if there is none, with the reasons
    """
    faults = []
    for cls in classes(name):
        try:
            config = config_of(name, cls)
            with torch.device("meta"):
                model = cls(config)
        except Exception as error:  # noqa: BLE001  (any fault of a class is a reason to try the next)
            faults.append(f"{cls.__name__}: {type(error).__name__}: {str(error)[:120]}")
            continue
        elements = sum(tensor.numel() for tensor in model.state_dict().values())
        if elements <= MOST:
            return cls, config
        faults.append(f"{cls.__name__}: {elements} elements")
    raise ValueError("; ".join(faults) or "no class")
