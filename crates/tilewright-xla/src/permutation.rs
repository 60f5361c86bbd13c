//! Permutations as lists of numbers: `p[i]` is the position from which item `i` of the result is taken.
//!
//! Laws: `permute_inverse(permute(x, p), p) = x`; `permute(x, compose(p, q)) = permute(permute(x, p), q)`;
//! `compose(p, inverse(p))` is the identity. Source: XLA's `permutation_util`.

use tilewright_core::Error;

/// Returns `number` as an index; `usize::MAX` if it does not fit.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns whether the list contains each number below its length once.
///
/// ```
/// use tilewright_xla::permutation::is_permutation;
/// assert!(is_permutation(&[2, 0, 1]) && is_permutation(&[]));
/// assert!(!is_permutation(&[0, 0]) && !is_permutation(&[0, 2]));
/// ```
#[doc(alias = "IsPermutation")]
pub fn is_permutation(permutation: &[u64]) -> bool {
    check(permutation, permutation.len()).is_ok()
}

/// Returns whether the list is `0, 1, 2, …`.
///
/// ```
/// use tilewright_xla::permutation::is_identity;
/// assert!(is_identity(&[0, 1, 2]) && !is_identity(&[1, 0]));
/// ```
#[doc(alias = "IsIdentityPermutation")]
pub fn is_identity(permutation: &[u64]) -> bool {
    permutation.iter().zip(0..).all(|(&entry, at)| entry == at)
}

/// Returns the items in another order: `result[i] = items[permutation[i]]`.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for another number of entries than items; [illegal](Error::is_illegal) for a list
/// that is not a permutation.
///
/// ```
/// use tilewright_xla::permutation::permute;
/// assert_eq!(permute(&["a", "b", "c"], &[2, 0, 1]).unwrap(), ["c", "a", "b"]);
/// assert!(permute(&["a", "b"], &[1, 1]).unwrap_err().is_illegal());
/// ```
#[doc(alias = "Permute")]
pub fn permute<T: Clone>(items: &[T], permutation: &[u64]) -> Result<Vec<T>, Error> {
    check(permutation, items.len())?;
    Ok(permutation.iter().filter_map(|&from| items.get(index(from))).cloned().collect())
}

/// Returns the items in the inverse order: `result[permutation[i]] = items[i]`.
///
/// # Errors
/// Those of [`permute`].
///
/// ```
/// use tilewright_xla::permutation::permute_inverse;
/// assert_eq!(permute_inverse(&["a", "b", "c"], &[2, 0, 1]).unwrap(), ["b", "c", "a"]);
/// ```
#[doc(alias = "PermuteInverse")]
pub fn permute_inverse<T: Clone>(items: &[T], permutation: &[u64]) -> Result<Vec<T>, Error> {
    check(permutation, items.len())?;
    permute(items, &inverted(permutation))
}

/// Returns the inverse permutation.
///
/// # Errors
/// [illegal](Error::is_illegal) for a list that is not a permutation.
///
/// ```
/// use tilewright_xla::permutation::inverse;
/// assert_eq!(inverse(&[2, 0, 1]).unwrap(), [1, 2, 0]);
/// assert!(inverse(&[0, 2]).unwrap_err().to_string().contains("entry 2 at position 1"));
/// ```
#[doc(alias = "InversePermutation")]
pub fn inverse(permutation: &[u64]) -> Result<Vec<u64>, Error> {
    check(permutation, permutation.len())?;
    Ok(inverted(permutation))
}

/// Composes permutations, `first` before `second`: `result[i] = first[second[i]]`.
///
/// # Errors
/// Those of [`permute`].
///
/// ```
/// use tilewright_xla::permutation::compose;
/// assert_eq!(compose(&[1, 3, 2, 0], &[2, 1, 3, 0]).unwrap(), [2, 3, 0, 1]);
/// assert!(compose(&[1, 0], &[0]).unwrap_err().is_mismatch());
/// ```
#[doc(alias = "ComposePermutations")]
pub fn compose(first: &[u64], second: &[u64]) -> Result<Vec<u64>, Error> {
    check(first, first.len())?;
    permute(first, second)
}

/// Returns the inverse of a list that is known to be a permutation.
pub(crate) fn inverted(permutation: &[u64]) -> Vec<u64> {
    let mut inverse = vec![0; permutation.len()];
    for (&entry, at) in permutation.iter().zip(0..) {
        if let Some(slot) = inverse.get_mut(index(entry)) {
            *slot = at;
        }
    }
    inverse
}

/// Checks that the list is a permutation of `len` items.
pub(crate) fn check(permutation: &[u64], len: usize) -> Result<(), Error> {
    if permutation.len() != len {
        return Err(Error::mismatch(
            "a permutation of {} entries for {} items",
            [permutation.len() as i128, len as i128],
            "it has one entry per item",
        ));
    }
    let mut seen = vec![false; len];
    for (at, &entry) in permutation.iter().enumerate() {
        match seen.get_mut(index(entry)) {
            Some(slot) if !*slot => *slot = true,
            _ => {
                return Err(Error::illegal(
                    "entry {} at position {} of a permutation of {}",
                    [entry.into(), at as i128, len as i128],
                    "it names each number below its length once",
                ));
            }
        }
    }
    Ok(())
}

/// Returns all orders of some items.
pub(crate) fn permutations<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let Some((&first, rest)) = items.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first);
            all.push(longer);
        }
    }
    all
}
