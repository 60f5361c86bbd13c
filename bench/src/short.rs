//! Summaries of the measured rows: ratios by size and number of threads, the cost of tiny arrays, and the
//! cost of planning.

use std::fmt;

use crate::{Row, Size, turns::median};

/// All cases of one size with one number of threads.
///
/// ```
/// use tilewright_bench::{Bench, Effort, Size, definitions, summary};
/// let case = definitions()?[0].case(Size::Small)?;
/// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
/// let all = summary(&[row.clone(), row.clone()]);
/// assert_eq!((all.len(), all[0].cases, &all[0].least_name), (1, 2, &row.name));
/// assert!((all[0].geometric_mean - row.ratio()).abs() < 1e-9 && all[0].least == row.ratio());
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Summary {
    /// The size.
    pub size: Size,
    /// The threads.
    pub threads: usize,
    /// The number of cases.
    pub cases: usize,
    /// The geometric mean of their ratios to memcpy.
    pub geometric_mean: f64,
    /// The least ratio.
    pub least: f64,
    /// The case with the least ratio.
    pub least_name: String,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { size, threads, cases, geometric_mean, least, least_name } = self;
        write!(
            f,
            "{size}, {threads} thread{}: {geometric_mean:.2} of memcpy in the geometric mean of {cases}, at least {least:.2} ({least_name})",
            if *threads == 1 { "" } else { "s" }
        )
    }
}

/// Returns the summaries by size and number of threads.
///
/// ```
/// assert!(tilewright_bench::summary(&[]).is_empty());
/// ```
pub fn summary(rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<(Size, usize)> = rows.iter().map(|row| (row.size, row.threads)).collect();
    groups.sort();
    groups.dedup();
    let one = |(size, threads): (Size, usize)| {
        let rows = rows.iter().filter(|row| (row.size, row.threads) == (size, threads));
        let least = rows.clone().min_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
        let cases = rows.clone().count();
        let logarithms: f64 = rows.map(|row| row.ratio().ln()).sum();
        Some(Summary {
            size,
            threads,
            cases,
            geometric_mean: (logarithms / cases as f64).exp(),
            least: least.ratio(),
            least_name: least.name.clone(),
        })
    };
    groups.into_iter().filter_map(one).collect()
}

/// The limit in bytes up to which the time in addition to memcpy is reported, and beyond which the ratio.
const FEW: u64 = 4096;

/// The cost of a run of a kept plan for tiny arrays, with one number of threads.
///
/// ```
/// use tilewright_bench::{Bench, Effort, Size, definitions, tiny};
/// let mut bench = Bench::new(1 << 16)?;
/// let mut rows = Vec::new();
/// for case in definitions()?[0].cases(Size::Tiny)? {
///     rows.push(bench.relayout(&case, 1, Effort::quick())?);
/// }
/// let short = &tiny(&rows)[0];
/// assert_eq!((short.threads, short.few, short.many), (1, 2, 1));
/// let times = rows[2].seconds / rows[2].memcpy_seconds;
/// assert!((short.most_times / times - 1.0).abs() < 1e-9);
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tiny {
    /// The threads.
    pub threads: usize,
    /// The number of cases for which memcpy moves at most 4096 bytes.
    pub few: usize,
    /// The median, over these, of the nanoseconds of a run in addition to those of memcpy.
    pub median_ns: f64,
    /// The largest of these numbers.
    pub most_ns: f64,
    /// The case with the largest.
    pub most_ns_name: String,
    /// The number of other cases, up to about 64 kB.
    pub many: usize,
    /// The median, over these, of the time divided by memcpy's.
    pub median_times: f64,
    /// The largest of these numbers.
    pub most_times: f64,
    /// The case with the largest.
    pub most_times_name: String,
}

impl fmt::Display for Tiny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tiny { threads, few, median_ns, most_ns, most_ns_name, .. } = self;
        let Tiny { many, median_times, most_times, most_times_name, .. } = self;
        write!(
            f,
            "tiny, {threads} thread{}: {median_ns:.0} ns over memcpy in the median of {few} of at most {FEW} bytes, at most {most_ns:.0} ns ({most_ns_name}); {median_times:.2} of memcpy's time in the median of {many} larger ones, at most {most_times:.2} ({most_times_name})",
            if *threads == 1 { "" } else { "s" }
        )
    }
}

/// Returns the summaries of the tiny rows, by the number of threads.
///
/// ```
/// assert!(tilewright_bench::tiny(&[]).is_empty());
/// ```
pub fn tiny(rows: &[Row]) -> Vec<Tiny> {
    let tiny: Vec<&Row> = rows.iter().filter(|row| row.size == Size::Tiny).collect();
    let mut threads: Vec<usize> = tiny.iter().map(|row| row.threads).collect();
    threads.sort();
    threads.dedup();
    let one = |threads: usize| {
        let of = |few: bool| {
            let rows = tiny.iter().filter(move |row| row.threads == threads);
            rows.filter(move |row| (row.bytes / 2 <= FEW) == few)
        };
        let (few, many) = (spread(of(true), over), spread(of(false), |row| 1.0 / row.ratio()));
        Tiny {
            threads,
            few: of(true).count(),
            median_ns: few.median,
            most_ns: few.most,
            most_ns_name: few.name,
            many: of(false).count(),
            median_times: many.median,
            most_times: many.most,
            most_times_name: many.name,
        }
    };
    threads.into_iter().map(one).collect()
}

/// Returns the nanoseconds of a run in addition to those of memcpy.
fn over(row: &Row) -> f64 {
    (row.seconds - row.memcpy_seconds) * 1e9
}

/// The cost of making plans.
///
/// ```
/// use tilewright_bench::{Bench, Effort, Size, definitions, planning};
/// let case = definitions()?[0].case(Size::Small)?;
/// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
/// let all = planning(&[row.clone()]).unwrap();
/// assert_eq!((all.cases, all.median_us, all.few_loops), (1, row.plan_micros, 1));
/// assert!(planning(&[]).is_none());
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planning {
    /// The number of plans, one for each case.
    pub cases: usize,
    /// The median of their microseconds.
    pub median_us: f64,
    /// The largest of their microseconds.
    pub most_us: f64,
    /// The case with the largest.
    pub most_name: String,
    /// The number of cases whose boxes have at most two loops: transposed matrices, rows, and similar ones.
    pub few_loops: usize,
    /// The median of their microseconds; NaN if there are none.
    pub few_loops_median_us: f64,
    /// The largest; NaN if there are none.
    pub few_loops_most_us: f64,
    /// The case with the largest.
    pub few_loops_most_name: String,
}

impl fmt::Display for Planning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Planning { cases, median_us, most_us, most_name, few_loops, .. } = self;
        write!(
            f,
            "planning: {median_us:.1} µs in the median of {cases}, at most {most_us:.1} ({most_name})"
        )?;
        if *few_loops == 0 {
            return Ok(());
        }
        let Planning { few_loops_median_us, few_loops_most_us, few_loops_most_name, .. } = self;
        write!(
            f,
            "; of at most two loops {few_loops_median_us:.1} in the median of {few_loops}, at most {few_loops_most_us:.1} ({few_loops_most_name})"
        )
    }
}

/// Returns the cost of the plans of these rows; a case counts once, whatever its threads. `None` without rows.
///
/// ```
/// assert!(tilewright_bench::planning(&[]).is_none());
/// ```
pub fn planning(rows: &[Row]) -> Option<Planning> {
    let first = |(at, row): &(usize, &Row)| !rows[..*at].iter().any(|one| one.name == row.name);
    let cases: Vec<&Row> = rows.iter().enumerate().filter(first).map(|(_, row)| row).collect();
    let few = || cases.iter().filter(|row| row.loops.is_some_and(|loops| loops <= 2));
    let (all, of_few) =
        (spread(cases.iter(), |row| row.plan_micros), spread(few(), |row| row.plan_micros));
    (!cases.is_empty()).then(|| Planning {
        cases: cases.len(),
        median_us: all.median,
        most_us: all.most,
        most_name: all.name,
        few_loops: few().count(),
        few_loops_median_us: of_few.median,
        few_loops_most_us: of_few.most,
        few_loops_most_name: of_few.name,
    })
}

/// The median of the numbers of rows, the largest, and its case; NaN without rows.
struct Spread {
    median: f64,
    most: f64,
    name: String,
}

fn spread<'a>(rows: impl Iterator<Item = &'a &'a Row>, number: impl Fn(&Row) -> f64) -> Spread {
    let numbers: Vec<(f64, &Row)> = rows.map(|row| (number(row), *row)).collect();
    let most = numbers.iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
    Spread {
        median: median(numbers.iter().map(|(number, _)| *number).collect()),
        most: most.map_or(f64::NAN, |(number, _)| *number),
        name: most.map(|(_, row)| row.name.clone()).unwrap_or_default(),
    }
}
