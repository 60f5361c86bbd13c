//! [`FixedTuple`]: an integer, or a tuple of fixed tuples.
//!
//! Law: rank, depth, size, parts and text equal those of the run-time [`IntTuple`](tilewright_core::IntTuple) that
//! [`FixedTuple::lower`] returns.
//!
//! Source: CATLASS `include/tla/int_tuple.hpp`; CUTLASS `include/cute/int_tuple.hpp`.

use core::fmt;

use tilewright_core::{Error, IntTuple, MAX_MODES};

use super::{Integer, StaticKind};

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
