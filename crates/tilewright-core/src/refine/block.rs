//! A box of elements of two arrays at once: the unit of a joint refinement; and an iterator over the blocks of one.
//!
//! Law: the blocks visit every coordinate of the part exactly once. Along a cut dim, a block extends as far as the widest
//! digit that begins there on both sides, and as that digit continues without a carry on either side.

use crate::{
    Coord, MAX_MODES, Refinement,
    refine::{is, min},
};

/// The largest number of loops of one [`Block`]: all modes of both layouts, and a run.
pub const MAX_LOOPS: usize = 2 * MAX_MODES + 1;

/// One loop of a [`Block`]: consecutive iterations move by a fixed distance in the source and the destination.
///
/// ```
/// use tilewright_core::{Loop, Refinement, TensorLayout};
/// let rows = TensorLayout::row_major(&[8, 6]).unwrap();
/// let columns = TensorLayout::col_major(&[8, 6]).unwrap();
/// let refinement = Refinement::new(&rows, &columns).unwrap();
/// let block = refinement.blocks().next().unwrap();
/// // A transpose is two loops: the next row is 6 elements away here and 1 there.
/// assert!(block.loops().contains(&Loop { dim: 0, step: 1, extent: 8, src: 6, dst: 1 }));
/// assert!(block.loops().contains(&Loop { dim: 1, step: 1, extent: 6, src: 1, dst: 8 }));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The logical dim that the loop iterates along.
    pub dim: u8,
    /// The increase of the logical coordinate with each iteration.
    pub step: u64,
    /// The number of iterations, at least 2.
    pub extent: u64,
    /// The distance between iterations in the source, in elements.
    pub src: i64,
    /// The distance between iterations in the destination, in elements.
    pub dst: i64,
}

/// A box of elements: an origin and independent loops, the most significant of each dim first.
///
/// ```
/// use tilewright_core::{Layout, Refinement, TensorLayout};
/// // 5 rows into blocks of 2 rows: a box of two full blocks, and one of the last row.
/// let rows = TensorLayout::row_major(&[5]).unwrap();
/// let blocks = Layout::parse("((2,3)):((1,4))").unwrap();
/// let blocks = TensorLayout::new(&[5], &blocks, 12).unwrap();
/// let refinement = Refinement::new(&rows, &blocks).unwrap();
/// let boxes: Vec<_> = refinement.blocks().map(|b| (b.src(), b.dst(), b.size())).collect();
/// assert_eq!(boxes, [(0, 0, 4), (4, 8, 1)]);
/// ```
#[must_use]
#[derive(Clone)]
pub struct Block {
    origin: Coord,
    src: i64,
    dst: i64,
    loops: [Loop; MAX_LOOPS],
    len: usize,
}

impl Block {
    pub(crate) const fn new(origin: Coord, src: i64, dst: i64) -> Block {
        let none = Loop { dim: 0, step: 0, extent: 1, src: 0, dst: 0 };
        Block { origin, src, dst, loops: [none; MAX_LOOPS], len: 0 }
    }

    pub(crate) const fn push(&mut self, turn: Loop) {
        if turn.extent > 1 {
            self.loops[self.len] = turn;
            self.len += 1;
        }
    }

    /// Returns the logical coordinate of the first element.
    ///
    /// ```
    /// use tilewright_core::{Layout, Refinement, TensorLayout};
    /// let rows = TensorLayout::row_major(&[2, 5]).unwrap();
    /// let tiled = Layout::parse("(2,(2,3)):(2,(1,4))").unwrap();
    /// let tiled = TensorLayout::new(&[2, 5], &tiled, 12).unwrap();
    /// let refinement = Refinement::new(&rows, &tiled).unwrap();
    /// // The box of the remaining column begins at column 4.
    /// assert_eq!(refinement.blocks().last().unwrap().origin().as_slice(), [0, 4]);
    /// ```
    pub const fn origin(&self) -> &Coord {
        &self.origin
    }

    /// Returns the offset of the first element in the source, in elements.
    ///
    /// ```
    /// use tilewright_core::{Layout, Refinement, TensorLayout};
    /// // Read from a buffer that begins with 16 elements of something else.
    /// let src = TensorLayout::of(&Layout::parse("(2,3):(3,1)+16").unwrap());
    /// let dst = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let refinement = Refinement::new(&src, &dst).unwrap();
    /// assert_eq!(refinement.blocks().next().unwrap().src(), 16);
    /// ```
    pub const fn src(&self) -> i64 {
        self.src
    }

    /// Returns the offset of the first element in the destination, in elements.
    ///
    /// ```
    /// use tilewright_core::{Layout, Refinement, TensorLayout};
    /// // Columns stored from the last to the first.
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::of(&Layout::parse("(2,3):(3,-1)+2").unwrap());
    /// let refinement = Refinement::new(&src, &dst).unwrap();
    /// let block = refinement.blocks().next().unwrap();
    /// assert_eq!((block.dst(), block.loops()[1].dst), (2, -1));
    /// ```
    pub const fn dst(&self) -> i64 {
        self.dst
    }

    /// Returns the loops, in no particular order of strides. Loops of one iteration are omitted.
    ///
    /// ```
    /// use tilewright_core::{Layout, Refinement, TensorLayout};
    /// // Along one logical dim, two loops: over the blocks, and inside a block.
    /// let src = TensorLayout::row_major(&[64]).unwrap();
    /// let dst = TensorLayout::of(&Layout::parse("((16,4)):((1,32))").unwrap());
    /// let refinement = Refinement::new(&src, &dst).unwrap();
    /// let block = refinement.blocks().next().unwrap();
    /// let loops: Vec<_> = block.loops().iter().map(|l| (l.step, l.extent, l.dst)).collect();
    /// assert_eq!(loops, [(16, 4, 32), (1, 16, 1)]);
    /// ```
    pub const fn loops(&self) -> &[Loop] {
        self.loops.split_at(self.len).0
    }

    /// Returns the number of elements.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Refinement, TensorLayout};
    /// let src = TensorLayout::row_major(&[100, 100]).unwrap();
    /// let dst = Fractal::ZZ.pattern(16, 16).layout(&[100, 100]).unwrap();
    /// let refinement = Refinement::new(&src, &dst).unwrap();
    /// // Whole blocks, the ragged columns, the ragged rows, the corner: padding is in none of them.
    /// let sizes: Vec<u64> = refinement.blocks().map(|block| block.size()).collect();
    /// assert_eq!(sizes, [96 * 96, 96 * 4, 4 * 96, 4 * 4]);
    /// ```
    pub const fn size(&self) -> u64 {
        let (mut size, mut i) = (1, 0);
        while i < self.len {
            size *= self.loops[i].extent;
            i += 1;
        }
        size
    }
}

impl core::fmt::Debug for Block {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}->{} {:?}", self.origin, self.src, self.dst, self.loops())
    }
}

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
