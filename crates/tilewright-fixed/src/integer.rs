//! Static integers, whose value is part of the type, and dynamic integers, whose value is known at run time.
//!
//! The static integers `_0` to `_64` and the powers of two up to `_65536` are types and values.
//!
//! Law: an integer prints, compares and computes by its value, whether it is static or dynamic.

use core::fmt;

/// A static integer: its value is part of the type, so it takes no memory. Prints as `_N`. [`C`](super::C) is a shorter
/// name.
///
/// ```
/// use tilewright_fixed::{_4, Int};
/// assert_eq!(size_of_val(&_4), 0);
/// assert_eq!((_4.to_string().as_str(), Int::<-3>::VALUE), ("_4", -3));
/// assert!(_4 == 4 && _4 == Int::<4>);
/// ```
#[must_use]
#[derive(Clone, Copy, Default)]
pub struct Int<const N: i64>;

impl<const N: i64> Int<N> {
    /// The integer.
    pub const VALUE: i64 = N;
}

/// An integer, static or dynamic: [`Int`], an expression of static integers ([`Expr`](crate::Expr)), or any integer type
/// of Rust.
///
/// ```
/// use tilewright_fixed::{Integer, _4};
/// fn double<N: Integer>(n: N) -> (i128, bool) {
///     (2 * n.value(), N::VALUE.is_some())
/// }
/// assert_eq!((double(_4), double(4u8)), ((8, true), (8, false)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    label = "expected a static integer such as `_4`, or any integer type of Rust"
)]
pub trait Integer: Copy + fmt::Display {
    /// [`StaticKind`] or [`DynamicKind`].
    type Kind: Kind;

    /// The value, if the compiler knows it.
    const VALUE: Option<i64>;

    /// Returns the value. A `u128` above `i128::MAX` returns `i128::MAX`, which no layout reaches.
    fn value(self) -> i128;
}

impl<const N: i64> Integer for Int<N> {
    type Kind = StaticKind;
    const VALUE: Option<i64> = Some(N);

    #[inline]
    fn value(self) -> i128 {
        i128::from(N)
    }
}

macro_rules! dynamic {
    ($($integer:ty)*) => { $(
        impl Integer for $integer {
            type Kind = DynamicKind;
            const VALUE: Option<i64> = None;

            #[inline]
            fn value(self) -> i128 {
                #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
                if self as u128 > i128::MAX as u128 && self > 0 { i128::MAX } else { self as i128 }
            }
        }
    )* };
}
dynamic!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// The kind of an integer: static ([`StaticKind`]) or dynamic ([`DynamicKind`]). It selects the type of a result by
/// the kinds of its operands.
///
/// ```
/// use tilewright_fixed::{Calc, Integer, _4, op};
/// // The sum of a static and a dynamic integer is dynamic, an `i64`.
/// let sum: Calc<op::Add, tilewright_fixed::C<4>, u8> = _4 + 1u8;
/// assert_eq!(sum, 5_i64);
/// ```
pub trait Kind {
    /// The kind of a result: static if both operands are.
    type And<K: Kind>: Kind;

    /// The type of a result: the expression `E` itself if it is static, otherwise `i64`.
    type Of<E: Integer + Default>: Integer;

    /// Returns the expression if it is static, otherwise the computed value.
    fn of<E: Integer + Default>(value: impl FnOnce() -> i64) -> Self::Of<E>;
}

/// The kind of [`Int`] and [`Expr`](crate::Expr).
///
/// ```
/// use tilewright_fixed::{Int, Integer, StaticKind};
/// fn known<N: Integer<Kind = StaticKind> + Default>() -> i128 {
///     N::default().value()
/// }
/// assert_eq!(known::<Int<7>>(), 7);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum StaticKind {}

/// The kind of Rust's integers.
///
/// ```
/// use tilewright_fixed::{DynamicKind, Integer};
/// fn bytes<N: Integer<Kind = DynamicKind>>(_: N) -> usize {
///     size_of::<N>()
/// }
/// assert_eq!(bytes(7u16), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum DynamicKind {}

impl Kind for StaticKind {
    type And<K: Kind> = K;
    type Of<E: Integer + Default> = E;

    #[inline]
    fn of<E: Integer + Default>(_: impl FnOnce() -> i64) -> E {
        E::default()
    }
}

impl Kind for DynamicKind {
    type And<K: Kind> = DynamicKind;
    type Of<E: Integer + Default> = i64;

    #[inline]
    fn of<E: Integer + Default>(value: impl FnOnce() -> i64) -> i64 {
        value()
    }
}

macro_rules! by_value {
    ($type:ty, $($generics:tt)*) => {
        impl<$($generics)*> fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "_{}", self.value())
            }
        }

        impl<$($generics)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl<T: Integer, $($generics)*> PartialEq<T> for $type {
            #[inline]
            fn eq(&self, other: &T) -> bool {
                self.value() == other.value()
            }
        }

        impl<$($generics)*> Eq for $type {}

        impl<$($generics)*> From<$type> for i64 {
            #[inline]
            fn from(_: $type) -> i64 {
                <$type>::VALUE
            }
        }
    };
}
by_value!(Int<N>, const N: i64);
pub(super) use by_value;

macro_rules! numbers {
    ($($name:ident $value:literal)*) => { $(
        #[doc = concat!("The static integer ", $value, ".")]
        pub type $name = Int<$value>;
        #[doc = concat!("The static integer ", $value, ".")]
        pub const $name: $name = Int;
    )* };
}

numbers! {
    _0 0 _1 1 _2 2 _3 3 _4 4 _5 5 _6 6
    _7 7 _8 8 _9 9 _10 10 _11 11 _12 12 _13 13
    _14 14 _15 15 _16 16 _17 17 _18 18 _19 19 _20 20
    _21 21 _22 22 _23 23 _24 24 _25 25 _26 26 _27 27
    _28 28 _29 29 _30 30 _31 31 _32 32 _33 33 _34 34
    _35 35 _36 36 _37 37 _38 38 _39 39 _40 40 _41 41
    _42 42 _43 43 _44 44 _45 45 _46 46 _47 47 _48 48
    _49 49 _50 50 _51 51 _52 52 _53 53 _54 54 _55 55
    _56 56 _57 57 _58 58 _59 59 _60 60 _61 61 _62 62
    _63 63 _64 64 _128 128 _256 256 _512 512 _1024 1024 _2048 2048
    _4096 4096 _8192 8192 _16384 16384 _32768 32768 _65536 65536
}

#[cfg(test)]
mod tests {
    use std::{string::ToString, vec::Vec};

    use super::*;
    use crate::{_0, _64, _65536};

    #[test]
    fn every_type_of_rust_is_an_integer_by_value() {
        fn value(integer: impl Integer) -> i128 {
            integer.value()
        }
        let values: Vec<i128> = [
            value(-1i8),
            value(i16::MIN),
            value(-1i32),
            value(i64::MIN),
            value(i128::MIN),
            value(-1isize),
            value(u8::MAX),
            value(u16::MAX),
            value(u32::MAX),
            value(u64::MAX),
            value(u128::MAX),
            value(7usize),
            value(Int::<-9>),
            value(_0),
        ]
        .into();
        assert_eq!(
            values,
            [
                -1,
                -32768,
                -1,
                i128::from(i64::MIN),
                i128::MIN,
                -1,
                255,
                65535,
                4294967295,
                18446744073709551615,
                i128::MAX,
                7,
                -9,
                0,
            ]
        );
    }

    #[test]
    fn names_are_values() {
        assert_eq!((_0.value(), _64.value(), _65536.value()), (0, 64, 65536));
        assert_eq!(Int::<-3>.to_string(), "_-3");
        assert!(Int::<5> == 5u8 && Int::<5> != 6i128 && Int::<-1> != u64::MAX);
        assert_eq!(i64::from(crate::C::<12>), 12);
    }
}
