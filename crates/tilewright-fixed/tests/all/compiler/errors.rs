//! An illegal layout is a compile error that gives the reason: for const items and for types even in a check, for
//! constants that depend on a type only in a build.

use super::rustc::Compiler;

/// The code after the head of a program, and the compiler's message.
type Cases = [(&'static str, &'static str)];

const HEAD: &str = "
    #![allow(unused_imports)]
    use tilewright_core::{Layout, LayoutTile, expect_const, layout};
    use tilewright_fixed::*;
";

/// Const items.
const CONST_ITEMS: &Cases = &[
    (
        "pub const TEXT: Layout = layout!(\"(8,32):(32)\");",
        "the strides are bracketed unlike the extents: rank 1 against 2; byte 7 of `(8,32):(32)`",
    ),
    (
        "pub static OPEN: Layout = layout!(\"(8,3\");",
        "expected `,` or `)`, found the end of the text; byte 4 of `(8,3`",
    ),
    (
        "pub const HUGE: Layout = layout!(\"(4294967296,4294967296):(1,1)\");",
        "multiply to 18446744073709551616 coordinates; a layout has at most 2^63 - 1 coordinates",
    ),
    (
        "const A: Layout = layout!(\"(6,2):(1,7)\");
         const B: Layout = layout!(\"(3,2):(2,3)\");
         pub const COMPOSED: Layout = expect_const!(A.composition(&B));",
        "at (2,1): A(B) is 8, the only candidate gives 7",
    ),
    (
        "pub const TILED: LayoutTile = expect_const!(layout!(\"(8,12):(12,1)\").tile(&[2]));",
        "an origin of 2 and a tile of 1 integers for 2 axes; give one per axis",
    ),
    (
        "pub const STATIC: Layout =
             <FixedLayout<(C<4>, C<2>), (C<1>, C<{ i64::MAX }>)> as StaticLayout>::LAYOUT;",
        "the offset and the strides up to mode 1 reach 9223372036854775810; offsets must stay below 2^63 - 1",
    ),
    (
        "type ByFour = FixedLayout<(C<6>, C<2>), (C<1>, C<7>)>;
         type Ragged = FixedLayout<(C<3>, C<2>), (C<2>, C<3>)>;
         pub const DERIVED: Layout =
             <Derived<algebra::Composition, ByFour, Ragged> as StaticLayout>::LAYOUT;",
        "at (2,1): A(B) is 8, the only candidate gives 7",
    ),
    (
        "pub const SUM: i64 = Expr::<op::Add, C<{ i64::MAX }>, C<1>>::VALUE;",
        "the integer 9223372036854775807 + 1; a static integer fits 64 bits",
    ),
];

/// Types that do not fit one another.
const TYPES: &Cases = &[
    (
        "pub fn strides() { make_layout((_4, _2), (_1,)); }",
        "the extents `(Int<4>, Int<2>)` and the strides `(Int<1>,)` are not integers in the same brackets",
    ),
    (
        "pub fn position() { make_layout((_4, _2), (_1, _4)).get::<2>(); }",
        "`(Int<4>, Int<2>)` lacks a part at position 2",
    ),
    (
        "pub fn negative() { (_4, _2).get::<-1>(); }",
        "`(Int<4>, Int<2>)` lacks a part at position -1",
    ),
    ("pub fn path() { ((_4, _3), _2).at((_1, _1)); }", "`Int<2>` lacks a part at position 1"),
    (
        "pub fn coordinate() { crd2offset((1u8, 0u8, 0u8), (_4, _2), (_1, _4)); }",
        "the coordinate `(u8, u8, u8)` does not fit the shape `(Int<4>, Int<2>)`",
    ),
    (
        "pub fn tile() { make_layout_tile(make_layout((_8, _12), (_12, _1)), (_4,)); }",
        "the tile `(Int<4>,)` does not fit the shape `(Int<8>, Int<12>)`",
    ),
    (
        "pub fn mixed(n: u32) -> Layout { make_layout((_8, n), (_1, _8)).into() }",
        "not every integer of `(Int<8>, u32)` is static",
    ),
    (
        "pub fn floats() { make_layout((2.0, 3.0), (_3, _1)); }",
        "the extents `({float}, {float})` and the strides `_` are not integers in the same brackets",
    ),
    (
        "pub fn into(n: u32) -> Layout { make_layout((_8, n), (_1, _8)).into() }",
        "call `lower()` on a layout with dynamic integers, which checks them",
    ),
    (
        "pub fn text() { checked_idx2crd(0, (_8, \"12\")); }",
        "`(Int<8>, &str)` is neither an integer nor a tuple of integers",
    ),
];

/// Errors that appear only when a program is built.
const BUILT: &Cases = &[
    (
        "pub struct Tile<const N: u64>;
         impl<const N: u64> Tile<N> {
             const LAYOUT: Layout = expect_const!(layout!(\"(8,12):(12,1)\").upcast(N));
         }
         #[inline(never)] pub fn generic() -> u64 { Tile::<5>::LAYOUT.size() }",
        "stride 12 of mode 0 in groups of 5 elements; a stride must divide the number of elements",
    ),
    (
        "#[inline(never)] pub fn extent() { make_layout((_4, Int::<-2>), (_1, _4)); }",
        "extent -2 of leaf 1; extents are 0 or more",
    ),
    (
        "#[inline(never)] pub fn outside() -> i64 { make_layout((_2, _3), (_3, _1)).offset((_2, _0)) }",
        "the static coordinate 2 of an extent of 2; coordinates run from 0 to the extent less one",
    ),
    (
        "#[inline(never)] pub fn below(i: u64) -> i64 {
             make_layout((_2, (_3, _4)), (_12, (_1, _3))).offset((i, Int::<-1>))
         }",
        "the static coordinate -1 of an extent of 12; coordinates run from 0 to the extent less one",
    ),
    (
        "#[inline(never)] pub fn nested(i: u64) -> i64 {
             crd2offset((i, (_2, _4)), (_2, (_3, _4)), (_12, (_1, _3)))
         }",
        "the static coordinate 4 of an extent of 4; coordinates run from 0 to the extent less one",
    ),
    (
        "#[inline(never)] pub fn beyond_the_tile(i: u64) -> i64 {
             make_tile(make_layout((_8, _12), (_12, _1)), (6, _8), (_3, _3)).offset((i, _3))
         }",
        "the static coordinate 3 of an extent of 3; coordinates run from 0 to the extent less one",
    ),
    (
        "#[inline(never)] pub fn quotient() -> i64 { (_4 / _0).into() }",
        "the integer 4 / 0; a static integer fits 64 bits, and nothing is divided by zero",
    ),
    (
        "#[inline(never)] pub fn tile() { make_layout_tile(make_layout((_8, _12), (_12, _1)), (_4, _0)); }",
        "a tile of extent 0 along axis 1",
    ),
    ("#[inline(never)] pub fn bits() { zN::layout(_32, _32, _24); }", "the whole number 256 / 24"),
    (
        "#[inline(never)] pub fn modes() -> usize {
             let eleven = (_1, _1, _1, _1, _1, _1, _1, _1, _1, _1, _1);
             (eleven, eleven, eleven).lower().map_or(0, |tuple| tuple.rank())
         }",
        "more than 32 modes; merge modes that chain, or drop those of extent 1",
    ),
    (
        "#[inline(never)] pub fn bracketed() -> i64 { make_layout(_8, _1).logical_divide(_2).offset((1, 2, 3)) }",
        "a coordinate of rank 3 and depth 1 in a shape of rank 2 and depth 1",
    ),
];

fn program(cases: &Cases) -> String {
    cases.iter().fold(HEAD.to_owned(), |text, (item, _)| text + item + "\n")
}

fn all_said(cases: &Cases, messages: &str) {
    // `C` is another name of `Int`; the compiler may print either in a message.
    let messages = messages.replace("C<", "Int<");
    for (item, sentence) in cases {
        assert!(messages.contains(sentence), "{item}\nshould say: {sentence}\n{messages}");
    }
}

/// Checks that `cargo check` refuses const items, and accepts them when they are legal.
pub(crate) fn const_items(compiler: &Compiler) {
    let outcome = compiler.check(&program(CONST_ITEMS));
    assert!(!outcome.ok);
    all_said(CONST_ITEMS, &outcome.messages);
    let good = ("pub const GOOD: Layout = layout!(\"(8,32):(32,1)\");", "");
    let outcome = compiler.check(&program(&[good]));
    assert!(outcome.ok && outcome.messages.is_empty(), "{}", outcome.messages);
}

/// Checks that `cargo check` refuses types that do not fit.
pub(crate) fn types(compiler: &Compiler) {
    let outcome = compiler.check(&program(TYPES));
    assert!(!outcome.ok);
    all_said(TYPES, &outcome.messages);
}

/// Checks that `cargo check` accepts constants that depend on types, and a build refuses each.
pub(crate) fn generic_constants(compiler: &Compiler) {
    let checked = compiler.check(&program(BUILT));
    assert!(checked.ok, "{}", checked.messages);
    for case in BUILT.chunks(1) {
        let built = compiler.build(&program(case));
        assert!(!built.ok, "{case:?}");
        all_said(case, &built.messages);
    }
}
