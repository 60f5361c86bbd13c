//! One piece moved: from a file into a box in memory, or from the box into a file.
//!
//! Both are programs of parts between the layout of a local array and the row-major box. Runs that are long on both sides
//! go straight between file and box. Else ranges of the destination are made one by one, of what each of them needs.
//!
//! Reads with short gaps between them become one, if it has at most twice their bytes. Writes never cover a gap: its bytes are
//! of other tasks. What a range needs is halved until its buffer and the list of its parts fit.
//!
//! What is called follows from layouts alone: [`reads`] and [`writes`] say it, and a [`Room`] does it. So what a job costs
//! is known before data move.

use std::{fs::File, io, ops::Range};

use tilewright_core::TensorLayout;
use tilewright_relayout::{Chunk, Elements, Plan, Program, Read, Region};

use crate::{
    Error,
    array::Meet,
    bytes::{part, read_at, write_at},
};

/// Runs of this length go straight.
const LONG: u64 = 32 << 10;

/// The longest gap between reads that is read with them, in bytes: it costs less than a call.
const GAP: u64 = 1 << 10;

/// Why a move failed: what the engine says, or the system about the file.
pub(crate) enum Failed {
    Program(Error),
    File(io::Error),
}

impl From<tilewright_relayout::Error> for Failed {
    fn from(error: tilewright_relayout::Error) -> Failed {
        Failed::Program(error.into())
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::File(error)
    }
}

impl Failed {
    /// The error, where it is none of a file.
    pub(crate) fn about(self, tensor: &str) -> Error {
        match self {
            Failed::Program(error) => error.about(&format!("tensor {tensor:?}")),
            Failed::File(cause) => Error::new("io", format!("tensor {tensor:?}: {cause}")),
        }
    }
}

/// A step of a move between a box and the local array that lies in a file from byte 0 on.
pub(crate) enum Step<'a> {
    /// Bytes that go straight: where in the file, where in the box, how many.
    Run(u64, u64, u64),
    /// A range of the box, which reads in groups of at most this many bytes, one call each.
    Read(&'a Chunk, usize),
    /// A range of the file, the ranges in it that are written, and the program.
    Write(Range<u64>, Vec<Range<u64>>, &'a Plan),
}

impl Step<'_> {
    /// The calls of this step, and the bytes of all of them.
    pub(crate) fn calls(&self) -> (u64, u64) {
        match self {
            Step::Run(_, _, len) => (1, *len),
            Step::Read(chunk, most) => groups(chunk.reads(), *most)
                .fold((0, 0), |(calls, bytes), group| (calls + 1, bytes + group.span)),
            Step::Write(_, ranges, _) => {
                (ranges.len() as u64, ranges.iter().map(|range| range.end - range.start).sum())
            }
        }
    }
}

type Take<'t> = &'t mut dyn FnMut(Step<'_>) -> Result<(), Failed>;

/// The steps that read what a local array has of a box, with buffers of at most `most` bytes.
pub(crate) fn reads(
    from: &TensorLayout,
    bits: u32,
    (size, meet): (&TensorLayout, &Meet),
    most: usize,
    take: Take<'_>,
) -> Result<(), Failed> {
    let sides = ((from, &*meet.local), (size, &*meet.within));
    let program = Program::of_part(sides.0, sides.1, &meet.extents, Elements::same(bits))?;
    if all_runs(&program, &mut |src, dst, len| take(Step::Run(src, dst, len)))? {
        return Ok(());
    }
    let plan = Plan::of(program);
    let mut todo: Vec<Range<u64>> = plan.ranges(most as u64 / 2).collect();
    todo.reverse();
    while let Some(range) = todo.pop() {
        let chunk = plan.chunk(range.clone())?;
        let half = range.start + (range.end - range.start) / 2;
        let held = (chunk.buffer_len() as u64).saturating_add(chunk.overhead_bytes());
        if held > most as u64 && half > range.start {
            todo.extend([half..range.end, range.start..half]);
            continue;
        }
        take(Step::Read(&chunk, most))?;
    }
    Ok(())
}

/// The steps that write what a local array has of a box, with buffers of at most `most` bytes.
pub(crate) fn writes(
    to: &TensorLayout,
    bits: u32,
    (size, meet): (&TensorLayout, &Meet),
    most: usize,
    take: Take<'_>,
) -> Result<(), Failed> {
    let sides = ((size, &*meet.within), (to, &*meet.local));
    let program = Program::of_part(sides.0, sides.1, &meet.extents, Elements::same(bits))?;
    if all_runs(&program, &mut |src, dst, len| take(Step::Run(dst, src, len)))? {
        return Ok(());
    }
    let plan = Plan::of(program);
    let mut ranges = plan.program().destination_ranges().peekable();
    for window in plan.ranges(most as u64) {
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
            take(Step::Write(window, written, &plan))?;
        }
    }
    Ok(())
}

/// Neighbours among reads, which one call reads: where it begins, its bytes, and how many reads it serves.
struct Group {
    src: u64,
    span: u64,
    count: usize,
    /// The bytes without gaps.
    needed: u64,
}

impl Group {
    /// Takes a read that lies behind, where the call stays within bounds.
    fn joins(&mut self, read: &Read, most: usize) -> bool {
        let (len, needed) = (read.len as u64, self.needed + read.len as u64);
        let Some(from) = read.src.checked_sub(self.src).filter(|from| *from >= self.span) else {
            return false;
        };
        let is_near = from - self.span <= GAP;
        let joins = is_near && from + len <= 2 * needed && from + len <= most as u64;
        if joins {
            (self.span, self.needed, self.count) = (from + len, needed, self.count + 1);
        }
        joins
    }
}

/// Reads in groups of neighbours, in their order.
fn groups(reads: impl Iterator<Item = Read>, most: usize) -> impl Iterator<Item = Group> {
    let mut reads = reads.peekable();
    std::iter::from_fn(move || {
        let first = reads.next()?;
        let len = first.len as u64;
        let mut group = Group { src: first.src, span: len, count: 1, needed: len };
        while reads.next_if(|read| group.joins(read, most)).is_some() {}
        Some(group)
    })
}

/// A box in memory, and buffers that are used again.
pub(crate) struct Room {
    pub(crate) layout: TensorLayout,
    pub(crate) bytes: Vec<u8>,
    pub(crate) bits: u32,
    stage: Vec<u8>,
    buffer: Vec<u8>,
    /// The most bytes of either buffer.
    most: usize,
}

impl Room {
    /// An empty box, with buffers of at most this length.
    pub(crate) fn new(most: usize) -> Result<Room, Error> {
        let (stage, buffer, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Room { layout: TensorLayout::row_major(&[0])?, bytes, bits: 8, stage, buffer, most })
    }

    /// Makes the box that of a task, with what is in it unspecified.
    pub(crate) fn begin(&mut self, extents: &[u64], bits: u32, bytes: usize) -> Result<(), Error> {
        (self.layout, self.bits) = (TensorLayout::row_major(extents)?, bits);
        fit(&mut self.bytes, bytes);
        self.bytes.truncate(bytes);
        Ok(())
    }

    /// The bytes of memory that are held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.bytes.capacity() + self.stage.capacity() + self.buffer.capacity()
    }

    /// Reads what a local array, which begins at byte `at` of a file, has of the box.
    pub(crate) fn read(
        &mut self,
        file: &File,
        (from, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), Failed> {
        let size = self.layout.clone();
        reads(from, self.bits, (&size, meet), self.most, &mut |step| match step {
            Step::Run(src, dst, len) => {
                Ok(read_at(file, part(&mut self.bytes, dst, len)?, at + src)?)
            }
            Step::Read(chunk, most) => {
                fit(&mut self.buffer, chunk.buffer_len());
                let mut reads = chunk.reads();
                groups(chunk.reads(), most)
                    .try_for_each(|group| self.fetch(file, at, group, &mut reads))?;
                let range = chunk.range();
                let out = part(&mut self.bytes, range.start, range.end - range.start)?;
                Ok(chunk.run(&self.buffer, out, 1)?)
            }
            Step::Write(..) => Ok(()),
        })
    }

    /// Reads a group by one call, and takes its reads to their places.
    fn fetch(
        &mut self,
        file: &File,
        at: u64,
        group: Group,
        reads: &mut impl Iterator<Item = Read>,
    ) -> io::Result<()> {
        let reads = reads.take(group.count);
        if group.count > 1 {
            fit(&mut self.stage, group.span as usize);
            read_at(file, part(&mut self.stage, 0, group.span)?, at + group.src)?;
        }
        for read in reads {
            let out = part(&mut self.buffer, read.at as u64, read.len as u64)?;
            match group.count {
                1 => read_at(file, out, at + read.src)?,
                _ => {
                    let from = part(&mut self.stage, read.src - group.src, read.len as u64)?;
                    out.copy_from_slice(from);
                }
            }
        }
        Ok(())
    }

    /// Writes what a local array, which begins at byte `at` of a file, has of the box.
    pub(crate) fn write(
        &mut self,
        file: &File,
        (to, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), Failed> {
        let size = self.layout.clone();
        writes(to, self.bits, (&size, meet), self.most, &mut |step| match step {
            Step::Run(dst, src, len) => {
                Ok(write_at(file, part(&mut self.bytes, src, len)?, at + dst)?)
            }
            Step::Write(window, ranges, plan) => {
                let len = window.end - window.start;
                fit(&mut self.stage, len as usize);
                plan.run_range(window.clone(), &self.bytes, part(&mut self.stage, 0, len)?)?;
                ranges.iter().try_for_each(|range| {
                    let (from, len) = (range.start - window.start, range.end - range.start);
                    Ok(write_at(file, part(&mut self.stage, from, len)?, at + range.start)?)
                })
            }
            Step::Read(..) => Ok(()),
        })
    }
}

/// Makes a buffer at least this long, with no memory beyond it.
pub(crate) fn fit(buffer: &mut Vec<u8>, len: usize) {
    if buffer.len() < len {
        buffer.reserve_exact(len - buffer.len());
        buffer.resize(len, 0);
    }
}

/// The regions, where all their runs are long, or there is one run.
fn straight(program: &Program) -> Option<&[Region]> {
    let regions = program.regions()?;
    let alone = regions.len() == 1;
    let long = |region: &Region| {
        !region.packed && (region.run >= LONG || alone && region.loops.is_empty())
    };
    regions.iter().all(long).then_some(regions)
}

/// Takes the runs of all regions, as [`runs`], if they go straight. Returns whether they do.
fn all_runs(
    program: &Program,
    take: &mut dyn FnMut(u64, u64, u64) -> Result<(), Failed>,
) -> Result<bool, Failed> {
    let Some(regions) = straight(program) else { return Ok(false) };
    regions.iter().try_for_each(|region| runs(region, take))?;
    Ok(true)
}

/// The runs of a region: source, destination and length in bytes.
fn runs(
    region: &Region,
    take: &mut dyn FnMut(u64, u64, u64) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut at = vec![0u64; region.loops.len()];
    loop {
        let turns = at.iter().zip(&region.loops);
        let (src, dst) = turns.fold((region.src, region.dst), |(src, dst), (turn, step)| {
            (src + *turn as i64 * step.src, dst + *turn as i64 * step.dst)
        });
        take(src as u64, dst as u64, region.run)?;
        let mut inner = at.iter_mut().zip(&region.loops).rev();
        let advanced = inner.any(|(turn, step)| {
            *turn = if *turn + 1 < step.extent { *turn + 1 } else { 0 };
            *turn > 0
        });
        if !advanced {
            return Ok(());
        }
    }
}
