//! Shapes, programs and their text, by the rows of the stated cases.

use proptest::prelude::*;
use tilewright_xla::{
    ArrayShape, Dim, Layout, PrimitiveType, ProgramShape, Shape, ShapeIndex, ShapeKind, Split, Tile,
};

fn shape(text: &str) -> Shape {
    Shape::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn prints_back(text: &str) {
    assert_eq!(shape(text).to_string(), text);
}

/// Asserts that a text is refused, with this message, at this span.
fn refused(text: &str, why: &str, span: (usize, usize)) {
    let error = Shape::parse(text).unwrap_err();
    assert!(error.to_string().contains(why), "{text}: {error}");
    assert_eq!(error.span(), span, "{text}: {error}");
}

#[test]
fn row_01_tiled_texts_print_back() {
    for text in [
        "f32[2,3,4]{0,1,2:T(512,1024)}",
        "bf16[2,3,4]{1,2,0:T(16,256)(2,1)}",
        "pred[8,8,8]{0,2,1:T(8,128)E(32)}",
        "f32[]{:T(256)}",
    ] {
        prints_back(text);
    }
}

#[test]
fn row_02_combined_dims_print_back() {
    prints_back("bf16[8,2,3,1004]{3,2,1,0:T(2,*,*,128)}");
}

#[test]
fn row_03_spaces_in_tiles() {
    let spaced = shape("f32[123,456,789]{0,1,2:T(2, * , 128)}");
    assert_eq!(spaced, shape("f32[123,456,789]{0,1,2:T(2,*,128)}"));
}

#[test]
fn row_04_tiles_alignment_and_element_size() {
    let layout = Layout::descending(4)
        .with_tiles(&[Tile::sizes(&[42, 123]).unwrap(), Tile::sizes(&[4, 5]).unwrap()])
        .with_tail_padding_alignment(100)
        .and_then(|layout| layout.with_element_size_in_bits(42))
        .unwrap();
    assert_eq!(layout.to_string(), "{3,2,1,0:T(42,123)(4,5)L(100)E(42)}");
}

#[test]
fn row_05_splits() {
    let splits =
        [Split { dimension: 0, indices: vec![3] }, Split { dimension: 1, indices: vec![0, 4] }];
    assert_eq!(Layout::ascending(2).with_splits(&splits).to_string(), "{0,1:SC(0:3)(1:0,4)}");
    prints_back("pred[123,456]{1,0:T(2,128)S(3)SC(1:200)}");
}

#[test]
fn row_06_dynamic_dims() {
    let mut dynamic = shape("f32[<=23,44,<=55]");
    dynamic.as_array_mut().unwrap().set_dim(2, Dim::Static(55)).unwrap();
    assert_eq!(dynamic.to_string(), "f32[<=23,44,55]");
}

#[test]
fn row_07_unbounded_dims() {
    let dims = &shape("f32[?,784]").as_array().unwrap().dims().to_vec();
    assert_eq!(dims.as_slice(), [Dim::Unbounded, Dim::Static(784)]);
    prints_back("f32[?,784]");
}

#[test]
fn row_08_nested_tuples() {
    let text = "(f32[1],(f32[2], token[]), opaque[], f32[3])";
    let filled = shape(text).with_default_layouts();
    let with = "(f32[1]{0}, (f32[2]{0}, token[]), opaque[], f32[3]{0})";
    assert_eq!(filled.to_string(), with);
    assert_eq!(shape(with), filled);
    let without = "(f32[1], (f32[2], token[]), opaque[], f32[3])";
    assert_eq!(filled.without_layouts().to_string(), without);
    assert_eq!(shape(text).to_string(), without);
}

#[test]
fn row_09_members_are_numbered_by_five() {
    let of = |count| Shape::tuple(vec![shape("f32[]"); count]).unwrap().to_string();
    assert_eq!(of(5), "(f32[], f32[], f32[], f32[], f32[])");
    assert_eq!(of(6), "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])");
    let sixteen = of(16);
    for index in [5, 10, 15] {
        assert!(sixteen.contains(&format!(", /*index={index}*/f32[]")), "{sixteen}");
    }
    assert_eq!(sixteen.matches("/*").count(), 3);
    prints_back(&sixteen);
}

#[test]
fn row_10_programs() {
    let text = "((unknown): opaque[], scalar: f32[]) -> (f32[2]{0}, token[])";
    let program = ProgramShape::parse(text).unwrap();
    assert_eq!(program.parameters[0].name, "");
    assert_eq!(program.parameters[1].name, "scalar");
    assert_eq!(program.to_string(), text);
    assert!(program.without_layouts().to_string().ends_with("-> (f32[2], token[])"));
    let spaced = " ( /* none */ ) -> // nothing\n ( ) ";
    assert_eq!(ProgramShape::parse(spaced).unwrap().to_string(), "() -> ()");
    prints_in_place("%x.1-a: f32[2]");
}

fn prints_in_place(parameter: &str) {
    let text = format!("({parameter}) -> b(f32[2])");
    assert_eq!(ProgramShape::parse(&text).unwrap().to_string(), text);
}

#[test]
fn row_10_programs_at_fault() {
    for (text, why, span) in [
        ("", "expected `(` and the parameters", (0, 0)),
        ("(f32[2]) -> f32[2]", "expected `:`", (4, 5)),
        ("(x: f32[2]", "expected `,` or `)`", (10, 10)),
        ("(x: f32[2])", "expected `->`", (11, 11)),
        ("() - > ()", "expected `->`", (3, 4)),
        ("(: f32[2]) -> ()", "expected a parameter's name", (1, 2)),
        ("((known): f32[2]) -> ()", "expected `(unknown)`", (2, 7)),
        ("() -> () x", "expected the end", (9, 10)),
        ("(x: f32[2],) -> ()", "expected a parameter's name", (11, 12)),
    ] {
        let error = ProgramShape::parse(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(error.span(), span, "{text}: {error}");
    }
}

#[test]
fn row_11_texts_that_are_no_shape() {
    for (text, why, span) in [
        ("f32[123,456]foobar{0,1}", "expected the end of the text", (12, 18)),
        ("f32[123,456]{foo}", "expected the number of a dim", (13, 16)),
        ("f32[3x4]", "expected `,` or `]`", (5, 7)),
        ("b()", "expected the array that the buffer refers to", (2, 3)),
        ("b(s32[], f32[])", "expected `)` at the end of a buffer", (7, 8)),
    ] {
        refused(text, why, span);
    }
}

#[test]
fn row_12_texts_on_which_xla_aborts() {
    for (text, why, span) in [
        ("f32[2]{0:T(-5)}", "negative", (11, 13)),
        ("f32[2]{0:L(0)}", "alignment of 0", (11, 12)),
        ("token[2]", "a token has no dims", (6, 7)),
        ("opaque[2]", "an opaque shape has no dims", (7, 8)),
        ("f32[2]{0:T(0)}", "extent 0 of dim 0 of a tile", (11, 12)),
        ("f32[2,2]{0,0}", "dim 0 at position 1 of a minor_to_major of 2: named twice", (11, 12)),
        ("f32[2,2]{0,2}", "dim 2 at position 1 of a minor_to_major of 2: out of range", (11, 12)),
    ] {
        refused(text, why, span);
    }
}

#[test]
fn row_12_what_else_is_invalid() {
    for (text, why, span) in [
        ("F32[2]", "did you mean `f32`?", (0, 3)),
        ("f32[-1]", "negative", (4, 6)),
        ("f32[10]{0,1}", "1 dims, but the layout's minor_to_major has 2", (7, 12)),
        ("f32[2]{0:E(4)T(2)}", "out of order", (13, 14)),
        ("f32[2]{0:P(s32[1])}", "sparse", (9, 10)),
        ("f32[2]{0:#(s32)}", "unsigned", (11, 14)),
        ("tuple[2]", "not a type of an array's elements", (0, 5)),
        ("buffer[2]", "not a type of an array's elements", (0, 6)),
        ("b((f32[2]))", "a tuple, where one array", (2, 3)),
        ("b(token[])", "not a type of an array's elements", (2, 7)),
        ("b(b(f32[2]))", "a buffer, where one array", (2, 3)),
        ("b[2]", "expected `(` and the array", (1, 2)),
        ("token[]{0}", "expected the end", (7, 8)),
        ("token", "expected `[]`", (5, 5)),
        ("(f32[2]", "after a member of a tuple", (7, 7)),
        ("(f32[2],)", "expected an element type", (8, 9)),
        ("(f32[2] f32[2])", "after a member of a tuple", (8, 11)),
        ("(,)", "expected an element type", (1, 2)),
        (")", "expected an element type", (0, 1)),
        ("f32[18446744073709551616]", "above 2^63 - 1", (4, 24)),
        ("f32[<=-9223372036854775808]", "negative", (6, 26)),
        ("(f32[2]{0:T(8)(2,0)}, token[])", "extent 0 of dim 1 of a tile", (17, 18)),
        ("f32[4]{0:SC(0:)}", "split index", (14, 15)),
        ("f32[2] /* open", "expected the end", (7, 8)),
        ("", "expected an element type", (0, 0)),
    ] {
        refused(text, why, span);
    }
}

#[test]
fn row_13_a_layout_of_another_rank() {
    let error = Layout::ascending(3).validate(&[2, 3]).unwrap_err();
    assert!(error.to_string().contains("contains 3 elements, but shape has 2 dimensions"));
    let mut pair = shape("(f32[2,3], token[])");
    pair.array_at_mut(&[0]).unwrap().set_layout(Some(Layout::ascending(3)));
    let error = pair.validate().unwrap_err();
    assert_eq!(error.name(), Some("{0}"));
    assert!(error.to_string().starts_with("member {0}: shape f32[2,3]{0,1,2}: layout"), "{error}");
}

#[test]
fn row_14_a_missing_layout() {
    let strict = shape("f32[2,3]").validate_with_layouts().unwrap_err();
    assert!(strict.case() == "missing-layout");
    assert!(strict.to_string().contains("shape f32[2,3] does not have a layout"), "{strict}");
    assert_eq!(shape("f32[2,3]").validate(), Ok(()));
    assert_eq!(shape("f32[2,3]{0,1}").validate_with_layouts(), Ok(()));
    // An absent layout differs from an empty one.
    let absent = ArrayShape::from_parts(PrimitiveType::F32, vec![], None);
    assert_ne!(absent, ArrayShape::new(PrimitiveType::F32, &[]));
    assert!(Shape::array(absent).validate_with_layouts().is_err());
}

#[test]
fn row_15_a_missing_layout_inside() {
    let nested = shape("((f32[1,2]{1,0}), f32[1,2])");
    let strict = nested.validate_with_layouts().unwrap_err();
    assert_eq!(strict.name(), Some("{1}"));
    assert!(strict.to_string().contains("f32[1,2] does not have a layout"), "{strict}");
    assert_eq!(nested.validate(), Ok(()));
    let mut wrong = shape("((f32[1,2]{1,0}), f32[9], b(f32[9]))").with_default_layouts();
    assert_eq!(wrong.validate_with_layouts(), Ok(()));
    wrong.array_at_mut(&[2]).unwrap().set_layout(Some(Layout::ascending(3)));
    for error in [wrong.validate().unwrap_err(), wrong.validate_with_layouts().unwrap_err()] {
        assert_eq!(error.name(), Some("{2}"));
        assert!(error.is_mismatch());
    }
}

#[test]
fn row_17_sizes_beyond_63_bits() {
    let ok = "f32[2305843009213693951]";
    assert_eq!(shape(ok).validate(), Ok(()));
    for (text, why) in [
        ("f32[2305843009213693952]", "more than 2^63 - 1 bytes"),
        ("s8[4294967296,?,<=4294967296]", "more than 2^63 - 1 bytes"),
        ("(token[], b(f64[9223372036854775807,9223372036854775807]))", "of 2 dims"),
    ] {
        let error = shape(text).validate().unwrap_err();
        assert!(error.is_overflow() && error.to_string().contains(why), "{error}");
    }
    assert_eq!(shape("f32[0,9223372036854775807,9223372036854775807]").validate(), Ok(()));
    let mut huge = ArrayShape::new(PrimitiveType::U8, &[1, u64::MAX]);
    assert!(huge.validate().unwrap_err().to_string().contains("dim 1 of extent"));
    huge = ArrayShape::new(PrimitiveType::Token, &[]);
    assert!(huge.validate().unwrap_err().is_illegal());
}

#[test]
fn row_21_an_element_size_that_says_nothing() {
    let (said, unsaid) = (shape("f32[2]{0:E(32)}"), shape("f32[2]{0}"));
    assert_ne!(said, unsaid);
    let (said, unsaid) = (said.as_array().unwrap(), unsaid.as_array().unwrap());
    assert_eq!(said.lower().unwrap(), unsaid.lower().unwrap());
    assert_eq!((said.bytes(), unsaid.bytes()), (Ok(8), Ok(8)));
}

#[test]
fn row_22_every_example_prints_back() {
    for text in [
        "f32[]",
        "f32[3,0,5]",
        "f32[123,456]{0,1}",
        "f32[8,100,100,3]{3,0,2,1}",
        "s4[123,456]{1,0:T(2,128)E(4)}",
        "f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}",
        "f32[123,456]{1,0:T(16,128)M(1024)}",
        "f32[5]{0:L(128)}",
        "f32[1,2,3,4]{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",
        "(f32[1572864], s8[5120,1024])",
        "()",
        "((), ((), ()))",
        "token[]",
        "opaque[]",
        "b(f32[8,16]{1,0})",
        "(b(f32[8,16]{1,0:T(8,128)}), token[], opaque[])",
    ] {
        prints_back(text);
    }
    for (text, canonical) in [
        ("f32 [ 1 , 2 ] {1,0}", "f32[1,2]{1,0}"),
        ("f32[2,3]{1,0:}", "f32[2,3]{1,0}"),
        ("f32[4,4]{1,0:D(D,C)}", "f32[4,4]{1,0}"),
        (
            " ( f32[2] , /* two */ token [ ] // end\n , b ( s8[] ) , ( ) ) ",
            "(f32[2], token[], b(s8[]), ())",
        ),
    ] {
        assert_eq!(shape(text).to_string(), canonical);
    }
}

#[test]
fn row_23_integers_do_not_wrap() {
    refused("f32[2,2]{1,0:T(9223372036854775808,2)}", "above 2^63 - 1", (15, 34));
}

#[test]
fn row_124_splits_that_do_not_fit() {
    let with = |splits: &str| shape(&format!("(f32[150,200,100]{{0,1,2:SC{splits}}})"));
    for (splits, why) in [
        ("(3:30)", "a split of physical dim 3 of 3"),
        ("(0:30)(0:40)", "physical dim 0 is split twice"),
        ("(1:40,30)", "split index 30 after 40 in physical dim 1"),
        ("(1:0,40)", "split index 0 after 0 in physical dim 1"),
        ("(1:40,200)", "split index 200 after 40 in physical dim 1 of extent 200"),
    ] {
        let error = with(splits).validate().unwrap_err();
        assert_eq!(error.name(), Some("{0}"));
        assert!(error.to_string().contains(why), "{splits}: {error}");
    }
    assert_eq!(with("(0:30)(1:40,130)").validate(), Ok(()));
}

#[test]
fn shape_prefixes_end_where_the_shape_does() {
    for (text, len) in [
        ("(f32[2], token[]) add(x)", 17),
        ("f32[2] {", 6),
        ("f32[2]{0} {", 9),
        ("token[] {", 7),
        ("b(f32[2]{0}) x", 12),
        ("(f32[]{:T(2)}, f32[2]{0:T(2)}){", 30),
    ] {
        assert_eq!(Shape::parse_prefix(text).unwrap().1, len, "{text}");
    }
}

#[test]
fn shape_depth_is_bounded() {
    let nested = |depth: usize| format!("{}token[]{}", "(".repeat(depth), ")".repeat(depth));
    let deepest = nested(Shape::MAX_DEPTH);
    assert_eq!(shape(&deepest).depth(), Shape::MAX_DEPTH);
    prints_back(&deepest);
    for depth in [Shape::MAX_DEPTH + 1, 100_000] {
        let error = Shape::parse(&nested(depth)).unwrap_err();
        assert!(error.cause().unwrap().is_limit());
        assert_eq!(error.span(), (Shape::MAX_DEPTH, Shape::MAX_DEPTH + 1));
    }
    // The innermost tuples count equally, however they are written.
    let empty = format!("{}{}", "(".repeat(Shape::MAX_DEPTH), ")".repeat(Shape::MAX_DEPTH));
    assert_eq!(shape(&empty).depth(), Shape::MAX_DEPTH);
    assert!(Shape::parse(&format!("({empty})")).unwrap_err().cause().unwrap().is_limit());
    let full = shape(&nested(Shape::MAX_DEPTH));
    assert!(Shape::tuple(vec![shape("f32[]"), full]).unwrap_err().is_limit());
}

#[test]
fn shape_rank_is_bounded() {
    let dims = |count: usize| vec!["1"; count].join(",");
    assert!(Shape::parse(&format!("s8[{}]", dims(ArrayShape::MAX_RANK))).is_ok());
    for rank in [ArrayShape::MAX_RANK + 1, 1_000_000] {
        let error = Shape::parse(&format!("s8[{}]", dims(rank))).unwrap_err();
        assert!(error.cause().unwrap().is_limit(), "{error}");
    }
    let order: Vec<String> = (0..1_000_000).map(|dim| dim.to_string()).collect();
    let error = Layout::parse(&format!("{{{}}}", order.join(","))).unwrap_err();
    assert!(error.cause().unwrap().is_limit(), "{error}");
}

#[test]
fn shape_kinds_are_told_apart() {
    for (text, is) in [
        ("f32[2]", [true, false, false, false, false]),
        ("(f32[2])", [false, true, false, false, false]),
        ("token[]", [false, false, true, false, false]),
        ("opaque[]", [false, false, false, true, false]),
        ("b(f32[2])", [false, false, false, false, true]),
    ] {
        let one = shape(text);
        assert_eq!(
            [one.is_array(), one.is_tuple(), one.is_token(), one.is_opaque(), one.is_buffer()],
            is
        );
        assert_eq!(one.as_array().is_some(), is[0]);
        assert_eq!(one.tuple_shapes().is_some(), is[1]);
        assert_eq!(one.as_buffer().is_some(), is[4]);
        let mut arrays = 0;
        one.for_each_array(&mut |array| arrays += array.dims().len());
        assert_eq!(arrays, usize::from(is[0] || is[1] || is[4]));
        let rebuilt = match one.kind() {
            ShapeKind::Array(array) => Shape::array(array.clone()),
            ShapeKind::Tuple(shapes) => Shape::tuple(shapes.to_vec()).unwrap(),
            ShapeKind::Token => Shape::token(),
            ShapeKind::Opaque => Shape::opaque(),
            ShapeKind::Buffer(array) => Shape::buffer(array.clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(rebuilt, one);
    }
    assert!(shape("()").is_nil() && !shape("(token[])").is_nil() && Shape::nil() == shape("()"));
}

#[test]
fn shape_paths_lead_to_members() {
    let nested = shape("(f32[2], (s32[], pred[3]))");
    for (path, text) in [
        (vec![], "(f32[2], (s32[], pred[3]))"),
        (vec![0], "f32[2]"),
        (vec![1], "(s32[], pred[3])"),
        (vec![1, 1], "pred[3]"),
    ] {
        assert_eq!(nested.at(&path).unwrap().to_string(), text);
        let index = ShapeIndex::from(path.clone());
        assert_eq!(index.parent().is_none(), path.is_empty());
        assert_eq!(index.child(7).parent(), Some(index));
    }
    for path in [vec![2], vec![1, 2], vec![u64::MAX]] {
        assert!(nested.at(&path).unwrap_err().is_out_of_range());
        assert!(nested.clone().array_at_mut(&path).unwrap_err().is_out_of_range());
    }
    assert!(nested.at(&[0, 0]).unwrap_err().to_string().contains("entry 1"));
    assert!(nested.clone().array_at_mut(&[1]).unwrap_err().is_mismatch());
}

fn array() -> impl Strategy<Value = ArrayShape> {
    let types: Vec<_> = PrimitiveType::all().filter(|one| one.is_array()).collect();
    let dim = prop_oneof![
        (0..100u64).prop_map(Dim::Static),
        (0..100u64).prop_map(Dim::Bounded),
        Just(Dim::Unbounded),
    ];
    let tiles = prop::collection::vec(prop::collection::vec(1..300u64, 1..3), 0..3);
    (prop::sample::select(types), prop::collection::vec(dim, 0..4), any::<bool>(), tiles, 0..3u64)
        .prop_map(|(element_type, dims, laid, tiles, space)| {
            let tiles: Vec<_> = tiles.iter().map(|tile| Tile::sizes(tile).unwrap()).collect();
            let layout = Layout::ascending(dims.len()).with_tiles(&tiles);
            let layout = layout.with_memory_space(space).unwrap();
            // A scalar's plain layout has no text.
            let plain = dims.is_empty() && layout == Layout::ascending(0);
            let layout = (laid && !plain).then_some(layout);
            ArrayShape::from_parts(element_type, dims, layout)
        })
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        array().prop_map(Shape::array),
        array().prop_map(Shape::buffer),
        Just(Shape::token()),
        Just(Shape::opaque()),
    ];
    leaf.prop_recursive(4, 40, 12, |inner| {
        prop::collection::vec(inner, 0..12).prop_map(|shapes| Shape::tuple(shapes).unwrap())
    })
}

proptest! {
    #[test]
    fn shape_text_and_values_are_inverse(shape in any_shape(), names in prop::collection::vec("[a-z_.0-9-]{0,4}", 0..4)) {
        let text = shape.to_string();
        prop_assert_eq!(&Shape::parse(&text).unwrap(), &shape, "{}", text);
        let plain = shape.without_layouts().to_string();
        prop_assert_eq!(Shape::parse(&plain).unwrap().to_string(), plain);
        let parameter = |name| tilewright_xla::Parameter { name, shape: shape.clone() };
        let program = ProgramShape { parameters: names.into_iter().map(parameter).collect(), result: shape.clone() };
        prop_assert_eq!(ProgramShape::parse(&program.to_string()).unwrap(), program);
    }

    #[test]
    fn shape_proto_and_values_are_inverse(shape in any_shape()) {
        let proto = shape.to_proto().unwrap();
        let text = proto.text().to_string();
        prop_assert_eq!(tilewright_xla::proto::ShapeProto::parse(&text).unwrap(), proto);
        // Generated sizes and splits are all valid.
        prop_assert_eq!(Shape::from_proto_bytes(&shape.to_proto_bytes().unwrap()).unwrap(), shape);
    }

    #[test]
    fn shape_no_text_is_a_panic(any in any::<String>(), like in "[a-f0-9sutbTE\\[\\]{}():,*?<=é/ >-]{0,40}", cut in any::<prop::sample::Index>(), shape in any_shape()) {
        let mut broken = shape.to_string();
        if let Some((at, _)) = broken.char_indices().nth(cut.index(broken.len().max(1))) {
            broken.remove(at);
        }
        for text in [any.as_str(), &like, &broken, &format!("({like}"), &format!("b({like}"), &format!("(x:{like}")] {
            let errors = [Shape::parse(text).err(), ProgramShape::parse(text).err(), Shape::parse_prefix(text).err()];
            for error in errors.into_iter().flatten() {
                let (from, to) = error.span();
                prop_assert!(from <= to && to <= text.len() && text.get(from..to).is_some(), "{text}");
                prop_assert!(!error.render(text).to_string().is_empty());
            }
            if let Ok(shape) = Shape::parse(text) {
                prop_assert_eq!(Shape::parse(&shape.to_string()).unwrap().to_string(), shape.to_string());
                let _ = shape.validate();
            }
        }
    }
}
