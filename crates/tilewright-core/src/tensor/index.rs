//! Conversion of logical coordinates to offsets, and of offsets to an element, padding or out of range; the steps from
//! coordinates to the axes of a layout; and iterators over the elements.
//!
//! Laws: `locate(offset(c)) = c` for an injective layout; every offset below the capacity holds one element or padding;
//! along a [`Run`], offsets equal those of [`TensorLayout::offset`].
//!
//! [`TensorLayout::in_order`] visits every coordinate once, row-major; [`TensorLayout::in_memory`] visits every offset below
//! the capacity once, ascending.
//!
//! # Steps
//!
//! Strided layouts need none. Tiles that merge dims unevenly (`T(2,*,4)`) or do not divide one another (`T(3,4)(2,1)`)
//! need a few steps before strides apply.
//!
//! Law: [`Steps::back`] is the inverse of [`Steps::forth`] on every coordinate within the extents, and returns `None` for
//! every other working coordinate.

use crate::{
    Coord, Error, Layout, MAX_MODES, TensorLayout,
    const_fn::tri,
    layout::index::{Solver, axes_of},
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
        let mut growth = Working { axes: [0; MAX_MODES], len: coord.len() };
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

// Iterators over the elements, and the constructor of `Coord`, whose errors contain a `Coord`.

/// Iterator over all coordinates below some extents, row-major: the last varies fastest.
#[derive(Clone, Debug)]
pub(crate) struct Coords {
    extents: Coord,
    next: Option<Coord>,
}

impl Coords {
    pub(crate) fn new(extents: &[u64]) -> Coords {
        let extents = Coord::new(extents).unwrap_or(Coord::EMPTY);
        let empty = extents.as_slice().contains(&0);
        let next = (!empty).then(|| Coord::origin(extents.as_slice().len()));
        Coords { extents, next }
    }
}

impl Iterator for Coords {
    type Item = Coord;

    fn next(&mut self) -> Option<Coord> {
        let current = self.next.take()?;
        let mut following = current.copied();
        for dim in (0..self.extents.as_slice().len()).rev() {
            following.as_mut_slice()[dim] += 1;
            if following.as_slice()[dim] < self.extents.as_slice()[dim] {
                self.next = Some(following);
                break;
            }
            following.as_mut_slice()[dim] = 0;
        }
        Some(current)
    }
}

/// An iterator with a known number of items, which [`Iterator::size_hint`] returns.
#[derive(Clone, Debug)]
pub(crate) struct Exact<I> {
    pub(crate) items: I,
    pub(crate) left: u64,
}

impl<I: Iterator> Iterator for Exact<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.left = self.left.saturating_sub(1);
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.left) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}

impl TensorLayout {
    /// Iterates over every logical coordinate with its offset, row-major (the last dim varies fastest).
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let offsets: Vec<i64> = layout.in_order().map(|(_, offset)| offset).collect();
    /// assert_eq!(offsets, [0, 2, 4, 1, 3, 5]);
    /// assert_eq!(layout.in_order().skip(2).size_hint(), (4, Some(4)));
    /// ```
    pub fn in_order(&self) -> impl Iterator<Item = (Coord, i64)> {
        let items = Coords::new(self.extents()).filter_map(|coord| {
            let offset = self.offset(coord.as_slice()).ok()?;
            Some((coord, offset))
        });
        Exact { items, left: self.size() }
    }

    /// Iterates over every offset from 0 to the capacity with the coordinate stored there, `None` for padding. An item is
    /// an error if [`TensorLayout::locate`] is undecided.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let padded = Layout::parse("(2,3):(1,5)").unwrap();
    /// let layout = TensorLayout::new(&[2, 3], &padded, 15).unwrap();
    /// let elements = layout.in_memory().filter(|cell| matches!(cell, Ok((_, Some(_)))));
    /// assert_eq!(elements.count(), 6);
    /// assert_eq!(layout.in_memory().size_hint(), (15, Some(15)));
    /// ```
    pub fn in_memory(&self) -> impl Iterator<Item = Result<(i64, Option<Coord>), Error>> {
        (0..self.capacity() as i64).map(|offset| match self.locate(offset)? {
            Place::Element(coord) => Ok((offset, Some(coord))),
            Place::Padding | Place::OutOfRange => Ok((offset, None)),
        })
    }
}

impl Coord {
    /// Creates the coordinate with these integers, one per axis.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] integers.
    ///
    /// ```
    /// use tilewright_core::{Coord, expect_const};
    /// const ORIGIN: Coord = expect_const!(Coord::new(&[0, 0, 0]));
    /// assert_eq!(ORIGIN.to_string(), "(0,0,0)");
    /// assert!(Coord::new(&[0; 33]).unwrap_err().is_limit());
    /// ```
    pub const fn new(axes: &[u64]) -> Result<Coord, Error> {
        if axes.len() > MAX_MODES {
            return Err(Error::limit(
                "a coordinate of {} integers",
                [axes.len() as i128],
                "a coordinate has at most 32",
            ));
        }
        let (mut coord, mut i) = (Coord::EMPTY, 0);
        while i < axes.len() {
            coord.push(axes[i]);
            i += 1;
        }
        Ok(coord)
    }
}

// The steps from a logical coordinate to the axes of a layout.

/// The largest number of steps of one [`TensorLayout`](crate::TensorLayout).
pub const MAX_STEPS: usize = 32;

/// One step on the list of working axes, which begins as the logical dims.
///
/// ```
/// use tilewright_core::{Layout, Step, TensorLayout};
/// // Like XLA's `*` in a tile: rows and columns become one axis of 15, which is cut into tiles of 4.
/// let merge = Step::Merge { major: 0, minor: 1 };
/// let split = Step::Split { axis: 0, by: 4 };
/// let layout = Layout::parse("(4,4):(8,1)").unwrap();
/// let tensor = TensorLayout::with_steps(&[3, 5], &[merge, split], &layout, 28).unwrap();
/// // Element (1,2) has index 7 of them: tile 1, position 3.
/// assert_eq!(tensor.offset(&[1, 2]), Ok(11));
/// // An axis joins another axis, not itself.
/// let itself = Step::Merge { major: 1, minor: 1 };
/// assert!(TensorLayout::with_steps(&[3, 5], &[itself], &layout, 28).is_err());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Joins axis `major` to axis `minor` as its more significant part (`minor ← major·extent + minor`) and removes it
    /// from the list; the axes after it move up.
    Merge {
        /// The position of the axis that is removed.
        major: u8,
        /// The position of the axis that it joins, counted before `major` is removed.
        minor: u8,
    },
    /// Replaces axis `axis` by its quotient by `by`, rounded up in extent; the remainder is appended to the list as a new
    /// axis of extent `by`.
    Split {
        /// The position of the axis that is split.
        axis: u8,
        /// The extent of the new inner axis, at least 1.
        by: u64,
    },
}

impl Step {
    /// Returns whether two steps are equal, as a `const fn`.
    pub(crate) const fn same(self, other: Step) -> bool {
        match (self, other) {
            (Step::Merge { major: a, minor: b }, Step::Merge { major: c, minor: d }) => {
                a == c && b == d
            }
            (Step::Split { axis: a, by: b }, Step::Split { axis: c, by: d }) => a == c && b == d,
            (Step::Merge { .. }, Step::Split { .. }) | (Step::Split { .. }, Step::Merge { .. }) => {
                false
            }
        }
    }
}

/// A checked list of steps for given extents.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Steps {
    steps: [Step; MAX_STEPS],
    len: usize,
}

/// A list of working axes.
pub(crate) struct Working {
    pub(crate) axes: [u64; MAX_MODES],
    pub(crate) len: usize,
}

impl Working {
    pub(crate) const fn of(axes: &[u64]) -> Working {
        let mut working = Working { axes: [0; MAX_MODES], len: axes.len() };
        let mut i = 0;
        while i < axes.len() {
            working.axes[i] = axes[i];
            i += 1;
        }
        working
    }

    pub(crate) const fn remove(&mut self, at: usize) {
        let mut i = at;
        while i + 1 < self.len {
            self.axes[i] = self.axes[i + 1];
            i += 1;
        }
        self.len -= 1;
    }

    const fn insert(&mut self, at: usize, x: u64) {
        let mut i = self.len;
        while i > at {
            self.axes[i] = self.axes[i - 1];
            i -= 1;
        }
        self.axes[at] = x;
        self.len += 1;
    }
}

impl Steps {
    pub(crate) const NONE: Steps =
        Steps { steps: [Step::Split { axis: 0, by: 1 }; MAX_STEPS], len: 0 };

    /// Returns the steps, if they are legal on these extents, and the extents of the working axes after them.
    pub(crate) const fn new(extents: &[u64], list: &[Step]) -> Result<(Steps, Working), Error> {
        if list.len() > MAX_STEPS {
            return Err(Error::limit(
                "{} steps from logical dims to axes",
                [list.len() as i128],
                "a layout has at most 32",
            ));
        }
        let (mut steps, mut working) = (Steps::NONE, Working::of(extents));
        while steps.len < list.len() {
            tri!(extend(&mut working, list[steps.len], steps.len));
            steps.steps[steps.len] = list[steps.len];
            steps.len += 1;
        }
        Ok((steps, working))
    }

    pub(crate) const fn copied(&self) -> Steps {
        Steps { steps: self.steps, len: self.len }
    }

    #[inline]
    pub(crate) const fn as_slice(&self) -> &[Step] {
        self.steps.split_at(self.len).0
    }

    /// Returns the working coordinate of a logical coordinate within `extents`.
    pub(crate) const fn forth(&self, extents: &[u64], coord: &[u64]) -> Working {
        let (mut x, mut extent, mut i) = (Working::of(coord), Working::of(extents), 0);
        while i < self.len {
            match self.steps[i] {
                Step::Merge { major, minor } => {
                    let (major, minor) = (major as usize, minor as usize);
                    x.axes[minor] += x.axes[major] * extent.axes[minor];
                    x.remove(major);
                }
                Step::Split { axis, by } => {
                    let axis = axis as usize;
                    x.axes[x.len] = x.axes[axis] % by;
                    x.axes[axis] /= by;
                    x.len += 1;
                }
            }
            apply(&mut extent, self.steps[i]);
            i += 1;
        }
        x
    }

    /// Returns the logical coordinate of a working coordinate; `None` for padding of a step.
    pub(crate) const fn back(&self, extents: &[u64], working: &Coord) -> Option<Coord> {
        let (mut x, mut i) = (Working::of(working.as_slice()), self.len);
        // An axis may be larger than the part that the steps reach.
        if !within(&x, &self.extents_before(extents, self.len)) {
            return None;
        }
        while i > 0 {
            i -= 1;
            let before = self.extents_before(extents, i);
            match self.steps[i] {
                Step::Merge { major, minor } => {
                    let (major, minor) = (major as usize, minor as usize);
                    let at = if minor > major { minor - 1 } else { minor };
                    let extent = before.axes[minor];
                    if extent == 0 {
                        return None;
                    }
                    let merged = x.axes[at];
                    x.axes[at] = merged % extent;
                    x.insert(major, merged / extent);
                }
                Step::Split { axis, by } => {
                    let (outer, inner) = (x.axes[axis as usize], x.axes[x.len - 1]);
                    x.len -= 1;
                    x.axes[axis as usize] = match outer.checked_mul(by) {
                        Some(product) => product.saturating_add(inner),
                        None => return None,
                    };
                }
            }
            if !within(&x, &before) {
                return None;
            }
        }
        let (mut coord, mut axis) = (Coord::EMPTY, 0);
        while axis < x.len {
            coord.push(x.axes[axis]);
            axis += 1;
        }
        Some(coord)
    }

    /// Returns the extents of the working axes before step `count`.
    pub(crate) const fn extents_before(&self, extents: &[u64], count: usize) -> Working {
        let (mut working, mut i) = (Working::of(extents), 0);
        while i < count {
            apply(&mut working, self.steps[i]);
            i += 1;
        }
        working
    }
}

const fn within(x: &Working, extents: &Working) -> bool {
    let mut i = 0;
    while i < x.len {
        if x.axes[i] >= extents.axes[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Applies a checked step to extents.
const fn apply(extents: &mut Working, step: Step) {
    match step {
        Step::Merge { major, minor } => {
            extents.axes[minor as usize] *= extents.axes[major as usize];
            extents.remove(major as usize);
        }
        Step::Split { axis, by } => {
            extents.axes[axis as usize] = extents.axes[axis as usize].div_ceil(by);
            extents.axes[extents.len] = by;
            extents.len += 1;
        }
    }
}

/// Checks a step, then applies it to the extents.
const fn extend(extents: &mut Working, step: Step, at: usize) -> Result<(), Error> {
    let (a, b) = match step {
        Step::Merge { major, minor } => (major as usize, minor as usize),
        Step::Split { axis, .. } => (axis as usize, axis as usize),
    };
    if a >= extents.len || b >= extents.len {
        return Err(Error::out_of_range(
            "step {} names axis {} of {}",
            [at as i128, if a > b { a } else { b } as i128, extents.len as i128],
            "",
        ));
    }
    match step {
        Step::Merge { .. } => {
            if a == b {
                return Err(Error::illegal(
                    "step {} merges axis {} into itself",
                    [at as i128, a as i128],
                    "",
                ));
            }
            let merged = extents.axes[a] as i128 * extents.axes[b] as i128;
            if merged > i64::MAX as i128 {
                return Err(Error::overflow(
                    "step {} merges to extent {}",
                    [at as i128, merged],
                    "",
                ));
            }
        }
        Step::Split { by, .. } => {
            if by == 0 || by > i64::MAX as u64 {
                return Err(Error::illegal(
                    "step {} splits by {}",
                    [at as i128, by as i128],
                    "a tile's extent is 1 or more",
                ));
            }
            if extents.len == MAX_MODES {
                return Err(Error::limit("step {} makes more than 32 axes", [at as i128], ""));
            }
        }
    }
    apply(extents, step);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Coord, Layout, Place, Step, TensorLayout};

    #[test]
    fn back_undoes_forth_also_where_an_axis_is_larger_than_the_steps_reach() {
        let splits = [Step::Split { axis: 0, by: 3 }, Step::Split { axis: 1, by: 2 }];
        let merge = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
        for (extents, steps, layout) in [
            (&[5][..], &splits, "(2,2,4):(8,4,1)"),
            (&[5], &splits, "(3,3,3):(9,3,1)"),
            (&[5], &splits, "(2,2,2):(4,2,1)"),
            (&[3, 5], &merge, "(5,7):(7,1)"),
            (&[2, 7], &merge, "(4,4):(8,1)"),
        ] {
            let layout = Layout::parse(layout).unwrap();
            let capacity = layout.cosize() as u64;
            let tensor = TensorLayout::with_steps(extents, steps, &layout, capacity).unwrap();
            for offset in 0..capacity as i64 {
                let there = |coord: &Coord| tensor.offset(coord.as_slice()) == Ok(offset);
                let expected = (0..tensor.size()).map(|i| tensor.coord_of(i).unwrap()).find(there);
                let place = expected.map_or(Place::Padding, Place::Element);
                assert_eq!(tensor.locate(offset), Ok(place), "{tensor:?} at {offset}");
            }
        }
    }
}
