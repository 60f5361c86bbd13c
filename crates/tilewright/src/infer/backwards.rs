//! Storage whose words have their elements in reverse order: bitsandbytes stores the first of two elements in the high half of a
//! byte.
//!
//! Law: let L be the layout that is found after every word of n elements is reversed. The element at offset `w·n + i` of L is at
//! `w·n + n − 1 − i` in the storage itself.

use tilewright_core::{Layout, Mode, Profile, TensorLayout};

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
    use super::*;
    use tilewright_notation::Spec;

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
