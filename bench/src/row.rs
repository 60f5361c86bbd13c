//! The measured times of one case, the ratios that follow from them, and summaries of many rows: ratios by size and number
//! of threads, the cost of tiny arrays, and the cost of planning. Also the timing of functions that run in turns.

use std::{fmt, hint::black_box, time::Instant};

use crate::{Error, Offsets, Size};

/// One case with one number of threads: medians of interleaved runs.
///
/// `Display` prints a line of the table with the head [`Row::HEAD`].
///
/// ```
/// use tilewright_bench::{Bench, Effort, Row, Size, definitions};
/// let case = definitions()?[0].case(Size::Small)?;
/// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
/// assert_eq!((row.name.as_str(), row.threads, row.bytes), ("transpose-u8-square/small", 1, 1152));
/// assert!(row.to_string().starts_with("transpose-u8-square/small"));
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Row {
    /// The case, with its size: `transpose-f32-odd/memory`.
    pub name: String,
    /// Its size.
    pub size: Size,
    /// The threads of the relayout and of the copies it is compared with.
    pub threads: usize,
    /// The bytes read and written.
    pub bytes: u64,
    /// Seconds of one run.
    pub seconds: f64,
    /// Seconds of a memcpy that reads and writes the same number of bytes together.
    pub memcpy_seconds: f64,
    /// Seconds of relayout's own copy of the same number of bytes, from a layout to the same.
    pub copy_seconds: f64,
    /// The microseconds that planning took.
    pub plan_micros: f64,
    /// The loops of its boxes, the most of any box; `None` if there are many boxes.
    pub loops: Option<usize>,
    /// The number of times that each was timed.
    pub pairs: usize,
    /// The kernel that does most of the work, in the plan's words.
    pub kernel: String,
    /// The plan in words: its ways, their blocks, the division among threads, and the fills.
    pub plan: String,
    /// The checksum of the result.
    pub checksum: u64,
    /// The fault of the result, if any.
    pub wrong: Option<String>,
    /// The offsets within a cache line at which the buffers begin.
    pub offsets: Offsets,
    /// The processor time of all threads divided by the time of the runs; `None` if the system does not report it.
    pub cpu_per_wall: Option<f64>,
    /// Processor seconds of one run, of all threads.
    pub cpu_seconds: Option<f64>,
    /// Processor seconds of one memcpy, of all threads.
    pub memcpy_cpu_seconds: Option<f64>,
    /// Seconds of one run in buffers that begin on cache lines, if both were measured.
    pub on_lines_seconds: Option<f64>,
}

impl Row {
    /// The head of the table.
    pub const HEAD: &str = "case                                     threads      MB    GB/s  memcpy    copy  ratio   cpu  plan µs  kernel";

    /// Returns the gigabytes (10⁹) read and written in a second.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
    /// assert_eq!(row.gb_per_s(), row.bytes as f64 / 1e9 / row.seconds);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn gb_per_s(&self) -> f64 {
        self.rate(self.seconds)
    }

    /// Returns the gigabytes that memcpy reads and writes in a second.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
    /// assert_eq!(row.memcpy_gb_per_s(), row.bytes as f64 / 1e9 / row.memcpy_seconds);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn memcpy_gb_per_s(&self) -> f64 {
        self.rate(self.memcpy_seconds)
    }

    /// Returns the gigabytes that relayout's own copy reads and writes in a second: an upper bound if it streams.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
    /// assert_eq!(row.copy_gb_per_s(), row.bytes as f64 / 1e9 / row.copy_seconds);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn copy_gb_per_s(&self) -> f64 {
        self.rate(self.copy_seconds)
    }

    /// Returns the speed relative to memcpy.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
    /// assert_eq!(row.ratio(), row.memcpy_seconds / row.seconds);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn ratio(&self) -> f64 {
        self.memcpy_seconds / self.seconds
    }

    /// Returns the speed relative to memcpy by processor time, which is more reliable than the time if other work takes
    /// the processor. `None` with several threads, or if the system does not report it.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let mut bench = Bench::new(case.bytes())?;
    /// assert_eq!(bench.relayout(&case, 1, Effort::quick())?.cpu_ratio().is_some(), cfg!(unix));
    /// assert!(bench.relayout(&case, 2, Effort::quick())?.cpu_ratio().is_none());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn cpu_ratio(&self) -> Option<f64> {
        let (ours, memcpy) = self.cpu_seconds.zip(self.memcpy_cpu_seconds)?;
        (self.threads == 1).then_some(memcpy / ours)
    }

    /// Returns the cost of the buffers' offsets: the seconds divided by those on cache lines; `None` unless both were
    /// [measured](crate::Bench::beside).
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
    /// assert_eq!(row.offset_cost(), None);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn offset_cost(&self) -> Option<f64> {
        self.on_lines_seconds.map(|on_lines| self.seconds / on_lines)
    }

    /// Returns whether the right bytes were produced.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let mut bench = Bench::new(case.bytes())?;
    /// assert!(bench.relayout(&case, 1, Effort::quick())?.is_right());
    /// // A copy is not a transpose.
    /// let copy = |src: &[u8], dst: &mut [u8]| Ok(dst.copy_from_slice(src));
    /// assert!(!bench.job(&case, 1, Effort::quick(), copy)?.is_right());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn is_right(&self) -> bool {
        self.wrong.is_none()
    }

    fn rate(&self, seconds: f64) -> f64 {
        self.bytes as f64 / 1e9 / seconds
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:40} {:>7} {:>7.*} {:>7.2} {:>7.2} {:>7.2} {:>6.2} {:>5.2} {:>8.1}  {}",
            self.name,
            self.threads,
            if self.bytes < 1_000_000 { 4 } else { 1 },
            self.bytes as f64 / 1e6,
            self.gb_per_s(),
            self.memcpy_gb_per_s(),
            self.copy_gb_per_s(),
            self.ratio(),
            self.cpu_per_wall.unwrap_or(f64::NAN),
            self.plan_micros,
            self.kernel
        )?;
        match &self.wrong {
            None => Ok(()),
            Some(wrong) => write!(f, "  WRONG: {wrong}"),
        }
    }
}

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

// Times one of several functions that run in turns: the number of runs in a turn, and the seconds of a run in each
// turn; and the processor time of all threads of this process. Measurements on the processor use both.

/// Runs that take less time than this, in seconds, are repeated within a turn.
const LEAST: f64 = 1e-3;

/// The most runs in a turn.
const MOST: f64 = 4096.0;

/// The seconds of a run in each turn, and the processor time of all turns.
pub(crate) struct Turns {
    runs: Option<u32>,
    times: Vec<f64>,
    /// Processor time of a run in each turn; fewer than turns if the system does not report it.
    worked: Vec<f64>,
}

impl Turns {
    pub(crate) fn new() -> Turns {
        Turns { runs: None, times: Vec::new(), worked: Vec::new() }
    }

    /// Measures a turn; the first is not counted.
    pub(crate) fn turn(&mut self, mut run: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let runs = self.runs.unwrap_or(1);
        let worked = cpu_seconds();
        let began = Instant::now();
        for _ in 0..runs {
            run()?;
        }
        let took = began.elapsed().as_secs_f64();
        let worked = cpu_seconds().zip(worked).map(|(end, begin)| end - begin);
        match self.runs {
            Some(_) => {
                self.times.push(took / f64::from(runs));
                self.worked.extend(worked.map(|worked| worked / f64::from(runs)));
            }
            // The first run has cold caches and would give too small a number of runs, so it is repeated.
            None => {
                let took = seconds(run);
                self.runs = Some((LEAST / took.max(1e-9)).clamp(1.0, MOST) as u32);
            }
        }
        Ok(())
    }

    /// Returns the number of turns that count.
    pub(crate) fn count(&self) -> usize {
        self.times.len()
    }

    /// Returns the seconds of one run: the median of the turns.
    pub(crate) fn seconds(&self) -> f64 {
        median(self.times.clone())
    }

    /// Returns the processor time of one run, of all threads: the median of the turns.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        (!self.worked.is_empty()).then(|| median(self.worked.clone()))
    }

    /// Returns the processor time divided by the time, over all turns: the average number of threads that worked or
    /// spun.
    pub(crate) fn cpu_per_wall(&self) -> Option<f64> {
        let sum = |all: &[f64]| all.iter().sum::<f64>();
        (!self.worked.is_empty()).then(|| sum(&self.worked) / sum(&self.times))
    }
}

pub(crate) fn seconds<T>(run: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    black_box(run());
    began.elapsed().as_secs_f64()
}

/// Returns the median; the larger of the two middle values, and NaN without values.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the seconds of processor time so far; `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Returns the seconds of processor time so far; `None` if the system does not report it.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_turn_has_more_runs_the_shorter_they_are() {
        let mut turns = Turns::new();
        let mut count = 0;
        turns
            .turn(|| {
                count += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!((count, turns.count()), (2, 0));
        turns
            .turn(|| {
                count += 1;
                Ok(())
            })
            .unwrap();
        assert!(count > 100 && turns.count() == 1, "{count}");
        assert!(turns.turn(|| Err(Error::machine("no"))).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn work_takes_processor_time() {
        let before = cpu_seconds().unwrap();
        let mut sum = 0_u64;
        while cpu_seconds().unwrap() <= before {
            sum = black_box(sum + 1);
        }
        assert!(sum < u64::MAX);
    }

    #[test]
    #[cfg(unix)]
    fn one_busy_thread_is_seen() {
        let mut turns = Turns::new();
        assert!(turns.cpu_per_wall().is_none());
        for _ in 0..3 {
            turns.turn(|| Ok((0..1000).for_each(|i| _ = black_box(i)))).unwrap();
        }
        assert!(turns.cpu_per_wall().unwrap() > 0.0);
    }
}
