//! The offset of an element as C code.

use tilewright_core::TensorLayout;

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
