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
        ("dice((1,(_,1)), <4,<8,3>>)", "<4,3>"),
        ("dice((1,(_,1)), (4,(8,3)))", "(4,3)"),
        ("dice((1,1), <4,<8,3>>)", "<4,<8,3>>"),
        ("dice((_,(_,1)), <4,<8:2,3>>)", "<3>"),
        ("dice((1,(_,1,1)), <4,<8:2,3>>)", "!mismatch"),
        ("dice((1,(_,1)), <4,8>)", "!mismatch"),
        // As in CuTe, only the places of `_` count.
        ("dice((1,_), (1,4))", "(1)"),
        ("dice((9,_), (1,4):(7,1))", "(1):(7)"),
        ("dice(((_,1),1), ((4,1),3))", "(1,3)"),
        ("dice((1,_,2), (1,4))", "!mismatch"),
        // An integer is a tile of the whole layout, and a tiler with one part is one of the first axis.
        ("local_tile((8,8):(8,1), 4, 1)", "(4):(8)+32"),
        ("local_tile((8,8):(8,1), <4>, 1)", "(4):(8)+32"),
        ("local_tile((8,8):(8,1), 4, (1,3))", "(4):(8)+35"),
        ("local_tile((8,8):(8,1), 4, _)", "(4,(2,8)):(8,(32,1))+0"),
        ("local_tile((8,8):(8,1), 3, 1)", "!no-layout"),
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
        ("min(3, (7,2))", "2"),
        ("sum((1,(2,3)), 4)", "10"),
        ("sum(9223372036854775807, 1)", "!overflow"),
        ("crd2idx((1,2), (4,8), (8,1))", "10"),
        ("crd2idx(7, (4,8), (8,1))", "25"),
        ("crd2idx((1,2), (4,8), 8)", "!mismatch"),
        ("idx2crd(13, (4,8), (8,1))", "(1,5)"),
        ("idx2crd(13, (4,8), (8,2))", "!out-of-range"),
        ("with_shape((4,8):(8,1), (8,4))", "((4,2),4):((8,1),2)"),
        ("gcd(12, 18, (8,6))", "2"),
        ("gcd((12,(18,24)))", "6"),
        ("gcd(0, 5)", "5"),
        ("gcd(-4, 6)", "!illegal"),
        ("gcd(())", "!illegal"),
        ("lcm(4, 6)", "12"),
        ("lcm(0, 5)", "0"),
        ("lcm(9223372036854775807, 2)", "!overflow"),
        ("elem_leq((1,5), (2,3))", "true"),
        ("elem_less((1,2), (3,4,0))", "true"),
        ("elem_less((1,2,3), (3,4))", "false"),
        ("lex_less((1,2), (1,2,0))", "true"),
        ("colex_less((2,1), (0,2,1))", "true"),
        ("lex_less((1,(2,3)), (2,3))", "!mismatch"),
        ("lex_less(1, (2,3))", "!mismatch"),
        ("elem_less((4,8):(1,4), (2,3))", "!arguments"),
        ("evenly_divides((8,12), (4,6))", "true"),
        ("evenly_divides((8,12), (3,6))", "false"),
        ("evenly_divides((8,12), 16)", "true"),
        ("evenly_divides((8,12), 12)", "false"),
        ("evenly_divides((8,(4,3)), (4,6))", "true"),
        ("evenly_divides((8,(4,3)), (4,5))", "false"),
        ("ceil_div((2,7), 5)", "(1,3)"),
        ("ceil_div((12,7), (5,))", "(3,7)"),
        ("ceil_div((12,7), (5,3,1))", "!mismatch"),
        ("repeat_like((2,(3,4)), (0,1))", "((0,1),((0,1),(0,1)))"),
        ("product_like(((2,3),4), (1,(1,1)))", "!mismatch"),
        ("flatten_to_tuple(4)", "(4)"),
        ("front(((3,4),2))", "3"),
        ("back((2,(3,4)))", "4"),
        ("back(4)", "4"),
        ("front(())", "!illegal"),
        ("back((2,3):(3,1))", "(2,3):(3,1)"),
        ("insert<1>((2,(3,4)), 7)", "(2,7,(3,4))"),
        ("insert((2,3), 2, (7,8))", "(2,3,(7,8))"),
        ("insert((2,3), 3, 7)", "!out-of-range"),
        ("remove<0>((2,(3,4)))", "((3,4))"),
        ("remove((2,), 0)", "()"),
        ("remove((2,3), 2)", "!out-of-range"),
        ("remove((2,3):(3,1), 0)", "!arguments"),
        ("repeat<2>((2,3))", "((2,3),(2,3))"),
        ("repeat<1>((2,3))", "(2,3)"),
        ("repeat(4, 0)", "()"),
        ("repeat(4, 9223372036854775807)", "!limit"),
        ("unflatten((2,3,4), (1,(1,1)))", "(2,(3,4))"),
        ("unflatten((2,(3,5),4), ((1,1),1))", "((2,(3,5)),4)"),
        ("unflatten((2,3), (1,(1,1)))", "!mismatch"),
        ("unflatten((2,3,4):(12,4,1), ((1,1),1))", "((2,3),4):((12,4),1)"),
        ("unflatten(Sw<1,0,2> o (2,3,4):(12,4,1), ((1,1),1))", "Sw<1,0,2> o ((2,3),4):((12,4),1)"),
        ("unflatten((2,3):(3,1), (1,(1,1)))", "!mismatch"),
        ("max_alignment(Swizzle<2,3,3>{})", "8"),
        ("max_alignment(8:3)", "1"),
        ("evenly_divides((8,(4,3)), (4,(2,3)))", "true"),
        ("evenly_divides((8,12):(12,1), (4,))", "true"),
        ("evenly_divides(8, (4,2))", "false"),
        ("evenly_divides(8, 0)", "!illegal"),
        ("domain_distribute((15,14), 6)", "(3,2):(1,15)"),
        ("domain_distribute((4,(2,8)), 16)", "16:1"),
        ("domain_distribute((15,14), 11)", "1:0"),
        ("domain_distribute((0,14), 11)", "!illegal"),
        ("get_hier_coord((4,(2,4)):(8,(4,1)), 14)", "(1,(1,2))"),
        ("get_flat_coord((4,(2,4)):(8,(4,1)), 14)", "(1,5)"),
        ("get_1d_coord((4,(2,4)):(8,(4,1)), 14)", "21"),
        ("get_hier_coord(8:2, 6)", "3"),
        ("get_hier_coord(8:2, 7)", "!out-of-range"),
        ("get_hier_coord((4,8):(8,1), 32)", "!out-of-range"),
        ("get_hier_coord((4,8):(0,1), 3)", "!out-of-range"),
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

/// Over all coordinates of a shape: `colex` is the order of indices, `lex` that of reversed coordinates, `elem` that of all parts,
/// and the other nine names are made of these.
#[test]
fn orders_of_coordinates_are_those_of_indices() {
    let all: Vec<[u64; 2]> = (0..12).map(|i| [i % 3, i / 3]).collect();
    for [a0, a1] in &all {
        for [b0, b1] in &all {
            let ask = |name: &str| answer(&format!("{name}(({a0},({a1},)), ({b0},({b1},)))"));
            for (order, less, more) in [
                ("elem", a0 < b0 && a1 < b1, b0 < a0 && b1 < a1),
                ("lex", [a0, a1] < [b0, b1], [b0, b1] < [a0, a1]),
                ("colex", [a1, a0] < [b1, b0], [b1, b0] < [a1, a0]),
            ] {
                let words =
                    ["less", "leq", "gtr", "geq"].map(|word| ask(&format!("{order}_{word}")));
                let expected = [less, !more, more, !less].map(|one| one.to_string());
                assert_eq!(words, expected, "{order} ({a0},{a1}) ({b0},{b1})");
            }
        }
    }
}

/// What a function does to a map with basis strides, it does to each part of the coordinates.
#[test]
fn maps_to_coordinates_are_divided_part_by_part() {
    for (expression, expected) in [
        ("zipped_divide(M, <2,4>)", "((2,4),(2,2)):((1@0,1@1),(2@0,4@1))"),
        ("logical_divide(M, <2,4>)", "((2,2),(4,2)):((1@0,2@0),(1@1,4@1))"),
        ("tiled_divide(M, <2,4>)", "((2,4),2,2):((1@0,1@1),2@0,4@1)"),
        ("composition(M, <2,4>)", "(2,4):(1@0,1@1)"),
        ("(M o <2,4>) o (2,2):(1,2)", "(2,2):(1@0,1@1)"),
        ("coalesce(M)", "(4,8):(1@0,1@1)"),
        ("select(M, 1, 0)", "(8,4):(1@1,1@0)"),
        ("get(M, 1)", "8:1@1"),
        ("flatten(make_identity_layout((4,(2,2))))", "(4,2,2):(1@0,1@0@1,1@1@1)"),
        ("M o 8:1", "(4,2):(1@0,1@1)"),
        ("complement(M)", "!arguments"),
    ] {
        let expression = expression.replace('M', "make_identity_layout((4,8))");
        assert_eq!(answer(&expression), expected, "{expression}");
    }
    let (map, by) = ("(4,(2,6)):(3@1,(1@0+2@1,2@0))", "<2,(2,3)>");
    let divided = answer(&format!("zipped_divide({map}, {by})"));
    let offsets = answer(&format!("zipped_divide((4,(2,6)), {by})"));
    for i in 0..48 {
        let at = |of: &str| answer(&format!("crd2idx({i}, {of})"));
        let index = at(&offsets);
        assert_eq!(at(&divided), answer(&format!("crd2idx({index}, {map})")), "{i}");
    }
}

/// Compact layouts are undone by their coordinates, in three forms.
#[test]
fn coordinates_of_offsets_undo_compact_layouts() {
    for layout in ["(4,8):(8,1)", "(3,(2,4)):(2,(1,6))", "((2,2),(3,2)):((6,1),(2,12))", "5:1"] {
        for offset in 0..answer(&format!("size({layout})")).parse::<u64>().unwrap() {
            let ask = |name: &str| answer(&format!("{name}({layout}, {offset})"));
            for name in ["get_hier_coord", "get_flat_coord", "get_1d_coord"] {
                let found = answer(&format!("crd2idx({}, {layout})", ask(name)));
                assert_eq!(found, offset.to_string(), "{name} {layout}");
            }
        }
    }
}

/// The tile that `domain_distribute` finds divides its shape; all of n is found where n divides the first extent.
#[test]
fn distributed_domains_divide_their_shape() {
    for shape in ["(6,4)", "(2,(3,4))", "(12,)", "(5,7)"] {
        for n in 1..=24u64 {
            let tile = answer(&format!("domain_distribute({shape}, {n})"));
            let size: u64 = answer(&format!("size({tile})")).parse().unwrap();
            assert_eq!(n % size, 0, "{shape} {n}");
            let tiled = format!("logical_divide(make_layout({shape}), {tile})");
            assert!(!answer(&tiled).starts_with('!'), "{tiled}");
            let whole: u64 = answer(&format!("size({shape})")).parse().unwrap();
            let divides = answer(&format!("evenly_divides({whole}, {n})"));
            assert_eq!(divides, whole.is_multiple_of(n).to_string(), "{shape} {n}");
        }
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
        ("4-", "found the end of the text"),
        ("size(\"zN\")", "needs the array's dims"),
        ("(6,2):(1,7) o (3,2):(2,3)", "the only candidate gives 7"),
    ] {
        let error = evaluate(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
