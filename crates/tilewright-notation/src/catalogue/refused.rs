//! Well-known names that are not layouts, with the reason for each, as data.

/// A name with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("UNDEFINED", "it says that nothing is known"),
    ("acl:-1", "it says that nothing is known"),
    (
        "FRACTAL_Z_G",
        "it pads the channels of each group on their own, so it depends on the number of groups",
    ),
    ("FRACTAL_Z_C04", "it merges channels, height and width before it cuts them into blocks"),
    ("FRACTAL_NZ_C0_0", "its blocks have no size"),
    (
        "GPTQ_3BIT",
        "its values straddle words: of 32 along K, stored in three, two lie in two words; GPTQ is of 2, 4 and 8 bits",
    ),
    ("Q4_0_4_4", "it flips the top bit of every value; the values of IQ4_NLx4_QS it only moves"),
    ("Q4_0_4_8", "it flips the top bit of every value; the values of Q8_0x4_QS_8 it only moves"),
    ("Q4_0_8_8", "it flips the top bit of every value"),
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
    ("Q5_0", "the fifth bits of its values lie apart from the other four"),
    ("Q4_K", "scales of six bits are cut into pieces among its values"),
    ("Q5_K", "scales of six bits are cut into pieces among its values"),
    ("Q6_K", "the upper bits of its values lie apart from the lower ones"),
];

/// Why the format of this name is no layout.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(other, _)| *other == name).map(|(_, why)| *why)
}
