//! The order in which runs are copied: in blocks that read long stretches of the source and write long stretches of the
//! destination.
//!
//! Runs that continue one another in the destination form a *chain*, along the innermost loops of the destination. A
//! block is a box of the loops. The contiguous part of a chain in a block is a *segment*: the innermost loops of the
//! chain in full and some iterations of the next loop, along which segments of one block continue in another. Blocks
//! are ordered by the source.
//!
//! Law: the segments of all blocks visit every run once. The end of each segment, except those that end a chain, is the
//! start of another.

use crate::{
    cpu::{
        cost::{self, even},
        kernel::prefetch,
    },
    program::region::{Loop, RegionRef},
};

/// One loop over the runs.
#[derive(Clone, Copy, Debug)]
struct RunLoop {
    of: Loop,
    /// The iterations in one block.
    block: u64,
    /// The position in the chain, 0 for the innermost loop.
    link: Option<u32>,
}

impl RunLoop {
    /// Returns the number of blocks along the loop.
    fn count(&self) -> u64 {
        self.of.extent.div_ceil(self.block)
    }
}

/// A segment of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The first byte, relative to the first byte of the block.
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// A bit for each link of the chain, beyond those of a segment, that is not in its first iteration of the block.
    begun: u64,
    /// A bit for each such link that is not in its last iteration of the block.
    unfinished: u64,
}

/// The blocks of a part, with lists that are reused for other parts.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    run: u64,
    /// The loops, by descending destination stride.
    levels: Vec<RunLoop>,
    /// The loops that have several blocks, the outermost first, as positions in `levels`.
    order: Vec<usize>,
    /// The index of the current block along each of them.
    index: Vec<u64>,
    /// The loop within which segments end, if any.
    along: Option<usize>,
    /// The extents for which the lists below were made.
    shape: Vec<u64>,
    /// The loops of a block.
    loops: Vec<Loop>,
    /// The positions of the runs of a segment in the source, relative to the first.
    pub(crate) rows: Vec<i64>,
    pub(crate) segments: Vec<Segment>,
    /// The lines of the source to prefetch, relative to the first byte of a block.
    pub(crate) prefetched: Vec<i64>,
}

/// One block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowBlock {
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The first of the lines that its segments carry.
    pub(crate) carried: usize,
    /// True if its segments continue those of a previous block, and whether others continue them.
    pub(crate) goes_on: bool,
    pub(crate) is_continued: bool,
    begun: u64,
    unfinished: u64,
}

/// The predecessor of a segment in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    /// A segment of a previous block, whose last partial line was kept.
    Carried,
    /// A run that begins this number of bytes from the segment in the source.
    Run(i64),
}

impl Blocks {
    /// Changes these to the blocks of a part.
    pub(crate) fn set(&mut self, part: &RegionRef<'_>) {
        self.run = part.run;
        self.levels.clear();
        self.levels.extend(part.loops.iter().map(|of| RunLoop { of: *of, block: 1, link: None }));
        tilewright_core::sort_short(&mut self.levels, |level| core::cmp::Reverse(level.of.dst));
        self.link();
        self.grow();
        self.along = (0..self.levels.len()).rev().find(|i| {
            let level = &self.levels[*i];
            level.link.is_some() && level.block < level.of.extent
        });
        self.arrange();
        self.shape.clear();
        self.rows.clear();
        self.segments.clear();
        self.prefetched.clear();
        if !self.is_long() {
            self.list_prefetched();
        }
    }

    /// Returns whether a single run is a block, which is then prefetched within itself.
    pub(crate) fn is_long(&self) -> bool {
        self.run >= cost::LONG_RUN
    }

    /// Returns the bytes of a chain.
    pub(crate) fn chain(&self) -> u64 {
        let links = self.levels.iter().filter(|level| level.link.is_some());
        links.fold(self.run, |bytes, level| bytes.saturating_mul(level.of.extent))
    }

    /// Returns the number of lines that are carried at the same time.
    pub(crate) fn carried(&self) -> usize {
        match self.along {
            Some(along) => self.inside(along) as usize * self.most_segments(),
            None => 0,
        }
    }

    /// Finds the chain.
    fn link(&mut self) {
        let mut len = i64::try_from(self.run).ok();
        for (level, link) in self.levels.iter_mut().rev().zip(0..u64::BITS) {
            if len != Some(level.of.dst) {
                break;
            }
            level.link = Some(link);
            len = i64::try_from(level.of.extent)
                .ok()
                .and_then(|extent| level.of.dst.checked_mul(extent));
        }
    }

    /// Chooses the extents of a block.
    fn grow(&mut self) {
        if self.is_long() {
            return;
        }
        let mut wrote = self.run;
        for level in self.levels.iter_mut().rev().take_while(|level| level.link.is_some()) {
            let all = wrote.saturating_mul(level.of.extent);
            let wanted = cost::ROWS_WRITE.div_ceil(wrote);
            level.block = if all <= cost::ROWS_CHAIN {
                level.of.extent
            } else {
                even(level.of.extent, wanted)
            };
            wrote *= level.block;
            if level.block < level.of.extent || wrote >= cost::ROWS_WRITE {
                break;
            }
        }
        self.grow_reads();
        let bytes = self.bytes();
        let part = self.levels.iter_mut().rev().filter(|level| level.link.is_some());
        if let Some(level) = part.into_iter().find(|level| level.block < level.of.extent)
            && bytes < cost::LEAST_ROWS
        {
            level.block = even(level.of.extent, level.block * cost::LEAST_ROWS.div_ceil(bytes));
        }
    }

    /// Extends the contiguous reads of a block.
    fn grow_reads(&mut self) {
        let mut nearest: [Option<(u64, usize)>; 4] = [None; 4];
        let mut read = self.run;
        for slot in 0..nearest.len() {
            let is_next = |(i, level): (usize, &RunLoop)| {
                let seen = nearest.iter().flatten().any(|(_, seen)| *seen == i);
                let src = level.of.src.unsigned_abs();
                (!seen && src > 0 && src < read + cost::LINE).then_some((src, i))
            };
            let Some((src, i)) = self.levels.iter().enumerate().filter_map(is_next).min() else {
                break;
            };
            nearest[slot] = Some((src, i));
            let level = self.levels[i];
            let room = cost::MOST_ROWS / (self.bytes() / level.block).max(1);
            let wanted = cost::ROWS_READ.div_ceil(src).min(room).max(level.block);
            self.levels[i].block = even(level.of.extent, wanted);
            read += (self.levels[i].block - 1) * src;
            if self.levels[i].block < level.of.extent || read >= cost::ROWS_READ {
                break;
            }
        }
    }

    /// Returns the bytes of a block.
    fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.block).product::<u64>() * self.run
    }

    /// Orders the blocks as in the source, unless too many lines would be carried.
    fn arrange(&mut self) {
        let Blocks { order, levels, along, .. } = self;
        order.clear();
        order.extend((0..levels.len()).filter(|i| levels[*i].count() > 1));
        tilewright_core::sort_short(order, |i| {
            core::cmp::Reverse(levels[*i].of.src.unsigned_abs())
        });
        if let Some(along) = *along
            && self.carried() > cost::MOST_CARRIED
        {
            self.order.retain(|i| *i != along);
            self.order.push(along);
        }
        self.index.clear();
        self.index.resize(self.order.len(), 0);
    }

    /// Returns the number of blocks between two iterations of this loop.
    fn inside(&self, level: usize) -> u64 {
        let inner = self.order.iter().rev().take_while(|i| **i != level);
        inner.fold(1, |all, i| all.saturating_mul(self.levels[*i].count()))
    }

    /// Returns whether a loop separates segments, rather than runs within a segment.
    fn is_across(&self, i: usize) -> bool {
        self.along.map_or(self.levels[i].link.is_none(), |along| {
            i < along || self.levels[i].link.is_none()
        })
    }

    /// Returns the number of segments of a full block.
    fn most_segments(&self) -> usize {
        let across = (0..self.levels.len()).filter(|i| self.is_across(*i));
        across.map(|i| self.levels[i].block).product::<u64>() as usize
    }

    /// Lists the lines of a block to prefetch.
    fn list_prefetched(&mut self) {
        let several = self.levels.iter().filter(|level| level.block > 1);
        self.loops.clear();
        self.loops.extend(several.map(|level| Loop { extent: level.block, ..level.of }));
        prefetch::list(self.run, &mut self.loops, &mut self.prefetched);
    }

    /// Returns the first block of a part.
    pub(crate) fn first(&mut self, part: &RegionRef<'_>) -> RowBlock {
        self.index.fill(0);
        self.block(part)
    }

    /// Returns the next block, if there is one.
    pub(crate) fn next(&mut self, part: &RegionRef<'_>) -> Option<RowBlock> {
        for (index, level) in self.index.iter_mut().zip(&self.order).rev() {
            *index += 1;
            if *index < self.levels[*level].count() {
                return Some(self.block(part));
            }
            *index = 0;
        }
        None
    }

    /// Returns the current block.
    fn block(&self, part: &RegionRef<'_>) -> RowBlock {
        let mut block = RowBlock {
            src: part.src,
            dst: part.dst,
            carried: 0,
            goes_on: false,
            is_continued: false,
            begun: 0,
            unfinished: 0,
        };
        let mut slots = self.most_segments();
        for (index, i) in self.index.iter().zip(&self.order).rev() {
            let level = &self.levels[*i];
            let at = (index * level.block) as i64;
            block.src += at * level.of.src;
            block.dst += at * level.of.dst;
            let (begun, unfinished) = (*index > 0, index + 1 < level.count());
            if self.along == Some(*i) {
                (block.goes_on, block.is_continued) = (begun, unfinished);
                slots = 0;
            } else {
                block.carried += *index as usize * slots;
                slots = slots.saturating_mul(level.count() as usize);
                let link = level.link.map_or(0, |link| 1 << link);
                block.begun |= if begun { link } else { 0 };
                block.unfinished |= if unfinished { link } else { 0 };
            }
        }
        block
    }

    /// Updates the lists for the current block, because blocks at the end of a loop are shorter.
    pub(crate) fn list(&mut self) {
        let mut is_new = self.segments.is_empty();
        self.shape.resize(self.levels.len(), 0);
        for (i, level) in self.levels.iter().enumerate() {
            let at = self.order.iter().position(|place| *place == i);
            let at = at.map_or(0, |at| self.index[at]);
            let now = level.block.min(level.of.extent - at * level.block);
            is_new |= core::mem::replace(&mut self.shape[i], now) != now;
        }
        if is_new {
            self.list_rows();
            self.list_segments();
        }
    }

    fn list_rows(&mut self) {
        self.rows.clear();
        self.rows.push(0);
        for i in (0..self.levels.len()).rev() {
            if self.is_across(i) {
                continue;
            }
            let all = self.rows.len();
            for k in 1..self.shape[i] as i64 {
                let by = k * self.levels[i].of.src;
                (0..all).for_each(|at| self.rows.push(self.rows[at] + by));
            }
        }
    }

    fn list_segments(&mut self) {
        self.segments.clear();
        self.segments.push(Segment { src: 0, dst: 0, begun: 0, unfinished: 0 });
        for i in (0..self.levels.len()).rev() {
            if !self.is_across(i) {
                continue;
            }
            let (all, level) = (self.segments.len(), self.levels[i]);
            let link = level.link.map_or(0, |link| 1 << link);
            let last = self.shape[i] as i64 - 1;
            for k in 1..=last {
                for at in 0..all {
                    let Segment { src, dst, begun, unfinished } = self.segments[at];
                    self.segments.push(Segment {
                        src: src + k * level.of.src,
                        dst: dst + k * level.of.dst,
                        begun: begun | link,
                        unfinished: if k < last { unfinished | link } else { unfinished },
                    });
                }
            }
            if last > 0 {
                self.segments[..all].iter_mut().for_each(|segment| segment.unfinished |= link);
            }
        }
    }

    /// Returns the predecessor of a segment of a block.
    pub(crate) fn before(&self, block: &RowBlock, segment: &Segment) -> Before {
        if block.goes_on {
            return Before::Carried;
        }
        // The innermost loop that has previous iterations; loops further in were at their ends there.
        let begun = block.begun | segment.begun;
        if begun == 0 {
            return Before::Nothing;
        }
        let link = begun.trailing_zeros() as usize;
        let chain = self.levels.iter().rev();
        let inner: i64 = chain.clone().take(link).map(|level| level.of.src_reach()).sum();
        Before::Run(chain.clone().nth(link).map_or(0, |level| inner - level.of.src))
    }

    /// Returns whether a segment of a block ends its chain.
    pub(crate) fn is_end(block: &RowBlock, segment: &Segment) -> bool {
        !block.is_continued && (block.unfinished | segment.unfinished) == 0
    }
}
