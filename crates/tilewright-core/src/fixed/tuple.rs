//! The IntTuple: an integer, or a tuple of IntTuples.
//!
//! Law: rank, depth, size, parts and text are those of the run-time [`IntTuple`](crate::IntTuple) that
//! [`IntTuple::lower`] gives.
//!
//! Source: CATLASS `include/tla/int_tuple.hpp`; CUTLASS `include/cute/int_tuple.hpp`.

use core::fmt;

use super::{At, Calc, Get, Int, Integer, StaticKind, arity::arities, op, operation::calc};
use crate::{Error, MAX_MODES};

/// An integer, static or dynamic, or a tuple of up to 12 IntTuples, nested to any depth: a shape, a
/// stride, a coordinate. Only its dynamic integers take memory.
///
/// ```
/// use tilewright_core::fixed::{_2, _4, IntTuple};
/// let tuple = ((_4, 3), _2);
/// assert_eq!((tuple.rank(), tuple.depth(), tuple.size()), (2, 2, 24_i64));
/// assert_eq!(tuple.display().to_string(), "((_4,3),_2)");
/// assert_eq!(tuple.get::<0>().display().to_string(), "(_4,3)");
/// assert_eq!(tuple.lower().unwrap().to_string(), "((4,3),2)");
/// // Of `(_4, 3u32)` only the 3 is stored.
/// assert_eq!(size_of_val(&((_4, 3u32), _2)), 4);
/// ```
/// ```compile_fail
/// use tilewright_core::fixed::{_2, _4, IntTuple};
/// // error[E0277]: `(Int<4>, Int<2>)` has no part at position 2
/// (_4, _2).get::<2>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an integer nor a tuple of such",
    label = "an integer, or a tuple of up to 12 integers and tuples, stands here"
)]
pub trait IntTuple: Leaves {
    /// The number of top-level positions; 1 for an integer.
    const RANK: usize;

    /// The depth of nesting; 0 for an integer.
    const DEPTH: usize;

    /// The type of [`IntTuple::size`].
    type Size: Integer;

    /// A coordinate of this shape: bracketed as it is, each integer a `u64`.
    type Digits: IntTuple;

    /// The product of all integers; 1 for `()`. [`NO_INTEGER`](super::NO_INTEGER) beyond 64 bits.
    fn size(self) -> Self::Size;

    /// `index` unpacked into this shape, the first integer fastest; see [`idx2crd`](super::idx2crd).
    #[doc(hidden)]
    fn unpack(self, index: u64) -> Self::Digits;

    /// [`IntTuple::RANK`].
    #[inline]
    fn rank(self) -> usize {
        Self::RANK
    }

    /// [`IntTuple::DEPTH`].
    #[inline]
    fn depth(self) -> usize {
        Self::DEPTH
    }

    /// The part at position `I`, from 0 on.
    #[inline]
    fn get<const I: i64>(self) -> <Self as Get<I>>::Part
    where
        Self: Get<I>,
    {
        self.part()
    }

    /// The part at a path of positions, each within the part before.
    ///
    /// ```
    /// use tilewright_core::fixed::{_0, _1, IntTuple};
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

    /// The same tuple as a run-time value.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) for an integer that 64 bits do not hold. More than [`MAX_MODES`]
    /// integers are a compile error.
    fn lower(self) -> Result<crate::IntTuple, Error> {
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
        crate::IntTuple::new(&values[..list.len], Self::TUPLE.profile())
    }

    /// The tuple as text, static integers as `_N`: `((_4,3),_2)`.
    #[inline]
    fn display(self) -> Printed<Self> {
        Printed(self)
    }
}

/// An IntTuple of static integers: it is made from its type by `Default` and takes no memory.
///
/// ```
/// use tilewright_core::fixed::{C, IntTuple, Static};
/// fn text<T: Static>() -> String {
///     T::default().display().to_string()
/// }
/// assert_eq!(text::<((C<4>, C<2>), C<3>)>(), "((_4,_2),_3)");
/// ```
#[diagnostic::on_unimplemented(
    message = "not every integer of `{Self}` is static",
    label = "static integers, such as `_4`, stand here"
)]
pub trait Static: IntTuple + Default {}

impl<T: Integer<Kind = StaticKind> + Default> Static for T {}
impl Static for () {}

/// An IntTuple as a list of integers, with its brackets known to the compiler.
#[doc(hidden)]
pub trait Leaves: Copy {
    /// Whether all integers are static.
    const STATIC: bool;

    /// The static integers, and 0 for each dynamic one.
    const TUPLE: crate::IntTuple;

    /// Appends the integers.
    fn push(self, list: &mut List);

    /// The integer `at`, left to right, as a coordinate.
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
    pub(crate) fn of(tuple: impl IntTuple) -> List {
        let mut list = List { values: [0; MAX_MODES], is_static: [false; MAX_MODES], len: 0 };
        tuple.push(&mut list);
        list
    }
}

impl<T: Integer> Leaves for T {
    const STATIC: bool = T::VALUE.is_some();
    const TUPLE: crate::IntTuple = crate::IntTuple::integer(match T::VALUE {
        Some(value) => value,
        None => 0,
    });

    #[inline]
    fn push(self, list: &mut List) {
        // The brackets of more leaves than this are a compile error.
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

impl<T: Integer> IntTuple for T {
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

impl Leaves for () {
    const STATIC: bool = true;
    const TUPLE: crate::IntTuple = bracketed(&[]);

    #[inline]
    fn push(self, _: &mut List) {}

    #[inline]
    fn leaf(self, _: usize) -> u64 {
        0
    }
}

impl IntTuple for () {
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

/// The parts, in brackets.
const fn bracketed(parts: &[&crate::IntTuple]) -> crate::IntTuple {
    match crate::IntTuple::of(parts) {
        Ok(tuple) => tuple,
        Err(error) => error.panic_const(),
    }
}

/// The deepest of the parts, and the brackets around them.
const fn around(depths: &[usize]) -> usize {
    let (mut deepest, mut i) = (0, 0);
    while i < depths.len() {
        deepest = if depths[i] > deepest { depths[i] } else { deepest };
        i += 1;
    }
    deepest + 1
}

/// `x mod n` and `x div n`, where no extent is 0: with a static n, no division is left of it.
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
        impl<$($s: IntTuple,)* $last: IntTuple> Leaves for ($($s,)* $last,) {
            const STATIC: bool = $($s::STATIC &&)* $last::STATIC;
            const TUPLE: crate::IntTuple = bracketed(&[$(&$s::TUPLE,)* &$last::TUPLE]);

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

        impl<$($s: IntTuple,)* $last: IntTuple> IntTuple for ($($s,)* $last,) {
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

/// An IntTuple as text; see [`IntTuple::display`].
///
/// ```
/// use tilewright_core::fixed::{_4, IntTuple};
/// assert_eq!(format!("{}", ((_4, 2), 3).display()), "((_4,2),3)");
/// ```
#[derive(Clone, Copy)]
pub struct Printed<T>(T);

impl<T: IntTuple> fmt::Display for Printed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = List::of(self.0);
        T::TUPLE.profile().write(f, |f, leaf| {
            f.write_str(if list.is_static[leaf] { "_" } else { "" })?;
            write!(f, "{}", list.values[leaf])
        })
    }
}

impl<T: IntTuple> fmt::Debug for Printed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
