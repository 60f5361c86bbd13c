//! The answer of `bench` as text, and as JSON (`docs/reference/json.md`).

use serde_json::{Value, json};
use tilewright::layouts::Counted;
use tilewright_bench::{Boxed, Case, Machine, Planning, Row, Size, Summary, Tiny};

/// The number of the slowest random cases that are listed again.
const WORST: usize = 10;

pub(super) fn head(machine: &Machine) -> String {
    let caches: Vec<String> = machine.caches_kib.iter().map(u64::to_string).collect();
    let Machine { cpu, cores, os, arch, .. } = machine;
    format!(
        "{cpu}, {cores} cores, caches of {} KiB, {}, {os} {arch}\nGB/s read and written, memcpy and copy (relayout's own, layout to same layout) of the same number of bytes taking turns with it; cpu: processor time over elapsed time\n{}\n",
        caches.join(", "),
        machine.vectors.join(" "),
        Row::HEAD,
    )
}

/// Returns a line of the table, with the cost of offsets if it was measured, and for tiny cases the nanoseconds over memcpy. A
/// random case has its description on a second line.
pub(super) fn line(case: &Case, row: &Row) -> String {
    let cost = row.offset_cost().map_or(String::new(), |cost| format!("  {cost:.2} of on lines"));
    match case.size() {
        Size::Random => format!("{row}{cost}\n    {}\n", described(case)),
        Size::Tiny => {
            let over = (row.seconds - row.memcpy_seconds) * 1e9;
            format!("{row}{cost}  {over:+.0} ns\n")
        }
        Size::Memory | Size::L2 | Size::Small => format!("{row}{cost}\n"),
    }
}

/// Describes the move of a case: `bf16[100,100]  row-major  ->  zN  at 16,16`.
pub(super) fn described(case: &Case) -> String {
    let dims: Vec<String> = case.dims().iter().map(u64::to_string).collect();
    let (dtype, dims) = (case.dtype().name(), dims.join(","));
    format!("{dtype}[{dims}]  {}  ->  {}  at {}", case.from(), case.to(), case.offsets())
}

/// Lists the slowest random cases for each number of threads, with the options that measure one again. `most` is the option
/// `--max-bytes`, if it was given.
pub(super) fn worst(measured: &[(Case, Row)], most: &str) -> String {
    let drawn = |(case, _): &&(Case, Row)| case.size() == Size::Random;
    let mut threads: Vec<usize> =
        measured.iter().filter(drawn).map(|(_, row)| row.threads).collect();
    threads.sort();
    threads.dedup();
    let list = |threads: usize| {
        let of = measured.iter().filter(drawn).filter(|(_, row)| row.threads == threads);
        let mut rows: Vec<&(Case, Row)> = of.collect();
        if rows.len() < 2 {
            return String::new();
        }
        rows.sort_by(|(_, a), (_, b)| a.ratio().total_cmp(&b.ratio()));
        let one = |(case, row): &&(Case, Row)| {
            let again = case.name().strip_prefix("random-");
            let again =
                again.map_or(String::new(), |seed| format!("  --random 1 --seed {seed}{most}"));
            format!("  {:.2}  {}  {}{again}\n", row.ratio(), described(case), row.kernel)
        };
        let lines: String = rows.iter().take(WORST).map(one).collect();
        format!("slowest with {}:\n{lines}", Counted(threads as u64, "thread"))
    };
    threads.into_iter().map(list).collect()
}

/// The fraction of processor time in elapsed time below which other work disturbed a single thread.
const KEPT: f64 = 0.9;

/// Returns the ratios by processor time, if other work on the machine disturbed cases with one thread.
pub(super) fn disturbed(measured: &[(Case, Row)]) -> String {
    let alone = measured.iter().map(|(_, row)| row).filter(|row| row.threads == 1);
    let ratios: Vec<(f64, &Row)> =
        alone.filter_map(|row| row.cpu_ratio().map(|ratio| (ratio, row))).collect();
    let kept = |(_, row): &&(f64, &Row)| row.cpu_per_wall.is_some_and(|cpu| cpu < KEPT);
    let count = ratios.iter().filter(kept).count();
    let least = ratios.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
    let Some((least, row)) = least.filter(|_| count > 0) else { return String::new() };
    let mean = ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    format!(
        "other processes used the processor in {count} of {} with 1 thread; by processor time {:.2} of memcpy in the geometric mean, at least {least:.2} ({})\n",
        ratios.len(),
        mean.exp(),
        row.name,
    )
}

/// Returns the cost of offsets for each number of threads: the mean, the largest, and its case.
pub(super) fn costs(measured: &[(Case, Row)]) -> String {
    let mut threads: Vec<usize> = measured.iter().map(|(_, row)| row.threads).collect();
    threads.sort();
    threads.dedup();
    let line = |threads: usize| {
        let rows = measured.iter().map(|(_, row)| row).filter(|row| row.threads == threads);
        let costs: Vec<(f64, &Row)> =
            rows.filter_map(|row| row.offset_cost().map(|cost| (cost, row))).collect();
        let (most, row) = costs.iter().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let logarithms: f64 = costs.iter().map(|(cost, _)| cost.ln()).sum();
        Some(format!(
            "offsets, {}: {:.2} of the time on cache lines in the geometric mean of {}, at most {most:.2} ({})\n",
            Counted(threads as u64, "thread"),
            (logarithms / costs.len() as f64).exp(),
            costs.len(),
            row.name,
        ))
    };
    threads.into_iter().filter_map(line).collect()
}

pub(super) fn machine(machine: &Machine) -> Value {
    json!({
        "cpu": machine.cpu,
        "cores": machine.cores,
        "caches_kib": machine.caches_kib,
        "vectors": machine.vectors,
        "arch": machine.arch,
        "os": machine.os,
    })
}

pub(super) fn row(case: &Case, row: &Row) -> Value {
    let mut value = json!({
        "name": row.name,
        "size": row.size.to_string(),
        "threads": row.threads,
        "bytes": row.bytes,
        "gb_per_s": row.gb_per_s(),
        "memcpy_gb_per_s": row.memcpy_gb_per_s(),
        "copy_gb_per_s": row.copy_gb_per_s(),
        "ratio": row.ratio(),
        "seconds": row.seconds,
        "memcpy_seconds": row.memcpy_seconds,
        "pairs": row.pairs,
        "plan_us": row.plan_micros,
        "loops": row.loops,
        "kernel": row.kernel,
        "plan": row.plan,
        "right": row.is_right(),
        "checksum": format!("{:#018x}", row.checksum),
        "offsets": [row.offsets.src, row.offsets.dst],
        "cpu_per_wall": row.cpu_per_wall,
        "cpu_seconds": row.cpu_seconds,
        "memcpy_cpu_seconds": row.memcpy_cpu_seconds,
        "cpu_ratio": row.cpu_ratio(),
        "on_lines_seconds": row.on_lines_seconds,
        "offset_cost": row.offset_cost(),
    });
    // `--list` prints the definitions of cases; for a random case this row is the only place.
    if let (Size::Random, Value::Object(fields)) = (case.size(), &mut value) {
        let Value::Object(what) = described_json(case) else { return value };
        let known = ["name", "size", "checksum", "offsets"];
        fields.extend(what.into_iter().filter(|(name, _)| !known.contains(&&**name)));
    }
    value
}

pub(super) fn in_short(summary: &Summary) -> Value {
    json!({
        "size": summary.size.to_string(),
        "threads": summary.threads,
        "cases": summary.cases,
        "geometric_mean": summary.geometric_mean,
        "least": summary.least,
        "least_name": summary.least_name,
    })
}

pub(super) fn tiny(tiny: &Tiny) -> Value {
    json!({
        "threads": tiny.threads,
        "few": tiny.few,
        "median_ns": tiny.median_ns,
        "most_ns": tiny.most_ns,
        "most_ns_name": tiny.most_ns_name,
        "many": tiny.many,
        "median_times": tiny.median_times,
        "most_times": tiny.most_times,
        "most_times_name": tiny.most_times_name,
    })
}

pub(super) fn planning(planning: &Planning) -> Value {
    json!({
        "cases": planning.cases,
        "median_us": planning.median_us,
        "most_us": planning.most_us,
        "most_name": planning.most_name,
        "few_loops": planning.few_loops,
        "few_loops_median_us": planning.few_loops_median_us,
        "few_loops_most_us": planning.few_loops_most_us,
        "few_loops_most_name": planning.few_loops_most_name,
    })
}

/// Returns the array that a case moves, also as boxes with strides for other libraries.
pub(super) fn described_json(case: &Case) -> Value {
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
        "checksum": case.checksum().map(|checksum| format!("{checksum:#018x}")),
        "offsets": [case.offsets().src, case.offsets().dst],
        "boxes": boxes,
    })
}

/// Returns the offsets, and loops as `[extent, source stride, destination stride]`, all in elements.
fn boxed(boxed: &Boxed) -> Value {
    let turns: Vec<Value> =
        boxed.turns.iter().map(|turn| json!([turn.extent, turn.src, turn.dst])).collect();
    json!({ "src": boxed.src, "dst": boxed.dst, "loops": turns })
}
