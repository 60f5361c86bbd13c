//! Measures how long a task takes to expand: to find its box, its parts, the pieces that they meet on both sides, and
//! the programs that move them.
//!
//! The job has 46,000 tensors in 256 files of ranks, rewritten for 64 positions. It needs no data.

use std::time::Instant;

use tilewright_reshard::{Job, Request, Rules, Tensor};

/// The extents that tensors have in turn, and the number of tensors.
const EXTENTS: [&[u64]; 4] = [&[4096, 4096], &[14336, 4096], &[1024, 4096], &[4096]];
const TENSORS: usize = 46_000;

/// The approximate number of tasks that are expanded.
const TASKS: u64 = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tensor =
        |n: usize| Tensor::new(&format!("layers.{n}.w"), "BF16", EXTENTS[n % EXTENTS.len()]);
    let tensors: Vec<Tensor> = (0..TENSORS).map(tensor).collect();
    for (to, memory) in
        [("[Shard(0)]", 64u64 << 20), ("[Shard(-1)]", 64 << 20), ("[Shard(-1)]", 1 << 20)]
    {
        let rules = |mesh, rule| Rules::new(mesh)?.rule("*", rule);
        let request = Request::new("in", "out").from(rules("dp=256", "[Shard(0)]")?);
        let job = Job::imagine(request.to(rules("tp=64", to)?).memory(memory), &tensors)?;
        let step = (job.tasks() / TASKS).max(1) as usize;
        let mut times = Vec::new();
        let mut calls = 0;
        for number in (0..job.tasks()).step_by(step) {
            let begun = Instant::now();
            let found = job.expand(number)?;
            times.push(begun.elapsed());
            calls = calls.max(found.reads + found.writes);
        }
        times.sort();
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        let (count, all) = (times.len(), job.tasks());
        println!(
            "tp=64 {to}, {memory} bytes: {count} of {all} tasks, at most {calls} requests: median {median:.1?}, most {most:.1?}"
        );
    }
    Ok(())
}
