//! Changes at every barrier, wait, mask, number, sum in 64 bits and swizzle of the generated texts: each is detected by
//! the simulator, or proved to be equivalent.
//!
//! The proof is a rule that holds in every launch of the text, for which the simulator compares the accesses of each
//! thread of a block (blocks may have been permuted):
//! - the same accesses with the same values: a mask that is never false because the extent is a multiple, a product
//!   that never exceeds 32 bits, a multiplier of a division whose quotients do not change, another walk over the same
//!   tiles;
//! - the same accesses and the same stores: values in shared memory that are not used, such as those after the array's
//!   end;
//! - the same bytes stored by the same threads, and other accesses within bounds and in no race: a mask that avoids
//!   unnecessary accesses, or one of two ways to store the same. These are few.
//!
//! Races are found in whatever order threads run, so if the loss of a barrier causes no race, the barrier orders
//! nothing in that launch.

use std::collections::{HashMap, HashSet};

use crate::host::{
    batch::Batch,
    mutate::{Mutants, mutants},
    report::Rule,
    simulator::{Run, Simulator},
};
use tilewright_core::{Fractal, Layout, Swizzle, TensorLayout};
use tilewright_device::{Alignment, Options};
use tilewright_relayout::{Elements, Extend, Program};

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

/// Returns a kernel of every way, in launches that reach its edges; or every seventh of these.
fn batch() -> Batch {
    let mut batch = Batch::default();
    let (mut number, step) = (0, tilewright_testing::cases(1, 7));
    let mut add = |name: &str, program: &Program, src: u8, dst: u8| {
        number += 1;
        if number % step != 0 {
            return;
        }
        // Squares of tiles are small, so that small arrays have several and a remainder.
        let options = Options::default().with_supertile(2);
        let _ = batch.add_with(name, program, Alignment::new(src, dst).unwrap(), options);
    };
    let same = |src: &TensorLayout, dst: &TensorLayout, bits| {
        Program::new(src, dst, Elements::same(bits), 0x1234_5678_9ABC_DEF1).unwrap()
    };
    for (bits, m, n) in [(8, 400, 656), (16, 264, 392), (32, 324, 196), (64, 230, 98)] {
        add(&format!("turned {bits}"), &same(&rows(&[m, n]), &columns(&[m, n]), bits), 0, 0);
    }
    // Two and four rows interleaved: halves of vectors go to shared memory.
    for (bits, between) in [(16, 2), (8, 4)] {
        let extents = [20, between, 136];
        let src = TensorLayout::ordered(&extents, &[0, 2, 1]).unwrap();
        add(&format!("interleaved {bits}"), &same(&src, &rows(&extents), bits), 0, 0);
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
    for (src_bits, dst_bits) in [(4, 4), (4, 8), (8, 4), (1, 1), (16, 32)] {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Sign };
        let program = Program::new(&rows(&[33, 61]), &columns(&[33, 61]), elements, 0).unwrap();
        add(&format!("{src_bits} to {dst_bits} bits"), &program, 0, 0);
    }
    let tiles = Fractal::ZN.pattern(16, 16).layout(&[50, 40]).unwrap();
    add("tiles", &same(&rows(&[50, 40]), &tiles, 16), 0, 0);
    // Bytes that elements share with other rows, with padding, and with data outside of a part.
    let pitched = TensorLayout::new(&[19, 13], &Layout::parse("(19,13):(15,-1)+12").unwrap(), 285);
    let (wide, pitched) = (columns(&[19, 13]), pitched.unwrap());
    for (src_bits, dst_bits) in [(4, 4), (8, 2)] {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Zero };
        let program = Program::new(&wide, &pitched, elements, 0x5).unwrap();
        add(&format!("sharing {src_bits} to {dst_bits} bits"), &program, 0, 0);
    }
    let (from, to) = ((&wide, &[2, 1][..]), (&pitched, &[5, 3][..]));
    add("sharing part", &Program::of_part(from, to, &[11, 6], Elements::same(4)).unwrap(), 0, 0);
    // Swizzled arrays: copies, both sides of a transpose, units below a vector, and gaps.
    let under = |side: &TensorLayout, swizzle: Swizzle| {
        TensorLayout::of(&side.layout().with_swizzle(swizzle).unwrap())
    };
    let swizzle = |bits, base, shift| Swizzle::new(bits, base, shift).unwrap();
    let (wide, tall) = (rows(&[64, 128]), rows(&[40, 64]));
    add("swizzled rows", &same(&wide, &under(&wide, swizzle(3, 3, 3)), 16), 0, 0);
    let turned = under(&columns(&[64, 128]), swizzle(2, 2, 3));
    add("swizzled turn", &same(&under(&wide, swizzle(3, 2, 3)), &turned, 32), 0, 0);
    let matrix = Swizzle::of_images(&[2, 1 + 8, 4, 8, 16 + 4]).unwrap();
    add("swizzled units", &same(&under(&tall, matrix), &columns(&[40, 64]), 8), 0, 0);
    let pitched = TensorLayout::of(&Layout::parse("(40,64):(72,1)").unwrap());
    let pitched = under(&pitched, swizzle(2, 3, 2));
    let gaps = TensorLayout::new(&[40, 64], pitched.layout(), 3072).unwrap();
    add("swizzled gaps", &same(&tall, &gaps, 16), 0, 0);
    batch
}

/// Returns the runs of each text's changes, with the numbers of text, change and run.
fn changed(runs: &[Run], all: &[Mutants]) -> Vec<((usize, usize, usize), Run)> {
    let mut changed = Vec::new();
    for (text, mutants) in all.iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            if run.launches.iter().all(|launch| launch.kernel != text) {
                continue;
            }
            for mutant in 0..mutants.all.len() {
                // Only this text has its changes; the others of the plan are unchanged.
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
    let mut caught = HashSet::new();
    let mut rules: HashMap<(usize, usize), Vec<Option<Rule>>> = HashMap::new();
    for (((text, mutant, at), _), answer) in runs.iter().zip(&answers) {
        if answer.is_caught(&plain[*at]) {
            caught.insert((*text, *mutant));
        }
        rules.entry((*text, *mutant)).or_default().push(answer.rule(&plain[*at]));
    }
    let (mut survivors, mut proved) = (Vec::new(), HashMap::new());
    for ((text, number), rules) in rules.iter().filter(|(of, _)| !caught.contains(of)) {
        // Of several launches, the weakest rule counts.
        match rules.iter().copied().collect::<Option<Vec<Rule>>>() {
            Some(rules) => *proved.entry(rules.into_iter().max()).or_insert(0) += 1,
            None => survivors.push((*text, &all[*text].all[*number])),
        }
    }
    let count = rules.len();
    println!("{count} changes of {} texts: {} caught, {proved:?} proved", all.len(), caught.len());
    for (text, mutant) in survivors.iter().copied() {
        let name = batch.texts()[text].lines().next();
        println!("{:?} line {}: {} in {name:?}", mutant.change, mutant.line, mutant.code);
    }
    assert!(survivors.is_empty(), "{} of {count} changes survive", survivors.len());
    let unneeded = proved.get(&Some(Rule::Unneeded)).copied().unwrap_or(0);
    assert!(unneeded * 50 <= count, "{unneeded} of {count} changes touch what nobody needs");
    assert!(caught.len() * 3 >= count * 2, "{} of {count} changes are caught", caught.len());
}
