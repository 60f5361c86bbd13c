//! The kernels that move an array from one layout to another, as a text to embed: kernels and a function that launches them.
//!
//! Law: the text is complete. A compiler of CUDA C++ takes it as it is, with the runtime's header; NVRTC takes it too, and
//! sees the kernels alone. The function moves what [`Plan::run`](crate::relayout::Plan::run) moves on a processor.

use std::fmt::Write as _;

use tilewright_core::{ByteOrder, Dtype, Fill};
use tilewright_device::{Alignment, DevicePlan, Kernel, Target};
use tilewright_notation::Tabled;
use tilewright_relayout::{Elements, Extend, Program};

use crate::Error;

/// The name of the launching function, unless another is given.
const NAME: &str = "tw_relayout";

/// The line of a kernel's text that the header takes the place of.
const INCLUDE: &str = "#include \"tilewright_device.h\"\n";

/// The most kernels of a text.
const KERNELS: usize = 256;

/// Kernels that move one array between two layouts.
///
/// ```
/// use tilewright::{emit::Kernels, input::Array};
/// let array = Array::read(Some("512,768"), Some("f32"))?;
/// let [rows, columns] = array.both_tabled("row-major", "col-major", &())?;
/// let text = Kernels::between(&rows, &columns)?.cuda(None)?;
/// assert!(text.contains("extern \"C\" cudaError_t tw_relayout(const void* src, void* dst, cudaStream_t stream)"));
///
/// let [one, other] = Array::default().both_tabled("f32[2,3] row-major", "s8[2,3] row-major", &())?;
/// assert!(Kernels::between(&one, &other).unwrap_err().is_mismatch());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernels {
    plan: DevicePlan,
    bytes: (u64, u64),
    says: String,
}

impl Kernels {
    /// Those that move an array of the first layout to the second; padding gets the second one's fill.
    ///
    /// # Errors
    /// `mismatch` for extents or element types that differ, `needs-dtype` where no layout says the width of an element,
    /// `unsupported` for a destination in which elements share storage, or that no kernel writes.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, tiles] = Array::default().both_tabled("bf16[100,64] row-major", "zN", &())?;
    /// assert_eq!(Kernels::between(&rows, &tiles)?.bytes(), (12_800, 14_336));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn between(from: &Tabled, to: &Tabled) -> Result<Kernels, Error> {
        let (src, dst) = (from.stored(), to.stored());
        if let (Some(one), Some(other)) = (src.dtype(), dst.dtype())
            && one != other
        {
            let says = format!("elements of {one} and of {other}; a move keeps the element type");
            return Err(Error::at("mismatch", (0, 0), says).without_span().in_field("b"));
        }
        let widths = (src.element_bits(), dst.element_bits());
        let (Some(src_bits), Some(dst_bits)) = (widths.0.or(widths.1), widths.1.or(widths.0))
        else {
            let says = "the width of an element is not known, as no layout has an element type";
            return Err(Error::at("needs-dtype", (0, 0), says).without_span());
        };
        let dtype = src.dtype().or(dst.dtype());
        let signed = dtype.is_some_and(|dtype| dtype.is_signed_integer());
        let extend = if signed { Extend::Sign } else { Extend::Zero };
        let fill = fill(dst.fill(), dtype, dst_bits)?;
        let elements = Elements { src_bits, dst_bits, extend };
        let program = match from.has_tables() || to.has_tables() {
            true => Program::tabled(from.layout(), to.layout(), elements, fill),
            false => Program::new(src.layout(), dst.layout(), elements, fill),
        };
        let program = program.map_err(|error| Error::from(error).in_field("b"))?;
        let plan = DevicePlan::new(&program, Alignment::default())?;
        if plan.kernels().len() > KERNELS {
            let says = format!("{} kernels; a text has at most {KERNELS}", plan.kernels().len());
            return Err(Error::at("limit", (0, 0), says).without_span());
        }
        let says = format!("{} to {}", from.to_spec(), to.to_spec());
        Ok(Kernels { plan, bytes: (program.src_bytes(), program.dst_bytes()), says })
    }

    /// The bytes of source and destination.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, columns] = Array::default().both_tabled("f32[4,6] row-major", "col-major", &())?;
    /// assert_eq!(Kernels::between(&rows, &columns)?.bytes(), (96, 96));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn bytes(&self) -> (u64, u64) {
        self.bytes
    }

    /// The kernels, in the order in which they are launched.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, columns] = Array::default().both_tabled("f32[4,6] row-major", "col-major", &())?;
    /// assert_eq!(Kernels::between(&rows, &columns)?.kernels().len(), 1);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn kernels(&self) -> &[Kernel] {
        self.plan.kernels()
    }

    /// The text in CUDA C++: kernels, and a function of this name that launches them on a stream.
    ///
    /// # Errors
    /// `usage` for a name that is none in C.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, columns] = Array::default().both_tabled("f32[4,6] row-major", "col-major", &())?;
    /// let kernels = Kernels::between(&rows, &columns)?;
    /// assert!(kernels.cuda(Some("turned"))?.contains("cudaError_t turned("));
    /// assert!(kernels.cuda(Some("4th")).unwrap_err().is_usage());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn cuda(&self, name: Option<&str>) -> Result<String, Error> {
        let name = name.unwrap_or(NAME);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(plain)
            || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            let says = format!("{name:?} is no name in C: letters, digits and _, no digit first");
            return Err(Error::usage("name", says));
        }
        let mut text = format!("// {}: {} to {} bytes.\n", self.says, self.bytes.0, self.bytes.1);
        text += "#if !defined(__CUDACC_RTC__)\n#include <stdint.h>\n#include <cuda_runtime.h>\n#endif\n\n";
        text += Target::Cuda.header();
        for (at, kernel) in self.kernels().iter().enumerate() {
            text += &one(kernel, &format!("{name}_{at}"));
        }
        text += &self.launch(name);
        Ok(text)
    }

    /// The function that launches all kernels.
    fn launch(&self, name: &str) -> String {
        let mut text = format!(
            "\n#if !defined(__CUDACC_RTC__)\n// Queues the move of {} bytes at src to {} bytes at dst, both on the current device and at multiples of 16 bytes.\n\
             // The two are apart. All bytes at dst are written: padding and gaps become 0. Launches: {}.\n\
             extern \"C\" cudaError_t {name}(const void* src, void* dst, cudaStream_t stream) {{\n  \
             if (((uintptr_t)src | (uintptr_t)dst) % 16 != 0) return cudaErrorMisalignedAddress;\n  \
             cudaError_t error = cudaSuccess;\n",
            self.bytes.0,
            self.bytes.1,
            self.kernels().len()
        );
        for (at, kernel) in self.kernels().iter().enumerate() {
            let params: Vec<String> =
                kernel.params().iter().map(|number| format!("{number:#x}ull")).collect();
            let (blocks, threads, params) = (kernel.blocks(), kernel.threads(), params.join(", "));
            // Writing into a text does not fail.
            let _ = write!(
                text,
                "  {{\n    u64 params[] = {{{params}}};\n    void* arguments[] = {{&src, &dst, params}};\n    \
                 error = cudaLaunchKernel((const void*){name}_{at}, dim3({blocks}), dim3({threads}), arguments, 0, stream);\n    \
                 if (error != cudaSuccess) return error;\n  }}\n"
            );
        }
        text + "  return error;\n}\n#endif\n"
    }
}

/// The bits of what padding holds.
fn fill(fill: Fill, dtype: Option<Dtype>, bits: u32) -> Result<u128, Error> {
    match (fill, dtype) {
        (Fill::Unspecified | Fill::Unknown | Fill::Zero, None) => Ok(0),
        (Fill::Bits(bits), None) => Ok(bits),
        (Fill::One | Fill::Lowest | Fill::Highest, None) => {
            let says = "such a fill depends on the element type, and no layout has one";
            Err(Error::at("needs-dtype", (0, 0), says).without_span())
        }
        (fill, Some(dtype)) => Ok(dtype.stored_fill(fill, bits, ByteOrder::Little)?),
    }
}

/// One kernel under a name of its own: its macros end with it, and what it defines is in a namespace.
fn one(kernel: &Kernel, name: &str) -> String {
    let (head, rest) = kernel.text().split_once(INCLUDE).unwrap_or(("", kernel.text()));
    let rest = rest.replacen("KERNEL(tw_move)", &format!("KERNEL({name})"), 1);
    let macros = kernel.text().lines().filter_map(|line| line.strip_prefix("#define "));
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let macros = macros.filter_map(|rest| rest.split(ends).next());
    let undefined: String = macros.map(|name| format!("#undef {name}\n")).collect();
    format!("\n{head}namespace {name}_text {{\n{rest}}}\nusing {name}_text::{name};\n{undefined}")
}
