//! Words: the storage of an array, spelled for others as elements of another type and shape.
//!
//! ```text
//! spelled := spec 'as' type [ '[' [ int { ',' int } ] ']' ]
//! ```
//!
//! The bits stay where they are: `u4[64,12] GPTQ as s32[8,12]` is the array of `u4[64,12] GPTQ`, whose storage others
//! read as 96 integers. Words have whole bytes, the lowest first, and the element of the lowest offset has the lowest
//! bits. One width divides the other. A storage that ends within a word is padded up to its end.
//!
//! The shape of the words, where the text does not give it, is that of the storage: the dims that the bars of a pattern
//! cut (`-> k1 | n k0`), else its [storage shape](crate::Named::storage_shape). Its last extents are divided by the
//! number of elements in a word; where they cannot be, the shape is the number of words. An element of several words
//! multiplies the last extent.
//!
//! Law: shape times width of the words is capacity times width of the elements.

use std::fmt;

use tilewright_core::{Dtype, MAX_MODES};

use crate::{
    Error,
    dtype::dtype,
    scan::{Scanner, comma, outside},
    storage,
};

/// The words that the storage of an array is spelled as: the type and the shape of its words.
///
/// ```
/// use tilewright_notation::Spec;
/// let named = Spec::parse("u4[4096,4096] MARLIN as s32").unwrap().resolve(None, None).unwrap();
/// let words = named.stored_as().unwrap();
/// assert_eq!((words.dtype().name(), words.bits(), words.shape()), ("s32", 32, &[256, 8192][..]));
/// assert_eq!(words.to_string(), "s32[256,8192]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Words {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u32,
    pub(crate) shape: Vec<u64>,
    /// The capacity without the padding of the last word.
    pub(crate) capacity: u64,
}

impl Words {
    /// The type of a word.
    ///
    /// ```
    /// # use tilewright_notation::Spec;
    /// let named = Spec::parse("bf16[3,5] row-major as u16").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(named.stored_as().unwrap().dtype().name(), "u16");
    /// ```
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The width of a word in bits.
    ///
    /// ```
    /// # use tilewright_notation::Spec;
    /// let named = Spec::parse("u4[3,8] row-major as u8").unwrap().resolve(None, None).unwrap();
    /// assert_eq!(named.stored_as().unwrap().bits(), 8);
    /// ```
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The extents of the array of words, outermost first.
    ///
    /// ```
    /// # use tilewright_notation::Spec;
    /// let shape = |text: &str| {
    ///     let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
    ///     named.stored_as().unwrap().shape().to_vec()
    /// };
    /// assert_eq!(shape("u4[64,12] GPTQ as s32"), [8, 12]);
    /// assert_eq!(shape("u4[64,12] GPTQ as s32[96]"), [96]);
    /// // No whole words a row: one dim, the last word padded.
    /// assert_eq!(shape("u4[3,5] row-major as s32"), [2]);
    /// ```
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.dtype, comma(&self.shape))
    }
}

/// The words that a text asks for; without a shape it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u32,
    pub(crate) shape: Option<Vec<u64>>,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            Some(shape) => write!(f, "{}[{}]", self.dtype, comma(shape)),
            None => write!(f, "{}", self.dtype),
        }
    }
}

/// The number of elements in a word, or of words in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ratio {
    Elements(u64),
    Words(u64),
}

impl Ratio {
    /// Of elements of `bits` bits in words of `word` bits, where one is a multiple of the other.
    pub(crate) fn of(bits: u32, word: u32) -> Option<Ratio> {
        match (bits, word) {
            (0, _) | (_, 0) => None,
            _ if word.is_multiple_of(bits) => Some(Ratio::Elements((word / bits).into())),
            _ if bits.is_multiple_of(word) => Some(Ratio::Words((bits / word).into())),
            _ => None,
        }
    }
}

/// The word ` as ` that begins the words of a text, outside brackets and quotes: the end of the text before it, and
/// the begin of the text after it. The text after has the form of a type with or without extents.
pub(crate) fn split(text: &str) -> Option<(usize, usize)> {
    let is_word = |&(_, before, c): &(usize, Option<char>, char)| {
        c == 'a' && before.is_some_and(char::is_whitespace)
    };
    let behind = |(at, ..): (usize, Option<char>, char)| {
        let rest = text[at..].strip_prefix("as").filter(|rest| has_form(rest))?;
        Some((at, text.len() - rest.trim_start().len()))
    };
    let (at, behind) = outside(text).filter(is_word).filter_map(behind).last()?;
    Some((text[..at].trim_end().len(), behind))
}

/// Returns whether a text is a space, a name, and perhaps a list in brackets.
fn has_form(text: &str) -> bool {
    let name = text.trim_start();
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.<>=|".contains(c));
    let rest = rest.trim();
    let list = rest.is_empty() || rest.starts_with('[') && rest.ends_with(']');
    name.len() < text.len()
        && list
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || "<>=|".contains(c))
}

impl Asked {
    /// Words of this type.
    pub(crate) fn of(dtype: Dtype, shape: Option<&[u64]>) -> Result<Asked, Error> {
        let whole = dtype.packed_bits().filter(|bits| bits.is_multiple_of(8) && *bits > 0);
        let Some(bits) = whole.filter(|bits| dtype.storage_bits() == Some(*bits)) else {
            let message = format!(
                "a word has whole bytes, and {dtype} has not; choose a type such as u8, s16, s32, u32, s64 or f16"
            );
            return Err(Error::unsupported(message));
        };
        Ok(Asked { dtype, bits, shape: shape.map(<[u64]>::to_vec) })
    }

    /// Reads the text after `as`.
    pub(crate) fn read(text: &str) -> Result<Asked, Error> {
        let mut scan = Scanner::new(text);
        let name = scan.take(|c| c != '[');
        let name = name.trim_end();
        let dtype = dtype(name)?;
        let shape = match scan.peek() {
            Some(_) => Some(scan.list(("[", "]"), MAX_MODES, Scanner::integer)?),
            None => None,
        };
        scan.end("the words")?;
        Asked::of(dtype, shape.as_deref()).map_err(|error| error.at((0, name.len())))
    }

    /// Returns the number of elements in a word, or of words in an element.
    pub(crate) fn ratio(&self, bits: u32, spec: &dyn fmt::Display) -> Result<Ratio, Error> {
        Ratio::of(bits, self.bits).ok_or_else(|| {
            let (dtype, word) = (self.dtype, self.bits);
            let message = format!(
                "`{spec}` has elements of {bits} bits, and a word of {dtype} has {word}; one of the two widths must divide the other"
            );
            Error::mismatch(message)
        })
    }

    pub(crate) fn misfit(
        &self,
        spec: &dyn fmt::Display,
        (capacity, bits, count): (u64, u32, u64),
        fits: &Words,
    ) -> Error {
        let given = product(self.shape.as_deref().unwrap_or(&[]));
        let given = given.map_or("more than 2^64".to_owned(), |given| given.to_string());
        let dtype = self.dtype;
        let message = format!(
            "`{spec}` stores {capacity} elements of {bits} bits, which are {count} words of {dtype}, and {self} has {given}; {fits} fits"
        );
        Error::mismatch(message)
    }
}

pub(crate) fn product(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |all, extent| all.checked_mul(*extent))
}

/// The shape of `count` words that hold a storage of these extents.
pub(crate) fn shape(extents: &[u64], ratio: Ratio, count: u64) -> Vec<u64> {
    let mut shape = extents.to_vec();
    let left = match ratio {
        Ratio::Elements(per) => divided(&mut shape, per),
        Ratio::Words(each) => {
            match shape.last_mut() {
                Some(last) => *last = last.saturating_mul(each),
                None if each > 1 => shape.push(each),
                None => {}
            }
            1
        }
    };
    if left == 1 { storage::checked(&shape, count) } else { vec![count] }
}

/// Divides the last extents by `per`; what is left of it.
fn divided(shape: &mut [u64], per: u64) -> u64 {
    let mut left = per;
    for extent in shape.iter_mut().rev() {
        if extent.is_multiple_of(left) {
            *extent /= left;
            return 1;
        }
        if !left.is_multiple_of(*extent) {
            return left;
        }
        left /= *extent;
        *extent = 1;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn the_last_as_outside_brackets_begins_the_words() {
        let parts = |text: &'static str| split(text).map(|(to, from)| (&text[..to], &text[from..]));
        for (text, found) in [
            ("zN as s32", Some(("zN", "s32"))),
            ("zN  as\ts32 [2, 3]", Some(("zN", "s32 [2, 3]"))),
            ("a as b as u8[2]", Some(("a as b", "u8[2]"))),
            ("rearrange('m as n -> n') as u8", Some(("rearrange('m as n -> n')", "u8"))),
            ("rearrange('m as u8')", None),
            ("[2 as 3]", None),
            ("m as n -> m as n", Some(("m as n -> m", "n"))),
            ("m as n -> as m n", None),
            ("as s32", None),
            ("zN as", None),
            ("zNas s32", None),
            ("é as u8", Some(("é", "u8"))),
        ] {
            assert_eq!(parts(text), found, "{text}");
        }
    }

    /// The law, of all small row-major arrays and all widths.
    #[test]
    fn words_have_the_bits_of_the_storage() {
        let mut seen = 0;
        for (dtype, bits) in [("u2", 2u64), ("u4", 4), ("u8", 8), ("bf16", 16), ("f64", 64)] {
            for (word, width) in [("u8", 8u64), ("s16", 16), ("s32", 32), ("s64", 64)] {
                for dims in (0..7).flat_map(|m| (0..18).map(move |n| [m, n])) {
                    let text = format!("{dtype}[{},{}] row-major as {word}", dims[0], dims[1]);
                    let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
                    let words = named.stored_as().unwrap();
                    let count: u64 = words.shape().iter().product();
                    assert_eq!(count * width, named.layout().capacity() * bits, "{text}");
                    let whole = (dims[0] * dims[1] * bits).next_multiple_of(width.max(bits));
                    assert_eq!(count * width, whole, "{text}");
                    let last = dims[1] * bits;
                    if last.is_multiple_of(width) && dims[0] > 0 {
                        assert_eq!(words.shape(), [dims[0], last / width], "{text}");
                    }
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 5 * 4 * 7 * 18);
    }

    #[test]
    fn extents_are_divided_from_the_last() {
        let of = |extents: &[u64], per| {
            shape(extents, Ratio::Elements(per), extents.iter().product::<u64>().div_ceil(per))
        };
        assert_eq!(of(&[4, 2, 4], 8), [4, 1, 1]);
        assert_eq!(of(&[4, 16], 8), [4, 2]);
        assert_eq!(of(&[64, 1], 2), [32, 1]);
        assert_eq!(of(&[3, 12], 8), [5]);
        assert_eq!(of(&[0, 3], 8), [0]);
        assert_eq!(shape(&[], Ratio::Elements(8), 1), [1]);
        assert_eq!(shape(&[], Ratio::Words(4), 4), [4]);
        assert_eq!(shape(&[2, 3], Ratio::Words(2), 12), [2, 6]);
    }
}
