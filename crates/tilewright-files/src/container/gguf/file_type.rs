//! `general.file_type`: the type of most of the tensors, numbered by llama.cpp's `enum llama_ftype`.
//!
//! Source: llama.cpp, `include/llama.h`, and the guess in `src/llama-model-loader.cpp`.

use tilewright_core::Dtype;

use crate::Tensor;

/// Number, name, and the element type of most tensors. If a type has several numbers, the first is used.
const FILE_TYPES: &[(u64, &str, Dtype)] = &[
    (0, "ALL_F32", Dtype::F32),
    (1, "MOSTLY_F16", Dtype::F16),
    (2, "MOSTLY_Q4_0", Dtype::Q4_0),
    (3, "MOSTLY_Q4_1", Dtype::Q4_1),
    (7, "MOSTLY_Q8_0", Dtype::Q8_0),
    (8, "MOSTLY_Q5_0", Dtype::Q5_0),
    (9, "MOSTLY_Q5_1", Dtype::Q5_1),
    (10, "MOSTLY_Q2_K", Dtype::Q2K),
    (12, "MOSTLY_Q3_K_M", Dtype::Q3K),
    (11, "MOSTLY_Q3_K_S", Dtype::Q3K),
    (13, "MOSTLY_Q3_K_L", Dtype::Q3K),
    (15, "MOSTLY_Q4_K_M", Dtype::Q4K),
    (14, "MOSTLY_Q4_K_S", Dtype::Q4K),
    (17, "MOSTLY_Q5_K_M", Dtype::Q5K),
    (16, "MOSTLY_Q5_K_S", Dtype::Q5K),
    (18, "MOSTLY_Q6_K", Dtype::Q6K),
    (19, "MOSTLY_IQ2_XXS", Dtype::Iq2Xxs),
    (20, "MOSTLY_IQ2_XS", Dtype::Iq2Xs),
    (21, "MOSTLY_Q2_K_S", Dtype::Q2K),
    (23, "MOSTLY_IQ3_XXS", Dtype::Iq3Xxs),
    (22, "MOSTLY_IQ3_XS", Dtype::Iq3Xxs),
    (24, "MOSTLY_IQ1_S", Dtype::Iq1S),
    (25, "MOSTLY_IQ4_NL", Dtype::Iq4Nl),
    (26, "MOSTLY_IQ3_S", Dtype::Iq3S),
    (22, "MOSTLY_IQ3_XS", Dtype::Iq3S),
    (27, "MOSTLY_IQ3_M", Dtype::Iq3S),
    (28, "MOSTLY_IQ2_S", Dtype::Iq2S),
    (28, "MOSTLY_IQ2_S", Dtype::Iq2Xs),
    (29, "MOSTLY_IQ2_M", Dtype::Iq2S),
    (30, "MOSTLY_IQ4_XS", Dtype::Iq4Xs),
    (31, "MOSTLY_IQ1_M", Dtype::Iq1M),
    (32, "MOSTLY_BF16", Dtype::Bf16),
    (36, "MOSTLY_TQ1_0", Dtype::Tq1_0),
    (37, "MOSTLY_TQ2_0", Dtype::Tq2_0),
    (38, "MOSTLY_MXFP4_MOE", Dtype::Mxfp4),
    (39, "MOSTLY_NVFP4", Dtype::Nvfp4),
    (40, "MOSTLY_Q1_0", Dtype::Q1_0),
];

/// Returns the file type that the tensors have, as its number and a message, if the metadata have another one.
pub(super) fn corrected(said: u64, tensors: &[Tensor]) -> Option<(u64, String)> {
    let most = most(tensors)?;
    let fits =
        FILE_TYPES.iter().any(|(number, _, dtype)| *number == said && fits(*dtype, most, tensors));
    let (number, name, _) =
        FILE_TYPES.iter().find(|(.., dtype)| *dtype == most).filter(|_| !fits)?;
    let was = FILE_TYPES.iter().find(|(number, ..)| *number == said);
    let was = was.map_or(String::new(), |(_, name, _)| format!(", {name}"));
    let text = format!(
        "`general.file_type` is {number}, {name}, by the tensors' types; the metadata say {said}{was}"
    );
    Some((*number, text))
}

/// Returns whether the file type of this element type is plausible. A file with a quantised type has some tensors in other types,
/// and a small model has most of them in other types. A type that is not quantised is the type of most tensors.
fn fits(dtype: Dtype, most: Dtype, tensors: &[Tensor]) -> bool {
    let some = || matrices(tensors).any(|tensor| tensor.dtype() == dtype);
    dtype == most || dtype.block().is_some() && most.block().is_some() && some()
}

/// Returns the element type of most matrices; if the counts are equal, the one with more elements.
fn most(tensors: &[Tensor]) -> Option<Dtype> {
    let mut counts: Vec<(Dtype, (u64, u64))> = Vec::new();
    for tensor in matrices(tensors) {
        let elements = tensor.dims().iter().copied().fold(1, u64::saturating_mul);
        match counts.iter_mut().find(|(dtype, _)| *dtype == tensor.dtype()) {
            Some((_, (count, sum))) => (*count, *sum) = (*count + 1, sum.saturating_add(elements)),
            None => counts.push((tensor.dtype(), (1, elements))),
        }
    }
    counts.into_iter().max_by_key(|(_, counts)| *counts).map(|(dtype, _)| dtype)
}

/// Iterates over the tensors of two dims or more; norms and biases are F32 in every file.
fn matrices(tensors: &[Tensor]) -> impl Iterator<Item = &Tensor> {
    tensors.iter().filter(|tensor| tensor.dims().len() > 1)
}
