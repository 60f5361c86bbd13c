//! A [`Kernel`]: device code that moves one array, in a language that its text of macros compiles as, with the numbers
//! of one launch. The ways make kernels, and callers launch them.
//!
//! A way writes its text line by line ([`KernelText`]) with the numbers that it reads ([`Parameters`]). A text divides
//! by an extent that is a number of the launch as a multiplication.
//!
//! Law of divisions: for all `n` below 2³¹ and all `d` from 1 to 2³¹ − 1, `n · m >> s` is `n / d`, where `m` is the low
//! 32 bits of `magic(d)` and `s` the high ones.

use crate::Error;

/// The line of a text that is replaced by the header of a target.
const INCLUDE: &str = "#include \"tilewright_device.h\"\n";

/// The most blocks of one launch.
const MAX_BLOCKS: u128 = (1 << 31) - 1;

/// The method by which a kernel moves its elements.
///
/// ```
/// use tilewright_device::Way;
/// assert_eq!(Way::Rows.name(), "rows");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Runs that are contiguous on both sides, through registers.
    Rows,
    /// Vectors of both sides, exchanged in registers and through shared memory.
    Transpose,
    /// A transpose whose rows may have any alignment.
    Realigned,
    /// Rows copied to shared memory in their order, and elements gathered from them.
    Gather,
    /// One element for each thread.
    Elements,
    /// Elements whose width changes, or that share bytes.
    Widths,
    /// Padding, which gets the fill.
    Fill,
}

impl Way {
    /// Returns its name.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Way::Fill.name(), "fill");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Way::Rows => "rows",
            Way::Transpose => "transpose",
            Way::Realigned => "realigned",
            Way::Gather => "gather",
            Way::Elements => "elements",
            Way::Widths => "widths",
            Way::Fill => "fill",
        }
    }
}

/// Device code that moves one array, or a part of it, with the numbers of one launch.
///
/// The text depends on the structure alone: the number of loops, the bits of addresses that belong to a tile, the width
/// of an access. Extents, strides and origins are [`params`](Kernel::params), except short inner extents that a gather
/// takes completely. So kernels of equal texts are the same compiled code, and may share one launch of the entry
/// `tw_move_many`.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_device::{Alignment, DevicePlan, Target};
/// use tilewright_relayout::{Elements, Program};
/// let rows = |extent| TensorLayout::row_major(&[extent, 768]).unwrap();
/// let columns = |extent| TensorLayout::col_major(&[extent, 768]).unwrap();
/// let plan = |n| {
///     let program = Program::new(&rows(n), &columns(n), Elements::same(32), 0).unwrap();
///     DevicePlan::new(&program, Alignment::default()).unwrap()
/// };
/// let (one, other) = (plan(1024), plan(2048));
/// assert_eq!(one.kernels()[0].text(), other.kernels()[0].text());
/// assert_ne!(one.kernels()[0].params(), other.kernels()[0].params());
/// assert!(one.kernels()[0].source(Target::Cuda).contains("KERNEL(tw_move)"));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    way: Way,
    text: String,
    threads: u32,
    blocks: u64,
    shared: u32,
    params: Vec<u64>,
    bytes: (u64, u64),
}

/// The properties of a launch, except its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    pub(crate) way: Way,
    /// The threads of a block.
    pub(crate) threads: u32,
    /// The number of blocks that a multiprocessor must be able to hold.
    pub(crate) resident: u32,
    pub(crate) blocks: u128,
    /// The bytes of shared memory of a block.
    pub(crate) shared: u32,
    /// The bytes of source and destination that it may touch.
    pub(crate) bytes: (u64, u64),
}

/// Checks that a launch can have this number of blocks.
///
/// # Errors
/// Overflow if it cannot.
pub(crate) fn check_blocks(blocks: u128, threads: u32) -> Result<(), Error> {
    if blocks <= MAX_BLOCKS {
        return Ok(());
    }
    Err(Error::overflow(format!(
        "{blocks} blocks of {threads} threads; a launch has at most {MAX_BLOCKS}, so move the array in parts"
    )))
}

impl Launch {
    /// Checks that a launch can have this number of blocks.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_blocks(self.blocks, self.threads)
    }
}

impl Kernel {
    /// Makes the kernel of a body (the text between `KERNEL` and `KERNEL_END`), of the tables and functions before it,
    /// and of a comment that describes it.
    pub(crate) fn new(
        launch: Launch,
        comment: &str,
        before: &str,
        body: KernelText,
        numbers: Parameters,
    ) -> Result<Kernel, Error> {
        launch.check()?;
        let Launch { way, threads, resident, blocks, shared, bytes } = launch;
        let params = numbers.into_params();
        let mut text = String::new();
        for line in comment.lines() {
            text.push_str(&format!("// {line}\n"));
        }
        text.push_str(&format!(
            "#define NT {threads}\n#define MINBLOCKS {resident}\n#define PARAMS {}\n#define SHAREDBYTES {shared}\n",
            params.len()
        ));
        text.push_str(INCLUDE);
        text.push_str(before);
        text.push_str("KERNEL(tw_move)\n");
        text.push_str(&body.into_string());
        text.push_str("KERNEL_END\n");
        let blocks = u64::try_from(blocks).unwrap_or(u64::MAX);
        Ok(Kernel { way, text, threads, blocks, shared, params, bytes })
    }

    /// Returns the text in the dialect, without the header of a target. Kernels of equal texts are the same compiled
    /// code.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// # let columns = TensorLayout::col_major(&[64, 64]).unwrap();
    /// # let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert!(plan.kernels()[0].text().contains("#define NT "));
    /// ```
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text with the header of a target: complete, and compilable.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan, Target};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// # let columns = TensorLayout::col_major(&[64, 64]).unwrap();
    /// # let program = Program::new(&rows, &columns, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert!(plan.kernels()[0].source(Target::Cuda).contains("__global__"));
    /// ```
    pub fn source(&self, target: Target) -> String {
        self.text.replacen(INCLUDE, target.header(), 1)
    }

    /// Returns the name of the entry for one array: `name(src, dst, params)`, with the params by value. The entry for
    /// many is `name_many(jobs, count)`. A job is source, destination, first block and params; the first block of the
    /// first job is 0.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert_eq!(plan.kernels()[0].entry(), "tw_move");
    /// ```
    pub fn entry(&self) -> &str {
        "tw_move"
    }

    /// Returns the method by which it moves its elements.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan, Way};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[3, 3]).unwrap();
    /// # let columns = TensorLayout::col_major(&[3, 3]).unwrap();
    /// # let program = Program::new(&rows, &columns, Elements::same(24), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert_eq!(plan.kernels()[0].way(), Way::Elements);
    /// ```
    pub fn way(&self) -> Way {
        self.way
    }

    /// Returns the threads of a block.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert!(plan.kernels()[0].threads().is_multiple_of(32));
    /// ```
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Returns the blocks of a launch, from 1 to 2³¹ − 1.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert_eq!(plan.kernels()[0].blocks(), 1);
    /// ```
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns the bytes of shared memory that a block declares, at most 48 KiB.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert_eq!(plan.kernels()[0].shared(), 0);
    /// ```
    pub fn shared(&self) -> u32 {
        self.shared
    }

    /// Returns the numbers of this array, which the text names `P(0)`, `P(1)` …: at least one.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// let kernel = &plan.kernels()[0];
    /// assert!(kernel.text().contains(&format!("#define PARAMS {}\n", kernel.params().len())));
    /// ```
    pub fn params(&self) -> &[u64] {
        &self.params
    }

    /// Returns the bytes of the source and of the destination, from the first on, that it may touch.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_device::{Alignment, DevicePlan};
    /// # use tilewright_relayout::{Elements, Program};
    /// # let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// # let program = Program::new(&rows, &rows, Elements::same(32), 0).unwrap();
    /// let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
    /// assert_eq!(plan.kernels()[0].bytes(), (256, 256));
    /// ```
    pub fn bytes(&self) -> (u64, u64) {
        self.bytes
    }
}

/// The language that a text compiles as.
///
/// ```
/// use tilewright_device::Target;
/// assert!(Target::OpenCl.header().contains("__kernel"));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// CUDA C++ (NVRTC, nvcc), and HIP.
    Cuda,
    /// OpenCL C 1.2 and above.
    OpenCl,
    /// C++ on the host, with threads as loops: for tests.
    Host,
}

impl Target {
    /// Returns the macros of the target, which precede every text.
    ///
    /// ```
    /// use tilewright_device::Target;
    /// assert!(Target::Cuda.header().contains("__global__"));
    /// assert!(Target::Host.header().contains("cstdint"));
    /// ```
    pub fn header(self) -> &'static str {
        match self {
            Target::Cuda => {
                concat!(include_str!("dialect/cuda.h"), include_str!("dialect/common.h"))
            }
            Target::OpenCl => {
                concat!(include_str!("dialect/opencl.h"), include_str!("dialect/common.h"))
            }
            Target::Host => {
                concat!(include_str!("dialect/host.h"), include_str!("dialect/common.h"))
            }
        }
    }
}

/// The lines of a kernel's body, indented by the braces they open.
#[derive(Clone, Debug)]
pub(crate) struct KernelText {
    text: String,
    depth: usize,
}

impl KernelText {
    pub(crate) fn new() -> KernelText {
        KernelText { text: String::new(), depth: 1 }
    }

    /// Adds a line. A line that ends in `{` or begins with `}` opens or closes a block, as the macros for threads do.
    pub(crate) fn line(&mut self, line: &str) {
        let closes = line.starts_with('}') || line == "THREADS_END";
        let opens = line.ends_with('{') || line == "THREADS_BEGIN";
        self.depth -= usize::from(closes && self.depth > 0);
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
        self.depth += usize::from(opens);
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

/// The numbers of 64 bits that a text reads as `P(0)`, `P(1)` …
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<u64>);

impl Parameters {
    /// Adds a number, and returns the expression that reads it: 64 bits, unsigned.
    pub(crate) fn add(&mut self, number: u64) -> String {
        self.0.push(number);
        format!("P({})", self.0.len() - 1)
    }

    /// Adds a signed number, and returns the expression that reads it.
    pub(crate) fn signed(&mut self, number: i64) -> String {
        format!("(i64){}", self.add(number as u64))
    }

    /// Adds a number below 2³², and returns the expression that reads it.
    pub(crate) fn short(&mut self, number: u32) -> String {
        format!("(u32){}", self.add(number.into()))
    }

    /// Adds the two numbers of a division by `by`, from 1 to 2³¹ − 1: `DIV(n, …)`, and `by` itself.
    pub(crate) fn divisor(&mut self, by: u32) -> (String, String) {
        (self.add(magic(by)), self.short(by))
    }

    /// Returns the numbers, at least one, because C does not allow empty arrays.
    pub(crate) fn into_params(mut self) -> Vec<u64> {
        if self.0.is_empty() {
            self.0.push(0);
        }
        self.0
    }
}

/// Returns the multiplier for a division by `d` in the low 32 bits, and the shift above it.
///
/// With `2^(l−1) < d ≤ 2^l`, the multiplier is `2^(31+l) / d` rounded up. It is below 2³², and exceeds the exact
/// quotient by less than one. So for `n` below 2³¹ the product exceeds the exact one by less than `2^31`, which is at
/// most `2^(31+l) / d`.
pub(crate) fn magic(d: u32) -> u64 {
    let d = u64::from(d.max(1));
    let l = d.next_power_of_two().trailing_zeros();
    let shift = 31 + l;
    (1u64 << shift).div_ceil(d) | u64::from(shift) << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divided(n: u32, by: u32) -> u32 {
        let magic = magic(by);
        ((u64::from(n) * u64::from(magic as u32)) >> (magic >> 32)) as u32
    }

    #[test]
    fn small_numbers_and_all_around_multiples_are_divided() {
        for d in 1..=2000 {
            (0..=4000).for_each(|n| assert_eq!(divided(n, d), n / d, "{n} / {d}"));
        }
        let ends = |shift: u32| (1u64 << shift).saturating_sub(3)..=(1 << shift) + 3;
        for d in (0..31).flat_map(ends).filter(|d| (1..1 << 31).contains(d)) {
            let multiples =
                (0..1u64 << 31).step_by(((1 << 31) / 97).max(d as usize) / d as usize * d as usize);
            for n in multiples.flat_map(|n| n.saturating_sub(2)..n + 3).filter(|n| *n < 1 << 31) {
                assert_eq!(u64::from(divided(n as u32, d as u32)), n / d, "{n} / {d}");
            }
            let last = (1u64 << 31) - 1;
            assert_eq!(u64::from(divided(last as u32, d as u32)), last / d, "{last} / {d}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_are_divided(n in 0u32..1 << 31, d in 1u32..1 << 31) {
            prop_assert_eq!(divided(n, d), n / d);
            let near = (n / d * d).saturating_sub(1);
            prop_assert_eq!(divided(near, d), near / d);
        }
    }
}
