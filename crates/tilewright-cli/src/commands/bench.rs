//! `bench`: how fast relayout is on this machine, next to memcpy.

use serde_json::{Value, json};
use tilewright_bench::{
    Bench as Buffers, Boxed, Case, Definition, Effort, Machine, Row, Size, Summary, definitions,
    summary,
};

use crate::{args::Bench, exit::ExitCode, failure::Failure, output::Output, size};

pub(super) fn run(args: &Bench, out: &mut Output) -> Result<ExitCode, Failure> {
    let cases = chosen(args)?;
    if args.list {
        return list(&cases, out);
    }
    let effort = if args.quick { Effort::quick() } else { Effort::full() };
    let bytes = cases.iter().map(Case::bytes).max().unwrap_or(0);
    let (mut buffers, threads) = (Buffers::new(bytes)?, threads(args)?);
    let machine = Machine::here();
    if !out.is_json() {
        out.text(&format!("{}\n{}\n", head(&machine), Row::HEAD))?;
    }
    let mut rows = Vec::new();
    for case in &cases {
        for threads in &threads {
            let row = buffers.relayout(case, *threads, effort)?;
            if !out.is_json() {
                out.text(&format!("{row}\n"))?;
            }
            rows.push(row);
        }
    }
    answer(&machine, &rows, out)
}

/// The cases that were asked for: by name, or all; by size, or all but the small ones.
fn chosen(args: &Bench) -> Result<Vec<Case>, Failure> {
    let sizes = match &args.size {
        Some(size) => vec![size.parse::<Size>()?],
        None => vec![Size::Memory, Size::L2],
    };
    let all = definitions()?;
    // Who names cases wants them all, quick or not.
    let wanted = |definition: &&Definition| match args.names.is_empty() {
        true => !args.quick || definition.is_quick(),
        false => args.names.iter().any(|name| definition.name().contains(name.as_str())),
    };
    let mut cases = Vec::new();
    for size in sizes {
        for definition in all.iter().filter(wanted) {
            cases.push(definition.case(size)?);
        }
    }
    match cases.is_empty() {
        true => Err(Failure::usage(format!(
            "no case has {} in its name; `tilewright bench --list` has them all",
            args.names.join(" or ")
        ))),
        false => Ok(cases),
    }
}

/// One thread and all, or as many as were asked for.
fn threads(args: &Bench) -> Result<Vec<usize>, Failure> {
    let all = Machine::here().cores;
    let Some(text) = &args.threads else {
        return Ok(if all > 1 { vec![1, all] } else { vec![1] });
    };
    let one = size::count("--threads", text)?;
    Ok(vec![if one == 0 { all } else { one }])
}

fn head(machine: &Machine) -> String {
    let caches: Vec<String> = machine.caches_kib.iter().map(u64::to_string).collect();
    let Machine { cpu, cores, os, arch, .. } = machine;
    format!(
        "{cpu}, {cores} cores, caches of {} KiB, {}, {os} {arch}\nGB/s read and written, memcpy and copy (relayout's own, layout to same layout) of as many bytes taking turns with it",
        caches.join(", "),
        machine.vectors.join(" "),
    )
}

/// What it came to; wrong bytes are a no.
fn answer(machine: &Machine, rows: &[Row], out: &mut Output) -> Result<ExitCode, Failure> {
    let summaries = summary(rows);
    if out.is_json() {
        let cases: Vec<Value> = rows.iter().map(row).collect();
        let summaries: Vec<Value> = summaries.iter().map(in_short).collect();
        let machine = json!({
            "cpu": machine.cpu,
            "cores": machine.cores,
            "caches_kib": machine.caches_kib,
            "vectors": machine.vectors,
            "arch": machine.arch,
            "os": machine.os,
        });
        out.answer("", json!({ "machine": machine, "cases": cases, "summary": summaries }))?;
    } else {
        let lines: Vec<String> = summaries.iter().map(|one| format!("{one}\n")).collect();
        out.text(&format!("\n{}", lines.concat()))?;
    }
    let right = rows.iter().all(Row::is_right);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::from(super::NO) })
}

fn row(row: &Row) -> Value {
    json!({
        "name": row.name,
        "size": row.size.to_string(),
        "threads": row.threads,
        "bytes": row.bytes,
        "gb_per_s": row.gb_per_s(),
        "memcpy_gb_per_s": row.memcpy_gb_per_s(),
        "copy_gb_per_s": row.copy_gb_per_s(),
        "ratio": row.ratio(),
        "seconds": row.seconds,
        "pairs": row.pairs,
        "plan_us": row.plan_micros,
        "kernel": row.kernel,
        "right": row.is_right(),
    })
}

fn in_short(summary: &Summary) -> Value {
    json!({
        "size": summary.size.to_string(),
        "threads": summary.threads,
        "cases": summary.cases,
        "geometric_mean": summary.geometric_mean,
        "least": summary.least,
        "least_name": summary.least_name,
    })
}

/// The cases, not measured: what they move, also as boxes with strides for other libraries.
fn list(cases: &[Case], out: &mut Output) -> Result<ExitCode, Failure> {
    let line = |case: &Case| {
        let dims: Vec<String> = case.dims().iter().map(u64::to_string).collect();
        let (name, dtype) = (case.name(), case.dtype().name());
        format!("{name:40} {dtype}[{}]  {}  ->  {}\n", dims.join(","), case.from(), case.to())
    };
    let text: String = cases.iter().map(line).collect();
    let cases: Vec<Value> = cases.iter().map(described).collect();
    out.answer(&text, json!({ "cases": cases }))?;
    Ok(ExitCode::SUCCESS)
}

fn described(case: &Case) -> Value {
    let boxes: Option<Vec<Value>> = case.boxes().map(|boxes| boxes.iter().map(boxed).collect());
    json!({
        "name": case.name(),
        "size": case.size().to_string(),
        "dtype": case.dtype().name(),
        "dims": case.dims(),
        "from": case.from(),
        "to": case.to(),
        "src_bits": case.elements().src_bits,
        "dst_bits": case.elements().dst_bits,
        "src_bytes": case.src_bytes(),
        "dst_bytes": case.dst_bytes(),
        "checksum": format!("{:#018x}", case.checksum()),
        "boxes": boxes,
    })
}

/// Offsets, and loops as `[extent, source stride, destination stride]`, all in elements.
fn boxed(boxed: &Boxed) -> Value {
    let turns: Vec<Value> =
        boxed.turns.iter().map(|turn| json!([turn.extent, turn.src, turn.dst])).collect();
    json!({ "src": boxed.src, "dst": boxed.dst, "loops": turns })
}
