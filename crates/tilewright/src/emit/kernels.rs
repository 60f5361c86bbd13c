//! The kernels that move an array from one layout to another, as source text to embed, with a function that launches
//! them.
//!
//! Law: the text is complete. A compiler of CUDA C++ or of HIP takes it as it is, with the runtime's header. NVRTC
//! takes it too, and sees the kernels alone. All names that it defines begin with the function's name or are in a
//! namespace of that name, and no macro is left, so texts of different names can be in one file. The function moves the
//! same data as [`Plan::run`](crate::relayout::Plan::run) does on a CPU.
//!
//! # Names
//!
//! Law: code with an accepted name compiles. The name is not a word of C++, not defined by the dialect's header, and
//! not of a form that the runtimes' headers are known to define: their functions, vectors such as `float4`, types that
//! end with `_t`.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    str::FromStr,
};

use tilewright_core::{ByteOrder, Dtype, Fill};
use tilewright_device::{Alignment, DevicePlan, Kernel, Target};
use tilewright_notation::ArrayLayout;
use tilewright_relayout::{Elements, Extend, Program};
use tilewright_scan::or_one_of;

use crate::Error;

/// The line of a kernel's text that the header replaces.
const INCLUDE: &str = "#include \"tilewright_device.h\"\n";

/// The largest number of launches of a text. Kernels with the same text share a launch.
const KERNELS: usize = 256;

/// The largest number of blocks of one launch.
const BLOCKS: u64 = (1 << 31) - 1;

/// Kernels that move one array between two layouts.
///
/// ```
/// use tilewright::{emit::Kernels, input::Array};
/// let array = Array::read(Some("512,768"), Some("f32"))?;
/// let [rows, columns] = array.array_layouts("row-major", "col-major", &())?;
/// let text = Kernels::between(&rows, &columns)?.cuda(None)?;
/// assert!(text.contains("extern \"C\" cudaError_t tw_relayout(const void* src, void* dst, cudaStream_t stream)"));
///
/// let [one, other] = Array::default().array_layouts("f32[2,3] row-major", "s8[2,3] row-major", &())?;
/// assert!(Kernels::between(&one, &other).unwrap_err().is_mismatch());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Kernels {
    plan: DevicePlan,
    bytes: (u64, u64),
    says: String,
}

impl Kernels {
    /// Returns the kernels that move an array of the first layout to the second. Padding gets the fill of the second.
    ///
    /// # Errors
    /// `mismatch` for extents or element types that differ; `needs-dtype` if no layout gives the width of an element;
    /// `unsupported` for a destination in which elements share storage, or that no kernel writes.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, tiles] = Array::default().array_layouts("bf16[100,64] row-major", "zN", &())?;
    /// assert_eq!(Kernels::between(&rows, &tiles)?.bytes(), (12_800, 14_336));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn between(from: &ArrayLayout, to: &ArrayLayout) -> Result<Kernels, Error> {
        let (src, dst) = (from.stored(), to.stored());
        if let (Some(one), Some(other)) = (src.dtype(), dst.dtype())
            && one != other
        {
            let says = format!("elements of {one} and of {other}; a move keeps the element type");
            return Err(Error::new("mismatch", says).in_field("b"));
        }
        let widths = (src.element_bits(), dst.element_bits());
        let (Some(src_bits), Some(dst_bits)) = (widths.0.or(widths.1), widths.1.or(widths.0))
        else {
            let says = "the width of an element is not known, as no layout has an element type";
            return Err(Error::new("needs-dtype", says));
        };
        let dtype = src.dtype().or(dst.dtype());
        let signed = dtype.is_some_and(|dtype| dtype.is_signed_integer());
        let extend = if signed { Extend::Sign } else { Extend::Zero };
        let fill = fill(dst.fill(), dtype, dst_bits)?;
        let elements = Elements { src_bits, dst_bits, extend };
        let program = Program::of_arrays(from.layout(), to.layout(), elements, fill);
        let program = program.map_err(|error| error.in_field("b"))?;
        let plan = DevicePlan::new(&program, Alignment::default())?;
        let count = launches(plan.kernels()).len();
        if count > KERNELS {
            let says = format!("{count} kernels; a text has at most {KERNELS}");
            return Err(Error::new("limit", says));
        }
        let stored = match src_bits == dst_bits {
            true => format!("{src_bits} bits"),
            false => format!("{src_bits} bits, then {dst_bits}"),
        };
        let (a, b) = (short(&from.to_spec()), short(&to.to_spec()));
        let says = format!("{a} to {b}, elements stored in {stored}");
        Ok(Kernels { plan, bytes: (program.src_bytes(), program.dst_bytes()), says })
    }

    /// The number of bytes of source and destination.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, columns] = Array::default().array_layouts("f32[4,6] row-major", "col-major", &())?;
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
    /// let [rows, columns] = Array::default().array_layouts("f32[4,6] row-major", "col-major", &())?;
    /// assert_eq!(Kernels::between(&rows, &columns)?.kernels().len(), 1);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn kernels(&self) -> &[Kernel] {
        self.plan.kernels()
    }

    /// Returns the text in CUDA C++: kernels, and a function `name` that launches them on a stream.
    ///
    /// # Errors
    /// `usage` if the name is not a name in C++, or is one that the text needs.
    ///
    /// ```
    /// use tilewright::{emit::Kernels, input::Array};
    /// let [rows, columns] = Array::default().array_layouts("f32[4,6] row-major", "col-major", &())?;
    /// let kernels = Kernels::between(&rows, &columns)?;
    /// assert!(kernels.cuda(Some("turned"))?.contains("cudaError_t turned("));
    /// assert!(kernels.cuda(Some("4th")).unwrap_err().is_usage());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn cuda(&self, name: Option<&str>) -> Result<String, Error> {
        self.print(Runtime::Cuda, name)
    }

    /// Returns the text for a runtime: kernels, and a function `name` that launches them on a stream.
    ///
    /// # Errors
    /// `usage` if the name is not a name in C++, or is one that the text needs.
    ///
    /// ```
    /// use tilewright::{emit::{Kernels, Runtime}, input::Array};
    /// let [rows, columns] = Array::default().array_layouts("f32[4,6] row-major", "col-major", &())?;
    /// let kernels = Kernels::between(&rows, &columns)?;
    /// let text = kernels.print(Runtime::Hip, Some("turned"))?;
    /// assert!(text.contains("hipError_t turned(") && text.contains("#include <hip/hip_runtime.h>"));
    /// assert!(kernels.print(Runtime::Hip, Some("switch")).unwrap_err().is_usage());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn print(&self, runtime: Runtime, name: Option<&str>) -> Result<String, Error> {
        let name = name.unwrap_or(NAME);
        check(name)?;
        let (launches, header) = (launches(self.kernels()), Target::Cuda.header());
        let [at_run_time, include, _] = runtime.words();
        let (from, to) = self.bytes;
        let mut text = format!(
            "// {}: {from} to {to} bytes.\n\
             #if !defined({at_run_time})\n#include <stdint.h>\n#include <{include}>\n#endif\n\n\
             #define TW_NO_MANY\nnamespace {name}_text {{\n{header}",
            self.says
        );
        for (at, launch) in launches.iter().enumerate() {
            text += &one(launch, &format!("{name}_{at}"));
        }
        text += &format!("}}  // namespace {name}_text\n{}", undefined(&text));
        text += &self.launch(name, runtime, &launches);
        Ok(text)
    }

    /// Returns the function that launches all kernels.
    fn launch(&self, name: &str, runtime: Runtime, launches: &[Vec<&Kernel>]) -> String {
        let ([at_run_time, _, misaligned], own) = (runtime.words(), runtime.name());
        let mut text = format!(
            "\n#if !defined({at_run_time})\n// Queues the move of {} bytes at src to {} bytes at dst, both on the current device and at multiples of 16 bytes.\n\
             // The two are apart. All bytes at dst are written, also those of no element. Launches: {}.\n\
             extern \"C\" {own}Error_t {name}(const void* src, void* dst, {own}Stream_t stream) {{\n  \
             if (((uintptr_t)src | (uintptr_t)dst) % 16 != 0) return {misaligned};\n  \
             {own}Error_t error = {own}Success;\n",
            self.bytes.0,
            self.bytes.1,
            launches.len()
        );
        for (at, launch) in launches.iter().enumerate() {
            let blocks: u64 = launch.iter().map(|kernel| kernel.blocks()).sum();
            let threads = launch.first().map_or(0, |kernel| kernel.threads());
            // A launch of several parts has their numbers in a table and takes their count.
            let (suffix, params) = match launch[..] {
                [kernel] => ("", params(kernel)),
                _ => ("_all", format!("{}ull", launch.len())),
            };
            // Writing to a `String` does not fail.
            let _ = write!(
                text,
                "  {{\n    unsigned long long params[] = {{{params}}};\n    void* arguments[] = {{&src, &dst, params}};\n    \
                 error = {own}LaunchKernel((const void*){name}_text::{name}_{at}{suffix}, dim3({blocks}), dim3({threads}), arguments, 0, stream);\n    \
                 if (error != {own}Success) return error;\n  }}\n"
            );
        }
        text + "  return error;\n}\n#endif\n"
    }
}

/// Groups kernels of the same text into launches of at most `BLOCKS` blocks. The order is kept where it matters: kernels that
/// fill all of the destination come before the others, and share no text with them.
fn launches(kernels: &[Kernel]) -> Vec<Vec<&Kernel>> {
    let mut all: Vec<Vec<&Kernel>> = Vec::new();
    // For each text, the launch that still has room, and its number of blocks.
    let mut open: HashMap<&str, (usize, u64)> = HashMap::new();
    for kernel in kernels {
        let (launch, blocks) = open.entry(kernel.text()).or_insert((usize::MAX, 0));
        *blocks += kernel.blocks();
        match all.get_mut(*launch) {
            Some(launch) if *blocks <= BLOCKS => launch.push(kernel),
            _ => {
                (*launch, *blocks) = (all.len(), kernel.blocks());
                all.push(vec![kernel]);
            }
        }
    }
    all
}

/// Returns a layout as text for a comment: on one line, with long lists of a table shortened.
fn short(spec: &str) -> String {
    const MOST: usize = 200;
    let spec = spec.replace(['\n', '\r'], " ");
    match spec.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} … ({} characters)", &spec[..end], spec.chars().count()),
        None => spec,
    }
}

/// Returns the macros that a text defines.
fn macros(text: &str) -> BTreeSet<&str> {
    let words = text.lines().filter_map(|line| line.strip_prefix("#define "));
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    words.filter_map(|rest| rest.split(ends).next()).collect()
}

/// Returns the lines that undefine all macros of a text.
fn undefined(text: &str) -> String {
    macros(text).into_iter().map(|name| format!("#undef {name}\n")).collect()
}

/// Returns the parameters of a kernel as C literals.
fn params(kernel: &Kernel) -> String {
    let params = kernel.params().iter().map(|number| format!("{number:#x}ull"));
    params.collect::<Vec<String>>().join(", ")
}

/// Returns the bits that padding holds.
fn fill(fill: Fill, dtype: Option<Dtype>, bits: u32) -> Result<u128, Error> {
    match (fill, dtype) {
        (Fill::Unspecified | Fill::Unknown | Fill::Zero, None) => Ok(0),
        (Fill::Bits(bits), None) => Ok(bits),
        (Fill::One | Fill::Lowest | Fill::Highest, None) => {
            let says = "this fill depends on the element type, and no layout has one";
            Err(Error::new("needs-dtype", says))
        }
        (fill, Some(dtype)) => Ok(dtype.stored_fill(fill, bits, ByteOrder::Little)?),
    }
}

/// Returns the text of one launch. It undefines its macros at its end, and its definitions are in a namespace. If it moves
/// several parts, a second entry finds the part of each block in a table.
fn one(launch: &[&Kernel], name: &str) -> String {
    let text = launch.first().map_or("", |kernel| kernel.text());
    let (head, rest) = text.split_once(INCLUDE).unwrap_or(("", text));
    let rest = rest.replacen("KERNEL(tw_move)", &format!("KERNEL({name})"), 1);
    let (macros, all) =
        (undefined(head), if launch.len() > 1 { all(launch, name) } else { String::new() });
    format!(
        "\n{head}namespace {name}_text {{\n{rest}{all}}}\nusing namespace {name}_text;\n{macros}"
    )
}

/// Returns the entry for several parts. The part of a block is the last one whose first block is not after that block.
fn all(launch: &[&Kernel], name: &str) -> String {
    let mut first = 0;
    let parts = launch.iter().map(|kernel| {
        let row = format!("  {{{first}u, {{{{{}}}}}}},\n", params(kernel));
        first += kernel.blocks();
        row
    });
    let rows: String = parts.collect();
    format!(
        "// The parts that blocks move: the first block of each, and its numbers.\n\
         struct {name}_part {{ u32 first; {name}_params params; }};\nTABLE {name}_part {name}_parts[] = {{\n{rows}}};\n\
         PARTS({name}, {name}_all, {name}_parts)\n"
    )
}

/// The default name of the launching function.
const NAME: &str = "tw_relayout";

/// Words that are refused as names: words of C++, of the runtimes' headers, and of the first lines of a kernel.
const WORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t \
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default \
delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable \
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires \
return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try \
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq main uint4 dim3 threadIdx \
blockIdx blockDim gridDim warpSize NULL linux unix \
u8 u16 u32 u64 i32 i64 u128 NT MINBLOCKS PARAMS SHAREDBYTES";

/// Returns an error if the function cannot have this name.
fn check(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let legal = "letters, digits and _, no digit first";
    if !name.chars().all(plain) || !starts {
        return Err(
            Error::usage(format!("{name:?} is not a name in C++: {legal}")).in_field("name")
        );
    }
    let header = Target::Cuda.header();
    let says = |word: &str| header.split(|c: char| !plain(c)).any(|own| own == word);
    let own = macros(header).contains(name) || (name.starts_with("tw_") && says(name));
    let reserved = name.contains("__") || name.starts_with('_') || name.ends_with("_t");
    if own || reserved || is_of_runtime(name) || WORDS.split_whitespace().any(|word| word == name) {
        let says = format!(
            "{name:?} is a word of C++, or one that the text or its compiler needs; legal are {legal}, \
             no _ first, no two together and no _t last, such as {NAME}"
        );
        return Err(Error::usage(says).in_field("name"));
    }
    Ok(())
}

/// Returns whether the runtimes' headers may define this name: their functions, and vectors such as `float4`.
fn is_of_runtime(name: &str) -> bool {
    let function = ["cuda", "hip", "cu"].iter().any(|own| {
        name.strip_prefix(own)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    let of = name.strip_suffix(['1', '2', '3', '4']).unwrap_or_default();
    let of = of.strip_prefix('u').unwrap_or(of);
    function || ["char", "short", "int", "long", "longlong", "float", "double"].contains(&of)
}

/// The runtime that a text is written for.
///
/// ```
/// use tilewright::emit::Runtime;
/// assert_eq!("hip".parse::<Runtime>()?, Runtime::Hip);
/// assert!("metal".parse::<Runtime>().unwrap_err().is_usage());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// CUDA C++.
    Cuda,
    /// HIP, for AMD's devices.
    Hip,
}

impl Runtime {
    /// The name of the runtime, which is also the prefix of its functions.
    ///
    /// ```
    /// assert_eq!(tilewright::emit::Runtime::Cuda.name(), "cuda");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Cuda => "cuda",
            Runtime::Hip => "hip",
        }
    }

    /// Returns the macro that the runtime's compiler at run time defines, the runtime's header, and its error for misaligned
    /// pointers.
    fn words(self) -> [&'static str; 3] {
        match self {
            Runtime::Cuda => ["__CUDACC_RTC__", "cuda_runtime.h", "cudaErrorMisalignedAddress"],
            Runtime::Hip => ["__HIPCC_RTC__", "hip/hip_runtime.h", "hipErrorInvalidValue"],
        }
    }
}

impl FromStr for Runtime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Runtime, Error> {
        match text {
            "cuda" => Ok(Runtime::Cuda),
            "hip" => Ok(Runtime::Hip),
            _ => {
                let near = or_one_of(text, &["cuda", "hip"]);
                let says = format!("kernels are not printed in {text:?}{near}");
                Err(Error::usage(says).in_field("to"))
            }
        }
    }
}
