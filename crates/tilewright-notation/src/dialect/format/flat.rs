//! Formats of the flattened array, whose innermost digit goes on from one row to the next.
//!
//! Law: where every row ends with the digit, the pattern of the last dim is that of the flattened array.

use crate::{Error, Format};

/// Refuses an array one of whose rows ends within the innermost digit, of `step` elements.
pub(super) fn check(format: &Format, step: u64, dims: &[u64]) -> Result<(), Error> {
    let Some((last, rows)) = dims.split_last().filter(|_| format.flat) else { return Ok(()) };
    if last.is_multiple_of(step.max(1)) || rows.iter().all(|rows| *rows == 1) {
        return Ok(());
    }
    let name = format.name;
    let message = format!(
        "{name} counts the elements of the flattened array, and a last dim of {last} splits {step} neighbours over two rows; use a multiple of {step}, or an array of one row"
    );
    Err(Error::mismatch(message))
}
