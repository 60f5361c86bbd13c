//! A row: the measurements of a case on a device.

use std::fmt;

use crate::{Offsets, Size, turns::median};

/// The seconds of the turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    seconds: f64,
    spread: f64,
    copy_seconds: f64,
    copy_spread: f64,
    turns: usize,
    runs: u32,
    graph: bool,
    launch_seconds: f64,
}

impl Times {
    pub(super) fn of(ours: &[f64], copy: &[f64], runs: u32, graph: bool, launch: f64) -> Times {
        let ((seconds, apart), (copy_seconds, copy_apart)) = (spread(ours), spread(copy));
        Times {
            seconds,
            spread: apart,
            copy_seconds,
            copy_spread: copy_apart,
            turns: ours.len(),
            runs,
            graph,
            launch_seconds: launch,
        }
    }
}

/// Returns the median, and the distance between the quartiles divided by it.
fn spread(times: &[f64]) -> (f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |quarter: usize| sorted.get(sorted.len().saturating_sub(1) * quarter / 4);
    let middle = median(sorted.clone());
    let apart = at(3).zip(at(1)).map_or(f64::NAN, |(third, first)| third - first);
    (middle, apart / middle)
}

/// A case that was moved on a device: whether the bytes are right, and the times if they were requested.
///
/// ```
/// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
/// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
///     let row = bench.measure(&definitions()?[0].case(Size::Small)?, Asked::default())?;
///     assert!(row.is_right() && row.seconds().is_none());
/// }
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceRow {
    /// The case.
    pub name: String,
    /// Its size.
    pub size: Size,
    /// The bytes read and written, padding included, of all arrays.
    pub bytes: u64,
    /// The number of arrays that move in one launch.
    pub arrays: u64,
    /// The distance of both arrays' first bytes from a multiple of 256.
    pub offsets: Offsets,
    /// The ways of the kernels, each with its number of kernels.
    pub ways: Vec<(&'static str, usize)>,
    /// The seconds of the first run, including planning, compiling and loading.
    pub first_seconds: f64,
    /// The number of texts that were compiled for it.
    pub compiled: u64,
    /// The number of texts whose code was read from disk.
    pub read: u64,
    /// The checksum of the result of the first array.
    pub checksum: u64,
    /// The fault of the result, if any.
    pub wrong: Option<String>,
    pub(super) times: Option<Times>,
}

/// Accessors of the values that exist only if the case was timed.
macro_rules! times {
    ($($(#[$doc:meta])* $name:ident: $type:ty = |$times:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// `None` if nothing was timed.
        ///
        /// ```
        /// use tilewright_bench::{Asked, DeviceBench, Effort, Size, definitions};
        /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
        ///     let asked = Asked { effort: Some(Effort::quick()), ..Asked::default() };
        ///     let row = bench.measure(&definitions()?[0].case(Size::Small)?, asked)?;
        #[doc = concat!("    assert!(row.", stringify!($name), "().is_some());")]
        /// }
        /// # Ok::<(), tilewright_bench::Error>(())
        /// ```
        pub fn $name(&self) -> Option<$type> {
            self.times.as_ref().map(|$times| $value)
        }
    )*};
}

impl DeviceRow {
    /// The head of the table.
    pub const HEAD: &str = "case                                           MB  arrays    GB/s    copy  ratio  spread  launch µs  first ms  compiled  ways";

    times! {
        /// The seconds of one run on the device, the median of the turns.
        seconds: f64 = |times| times.seconds;
        /// The distance between the quartiles of the turns, divided by their median.
        spread: f64 = |times| times.spread;
        /// The seconds of the device's copy that reads and writes the same total number of bytes.
        copy_seconds: f64 = |times| times.copy_seconds;
        /// The distance between the quartiles of the copy's turns, divided by their median.
        copy_spread: f64 = |times| times.copy_spread;
        /// The number of times that each was timed.
        turns: usize = |times| times.turns;
        /// The runs of a turn.
        runs: u32 = |times| times.runs;
        /// True if the runs of a turn were one graph.
        in_graph: bool = |times| times.graph;
        /// The host's microseconds for one launch of a kept plan.
        launch_micros: f64 = |times| times.launch_seconds * 1e6;
        /// The speed relative to the device's copy.
        ratio: f64 = |times| times.copy_seconds / times.seconds;
    }

    /// Returns the gigabytes (10⁹) read and written in a second.
    ///
    /// ```
    /// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
    /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
    ///     let row = bench.measure(&definitions()?[0].case(Size::Small)?, Asked::default())?;
    ///     assert!(row.gb_per_s().is_none());
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn gb_per_s(&self) -> Option<f64> {
        self.seconds().map(|seconds| self.bytes as f64 / 1e9 / seconds)
    }

    /// Returns the gigabytes that the device's copy reads and writes in a second.
    ///
    /// ```
    /// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
    /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
    ///     let row = bench.measure(&definitions()?[0].case(Size::Small)?, Asked::default())?;
    ///     assert!(row.copy_gb_per_s().is_none());
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn copy_gb_per_s(&self) -> Option<f64> {
        self.copy_seconds().map(|seconds| self.bytes as f64 / 1e9 / seconds)
    }

    /// Returns the way by which elements move, the first of several; `fill` if nothing else is done.
    ///
    /// ```
    /// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
    /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
    ///     let row = bench.measure(&definitions()?[0].case(Size::Small)?, Asked::default())?;
    ///     assert_eq!(row.main_way(), Some("transpose"));
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn main_way(&self) -> Option<&'static str> {
        let names = || self.ways.iter().map(|(name, _)| *name);
        names().find(|name| *name != "fill").or_else(|| names().next())
    }

    /// Returns whether the result is right, and no other byte changed.
    ///
    /// ```
    /// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
    /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 1) {
    ///     let case = definitions()?[0].case(Size::Small)?;
    ///     assert!(bench.measure(&case, Asked::default())?.is_right());
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn is_right(&self) -> bool {
        self.wrong.is_none()
    }
}

impl fmt::Display for DeviceRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>, digits: usize| match value {
            Some(value) => format!("{value:.digits$}"),
            None => "-".to_owned(),
        };
        let ways = self.ways.iter().map(|(name, count)| match count {
            1 => (*name).to_owned(),
            count => format!("{name} x{count}"),
        });
        write!(
            f,
            "{:40} {:>8.1} {:>7} {:>7} {:>7} {:>6} {:>7} {:>10} {:>9.1} {:>9}  {}",
            self.name,
            self.bytes as f64 / 1e6,
            self.arrays,
            number(self.gb_per_s(), 1),
            number(self.copy_gb_per_s(), 1),
            number(self.ratio(), 3),
            number(self.spread(), 3),
            number(self.launch_micros(), 2),
            self.first_seconds * 1e3,
            self.compiled,
            ways.collect::<Vec<_>>().join(", "),
        )?;
        match &self.wrong {
            None => Ok(()),
            Some(wrong) => write!(f, "  WRONG: {wrong}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_the_distance_of_quartiles() {
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0, 5.0]), (3.0, 2.0 / 3.0));
        assert_eq!(spread(&[2.0]), (2.0, 0.0));
        assert!(spread(&[]).0.is_nan());
    }
}
