//! Writes kernels for compilers and devices, with the data that they move.
//!
//! `cargo run -p tilewright-device --example cases -- WHAT FOLDER` writes `cases.jsonl`, with a line for each case, and
//! `NAME.N.cu` and `NAME.N.cl` for its kernels. Except for `memory`, it also writes two sources, the second the
//! complement of the first, as `NAME.src0` and `NAME.src1`, and their destinations as `NAME.dst0` and `NAME.dst1`.
//!
//! WHAT is a size of the benchmark's cases (`small`, `l2`, `memory`); `anywhere`, the small ones between arrays that
//! begin at any byte; `pairs`, 200 random pairs from the seed `TILEWRIGHT_SEED`; or `tables`, storage orders by long
//! lists.

#[path = "../tests/all/host/dice.rs"]
mod dice;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tilewright_bench::{Size, data, definitions, random};
use tilewright_core::TensorLayout;
use tilewright_device::{Alignment, DevicePlan, Kernel, Target, Way};
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_table::{Along, Table, TabledLayout};

type Answer<T> = Result<T, Box<dyn Error>>;

/// A program with its name, and the alignment of its arrays.
type ResolvedLayout = (String, Program, Alignment);

/// The number of random pairs, and the most bytes of one.
const PAIRS: u64 = 200;
const MOST_BYTES: u64 = 1 << 14;

/// The entries of long lists: some within the constant memory that OpenCL guarantees, some beyond.
const LISTS: [u64; 3] = [1 << 10, 1 << 15, 300_007];

/// Returns the numbers of a kernel as JSON.
fn numbers(kernel: &Kernel) -> Value {
    json!({
        "way": kernel.way().name(),
        "entry": kernel.entry(),
        "threads": kernel.threads(),
        "blocks": kernel.blocks(),
        "shared": kernel.shared(),
        // As texts, because numbers of JSON cannot represent all integers of 64 bits.
        "params": kernel.params().iter().map(u64::to_string).collect::<Vec<_>>(),
    })
}

/// Returns the benchmark's cases, between arrays with these alignments.
fn cases(size: Size, at: impl Fn(usize) -> Answer<Alignment>) -> Answer<Vec<ResolvedLayout>> {
    let cases = definitions()?.into_iter().enumerate();
    let named = cases.map(|(number, definition)| {
        let case = definition.case(size)?;
        let program = Program::new(case.src(), case.dst(), case.elements(), case.fill())?;
        // A name is part of a file name.
        Ok((definition.name().replace('/', "-"), program, at(number)?))
    });
    named.collect()
}

/// Returns random pairs; every other one resembles layouts in use.
fn pairs() -> Answer<Vec<ResolvedLayout>> {
    let seed = env::var("TILEWRIGHT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let pairs = (0..PAIRS).map(|index| {
        let mut dice = dice::Dice::new(seed << 32 | index);
        let program = if index % 2 == 0 {
            let case = random(seed, index, MOST_BYTES)?;
            Program::new(case.src(), case.dst(), case.elements(), case.fill())?
        } else {
            dice.program()
        };
        let step = dice.one(&[16, 4, 1]);
        let mut byte = || (dice.below(16) * step % 16) as u8;
        Ok((format!("pair-{seed}-{index}"), program, Alignment::new(byte(), byte())?))
    });
    pairs.collect()
}

/// Returns columns in the order of a list.
fn tables() -> Answer<Vec<ResolvedLayout>> {
    let tables = LISTS.iter().map(|&count| {
        // A step that is coprime to the count visits all entries.
        let list: Vec<_> = (0..count).map(|at| Some((at * 7919 + 13) % count)).collect();
        let extents = [2, count];
        let along = Along::new(&[(1, 1)], &extents, Arc::new(Table::new(count, list)?))?;
        let stored = TensorLayout::row_major(along.stored_extents())?;
        let listed = TabledLayout::new(&extents, vec![along], &stored)?;
        let plain = TabledLayout::of(&TensorLayout::row_major(&extents)?);
        let program = Program::of_arrays(&listed, &plain, Elements::same(16), 0)?;
        Ok((format!("list-{count}"), program, Alignment::default()))
    });
    tables.collect()
}

fn named(what: &str) -> Answer<Vec<ResolvedLayout>> {
    match what {
        "pairs" => pairs(),
        "tables" => tables(),
        "anywhere" => {
            let at = |n: usize| Ok(Alignment::new((n * 7 % 16) as u8, (n * 11 / 3 % 16) as u8)?);
            cases(Size::Small, at)
        }
        size => cases(size.parse()?, |_| Ok(Alignment::default())),
    }
}

/// Writes the files of a case, and returns its line.
fn write(
    (name, program, at): &ResolvedLayout,
    plan: &DevicePlan,
    moves: bool,
    to: &Path,
) -> Answer<Value> {
    for (number, kernel) in plan.kernels().iter().enumerate() {
        let file = |end: &str| to.join(format!("{name}.{number}.{end}"));
        fs::write(file("cu"), kernel.source(Target::Cuda))?;
        fs::write(file("cl"), kernel.source(Target::OpenCl))?;
    }
    if moves {
        let mut source = vec![0; usize::try_from(program.src_bytes())?];
        data::fill(&mut source);
        for which in 0..2 {
            // Bytes that a part does not write.
            let mut wanted = vec![0xEE; usize::try_from(program.dst_bytes())?];
            Plan::of(program.clone()).run(&source, &mut wanted, 1)?;
            fs::write(to.join(format!("{name}.src{which}")), &source)?;
            fs::write(to.join(format!("{name}.dst{which}")), wanted)?;
            source.iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
    let kernels: Vec<Value> = plan.kernels().iter().map(numbers).collect();
    let fills = plan.kernels().iter().take_while(|kernel| kernel.way() == Way::Fill).count();
    Ok(json!({
        "name": name,
        "src_bytes": program.src_bytes(),
        "dst_bytes": program.dst_bytes(),
        "src_at": at.src(),
        "dst_at": at.dst(),
        // The number of kernels that must complete before the others begin.
        "first": if plan.fills_first() { fills } else { 0 },
        "kernels": kernels,
    }))
}

fn main() -> Answer<()> {
    let mut words = env::args().skip(1);
    let what = words.next().unwrap_or_else(|| "small".into());
    let folder: PathBuf = words.next().unwrap_or_else(|| "target/cases".into()).into();
    fs::create_dir_all(&folder)?;
    let mut lines = String::new();
    for named in named(&what)? {
        let plan =
            DevicePlan::new(&named.1, named.2).map_err(|error| format!("{}: {error}", named.0))?;
        lines += &format!("{}\n", write(&named, &plan, what != "memory", &folder)?);
    }
    fs::write(folder.join("cases.jsonl"), lines)?;
    Ok(())
}
