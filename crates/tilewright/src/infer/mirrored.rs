//! Dims that are stored in reverse order, whole or by halves: `swap_w13_to_w31` exchanges the halves of gate and up.
//!
//! Law: let some axes of an array be counted from their ends, and let L be the layout that is found for this mirrored array. With
//! the strides of these axes negated and the offset of their last elements added, L is the layout of the array itself.
//!
//! Storage whose words have their elements in reverse order: bitsandbytes stores the first of two elements in the high half of a
//! byte.
//!
//! Law: let L be the layout that is found after every word of n elements is reversed. The element at offset `w·n + i` of L is at
//! `w·n + n − 1 − i` in the storage itself.

use tilewright_core::{Layout, Mode, Profile, TensorLayout};

/// The largest number of dims of which all sets are tried in reverse order.
const DIMS: usize = 5;

/// Axes that are counted from their ends.
pub(super) struct Mirror {
    /// The extents of the array; a dim that is cut into halves is two axes.
    pub(super) dims: Vec<u64>,
    /// For each axis, true if it is counted from its end.
    back: Vec<bool>,
    /// The dim that is cut into halves.
    cut: Option<usize>,
}

/// Returns the mirrored arrays to try: each set of whole dims, then the halves of each dim.
pub(super) fn mirrors(dims: &[u64]) -> Vec<Mirror> {
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
    pub(super) fn index(&self, mut index: usize) -> usize {
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
    pub(super) fn layout(&self, found: &TensorLayout, dims: &[u64]) -> Option<TensorLayout> {
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
pub(super) const WORDS: [usize; 4] = [2, 4, 8, 16];

/// Returns the cells with those of each word reversed. `None` if the cells are not whole words, or are a single one, which would
/// be an array backwards.
pub(super) fn turned_cells(cells: &[u64], word: usize) -> Option<Vec<u64>> {
    let whole = cells.len().is_multiple_of(word) && cells.len() > word;
    whole.then(|| cells.chunks(word).flat_map(|cells| cells.iter().rev().copied()).collect())
}

/// Returns the layout of the storage itself, from that of the storage with its words reversed. `None` if a word is not a set of
/// digits.
pub(super) fn turned(layout: &TensorLayout, word: usize) -> Option<TensorLayout> {
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
