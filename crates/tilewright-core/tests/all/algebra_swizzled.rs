//! Compositions and inverses with swizzles against their laws, over all small layouts and swizzles.

use std::collections::BTreeMap;

use crate::algebra_brute::{Brute, affine, layouts};
use tilewright_core::{Layout, Swizzle};

/// The step between the outer layouts that are judged: 1, so all of them, if `TILEWRIGHT_LAWS` is set, as by
/// `cargo xtask oracles laws`.
fn step() -> usize {
    tilewright_testing::cases(1, 127)
}

fn parse(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

/// Returns CuTe's family up to these numbers, without the identity.
fn family(bits: u8, base: u8, shift: i8) -> Vec<Swizzle> {
    let numbers = (1..=bits)
        .flat_map(|b| (0..=base).flat_map(move |m| (-shift..=shift).map(move |s| (b, m, s))));
    numbers.filter_map(|(b, m, s)| Swizzle::new(b, m, s).ok()).collect()
}

/// Returns the map of the coordinates, the first mode varying fastest.
fn table(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect()
}

/// Returns whether the nonzero bases are independent; `None` if the map is not linear over the bits of its index.
fn linear(map: &[i64]) -> Option<bool> {
    if !map.len().is_power_of_two() || map.iter().any(|&x| x < 0) {
        return None;
    }
    let bits = map.len().trailing_zeros() as usize;
    let bases: Vec<i64> = (0..bits).map(|bit| map[1 << bit] ^ map[0]).collect();
    let xor = |c: usize| (0..bits).filter(|bit| c >> bit & 1 == 1).fold(0, |x, bit| x ^ bases[bit]);
    if !(0..map.len()).all(|c| map[c] == map[0] ^ xor(c)) {
        return None;
    }
    let some: usize = (0..bits).filter(|&bit| bases[bit] != 0).map(|bit| 1 << bit).sum();
    Some((1..map.len()).all(|c| c & !some != 0 || xor(c) != 0))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    answered: u32,
    /// The number of these that have no swizzle of the family.
    matrices: u32,
    refused: u32,
}

/// Judges `A ∘ B` by its map: an answer must be right, and a refusal means that no swizzle of `all` has a layout.
fn judge(brute: &mut Brute, all: &[Swizzle], a: &Layout, b: &Layout, counts: &mut Counts) {
    let outer = |x: i64| {
        let value = affine(a, x);
        if a.swizzle().is_identity() { value } else { a.swizzle().apply(value as u64) as i64 }
    };
    let map: Vec<i64> = table(b).into_iter().map(outer).collect();
    let mut under = |swizzle: &Swizzle| {
        brute.table = map.iter().map(|&x| swizzle.apply(x as u64) as i64).collect();
        brute.decide(b)
    };
    match a.composition(b) {
        Ok(answer) => {
            assert_eq!(table(&answer), map, "{a} after {b}: {answer}");
            let sizes = |layout: &Layout| -> Vec<u64> {
                let axis = |i| layout.axis(i).unwrap().iter().map(|mode| mode.extent()).product();
                (0..layout.rank()).map(axis).collect()
            };
            assert_eq!(sizes(&answer), sizes(b), "{a} {b} {answer}");
            counts.answered += 1;
            counts.matrices += u32::from(!answer.swizzle().is_field_xor());
        }
        Err(error) => {
            assert!(error.is_no_layout() && error.witness().is_some(), "{a} {b}: {error}");
            assert!(!under(&Swizzle::IDENTITY), "{a} after {b}");
            if map.iter().all(|&x| x >= 0) {
                let found = all.iter().find(|swizzle| under(swizzle));
                assert!(found.is_none(), "{a} after {b}: {found:?}");
                assert_ne!(linear(&map), Some(true), "{a} after {b}");
            }
            counts.refused += 1;
        }
    }
}

#[test]
fn every_small_composition_that_is_a_layout_under_a_swizzle_is_found() {
    let (mut brute, mut counts) = (Brute::default(), Counts::default());
    let all = family(3, 4, 5);
    let a = [layouts(1, 1..=4, 0..=3), layouts(2, 1..=4, -1..=4)].concat();
    let b = [layouts(1, 1..=8, 0..=3), layouts(2, 2..=4, 0..=4)].concat();
    for (i, swizzle) in family(2, 1, 2).into_iter().enumerate() {
        for a in a.iter().skip(i * 7 % step()).step_by(step()) {
            for b in &b {
                let b = b.with_swizzle(swizzle).unwrap();
                judge(&mut brute, &all, a, &b, &mut counts);
            }
        }
    }
    assert!(counts.answered > 1_000_000 / step() as u32, "{counts:?}");
    assert!(counts.refused > 800_000 / step() as u32, "{counts:?}");
    assert!(counts.matrices > tilewright_testing::cases(1_000, 2), "{counts:?}");
}

#[test]
fn both_swizzled_and_moved() {
    let (mut brute, mut counts) = (Brute::default(), Counts::default());
    let all = family(3, 4, 5);
    let b = [layouts(1, 2..=6, 1..=2), layouts(2, 2..=4, 1..=4)].concat();
    for (outer, inner) in family(1, 1, 2).iter().zip(family(2, 0, 3).iter().rev()) {
        for a in layouts(2, 2..=4, 0..=4).iter().step_by(step()) {
            for (b, offset) in b.iter().zip((0..6).cycle()) {
                let a = a.with_offset(5 - offset).unwrap().with_swizzle(*outer).unwrap();
                let b = b.with_offset(offset).unwrap().with_swizzle(*inner).unwrap();
                judge(&mut brute, &all, &a, &b, &mut counts);
            }
        }
    }
    assert!(counts.answered > 100 && counts.refused > 100, "{counts:?}");
}

#[test]
fn large_compositions() {
    for (a, b, expected) in [
        ("16:2", "Sw<2,0,2> o 16:1", "Sw<2,1,2> o 16:2"),
        ("(4,4):(4,1)", "Sw<1,0,2> o (4,4):(1,4)", "Sw<1,0,-2> o (4,4):(4,1)"),
        (
            "(1024,1024):(1024,1)",
            "Sw<3,3,3> o (4096,256):(1,4096)",
            "Sw<3,13,3> o ((1024,4),256):((1024,1),4)",
        ),
        // 192 is not a power of two, and the swizzle stays within windows of 64.
        ("(192,1000):(1,256)", "Sw<2,0,4> o 192000:1", "Sw<2,0,4> o (192,1000):(1,256)"),
        // The swizzle permutes only offsets that are not reached.
        ("(6,2):(1,7)", "Sw<2,0,4> o 12:1", "(6,2):(1,7)"),
    ] {
        let found = parse(a).composition(&parse(b));
        assert_eq!(found.map(|layout| layout.to_string()), Ok(expected.into()), "{a} {b}");
    }
    let error = parse("(96,1000):(1,97)").composition(&parse("Sw<1,0,6> o 96000:1")).unwrap_err();
    assert!(error.is_undecided(), "{error}");
    // Coordinates (1,1) and (0,0) have one image, and no stride is 0.
    let error = parse("(2,2):(1,0)").composition(&parse("Sw<1,0,1> o (2,2):(1,2)")).unwrap_err();
    assert!(error.to_string().starts_with("at (1,1): A(B) is 0, as at 0"), "{error}");
}

/// Returns the first index at each offset.
fn indices(map: &[i64]) -> BTreeMap<i64, i64> {
    (0..map.len()).rev().map(|i| (map[i], i as i64)).collect()
}

#[test]
fn every_small_left_inverse() {
    let (mut answered, mut linear_ones, mut none) = (0, 0, 0);
    let all = [layouts(1, 1..=8, 0..=7), layouts(2, 1..=4, 0..=8)].concat();
    for swizzle in family(2, 2, 3) {
        for layout in all.iter().step_by(tilewright_testing::cases(1, 17)) {
            let layout = layout.with_swizzle(swizzle).unwrap();
            let map = table(&layout);
            let apart = layout.modes().iter().filter(|mode| mode.stride() != 0);
            let apart: u64 = apart.map(|mode| mode.extent()).product();
            let injective = indices(&map).len() as u64 == apart;
            match layout.left_inverse() {
                Ok(inverse) => {
                    assert!(injective, "{layout}");
                    for (offset, index) in indices(&map) {
                        assert_eq!(
                            inverse.offset_of(offset as u64),
                            Ok(index),
                            "{layout} {inverse}"
                        );
                    }
                    answered += 1;
                }
                Err(error) => {
                    assert_eq!(error.is_illegal(), !injective, "{layout} {error}");
                    assert_ne!(linear(&map), Some(true), "{layout}");
                    assert!(!injective || error.is_unsupported() || error.is_undecided());
                    none += u32::from(injective);
                }
            }
            linear_ones += u32::from(linear(&map) == Some(true));
        }
    }
    let step = tilewright_testing::cases(1, 3);
    assert!(answered > 4_000 / step && linear_ones > 1_800 / step, "{answered} {linear_ones}");
    assert!(none < answered / 7, "{none} {answered}");
}

/// The first strides that the search finds have indices below 0 at holes, which a swizzle refuses.
#[test]
fn left_inverses_under_a_swizzle_are_never_negative() {
    let layout = parse("Sw<1,0,1> o (4,8):(24,1)");
    let inverse = layout.left_inverse().unwrap();
    assert_eq!(inverse.bounds().unwrap().0, 0);
    for (offset, index) in indices(&table(&layout)) {
        assert_eq!(inverse.offset_of(offset as u64), Ok(index), "{inverse}");
    }
}

#[test]
fn every_small_right_inverse() {
    let (mut whole, mut shorter) = (0, 0);
    let all = [layouts(1, 1..=8, 0..=7), layouts(2, 1..=4, 0..=8)].concat();
    for swizzle in family(2, 2, 3) {
        for layout in all.iter().step_by(tilewright_testing::cases(1, 3)) {
            let layout = layout.with_swizzle(swizzle).unwrap();
            let (map, inverse) = (table(&layout), layout.right_inverse().unwrap());
            for i in 0..inverse.size() {
                let index = inverse.offset_of(i).unwrap();
                assert_eq!(map.get(index as usize), Some(&(i as i64)), "{layout} {inverse}");
            }
            let run = (0..).take_while(|offset| map.contains(offset)).count() as u64;
            assert!(inverse.size() == run || linear(&map).is_none(), "{layout} {inverse}");
            *(if inverse.size() == run { &mut whole } else { &mut shorter }) += 1;
        }
    }
    assert_eq!((whole, shorter), tilewright_testing::cases((39_288, 1_512), (13_138, 482)));
}

#[test]
fn common_vectors_under_swizzles_begin_at_every_multiple() {
    for swizzle in family(2, 2, 3) {
        for (a, b) in [("32:1", "32:1"), ("(4,8):(1,4)", "(4,8):(1,8)"), ("(8,4):(4,1)", "32:1")] {
            let (a, b) = (parse(a), parse(b));
            let plain = a.max_common_vector(&b).unwrap();
            let swizzled = a.with_swizzle(swizzle).unwrap();
            let common = swizzled.max_common_vector(&b).unwrap();
            assert_eq!(common, plain.min(swizzle.atom()));
            assert_eq!(b.max_common_vector(&swizzled), Ok(common));
            let both = b.with_swizzle(swizzle).unwrap();
            assert_eq!(swizzled.max_common_vector(&both), Ok(plain));
            let vector = swizzled.max_common_layout(&b).unwrap();
            assert_eq!(vector.size(), common);
        }
    }
}
