//! The central value: a function from coordinates to element offsets, in modes of one extent and one stride each.
//!
//! Its text is `((4,2),(4,3)):((4,16),(1,32))`; the parser (`text.rs`) states the grammar.

pub(crate) mod coord;
pub(crate) mod index;
pub(crate) mod observe;
pub(crate) mod profile;
pub(crate) mod text;
pub(crate) mod tuple;

use core::fmt;

use crate::{Error, MAX_MODES, Profile, Swizzle, const_fn::tri};

/// A function from a (nested) coordinate to an element offset: `c ↦ swizzle(offset + Σ cᵢ·strideᵢ)`.
///
/// A layout is a flat list of [`Mode`]s with their [`Profile`], without heap storage, with at most [`MAX_MODES`] modes.
/// Within an axis (a top-level position) the first mode varies fastest, as in CuTe and TLA: coordinate `x` of an axis with
/// modes `(4,2)` has the digits `(x mod 4, x div 4)`. A single integer for the whole layout is unpacked colexicographically:
/// the first axis varies fastest.
///
/// Every layout is created by one checked constructor, which guarantees:
/// - **I1** Π max(extent, 1) ≤ `i64::MAX`;
/// - **I2** |offset| + Σ (extent − 1)·|stride| < `i64::MAX` (an empty mode counts 0), so that the cosize fits too;
/// - **I3** with a swizzle, every affine offset is ≥ 0, and the span, rounded up to the swizzle's window, fits as well.
///
/// Source: CUTLASS `include/cute/layout.hpp`, CATLASS `include/tla/layout.hpp`; the limits are this crate's.
///
/// Therefore no arithmetic inside the domain overflows. `==` compares the form;
/// [`TensorLayout::same_function`](crate::TensorLayout::same_function) compares the map.
///
/// ```
/// use tilewright_core::Layout;
/// // The example of the TLA document: 8×12 in blocks of 4×4. In a constant, an illegal layout is a
/// // compile error.
/// const TILED: Layout = Layout::parse_const("((4,2),(4,3)):((4,16),(1,32))");
/// assert_eq!(TILED.size(), 96);
/// assert_eq!(TILED.offset_at(&[1, 5]), Ok(37));
///
/// // A coordinate outside the domain is an error, never another element's offset.
/// assert!(TILED.offset_at(&[8, 0]).unwrap_err().is_out_of_range());
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    modes: [Mode; MAX_MODES],
    profile: Profile,
    offset: i64,
    swizzle: Swizzle,
}

impl Layout {
    /// Creates the layout with these leaves and the brackets of `profile`; `offset` (in elements) is added to every sum,
    /// and `swizzle` permutes the result. Every layout passes this constructor.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if `profile` has another number of leaves or an open bracket;
    /// [overflow](Error::is_overflow) if I1 or I2 fails; [out of range](Error::is_out_of_range) if an affine offset before the
    /// swizzle would be negative.
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode, Profile, Swizzle};
    /// // Two bare axes, 8 by 64, 100 elements into the buffer.
    /// let modes = [Mode::new(8, 64), Mode::new(64, 1)];
    /// let profile = Profile::flat(2).unwrap();
    /// let layout = Layout::new(&modes, &profile, 100, Swizzle::IDENTITY).unwrap();
    /// assert_eq!(layout.to_string(), "(8,64):(64,1)+100");
    ///
    /// let too_few = Layout::new(&modes[..1], &profile, 0, Swizzle::IDENTITY);
    /// assert!(too_few.unwrap_err().is_mismatch());
    /// // A swizzle permutes offsets from 0 on.
    /// let swizzle = Swizzle::new(3, 3, 3).unwrap();
    /// let before_zero = Layout::new(&modes, &profile, -1, swizzle);
    /// assert!(before_zero.unwrap_err().is_out_of_range());
    /// ```
    pub const fn new(
        modes: &[Mode],
        profile: &Profile,
        offset: i64,
        swizzle: Swizzle,
    ) -> Result<Layout, Error> {
        if modes.len() != profile.leaves() || profile.open() != 0 {
            return Err(Error::mismatch(
                "{} modes for a profile of {} leaves with {} open brackets",
                [modes.len() as i128, profile.leaves() as i128, profile.open() as i128],
                "give one mode per leaf and close every bracket",
            ));
        }
        tri!(check_size(modes));
        tri!(check_reach(modes, offset));
        tri!(check_swizzle(modes, offset, swizzle));
        let mut all = [Mode::new(1, 0); MAX_MODES];
        let mut i = 0;
        while i < modes.len() {
            all[i] = modes[i];
            i += 1;
        }
        Ok(Layout { modes: all, profile: profile.copied(), offset, swizzle })
    }

    /// Creates a layout of bare axes, one mode each: `(8,64):(64,1)`.
    ///
    /// # Errors
    /// Those of [`Layout::new`]; [limit](Error::is_limit) beyond [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// // Row-major 3×5 in rows of 8.
    /// let layout = Layout::flat(&[Mode::new(3, 8), Mode::new(5, 1)]).unwrap();
    /// assert_eq!(layout.to_string(), "(3,5):(8,1)");
    /// assert!(Layout::flat(&[Mode::new(1, 0); 33]).unwrap_err().is_limit());
    /// ```
    pub const fn flat(modes: &[Mode]) -> Result<Layout, Error> {
        Layout::new(modes, &tri!(Profile::flat(modes.len())), 0, Swizzle::IDENTITY)
    }

    /// Creates a layout whose axis `i` has the next `counts[i]` of the `modes`.
    ///
    /// # Errors
    /// Those of [`Layout::new`]; [limit](Error::is_limit) beyond [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// let modes = [Mode::new(4, 4), Mode::new(2, 16), Mode::new(12, 1)];
    /// assert_eq!(Layout::nested(&modes, &[2, 1]).unwrap().to_string(), "((4,2),12):((4,16),1)");
    /// assert!(Layout::nested(&modes, &[2, 2]).unwrap_err().is_mismatch());
    /// ```
    pub const fn nested(modes: &[Mode], counts: &[usize]) -> Result<Layout, Error> {
        Layout::new(modes, &tri!(Profile::nested(counts)), 0, Swizzle::IDENTITY)
    }

    /// Returns this layout with another `offset`, in elements.
    ///
    /// # Errors
    /// Those of [`Layout::new`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let rows = Layout::parse("(4,6):(6,1)").unwrap();
    /// // The same rows, one row further into the buffer.
    /// let below = rows.with_offset(6).unwrap();
    /// assert_eq!((below.offset_at(&[0, 0]), below.offset_at(&[1, 2])), (Ok(6), Ok(14)));
    /// assert!(rows.with_offset(i64::MAX).unwrap_err().is_overflow());
    /// ```
    pub const fn with_offset(&self, offset: i64) -> Result<Layout, Error> {
        Layout::new(self.modes(), &self.profile, offset, self.swizzle)
    }

    /// Returns this layout with another swizzle.
    ///
    /// # Errors
    /// Those of [`Layout::new`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Swizzle};
    /// // 8×8 in shared memory: one column touches all banks.
    /// let rows = Layout::parse("(8,8):(8,1)").unwrap();
    /// let swizzled = rows.with_swizzle(Swizzle::new(3, 0, 3).unwrap()).unwrap();
    /// let column: Vec<i64> = (0..8).map(|row| swizzled.offset_at(&[row, 0]).unwrap() % 8).collect();
    /// assert_eq!(column, [0, 1, 2, 3, 4, 5, 6, 7]);
    /// let reversed = Layout::parse("8:-1").unwrap();
    /// assert!(reversed.with_swizzle(swizzled.swizzle()).unwrap_err().is_out_of_range());
    /// ```
    pub const fn with_swizzle(&self, swizzle: Swizzle) -> Result<Layout, Error> {
        Layout::new(self.modes(), &self.profile, self.offset, swizzle)
    }

    /// Returns the leaves, left to right.
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// let layout = Layout::parse("((4,2),12):((12,48),1)").unwrap();
    /// assert_eq!(layout.modes(), [Mode::new(4, 12), Mode::new(2, 48), Mode::new(12, 1)]);
    /// ```
    #[inline]
    pub const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.profile.leaves()).0
    }

    /// Returns the brackets of the leaves.
    ///
    /// ```
    /// use tilewright_core::{Layout, Profile};
    /// let layout = Layout::parse("((4,2),12):((12,48),1)").unwrap();
    /// assert!(layout.profile().same(&Profile::nested(&[2, 1]).unwrap()));
    /// ```
    #[inline]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the offset that is added to every sum, in elements, before the swizzle.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// assert_eq!(Layout::parse("(4,6):(6,1)+24").unwrap().offset(), 24);
    /// assert_eq!(Layout::parse("4:-1+3").unwrap().offset_at(&[0]), Ok(3));
    /// ```
    #[inline]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns the swizzle that is applied to every sum: an invertible matrix of bits.
    ///
    /// ```
    /// use tilewright_core::{Layout, Swizzle};
    /// let layout = Layout::parse("Sw<3,3,3> o (8,64):(64,1)").unwrap();
    /// assert_eq!(layout.swizzle(), Swizzle::new(3, 3, 3).unwrap());
    /// assert!(Layout::parse("(8,64):(64,1)").unwrap().swizzle().is_identity());
    /// ```
    #[inline]
    pub const fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// Returns the number of axes (top-level positions).
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // Four modes, but two axes: rows and columns.
    /// assert_eq!(Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap().rank(), 2);
    /// assert_eq!(Layout::parse("9:1").unwrap().rank(), 1);
    /// ```
    #[inline]
    pub const fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// Returns the depth of nesting; 0 for `9:1`, 1 for `(9):(1)`.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let depth = |text| Layout::parse(text).unwrap().depth();
    /// assert_eq!((depth("9:1"), depth("(9):(1)"), depth("((3,3)):((1,3))")), (0, 1, 2));
    /// ```
    pub const fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// Returns the leaves of axis `axis`, fastest first; `None` past the last axis.
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// let zn = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// // The columns: 16 within a block, then from block to block.
    /// assert_eq!(zn.axis(1), Some(&[Mode::new(16, 1), Mode::new(7, 1792)][..]));
    /// assert_eq!(zn.axis(2), None);
    /// ```
    pub const fn axis(&self, axis: usize) -> Option<&[Mode]> {
        match self.profile.axis(axis) {
            Some((from, to)) => Some(self.modes.split_at(to).0.split_at(from).1),
            None => None,
        }
    }

    /// Returns this layout with other leaves, a bare one or a flat tuple. For operations whose law keeps the reach and
    /// does not add coordinates, so that I1 to I3 still hold. Modes past `len` are 1:0, as equality requires.
    #[inline]
    pub(crate) const fn with_leaves(&self, modes: [Mode; MAX_MODES], len: usize) -> Layout {
        let profile = if len > 1 { Profile::tuple(len) } else { Profile::LEAF };
        let layout = Layout { modes, profile, offset: self.offset, swizzle: self.swizzle };
        debug_assert!(check_size(layout.modes()).is_ok());
        debug_assert!(check_reach(layout.modes(), layout.offset).is_ok());
        debug_assert!(check_swizzle(layout.modes(), layout.offset, layout.swizzle).is_ok());
        layout
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{Layout, layout};
    /// const ROWS: Layout = layout!("(8,64):(64,1)");
    /// const SAME: Layout = ROWS.copied();
    /// assert_eq!(ROWS, SAME);
    /// ```
    pub const fn copied(&self) -> Layout {
        Layout {
            modes: self.modes,
            profile: self.profile.copied(),
            offset: self.offset,
            swizzle: self.swizzle,
        }
    }
}

/// I1: the number of coordinates, empty modes counted as one, fits in an `i64`.
const fn check_size(modes: &[Mode]) -> Result<(), Error> {
    let (mut size, mut i) = (1i128, 0);
    while i < modes.len() {
        let extent = modes[i].extent() as i128;
        size *= if extent == 0 { 1 } else { extent };
        if size > i64::MAX as i128 {
            return Err(Error::overflow(
                "the extents up to mode {} multiply to {} coordinates",
                [i as i128, size],
                "a layout has at most 2^63 - 1 coordinates",
            ));
        }
        i += 1;
    }
    Ok(())
}

/// I2: no partial sum of an offset leaves an `i64`, nor does 1 + the largest one.
const fn check_reach(modes: &[Mode], offset: i64) -> Result<(), Error> {
    let (mut reach, mut i) = ((offset as i128).abs(), 0);
    loop {
        if reach >= i64::MAX as i128 {
            let legal = "offsets must stay below 2^63 - 1";
            if i == 0 {
                return Err(Error::overflow("the offset {} is too large", [offset as i128], legal));
            }
            return Err(Error::overflow(
                "the offset and the strides up to mode {} reach {}",
                [i as i128 - 1, reach],
                legal,
            ));
        }
        if i == modes.len() {
            return Ok(());
        }
        // At most 2^64 · 2^63 per mode, and the sum is checked against 2^63 each time: an i128 does not overflow.
        reach += modes[i].reach().abs();
        i += 1;
    }
}

/// I3: a swizzle receives no negative offset, and its last window ends within an `i64`.
const fn check_swizzle(modes: &[Mode], offset: i64, swizzle: Swizzle) -> Result<(), Error> {
    if swizzle.is_identity() {
        return Ok(());
    }
    let (low, high) = reach(modes, offset);
    if low < 0 {
        return Err(Error::out_of_range(
            "{} is the smallest offset under the swizzle",
            [low],
            "a swizzle needs offsets of 0 and more; add an offset",
        ));
    }
    let window = swizzle.window() as i128;
    if (high / window + 1) * window > i64::MAX as i128 {
        return Err(Error::overflow(
            "the swizzle's last window, around offset {}, overflows 64 bits",
            [high],
            "offsets must stay below 2^63",
        ));
    }
    Ok(())
}

/// Returns the smallest and the largest affine offset (before the swizzle), both `offset` for an empty layout.
pub(crate) const fn reach(modes: &[Mode], offset: i64) -> (i128, i128) {
    let (mut low, mut high, mut i) = (offset as i128, offset as i128, 0);
    while i < modes.len() {
        let step = modes[i].reach();
        if step < 0 {
            low += step;
        } else {
            high += step;
        }
        i += 1;
    }
    (low, high)
}

/// One leaf of a layout: `extent` coordinates, `stride` elements apart.
///
/// Pairing the two makes it impossible to write an incongruent shape and stride.
///
/// Source: CUTLASS `include/cute/layout.hpp`, in which a mode may itself be a tuple.
///
/// ```
/// use tilewright_core::Mode;
/// let rows = Mode::new(8, 64);
/// assert_eq!((rows.extent(), rows.stride()), (8, 64));
/// assert_eq!(rows.to_string(), "8:64");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    extent: u64,
    stride: i64,
}

impl Mode {
    /// Creates a mode of `extent` coordinates, `stride` elements apart. Any pair is a mode; limits are checked when modes
    /// become a [`Layout`](crate::Layout).
    ///
    /// ```
    /// use tilewright_core::{Layout, Mode};
    /// let rows = Mode::new(8, 64);
    /// assert_eq!(rows, Layout::parse("8:64").unwrap().modes()[0]);
    /// // Any pair is a mode, but not every mode is a layout.
    /// assert!(Layout::flat(&[Mode::new(3, i64::MAX)]).unwrap_err().is_overflow());
    /// ```
    pub const fn new(extent: u64, stride: i64) -> Mode {
        Mode { extent, stride }
    }

    /// Returns the number of coordinates.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let rows = Layout::parse("(3,5):(8,1)").unwrap().modes()[0];
    /// assert_eq!(rows.extent(), 3);
    /// ```
    #[inline]
    pub const fn extent(self) -> u64 {
        self.extent
    }

    /// Returns the distance between neighbours, in elements.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let modes = Layout::parse("(3,5,2):(-5,1,0)").unwrap();
    /// // Rows from the bottom up; the last axis repeats the same elements.
    /// let strides: Vec<i64> = modes.modes().iter().map(|mode| mode.stride()).collect();
    /// assert_eq!(strides, [-5, 1, 0]);
    /// ```
    #[inline]
    pub const fn stride(self) -> i64 {
        self.stride
    }

    /// Returns `(extent − 1)·stride`, the offset of the last coordinate; 0 for an empty mode.
    pub(crate) const fn reach(self) -> i128 {
        if self.extent == 0 { 0 } else { (self.extent as i128 - 1) * self.stride as i128 }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}

impl fmt::Display for Layout {
    /// Writes `Sw<b,m,s> o offset o shape:stride`, or `shape:stride+offset` without a swizzle.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let swizzled = !self.swizzle().is_identity();
        if swizzled {
            write!(f, "{} o ", self.swizzle())?;
            if self.offset() != 0 {
                write!(f, "{} o ", self.offset())?;
            }
        }
        self.profile().write(f, |f, leaf| write!(f, "{}", self.modes()[leaf].extent()))?;
        f.write_str(":")?;
        self.profile().write(f, |f, leaf| write!(f, "{}", self.modes()[leaf].stride()))?;
        if self.offset() != 0 && !swizzled { write!(f, "{:+}", self.offset()) } else { Ok(()) }
    }
}

crate::const_fn::debug_as_display!(Layout);

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn the_invariants_are_errors_not_panics() {
        let huge = Mode::new(u64::MAX, 0);
        assert!(Layout::flat(&[huge]).unwrap_err().is_overflow());
        assert!(
            Layout::flat(&[Mode::new(1 << 32, 0), Mode::new(1 << 31, 0)])
                .unwrap_err()
                .is_overflow()
        );
        assert!(Layout::flat(&[Mode::new(1 << 31, 0), Mode::new(1 << 31, 0)]).is_ok());
        assert!(Layout::flat(&[Mode::new(3, i64::MAX)]).unwrap_err().is_overflow());
        assert!(Layout::flat(&[Mode::new(2, i64::MIN)]).unwrap_err().is_overflow());
        assert!(Layout::flat(&[Mode::new(0, i64::MIN), Mode::new(5, 1)]).is_ok());
        let line = Layout::flat(&[Mode::new(2, 1)]).unwrap();
        assert!(line.with_offset(i64::MAX).unwrap_err().is_overflow());
        assert!(line.with_offset(i64::MIN).unwrap_err().is_overflow());
        // Without modes, and where the offset alone is too far.
        let point = Layout::flat(&[]).unwrap();
        for offset in [i64::MIN, i64::MIN + 1, i64::MAX] {
            assert!(point.with_offset(offset).unwrap_err().is_overflow(), "{offset}");
        }
        assert!(point.with_offset(i64::MIN + 2).is_ok());
        let swizzle = Swizzle::new(1, 0, 1).unwrap();
        assert!(
            Layout::flat(&[Mode::new(2, -1)])
                .unwrap()
                .with_swizzle(swizzle)
                .unwrap_err()
                .is_out_of_range()
        );
        let profile = Profile::flat(2).unwrap();
        assert!(Layout::new(&[huge], &profile, 0, swizzle).unwrap_err().is_mismatch());
    }

    #[test]
    fn the_farthest_offset_is_below_a_cosize_that_fits() {
        let beyond = Layout::flat(&[Mode::new(2, i64::MAX)]).unwrap_err().to_string();
        assert_eq!(
            beyond,
            "the offset and the strides up to mode 0 reach 9223372036854775807; \
             offsets must stay below 2^63 - 1"
        );
        let far = Layout::flat(&[Mode::new(2, i64::MAX - 1)]).unwrap();
        assert_eq!((far.offset_at(&[1]), far.cosize()), (Ok(i64::MAX - 1), i64::MAX));
        let around = Layout::flat(&[Mode::new(3, -(1 << 61)), Mode::new(2, 1 << 61)]).unwrap();
        assert_eq!((around.bounds(), around.span()), (Some((-1 << 62, 1 << 61)), (3 << 61) + 1));
    }

    #[test]
    fn the_stated_size_in_memory() {
        assert_eq!(size_of::<Layout>(), 1096);
    }
}
