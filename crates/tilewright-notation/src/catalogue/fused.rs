//! Rows of fused projections, and the order of pairs of rotary embeddings.

use super::{GroupRows, constants::TP, row, rows};

const NEOX: &str = "GPT-NeoX, BLOOM, ChatGLM-6B, Falcon-RW: query_key_value, from [q, k, v] stacked to heads of q, k, v";
const TP_QKV: &str = "Phi-3, ChatGLM, GLM-4, Baichuan (W_pack) and vLLM (qkv_proj): TP ranks one after the other, each with its q, k and v of the same number of heads";
const TP_GATE: &str =
    "Megatron, linear_fc1 of TP ranks one after the other, each with its gate and up";
const GLU: &str = "Transformer Engine and Megatron, glu_interleave_size 32: 32 rows of the gate, 32 of up; another size as [I0=16]";
const GPT_OSS: &str =
    "gpt-oss, gate_up_proj [E, in, out]: gate and up interleaved along the last dim";
const HALVES: &str = "Meta and GGUF to Hugging Face: a head's pairs of rotary dims become two halves; only for q and k";
const PAIRS: &str = "llama.cpp, LlamaModel.permute, Hugging Face to GGUF: a head's halves become pairs; only for q and k";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("Models", "rows of fused projections", &[
        row("NEOX_QKV", &["BLOOM_QKV", "CHATGLM_6B_QKV", "FALCON_RW_QKV"], "s h d k -> h s d k", &[], NEOX, "f16[3,4,6,5] NEOX_QKV").with_dims(&["q/k/v", "heads", "head size", "K"]),
        row("QKV_OF_RANKS", &[], "s (h1:TP h0) d k -> h1 s h0 d k", &[&TP], TP_QKV, "f16[3,4,6,5] QKV_OF_RANKS[TP=2]").with_dims(&["q/k/v", "heads", "head size", "K"]),
        row("GATE_UP_OF_RANKS", &[], "… g (i1:TP i0) k -> … i1 g i0 k", &[&TP], TP_GATE, "f16[2,12,5] GATE_UP_OF_RANKS[TP=2]").with_dims(&["gate/up", "N", "K"]),
        row("GLU_INTERLEAVED_32", &["glu_interleave_size"], "… g (i1 i0:32) k -> … i1 g i0 k", &[], GLU, "f16[2,96,3] GLU_INTERLEAVED_32").with_dims(&["gate/up", "N", "K"]),
        row("GPT_OSS_GATE_UP", &[], "… k g n -> … k n g", &[], GPT_OSS, "bf16[2,5,2,6] GPT_OSS_GATE_UP").with_dims(&["K", "gate/up", "N"]),
    ]),
    rows("Models", "pairs of rotary embeddings", &[
        row("ROPE_HALVES", &[], "… (d1 d0:2) k -> … d0 d1 k", &[], HALVES, "f16[3,8,5] ROPE_HALVES").with_dims(&["head size", "K"]),
        row("ROPE_PAIRS", &[], "… (d1:2 d0) k -> … d0 d1 k", &[], PAIRS, "f16[3,8,5] ROPE_PAIRS").with_dims(&["head size", "K"]),
        row("ROPE_PAIRS_64", &[], "… (d1:2 d0:32) k -> … d0 d1 k", &[], PAIRS, "f16[3,64,5] ROPE_PAIRS_64").with_dims(&["head size", "K"]),
    ]),
];
