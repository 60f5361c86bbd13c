//! Implements the traits of integer tuples for Rust's tuples of up to 12 parts.

use tilewright_core::IntTuple;

use super::{
    Calc, FixedTuple, Int, Integer, Static,
    arity::arities,
    op,
    operation::calc,
    tuple::{Leaves, List},
};

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
