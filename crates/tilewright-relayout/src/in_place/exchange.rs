//! The exchange of blocks of a swap with their images, within a range of its loops.

use core::ops::Range;

use super::swap::Swap;
use crate::{
    cpu::{
        kernel::Tools,
        scratch::{FreeList, Scratch, WorkBuffers},
        transpose::Locality,
        way::{Terms, Way},
    },
    plan::PlanInner,
    program::region::{Loop, Region, RegionRef},
};

/// A swap and the buffers with which it runs.
pub(super) struct Tasks<'a> {
    pub(super) swap: &'a Swap,
    inner: &'a PlanInner,
    works: &'a FreeList<WorkBuffers>,
    /// The kernels of whole blocks, with the regions for which they were chosen.
    ways: Vec<(Region, Way)>,
}

/// The part of the buffer that contains the blocks, with the byte at which it begins; and the part that contains their
/// images, if it is a different one.
pub(super) struct ExchangeParts<'a> {
    pub(super) blocks: (&'a mut [u8], i64),
    pub(super) images: Option<(&'a mut [u8], i64)>,
}

impl ExchangeParts<'_> {
    fn blocks(&mut self) -> (&mut [u8], i64) {
        (&mut *self.blocks.0, self.blocks.1)
    }

    fn images(&mut self) -> (&mut [u8], i64) {
        let (part, start) = self.images.as_mut().unwrap_or(&mut self.blocks);
        (&mut **part, *start)
    }
}

/// A block: the loop indices at which it begins, and the piece of its runs.
struct ExchangeBlock<'a> {
    at: &'a [u64],
    ranges: &'a [Range<u64>],
    within: i64,
    piece: u64,
}

impl Swap {
    /// Prepares the swap for running.
    pub(super) fn tasks<'a>(
        &'a self,
        inner: &'a PlanInner,
        works: &'a FreeList<WorkBuffers>,
    ) -> Tasks<'a> {
        let at = vec![0; self.loops.len()];
        let ranges: Vec<_> = self.loops.iter().map(|level| 0..level.extent).collect();
        let block = ExchangeBlock { at: &at, ranges: &ranges, within: 0, piece: self.piece };
        let mut loops = Vec::new();
        let terms = Terms { locality: Locality::Cache, ..inner.terms };
        let mut ways = Vec::new();
        let mut add = |run: u64, loops: &[Loop]| {
            let region = Region { packed: false, src: 0, dst: 0, run, loops: loops.to_vec() };
            let way = Way::of(&region.whole(), terms);
            ways.push((region, way));
        };
        for back in [false, true] {
            self.loops(&block, back, &mut loops);
            gathered(self.piece, &mut loops);
            add(self.piece, &loops);
            self.loops(&block, back, &mut loops);
            let run = scattered(self.piece, &mut loops);
            add(run, &loops);
        }
        Tasks { swap: self, inner, works, ways }
    }

    /// Collects the loops of a block from its place to its image, or back if `back`, ordered by the stride of the
    /// destination.
    fn loops(&self, block: &ExchangeBlock<'_>, back: bool, loops: &mut Vec<Loop>) {
        loops.clear();
        for (i, level) in self.loops.iter().enumerate() {
            let extent = self.shape[i].min(block.ranges[i].end - block.at[i]);
            let (src, dst) = if back { (level.dst, level.src) } else { (level.src, level.dst) };
            loops.extend((extent > 1).then_some(Loop { extent, src, dst }));
        }
        tilewright_core::sort_short(loops, |level| core::cmp::Reverse(level.dst.unsigned_abs()));
    }

    /// Returns the positions at which a block and its image begin.
    fn places(&self, block: &ExchangeBlock<'_>) -> (i64, i64) {
        let add = |(src, dst): (i64, i64), (level, &at): (&Loop, &u64)| {
            (src + at as i64 * level.src, dst + at as i64 * level.dst)
        };
        let (src, dst) = self.loops.iter().zip(block.at).fold((self.src, self.dst), add);
        (src + block.within, dst + block.within)
    }
}

/// Changes the loops of a block so that they write to dense scratch.
fn gathered(piece: u64, loops: &mut [Loop]) {
    let mut dense = piece as i64;
    for level in loops.iter_mut().rev() {
        level.dst = dense;
        dense *= level.extent as i64;
    }
}

/// Changes the loops of a block so that they read from dense scratch, around runs of `piece` bytes. Returns the length
/// of the merged runs.
fn scattered(piece: u64, loops: &mut Vec<Loop>) -> u64 {
    let (mut dense, mut run) = (piece as i64, piece);
    for level in loops.iter_mut().rev() {
        level.src = dense;
        dense *= level.extent as i64;
    }
    while let Some(level) = loops.last()
        && level.dst == run as i64
    {
        run *= level.extent;
        loops.pop();
    }
    run
}

impl Tasks<'_> {
    /// Swaps the blocks in these ranges. With `once`, images are in the ranges too, and each pair is swapped once.
    pub(super) fn run(&self, ranges: &[Range<u64>], once: bool, parts: &mut ExchangeParts<'_>) {
        let swap = self.swap;
        self.works.with(|work| {
            work.reserve(swap.scratch());
            let mut at: Vec<u64> = ranges.iter().map(|range| range.start).collect();
            loop {
                if !once || swap.is_first(&at) {
                    self.block(&at, ranges, parts, work);
                }
                if !advance(&mut at, ranges, &swap.shape) {
                    return;
                }
            }
        });
    }

    fn block(
        &self,
        at: &[u64],
        ranges: &[Range<u64>],
        parts: &mut ExchangeParts<'_>,
        work: &mut WorkBuffers,
    ) {
        let swap = self.swap;
        let mut within = 0;
        while within < swap.run {
            let piece = swap.piece.min(swap.run - within);
            self.exchange(&ExchangeBlock { at, ranges, within: within as i64, piece }, parts, work);
            within += piece;
        }
    }

    fn exchange(
        &self,
        block: &ExchangeBlock<'_>,
        parts: &mut ExchangeParts<'_>,
        work: &mut WorkBuffers,
    ) {
        let (place, image) = self.swap.places(block);
        let (bytes, mut loops) = (&mut work.bytes, core::mem::take(&mut work.loops));
        let (one, other) = bytes.split_at_mut(self.swap.block() as usize);
        let terms = Terms { locality: Locality::Cache, ..self.inner.terms };
        let scratch = &mut work.scratch;
        self.swap.loops(block, false, &mut loops);
        gathered(block.piece, &mut loops);
        self.take((terms, scratch), block.piece, &loops, (parts.blocks(), place), one);
        if place != image {
            self.swap.loops(block, true, &mut loops);
            gathered(block.piece, &mut loops);
            self.take((terms, scratch), block.piece, &loops, (parts.images(), image), other);
            self.swap.loops(block, true, &mut loops);
            let run = scattered(block.piece, &mut loops);
            self.put((terms, scratch), run, &loops, other, (parts.blocks(), place));
        }
        self.swap.loops(block, false, &mut loops);
        let run = scattered(block.piece, &mut loops);
        self.put((terms, scratch), run, &loops, one, (parts.images(), image));
        work.loops = loops;
    }

    /// Gathers the block that begins at a byte of the buffer.
    fn take(
        &self,
        tools: (Terms, &mut Scratch),
        run: u64,
        loops: &[Loop],
        ((part, start), place): ((&mut [u8], i64), i64),
        scratch: &mut [u8],
    ) {
        let block = RegionRef { packed: false, src: place - start, dst: 0, run, loops };
        self.move_block(tools, &block, part, scratch);
    }

    /// Writes a block to its destination.
    fn put(
        &self,
        tools: (Terms, &mut Scratch),
        run: u64,
        loops: &[Loop],
        scratch: &[u8],
        ((part, start), place): ((&mut [u8], i64), i64),
    ) {
        let block = RegionRef { packed: false, src: 0, dst: place - start, run, loops };
        self.move_block(tools, &block, scratch, part);
    }

    /// Moves a block with the kernel of whole blocks, if it is large enough for that kernel.
    fn move_block(
        &self,
        (terms, scratch): (Terms, &mut Scratch),
        block: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let alike = |(own, given): (&Loop, &Loop)| (own.src, own.dst) == (given.src, given.dst);
        let fits = |(region, way): &&(Region, Way)| {
            region.run == block.run
                && region.loops.len() == block.loops.len()
                && region.loops.iter().zip(block.loops).all(alike)
                && way.serves(&region.whole(), block, terms)
        };
        let Terms { elements, isa, locality } = terms;
        let tools = &mut Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch };
        let plain = Way::plain(block, elements);
        let way = self.ways.iter().find(fits).map_or(&plain, |(_, way)| way);
        way.run(tools, block, src, out);
    }
}

/// Advances to the next block. Returns whether there is one.
fn advance(at: &mut [u64], ranges: &[Range<u64>], shape: &[u64]) -> bool {
    for i in (0..at.len()).rev() {
        at[i] += shape[i];
        if at[i] < ranges[i].end {
            return true;
        }
        at[i] = ranges[i].start;
    }
    false
}
