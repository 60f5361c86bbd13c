//! Transposes of odd pitches by the realigned transpose, on the host.

use crate::host::dice::Dice;
use crate::host::{Case, check, check_some};
use tilewright_core::{Layout, TensorLayout};
use tilewright_device::Way;
use tilewright_relayout::{Elements, Program};

fn of(extents: &[u64], text: &str) -> TensorLayout {
    let layout = Layout::parse(text).unwrap();
    TensorLayout::new(extents, &layout, layout.cosize() as u64).unwrap()
}

/// Returns a transpose of `m` by `n` elements, whose rows are `src` and `dst` elements apart, and which does not write
/// other bytes.
fn transpose(m: u64, n: u64, src: u64, dst: u64, bits: u32) -> Program {
    let from = of(&[m, n], &format!("({m},{n}):({src},1)"));
    let to = of(&[m, n], &format!("({m},{n}):(1,{dst})"));
    Program::of_part((&from, &[0, 0]), (&to, &[0, 0]), &[m, n], Elements::same(bits)).unwrap()
}

/// All pitches up to 40, or up to one more than a vector.
#[test]
fn all_pitches_of_bytes() {
    let (mut cases, most) = (Vec::new(), tilewright_testing::cases(40, 17));
    for src in 2..=most {
        for dst in 2..=most {
            let at = ((src * 7 + dst * 3) % 16, (src * 5 + dst * 11) % 16);
            let case = Case::new(format!("{src} to {dst}"), transpose(dst, src, src, dst, 8));
            cases.push(case.at(at.0 as u8, at.1 as u8).by(Way::Realigned));
        }
    }
    check(&cases);
}

/// All alignments of arrays of three sizes, or of the smallest and some of the others.
#[test]
fn all_alignments_of_bytes() {
    let mut cases = Vec::new();
    for (m, n, step) in [(17, 19, 1), (300, 33, 5), (40, 200, 7)] {
        for src in 0..16 {
            let step = tilewright_testing::cases(1, step);
            for dst in (src % step..16).step_by(step.into()) {
                let case =
                    Case::new(format!("{m} by {n} at {src}, {dst}"), transpose(m, n, n, m, 8));
                cases.push(case.at(src, dst).by(Way::Realigned));
            }
        }
    }
    check(&cases);
}

#[test]
fn any_element_pitch_and_alignment() {
    let mut cases = Vec::new();
    for bits in [8, 16, 32, 64, 128] {
        for (m, n) in [(97, 131), (301, 205), (260, 517), (5, 400), (400, 5)] {
            for more in 0..3 {
                let case = |at: u8| {
                    let program = transpose(m, n, n + more, m + 2 * more, bits);
                    let name = format!("{m} by {n}, {more} more, {bits} bits at {at}");
                    Case::new(name, program).at(at, at / 2 * 3 % 16).by(Way::Realigned)
                };
                cases.extend([0, 1, 2, 4, 6, 8, 12].map(case));
            }
        }
    }
    check_some(cases);
}

/// Arrays of more than 64 tiles along a row of the destination: their blocks walk in strips.
#[test]
fn strips_of_long_rows() {
    let sizes = [(4100, 70), (3000, 130), (1921, 200)];
    let cases = sizes.into_iter().take(tilewright_testing::cases(3, 1)).map(|(m, n)| {
        Case::new(format!("{m} by {n}"), transpose(m, n, n + 1, m + 1, 64)).by(Way::Realigned)
    });
    for plan in check(&cases.collect::<Vec<_>>()) {
        assert!(plan.kernels()[0].text().contains("Strips of 64 tiles"));
    }
}

#[test]
fn loops_around_and_rows_in_any_order() {
    let mut cases = Vec::new();
    for bits in [8, 16, 32, 64] {
        let mut add = |extents: &[u64], src: &str, dst: &str| {
            let program =
                Program::new(&of(extents, src), &of(extents, dst), Elements::same(bits), 0)
                    .unwrap();
            let name = format!("{src} to {dst}, {bits} bits");
            cases.push(Case::new(name, program).at(bits as u8 / 8, 0).by(Way::Realigned));
        };
        add(&[3, 5, 101, 67], "(3,5,101,67):(33835,6767,67,1)", "(3,5,101,67):(33835,6767,1,101)");
        add(&[101, 3, 67, 5], "(101,3,67,5):(201,67,1,20301)", "(101,3,67,5):(1,33835,101,6767)");
        add(&[101, 67], "(101,67):(-67,1)+6700", "(101,67):(1,101)");
        add(&[101, 67], "(101,67):(0,1)", "(101,67):(1,101)");
        add(&[101, 67], "(101,67):(3,1)", "(101,67):(1,101)");
        add(&[4, 101, 67], "(4,101,67):(-6767,67,1)+20301", "(4,101,67):(6767,1,101)");
    }
    check(&cases);
}

#[test]
fn random_transposes() {
    let mut dice = Dice::new(20);
    let mut cases = Vec::new();
    for i in 0..300 {
        let bits = [8, 16, 32, 64, 128][dice.below(4 + 1) as usize];
        let (m, n) = (1 + dice.below(350), 1 + dice.below(350));
        let program = transpose(m, n, n + dice.below(41), m + dice.below(41), bits);
        if program.regions().is_none_or(|regions| regions.len() != 1) || m < 2 || n < 2 {
            continue;
        }
        let at = (dice.below(16) as u8, dice.below(16) as u8);
        cases.push(
            Case::new(format!("{i}: {m} by {n} of {bits} bits at {at:?}"), program)
                .at(at.0, at.1)
                .by(Way::Realigned),
        );
    }
    check_some(cases);
}

#[test]
fn long_rows_are_realigned() {
    let program = transpose(1003, 771, 771, 1003, 16);
    let plans = check(&[Case::new("1003 by 771", program)]);
    assert_eq!(plans[0].kernels()[0].way(), Way::Realigned);
}
