//! Programs as runs of the simulator: their kernels, with equal texts once, and the engine's results.

use std::{collections::HashMap, ops::Range};

use tilewright_device::{Alignment, DevicePlan, Options, Way};
use tilewright_relayout::{Plan, Program};

use super::{
    report::Answer,
    simulator::{After, Array, Launch, Run, Simulator, noise},
};

/// The distance at which the low 32 bits of an address repeat.
const WRAP: u64 = 1 << 32;

/// The most bytes of static shared memory of a block.
const MOST_SHARED: u32 = 48 << 10;

/// Programs to be simulated together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    texts: Vec<String>,
    numbers: HashMap<String, usize>,
    runs: Vec<Run>,
    /// The ways of the kernels of each run.
    ways: Vec<Vec<Way>>,
}

/// A run that was simulated.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) answer: Answer,
    pub(crate) ways: Vec<Way>,
    pub(crate) alignment: Alignment,
}

/// Makes an array whose address crosses 2³² near its middle, `aligned` bytes after a multiple of 512.
pub(crate) fn array(number: u64, bytes: u64, aligned: u8, seed: u64) -> Array {
    let base = number * (1 << 44) + 5 * WRAP - bytes / 2 / 512 * 512 + u64::from(aligned);
    Array { base, bytes, seed }
}

/// Returns the whole bytes of a destination that no element is written to; a part must not change them.
fn kept(program: &Program) -> Vec<Range<u64>> {
    let (mut kept, mut at) = (Vec::new(), 0);
    if program.is_part() {
        for range in program.destination_ranges() {
            kept.push(at..range.start);
            at = range.end;
        }
        kept.push(at..program.dst_bytes());
        kept.retain(|range| !range.is_empty());
    }
    kept
}

impl Batch {
    /// Returns the number of a kernel's text.
    pub(crate) fn kernel(&mut self, text: &str) -> usize {
        let next = self.texts.len();
        let number = *self.numbers.entry(text.to_owned()).or_insert(next);
        if number == next {
            self.texts.push(text.to_owned());
        }
        number
    }

    /// Returns the launches of a plan.
    pub(crate) fn launches(&mut self, plan: &DevicePlan) -> Vec<Launch> {
        let fills = plan.kernels().iter().take_while(|kernel| kernel.way() == Way::Fill).count();
        let all = plan.kernels().iter().enumerate().map(|(at, kernel)| {
            assert!(kernel.shared() <= MOST_SHARED && kernel.blocks() < 1 << 31, "{kernel:?}");
            Launch {
                kernel: self.kernel(kernel.text()),
                blocks: kernel.blocks(),
                params: kernel.params().to_vec(),
                only: Vec::new(),
                fills: plan.fills_first() && at + 1 == fills,
            }
        });
        all.collect()
    }

    /// Adds a program between two arrays with this alignment, with the engine's result.
    pub(crate) fn add(
        &mut self,
        name: &str,
        program: &Program,
        alignment: Alignment,
    ) -> DevicePlan {
        self.add_with(name, program, alignment, Options::default())
    }

    /// Adds a program with other options.
    pub(crate) fn add_with(
        &mut self,
        name: &str,
        program: &Program,
        alignment: Alignment,
        options: Options,
    ) -> DevicePlan {
        let plan = DevicePlan::with(program, alignment, options);
        let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}\n{program}"));
        self.add_plan(name, program, alignment, &plan);
        plan
    }

    /// Adds a program with a given plan.
    pub(crate) fn add_plan(
        &mut self,
        name: &str,
        program: &Program,
        alignment: Alignment,
        plan: &DevicePlan,
    ) {
        let wanted = |src: Array, dst: Array| {
            let mut wanted = noise(dst.seed, 0, dst.bytes);
            let engine = Plan::of(program.clone());
            engine.run(&noise(src.seed, 0, src.bytes), &mut wanted, 1).unwrap();
            wanted
        };
        self.add_expected(name, program, alignment, plan, &wanted);
    }

    /// Adds a program with the result of `wanted`, for sources that do not fit memory.
    pub(crate) fn add_expected(
        &mut self,
        name: &str,
        program: &Program,
        alignment: Alignment,
        plan: &DevicePlan,
        wanted: &dyn Fn(Array, Array) -> Vec<u8>,
    ) {
        let run = self.runs.len() as u64;
        let src = array(1, program.src_bytes(), alignment.src(), 2 * run + 1);
        let dst = array(2, program.dst_bytes(), alignment.dst(), 2 * run + 2);
        let wanted = wanted(src, dst);
        let launches = self.launches(plan);
        self.ways.push(plan.kernels().iter().map(|kernel| kernel.way()).collect());
        self.runs.push(Run {
            name: name.split_whitespace().collect::<Vec<_>>().join("_"),
            src,
            dst,
            reads: program.is_part() && program.elements().dst_bits < 8,
            keep: kept(program),
            mutant: None,
            launches,
            after: After::Expect(wanted),
        });
    }

    /// Returns the texts, each once.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Runs everything and returns all answers, in order; `None` without a compiler.
    pub(crate) fn run(&self) -> Option<Vec<Done>> {
        let answers = Simulator::build(&self.texts)?.run(&self.runs);
        let done = answers.into_iter().zip(&self.ways).zip(&self.runs);
        Some(
            done.map(|((answer, ways), run)| Done {
                answer,
                ways: ways.clone(),
                alignment: Alignment::of_addresses(run.src.base, run.dst.base),
            })
            .collect(),
        )
    }
}

/// Panics with the findings, their places, and the lines of the texts.
pub(crate) fn has_no_findings(batch: &Batch, done: &[Done]) {
    let wrong: Vec<&Done> = done.iter().filter(|done| done.answer.count > 0).collect();
    for Done { answer, ways, alignment } in wrong.iter().take(5) {
        println!("{}: {} findings, {ways:?}, {alignment:?}", answer.plan, answer.count);
        let run = batch.runs().iter().find(|run| run.name == answer.plan);
        for finding in &answer.findings {
            let text = run.and_then(|run| run.launches.get(finding.launch as usize));
            let text = text.map_or("", |launch| &batch.texts()[launch.kernel]);
            let line = text.lines().nth((finding.line as usize).wrapping_sub(1)).unwrap_or("");
            println!("  {finding:?}\n    {}", line.trim());
        }
    }
    let names: Vec<&str> = wrong.iter().map(|done| &*done.answer.plan).collect();
    assert!(wrong.is_empty(), "{} of {} plans: {names:?}", wrong.len(), done.len());
}
