//! Static integers, whose value is part of the type, and dynamic integers, whose value is known at run time; and the
//! arithmetic between both kinds.
//!
//! The static integers `_0` to `_64` and the powers of two up to `_65536` are types and values.
//!
//! Law: an integer prints, compares and computes by its value, whether it is static or dynamic.

use core::{fmt, marker::PhantomData, ops};

use tilewright_core::Error;

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

// Arithmetic between static and dynamic integers.
//
// Laws: the value of `a ∘ b` does not depend on which of a and b are static; it is static if both are.
//
// Stable Rust cannot name `Int<{A + B}>`, so the result of two static integers is an *expression type*: [`Expr`] takes
// no memory, has its value as a constant, prints as `_N` and equals the [`Int`] of that value, but is another type. A
// result that overflows 64 bits, or a division by zero, is a compile error between static integers; otherwise it is
// [`NO_INTEGER`].
//
// Source: CATLASS `include/tla/numeric/integral_constant.hpp`.

/// The result of a dynamic operation that overflows 64 bits or divides by zero: the least `i64`.
///
/// Like a NaN, it propagates through further arithmetic. No layout can have it: an extent must not be negative, and a
/// stride this large leaves the range of offsets. Arithmetic therefore needs neither a panic nor a `Result`; the error is
/// returned when the layout is lowered or a checked function is called.
///
/// ```
/// use tilewright_fixed::{_4, NO_INTEGER, make_layout};
/// let huge = _4 * i64::MAX;
/// assert_eq!((huge, huge + _4), (NO_INTEGER, NO_INTEGER));
/// assert!(make_layout(huge, 1).lower().unwrap_err().is_overflow());
/// ```
pub const NO_INTEGER: i64 = i64::MIN;

/// The static result of the operation `O` on static integers. Takes no memory; prints as `_N`.
///
/// ```
/// use tilewright_fixed::{_4, _12, _16};
/// let sum = _4 + _12;
/// assert_eq!((size_of_val(&sum), sum.to_string().as_str()), (0, "_16"));
/// assert!(sum == _16);
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_0, _4};
/// // error[E0080]: … 4 / 0 …
/// assert_eq!((_4 / _0).to_string(), "");
/// ```
#[must_use]
pub struct Expr<O, A, B>(PhantomData<(O, A, B)>);

impl<O: Operation, A: Integer, B: Integer> Expr<O, A, B> {
    /// The value.
    pub const VALUE: i64 = evaluated(O::CODE, A::VALUE, B::VALUE);
}

impl<O: Operation, A: Integer, B: Integer> Integer for Expr<O, A, B> {
    type Kind = StaticKind;
    const VALUE: Option<i64> = Some(evaluated(O::CODE, A::VALUE, B::VALUE));

    #[inline]
    fn value(self) -> i128 {
        i128::from(Self::VALUE)
    }
}

by_value!(Expr<O, A, B>, O: Operation, A: Integer, B: Integer);

impl<O, A, B> Clone for Expr<O, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, A, B> Copy for Expr<O, A, B> {}

impl<O, A, B> Default for Expr<O, A, B> {
    fn default() -> Self {
        Expr(PhantomData)
    }
}

/// The type of the operation `O` on `A` and `B`: an [`Expr`] if both are static, otherwise `i64`.
pub type Calc<O, A, B> =
    <<<A as Integer>::Kind as Kind>::And<<B as Integer>::Kind> as Kind>::Of<Expr<O, A, B>>;

/// Returns `a ∘ b`.
#[inline]
pub(crate) fn calc<O: Operation, A: Integer, B: Integer>(a: A, b: B) -> Calc<O, A, B> {
    <A::Kind as Kind>::And::<B::Kind>::of::<Expr<O, A, B>>(|| {
        let no = i128::from(NO_INTEGER);
        match (i64::try_from(a.value()), i64::try_from(b.value())) {
            (Ok(x), Ok(y)) if a.value() != no && b.value() != no => {
                O::CODE.apply(x, y).unwrap_or(NO_INTEGER)
            }
            _ => NO_INTEGER,
        }
    })
}

/// Returns the value of an expression of static integers.
pub(crate) const fn evaluated(code: Code, a: Option<i64>, b: Option<i64>) -> i64 {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (Some(_) | None, _) => panic!("a static expression of dynamic integers"),
    };
    match code.apply(a, b) {
        Some(value) => value,
        None => Error::illegal(
            code.sentence(),
            [a as i128, b as i128],
            "a static integer fits 64 bits, and nothing is divided by zero",
        )
        .panic_const(),
    }
}

/// An operation on integers: one of the types of [`op`].
///
/// ```
/// use tilewright_fixed::{Calc, Int, Operation, op};
/// fn is_static<O: Operation>() -> bool {
///     size_of::<Calc<O, Int<4>, Int<2>>>() == 0 && size_of::<Calc<O, Int<4>, u8>>() == 8
/// }
/// assert!(is_static::<op::Add>() && is_static::<op::CeilDiv>());
/// ```
pub trait Operation: Copy {
    /// The operation as a value.
    #[doc(hidden)]
    const CODE: Code;
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $sentence:literal;)*) => {
        /// The operations on integers as types, for the first parameter of [`Expr`].
        pub mod op {
            $($(#[$doc])* #[derive(Clone, Copy, Debug)] pub enum $name {})*
        }

        $(impl Operation for op::$name {
            const CODE: Code = Code::$name;
        })*

        /// The operations on integers as values.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum Code { $($name),* }

        impl Code {
            const fn sentence(self) -> &'static str {
                match self { $(Code::$name => $sentence),* }
            }
        }
    };
}

operations! {
    /// a + b.
    Add "the integer {} + {}";
    /// a − b.
    Sub "the integer {} - {}";
    /// a·b.
    Mul "the integer {} * {}";
    /// a/b, rounded towards zero.
    Div "the integer {} / {}";
    /// The remainder of [`Div`]; it has the sign of a.
    Rem "the integer {} % {}";
    /// Bitwise and.
    BitAnd "the integer {} & {}";
    /// Bitwise or.
    BitOr "the integer {} | {}";
    /// Bitwise exclusive or.
    BitXor "the integer {} ^ {}";
    /// a·2ᵇ.
    Shl "the integer {} << {}";
    /// ⌊a/2ᵇ⌋.
    Shr "the integer {} >> {}";
    /// The larger of both.
    Max "the integer max({}, {})";
    /// The smaller of both.
    Min "the integer min({}, {})";
    /// ⌈a/b⌉, for a ≥ 0 and b ≥ 1.
    CeilDiv "the integer ceil({} / {})";
    /// The least multiple of b that is at least a, for a ≥ 0 and b ≥ 1.
    RoundUp "the integer {} rounded up to a multiple of {}";
    /// a/b if b divides a, for b ≥ 1.
    ExactDiv "the whole number {} / {}";
}

impl Code {
    /// Returns `a ∘ b` if it is defined and fits 64 bits.
    #[inline]
    const fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Code::Add => a.checked_add(b),
            Code::Sub => a.checked_sub(b),
            Code::Mul => a.checked_mul(b),
            Code::Div => a.checked_div(b),
            Code::Rem => a.checked_rem(b),
            Code::BitAnd => Some(a & b),
            Code::BitOr => Some(a | b),
            Code::BitXor => Some(a ^ b),
            Code::Shl if b >= 0 && b < 63 => a.checked_mul(1 << b),
            Code::Shr if b >= 0 && b < 64 => Some(a >> b),
            Code::Shl | Code::Shr => None,
            Code::Max => Some(if a > b { a } else { b }),
            Code::Min => Some(if a < b { a } else { b }),
            Code::CeilDiv if a >= 0 && b >= 1 => Some((a as u64).div_ceil(b as u64) as i64),
            Code::RoundUp if a >= 0 && b >= 1 => {
                ((a as u64).div_ceil(b as u64) as i64).checked_mul(b)
            }
            Code::ExactDiv if b >= 1 && a % b == 0 => Some(a / b),
            Code::CeilDiv | Code::RoundUp | Code::ExactDiv => None,
        }
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $name<A: Integer, B: Integer>(a: A, b: B) -> Calc<op::$op, A, B> {
            calc::<op::$op, A, B>(a, b)
        }
    )* };
}

functions! {
    /// Returns the larger of two integers.
    ///
    /// ```
    /// use tilewright_fixed::{_4, _8, max};
    /// assert_eq!((max(_4, _8).to_string().as_str(), max(_4, 3)), ("_8", 4_i64));
    /// ```
    max Max;
    /// Returns the smaller of two integers.
    min Min;
    /// Returns ⌈a/b⌉ for a ≥ 0 and b ≥ 1; otherwise the result is undefined, see [`NO_INTEGER`].
    ///
    /// ```
    /// use tilewright_fixed::{_4, NO_INTEGER, ceil_div};
    /// assert_eq!((ceil_div(9, _4), ceil_div(9, 0)), (3_i64, NO_INTEGER));
    /// ```
    ceil_div CeilDiv;
    /// Returns the least multiple of b that is at least a, for a ≥ 0 and b ≥ 1.
    round_up RoundUp;
}

macro_rules! operators {
    ($($op:ident $method:ident)*) => { $(
        impl<const N: i64, B: Integer> ops::$op<B> for Int<N> {
            type Output = Calc<op::$op, Int<N>, B>;

            #[inline]
            fn $method(self, b: B) -> Self::Output {
                calc::<op::$op, Int<N>, B>(self, b)
            }
        }

        impl<O: Operation, X: Integer, Y: Integer, B: Integer> ops::$op<B> for Expr<O, X, Y> {
            type Output = Calc<op::$op, Expr<O, X, Y>, B>;

            #[inline]
            fn $method(self, b: B) -> Self::Output {
                calc::<op::$op, Expr<O, X, Y>, B>(self, b)
            }
        }

        operators!($op $method: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
    )* };
    ($op:ident $method:ident: $($integer:ty)*) => { $(
        impl<const N: i64> ops::$op<Int<N>> for $integer {
            type Output = i64;

            #[inline]
            fn $method(self, b: Int<N>) -> i64 {
                calc::<op::$op, $integer, Int<N>>(self, b)
            }
        }

        impl<O: Operation, X: Integer, Y: Integer> ops::$op<Expr<O, X, Y>> for $integer {
            type Output = i64;

            #[inline]
            fn $method(self, b: Expr<O, X, Y>) -> i64 {
                calc::<op::$op, $integer, Expr<O, X, Y>>(self, b)
            }
        }
    )* };
}
operators! {
    Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor Shl shl Shr shr
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{_0, _64, _65536};
    use std::string::ToString;
    use std::vec::Vec;

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

    /// Checks every operation on this pair, static and mixed, against 128-bit arithmetic.
    fn pair<const A: i64, const B: i64>() {
        let (a, b) = (i128::from(A), i128::from(B));
        macro_rules! agree {
            ($($op:tt $value:expr;)*) => { $(
                let value: i128 = $value;
                assert_eq!((Int::<A> $op Int::<B>).value(), value);
                assert_eq!((Int::<A> $op Int::<B>).to_string(), std::format!("_{value}"));
                assert_eq!(i128::from(A $op Int::<B>), value);
                assert_eq!(i128::from(Int::<A> $op B), value);
                assert!((Int::<A> $op Int::<B>) $op Int::<B> == (Int::<A> $op B) $op Int::<B>);
            )* };
        }
        agree! { + a + b; - a - b; * a * b; / a / b; % a % b; & a & b; | a | b; ^ a ^ b; }
        assert_eq!(max(Int::<A>, Int::<B>).value(), a.max(b));
        assert_eq!(i128::from(min(A, Int::<B>)), a.min(b));
    }

    /// Checks the operations that need a ≥ 0 and b ≥ 1.
    fn natural<const A: i64, const B: i64>() {
        let (a, b) = (i128::from(A), i128::from(B));
        assert_eq!((Int::<A> << Int::<B>).value(), a << b);
        assert_eq!((Int::<A> >> Int::<B>).value(), a >> b);
        assert_eq!(ceil_div(Int::<A>, Int::<B>).value(), (a + b - 1) / b);
        assert_eq!(i128::from(ceil_div(A, Int::<B>)), (a + b - 1) / b);
        assert_eq!(round_up(Int::<A>, Int::<B>).value(), (a + b - 1) / b * b);
        assert_eq!(i128::from(round_up(A, B)), (a + b - 1) / b * b);
    }

    #[test]
    fn values_do_not_depend_on_what_is_static() {
        macro_rules! pairs {
            ($check:ident $($a:literal: $($b:literal)*;)*) => { $($($check::<$a, $b>();)*)* };
        }
        pairs! { natural 0: 1 2 5; 1: 1 2 5; 4: 1 2 5; 12: 1 2 5; 33: 1 2 5 16 40; }
        pairs! { pair
            -7: -3 -1 1 2 5; -1: -3 -1 1 2 5; 0: -3 -1 1 2 5; 1: -3 -1 1 2 5; 4: -3 -1 1 2 5;
            12: -3 -1 1 2 5; 33: -3 -1 1 2 5;
        }
    }

    #[test]
    fn what_64_bits_do_not_hold_is_no_integer_and_stays_so() {
        let none = [
            Int::<2> * i64::MAX,
            Int::<1> + u64::MAX,
            i64::MIN - Int::<0>,
            5 / Int::<0>,
            Int::<5> % 0,
            Int::<1> << 63,
            Int::<1> << -1,
            Int::<1> >> 64,
            Int::<7> + i128::MAX,
            max(NO_INTEGER, Int::<4>),
            min(Int::<4>, u128::MAX),
            ceil_div(-1, Int::<4>),
            ceil_div(4, Int::<-1>),
            round_up(i64::MAX, Int::<2>),
            Int::<0> * (5 / Int::<0>),
            calc::<op::ExactDiv, _, _>(256, 24),
            Int::<-1> / NO_INTEGER,
        ];
        assert_eq!(none, [NO_INTEGER; 17]);
        assert_eq!(calc::<op::ExactDiv, _, _>(256, 32), 8_i64);
        assert_eq!((Int::<1> << 62, Int::<-1> >> 63), (1_i64 << 62, -1_i64));
    }
}
