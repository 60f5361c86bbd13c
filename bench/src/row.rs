//! The measured times of one case, and the ratios that follow from them.

use std::fmt;

use crate::{Offsets, Size};

/// One case with one number of threads: medians of interleaved runs.
///
/// `Display` is a line of the table that [`Row::HEAD`] heads.
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
    /// How large it is.
    pub size: Size,
    /// The threads of the relayout and of what it is held against.
    pub threads: usize,
    /// The bytes read and written.
    pub bytes: u64,
    /// Seconds of one run.
    pub seconds: f64,
    /// Seconds of a memcpy that reads and writes the same number of bytes together.
    pub memcpy_seconds: f64,
    /// Seconds of relayout's own copy of the same number of bytes, from a layout to the same.
    pub copy_seconds: f64,
    /// Microseconds that making the plan took.
    pub plan_micros: f64,
    /// The loops of its boxes, the most that one has; none if the boxes are many.
    pub loops: Option<usize>,
    /// How often each was timed.
    pub pairs: usize,
    /// What the plan does most, in its own words.
    pub kernel: String,
    /// The plan in words: its ways, their blocks, how threads share them, and what is filled.
    pub plan: String,
    /// The checksum of what came out.
    pub checksum: u64,
    /// What is wrong with what came out, if anything.
    pub wrong: Option<String>,
    /// Where in a cache line the buffers begin.
    pub offsets: Offsets,
    /// Processor time over time of the runs, of all threads; none where the system does not tell.
    pub cpu_per_wall: Option<f64>,
    /// Processor seconds of one run, of all threads.
    pub cpu_seconds: Option<f64>,
    /// Processor seconds of one memcpy, of all threads.
    pub memcpy_cpu_seconds: Option<f64>,
    /// Seconds of one run in buffers that begin on cache lines, where both were measured.
    pub on_lines_seconds: Option<f64>,
}

impl Row {
    /// The head of the table.
    pub const HEAD: &str = "case                                     threads      MB    GB/s  memcpy    copy  ratio   cpu  plan µs  kernel";

    /// Gigabytes (10⁹) read and written in a second.
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

    /// The same, of memcpy.
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

    /// The same, of relayout's own copy: the ceiling, where it streams.
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

    /// How fast it is, memcpy being 1.
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

    /// How fast it is by processor time, memcpy being 1; where other work takes the processor, this says more
    /// than the time. None with several threads, or where the system does not tell.
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

    /// What the offsets of the buffers cost: the seconds, those on cache lines being 1; none unless both
    /// were [measured](crate::Bench::beside).
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

    /// Whether the right bytes came out.
    ///
    /// ```
    /// use tilewright_bench::{Bench, Effort, Size, definitions};
    /// let case = definitions()?[0].case(Size::Small)?;
    /// let mut bench = Bench::new(case.bytes())?;
    /// assert!(bench.relayout(&case, 1, Effort::quick())?.is_right());
    /// // A copy is no transpose.
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
