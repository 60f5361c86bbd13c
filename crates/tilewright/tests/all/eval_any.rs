//! `eval` on arbitrary text and arbitrary expressions, at its bounds, and on domains that are too large to enumerate.

use proptest::prelude::*;
use tilewright::eval::{MAX_LIST, MAX_NESTING, MAX_NODES, MAX_TEXT, evaluate, functions};

fn answer(text: &str) -> String {
    match evaluate(text) {
        Ok(value) => value.to_string(),
        Err(error) => format!("!{} {error}", error.kind()),
    }
}

/// Evaluates a text. The span of an error is inside the text; a value that can be written reads back as it printed.
fn check(text: &str) {
    match evaluate(text) {
        Ok(value) => {
            let printed = value.to_string();
            let written = !["list", "boolean", "padding"].contains(&value.kind());
            // A SPEC that modes cannot express prints as a SPEC.
            let spelled =
                !printed.contains(['[', '{']) || ["linear", "dims"].contains(&value.kind());
            if written && spelled {
                // `slice_and_offset` prints an offset of 0 too.
                let plain = printed.strip_suffix("+0").unwrap_or(&printed);
                assert_eq!(answer(&printed), plain, "{text}");
            }
        }
        Err(error) => {
            let (from, to) = error.span().unwrap();
            assert!(from <= to && to <= text.len(), "{text}: {error}");
            assert!(text.is_char_boundary(from) && text.is_char_boundary(to), "{text}: {error}");
            assert!(error.render().starts_with(&error.to_string()));
            assert!(!error.to_string().is_empty());
        }
    }
}

fn integer() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (-2i64..20).prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => Just(i64::MAX.to_string()),
        1 => Just(i64::MIN.to_string()),
        1 => Just("_".to_owned()),
        1 => Just("_4".to_owned()),
    ]
}

/// Tuples in tuples.
fn tuple() -> impl Strategy<Value = String> {
    integer().prop_recursive(3, 12, 4, |part| {
        prop::collection::vec(part, 0..4).prop_map(|parts| format!("({})", parts.join(",")))
    })
}

fn value() -> impl Strategy<Value = String> {
    let layout = prop::collection::vec((0u32..9, -3i64..40), 1..5).prop_map(|modes| {
        let join = |parts: Vec<String>| parts.join(",");
        let extents = join(modes.iter().map(|mode| mode.0.to_string()).collect());
        let strides = join(modes.iter().map(|mode| mode.1.to_string()).collect());
        format!("({extents}):({strides})")
    });
    prop_oneof![
        2 => tuple(),
        4 => layout.clone(),
        2 => (tuple(), tuple()).prop_map(|(shape, stride)| format!("{shape}:{stride}")),
        1 => (layout.clone(), integer()).prop_map(|(layout, by)| format!("{layout}+{by}")),
        1 => (layout.clone(), tuple()).prop_map(|(layout, by)| format!("{layout} valid {by}")),
        1 => prop::collection::vec(prop_oneof![layout, integer()], 0..4)
            .prop_map(|parts| format!("<{}>", parts.join(","))),
        1 => (0u8..5, 0u8..5, -5i8..6).prop_map(|(b, m, s)| format!("Sw<{b},{m},{s}>")),
        3 => linear(),
        1 => prop::sample::select(vec![
            "(2,2):(1@0,1@1)",
            "((2,3),4):((1@0@0,2@1@0),1@1)",
            "\"f32[3,5]{1,0:T(2,2)}\"",
            "\"bf16[20,300]{1,0:T(8,128)(2,1)}\"",
            "\"f32[3,2,5]{2,1,0:T(2,*,4)}\"",
            "\"f16[100,100] zN\"",
            "\"[4,6] row-major\"",
            "\"zN\"",
            "[a]",
            "[x:4,y:2]",
            "[y,x]",
        ])
        .prop_map(str::to_owned),
    ]
}

/// Linear layouts between a, b and x, y, some of which compose.
fn linear() -> impl Strategy<Value = String> {
    let bases = || prop::collection::vec((0u32..4, 0u32..3), 0..4);
    let dim = |name: &str, bases: Vec<(u32, u32)>| {
        let bases: Vec<String> = bases.iter().map(|(x, y)| format!("[{x},{y}]")).collect();
        format!("{name}=[{}]", bases.join(","))
    };
    let names = prop::sample::select(vec![["a", "b", "x", "y"], ["x", "y", "a", "b"]]);
    (names, bases(), bases()).prop_map(move |([a, b, x, y], first, second)| {
        format!("{{{},{}}} -> ({x}:4,{y})", dim(a, first), dim(b, second))
    })
}

/// Calls of any function with anything, compositions of anything.
fn expression() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = functions().map(|function| function.name()).collect();
    value().prop_recursive(3, 10, 4, move |part| {
        let call = (prop::sample::select(names.clone()), prop::collection::vec(part.clone(), 0..4))
            .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", ")));
        prop_oneof![
            4 => call,
            1 => (prop::sample::select(vec!["o", "+", "-", "*", "/", "%"]), prop::collection::vec(part, 2..4))
                .prop_map(|(sign, parts)| parts.join(&format!(" {sign} "))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tilewright_testing::cases(4_000, 500)))]

    #[test]
    fn any_text_is_an_expression_or_an_error(text in "[-_()<>{}\\[\\]=0-9:,+*/%@oSw\"' aé]{0,40}|\\PC{0,60}") {
        check(&text);
    }

    #[test]
    fn any_bytes_are_an_expression_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_expression_has_a_value_or_an_error(text in expression()) {
        check(&text);
    }

    /// Calls of functions with arguments of the number and kinds that they take.
    #[test]
    fn any_pair_of_layouts_through_any_function(
        name in prop::sample::select(functions().map(|function| function.name()).collect::<Vec<_>>()),
        a in value(),
        b in value(),
        n in 0u32..12,
    ) {
        for text in [
            format!("{name}({a})"),
            format!("{name}({a}, {b})"),
            format!("{name}({a}, {n})"),
            format!("{name}({n}, {a})"),
            format!("{name}({a}, {n}, {b})"),
            format!("{name}({a}, {b}, {a})"),
        ] {
            check(&text);
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let calls = |n: usize| "coalesce(".repeat(n) + "4:1" + &")".repeat(n);
    assert_eq!(answer(&calls(MAX_NESTING - 1)), "4:1");
    assert!(answer(&calls(MAX_NESTING)).starts_with("!limit expressions nested deeper than 48"));
    for open in ["(", "<", "size(", "Sw<", "\"", "-", "(4):(", "4 o "] {
        let text = open.repeat(MAX_TEXT / open.len());
        assert!(answer(&text).starts_with('!'), "{open}");
    }
    assert!(answer(&("(".repeat(40) + "1" + &")".repeat(40))).starts_with("!limit"));
}

#[test]
fn text_parts_and_lists_are_bounded() {
    assert!(answer(&" ".repeat(MAX_TEXT + 1)).starts_with("!limit an expression of 16385 bytes"));
    let tuple = format!("({})", "1,".repeat(MAX_NODES + 1));
    assert!(answer(&tuple).starts_with("!limit an expression of more than 4096 parts"));
    assert!(answer(&format!("({})", "1,".repeat(33))).starts_with("!limit more than 32"));

    let list = answer(&format!("offsets({MAX_LIST}:1)"));
    assert!(list.starts_with("[0,1,2,") && list.ends_with(",65535]"));
    for text in [
        format!("offsets({}:1)", MAX_LIST + 1),
        format!("swizzle(Sw<2,0,2>, {})", MAX_LIST + 1),
        "offsets((1000000,1000000):(1,1000000))".to_owned(),
        format!("swizzle(Sw<2,0,2>, {})", i64::MAX),
    ] {
        let answer = answer(&text);
        assert!(answer.starts_with("!limit ") && answer.contains("at most 65536"), "{answer}");
    }
}

/// Layouts of 10¹² elements and more, which cannot be enumerated.
#[test]
fn same_decides_without_enumerating() {
    for (expression, expected) in [
        ("same((1000000,1000000):(1,1000000), 1000000000000:1)", "true"),
        ("same((1000000,1000000):(1,1000000), (1000000,1000000):(1000000,1))", "false"),
        (
            "same((1000000,1000000):(1000000,1), ((1000,1000),1000000):((1000000,1000000000),1))",
            "true",
        ),
        (
            "same(((1000,1000),(1000,1000)):((1,1000),(1000000,1000000000)), (1000000,1000000):(1,1000000))",
            "true",
        ),
        ("same((4096,4096,65536):(1,4096,16777216), (65536,16777216):(1,65536))", "true"),
        ("same((1000000,1000000):(1,1000000), (1000000,1000000):(1,1000001))", "false"),
        (
            "same(\"f32[1048576,1048576]{1,0:T(8,128)}\", \"[1048576,1048576] (m1 m0:8) (n1 n0:128) -> m1 n1 m0 n0\")",
            "true",
        ),
        // These are cut into digits that never coincide.
        ("same((1000003,999983):(1,7), (999983,1000003):(1,7))", "false"),
        ("same((1000000,1000000):(1@0,1@1), make_identity_layout((1000000,1000000)))", "true"),
        ("injective((1000000,1000000):(1,1000000))", "true"),
        ("size((1000000,1000000) o <1000,_>)", "1000000000"),
    ] {
        assert_eq!(answer(expression), expected, "{expression}");
    }
}

#[test]
fn what_is_given_in_the_wrong_place_is_named() {
    for (expression, expected) in [
        ("coalesce([0])", "!parse expected the name of a dim, or name and size, such as `row:8`"),
        ("coalesce([a])", "!arguments coalesce: a list of dims where a layout is expected"),
        ("coalesce({a=[1]})", "!arguments coalesce: a linear layout where a layout is expected"),
        (
            "reshape_ins({a=[1]}, [x])",
            "!arguments reshape_ins: a list of dims where dims with sizes such as `[row:8,column:4]` is expected",
        ),
        (
            "identity(6, [a], [b])",
            "!illegal identity: a dim of size 6; sizes are powers of two, at most 2^62",
        ),
        ("{a=[x]}", "!parse expected an integer"),
        (
            "coalesce(offsets(4:1))",
            "!arguments coalesce: a list cannot be an argument of a function",
        ),
        ("coalesce(<2>)", "!arguments coalesce: a tiler where a layout is expected"),
        ("get((1,2), (0,1))", "!arguments get: a tuple where an integer is expected"),
        ("get((1,2), -1)", "!out-of-range get: -1 is below 0"),
        ("(4:1, 2)", "<4:1,2>"),
        ("(4:1)", "4:1"),
        (
            "(4:1, Sw<1,0,1>)",
            "!arguments a swizzle cannot be in a tuple; tuples hold integers, tuples, `_` and, as a tiler, layouts",
        ),
        (
            "(1,2):(_,1)",
            "!arguments a coordinate with `_` for strides; expected an integer or a tuple of integers",
        ),
        ("4 + 3", "7"),
        (
            "(4,8) + 3",
            "!arguments a tuple + an integer; give integers, or a layout and the offset that moves it: (4,8):(8,1)+3",
        ),
        ("7 / (2 - 2)", "!overflow `7 / 0` divides by 0"),
        (
            "F2<1,2,3> o 8:1",
            "!illegal offsets 4 and 3 have one image, 3; no image may be the xor of others",
        ),
        ("F2<1,-2> o 8:1", "!out-of-range an image of -2; images are 0 or more"),
        (
            "F2 o 8:1",
            "!parse `F2` is a function only before `(`; put a SPEC within an expression in quotes: \"F2\"",
        ),
        (
            "Sw<3,0,2> o 8:1",
            "!illegal swizzle with 3 bits and shift 2: the bit fields overlap; |shift| must be at least the number of bits",
        ),
        (
            "coalesce(\"f32[3,2,5]{2,1,0:T(2,*,4)}\")",
            "!unsupported coalesce: the tiles of this SPEC merge dims or do not divide one another, which modes with strides cannot express",
        ),
        (
            "composition((4,8), ((2,2),4))",
            "!mismatch composition: more tilers than axes: 2 for 1; give one tiler per axis at most",
        ),
        (
            "(4,8) o zN",
            "!parse `zN` is a function only before `(`; put a SPEC within an expression in quotes: \"zN\"",
        ),
        ("coord((4,8):(8,1), 32)", "!out-of-range coord: offset 32 of a storage of 32 elements"),
    ] {
        assert_eq!(answer(expression), expected);
    }
}

#[test]
fn a_tile_is_no_more_valid_than_its_array() {
    for (expression, expected) in [
        (
            "tile(\"f16[100,100] zN\", (112,64))",
            "((16,7),(16,4)):((16,256),(1,1792)) valid (100,64)",
        ),
        ("tile(tile((8,12):(12,1), (4,5)), (2,12))", "(2,12):(12,1) valid (2,5)"),
        ("tile((8,12):(12,1) valid (7,12), (8,4))", "(8,4):(12,1) valid (7,4)"),
        ("tile(8:1, 3)", "3:1"),
    ] {
        assert_eq!(answer(expression), expected, "{expression}");
    }
}

#[test]
fn an_array_over_threads_is_a_linear_layout() {
    let blocked = "\"[4,8] #ttg.blocked<{sizePerThread=[1,2],threadsPerWarp=[4,2],warpsPerCTA=[1,1],order=[1,0]}>\"";
    let map =
        "{register=[[0,1],[0,4]],lane=[[0,2],[1,0],[2,0]],warp=[],block=[]} -> (dim0:4,dim1:8)";
    assert_eq!(answer(blocked), map);
    assert_eq!(answer(&format!("apply({blocked}, (3,5,0,0))")), "(2,7)");
    assert_eq!(
        answer(&format!("layout(transpose_outs({blocked}, [dim1,dim0]))")),
        "((2,2),(2,4),1,1):((1,4),(2,8),0,0)"
    );
    // The element of register 1 of lane 5, in the other layout: the same lane or another.
    let other = "\"[4,8] #ttg.blocked<{sizePerThread=[1,4],threadsPerWarp=[4,2],warpsPerCTA=[1,1],order=[1,0]}>\"";
    let between = format!("invert_and_compose({blocked}, {other})");
    assert_eq!(answer(&format!("apply({between}, (1,5,0,0))")), "(3,4,0,0)");
    let shared = "\"[4,8] #ttg.swizzled_shared<{vec=2,perPhase=1,maxPhase=4,order=[1,0]}>\"";
    assert_eq!(answer(shared), "Sw<2,1,2> o (4,8):(8,1)");
}

#[test]
fn coordinates_in_every_spelling() {
    for (expression, expected) in [
        ("offset((3,(2,3)):(3,(12,1)), 16)", "17"),
        ("offset((3,(2,3)):(3,(12,1)), (1,5))", "17"),
        ("offset((3,(2,3)):(3,(12,1)), (1,(1,2)))", "17"),
        ("coord((3,(2,3)):(3,(12,1)), 17)", "(1,5)"),
        // For an array that is not a bare layout, an integer counts in row-major order.
        ("offset(\"f32[3,5]{1,0:T(2,2)}\", 8)", "7"),
        ("offset(\"f32[3,5]{1,0:T(2,2)}\", (1,2))", "6"),
        ("offset(\"f32[3,5]{1,0:T(2,2)}\", ((1,0),(0,1)))", "6"),
        ("coord(\"f32[3,5]{1,0:T(2,2)}\", 6)", "(1,2)"),
        ("coord(\"f32[3,5]{1,0:T(2,2)}\", 9)", "padding"),
        ("offset((4,3):(1,4) valid (2,3), (1,2))", "9"),
        ("crd2idx((1,2), (2,3):(1@1,4@0))", "(8,1)"),
        ("crd2crd(16, (3,(2,3)), (9,2))", "(7,1)"),
        ("crd2crd((1,5), (3,(2,3)), (3,6))", "(1,5)"),
    ] {
        assert_eq!(answer(expression), expected, "{expression}");
    }
}
