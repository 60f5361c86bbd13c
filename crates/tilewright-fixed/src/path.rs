//! Parts of a tuple by position; the compiler checks that a position exists.

use super::{At, FixedTuple, Get, Int, Integer, arity::arities};

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
