//! One piece moved: from a file into a box in memory, or from the box into a file.
//!
//! Both are programs of parts between the layout of a local array and the row-major box. Runs that are long on both sides
//! go straight between file and box. Else ranges of the destination are made one by one, of what each of them needs.
//!
//! Reads that lie near each other become one, if it has at most twice their bytes, or eight times where they are shorter
//! than 4 KiB in the mean. Writes never cover a gap: its bytes are of other tasks.

use std::{fs::File, io, ops::Range};

use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Plan, Program, Read, Region};

use crate::{Error, array::Meet};

/// Runs of this length go straight.
const LONG: u64 = 32 << 10;

/// Reads of this mean length may be joined over larger gaps.
const SHORT: u64 = 4 << 10;

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

impl Room {
    /// An empty box, with buffers of at most this length.
    pub(crate) fn new(most: usize) -> Result<Room, Error> {
        let (stage, buffer, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Room { layout: TensorLayout::row_major(&[0])?, bytes, bits: 8, stage, buffer, most })
    }

    /// Reads what a piece of a file has of the box.
    pub(crate) fn read(
        &mut self,
        file: &File,
        (from, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), Failed> {
        let sides = ((from, &*meet.local), (&self.layout, &*meet.within));
        let program = Program::of_part(sides.0, sides.1, &meet.extents, Elements::same(self.bits))?;
        if let Some(regions) = straight(&program) {
            for region in regions {
                runs(region, &mut |src, dst, len| {
                    let out = part(&mut self.bytes, dst, len)?;
                    read_at(file, out, at + src)
                })?;
            }
            return Ok(());
        }
        let plan = Plan::of(program);
        let mut todo: Vec<Range<u64>> = plan.ranges(self.most as u64 / 2).collect();
        todo.reverse();
        while let Some(range) = todo.pop() {
            let chunk = plan.chunk(range.clone())?;
            let half = range.start + (range.end - range.start) / 2;
            if chunk.buffer_len() > self.most && half > range.start {
                todo.extend([half..range.end, range.start..half]);
                continue;
            }
            self.buffer.resize(chunk.buffer_len().max(self.buffer.len()), 0);
            self.fill(file, at, chunk.reads())?;
            let out = part(&mut self.bytes, range.start, range.end - range.start)?;
            chunk.run(&self.buffer, out, 1)?;
        }
        Ok(())
    }

    /// Fills the buffer, with neighbouring reads joined.
    fn fill(&mut self, file: &File, at: u64, reads: impl Iterator<Item = Read>) -> io::Result<()> {
        let mut group: Vec<Read> = Vec::new();
        let mut needed = 0;
        for read in reads {
            let first = group.first().map_or(read.src, |first| first.src);
            let end = group.last().map_or(read.src, |last| last.src + last.len as u64);
            let all = needed + read.len as u64;
            let joins = read.src >= end && {
                let span = read.src + read.len as u64 - first;
                let is_short = all / (group.len() as u64 + 1) < SHORT;
                let near = span <= all * if is_short { 8 } else { 2 };
                near && span <= self.most as u64
            };
            if !joins && !group.is_empty() {
                self.fetch(file, at, &group)?;
                group.clear();
                needed = 0;
            }
            needed += read.len as u64;
            group.push(read);
        }
        self.fetch(file, at, &group)
    }

    /// Reads a group by one read.
    fn fetch(&mut self, file: &File, at: u64, group: &[Read]) -> io::Result<()> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(()) };
        if group.len() == 1 {
            let out = part(&mut self.buffer, first.at as u64, first.len as u64)?;
            return read_at(file, out, at + first.src);
        }
        let span = last.src + last.len as u64 - first.src;
        self.stage.resize((span as usize).max(self.stage.len()), 0);
        read_at(file, part(&mut self.stage, 0, span)?, at + first.src)?;
        for read in group {
            let from = part(&mut self.stage, read.src - first.src, read.len as u64)?;
            part(&mut self.buffer, read.at as u64, read.len as u64)?.copy_from_slice(from);
        }
        Ok(())
    }

    /// Writes what a piece of a file has of the box.
    pub(crate) fn write(
        &mut self,
        file: &File,
        (to, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), Failed> {
        let sides = ((&self.layout, &*meet.within), (to, &*meet.local));
        let program = Program::of_part(sides.0, sides.1, &meet.extents, Elements::same(self.bits))?;
        if let Some(regions) = straight(&program) {
            for region in regions {
                runs(region, &mut |src, dst, len| {
                    write_at(file, part(&mut self.bytes, src, len)?, at + dst)
                })?;
            }
            return Ok(());
        }
        let plan = Plan::of(program);
        let mut ranges = plan.program().destination_ranges().peekable();
        for window in plan.ranges(self.most as u64) {
            let len = window.end - window.start;
            self.stage.resize((len as usize).max(self.stage.len()), 0);
            let out = part(&mut self.stage, 0, len)?;
            plan.run_range(window.clone(), &self.bytes, out)?;
            while let Some(range) = ranges.peek().cloned().filter(|range| range.start < window.end)
            {
                let (from, end) = (range.start.max(window.start), range.end.min(window.end));
                let bytes = part(&mut self.stage, from - window.start, end - from)?;
                write_at(file, bytes, at + from)?;
                if range.end > window.end {
                    break;
                }
                ranges.next();
            }
        }
        Ok(())
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

/// The runs of a region: source, destination and length in bytes.
fn runs(region: &Region, take: &mut dyn FnMut(u64, u64, u64) -> io::Result<()>) -> io::Result<()> {
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

/// A range of a buffer; an error where it is not there.
fn part(bytes: &mut [u8], from: u64, len: u64) -> io::Result<&mut [u8]> {
    let range = usize::try_from(from).ok().zip(usize::try_from(from + len).ok());
    let found = range.and_then(|(from, to)| bytes.get_mut(from..to));
    found.ok_or_else(|| io::Error::other(format!("bytes {from} + {len} beyond a buffer")))
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)
}
