//! The cases of the benchmark in their small sizes: exact, every byte of the destination written once, and no more
//! sectors and turns of the banks than the laws allow.

mod host;

use tilewright_bench::{Case, Size, definitions};
use tilewright_device::{Alignment, Way};
use tilewright_relayout::Program;

use host::{
    batch::{Batch, Done, has_no_findings},
    report::Count,
};

fn program(case: &Case) -> Program {
    Program::new(case.src(), case.dst(), case.elements(), case.fill()).unwrap()
}

/// The cases of a size, between whole allocations or wherever the number says.
fn batch(size: Size, at: impl Fn(u8) -> Alignment) -> Batch {
    let mut batch = Batch::default();
    for (number, definition) in definitions().unwrap().iter().enumerate() {
        let case = definition.case(size).unwrap();
        batch.add(&format!("{} {size}", case.name()), &program(&case), at(number as u8));
    }
    batch
}

/// Kernels that move vectors between places that are all multiples of 16 bytes.
fn is_aligned(done: &Done) -> bool {
    done.ways.iter().all(|way| matches!(way, Way::Rows | Way::Weave))
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

#[test]
fn small_cases_are_exact() {
    let batch = batch(Size::Small, |_| Alignment::default());
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}

/// Views may begin at any byte.
#[test]
fn small_cases_are_exact_at_any_byte() {
    let at = |number: u8| Alignment::new(number * 7 % 16, number * 11 / 3 % 16).unwrap();
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
    let (aligned, other): (Vec<&Done>, Vec<&Done>) = done.iter().partition(|done| is_aligned(done));
    let wrong = [above(&aligned, 1.01, sectors), above(&other, 1.30, sectors)].concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
