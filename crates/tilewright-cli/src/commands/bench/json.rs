//! The JSON of `bench` (`docs/reference/json.md`).

use serde_json::{Value, json};
use tilewright_bench::{Boxed, Case, Machine, Planning, Row, Size, Summary, Tiny};

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
        let Value::Object(what) = described(case) else { return value };
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
pub(super) fn described(case: &Case) -> Value {
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
