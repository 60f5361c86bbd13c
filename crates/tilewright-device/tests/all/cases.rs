//! The cases of the benchmark in their small sizes: exact, every byte of the destination written once, and no more
//! sectors and bank cycles than the laws allow.

use tilewright_bench::{Case, Definition, Size, definitions};
use tilewright_device::{Alignment, Way};
use tilewright_relayout::{Elements, Program};

use crate::host::{
    batch::{Batch, Done, has_no_findings},
    report::Count,
};

fn program(case: &Case) -> Program {
    Program::new(case.src(), case.dst(), case.elements(), case.fill()).unwrap()
}

fn plan_name(name: &str, size: Size) -> String {
    format!("{name}/{size}")
}

/// Returns the cases of a size, between arrays with alignments by the number of the case.
fn batch(size: Size, at: impl Fn(usize) -> Alignment) -> Batch {
    let mut batch = Batch::default();
    for (number, definition) in definitions().unwrap().iter().enumerate() {
        let case = definition.case(size).unwrap();
        let (program, at) = (program(&case), at(number));
        let _ = batch.add(&plan_name(definition.name(), size), &program, at);
    }
    batch
}

/// Returns whether rows of both sides begin at multiples of a sector of 32 bytes, so that none is touched twice.
fn is_aligned(case: &Case) -> bool {
    let Elements { src_bits, dst_bits, .. } = case.elements();
    let program = program(case);
    let Some(regions) = program.regions() else { return false };
    regions.iter().all(|region| {
        let bits = |bits: u32| if region.packed { i64::from(bits) } else { 8 };
        let whole = |at: i64, bits: i64| at * bits % 256 == 0;
        let (src, dst) = (bits(src_bits), bits(dst_bits));
        let begins = whole(region.src, src) && whole(region.dst, dst);
        let steps = |step: i64, bits: i64| step >= 0 && (step * bits < 256 || whole(step, bits));
        begins && region.loops.iter().all(|turn| steps(turn.src, src) && steps(turn.dst, dst))
    })
}

/// Cases whose source elements are two words apart, in chunks that are copied completely: their words are in every
/// other bank, so 32 different ones take two cycles, wherever chunks are.
const HALF_OF_BANKS: [&str; 2] = ["strided-to-row-f32", "strided-to-col-f32"];

/// A case above the law, with the bank cycles of its reads. The gather's choices of pitch, swizzle, order and lanes do
/// not improve it; it is not proved that no other position is better.
const MISSED: (&str, f64) = ("order-520413-f32", 1.40);

fn is_missed(done: &Done) -> bool {
    done.answer.plan == plan_name(MISSED.0, Size::L2)
}

fn has_half_of_banks(done: &Done) -> bool {
    HALF_OF_BANKS.iter().any(|name| done.answer.plan == plan_name(name, Size::L2))
}

/// Returns whether all extents of a case's loops are powers of two.
fn is_power_of_two(case: &Case) -> bool {
    let program = program(case);
    program.regions().is_some_and(|regions| {
        regions.iter().all(|region| {
            let mut iterations = region.loops.iter().map(|turn| turn.extent).chain([region.run]);
            iterations.all(u64::is_power_of_two)
        })
    })
}

/// Returns those that are above the bound.
fn above(done: &[&Done], most: f64, of: fn(&Done) -> Vec<(&'static str, Count)>) -> Vec<String> {
    let counts = done.iter().flat_map(|done| of(done).into_iter().map(move |count| (done, count)));
    let above = counts.filter(|(_, (_, count))| count.ratio() > most);
    above
        .map(|(done, (what, count))| {
            format!("{} {what} {:.3} {:?}", done.answer.plan, count.ratio(), done.ways)
        })
        .collect()
}

fn sectors(done: &Done) -> Vec<(&'static str, Count)> {
    vec![("load", done.answer.load), ("store", done.answer.store)]
}

fn iterations(done: &Done) -> Vec<(&'static str, Count)> {
    vec![("read", done.answer.read), ("write", done.answer.write)]
}

#[test]
fn small_cases_are_exact() {
    let batch = batch(Size::Small, |_| Alignment::default());
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}

/// Views may begin at any byte.
#[test]
fn small_cases_are_exact_at_any_byte() {
    let at = |number: usize| {
        Alignment::new((number * 7 % 16) as u8, (number * 11 / 3 % 16) as u8).unwrap()
    };
    let batch = batch(Size::Small, at);
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}

#[test]
fn cases_of_the_cache_are_exact_and_waste_no_traffic() {
    let batch = batch(Size::L2, |_| Alignment::default());
    let Some(done) = batch.run() else { return };
    for Done { answer, ways, .. } in &done {
        let ratios = [answer.load, answer.store, answer.read, answer.write].map(|one| one.ratio());
        println!("{ratios:.3?} {ways:?} {}", answer.plan);
    }
    has_no_findings(&batch, &done);
    let cases = definitions().unwrap();
    let case = |done: &Done| {
        let named = |one: &&Definition| done.answer.plan == plan_name(one.name(), Size::L2);
        cases.iter().find(named).unwrap().case(Size::L2).unwrap()
    };
    let all: Vec<&Done> = done.iter().collect();
    let (aligned, other): (Vec<&Done>, Vec<&Done>) =
        all.iter().partition(|done| is_aligned(&case(done)));
    let (halves, banked): (Vec<&Done>, Vec<&Done>) =
        all.iter().partition(|done| has_half_of_banks(done));
    let (missed, banked): (Vec<&Done>, Vec<&Done>) =
        banked.iter().partition(|done| is_missed(done));
    let (even, odd): (Vec<&Done>, Vec<&Done>) = banked
        .iter()
        .partition(|done| done.ways == [Way::Transpose] || is_power_of_two(&case(done)));
    println!(
        "sectors: {} aligned, {} others; banks: {} of powers of two, {} others, {} of half of them",
        aligned.len(),
        other.len(),
        even.len(),
        odd.len(),
        halves.len()
    );
    let wrong = [
        above(&aligned, 1.01, sectors),
        above(&other, 1.30, sectors),
        above(&even, 1.0, iterations),
        above(&odd, 1.35, iterations),
        above(&halves, 2.0, iterations),
        above(&missed, MISSED.1, iterations),
    ];
    assert!(wrong.iter().all(Vec::is_empty), "{wrong:#?}");
    assert!(aligned.len() >= 30 && even.len() >= 10, "the laws bind too few");
}
