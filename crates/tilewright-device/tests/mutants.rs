//! Changes at every barrier, wait, mask, number, sum in 64 bits and swizzle of the generated texts: each is caught by the
//! simulator, or proved to change nothing.
//!
//! The proof is the rule of `host/mutate.rs`: a change that gave no other value at any time it was reached, in all
//! launches of its text, is the same program for them: a mask that is never false because the extent is a multiple, a
//! product that never exceeds 32 bits.

mod host;

use host::{
    batch::Batch,
    mutate::{Mutants, mutants},
    report::Answer,
    simulator::{Run, Simulator},
};
use tilewright_core::{Fractal, TensorLayout};
use tilewright_device::Alignment;
use tilewright_relayout::{Elements, Program};

/// More traffic than this share of what the kernel needs without a change is found, too.
const SLOWER: f64 = 1.02;

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

/// A kernel of every way, in launches that reach its edges.
fn batch() -> Batch {
    let mut batch = Batch::default();
    let mut add = |name: &str, program: &Program, src: u8, dst: u8| {
        batch.add(name, program, Alignment::new(src, dst).unwrap());
    };
    let same = |src: &TensorLayout, dst: &TensorLayout, bits| {
        Program::new(src, dst, Elements::same(bits), 0x1234_5678_9ABC_DEF1).unwrap()
    };
    for (bits, m, n) in [(8, 272, 144), (16, 136, 264), (32, 68, 132), (64, 34, 70)] {
        add(&format!("turned {bits}"), &same(&rows(&[m, n]), &columns(&[m, n]), bits), 0, 0);
    }
    for (bits, m, n) in [(8, 137, 261), (16, 131, 133), (32, 67, 65)] {
        add(&format!("odd {bits}"), &same(&rows(&[m, n]), &columns(&[m, n]), bits), 0, 0);
    }
    for (bits, m, n) in [(8, 300, 3), (16, 3, 200), (32, 200, 3), (24, 37, 21)] {
        add(&format!("thin {bits}"), &same(&rows(&[m, n]), &columns(&[m, n]), bits), 0, 0);
    }
    let swapped = TensorLayout::ordered(&[5, 6, 80], &[1, 0, 2]).unwrap();
    add("rows", &same(&rows(&[5, 6, 80]), &swapped, 32), 0, 0);
    add("rows anywhere", &same(&rows(&[5, 6, 80]), &swapped, 32), 3, 6);
    let tiles = Fractal::ZN.pattern(16, 16).layout(&[50, 40]).unwrap();
    add("tiles", &same(&rows(&[50, 40]), &tiles, 16), 0, 0);
    batch
}

/// Whether the changed kernel is found out: by findings, or by traffic.
fn is_caught(before: &Answer, after: &Answer) -> bool {
    let counts = |answer: &Answer| [answer.load, answer.store, answer.read, answer.write];
    let slower = counts(before).into_iter().zip(counts(after));
    after.count > 0 || slower.into_iter().any(|(b, a)| a.units as f64 > b.units as f64 * SLOWER)
}

/// The runs of each text's changes, with the numbers of text, change and run.
fn changed(runs: &[Run], all: &[Mutants]) -> Vec<((usize, usize, usize), Run)> {
    let mut changed = Vec::new();
    for (text, mutants) in all.iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            if run.launches.iter().all(|launch| launch.kernel != text) {
                continue;
            }
            for mutant in 0..mutants.all.len() {
                // Only this text has its changes; the others of the plan are as they were.
                let mut run = Run { mutant: Some(mutant as u32), ..run.clone() };
                for launch in &mut run.launches {
                    launch.kernel += if launch.kernel == text { all.len() } else { 0 };
                }
                changed.push(((text, mutant, at), run));
            }
        }
    }
    changed
}

#[test]
fn every_change_is_caught_or_changes_nothing() {
    let batch = batch();
    let all: Vec<Mutants> = batch.texts().iter().map(|text| mutants(text)).collect();
    let texts: Vec<String> =
        batch.texts().iter().chain(all.iter().map(|mutants| &mutants.text)).cloned().collect();
    let Some(simulator) = Simulator::build(&texts) else { return };
    let plain = simulator.run(batch.runs());
    assert!(plain.iter().all(|answer| answer.count == 0), "{plain:?}");
    let runs = changed(batch.runs(), &all);
    let answers = simulator.run(&runs.iter().map(|(_, run)| run.clone()).collect::<Vec<_>>());
    let (mut caught, mut infected) = (vec![], vec![]);
    for (((text, mutant, at), _), answer) in runs.iter().zip(&answers) {
        if is_caught(&plain[*at], answer) {
            caught.push((*text, *mutant));
        }
        if answer.infected {
            infected.push((*text, *mutant));
        }
    }
    let (mut survivors, mut same) = (Vec::new(), 0);
    for (text, mutants) in all.iter().enumerate() {
        for (number, mutant) in mutants.all.iter().enumerate() {
            let of = |list: &[(usize, usize)]| list.contains(&(text, number));
            match (of(&caught), of(&infected)) {
                (true, _) => {}
                (false, false) => same += 1,
                (false, true) => survivors.push((text, mutant)),
            }
        }
    }
    println!(
        "{} changes of {} texts: {same} the same, {} survive",
        runs.len(),
        all.len(),
        survivors.len()
    );
    for (text, mutant) in &survivors {
        let name = batch.texts()[*text].lines().next();
        println!("{:?} line {}: {} in {name:?}", mutant.change, mutant.line, mutant.code);
    }
    assert!(survivors.is_empty(), "{} of {} changes survive", survivors.len(), runs.len());
    assert!(same * 5 <= runs.len(), "{same} of {} changes change nothing", runs.len());
}
