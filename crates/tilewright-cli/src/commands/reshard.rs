//! `reshard`: a checkpoint in other shards.

use std::{env, path::Path};

use serde_json::json;
use tilewright::reshard::{Form, Job, Request, Rules};

use crate::{
    args::{Asked, How, Reshard, Run, Step},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    progress::Bar,
    size,
};

/// The variables in which launchers say the number of a process, and how many there are.
const LAUNCHERS: [[&str; 2]; 4] = [
    ["RANK", "WORLD_SIZE"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
    ["SLURM_PROCID", "SLURM_NTASKS"],
];

pub(super) fn run(args: &Reshard, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    match (&args.step, &args.asked) {
        (Some(Step::Plan(plan)), _) => {
            let job = prepared(&plan.asked)?;
            job.write_plan(&plan.plan)?;
            say(&job, "planned", 0, out)
        }
        (Some(Step::Run(share)), _) => {
            let job = Job::of_plan(&share.plan)?;
            let (rank, world) = rank(share)?;
            let bar = Bar::new(quiet || out.is_json());
            let tasks = job.share(rank, world);
            let done = bar.kept(job.run(tasks, &format!("rank-{rank}"), &bar))?;
            say(&job, "run", done, out)
        }
        (Some(Step::Finish(finish)), _) => {
            let job = Job::of_plan(&finish.plan)?;
            job.finish()?;
            say(&job, "finished", 0, out)
        }
        (Some(Step::Simulate(asked)), _) => super::simulate::run(asked, out),
        (None, Some(asked)) => {
            let job = prepared(asked)?;
            if args.dry_run {
                if job.output().exists() {
                    out.remark(&format!("{} exists; a run refuses it", job.output().display()));
                }
                return say(&job, "planned", 0, out);
            }
            let bar = Bar::new(quiet || out.is_json());
            let done = bar.kept(job.run_all(&bar))?;
            say(&job, "finished", done, out)
        }
        (None, None) => Err(Failure::usage("no checkpoint to reshard; give IN and OUT, or a step")),
    }
}

fn prepared(asked: &Asked) -> Result<Job, Failure> {
    Ok(Job::prepare(request(&asked.input, &asked.output, &asked.how)?)?)
}

/// What is asked of an input.
pub(super) fn request(input: &Path, output: &Path, how: &How) -> Result<Request, Failure> {
    let mut request = Request::new(input, output);
    if let Some(mesh) = &how.from_mesh {
        request = request.from(rules("--from-rule", mesh, &how.from_rule)?);
    }
    if let Some(mesh) = &how.mesh {
        request = request.to(rules("--rule", mesh, &how.rule)?);
    }
    if let Some(form) = how.form.as_deref().and_then(Form::parse) {
        request = request.form(form);
    }
    if let Some(spec) = &how.to {
        request = request.layout(spec);
    }
    if let Some(most) = &how.max_shard_size {
        request = request.shard_size(size::read("--max-shard-size", most)?);
    }
    if let Some(memory) = &how.memory {
        request = request.memory(size::read("--memory", memory)?);
    }
    Ok(request)
}

/// The rules of one side. A pattern ends at the first `=`, as those of `convert` do.
fn rules(option: &str, mesh: &str, texts: &[String]) -> Result<Rules, Failure> {
    texts.iter().try_fold(Rules::new(mesh)?, |rules, text| {
        let (glob, sharding) = text.split_once('=').ok_or_else(|| {
            let example = "'*_proj.weight=[Shard(0)]'";
            Failure::usage(format!("{option} {text}: expected GLOB=SHARDING, such as {example}"))
        })?;
        Ok(rules.rule(glob, sharding)?)
    })
}

/// Which process this is, of how many.
fn rank(share: &Run) -> Result<(u64, u64), Failure> {
    let number = |name: &str| env::var(name).ok()?.trim().parse::<u64>().ok();
    let told = LAUNCHERS.iter().find_map(|[rank, world]| number(rank).zip(number(world)));
    let (rank, world) = share.rank.zip(share.world).or(told).unwrap_or((0, 1));
    match rank < world {
        true => Ok((rank, world)),
        false => Err(Failure::usage(format!("rank {rank} of {world} processes; ranks begin at 0"))),
    }
}

fn say(job: &Job, state: &str, done: u64, out: &mut Output) -> Result<ExitCode, Failure> {
    let (files, form, folder) = (job.files().count(), job.form().name(), job.output().display());
    let (tensors, bytes, tasks) = (job.tensors(), job.bytes(), job.tasks());
    let text = format!(
        "{state}: {tensors} tensors, {bytes} bytes, as {form} in {files} files, {done} of {tasks} tasks now: {folder}\n"
    );
    let value = json!({
        "state": state, "plan": job.id(), "output": job.output(), "form": form,
        "files": job.files().collect::<Vec<_>>(), "tensors": tensors, "bytes": bytes,
        "bytes_out": job.written(), "tasks": tasks, "done": done,
    });
    out.answer(&text, value)?;
    Ok(ExitCode::SUCCESS)
}
