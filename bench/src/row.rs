//! The measured times of one case, and the ratios that follow from them.

use std::fmt;

use crate::{Offsets, Size};

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
