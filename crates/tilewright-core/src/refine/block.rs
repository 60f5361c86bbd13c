//! A box of elements of two arrays at once: the unit of a joint refinement.

use crate::{Coord, MAX_MODES};

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
