//! Staged moves: a block is put together in a buffer that stays in a cache, as an image of its part of the destination, and the
//! image is streamed. Elements are scattered only in the caches, and whole lines are written in any order of blocks.
//!
//! Law: the blocks of a part contain every element of it, and each moves its elements to their positions.

use super::{
    Terms,
    block::{self, BlockExtents, GAP, Image, Stage},
};
use crate::{
    cpu::{
        cost,
        kernel::{TiledTranspose, Tools},
        scratch::Scratch,
        transpose::{Locality, RegisterTranspose},
    },
    program::region::{Region, RegionRef},
};

/// A staged move of a region.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    /// The extent of a block in each loop.
    pub(super) taken: Vec<u64>,
    /// The move from the first byte of a block's source to the buffer.
    first: Region,
    pub(super) tiled: TiledTranspose,
    pub(super) stage: Stage,
}

/// A tiled transpose with at most this many instructions per line is preferred to two passes.
pub(super) const FEW_INSTRUCTIONS: f64 = 24.0;

/// The most instructions per line and the fewest bytes of the image with which a staged move replaces a register transpose. The numbers separate the 160 random cases of seeds 1, 7, 31 and 201 by which of the two was faster on Zen 4.
const CHEAP: f64 = 20.0;
const LEAST_IMAGE: usize = 16 << 10;

/// It then wins if runs have at least these bytes and the register transpose moves this multiple of the elements, or less if units
/// read whole rows. Of 24 such cases 20 gained, 1.5 times in the mean, at most 2.7 times.
const LONG_RUN: usize = 640;
const TWICE: f64 = 1.15;
const TWICE_BY_ROWS: f64 = 1.09;

/// Or if runs have at most these bytes and it needs fewer instructions by this factor. On Emerald Rapids, the geometric mean of the 40
/// cases of seed 31 is 0.77 with a factor of 1.25 and 0.70 with 1; runs of 4 bytes gained nothing, and runs of 8 lost.
const SHORT_RUN: u64 = 2;
const FEWER: f64 = 1.25;

/// Or if units read whole rows, runs have at least these bytes, and the register transpose needs a buffer, too.
const VERY_LONG_RUN: usize = 2 << 10;

impl Staged {
    /// Returns the staged move of a region in memory; `None` for regions of long runs, without rows or
    /// columns, and with short runs of the destination.
    pub(super) fn of(region: &RegionRef<'_>, terms: Terms) -> Option<Staged> {
        let large = region.size() >= cost::LEAST && terms.elements.are_same();
        let short = !region.packed && region.run < cost::LINE;
        if !large || !short || terms.locality != Locality::Memory {
            return None;
        }
        let (loops, run) = (region.loops, region.run);
        let BlockExtents { taken, .. } = BlockExtents::of((loops, run), cost::STAGED_BLOCK, GAP);
        let image = Image::of((loops, run), &taken)?;
        let stage = image.stage();
        let first = block::region(image.first, run);
        let tiled = TiledTranspose::of(terms.isa, &first.whole())?;
        Some(Staged { taken, first, tiled, stage })
    }

    /// Returns whether it is probably faster than two passes.
    pub(super) fn beats_two_passes(&self) -> bool {
        // Longer runs with gaps between them are packed faster (f32, every second one: 0.37 and 0.66).
        let dense = self.first.run <= SHORT_RUN || !self.tiled.has_gaps();
        dense && self.tiled.instructions() <= FEW_INSTRUCTIONS
    }

    /// Returns whether it is probably faster than a register transpose of the region.
    pub(super) fn beats(&self, transpose: &RegisterTranspose) -> bool {
        let by_rows = self.tiled.reads_rows();
        let limit = if by_rows { TWICE_BY_ROWS } else { TWICE };
        let twice = transpose.moved() >= limit && self.stage.runs.len >= LONG_RUN;
        let buffered = !transpose.steps.gather.is_empty();
        let long = by_rows && buffered && self.stage.runs.len >= VERY_LONG_RUN;
        let few = self.first.run <= SHORT_RUN
            && self.tiled.instructions() * FEWER <= transpose.instructions();
        few || self.stage.bytes >= LEAST_IMAGE
            && self.tiled.instructions() <= CHEAP
            && (twice || long)
    }

    /// Moves a part of the region for which this was made, block by block. The part has at least the extents of a
    /// block. Returns whether it did; it does nothing if a byte is outside the slices.
    pub(super) fn run(
        &self,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) -> bool {
        if !part.is_within(src.len(), out.len()) {
            return false;
        }
        let (isa, elements) = (tools.isa, tools.elements);
        let mut done = true;
        let walk = |f: &mut dyn FnMut(i64, i64)| {
            cost::blocks((part.loops, &self.taken), (part.src, part.dst), f);
        };
        let fill = |scratch: &mut Scratch, from: i64, next: Option<i64>, image: &mut [u8]| {
            let first = RegionRef { src: from, dst: cost::LINE as i64, ..self.first.whole() };
            let ahead = next.map_or(0, |next| next - from);
            let (locality, prefetch) = (Locality::Cache, None);
            let tools = &mut Tools { elements, isa, locality, prefetch, ahead, scratch };
            done &= self.tiled.run(tools, &first, src, image);
        };
        self.stage.stream((isa, tools.scratch), out, walk, |_| (), fill);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Elements,
        cpu::kernel::Isa,
        program::region::{Loop, for_each},
    };

    /// Returns the loops of an array with these extents, the outermost of the source first, whose destination has its loops in
    /// this order; `gap` bytes follow each iteration of the outermost loop on both sides.
    fn region(extents: &[u64], order: &[usize], width: u64, gap: i64) -> Region {
        let mut loops: Vec<Loop> =
            extents.iter().map(|extent| Loop { extent: *extent, src: 0, dst: 0 }).collect();
        let (mut src, mut dst) = (width as i64, width as i64);
        for (i, level) in loops.iter_mut().enumerate().rev() {
            level.src = src + if i == 0 { gap } else { 0 };
            src *= level.extent as i64;
        }
        for (n, &i) in order.iter().enumerate().rev() {
            loops[i].dst = dst + if n == 0 { gap } else { 0 };
            dst *= loops[i].extent as i64;
        }
        block::region(loops, width)
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes hours; other tests of the combiner and of tiles run there")]
    fn blocks_move_every_element_and_nothing_else_at_any_alignment() {
        let cases: [(&[u64], &[usize]); 8] = [
            (&[700, 90], &[1, 0]),
            (&[33, 3, 200], &[0, 2, 1]),
            (&[6, 181, 64], &[2, 0, 1]),
            (&[9, 1300], &[1, 0]),
            (&[2000, 7], &[1, 0]),
            (&[5, 24, 30, 17], &[3, 1, 0, 2]),
            (&[40, 3, 90], &[2, 0, 1]),
            (&[600, 31, 5], &[2, 1, 0]),
        ];
        let mut found = 0;
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (i, (extents, order)) in cases.iter().enumerate() {
                for (k, width) in [1, 2, 3, 4, 6, 8, 12, 16, 28, 32, 56].into_iter().enumerate() {
                    let gap = [0, 5, 64][(i + k) % 3];
                    let whole = region(extents, order, width, gap);
                    let terms =
                        Terms { elements: Elements::same(8), isa, locality: Locality::Memory };
                    let Some(staged) = Staged::of(&whole.whole(), terms) else { continue };
                    found += 1;
                    let reach = |of: fn(&Loop) -> i64| {
                        (whole.loops.iter().map(of).sum::<i64>() + width as i64) as usize
                    };
                    let (from, to) = (reach(Loop::src_reach), reach(Loop::dst_reach));
                    let source: Vec<u8> = (0..from).map(|i| ((i * 167) >> 3) as u8).collect();
                    let at = [0, 1, 16, 63][(i + 2 * k) % 4];
                    let mut expected = vec![0xA5; to + at];
                    for_each(&whole.loops, 0, at as i64, &mut |from, to| {
                        let (from, to, run) = (from as usize, to as usize, width as usize);
                        expected[to..][..run].copy_from_slice(&source[from..][..run]);
                    });
                    let mut out = vec![0xA5; to + at];
                    let mut scratch = Scratch::default();
                    let mut tools = Tools {
                        elements: terms.elements,
                        isa,
                        locality: terms.locality,
                        prefetch: None,
                        ahead: 0,
                        scratch: &mut scratch,
                    };
                    let part = RegionRef { dst: at as i64, ..whole.whole() };
                    assert!(staged.run(&mut tools, &part, &source, &mut out));
                    assert!(out == expected, "{} {extents:?} {order:?} {width}", isa.name());
                    // A slice that is too short is not touched.
                    assert!(!staged.run(&mut tools, &part, &source[1..], &mut out));
                    assert!(out == expected);
                }
            }
        }
        assert!(found > 100, "{found}");
    }
}
