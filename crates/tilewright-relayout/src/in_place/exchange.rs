//! Swaps: loops that swap in pairs, so that a block and its image exchange their elements; and the exchange within a range of
//! the loops.
//!
//! # Threads
//!
//! Distribution of a swap among threads: at any time, each thread owns parts of the buffer that no other thread has.
//!
//! If the outermost loop keeps its stride, its iterations are parts that exchange nothing. If it swaps with another
//! loop, the buffer is cut into panels along it. A thread takes two panels and swaps the blocks that each has in the
//! other. All pairs of panels meet in rounds, and a panel has one partner in each round.
//!
//! # Swaps
//!
//! A region swaps with another region if each goes where the other comes from. A region swaps with itself if each of
//! its loops has a partner of equal extent with the strides exchanged, or is its own partner. So the block at some
//! indices moves to the place of the block at the partners' indices.
//!
//! Law: of a block and its image, one is visited; together the blocks hold every element once.

use core::{fmt, ops::Range};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

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

/// The number of panels for each thread; several, so that slow threads do not delay the others.
const PANELS_PER_THREAD: u64 = 4;

/// The minimal bytes of a part.
const LEAST: u64 = 1 << 14;

/// Runs a swap over the whole buffer.
pub(super) fn run(tasks: &Tasks<'_>, buffer: &mut [u8], threads: usize) {
    let ranges: Vec<_> = tasks.swap.loops.iter().map(|level| 0..level.extent).collect();
    spread(tasks, &ranges, (buffer, 0), threads);
}

fn spread(tasks: &Tasks<'_>, ranges: &[Range<u64>], part: (&mut [u8], i64), threads: usize) {
    let swap = tasks.swap;
    let outer = (threads > 1).then(|| outermost(tasks, ranges)).flatten();
    match (outer, &swap.partners) {
        (Some(outer), Some(partners)) if partners[outer] == outer => {
            stays(tasks, ranges, outer, part, threads);
        }
        (Some(outer), Some(partners)) => {
            panels(tasks, ranges, (outer, partners[outer]), part, threads);
        }
        _ => tasks.run(ranges, true, &mut ExchangeParts { blocks: part, images: None }),
    }
}

/// Returns the loop with the largest source stride, if the other loops stay within one of its iterations on both sides.
fn outermost(tasks: &Tasks<'_>, ranges: &[Range<u64>]) -> Option<usize> {
    let swap = tasks.swap;
    let partners = swap.partners.as_ref()?;
    let free = |i: &usize| ranges[*i] == (0..swap.loops[*i].extent);
    let outer = (0..swap.loops.len()).filter(free).max_by_key(|&i| swap.loops[i].src)?;
    let step = swap.loops[outer].src;
    let length = |skip: usize, reach: fn(&Loop) -> i64| {
        let others = (0..swap.loops.len()).filter(|i| *i != skip && free(i));
        swap.src + others.map(|i| reach(&swap.loops[i])).sum::<i64>() + swap.run as i64
    };
    // A region that swaps with itself begins at the same position on both sides.
    let within =
        length(outer, Loop::src_reach) <= step && length(partners[outer], Loop::dst_reach) <= step;
    within.then_some(outer)
}

/// Distributes the iterations of a loop that keeps its stride.
fn stays(
    tasks: &Tasks<'_>,
    ranges: &[Range<u64>],
    outer: usize,
    (part, start): (&mut [u8], i64),
    threads: usize,
) {
    let level = tasks.swap.loops[outer];
    let together = (LEAST / level.src as u64).max(1);
    let size = (level.src as u64 * together) as usize;
    let parts = level.extent.div_ceil(together) as usize;
    part.par_chunks_mut(size).take(parts).enumerate().for_each(|(i, part)| {
        let first = i as u64 * together;
        let mut ranges = ranges.to_vec();
        ranges[outer] = first..level.extent.min(first + together);
        let part = (part, start + first as i64 * level.src);
        let threads = if together > 1 { 1 } else { threads };
        spread(tasks, &ranges, part, threads);
    });
}

/// Distributes pairs of panels of a pair of loops.
fn panels(
    tasks: &Tasks<'_>,
    ranges: &[Range<u64>],
    (outer, partner): (usize, usize),
    (part, start): (&mut [u8], i64),
    threads: usize,
) {
    let level = tasks.swap.loops[outer];
    let block = tasks.swap.shape[outer].max(LEAST.div_ceil(level.src as u64));
    let height = level.extent.div_ceil(threads as u64 * PANELS_PER_THREAD).next_multiple_of(block);
    let rows = |i: usize| {
        let first = i as u64 * height;
        first..level.extent.min(first + height)
    };
    let begin = |i: usize| start + (i as u64 * height) as i64 * level.src;
    let panels: Vec<_> = part
        .chunks_mut((height * level.src as u64) as usize)
        .take(level.extent.div_ceil(height) as usize)
        .map(Mutex::new)
        .collect();
    let held = |i: usize| panels[i].lock().unwrap_or_else(PoisonError::into_inner);
    let swap = |i: usize, j: usize| {
        let mut ranges = ranges.to_vec();
        (ranges[outer], ranges[partner]) = (rows(i), rows(j));
        let mut one = held(i);
        let blocks = (&mut **one, begin(i));
        if i == j {
            return tasks.run(&ranges, true, &mut ExchangeParts { blocks, images: None });
        }
        let mut other = held(j);
        let images = Some((&mut **other, begin(j)));
        tasks.run(&ranges, false, &mut ExchangeParts { blocks, images });
    };
    (0..panels.len()).into_par_iter().for_each(|i| swap(i, i));
    let players = panels.len().next_multiple_of(2);
    for round in 0..players - 1 {
        (0..players / 2).into_par_iter().for_each(|table| {
            let (i, j) = meeting(players, round, table);
            if j < panels.len() {
                swap(i, j);
            }
        });
    }
}

/// Returns the two players at a table in a round, the smaller first. Over all rounds, an even number of players all
/// meet once.
fn meeting(players: usize, round: usize, table: usize) -> (usize, usize) {
    let others = players - 1;
    let seat = |i: usize| (round + i) % others;
    let (a, b) = match table {
        0 => (others, seat(0)),
        _ => (seat(table), seat(others - table)),
    };
    (a.min(b), a.max(b))
}

// Swaps.

/// The bytes of a block: two blocks and their sources stay in or near the first-level cache.
const BLOCK: u64 = 1 << 14;

/// A region that swaps with itself or with another region.
#[derive(Clone, Debug)]
pub(super) struct Swap {
    pub(super) src: i64,
    pub(super) dst: i64,
    /// The bytes of a run.
    pub(super) run: u64,
    pub(super) loops: Vec<Loop>,
    /// The partner of each loop, if the region swaps with itself.
    pub(super) partners: Option<Vec<usize>>,
    /// The extent of a block in each loop.
    pub(super) shape: Vec<u64>,
    /// The bytes of a run that are moved at a time.
    pub(super) piece: u64,
}

/// Returns the swaps that are equivalent to a plan, if it has any.
pub(super) fn swaps(inner: &PlanInner, scratch: u64) -> Option<Vec<Swap>> {
    let regions = inner.program.regions()?;
    let half = (scratch / 2).min(BLOCK);
    if half == 0 || regions.iter().any(|region| region.packed) {
        return None;
    }
    let keys: Vec<(RegionKey, RegionKey)> = regions.iter().map(keys).collect();
    let mut swaps = Vec::new();
    for (i, (region, key)) in regions.iter().zip(&keys).enumerate() {
        if key.0 == key.1 {
            swaps.extend(
                (!is_fixed(region)).then(|| Swap::new(region, Some(partners(region)), half)),
            );
        } else {
            let other = keys.iter().position(|other| other.0 == key.1)?;
            swaps.extend((i < other).then(|| Swap::new(region, None, half)));
        }
    }
    Some(swaps)
}

fn is_fixed(region: &Region) -> bool {
    region.loops.iter().all(|level| level.src == level.dst)
}

/// The source, the destination and the loops of a region: equal keys mean equal regions.
type RegionKey = (i64, i64, u64, Vec<(u64, i64, i64)>);

/// Returns the key of a region, and the key of the region it swaps with.
fn keys(region: &Region) -> (RegionKey, RegionKey) {
    let mut there: Vec<_> =
        region.loops.iter().map(|level| (level.extent, level.src, level.dst)).collect();
    let mut back: Vec<_> = there.iter().map(|&(extent, src, dst)| (extent, dst, src)).collect();
    tilewright_core::sort_short(&mut there, |level| *level);
    tilewright_core::sort_short(&mut back, |level| *level);
    ((region.src, region.dst, region.run, there), (region.dst, region.src, region.run, back))
}

/// Returns the partner of each loop of a region that swaps with itself. Partners are unique, since destination strides
/// differ.
fn partners(region: &Region) -> Vec<usize> {
    let of = |level: &Loop| region.loops.iter().position(|other| other.dst == level.src);
    region.loops.iter().enumerate().map(|(i, level)| of(level).unwrap_or(i)).collect()
}

impl Swap {
    fn new(region: &Region, partners: Option<Vec<usize>>, half: u64) -> Swap {
        let shape = shape(&region.loops, partners.as_deref(), half / region.run);
        let piece = region.run.min(half);
        let loops = region.loops.clone();
        Swap { src: region.src, dst: region.dst, run: region.run, loops, partners, shape, piece }
    }

    /// Returns the bytes of scratch: a block and its image.
    pub(super) fn scratch(&self) -> u64 {
        2 * self.block()
    }

    /// Returns the bytes of a block.
    pub(super) fn block(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.piece
    }

    /// Returns whether the block that begins at these indices is visited, rather than its image.
    pub(super) fn is_first(&self, at: &[u64]) -> bool {
        let Some(partners) = &self.partners else { return true };
        let image = partners.iter().map(|&partner| &at[partner]);
        at.iter().cmp(image).is_le()
    }
}

/// Returns the extents of a block of at most `room` runs: square in loops that swap, loops with small strides first.
fn shape(loops: &[Loop], partners: Option<&[usize]>, room: u64) -> Vec<u64> {
    let mut shape = vec![1; loops.len()];
    let mut room = room.max(1);
    let mut pairs: Vec<(usize, usize)> = match partners {
        Some(partners) => partners.iter().copied().enumerate().filter(|(i, j)| i <= j).collect(),
        None => nearest(loops),
    };
    let near = |i: usize| loops[i].src.unsigned_abs().min(loops[i].dst.unsigned_abs());
    tilewright_core::sort_short(&mut pairs, |&(i, j)| near(i).min(near(j)));
    for (i, j) in pairs {
        if i == j {
            shape[i] = loops[i].extent.min(room);
            room /= shape[i];
        } else {
            shape[i] = loops[i].extent.min(room.isqrt());
            shape[j] =
                loops[j].extent.min(if partners.is_some() { shape[i] } else { room / shape[i] });
            room /= shape[i] * shape[j];
        }
    }
    shape
}

/// Returns the loops with the smallest stride on each side, as a pair.
fn nearest(loops: &[Loop]) -> Vec<(usize, usize)> {
    let loops = || loops.iter().enumerate();
    let src = loops().min_by_key(|(_, level)| level.src.unsigned_abs());
    let dst = loops().min_by_key(|(_, level)| level.dst.unsigned_abs());
    src.zip(dst).map(|((i, _), (j, _))| (i, j)).into_iter().collect()
}

impl fmt::Display for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blocks of {:?} runs of {} bytes", self.shape, self.piece)?;
        for level in &self.loops {
            write!(f, "\n    {}× source {}, destination {}", level.extent, level.src, level.dst)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_players_meet_once_and_sit_at_one_table_a_round() {
        for players in (2..=24).step_by(2) {
            let mut met = BTreeSet::new();
            for round in 0..players - 1 {
                let mut seated = BTreeSet::new();
                for table in 0..players / 2 {
                    let (i, j) = meeting(players, round, table);
                    assert!(i < j && j < players && met.insert((i, j)));
                    assert!(seated.insert(i) && seated.insert(j));
                }
            }
            assert_eq!(met.len(), players * (players - 1) / 2);
        }
    }
}
