//! `bench`: measures relayout on this machine beside memcpy. The cases are the defined ones, random ones, or one from
//! the command line.

mod device;
mod report;

use serde_json::{Value, json};
use tilewright::ask::words::fitted;
use tilewright_bench::{
    Bench as Buffers, Case, Definition, Effort, Machine, Offsets, Row, Size, definitions, planning,
    random, summary, tiny,
};

use crate::{
    args::{Bench, MAX_BYTES},
    failure::Failure,
    output::{self, ExitCode, Output},
    size,
};

pub(super) fn run(args: &Bench, out: &mut Output) -> Result<ExitCode, Failure> {
    let cases = cases(args)?;
    if args.list {
        return list(&cases, out);
    }
    if let Some(ordinal) = &args.device.device {
        return device::run(args, ordinal, cases, out);
    }
    let effort = if args.quick { Effort::quick() } else { Effort::full() };
    let bytes = cases.iter().map(Case::bytes).max().unwrap_or(0);
    let (mut buffers, threads) = (Buffers::new(bytes)?, threads(args)?);
    let machine = Machine::here();
    if !out.is_json() {
        out.text(&report::head(&machine))?;
    }
    let mut measured = Vec::new();
    for case in cases {
        for threads in &threads {
            let row = match args.paired {
                true => buffers.beside(&case, *threads, effort)?,
                false => buffers.relayout(&case, *threads, effort)?,
            };
            if !out.is_json() {
                out.text(&report::line(&case, &row))?;
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
        let cases: Vec<Value> = measured.iter().map(|(case, row)| report::row(case, row)).collect();
        let summaries: Vec<Value> = summaries.iter().map(report::in_short).collect();
        let tiny: Vec<Value> = tiny.iter().map(report::tiny).collect();
        out.answer(
            "",
            json!({
                "machine": report::machine(machine),
                "cases": cases,
                "summary": summaries,
                "tiny": tiny,
                "planning": planning.as_ref().map(report::planning),
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
        let worst = report::worst(measured, &most);
        let (disturbed, costs) = (report::disturbed(measured), report::costs(measured));
        out.text(&format!("\n{lines}{disturbed}{costs}{worst}"))?;
    }
    let right = rows.iter().all(Row::is_right);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::NO })
}

/// Lists the cases without measuring them.
fn list(cases: &[Case], out: &mut Output) -> Result<ExitCode, Failure> {
    let line = |case: &Case| format!("{:40} {}\n", case.name(), report::described(case));
    let text: String = cases.iter().map(line).collect();
    let cases: Vec<Value> = cases.iter().map(report::described_json).collect();
    let text = fitted(&text, output::line());
    out.answer(&text, json!({ "cases": cases }))?;
    Ok(ExitCode::SUCCESS)
}

/// The largest number of random cases at once.
const MOST: u64 = 100_000;

/// Returns the requested cases, with their offsets.
fn cases(args: &Bench) -> Result<Vec<Case>, Failure> {
    let cases = match (&args.random, &args.from, &args.to) {
        (Some(count), _, _) => drawn(args, count)?,
        (None, Some(from), Some(to)) => vec![given(args, from, to)?],
        _ => chosen(args)?,
    };
    let Some(offset) = &args.offset else { return Ok(cases) };
    let offsets: Offsets = offset.parse()?;
    Ok(cases.into_iter().map(|case| case.at(offsets)).collect())
}

/// Returns the cases of a name, or all; of a size, or all except the small ones.
fn chosen(args: &Bench) -> Result<Vec<Case>, Failure> {
    let sizes = match &args.size {
        Some(size) => vec![size.parse::<Size>()?],
        None => vec![Size::Memory, Size::L2],
    };
    let all = definitions()?;
    known(&args.names, &all)?;
    // If names are given, all of their cases run, also with --quick.
    let wanted = |definition: &&Definition| match args.names.is_empty() {
        true => !args.quick || definition.is_quick(),
        false => args.names.iter().any(|name| definition.name().contains(name.as_str())),
    };
    let mut cases = Vec::new();
    for size in sizes {
        for definition in all.iter().filter(wanted) {
            cases.extend(definition.cases(size)?);
        }
    }
    match cases.is_empty() {
        true => Err(Failure::usage(format!(
            "no case with {} in its name has this size; `tilewright bench --list` lists them all",
            args.names.join(" or ")
        ))),
        false => Ok(cases),
    }
}

/// Refuses names that are not part of any case's name. Beside other names, such a name would have no effect.
fn known(names: &[String], all: &[Definition]) -> Result<(), Failure> {
    let has = |name: &&String| all.iter().any(|one| one.name().contains(name.as_str()));
    let unknown: Vec<&str> = names.iter().filter(|name| !has(name)).map(String::as_str).collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "no case has {} in its name; `tilewright bench --list` lists them all",
            unknown.join(" or ")
        ))),
    }
}

fn drawn(args: &Bench, count: &str) -> Result<Vec<Case>, Failure> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let count = number(count).filter(|count| (1..=MOST).contains(count)).ok_or_else(|| {
        Failure::usage(format!("--random {count}: expected a number of cases from 1 to {MOST}"))
    })?;
    let (seed, first) = args.seed.split_once(':').unwrap_or((&args.seed, "0"));
    let (seed, first) = number(seed)
        .zip(number(first).filter(|first| first.checked_add(MOST).is_some()))
        .ok_or_else(|| {
            let seed = &args.seed;
            Failure::usage(format!(
                "--seed {seed}: expected a number, as 7, or with the first case, as 7:12"
            ))
        })?;
    let most = size::read("--max-bytes", &args.max_bytes)?;
    (first..first + count).map(|index| Ok(random(seed, index, most)?)).collect()
}

fn given(args: &Bench, from: &str, to: &str) -> Result<Case, Failure> {
    let dims = args.array.dims()?;
    let dims = dims.ok_or_else(|| Failure::usage("--from and --to need --dims, as in 100,100"))?;
    let dtype = args.array.dtype.as_deref();
    let dtype = dtype.ok_or_else(|| Failure::usage("--from and --to need --dtype, as in f16"))?;
    Ok(Case::given(dtype, from, to, &dims)?)
}

/// Returns the numbers of threads to measure: the requested one, else one and all cores. Tiny cases use one thread only.
fn threads(args: &Bench) -> Result<Vec<usize>, Failure> {
    let all = Machine::here().cores;
    let Some(text) = &args.threads else {
        let tiny = args.size.as_deref() == Some("tiny");
        return Ok(if all > 1 && !tiny { vec![1, all] } else { vec![1] });
    };
    let one = size::count("--threads", text)?;
    Ok(vec![if one == 0 { all } else { one }])
}
