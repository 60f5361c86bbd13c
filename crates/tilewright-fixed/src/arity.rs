//! `arities!` calls a macro once for each length of tuple, so that an implementation for tuples is written once.

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
