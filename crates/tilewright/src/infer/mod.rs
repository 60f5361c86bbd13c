//! Search for the layout that maps one buffer to another, which identifies an undocumented format.
//!
//! The search finds dense layouts whose storage is a box of digits, with or without padding: those of a
//! [`Pattern`](tilewright_core::Pattern), and those with the elements of each word, dims, or the halves of a dim in reverse
//! order. It assumes nothing about the values, but the more of them differ, the sooner there is one answer. Numbered elements
//! decide everything.

mod changed;
mod mirrored;
mod search;

use tilewright_core::TensorLayout;

pub(crate) use changed::coordinate;
use search::Search;

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
    match answer(Search::new(&elements, dims, &cells), packed, width) {
        Inference::None { why } => in_words(&elements, dims, &cells, packed, width)
            .map(Inference::Found)
            .or_else(|| mirrored(&elements, dims, &cells, packed, width))
            .or_else(|| changed::answer(&elements, dims, &cells))
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
    mirrored::WORDS.iter().find_map(|&word| {
        let cells = mirrored::turned_cells(cells, word)?;
        let Inference::Found(found) = answer(Search::new(elements, dims, &cells), packed, width)
        else {
            return None;
        };
        let layout = mirrored::turned(&found.layout, word)?;
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
    for mirror in mirrored::mirrors(dims) {
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
        let mut search = Search::new(&back, &mirror.dims, cells);
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
fn answer(mut search: Search<'_>, packed: &[u8], width: usize) -> Inference {
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
