//! Images of blocks: bytes that are contiguous in the destination are contiguous in the image, which stays in a cache until it is
//! streamed. Staged moves and joined regions use them.

use crate::{
    cpu::{
        cost,
        kernel::{Isa, LineWriter, Runs},
        scratch::Scratch,
        shape,
    },
    program::region::{Loop, for_each},
};

/// The fewest bytes of a run of the image.
const LEAST_RUN: u64 = cost::WRITE_RUN;

/// A block of loops around pieces of the destination.
pub(crate) struct Image {
    /// The loops from the source to the image.
    pub(crate) first: Vec<Loop>,
    /// The loops over contiguous runs, from the image to the destination.
    outer: Vec<Loop>,
    /// The bytes of a run, and of the image.
    len: u64,
    bytes: u64,
}

impl Image {
    /// Returns the image of a block of these iterations of loops around `piece` bytes; `None` if it is too
    /// large for a cache, or its runs are too short.
    pub(crate) fn of((loops, piece): (&[Loop], u64), taken: &[u64]) -> Option<Image> {
        let mut order: Vec<usize> = (0..taken.len()).filter(|i| taken[*i] > 1).collect();
        tilewright_core::sort_short(&mut order, |&i| loops[i].dst);
        let (mut len, mut bytes, mut first, mut outer) = (piece, piece, Vec::new(), Vec::new());
        for i in order {
            let (level, extent) = (&loops[i], taken[i]);
            if outer.is_empty() && level.dst as u64 == len {
                len *= extent;
            } else {
                if outer.is_empty() {
                    // An odd number of lines, so that runs do not share the sets of a cache.
                    bytes = (bytes.div_ceil(cost::LINE) | 1) * cost::LINE;
                }
                outer.push(Loop { extent, src: bytes as i64, dst: level.dst });
            }
            first.push(Loop { extent, src: level.src, dst: bytes as i64 });
            bytes = bytes.checked_mul(extent)?;
        }
        (len >= LEAST_RUN && bytes <= cost::LARGE_SCRATCH_BLOCK).then_some(Image {
            first,
            outer,
            len,
            bytes,
        })
    }

    /// Returns the buffer of the image and its runs.
    pub(crate) fn stage(&self) -> Stage {
        let mut places = Vec::new();
        for_each(&self.outer, cost::LINE as i64, 0, &mut |at, dst| places.push((at as usize, dst)));
        let runs = Runs { len: self.len as usize, places };
        Stage { bytes: (self.bytes + 2 * cost::LINE) as usize, runs }
    }
}

/// The buffer of an image, and the runs that are streamed from it.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The bytes of the buffer, with a line before and after the image.
    pub(crate) bytes: usize,
    pub(crate) runs: Runs,
}

impl Stage {
    /// Streams the blocks whose first positions `walk` yields. `begin` gets the buffer before the first block. `fill` puts each block
    /// together, from its source position and that of the next block.
    pub(crate) fn stream(
        &self,
        (isa, scratch): (Isa, &mut Scratch),
        out: &mut [u8],
        walk: impl FnOnce(&mut dyn FnMut(i64, i64)),
        begin: impl FnOnce(&mut [u8]),
        mut fill: impl FnMut(&mut Scratch, i64, Option<i64>, &mut [u8]),
    ) {
        let (mut buffer, mut waiting) = (scratch.take_block(self.bytes), scratch.take_waiting());
        let image = buffer.bytes(self.bytes);
        begin(image);
        let mut writer = LineWriter::new(isa, &mut waiting, self.runs.places.len(), out);
        shape::with_next(walk, &mut |(from, to), next| {
            fill(scratch, from, next.map(|(next, _)| next), image);
            writer.write(&self.runs, image, to);
        });
        writer.end();
        scratch.give_waiting(waiting);
        scratch.give_block(buffer);
    }
}
