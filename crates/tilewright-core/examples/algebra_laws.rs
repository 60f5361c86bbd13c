//! Checks the laws of the algebra at full size by enumeration: every layout of up to 3 modes, every pair of layouts of
//! up to 2 modes each, and a million random deeper ones. Prints the tables of `docs/explanation/comparison.md`. Fails if an
//! answer is wrong, a refusal is needless, or a question is undecided.
//!
//! ```text
//! cargo run --release --example algebra_laws
//! ```

#[path = "../tests/all/algebra_brute/mod.rs"]
mod algebra_brute;
#[path = "../tests/all/algebra_counts/mod.rs"]
mod algebra_counts;
#[path = "../tests/all/algebra_judge/mod.rs"]
mod algebra_judge;

use std::thread;

use algebra_brute::{Brute, layouts};
use algebra_counts::Counts;
use algebra_judge::{Facts, Pairs, Report, one};
use tilewright_core::{Layout, Mode};

/// The number of threads that share a list.
const THREADS: usize = 2;

fn main() {
    let two = [layouts(1, 1..=4, 0..=12), layouts(2, 1..=4, 0..=12)].concat();
    let three = [&two[..], &layouts(3, 1..=4, 0..=12)].concat();
    println!("one layout: all of up to 3 modes, extents 1 to 4, strides 0 to 12\n");
    print(&shared(|part| singles(three.iter().skip(part).step_by(THREADS).cloned())));
    println!("one layout: random, 3 to 5 modes, nested, either sign\n");
    print(&shared(|part| singles(deep(part as u64))));
    println!("two layouts: all pairs of up to 2 modes each, extents 1 to 4, strides 0 to 12\n");
    let facts: Vec<Facts> = two.iter().map(Facts::of).collect();
    print(&shared(|part| all_pairs(facts.iter().skip(part).step_by(THREADS), &facts)));
    println!("two layouts: random, 2 to 4 modes each, nested\n");
    print(&shared(|part| deep_pairs(part as u64)));
    compositions(&two);
}

/// Adds up the reports of all parts.
fn shared(part: impl Fn(usize) -> Report + Sync) -> Report {
    let mut all = Report::default();
    thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..THREADS).map(|i| scope.spawn(move || part(i))).collect();
        for part in parts {
            all.add(part.join().expect("no part panics"));
        }
    });
    all
}

fn print(report: &Report) {
    println!("{report}");
    assert!(report.clean());
}

fn singles(layouts: impl Iterator<Item = Layout>) -> Report {
    let mut report = Report::default();
    layouts.for_each(|layout| one(&mut report, &layout));
    report
}

fn all_pairs<'a>(a: impl Iterator<Item = &'a Facts>, b: &[Facts]) -> Report {
    let (mut report, mut pairs) = (Report::default(), Pairs::default());
    for a in a {
        b.iter().for_each(|b| pairs.judge(&mut report, a, b));
    }
    report
}

/// The number of random layouts in each part.
const RANDOM: u64 = 1_000_000 / THREADS as u64;

fn deep(seed: u64) -> impl Iterator<Item = Layout> {
    let mut random = Random(7 + seed);
    (0..RANDOM).map(move |i| random.a(4, i % 3 == 0))
}

fn deep_pairs(seed: u64) -> Report {
    let (mut report, mut pairs) = (Report::default(), Pairs::default());
    let mut random = Random(7 + seed);
    for i in 0..RANDOM {
        let [a, b] = [0, 1].map(|_| Facts::of(&random.upward(i % 3 == 0)));
        pairs.judge(&mut report, &a, &b);
    }
    report
}

fn compositions(two: &[Layout]) {
    println!("composition\n");
    println!("| pairs | cases | answered | refused | wrong | needlessly refused | undecided |");
    println!("|---|---|---|---|---|---|---|");
    report("A to 2 modes, B to 2 modes", &all(two, two));
    let three = layouts(3, 2..=4, -2..=6);
    let b = layouts(2, 1..=4, 0..=12);
    report("A of 3 modes, B of 2 modes", &all(&three, &b));
    report("offsets, negative strides", &signed());
    report("random, deeper", &random(1_000_000));
}

fn report(what: &str, counts: &Counts) {
    let Counts { pairs, accepted, refused, wrong, needless, undecided } = counts;
    println!("| {what} | {pairs} | {accepted} | {refused} | {wrong} | {needless} | {undecided} |");
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

/// Moves B so that its smallest offset is 0, 1, 2 or 7.
fn lifted(b: &Layout) -> impl Iterator<Item = Layout> + '_ {
    let low = b.bounds().map_or(0, |(low, _)| low);
    [0, 1, 2, 7].into_iter().map(move |more| b.with_offset(b.offset() - low + more).unwrap())
}

/// A with three modes and an offset; B with two modes of either sign, moved to several offsets.
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

/// A small linear congruential generator: it produces the same pairs on every machine.
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

    /// Returns a nested layout of these modes in one or two axes.
    fn layout(&mut self, modes: &[Mode]) -> Layout {
        let cut = self.below(modes.len() as u64) as usize;
        let counts = if cut == 0 { vec![modes.len()] } else { vec![cut, modes.len() - cut] };
        Layout::nested(modes, &counts).unwrap()
    }

    /// Returns three to five modes of extents up to `most`. With `small`, each stride is close to the one that would
    /// continue the mode before.
    fn a(&mut self, most: i64, small: bool) -> Layout {
        let (mut modes, mut chain) = (Vec::new(), self.between(-2, 3));
        for _ in 0..self.between(3, 5) {
            let extent = self.between(1, most);
            let stride = if small { chain + self.between(-2, 2) } else { self.between(-9, 40) };
            modes.push(Mode::new(extent as u64, stride));
            chain = stride * extent;
        }
        self.layout(&modes)
    }

    /// Returns two to four modes with strides of 0 or more; `small` as in `a`.
    fn upward(&mut self, small: bool) -> Layout {
        let (mut modes, mut chain) = (Vec::new(), self.between(0, 3));
        for _ in 0..self.between(2, 4) {
            let extent = self.between(1, 4);
            let near = (chain + self.between(-1, 1)).max(0);
            let stride = if small { near } else { self.between(0, 24) };
            modes.push(Mode::new(extent as u64, stride));
            chain = stride * extent;
        }
        self.layout(&modes)
    }

    /// Returns one to four modes with at most 256 coordinates; a quarter of the layouts has negative strides.
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
        let (a, b) = (random.a(5, i % 3 == 0), random.b());
        counts.judge(&mut brute, &a, &b);
    }
    counts
}
