//! The answer for buffers that hold other values than the array: no layout moves one to the other, whatever its form.
//!
//! Law: if a value occurs in the array more often than in the packed buffer, some element is not there.

use tilewright_core::{Counted, TensorLayout};

use super::{Inference, search::Search};

/// Returns the answer if the packed buffer lacks elements of the array: a layout of all other elements if it lacks one, and else
/// their number and the first of them.
pub(super) fn answer(elements: &[u64], dims: &[u64], cells: &[u64]) -> Option<Inference> {
    let lost = excess(elements, cells);
    let (&first, count) = (lost.first()?, lost.len());
    if let ([element], [cell]) = (&lost[..], &strange(cells, elements)[..])
        && let Some(layout) = repaired(elements, dims, cells, (*element, *cell))
    {
        return Some(Inference::AllButOne { layout, element: *element as u64, cell: *cell as u64 });
    }
    let number = Counted(count as u64, "element");
    let are = if count == 1 { "is" } else { "are" };
    let at = coordinate(first as u64, dims);
    let why = format!(
        "{number} of the array {are} not in the packed buffer, the first {at}: values were changed"
    );
    Some(Inference::None { why })
}

/// Returns the layout that fits if a cell holds the value of an element.
fn repaired(
    elements: &[u64],
    dims: &[u64],
    cells: &[u64],
    (element, cell): (usize, usize),
) -> Option<TensorLayout> {
    let mut cells = cells.to_vec();
    *cells.get_mut(cell)? = *elements.get(element)?;
    let mut search = Search::new(elements, dims, &cells);
    search.run();
    match &search.found[..] {
        [layout] if layout.offset_of(element as u64).ok()? == cell as i64 => Some(layout.clone()),
        _ => None,
    }
}

/// Returns the places of the values that `a` has more often than `b`, in order: of equal ones the last.
fn excess(a: &[u64], b: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..a.len()).collect();
    order.sort_by_key(|place| a[*place]);
    let mut other = b.to_vec();
    other.sort_unstable();
    let mut rest = other.iter().peekable();
    let mut found: Vec<usize> = order
        .into_iter()
        .filter(|place| {
            while rest.next_if(|value| **value < a[*place]).is_some() {}
            rest.next_if(|value| **value == a[*place]).is_none()
        })
        .collect();
    found.sort_unstable();
    found
}

/// Returns the cells whose value no element has and no other cell: padding repeats its value.
fn strange(cells: &[u64], elements: &[u64]) -> Vec<usize> {
    let (mut known, mut all) = (elements.to_vec(), cells.to_vec());
    known.sort_unstable();
    all.sort_unstable();
    let once = |value: &u64| {
        all.partition_point(|it| it <= value) - all.partition_point(|it| it < value) == 1
    };
    let is_strange =
        |cell: &usize| known.binary_search(&cells[*cell]).is_err() && once(&cells[*cell]);
    (0..cells.len()).filter(is_strange).collect()
}

/// Returns the coordinate of an element as a text.
pub(crate) fn coordinate(index: u64, dims: &[u64]) -> String {
    let mut rest = index;
    let mut coord: Vec<String> = dims
        .iter()
        .rev()
        .map(|extent| {
            let at = rest % extent;
            rest /= extent;
            at.to_string()
        })
        .collect();
    coord.reverse();
    format!("({})", coord.join(","))
}
