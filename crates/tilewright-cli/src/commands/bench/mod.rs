//! `bench`: measures relayout on this machine beside memcpy. The cases are the defined ones, random ones, or one from
//! the command line. The answer is text, or JSON (`docs/reference/json.md`).

use serde_json::{Value, json};
use tilewright::{ask::words::fitted, cuda::Facts, device::Options, layouts::Counted};
use tilewright_bench::{
    Asked, Bench as Buffers, Boxed, Case, Definition, DeviceBench, DeviceRow, Effort, Machine,
    Offsets, Planning, Row, Size, Summary, Tiny, definitions, planning, random, summary, tiny,
};

use crate::{
    args::{Bench, MAX_BYTES},
    failure::Failure,
    output::{self, ExitCode, Output},
    spec,
};

pub(super) fn run(args: &Bench, out: &mut Output) -> Result<ExitCode, Failure> {
    let cases = cases(args)?;
    if args.list {
        return list(&cases, out);
    }
    if let Some(ordinal) = &args.device.device {
        return run_on_device(args, ordinal, cases, out);
    }
    let effort = if args.quick { Effort::quick() } else { Effort::full() };
    let bytes = cases.iter().map(Case::bytes).max().unwrap_or(0);
    let (threads, pages) = (threads(args)?, args.pages.parse()?);
    let mut buffers = Buffers::on_pages(bytes, pages)?;
    let machine = Machine::here();
    if !out.is_json() {
        out.text(&head(&machine, &pages_text(&buffers)))?;
    }
    let mut measured = Vec::new();
    for case in cases {
        for threads in &threads {
            let row = match args.paired {
                true => buffers.beside(&case, *threads, effort)?,
                false => buffers.relayout(&case, *threads, effort)?,
            };
            if !out.is_json() {
                out.text(&line(&case, &row))?;
            }
            measured.push((case.clone(), row));
        }
    }
    answer(args, &machine, buffers.huge_bytes(), &measured, out)
}

/// Prints the summary. Wrong bytes give the exit code of a no.
fn answer(
    args: &Bench,
    machine: &Machine,
    huge_bytes: Option<u64>,
    measured: &[(Case, Row)],
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let rows: Vec<Row> = measured.iter().map(|(_, row)| row.clone()).collect();
    let (summaries, tiny, planning) = (summary(&rows), tiny(&rows), planning(&rows));
    if out.is_json() {
        let cases: Vec<Value> = measured.iter().map(|(case, row)| row_json(case, row)).collect();
        let summaries: Vec<Value> = summaries.iter().map(summary_json).collect();
        let tiny: Vec<Value> = tiny.iter().map(tiny_json).collect();
        out.answer(
            "",
            json!({
                "machine": machine_json(machine),
                "huge_page_bytes": huge_bytes,
                "cases": cases,
                "summary": summaries,
                "tiny": tiny,
                "planning": planning.as_ref().map(planning_json),
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
        let worst = worst(measured, &most);
        let (disturbed, costs) = (disturbed(measured), costs(measured));
        out.text(&format!("\n{lines}{disturbed}{costs}{worst}"))?;
    }
    let right = rows.iter().all(Row::is_right);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::NO })
}

/// Lists the cases without measuring them.
fn list(cases: &[Case], out: &mut Output) -> Result<ExitCode, Failure> {
    let line = |case: &Case| format!("{:40} {}\n", case.name(), described(case));
    let text: String = cases.iter().map(line).collect();
    let cases: Vec<Value> = cases.iter().map(described_json).collect();
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
    let most = spec::read_size("--max-bytes", &args.max_bytes)?;
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
    let one = spec::count("--threads", text)?;
    Ok(vec![if one == 0 { all } else { one }])
}

/// The number of the slowest random cases that are listed again.
const WORST: usize = 10;

/// Returns a sentence about the pages of the buffers; it is empty if the system does not say.
fn pages_text(buffers: &Buffers) -> String {
    let Some(huge) = buffers.huge_bytes() else { return String::new() };
    let of = |bytes: u64| bytes as f64 / 1e6;
    format!("buffers: {:.0} of {:.0} MB on huge pages\n", of(huge), of(buffers.bytes()))
}

fn head(machine: &Machine, pages: &str) -> String {
    let caches: Vec<String> = machine.caches_kib.iter().map(u64::to_string).collect();
    let Machine { cpu, cores, os, arch, .. } = machine;
    format!(
        "{cpu}, {cores} cores, caches of {} KiB, {}, {os} {arch}\n{pages}GB/s read and written, memcpy and copy (relayout's own, layout to same layout) of the same number of bytes taking turns with it; cpu: processor time over elapsed time\n{}\n",
        caches.join(", "),
        machine.vectors.join(" "),
        Row::HEAD,
    )
}

/// Returns a line of the table, with the cost of offsets if it was measured, and for tiny cases the nanoseconds over memcpy. A
/// random case has its description on a second line.
fn line(case: &Case, row: &Row) -> String {
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
fn described(case: &Case) -> String {
    let dims: Vec<String> = case.dims().iter().map(u64::to_string).collect();
    let (dtype, dims) = (case.dtype().name(), dims.join(","));
    format!("{dtype}[{dims}]  {}  ->  {}  at {}", case.from(), case.to(), case.offsets())
}

/// Lists the slowest random cases for each number of threads, with the options that measure one again. `most` is the option
/// `--max-bytes`, if it was given.
fn worst(measured: &[(Case, Row)], most: &str) -> String {
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
fn disturbed(measured: &[(Case, Row)]) -> String {
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
fn costs(measured: &[(Case, Row)]) -> String {
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

fn machine_json(machine: &Machine) -> Value {
    json!({
        "cpu": machine.cpu,
        "cores": machine.cores,
        "caches_kib": machine.caches_kib,
        "vectors": machine.vectors,
        "arch": machine.arch,
        "os": machine.os,
    })
}

fn row_json(case: &Case, row: &Row) -> Value {
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

fn summary_json(summary: &Summary) -> Value {
    json!({
        "size": summary.size.to_string(),
        "threads": summary.threads,
        "cases": summary.cases,
        "geometric_mean": summary.geometric_mean,
        "least": summary.least,
        "least_name": summary.least_name,
    })
}

fn tiny_json(tiny: &Tiny) -> Value {
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

fn planning_json(planning: &Planning) -> Value {
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
fn described_json(case: &Case) -> Value {
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
        boxed.loops.iter().map(|level| json!([level.extent, level.src, level.dst])).collect();
    json!({ "src": boxed.src, "dst": boxed.dst, "loops": turns })
}

// `bench --device`: measures cases on a CUDA device beside the device's own copy, and compares the results with the
// CPU's.

/// The default for the fewest bytes of cases of size memory: more than the caches of any device.
const BYTES: u64 = 1 << 30;
/// The largest number of arrays in one launch.
const MANY: u64 = 100_000;
/// The fraction of the device's free memory that both buffers may take.
const ROOM: (u64, u64) = (4, 5);

fn run_on_device(
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
        out.text(&device_head(&facts))?;
    }
    let mut rows = Vec::new();
    for (case, arrays) in jobs {
        let row = bench.measure(&case, Asked { arrays, ..asked });
        // A case that no kernel moves is an error of that case.
        let row = row.map_err(Failure::from)?;
        if !out.is_json() {
            let what = match case.size() {
                Size::Random => format!("    {}\n", described(&case)),
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

fn device_head(facts: &Facts) -> String {
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
    let described = described_json(case);
    if let (Value::Object(all), Value::Object(fields)) = (&mut value, described) {
        let boxes = |name: &str| name == "boxes" || all.contains_key(name);
        let more: Vec<_> = fields.into_iter().filter(|(name, _)| !boxes(name)).collect();
        all.extend(more);
        all.insert("checksum".into(), json!(format!("{:#018x}", row.checksum)));
    }
    value
}
