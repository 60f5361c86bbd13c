//! Measures: a run, a memcpy and relayout's own copy alternate over the same two buffers, at the same offsets. The
//! buffers are touched before, and kept for all cases. The results are the medians.

use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use tilewright::{
    TensorLayout,
    relayout::{Buffer, Elements, Plan},
};

use crate::{
    Case, Error, Offsets, Pages, Row,
    case::SPARE,
    check, data, machine,
    row::{Turns, median, seconds},
};

/// The value of the destination's bytes before the run that is checked.
const STALE: u8 = 0xA5;

/// The time to spend on a case.
///
/// ```
/// use std::time::Duration;
/// use tilewright_bench::Effort;
/// let effort = Effort { time: Duration::from_millis(5), ..Effort::quick() };
/// assert!(effort.least <= effort.most);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The time after which no turn is begun, except those of `least`.
    pub time: Duration,
    /// The least turns of each.
    pub least: usize,
    /// The most turns of each.
    pub most: usize,
}

impl Effort {
    /// Returns the effort for a rough estimate.
    ///
    /// ```
    /// use tilewright_bench::Effort;
    /// assert!(Effort::quick().time < Effort::full().time);
    /// ```
    pub fn quick() -> Effort {
        Effort { time: Duration::from_millis(50), least: 3, most: 25 }
    }

    /// Returns the effort for reliable numbers.
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
/// // Its buffers have the given length.
/// assert!(bench.relayout(&definitions()?[0].case(Size::L2)?, 1, Effort::quick()).is_err());
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
pub struct Bench {
    /// The offset of the source's first byte in the current contents of the source buffer.
    filled: usize,
    src: Buffer,
    dst: Buffer,
    copiers: Vec<Copier>,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("bytes", &(self.src.len() - SPARE)).finish_non_exhaustive()
    }
}

impl Bench {
    /// Makes two buffers for cases whose [`Case::bytes`] are at most `bytes`; no other memory grows with them.
    ///
    /// # Errors
    /// If the machine does not have the memory.
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert!(Bench::new(1 << 20).is_ok());
    /// assert!(Bench::new(u64::MAX).is_err());
    /// ```
    pub fn new(bytes: u64) -> Result<Bench, Error> {
        Bench::on_pages(bytes, Pages::Huge)
    }

    /// Makes the buffers on these pages.
    ///
    /// # Errors
    /// As [`new`](Bench::new).
    ///
    /// ```
    /// use tilewright_bench::{Bench, Pages};
    /// let bench = Bench::on_pages(4 << 20, Pages::Small)?;
    /// assert!(bench.huge_bytes().is_none_or(|bytes| bytes == 0));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn on_pages(bytes: u64, pages: Pages) -> Result<Bench, Error> {
        let bytes = bytes.saturating_add(SPARE as u64);
        let touched = || {
            let mut buffer = pages.buffer(bytes)?;
            buffer.fill(STALE);
            Ok::<_, Error>(buffer)
        };
        let (mut src, dst) = (touched()?, touched()?);
        data::fill(&mut src);
        Ok(Bench { filled: 0, src, dst, copiers: Vec::new() })
    }

    /// Returns the bytes of both buffers.
    ///
    /// ```
    /// assert!(tilewright_bench::Bench::new(100)?.bytes() >= 200);
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        (self.src.len() + self.dst.len()) as u64
    }

    /// Returns how many bytes of both buffers are on huge pages; `None` if the system does not say.
    ///
    /// ```
    /// let bench = tilewright_bench::Bench::new(100)?;
    /// assert!(bench.huge_bytes().is_none_or(|bytes| bytes <= 4 << 20));
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn huge_bytes(&self) -> Option<u64> {
        machine::huge_bytes(&[&self.src, &self.dst])
    }

    /// Measures the plan of a case with `threads` threads; 0 for one per core.
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
        self.planned(case, threads, effort, false)
    }

    /// Measures the plan of a case, alternating with the same case in buffers that begin on cache lines.
    ///
    /// # Errors
    /// As [`relayout`](Bench::relayout).
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Offsets, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?.at(Offsets { src: 16, dst: 16 });
    /// let row = Bench::new(case.bytes())?.beside(&case, 1, Effort::quick())?;
    /// assert!(row.is_right() && row.offset_cost().is_some());
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn beside(&mut self, case: &Case, threads: usize, effort: Effort) -> Result<Row, Error> {
        self.planned(case, threads, effort, true)
    }

    fn planned(
        &mut self,
        case: &Case,
        threads: usize,
        effort: Effort,
        beside: bool,
    ) -> Result<Row, Error> {
        let threads = threads_or_all(threads);
        let plan = case.plan()?;
        let times = (0..9).map(|_| seconds(|| case.plan()));
        let plan_micros = median(times.collect()) * 1e6;
        let run = |src: &[u8], dst: &mut [u8]| {
            plan.run(src, dst, threads).map_err(|error| Error::machine(error.to_string()))
        };
        let row = self.measure(case, threads, effort, How { before: STALE, beside }, run)?;
        let loops = case.boxes().map(|boxes| boxes.iter().map(|one| one.loops.len()).max());
        let loops = loops.map(|most| most.unwrap_or(0));
        let (kernel, text) = (plan.kernel_name(), plan.shared(threads).to_string());
        Ok(Row { kernel, plan: text, plan_micros, loops, ..row })
    }

    /// Measures another implementation of the same move: `run` gets the bytes of the source and those of the
    /// destination. The latter are zero before the run that is checked, since few libraries fill padding.
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
        let how = How { before: 0, beside: false };
        self.measure(case, threads_or_all(threads), effort, how, run)
    }

    fn measure(
        &mut self,
        case: &Case,
        threads: usize,
        effort: Effort,
        how: How,
        mut run: impl FnMut(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<Row, Error> {
        let copier = self.copier(threads, case)?;
        let (checksum, mut wrong) = self.checked(case, how.before, &mut run)?;
        if how.beside {
            let on_lines = case.clone().at(Offsets::default());
            wrong = wrong.or(self.checked(&on_lines, how.before, &mut run)?.1);
        }
        let timed = self.timed(case, copier, effort, how, run)?;
        let Timed { ours, memcpy, copy, on_lines } = timed;
        Ok(Row {
            name: case.name().to_owned(),
            size: case.size(),
            threads,
            bytes: case.src_bytes() + case.dst_bytes(),
            pairs: ours.count(),
            seconds: ours.seconds(),
            memcpy_seconds: memcpy.seconds(),
            copy_seconds: copy.seconds(),
            plan_micros: 0.0,
            kernel: String::new(),
            plan: String::new(),
            loops: None,
            checksum,
            wrong,
            offsets: case.offsets(),
            cpu_per_wall: ours.cpu_per_wall(),
            cpu_seconds: ours.cpu_seconds(),
            memcpy_cpu_seconds: memcpy.cpu_seconds(),
            on_lines_seconds: how.beside.then(|| on_lines.seconds()),
        })
    }

    /// Measures the turns. memcpy and the copy move the mean of source and destination, padding included: their total
    /// number of bytes read and written then equals that of the case.
    fn timed(
        &mut self,
        case: &Case,
        copier: usize,
        effort: Effort,
        how: How,
        mut run: impl FnMut(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<Timed, Error> {
        let (src_len, dst_len) = (case.src_bytes() as usize, case.dst_bytes() as usize);
        let mean = src_len.midpoint(dst_len);
        let same = same(mean)?;
        let Offsets { src: first, dst: to } = case.offsets();
        let copier = &self.copiers[copier];
        let mut timed = Timed::new();
        let began = Instant::now();
        // The first turn warms up and determines the number of runs in a turn.
        for turn in 0..=effort.most {
            if turn > effort.least && began.elapsed() > effort.time {
                break;
            }
            let (src, dst) = (&self.src[first..][..mean], &mut self.dst[to..][..mean]);
            timed.memcpy.turn(|| {
                copier.copy(black_box(src), black_box(dst));
                Ok(())
            })?;
            timed.copy.turn(|| {
                let done = same.run(black_box(src), black_box(dst), copier.threads());
                done.map_err(|error| Error::machine(error.to_string()))
            })?;
            let (src, dst) = (&self.src[first..][..src_len], &mut self.dst[to..][..dst_len]);
            timed.ours.turn(|| run(black_box(src), black_box(dst)))?;
            if how.beside {
                let (src, dst) = (&self.src[..src_len], &mut self.dst[..dst_len]);
                timed.on_lines.turn(|| run(black_box(src), black_box(dst)))?;
            }
        }
        Ok(timed)
    }

    /// Runs the case once, and returns the checksum of the result and its fault, if any.
    fn checked(
        &mut self,
        case: &Case,
        before: u8,
        run: &mut impl FnMut(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<(u64, Option<String>), Error> {
        let Offsets { src: first, dst: to } = case.offsets();
        if self.filled != first {
            data::fill(&mut self.src[first..]);
            self.filled = first;
        }
        let src = &self.src[first..][..case.src_bytes() as usize];
        let dst = &mut self.dst[to..][..case.dst_bytes() as usize];
        dst.fill(before);
        run(src, dst).map_err(|error| error.of(case.name()))?;
        let checksum = data::checksum(dst);
        Ok((checksum, check::fault(case, src, dst, checksum)))
    }

    /// Returns the threads of memcpy, or an error if the case does not fit the buffers.
    fn copier(&mut self, threads: usize, case: &Case) -> Result<usize, Error> {
        let held = (self.src.len() - SPARE) as u64;
        if case.bytes() > held {
            let bytes = case.bytes();
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

/// The value of the destination's bytes before the run that is checked, and whether buffers on cache lines are measured
/// too.
#[derive(Clone, Copy)]
struct How {
    before: u8,
    beside: bool,
}

/// The measurements that alternate.
struct Timed {
    ours: Turns,
    memcpy: Turns,
    copy: Turns,
    on_lines: Turns,
}

impl Timed {
    fn new() -> Timed {
        let [ours, memcpy, copy, on_lines] = [(); 4].map(|()| Turns::new());
        Timed { ours, memcpy, copy, on_lines }
    }
}

/// Returns the plan that copies `bytes` bytes.
fn same(bytes: usize) -> Result<Plan, Error> {
    let same = TensorLayout::row_major(&[bytes as u64]).ok();
    let same = same.and_then(|same| Plan::new(&same, &same, Elements::same(8), 0).ok());
    same.ok_or_else(|| Error::machine(format!("no copy of {bytes} bytes")))
}

fn threads_or_all(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        some => some,
    }
}

// memcpy on a given number of threads: the baseline of every case.

/// The bytes of a page; parts begin at pages.
const PAGE: usize = 1 << 12;

/// Threads that copy.
pub(crate) struct Copier {
    pool: Option<ThreadPool>,
    threads: usize,
}

impl Copier {
    pub(crate) fn new(threads: usize) -> Result<Copier, Error> {
        let start = || ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = (threads > 1).then(start).transpose().map_err(|error| {
            Error::machine(format!("{threads} threads could not be started: {error}"))
        })?;
        Ok(Copier { pool, threads })
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Copies all of `src`, one part for each thread, with the same number of pages in all parts.
    pub(crate) fn copy(&self, src: &[u8], dst: &mut [u8]) {
        match &self.pool {
            None => dst.copy_from_slice(src),
            Some(pool) => {
                let part = src.len().div_ceil(self.threads).next_multiple_of(PAGE).max(PAGE);
                pool.install(|| {
                    let parts = dst.par_chunks_mut(part).zip(src.par_chunks(part));
                    parts.for_each(|(to, from)| to.copy_from_slice(from));
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_copies_all() {
        for (threads, len) in [(1, 5), (2, 0), (2, 3), (3, 5 * PAGE + 1), (4, PAGE)] {
            let src: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut dst = vec![0; len];
            Copier::new(threads).unwrap().copy(&src, &mut dst);
            assert!(src == dst, "{threads} threads, {len} bytes");
        }
    }
}
