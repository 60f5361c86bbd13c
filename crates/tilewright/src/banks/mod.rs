//! Bank conflicts of shared memory: everything of `tilewright-banks`, and readers for accesses and machines as people write them.
//!
//! ```text
//! access  := [ 'read' | 'write' ] what
//! what    := 'row' | 'column'
//!          | ('ldmatrix' | 'stmatrix') { '.' ('x1' | 'x2' | 'x4' | 'trans' | word of PTX) }
//!          | spec [ 'over' dims ] [ 'threads' integer ]
//! machine := 'nvidia' | 'cdna3' | 'cdna4' | banks 'x' bytes
//! ```
//!
//! The accesses `row` and `column` are threads along the rows or down the columns of the array, with an element or a vector each.
//! Another access is a SPEC of one of three kinds:
//!
//! - A distribution of an array over threads, such as `#ttg.blocked<{…}>`.
//! - A format of the fragments of a matrix unit, such as `MMA_M16N8K16_16BIT_A`, or any other format whose places are thread
//!   after thread, with the number of threads.
//! - A layout of threads and values whose offsets count the cells of a tile, the first dim fastest, as CuTe's thread-value
//!   layouts do. The tile is the array, or `over (16,8)`, and repeats over the array.
//!
//! `32x4` is `nvidia`, `64x4` is `cdna4`.
//!
//! ```
//! use tilewright::{banks, input::Array};
//! let tile = Array::default().layout("spec", "f16[64,64] row-major")?;
//! let access = banks::access("ldmatrix.x4", &tile, &banks::Banks::NVIDIA, None)?;
//! let count = banks::conflicts(tile.layout(), 16, &banks::machine("32x4")?, &access)?;
//! assert_eq!((count.instructions, count.degree), (16, 8));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! The offset of an element as C code.

mod read;

use tilewright_core::TensorLayout;

pub use read::{access, machine};
pub use tilewright_banks::*;

/// The names of the dims.
const DIMS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

/// Returns a C function that computes the offset, in elements, of a coordinate. `None` for more than six dims and for layouts
/// that mix dims.
///
/// ```
/// use tilewright::banks::index_code;
/// use tilewright::{TensorLayout, layout};
/// let of = |layout| index_code(&TensorLayout::of(&layout)).unwrap();
/// assert_eq!(
///     of(layout!("Sw<3,3,3> o (8,64):(64,1)")),
///     "unsigned at(unsigned i, unsigned j) { unsigned o = i * 64 + j; return o ^ (o >> 3 & 56); }",
/// );
/// assert_eq!(
///     of(layout!("((4,2),3):((1,12),4)")),
///     "unsigned at(unsigned i, unsigned j) { return i % 4 + i / 4 * 12 + j * 4; }",
/// );
/// ```
pub fn index_code(tensor: &TensorLayout) -> Option<String> {
    let layout = tensor.layout();
    let names = DIMS.get(..tensor.rank()).filter(|_| tensor.is_strided())?;
    let terms: Vec<String> =
        names.iter().enumerate().flat_map(|(dim, name)| axis(tensor, dim, name)).collect();
    let mut sum = terms.join(" + ");
    if layout.offset() != 0 || sum.is_empty() {
        let plus = if sum.is_empty() { "" } else { " + " };
        sum = format!("{sum}{plus}{}", layout.offset());
    }
    let swizzle = layout.swizzle();
    let body = if swizzle.is_identity() {
        format!("return {sum};")
    } else {
        let (by, mask) = (swizzle.shift(), ((1u64 << swizzle.bits()) - 1) << swizzle.base());
        let moved = match by >= 0 {
            true => format!("o >> {by} & {mask}"),
            false => format!("(o & {mask}) << {}", by.unsigned_abs()),
        };
        format!("unsigned o = {sum}; return o ^ ({moved});")
    };
    let dims: Vec<String> = names.iter().map(|name| format!("unsigned {name}")).collect();
    Some(format!("unsigned at({}) {{ {body} }}", dims.join(", ")))
}

/// Returns the terms of a dim: each digit times its stride.
fn axis(tensor: &TensorLayout, dim: usize, name: &str) -> Vec<String> {
    let modes = tensor.layout().axis(dim).unwrap_or_default();
    let (mut below, mut left) = (1u64, tensor.extents().get(dim).copied().unwrap_or(1));
    let mut terms = Vec::new();
    for mode in modes {
        // The part of the extent above this digit; the last digit needs no remainder.
        let above = left.div_ceil(mode.extent().max(1));
        let mut term = name.to_owned();
        if below > 1 {
            term = format!("{term} / {below}");
        }
        if above > 1 {
            term = format!("{term} % {}", mode.extent());
        }
        if mode.stride() != 1 {
            term = format!("{term} * {}", mode.stride());
        }
        if left > 1 && mode.extent() > 1 && mode.stride() != 0 {
            terms.push(term);
        }
        (below, left) = (below.saturating_mul(mode.extent()), above);
    }
    terms
}
