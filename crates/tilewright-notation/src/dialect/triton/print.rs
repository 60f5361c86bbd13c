//! Prints layouts of memory as Triton's encodings of shared memory.

use tilewright_core::LinearLayout;

use super::super::linear;
use super::{
    encoding::Encoding,
    values::{Bases, MAX_RANK},
};
use crate::{Error, Named};

fn unsupported(message: impl Into<String>) -> Error {
    Error::unsupported(message)
}

/// The layout as an encoding of shared memory: a swizzled one where that can express it, else a linear one.
pub(super) fn print(named: &Named) -> Result<String, Error> {
    let (tensor, dims) = (named.layout(), named.layout().extents());
    if dims.len() > MAX_RANK {
        return Err(unsupported(format!("{} dims; a linear layout has at most 16", dims.len())));
    }
    let no_words = |why| unsupported(format!("Triton's encodings are linear over bits: {why}"));
    if tensor.capacity() != tensor.size() {
        return Err(unsupported("Triton's linear layouts cannot express padding"));
    }
    let places = linear::places(tensor, tensor.size()).map_err(no_words)?;
    let map = places.inverse().map_err(|error| no_words(error.to_string()))?;
    let swizzled = swizzled(named);
    if swizzled.map(dims).is_ok_and(|other| same_places(&other, &map)) {
        return Ok(swizzled.to_string());
    }
    let offset: Bases = (0..)
        .map_while(|bit| map.basis("offset", bit))
        .map(|basis| basis.as_slice().to_vec())
        .collect();
    Ok(Encoding::SharedLinear { offset, blocks: Vec::new(), alignment: 16 }.to_string())
}

/// Returns whether the two maps send every offset to the same coordinates; the first has a dim of blocks too.
fn same_places(other: &LinearLayout, map: &LinearLayout) -> bool {
    let bases = |map: &LinearLayout| -> Vec<_> {
        (0..).map_while(|bit| map.basis("offset", bit)).collect()
    };
    bases(other) == bases(map)
}

/// The swizzled encoding that the layout's strides and swizzle look like.
fn swizzled(named: &Named) -> Encoding {
    let (layout, dims) = (named.layout().layout(), named.layout().extents());
    let stride = |dim: usize| {
        let moving = layout.axis(dim).and_then(|modes| modes.iter().find(|mode| mode.extent() > 1));
        moving.map_or(i64::MAX, |mode| mode.stride())
    };
    let mut order: Vec<usize> = (0..dims.len()).collect();
    tilewright_core::sort_short(&mut order, |&dim| (stride(dim), std::cmp::Reverse(dim)));
    let columns = order.first().and_then(|&dim| dims.get(dim)).copied().unwrap_or(1);
    let swizzle = layout.swizzle();
    let rows = i64::from(swizzle.base()) + i64::from(swizzle.shift());
    let per_phase = u32::try_from(rows - i64::from(columns.trailing_zeros())).unwrap_or(0);
    let power = |bits: u32| 1u64.checked_shl(bits).unwrap_or(1);
    let (vec, per_phase, max_phase) = if swizzle.is_identity() {
        (1, 1, 1)
    } else {
        (power(u32::from(swizzle.base())), power(per_phase), power(u32::from(swizzle.bits())))
    };
    let blocks = Vec::new();
    Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating: false }
}
