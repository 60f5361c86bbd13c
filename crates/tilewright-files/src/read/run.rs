//! Reads one result: moves bytes of a file to their places in memory, by one of the ways of [`super`].

use std::{cell::Cell, ops::Range};

use tilewright_relayout::{CALL, Plan, Program, Region, Tiles, Write};
use tilewright_transfer::{Failed, Limits, Mover, fetch, is_straight};

use super::{
    Reader, Sizes,
    slabs::{Slab, Slabs, meet},
};
use crate::{
    Error,
    convert::{budget::Buffer, job::reversed},
    error,
    verify::boxes::{Area, size},
};

/// The number of bytes of a line of the processor's cache.
const LINE: u128 = 64;

/// The largest number of bytes that are read between two checks for cancellation.
const STEP: usize = 4 << 20;

/// Iterates over ranges of bytes, joined if gaps are short.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Range<u64>> {
    let mut ranges = ranges.peekable();
    std::iter::from_fn(move || {
        let mut range = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start <= range.end.saturating_add(CALL)) {
            range.end = range.end.max(next.end);
        }
        Some(range)
    })
}

/// One execution of a reader, with its buffers and threads.
pub(super) struct Run<'r, 'w> {
    pub(super) reader: &'r Reader<'r>,
    pub(super) limits: Limits<'w>,
    pub(super) sizes: Sizes,
    /// The number of bytes reported to the watcher.
    pub(super) told: Cell<u64>,
}

impl Run<'_, '_> {
    pub(super) fn run(&self, out: &mut [u8]) -> Result<(), Error> {
        let (reader, sizes) = (self.reader, self.sizes);
        self.limits.watch().total(reader.moved());
        self.limits.watch().check_cancelled()?;
        reader.pad(out)?;
        if reader.is_copied() {
            return self.read(out, 0, true);
        }
        if is_straight(&reader.program) {
            return self.direct(out);
        }
        let window =
            sizes.window.saturating_mul(self.limits.pool().threads() as u64).min(sizes.most / 4);
        match self.windows(window).filter(|_| reader.to.tables().is_none()) {
            Some(slabs) => self.slabs(self.on_lines(slabs, out), out),
            None => self.ranges(out),
        }
    }

    /// Returns windows of about `most` bytes: of one piece if their elements are written in long runs, else of pieces of the
    /// length with which these runs are longest.
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

    /// Returns the number of bytes that the first of these slabs writes in one run.
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

    /// Returns the slabs, of which the first ends where a cache line of the destination does, if one of its possible edges is
    /// there: lines that two windows share are written twice.
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

    /// Reads runs to their places, or ranges of the result, each from the bytes that it needs.
    fn direct(&self, out: &mut [u8]) -> Result<(), Error> {
        let (reader, most) = (self.reader, self.sizes.window.saturating_mul(2));
        let mut read = |bytes: &mut [u8], from| self.read(bytes, from, true);
        let mut mover =
            Mover::new(self.limits.budget(), most).threads(self.limits.pool().threads());
        let done = mover.read(&Plan::of(reader.program.clone()), out, &mut read);
        done.map_err(|failed| self.failed(failed))?;
        // Fewer bytes are read than written if elements grow or repeat.
        self.tell(u64::MAX);
        Ok(())
    }

    fn slabs(&self, slabs: Slabs, out: &mut [u8]) -> Result<(), Error> {
        let (reader, mut room) = (self.reader, None);
        for slab in slabs {
            let Some((program, area)) = self.program(&slab)? else { continue };
            // The caches are judged by the length of the whole result, not of one window.
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
            self.limits.watch().advance(size(&area) * u64::from(reader.to.bits) / 8);
        }
        Ok(())
    }

    /// Returns the program that moves the requested elements of a slab, and their box.
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

    /// Moves the elements of a window to their places.
    fn place(&self, plan: &Plan, window: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let done = match plan.ranges(u64::MAX).next() {
            Some(range) if self.limits.pool().threads() > 1 => {
                let part = out.get_mut(range.start as usize..range.end as usize);
                let part = part.ok_or_else(|| self.outside())?;
                self.limits.pool().run_range(plan, range, window, part)
            }
            _ => plan.run(window, out, 1),
        };
        done.map_err(|error| self.reader.failed(&error))
    }

    /// Reads the bytes that a plan needs of a window from byte `from` on.
    fn read_parts(&self, plan: &Plan, window: &mut [u8], from: u64) -> Result<(), Error> {
        for range in joined(plan.program().source_ranges()) {
            let bytes = window.get_mut(range.start as usize..range.end as usize);
            self.read(bytes.ok_or_else(|| self.outside())?, from + range.start, false)?;
        }
        Ok(())
    }

    /// Reads all needed bytes of the source at once if they are few, else range by range.
    fn ranges(&self, out: &mut [u8]) -> Result<(), Error> {
        let (reader, mut room) = (self.reader, None);
        let plan = Plan::of(reader.program.clone());
        if plan.src_bytes() <= self.sizes.most {
            let buffer = self.room(&mut room, plan.src_bytes())?;
            self.read_parts(&plan, buffer, 0)?;
            self.place(&plan, buffer, out)?;
            self.limits.watch().advance(reader.moved());
            return Ok(());
        }
        // Without regions, a range may read nearly everything; a tile reads and writes long runs.
        let tiles = plan.program().regions().is_none().then(|| plan.tiles(self.sizes.window));
        match tiles.flatten() {
            Some(tiles) => self.tiles(tiles, out),
            None => self.direct(out),
        }
    }

    /// Reads tiles, and writes their elements to their places.
    fn tiles(&self, tiles: Tiles, out: &mut [u8]) -> Result<(), Error> {
        let (mut read, mut moved) = (None, None);
        for tile in tiles {
            let _list = self.limits.budget().reserve(tile.overhead_bytes())?;
            let from = self.room(&mut read, tile.src_len() as u64)?;
            let mut one = |bytes: &mut [u8], src| self.read(bytes, src, false);
            fetch(tile.reads(), from, &mut one).map_err(|failed| self.failed(failed))?;
            let to = self.room(&mut moved, tile.dst_len() as u64)?;
            tile.run(from, to).map_err(|error| self.reader.failed(&error))?;
            for Write { dst, len, at } in tile.writes() {
                let place = out.get_mut(dst as usize..).and_then(|out| out.get_mut(..len));
                let place = place.ok_or_else(|| self.outside())?;
                place.copy_from_slice(to.get(at..at + len).ok_or_else(|| self.outside())?);
            }
            self.tell(tile.dst_len() as u64);
        }
        self.tell(u64::MAX);
        Ok(())
    }

    /// Returns the first `len` bytes of a buffer that is kept.
    fn room<'a>(&self, room: &'a mut Option<Buffer>, len: u64) -> Result<&'a mut [u8], Error> {
        let room = self.limits.budget().grown(room, len, len)?;
        room.get_mut(..len as usize).ok_or_else(|| self.outside())
    }

    /// Fills `bytes` from byte `from` of the tensor on; `tells` is true if the watcher is told.
    fn read(&self, bytes: &mut [u8], from: u64, tells: bool) -> Result<(), Error> {
        let (reader, unit) = (self.reader, reversed(&self.reader.from, &self.reader.to));
        let mut at = reader.at.saturating_add(from);
        for step in bytes.chunks_mut(STEP) {
            self.limits.watch().check_cancelled()?;
            let from = |bytes: &mut [u8], part| reader.source.read(bytes, at + part);
            self.limits.pool().parts(step, from)?;
            at += step.len() as u64;
            if tells {
                self.tell(step.len() as u64);
            }
        }
        reader.source.reverse(reader.name, bytes, (from, unit))
    }

    /// Reports read bytes to the watcher, in total at most those of the result, because gaps are read too.
    fn tell(&self, bytes: u64) {
        let told = self.told.get();
        let now = told.saturating_add(bytes).min(self.reader.moved());
        self.limits.watch().advance(now - told);
        self.told.set(now);
    }

    fn failed(&self, failed: Failed<Error>) -> Error {
        failed.into_error(|error| self.reader.failed(error), |_| self.outside())
    }

    fn outside(&self) -> Error {
        error::usage(format!("tensor {:?}: a place outside its buffer", self.reader.name))
    }
}
