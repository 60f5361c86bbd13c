//! The buffers of one worker, in which the steps of its moves run.

use std::ops::Range;

use tilewright_relayout::{Plan, Read};

use crate::{
    Budget, Buffer, Failed, Step,
    range::ReadAt,
    reads,
    step::{ReadGroup, groups, range_reads},
    writes,
};

/// Returns a range of a buffer.
///
/// # Errors
/// [`Failed::Outside`] if the buffer ends before it.
///
/// ```
/// use tilewright_transfer::part;
/// assert_eq!(part::<()>(&mut [1, 2, 3], 1, 2).unwrap(), [2, 3]);
/// assert!(part::<()>(&mut [1, 2, 3], 2, 2).is_err());
/// ```
pub fn part<E>(bytes: &mut [u8], at: u64, len: u64) -> Result<&mut [u8], Failed<E>> {
    let end = at.saturating_add(len);
    let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(at, end)| bytes.get_mut(at..end));
    found.ok_or(Failed::Outside { at, len })
}

/// Writes bytes to a position.
type WriteAt<'w, E> = &'w mut dyn FnMut(&[u8], u64) -> Result<(), E>;

/// Two buffers that are reused from move to move.
///
/// ```
/// use tilewright_transfer::{Budget, Mover};
/// let (budget, most) = (Budget::new(1 << 20), 1 << 16);
/// assert!(format!("{:?}", Mover::new(&budget, most)).contains("65536"));
/// ```
#[must_use]
#[derive(Debug)]
pub struct Mover {
    budget: Budget,
    /// The maximal bytes of either buffer.
    most: u64,
    threads: usize,
    /// The source bytes of a range, packed.
    needed: Option<Buffer>,
    /// The bytes of one call.
    joined: Option<Buffer>,
}

impl Mover {
    /// Returns empty buffers, each of at most `most` bytes unless an element is longer.
    ///
    /// ```
    /// let mover = tilewright_transfer::Mover::new(&tilewright_transfer::Budget::new(100), 50);
    /// ```
    pub fn new(budget: &Budget, most: u64) -> Mover {
        Mover { budget: budget.clone(), most, threads: 1, needed: None, joined: None }
    }

    /// Sets the number of threads that move elements; 0 means one per core.
    ///
    /// ```
    /// let budget = tilewright_transfer::Budget::new(100);
    /// let mover = tilewright_transfer::Mover::new(&budget, 50).threads(2);
    /// ```
    pub fn threads(self, threads: usize) -> Mover {
        Mover { threads, ..self }
    }

    /// Moves the source of a plan, which `read` reads, into `out`.
    ///
    /// # Errors
    /// Those of the plan, of memory, and of `read`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// use tilewright_transfer::{Budget, Mover};
    /// let layout = TensorLayout::row_major(&[3]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// let (mut mover, mut out) = (Mover::new(&Budget::new(100), 50), [0; 3]);
    /// let mut read = |bytes: &mut [u8], at: u64| Ok::<(), ()>(bytes.fill(7 + at as u8));
    /// mover.read(&plan, &mut out, &mut read).unwrap();
    /// assert_eq!(out, [7, 7, 7]);
    /// ```
    pub fn read<E>(
        &mut self,
        plan: &Plan,
        out: &mut [u8],
        read: ReadAt<'_, E>,
    ) -> Result<(), Failed<E>> {
        reads(plan, self.most, &mut |step| self.step(step, (&mut *out, 0), &mut *read))
    }

    /// Writes a range of the destination of a plan to `out`, from the bytes of the source that `read` reads.
    ///
    /// # Errors
    /// Those of the plan, of memory, and of `read`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// use tilewright_transfer::{Budget, Mover};
    /// let (rows, columns) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
    /// let plan = Plan::new(&rows, &columns, Elements::same(8), 0).unwrap();
    /// let mut read = |bytes: &mut [u8], at: u64| {
    ///     bytes.copy_from_slice(&[1, 2, 3, 4, 5, 6][at as usize..][..bytes.len()]);
    ///     Ok::<(), ()>(())
    /// };
    /// // The second column and the third, of the three in 1 4 2 5 3 6.
    /// let mut out = [0; 4];
    /// Mover::new(&Budget::new(100), 50).read_range(&plan, 2..6, &mut out, &mut read).unwrap();
    /// assert_eq!(out, [2, 5, 3, 6]);
    /// ```
    pub fn read_range<E>(
        &mut self,
        plan: &Plan,
        range: Range<u64>,
        out: &mut [u8],
        read: ReadAt<'_, E>,
    ) -> Result<(), Failed<E>> {
        let start = range.start;
        range_reads(plan, range, self.most, &mut |step| {
            self.step(step, (&mut *out, start), &mut *read)
        })
    }

    /// Runs one reading step; `out` begins at byte `start` of the destination.
    fn step<E>(
        &mut self,
        step: Step<'_>,
        (out, start): (&mut [u8], u64),
        read: ReadAt<'_, E>,
    ) -> Result<(), Failed<E>> {
        let Mover { budget, most, threads, needed, joined } = self;
        match step {
            Step::Run { file, memory, len } => {
                read(part(out, memory - start, len)?, file).map_err(Failed::Place)
            }
            Step::Read(chunk, longest) => {
                let buffer = budget.grown(needed, chunk.buffer_len() as u64, *most)?;
                let mut each = chunk.reads();
                for group in groups(chunk.reads(), longest) {
                    let call = match group.count {
                        1 => None,
                        _ => Some(budget.grown(joined, group.span, *most)?),
                    };
                    fetch_group(group, &mut each, (call, buffer), read)?;
                }
                let range = chunk.range();
                let out = part(out, range.start - start, range.end - range.start)?;
                Ok(chunk.run(buffer, out, *threads)?)
            }
            Step::Whole(range, plan) => {
                let source = budget.grown(needed, plan.src_bytes(), *most)?;
                read(part(source, 0, plan.src_bytes())?, 0).map_err(Failed::Place)?;
                let out = part(out, range.start - start, range.end - range.start)?;
                Ok(plan.run_range(range, source, out)?)
            }
            Step::Write(..) => Ok(()),
        }
    }

    /// Moves `from` to the destination of a plan, which `write` writes.
    ///
    /// # Errors
    /// Those of the plan, of memory, and of `write`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// use tilewright_transfer::{Budget, Mover};
    /// let layout = TensorLayout::row_major(&[3]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// let (mut mover, mut written) = (Mover::new(&Budget::new(100), 50), vec![]);
    /// let mut write = |bytes: &[u8], at: u64| Ok::<(), ()>(written.push((at, bytes.to_vec())));
    /// mover.write(&plan, &[1, 2, 3], &mut write).unwrap();
    /// assert_eq!(written, [(0, vec![1, 2, 3])]);
    /// ```
    pub fn write<E>(
        &mut self,
        plan: &Plan,
        from: &[u8],
        write: WriteAt<'_, E>,
    ) -> Result<(), Failed<E>> {
        let Mover { budget, most, joined, .. } = self;
        writes(plan, *most, &mut |step| match step {
            Step::Run { file, memory, len } => {
                write(given(from, memory, len)?, file).map_err(Failed::Place)
            }
            Step::Write(window, ranges, plan) => {
                let len = window.end - window.start;
                let call = budget.grown(joined, len, *most)?;
                plan.run_range(window.clone(), from, part(call, 0, len)?)?;
                ranges.iter().try_for_each(|range| {
                    let bytes = given(call, range.start - window.start, range.end - range.start)?;
                    write(bytes, range.start).map_err(Failed::Place)
                })
            }
            Step::Read(..) | Step::Whole(..) => Ok(()),
        })
    }
}

/// Reads bytes to their positions in `into`, one call for each.
///
/// # Errors
/// [`Failed::Outside`] if `into` ends before a position, and those of `read`.
///
/// ```
/// use tilewright_relayout::Read;
/// let reads = [Read { src: 5, len: 2, at: 1 }, Read { src: 9, len: 1, at: 0 }];
/// let mut into = [0; 3];
/// let mut read = |bytes: &mut [u8], at: u64| Ok::<(), ()>(bytes.fill(at as u8));
/// tilewright_transfer::fetch(reads.into_iter(), &mut into, &mut read).unwrap();
/// assert_eq!(into, [9, 5, 5]);
/// ```
pub fn fetch<E>(
    reads: impl Iterator<Item = Read>,
    into: &mut [u8],
    read: ReadAt<'_, E>,
) -> Result<(), Failed<E>> {
    for Read { src, len, at } in reads {
        read(part(into, at as u64, len as u64)?, src).map_err(Failed::Place)?;
    }
    Ok(())
}

/// Reads a group by one call, and copies its reads to their positions.
fn fetch_group<E>(
    group: ReadGroup,
    reads: &mut impl Iterator<Item = Read>,
    (call, buffer): (Option<&mut Buffer>, &mut Buffer),
    read: ReadAt<'_, E>,
) -> Result<(), Failed<E>> {
    let own = reads.take(group.count);
    let Some(call) = call else { return fetch(own, buffer, read) };
    read(part(call, 0, group.span)?, group.src).map_err(Failed::Place)?;
    for Read { src, len, at } in own {
        let from = given(call, src - group.src, len as u64)?;
        part(buffer, at as u64, len as u64)?.copy_from_slice(from);
    }
    Ok(())
}

/// Returns a range of bytes.
fn given<E>(bytes: &[u8], at: u64, len: u64) -> Result<&[u8], Failed<E>> {
    let end = at.saturating_add(len);
    let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(at, end)| bytes.get(at..end));
    found.ok_or(Failed::Outside { at, len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Fractal, TensorLayout};
    use tilewright_relayout::{Elements, Program};

    fn layouts() -> Vec<TensorLayout> {
        let zn = Fractal::ZN.pattern(4, 8).layout(&[37, 50]).unwrap();
        let tall = tilewright_core::Layout::parse("S<2,3,3> o (37,50):(64,1)").unwrap();
        let mut all = vec![TensorLayout::row_major(&[37, 50]).unwrap(), zn];
        all.push(TensorLayout::col_major(&[37, 50]).unwrap());
        all.push(TensorLayout::of(&tall));
        all
    }

    /// Boxes that are read from one layout and written to another equal the result of a plan, for any bound on buffers.
    #[test]
    fn boxes_pass_through_memory_unchanged() {
        let layouts = layouts();
        let elements = Elements::same(16);
        for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (from, to))) {
            let plan = Plan::new(from, to, elements, 0).unwrap();
            let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (i * 7 + i / 251) as u8).collect();
            let mut expected = vec![0; plan.dst_bytes() as usize];
            plan.run(&source, &mut expected, 1).unwrap();
            for most in [16, 100, 1000, 1 << 20] {
                let budget = Budget::new(1 << 22);
                let mut mover = Mover::new(&budget, most);
                let mut result = vec![0; expected.len()];
                for (start, extents) in
                    [([0, 0], [20, 50]), ([20, 0], [17, 9]), ([20, 9], [17, 41])]
                {
                    let part = TensorLayout::row_major(&extents).unwrap();
                    let mut bytes = vec![0; (extents[0] * extents[1] * 2) as usize];
                    let sides = ((from, &start[..]), (&part, &[0, 0][..]));
                    let program = Program::of_part(sides.0, sides.1, &extents, elements).unwrap();
                    let mut read = |bytes: &mut [u8], at: u64| {
                        bytes.copy_from_slice(&source[at as usize..][..bytes.len()]);
                        Ok::<(), ()>(())
                    };
                    mover.read(&Plan::of(program), &mut bytes, &mut read).unwrap();
                    let sides = ((&part, &[0, 0][..]), (to, &start[..]));
                    let program = Program::of_part(sides.0, sides.1, &extents, elements).unwrap();
                    let mut write = |bytes: &[u8], at: u64| {
                        result[at as usize..][..bytes.len()].copy_from_slice(bytes);
                        Ok::<(), ()>(())
                    };
                    mover.write(&Plan::of(program), &bytes, &mut write).unwrap();
                }
                assert_eq!(result, expected, "{from:?} {to:?} {most}");
                assert!(budget.peak() <= 2 * most, "{} of {most}", budget.peak());
            }
        }
    }
}
