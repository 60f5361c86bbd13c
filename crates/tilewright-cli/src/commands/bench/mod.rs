//! `bench`: measures relayout on this machine beside memcpy.

mod choice;
mod device;
mod json;
mod words;

use serde_json::{Value, json};
use tilewright::ask::words::fitted;
use tilewright_bench::{Bench as Buffers, Case, Effort, Machine, Row, planning, summary, tiny};

use crate::{
    args::{Bench, MAX_BYTES},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    screen,
};

pub(super) fn run(args: &Bench, out: &mut Output) -> Result<ExitCode, Failure> {
    let cases = choice::cases(args)?;
    if args.list {
        return list(&cases, out);
    }
    if let Some(ordinal) = &args.device.device {
        return device::run(args, ordinal, cases, out);
    }
    let effort = if args.quick { Effort::quick() } else { Effort::full() };
    let bytes = cases.iter().map(Case::bytes).max().unwrap_or(0);
    let (mut buffers, threads) = (Buffers::new(bytes)?, choice::threads(args)?);
    let machine = Machine::here();
    if !out.is_json() {
        out.text(&words::head(&machine))?;
    }
    let mut measured = Vec::new();
    for case in cases {
        for threads in &threads {
            let row = match args.paired {
                true => buffers.beside(&case, *threads, effort)?,
                false => buffers.relayout(&case, *threads, effort)?,
            };
            if !out.is_json() {
                out.text(&words::line(&case, &row))?;
            }
            measured.push((case.clone(), row));
        }
    }
    answer(args, &machine, &measured, out)
}

/// Prints the summary. Wrong bytes give the exit code of a no.
fn answer(
    args: &Bench,
    machine: &Machine,
    measured: &[(Case, Row)],
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let rows: Vec<Row> = measured.iter().map(|(_, row)| row.clone()).collect();
    let (summaries, tiny, planning) = (summary(&rows), tiny(&rows), planning(&rows));
    if out.is_json() {
        let cases: Vec<Value> = measured.iter().map(|(case, row)| json::row(case, row)).collect();
        let summaries: Vec<Value> = summaries.iter().map(json::in_short).collect();
        let tiny: Vec<Value> = tiny.iter().map(json::tiny).collect();
        out.answer(
            "",
            json!({
                "machine": json::machine(machine),
                "cases": cases,
                "summary": summaries,
                "tiny": tiny,
                "planning": planning.as_ref().map(json::planning),
            }),
        )?;
    } else {
        let lines = summaries.iter().map(ToString::to_string);
        let lines = lines.chain(tiny.iter().map(ToString::to_string));
        let lines = lines.chain(planning.iter().map(ToString::to_string));
        let lines: String = lines.map(|line| line + "\n").collect();
        let most = match &*args.max_bytes {
            MAX_BYTES => String::new(),
            said => format!(" --max-bytes {said}"),
        };
        let worst = words::worst(measured, &most);
        let (disturbed, costs) = (words::disturbed(measured), words::costs(measured));
        out.text(&format!("\n{lines}{disturbed}{costs}{worst}"))?;
    }
    let right = rows.iter().all(Row::is_right);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::NO })
}

/// Lists the cases without measuring them.
fn list(cases: &[Case], out: &mut Output) -> Result<ExitCode, Failure> {
    let line = |case: &Case| format!("{:40} {}\n", case.name(), words::described(case));
    let text: String = cases.iter().map(line).collect();
    let cases: Vec<Value> = cases.iter().map(json::described).collect();
    let text = fitted(&text, screen::line());
    out.answer(&text, json!({ "cases": cases }))?;
    Ok(ExitCode::SUCCESS)
}
