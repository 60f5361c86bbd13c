//! Chunks of the buffer that exchange nothing: each is copied to the scratch buffer and moved back.
//!
//! Law: a chunk is closed if every element that it holds before is in it after.

use super::work::{Work, Works};
use crate::{
    clip::{Job, clip},
    kernel::{self, Tools},
    nest::{Nest, Turn},
    plan::Inner,
    weave::{Reach, Weave},
};
use core::{fmt, ops::Range};
use rayon::prelude::*;

/// Small chunks are moved together, about so many bytes at a time.
const TOGETHER: u64 = 1 << 15;

/// The buffer in chunks of one size.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    /// The bytes of the smallest closed chunks.
    closed: u64,
    /// Where the first whole one begins.
    phase: u64,
    /// The bytes that are moved at a time: some chunks.
    block: u64,
    /// The elements, if not those of the plan.
    own: Option<Vec<Nest>>,
    weaves: Vec<Weave>,
}

/// Whether no byte of the buffer changes.
pub(super) fn stays(inner: &Inner) -> bool {
    let still = |nest: &Nest| nest.src == nest.dst && nest.turns.iter().all(is_common);
    inner.dst.padding() == 0
        && inner.nests.as_ref().is_some_and(|nests| nests.iter().all(still))
        // Bits behind the last packed element become 0.
        && (inner.dst.capacity() * u64::from(inner.elements.dst_bits % 8)).is_multiple_of(8)
}

fn is_common(turn: &Turn) -> bool {
    turn.src == turn.dst
}

impl Chunks {
    /// The smallest closed chunks of at most so many bytes.
    pub(super) fn of(inner: &Inner, most: u64) -> Option<Chunks> {
        let whole = (inner.dst_bytes <= most).then_some((inner.dst_bytes, 0));
        let Some(nests) = &inner.nests else { return Some(Chunks::new(inner, whole?, most, None)) };
        let mut sizes: Vec<u64> = nests.iter().flat_map(|nest| sizes(inner, nest)).collect();
        sizes.retain(|&size| size <= most && size.is_multiple_of(inner.elements.dst_align()));
        sizes.sort_unstable();
        sizes.dedup();
        let low = nests.iter().find(|nest| !nest.turns.iter().all(is_common)).map_or(0, |nest| {
            let low = nest.src_low().min(nest.dst) as u64;
            if nest.packed { low * u64::from(inner.elements.dst_bits) / 8 } else { low }
        });
        let closed = sizes.into_iter().find_map(|size| {
            let phases = [0, low % size / inner.elements.dst_align() * inner.elements.dst_align()];
            let fits = |phase: &u64| nests.iter().all(|nest| closed(inner, nest, size, *phase));
            Some((size, phases.into_iter().find(fits)?))
        });
        Some(Chunks::new(inner, closed.or(whole)?, most, None))
    }

    /// Chunks in which elements stay and padding gets the fill.
    pub(super) fn padding(inner: &Inner, most: u64) -> Option<Chunks> {
        let align = inner.elements.dst_align();
        if align > most {
            return None;
        }
        let still = |nest: &Nest| {
            let mut nest = Nest { src: nest.dst, ..nest.clone() };
            nest.turns.iter_mut().for_each(|turn| turn.src = turn.dst);
            nest.merge();
            nest
        };
        let own = inner.nests.as_ref()?.iter().map(still).collect();
        Some(Chunks::new(inner, (align, 0), most, Some(own)))
    }

    fn new(
        inner: &Inner,
        (closed, phase): (u64, u64),
        most: u64,
        own: Option<Vec<Nest>>,
    ) -> Chunks {
        let closed = closed.max(1);
        let block = closed * (TOGETHER.min(most).min(inner.dst_bytes) / closed).max(1);
        let mut chunks = Chunks { closed, phase, block, own, weaves: Vec::new() };
        let first = phase..inner.dst_bytes.min(phase + block);
        let mut weaves = Vec::new();
        for nest in chunks.nests(inner).unwrap_or_default().iter().take(8) {
            clip(nest, nest.dst_range(&first, inner.elements), &mut |job| {
                weaves.extend(kernel::weave_of(inner.elements, inner.isa, &job, Reach::Near));
            });
        }
        weaves.truncate(8);
        chunks.weaves = weaves;
        chunks
    }

    fn nests<'a>(&'a self, inner: &'a Inner) -> Option<&'a [Nest]> {
        self.own.as_deref().or(inner.nests.as_deref())
    }

    /// The bytes of a closed chunk.
    pub(super) fn closed(&self) -> u64 {
        self.closed
    }

    /// The bytes of scratch.
    pub(super) fn scratch(&self) -> u64 {
        self.block
    }

    /// Moves all chunks.
    pub(super) fn run(&self, inner: &Inner, works: &Works, buffer: &mut [u8], threads: usize) {
        let (head, rest) = buffer.split_at_mut((self.phase as usize).min(buffer.len()));
        let phase = head.len() as u64;
        works.with(self.block, |work| self.chunk(inner, work, 0..phase, head));
        let range = |i: usize, len: usize| {
            let from = phase + i as u64 * self.block;
            from..from + len as u64
        };
        let size = usize::try_from(self.block).unwrap_or(usize::MAX);
        if threads == 1 {
            return works.with(self.block, |work| {
                for (i, chunk) in rest.chunks_mut(size).enumerate() {
                    self.chunk(inner, work, range(i, chunk.len()), chunk);
                }
            });
        }
        rest.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| {
            works.with(self.block, |work| self.chunk(inner, work, range(i, chunk.len()), chunk));
        });
    }

    fn chunk(&self, inner: &Inner, work: &mut Work, range: Range<u64>, out: &mut [u8]) {
        let held = &mut work.bytes[..out.len()];
        held.copy_from_slice(out);
        let src = &*held;
        let tools = core::cell::RefCell::new(Tools {
            elements: inner.elements,
            isa: inner.isa,
            reach: Reach::Near,
            weaves: &self.weaves,
            hops: &[],
            seek: true,
            ask: None,
            scratch: &mut work.scratch,
        });
        inner.write(range, out, &|range, out| {
            let Some(nests) = self.nests(inner) else {
                let offsets = inner.offsets(range);
                return inner.groups.walk(offsets.clone(), &mut |leaf| {
                    let first = -offsets.start;
                    kernel::table(inner.elements, leaf, (first, first), src, out);
                });
            };
            for nest in nests {
                let units = nest.dst_range(range, inner.elements);
                clip(nest, units, &mut |job| {
                    let job = Job { src: job.src - units.0, dst: job.dst - units.0, ..job };
                    kernel::run(&mut tools.borrow_mut(), job, src, out);
                });
            }
        });
    }
}

/// The sizes in bytes that chunks could have: what the loops that both sides share step over.
fn sizes(inner: &Inner, nest: &Nest) -> impl Iterator<Item = u64> {
    let bits = u64::from(nest.dst_unit(inner.elements));
    let common = nest.turns.iter().filter(|turn| is_common(turn));
    common.filter_map(move |turn| {
        let bits = (turn.dst as u64).checked_mul(bits)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    })
}

/// Whether the elements of a nest stay within the chunks of `size` bytes from `phase` on.
fn closed(inner: &Inner, nest: &Nest, size: u64, phase: u64) -> bool {
    if nest.src == nest.dst && nest.turns.iter().all(is_common) {
        return true;
    }
    let units = 8 / i128::from(nest.dst_unit(inner.elements));
    let (size, phase) = (i128::from(size) * units, i128::from(phase) * units);
    let (mut from, mut to) = ((i128::from(nest.src), i128::from(nest.src)), (0, 0));
    (to.0, to.1) = (i128::from(nest.dst), i128::from(nest.dst));
    for turn in &nest.turns {
        if is_common(turn) && i128::from(turn.dst) % size == 0 {
            continue;
        }
        let (src, dst) = (i128::from(turn.src_reach()), i128::from(turn.dst_reach()));
        from = (from.0 + src.min(0), from.1 + src.max(0));
        to = (to.0 + dst.min(0), to.1 + dst.max(0));
    }
    let (low, high) = (from.0.min(to.0), from.1.max(to.1) + i128::from(nest.run) - 1);
    (low - phase).div_euclid(size) == (high - phase).div_euclid(size)
}

impl fmt::Display for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.own.is_some() { "padding in" } else { "elements stay within" };
        write!(f, "{what} chunks of {} bytes, {} at a time", self.closed, self.block)
    }
}
