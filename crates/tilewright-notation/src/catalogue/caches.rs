//! Pages of key and value caches.

use super::{GroupRows, Names, constants::BYTES_16, row, rows};

const NHD: &str = "FlashAttention, FlashInfer and vLLM (LBNHC): NHD; keys and values are separate, or in a dim of 2 before or after the pages";
const HND: &str = "FlashInfer, TensorRT-LLM and vLLM (LBHNC): HND";
const LAYERS: &str = "vLLM, letters of a cache's layout (layers, blocks, heads, tokens, content), where a block holds all layers";
const PAGED: &str = "vLLM, paged_attn.py, and AITER, asm: X is 16 bytes of elements";
const SHUFFLED: &str =
    "ROCm/aiter, op_tests/test_pa.py, asm_V_shuffle; vLLM, SHUFFLE: X is 16 bytes of elements";

const PTHD: Names = &["page", "token", "head", "head size"];
const LPTHD: Names = &["layer", "page", "token", "head", "head size"];

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("Key and value caches", "pages of FlashAttention, FlashInfer, vLLM and AITER", &[
        row("KV_NHD", &[], "… p t h d -> … p t h d", &[], NHD, "f16[3,16,2,8] KV_NHD").with_dims(PTHD),
        row("KV_HND", &[], "… p t h d -> … p h t d", &[], HND, "f16[3,16,2,8] KV_HND").with_dims(PTHD),
        row("KV_BLHNC", &["BLHNC"], "l p t h d -> p l h t d", &[], LAYERS, "f16[2,3,16,2,8] KV_BLHNC").with_dims(LPTHD),
        row("KV_BLNHC", &["BLNHC"], "l p t h d -> p l t h d", &[], LAYERS, "f16[2,3,16,2,8] KV_BLNHC").with_dims(LPTHD),
        row("KV_KEY_X", &["KV_ASM_KEY"], "… p t h (d1 d0:X) -> … p h d1 t d0", &[&BYTES_16], PAGED, "f16[2,16,2,32] KV_KEY_X").with_dims(PTHD),
        row("KV_VALUE_X", &["KV_ASM_VALUE"], "… p t h d -> … p h d t", &[], PAGED, "f16[2,16,2,32] KV_VALUE_X").with_dims(PTHD),
        row("AITER_V_SHUFFLE", &["asm_V_shuffle"], "… p (t1 t0:X) h d -> … p h t1 d t0", &[&BYTES_16], SHUFFLED, "f16[2,16,2,32] AITER_V_SHUFFLE").with_dims(PTHD),
    ]),
];
