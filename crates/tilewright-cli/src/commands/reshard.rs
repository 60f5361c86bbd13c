//! `reshard`: rewrites a checkpoint in other shards.

use std::{env, num::NonZero};

use serde_json::{Value, json};
use tilewright::{
    ask::words::printable,
    layouts::Counted,
    reshard::{Job, Planned},
};

use super::how::{remark, request};
use crate::{
    args::{Reshard, RunArgs, SourceArgs, StepArgs},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    progress::Bar,
    size,
};

/// The variables in which launchers give the number of a process and the number of processes.
const LAUNCHERS: [[&str; 2]; 4] = [
    ["RANK", "WORLD_SIZE"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
    ["SLURM_PROCID", "SLURM_NTASKS"],
];

pub(super) fn run(args: &Reshard, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    match (&args.step, &args.asked) {
        (Some(StepArgs::Plan(plan)), _) => {
            let job = prepared(&plan.asked)?;
            job.write_plan(&plan.plan).map_err(Failure::of_request)?;
            remark(&job, out);
            say(&job, "planned", 0, out)
        }
        (Some(StepArgs::Run(share)), _) => {
            let job = Job::of_plan(&share.plan).map_err(Failure::of_request)?;
            let (rank, world) = rank(share)?;
            let bar = Bar::new(quiet || out.is_json());
            let tasks: Vec<u64> = job.share(rank, world).collect();
            let threads = threads(&share.threads)?;
            let done = job.run_threads(&tasks, threads, &format!("rank-{rank}"), &bar);
            let done = bar.kept(done, Failure::of_plan)?;
            say(&job, "run", done, out)
        }
        (Some(StepArgs::Finish(finish)), _) => {
            let job = Job::of_plan(&finish.plan).map_err(Failure::of_request)?;
            job.finish().map_err(Failure::of_plan)?;
            say(&job, "finished", 0, out)
        }
        (Some(StepArgs::Simulate(asked)), _) => super::simulate::run(asked, out),
        (None, Some(alone)) => {
            let (threads, asked) = (threads(&alone.threads)?, &alone.asked);
            let job = prepared(asked)?;
            if args.dry_run {
                if let Err(refused) = job.check_free().and_then(|()| job.check_space()) {
                    out.remark(&format!("a run would fail: {refused}"));
                }
                return list(&job, out);
            }
            remark(&job, out);
            let bar = Bar::new(quiet || out.is_json());
            let done = bar.kept(job.run_all_threads(threads, &bar), Failure::of_request)?;
            say(&job, "finished", done, out)
        }
        (None, None) => Err(Failure::usage("no checkpoint to reshard; give IN and OUT, or a step")),
    }
}

fn prepared(asked: &SourceArgs) -> Result<Job, Failure> {
    let request = request(&asked.input, &asked.output, &asked.how)?;
    Job::prepare(request.verify(asked.verify).force(asked.force)).map_err(Failure::of_request)
}

/// Reads a number of threads; 0 means the number of cores.
fn threads(text: &str) -> Result<usize, Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(match size::count("--threads", text)? {
        0 => cores(),
        threads => threads,
    })
}

/// Returns the number of this process and the number of processes.
fn rank(share: &RunArgs) -> Result<(u64, u64), Failure> {
    let told = || {
        for [rank, world] in LAUNCHERS {
            if let Some(told) = number(rank)?.zip(number(world)?) {
                return Ok(told);
            }
        }
        Ok::<_, Failure>((0, 1))
    };
    let (rank, world) = share.rank.zip(share.world).map_or_else(told, Ok)?;
    match rank < world {
        true => Ok((rank, world)),
        false => Err(Failure::usage(format!("rank {rank} of {world} processes; ranks begin at 0"))),
    }
}

/// Returns the number in a variable, if it is set.
fn number(name: &str) -> Result<Option<u64>, Failure> {
    let Some(text) = env::var_os(name) else { return Ok(None) };
    let text = text.to_string_lossy();
    text.trim().parse().map(Some).map_err(|_| {
        let legal = "expected a number; or give --rank and --world";
        Failure::usage(format!("the variable {name} is {text:?}; {legal}"))
    })
}

/// Returns a job as a line and as fields.
fn said(job: &Job, state: &str, done: u64) -> (String, Value) {
    let (files, form, folder) = (job.files().count(), job.form().name(), job.output().display());
    let (tensors, bytes, tasks) = (job.tensors(), job.bytes(), job.tasks());
    let verified = job.is_verified() && state != "planned";
    let told = if verified { ", verified" } else { "" };
    let text = format!(
        "{state}: {}, {}, as {form} in {}, {done} of {} now{told}: {folder}\n",
        Counted(tensors as u64, "tensor"),
        Counted(bytes, "byte"),
        Counted(files as u64, "file"),
        Counted(tasks, "task"),
    );
    let value = json!({
        "state": state, "plan": job.id(), "output": job.output(), "form": form,
        "files": job.files().collect::<Vec<_>>(), "tensors": tensors, "bytes": bytes,
        "bytes_out": job.written(), "tasks": tasks, "done": done, "compared": job.compared(),
        "verified": verified,
        "companions": job.companions().collect::<Vec<_>>(),
        "remarks": job.remarks().collect::<Vec<_>>(),
        "assumed": job.assumed().map(named).collect::<Vec<_>>(),
    });
    (text, value)
}

/// Returns a tensor with its extents.
fn named((name, dims): (&str, &[u64])) -> Value {
    json!({ "name": name, "dims": dims })
}

fn say(job: &Job, state: &str, done: u64, out: &mut Output) -> Result<ExitCode, Failure> {
    let (text, value) = said(job, state, done);
    out.answer(&text, value)?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the planned result of each tensor.
fn list(job: &Job, out: &mut Output) -> Result<ExitCode, Failure> {
    let (mut text, mut value) = said(job, "planned", 0);
    let planned = job.planned().map_err(Failure::of_request)?;
    text += &planned.iter().map(line).collect::<String>();
    value["arrays"] = planned.iter().map(fields).collect();
    remark(job, out);
    out.answer(&text, value)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the planned result of a tensor as a line.
fn line(tensor: &Planned) -> String {
    let Planned { name, dtype, extents, bytes, compared, pieces: [from, to], tasks, .. } = tensor;
    let rule = |text: &str| if text.is_empty() { "whole".to_owned() } else { text.to_owned() };
    let compared = match compared {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of copies compared"),
    };
    let (reads, writes) = (rule(&tensor.from), rule(&tensor.to));
    let (bytes, tasks) = (Counted(*bytes, "byte"), Counted(*tasks, "task"));
    let count = format!("{bytes}, {from} -> {to} boxes, {tasks}{compared}");
    let name = printable(name);
    format!("  {name}: {dtype}{extents:?}, {reads} -> {writes}, {count}\n")
}

/// Returns the planned result of a tensor as fields.
fn fields(tensor: &Planned) -> Value {
    json!({
        "name": tensor.name, "dtype": tensor.dtype.name(), "dims": tensor.extents,
        "bytes": tensor.bytes, "compared": tensor.compared, "bytes_out": tensor.written,
        "pieces": tensor.pieces, "tasks": tensor.tasks, "from": tensor.from, "to": tensor.to,
    })
}
