//! Tiles of a layout: `make_layout_tile`, which keeps the blocks and strides of the whole layout, and a tile at any position
//! of a layout, which carries the coordinate of its origin.
//!
//! Laws: those of the run-time [`Layout::tile`](tilewright_core::Layout::tile); the result is static if layout and tile
//! are. Under a tile t, an axis (s0,…,sk) becomes (s0,…,s(k−1), ⌈t/(s0⋯s(k−1))⌉) and a flat axis becomes t. The valid
//! extent is min(t, size of the axis).
//!
//! A nested layout is not translation-invariant: a tile that does not begin on whole blocks is not a pointer plus a
//! layout. A [`FixedLayoutTile`] therefore begins at the origin, and a [`FixedTile`](super::FixedTile) carries the
//! coordinate where it begins.
//!
//! Source: CATLASS `include/tla/layout.hpp` (`MakeLayoutTile`, `GetTileLayout`), extended here to any rank.

use core::fmt;

use tilewright_core::{Coord, Error, Layout, MAX_MODES, TensorLayout};

use super::{
    Calc, Congruent, Coordinate, Expr, FixedLayout, FixedTuple, Int, Integer, Operation,
    integer::calc,
    layout::{Nothing, inside, same},
    op,
};
use crate::tuple::arities;

/// A layout with valid extents, one integer per axis: only coordinates below `valid` hold elements. It describes a
/// tile at the edge, or a format whose blocks the matrix does not fill. `valid` is TLA's *originShape*.
///
/// ```
/// use tilewright_fixed::{_1, _2, _3, _4, _16, _32, make_layout, make_layout_tile};
/// let whole = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
/// let tile = make_layout_tile(whole, (_4, _4));
/// assert_eq!(tile.to_string(), "((_4,_1),(_4,_1)):((_4,_16),(_1,_32))");
/// assert_eq!(size_of_val(&tile), 0);
/// let tile = make_layout_tile(whole, (2, _3));
/// assert_eq!(tile.to_string(), "((_4,1),(_4,_1)):((_4,_16),(_1,_32))");
/// // `Debug` adds what is valid of it.
/// assert_eq!(format!("{tile:?}"), "((_4,1),(_4,_1)):((_4,_16),(_1,_32)) valid (2,_3)");
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct FixedLayoutTile<S, D, V> {
    pub(crate) layout: FixedLayout<S, D>,
    pub(crate) valid: V,
}

impl<S: Congruent<D>, D: FixedTuple, V: FixedTuple> FixedLayoutTile<S, D, V> {
    /// Returns the layout.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _3, _4, _8, _12, FixedTuple, make_layout, make_layout_tile};
    /// let tile = make_layout_tile(make_layout((_8, _12), (_12, _1)), (_3, 16));
    /// assert_eq!(tile.layout().to_string(), "(_3,16):(_12,_1)");
    /// ```
    #[inline]
    pub fn layout(self) -> FixedLayout<S, D> {
        self.layout
    }

    /// Returns the offset of a coordinate, in elements, unchecked. Outside the valid extents the result is unspecified. A
    /// static integer outside a static valid extent is a compile error.
    ///
    /// ```
    /// use tilewright_fixed::{_16, Format, zN};
    /// assert_eq!(zN::layout(20, 20, _16).offset((17, 17)), 785);
    /// ```
    /// ```compile_fail
    /// use tilewright_fixed::{_0, _16, Format, Int, zN};
    /// // error[E0080]: the static coordinate 20 of an extent of 20 …
    /// zN::layout(Int::<20>, Int::<20>, _16).offset((Int::<20>, _0));
    /// ```
    #[inline]
    pub fn offset<C: Coordinate<S, D> + Coordinate<V, V>>(self, coord: C) -> i64 {
        const { inside::<C, V, V>() };
        self.layout.offset(coord)
    }

    /// Returns the offset of a coordinate within the valid extents, in elements, and checks the coordinate.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) outside the valid extents; [mismatch](Error::is_mismatch) for a coordinate
    /// without a part for each axis; those of [`FixedLayout::checked_offset`].
    ///
    /// ```
    /// use tilewright_fixed::{Format, zN};
    /// let zn = zN::layout(20, 20, 16);
    /// assert_eq!(zn.checked_offset((17, 17)), Ok(785));
    /// // Row 20 is padding.
    /// assert!(zn.checked_offset((20, 0)).unwrap_err().is_out_of_range());
    /// assert!(zn.checked_offset(20).unwrap_err().is_mismatch());
    /// ```
    pub fn checked_offset<C: FixedTuple>(self, coord: C) -> Result<i64, Error> {
        // An integer in place of the axes would count in the layout, not in its valid extents.
        if C::RANK != V::RANK || C::DEPTH < V::DEPTH {
            return Err(Error::mismatch(
                "a coordinate of rank {} for {} axes",
                [C::RANK as i128, V::RANK as i128],
                "give an integer for each axis",
            ));
        }
        self.valid.lower()?.crd2idx(&coord.lower()?)?;
        self.layout.checked_offset(coord)
    }

    /// Returns the valid extents: the number of coordinates along each axis that hold elements.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _3, _4, _8, _12, FixedTuple, make_layout, make_layout_tile};
    /// let tile = make_layout_tile(make_layout((_8, _12), (_12, _1)), (_3, 16));
    /// assert_eq!(tile.valid().display().to_string(), "(_3,12)");
    /// ```
    #[doc(alias = "originShape")]
    #[inline]
    pub fn valid(self) -> V {
        self.valid
    }

    /// Returns the valid extents as a run-time value.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a negative extent; [mismatch](Error::is_mismatch) for one beyond its axis.
    pub(crate) fn lower_valid(self, layout: &Layout) -> Result<Coord, Error> {
        let (valid, mut extents) = (self.valid.lower()?, [0; MAX_MODES]);
        for (axis, &extent) in valid.values().iter().enumerate() {
            let extent = u64::try_from(extent).map_err(|_| {
                Error::illegal(
                    "a valid extent {} of axis {}",
                    [i128::from(extent), axis as i128],
                    "extents are 0 or more",
                )
            })?;
            let size = layout.axis_size(axis).unwrap_or(0);
            if extent > size {
                return Err(Error::mismatch(
                    "a valid extent {} of axis {}, which has {}",
                    [i128::from(extent), axis as i128, i128::from(size)],
                    "an axis covers its valid extent",
                ));
            }
            extents[axis] = extent;
        }
        Coord::new(&extents[..valid.values().len()])
    }

    /// Returns the layout as a run-time value. Its logical extents are the valid extents, and its capacity is the size of
    /// the layout, in elements.
    ///
    /// # Errors
    /// Those of [`FixedLayout::lower`]; [mismatch](Error::is_mismatch) if the layout reaches beyond its size, as a tile
    /// of a larger matrix does: lower its [`FixedLayoutTile::layout`] instead.
    ///
    /// ```
    /// use tilewright_fixed::{Format, zN};
    /// let tensor = zN::layout(100, 100, 16).tensor().unwrap();
    /// assert_eq!((tensor.extents(), tensor.capacity()), (&[100, 100][..], 12544));
    /// ```
    pub fn tensor(self) -> Result<TensorLayout, Error> {
        let layout = self.layout.lower()?;
        let valid = self.lower_valid(&layout)?;
        TensorLayout::new(valid.as_slice(), &layout, layout.size())
    }
}

/// Returns the tile of `shape` coordinates at the origin of a layout; it keeps inner blocks and strides.
///
/// `shape` has one integer per axis. A static tile of a static layout is static. An empty static tile is a compile
/// error; an empty dynamic tile has zero coordinates.
///
/// ```
/// use tilewright_fixed::{_1, _8, _12, make_layout, make_layout_tile};
/// // Of any rank: the last tile of a batch of 5.
/// let whole = make_layout((5, _8, _12), (96, _12, _1));
/// let tile = make_layout_tile(whole, (_1 + _1, _8, 16));
/// assert_eq!(format!("{tile:?}"), "(_2,_8,16):(96,_12,_1) valid (2,_8,12)");
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _4, _8, _12, make_layout, make_layout_tile};
/// // error[E0277]: the tile `(Int<4>,)` does not fit the shape `(Int<8>, Int<12>)`
/// make_layout_tile(make_layout((_8, _12), (_12, _1)), (_4,));
/// ```
#[doc(alias = "MakeLayoutTile")]
#[doc(alias = "GetTileLayout")]
#[inline]
pub fn make_layout_tile<S, D, T>(
    layout: FixedLayout<S, D>,
    shape: T,
) -> FixedLayoutTile<S::Shape, D, S::Valid>
where
    S: Congruent<D> + TileBy<T>,
    S::Shape: Congruent<D>,
    D: FixedTuple,
    T: FixedTuple,
{
    const { legal::<S, T>() };
    let (tiled, valid) = layout.shape().tile(shape);
    FixedLayoutTile { layout: super::make_layout(tiled, layout.stride()), valid }
}

/// Reports a static tile that the run-time algebra refuses as a compile error.
const fn legal<S: FixedTuple, T: FixedTuple>() {
    if !S::STATIC || !T::STATIC {
        return;
    }
    let (mut shape, mut i, extents) = ([0; MAX_MODES], 0, T::TUPLE.values());
    while i < extents.len() {
        shape[i] = if extents[i] < 0 { 0 } else { extents[i] as u64 };
        i += 1;
    }
    let whole = match Layout::compact_col_major(&S::TUPLE) {
        Ok(whole) => whole,
        Err(error) => error.panic_const(),
    };
    if let Err(error) = whole.tile(shape.split_at(extents.len()).0) {
        error.panic_const();
    }
}

/// A shape that can be cut to the tile `T`, which has one integer per axis.
///
/// ```
/// use tilewright_fixed::{FixedTuple, TileBy, _4, _8};
/// fn depth<S: TileBy<(u8, u8)>>(_: S) -> usize {
///     S::Shape::DEPTH
/// }
/// assert_eq!(depth(((_4, _8), 9)), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "the tile `{T}` does not fit the shape `{Self}`",
    label = "a tile has one integer per axis"
)]
pub trait TileBy<T>: FixedTuple {
    /// The tile's shape.
    type Shape: FixedTuple;

    /// The tile's valid extents.
    type Valid: FixedTuple;

    #[doc(hidden)]
    fn tile(self, by: T) -> (Self::Shape, Self::Valid);
}

/// An axis that can be cut to a tile of `T` coordinates.
///
/// ```
/// use tilewright_fixed::{Axis, FixedTuple, _4, _8};
/// fn rank<S: Axis<u8>>(_: S) -> usize {
///     S::Cut::RANK
/// }
/// assert_eq!((rank((_4, _8)), rank(9)), (2, 1));
/// ```
pub trait Axis<T>: FixedTuple {
    /// The axis cut to the first blocks, those that hold the tile.
    type Cut: FixedTuple;

    #[doc(hidden)]
    fn cut(self, by: T) -> Self::Cut;
}

impl<S: Integer, T: Integer> Axis<T> for S {
    type Cut = T;

    #[inline]
    fn cut(self, by: T) -> T {
        by
    }
}

/// Implements the tile of a layout of one bare mode for each integer type. A blanket implementation would make the
/// compiler report that a tuple is not an integer.
macro_rules! bare {
    ($([$($generics:tt)*] $integer:ty;)*) => { $(
        impl<T: Integer, $($generics)*> TileBy<T> for $integer {
            type Shape = T;
            type Valid = Calc<op::Min, T, $integer>;

            #[inline]
            fn tile(self, by: T) -> (T, Self::Valid) {
                (by, calc::<op::Min, T, $integer>(by, self))
            }
        }
    )* };
}
bare! {
    [const N: i64] Int<N>; [O: Operation, A: Integer, B: Integer] Expr<O, A, B>;
    [] i8; [] i16; [] i32; [] i64; [] i128; [] isize;
    [] u8; [] u16; [] u32; [] u64; [] u128; [] usize;
}

/// Divides `t` by the sizes of all parts before the last, one after the other: as a type and as a value.
macro_rules! blocks {
    ($t:ty;) => { $t };
    ($t:ty; $s:ident $(, $rest:ident)*) => {
        blocks!(Calc<op::CeilDiv, $t, <$s as FixedTuple>::Size>; $($rest),*)
    };
    (@ $axis:ident, $t:expr;) => { $t };
    (@ $axis:ident, $t:expr; $i:tt $(, $rest:tt)*) => {
        blocks!(@ $axis, calc::<op::CeilDiv, _, _>($t, $axis.$i.size()); $($rest),*)
    };
}

macro_rules! tiles {
    ($($s:ident $d:ident $c:ident $i:tt),*; $s0:ident $d0:ident $c0:ident $i0:tt) => {
        impl<T: Integer, $($s: FixedTuple,)* $s0: Axis<blocks!(T; $($s),*)>> Axis<T> for ($($s,)* $s0,) {
            type Cut = ($($s,)* $s0::Cut,);

            #[inline]
            fn cut(self, by: T) -> Self::Cut {
                ($(self.$i,)* self.$i0.cut(blocks!(@ self, by; $($i),*)),)
            }
        }

        impl<$($s: Axis<$c>, $c: Integer,)* $s0: Axis<$c0>, $c0: Integer> TileBy<($($c,)* $c0,)>
            for ($($s,)* $s0,)
        {
            type Shape = ($($s::Cut,)* $s0::Cut,);
            type Valid = ($(Calc<op::Min, $c, $s::Size>,)* Calc<op::Min, $c0, $s0::Size>,);

            #[inline]
            fn tile(self, by: ($($c,)* $c0,)) -> (Self::Shape, Self::Valid) {
                let shape = ($(self.$i.cut(by.$i),)* self.$i0.cut(by.$i0),);
                let valid = (
                    $(calc::<op::Min, _, _>(by.$i, self.$i.size()),)*
                    calc::<op::Min, _, _>(by.$i0, self.$i0.size()),
                );
                (shape, valid)
            }
        }
    };
}
arities!(tiles);

macro_rules! no_tiles {
    ($($s:ident $d:ident $c:ident $i:tt),*; $s0:ident $d0:ident $c0:ident $i0:tt) => {
        impl<$($s: FixedTuple,)* $s0: FixedTuple> TileBy<Nothing> for ($($s,)* $s0,) {
            type Shape = Self;
            type Valid = Self;

            fn tile(self, by: Nothing) -> (Self, Self) {
                match by {}
            }
        }
    };
}
arities!(no_tiles);

/// Writes the layout alone.
impl<S: Congruent<D>, D: FixedTuple, V: FixedTuple> fmt::Display for FixedLayoutTile<S, D, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.layout, f)
    }
}

/// Writes the layout, and `valid (…)` unless all of it is valid.
impl<S: Congruent<D>, D: FixedTuple, V: FixedTuple> fmt::Debug for FixedLayoutTile<S, D, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let whole = self.layout.lower().and_then(|layout| {
            let valid = self.lower_valid(&layout)?;
            let mut axes = valid.as_slice().iter().enumerate();
            Ok(axes.all(|(axis, &extent)| layout.axis_size(axis) == Some(extent)))
        });
        match (whole, V::DEPTH) {
            (Ok(true), _) => Ok(()),
            (_, 0) => write!(f, " valid ({})", self.valid.display()),
            (_, _) => write!(f, " valid {}", self.valid.display()),
        }
    }
}

impl<S, D, V, T, E, W> PartialEq<FixedLayoutTile<T, E, W>> for FixedLayoutTile<S, D, V>
where
    S: Congruent<D>,
    T: Congruent<E>,
    D: FixedTuple,
    E: FixedTuple,
    V: FixedTuple,
    W: FixedTuple,
{
    fn eq(&self, other: &FixedLayoutTile<T, E, W>) -> bool {
        self.layout == other.layout && same(self.valid, other.valid)
    }
}

impl<S: Congruent<D>, D: FixedTuple, V: FixedTuple> Eq for FixedLayoutTile<S, D, V> {}

// A tile at any position of a layout: it carries the coordinate of its origin.
//
// Law: `offset(c) = L.offset(origin + c)`, and each valid extent is min(t, size of the axis − origin). A nested layout
// is not translation-invariant, so such a tile is not a pointer plus a layout, unless it begins on whole blocks: see
// [`make_layout_tile`](super::make_layout_tile).
//
// Source: CATLASS `include/tla/tensor.hpp` (`GetTile`).

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
