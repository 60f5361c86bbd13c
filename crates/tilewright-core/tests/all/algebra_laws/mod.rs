//! The laws of the algebra's operations by enumeration, over the small layouts that fit the time of a test (the example
//! `algebra_laws` takes them all), and over the recorded operations.

mod vectors;

use crate::algebra_brute::layouts;
use crate::algebra_judge::{Facts, Pairs, Report, one};

/// Asserts that nothing is wrong, needlessly refused or undecided, and that these operations both answer and refuse.
fn judged(report: &Report, both: &[&str]) {
    assert!(report.clean(), "\n{report}");
    for operation in both {
        let tally = &report.0[operation];
        assert!(tally.answered > 99 && tally.refused > 99, "{operation}\n{report}");
    }
}

#[test]
fn every_small_layout() {
    let small = [layouts(1, 1..=4, 0..=12), layouts(2, 1..=4, 0..=12), layouts(3, 2..=3, 0..=5)];
    let mut report = Report::default();
    small.concat().iter().for_each(|layout| one(&mut report, layout));
    judged(&report, &["complement(L)", "complement(L, n)", "left_inverse", "exact_cover"]);
    judged(&report, &["upcast", "downcast", "recast"]);
    assert_eq!(report.0["coalesce"].cases, 52 + 2704 + 1728);
}

#[test]
fn small_layouts_of_either_sign() {
    let mut report = Report::default();
    for layout in layouts(2, 1..=4, -6..=6) {
        for offset in [0, 1, 12] {
            one(&mut report, &layout.with_offset(offset).unwrap());
        }
    }
    judged(&report, &["right_inverse", "left_inverse", "complement(L)", "upcast"]);
}

#[test]
fn every_pair_of_small_layouts() {
    let small = [
        layouts(1, 1..=4, 0..=tilewright_testing::cases(8, 6)),
        layouts(2, 1..=3, 0..=tilewright_testing::cases(4, 3)),
    ]
    .concat();
    let facts: Vec<Facts> = small.iter().map(Facts::of).collect();
    let (mut report, mut pairs) = (Report::default(), Pairs::default());
    for a in &facts {
        let mut of_a = Report::default();
        facts.iter().for_each(|b| pairs.judge(&mut of_a, a, b));
        report.add(of_a);
    }
    judged(&report, &["logical_divide", "flat_divide by mode", "logical_product", "raked_product"]);
    judged(&report, &["tile_to_shape", "first_difference", "same_function of indices"]);
}
