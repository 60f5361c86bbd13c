//! Measuring: a run, a memcpy and a copy of relayout's own take turns over the same two buffers, which
//! are touched before and kept for all cases; what counts are the medians.

use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

use tilewright::{
    TensorLayout,
    relayout::{Buffer, Elements, Plan},
};

use crate::{Case, Error, Row, copy::Copier, data};

/// What is shorter than this is run several times in a row, in seconds.
const LEAST: f64 = 1e-3;

/// The most runs in a row.
const MOST: f64 = 4096.0;

/// What the destination holds before the run that is checked.
const STALE: u8 = 0xA5;

/// How long to measure a case.
///
/// ```
/// use std::time::Duration;
/// use tilewright_bench::Effort;
/// let effort = Effort { time: Duration::from_millis(5), ..Effort::quick() };
/// assert!(effort.least <= effort.most);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// After this time no turn is begun, but for those of `least`.
    pub time: Duration,
    /// Each takes at least so many turns.
    pub least: usize,
    /// And at most so many.
    pub most: usize,
}

impl Effort {
    /// A glance.
    ///
    /// ```
    /// use tilewright_bench::Effort;
    /// assert!(Effort::quick().time < Effort::full().time);
    /// ```
    pub fn quick() -> Effort {
        Effort { time: Duration::from_millis(50), least: 3, most: 25 }
    }

    /// Numbers to rely on.
    ///
    /// ```
    /// use tilewright_bench::Effort;
    /// assert!(Effort::full().least > Effort::quick().least);
    /// ```
    pub fn full() -> Effort {
        Effort { time: Duration::from_millis(500), least: 7, most: 51 }
    }
}

/// The buffers and threads of all measurements.
///
/// ```
/// use tilewright_bench::{Bench, Effort, Size, definitions};
/// let case = definitions()?[0].case(Size::Small)?;
/// let mut bench = Bench::new(case.bytes())?;
/// assert!(bench.relayout(&case, 2, Effort::quick())?.is_right());
/// // Its buffers are as long as was said.
/// assert!(bench.relayout(&definitions()?[0].case(Size::L2)?, 1, Effort::quick()).is_err());
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
pub struct Bench {
    src: Buffer,
    dst: Buffer,
    copiers: Vec<Copier>,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("bytes", &self.src.len()).finish_non_exhaustive()
    }
}

impl Bench {
    /// Buffers for cases of at most so many [`bytes`](Case::bytes): two, and nothing else grows with it.
    ///
    /// # Errors
    /// If the machine has no such memory.
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert!(Bench::new(1 << 20).is_ok());
    /// assert!(Bench::new(u64::MAX).is_err());
    /// ```
    pub fn new(bytes: u64) -> Result<Bench, Error> {
        let (mut src, dst) = (touched(bytes)?, touched(bytes)?);
        data::fill(&mut src);
        Ok(Bench { src, dst, copiers: Vec::new() })
    }

    /// Measures the plan of a case with so many threads; 0 for one per core.
    ///
    /// # Errors
    /// If the case is larger than the buffers, or threads cannot be started.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let row = Bench::new(case.bytes())?.relayout(&case, 0, Effort::quick())?;
    /// assert!(row.threads >= 1 && row.pairs >= 3 && row.plan_micros > 0.0);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn relayout(&mut self, case: &Case, threads: usize, effort: Effort) -> Result<Row, Error> {
        let threads = threads_or_all(threads);
        let plan = case.plan()?;
        let times = (0..9).map(|_| seconds(|| case.plan()));
        let plan_micros = median(times.collect()) * 1e6;
        let run = |src: &[u8], dst: &mut [u8]| {
            plan.run(src, dst, threads).map_err(|error| Error::machine(error.to_string()))
        };
        let row = self.measure(case, threads, effort, STALE, run)?;
        Ok(Row { kernel: plan.kernel_name(), plan_micros, ..row })
    }

    /// Measures another way to do the same: `run` is given the bytes of the source and those of the
    /// destination. These are zero before the run that is checked, since few libraries fill padding.
    ///
    /// # Errors
    /// Those of `run`, and as [`relayout`](Bench::relayout).
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let by_hand = |src: &[u8], dst: &mut [u8]| {
    ///     (0..576).for_each(|i| dst[i % 24 * 24 + i / 24] = src[i]);
    ///     Ok(())
    /// };
    /// let row = Bench::new(case.bytes())?.job(&case, 1, Effort::quick(), by_hand)?;
    /// assert!(row.is_right());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn job(
        &mut self,
        case: &Case,
        threads: usize,
        effort: Effort,
        run: impl FnMut(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<Row, Error> {
        self.measure(case, threads_or_all(threads), effort, 0, run)
    }

    fn measure(
        &mut self,
        case: &Case,
        threads: usize,
        effort: Effort,
        before: u8,
        mut run: impl FnMut(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<Row, Error> {
        let copier = self.copier(threads, case)?;
        let (src_len, dst_len) = (case.src_bytes() as usize, case.dst_bytes() as usize);
        let mean = src_len.midpoint(dst_len);
        let same = TensorLayout::row_major(&[mean as u64]).ok();
        let same = same.and_then(|same| Plan::new(&same, &same, Elements::same(8), 0).ok());
        let same = same.ok_or_else(|| Error::machine(format!("no copy of {mean} bytes")))?;

        let dst = &mut self.dst[..dst_len];
        dst.fill(before);
        run(&self.src[..src_len], dst).map_err(|error| error.of(case.name()))?;
        let checksum = data::checksum(dst);

        let (src, dst) = (&self.src[..src_len.max(mean)], &mut self.dst[..dst_len.max(mean)]);
        let copier = &self.copiers[copier];
        let mut ours = Median::new();
        let (mut memcpy, mut copy) = (Median::new(), Median::new());
        let began = Instant::now();
        // The first turn warms up and tells how many runs make a turn.
        for turn in 0..=effort.most {
            if turn > effort.least && began.elapsed() > effort.time {
                break;
            }
            memcpy.turn(|| {
                copier.copy(black_box(&src[..mean]), black_box(&mut dst[..mean]));
                Ok(())
            })?;
            copy.turn(|| {
                let done = same.run(black_box(&src[..mean]), black_box(&mut dst[..mean]), threads);
                done.map_err(|error| Error::machine(error.to_string()))
            })?;
            ours.turn(|| run(black_box(&src[..src_len]), black_box(&mut dst[..dst_len])))?;
        }
        Ok(Row {
            name: case.name().to_owned(),
            size: case.size(),
            threads,
            bytes: case.src_bytes() + case.dst_bytes(),
            pairs: ours.times.len(),
            seconds: ours.seconds(),
            memcpy_seconds: memcpy.seconds(),
            copy_seconds: copy.seconds(),
            plan_micros: 0.0,
            kernel: String::new(),
            checksum,
            expected: case.checksum(),
        })
    }

    /// The threads of memcpy, and whether the case fits.
    fn copier(&mut self, threads: usize, case: &Case) -> Result<usize, Error> {
        if case.bytes() > self.src.len() as u64 {
            let (bytes, held) = (case.bytes(), self.src.len());
            let what = format!("{}: buffers of {held} bytes for {bytes}", case.name());
            return Err(Error::machine(what));
        }
        if let Some(at) = self.copiers.iter().position(|copier| copier.threads() == threads) {
            return Ok(at);
        }
        self.copiers.push(Copier::new(threads)?);
        Ok(self.copiers.len() - 1)
    }
}

/// What takes turns: how many runs make a turn, and the seconds of a run in each.
struct Median {
    runs: Option<u32>,
    times: Vec<f64>,
}

impl Median {
    fn new() -> Median {
        Median { runs: None, times: Vec::new() }
    }

    /// A turn; the first is not counted.
    fn turn(&mut self, mut run: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let runs = self.runs.unwrap_or(1);
        let began = Instant::now();
        for _ in 0..runs {
            run()?;
        }
        let took = began.elapsed().as_secs_f64() / f64::from(runs);
        match self.runs {
            Some(_) => self.times.push(took),
            // From a first run with cold caches one would count too few, so it is run again.
            None => {
                let took = seconds(run);
                self.runs = Some((LEAST / took.max(1e-9)).clamp(1.0, MOST) as u32);
            }
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        median(self.times.clone())
    }
}

fn threads_or_all(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        some => some,
    }
}

fn seconds<T>(run: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    black_box(run());
    began.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A buffer whose bytes were touched.
fn touched(bytes: u64) -> Result<Buffer, Error> {
    let mut buffer = Buffer::new(bytes).map_err(|error| Error::machine(error.to_string()))?;
    buffer.fill(STALE);
    Ok(buffer)
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
        let mut median = Median::new();
        let mut count = 0;
        median
            .turn(|| {
                count += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!((count, median.times.len()), (2, 0));
        median
            .turn(|| {
                count += 1;
                Ok(())
            })
            .unwrap();
        assert!(count > 100 && median.times.len() == 1, "{count}");
        assert!(median.turn(|| Err(Error::machine("no"))).is_err());
    }
}
