//! [`FixedTuple`]: an integer, or a tuple of fixed tuples: Rust's tuples of up to 12 parts. `arities!` calls a macro once for each
//! length, so that an implementation for tuples is written once.
//!
//! Parts are taken by position; the compiler checks that a position exists.
//!
//! Law: rank, depth, size, parts and text equal those of the run-time [`IntTuple`](tilewright_core::IntTuple) that
//! [`FixedTuple::lower`] returns.
//!
//! Source: CATLASS `include/tla/int_tuple.hpp`; CUTLASS `include/cute/int_tuple.hpp`.

use core::fmt;

use tilewright_core::{Error, IntTuple, MAX_MODES};

use crate::{Calc, Int, Integer, StaticKind, integer::calc, op};

/// Calls `$make` for the tuples of 1 to 12 positions. The arguments are the names of the positions before the last with
/// their numbers, then those of the last. A position has three names: for a shape, its stride and a coordinate.
macro_rules! arities {
    ($make:ident) => {
        arities!($make; ; S0 D0 C0 0, S1 D1 C1 1, S2 D2 C2 2, S3 D3 C3 3, S4 D4 C4 4, S5 D5 C5 5,
            S6 D6 C6 6, S7 D7 C7 7, S8 D8 C8 8, S9 D9 C9 9, S10 D10 C10 10, S11 D11 C11 11);
    };
    ($make:ident; $($s:ident $d:ident $c:ident $i:tt),*; ) => {};
    ($make:ident; $($s:ident $d:ident $c:ident $i:tt),*;
        $s0:ident $d0:ident $c0:ident $i0:tt $(, $rest:ident $rest_d:ident $rest_c:ident $rest_i:tt)*) => {
        $make!($($s $d $c $i),*; $s0 $d0 $c0 $i0);
        arities!($make; $($s $d $c $i,)* $s0 $d0 $c0 $i0; $($rest $rest_d $rest_c $rest_i),*);
    };
}
pub(crate) use arities;

/// An integer, static or dynamic, or a tuple of up to 12 fixed tuples, nested to any depth. It is a shape, strides or
/// a coordinate. Only its dynamic integers take memory.
///
/// ```
/// use tilewright_fixed::{_2, _4, FixedTuple};
/// let tuple = ((_4, 3), _2);
/// assert_eq!((tuple.rank(), tuple.depth(), tuple.size()), (2, 2, 24_i64));
/// assert_eq!(tuple.display().to_string(), "((_4,3),_2)");
/// assert_eq!(tuple.get::<0>().display().to_string(), "(_4,3)");
/// assert_eq!(tuple.lower().unwrap().to_string(), "((4,3),2)");
/// // Of `(_4, 3u32)` only the 3 is stored.
/// assert_eq!(size_of_val(&((_4, 3u32), _2)), 4);
/// ```
/// ```compile_fail
/// use tilewright_fixed::{_2, _4, FixedTuple};
/// // error[E0277]: `(Int<4>, Int<2>)` lacks a part at position 2
/// (_4, _2).get::<2>();
/// ```
#[doc(alias = "MakeShape")]
#[doc(alias = "MakeStride")]
#[doc(alias = "MakeCoord")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an integer nor a tuple of integers",
    label = "expected an integer, or a tuple of up to 12 integers and tuples"
)]
pub trait FixedTuple: Leaves {
    /// The number of top-level positions; 1 for an integer.
    const RANK: usize;

    /// The depth of nesting; 0 for an integer.
    const DEPTH: usize;

    /// The type of [`FixedTuple::size`].
    type Size: Integer;

    /// The type of a coordinate of this shape: the same brackets, each integer a `u64`.
    type Digits: FixedTuple;

    /// Returns the product of all integers; 1 for `()`, and [`NO_INTEGER`](super::NO_INTEGER) beyond 64 bits.
    fn size(self) -> Self::Size;

    /// Unpacks `index` into this shape, the first integer fastest; see [`idx2crd`](super::idx2crd).
    #[doc(hidden)]
    fn unpack(self, index: u64) -> Self::Digits;

    /// Returns [`FixedTuple::RANK`], the number of top-level positions.
    #[inline]
    fn rank(self) -> usize {
        Self::RANK
    }

    /// Returns [`FixedTuple::DEPTH`], the depth of nesting.
    #[inline]
    fn depth(self) -> usize {
        Self::DEPTH
    }

    /// Returns the part at position `I`, counted from 0.
    #[inline]
    fn get<const I: i64>(self) -> <Self as Get<I>>::Part
    where
        Self: Get<I>,
    {
        self.part()
    }

    /// Returns the part at a path of positions, each within the part before.
    ///
    /// ```
    /// use tilewright_fixed::{_0, _1, FixedTuple};
    /// let tuple = ((1, 2), (3, (4, 5)));
    /// assert_eq!(tuple.at((_1, _1)).display().to_string(), "(4,5)");
    /// assert_eq!(tuple.at((_1, _1, _0)), 4);
    /// assert_eq!((tuple.at(_1).depth(), tuple.at((_1, _1)).size()), (2, 20_i64));
    /// ```
    #[inline]
    fn at<P>(self, path: P) -> <Self as At<P>>::Part
    where
        Self: At<P>,
    {
        let _ = path;
        self.part_at()
    }

    /// Returns the tuple as a run-time value.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) for an integer that does not fit 64 bits. More than [`MAX_MODES`] integers are a
    /// compile error.
    fn lower(self) -> Result<IntTuple, Error> {
        let list = List::of(self);
        let (mut values, mut i) = ([0; MAX_MODES], 0);
        while i < list.len {
            values[i] = i64::try_from(list.values[i]).map_err(|_| {
                Error::overflow(
                    "the integer {} of leaf {}",
                    [list.values[i], i as i128],
                    "integers fit 64 bits",
                )
            })?;
            i += 1;
        }
        IntTuple::new(&values[..list.len], Self::TUPLE.profile())
    }

    /// Returns a value that prints the tuple, with static integers as `_N`: `((_4,3),_2)`.
    #[inline]
    fn display(self) -> Printed<Self> {
        Printed(self)
    }
}

/// A fixed tuple of static integers: `Default` creates it from its type, and it takes no memory.
///
/// ```
/// use tilewright_fixed::{C, FixedTuple, Static};
/// fn text<T: Static>() -> String {
///     T::default().display().to_string()
/// }
/// assert_eq!(text::<((C<4>, C<2>), C<3>)>(), "((_4,_2),_3)");
/// ```
#[diagnostic::on_unimplemented(
    message = "not every integer of `{Self}` is static",
    label = "expected static integers, such as `_4`",
    note = "call `lower()` on a layout with dynamic integers, which checks them"
)]
pub trait Static: FixedTuple + Default {}

impl<T: Integer<Kind = StaticKind> + Default> Static for T {}
impl Static for () {}

/// A fixed tuple as a list of integers; its brackets are known to the compiler.
#[doc(hidden)]
pub trait Leaves: Copy {
    /// Set if all integers are static.
    const STATIC: bool;

    /// The tuple with its static integers, and 0 for each dynamic one.
    const TUPLE: IntTuple;

    /// Appends the integers.
    fn push(self, list: &mut List);

    /// Returns the integer at position `at`, left to right, as a coordinate.
    fn leaf(self, at: usize) -> u64;
}

/// Integers, left to right, without their brackets.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub(crate) values: [i128; MAX_MODES],
    is_static: [bool; MAX_MODES],
    pub(crate) len: usize,
}

impl List {
    #[inline]
    pub(crate) fn of(tuple: impl FixedTuple) -> List {
        let mut list = List { values: [0; MAX_MODES], is_static: [false; MAX_MODES], len: 0 };
        tuple.push(&mut list);
        list
    }
}

impl<T: Integer> Leaves for T {
    const STATIC: bool = T::VALUE.is_some();
    const TUPLE: IntTuple = IntTuple::integer(match T::VALUE {
        Some(value) => value,
        None => 0,
    });

    #[inline]
    fn push(self, list: &mut List) {
        // More leaves than this are a compile error of their brackets.
        if list.len < MAX_MODES {
            list.values[list.len] = self.value();
            list.is_static[list.len] = T::VALUE.is_some();
            list.len += 1;
        }
    }

    #[inline]
    fn leaf(self, _: usize) -> u64 {
        self.value() as u64
    }
}

impl<T: Integer> FixedTuple for T {
    const RANK: usize = 1;
    const DEPTH: usize = 0;
    type Size = T;
    type Digits = u64;

    #[inline]
    fn size(self) -> T {
        self
    }

    #[inline]
    fn unpack(self, index: u64) -> u64 {
        index
    }
}

/// Displays a fixed tuple as text; see [`FixedTuple::display`].
///
/// ```
/// use tilewright_fixed::{_4, FixedTuple};
/// assert_eq!(format!("{}", ((_4, 2), 3).display()), "((_4,2),3)");
/// ```
#[must_use]
#[derive(Clone, Copy)]
pub struct Printed<T>(T);

impl<T: FixedTuple> fmt::Display for Printed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = List::of(self.0);
        T::TUPLE.profile().write(f, |f, leaf| {
            f.write_str(if list.is_static[leaf] { "_" } else { "" })?;
            write!(f, "{}", list.values[leaf])
        })
    }
}

impl<T: FixedTuple> fmt::Debug for Printed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A tuple with a part at position `I`, counted from 0.
///
/// ```
/// use tilewright_fixed::{Get, FixedTuple, _4};
/// fn first<T: Get<0>>(tuple: T) -> String {
///     tuple.get::<0>().display().to_string()
/// }
/// assert_eq!((first(((_4, 2), 3)), first(7)), ("(_4,2)".into(), "7".into()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` lacks a part at position {I}",
    label = "no such position",
    note = "positions run from 0 to the rank less one"
)]
pub trait Get<const I: i64>: FixedTuple {
    /// The type of the part.
    type Part: FixedTuple;

    /// Returns the part.
    fn part(self) -> Self::Part;
}

/// A tuple with a part at the path `P`: a static integer, or a tuple of up to 6 of them, each a position within the
/// part before.
///
/// ```
/// use tilewright_fixed::{At, Int, FixedTuple, _4};
/// fn second_of_first<T: At<(Int<0>, Int<1>)>>(tuple: T) -> String {
///     tuple.part_at().display().to_string()
/// }
/// assert_eq!(second_of_first(((_4, 2), 3)), "2");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` lacks a part at the path `{P}`",
    label = "no such path",
    note = "a path is a static integer, or a tuple of up to 6: `(_1, _0)`"
)]
pub trait At<P>: FixedTuple {
    /// The type of the part.
    type Part: FixedTuple;

    /// Returns the part.
    fn part_at(self) -> Self::Part;
}

impl Leaves for () {
    const STATIC: bool = true;
    const TUPLE: IntTuple = bracketed(&[]);

    #[inline]
    fn push(self, _: &mut List) {}

    #[inline]
    fn leaf(self, _: usize) -> u64 {
        0
    }
}

impl FixedTuple for () {
    const RANK: usize = 0;
    const DEPTH: usize = 1;
    type Size = Int<1>;
    type Digits = ();

    #[inline]
    fn size(self) -> Int<1> {
        Int
    }

    #[inline]
    fn unpack(self, _: u64) {}
}

/// Puts brackets around the parts.
const fn bracketed(parts: &[&IntTuple]) -> IntTuple {
    match IntTuple::of(parts) {
        Ok(tuple) => tuple,
        Err(error) => error.panic_const(),
    }
}

/// Returns the depth of brackets around parts of these depths.
const fn around(depths: &[usize]) -> usize {
    let (mut deepest, mut i) = (0, 0);
    while i < depths.len() {
        deepest = if depths[i] > deepest { depths[i] } else { deepest };
        i += 1;
    }
    deepest + 1
}

/// Returns `x mod n` and `x div n`; both are 0 if n is 0. With a static n the division is optimised away.
#[inline]
pub(crate) fn digit(x: u64, n: impl Integer) -> (u64, u64) {
    let n = n.value() as u64;
    (x.checked_rem(n).unwrap_or(0), x.checked_div(n).unwrap_or(0))
}

/// The product of the sizes of all parts, as a type or as a value.
macro_rules! product {
    (; $last:ident) => { $last::Size };
    ($s:ident $(, $rest:ident)*; $last:ident) => {
        Calc<op::Mul, $s::Size, product!($($rest),*; $last)>
    };
    ($tuple:ident; ; $last:tt) => { $tuple.$last.size() };
    ($tuple:ident; $i:tt $(, $rest:tt)*; $last:tt) => {
        calc::<op::Mul, _, _>($tuple.$i.size(), product!($tuple; $($rest),*; $last))
    };
}

macro_rules! tuples {
    ($($s:ident $d:ident $c:ident $i:tt),*; $last:ident $last_d:ident $last_c:ident $last_i:tt) => {
        impl<$($s: FixedTuple,)* $last: FixedTuple> Leaves for ($($s,)* $last,) {
            const STATIC: bool = $($s::STATIC &&)* $last::STATIC;
            const TUPLE: IntTuple = bracketed(&[$(&$s::TUPLE,)* &$last::TUPLE]);

            #[inline]
            fn push(self, list: &mut List) {
                $(self.$i.push(list);)*
                self.$last_i.push(list);
            }

            #[inline]
            #[allow(unused_mut)]
            fn leaf(self, at: usize) -> u64 {
                let mut at = at;
                $(
                    let leaves = const { $s::TUPLE.values().len() };
                    if at < leaves {
                        return self.$i.leaf(at);
                    }
                    at -= leaves;
                )*
                self.$last_i.leaf(at)
            }
        }

        impl<$($s: FixedTuple,)* $last: FixedTuple> FixedTuple for ($($s,)* $last,) {
            const RANK: usize = $last_i + 1;
            const DEPTH: usize = around(&[$($s::DEPTH,)* $last::DEPTH]);
            type Size = product!($($s),*; $last);
            type Digits = ($($s::Digits,)* $last::Digits,);

            #[inline]
            fn size(self) -> Self::Size {
                product!(self; $($i),*; $last_i)
            }

            #[inline]
            fn unpack(self, index: u64) -> Self::Digits {
                #[allow(unused_mut)]
                let mut rest = index;
                ($({
                    let (x, next) = digit(rest, self.$i.size());
                    rest = next;
                    self.$i.unpack(x)
                },)* self.$last_i.unpack(rest),)
            }
        }

        impl<$($s: Static,)* $last: Static> Static for ($($s,)* $last,) {}
    };
}
arities!(tuples);

/// An integer is its own part 0.
impl<T: Integer> Get<0> for T {
    type Part = T;

    #[inline]
    fn part(self) -> T {
        self
    }
}

macro_rules! positions {
    ($($s:ident $d:ident $c:ident $i:tt),*; $last:ident $last_d:ident $last_c:ident $last_i:tt) => {
        positions!(@ ($($s,)* $last,) [$($s,)* $last] $($s $i,)* $last $last_i,);
    };
    (@ $tuple:tt $all:tt) => {};
    (@ $tuple:tt [$($all:ident),*] $s:ident $i:tt, $($rest:tt)*) => {
        impl<$($all: FixedTuple),*> Get<$i> for $tuple {
            type Part = $s;

            #[inline]
            fn part(self) -> $s {
                self.$i
            }
        }
        positions!(@ $tuple [$($all),*] $($rest)*);
    };
}
arities!(positions);

impl<T: Get<I>, const I: i64> At<Int<I>> for T {
    type Part = T::Part;

    #[inline]
    fn part_at(self) -> T::Part {
        self.part()
    }
}

impl<T: Get<I>, const I: i64> At<(Int<I>,)> for T {
    type Part = T::Part;

    #[inline]
    fn part_at(self) -> T::Part {
        self.part()
    }
}

macro_rules! paths {
    ($first:ident $($rest:ident)+) => {
        impl<T: Get<$first>, const $first: i64, $(const $rest: i64),+> At<(Int<$first>, $(Int<$rest>,)+)> for T
        where
            T::Part: At<($(Int<$rest>,)+)>,
        {
            type Part = <T::Part as At<($(Int<$rest>,)+)>>::Part;

            #[inline]
            fn part_at(self) -> Self::Part {
                self.part().part_at()
            }
        }
    };
}
paths!(A B);
paths!(A B C);
paths!(A B C D);
paths!(A B C D E);
paths!(A B C D E F);
