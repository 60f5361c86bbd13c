//! A layout that is not legal is a compile error that says why, for const items also where nothing is
//! built.

mod compiler;

use compiler::Compiler;

/// Const items, each with the sentence `cargo check` shows for it.
const CONST_ITEMS: &[(&str, &str)] = &[
    (
        "const TEXT: Layout = layout!(\"(8,32):(32)\");",
        "the strides are bracketed unlike the extents: rank 1 against 2; byte 7 of `(8,32):(32)`",
    ),
    (
        "static OPEN: Layout = layout!(\"(8,3\");",
        "expected `,` or `)`, found the end of the text; byte 4 of `(8,3`",
    ),
    (
        "const HUGE: Layout = layout!(\"(4294967296,4294967296):(1,1)\");",
        "multiply to 18446744073709551616 coordinates; a layout has at most 2^63 - 1 coordinates",
    ),
    (
        "const COMPOSED: Layout = expect_const!(layout!(\"(6,2):(1,7)\").composition(&layout!(\"(3,2):(2,3)\")));",
        "at (2,1): A(B) is 8, the only candidate gives 7",
    ),
    (
        "const TILED: LayoutTile = expect_const!(layout!(\"(8,12):(12,1)\").tile(&[2]));",
        "an origin of 2 and a tile of 1 integers for 2 axes; give one per axis",
    ),
];

#[test]
fn a_check_shows_the_sentence_for_const_items() {
    let compiler = Compiler::for_checks("const_items");
    let head = "use tilewright_core::{Layout, LayoutTile, expect_const, layout};\n";
    let program: String = CONST_ITEMS.iter().map(|(item, _)| format!("pub {item}\n")).collect();
    let outcome = compiler.check(&(head.to_owned() + &program));
    assert!(!outcome.ok);
    for (item, sentence) in CONST_ITEMS {
        assert!(outcome.messages.contains(sentence), "{item}:\n{}", outcome.messages);
    }
    let good =
        compiler.check(&format!("{head}pub const GOOD: Layout = layout!(\"(8,32):(32,1)\");"));
    assert!(good.ok, "{}", good.messages);
}

/// A constant that depends on a type is known where the type is: at the build.
#[test]
fn a_generic_constant_is_an_error_of_the_build() {
    let compiler = Compiler::for_builds("generic");
    let program = r#"
        use tilewright_core::{Layout, expect_const, layout};
        pub struct Tile<const N: u64>;
        impl<const N: u64> Tile<N> {
            pub const LAYOUT: Layout = expect_const!(layout!("(8,12):(12,1)").upcast(N));
        }
        pub fn bad() -> u64 { Tile::<5>::LAYOUT.size() }
    "#;
    let sentence =
        "stride 12 of mode 0 in groups of 5 elements; a stride divides the number of elements";
    let (checked, built) = (compiler.check(program), compiler.build(program));
    assert!(checked.ok, "{}", checked.messages);
    assert!(!built.ok && built.messages.contains(sentence), "{}", built.messages);
    let good = compiler.build(&program.replace("Tile::<5>", "Tile::<4>"));
    assert!(good.ok && !good.assembly.is_empty(), "{}", good.messages);
}
