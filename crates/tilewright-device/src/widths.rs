//! Widths: elements narrower than a byte, and conversions between elements of different widths.
//!
//! A gather whose elements are read from words of 32 bits, widened or truncated in registers, and assembled to words of
//! the destination, each of which one thread writes.
//!
//! Law: a region is handled only if its runs of the destination are whole bytes, so no other kernel writes any byte of
//! it. The bits after the last element of an array are written as 0.

use crate::{
    Alignment, Error,
    gather::{self, GatherJob, Storage},
    kernel::Kernel,
};
use tilewright_relayout::{Loop, Program, Region};

/// Makes the kernel of a region that counts elements; `None` if these share bytes with other kernels' elements, or are
/// wider than a word.
pub(crate) fn take(
    region: &Region,
    program: &Program,
    pointers: Alignment,
) -> Option<Result<Vec<Kernel>, Error>> {
    gather::any(&job(region, program, pointers)?)
}

/// Returns the job of a region that counts elements.
fn job(region: &Region, program: &Program, pointers: Alignment) -> Option<GatherJob> {
    let elements = program.elements();
    let side = |bits: u32, first: i64, bytes: u64, phase: u8| {
        let bits = u64::from(bits);
        let mut side = Storage { bits, first: 0, bytes, phase: phase.into() };
        side.first = first.checked_mul(side.width() as i64)?;
        let aligned = bits <= 8 || (bits <= 32 && side.phase.is_multiple_of(bits / 8));
        (bits.is_power_of_two() && aligned).then_some(side)
    };
    let src = side(elements.src_bits, region.src, program.src_bytes(), pointers.src())?;
    let dst = side(elements.dst_bits, region.dst, program.dst_bytes(), pointers.dst())?;
    let run = Loop { extent: region.run, src: 1, dst: 1 };
    let mut loops = Vec::new();
    for level in region.loops.iter().chain([&run]).filter(|level| level.extent > 1) {
        let (from, to) = (src.width() as i64, dst.width() as i64);
        let (from, to) = (level.src.checked_mul(from)?, level.dst.checked_mul(to)?);
        loops.push(Loop { extent: level.extent, src: from, dst: to });
    }
    let end = (region.dst as u64).checked_add(loops.iter().map(|level| level.extent).product())?;
    let open = !program.is_part() && end == program.dst().capacity();
    Some(GatherJob { src, dst, extend: elements.extend, loops, open })
}
