//! Random pairs of layouts, of every width, with gaps, tables and parts, at any alignment: 200 of them, or
//! `TILEWRIGHT_PAIRS`, from the seed `TILEWRIGHT_SEED`.

use tilewright_bench::random;
use tilewright_device::Alignment;
use tilewright_relayout::Program;

use crate::host::batch::{Batch, has_no_findings};
use crate::host::dice::Dice;

/// The number of pairs that are compiled together.
const TOGETHER: u64 = 200;

/// The most bytes that a pair reads and writes.
const MOST_BYTES: u64 = 1 << 16;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Returns pair `index` of a seed; every other one resembles layouts in use.
fn pair(seed: u64, index: u64) -> (Program, Alignment) {
    let mut dice = Dice::new(seed << 32 | index);
    let (program, width) = if index.is_multiple_of(2) {
        let case = random(seed, index, MOST_BYTES).unwrap();
        let program = Program::new(case.src(), case.dst(), case.elements(), case.fill()).unwrap();
        (program, u64::from(case.elements().src_bits) / 8)
    } else {
        (dice.program(), 1)
    };
    // Whole allocations, multiples of the width, and any bytes.
    let step = dice.one(&[16, width, width, 1]);
    let mut bytes = || (dice.below(16) * step % 16) as u8;
    let at = Alignment::new(bytes(), bytes()).unwrap();
    (program, at)
}

#[test]
fn random_pairs_are_exact() {
    let (seed, pairs) = (
        number("TILEWRIGHT_SEED", 1),
        number("TILEWRIGHT_PAIRS", tilewright_testing::cases(200, 40) as u64),
    );
    for from in (0..pairs).step_by(TOGETHER as usize) {
        let mut batch = Batch::default();
        for index in from..(from + TOGETHER).min(pairs) {
            let (program, at) = pair(seed, index);
            let _ = batch.add(&format!("pair {seed}:{index}"), &program, at);
        }
        println!("{} of {pairs} pairs, {} texts", from, batch.texts().len());
        let Some(done) = batch.run() else { return };
        has_no_findings(&batch, &done);
    }
}
