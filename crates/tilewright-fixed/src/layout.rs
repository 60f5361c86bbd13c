//! The fixed layout: a shape and strides, in which each integer is static or dynamic; offsets of coordinates, and
//! coordinates of indices.
//!
//! Law: every method returns the result of the run-time [`Layout`](tilewright_core::Layout) that [`FixedLayout::lower`]
//! returns.
//!
//! Source: CATLASS `include/tla/layout.hpp`.

use core::fmt;

use tilewright_core::{Error, IntTuple, Layout};

use super::{At, FixedTuple, Get, Integer, Static, StaticLayout};
use crate::tuple::{arities, digit};

/// A shape with its strides. Only its dynamic integers take memory.
///
/// [`make_layout`] creates it, or `Default` if all its integers are static. A layout of static integers converts to a
/// run-time layout by [`From`], and an illegal one is a compile error; any other converts by [`FixedLayout::lower`].
///
/// ```
/// use tilewright_fixed::{C, FixedLayout, _1, _2, _12, make_layout};
/// type Tiled = FixedLayout<
///     ((C<4>, C<2>), (C<4>, C<3>)),
///     ((C<4>, C<16>), (C<1>, C<32>)),
/// >;
/// let tiled = Tiled::default();
/// assert_eq!((size_of::<Tiled>(), tiled.offset((1, 5))), (0, 37));
/// assert_eq!(tilewright_core::Layout::from(tiled).to_string(), "((4,2),(4,3)):((4,16),(1,32))");
///
/// let mixed = make_layout((_2, 4), (_12, _1));
/// assert_eq!((mixed.to_string().as_str(), size_of_val(&mixed)), ("(_2,4):(_12,_1)", 4));
/// assert_eq!(mixed.lower().unwrap().to_string(), "(2,4):(12,1)");
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct FixedLayout<S, D> {
    shape: S,
    stride: D,
}

/// Creates the layout with this shape and these strides, in elements.
///
/// Strides with other brackets than the shape are a compile error, and so are static integers that form an illegal
/// layout. Dynamic integers are not checked here; [`FixedLayout::lower`] and every checked function report them.
///
/// ```
/// use tilewright_fixed::{_1, _2, _12, make_layout};
/// assert_eq!(make_layout((_2, 4), (_12, _1)).to_string(), "(_2,4):(_12,_1)");
/// assert!(make_layout((_2, -4), (_12, _1)).lower().unwrap_err().is_illegal());
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _2, _4, make_layout};
/// // error[E0277]: the extents `(Int<4>, Int<2>)` and the strides `(Int<1>,)` are not integers in the same brackets
/// make_layout((_4, _2), (_1,));
/// ```
/// ```compile_fail
/// use tilewright_fixed::{Int, _2, _4, make_layout};
/// // error[E0080]: … the offset and the strides up to mode 1 reach …
/// make_layout((_4, _2), (_2, Int::<{ i64::MAX }>)).to_string();
/// ```
#[doc(alias = "MakeLayout")]
#[inline]
pub fn make_layout<S: Congruent<D>, D: FixedTuple>(shape: S, stride: D) -> FixedLayout<S, D> {
    const { legal::<S, D>() };
    FixedLayout { shape, stride }
}

/// Returns the run-time layout if all its integers are static.
const fn lowered<S: FixedTuple, D: FixedTuple>() -> Option<Layout> {
    if !S::STATIC || !D::STATIC {
        return None;
    }
    match Layout::from_shape_stride(&S::TUPLE, &D::TUPLE) {
        Ok(layout) => Some(layout),
        Err(error) => error.panic_const(),
    }
}

/// Reports static integers that form an illegal layout as a compile error.
const fn legal<S: FixedTuple, D: FixedTuple>() {
    lowered::<S, D>();
}

impl<S: Congruent<D>, D: FixedTuple> FixedLayout<S, D> {
    /// Returns the extents.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.shape().display().to_string(), "(_2,(_3,4))");
    /// ```
    #[inline]
    pub fn shape(self) -> S {
        self.shape
    }

    /// Returns the strides, in elements.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.stride().display().to_string(), "(_1,(_2,6))");
    /// ```
    #[inline]
    pub fn stride(self) -> D {
        self.stride
    }

    /// Returns the number of axes.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.rank(), layout.at((_1, _1)).rank()), (2, 1));
    /// ```
    #[inline]
    pub fn rank(self) -> usize {
        S::RANK
    }

    /// Returns the depth of nesting; 0 for `9:1`.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.depth(), layout.get::<0>().depth()), (2, 0));
    /// ```
    #[inline]
    pub fn depth(self) -> usize {
        S::DEPTH
    }

    /// Returns the number of coordinates.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, _4, FixedTuple, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.size(), layout.at((_1, _1)).size()), (24_i64, 4));
    /// ```
    #[inline]
    pub fn size(self) -> S::Size {
        self.shape.size()
    }

    /// Returns axis `I`, counted from 0. An axis that does not exist is a compile error.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _4, _16, _32, make_layout};
    /// let layout = make_layout(((_4, _2), (_4, 3)), ((_4, _16), (_1, _32)));
    /// assert_eq!(layout.get::<1>().to_string(), "(_4,3):(_1,_32)");
    /// assert_eq!(layout.at((_1, _1)).to_string(), "3:_32");
    /// ```
    /// ```compile_fail
    /// use tilewright_fixed::{_1, _2, make_layout};
    /// // error[E0277]: `(Int<2>, Int<2>)` lacks a part at position 2
    /// make_layout((_2, _2), (_1, _2)).get::<2>();
    /// ```
    #[inline]
    pub fn get<const I: i64>(self) -> FixedLayout<<S as Get<I>>::Part, <D as Get<I>>::Part>
    where
        S: Get<I>,
        D: Get<I>,
    {
        FixedLayout { shape: self.shape.part(), stride: self.stride.part() }
    }

    /// Returns the part at a path of positions. The path is a static integer or a tuple of them.
    ///
    /// ```
    /// use tilewright_fixed::{_0, _1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.at((_1, _0)).to_string(), "_3:_2");
    /// assert_eq!(layout.at(_1).to_string(), "(_3,4):(_2,6)");
    /// ```
    #[inline]
    pub fn at<P>(self, path: P) -> FixedLayout<<S as At<P>>::Part, <D as At<P>>::Part>
    where
        S: At<P>,
        D: At<P>,
    {
        let _ = path;
        FixedLayout { shape: self.shape.part_at(), stride: self.stride.part_at() }
    }

    /// Returns the offset of a coordinate in any spelling, in elements, unchecked. Outside the layout the result is
    /// unspecified, or a compile error if the integers are static. See [`crd2offset`].
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!((layout.offset((1, 7)), layout.offset((1, (1, 2))), layout.offset(15)), (15, 15, 15));
    /// ```
    #[inline]
    pub fn offset<C: Coordinate<S, D>>(self, coord: C) -> i64 {
        crd2offset(coord, self.shape, self.stride)
    }

    /// Returns the offset of a coordinate in any spelling, in elements, and checks the coordinate.
    ///
    /// # Errors
    /// Those of [`FixedLayout::lower`]; [mismatch](Error::is_mismatch) if the brackets do not fit;
    /// [out of range](Error::is_out_of_range) outside the layout.
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// let layout = make_layout((_2, (_3, 4)), (_1, (_2, 6)));
    /// assert_eq!(layout.checked_offset((1, 7)), Ok(15));
    /// assert!(layout.checked_offset((2, 0)).unwrap_err().is_out_of_range());
    /// ```
    pub fn checked_offset<C: FixedTuple>(self, coord: C) -> Result<i64, Error> {
        let _ = self.lower()?;
        checked_crd2offset(coord, self.shape, self.stride)
    }

    /// Returns the layout as a run-time value.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a negative extent; [overflow](Error::is_overflow) if sizes or offsets leave
    /// 64 bits, or if an integer is [`NO_INTEGER`](super::NO_INTEGER).
    ///
    /// ```
    /// use tilewright_fixed::{_1, _2, _3, make_layout};
    /// assert_eq!(make_layout((_2, 3), (_1, 2)).lower().unwrap().to_string(), "(2,3):(1,2)");
    /// assert!(make_layout((_2, i64::MAX), (_1, 2)).lower().unwrap_err().is_overflow());
    /// ```
    pub fn lower(self) -> Result<Layout, Error> {
        let (shape, stride) = (self.shape.lower()?, self.stride.lower()?);
        for (leaf, (&extent, &step)) in shape.values().iter().zip(stride.values()).enumerate() {
            if extent == super::NO_INTEGER || step == super::NO_INTEGER {
                return Err(Error::overflow(
                    "extent {} and stride {} of leaf {}: one overflowed 64 bits, or a division left a remainder",
                    [i128::from(extent), i128::from(step), leaf as i128],
                    "extents and strides must fit 64 bits",
                ));
            }
        }
        Layout::from_shape_stride(&shape, &stride)
    }
}

impl<S: Static + Congruent<D>, D: Static> Default for FixedLayout<S, D> {
    fn default() -> FixedLayout<S, D> {
        make_layout(S::default(), D::default())
    }
}

impl<S: Static + Congruent<D>, D: Static> StaticLayout for FixedLayout<S, D> {
    const LAYOUT: Layout = match lowered::<S, D>() {
        Some(layout) => layout,
        None => panic!("a static layout of dynamic integers"),
    };
}

impl<S: Static + Congruent<D>, D: Static> From<FixedLayout<S, D>> for Layout {
    fn from(_: FixedLayout<S, D>) -> Layout {
        <FixedLayout<S, D> as StaticLayout>::LAYOUT
    }
}

/// Converts like [`FixedLayout::lower`].
impl<S: Congruent<D>, D: FixedTuple> TryFrom<&FixedLayout<S, D>> for Layout {
    type Error = Error;

    fn try_from(layout: &FixedLayout<S, D>) -> Result<Layout, Error> {
        layout.lower()
    }
}

impl<S: FixedTuple, D: FixedTuple> fmt::Display for FixedLayout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape.display(), self.stride.display())
    }
}

impl<S: FixedTuple, D: FixedTuple> fmt::Debug for FixedLayout<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Layouts are equal if they have the same brackets and integers, static or dynamic.
impl<S, D, T, E> PartialEq<FixedLayout<T, E>> for FixedLayout<S, D>
where
    S: Congruent<D>,
    T: Congruent<E>,
    D: FixedTuple,
    E: FixedTuple,
{
    fn eq(&self, other: &FixedLayout<T, E>) -> bool {
        same(self.shape, other.shape) && same(self.stride, other.stride)
    }
}

impl<S: Congruent<D>, D: FixedTuple> Eq for FixedLayout<S, D> {}

/// Returns whether two tuples have the same brackets and integers.
pub(crate) fn same<A: FixedTuple, B: FixedTuple>(a: A, b: B) -> bool {
    use super::tuple::List;
    let (x, y) = (List::of(a), List::of(b));
    A::TUPLE.profile().same(B::TUPLE.profile()) && x.values[..x.len] == y.values[..y.len]
}

// Converts coordinates to offsets, and indices to coordinates.
//
// Laws: inside the shape, `crd2offset(c, s, d)` equals the run-time
// [`crd2offset`](tilewright_core::IntTuple::crd2offset), and `checked_crd2offset` equals it everywhere;
// `crd2offset(idx2crd(i, s), s, compact strides) = i`.
//
// An integer in place of a nested part is an index into the part. It is unpacked with the first integer fastest; the
// last one takes the remaining quotient unreduced, as in TLA.
//
// Source: CATLASS `include/tla/layout.hpp` (`crd2offset`), extended here to coordinates of any rank and nesting.

/// A shape whose strides `D` have the same brackets.
///
/// ```
/// use tilewright_fixed::{Congruent, FixedTuple, _2, _4, make_layout};
/// fn text<S: Congruent<D>, D: FixedTuple>(shape: S, stride: D) -> String {
///     make_layout(shape, stride).to_string()
/// }
/// assert_eq!(text((_4, _2), (1, 4)), "(_4,_2):(1,4)");
/// ```
#[diagnostic::on_unimplemented(
    message = "the extents `{Self}` and the strides `{D}` are not integers in the same brackets",
    label = "shape and stride are integers, `4`, `_4` or `Int::<100>`, in the same brackets"
)]
pub trait Congruent<D>: FixedTuple {}

/// A type that is not a tuple. Where only one type would fit, the compiler assumes it and reports mismatched types;
/// a second candidate makes it report the unsatisfied trait, and with it our message.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Nothing {}

impl<S: Integer, D: Integer> Congruent<D> for S {}
impl Congruent<()> for () {}

/// A coordinate of the shape `S` with the strides `D`: it has the same brackets, or an integer in place of a part.
///
/// ```
/// use tilewright_fixed::{Coordinate, _1, _4, _8, crd2offset};
/// fn third<C: Coordinate<((i8, i8), i8), ((i8, i8), i8)>>(coord: C) -> i64 {
///     crd2offset(coord, ((2, 3), 4), ((1, 8), 2))
/// }
/// assert_eq!((third((5, 3)), third(((_1, 2), 3u8)), third(23)), (23, 23, 23));
/// ```
#[diagnostic::on_unimplemented(
    message = "the coordinate `{Self}` does not fit the shape `{S}` with strides `{D}`",
    label = "bracket a coordinate like its shape; an integer may replace a part"
)]
pub trait Coordinate<S, D>: FixedTuple {
    /// The first static integer that is not below its static extent, and that extent.
    #[doc(hidden)]
    const OUTSIDE: Option<[i64; 2]>;

    /// Returns Σ coordinate·stride, in elements. Outside the shape the result is unspecified.
    #[doc(hidden)]
    fn dot(self, shape: S, stride: D) -> i64;
}

/// Returns a coordinate and its extent if the compiler knows both and the coordinate is outside.
const fn outside(coord: Option<i64>, extent: Option<i64>) -> Option<[i64; 2]> {
    match (coord, extent) {
        (Some(coord), Some(extent)) if coord < 0 || coord >= extent => Some([coord, extent]),
        (Some(_) | None, Some(_) | None) => None,
    }
}

/// Returns the first value that is present.
const fn first(all: &[Option<[i64; 2]>]) -> Option<[i64; 2]> {
    let mut i = 0;
    while i < all.len() {
        if all[i].is_some() {
            return all[i];
        }
        i += 1;
    }
    None
}

/// Reports a static coordinate outside a static shape as a compile error.
pub(crate) const fn inside<C: Coordinate<S, D>, S, D>() {
    if let Some([coord, extent]) = C::OUTSIDE {
        Error::out_of_range(
            "the static coordinate {} of an extent of {}",
            [coord as i128, extent as i128],
            "coordinates run from 0 to the extent less one",
        )
        .panic_const()
    }
}

impl<C: Integer, S: Integer, D: Integer> Coordinate<S, D> for C {
    const OUTSIDE: Option<[i64; 2]> = outside(C::VALUE, S::VALUE);

    #[inline]
    fn dot(self, _: S, stride: D) -> i64 {
        (self.value() as i64).wrapping_mul(stride.value() as i64)
    }
}

impl<C: Integer> Coordinate<(), ()> for C {
    const OUTSIDE: Option<[i64; 2]> = outside(C::VALUE, Some(1));

    #[inline]
    fn dot(self, (): (), (): ()) -> i64 {
        0
    }
}

impl Coordinate<(), ()> for () {
    const OUTSIDE: Option<[i64; 2]> = None;

    #[inline]
    fn dot(self, (): (), (): ()) -> i64 {
        0
    }
}

macro_rules! coordinates {
    ($($s:ident $d:ident $c:ident $i:tt),*; $s0:ident $d0:ident $c0:ident $i0:tt) => {
        impl<$($s: Congruent<$d>, $d,)* $s0: Congruent<$d0>, $d0> Congruent<($($d,)* $d0,)>
            for ($($s,)* $s0,) {}

        impl<$($s: FixedTuple,)* $s0: FixedTuple> Congruent<Nothing> for ($($s,)* $s0,) {}

        impl<C: Integer, $($s: FixedTuple, $d,)* $s0: FixedTuple, $d0>
            Coordinate<($($s,)* $s0,), ($($d,)* $d0,)> for C
        where
            $(u64: Coordinate<$s, $d>,)*
            u64: Coordinate<$s0, $d0>,
        {
            const OUTSIDE: Option<[i64; 2]> =
                outside(C::VALUE, <<($($s,)* $s0,) as FixedTuple>::Size as Integer>::VALUE);

            #[inline]
            #[allow(unused_mut)]
            fn dot(self, shape: ($($s,)* $s0,), stride: ($($d,)* $d0,)) -> i64 {
                let (mut rest, mut sum) = (self.value() as u64, 0i64);
                $(
                    let (x, next) = digit(rest, shape.$i.size());
                    rest = next;
                    sum = sum.wrapping_add(x.dot(shape.$i, stride.$i));
                )*
                sum.wrapping_add(rest.dot(shape.$i0, stride.$i0))
            }
        }

        impl<$($s, $d, $c: Coordinate<$s, $d>,)* $s0, $d0, $c0: Coordinate<$s0, $d0>>
            Coordinate<($($s,)* $s0,), ($($d,)* $d0,)> for ($($c,)* $c0,)
        {
            const OUTSIDE: Option<[i64; 2]> = first(&[$($c::OUTSIDE,)* $c0::OUTSIDE]);

            #[inline]
            #[allow(unused_mut)]
            fn dot(self, shape: ($($s,)* $s0,), stride: ($($d,)* $d0,)) -> i64 {
                let mut sum = 0i64;
                $(sum = sum.wrapping_add(self.$i.dot(shape.$i, stride.$i));)*
                sum.wrapping_add(self.$i0.dot(shape.$i0, stride.$i0))
            }
        }

        impl<$($c: FixedTuple,)* $c0: FixedTuple> Coordinate<Nothing, Nothing> for ($($c,)* $c0,) {
            const OUTSIDE: Option<[i64; 2]> = None;

            fn dot(self, shape: Nothing, _: Nothing) -> i64 {
                match shape {}
            }
        }
    };
}
arities!(coordinates);

/// Returns Σ coordinate·stride in elements, unchecked: straight-line code if shape and stride are static.
///
/// Outside the shape the result is unspecified, as in TLA; [`checked_crd2offset`] returns an error instead. A static
/// integer outside its static extent is a compile error.
///
/// ```
/// use tilewright_fixed::{_1, _2, _3, _4, _16, _32, crd2offset};
/// let (shape, stride) = (((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
/// assert_eq!(crd2offset((1, 5), shape, stride), 37);
/// assert_eq!(crd2offset(((3, 1), (2, 2)), shape, stride), 94);
/// assert_eq!(crd2offset(13, shape, stride), 21);
/// // A dynamic shape of rank 3, and a coordinate that is partly static.
/// assert_eq!(crd2offset((_1, 2u8, (0, 1)), (2, 3, (4, 5)), (60, 20, (5, 1))), 101);
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_1, _2, _4, crd2offset};
/// // error[E0277]: the coordinate `(i32, i32, i32)` does not fit the shape `(Int<4>, Int<2>)` …
/// crd2offset((1, 0, 0), (_4, _2), (_1, _4));
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_0, _1, _2, _3, crd2offset};
/// // error[E0080]: the static coordinate 2 of an extent of 2 …
/// assert_eq!(crd2offset((_2, _0), (_2, _3), (_3, _1)), 6);
/// ```
#[inline]
pub fn crd2offset<C: Coordinate<S, D>, S, D>(coord: C, shape: S, stride: D) -> i64 {
    const { inside::<C, S, D>() };
    coord.dot(shape, stride)
}

/// Returns the offset of a coordinate in elements, like [`crd2offset`], and checks the coordinate.
///
/// # Errors
/// Those of [`IntTuple::crd2offset`](tilewright_core::IntTuple::crd2offset): the coordinate is outside the shape, or
/// its brackets do not fit.
///
/// ```
/// use tilewright_fixed::{_1, _2, _3, _4, _16, _32, checked_crd2offset};
/// let (shape, stride) = (((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
/// assert_eq!(checked_crd2offset((1, 5), shape, stride), Ok(37));
/// assert!(checked_crd2offset((8, 0), shape, stride).unwrap_err().is_out_of_range());
/// assert!(checked_crd2offset((1, 0, 0), shape, stride).unwrap_err().is_mismatch());
/// ```
pub fn checked_crd2offset<C: FixedTuple, S: FixedTuple, D: FixedTuple>(
    coord: C,
    shape: S,
    stride: D,
) -> Result<i64, Error> {
    IntTuple::crd2offset(&coord.lower()?, &shape.lower()?, &stride.lower()?)
}

/// Returns the coordinate of `shape` with this index, the first integer fastest. The index is not checked: if it is
/// beyond the shape, the last integer is too large.
///
/// ```
/// use tilewright_fixed::{_2, _3, FixedTuple, idx2crd};
/// assert_eq!(idx2crd(16, (3, (_2, _3))), (1, (1, 2)));
/// assert_eq!(idx2crd(18, (3, (_2, _3))), (0, (0, 3)));
/// ```
#[inline]
pub fn idx2crd<S: FixedTuple>(index: impl Integer, shape: S) -> S::Digits {
    shape.unpack(index.value() as u64)
}

/// Returns the coordinate of `shape` with this index, like [`idx2crd`], and checks the index.
///
/// # Errors
/// [out of range](Error::is_out_of_range) unless `0 ≤ index < size`; [overflow](Error::is_overflow) for a
/// shape beyond 64 bits.
///
/// ```
/// use tilewright_fixed::{_2, _3, checked_idx2crd};
/// assert_eq!(checked_idx2crd(17, (3, (_2, _3))), Ok((2, (1, 2))));
/// assert!(checked_idx2crd(18, (3, (_2, _3))).unwrap_err().is_out_of_range());
/// assert!(checked_idx2crd(-1, (3, (_2, _3))).unwrap_err().is_out_of_range());
/// ```
pub fn checked_idx2crd<S: FixedTuple>(index: impl Integer, shape: S) -> Result<S::Digits, Error> {
    let run_time = shape.lower()?;
    let whole = index.lower()?;
    // The run-time algebra decides whether the index is inside.
    run_time.crd2idx(&whole)?;
    Ok(idx2crd(index, shape))
}
