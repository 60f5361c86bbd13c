//! Ranges of a destination, halved until the needs of each stay within a bound.
//!
//! Law: the chunks follow one another from the first byte of the range to its last, and none exceeds the bound except
//! chunks of a single unit.

use std::ops::Range;

use tilewright_relayout::{Chunk, Plan};

use crate::Failed;

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
