//! Swaps: loops that swap in pairs, so that a block and its image exchange their elements.
//!
//! A region swaps with another region if each goes where the other comes from. A region swaps with itself if each of
//! its loops has a partner of equal extent with the strides exchanged, or is its own partner. So the block at some
//! indices moves to the place of the block at the partners' indices.
//!
//! Law: of a block and its image, one is visited; together the blocks hold every element once.

use crate::{
    plan::PlanInner,
    program::region::{Loop, Region},
};
use core::fmt;

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
            swaps.extend((!stays(region)).then(|| Swap::new(region, Some(partners(region)), half)));
        } else {
            let other = keys.iter().position(|other| other.0 == key.1)?;
            swaps.extend((i < other).then(|| Swap::new(region, None, half)));
        }
    }
    Some(swaps)
}

fn stays(region: &Region) -> bool {
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
