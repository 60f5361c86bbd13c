//! `bench --device`: measures cases on a CUDA device beside the device's own copy, and compares the results with the
//! CPU's.

use serde_json::{Value, json};
use tilewright::{cuda::Facts, device::Options};
use tilewright_bench::{Asked, Case, DeviceBench, DeviceRow, Effort, Size};

use crate::commands::bench;
use crate::{
    args::Bench,
    failure::Failure,
    output::{ExitCode, Output},
    spec,
};

/// The default for the fewest bytes of cases of size memory: more than the caches of any device.
const BYTES: u64 = 1 << 30;
/// The largest number of arrays in one launch.
const MANY: u64 = 100_000;
/// The fraction of the device's free memory that both buffers may take.
const ROOM: (u64, u64) = (4, 5);

pub(super) fn run(
    args: &Bench,
    ordinal: &str,
    cases: Vec<Case>,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let device: i32 = number("--device", ordinal, 0..=1023)? as i32;
    let arrays = match &args.device.many {
        Some(many) => number("--many", many, 1..=MANY)?,
        None => 1,
    };
    let asked = asked(args)?;
    let free = DeviceBench::free(device)?;
    let jobs = sized(args, cases, arrays, free)?;
    let longest = jobs.iter().map(|(case, _)| case.bytes()).max().unwrap_or(0);
    let (_, most) =
        jobs.iter().map(|(case, arrays)| (case.bytes() * arrays, *arrays)).max().unwrap_or((0, 1));
    let mut bench = DeviceBench::open(device, longest, most)?;
    let facts = bench.facts()?;
    if !out.is_json() {
        out.text(&head(&facts))?;
    }
    let mut rows = Vec::new();
    for (case, arrays) in jobs {
        let row = bench.measure(&case, Asked { arrays, ..asked });
        // A case that no kernel moves is an error of that case.
        let row = row.map_err(Failure::from)?;
        if !out.is_json() {
            let what = match case.size() {
                Size::Random => format!("    {}\n", bench::described(&case)),
                _ => String::new(),
            };
            out.text(&format!("{row}\n{what}"))?;
        }
        rows.push((case, row));
    }
    let wrong = rows.iter().filter(|(_, row)| !row.is_right()).count();
    if out.is_json() {
        let cases: Vec<Value> = rows.iter().map(|(case, row)| of_row(case, row)).collect();
        out.answer(
            "",
            json!({ "device": of_facts(device, &facts), "cases": cases, "wrong": wrong }),
        )?;
    } else {
        out.text(&format!("\n{}", short(&rows, wrong)))?;
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::NO })
}

fn asked(args: &Bench) -> Result<Asked, Failure> {
    let effort = if args.quick { Effort::quick() } else { Effort::full() };
    let options = match &args.device.supertile {
        Some(tiles) => {
            let tiles = number("--supertile", tiles, 1..=64)?;
            Options::default().with_supertile(tiles as u32)
        }
        None => Options::default(),
    };
    Ok(Asked { effort: (!args.device.check).then_some(effort), options, ..Asked::default() })
}

/// Returns each case in the requested size, with the number of its arrays. A case gets a longer dim if its layouts allow it, else
/// more arrays, as far as the device has memory.
fn sized(
    args: &Bench,
    cases: Vec<Case>,
    arrays: u64,
    free: u64,
) -> Result<Vec<(Case, u64)>, Failure> {
    let bytes = match &args.device.bytes {
        Some(bytes) => spec::read_size("--bytes", bytes)?,
        None => BYTES,
    };
    let room = free / 2 / ROOM.1 * ROOM.0;
    let bytes = bytes.min(room);
    let one = |case: Case| {
        if case.size() != Size::Memory || arrays > 1 {
            return (case, arrays);
        }
        match case.of_bytes(bytes).filter(|larger| larger.bytes() <= room.max(case.bytes())) {
            Some(larger) => (larger, 1),
            None => {
                let times = (bytes / case.bytes().max(1)).max(1);
                (case, times)
            }
        }
    };
    Ok(cases.into_iter().map(one).collect())
}

fn number(what: &str, text: &str, legal: std::ops::RangeInclusive<u64>) -> Result<u64, Failure> {
    let read = text.trim().parse().ok().filter(|number| legal.contains(number));
    let (from, to) = legal.into_inner();
    read.ok_or_else(|| {
        Failure::usage(format!("{what} {text}: expected a number from {from} to {to}"))
    })
}

fn head(facts: &Facts) -> String {
    let (major, minor) = facts.capability;
    let known = |number: Option<u64>, per: u64, unit: &str| {
        number.map_or(String::new(), |number| format!(", {} {unit}", number / per))
    };
    format!(
        "{}, compute capability {major}.{minor}{}{}{}{}, {} MiB; driver for CUDA {}.{}, {}\nGB/s read and written; copy: the device's own, of the same number of bytes, taking turns; spread: quartiles over the median\n{}\n",
        facts.name,
        known(facts.multiprocessors, 1, "multiprocessors"),
        known(facts.clock_khz, 1000, "MHz"),
        known(facts.memory_clock_khz, 1000, "MHz of memory"),
        known(facts.l2_bytes, 1 << 20, "MiB of cache"),
        facts.total_bytes >> 20,
        facts.driver_cuda / 1000,
        facts.driver_cuda % 1000 / 10,
        facts.compiler.as_deref().unwrap_or("no compiler"),
        DeviceRow::HEAD,
    )
}

/// Summarises all cases by way.
fn short(rows: &[(Case, DeviceRow)], wrong: usize) -> String {
    let mut ways: Vec<(&str, Vec<(f64, &str)>)> = Vec::new();
    for (_, row) in rows {
        let way = row.main_way().unwrap_or("none");
        let Some(ratio) = row.ratio() else { continue };
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, all)) => all.push((ratio, &row.name)),
            None => ways.push((way, vec![(ratio, &row.name)])),
        }
    }
    let line = |(way, all): &(&str, Vec<(f64, &str)>)| {
        let mean = all.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / all.len() as f64;
        let least = all.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (least, name) = least.copied().unwrap_or((f64::NAN, ""));
        format!(
            "{way}: {:.3} of the device's copy in the geometric mean of {}, at least {least:.3} ({name})\n",
            mean.exp(),
            all.len()
        )
    };
    let lines: String = ways.iter().map(line).collect();
    let right = rows.len() - wrong;
    format!("{lines}{right} of {} right\n", rows.len())
}

fn of_facts(device: i32, facts: &Facts) -> Value {
    json!({
        "ordinal": device,
        "name": facts.name,
        "capability": [facts.capability.0, facts.capability.1],
        "multiprocessors": facts.multiprocessors,
        "clock_khz": facts.clock_khz,
        "memory_clock_khz": facts.memory_clock_khz,
        "bus_bits": facts.bus_bits,
        "l2_bytes": facts.l2_bytes,
        "total_bytes": facts.total_bytes,
        "free_bytes": facts.free_bytes,
        "driver": facts.driver,
        "driver_cuda": facts.driver_cuda,
        "compiler": facts.compiler,
    })
}

fn of_row(case: &Case, row: &DeviceRow) -> Value {
    let ways: Vec<Value> = row.ways.iter().map(|(name, count)| json!([name, count])).collect();
    let mut value = json!({
        "name": row.name,
        "size": row.size.to_string(),
        "bytes": row.bytes,
        "arrays": row.arrays,
        "gb_per_s": row.gb_per_s(),
        "copy_gb_per_s": row.copy_gb_per_s(),
        "ratio": row.ratio(),
        "seconds": row.seconds(),
        "copy_seconds": row.copy_seconds(),
        "spread": row.spread(),
        "copy_spread": row.copy_spread(),
        "turns": row.turns(),
        "runs": row.runs(),
        "graph": row.in_graph(),
        "launch_us": row.launch_micros(),
        "first_ms": row.first_seconds * 1e3,
        "compiled": row.compiled,
        "read": row.read,
        "way": row.main_way(),
        "ways": ways,
        "right": row.is_right(),
        "wrong": row.wrong,
    });
    let described = bench::described_json(case);
    if let (Value::Object(all), Value::Object(fields)) = (&mut value, described) {
        let boxes = |name: &str| name == "boxes" || all.contains_key(name);
        let more: Vec<_> = fields.into_iter().filter(|(name, _)| !boxes(name)).collect();
        all.extend(more);
        all.insert("checksum".into(), json!(format!("{:#018x}", row.checksum)));
    }
    value
}
