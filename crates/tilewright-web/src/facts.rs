//! Facts about a layout for the page, with those that its picture needs.

use serde_json::{Value, json};
use tilewright::{
    Explanation, Named, TensorLayout,
    ask::Answer as _,
    layouts::{LinearDim, LinearLayout},
};

/// Returns the fields of an [`Explanation`] and further ones: `padded` (the extent of each dim with its padding), `cuts` (the
/// sizes of tiles of each dim, inner first), `modes` (every mode of the storage as `[extent, stride]`), `low` (the lowest offset)
/// and `swizzled`.
pub(crate) fn view(named: &Named) -> Value {
    let mut facts = Explanation::of(named).to_json();
    let layout = named.layout();
    let dims = 0..layout.rank();
    facts["padded"] = json!(dims.clone().map(|dim| padded(layout, dim)).collect::<Vec<_>>());
    facts["cuts"] = json!(dims.map(|dim| cuts(layout, dim)).collect::<Vec<_>>());
    let modes = layout.layout().modes().iter().map(|mode| (mode.extent(), mode.stride()));
    facts["modes"] = json!(modes.collect::<Vec<_>>());
    facts["swizzled"] = json!(!layout.layout().swizzle().is_identity());
    facts["low"] = json!(layout.layout().bounds().map_or(0, |(low, _)| low.min(0)));
    facts
}

/// Returns the extent of a dim, with padding if the dim is an axis of its own.
fn padded(layout: &TensorLayout, dim: usize) -> u64 {
    let own = layout.extents()[dim];
    layout.layout().axis_size(dim).filter(|_| layout.is_strided()).unwrap_or(own)
}

/// Returns the sizes of the tiles of a dim, inner first; empty if steps mix the dims.
fn cuts(layout: &TensorLayout, dim: usize) -> Vec<u64> {
    let modes = layout.layout().axis(dim).filter(|_| layout.is_strided()).unwrap_or(&[]);
    let extents = modes.iter().map(|mode| mode.extent()).filter(|&extent| extent != 1);
    let mut sizes: Vec<u64> = extents
        .scan(1u64, |size, extent| {
            *size = size.saturating_mul(extent);
            Some(*size)
        })
        .collect();
    sizes.pop();
    sizes
}

/// Describes a map from registers, lanes, warps and blocks: their numbers, the extents of the array, and how often an element is
/// held.
pub(crate) fn spread(map: &LinearLayout) -> Value {
    let sizes = |dims: &[LinearDim]| {
        let one = |dim: &LinearDim| (dim.name().to_owned(), dim.size().to_string());
        dims.iter().map(one).collect::<Vec<_>>()
    };
    let mut lines = sizes(map.ins());
    lines.extend(sizes(map.outs()));
    let copies = map.in_size() >> map.rank().min(63);
    let held = match (map.is_surjective(), copies) {
        (false, _) => "not all of the elements".to_owned(),
        (true, 1) => "each element once".to_owned(),
        (true, copies) => format!("each element {copies} times"),
    };
    lines.push(("held".to_owned(), held));
    lines.push(("as a map of bits".to_owned(), map.to_string()));
    json!(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::input::Array;

    fn facts(text: &str) -> Value {
        view(&Array::default().layout("spec", text).unwrap())
    }

    #[test]
    fn what_a_picture_needs() {
        let facts = facts("f32[3,5]{1,0:T(2,2)}");
        assert_eq!((&facts["padded"], &facts["cuts"]), (&json!([4, 6]), &json!([[2], [2]])));
        assert_eq!(facts["lines"][0], json!(["dims", "[3, 5]"]));
        let nested = self::facts("((4,2,3),5):((1,8,16),48)");
        assert_eq!(nested["cuts"], json!([[4, 8], []]));
        assert_eq!(self::facts("4:-2")["low"], -6);
        assert_eq!(self::facts("4:-2")["swizzled"], false);
        assert_eq!(self::facts("Sw<3,3,3> o (8,64):(64,1)")["swizzled"], true);
    }
}
