//! The types of GGUF's tensors: their numbers and names.
//!
//! Source: ggml, `enum ggml_type`; `gguf-py/gguf/constants.py`.

use tilewright_core::Dtype;

/// Number, name and element type.
const TYPES: &[(u32, &str, Dtype)] = &[
    (0, "F32", Dtype::F32),
    (1, "F16", Dtype::F16),
    (2, "Q4_0", Dtype::Q4_0),
    (3, "Q4_1", Dtype::Q4_1),
    (6, "Q5_0", Dtype::Q5_0),
    (7, "Q5_1", Dtype::Q5_1),
    (8, "Q8_0", Dtype::Q8_0),
    (9, "Q8_1", Dtype::Q8_1),
    (10, "Q2_K", Dtype::Q2K),
    (11, "Q3_K", Dtype::Q3K),
    (12, "Q4_K", Dtype::Q4K),
    (13, "Q5_K", Dtype::Q5K),
    (14, "Q6_K", Dtype::Q6K),
    (15, "Q8_K", Dtype::Q8K),
    (16, "IQ2_XXS", Dtype::Iq2Xxs),
    (17, "IQ2_XS", Dtype::Iq2Xs),
    (18, "IQ3_XXS", Dtype::Iq3Xxs),
    (19, "IQ1_S", Dtype::Iq1S),
    (20, "IQ4_NL", Dtype::Iq4Nl),
    (21, "IQ3_S", Dtype::Iq3S),
    (22, "IQ2_S", Dtype::Iq2S),
    (23, "IQ4_XS", Dtype::Iq4Xs),
    (24, "I8", Dtype::S8),
    (25, "I16", Dtype::S16),
    (26, "I32", Dtype::S32),
    (27, "I64", Dtype::S64),
    (28, "F64", Dtype::F64),
    (29, "IQ1_M", Dtype::Iq1M),
    (30, "BF16", Dtype::Bf16),
    (34, "TQ1_0", Dtype::Tq1_0),
    (35, "TQ2_0", Dtype::Tq2_0),
    (39, "MXFP4", Dtype::Mxfp4),
    (40, "NVFP4", Dtype::Nvfp4),
    (41, "Q1_0", Dtype::Q1_0),
];

/// The number of `I8`, the type under which bytes are stored that fit no other type.
pub(super) const BYTES: u32 = 24;

/// Returns the name and the element type of a number.
pub(super) fn of(number: u32) -> Option<(&'static str, Dtype)> {
    let found = TYPES.iter().find(|(own, ..)| *own == number);
    found.map(|(_, name, dtype)| (*name, *dtype))
}

/// Returns the number of a name.
pub(super) fn named(name: &str) -> Option<u32> {
    TYPES.iter().find(|(_, own, _)| *own == name).map(|(number, ..)| *number)
}

/// Returns the number of an element type.
pub(super) fn number(dtype: Dtype) -> Option<u32> {
    TYPES.iter().find(|(.., own)| *own == dtype).map(|(number, ..)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_types_are_one_list() {
        for (i, (own, name, dtype)) in TYPES.iter().enumerate() {
            assert!(TYPES[..i].iter().all(|(before, ..)| before < own));
            assert_eq!(
                (of(*own), named(name), number(*dtype)),
                (Some((*name, *dtype)), Some(*own), Some(*own))
            );
            assert!(name.eq_ignore_ascii_case(dtype.name()) || name.starts_with('I'), "{name}");
        }
        assert!(
            Dtype::all()
                .filter(|dtype| dtype.block().is_some())
                .all(|dtype| number(dtype).is_some())
        );
        assert_eq!((of(4), of(31), of(42), named("Q4_2")), (None, None, None, None));
    }
}
