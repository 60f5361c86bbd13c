//! [`Fingerprint`], the value, and the fingerprint of many tensors.

use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign},
    str::FromStr,
};

use tilewright_core::Dtype;

use crate::{
    Error, Key,
    key::{Field, PRIME},
};

/// The fingerprint of array data: an element of the field of 2⁶¹ − 1.
///
/// The fingerprints of disjoint parts of an array, under one key, add up to the fingerprint of the whole.
///
/// ```
/// use tilewright_core::{Dtype, TensorLayout};
/// use tilewright_fingerprint::{Array, Fingerprint, Key};
/// let (key, bytes) = (Key::default(), [1, 2, 3, 4, 5, 6]);
/// let of = |dims: &[u64], origin: &[u64], bytes: &[u8]| {
///     let layout = TensorLayout::row_major(dims).unwrap();
///     Array::new(&layout, Dtype::U8)?.at(origin)?.fingerprint(bytes, &key)
/// };
/// let whole = of(&[3, 2], &[0, 0], &bytes)?;
/// // Two rows, and the third.
/// assert_eq!(of(&[2, 2], &[0, 0], &bytes[..4])? + of(&[1, 2], &[2, 0], &bytes[4..])?, whole);
/// assert_eq!(whole.to_string().parse::<Fingerprint>()?, whole);
/// # Ok::<(), tilewright_fingerprint::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub(crate) Field);

impl Add for Fingerprint {
    type Output = Fingerprint;

    fn add(self, other: Fingerprint) -> Fingerprint {
        Fingerprint(self.0 + other.0)
    }
}

impl AddAssign for Fingerprint {
    fn add_assign(&mut self, other: Fingerprint) {
        *self = *self + other;
    }
}

impl Sum for Fingerprint {
    fn sum<I: Iterator<Item = Fingerprint>>(parts: I) -> Fingerprint {
        parts.fold(Fingerprint::default(), Add::add)
    }
}

/// Prints 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.value())
    }
}

/// Parses 16 hexadecimal digits of a number below 2⁶¹ − 1.
impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fingerprint, Error> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|n| digits && *n < PRIME);
        number.map(|number| Fingerprint(Field::of(number.into()))).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Error::new("parse", format!(
                "{shown:?} is not a fingerprint; a fingerprint is 16 hexadecimal digits below 1fffffffffffffff"
            ))
        })
    }
}

/// One tensor among many: its name, element type, logical dims and fingerprint.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_fingerprint::{Entry, Fingerprint, Key, all};
/// let entry = |name| Entry { name, dtype: Dtype::F16, dims: &[2, 3], fingerprint: Fingerprint::default() };
/// let key = Key::default();
/// // The order does not matter, the names do.
/// assert_eq!(all(&mut [entry("a"), entry("b")], &key), all(&mut [entry("b"), entry("a")], &key));
/// assert_ne!(all(&mut [entry("a"), entry("b")], &key), all(&mut [entry("a"), entry("c")], &key));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a str,
    /// The element type.
    pub dtype: Dtype,
    /// The logical dims.
    pub dims: &'a [u64],
    /// The fingerprint of the data.
    pub fingerprint: Fingerprint,
}

/// Returns one number for many tensors in any order: names, element types, dims and fingerprints are sorted by name and
/// hashed under the key. Entries are sorted in place.
///
/// ```
/// use tilewright_fingerprint::{Key, all};
/// assert_ne!(all(&mut [], &Key::default()), all(&mut [], &Key::new(1)));
/// ```
pub fn all(entries: &mut [Entry<'_>], key: &Key) -> u64 {
    entries.sort_by_key(|entry| entry.name);
    let mut text = Vec::new();
    let mut say = |bytes: &[u8]| {
        text.extend((bytes.len() as u64).to_le_bytes());
        text.extend(bytes);
    };
    for entry in entries {
        say(entry.name.as_bytes());
        say(entry.dtype.name().as_bytes());
        say(&entry.dims.iter().flat_map(|extent| extent.to_le_bytes()).collect::<Vec<u8>>());
        say(&entry.fingerprint.0.value().to_le_bytes());
    }
    key.hash(&text)
}
