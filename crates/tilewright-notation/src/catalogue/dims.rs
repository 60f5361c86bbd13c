//! The logical dims of formats, as their makers name and order them.
//!
//! Of a product with a weight, K is the dim of the inputs and N that of the outputs. A fraction, `K/32`, is a dim of
//! groups of that many. The dims are those of the array, whatever the order of the storage is.

use super::{Format, Names};

/// A weight as PyTorch and Hugging Face store it, `[out, in]`.
pub(super) const NK: Names = &["N", "K"];
/// A weight as the second operand of a product, `[in, out]`.
pub(super) const KN: Names = &["K", "N"];
/// The first operand of a product.
pub(super) const MK: Names = &["M", "K"];
/// Scales or zero points, a row for each group of inputs.
pub(super) const GN: Names = &["G", "N"];
/// Dims of an array with one entry for each output and block of inputs.
pub(super) const NKB: Names = &["N", "K/block"];
/// The scales of blocks of 32 inputs.
pub(super) const NK32: Names = &["N", "K/32"];
pub(super) const K32N: Names = &["K/32", "N"];

/// Returns what a dim counts.
fn counts(dim: &str) -> &str {
    dim.split(['/', ' ']).next().unwrap_or(dim)
}

impl Format {
    /// Returns whether the array is the second operand of a product or belongs to one, with the inputs (or their groups) before
    /// the outputs: of a weight as PyTorch stores it, the transposed array. Formats that users add do not state it.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let is = |name: &str| catalogue().find(|format| format.name == name).unwrap().is_second_operand();
    /// assert!(is("MARLIN") && is("MARLIN_SCALE") && !is("MACHETE") && !is("COL32"));
    /// ```
    pub fn is_second_operand(&self) -> bool {
        matches!(self.dims, [.., before, last] if counts(last) == "N" && matches!(counts(before), "K" | "G"))
    }

    /// Which of the last dims counts the inputs and which the outputs, as of `[K, N]`; `None` where the format is of
    /// no weight.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let order = |name: &str| catalogue().find(|format| format.name == name).unwrap().in_and_out();
    /// assert_eq!(order("MARLIN"), Some("in, out"));
    /// assert_eq!(order("MACHETE"), Some("out, in"));
    /// assert_eq!(order("COL32"), None);
    /// ```
    pub fn in_and_out(&self) -> Option<&'static str> {
        match self.dims {
            _ if self.is_second_operand() => Some("in, out"),
            [.., before, last] if counts(before) == "N" && counts(last) == "K" => Some("out, in"),
            _ => None,
        }
    }
}
