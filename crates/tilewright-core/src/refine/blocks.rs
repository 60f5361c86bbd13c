//! The blocks of a joint refinement, as an iterator.
//!
//! Law: the blocks visit every coordinate of the part exactly once. Along a cut dim, a block extends as far as the widest
//! digit that begins there on both sides, and as that digit continues without a carry on either side.

use crate::{
    Block, Coord, Loop, MAX_MODES, Refinement,
    refine::{is, min},
};

/// Iterator over the blocks of a [`Refinement`].
///
/// ```
/// use tilewright_core::{Blocks, Layout, Refinement, TensorLayout};
/// let rows = TensorLayout::row_major(&[7]).unwrap();
/// let tiled = TensorLayout::new(&[7], &Layout::parse("((4,2)):((1,8))").unwrap(), 12).unwrap();
/// let refinement = Refinement::new(&rows, &tiled).unwrap();
/// let blocks: Blocks = refinement.blocks();
/// // Every element is in exactly one box.
/// assert_eq!(blocks.map(|block| block.size()).sum::<u64>(), 7);
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    refinement: &'a Refinement<'a>,
    /// For each dim, the cut whose digit is clipped, and its iterations; the digits below are full.
    clipped: [(usize, u64); MAX_MODES],
    /// The current coordinate within the part.
    coord: Coord,
    /// Blocks whose origin is not before this coordinate are skipped.
    end: Option<Coord>,
    done: bool,
}

impl Refinement<'_> {
    /// Returns an iterator over the blocks.
    ///
    /// ```
    /// use tilewright_core::{Refinement, TensorLayout};
    /// // A copy in plain loops, box by box.
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let (from, mut to) = (['a', 'b', 'c', 'd', 'e', 'f'], ['?'; 6]);
    /// for block in Refinement::new(&src, &dst).unwrap().blocks() {
    ///     let [rows, columns] = block.loops() else { panic!("two loops") };
    ///     for (i, j) in (0..rows.extent as i64).flat_map(|i| (0..3).map(move |j| (i, j))) {
    ///         let at = block.src() + i * rows.src + j * columns.src;
    ///         to[(block.dst() + i * rows.dst + j * columns.dst) as usize] = from[at as usize];
    ///     }
    /// }
    /// assert_eq!(to, ['a', 'd', 'b', 'e', 'c', 'f']);
    /// ```
    pub const fn blocks(&self) -> Blocks<'_> {
        Blocks::new(self)
    }
}

impl<'a> Blocks<'a> {
    pub(crate) const fn new(refinement: &'a Refinement<'a>) -> Blocks<'a> {
        let mut blocks = Blocks {
            refinement,
            clipped: [(0, 0); MAX_MODES],
            coord: Coord::origin(refinement.rank()),
            end: None,
            done: refinement.is_empty(),
        };
        let mut dim = 0;
        while !blocks.done && dim < refinement.rank() {
            blocks.enter(dim, 0);
            dim += 1;
        }
        blocks
    }

    /// Skips, from here on, blocks that begin at `end` or after it in row-major order.
    pub(crate) const fn end_before(&mut self, end: &Coord) {
        self.end = Some(end.copied());
    }

    /// Returns whether the block at the current coordinate is wanted. If it is not, no block at a larger coordinate of the
    /// advanced dim is: the faster dims are at their first block.
    const fn wanted(&self) -> bool {
        match &self.end {
            Some(end) => self.coord.is_before(end),
            None => true,
        }
    }

    /// Returns the next block, like [`Iterator::next`], as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{Refinement, TensorLayout, expect_const};
    /// const ROWS: TensorLayout = expect_const!(TensorLayout::row_major(&[4, 6]));
    /// const COLUMNS: TensorLayout = expect_const!(TensorLayout::col_major(&[4, 6]));
    /// // The number of boxes of a transpose, known at compile time.
    /// const COUNT: usize = {
    ///     let refinement = expect_const!(Refinement::new(&ROWS, &COLUMNS));
    ///     let (mut blocks, mut count) = (refinement.blocks(), 0);
    ///     while blocks.next_block().is_some() {
    ///         count += 1;
    ///     }
    ///     count
    /// };
    /// assert_eq!(COUNT, 1);
    /// ```
    pub const fn next_block(&mut self) -> Option<Block> {
        if self.done {
            return None;
        }
        let (a, b) = self.refinement.at(&self.coord);
        let (src, dst) = self.refinement.sides();
        let (from, to) = match (src.offset(a.as_slice()), dst.offset(b.as_slice())) {
            (Ok(from), Ok(to)) => (from, to),
            // The coordinate is within the part, and the part within the extents.
            _ => return None,
        };
        let mut block = Block::new(self.coord.copied(), from, to);
        let mut dim = 0;
        while dim < self.refinement.rank() {
            self.push_digits(&mut block, dim);
            dim += 1;
        }
        let run = self.push_run(&mut block, &a, &b);
        self.advance(run);
        Some(block)
    }

    const fn push_digits(&self, block: &mut Block, dim: usize) {
        let (from, to) = self.refinement.ranges[dim];
        if from == to {
            return;
        }
        let (level, turns) = self.clipped[dim];
        let mut i = level + 1;
        while i > from {
            i -= 1;
            let cut = self.refinement.cuts[i];
            let extent = if i == level { turns } else { self.refinement.cuts[i + 1].at / cut.at };
            block.push(Loop { dim: dim as u8, step: cut.at, extent, src: cut.src, dst: cut.dst });
        }
    }

    /// Adds the run along the walked dim; returns its length.
    const fn push_run(&self, block: &mut Block, src: &Coord, dst: &Coord) -> u64 {
        let Some(dim) = self.refinement.walked else { return 1 };
        let (from, to) = self.refinement.sides();
        match (from.run(src.as_slice(), dim), to.run(dst.as_slice(), dim)) {
            (Ok(a), Ok(b)) => {
                let left = self.refinement.extent(dim) - self.coord.as_slice()[dim];
                let extent = min(min(a.len, b.len), left);
                block.push(Loop { dim: dim as u8, step: 1, extent, src: a.stride, dst: b.stride });
                extent
            }
            // The coordinate is within the extents.
            _ => 1,
        }
    }

    /// Sets the coordinate of a dim, and finds the box that begins there.
    const fn enter(&mut self, dim: usize, at: u64) {
        self.coord.as_mut_slice()[dim] = at;
        self.clipped[dim] = self.refinement.clipped(dim, at);
    }

    /// Moves a cut dim to its next clipped box; returns whether there was one.
    const fn next_clipped(&mut self, dim: usize) -> bool {
        let (level, turns) = self.clipped[dim];
        let at = self.coord.as_slice()[dim] + turns * self.refinement.cuts[level].at;
        let more = at < self.refinement.extent(dim);
        if more {
            self.enter(dim, at);
        }
        more
    }

    const fn advance(&mut self, run: u64) {
        if let Some(dim) = self.refinement.walked {
            self.coord.as_mut_slice()[dim] += run;
            if self.coord.as_slice()[dim] < self.refinement.extent(dim) && self.wanted() {
                return;
            }
            self.coord.as_mut_slice()[dim] = 0;
        }
        let mut dim = self.refinement.rank();
        while dim > 0 {
            dim -= 1;
            let (from, to) = self.refinement.ranges[dim];
            if from < to {
                if self.next_clipped(dim) && self.wanted() {
                    return;
                }
            } else if self.refinement.walked.is_none() || !is(self.refinement.walked, dim) {
                self.coord.as_mut_slice()[dim] += 1;
                if self.coord.as_slice()[dim] < self.refinement.extent(dim) && self.wanted() {
                    return;
                }
            }
            self.enter(dim, 0);
        }
        self.done = true;
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        self.next_block()
    }
}
