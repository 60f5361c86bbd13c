//! Boxes of cells on one side, source or destination: loops around runs, with the strides of that side only.

use crate::program::MAX_REGIONS;
use tilewright_core::{Block, Refinement};

/// One loop of a [`Gap`](crate::Gap), in units of the gap.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_relayout::{Elements, GapLoop, Program};
/// let src = TensorLayout::row_major(&[3, 5]).unwrap();
/// let padded = TensorLayout::new(&[3, 5], &Layout::parse("(3,8):(8,1)").unwrap(), 24).unwrap();
/// let program = Program::new(&src, &padded, Elements::same(32), 0).unwrap();
/// let [gap] = program.gaps().unwrap() else { panic!("three units at the end of each row") };
/// assert_eq!(gap.loops, [GapLoop { extent: 3, stride: 32 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapLoop {
    /// The number of iterations, at least 2.
    pub extent: u64,
    /// The stride, always positive.
    pub stride: u64,
}

/// Loops around runs of cells, by descending stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) at: u64,
    pub(crate) run: u64,
    pub(crate) loops: Vec<GapLoop>,
}

impl Cells {
    /// Returns the cells that a block occupies in the destination.
    pub(crate) fn of(block: &Block) -> Option<Cells> {
        let (mut at, mut loops) = (block.dst(), Vec::with_capacity(block.loops().len()));
        for level in block.loops() {
            at += level.dst.min(0) * (level.extent as i64 - 1);
            if level.dst != 0 {
                loops.push(GapLoop { extent: level.extent, stride: level.dst.unsigned_abs() });
            }
        }
        tilewright_core::sort_short(&mut loops, |level| core::cmp::Reverse(level.stride));
        let mut cells = Cells { at: u64::try_from(at).ok()?, run: 1, loops };
        cells.merge();
        Some(cells)
    }

    /// Merges each loop with the next if it continues that loop.
    pub(crate) fn merge(&mut self) {
        while let Some(last) = self.loops.last()
            && last.stride <= self.run
        {
            // Iterations that begin within or directly after the previous one extend the run as well.
            self.run += (last.extent - 1) * last.stride;
            self.loops.pop();
        }
        let mut i = 1;
        while i < self.loops.len() {
            let (outer, inner) = (self.loops[i - 1], self.loops[i]);
            if outer.stride == inner.stride.saturating_mul(inner.extent) {
                self.loops[i].extent *= outer.extent;
                self.loops.remove(i - 1);
            } else {
                i += 1;
            }
        }
    }

    /// Returns the distance from the first cell to the end of the last run.
    pub(crate) fn span(&self) -> u64 {
        self.loops.iter().map(|level| (level.extent - 1) * level.stride).sum::<u64>() + self.run
    }

    pub(crate) fn end(&self) -> u64 {
        self.at + self.span()
    }

    /// Returns the largest stride; 0 for a single run.
    pub(crate) fn stride(&self) -> u64 {
        self.loops.first().map_or(0, |level| level.stride)
    }

    /// Extends this box by `cells` with the loop `level` around them, if these are its next iterations. Returns whether
    /// it did.
    pub(crate) fn goes_on(&mut self, cells: &Cells, level: GapLoop) -> bool {
        if self.run != cells.run {
            return false;
        }
        if self.loops == cells.loops && level.extent > 1 && self.at + level.stride == cells.at {
            self.loops.insert(0, GapLoop { extent: level.extent + 1, ..level });
            return true;
        }
        let Some((outer, inner)) = self.loops.split_first_mut() else { return false };
        let next = self.at + outer.extent * outer.stride;
        let goes_on = next == cells.at && (level.extent == 1 || level.stride == outer.stride);
        if goes_on && *inner == *cells.loops {
            outer.extent += level.extent;
            return true;
        }
        false
    }

    /// Extends this box by an equal one that follows it, as the second iteration of a loop or a longer run.
    pub(crate) fn paired(&mut self, cells: &Cells) -> Option<&mut Cells> {
        if self.loops != cells.loops || self.end() > cells.at {
            return None;
        }
        if self.loops.is_empty() && self.end() == cells.at {
            self.run += cells.run;
        } else if self.run == cells.run {
            self.loops.insert(0, GapLoop { extent: 2, stride: cells.at - self.at });
        } else {
            return None;
        }
        Some(self)
    }

    /// Returns one iteration of the outermost loop, moved to `at`.
    pub(crate) fn iteration(&self, at: u64) -> Cells {
        Cells { at, run: self.run, loops: self.loops.get(1..).unwrap_or(&[]).to_vec() }
    }
}

/// Returns the boxes of a refinement in the destination; `None` if there are too many.
pub(crate) fn boxes_of(refinement: &Refinement<'_>) -> Option<Vec<Cells>> {
    let mut boxes = Vec::new();
    for block in refinement.blocks() {
        if boxes.len() == MAX_REGIONS {
            return None;
        }
        boxes.push(Cells::of(&block)?);
    }
    Some(boxes)
}
