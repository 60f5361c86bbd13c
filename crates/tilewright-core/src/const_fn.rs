//! Helpers that `const fn` and `no_std` lack: `?`, `Debug` for values whose text is complete, layouts in constants (`layout!` and
//! `expect_const!`, whose panic is the compile error), and sorting of short lists.

/// Unwraps a `Result` or returns its error, in a `const fn`.
macro_rules! tri {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(crate) use tri;
/// Implements `Debug` as `Display`: for errors, whose message `unwrap` shows, and for values with a text.
///
/// ```
/// struct Refused(u64);
///
/// impl std::fmt::Display for Refused {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "{} elements; at most 8", self.0)
///     }
/// }
///
/// tilewright_core::debug_as_display!(Refused);
/// assert_eq!(format!("{:?}", Refused(9)), "9 elements; at most 8");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($($type:ty),+) => { $(
        impl ::core::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
    )+ };
}
pub(crate) use debug_as_display;

/// Returns the layout of a text in a constant; an illegal text is a compile error with this crate's message.
///
/// In a `const` or `static` item `cargo check` reports it; in a generic associated constant only a build does. For
/// run-time input use [`Layout::parse`](crate::Layout::parse), which returns the error.
///
/// ```
/// use tilewright_core::{Layout, layout};
/// const TILED: Layout = layout!("((4,2),(4,3)):((4,16),(1,32))");
/// assert_eq!(TILED.offset_at(&[1, 5]), Ok(37));
/// ```
/// ```compile_fail
/// use tilewright_core::{Layout, layout};
/// // error[E0080]: … the strides are bracketed unlike the extents: rank 1 against 2; byte 7 of …
/// const BAD: Layout = layout!("(8,32):(32)");
/// ```
#[macro_export]
macro_rules! layout {
    ($text:expr) => {
        const { $crate::Layout::parse_const($text) }
    };
}

/// Returns the value of a `Result` of this crate in a constant; an error is a compile error with its message.
///
/// Applies to every `const fn` of the crate that returns a `Result` with an [`Error`](crate::Error) or a
/// [`ParseError`](crate::ParseError).
///
/// ```
/// use tilewright_core::{Layout, expect_const, layout};
/// const A: Layout = layout!("(6,2):(8,2)");
/// const B: Layout = layout!("(4,3):(3,1)");
/// const AB: Layout = expect_const!(A.composition(&B));
/// assert_eq!(AB.to_string(), "((2,2),3):((24,2),8)");
/// ```
/// ```compile_fail
/// use tilewright_core::{Layout, expect_const, layout};
/// const A: Layout = layout!("(6,2):(1,7)");
/// const B: Layout = layout!("(3,2):(2,3)");
/// // error[E0080]: … at (2,1): …
/// const AB: Layout = expect_const!(A.composition(&B));
/// ```
///
/// # Panics
/// On an error, with its message. Outside of constants, match on the `Result`.
#[macro_export]
macro_rules! expect_const {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => error.panic_const(),
        }
    };
}

// Sorting of short lists: dims, modes, loops.
//
// Law: the result equals that of `slice::sort_by_key`. The standard library's sort is made for millions of elements,
// and takes some 5 kB of a program for each type and each key. The lists of a layout are short, and there are many
// kinds of them.

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
