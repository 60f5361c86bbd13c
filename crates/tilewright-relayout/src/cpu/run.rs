//! Runs of a plan: the whole destination, or a range of it.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::{
    Error, Gap, Plan,
    cpu::{
        joined::Joined,
        kernel::{self, parallel_move::PER_THREAD},
        padding,
        way::Ways,
        workers,
    },
    plan::PlanInner,
    program::region::{Region, RegionRef, clip},
};

impl Plan {
    /// Moves all elements from `src` to `dst` with this many threads; 0 means one thread per core.
    ///
    /// The first [`src_bytes`](Plan::src_bytes) of `src` are read and the first [`dst_bytes`](Plan::dst_bytes) of `dst`
    /// are written; bytes after them are not touched. Every one of these destination bytes is written: padding holds
    /// the fill, and bits after the last packed element are 0. The plan keeps its working memory, so later runs with
    /// one thread allocate nothing.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if a buffer is too short, before a byte is written;
    /// [unsupported](Error::is_unsupported) if the system refuses to start threads.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let mut out = [0; 6];
    /// plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    /// assert!(plan.run(&[1, 2, 3], &mut out, 1).unwrap_err().is_buffer());
    /// ```
    pub fn run(&self, src: &[u8], dst: &mut [u8], threads: usize) -> Result<(), Error> {
        self.check_source(src.len())?;
        let out = self.destination(dst)?;
        self.0.run_all(threads, src, out)
    }

    /// Writes the destination bytes `range` to `out`, from the whole source in memory.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the source is too short, the range exceeds the destination, or `out` is not as
    /// long as the range; nothing is written then.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let mut out = [0; 3];
    /// plan.run_range(2..5, &[1, 2, 3, 4, 5, 6], &mut out).unwrap();
    /// assert_eq!(out, [2, 5, 3]);
    /// assert!(plan.run_range(5..7, &[0; 6], &mut [0; 2]).unwrap_err().is_buffer());
    /// ```
    pub fn run_range(&self, range: Range<u64>, src: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.check_source(src.len())?;
        self.check_range(&range)?;
        check_out(&range, out.len())?;
        if range == (0..self.dst_bytes()) {
            return self.0.run_all(1, src, out);
        }
        self.0.run(range, src, out);
        Ok(())
    }

    /// Writes the padding of `dst`. It may overwrite elements too, if that is less work, so elements are written later,
    /// for instance part by part by [`Program::of_part`](crate::Program::of_part). 0 threads means one per core.
    ///
    /// # Errors
    /// Those of [`Plan::run`].
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_relayout::{Elements, Plan};
    /// let rows = TensorLayout::new(&[2, 3], &Layout::parse("(2,4):(4,1)").unwrap(), 8).unwrap();
    /// let plan = Plan::new(&rows, &rows, Elements::same(8), 7).unwrap();
    /// let mut out = [0; 8];
    /// plan.pad(&mut out, 1).unwrap();
    /// assert_eq!((out[3], out[7]), (7, 7));
    /// assert!(plan.pad(&mut out[..5], 1).unwrap_err().is_buffer());
    /// ```
    pub fn pad(&self, dst: &mut [u8], threads: usize) -> Result<(), Error> {
        let out = self.destination(dst)?;
        if self.padding() > 0 {
            self.0.in_ranges(threads, 0, out, |range, out| self.0.fill(&range, out))?;
        }
        padding::clear_tail(&self.0.program, self.dst_bytes(), out);
        Ok(())
    }

    /// Returns the bytes that are written, from a buffer that may be longer.
    fn destination<'a>(&self, dst: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let (bytes, given) = (self.dst_bytes(), dst.len());
        usize::try_from(bytes).ok().and_then(|bytes| dst.get_mut(..bytes)).ok_or_else(|| {
            Error::buffer(format!(
                "a destination of {given} bytes is too short; the plan writes {bytes}"
            ))
        })
    }

    fn check_source(&self, given: usize) -> Result<(), Error> {
        if (given as u64) < self.src_bytes() {
            let needed = self.src_bytes();
            return Err(Error::buffer(format!(
                "a source of {given} bytes is too short; the plan reads {needed}"
            )));
        }
        Ok(())
    }

    /// Refuses ranges that exceed the destination.
    pub(crate) fn check_range(&self, range: &Range<u64>) -> Result<(), Error> {
        if range.start > range.end || range.end > self.dst_bytes() {
            return Err(Error::buffer(format!(
                "destination bytes {} to {} of {}",
                range.start,
                range.end,
                self.dst_bytes()
            )));
        }
        Ok(())
    }
}

/// Refuses an output whose length differs from its range.
pub(crate) fn check_out(range: &Range<u64>, given: usize) -> Result<(), Error> {
    let needed = range.end - range.start;
    if given as u64 != needed {
        return Err(Error::buffer(format!(
            "an output of {given} bytes does not fit a range of {needed} bytes"
        )));
    }
    Ok(())
}

impl PlanInner {
    /// Writes the whole destination.
    fn run_all(&self, threads: usize, src: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let Some(regions) = self.program.regions() else {
            return self.in_ranges(threads, 0, out, |range, out| self.run(range, src, out));
        };
        let joined = self.joined();
        if self.program.padding() > 0 && !joined.is_some_and(|joined| joined.covers) {
            self.in_ranges(threads, 0, out, |range, out| self.fill(&range, out))?;
        }
        if let Some(joined) = joined {
            self.run_joined(joined, threads, src, out)?;
        }
        let alone = |i: &usize| !joined.is_some_and(|joined| joined.has(*i));
        if self.is_small() || workers::wanted(threads) == 1 {
            self.scratches.with(|scratch| {
                for i in (0..regions.len()).filter(alone) {
                    let ways = &self.ways[i];
                    ways.run_all(&regions[i], &mut ways.tools(scratch), src, out);
                }
            });
        } else {
            let alone = (0..regions.len()).filter(alone).collect();
            self.share(regions, alone, threads, src, out)?;
        }
        padding::clear_tail(&self.program, self.program.dst_bytes(), out);
        Ok(())
    }

    /// Returns the regions that are moved together in runs of the whole destination.
    pub(crate) fn joined(&self) -> Option<&Joined> {
        self.joined.as_ref().filter(|_| !self.is_small())
    }

    /// Moves the regions that are moved together, with the padding between them.
    fn run_joined(
        &self,
        joined: &Joined,
        threads: usize,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let wanted = workers::wanted(threads) as u64;
        if wanted == 1 {
            self.scratches.with(|scratch| joined.run(&mut joined.whole(out), src, scratch));
            joined.add();
            return Ok(());
        }
        let shares = joined.shares(wanted * PER_THREAD, out);
        let shares: Vec<_> = shares.into_iter().map(Mutex::new).collect();
        self.pool.each(threads, shares.len(), &|i| {
            let mut share = shares[i].lock().unwrap_or_else(PoisonError::into_inner);
            self.scratches.with(|scratch| joined.run(&mut share, src, scratch));
        })?;
        joined.add();
        Ok(())
    }

    /// Calls `f` with byte ranges of `out`, which begins at destination byte `start`.
    pub(crate) fn in_ranges(
        &self,
        threads: usize,
        start: u64,
        out: &mut [u8],
        f: impl Fn(Range<u64>, &mut [u8]) + Sync,
    ) -> Result<(), Error> {
        let wanted = workers::wanted(threads);
        let grain = self.grain(out.len() as u64, wanted as u64);
        let ranges = (out.len() as u64).div_ceil(grain);
        let range = |i: usize, len: usize| {
            let from = start + i as u64 * grain;
            from..from + len as u64
        };
        if wanted == 1 || ranges <= 1 {
            f(range(0, out.len()), out);
            return Ok(());
        }
        let parts: Vec<_> = out.chunks_mut(grain as usize).map(Mutex::new).collect();
        self.pool.each(threads, parts.len(), &|i| {
            let mut part = parts[i].lock().unwrap_or_else(PoisonError::into_inner);
            f(range(i, part.len()), &mut part);
        })
    }

    /// Returns the bytes of a range such that `len` bytes keep this many threads busy.
    fn grain(&self, len: u64, threads: u64) -> u64 {
        let ranges = threads.max(1).saturating_mul(PER_THREAD);
        let bytes = len.div_ceil(ranges).max(self.min_range);
        let share = len.div_ceil(threads.max(1));
        match self.outer_block() {
            // Whole blocks, if every thread gets some; otherwise ranges that cut the fewest blocks.
            Some(block) if block <= share => self.aligned(
                bytes.div_ceil(block).saturating_mul(block).min(share).max(self.min_range),
            ),
            Some(_) => self.aligned(share.max(self.min_range)),
            None => self.aligned(bytes),
        }
    }

    /// Returns the bytes of the destination between two blocks along the outermost loop of the main region.
    fn outer_block(&self) -> Option<u64> {
        let (i, region) = self.program.main()?;
        let (elements, level) = (self.program.elements(), region.loops.first()?);
        let together = self.ways[i].first().kept_whole(&region.whole(), 0, elements);
        let unit = u64::from(region.dst_unit(elements));
        let bits = level.dst.unsigned_abs().checked_mul(together)?.checked_mul(unit)?;
        Some(bits / 8).filter(|bytes| *bytes > 0)
    }

    /// Returns `bytes`, rounded up to a position where ranges cut few boxes.
    fn aligned(&self, bytes: u64) -> u64 {
        let stride = self.stride(bytes);
        bytes.max(1).div_ceil(stride).saturating_mul(stride)
    }

    /// Returns `bytes`, rounded down to a position where ranges cut few boxes; at least one element.
    pub(crate) fn rounded(&self, bytes: u64) -> u64 {
        let stride = self.stride(bytes);
        (bytes / stride).max(1) * stride
    }

    /// Returns the bytes of the largest stride of the destination up to `bytes`; at least one element.
    fn stride(&self, bytes: u64) -> u64 {
        let align = self.program.elements().dst_align();
        let main = self.program.main().map(|(_, region)| region);
        let strides = main.map_or(&[][..], |region| region.loops.as_slice()).iter();
        let unit = main.map_or(8, |region| u64::from(region.dst_unit(self.program.elements())));
        let stride = strides
            .map(|level| (level.dst as u64).saturating_mul(unit))
            .filter(|bits| bits.is_multiple_of(8 * align) && bits / 8 <= bytes)
            .max();
        stride.map_or(align, |bits| bits / 8).max(align)
    }

    /// Writes the destination bytes `range` from the whole source.
    pub(crate) fn run(&self, range: Range<u64>, src: &[u8], out: &mut [u8]) {
        self.write(range, out, &|range, out| match self.program.regions() {
            Some(regions) => {
                for (region, ways) in regions.iter().zip(&self.ways) {
                    self.run_region(region, ways, range, src, out);
                }
            }
            None => {
                self.tables.add();
                let offsets = self.offsets(range);
                self.program.digits().walk(offsets.clone(), &mut |leaf| {
                    kernel::table(self.program.elements(), leaf, (0, -offsets.start), src, out);
                });
            }
        });
    }

    /// Returns the destination offsets, in elements, of the elements that a byte range contains or cuts.
    pub(crate) fn offsets(&self, bytes: &Range<u64>) -> Range<i64> {
        let bits = u64::from(self.program.elements().dst_bits);
        let (start, end) = if bits < 8 {
            (bytes.start * (8 / bits), bytes.end * (8 / bits))
        } else {
            (bytes.start / (bits / 8), bytes.end.div_ceil(bits / 8))
        };
        // The last byte of 2^63 bits ends after the last element that can be counted.
        let counted = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        counted(start)..counted(end)
    }

    /// Fills `out` and lets `body` write the elements of `range`. Elements that the range cuts are written to a
    /// temporary buffer, from which the bytes in the range are copied.
    pub(crate) fn write(
        &self,
        range: Range<u64>,
        out: &mut [u8],
        body: &dyn Fn(&Range<u64>, &mut [u8]),
    ) {
        let align = self.program.elements().dst_align();
        // Regions whose elements have equal widths count bytes.
        if align == 1 || self.program.elements().are_same() && self.program.regions().is_some() {
            return self.write_whole(range, out, body);
        }
        let start = range.start.next_multiple_of(align).min(range.end);
        let end = (range.end / align * align).max(start);
        let (head, rest) = out.split_at_mut((start - range.start) as usize);
        let (middle, tail) = rest.split_at_mut((end - start) as usize);
        self.write_cut(range.start, head, body);
        self.write_whole(start..end, middle, body);
        self.write_cut(end, tail, body);
    }

    /// Writes a part of one element, from byte `at` on.
    fn write_cut(&self, at: u64, part: &mut [u8], body: &dyn Fn(&Range<u64>, &mut [u8])) {
        if part.is_empty() {
            return;
        }
        let align = self.program.elements().dst_align();
        let first = at / align * align;
        let mut element = [0; 256];
        let element = &mut element[..align as usize];
        // Bytes that belong to no element of a part keep their values.
        let place = (at - first) as usize..(at - first) as usize + part.len();
        element[place.clone()].copy_from_slice(part);
        self.write_whole(first..first + align, element, body);
        part.copy_from_slice(&element[place]);
    }

    fn write_whole(
        &self,
        range: Range<u64>,
        out: &mut [u8],
        body: &dyn Fn(&Range<u64>, &mut [u8]),
    ) {
        if out.is_empty() {
            return;
        }
        self.fill(&range, out);
        body(&range, out);
        padding::clear_tail(&self.program, range.end, out);
    }

    /// Moves the part of a region in `range` to `out`.
    pub(crate) fn run_region(
        &self,
        region: &Region,
        ways: &Ways,
        range: &Range<u64>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let units = region.dst_range(range, self.program.elements());
        self.scratches.with(|scratch| {
            clip(region, units, &mut |part| {
                let part = RegionRef { dst: part.dst - units.0, ..part };
                ways.run(region, &mut ways.tools(scratch), &part, src, out);
            });
        });
    }

    /// Fills the positions of a range to which no element is written, or the whole range if that is less work. Elements
    /// are written later.
    fn fill(&self, range: &Range<u64>, out: &mut [u8]) {
        let (elements, fill) = (self.program.elements(), self.program.fill());
        match self.program.gaps() {
            Some(gaps) if self.fills_gaps_alone(gaps) => {
                padding::fill_gaps(elements, fill, gaps, range, out);
            }
            _ => padding::fill(elements, fill, range.start, out),
        }
    }

    /// Returns whether gaps are filled one by one, rather than the whole destination before elements are written.
    pub(crate) fn fills_gaps_alone(&self, gaps: &[Gap]) -> bool {
        let (elements, bytes) = (self.program.elements(), self.program.dst_bytes());
        *self.sparse.get_or_init(|| padding::are_sparse(gaps, elements, bytes))
    }
}
