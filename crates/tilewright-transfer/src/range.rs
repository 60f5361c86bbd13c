//! Ranges of a destination: halved until the needs of each stay within a bound, and read in whole units.
//!
//! Laws: the chunks follow one another from the first byte of the range to its last, and none exceeds the bound except
//! chunks of a single unit. Reads in units have the bytes at their positions, and cut no unit.

use std::ops::Range;

use tilewright_relayout::{Chunk, Plan};

use crate::Failed;

/// Reads bytes from a position.
pub(crate) type ReadAt<'r, E> = &'r mut dyn FnMut(&mut [u8], u64) -> Result<(), E>;

/// Calls `take` with chunks that cover a range of the destination of a plan, in its order. A range is halved while
/// `held` returns more than `most` bytes for its chunk; units of `unit` bytes are not cut.
///
/// # Errors
/// Those of the plan and of `take`.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let layout = TensorLayout::row_major(&[100]).unwrap();
/// let plan = Plan::new(&layout, &layout, Elements::same(16), 0).unwrap();
/// let mut ranges = Vec::new();
/// tilewright_transfer::chunks::<()>(&plan, 0..200, (2, 60), &|chunk| chunk.buffer_len() as u64, &mut |chunk| {
///     Ok(ranges.push(chunk.range()))
/// })
/// .unwrap();
/// assert_eq!(ranges, [0..50, 50..100, 100..150, 150..200]);
/// ```
pub fn chunks<E>(
    plan: &Plan,
    range: Range<u64>,
    (unit, most): (u64, u64),
    held: &dyn Fn(&Chunk) -> u64,
    take: &mut dyn FnMut(&Chunk) -> Result<(), Failed<E>>,
) -> Result<(), Failed<E>> {
    let unit = unit.max(1);
    let mut todo = vec![range];
    while let Some(range) = todo.pop() {
        let chunk = plan.chunk(range.clone())?;
        let len = range.end - range.start;
        if len > unit && held(&chunk) > most {
            let middle = range.start + (len / 2).next_multiple_of(unit);
            todo.extend([middle..range.end, range.start..middle]);
            continue;
        }
        take(&chunk)?;
    }
    Ok(())
}

/// Fills `out` from byte `at` on by reads of whole units of `unit` bytes, such as elements. A unit that the range cuts is read
/// beside it.
///
/// # Errors
/// Those of `read`.
///
/// ```
/// // The reader gives each unit of four bytes its number.
/// let mut read = |out: &mut [u8], at: u64| {
///     assert!(at % 4 == 0 && out.len() % 4 == 0);
///     out.iter_mut().zip(at..).for_each(|(byte, at)| *byte = (at / 4) as u8);
///     Ok::<(), ()>(())
/// };
/// let mut out = [9; 8];
/// tilewright_transfer::in_units(&mut out, 3, 4, &mut read).unwrap();
/// assert_eq!(out, [0, 1, 1, 1, 1, 2, 2, 2]);
/// ```
pub fn in_units<E>(out: &mut [u8], at: u64, unit: u64, read: ReadAt<'_, E>) -> Result<(), E> {
    let (unit, end) = (unit.max(1), at.saturating_add(out.len() as u64));
    let first = at.checked_next_multiple_of(unit).unwrap_or(end).min(end);
    let last = (end / unit * unit).max(first);
    for part in [at..first, first..last, last..end] {
        let own = (part.start - at) as usize..(part.end - at) as usize;
        let Some(own) = out.get_mut(own).filter(|own| !own.is_empty()) else { continue };
        let begin = part.start / unit * unit;
        if begin == part.start && (own.len() as u64).is_multiple_of(unit) {
            read(own, begin)?;
            continue;
        }
        let mut whole = vec![0; unit as usize];
        read(&mut whole, begin)?;
        let from = (part.start - begin) as usize;
        own.copy_from_slice(whole.get(from..from + own.len()).unwrap_or_default());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::in_units;

    /// For all small ranges and units, reads are of whole units, the bytes are those at their positions, and few are read beside.
    #[test]
    fn ranges_are_read_in_whole_units() {
        for (start, end, unit) in
            (0..9u64).flat_map(|a| (a..20).flat_map(move |b| (1..9).map(move |unit| (a, b, unit))))
        {
            let (mut out, mut all) = (vec![0; (end - start) as usize], 0);
            let mut read = |bytes: &mut [u8], at: u64| {
                all += bytes.len() as u64;
                assert!(at.is_multiple_of(unit) && (bytes.len() as u64).is_multiple_of(unit));
                bytes.iter_mut().zip(at..).for_each(|(byte, at)| *byte = at as u8);
                Ok::<(), ()>(())
            };
            in_units(&mut out, start, unit, &mut read).unwrap();
            let expected: Vec<u8> = (start..end).map(|at| at as u8).collect();
            assert!(out == expected && all < end - start + 2 * unit, "{start} {end} {unit}");
        }
    }
}
