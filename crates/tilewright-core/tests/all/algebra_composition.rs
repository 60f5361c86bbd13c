//! `composition` against its definition: exhaustively over small layouts, over random deeper ones with offsets and
//! negative strides, and over the recorded vectors.

use crate::algebra_brute::{Brute, affine, layouts};
use crate::algebra_counts::Counts;
use proptest::prelude::*;
use serde_json::Value;
use tilewright_core::{Layout, Mode, Profile, Swizzle, Tiler};

fn parse(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn composed(a: &str, b: &str) -> String {
    parse(a).composition(&parse(b)).unwrap().to_string()
}

fn judge_all(a: &[Layout], b: &[Layout]) -> Counts {
    let (mut counts, mut brute) = (Counts::default(), Brute::default());
    for a in a {
        for b in b {
            counts.judge(&mut brute, a, b);
        }
    }
    assert_eq!((counts.wrong, counts.needless, counts.undecided), (0, 0, 0), "{counts:?}");
    counts
}

#[test]
fn small_pairs_of_two_modes_each() {
    let a = layouts(2, 1..=4, 0..=7);
    let b = [layouts(1, 1..=4, 0..=12), layouts(2, 2..=3, 0..=12)].concat();
    let counts = judge_all(&a, &b);
    assert!(counts.accepted > 100_000 && counts.refused > 100_000, "{counts:?}");
}

#[test]
fn small_triples_whose_carries_cancel() {
    let a = layouts(3, 2..=3, -1..=3);
    let b = layouts(2, 2..=3, 0..=7);
    let counts = judge_all(&a, &b);
    assert!(counts.accepted > 50_000 && counts.refused > 50_000, "{counts:?}");
}

#[test]
fn small_pairs_with_offsets_and_negative_strides() {
    let a = layouts(3, 2..=3, -1..=2);
    let mut counts = Counts::default();
    let mut brute = Brute::default();
    for b in layouts(2, 2..=3, -4..=4) {
        let low: i64 =
            b.modes().iter().map(|m| (m.stride() * (m.extent() as i64 - 1)).min(0)).sum();
        for offset in [-low, 1 - low, 5 - low] {
            let b = b.with_offset(offset).unwrap();
            for a in a.iter().step_by(2) {
                counts.judge(&mut brute, a, &b);
            }
        }
    }
    assert_eq!((counts.wrong, counts.needless, counts.undecided), (0, 0, 0), "{counts:?}");
    assert!(counts.accepted > 50_000 && counts.refused > 50_000, "{counts:?}");
}

fn random_layout(most: usize, strides: std::ops::Range<i64>) -> impl Strategy<Value = Layout> {
    let mode = (1u64..6, strides).prop_map(|(extent, stride)| Mode::new(extent, stride));
    (prop::collection::vec(mode, 1..=most), 0i64..40)
        .prop_map(|(modes, offset)| Layout::flat(&modes).unwrap().with_offset(offset).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tilewright_testing::cases(20_000, 5_000)))]

    #[test]
    fn random_pairs(a in random_layout(5, -4..30), b in random_layout(4, -9..40)) {
        let mut counts = Counts::default();
        match b.bounds() {
            Some((low, _)) if low < 0 => {
                prop_assert!(a.composition(&b).unwrap_err().is_out_of_range());
            }
            _ => counts.judge(&mut Brute::default(), &a, &b),
        }
        prop_assert_eq!((counts.wrong, counts.needless, counts.undecided), (0, 0, 0));
    }

    #[test]
    fn random_pairs_with_small_jumps(a in random_layout(5, -2..3), b in random_layout(4, 0..40)) {
        let mut counts = Counts::default();
        counts.judge(&mut Brute::default(), &a, &b);
        prop_assert_eq!((counts.wrong, counts.needless, counts.undecided), (0, 0, 0));
    }
}

#[test]
fn known_compositions() {
    for (case, a, b, expected) in [
        ("C13", "(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("C14", "20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("C15", "(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("C16", "(8,8):(8,1)", "(8,8):(8,1)", "(8,8):(1,8)"),
        ("C17", "8:-1", "4:2", "4:-2"),
        ("C18", "8:1", "(2,2):(0,4)", "(2,2):(0,4)"),
        ("C19", "(23,5):(2,120)", "7:3", "7:6"),
        ("C20", "(5,126,7):(1,13,0)", "21:30", "21:78"),
        ("C21", "(4,6,1):(2,3,0)", "30:4", "(6,5):(3,0)"),
        ("C24", "(4,6):(2,3)", "4:6", "(2,2):(7,9)"),
        ("C25", "(5,3):(7,1)", "2:3", "2:21"),
        ("", "(2,2,2):(0,1,1)", "(2,2):(3,1)", "(2,2):(1,0)"),
        ("", "(2,2,2):(1,3,5)", "(2,2):(3,1)", "(2,2):(4,1)"),
        ("", "(2,2,2):(1,3,5)", "3:3", "3:4"),
        ("", "(4,2,2):(1,8,12)", "(2,2):(7,1)", "(2,2):(11,1)"),
        ("", "(2,3,2):(3,0,6)", "(2,2):(5,1)", "(2,2):(3,3)"),
        ("a bare leaf of B becomes a tuple", "(4,6):(2,3)", "4:6", "(2,2):(7,9)"),
        ("brackets of one stay", "(4,6):(2,3)", "(4):(6)", "((2,2)):((7,9))"),
        (
            "deep brackets",
            "(4,6):(2,3)",
            "((1,(4)),2):((5,(6)),0)",
            "((1,((2,2))),2):((0,((7,9))),0)",
        ),
    ] {
        assert_eq!(composed(a, b), expected, "{case}: {a} o {b}");
    }
}

#[test]
fn known_refusals_name_the_coordinate_and_both_numbers() {
    for (case, a, b, witness, value, candidate) in [
        ("C26", "(6,2):(1,7)", "(3,2):(2,3)", &[2, 1][..], 8, 7),
        ("C27", "(4,6,8):(2,3,5)", "6:3", &[4], 9, 14),
        ("C28", "(3,3):(3,1)", "(2,2):(2,1)", &[1, 1], 1, 9),
        ("C29", "(5,3):(7,1)", "7:1", &[5], 1, 35),
        ("C30", "(4,3):(1,5)", "5:1", &[4], 5, 4),
    ] {
        let error = parse(a).composition(&parse(b)).unwrap_err();
        assert!(error.is_no_layout(), "{case}");
        assert_eq!(error.witness().unwrap().as_slice(), witness, "{case}: {error}");
        let text = format!("A(B) is {value}, the only candidate gives {candidate}: ");
        assert!(error.to_string().contains(&text), "{case}: {error}");
    }
}

#[test]
fn edges_of_the_domain() {
    for (a, b, expected) in [
        ("4:1", "1:7", "1:0"),
        ("1:0", "4:1", "4:0"),
        ("1:5", "4:1", "4:5"),
        ("(4,0):(1,4)", "(0,3):(1,2)", "(0,3):(0,0)"),
        ("8:2 + 3", "4:1 + 2", "4:2 + 7"),
        ("(4,6):(2,3)", "4:-1 + 3", "4:-2 + 6"),
        ("8:3", "():()", "():()"),
        ("():()", "(2,3):(0,0)", "(2,3):(0,0)"),
        ("Sw<1,0,2> o 16:1", "(4,4):(4,1)", "Sw<1,0,2> o (4,4):(4,1)"),
        ("16:1", "Sw<1,0,2> o 8:1", "Sw<1,0,2> o 8:1"),
    ] {
        let result = parse(a).composition(&parse(b)).unwrap();
        assert_eq!(result, parse(expected), "{a} o {b} = {result}");
    }
    let fails = |a: &str, b: &str| parse(a).composition(&parse(b)).unwrap_err();
    let below = fails("8:1", "(4,2):(-1,1)");
    assert!(below.is_out_of_range() && below.witness().unwrap().as_slice() == [3, 0], "{below}");
    assert!(fails("(4,0):(1,4)", "2:1").is_out_of_range());
    assert!(fails("():()", "2:1").is_out_of_range());
    assert!(fails("Sw<1,0,1> o 4:-1+3", "Sw<1,0,2> o 8:1").is_out_of_range());
    assert!(fails("2:4000000000000000000", "4:1").is_overflow());
    assert!(fails("(2,2):(1,9000000000000000000)", "4:3000000000000000000").is_overflow());
    // The swizzle sees no negative offset.
    assert!(fails("Sw<1,0,2> o 3 o 4:-1", "8:1").is_out_of_range());
}

#[test]
fn what_takes_too_many_modes_is_a_limit() {
    // Every pair of binary digits swapped: no two neighbours chain.
    let modes: Vec<Mode> = (0..32).map(|i: u32| Mode::new(2, 1 << (i ^ 1))).collect();
    let a = Layout::flat(&modes).unwrap();
    assert_eq!(a.composition(&parse("4294967296:1")).unwrap().modes().len(), 32);
    let error = a.composition(&parse("(1,4294967296):(0,1)")).unwrap_err();
    assert!(error.is_limit(), "{error}");
}

#[test]
fn beyond_the_budget_is_undecided() {
    // From 900,000 past 1,000,003 both boundaries are always crossed together, and cancel.
    let a = parse("(1000003,2,2):(0,1,1)");
    let far = parse("(100,100,100):(1,100,10000) + 1900003");
    let error = a.composition(&far).unwrap_err();
    assert!(error.is_undecided(), "{error}");
    assert!(error.to_string().contains("1000000 coordinates or 2000006 residues"), "{error}");
    // Fewer coordinates, or fewer residues in the common divisor of the steps, are enumerated.
    let part = parse("(100,100):(100,10000) + 1900003");
    assert_eq!(a.composition(&part).unwrap(), parse("(100,100):(0,0) + 1"));
    let coarse = parse("(1000000,2,2):(0,1,1)");
    let round = parse("(50,50,50):(200,200,10000) + 1900000");
    assert_eq!(coarse.composition(&round).unwrap(), parse("(50,50,50):(0,0,0) + 1"));
}

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/../../corpus/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn offsets(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect()
}

fn image(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect()
}

#[test]
fn the_recorded_compositions() {
    let (mut seen, mut exist, mut cancel) = (0, 0, 0);
    let (mut counts, mut brute) = (Counts::default(), Brute::default());
    for line in lines("composition.jsonl") {
        let (a, b) = (line["A"].as_str().unwrap(), line["B"].as_str().unwrap());
        let result = parse(a).composition(&parse(b));
        seen += 1;
        counts.judge(&mut brute, &parse(a), &parse(b));
        if line["exists"].as_bool().unwrap() {
            exist += 1;
            cancel += usize::from(line["carries_cancel"].as_bool().unwrap());
            assert_eq!(image(&result.unwrap()), offsets(&line["offsets"]), "{a} o {b}");
        } else {
            assert!(result.unwrap_err().is_no_layout(), "{a} o {b}");
        }
    }
    assert_eq!((seen, exist, cancel), (900, 630, 360));
    // Every answer has the only possible modes, and every refusal a true witness.
    assert_eq!((counts.accepted, counts.refused), (630, 270));
    assert_eq!((counts.wrong, counts.needless, counts.undecided), (0, 0, 0));
}

#[test]
fn tilers_by_mode() {
    let a = parse("(12,(4,8)):(59,(13,1))");
    let (three, eight) = (parse("3:4"), parse("8:2"));
    let by_layouts = a.composition_tiler(&[Tiler::Layout(&three), Tiler::Layout(&eight)]).unwrap();
    assert_eq!(by_layouts.to_string(), "(3,(2,4)):(236,(26,1))", "C22");
    let by_shape = a.composition_tiler(&[Tiler::Extent(3), Tiler::Extent(8)]).unwrap();
    assert_eq!(by_shape.to_string(), "(3,(4,2)):(59,(13,1))", "C23");
    assert_eq!(a.composition_tiler(&[]).unwrap(), a);
    assert_eq!(a.composition_tiler(&[Tiler::Keep, Tiler::Keep]).unwrap(), a);
    let moved = parse("3:1 + 2");
    let tiled =
        parse("Sw<2,0,4> o 5 o (8,4):(4,1)").composition_tiler(&[Tiler::Layout(&moved)]).unwrap();
    assert_eq!(tiled, parse("Sw<2,0,4> o 13 o (3,4):(4,1)"));
    assert!(a.composition_tiler(&[Tiler::Keep; 3]).unwrap_err().is_mismatch());
    assert!(a.composition_tiler(&[Tiler::Extent(u64::MAX)]).unwrap_err().is_overflow());
    assert!(a.composition_tiler(&[Tiler::Keep, Tiler::Extent(7)]).unwrap_err().is_no_layout());
}

#[test]
fn compositions_in_constants() {
    const A: Layout = Layout::parse_const("(4,6):(2,3)");
    const R: Result<Layout, tilewright_core::Error> = A.composition(&Layout::parse_const("4:6"));
    assert_eq!(R.unwrap().to_string(), "(2,2):(7,9)");
}

/// Extreme numbers.
fn wild() -> impl Strategy<Value = Layout> {
    let extent =
        prop_oneof![6 => 0u64..8, 1 => any::<u64>(), 2 => (0u32..63).prop_map(|bit| 1 << bit)];
    let stride = prop_oneof![5 => -40i64..200, 2 => any::<i64>(), 2 => (0u32..63).prop_map(|bit| 1 << bit), 1 => Just(i64::MIN)];
    let modes = prop::collection::vec((extent, stride), 0..8);
    let swizzle = (0u8..3, 0u8..6, -4i8..5);
    (modes, prop_oneof![3 => 0i64..100, 1 => any::<i64>()], swizzle).prop_map(
        |(mut modes, offset, (bits, base, shift))| {
            let swizzle = Swizzle::new(bits, base, shift).unwrap_or_default();
            loop {
                let list: Vec<Mode> = modes.iter().map(|&(e, d)| Mode::new(e, d)).collect();
                let profile = Profile::flat(list.len()).unwrap();
                for (offset, swizzle) in [(offset, swizzle), (offset, Swizzle::IDENTITY)] {
                    if let Ok(layout) = Layout::new(&list, &profile, offset, swizzle) {
                        return layout;
                    }
                }
                if modes.pop().is_none() {
                    return Layout::flat(&[]).unwrap();
                }
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tilewright_testing::cases(20_000, 5_000)))]

    #[test]
    fn no_layout_makes_it_panic(a in wild(), b in wild(), at in prop::collection::vec(any::<u64>(), 4)) {
        if let Ok(result) = a.composition(&b) {
            prop_assert_eq!(result.size(), b.size());
            // Spot checks, where neither side exceeds 64 bits.
            for index in at {
                if b.size() > 0 && b.offset_of(index % b.size()).unwrap() < a.size() as i64 {
                    let index = index % b.size();
                    let x = b.offset_of(index).unwrap() as u64;
                    prop_assert_eq!(result.offset_of(index), a.offset_of(x));
                }
            }
        }
        let _ = a.composition_tiler(&[Tiler::Layout(&b), Tiler::Extent(b.size()), Tiler::Keep]);
        let (plain, extended) = (a.coalesce(), a.coalesce_extended());
        prop_assert_eq!((plain.size(), extended.size()), (a.size(), a.size()));
        let _ = a.coalesce_by(b.profile());
    }
}

#[test]
fn the_extended_value_of_the_definition_is_the_layouts_own_inside_the_domain() {
    let a = parse("(4,6):(2,3) + 7");
    assert!((0..24).all(|x| affine(&a, x) == a.offset_of(x as u64).unwrap()));
}
