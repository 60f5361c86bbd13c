//! Divides the bound on memory: the names and layouts of the tensors are subtracted, the rest is for buffers. Preparation of
//! conversions, and verification use it.

use tilewright_core::{Counted, Remedy};
pub(crate) use tilewright_transfer::{Budget, Buffer, Reservation, zeros};

use crate::{Error, error};

/// The least bound that is accepted, in bytes.
pub(crate) const LEAST: u64 = 4096;

/// The number of bytes held for a tensor besides buffers: its name, its layout, its job and the header of a result. Measured; a
/// long name takes more, a layout shared with other tensors less.
const OF_TENSOR: u64 = 3 << 10;

/// The number of bytes that tensors may hold besides buffers without being counted.
const UNCOUNTED: u64 = 64 << 20;

/// Returns the bytes that a bound leaves for buffers. `tensors` is the number of tensors that a message names, `held` that of all
/// tensors that are held: those of the input and of the result. Returns an error that states the needed bound if too little is
/// left.
pub(crate) fn beside(limit: u64, tensors: usize, held: usize) -> Result<u64, Error> {
    let held = (held as u64).saturating_mul(OF_TENSOR).saturating_sub(UNCOUNTED);
    limit.checked_sub(held).filter(|left| *left >= LEAST).ok_or_else(|| {
        let least = Some(held.saturating_add(LEAST));
        let tensors = Counted(tensors as u64, "tensor");
        let said = format!(
            "{tensors} need more than {limit} bytes of memory: their names and layouts take about {held} beside buffers"
        );
        error::usage(said).with(&[Remedy::MoreMemory { least }])
    })
}
