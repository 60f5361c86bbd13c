//! Well-known names that are not layouts, with the law of layouts that each breaks and the reason, as data.

/// The laws, as error messages end with them.
const VALUES: &str = "a layout changes no value";
const ONE: &str = "a layout places elements of one width";
const ARRAY: &str = "a layout depends on dims and element type alone";
const KNOWN: &str = "a layout gives each element a place";
const SPLIT: &str = "a named format splits dims and merges none";

const FLIPPED_4X4: &str = "it flips the top bit of every value; Q4_0_4x4_BYTES is the order of its bytes, Q4_0_4x4_VALUES that of the values";
const FLIPPED_4X8: &str = "it flips the top bit of every value; Q4_0_4x8_BYTES is the order of its bytes, Q4_0_4x8_VALUES that of the values";
const FLIPPED_8X8: &str = "it flips the top bit of every value; Q4_0_8x8_BYTES is the order of its bytes, Q4_0_8x8_VALUES that of the values";
const SCALES_CODED: &str = "its six-bit scales are repacked; Q4_K_8x8_QS and Q4_K_8x4_QS are the order of the bytes of values";
const REGIONS: &str = "its blocks have several regions, each with its own order; Q4_K_8x8_QS has the bytes of values, Q6_K_8x8_SCALES and Q2_K_8x8_SCALES have the scales";
const PAGES: &str = "it is a table of pages, which depends on the requests; KV_NHD and KV_HND are the layouts of the pages";
const UNKNOWN: &str = "it means that nothing is known about the layout";
const DELTA: &str =
    "its blocks hold a delta and values of another width; GGML_QS4 is the order of the values";
const SIX_BITS: &str = "scales of six bits are cut into pieces among its values";

/// A name with the law that it breaks and the reason.
const REFUSED: &[(&str, &str, &str)] = &[
    ("UNDEFINED", KNOWN, UNKNOWN),
    ("acl:-1", KNOWN, UNKNOWN),
    (
        "FRACTAL_Z_G",
        ARRAY,
        "it pads the channels of each group separately, so it depends on the number of groups",
    ),
    (
        "FRACTAL_Z_C04",
        SPLIT,
        "it merges channels, height and width before it cuts them into blocks; `table(1,2,3; ..)` merges dims in a SPEC",
    ),
    ("FRACTAL_NZ_C0_0", KNOWN, "its blocks are of unknown size"),
    ("Q4_0_4_4", VALUES, FLIPPED_4X4),
    ("Q4_0_4_8", VALUES, FLIPPED_4X8),
    ("Q4_0_8_8", VALUES, FLIPPED_8X8),
    ("Q4_0_4x4", VALUES, FLIPPED_4X4),
    ("Q4_0_4x8", VALUES, FLIPPED_4X8),
    ("Q4_0_8x8", VALUES, FLIPPED_8X8),
    ("Q4_K_8x8", ONE, SCALES_CODED),
    ("Q4_K_8x4", ONE, SCALES_CODED),
    ("Q6_K_8x8", ONE, REGIONS),
    ("Q2_K_8x8", ONE, REGIONS),
    (
        "MARLIN_NVFP4_SCALE",
        VALUES,
        "its values change: they are multiplied by 2^7 and cut to bytes of five bits of exponent; MARLIN_MX_SCALE is their order",
    ),
    (
        "weight_scale_inv",
        KNOWN,
        "each of its elements belongs to 128x128 weights; it is row-major itself, [ceil(N/128), ceil(K/128)]",
    ),
    (
        "qsi4cxp",
        ONE,
        "sums, scales and biases follow the values of each panel, so there are several regions; Q4_0_4x4_VALUES is one order of the values",
    ),
    ("block_table", ARRAY, PAGES),
    ("kv_indices", ARRAY, PAGES),
    ("Q4_0", ONE, DELTA),
    (
        "Q4_1",
        ONE,
        "its blocks hold a delta, a minimum and values; GGML_QS4 is the order of the values",
    ),
    ("IQ4_NL", ONE, DELTA),
    ("Q8_0", ONE, "its blocks hold a delta of 16 bits and values of 8"),
    ("Q5_0", ONE, "the fifth bits of its values are stored apart from the other four"),
    ("Q4_K", ONE, SIX_BITS),
    ("Q5_K", ONE, SIX_BITS),
    (
        "Q6_K",
        ONE,
        "its blocks hold values of 6 bits, scales and a delta; GGUF_Q6_K_BITS is the order of the bits of the values",
    ),
];

/// Returns the law that the format of this name breaks, and the reason.
pub(crate) fn refused(name: &str) -> Option<(&'static str, &'static str)> {
    REFUSED.iter().find(|(other, ..)| *other == name).map(|(_, law, why)| (*law, *why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spec, catalogue::formats_with_tables};

    /// Each name is refused with its law and its reason, and names no format.
    #[test]
    fn each_name_breaks_a_law() {
        assert_eq!(REFUSED.len(), 28);
        for (name, law, why) in REFUSED {
            assert!([VALUES, ONE, ARRAY, KNOWN, SPLIT].contains(law));
            let error = Spec::parse(name).unwrap_err();
            assert!(error.is_unsupported(), "{name}: {error}");
            assert!(error.to_string().contains(why) && error.to_string().contains(law), "{error}");
            let known = |format: &crate::TabledFormat| {
                format.name == *name || format.aliases.contains(name)
            };
            assert!(!formats_with_tables().iter().any(known), "{name}");
        }
    }
}
