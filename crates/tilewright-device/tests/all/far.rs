//! Arrays beyond 4 GB, of which some blocks run. Their source is a function of the offset, and their destination only
//! has the pages that are touched, so they need little memory. The blocks write the same as the engine with the same
//! source; and sums in 32 bits are found at every place where the text widens them.

use std::{collections::HashSet, path::PathBuf};

use crate::host::{
    batch::array,
    mutate::{Change, Mutant, mutants},
    simulator::{After, Launch, Run, Simulator, noise},
};
use tilewright_core::{Fractal, TensorLayout};
use tilewright_device::{Alignment, DevicePlan};
use tilewright_relayout::{Elements, Plan, Program};

/// The number of blocks of a launch that run.
const BLOCKS: u64 = 8;

/// The most bytes of a run of the destination that are compared: the engine reads a large range for long ones.
const COMPARED: usize = 4096;

/// The seed of the source's contents.
const SEED: u64 = 5;

/// Returns programs with arrays of more than 4 GB on both sides, and their names; or the first few.
fn programs(few: usize) -> Vec<(&'static str, Program)> {
    let rows = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
    let columns = |extents: &[u64]| TensorLayout::col_major(extents).unwrap();
    let same = |src: &TensorLayout, dst: &TensorLayout, bits| {
        Program::new(src, dst, Elements::same(bits), 0).unwrap()
    };
    let swapped = TensorLayout::ordered(&[3000, 7, 70_016], &[1, 0, 2]).unwrap();
    let tiles = Fractal::ZN.pattern(16, 16).layout(&[70_000, 40_000]).unwrap();
    let tall = [5_000_000_003, 3];
    let mut programs = vec![
        ("three columns", same(&rows(&tall), &columns(&tall), 8)),
        ("turned, f32", same(&rows(&[40_000, 60_032]), &columns(&[40_000, 60_032]), 32)),
        ("turned, bytes", same(&rows(&[90_112, 70_016]), &columns(&[90_112, 70_016]), 8)),
        ("odd, bf16", same(&rows(&[65_537, 65_539]), &columns(&[65_537, 65_539]), 16)),
        ("swapped rows", same(&rows(&[3000, 7, 70_016]), &swapped, 32)),
        ("tiles", same(&rows(&[70_000, 40_000]), &tiles, 16)),
        ("words of 3 bytes", same(&rows(&[50_001, 50_003]), &columns(&[50_001, 50_003]), 24)),
    ];
    programs.truncate(tilewright_testing::cases(programs.len(), few));
    programs
}

/// Returns blocks of a launch: the first, the last, and some between; and those at which an offset in a dim of these
/// extents crosses 2³².
fn some(blocks: u64, extents: &[u64]) -> Vec<u64> {
    let part = |at: u64, of: u64| (u128::from(blocks) * u128::from(at) / u128::from(of)) as u64;
    let mut all: HashSet<u64> = (0..BLOCKS)
        .map(|at| (u128::from(blocks - 1) * u128::from(at) / u128::from(BLOCKS - 1)) as u64)
        .collect();
    for extent in extents.iter().filter(|extent| **extent > 1 << 32) {
        for at in [part(1 << 32, *extent), part(extent - (1 << 32), *extent)] {
            all.extend((at.saturating_sub(1)..=at + 1).filter(|block| *block < blocks));
        }
    }
    all.into_iter().collect()
}

/// Returns a run of a program's plan, with a few blocks of each launch; its kernels are numbered from `first` on.
fn run(name: &str, program: &Program, plan: &DevicePlan, first: usize) -> Run {
    let launch = |(at, kernel): (usize, &tilewright_device::Kernel)| Launch {
        kernel: first + at,
        blocks: kernel.blocks(),
        params: kernel.params().to_vec(),
        only: some(kernel.blocks(), program.extents()),
        fills: false,
    };
    Run {
        name: name.replace(' ', "_"),
        src: array(1, program.src_bytes(), 0, SEED),
        dst: array(2, program.dst_bytes(), 0, SEED + 1),
        reads: false,
        keep: Vec::new(),
        mutant: None,
        launches: plan.kernels().iter().enumerate().map(launch).collect(),
        after: After::Runs(PathBuf::from(format!("runs{first}"))),
    }
}

/// Returns the bytes that the engine writes from an offset of the destination on, if the source is the function of
/// `SEED`.
fn wanted(plan: &Plan, from: u64, count: usize) -> Vec<u8> {
    let chunk = plan.chunk(from..from + count as u64).unwrap();
    let mut source = vec![0; chunk.buffer_len()];
    for read in chunk.reads() {
        source[read.at..read.at + read.len].copy_from_slice(&noise(
            SEED,
            read.src,
            read.len as u64,
        ));
    }
    let mut out = vec![0; count];
    chunk.run(&source, &mut out, 1).unwrap();
    out
}

/// Returns the first offset at either end of a run of bytes that differs from the engine's result.
fn differs(program: &Program, runs: &[(u64, Vec<u8>)]) -> Option<u64> {
    let plan = Plan::of(program.clone());
    runs.iter().find_map(|(from, bytes)| {
        let count = bytes.len().min(COMPARED);
        [0, bytes.len() - count].into_iter().find_map(|at| {
            let offset = from + at as u64;
            (bytes[at..at + count] != wanted(&plan, offset, count)).then_some(offset)
        })
    })
}

/// Returns the bytes that a run wrote.
fn written(simulator: &Simulator, run: &Run) -> Vec<(u64, Vec<u8>)> {
    let After::Runs(file) = &run.after else { panic!("a run whose bytes are compared at once") };
    simulator.runs(file)
}

#[test]
fn arrays_beyond_32_bits_of_addresses_are_exact() {
    let (mut texts, mut runs, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
    let programs = programs(3);
    for (name, program) in &programs {
        let plan = DevicePlan::new(program, Alignment::default()).unwrap();
        firsts.push(texts.len());
        runs.push(run(name, program, &plan, texts.len()));
        texts.extend(plan.kernels().iter().map(|kernel| kernel.text().to_owned()));
    }
    let Some(simulator) = Simulator::build(&texts) else { return };
    let answers = simulator.run(&runs);
    for (((name, program), answer), run) in programs.iter().zip(&answers).zip(&runs) {
        assert_eq!(answer.count, 0, "{answer:?}");
        let written = written(&simulator, run);
        assert_eq!(differs(program, &written), None, "{name}: the bytes from this offset on");
        let beyond = written.iter().any(|(from, bytes)| from + bytes.len() as u64 > 1 << 32);
        assert!(beyond, "{name}: no byte beyond 4 GB was written");
    }
}

/// A run of one kernel with a sum in 32 bits, and the number of the run without it.
struct Narrowed {
    name: &'static str,
    mutant: Mutant,
    plain: usize,
}

#[test]
fn sums_in_32_bits_are_found_where_a_text_widens_them() {
    let (mut texts, mut runs, mut narrowed) = (Vec::new(), Vec::new(), Vec::new());
    let programs = programs(2);
    for (name, program) in &programs {
        let plan = DevicePlan::new(program, Alignment::default()).unwrap();
        let whole = run(name, program, &plan, texts.len());
        for (kernel, launch) in plan.kernels().iter().zip(&whole.launches) {
            let changed = mutants(kernel.text());
            let alone = Run { launches: vec![launch.clone()], ..whole.clone() };
            let plain = runs.len();
            runs.push(alone.clone());
            for (number, mutant) in changed.all.iter().enumerate() {
                if mutant.change == Change::Narrow {
                    narrowed.push((runs.len(), Narrowed { name, mutant: mutant.clone(), plain }));
                    runs.push(Run { mutant: Some(number as u32), ..alone.clone() });
                }
            }
            texts.push(changed.text);
        }
    }
    for (at, run) in runs.iter_mut().enumerate() {
        run.after = After::Runs(PathBuf::from(format!("narrow{at}")));
    }
    let Some(simulator) = Simulator::build(&texts) else { return };
    let answers = simulator.run(&runs);
    let mut caught = HashSet::new();
    for (at, Narrowed { name, mutant, plain }) in &narrowed {
        let (own, plain) = (&answers[*at], &answers[*plain]);
        assert_eq!(plain.count, 0, "{name}: {plain:?}");
        if own.count == 0 && own.trace == plain.trace {
            continue;
        }
        let program = programs.iter().find(|(of, _)| of == name).map(|(_, program)| program);
        let wrong = || differs(program.unwrap(), &written(&simulator, &runs[*at])).is_some();
        let found = own.is_caught(plain) || wrong();
        assert!(found, "{name}: line {} in 32 bits survives: {}", mutant.line, mutant.code);
        caught.insert(*name);
    }
    let all: HashSet<&str> = programs.iter().map(|(name, _)| *name).collect();
    assert_eq!(caught, all, "arrays of which no sum in 32 bits is found");
}
