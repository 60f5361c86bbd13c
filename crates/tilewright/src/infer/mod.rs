//! Search for the layout that maps one buffer to another, which identifies an undocumented format.
//!
//! The search finds dense layouts whose storage is a box of digits, with or without padding: those of a
//! [`Pattern`](tilewright_core::Pattern), and those with the elements of each word, dims, or the halves of a dim in
//! reverse order. It assumes nothing about the values, but the more of them differ, the sooner there is one answer.
//! Numbered elements decide everything.
//!
//! Two kinds of reversed storage are found by a search in changed arrays:
//!
//! - Dims in reverse order, whole or by halves: `swap_w13_to_w31` exchanges the halves of gate and up. Law: let some axes of an
//!   array be counted from their ends, and let L be the layout that is found for this mirrored array. With the strides of these
//!   axes negated and the offset of their last elements added, L is the layout of the array itself.
//! - Words with their elements in reverse order: bitsandbytes stores the first of two elements in the high half of a byte. Law:
//!   let L be the layout that is found after every word of n elements is reversed. The element at offset `w·n + i` of L is at
//!   `w·n + n − 1 − i` in the storage itself.

mod search;

use tilewright_core::{Counted, Layout, Mode, Profile, TensorLayout, unravel_index};

use crate::infer::search::LayoutSearch;

/// The largest number of mirrored arrays that are searched. Few of them begin with the first element of the storage.
const SEARCHES: usize = 8;

/// Answer about the layout between two buffers.
///
/// ```
/// use tilewright::infer::{Inference, infer};
/// let rows: Vec<u8> = (0..6).collect();
/// let Inference::Found(found) = infer(&rows, &[2, 3], &[0, 3, 1, 4, 2, 5], 1) else { panic!() };
/// assert_eq!(found.layout.layout().to_string(), "(2,3):(1,2)");
/// let swapped = infer(&rows, &[2, 3], &[0, 2, 1, 3, 5, 4], 1);
/// assert!(matches!(swapped, Inference::None { .. }));
/// assert!(matches!(infer(&[7; 6], &[2, 3], &[7; 6], 1), Inference::Ambiguous { .. }));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Inference {
    /// One layout.
    Found(Found),
    /// Several layouts fit, and these were found.
    Ambiguous {
        /// Some of the layouts, all different maps.
        layouts: Vec<TensorLayout>,
        /// The reason why they cannot be told apart.
        why: String,
    },
    /// One layout fits all elements but one, whose value was changed.
    AllButOne {
        /// The layout.
        layout: TensorLayout,
        /// The number of the element, in row-major order.
        element: u64,
        /// The cell of the packed buffer that holds another value.
        cell: u64,
    },
    /// No layout of this form fits.
    None {
        /// The reason, or the element at which every layout fails.
        why: String,
    },
    /// The search gave up.
    Undecided {
        /// The progress of the search before it gave up.
        why: String,
    },
}

/// A layout that was found.
///
/// ```
/// use tilewright::infer::{Inference, infer};
/// // Rows of three, each padded to four.
/// let Inference::Found(found) = infer(&[1, 2, 3, 4, 5, 6], &[2, 3], &[1, 2, 3, 0, 4, 5, 6, 0], 1)
/// else { panic!() };
/// assert_eq!((found.layout.capacity(), found.padding), (8, Some(vec![0])));
/// assert!(found.only);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The layout.
    pub layout: TensorLayout,
    /// The bytes of an element of padding, if there is padding and all of it is equal.
    pub padding: Option<Vec<u8>>,
    /// True if all other layouts were excluded; false if the search for another gave up.
    pub only: bool,
}

/// Finds the layout of an array in `packed`, given the elements of the array in row-major order in `original`. An element has
/// `width` bytes.
///
/// ```
/// use tilewright::{Spec, infer::{Inference, infer}, notation::recognise};
/// let zn = Spec::parse("u16[20,40] zN").unwrap().resolve(None, None).unwrap();
/// let original: Vec<u8> = (0..800u16).flat_map(u16::to_le_bytes).collect();
/// let mut packed = vec![0; 2 * zn.layout().capacity() as usize];
/// for index in 0..800 {
///     let at = 2 * zn.layout().offset_of(index).unwrap() as usize;
///     packed[at..at + 2].copy_from_slice(&(index as u16).to_le_bytes());
/// }
/// let Inference::Found(found) = infer(&original, &[20, 40], &packed, 2) else { panic!() };
/// assert_eq!(found.layout.same_function(zn.layout()), Ok(true));
/// ```
pub fn infer(original: &[u8], dims: &[u64], packed: &[u8], width: usize) -> Inference {
    let none = |why: String| Inference::None { why };
    let Some((elements, cells)) = search::of(original, packed, width) else {
        let (a, b) = (original.len(), packed.len());
        return none(format!(
            "{a} and {b} bytes are not whole numbers of elements of {width} bytes"
        ));
    };
    let size = dims.iter().try_fold(1u64, |size, dim| size.checked_mul(*dim));
    if size != Some(elements.len() as u64) {
        return none(format!("dims {dims:?} are not those of {} elements", elements.len()));
    }
    if elements.is_empty() {
        return Inference::Ambiguous { layouts: Vec::new(), why: "the array is empty".into() };
    }
    if cells.len() < elements.len() {
        return none(format!(
            "the packed buffer holds {} elements, but the array has {}",
            cells.len(),
            elements.len()
        ));
    }
    if elements.iter().all(|element| *element == elements[0]) {
        let held = cells.iter().filter(|cell| **cell == elements[0]).count();
        if held < elements.len() {
            let all = elements.len();
            return none(format!(
                "the packed buffer holds the array's only value {held} times, not {all} times"
            ));
        }
        let why = "every element of the array holds the same value";
        let rows = TensorLayout::row_major(dims).ok().filter(|_| cells.len() == elements.len());
        return Inference::Ambiguous { layouts: rows.into_iter().collect(), why: why.into() };
    }
    match answer(LayoutSearch::new(&elements, dims, &cells), packed, width) {
        Inference::None { why } => in_words(&elements, dims, &cells, packed, width)
            .map(Inference::Found)
            .or_else(|| mirrored(&elements, dims, &cells, packed, width))
            .or_else(|| changed_values(&elements, dims, &cells))
            .unwrap_or(Inference::None { why }),
        found => found,
    }
}

/// Returns the layout of a storage whose words have their elements in reverse order, if exactly one fits.
fn in_words(
    elements: &[u64],
    dims: &[u64],
    cells: &[u64],
    packed: &[u8],
    width: usize,
) -> Option<Found> {
    WORDS.iter().find_map(|&word| {
        let cells = turned_cells(cells, word)?;
        let Inference::Found(found) =
            answer(LayoutSearch::new(elements, dims, &cells), packed, width)
        else {
            return None;
        };
        let layout = turned(&found.layout, word)?;
        let padding = padding(&layout, packed, width);
        Some(Found { layout, padding, ..found })
    })
}

/// Returns the layouts of a storage that has dims, or the halves of a dim, in reverse order; `None` if there are none.
fn mirrored(
    elements: &[u64],
    dims: &[u64],
    cells: &[u64],
    packed: &[u8],
    width: usize,
) -> Option<Inference> {
    let (mut all, mut only, mut searches) = (Vec::<TensorLayout>::new(), true, 0);
    for mirror in mirrors(dims) {
        // Every layout puts the first element into the first cell.
        if elements[mirror.index(0)] != cells[0] {
            continue;
        }
        searches += 1;
        if searches > SEARCHES {
            only = false;
            break;
        }
        let back: Vec<u64> = (0..elements.len()).map(|i| elements[mirror.index(i)]).collect();
        let mut search = LayoutSearch::new(&back, &mirror.dims, cells);
        search.run();
        only &= !search.gave_up();
        for layout in search.found.iter().filter_map(|found| mirror.layout(found, dims)) {
            if !all.iter().any(|other| other.same_function(&layout) == Ok(true)) {
                all.push(layout);
            }
        }
    }
    if all.len() > 1 {
        let why = "the values repeat too often to tell these apart".into();
        return Some(Inference::Ambiguous { layouts: all, why });
    }
    let layout = all.pop()?;
    let padding = padding(&layout, packed, width);
    Some(Inference::Found(Found { layout, padding, only }))
}

/// Runs a search and turns its result into an answer.
fn answer(mut search: LayoutSearch<'_>, packed: &[u8], width: usize) -> Inference {
    search.run();
    let gave_up = search.gave_up();
    let mut layouts = search.found.clone();
    if layouts.len() > 1 {
        let why = "the values repeat too often to tell these apart".into();
        return Inference::Ambiguous { layouts, why };
    }
    if let Some(layout) = layouts.pop() {
        let padding = padding(&layout, packed, width);
        return Inference::Found(Found { layout, padding, only: !gave_up });
    }
    let why = search.furthest();
    if gave_up { Inference::Undecided { why } } else { Inference::None { why } }
}

/// Returns the bytes of an element of padding, if all of them are equal.
fn padding(layout: &TensorLayout, packed: &[u8], width: usize) -> Option<Vec<u8>> {
    let mut real = vec![false; packed.len() / width];
    for index in 0..layout.size() {
        let at = usize::try_from(layout.offset_of(index).ok()?).ok()?;
        *real.get_mut(at)? = true;
    }
    let mut cells = packed.chunks_exact(width).zip(&real).filter(|(_, real)| !**real);
    let (first, _) = cells.next()?;
    cells.all(|(cell, _)| cell == first).then(|| first.to_vec())
}

/// The largest number of dims of which all sets are tried in reverse order.
const DIMS: usize = 5;

/// Axes that are counted from their ends.
struct Mirror {
    /// The extents of the array; a dim that is cut into halves is two axes.
    dims: Vec<u64>,
    /// For each axis, true if it is counted from its end.
    back: Vec<bool>,
    /// The dim that is cut into halves.
    cut: Option<usize>,
}

/// Returns the mirrored arrays to try: each set of whole dims, then the halves of each dim.
fn mirrors(dims: &[u64]) -> Vec<Mirror> {
    let some: Vec<usize> = (0..dims.len()).filter(|&dim| dims[dim] > 1).take(DIMS).collect();
    let mut all = Vec::new();
    for set in 1..1u32 << some.len() {
        let mut back = vec![false; dims.len()];
        for (at, dim) in some.iter().enumerate() {
            back[*dim] = set >> at & 1 != 0;
        }
        all.push(Mirror { dims: dims.to_vec(), back, cut: None });
    }
    for (dim, &extent) in dims.iter().enumerate() {
        if extent > 2 && extent.is_multiple_of(2) {
            let mut cut = dims.to_vec();
            cut[dim] = extent / 2;
            cut.insert(dim, 2);
            let mut back = vec![false; cut.len()];
            back[dim] = true;
            all.push(Mirror { dims: cut, back, cut: Some(dim) });
        }
    }
    all
}

impl Mirror {
    /// Returns the element of the array at an index of the mirrored array, both row-major.
    fn index(&self, mut index: usize) -> usize {
        let (mut at, mut stride) = (0, 1);
        for (&extent, back) in self.dims.iter().zip(&self.back).rev() {
            let extent = extent as usize;
            let x = index % extent;
            at += stride * if *back { extent - 1 - x } else { x };
            (index, stride) = (index / extent, stride * extent);
        }
        at
    }

    /// Returns the layout of the array `dims`, from that of the mirrored array; `None` if a mirrored axis is padded.
    fn layout(&self, found: &TensorLayout, dims: &[u64]) -> Option<TensorLayout> {
        let bare = found.layout();
        let (mut modes, mut counts, mut offset) = (Vec::new(), Vec::new(), bare.offset());
        for place in 0..self.dims.len() {
            // Of a dim that is cut, the fastest digits come first.
            let axis = match self.cut {
                Some(dim) if place == dim => dim + 1,
                Some(dim) if place == dim + 1 => dim,
                _ => place,
            };
            let own = bare.axis(axis)?;
            if self.back[axis] && bare.axis_size(axis) != Some(self.dims[axis]) {
                return None;
            }
            for mode in own {
                if self.back[axis] {
                    let last = i64::try_from(mode.extent().checked_sub(1)?).ok()?;
                    offset = offset.checked_add(last.checked_mul(mode.stride())?)?;
                    modes.push(Mode::new(mode.extent(), mode.stride().checked_neg()?));
                } else {
                    modes.push(*mode);
                }
            }
            match counts.last_mut() {
                Some(count) if self.cut.is_some_and(|dim| place == dim + 1) => *count += own.len(),
                _ => counts.push(own.len()),
            }
        }
        let profile = Profile::nested(&counts).ok()?;
        let layout = Layout::new(&modes, &profile, offset, bare.swizzle()).ok()?;
        TensorLayout::new(dims, &layout, found.capacity()).ok()
    }
}

/// The numbers of elements of a word that are tried.
const WORDS: [usize; 4] = [2, 4, 8, 16];

/// Returns the cells with those of each word reversed. `None` if the cells are not whole words, or are a single one, which would
/// be an array backwards.
fn turned_cells(cells: &[u64], word: usize) -> Option<Vec<u64>> {
    let whole = cells.len().is_multiple_of(word) && cells.len() > word;
    whole.then(|| cells.chunks(word).flat_map(|cells| cells.iter().rev().copied()).collect())
}

/// Returns the layout of the storage itself, from that of the storage with its words reversed. `None` if a word is not a set of
/// digits.
fn turned(layout: &TensorLayout, word: usize) -> Option<TensorLayout> {
    let (bare, word) = (layout.layout(), word as u64);
    let (mut modes, mut counts, mut last) = (Vec::new(), Vec::new(), 0);
    for axis in 0..bare.rank() {
        let before = modes.len();
        for mode in bare.axis(axis)? {
            let (inside, outside) = cut(*mode, word)?;
            last += inside.map_or(0, |mode| (mode.extent() - 1) as i64 * mode.stride());
            let back = inside.map(|mode| Mode::new(mode.extent(), -mode.stride()));
            modes.extend(back.into_iter().chain(outside));
        }
        counts.push(modes.len() - before);
    }
    // The digits inside a word must cover all of its elements.
    if last as u64 + 1 != word {
        return None;
    }
    let profile = Profile::nested(&counts).ok()?;
    let bare = Layout::new(&modes, &profile, bare.offset() + last, bare.swizzle()).ok()?;
    TensorLayout::new(layout.extents(), &bare, layout.capacity()).ok()
}

/// Splits a mode into the part inside a word and the part outside.
fn cut(mode: Mode, word: u64) -> Option<(Option<Mode>, Option<Mode>)> {
    let (extent, stride) = (mode.extent(), u64::try_from(mode.stride()).ok()?);
    if extent == 1 || stride.is_multiple_of(word) {
        return Some((None, Some(mode)));
    }
    if !word.is_multiple_of(stride) {
        return None;
    }
    let room = word / stride;
    if extent <= room {
        return Some((Some(mode), None));
    }
    let outside = Mode::new(extent / room, word as i64);
    extent.is_multiple_of(room).then(|| (Some(Mode::new(room, mode.stride())), Some(outside)))
}

/// Returns the answer if the packed buffer lacks elements of the array: a layout of all other elements if it lacks one, and else
/// their number and the first of them.
fn changed_values(elements: &[u64], dims: &[u64], cells: &[u64]) -> Option<Inference> {
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
    let mut search = LayoutSearch::new(elements, dims, &cells);
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
    let coord: Vec<String> = unravel_index(index, dims).map(|x| x.to_string()).collect();
    format!("({})", coord.join(","))
}

#[cfg(test)]
mod tests {
    use tilewright_notation::Spec;

    use super::*;

    /// For every mirror of small arrays, the layout found for the mirrored array sends the same elements to the same places.
    #[test]
    fn the_layout_of_a_mirrored_array_is_that_of_the_array() {
        let mut checked = 0;
        for dims in [&[4u64][..], &[2, 3], &[6, 2], &[2, 4, 3], &[1, 5]] {
            for mirror in mirrors(dims) {
                let mirrored = TensorLayout::row_major(&mirror.dims).unwrap();
                let own = mirror.layout(&mirrored, dims).unwrap();
                for index in 0..mirrored.size() {
                    let element = mirror.index(index as usize) as u64;
                    assert_eq!(own.offset_of(element), mirrored.offset_of(index), "{dims:?}");
                    assert_eq!(mirror.index(element as usize) as u64, index);
                }
                checked += 1;
            }
        }
        assert_eq!(checked, 2 + 3 + 4 + 8 + 1);
        let padded = TensorLayout::of(&tilewright_core::layout!("(2,4):(4,1)"));
        let padded = TensorLayout::new(&[2, 3], padded.layout(), 8).unwrap();
        let of = |set: usize| mirrors(&[2, 3])[set].layout(&padded, &[2, 3]).is_some();
        assert!(of(0) && !of(1) && !of(2));
    }

    /// The law, for layouts with a digit, several digits or a part of a digit in a word, and with padding.
    #[test]
    fn elements_of_a_word_change_places() {
        let mut checked = 0;
        for text in [
            "row-major",
            "col-major",
            "zN",
            "m (n n0:4) -> n m n0",
            "(m m0:2) (n n0:2) -> m n n0 m0",
        ] {
            for dims in [[4, 32], [8, 16], [3, 8], [16, 5]] {
                let u8 = Some(tilewright_core::Dtype::U8);
                let named = Spec::parse(text).unwrap().resolve(Some(&dims), u8).unwrap();
                for word in WORDS {
                    let Some(back) = turned(named.layout(), word) else { continue };
                    for index in 0..named.layout().size() {
                        let [at, there] = [named.layout(), &back]
                            .map(|layout| layout.offset_of(index).unwrap() as usize);
                        assert_eq!(
                            there,
                            at / word * word + word - 1 - at % word,
                            "{text} {dims:?} {word}"
                        );
                    }
                    checked += 1;
                }
            }
        }
        assert!(checked > 40, "{checked}");
    }

    #[test]
    fn a_word_that_is_no_set_of_digits_has_no_layout() {
        let of = |text: &str, word| {
            let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
            turned(named.layout(), word).is_some()
        };
        assert!(of("(4,6):(6,1)", 2) && !of("(4,6):(6,1)", 4) && !of("(2,3):(3,1)", 2));
        assert_eq!(turned_cells(&[1, 2, 3, 4], 2).unwrap(), [2, 1, 4, 3]);
        assert!(turned_cells(&[1, 2, 3], 2).is_none());
    }
}
