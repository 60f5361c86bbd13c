//! Converts coordinates to offsets, and indices to coordinates.
//!
//! Laws: inside the shape, `crd2offset(c, s, d)` equals the run-time
//! [`crd2offset`](tilewright_core::IntTuple::crd2offset), and `checked_crd2offset` equals it everywhere;
//! `crd2offset(idx2crd(i, s), s, compact strides) = i`.
//!
//! An integer in place of a nested part is an index into the part. It is unpacked with the first integer fastest; the
//! last one takes the remaining quotient unreduced, as in TLA.
//!
//! Source: CATLASS `include/tla/layout.hpp` (`crd2offset`), extended here to coordinates of any rank and nesting.

use tilewright_core::{Error, IntTuple};

use super::{FixedTuple, Integer};
use crate::tuple::arities;
use crate::tuple::digit;

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
