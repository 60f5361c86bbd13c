//! The part of the bound on memory that is left for buffers, after the names and layouts of the tensors.

use tilewright_core::{Counted, Remedy};
pub(crate) use tilewright_transfer::{Budget, Buffer, Held, zeros};

use crate::Error;

/// The least bound that is taken, in bytes.
pub(crate) const LEAST: u64 = 4096;

/// What is held of a tensor beside buffers, in bytes: its name, its layout, what happens to it and the header of a
/// result. Measured; a long name takes more, a layout that others have less.
const OF_TENSOR: u64 = 3 << 10;

/// What is held of tensors beside buffers and not counted, in bytes.
const UNCOUNTED: u64 = 64 << 20;

/// What a bound leaves for buffers beside what is held of this number of tensors, `held` tensors of input and result
/// together; an error, with what is needed, where that is too little.
pub(crate) fn beside(limit: u64, tensors: usize, held: usize) -> Result<u64, Error> {
    let held = (held as u64).saturating_mul(OF_TENSOR).saturating_sub(UNCOUNTED);
    limit.checked_sub(held).filter(|left| *left >= LEAST).ok_or_else(|| {
        let least = Some(held.saturating_add(LEAST));
        let tensors = Counted(tensors as u64, "tensor");
        let said = format!(
            "{tensors} need more than {limit} bytes of memory: their names and layouts take about {held} beside buffers"
        );
        Error::usage(said).with(&[Remedy::MoreMemory { least }])
    })
}
