//! Sorting of short lists: dims, modes, loops.
//!
//! Law: the result equals that of `slice::sort_by_key`. The standard library's sort is made for millions of elements,
//! and takes some 5 kB of a program for each type and each key. The lists of a layout are short, and there are many
//! kinds of them.

/// Sorts a list by a key, stably. The time grows with the square of the length.
///
/// ```
/// use tilewright_core::sort_short;
/// let mut modes = [(2, 8), (4, 1), (3, 4)];
/// sort_short(&mut modes, |(_, stride)| *stride);
/// assert_eq!(modes, [(4, 1), (3, 4), (2, 8)]);
/// ```
pub fn sort_short<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_short_by(list, |before, one| key(before) <= key(one));
}

/// Sorts a list stably, like [`sort_short`], by whether the first of two elements may come before the second.
///
/// ```
/// use tilewright_core::sort_short_by;
/// let mut fractions = [(1, 2), (3, 4), (2, 4)];
/// sort_short_by(&mut fractions, |a, b| a.0 * b.1 >= b.0 * a.1);
/// assert_eq!(fractions, [(3, 4), (1, 2), (2, 4)]);
/// ```
pub fn sort_short_by<T>(list: &mut [T], mut in_order: impl FnMut(&T, &T) -> bool) {
    for end in 1..list.len() {
        let mut at = end;
        while let Some([before, one]) = at.checked_sub(1).and_then(|from| list.get_mut(from..=at))
            && !in_order(before, one)
        {
            core::mem::swap(before, one);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lists of five keys from 0 to 4, each with its position.
    #[test]
    fn sorted_as_the_library_sorts() {
        for number in 0..5u32.pow(5) {
            let digit = |place: u32| number / 5u32.pow(place) % 5;
            let mut list = [0, 1, 2, 3, 4].map(|place| (digit(place), place));
            let mut sorted = list;
            sorted.sort_by_key(|(key, _)| *key);
            sort_short(&mut list, |(key, _)| *key);
            assert_eq!(list, sorted);
        }
        sort_short(&mut [0u8; 0], |key| *key);
    }
}
