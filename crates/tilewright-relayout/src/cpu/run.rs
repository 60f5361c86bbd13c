//! Running a plan: the destination is cut into byte ranges, each an exclusive slice of one thread, or a part
//! into parts along another of its loops, where threads share that better.

use crate::{
    Error, Plan,
    cpu::clip::clip,
    cpu::cut,
    cpu::kernel::{self, Scratch, Together, Tools},
    cpu::padding,
    cpu::weave::Reach,
    plan::{Inner, MOST_WEAVES},
    program::region::{Region, RegionRef},
};
use core::ops::Range;
use rayon::prelude::*;

/// No range is smaller than this, in bytes, unless the plan says otherwise.
pub(crate) const MIN_RANGE: u64 = 1 << 14;

impl Plan {
    /// Moves all elements from `src` to `dst`, with this many threads; 0 for one per core.
    ///
    /// Of each buffer the first [`src_bytes`](Plan::src_bytes) and [`dst_bytes`](Plan::dst_bytes) are
    /// read and written; bytes behind them are left alone. Every one of those destination bytes is
    /// written: padding holds the fill, and bits behind the last packed element are 0. What a plan needs
    /// beside its buffers it keeps: with one thread, its later runs ask for no memory.
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
        let bytes = self.dst_bytes();
        let given = dst.len();
        let Some(out) = usize::try_from(bytes).ok().and_then(|bytes| dst.get_mut(..bytes)) else {
            return Err(Error::buffer(format!(
                "a destination of {given} bytes; the plan writes {bytes}"
            )));
        };
        if self.0.in_parts(threads, src, out)? {
            return Ok(());
        }
        self.in_ranges(threads, out, |range, out| self.0.run(range, src, out))
    }

    /// Writes the destination bytes `range` to `out`, from the whole source in memory.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the source is too short, the range leaves the destination, or
    /// `out` is not as long as the range; nothing is written then.
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
        self.0.run(range, src, out);
        Ok(())
    }

    fn check_source(&self, given: usize) -> Result<(), Error> {
        if (given as u64) < self.src_bytes() {
            let needed = self.src_bytes();
            return Err(Error::buffer(format!(
                "a source of {given} bytes; the plan reads {needed}"
            )));
        }
        Ok(())
    }

    /// Refuses ranges that leave the destination.
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

    /// Calls `f` with ranges of `out` and their bytes, in as many threads.
    fn in_ranges(
        &self,
        threads: usize,
        out: &mut [u8],
        f: impl Fn(Range<u64>, &mut [u8]) + Sync,
    ) -> Result<(), Error> {
        self.0.in_ranges(threads, 0, out, f)
    }
}

/// Refuses an output of another length than its range.
pub(crate) fn check_out(range: &Range<u64>, given: usize) -> Result<(), Error> {
    let needed = range.end - range.start;
    if given as u64 != needed {
        return Err(Error::buffer(format!(
            "an output of {given} bytes for a range of {needed} bytes"
        )));
    }
    Ok(())
}

impl Inner {
    /// Moves all elements in parts of a part, if threads share that better than ranges of the destination.
    fn in_parts(&self, threads: usize, src: &[u8], out: &mut [u8]) -> Result<bool, Error> {
        let wanted = if threads == 0 { rayon::current_num_threads() } else { threads };
        let reach = Reach::of(self.program.dst_bytes());
        let Some([region]) = self.program.regions() else { return Ok(false) };
        if wanted == 1 || reach != Reach::Far || region.packed || self.program.dst().padding() > 0 {
            return Ok(false);
        }
        let part = region.whole();
        let Some(weave) = self.weaves.iter().find(|weave| weave.fits(&part, 8, reach)) else {
            return Ok(false);
        };
        if kernel::is_picked(self.isa, &part) {
            return Ok(false);
        }
        let Some(together) = Together::of(self.isa, weave, part, wanted) else { return Ok(false) };
        let mut done = false;
        self.in_threads(threads, together.parts(), || {
            done = together.run(src, out, &self.scratches);
        })?;
        Ok(done)
    }

    /// Does work in this many threads, or in as many as there are parts of it.
    fn in_threads(
        &self,
        threads: usize,
        parts: u64,
        work: impl FnOnce() + Send,
    ) -> Result<(), Error> {
        if threads == 0 {
            work();
            return Ok(());
        }
        self.pool.run(usize::try_from(parts).unwrap_or(threads).min(threads), work)
    }

    /// Calls `f` with byte ranges of `out`, which begins at destination byte `start`.
    pub(crate) fn in_ranges(
        &self,
        threads: usize,
        start: u64,
        out: &mut [u8],
        f: impl Fn(Range<u64>, &mut [u8]) + Sync,
    ) -> Result<(), Error> {
        let wanted = if threads == 0 { rayon::current_num_threads() } else { threads };
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
        self.in_threads(threads, ranges, || {
            out.par_chunks_mut(grain as usize)
                .enumerate()
                .for_each(|(i, out)| f(range(i, out.len()), out));
        })
    }

    /// The bytes of a range, so that `len` bytes keep this many threads busy.
    fn grain(&self, len: u64, threads: u64) -> u64 {
        let ranges = threads.max(1).saturating_mul(cut::PER_THREAD);
        let bytes = len.div_ceil(ranges).max(self.min_range);
        let share = len.div_ceil(threads.max(1));
        match self.outer_block() {
            // Whole blocks, if every thread gets some; else ranges that cut them least.
            Some(block) if block <= share => {
                self.aligned(bytes.div_ceil(block).saturating_mul(block).min(share))
            }
            Some(_) => self.aligned(share.max(self.min_range)),
            None => self.aligned(bytes),
        }
    }

    /// The bytes of the destination from one block to the next along its outermost loop.
    fn outer_block(&self) -> Option<u64> {
        let region = self.program.main()?;
        let (reach, unit) =
            (Reach::of(self.program.dst_bytes()), region.dst_unit(self.program.elements()));
        let weave = self.weaves.iter().find(|weave| weave.fits(&region.whole(), unit, reach))?;
        let (turn, taken) = (region.loops.first()?, weave.shape.first()?);
        let bits = turn.dst.unsigned_abs().checked_mul(*taken)?.checked_mul(u64::from(unit))?;
        Some(bits / 8)
    }

    /// `bytes`, rounded up to where ranges cut few boxes.
    fn aligned(&self, bytes: u64) -> u64 {
        let stride = self.stride(bytes);
        bytes.max(1).div_ceil(stride).saturating_mul(stride)
    }

    /// `bytes`, rounded down to where ranges cut few boxes; at least one element.
    pub(crate) fn cut(&self, bytes: u64) -> u64 {
        let stride = self.stride(bytes);
        (bytes / stride).max(1) * stride
    }

    /// The largest loop of the destination that is not longer than `bytes`; at least one element.
    fn stride(&self, bytes: u64) -> u64 {
        let align = self.program.elements().dst_align();
        let strides = self.program.main().map_or(&[][..], |region| region.loops.as_slice()).iter();
        let unit = self
            .program
            .main()
            .map_or(8, |region| u64::from(region.dst_unit(self.program.elements())));
        let stride = strides
            .map(|turn| (turn.dst as u64).saturating_mul(unit))
            .filter(|bits| bits.is_multiple_of(8 * align) && bits / 8 <= bytes)
            .max();
        stride.map_or(align, |bits| bits / 8).max(align)
    }

    /// Writes the destination bytes `range` from the whole source.
    pub(crate) fn run(&self, range: Range<u64>, src: &[u8], out: &mut [u8]) {
        self.write(range, out, &|range, out| match self.program.regions() {
            Some(regions) => self.with_scratch(|scratch| {
                for region in regions {
                    self.run_nest(region, range, src, out, scratch);
                }
            }),
            None => {
                let offsets = self.offsets(range);
                self.program.digits().walk(offsets.clone(), &mut |leaf| {
                    kernel::table(self.program.elements(), leaf, (0, -offsets.start), src, out);
                });
            }
        });
    }

    /// The destination offsets, in elements, of the elements that a byte range holds or cuts.
    pub(crate) fn offsets(&self, bytes: &Range<u64>) -> Range<i64> {
        let bits = u64::from(self.program.elements().dst_bits);
        let (start, end) = if bits < 8 {
            (bytes.start * (8 / bits), bytes.end * (8 / bits))
        } else {
            (bytes.start / (bits / 8), bytes.end.div_ceil(bits / 8))
        };
        // The last byte of 2^63 bits ends behind the last element that can be counted.
        let counted = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        counted(start)..counted(end)
    }

    /// Fills `out` and lets `body` write the elements of `range`; elements that the range cuts are
    /// written to the side and their bytes taken.
    pub(crate) fn write(
        &self,
        range: Range<u64>,
        out: &mut [u8],
        body: &dyn Fn(&Range<u64>, &mut [u8]),
    ) {
        let align = self.program.elements().dst_align();
        // Nests of one width count bytes.
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
        self.write_whole(first..first + align, element, body);
        part.copy_from_slice(&element[(at - first) as usize..][..part.len()]);
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
        let (elements, fill) = (self.program.elements(), self.program.fill());
        match self.program.gaps() {
            Some(gaps) => padding::fill_gaps(elements, fill, gaps, &range, out),
            None => padding::fill(elements, fill, range.start, out),
        }
        body(&range, out);
        padding::clear_tail(
            self.program.elements().dst_bits,
            self.program.dst().capacity(),
            range.end,
            out,
        );
    }

    /// Moves the part of a region that lies in `range` to `out`.
    pub(crate) fn run_nest(
        &self,
        region: &Region,
        range: &Range<u64>,
        src: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) {
        let units = region.dst_range(range, self.program.elements());
        let reach = Reach::of(self.program.dst_bytes());
        let tools = &mut Tools {
            elements: self.program.elements(),
            isa: self.isa,
            reach,
            weaves: &self.weaves,
            hops: &self.hops,
            seek: true,
            ask: None,
            scratch,
        };
        clip(region, units, &mut |part| {
            tools.seek = !self.is_prepared(region, &part);
            let part = RegionRef { dst: part.dst - units.0, ..part };
            kernel::run(tools, part, src, out);
        });
    }

    /// Whether a part is all of a region, for which weaves and hops were sought beforehand.
    fn is_prepared(&self, region: &Region, part: &RegionRef<'_>) -> bool {
        let few = self.program.regions().is_some_and(|regions| regions.len() <= MOST_WEAVES);
        few && part.run == region.run && part.loops == region.loops
    }

    /// Calls `f` with a buffer for blocks, which is kept for later runs.
    pub(crate) fn with_scratch(&self, f: impl FnOnce(&mut Scratch)) {
        let mut scratch = self.scratches.take();
        f(&mut scratch);
        self.scratches.give(scratch);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Elements, Plan};
    use tilewright_core::TensorLayout;

    #[test]
    #[cfg_attr(miri, ignore = "megabytes take hours")]
    fn parts_are_taken_where_ranges_leave_threads_idle_and_nowhere_else() {
        let row = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
        let parts = |dst: &TensorLayout, extents: &[u64], threads| {
            let plan = Plan::new(&row(extents), dst, Elements::same(32), 0).unwrap();
            let source = vec![1; plan.src_bytes() as usize];
            let mut out = vec![0; plan.dst_bytes() as usize];
            let done = plan.0.in_parts(threads, &source, &mut out).unwrap();
            assert!(out.iter().all(|byte| *byte == u8::from(done)), "all or nothing");
            done
        };
        // The innermost loop of the source, of one block, is the outermost of the destination.
        let long = [40, 60, 9, 52];
        assert!(parts(&TensorLayout::col_major(&long).unwrap(), &long, 2));
        assert!(!parts(&TensorLayout::col_major(&long).unwrap(), &long, 1));
        // As many transposes as all threads need, and nothing to transpose.
        let batch = [15, 249, 284];
        assert!(!parts(&TensorLayout::ordered(&batch, &[1, 2, 0]).unwrap(), &batch, 2));
        assert!(!parts(&row(&long), &long, 2));
    }
}
