//! Parts of a tuple by position: the compiler knows which positions there are.

use super::{Int, IntTuple, Integer, arity::arities};

/// What stands at position `I`, from 0 on.
///
/// ```
/// use tilewright_core::fixed::{Get, IntTuple, _4};
/// fn first<T: Get<0>>(tuple: T) -> String {
///     tuple.get::<0>().display().to_string()
/// }
/// assert_eq!((first(((_4, 2), 3)), first(7)), ("(_4,2)".into(), "7".into()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no part at position {I}",
    label = "no such position",
    note = "positions run from 0 to the rank less one"
)]
pub trait Get<const I: i64>: IntTuple {
    /// The type of the part.
    type Part: IntTuple;

    /// The part.
    fn part(self) -> Self::Part;
}

/// What stands at the path `P`: a position as a static integer, or up to 6 positions in a tuple, each
/// within the part before.
///
/// ```
/// use tilewright_core::fixed::{At, Int, IntTuple, _4};
/// fn second_of_first<T: At<(Int<0>, Int<1>)>>(tuple: T) -> String {
///     tuple.part_at().display().to_string()
/// }
/// assert_eq!(second_of_first(((_4, 2), 3)), "2");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no part at the path `{P}`",
    label = "no such path",
    note = "a path is a static integer, or a tuple of up to 6: `(_1, _0)`"
)]
pub trait At<P>: IntTuple {
    /// The type of the part.
    type Part: IntTuple;

    /// The part.
    fn part_at(self) -> Self::Part;
}

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
        impl<$($all: IntTuple),*> Get<$i> for $tuple {
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
