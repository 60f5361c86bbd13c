//! `reshard`: rewrites a checkpoint in other shards. `reshard simulate` estimates a run.
//!
//! Requests of `reshard` and its steps are made from their options here.

use std::{env, fmt::Write as _, num::NonZero, path::Path};

use serde_json::{Value, json};
use tilewright::{
    Remedy,
    ask::words::printable,
    files::{Collection, inner::is_url},
    layouts::Counted,
    reshard::{Calls, Form, Job, Model, Outlook, Planned, Request, Rules, Tensor, Workers},
};

use crate::{
    args::{How, Reshard, RunArgs, ShardArgs, Simulate, SourceArgs, StepArgs},
    failure::{Failure, option},
    output::{ExitCode, Output},
    progress::Bar,
    spec, streams,
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
            say(&job, StepEnd::of(&job, "planned", 0), out)
        }
        (Some(StepArgs::Run(share)), _) => {
            let job = Job::of_plan(&share.plan).map_err(Failure::of_request)?;
            let (rank, world) = rank(share)?;
            let bar = Bar::new(quiet || out.is_json());
            let tasks: Vec<u64> = job.share(rank, world).collect();
            let threads = threads(&share.threads)?;
            let done = job.run_threads(&tasks, threads, &format!("rank-{rank}"), &bar);
            let done = bar.kept(done, Failure::of_plan)?;
            say(&job, StepEnd::of(&job, "run", done), out)
        }
        (Some(StepArgs::Finish(finish)), _) => {
            let job = Job::of_plan(&finish.plan).map_err(Failure::of_request)?;
            if !finish.verify {
                job.finish().map_err(Failure::of_plan)?;
                return say(&job, StepEnd::of(&job, "finished", 0), out);
            }
            let bar = Bar::new(quiet || out.is_json());
            bar.kept(job.finish_verified(threads("0")?, &bar), Failure::of_plan)?;
            say(&job, StepEnd { state: "finished", done: 0, compared: job.tasks() }, out)
        }
        (Some(StepArgs::Simulate(asked)), _) => simulate(asked, out),
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
            let end = StepEnd::of(&job, "finished", done);
            // The parts of a store that earlier runs sent were compared by those.
            let is_all = job.is_verified() && !job.is_in_store();
            let compared = if is_all { job.tasks() } else { end.compared };
            say(&job, StepEnd { compared, ..end }, out)
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
    Ok(match spec::count("--threads", text)? {
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

/// The end of a step: its state, and the numbers of tasks that this process ran and compared.
#[derive(Clone, Copy)]
struct StepEnd {
    state: &'static str,
    done: u64,
    compared: u64,
}

impl StepEnd {
    /// Returns the end of a step that compared the tasks that it ran, if the job is verified.
    fn of(job: &Job, state: &'static str, done: u64) -> StepEnd {
        StepEnd { state, done, compared: if job.is_verified() { done } else { 0 } }
    }

    /// Returns whether every task of the job was compared, by this process or by the one that ran it.
    fn is_verified(self, job: &Job) -> bool {
        self.compared == job.tasks() || self.state == "finished" && job.is_verified()
    }

    /// Returns the words about the tasks that were compared.
    fn words(self, job: &Job) -> String {
        match self.compared {
            all if all == job.tasks() => ", verified".into(),
            0 if self.is_verified(job) => ", each verified by the run that wrote it".into(),
            0 => String::new(),
            _ if self.is_verified(job) => ", verified by this run and earlier ones".into(),
            some => format!(", {some} compared"),
        }
    }
}

/// Returns a job as a line and as fields.
fn said(job: &Job, end: StepEnd) -> (String, Value) {
    let (files, form, folder) = (job.files().count(), job.form().name(), job.output().display());
    let (tensors, bytes, tasks) = (job.tensors(), job.bytes(), job.tasks());
    let StepEnd { state, done, compared } = end;
    let text = format!(
        "{state}: {}, {}, as {form} in {}, {done} of {} now{}: {folder}\n",
        Counted(tensors as u64, "tensor"),
        Counted(bytes, "byte"),
        Counted(files as u64, "file"),
        Counted(tasks, "task"),
        end.words(job),
    );
    let value = json!({
        "state": state, "plan": job.id(), "output": job.output(), "form": form,
        "files": job.files().collect::<Vec<_>>(), "tensors": tensors, "bytes": bytes,
        "bytes_out": job.written(), "tasks": tasks, "done": done, "compared": job.compared(),
        "verified": end.is_verified(job), "tasks_compared": compared,
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

fn say(job: &Job, end: StepEnd, out: &mut Output) -> Result<ExitCode, Failure> {
    let (text, value) = said(job, end);
    out.answer(&text, value)?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the planned result of each tensor.
fn list(job: &Job, out: &mut Output) -> Result<ExitCode, Failure> {
    let (mut text, mut value) = said(job, StepEnd::of(job, "planned", 0));
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

/// Returns the request for an input.
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
    if let Some(format) = &how.format {
        request = request.format(format);
    }
    if let Some(path) = &how.metadata {
        request = request.metadata(path);
    }
    if let Some(spec) = &how.to {
        request = request.layout(spec);
    }
    if let Some(most) = &how.max_shard_size {
        request = request.shard_size(spec::read_size("--max-shard-size", most)?);
    }
    if let Some(memory) = &how.memory {
        request = request.memory(spec::read_size("--memory", memory)?);
    }
    for text in &how.extents {
        request = match dims(text) {
            Some((glob, extents)) => {
                request.extents(glob, &extents).map_err(Failure::of_request)?
            }
            None => listed(request, text)?,
        };
    }
    let request = request.trust_replicas(how.trust_replicas).drop_padding(how.drop_padding);
    Ok(request.trust_extents(how.trust_extents).trust_metadata(how.trust_metadata))
}

/// Returns the rules of a folder of shards that the options describe.
fn shard_rules(args: &ShardArgs) -> Result<Option<Rules>, Failure> {
    args.from_mesh.as_ref().map(|mesh| rules("--from-rule", mesh, &args.from_rule)).transpose()
}

/// Opens the arrays of each path that is a folder of shards.
pub(super) fn shards<const N: usize>(
    paths: [&Path; N],
    args: &ShardArgs,
) -> Result<[Option<Collection>; N], Failure> {
    let rules = shard_rules(args)?;
    let mut found = [const { None }; N];
    for (found, path) in found.iter_mut().zip(paths) {
        let opened = tilewright::reshard::shards(path, rules.as_ref());
        *found = opened.map_err(Failure::of_shards)?;
    }
    let is_used = found.iter().flatten().next().is_some();
    match args.from_mesh.is_none() || is_used {
        true => Ok(found),
        false => Err(Failure::usage("--from-mesh needs a folder with several files and no index")),
    }
}

/// Returns a pattern and the extents of the tensors that it matches.
fn dims(text: &str) -> Option<(&str, Vec<u64>)> {
    let (glob, dims) = text.rsplit_once('=')?;
    Some((glob, serde_json::from_str::<Vec<u64>>(dims.trim()).ok()?))
}

/// Adds the extents that a file lists to a request.
fn listed(request: Request, path: &str) -> Result<Request, Failure> {
    if !is_url(Path::new(path)) && !Path::new(path).exists() {
        let legal = "expected a file, or GLOB=DIMS such as 'embed.weight=[50257,64]'";
        return Err(Failure::usage(format!("--extents {path}: {legal}")));
    }
    let text = streams::contents_text(Path::new(path), streams::LONGEST)
        .map_err(|failure| failure.about("--extents"))?;
    let about = |error| Failure::of_request(error).about(&format!("--extents {path}"));
    request.extents_text(&text).map_err(about)
}

/// Reads the rules of one side. A pattern ends at the first `=`, as in `convert`.
fn rules(option: &str, mesh: &str, texts: &[String]) -> Result<Rules, Failure> {
    texts.iter().try_fold(Rules::new(mesh).map_err(Failure::of_request)?, |rules, text| {
        let (glob, sharding) = text.split_once('=').ok_or_else(|| {
            let example = "'*_proj.weight=[Shard(0)]'";
            Failure::usage(format!("{option} {text}: expected GLOB=SHARDING, such as {example}"))
        })?;
        rules.rule(glob, sharding).map_err(Failure::of_request)
    })
}

/// Prints the remarks on a job. An assumption about missing extents is printed even if notes are off.
pub(super) fn remark(job: &Job, out: &Output) {
    if let Some(said) = job.assumption() {
        out.warn(&format!("{said}; {}", option(Remedy::Extents)));
    }
    job.remarks().for_each(|remark| out.remark(&remark));
}

/// The largest number of workers that are simulated.
const MOST: u64 = 1 << 20;

pub(super) fn simulate(args: &Simulate, out: &mut Output) -> Result<ExitCode, Failure> {
    if let Some(count) = args.workers.iter().find(|count| **count == 0 || **count > MOST) {
        return Err(Failure::usage(format!(
            "--workers {count}: expected numbers from 1 to {MOST}"
        )));
    }
    // Nothing is written or looked for there; messages name it.
    let asked = |input: &Path| Ok::<_, Failure>(request(input, input, &args.how)?.called("OUT"));
    let job = match (&args.input, tensors(args)?) {
        (Some(input), _) => Job::survey(asked(input)?).map_err(Failure::of_request)?,
        (None, Some(tensors)) => {
            Job::imagine(asked(Path::new("no source"))?, &tensors).map_err(Failure::of_request)?
        }
        (None, None) => {
            let said = "no tensors; give IN, --params, --config, or --bytes with --tensors";
            return Err(Failure::usage(said));
        }
    };
    remark(&job, out);
    let outlook = Outlook::of(&job, &args.workers).map_err(Failure::of_request)?;
    out.answer(&text(&outlook), value(&outlook))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the tensors that the options describe.
fn tensors(args: &Simulate) -> Result<Option<Vec<Tensor>>, Failure> {
    if let Some(parameters) = args.params {
        if !(1e6..=1e14).contains(&parameters) {
            let said = format!("--params {parameters}: expected a number from 1e6 to 1e14");
            return Err(Failure::usage(said));
        }
        return Ok(Some(Model::near(parameters).tensors(&args.dtype)));
    }
    if let Some(path) = &args.config {
        let text = streams::contents_text(path, streams::LONGEST)?;
        return Ok(Some(
            Model::of_config(&text).map_err(Failure::of_request)?.tensors(&args.dtype),
        ));
    }
    let (Some(bytes), Some(count)) = (&args.bytes, args.tensors) else { return Ok(None) };
    let model = Model::even(spec::read_size("--bytes", bytes)?, count, &args.dtype);
    Ok(Some(model.map_err(Failure::of_request)?))
}

fn text(outlook: &Outlook) -> String {
    let Outlook { calls, task, .. } = outlook;
    let mut text = String::new();
    let mut line = |name: &str, said: String| {
        let _ = writeln!(text, "{name:<10}{said}");
    };
    let (tensors, bytes) = (outlook.tensors, short(calls.bytes));
    line("tensors", format!("{tensors} of {bytes} together"));
    let (count, total) = (outlook.inputs, short(outlook.bytes_in));
    line("input", format!("{}, {total}", Counted(count, "file")));
    let (count, total, largest) =
        (outlook.outputs, short(outlook.bytes_out), short(outlook.largest));
    line("output", format!("{}, {total}; the largest {largest}", Counted(count, "file")));
    line("tasks", format!("{} of at most {}", calls.tasks, short(task.bytes)));
    let times = calls.read_bytes as f64 / calls.bytes.max(1) as f64;
    let (count, total) = (calls.reads, short(calls.read_bytes));
    line(
        "reads",
        format!("{count} of {total}, {times:.3} of the needed bytes; a task {}", task.reads),
    );
    let (count, total) = (calls.writes, short(calls.written));
    line("writes", format!("{count} of {total}; a task {}", task.writes));
    line("files", format!("{} open in a task", task.files));
    let (memory, plan, journal) = (outlook.memory, outlook.plan, outlook.journal);
    line("memory", format!("{} for buffers in a process", short(memory)));
    line("plan", format!("{}; journals {}", short(plan), short(journal)));
    if !outlook.workers.is_empty() {
        text.push_str(&table(&outlook.workers));
    }
    for limit in outlook.limits() {
        let _ = writeln!(text, "limit     {limit}");
    }
    text
}

/// Prints the least and the most of each number for one worker.
fn table(workers: &[Workers]) -> String {
    let head = ["workers", "tasks", "bytes", "reads", "writes", "plans read", "sources looked at"];
    let mut rows = vec![head.map(str::to_owned)];
    let span =
        |low: String, high: String| if low == high { low } else { format!("{low}–{high}") };
    for of in workers {
        let number = |f: fn(&Calls) -> u64| span(f(&of.least).to_string(), f(&of.most).to_string());
        rows.push([
            of.count.to_string(),
            number(|calls| calls.tasks),
            span(short(of.least.bytes), short(of.most.bytes)),
            number(|calls| calls.reads),
            number(|calls| calls.writes),
            short(of.plans),
            of.looks.to_string(),
        ]);
    }
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &[String; 7]| {
        let cells =
            row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", wide(column)));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Prints bytes with three digits: `803 GB`.
fn short(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", units.get(unit).unwrap_or(&"B"))
}

fn value(outlook: &Outlook) -> Value {
    let calls = |calls: &Calls| {
        json!({
            "tasks": calls.tasks, "bytes": calls.bytes, "reads": calls.reads,
            "read_bytes": calls.read_bytes, "writes": calls.writes, "written": calls.written,
            "files": calls.files,
        })
    };
    let worker = |of: &Workers| {
        json!({
            "workers": of.count, "least": calls(&of.least), "most": calls(&of.most), "idle": of.idle,
            "plan_bytes": of.plans, "sources_looked_at": of.looks, "files_opened": of.opens,
        })
    };
    json!({
        "tensors": outlook.tensors, "all": calls(&outlook.calls), "task": calls(&outlook.task),
        "files_in": outlook.inputs, "bytes_in": outlook.bytes_in, "files_out": outlook.outputs,
        "bytes_out": outlook.bytes_out, "largest_file": outlook.largest, "plan": outlook.plan,
        "journal": outlook.journal, "memory": outlook.memory,
        "shares": outlook.workers.iter().map(worker).collect::<Vec<_>>(),
        "limits": outlook.limits(),
    })
}
