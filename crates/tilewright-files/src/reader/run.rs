//! One reading: bytes of a file moved to their places in memory, by one of the ways of [`super`].

use std::ops::Range;

use tilewright_relayout::{Chunk, Plan, Program, Region};

use super::{Reader, Sizes};
use crate::{
    Error, Watch,
    boxes::{Area, size},
    budget::{Budget, Buffer},
    job::reversed,
    pool::Pool,
    slabs::{Slab, Slabs, meet},
    watch::go_on,
};

/// Gaps of up to this number of bytes are read: a call costs more than they do.
const GAP: u64 = 4 << 10;

/// The bytes of a line of the processor's cache.
const LINE: u128 = 64;

/// The most bytes that are read between two looks at whether to stop.
const STEP: usize = 4 << 20;

/// The first bytes of the runs of a region, in the source and in the destination.
fn starts(region: &Region) -> impl Iterator<Item = (i64, i64)> {
    let turns: u64 = region.loops.iter().map(|turn| turn.extent).product();
    (0..turns).map(|i| {
        let (mut src, mut dst, mut rest) = (region.src, region.dst, i);
        for turn in region.loops.iter().rev() {
            let value = (rest % turn.extent) as i64;
            (src, dst, rest) = (src + value * turn.src, dst + value * turn.dst, rest / turn.extent);
        }
        (src, dst)
    })
}

/// Ranges of bytes, joined where gaps are short.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Range<u64>> {
    let mut ranges = ranges.peekable();
    std::iter::from_fn(move || {
        let mut range = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start <= range.end.saturating_add(GAP)) {
            range.end = range.end.max(next.end);
        }
        Some(range)
    })
}

/// One reading, with what it needs.
pub(super) struct Run<'r, 'w> {
    pub(super) reader: &'r Reader<'r>,
    pub(super) pool: Pool,
    pub(super) budget: Budget,
    pub(super) watch: &'w dyn Watch,
    pub(super) sizes: Sizes,
}

impl Run<'_, '_> {
    pub(super) fn run(&self, out: &mut [u8]) -> Result<(), Error> {
        let (reader, sizes) = (self.reader, self.sizes);
        self.watch.total(reader.moved());
        go_on(self.watch)?;
        reader.pad(out)?;
        if let Some(regions) = reader.straight(sizes.long) {
            return self.straight(&regions, out);
        }
        let window = sizes.window.saturating_mul(self.pool.threads() as u64).min(sizes.most / 4);
        match self.windows(window) {
            Some(slabs) => self.slabs(self.on_lines(slabs, out), out),
            None => self.ranges(out),
        }
    }

    /// Windows of about `most` bytes: in one piece where what they hold is written in long runs, else in pieces of the
    /// length with which these are longest.
    fn windows(&self, most: u64) -> Option<Slabs> {
        let slabs = |piece: Option<u64>| {
            let from = &self.reader.from;
            Slabs::new(from.layout(), from.bits, most, piece)
        };
        let (wanted, pieces) = (self.sizes.written, self.sizes.pieces.into_iter());
        let pieces = pieces.filter(|piece| *piece < most).map(Some);
        let mut best: Option<(u64, Slabs)> = None;
        for piece in std::iter::once(None).chain(pieces) {
            let Some(slabs) = slabs(piece) else { continue };
            let written = self.written(&slabs).unwrap_or(0);
            if best.as_ref().is_none_or(|(known, _)| written >= known.saturating_mul(2)) {
                best = Some((written, slabs));
            }
            if best.as_ref().is_some_and(|(known, _)| *known >= wanted) {
                break;
            }
        }
        best.map(|(_, slabs)| slabs)
    }

    /// The bytes that the first of these slabs writes in one run.
    fn written(&self, slabs: &Slabs) -> Option<u64> {
        let (program, _) = self.program(&slabs.first()?).ok()??;
        let size = |region: &&Region| {
            region.loops.iter().fold(region.run, |all, turn| all.saturating_mul(turn.extent))
        };
        let region = program.regions()?.iter().max_by_key(size)?;
        let unit = if region.packed { u64::from(self.reader.to.bits) } else { 8 };
        let mut loops: Vec<_> = region.loops.iter().collect();
        loops.sort_by_key(|turn| turn.dst.unsigned_abs());
        let run = loops.into_iter().fold(region.run, |run, turn| {
            if turn.dst.unsigned_abs() == run { run.saturating_mul(turn.extent) } else { run }
        });
        Some(run.saturating_mul(unit) / 8)
    }

    /// The same slabs, of which the first ends where a line of the destination does, if one of its edges lies there:
    /// lines that two windows share are written twice.
    fn on_lines(&self, slabs: Slabs, out: &[u8]) -> Slabs {
        let (reader, begin) = (self.reader, out.as_ptr().addr() as u64);
        let (axis, edges) = slabs.edges();
        let (Some(whole), Some(extents)) =
            (reader.area.get(axis), Some(reader.to.layout().extents()))
        else {
            return slabs;
        };
        let mut coord = vec![0; extents.len()];
        let mut at = |index: u64| {
            *coord.get_mut(axis)? = index;
            let offset = reader.to.layout().offset(&coord).ok()?;
            let bits = u128::try_from(offset).ok()? * u128::from(reader.to.bits);
            Some(u128::from(begin) + bits / 8)
        };
        let on_line = |place: Option<u128>| place.is_some_and(|place| place % LINE == 0);
        if whole.start != 0 || on_line(at(0)) {
            return slabs;
        }
        let found = edges.take_while(|edge| *edge < whole.end).position(|edge| on_line(at(edge)));
        match found {
            Some(edge) => slabs.beginning(edge as u64),
            None => slabs,
        }
    }

    fn straight(&self, regions: &[Region], out: &mut [u8]) -> Result<(), Error> {
        for region in regions {
            for (src, dst) in starts(region) {
                let (from, to) = (dst as usize, dst as usize + region.run as usize);
                let bytes = out.get_mut(from..to).ok_or_else(|| self.outside())?;
                self.read(bytes, src as u64, true)?;
            }
        }
        Ok(())
    }

    fn slabs(&self, slabs: Slabs, out: &mut [u8]) -> Result<(), Error> {
        let (reader, mut room) = (self.reader, None);
        for slab in slabs {
            let Some((program, area)) = self.program(&slab)? else { continue };
            // What one window writes is no sign of where the result lies.
            let plan = match out.len() as u64 >= self.sizes.far {
                true => Plan::past_caches(program),
                false => Plan::of(program),
            };
            let buffer = self.room(&mut room, plan.src_bytes())?;
            let all = 0..buffer.len() as u64;
            let parts = plan.program().source_ranges().filter(|_| area != slab.area);
            for part in joined(parts.chain((area == slab.area).then_some(all))) {
                for (from, range) in slab.pieces(part) {
                    let bytes = buffer.get_mut(range.start as usize..range.end as usize);
                    self.read(bytes.ok_or_else(|| self.outside())?, from, false)?;
                }
            }
            self.place(&plan, buffer, out)?;
            self.watch.advance(size(&area) * u64::from(reader.to.bits) / 8);
        }
        Ok(())
    }

    /// What moves the elements of a slab that are asked for, and the box that they are.
    fn program(&self, slab: &Slab) -> Result<Option<(Program, Area)>, Error> {
        let reader = self.reader;
        let Some(area) = meet(&slab.area, &reader.area) else { return Ok(None) };
        let less = |origin: &[Range<u64>]| -> Vec<u64> {
            area.iter().zip(origin).map(|(own, whole)| own.start - whole.start).collect()
        };
        let extents: Vec<u64> = area.iter().map(|range| range.end - range.start).collect();
        let program = Program::of_part(
            (&slab.layout, &less(&slab.area)),
            (reader.to.layout(), &less(&reader.area)),
            &extents,
            reader.program.elements(),
        );
        Ok(Some((program.map_err(|error| reader.failed(&error))?, area)))
    }

    /// Moves what a window holds to its places.
    fn place(&self, plan: &Plan, window: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let done = match plan.ranges(u64::MAX).next() {
            Some(range) if self.pool.threads() > 1 => {
                let part = out.get_mut(range.start as usize..range.end as usize);
                let part = part.ok_or_else(|| self.outside())?;
                self.pool.run_range(plan, range, window, part)
            }
            _ => plan.run(window, out, 1),
        };
        done.map_err(|error| self.reader.failed(&error))
    }

    /// Reads what a plan needs of a window from byte `from` on.
    fn read_parts(&self, plan: &Plan, window: &mut [u8], from: u64) -> Result<(), Error> {
        for range in joined(plan.program().source_ranges()) {
            let bytes = window.get_mut(range.start as usize..range.end as usize);
            self.read(bytes.ok_or_else(|| self.outside())?, from + range.start, false)?;
        }
        Ok(())
    }

    /// By ranges of the result, each of what it needs of the source.
    fn ranges(&self, out: &mut [u8]) -> Result<(), Error> {
        let (reader, mut room) = (self.reader, None);
        let plan = Plan::of(reader.program.clone());
        if plan.src_bytes() <= self.sizes.most {
            let buffer = self.room(&mut room, plan.src_bytes())?;
            self.read_parts(&plan, buffer, 0)?;
            self.place(&plan, buffer, out)?;
            self.watch.advance(reader.moved());
            return Ok(());
        }
        for range in plan.ranges(self.sizes.window) {
            let mut pending = vec![range];
            while let Some(range) = pending.pop() {
                let chunk = plan.chunk(range.clone()).map_err(|error| reader.failed(&error))?;
                match self.halves(&chunk) {
                    Some([low, high]) => pending.extend([high, low]),
                    None => self.chunk(&chunk, &mut room, out)?,
                }
            }
        }
        Ok(())
    }

    /// The halves of a range that needs too much; an element is never cut.
    fn halves(&self, chunk: &Chunk) -> Option<[Range<u64>; 2]> {
        let held = (chunk.buffer_len() as u64).saturating_add(chunk.overhead_bytes());
        let (range, unit) = (chunk.range(), u64::from(self.reader.to.bits.div_ceil(8)));
        let len = range.end - range.start;
        let middle = range.start + (len / 2).next_multiple_of(unit);
        (held > self.sizes.most && len > unit).then_some([range.start..middle, middle..range.end])
    }

    fn chunk<'b>(
        &'b self,
        chunk: &Chunk,
        room: &mut Option<Buffer<'b>>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let buffer = self.room(room, chunk.buffer_len() as u64)?;
        for read in chunk.reads() {
            let bytes = buffer.get_mut(read.at..read.at + read.len);
            self.read(bytes.ok_or_else(|| self.outside())?, read.src, false)?;
        }
        let range = chunk.range();
        let part = out.get_mut(range.start as usize..range.end as usize);
        let part = part.ok_or_else(|| self.outside())?;
        let done = chunk.run(buffer, part, self.pool.threads());
        done.map_err(|error| self.reader.failed(&error))?;
        self.watch.advance(range.end - range.start);
        Ok(())
    }

    /// The first `len` bytes of a buffer that is kept.
    fn room<'a, 'b>(
        &'b self,
        room: &'a mut Option<Buffer<'b>>,
        len: u64,
    ) -> Result<&'a mut [u8], Error> {
        if room.as_ref().is_none_or(|room| (room.len() as u64) < len) {
            *room = None;
            *room = Some(self.budget.buffer(len)?);
        }
        let bytes = room.as_mut().and_then(|room| room.get_mut(..len as usize));
        bytes.ok_or_else(|| self.outside())
    }

    /// Fills `bytes` from byte `from` of the tensor on; `done` if they are the result.
    fn read(&self, bytes: &mut [u8], from: u64, done: bool) -> Result<(), Error> {
        let (reader, unit) = (self.reader, reversed(&self.reader.from, &self.reader.to));
        let mut at = reader.at.saturating_add(from);
        for step in bytes.chunks_mut(STEP) {
            go_on(self.watch)?;
            self.pool.read(reader.source, step, at)?;
            at += step.len() as u64;
            if done {
                self.watch.advance(step.len() as u64);
            }
        }
        if unit == 1 {
            return Ok(());
        }
        if !from.is_multiple_of(unit as u64) || !bytes.len().is_multiple_of(unit) {
            let said = format!("tensor {:?} is read by parts of its elements", reader.name);
            return Err(Error::unsupported(reader.source.path(), said));
        }
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        Ok(())
    }

    fn outside(&self) -> Error {
        Error::usage(format!("tensor {:?}: a place outside its buffer", self.reader.name))
    }
}
