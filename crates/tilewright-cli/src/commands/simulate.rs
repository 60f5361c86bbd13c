//! `reshard simulate`: estimates a run.

use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};
use tilewright::{
    layouts::Counted,
    reshard::{Calls, Job, Model, Outlook, Tensor, Workers},
};

use super::how::{remark, request};
use crate::{args::Simulate, contents, exit::ExitCode, failure::Failure, output::Output, size};

/// The largest number of workers that are simulated.
const MOST: u64 = 1 << 20;

pub(super) fn run(args: &Simulate, out: &mut Output) -> Result<ExitCode, Failure> {
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
        let text = contents::text(path, contents::LONGEST)?;
        return Ok(Some(
            Model::of_config(&text).map_err(Failure::of_request)?.tensors(&args.dtype),
        ));
    }
    let (Some(bytes), Some(count)) = (&args.bytes, args.tensors) else { return Ok(None) };
    let model = Model::even(size::read("--bytes", bytes)?, count, &args.dtype);
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
