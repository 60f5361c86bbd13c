//! Well-known names that are not layouts, with the reason for each, as data.

const FLIPPED_4X4: &str = "it flips the top bit of every value and starts each block with the deltas of 4 rows, so there are two regions; Q4_0_4x4_VALUES is the order of the values";
const FLIPPED_4X8: &str = "it flips the top bit of every value and starts each block with the deltas of 4 rows, so there are two regions; Q4_0_4x8_VALUES is the order of the values";
const FLIPPED_8X8: &str = "it flips the top bit of every value and starts each block with the deltas of 8 rows, so there are two regions; Q4_0_8x8_VALUES is the order of the values";
const REPACKED_4X4: &str = "each block of 4 rows begins with their 4 scales, which are stored differently from the values, and a pattern cannot have two regions; IQ4_NLx4_QS is the order of the bytes of values";
const REPACKED_4X8: &str = "each block of 4 rows begins with their 4 scales, which are stored differently from the values, and a pattern cannot have two regions; Q8_0x4_QS_8 is the order of the bytes of values";
const REPACKED_8X8: &str = "each block of 8 rows begins with their 8 scales, which are stored differently from the values, and a pattern cannot have two regions; Q4_K_8x8_QS is the order of the bytes of values";
const SCALES_CODED: &str = "its six-bit scales are repacked; Q4_K_8x8_QS and Q4_K_8x4_QS are the order of the bytes of values";
const REGIONS: &str = "its blocks have several regions, each with its own order; Q4_K_8x8_QS has the bytes of values, Q6_K_8x8_SCALES and Q2_K_8x8_SCALES have the scales";
const HOPPER: &str = "it permutes the bits of each word of eight values irregularly at the end; HOPPER_MX_VALUE_BYTES is the order of the bytes before that, HOPPER_MX_VALUE_BYTES_MMA2 that of mma version 2";
const GROUPED: &str = "grouped queries split it into several pieces: a group has more heads of q than of k and v; NEOX_QKV is the order for one head of each";
const PAGES: &str = "it is a table of pages, which depends on the requests; KV_NHD and KV_HND are the layouts of the pages";

/// A name with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("UNDEFINED", "it means that nothing is known about the layout"),
    ("acl:-1", "it means that nothing is known about the layout"),
    (
        "FRACTAL_Z_G",
        "it pads the channels of each group separately, so it depends on the number of groups",
    ),
    ("FRACTAL_Z_C04", "it merges channels, height and width before it cuts them into blocks"),
    ("FRACTAL_NZ_C0_0", "its blocks are of unknown size"),
    (
        "GPTQ_3BIT",
        "its values straddle words: two of every 32 along K, stored in three words, straddle; GPTQ has 2, 4 and 8 bits",
    ),
    (
        "CT_PACK_INT32_3BIT",
        "its values straddle words: they are contiguous, of 3 bits each; CT_PACK_INT32 has 4 and 8 bits",
    ),
    ("Q4_0_4_4", "it flips the top bit of every value; Q4_0_4x4_VALUES is the order of the values"),
    ("Q4_0_4_8", "it flips the top bit of every value; Q4_0_4x8_VALUES is the order of the values"),
    ("Q4_0_8_8", "it flips the top bit of every value; Q4_0_8x8_VALUES is the order of the values"),
    ("Q4_0_4x4", FLIPPED_4X4),
    ("Q4_0_4x4_BYTES", FLIPPED_4X4),
    ("Q4_0_4x8", FLIPPED_4X8),
    ("Q4_0_4x8_BYTES", FLIPPED_4X8),
    ("Q4_0_8x8", FLIPPED_8X8),
    ("Q4_0_8x8_BYTES", FLIPPED_8X8),
    ("IQ4_NL_4x4", REPACKED_4X4),
    ("IQ4_NL_4x4_BYTES", REPACKED_4X4),
    ("MXFP4_4x4", REPACKED_4X4),
    ("MXFP4_4x4_BYTES", REPACKED_4X4),
    ("Q8_0_4x4", REPACKED_4X4),
    ("Q8_0_4x4_BYTES", REPACKED_4X4),
    ("Q8_0_4x8", REPACKED_4X8),
    ("Q8_0_4x8_BYTES", REPACKED_4X8),
    ("IQ4_NL_8x8", REPACKED_8X8),
    ("IQ4_NL_8x8_BYTES", REPACKED_8X8),
    ("MXFP4_8x8", REPACKED_8X8),
    ("MXFP4_8x8_BYTES", REPACKED_8X8),
    (
        "Q4_0_AMX_NIBBLES",
        "each tile of 16 rows ends with 16 deltas, a gap between the values; Q4_0_AMX_VALUES is their order without gaps, and strides can express the gaps",
    ),
    ("Q4_K_8x8", SCALES_CODED),
    ("Q4_K_8x4", SCALES_CODED),
    ("Q6_K_8x8", REGIONS),
    ("Q2_K_8x8", REGIONS),
    ("HOPPER_MX_VALUE", HOPPER),
    ("HOPPER_MX_VALUE_BITS", HOPPER),
    ("HopperMXValueLayout", HOPPER),
    (
        "SM90_MIXED_FP4",
        "it permutes the bits of each word of eight values irregularly at the end; SM90_MIXED_FP4_BYTES is the order of the bytes before that",
    ),
    (
        "SM90_MIXED_FP4_BITS",
        "it permutes the bits of each word of eight values irregularly at the end; SM90_MIXED_FP4_BYTES is the order of the bytes before that",
    ),
    ("MEGATRON_QKV", GROUPED),
    ("MEGATRON_QKV_GQA", GROUPED),
    ("MEGATRON_QKV_GATED", GROUPED),
    ("FALCON_QKV", GROUPED),
    ("INTERNLM2_QKV", GROUPED),
    (
        "MARLIN_NVFP4_SCALE",
        "its values change: they are multiplied by 2^7 and cut to bytes of five bits of exponent; MARLIN_MX_SCALE is their order",
    ),
    (
        "weight_scale_inv",
        "each of its elements belongs to 128x128 weights; it is row-major itself, [ceil(N/128), ceil(K/128)]",
    ),
    (
        "qsi4cxp",
        "sums, scales and biases follow the values of each panel, so there are several regions; Q4_0_4x4_VALUES is one order of the values",
    ),
    ("block_table", PAGES),
    ("kv_indices", PAGES),
    (
        "Q4_0",
        "its blocks hold a delta and values of another width; GGML_QS4 is the order of the values",
    ),
    ("Q4_1", "its blocks hold a delta, a minimum and values; GGML_QS4 is the order of the values"),
    (
        "IQ4_NL",
        "its blocks hold a delta and values of another width; GGML_QS4 is the order of the values",
    ),
    ("Q8_0", "its blocks hold a delta of 16 bits and values of 8"),
    ("Q5_0", "the fifth bits of its values are stored apart from the other four"),
    ("Q4_K", "scales of six bits are cut into pieces among its values"),
    ("Q5_K", "scales of six bits are cut into pieces among its values"),
    ("Q6_K", "the upper bits of its values are stored apart from the lower ones"),
];

/// Returns the reason why the format of this name is not a layout.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(other, _)| *other == name).map(|(_, why)| *why)
}
