//! Arithmetic on tuples: the answers of CuTe's `int_tuple.hpp` and `tuple_algorithms.hpp`, and the laws that connect tuples with
//! layouts.

use tilewright::eval::evaluate;

/// Returns the answer as text, or `!` and the kind of the error.
fn answer(expression: &str) -> String {
    match evaluate(expression) {
        Ok(value) => value.to_string(),
        Err(error) => format!("!{}", error.kind()),
    }
}

#[test]
fn answers_are_those_of_cute() {
    for (expression, expected) in [
        ("inner_product((1,2), (3,4))", "11"),
        ("inner_product((1,(2,3)), (4,(5,6)))", "32"),
        ("inner_product(3, 4)", "12"),
        ("inner_product((1,2), (3,(4,5)))", "!mismatch"),
        ("inner_product((1,2), 3)", "!mismatch"),
        ("inner_product(9223372036854775807, 2)", "!overflow"),
        ("elem_scale((2,3), (4,5))", "(8,15)"),
        ("elem_scale((2,3), (4,(5,6)))", "(8,90)"),
        ("elem_scale(2, (3,4))", "24"),
        ("elem_scale(((2,3),4), ((5,6),7))", "((10,18),28)"),
        ("elem_scale((2,3), (4,5,6))", "!mismatch"),
        ("product_each(((2,3),4))", "(6,4)"),
        ("product_each(5)", "(5)"),
        ("product((2,(3,4)))", "24"),
        ("product(7)", "7"),
        ("product({lane=[1]} -> (row:2), {lane=[1]} -> (row:2))", "{lane=[1,2]} -> (row:4)"),
        ("max((1,(5,3)))", "5"),
        ("max(1, (9,2), 4)", "9"),
        ("max(-3)", "-3"),
        ("max(())", "!illegal"),
        ("round_up(12, 5)", "15"),
        ("round_up(15, 5)", "15"),
        ("round_up((12,7,3), (5,4))", "(15,8,3)"),
        ("round_up((12,(7,1)), (5,(4,8)))", "(15,(8,8))"),
        ("round_up((12,7), (5,4,3))", "!mismatch"),
        ("round_up(12, 0)", "!illegal"),
        ("round_up(9223372036854775807, 2)", "!overflow"),
        ("reverse((2,(3,4),5))", "(5,(3,4),2)"),
        ("reverse(4)", "4"),
        ("zip((1,2), (3,4))", "((1,3),(2,4))"),
        ("zip(((1,2),(3,4)))", "((1,3),(2,4))"),
        ("zip((1,(2,3)), (4,5), (6,7))", "((1,4,6),((2,3),5,7))"),
        ("zip(1, 2)", "((1,2))"),
        ("zip((1,2))", "((1,2))"),
        ("zip(4)", "4"),
        ("zip((1,2), (3,4,5))", "!mismatch"),
        ("zip(1, (2,3))", "((1,(2,3)))"),
        ("wrap(4)", "(4)"),
        ("wrap((4,))", "(4)"),
        ("unwrap(((4,2),))", "(4,2)"),
        ("unwrap((((4,),),))", "4"),
        ("unwrap((4,2))", "(4,2)"),
        ("compact_col_major((2,(3,4)), 10)", "(10,(20,60))"),
        ("compact_row_major((2,(3,4)), 10)", "(120,(40,10))"),
        ("compact_col_major((2,3), 9223372036854775807)", "!overflow"),
        ("compact_order((2,3,4), (2,0,1))", "(12,1,3)"),
        ("reverse((4,8):(1,4))", "!arguments"),
    ] {
        assert_eq!(answer(expression), expected, "{expression}");
    }
}

/// The offset of a coordinate is its inner product with the strides, and a layout called with it gives the same.
#[test]
fn offsets_are_inner_products() {
    for (shape, stride) in [
        ("(4,8)", "(8,1)"),
        ("(3,(2,4))", "(2,(1,6))"),
        ("((2,2),(3,2))", "((1,24),(-4,2))"),
        ("5", "7"),
    ] {
        let layout = format!("{shape}:{stride}");
        let size: u64 = answer(&format!("size({layout})")).parse().unwrap();
        for i in 0..size {
            let coord = answer(&format!("idx2crd({i}, {shape})"));
            let offset = answer(&format!("crd2idx({coord}, {layout})"));
            assert_eq!(
                answer(&format!("inner_product({coord}, {stride})")),
                offset,
                "{layout} {i}"
            );
            assert_eq!(answer(&format!("({layout})({coord})")), offset, "{layout} {i}");
        }
    }
}

#[test]
fn rounding_up_is_division_and_multiplication_and_zips_are_undone() {
    for a in 1..20 {
        for b in 1..8 {
            let up: u64 = answer(&format!("round_up({a}, {b})")).parse().unwrap();
            assert_eq!(up, (a as u64).div_ceil(b) * b);
            assert_eq!(
                answer(&format!("round_up(({a},{b}), ({b},{b}))")),
                answer(&format!("elem_scale(ceil_div(({a},{b}), ({b},{b})), ({b},{b}))"))
            );
        }
    }
    for pair in ["(1,2),(3,4)", "(1,(2,3),4),(5,6,(7,8))", "(1,),(2,)"] {
        assert_eq!(answer(&format!("zip(zip({pair}))")), answer(&format!("({pair})")));
    }
}

/// A SPEC alone needs no quotes, and an error comes from the reading that got further.
#[test]
fn a_spec_alone_is_its_layout() {
    for spec in ["f32[3,5]{1,0:T(2,2)}", "f16[100,100] zN", "Sw<2,1,3> o (4,8):(8,1)"] {
        assert_eq!(answer(spec), answer(&format!("\"{spec}\"")), "{spec}");
    }
    for (text, part) in [
        ("row-mayor", "did you mean `row-major`?"),
        ("[32,32] #ttg.amd_wmma<{version = 3, isTranspose = true}>", "warpsPerCTA"),
        ("colaesce(4:1)", "did you mean `coalesce`?"),
        ("coalesce(4:1", "expected `,` or `)`"),
        ("zN", "needs the array's dims"),
        ("coalesce", "is a function only before `(`"),
        ("4-", "expected an offset"),
        ("size(\"zN\")", "needs the array's dims"),
        ("(6,2):(1,7) o (3,2):(2,3)", "the only candidate gives 7"),
    ] {
        let error = evaluate(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
