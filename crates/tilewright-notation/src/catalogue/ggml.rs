//! Values of llama.cpp's blocks, alone: as GGUF stores them, and as its repacking and KleidiAI's put them together.
//!
//! The deltas of a block are another region of it, so that no pattern describes a whole block of both.

use super::{GroupRows, Names, of, row, rows, sized};

const GGML_4: &str =
    "llama.cpp, the 4-bit values (qs) of blocks of 32, deltas apart: Q4_0, Q4_1, IQ4_NL, MXFP4";
const Q4_K: &str = "llama.cpp, the 4-bit values (qs) of super-blocks of 256, scales apart: Q4_K";
const X4: &str = "llama.cpp, repack: the bytes (qs) of four rows' blocks, deltas apart";
const REPACK: &str = "llama.cpp, ggml-cpu/repack.cpp: the bytes of values of R rows' blocks in chunks, deltas apart; R must divide the rows";
const VALUES: &str = "llama.cpp, ggml-cpu/repack.cpp: the 4-bit values of R rows' blocks, deltas apart; for Q4_0 the top bit of each is also flipped";
const KLEIDIAI: &str = "llama.cpp, ggml-cpu/repack.cpp, and KleidiAI, qsi4c32p of nr and kr: the 4-bit values of R rows' blocks, deltas apart; for Q4_0 the top bit of each is also flipped";
const AMX: &str = "llama.cpp, ggml-cpu/amx/mmq.cpp, convert_B_packed_format: tiles of 16 rows by one block, only the values";

const ROWS_BLOCKS: Names = &["rows", "blocks", "bytes"];
const ROWS_VALUES: Names = &["rows", "blocks", "values"];

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("Quantised weights", "values of blocks of GGUF and llama.cpp", &[
        sized("GGML_QS4", &["GGUF_Q4_0_VALUES"], &[of(4, "… (k2 k1:2 k0:16) -> … k2 k0 k1")], GGML_4, "u4[3,64]E(4) GGML_QS4"),
        sized("GGUF_Q4_K_VALUES", &[], &[of(4, "… (k2 k1:2 k0:32) -> … k2 k0 k1")], Q4_K, "u4[3,256]E(4) GGUF_Q4_K_VALUES"),
    ]),
    rows("Quantised weights", "values repacked by llama.cpp and KleidiAI", &[
        row("IQ4_NLx4_QS", &["Q8_0x4_QS_4"], "(m1 m0:4) (b1 b0:4) -> m1 b1 m0 b0", &[], X4, "u8[8,48] IQ4_NLx4_QS"),
        row("Q8_0x4_QS_8", &[], "(m1 m0:4) (b1 b0:8) -> m1 b1 m0 b0", &[], X4, "s8[8,64] Q8_0x4_QS_8"),
        sized("Q4_K_8x8_QS", &["IQ4_NL_8x8_QS", "MXFP4_8x8_QS", "Q6_K_8x8_QL", "Q6_K_8x8_QH", "Q2_K_8x8_QS"], &[of(8, "(m1 m0:8) b (j1 j0:8) -> m1 b j1 m0 j0")], REPACK, "u8[16,2,128] Q4_K_8x8_QS").with_dims(ROWS_BLOCKS),
        sized("Q4_K_8x4_QS", &[], &[of(8, "(m1 m0:8) b (j1 j0:4) -> m1 b j1 m0 j0")], REPACK, "u8[16,2,128] Q4_K_8x4_QS").with_dims(ROWS_BLOCKS),
        sized("Q8_0_16x1_QS", &["IQ4_NL_16x1_QS"], &[of(8, "(m1 m0:16) b j -> m1 b j m0")], REPACK, "s8[32,2,32] Q8_0_16x1_QS").with_dims(ROWS_BLOCKS),
        sized("Q6_K_8x8_SCALES", &[], &[of(8, "(m1 m0:8) b s -> m1 b s m0")], REPACK, "s8[16,2,16] Q6_K_8x8_SCALES").with_dims(ROWS_BLOCKS),
        sized("Q2_K_8x8_SCALES", &[], &[of(8, "(m1 m0:8) b (s1 s0:2) -> m1 b s1 m0 s0")], REPACK, "u8[16,2,16] Q2_K_8x8_SCALES").with_dims(ROWS_BLOCKS),
        sized("Q4_0_4x4_VALUES", &["IQ4_NL_4x4_VALUES", "MXFP4_4x4_VALUES", "KLEIDIAI_QSI4C32P_4x8"], &[of(4, "(m1 m0:4) b (k2:2 k1:4 k0:4) -> m1 b k1 m0 k0 k2")], KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x4_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_4x8_VALUES", &["KLEIDIAI_QSI4C32P_4x16"], &[of(4, "(m1 m0:4) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_8x8_VALUES", &["IQ4_NL_8x8_VALUES", "MXFP4_8x8_VALUES"], &[of(4, "(m1 m0:8) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], VALUES, "u4[16,3,32]E(4) Q4_0_8x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q8_0_AMX_VALUES", &[], &[of(8, "(n1 n0:16) b (k1 k0:4) -> n1 b k1 n0 k0")], AMX, "s8[32,2,32] Q8_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_AMX_VALUES", &["Q4_1_AMX_VALUES"], &[of(4, "(n1 n0:16) b (k2:4 k1:2 k0:4) -> n1 b k2 n0 k0 k1")], AMX, "u4[32,2,32]E(4) Q4_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_K_AMX_VALUES", &[], &[of(4, "(n1 n0:16) b (k3:4 k2:8 k1:2 k0:4) -> n1 b k3 k2 n0 k0 k1")], AMX, "u4[16,2,256]E(4) Q4_K_AMX_VALUES").with_dims(ROWS_VALUES),
    ]),
];
