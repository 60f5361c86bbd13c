//! Measures on a device: our launch and the device's own copy of the same number of bytes alternate, timed by events.
//!
//! Law: before anything is timed, the result equals that of [`Plan::run`](tilewright::relayout::Plan::run) on the
//! processor, and no byte outside of it changed.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use tilewright::{
    cuda::{Cuda, DeviceContext, Facts, Memory, Move, Queue, Span, Step},
    device::{Alignment, DevicePlan, Options},
    relayout::{Buffer, Program},
};

use crate::{Case, Effort, Error, Offsets, Size, case::SPARE, data, row::median};

/// The alignment of a device's own allocations, in bytes.
const LINE: u64 = 256;
/// Work that takes less time than this, in seconds, is repeated within a turn.
const TURN: f64 = 2e-3;
/// Work that takes less time than this, in seconds, is timed in a graph: launching it from the host would take longer.
const SHORT: f64 = 50e-6;
/// The number of launches that are timed on the host together, and the number of repetitions.
const LAUNCHES: (u32, usize) = (50, 9);

/// The request for a measurement of a case on a device.
///
/// ```
/// use tilewright_bench::Asked;
/// assert!(Asked::default().effort.is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The number of arrays of the case that move in one launch.
    pub arrays: u64,
    /// The time to measure for; `None` only compares bytes.
    pub effort: Option<Effort>,
    /// The choices of the planner.
    pub options: Options,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { arrays: 1, effort: None, options: Options::default() }
    }
}

/// A device with two buffers that all cases share.
///
/// ```
/// use tilewright_bench::{Asked, DeviceBench, Size, definitions};
/// let case = definitions()?[0].case(Size::Small)?;
/// match DeviceBench::open(0, case.bytes(), 1) {
///     Ok(mut bench) => assert!(bench.measure(&case, Asked::default())?.is_right()),
///     Err(error) => assert!(!error.is_definition(), "{error}"),
/// }
/// # Ok::<(), tilewright_bench::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceBench {
    context: Arc<DeviceContext>,
    queue: Queue,
    src: Memory,
    dst: Memory,
    host: Host,
    laid: Option<Laid>,
}

/// The positions of the arrays of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Laid {
    first: u64,
    bytes: u64,
    apart: u64,
    arrays: u64,
}

/// A case in the buffers: its move, and the positions of its arrays.
struct Laying<'a> {
    case: &'a Case,
    moved: Move,
    src: Laid,
    dst: Laid,
}

impl DeviceBench {
    /// Opens a device, with two buffers for `arrays` arrays of at most `bytes` bytes each.
    ///
    /// # Errors
    /// The [word](Error::word) of the device's error: `no-driver` with the names that were tried, `no-device`,
    /// `no-compiler`, `too-old`; `driver` if its memory is too small.
    ///
    /// ```
    /// use tilewright_bench::DeviceBench;
    /// // No device has that memory, if one is there.
    /// assert!(DeviceBench::open(0, 1 << 60, 1).is_err());
    /// ```
    pub fn open(ordinal: i32, bytes: u64, arrays: u64) -> Result<DeviceBench, Error> {
        let context = DeviceContext::new(&Cuda::shared()?, ordinal)?;
        let spare = 2 * SPARE as u64;
        let all = apart(bytes).checked_mul(arrays.max(1)).and_then(|all| all.checked_add(spare));
        let all = all.ok_or_else(|| Error::machine(format!("{arrays} arrays of {bytes} bytes")))?;
        Ok(DeviceBench {
            queue: Queue::new(&context)?,
            src: Memory::new(&context, all)?,
            dst: Memory::new(&context, all)?,
            host: Host::new(bytes)?,
            laid: None,
            context,
        })
    }

    /// Returns the free bytes of a device's memory, which limit the size of cases.
    ///
    /// # Errors
    /// As [`open`](DeviceBench::open).
    ///
    /// ```
    /// use tilewright_bench::DeviceBench;
    /// assert!(DeviceBench::free(-1).is_err());
    /// ```
    pub fn free(ordinal: i32) -> Result<u64, Error> {
        Ok(DeviceContext::new(&Cuda::shared()?, ordinal)?.facts()?.free_bytes)
    }

    /// Returns the properties of the device and of the libraries.
    ///
    /// # Errors
    /// If the driver refuses the query.
    ///
    /// ```
    /// use tilewright_bench::DeviceBench;
    /// if let Ok(bench) = DeviceBench::open(0, 16, 1) {
    ///     assert!(!bench.facts()?.name.is_empty());
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn facts(&self) -> Result<Facts, Error> {
        Ok(self.context.facts()?)
    }

    /// Moves a case, compares the result, and measures the case if that was requested and the bytes are right.
    ///
    /// # Errors
    /// If the case is larger than the buffers, no kernel supports it, or the driver fails.
    ///
    /// ```
    /// use tilewright_bench::{Asked, DeviceBench, Effort, Size, definitions};
    /// if let Ok(mut bench) = DeviceBench::open(0, 1 << 10, 4) {
    ///     let case = definitions()?[0].case(Size::Small)?;
    ///     let asked = Asked { arrays: 4, effort: Some(Effort::quick()), ..Asked::default() };
    ///     assert!(bench.measure(&case, asked)?.ratio().is_some());
    /// }
    /// # Ok::<(), tilewright_bench::Error>(())
    /// ```
    pub fn measure(&mut self, case: &Case, asked: Asked) -> Result<DeviceRow, Error> {
        self.measured(case, asked).map_err(|error| error.of(case.name()))
    }

    fn measured(&mut self, case: &Case, asked: Asked) -> Result<DeviceRow, Error> {
        let laying = self.laid(case, asked)?;
        let ways = self.ways(&laying, asked.options)?;
        let (before, began) = (self.context.cuda().counts(), Instant::now());
        self.dst.fill(STALE)?;
        self.queue.run(&self.ours(&laying))?;
        self.queue.wait()?;
        let (first, after) = (began.elapsed(), self.context.cuda().counts());
        let (checksum, wrong) = self.host.fault(case, &self.dst, laying.dst)?;
        let times = match asked.effort {
            Some(effort) if wrong.is_none() => Some(self.timed(&laying, effort)?),
            _ => None,
        };
        Ok(DeviceRow {
            name: case.name().to_owned(),
            size: case.size(),
            bytes: asked.arrays * (case.src_bytes() + case.dst_bytes()),
            arrays: asked.arrays,
            offsets: case.offsets(),
            ways,
            first_seconds: first.as_secs_f64(),
            compiled: after.compiled - before.compiled,
            read: after.read - before.read,
            checksum,
            wrong,
            times,
        })
    }

    /// Computes the positions of a case's arrays, and writes the source if the current one has other positions.
    fn laid<'a>(&mut self, case: &'a Case, asked: Asked) -> Result<Laying<'a>, Error> {
        let Offsets { src, dst } = case.offsets();
        let of = |first: usize, bytes: u64| Laid {
            first: first as u64,
            bytes,
            apart: apart(bytes),
            arrays: asked.arrays,
        };
        let (src, dst) = (of(src, case.src_bytes()), of(dst, case.dst_bytes()));
        let dst = Laid { first: dst.first + SPARE as u64, ..dst };
        let held = self.dst.bytes() - 2 * SPARE as u64;
        let needs = src.apart.max(dst.apart).checked_mul(asked.arrays).filter(|all| *all <= held);
        if needs.is_none() || case.bytes() > self.host.bytes() {
            let says = format!("{} arrays of {} bytes in {held}", asked.arrays, case.bytes());
            return Err(Error::machine(says));
        }
        let same = |laid: Laid| {
            laid == src
                || laid.arrays == 1
                    && src.arrays == 1
                    && laid.first == src.first
                    && laid.bytes >= src.bytes
        };
        if !self.laid.is_some_and(same) {
            self.laid = None;
            let data = self.host.data(src.bytes);
            (0..src.arrays).try_for_each(|i| self.src.write(src.first + i * src.apart, data))?;
            self.laid = Some(src);
        }
        let program = Program::new(case.src(), case.dst(), case.elements(), case.fill());
        let program = program.map_err(|error| Error::definition(error.to_string()))?;
        Ok(Laying { case, moved: Move::with(program, asked.options), src, dst })
    }

    /// Returns the ways of its kernels, each with their number.
    fn ways(
        &self,
        laying: &Laying<'_>,
        options: Options,
    ) -> Result<Vec<(&'static str, usize)>, Error> {
        let at = |memory: &Memory, laid: Laid| memory.address() + laid.first;
        let pointers =
            Alignment::of_addresses(at(&self.src, laying.src), at(&self.dst, laying.dst));
        let plan = DevicePlan::with(laying.moved.program(), pointers, options);
        let plan = plan.map_err(|error| Error::definition(error.to_string()))?;
        let mut ways: Vec<(&'static str, usize)> = Vec::new();
        for kernel in plan.kernels() {
            let name = kernel.way().name();
            match ways.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => ways.push((name, 1)),
            }
        }
        Ok(ways)
    }

    fn ours<'a>(&'a self, laying: &'a Laying<'_>) -> Step<'a> {
        let span = |memory: &'a Memory, laid: Laid, i: u64| Span {
            memory,
            at: laid.first + i * laid.apart,
        };
        let one =
            |i| (&laying.moved, span(&self.src, laying.src, i), span(&self.dst, laying.dst, i));
        Step::Moves((0..laying.src.arrays).map(one).collect())
    }

    /// Returns a copy by the device that reads and writes the same total number of bytes as the case.
    fn copy(&self, laying: &Laying<'_>) -> Step<'_> {
        let mean = laying.case.src_bytes().midpoint(laying.case.dst_bytes());
        let (src, dst) = (laying.src.first, laying.dst.first);
        let least = (self.src.bytes() - src).min(self.dst.bytes() - dst);
        Step::Copy {
            src: Span { memory: &self.src, at: src },
            dst: Span { memory: &self.dst, at: dst },
            bytes: (mean * laying.src.arrays).min(least),
        }
    }

    /// Measures the turns; the first of each is not counted.
    fn timed(&self, laying: &Laying<'_>, effort: Effort) -> Result<Times, Error> {
        let (ours, copy) = (self.ours(laying), self.copy(laying));
        let once = [self.queue.seconds(&ours, 1)?, self.queue.seconds(&copy, 1)?];
        let again = [self.queue.seconds(&ours, 1)?, self.queue.seconds(&copy, 1)?];
        let least = once.iter().chain(&again).copied().fold(f64::INFINITY, f64::min);
        let graph = least < SHORT && laying.src.arrays == 1;
        let runs = (TURN / least.max(1e-7)).clamp(1.0, 200.0) as u32;
        let turn = |step: &Step<'_>| match graph {
            true => self.queue.graph_seconds(step, runs),
            false => self.queue.seconds(step, runs),
        };
        let mut times = [Vec::new(), Vec::new()];
        let began = Instant::now();
        while times[0].len() < effort.least
            || times[0].len() < effort.most && began.elapsed() < effort.time
        {
            times[0].push(turn(&ours)?);
            times[1].push(turn(&copy)?);
        }
        let [ours_all, copy_all] = times;
        Ok(Times::of(&ours_all, &copy_all, runs, graph, self.launch(&ours)?))
    }

    /// Returns the host's seconds for one launch of a kept plan.
    fn launch(&self, step: &Step<'_>) -> Result<f64, Error> {
        let (many, rounds) = LAUNCHES;
        let round = |_| {
            self.queue.wait()?;
            let began = Instant::now();
            (0..many).try_for_each(|_| self.queue.run(step))?;
            let took: Duration = began.elapsed();
            self.queue.wait()?;
            Ok(took.as_secs_f64() / f64::from(many))
        };
        let times = (0..rounds).map(round).collect::<Result<Vec<f64>, Error>>()?;
        Ok(median(times))
    }
}

/// Returns the distance between arrays of this length.
fn apart(bytes: u64) -> u64 {
    (bytes / LINE + 1).saturating_mul(LINE)
}

/// The value of the destination's bytes before the run that is checked.
pub(super) const STALE: u8 = 0xA5;

/// The bytes on each side of an array that must not change.
const BESIDE: u64 = 64;

/// Buffers of the host: the bytes of every source, the processor's result, and the bytes that were read back.
#[derive(Debug)]
pub(super) struct Host {
    data: Buffer,
    made: Buffer,
    back: Buffer,
}

impl Host {
    /// Makes buffers for arrays of at most `bytes` bytes.
    pub(super) fn new(bytes: u64) -> Result<Host, Error> {
        let buffer = |bytes| Buffer::new(bytes).map_err(|error| Error::machine(error.to_string()));
        let mut data = buffer(bytes)?;
        data::fill(&mut data);
        Ok(Host { data, made: buffer(bytes)?, back: buffer(bytes)? })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    /// Returns the first bytes of every source.
    pub(super) fn data(&self, bytes: u64) -> &[u8] {
        &self.data[..bytes as usize]
    }

    /// Returns the checksum of the first array, and the first fault of any, if there is one.
    fn fault(
        &mut self,
        case: &Case,
        dst: &Memory,
        laid: Laid,
    ) -> Result<(u64, Option<String>), Error> {
        let made = &mut self.made[..case.dst_bytes() as usize];
        let done = case.plan()?.run(&self.data[..case.src_bytes() as usize], made, 0);
        done.map_err(|error| Error::machine(error.to_string()))?;
        let expected = data::checksum(made);
        let stated = case.checksum().filter(|stated| *stated != expected);
        let mut wrong = stated.map(|stated| {
            format!("the processor makes {expected:#018x}, not the {stated:#018x} that is stated")
        });
        let mut first = None;
        for array in 0..laid.arrays {
            let at = laid.first + array * laid.apart;
            let back = &mut self.back[..case.dst_bytes() as usize];
            dst.read(at, back)?;
            let found = data::checksum(back);
            first = first.or(Some(found));
            let differs = (found != expected).then(|| difference(back, made));
            let beside = beside(dst, at, laid)?;
            wrong = wrong.or(differs.or(beside).map(|says| match laid.arrays {
                1 => says,
                arrays => format!("array {array} of {arrays}: {says}"),
            }));
        }
        Ok((first.unwrap_or(expected), wrong))
    }
}

/// Describes the first byte that differs.
fn difference(found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    let count = found.iter().zip(expected).filter(|(a, b)| a != b).count();
    match at {
        Some(at) => format!(
            "byte {at} is {:#04x}, not the {:#04x} that the processor makes; {count} of {} differ",
            found[at],
            expected[at],
            expected.len()
        ),
        None => "the checksum differs, and no byte does".to_owned(),
    }
}

/// Describes bytes before or after an array that changed, if any.
fn beside(dst: &Memory, at: u64, laid: Laid) -> Result<Option<String>, Error> {
    // Of several arrays, the gap between two is checked: the next one begins after it.
    let room = if laid.arrays == 1 { BESIDE } else { BESIDE.min(laid.apart - laid.bytes) };
    for (side, from) in [("before", at - room), ("behind", at + laid.bytes)] {
        let mut bytes = [0; BESIDE as usize];
        let bytes = &mut bytes[..room as usize];
        dst.read(from, bytes)?;
        if bytes.iter().any(|byte| *byte != STALE) {
            return Ok(Some(format!("bytes {side} the destination changed")));
        }
    }
    Ok(None)
}

// A row: the measurements of a case on a device.

/// The seconds of the turns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
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
    fn of(ours: &[f64], copy: &[f64], runs: u32, graph: bool, launch: f64) -> Times {
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
    times: Option<Times>,
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
