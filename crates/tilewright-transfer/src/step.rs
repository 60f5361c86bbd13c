//! The steps of a move between bytes at positions and a part in memory.
//!
//! Runs that are long on both sides are moved directly. Otherwise ranges of the destination are made one by one, from
//! the bytes that each of them needs. Reads with short gaps between them become one call, if it has at most one and a
//! half times their bytes. Writes never cover a gap, since its bytes may belong to another part.
//!
//! Calls follow from layouts alone: [`reads`] and [`writes`] list them, and a [`Mover`](crate::Mover) makes them.

use std::ops::Range;

use tilewright_relayout::{CALL, Chunk, Plan, Program, Read, Region};

use crate::{Failed, chunks};

/// Runs of at least this number of bytes are moved directly: a call costs an eighth of such a run.
pub const LONG: u64 = 8 * CALL;

/// A step of a move between a part in memory and bytes at positions.
#[derive(Debug)]
pub enum Step<'a> {
    /// Bytes that are moved directly.
    Run {
        /// The first byte in the file.
        file: u64,
        /// The first byte in memory.
        memory: u64,
        /// The number of bytes.
        len: u64,
    },
    /// A range in memory that is made from reads, which are grouped into calls of at most this number of bytes.
    Read(&'a Chunk, u64),
    /// A range in memory that is made of the whole source, which one call reads.
    Whole(Range<u64>, &'a Plan),
    /// A range of the file that is made in memory, and the ranges in it that are written, one call each.
    Write(Range<u64>, Vec<Range<u64>>, &'a Plan),
}

impl Step<'_> {
    /// Returns the number of calls of this step, and their total bytes.
    ///
    /// ```
    /// use tilewright_transfer::Step;
    /// assert_eq!(Step::Run { file: 0, memory: 9, len: 50 }.calls(), (1, 50));
    /// ```
    pub fn calls(&self) -> (u64, u64) {
        match self {
            Step::Run { len, .. } => (1, *len),
            Step::Read(chunk, most) => groups(chunk.reads(), *most)
                .fold((0, 0), |(calls, bytes), group| (calls + 1, bytes + group.span)),
            Step::Whole(_, plan) => (1, plan.src_bytes()),
            Step::Write(_, ranges, _) => {
                (ranges.len() as u64, ranges.iter().map(|range| range.end - range.start).sum())
            }
        }
    }
}

/// A function that takes a step.
pub(crate) type Take<'t, E> = &'t mut dyn FnMut(Step<'_>) -> Result<(), Failed<E>>;

/// Calls `take` with the steps that read the source of a plan into a part in memory, with buffers of at most `most`
/// bytes unless an element is longer.
///
/// # Errors
/// Those of the plan and of `take`.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// use tilewright_transfer::reads;
/// let (rows, columns) = (TensorLayout::row_major(&[30, 20]).unwrap(), TensorLayout::col_major(&[30, 20]).unwrap());
/// let plan = Plan::new(&rows, &columns, Elements::same(32), 0).unwrap();
/// let mut all = (0, 0);
/// reads::<()>(&plan, 1 << 20, &mut |step| {
///     let (calls, bytes) = step.calls();
///     all = (all.0 + calls, all.1 + bytes);
///     Ok(())
/// })
/// .unwrap();
/// assert_eq!(all, (1, 30 * 20 * 4));
/// ```
pub fn reads<E>(plan: &Plan, most: u64, take: Take<'_, E>) -> Result<(), Failed<E>> {
    if let Some(regions) = straight(plan.program()) {
        return all_runs(regions, &mut |src, dst, len| {
            take(Step::Run { file: src, memory: dst, len })
        });
    }
    // A part that fits is read at once, because ranges of the destination would cut its reads, as in a transpose.
    if let Some(whole) = plan.ranges(u64::MAX).next()
        && plan.list_bytes(whole.end - whole.start) == 0
    {
        let chunk = plan.chunk(whole)?;
        if held(&chunk) <= most {
            return take(Step::Read(&chunk, most));
        }
    }
    plan.ranges((most / 2).max(1)).try_for_each(|range| range_reads(plan, range, most, take))
}

/// Calls `take` with the steps that make a range of the destination of a plan.
pub(crate) fn range_reads<E>(
    plan: &Plan,
    range: Range<u64>,
    most: u64,
    take: Take<'_, E>,
) -> Result<(), Failed<E>> {
    let program = plan.program();
    if let Some(regions) = straight(program).filter(|_| program.padding() == 0) {
        return all_runs(regions, &mut |src, dst, len| {
            let (low, high) = (dst.max(range.start), (dst + len).min(range.end));
            let run = Step::Run {
                file: src + low.saturating_sub(dst),
                memory: low,
                len: high.max(low) - low,
            };
            if low < high { take(run) } else { Ok(()) }
        });
    }
    // A list of reads takes longer than the bytes themselves, if most of the source is needed.
    let len = range.end - range.start;
    if plan.list_bytes(len) > 0 && plan.src_bytes() <= most.min(len.saturating_mul(2)) {
        return take(Step::Whole(range, plan));
    }
    let unit = u64::from(plan.elements().dst_bits.div_ceil(8));
    chunks(plan, range, (unit, most), &held, &mut |chunk| take(Step::Read(chunk, most)))
}

/// Returns the bytes of a chunk's source and of its list of reads.
fn held(chunk: &Chunk) -> u64 {
    (chunk.buffer_len() as u64).saturating_add(chunk.overhead_bytes())
}

/// Calls `take` with the steps that write the destination of a plan from a part in memory, with buffers of at most
/// `most` bytes.
///
/// # Errors
/// Those of the plan and of `take`.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan, Program};
/// use tilewright_transfer::writes;
/// // Two columns of a matrix of three, in rows of a file: a call for each row, since gaps are not written.
/// let (part, whole) = (TensorLayout::row_major(&[4, 2]).unwrap(), TensorLayout::row_major(&[4, 3]).unwrap());
/// let program = Program::of_part((&part, &[0, 0]), (&whole, &[0, 1]), &[4, 2], Elements::same(32)).unwrap();
/// let mut calls = 0;
/// writes::<()>(&Plan::of(program), 1 << 20, &mut |step| Ok(calls += step.calls().0)).unwrap();
/// assert_eq!(calls, 4);
/// ```
pub fn writes<E>(plan: &Plan, most: u64, take: Take<'_, E>) -> Result<(), Failed<E>> {
    if let Some(regions) = straight(plan.program()) {
        return all_runs(regions, &mut |src, dst, len| {
            take(Step::Run { file: dst, memory: src, len })
        });
    }
    let mut ranges = plan.program().destination_ranges().peekable();
    for window in plan.ranges(most.max(1)) {
        let mut written = Vec::new();
        while let Some(range) = ranges.peek().filter(|range| range.start < window.end).cloned() {
            written.push(range.start.max(window.start)..range.end.min(window.end));
            if range.end > window.end {
                break;
            }
            ranges.next();
        }
        if let (Some(first), Some(last)) = (written.first(), written.last()) {
            let window = first.start..last.end;
            take(Step::Write(window, written, plan))?;
        }
    }
    Ok(())
}

/// Returns whether all runs of a program are long on both sides, or there is only one run, so that its steps are direct
/// calls.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Program};
/// let rows = TensorLayout::row_major(&[3, 5]).unwrap();
/// let columns = TensorLayout::col_major(&[3, 5]).unwrap();
/// let program = |to| Program::new(&rows, to, Elements::same(32), 0).unwrap();
/// assert!(tilewright_transfer::is_straight(&program(&rows)));
/// assert!(!tilewright_transfer::is_straight(&program(&columns)));
/// ```
pub fn is_straight(program: &Program) -> bool {
    straight(program).is_some()
}

/// Returns the regions, if all their runs are long, or there is only one run.
fn straight(program: &Program) -> Option<&[Region]> {
    let regions = program.regions()?;
    let elements = program.elements();
    let alone = regions.len() == 1;
    let long = |region: &Region| {
        !region.packed && (region.run >= LONG || alone && region.loops.is_empty())
    };
    (elements.src_bits == elements.dst_bits && regions.iter().all(long)).then_some(regions)
}

fn all_runs<E>(
    regions: &[Region],
    take: &mut dyn FnMut(u64, u64, u64) -> Result<(), Failed<E>>,
) -> Result<(), Failed<E>> {
    regions.iter().try_for_each(|region| {
        region.runs().try_for_each(|(src, dst)| take(src as u64, dst as u64, region.run))
    })
}

// Groups of adjacent reads that one call reads together.
//
// Law: a call reads at most one and a half times the bytes of its reads, which may contain gaps themselves. Every read
// is part of one call, in its order.

/// Reads that one call serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadGroup {
    /// The first byte in the source.
    pub(crate) src: u64,
    /// The bytes of the call, gaps included.
    pub(crate) span: u64,
    /// The number of reads.
    pub(crate) count: usize,
    /// The bytes without gaps.
    needed: u64,
}

impl ReadGroup {
    /// Adds a read that follows, if the call stays within `most` bytes and the gap costs less than a call.
    fn joins(&mut self, read: &Read, most: u64) -> bool {
        let (len, needed) = (read.len as u64, self.needed + read.len as u64);
        let Some(from) = read.src.checked_sub(self.src).filter(|from| *from >= self.span) else {
            return false;
        };
        let is_near = from - self.span <= CALL;
        let joins = is_near && from + len <= needed + needed / 2 && from + len <= most;
        if joins {
            (self.span, self.needed, self.count) = (from + len, needed, self.count + 1);
        }
        joins
    }
}

/// Returns reads in groups of adjacent reads, in their order. Each group has at most `most` bytes, or one read.
pub(crate) fn groups(
    reads: impl Iterator<Item = Read>,
    most: u64,
) -> impl Iterator<Item = ReadGroup> {
    let mut reads = reads.peekable();
    std::iter::from_fn(move || {
        let first = reads.next()?;
        let len = first.len as u64;
        let mut group = ReadGroup { src: first.src, span: len, count: 1, needed: len };
        while reads.next_if(|read| group.joins(read, most)).is_some() {}
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_hold_all_reads_and_few_other_bytes(
            gaps in prop::collection::vec((0u64..6000, 1usize..3000), 0..40), most in 1u64..20_000,
        ) {
            let (mut src, mut reads) = (0, Vec::new());
            for (gap, len) in gaps {
                src += gap;
                reads.push(Read { src, len, at: 0 });
                src += len as u64;
            }
            let mut rest = reads.iter();
            for group in groups(reads.iter().copied(), most) {
                let own: Vec<&Read> = rest.by_ref().take(group.count).collect();
                prop_assert_eq!(own[0].src, group.src);
                let last = own[own.len() - 1];
                prop_assert_eq!(last.src + last.len as u64, group.src + group.span);
                let needed: u64 = own.iter().map(|read| read.len as u64).sum();
                prop_assert!(2 * group.span <= 3 * needed);
                prop_assert!(group.count == 1 || group.span <= most);
                prop_assert!(own.windows(2).all(|two| two[1].src - two[0].src - two[0].len as u64 <= CALL));
            }
            prop_assert!(rest.next().is_none());
        }
    }
}
