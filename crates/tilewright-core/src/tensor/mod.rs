//! [`TensorLayout`]: logical extents and the positions of their elements, and the properties of the whole. Frameworks call
//! it a shape with its layout.
//!
//! Laws (checked against brute force below): `injective` means that no two elements share an offset. `contiguous_run` is
//! the number of consecutive offsets, from the first element's on, that hold elements, if the strides of each axis ascend.

pub(crate) mod index;
pub(crate) mod pattern;
pub(crate) mod view;

use crate::{
    Error, Layout, MAX_MODES, Mode, Profile, Step, Swizzle,
    const_fn::tri,
    layout::observe::{Rest, SEARCH_BITS},
};
use index::{Steps, Working};

/// Logical extents and the storage of their elements: `extents`, [`Step`]s, a [`Layout`] of the padded domain, and the
/// capacity of the storage.
///
/// In the strided case there are no steps, the layout has one axis per logical dim, and `extents[d] ≤ size(axis d)`; the
/// rest of the axis is padding. The capacity counts elements and is independent of the axes: a leading dimension, a rounded
/// allocation and a tile of higher rank than the array all need that.
///
/// Linear indices of a `TensorLayout` are row-major over the logical dims (the last varies fastest), as in XLA and
/// NumPy.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// let layout = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
/// let zn = TensorLayout::new(&[100, 100], &layout, 112 * 112).unwrap();
/// assert_eq!(zn.offset(&[99, 99]), Ok(12339));
/// assert_eq!((zn.size(), zn.capacity(), zn.padding()), (10_000, 12_544, 2_544));
///
/// // An extent beyond its axis is refused.
/// assert!(TensorLayout::new(&[113, 100], &layout, 112 * 112).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorLayout {
    extents: [u64; MAX_MODES],
    rank: usize,
    steps: Steps,
    layout: Layout,
    capacity: u64,
}

impl TensorLayout {
    /// Creates the layout of logical `extents` stored by `layout`, one axis per dim, in a storage of `capacity` elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the ranks differ or an extent exceeds its axis;
    /// [out of range](Error::is_out_of_range) if the capacity does not cover the largest offset;
    /// [overflow](Error::is_overflow) if the product of the extents exceeds 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// // A 3×5 matrix in rows of 8, in a buffer of 32 elements.
    /// let rows = Layout::parse("(3,8):(8,1)").unwrap();
    /// let tensor = TensorLayout::new(&[3, 5], &rows, 32).unwrap();
    /// assert_eq!((tensor.size(), tensor.padding()), (15, 17));
    ///
    /// assert!(TensorLayout::new(&[4, 5], &rows, 32).unwrap_err().is_mismatch());
    /// assert!(TensorLayout::new(&[3, 5], &rows, 20).unwrap_err().is_out_of_range());
    /// ```
    pub const fn new(
        extents: &[u64],
        layout: &Layout,
        capacity: u64,
    ) -> Result<TensorLayout, Error> {
        TensorLayout::with_steps(extents, &[], layout, capacity)
    }

    /// Creates a layout like [`TensorLayout::new`], with steps that turn the logical coordinate into the layout's axes.
    ///
    /// # Errors
    /// Those of [`TensorLayout::new`]; [limit](Error::is_limit), [illegal](Error::is_illegal) or
    /// [out of range](Error::is_out_of_range) for steps that do not fit.
    ///
    /// ```
    /// use tilewright_core::{Layout, Step, TensorLayout};
    /// // XLA's f32[2,3,5]{2,1,0:T(2,*,4)}: 3 and 5 are merged, then cut into fours.
    /// let steps = [
    ///     Step::Merge { major: 1, minor: 2 },
    ///     Step::Split { axis: 1, by: 4 },
    /// ];
    /// let layout = Layout::parse("(2,4,4):(4,8,1)").unwrap();
    /// let tensor = TensorLayout::with_steps(&[2, 3, 5], &steps, &layout, 32).unwrap();
    /// assert_eq!(tensor.offset(&[1, 2, 1]), Ok(4 + 2 * 8 + 3));
    /// // There is no axis 3 to merge into.
    /// let steps = [Step::Merge { major: 1, minor: 3 }];
    /// let error = TensorLayout::with_steps(&[2, 3, 5], &steps, &layout, 32).unwrap_err();
    /// assert!(error.is_out_of_range());
    /// ```
    pub const fn with_steps(
        extents: &[u64],
        steps: &[Step],
        layout: &Layout,
        capacity: u64,
    ) -> Result<TensorLayout, Error> {
        tri!(check_extents(extents));
        let (steps, working) = tri!(Steps::new(extents, steps));
        tri!(check_axes(&working, layout));
        if layout.cosize() > 0 && layout.cosize() as u64 > capacity {
            return Err(Error::out_of_range(
                "{} elements of storage for offsets up to {}",
                [capacity as i128, layout.cosize() as i128 - 1],
                "the capacity must cover the padded domain",
            ));
        }
        if capacity > i64::MAX as u64 {
            return Err(Error::overflow("a capacity of {} elements", [capacity as i128], ""));
        }
        let rank = extents.len();
        Ok(TensorLayout {
            extents: Working::of(extents).axes,
            rank,
            steps,
            layout: layout.copied(),
            capacity,
        })
    }

    /// Returns a bare layout as the array of its own coordinates: the extents are the sizes of the axes, and the
    /// capacity is the cosize.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let layout = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// assert_eq!(TensorLayout::of(&layout).extents(), [8, 12]);
    /// ```
    pub const fn of(layout: &Layout) -> TensorLayout {
        let (mut extents, mut rank) = ([0; MAX_MODES], 0);
        while let Some(size) = layout.axis_size(rank) {
            extents[rank] = size;
            rank += 1;
        }
        let cosize = layout.cosize();
        let capacity = if cosize > 0 { cosize as u64 } else { 0 };
        TensorLayout { extents, rank, steps: Steps::NONE, layout: layout.copied(), capacity }
    }

    /// Returns a bare layout as an array of one dim, its colexicographic index (the first mode fastest). This compares
    /// two layouts of equal size whose shapes differ.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let a = TensorLayout::linear(&Layout::parse("(2,3):(1,2)").unwrap()).unwrap();
    /// let b = TensorLayout::linear(&Layout::parse("6:1").unwrap()).unwrap();
    /// assert_eq!(a.same_function(&b), Ok(true));
    /// ```
    ///
    /// # Errors
    /// A legal layout causes none; the result passes the same checks again.
    pub const fn linear(layout: &Layout) -> Result<TensorLayout, Error> {
        let count = layout.modes().len();
        let axis = [count];
        let profile = tri!(Profile::nested(if count == 0 { &[] } else { &axis }));
        let line = tri!(Layout::new(layout.modes(), &profile, layout.offset(), layout.swizzle()));
        Ok(TensorLayout::of(&line))
    }

    /// Creates the dense layout in which the last dim varies fastest.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] dims; [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// assert_eq!(TensorLayout::row_major(&[2, 3]).unwrap().layout().to_string(), "(2,3):(3,1)");
    /// assert!(TensorLayout::row_major(&[u64::MAX, 2]).unwrap_err().is_overflow());
    /// ```
    pub const fn row_major(extents: &[u64]) -> Result<TensorLayout, Error> {
        let mut order = [0; MAX_MODES];
        let mut i = 0;
        while i < extents.len() && i < MAX_MODES {
            order[i] = (extents.len() - 1 - i) as u64;
            i += 1;
        }
        TensorLayout::ordered(extents, order.split_at(i).0)
    }

    /// Creates the dense layout in which the first dim varies fastest.
    ///
    /// # Errors
    /// Those of [`TensorLayout::row_major`].
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// assert_eq!(TensorLayout::col_major(&[2, 3]).unwrap().layout().to_string(), "(2,3):(1,2)");
    /// ```
    pub const fn col_major(extents: &[u64]) -> Result<TensorLayout, Error> {
        let mut order = [0; MAX_MODES];
        let mut i = 0;
        while i < extents.len() && i < MAX_MODES {
            order[i] = i as u64;
            i += 1;
        }
        TensorLayout::ordered(extents, order.split_at(i).0)
    }

    /// Creates the dense layout whose dims, fastest first, are `minor_to_major` (XLA's order).
    ///
    /// # Errors
    /// Those of [`TensorLayout::row_major`]; [illegal](Error::is_illegal) or [mismatch](Error::is_mismatch) if the order
    /// is not a permutation of the dims.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let layout = TensorLayout::ordered(&[2, 3, 4], &[0, 2, 1]).unwrap();
    /// assert_eq!(layout.layout().to_string(), "(2,3,4):(1,8,2)");
    /// assert!(TensorLayout::ordered(&[2, 3], &[0, 0]).unwrap_err().is_illegal());
    /// ```
    pub const fn ordered(extents: &[u64], minor_to_major: &[u64]) -> Result<TensorLayout, Error> {
        if extents.len() > MAX_MODES {
            return Err(Error::limit(
                "{} dims",
                [extents.len() as i128],
                "an array has at most 32",
            ));
        }
        if minor_to_major.len() != extents.len() {
            return Err(Error::mismatch(
                "an order of {} dims for an array of {}",
                [minor_to_major.len() as i128, extents.len() as i128],
                "the order names each dim once",
            ));
        }
        tri!(check_extents(extents));
        let (mut modes, mut seen) = ([Mode::new(1, 0); MAX_MODES], [false; MAX_MODES]);
        let (mut stride, mut size, mut i) = (1, 1, 0);
        while i < minor_to_major.len() {
            let dim = minor_to_major[i];
            if dim >= extents.len() as u64 || seen[dim as usize] {
                return Err(Error::illegal(
                    "dim {} at position {} of an order of {}",
                    [dim as i128, i as i128, extents.len() as i128],
                    "the order names each dim once",
                ));
            }
            let extent = extents[dim as usize];
            seen[dim as usize] = true;
            modes[dim as usize] = Mode::new(extent, stride);
            // The strides of an empty array are those with its empty dims at 1.
            stride *= if extent == 0 { 1 } else { extent as i64 };
            size *= extent;
            i += 1;
        }
        TensorLayout::new(extents, &tri!(Layout::flat(modes.split_at(extents.len()).0)), size)
    }

    /// Returns the logical extents.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// // The extents of the array, without the padding of its storage.
    /// let zn = Fractal::ZN.pattern(16, 16).layout(&[100, 30]).unwrap();
    /// assert_eq!(zn.extents(), [100, 30]);
    /// ```
    #[inline]
    pub const fn extents(&self) -> &[u64] {
        self.extents.split_at(self.rank).0
    }

    /// Returns the number of logical dims.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// assert_eq!(TensorLayout::row_major(&[2, 3, 4]).unwrap().rank(), 3);
    /// assert_eq!(TensorLayout::row_major(&[]).unwrap().rank(), 0);
    /// ```
    #[inline]
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the layout of the padded domain; in the strided case, one axis per logical dim.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// let zn = Fractal::ZN.pattern(16, 16).layout(&[100, 30]).unwrap();
    /// assert_eq!(zn.layout().to_string(), "((16,7),(16,2)):((16,256),(1,1792))");
    /// assert_eq!(zn.layout().size(), 112 * 32);
    /// ```
    #[inline]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the steps from logical coordinates to the layout's axes; empty in the strided case.
    ///
    /// ```
    /// use tilewright_core::{Layout, Step, TensorLayout};
    /// let flat = Layout::parse("15:1").unwrap();
    /// let step = Step::Merge { major: 0, minor: 1 };
    /// let merged = TensorLayout::with_steps(&[3, 5], &[step], &flat, 15).unwrap();
    /// assert_eq!(merged.steps(), [step]);
    /// assert!(TensorLayout::row_major(&[3, 5]).unwrap().steps().is_empty());
    /// ```
    #[inline]
    pub const fn steps(&self) -> &[Step] {
        self.steps.as_slice()
    }

    /// Returns whether the offset is a sum of one term per logical dim, each a sum of digits times strides.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Layout, Step, TensorLayout};
    /// assert!(Fractal::ZN.pattern(16, 16).layout(&[100, 30]).unwrap().is_strided());
    /// // Fifteen elements in tiles of four: row 1 does not begin with a tile.
    /// let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    /// let layout = Layout::parse("(4,4):(8,1)").unwrap();
    /// assert!(!TensorLayout::with_steps(&[3, 5], &steps, &layout, 28).unwrap().is_strided());
    /// ```
    #[inline]
    pub const fn is_strided(&self) -> bool {
        self.steps.as_slice().is_empty()
    }

    /// Returns the length of the storage, in elements.
    ///
    /// ```
    /// use tilewright_core::Fractal;
    /// // 7·2 blocks of 16·16 elements of two bytes.
    /// let zn = Fractal::ZN.pattern(16, 16).layout(&[100, 30]).unwrap();
    /// assert_eq!(zn.capacity() * 2, 7168);
    /// ```
    #[inline]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the number of logical elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let size = |extents| TensorLayout::row_major(extents).unwrap().size();
    /// assert_eq!((size(&[100, 30]), size(&[100, 0]), size(&[])), (3000, 0, 1));
    /// ```
    pub const fn size(&self) -> u64 {
        let (mut size, mut i) = (1, 0);
        while i < self.rank {
            size *= self.extents[i];
            i += 1;
        }
        size
    }

    /// Returns the number of storage elements that hold no logical element, for an injective layout; 0 if elements share
    /// storage and outnumber it.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Layout, TensorLayout};
    /// let padding = |extents| Fractal::ZN.pattern(16, 16).layout(extents).unwrap().padding();
    /// assert_eq!((padding(&[32, 32]), padding(&[100, 30])), (0, 7 * 2 * 256 - 3000));
    /// // A broadcast row: twelve elements in a storage of three.
    /// assert_eq!(TensorLayout::of(&Layout::parse("(4,3):(0,1)").unwrap()).padding(), 0);
    /// ```
    pub const fn padding(&self) -> u64 {
        self.capacity.saturating_sub(self.size())
    }

    /// Returns the number of dims with more than one coordinate (XLA's "true rank").
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// assert_eq!(TensorLayout::row_major(&[1, 8, 1, 64]).unwrap().true_rank(), 2);
    /// ```
    pub const fn true_rank(&self) -> usize {
        let (mut rank, mut i) = (0, 0);
        while i < self.rank {
            rank += (self.extents[i] > 1) as usize;
            i += 1;
        }
        rank
    }

    /// Returns the same map in a storage of another length, in elements.
    ///
    /// # Errors
    /// Those of [`TensorLayout::new`].
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let tensor = TensorLayout::row_major(&[3, 5]).unwrap();
    /// // The allocator returns multiples of 16 elements.
    /// assert_eq!(tensor.with_capacity(16).unwrap().padding(), 1);
    /// assert!(tensor.with_capacity(14).unwrap_err().is_out_of_range());
    /// ```
    pub const fn with_capacity(&self, capacity: u64) -> Result<TensorLayout, Error> {
        TensorLayout::with_steps(self.extents(), self.steps(), &self.layout, capacity)
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{TensorLayout, expect_const};
    /// const IMAGE: TensorLayout = expect_const!(TensorLayout::row_major(&[3, 224, 224]));
    /// const SAME: TensorLayout = IMAGE.copied();
    /// assert_eq!(IMAGE, SAME);
    /// ```
    pub const fn copied(&self) -> TensorLayout {
        TensorLayout {
            extents: self.extents,
            rank: self.rank,
            steps: self.steps.copied(),
            layout: self.layout.copied(),
            capacity: self.capacity,
        }
    }

    /// Returns the array without its swizzle, in the smallest storage.
    pub(crate) const fn unswizzled(&self) -> Result<TensorLayout, Error> {
        self.with_swizzle(Swizzle::IDENTITY)
    }

    /// Returns the array with another swizzle, in the smallest storage.
    pub(crate) const fn with_swizzle(&self, swizzle: Swizzle) -> Result<TensorLayout, Error> {
        let layout = tri!(self.layout.with_swizzle(swizzle));
        let cosize = layout.cosize();
        let capacity = if cosize > 0 { cosize as u64 } else { 0 };
        TensorLayout::with_steps(self.extents(), self.steps(), &layout, capacity)
    }

    pub(crate) const fn program(&self) -> &Steps {
        &self.steps
    }

    /// Returns the extents of the layout's axes that logical coordinates reach.
    pub(crate) const fn working_extents(&self) -> Working {
        self.steps.extents_before(self.extents(), self.steps.as_slice().len())
    }
}

const fn check_extents(extents: &[u64]) -> Result<(), Error> {
    if extents.len() > MAX_MODES {
        return Err(Error::limit("{} dims", [extents.len() as i128], "an array has at most 32"));
    }
    let (mut size, mut i) = (1i128, 0);
    while i < extents.len() {
        size *= if extents[i] == 0 { 1 } else { extents[i] as i128 };
        if size > i64::MAX as i128 {
            return Err(Error::overflow(
                "the dims up to dim {} multiply to {} elements",
                [i as i128, size],
                "an array has at most 2^63 - 1 elements",
            ));
        }
        i += 1;
    }
    Ok(())
}

const fn check_axes(working: &Working, layout: &Layout) -> Result<(), Error> {
    let rank = layout.rank();
    if working.len != rank {
        return Err(Error::mismatch(
            "{} dims for a layout of {} axes",
            [working.len as i128, rank as i128],
            "the layout has one axis per dim",
        ));
    }
    let mut axis = 0;
    while axis < rank {
        let size = match layout.axis_size(axis) {
            Some(size) => size,
            None => 0,
        };
        if working.axes[axis] > size {
            return Err(Error::mismatch(
                "dim {} has extent {}, its axis {}",
                [axis as i128, working.axes[axis] as i128, size as i128],
                "an axis must cover its dim; the rest is padding",
            ));
        }
        axis += 1;
    }
    Ok(())
}

/// Converts like [`TensorLayout::of`].
impl From<&Layout> for TensorLayout {
    fn from(layout: &Layout) -> TensorLayout {
        TensorLayout::of(layout)
    }
}

/// Converts like [`TensorLayout::of`].
impl From<Layout> for TensorLayout {
    fn from(layout: Layout) -> TensorLayout {
        TensorLayout::of(&layout)
    }
}

impl core::fmt::Debug for TensorLayout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?} ", self.extents())?;
        for step in self.steps() {
            match step {
                Step::Merge { major, minor } => write!(f, "merge {major} into {minor}, ")?,
                Step::Split { axis, by } => write!(f, "split {axis} by {by}, ")?,
            }
        }
        write!(f, "{} capacity {}", self.layout, self.capacity)
    }
}

// Properties of a layout as a whole.

/// The digits of a layout, limited to the range that logical coordinates reach.
struct Clipped {
    modes: [Mode; MAX_MODES],
    len: usize,
    /// Set if every combination of digits is a logical coordinate.
    exact: bool,
}

impl Clipped {
    const fn of(tensor: &TensorLayout) -> Clipped {
        let working = tensor.working_extents();
        let mut clipped =
            Clipped { modes: [Mode::new(1, 0); MAX_MODES], len: 0, exact: tensor.is_strided() };
        let mut axis = 0;
        while let Some(modes) = tensor.layout().axis(axis) {
            let (mut left, mut i) = (working.axes[axis], 0);
            while i < modes.len() {
                let extent = modes[i].extent();
                let reached = if left < extent { left } else { extent };
                // A digit that is cut short, or wraps unevenly, omits some combinations.
                clipped.exact &= left <= extent || left % extent == 0;
                clipped.modes[clipped.len] = Mode::new(reached, modes[i].stride());
                clipped.len += 1;
                left = left.div_ceil(extent);
                i += 1;
            }
            axis += 1;
        }
        clipped
    }
}

impl TensorLayout {
    /// Returns whether no two logical elements share an offset.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) if neither the structure of the digits nor an enumeration of up to
    /// [`SEARCH_BITS`] elements and offsets decides.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let broadcast = TensorLayout::of(&Layout::parse("(4,3):(1,0)").unwrap());
    /// assert_eq!(broadcast.injective(), Ok(false));
    /// // The padded domain overlaps, the two logical elements do not.
    /// let ragged = TensorLayout::new(&[2], &Layout::parse("((2,2)):((1,1))").unwrap(), 3).unwrap();
    /// assert_eq!(ragged.injective(), Ok(true));
    /// ```
    pub const fn injective(&self) -> Result<bool, Error> {
        if self.size() < 2 {
            return Ok(true);
        }
        let clipped = Clipped::of(self);
        let answer = Rest::of(clipped.modes.split_at(clipped.len).0).injective();
        match answer {
            Ok(true) => answer,
            Ok(false) if clipped.exact => answer,
            _ => self.injective_by_enumeration(),
        }
    }

    const fn injective_by_enumeration(&self) -> Result<bool, Error> {
        let (low, high) = match self.layout().bounds() {
            Some(bounds) => bounds,
            None => return Ok(true),
        };
        let span = high as i128 - low as i128 + 1;
        if span > SEARCH_BITS as i128 || self.size() > SEARCH_BITS as u64 {
            return Err(Error::undecided(
                "interleaved strides over {} elements and {} offsets; the exact search covers {} of either",
                [self.size() as i128, span, SEARCH_BITS as i128],
                "make each stride a multiple of the extent it strides over",
            ));
        }
        let (mut seen, mut index) = ([0u64; SEARCH_BITS / 64], 0);
        while index < self.size() {
            let at = (tri!(self.offset_of(index)) - low) as usize;
            if seen[at / 64] >> (at % 64) & 1 == 1 {
                return Ok(false);
            }
            seen[at / 64] |= 1 << (at % 64);
            index += 1;
        }
        Ok(true)
    }

    /// Returns the number of consecutive offsets, from that of the first element on, that hold elements; 0 for an empty
    /// array. For a layout with steps or a swizzle, or with an axis whose strides do not ascend from 0, returns the longest run
    /// of stride 1 along one logical dim instead.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// assert_eq!(TensorLayout::row_major(&[3, 5]).unwrap().contiguous_run(), 15);
    /// // Tiles of 2×2 over 3×5: the third tile has one column.
    /// let tiled = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
    /// assert_eq!(TensorLayout::new(&[3, 5], &tiled, 24).unwrap().contiguous_run(), 9);
    /// ```
    pub const fn contiguous_run(&self) -> u64 {
        if self.size() == 0 {
            return 0;
        }
        if self.contiguous_run_is_exact() { run_of(self) } else { self.run_along_a_dim() }
    }

    /// Returns whether [`TensorLayout::contiguous_run`] is the whole run, and not only the part of it along one logical
    /// dim.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// let exact = |text| TensorLayout::of(&Layout::parse(text).unwrap()).contiguous_run_is_exact();
    /// assert!(exact("(3,4):(4,1)"));
    /// // Offsets 0 2 1 3 along one dim: the run is 4, and a walk along the dim finds 1.
    /// assert!(!exact("((2,2)):((2,1))"));
    /// ```
    pub const fn contiguous_run_is_exact(&self) -> bool {
        self.size() == 0
            || (self.is_strided() && self.layout().swizzle().is_identity() && ascends(self))
    }

    const fn run_along_a_dim(&self) -> u64 {
        let origin = crate::Coord::origin(self.rank());
        let (mut longest, mut dim) = (1, 0);
        while dim < self.rank() {
            if let Ok(run) = self.run(origin.as_slice(), dim)
                && run.stride == 1
                && run.len > longest
            {
                longest = run.len;
            }
            dim += 1;
        }
        longest
    }
}

/// Returns whether the strides of every axis are positive or zero and grow from digit to digit.
const fn ascends(tensor: &TensorLayout) -> bool {
    let mut axis = 0;
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut least, mut i) = (0, 0);
        while i < modes.len() {
            if modes[i].extent() > 1 {
                if modes[i].stride() < least {
                    return false;
                }
                least = modes[i].stride();
            }
            i += 1;
        }
        axis += 1;
    }
    true
}

/// Follows the digits whose strides chain (1, e₀, e₀e₁, …) as far as they are full. At the first that is cut short,
/// the run continues inside its last step with the remaining part of the axis.
const fn run_of(tensor: &TensorLayout) -> u64 {
    let rank = tensor.rank();
    let (mut left, mut total, mut ceiling, mut axis) = ([0u64; MAX_MODES], 0u64, i64::MAX, 0);
    while axis < rank {
        left[axis] = tensor.extents()[axis];
        axis += 1;
    }
    'restart: loop {
        let mut run = 1u64;
        loop {
            let Some((axis, below, extent)) = digit_of_stride(tensor, run, ceiling) else {
                return total + run;
            };
            let have = left[axis].div_ceil(below);
            if have >= extent && left[axis] >= below * extent {
                run *= extent;
                continue;
            }
            // `have` steps, the last of them with `left mod below` of the digits below.
            let rest = left[axis] % below;
            if rest == 0 {
                return total + run * have;
            }
            total += run * (have - 1);
            left[axis] = rest;
            ceiling = run as i64;
            continue 'restart;
        }
    }
}

/// Returns the digit of extent > 1 with this stride, if that is below the ceiling: its axis, the cut at which it
/// begins, and its extent.
const fn digit_of_stride(
    tensor: &TensorLayout,
    stride: u64,
    ceiling: i64,
) -> Option<(usize, u64, u64)> {
    let mut axis = 0;
    while let Some(modes) = tensor.layout().axis(axis) {
        let (mut below, mut i) = (1, 0);
        while i < modes.len() {
            let (extent, own) = (modes[i].extent(), modes[i].stride());
            if extent > 1 && own as u64 == stride && own < ceiling {
                return Some((axis, below, extent));
            }
            below *= extent;
            i += 1;
        }
        axis += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use crate::{Digit, Layout, Pattern, Profile, Swizzle};
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn offsets(tensor: &TensorLayout) -> Vec<i64> {
        (0..tensor.size()).map(|i| tensor.offset_of(i).unwrap()).collect()
    }

    fn check(tensor: &TensorLayout) {
        let table = offsets(tensor);
        let set: BTreeSet<i64> = table.iter().copied().collect();
        assert_eq!(tensor.injective(), Ok(set.len() == table.len()), "{tensor:?}");
    }

    #[test]
    fn injective_over_ragged_extents_is_what_the_table_says() {
        for_each_layout(3, 1..=3, 0..=5, |flat| {
            if flat.rank() != 3 {
                return;
            }
            let profile = Profile::nested(&[2, 1]).unwrap();
            let layout = Layout::new(flat.modes(), &profile, 0, Swizzle::IDENTITY).unwrap();
            for a in 0..=layout.axis_size(0).unwrap() {
                for b in 0..=layout.axis_size(1).unwrap() {
                    check(&TensorLayout::new(&[a, b], &layout, layout.cosize() as u64).unwrap());
                }
            }
        });
    }

    #[test]
    fn contiguous_run_is_the_first_interval_of_the_image() {
        let orders =
            [[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 1, 0, 2], [0, 2, 3, 1], [2, 3, 0, 1]];
        let mut ascending = 0;
        let digits =
            [Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, 3), Digit::fixed(1, 0, 4)];
        for order in orders {
            let pattern = Pattern::new(2, &order.map(|i| digits[i])).unwrap();
            for m in 1..=9 {
                for n in 1..=13 {
                    let tensor = pattern.layout(&[m, n]).unwrap();
                    let set: BTreeSet<i64> = offsets(&tensor).into_iter().collect();
                    let run = (0..).take_while(|offset| set.contains(offset)).count();
                    if ascends(&tensor) {
                        assert_eq!(tensor.contiguous_run(), run as u64, "{tensor:?}");
                        ascending += 1;
                    } else {
                        assert!(tensor.contiguous_run() <= run as u64, "{tensor:?}");
                    }
                }
            }
        }
        assert!(ascending > 200, "{ascending}");
    }
}
