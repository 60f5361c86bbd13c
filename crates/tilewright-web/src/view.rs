//! Layouts that are kept open, so that the page reads a window of one as numbers.
//!
//! JavaScript's numbers are exact to 2⁵³; a larger offset becomes the nearest number. A coordinate outside the layout,
//! or an undecided offset, is `NaN`.

use serde_json::{Value, json};
use tilewright::{
    ArrayLayout, Explanation, ResolvedLayout, TensorLayout,
    ask::{Answer as _, Fields, TabledExplanation},
    layouts::{LinearDim, LinearLayout, Place},
};
use wasm_bindgen::prelude::wasm_bindgen;

/// The largest count of numbers in one window.
const MAX_CELLS: usize = 1 << 20;

/// Layout whose cells are read in windows.
///
/// ```
/// use tilewright_web::View;
/// let zn = View::open("zN[M0=2,C0=2]", "3,4", "").unwrap();
/// // Rows 0 and 1 of columns 2 and 3: the second panel of columns.
/// assert_eq!(zn.grid(&[], 0.0, 2.0, 2, 2), [8.0, 9.0, 10.0, 11.0]);
/// assert!(View::open("zN", "", "").is_none());
/// ```
#[wasm_bindgen]
#[derive(Clone, Debug)]
pub struct View {
    array: ArrayLayout,
}

#[wasm_bindgen]
impl View {
    /// Opens the layout of a SPEC or expression; `None` if [`ask`](crate::ask) refuses it and gives the reason.
    ///
    /// ```
    /// use tilewright_web::View;
    /// assert!(View::open("logical_divide((6,8):(8,1), <3,4>)", "", "").is_some());
    /// assert!(View::open("row-major", "2,3,x", "").is_none());
    /// # if !cfg!(feature = "late") { return; }
    /// // Rows in an order of their own, each element at its place.
    /// let rows = View::open("[3,2] table(0; 2,-,0,1) row-major", "", "").unwrap();
    /// assert_eq!(rows.grid(&[], 0.0, 0.0, 3, 2), [4.0, 5.0, 6.0, 7.0, 0.0, 1.0]);
    /// assert_eq!(rows.memory(1.0, 2), [1.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
    /// ```
    pub fn open(spec: &str, dims: &str, dtype: &str) -> Option<View> {
        let question = json!({ "spec": spec, "dims": dims, "dtype": dtype });
        Some(View { array: Fields(&question).array_layout("spec").ok()? })
    }

    /// Returns the offsets of a window of the last two dims, row by row, where `outer` is the coordinate of the other dims.
    /// Padding has offsets too. An array of one dim is one row, and an array without dims is one cell.
    ///
    /// ```
    /// use tilewright_web::View;
    /// let cube = View::open("f32[2,2,3]{2,1,0}", "", "").unwrap();
    /// assert_eq!(cube.grid(&[1.0], 0.0, 1.0, 2, 2), [7.0, 8.0, 10.0, 11.0]);
    /// // There is no third row.
    /// assert!(cube.grid(&[1.0], 2.0, 0.0, 1, 3).iter().all(|offset| offset.is_nan()));
    /// ```
    pub fn grid(&self, outer: &[f64], row: f64, column: f64, rows: u32, columns: u32) -> Vec<f64> {
        let rank = self.rank();
        let mut coord: Vec<u64> = outer.iter().map(|&x| x as u64).collect();
        coord.resize(rank, 0);
        let cells = (0..u64::from(rows)).flat_map(|i| (0..u64::from(columns)).map(move |j| (i, j)));
        let offsets = cells.take(MAX_CELLS).map(|(i, j)| {
            let (i, j) = (i.saturating_add(row as u64), j.saturating_add(column as u64));
            if rank > 1 {
                coord[rank - 2] = i;
            }
            if rank > 0 {
                coord[rank - 1] = j;
            }
            let outside = (rank < 2 && i > 0) || (rank < 1 && j > 0);
            if outside { f64::NAN } else { self.cell(&coord) }
        });
        offsets.collect()
    }

    /// Returns the contents of memory from an offset on. For each offset: its state (0 padding, 1 an element, 2 outside, 3
    /// undecided) and the coordinate of the element, one number for each dim.
    ///
    /// ```
    /// use tilewright_web::View;
    /// let padded = View::open("(2,2):(2,1) valid (1,2)", "", "").unwrap();
    /// assert_eq!(padded.memory(1.0, 2), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    /// assert_eq!(padded.memory(4.0, 1), [2.0, 0.0, 0.0]);
    /// ```
    pub fn memory(&self, from: f64, count: u32) -> Vec<f64> {
        let (rank, mut given_up) = (self.rank(), false);
        let count = (count as usize).min(MAX_CELLS / (rank + 1));
        let mut cells = Vec::with_capacity(count * (rank + 1));
        for i in 0..count as i64 {
            // After one undecided offset, its neighbours are not searched.
            let place = if given_up { None } else { self.place((from as i64).saturating_add(i)) };
            given_up |= place.is_none();
            let (state, coord) = match &place {
                Some(Place::Padding) => (0.0, None),
                Some(Place::Element(coord)) => (1.0, Some(coord.as_slice())),
                Some(Place::OutOfRange) => (2.0, None),
                None => (3.0, None),
            };
            cells.push(state);
            let coord = coord.unwrap_or(&[]).iter().map(|&x| x as f64);
            cells.extend(coord.chain(std::iter::repeat(0.0)).take(rank));
        }
        cells
    }

    /// Returns the offsets of elements, whose coordinates follow one another.
    ///
    /// ```
    /// use tilewright_web::View;
    /// let columns = View::open("col-major", "2,3", "").unwrap();
    /// assert_eq!(columns.offsets(&[1.0, 0.0, 0.0, 2.0]), [1.0, 4.0]);
    /// assert!(columns.offsets(&[2.0, 0.0])[0].is_nan());
    /// ```
    pub fn offsets(&self, coords: &[f64]) -> Vec<f64> {
        let offset = |coord: &[f64]| {
            let coord: Vec<u64> = coord.iter().map(|&x| x as u64).collect();
            self.element(&coord).map_or(f64::NAN, |offset| offset as f64)
        };
        coords.chunks(self.rank().max(1)).take(MAX_CELLS).map(offset).collect()
    }

    /// Returns the offset of a cell, also of padding, in decimal digits, since a number of JavaScript may be inexact. Empty if
    /// there is none.
    ///
    /// ```
    /// use tilewright_web::View;
    /// let far = View::open("(2,2):(9007199254740993,1)", "", "").unwrap();
    /// assert_eq!(far.digits(&[1.0, 0.0]), "9007199254740993");
    /// assert_eq!(far.digits(&[2.0, 0.0]), "");
    /// ```
    pub fn digits(&self, coord: &[f64]) -> String {
        let coord: Vec<u64> = coord.iter().map(|&x| x as u64).collect();
        self.at(&coord).map_or_else(String::new, |offset| offset.to_string())
    }

    /// Returns the offset of a cell of the padded domain.
    fn at(&self, coord: &[u64]) -> Option<i64> {
        let layout = self.array.stored().layout();
        if self.array.has_tables() || !layout.is_strided() {
            return self.element(coord);
        }
        layout.layout().offset_at(coord).ok()
    }

    /// Returns the offset of an element.
    fn element(&self, coord: &[u64]) -> Option<i64> {
        let offset = match self.array.has_tables() {
            true => self.array.layout().offset(coord),
            false => self.array.stored().layout().offset(coord),
        };
        offset.ok()
    }

    fn rank(&self) -> usize {
        self.array.layout().extents().len()
    }

    /// Returns the offset of a cell of the padded domain as a number; `NaN` if there is none.
    fn cell(&self, coord: &[u64]) -> f64 {
        self.at(coord).map_or(f64::NAN, |offset| offset as f64)
    }

    fn place(&self, offset: i64) -> Option<Place> {
        let place = match self.array.has_tables() {
            true => self.array.layout().locate(offset),
            false => self.array.stored().layout().locate(offset),
        };
        place.ok()
    }
}

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
pub(crate) fn view(named: &ResolvedLayout) -> Value {
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
