//! Times one of several functions that run in turns: the number of runs in a turn, and the seconds of a run in each
//! turn; and the processor time of all threads of this process. Measurements on the processor use both.

use std::{hint::black_box, time::Instant};

use crate::Error;

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
