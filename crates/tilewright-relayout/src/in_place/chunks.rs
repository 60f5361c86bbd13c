//! Chunks of the buffer that exchange no elements: each is copied to the scratch buffer and moved back.
//!
//! Law: a chunk is closed if every element that it holds before the move is in it after the move.

use core::{fmt, ops::Range};

use rayon::prelude::*;

use crate::{
    cpu::{
        kernel,
        scratch::{FreeList, WorkBuffers},
        transpose::Locality,
        way::Terms,
        ways::Ways,
    },
    plan::PlanInner,
    program::region::{Loop, Region, RegionRef, clip},
};

/// Small chunks are moved together, in groups of about this many bytes.
const TOGETHER: u64 = 1 << 15;

/// The buffer in chunks of one size.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    /// The bytes of the smallest closed chunks.
    closed: u64,
    /// The byte at which the first whole chunk begins.
    phase: u64,
    /// The bytes that are moved at a time, a multiple of a chunk.
    block: u64,
    /// The regions to move, if they differ from those of the plan.
    own: Option<Vec<Region>>,
    /// The kernels of the regions.
    ways: Vec<Ways>,
}

/// Returns whether no byte of the buffer changes.
pub(super) fn stays(inner: &PlanInner) -> bool {
    let still = |region: &Region| region.src == region.dst && region.loops.iter().all(is_common);
    inner.program.dst().padding() == 0
        && inner.program.regions().is_some_and(|regions| regions.iter().all(still))
        // The bits after the last packed element become 0.
        && (inner.program.dst().capacity() * u64::from(inner.program.elements().dst_bits % 8)).is_multiple_of(8)
}

fn is_common(level: &Loop) -> bool {
    level.src == level.dst
}

impl Chunks {
    /// Returns the smallest closed chunks of at most `most` bytes.
    pub(super) fn of(inner: &PlanInner, most: u64) -> Option<Chunks> {
        let whole = (inner.program.dst_bytes() <= most).then_some((inner.program.dst_bytes(), 0));
        let Some(regions) = inner.program.regions() else {
            return Some(Chunks::new(inner, whole?, most, None));
        };
        let mut sizes: Vec<u64> = regions.iter().flat_map(|region| sizes(inner, region)).collect();
        sizes.retain(|&size| {
            size <= most && size.is_multiple_of(inner.program.elements().dst_align())
        });
        sizes.sort_unstable();
        sizes.dedup();
        let low =
            regions.iter().find(|region| !region.loops.iter().all(is_common)).map_or(0, |region| {
                let low = region.src_low().min(region.dst) as u64;
                if region.packed {
                    low * u64::from(inner.program.elements().dst_bits) / 8
                } else {
                    low
                }
            });
        let closed = sizes.into_iter().find_map(|size| {
            let phases = [
                0,
                low % size / inner.program.elements().dst_align()
                    * inner.program.elements().dst_align(),
            ];
            let fits =
                |phase: &u64| regions.iter().all(|region| closed(inner, region, size, *phase));
            Some((size, phases.into_iter().find(fits)?))
        });
        Some(Chunks::new(inner, closed.or(whole)?, most, None))
    }

    /// Returns chunks in which elements keep their positions and padding gets the fill.
    pub(super) fn padding(inner: &PlanInner, most: u64) -> Option<Chunks> {
        let align = inner.program.elements().dst_align();
        if align > most {
            return None;
        }
        let still = |region: &Region| {
            let mut region = Region { src: region.dst, ..region.clone() };
            region.loops.iter_mut().for_each(|level| level.src = level.dst);
            region.merge();
            region
        };
        let own = inner.program.regions()?.iter().map(still).collect();
        Some(Chunks::new(inner, (align, 0), most, Some(own)))
    }

    fn new(
        inner: &PlanInner,
        (closed, phase): (u64, u64),
        most: u64,
        own: Option<Vec<Region>>,
    ) -> Chunks {
        let closed = closed.max(1);
        let block = closed * (TOGETHER.min(most).min(inner.program.dst_bytes()) / closed).max(1);
        let terms = Terms { locality: Locality::Cache, ..inner.terms };
        let mut chunks = Chunks { closed, phase, block, own, ways: Vec::new() };
        let regions = chunks.regions(inner).unwrap_or_default();
        chunks.ways = regions.iter().map(|region| Ways::of(region, terms)).collect();
        chunks
    }

    fn regions<'a>(&'a self, inner: &'a PlanInner) -> Option<&'a [Region]> {
        self.own.as_deref().or(inner.program.regions())
    }

    /// Returns the bytes of a closed chunk.
    pub(super) fn closed(&self) -> u64 {
        self.closed
    }

    /// Returns the bytes of scratch.
    pub(super) fn scratch(&self) -> u64 {
        self.block
    }

    /// Moves all chunks.
    pub(super) fn run(
        &self,
        inner: &PlanInner,
        works: &FreeList<WorkBuffers>,
        buffer: &mut [u8],
        threads: usize,
    ) {
        let (head, rest) = buffer.split_at_mut((self.phase as usize).min(buffer.len()));
        let phase = head.len() as u64;
        works.with(|work| self.chunk(inner, work, 0..phase, head));
        let range = |i: usize, len: usize| {
            let from = phase + i as u64 * self.block;
            from..from + len as u64
        };
        let size = usize::try_from(self.block).unwrap_or(usize::MAX);
        if threads == 1 {
            return works.with(|work| {
                for (i, chunk) in rest.chunks_mut(size).enumerate() {
                    self.chunk(inner, work, range(i, chunk.len()), chunk);
                }
            });
        }
        rest.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| {
            works.with(|work| self.chunk(inner, work, range(i, chunk.len()), chunk));
        });
    }

    fn chunk(&self, inner: &PlanInner, work: &mut WorkBuffers, range: Range<u64>, out: &mut [u8]) {
        work.reserve(out.len() as u64);
        let held = &mut work.bytes[..out.len()];
        held.copy_from_slice(out);
        let src = &*held;
        let scratch = core::cell::RefCell::new(&mut work.scratch);
        inner.write(range, out, &|range, out| {
            let Some(regions) = self.regions(inner) else {
                let offsets = inner.offsets(range);
                return inner.program.digits().walk(offsets.clone(), &mut |leaf| {
                    let first = -offsets.start;
                    kernel::table(inner.program.elements(), leaf, (first, first), src, out);
                });
            };
            for (region, ways) in regions.iter().zip(&self.ways) {
                let units = region.dst_range(range, inner.program.elements());
                clip(region, units, &mut |part| {
                    let (from, to) = (part.src - units.0, part.dst - units.0);
                    let part = RegionRef { src: from, dst: to, ..part };
                    let mut scratch = scratch.borrow_mut();
                    ways.run(region, &mut ways.tools(&mut scratch), &part, src, out);
                });
            }
        });
    }
}

/// Iterates over the possible sizes of chunks in bytes: the strides of loops that are equal on both sides.
fn sizes(inner: &PlanInner, region: &Region) -> impl Iterator<Item = u64> {
    let bits = u64::from(region.dst_unit(inner.program.elements()));
    let common = region.loops.iter().filter(|level| is_common(level));
    common.filter_map(move |level| {
        let bits = (level.dst as u64).checked_mul(bits)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    })
}

/// Returns whether the elements of a region stay within chunks of `size` bytes that begin at `phase`.
fn closed(inner: &PlanInner, region: &Region, size: u64, phase: u64) -> bool {
    if region.src == region.dst && region.loops.iter().all(is_common) {
        return true;
    }
    let units = 8 / i128::from(region.dst_unit(inner.program.elements()));
    let (size, phase) = (i128::from(size) * units, i128::from(phase) * units);
    let (mut from, mut to) = ((i128::from(region.src), i128::from(region.src)), (0, 0));
    (to.0, to.1) = (i128::from(region.dst), i128::from(region.dst));
    for level in &region.loops {
        if is_common(level) && i128::from(level.dst) % size == 0 {
            continue;
        }
        let (src, dst) = (i128::from(level.src_reach()), i128::from(level.dst_reach()));
        from = (from.0 + src.min(0), from.1 + src.max(0));
        to = (to.0 + dst.min(0), to.1 + dst.max(0));
    }
    let (low, high) = (from.0.min(to.0), from.1.max(to.1) + i128::from(region.run) - 1);
    (low - phase).div_euclid(size) == (high - phase).div_euclid(size)
}

impl fmt::Display for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.own.is_some() { "padding in" } else { "elements stay within" };
        write!(f, "{what} chunks of {} bytes, {} at a time", self.closed, self.block)
    }
}
