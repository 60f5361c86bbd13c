//! A tile at any position of a layout: it carries the coordinate of its origin.
//!
//! Law: `offset(c) = L.offset(origin + c)`, and each valid extent is min(t, size of the axis − origin). A nested layout
//! is not translation-invariant, so such a tile is not a pointer plus a layout, unless it begins on whole blocks: see
//! [`make_layout_tile`](super::make_layout_tile).
//!
//! Source: CATLASS `include/tla/tensor.hpp` (`GetTile`).

use core::fmt;

use tilewright_core::Error;

use super::{
    Calc, Congruent, Coordinate, FixedLayout, FixedTuple, Int, Integer, coordinate::inside,
    layout::same, op, operation::calc,
};
use crate::tuple::arities;

/// A tile of a layout: its origin, and its extents inside the layout.
///
/// ```
/// use tilewright_fixed::{_1, _7, _8, _13, _16, _32, _128, Int, make_layout, make_tile};
/// // TLA's zN of 4-byte elements, 100×100, and a tile from (6,10) on: element (10,6) of it is (16,16) of
/// // the whole, at 1920. Pointer plus layout would say 946 + 86.
/// let zn = make_layout(((_16, _7), (_8, _13)), ((_8, _128), (_1, Int::<896>)));
/// let tile = make_tile(zn, (6, 10), (_32, _32));
/// assert_eq!((tile.offset((10, 6)), tile.checked_offset((10, 6))), (1920, Ok(1920)));
/// assert!(tile.checked_offset((32, 0)).unwrap_err().is_out_of_range());
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct FixedTile<L, O, V> {
    layout: L,
    origin: O,
    valid: V,
}

/// Returns the tile of `shape` coordinates that begins at `origin`; both have one integer per axis.
///
/// ```
/// use tilewright_fixed::{_0, _1, _5, _8, _12, FixedTuple, make_layout, make_tile};
/// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (_5, _0), (_5, _5));
/// assert_eq!((tile.valid().display().to_string().as_str(), size_of_val(&tile)), ("(_3,_5)", 0));
/// ```
#[doc(alias = "GetTile")]
#[inline]
pub fn make_tile<S, D, O: FixedTuple, T>(
    layout: FixedLayout<S, D>,
    origin: O,
    shape: T,
) -> FixedTile<FixedLayout<S, D>, O, S::Left>
where
    S: Congruent<D> + PlaceBy<O, T>,
    D: FixedTuple,
{
    FixedTile { layout, origin, valid: layout.shape().left(origin, shape) }
}

impl<S, D, O, V> FixedTile<FixedLayout<S, D>, O, V>
where
    S: Congruent<D>,
    D: FixedTuple,
    O: FixedTuple,
    V: FixedTuple,
{
    /// Returns the layout that the tile is a part of.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, _12, FixedTuple, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// assert_eq!(tile.layout().to_string(), "(_8,_12):(_12,_1)");
    /// ```
    #[inline]
    pub fn layout(self) -> FixedLayout<S, D> {
        self.layout
    }

    /// Returns the coordinate of the tile's first element in the whole layout.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, _12, FixedTuple, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// assert_eq!(tile.origin().display().to_string(), "(6,_8)");
    /// ```
    #[inline]
    pub fn origin(self) -> O {
        self.origin
    }

    /// Returns the number of coordinates along each axis that are inside both the tile and the layout.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, _12, FixedTuple, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// assert_eq!(tile.valid().display().to_string(), "(2,_4)");
    /// ```
    #[inline]
    pub fn valid(self) -> V {
        self.valid
    }

    /// Returns the offset of a coordinate of the tile, in elements of the whole layout, unchecked. Outside the valid
    /// extents the result is unspecified. A static integer outside a static valid extent is a compile error.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, _12, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// assert_eq!(tile.offset((1, 2)), 7 * 12 + 10);
    /// ```
    /// ```compile_fail
    /// use tilewright_fixed::{_1, _4, _8, _12, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// // error[E0080]: the static coordinate 4 of an extent of 4 …
    /// tile.offset((1, _4));
    /// ```
    #[inline]
    pub fn offset<C>(self, coord: C) -> i64
    where
        C: ShiftBy<O> + Coordinate<V, V>,
        C::Sum: Coordinate<S, D>,
    {
        const { inside::<C, V, V>() };
        self.layout.offset(coord.shifted(self.origin))
    }

    /// Returns the offset of a coordinate of the tile, in elements of the whole layout, and checks the coordinate.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) outside the valid extents, or for an origin outside the
    /// layout; those of [`FixedLayout::lower`].
    ///
    /// ```
    /// use tilewright_fixed::{_1, _4, _8, _12, make_layout, make_tile};
    /// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
    /// assert_eq!(tile.checked_offset((1, 2)), Ok(94));
    /// assert!(tile.checked_offset((2, 2)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C>(self, coord: C) -> Result<i64, Error>
    where
        C: ShiftBy<O>,
        C::Sum: Coordinate<S, D>,
    {
        self.layout.checked_offset(self.origin)?;
        // The coordinate is inside iff it is in the box of valid extents, and then no sum overflows.
        self.valid.lower()?.crd2idx(&coord.lower()?)?;
        self.layout.checked_offset(coord.shifted(self.origin))
    }
}

/// Writes the layout, the origin of the tile, and its valid extents.
///
/// ```
/// use tilewright_fixed::{_1, _4, _8, _12, make_layout, make_tile};
/// let tile = make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_4, _4));
/// assert_eq!(tile.to_string(), "(_8,_12):(_12,_1) from (6,_8) valid (2,_4)");
/// ```
impl<L: fmt::Display, O: FixedTuple, V: FixedTuple> fmt::Display for FixedTile<L, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, origin, valid) = (&self.layout, self.origin.display(), self.valid.display());
        write!(f, "{layout} from {origin} valid {valid}")
    }
}

impl<L: fmt::Display, O: FixedTuple, V: FixedTuple> fmt::Debug for FixedTile<L, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Tiles are equal if layouts, origins and valid extents are, static or dynamic.
impl<L, M, O, P, V, W> PartialEq<FixedTile<M, P, W>> for FixedTile<L, O, V>
where
    L: PartialEq<M>,
    O: FixedTuple,
    P: FixedTuple,
    V: FixedTuple,
    W: FixedTuple,
{
    fn eq(&self, other: &FixedTile<M, P, W>) -> bool {
        self.layout == other.layout
            && same(self.origin, other.origin)
            && same(self.valid, other.valid)
    }
}

impl<L: Eq, O: FixedTuple, V: FixedTuple> Eq for FixedTile<L, O, V> {}

/// A shape in which a tile `T` at the origin `O` may be taken; both have one integer per axis.
///
/// ```
/// use tilewright_fixed::{FixedTuple, PlaceBy, _4, _8};
/// fn inside<S: PlaceBy<(u8, u8), (u8, u8)>>(shape: S) -> usize {
///     <S::Left as FixedTuple>::RANK
/// }
/// assert_eq!(inside(((_4, _8), 9)), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "a tile `{T}` at `{O}` does not fit the shape `{Self}`",
    label = "origin and tile have one integer per axis"
)]
pub trait PlaceBy<O, T>: FixedTuple {
    /// The valid extents.
    type Left: FixedTuple;

    #[doc(hidden)]
    fn left(self, origin: O, by: T) -> Self::Left;
}

/// A coordinate relative to the origin `O`, with one integer per axis.
///
/// ```
/// use tilewright_fixed::{FixedTuple, ShiftBy, _4};
/// fn rank<C: ShiftBy<(u8, u8)>>(_: C) -> usize {
///     C::Sum::RANK
/// }
/// assert_eq!(rank((_4, 3)), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "the coordinate `{Self}` does not fit a tile at `{O}`",
    label = "a coordinate of a tile has one integer per axis"
)]
pub trait ShiftBy<O>: FixedTuple {
    /// The type of the coordinate in the whole layout.
    type Sum: FixedTuple;

    #[doc(hidden)]
    fn shifted(self, origin: O) -> Self::Sum;
}

/// The type of min(t, max(size − origin, 0)).
type Left<S, O, T> =
    Calc<op::Min, T, Calc<op::Max, Calc<op::Sub, <S as FixedTuple>::Size, O>, Int<0>>>;

#[inline]
fn left<S: FixedTuple, O: Integer, T: Integer>(shape: S, origin: O, by: T) -> Left<S, O, T> {
    let behind = calc::<op::Sub, _, _>(shape.size(), origin);
    calc::<op::Min, _, _>(by, calc::<op::Max, _, _>(behind, Int::<0>))
}

/// Adds without a check: a sum beyond 64 bits is outside of every layout.
#[inline]
fn sum(x: impl Integer, origin: impl Integer) -> u64 {
    (x.value() as u64).wrapping_add(origin.value() as u64)
}

/// The type of a sum, once per position.
macro_rules! sum {
    ($place:ident) => {
        u64
    };
}

macro_rules! places {
    ($($s:ident $o:ident $c:ident $i:tt),*; $s0:ident $o0:ident $c0:ident $i0:tt) => {
        impl<$($s: FixedTuple, $o: Integer, $c: Integer,)* $s0: FixedTuple, $o0: Integer, $c0: Integer>
            PlaceBy<($($o,)* $o0,), ($($c,)* $c0,)> for ($($s,)* $s0,)
        {
            type Left = ($(Left<$s, $o, $c>,)* Left<$s0, $o0, $c0>,);

            #[inline]
            fn left(self, origin: ($($o,)* $o0,), by: ($($c,)* $c0,)) -> Self::Left {
                ($(left(self.$i, origin.$i, by.$i),)* left(self.$i0, origin.$i0, by.$i0),)
            }
        }

        impl<$($c: Integer, $o: Integer,)* $c0: Integer, $o0: Integer> ShiftBy<($($o,)* $o0,)>
            for ($($c,)* $c0,)
        {
            type Sum = ($(sum!($c),)* sum!($c0),);

            #[inline]
            fn shifted(self, origin: ($($o,)* $o0,)) -> Self::Sum {
                ($(sum(self.$i, origin.$i),)* sum(self.$i0, origin.$i0),)
            }
        }
    };
}
arities!(places);
