//! The cases of the benchmark in their small sizes: exact, every byte of the destination written once, and no more
//! sectors and turns of the banks than the laws allow.

mod host;

use tilewright_bench::{Case, Definition, Size, definitions};
use tilewright_device::{Alignment, Way};
use tilewright_relayout::{Elements, Program};

use host::{
    batch::{Batch, Done, has_no_findings},
    report::Count,
};

fn program(case: &Case) -> Program {
    Program::new(case.src(), case.dst(), case.elements(), case.fill()).unwrap()
}

fn plan_name(name: &str, size: Size) -> String {
    format!("{name}/{size}")
}

/// The cases of a size, between whole allocations or wherever the number says.
fn batch(size: Size, at: impl Fn(usize) -> Alignment) -> Batch {
    let mut batch = Batch::default();
    for (number, definition) in definitions().unwrap().iter().enumerate() {
        let case = definition.case(size).unwrap();
        let (program, at) = (program(&case), at(number));
        batch.add(&plan_name(definition.name(), size), &program, at);
    }
    batch
}

/// Whether rows of both sides begin at multiples of a sector of 32 bytes, so that none is touched twice.
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

/// Kernels that the laws bind: those that move tiles. Elements that are gathered one by one are printed.
fn is_bound(done: &Done) -> bool {
    let tiles = |way: &Way| matches!(way, Way::Rows | Way::Weave | Way::Realigned | Way::Fill);
    done.ways.iter().all(tiles)
}

/// Which of these are not within the bound.
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

fn turns(done: &Done) -> Vec<(&'static str, Count)> {
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
    let of = |done: &Done| {
        let named = |one: &&Definition| done.answer.plan == plan_name(one.name(), Size::L2);
        is_aligned(&cases.iter().find(named).unwrap().case(Size::L2).unwrap())
    };
    let bound: Vec<&Done> = done.iter().filter(|done| is_bound(done)).collect();
    let (aligned, other): (Vec<&Done>, Vec<&Done>) = bound.iter().partition(|done| of(done));
    println!(
        "{} aligned, {} others, {} not bound",
        aligned.len(),
        other.len(),
        done.len() - bound.len()
    );
    let weaves: Vec<&Done> =
        bound.iter().filter(|done| done.ways == [Way::Weave]).copied().collect();
    let wrong = [
        above(&aligned, 1.01, sectors),
        above(&other, 1.30, sectors),
        above(&weaves, 1.0, turns),
        above(&bound, 1.35, turns),
    ];
    assert!(wrong.iter().all(Vec::is_empty), "{wrong:#?}");
    assert!(aligned.len() >= 30 && bound.len() * 2 >= done.len(), "the laws bind too few");
}
