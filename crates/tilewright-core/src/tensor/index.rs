//! Conversion of logical coordinates to offsets, and of offsets to an element, padding or out of range.
//!
//! Laws: `locate(offset(c)) = c` for an injective layout; every offset below the capacity holds one element or padding;
//! along a [`Run`], offsets equal those of [`TensorLayout::offset`].

use crate::{
    Coord, Error, Layout, Step, TensorLayout,
    layout::index::{Solver, axes_of},
    macros::tri,
    tensor::steps::Working,
};

/// The element or padding at an offset. `C` is the coordinate of an element: a [`Coord`], or a `Vec<u64>` in XLA's
/// model, whose ranks are not limited.
///
/// ```
/// use tilewright_core::{Coord, Layout, Place, TensorLayout};
/// let rows = Layout::parse("(2,4):(4,1)").unwrap();
/// let tensor = TensorLayout::new(&[2, 3], &rows, 8).unwrap();
/// assert_eq!(tensor.locate(6), Ok(Place::Element(Coord::new(&[1, 2]).unwrap())));
/// assert_eq!(tensor.locate(7), Ok(Place::Padding));
/// assert_eq!(tensor.locate(8), Ok(Place::OutOfRange));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<C = Coord> {
    /// The element with this logical coordinate.
    Element(C),
    /// No logical element, but part of the storage.
    Padding,
    /// Not below the capacity.
    OutOfRange,
}

/// Consecutive elements along one logical dim whose offsets form an arithmetic sequence.
///
/// ```
/// use tilewright_core::{Fractal, Run};
/// // Along the columns of a zN matrix: 16 neighbours, then a jump to the next block.
/// let zn = Fractal::ZN.pattern(16, 16).layout(&[32, 32]).unwrap();
/// assert_eq!(zn.run(&[1, 0], 1), Ok(Run { offset: 16, stride: 1, len: 16 }));
/// assert_eq!(zn.run(&[1, 20], 1), Ok(Run { offset: 532, stride: 1, len: 12 }));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The offset of the first element.
    pub offset: i64,
    /// The distance between neighbours, in elements.
    pub stride: i64,
    /// The number of elements, at least 1.
    pub len: u64,
}

impl TensorLayout {
    /// Returns the offset of the element with this logical coordinate, in elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a coordinate of another rank; [out of range](Error::is_out_of_range) for one
    /// outside the extents.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// assert_eq!(layout.offset(&[1, 2]), Ok(5));
    /// assert!(layout.offset(&[2, 0]).unwrap_err().is_out_of_range());
    /// ```
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub const fn offset(&self, coord: &[u64]) -> Result<i64, Error> {
        tri!(self.check(coord));
        if self.is_strided() { self.layout().offset_at(coord) } else { self.stepped(coord) }
    }

    /// Returns the offset of a coordinate within the extents, through the steps.
    #[inline(never)]
    const fn stepped(&self, coord: &[u64]) -> Result<i64, Error> {
        let working = self.program().forth(self.extents(), coord);
        self.layout().offset_at(working.axes.split_at(working.len).0)
    }

    /// Returns the offset of the element with this row-major index, in elements.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for an index that is not below the size.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// assert_eq!(layout.offset_of(1), Ok(2));
    /// assert!(layout.offset_of(6).unwrap_err().is_out_of_range());
    /// ```
    pub const fn offset_of(&self, index: u64) -> Result<i64, Error> {
        self.offset(tri!(self.coord_of(index)).as_slice())
    }

    /// Returns the coordinate of the element with this row-major index (the last dim varies fastest).
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for an index that is not below the size.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert_eq!(layout.coord_of(5).unwrap().as_slice(), [1, 2]);
    /// assert!(layout.coord_of(6).unwrap_err().is_out_of_range());
    /// ```
    pub const fn coord_of(&self, index: u64) -> Result<Coord, Error> {
        if index >= self.size() {
            return Err(Error::out_of_range(
                "index {} of an array of {} elements",
                [index as i128, self.size() as i128],
                "",
            ));
        }
        let (mut coord, mut rest, mut dim) = (Coord::origin(self.rank()), index, self.rank());
        while dim > 0 {
            dim -= 1;
            coord.as_mut_slice()[dim] = rest % self.extents()[dim];
            rest /= self.extents()[dim];
        }
        Ok(coord)
    }

    /// Returns the element or padding at an offset. If several elements share the offset, any of them is returned.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) after [`SEARCH_STEPS`](crate::SEARCH_STEPS) steps.
    ///
    /// ```
    /// use tilewright_core::{Layout, Place, TensorLayout};
    /// let layout = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
    /// let tiled = TensorLayout::new(&[3, 5], &layout, 24).unwrap();
    /// let Ok(Place::Element(coord)) = tiled.locate(6) else { panic!() };
    /// assert_eq!(coord.as_slice(), [1, 2]);
    /// assert_eq!(tiled.locate(9), Ok(Place::Padding));
    /// assert_eq!(tiled.locate(24), Ok(Place::OutOfRange));
    /// ```
    pub const fn locate(&self, offset: i64) -> Result<Place, Error> {
        if offset >= self.capacity() as i64
            || (offset < 0 && self.capacity() > 0 && !self.below(offset))
        {
            return Ok(Place::OutOfRange);
        }
        if offset < 0 && self.capacity() == 0 {
            return Ok(Place::OutOfRange);
        }
        let mut solver = Solver::new(self.layout(), offset);
        while let Some(leaves) = tri!(solver.next()) {
            let axes = axes_of(self.layout(), &leaves);
            if let Some(coord) = self.program().back(self.extents(), &axes) {
                return Ok(Place::Element(coord));
            }
        }
        Ok(Place::Padding)
    }

    /// Returns whether a negative offset is within the bounds of the layout.
    const fn below(&self, offset: i64) -> bool {
        match self.layout().bounds() {
            Some((low, _)) => low <= offset,
            None => false,
        }
    }

    /// Returns the elements from `coord` on along `dim`, as far as the digits of the layout show that their offsets form
    /// an arithmetic sequence (a longer one may exist).
    ///
    /// # Errors
    /// Those of [`TensorLayout::offset`]; [out of range](Error::is_out_of_range) for a dim beyond the rank.
    ///
    /// ```
    /// use tilewright_core::{Layout, Run, TensorLayout};
    /// let layout = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
    /// let tiled = TensorLayout::new(&[3, 5], &layout, 24).unwrap();
    /// assert_eq!(tiled.run(&[0, 2], 1), Ok(Run { offset: 4, stride: 1, len: 2 }));
    /// assert!(tiled.run(&[0, 5], 1).unwrap_err().is_out_of_range());
    /// assert!(tiled.run(&[0, 2], 2).unwrap_err().is_out_of_range());
    /// ```
    pub const fn run(&self, coord: &[u64], dim: usize) -> Result<Run, Error> {
        tri!(self.check(coord));
        if dim >= self.rank() {
            return Err(Error::out_of_range(
                "dim {} of {}",
                [dim as i128, self.rank() as i128],
                "",
            ));
        }
        let mut walk = Walk::new(coord, dim, self.extents()[dim] - coord[dim]);
        let (mut extents, mut i) = (Working::of(self.extents()), 0);
        while i < self.steps().len() {
            walk.step(self.steps()[i], &extents);
            i += 1;
            extents = self.program().extents_before(self.extents(), i);
        }
        Ok(walk.finish(self.layout()))
    }

    #[inline]
    const fn check(&self, coord: &[u64]) -> Result<(), Error> {
        if self.holds(coord) { Ok(()) } else { Err(self.outside(coord)) }
    }

    #[inline]
    const fn holds(&self, coord: &[u64]) -> bool {
        let (extents, mut dim) = (self.extents(), 0);
        if coord.len() != extents.len() {
            return false;
        }
        while dim < coord.len() {
            if coord[dim] >= extents[dim] {
                return false;
            }
            dim += 1;
        }
        true
    }

    /// The error of a coordinate outside the array.
    #[cold]
    #[inline(never)]
    const fn outside(&self, coord: &[u64]) -> Error {
        if coord.len() != self.rank() {
            return Error::mismatch(
                "a coordinate of {} integers for an array of {} dims",
                [coord.len() as i128, self.rank() as i128],
                "a coordinate has one integer per dim",
            );
        }
        let mut dim = 0;
        while dim + 1 < coord.len() && coord[dim] < self.extents()[dim] {
            dim += 1;
        }
        Error::out_of_range(
            "coordinate {} of dim {}, which has {}",
            [coord[dim] as i128, dim as i128, self.extents()[dim] as i128],
            "coordinates run from 0 to the extent less one",
        )
    }
}

/// A coordinate that moves along a dim: the position on each working axis, and its increase per step.
struct Walk {
    at: Working,
    growth: Working,
    len: u64,
}

impl Walk {
    const fn new(coord: &[u64], dim: usize, len: u64) -> Walk {
        let mut growth = Working { axes: [0; crate::MAX_MODES], len: coord.len() };
        growth.axes[dim] = 1;
        Walk { at: Working::of(coord), growth, len }
    }

    const fn step(&mut self, step: Step, extents: &Working) {
        match step {
            Step::Merge { major, minor } => {
                let (major, minor) = (major as usize, minor as usize);
                let extent = extents.axes[minor];
                self.at.axes[minor] += self.at.axes[major] * extent;
                self.growth.axes[minor] += self.growth.axes[major] * extent;
                self.at.remove(major);
                self.growth.remove(major);
            }
            Step::Split { axis, by } => {
                let axis = axis as usize;
                let (digit, growth) = self.divide(axis, by);
                self.at.axes[self.at.len] = digit;
                self.at.len += 1;
                self.growth.axes[self.growth.len] = growth;
                self.growth.len += 1;
            }
        }
    }

    /// Divides an axis by `by`: the quotient stays, and the remainder and its growth are returned. The length ends before
    /// the remainder would overflow.
    const fn divide(&mut self, axis: usize, by: u64) -> (u64, u64) {
        let (x, growth) = (self.at.axes[axis], self.growth.axes[axis]);
        let digit = x % by;
        self.at.axes[axis] = x / by;
        if growth % by == 0 {
            self.growth.axes[axis] = growth / by;
            return (digit, 0);
        }
        self.growth.axes[axis] = 0;
        let fits = if growth < by { (by - digit).div_ceil(growth) } else { 1 };
        if fits < self.len {
            self.len = fits;
        }
        (digit, if growth < by { growth } else { 0 })
    }

    const fn finish(mut self, layout: &Layout) -> Run {
        let (mut offset, mut stride, mut axis) = (layout.offset(), 0i64, 0);
        while let Some(modes) = layout.axis(axis) {
            let mut i = 0;
            while i < modes.len() {
                let (digit, growth) = self.divide(axis, modes[i].extent());
                offset += digit as i64 * modes[i].stride();
                stride = stride.wrapping_add((growth as i64).wrapping_mul(modes[i].stride()));
                i += 1;
            }
            axis += 1;
        }
        if self.len == 1 {
            stride = 0;
        }
        let atom = layout.swizzle().atom();
        let within = offset as u64 % atom;
        if !layout.swizzle().is_identity() && stride != 0 {
            let fits = if stride > 0 {
                (atom - within).div_ceil(stride as u64)
            } else {
                within / stride.unsigned_abs() + 1
            };
            if fits < self.len {
                self.len = fits;
            }
        }
        Run {
            offset: layout.swizzled(offset),
            stride: if self.len == 1 { 0 } else { stride },
            len: self.len,
        }
    }
}
