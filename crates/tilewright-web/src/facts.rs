//! Facts about a layout for the page, with those that its picture needs.

use serde_json::{Value, json};
use tilewright::{
    ArrayLayout, Explanation, Named, TensorLayout,
    ask::{Answer as _, TabledExplanation},
    layouts::{LinearDim, LinearLayout},
};

/// Returns the [facts](view) of an array. Index tables add lines before those of the layout that they store, whose
/// name is `stored` and whose dims are `stored_dims`; digits and tiles are then left out.
pub(crate) fn of_array(array: &ArrayLayout) -> Value {
    let mut facts = view(array.stored());
    if !array.has_tables() {
        return facts;
    }
    let (explained, layout) = (TabledExplanation::of(array), array.layout());
    facts["stored"] = facts["layout"].take();
    facts["stored_dims"] = facts["dims"].take();
    facts["layout"] = json!(explained.spec);
    for field in ["dims", "padded"] {
        facts[field] = json!(explained.dims);
    }
    facts["cuts"] = explained.dims.iter().map(|_| json!([])).collect();
    facts["axes"] = json!([]);
    (facts["size"], facts["padding"]) = (json!(layout.size()), json!(layout.padding()));
    let kept = |line: &&(String, String)| ["capacity", "injective"].contains(&line.0.as_str());
    let mut lines = explained.lines();
    lines.extend(explained.stored.lines().iter().filter(kept).cloned());
    facts["lines"] = json!(lines);
    facts
}

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

    #[cfg(feature = "late")]
    #[test]
    fn an_array_with_tables_has_its_own_dims_and_the_notations_of_what_is_stored() {
        let array = Array::default();
        let of = |text| of_array(&array.array_layout("spec", text, &()).unwrap());
        let facts = of("f16[3,8] table(0; 2,-,0,1) row-major");
        assert_eq!((&facts["dims"], &facts["stored_dims"]), (&json!([3, 8]), &json!([4, 8])));
        assert_eq!((&facts["padded"], &facts["cuts"]), (&json!([3, 8]), &json!([[], []])));
        assert_eq!((&facts["padding"], &facts["capacity"]), (&json!(8), &json!(32)));
        assert_eq!(facts["stored"], "f16[4,8] row-major");
        let titles: Vec<&Value> =
            facts["lines"].as_array().unwrap().iter().map(|l| &l[0]).collect();
        assert_eq!(titles, ["dims", "index tables", "padding", "capacity", "injective"]);
        // Tables that are digits leave a layout like any other.
        let folded = of("f16[4,8] table(0; 0,2,1,3) row-major");
        assert!(folded["stored"].is_null());
        assert_eq!(folded["cuts"], json!([[2], []]));
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
