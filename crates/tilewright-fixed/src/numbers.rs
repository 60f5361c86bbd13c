//! The static integers `_0` to `_64` and the powers of two up to `_65536`, as types and as values.

use super::Int;

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
