//! The laws of composition at full size, judged by enumeration.
//!
//! ```text
//! cargo run --release --example algebra_laws
//! ```

#[path = "../tests/algebra_brute/mod.rs"]
mod algebra_brute;

use algebra_brute::{Brute, Counts, layouts};
use tilewright_core::{Layout, Mode};

fn main() {
    println!("composition: pairs / accepted / refused / wrong / needlessly refused / undecided");
    let two = [layouts(1, 1..=4, 0..=12), layouts(2, 1..=4, 0..=12)].concat();
    report("A to 2 modes, B to 2 modes", &all(&two, &two));
    let three = layouts(3, 2..=4, -2..=6);
    let b = layouts(2, 1..=4, 0..=12);
    report("A of 3 modes, B of 2 modes", &all(&three, &b));
    report("offsets, negative strides", &signed());
    report("random, deeper", &random(1_000_000));
    println!();
}

fn report(what: &str, counts: &Counts) {
    let Counts { pairs, accepted, refused, wrong, needless, undecided } = counts;
    println!("{what:28} {pairs} / {accepted} / {refused} / {wrong} / {needless} / {undecided}");
    assert_eq!((*wrong, *needless, *undecided), (0, 0, 0));
}

fn all(a: &[Layout], b: &[Layout]) -> Counts {
    let (mut counts, mut brute) = (Counts::default(), Brute::default());
    for a in a {
        for b in b {
            counts.judge(&mut brute, a, b);
        }
    }
    counts
}

/// B lifted to 0, and to three places further on.
fn lifted(b: &Layout) -> impl Iterator<Item = Layout> + '_ {
    let low = b.bounds().map_or(0, |(low, _)| low);
    [0, 1, 2, 7].into_iter().map(move |more| b.with_offset(b.offset() - low + more).unwrap())
}

/// A of three modes with an offset, B of two modes of either sign from several places.
fn signed() -> Counts {
    let (mut counts, mut brute) = (Counts::default(), Brute::default());
    let a = layouts(3, 2..=3, -2..=3);
    for b in layouts(2, 2..=4, -7..=7) {
        for b in lifted(&b) {
            for a in &a {
                counts.judge(&mut brute, &a.with_offset(5).unwrap(), &b);
            }
        }
    }
    counts
}

/// A small linear congruential generator: the same pairs on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// A nested layout of `modes` modes in two axes or one.
    fn layout(&mut self, modes: &[Mode]) -> Layout {
        let cut = self.below(modes.len() as u64) as usize;
        let counts = if cut == 0 { vec![modes.len()] } else { vec![cut, modes.len() - cut] };
        Layout::nested(modes, &counts).unwrap()
    }

    /// Three to five modes; with small jumps, each stride is the next of the chain or nearly so.
    fn a(&mut self, small: bool) -> Layout {
        let (mut modes, mut chain) = (Vec::new(), self.between(-2, 3));
        for _ in 0..self.between(3, 5) {
            let extent = self.between(1, 5);
            let stride = if small { chain + self.between(-2, 2) } else { self.between(-9, 40) };
            modes.push(Mode::new(extent as u64, stride));
            chain = stride * extent;
        }
        self.layout(&modes)
    }

    /// One to four modes, at most 256 coordinates, a quarter with negative strides.
    fn b(&mut self) -> Layout {
        let negative = self.below(4) == 0;
        let count = self.between(1, 4);
        let modes: Vec<Mode> = (0..count)
            .map(|_| {
                let stride = self.between(if negative { -40 } else { 0 }, 120);
                Mode::new(self.between(1, 4) as u64, stride)
            })
            .collect();
        let layout = self.layout(&modes);
        let low = layout.bounds().map_or(0, |(low, _)| low);
        let more = if self.below(2) == 0 { 0 } else { self.between(0, 90) };
        layout.with_offset(more - low).unwrap()
    }
}

fn random(pairs: u64) -> Counts {
    let (mut counts, mut brute, mut random) = (Counts::default(), Brute::default(), Random(7));
    for i in 0..pairs {
        let (a, b) = (random.a(i % 3 == 0), random.b());
        counts.judge(&mut brute, &a, &b);
    }
    counts
}
