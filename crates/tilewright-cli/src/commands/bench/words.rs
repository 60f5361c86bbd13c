//! The text of `bench`.

use tilewright::layouts::Counted;
use tilewright_bench::{Case, Machine, Row, Size};

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
