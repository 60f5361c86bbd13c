//! Words: the storage of an array, spelled for others as elements of another type and shape; and the shape under which an
//! array is stored.
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
//! cut (`-> k1 | n k0`), else its [storage shape](crate::ResolvedLayout::storage_shape). Its last extents are divided by the
//! number of elements in a word; where they cannot be, the shape is the number of words. An element of several words
//! multiplies the last extent.
//!
//! Law: shape times width of the words is capacity times width of the elements.

use std::fmt;

use tilewright_core::{Dtype, MAX_MODES, Pattern, TensorLayout};

use crate::{
    Error,
    dtype::dtype,
    literal::{Scanner, comma, outside},
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
pub(crate) struct AskedArray {
    pub(crate) dtype: Dtype,
    pub(crate) bits: u32,
    pub(crate) shape: Option<Vec<u64>>,
}

impl fmt::Display for AskedArray {
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

impl AskedArray {
    /// Words of this type.
    pub(crate) fn of(dtype: Dtype, shape: Option<&[u64]>) -> Result<AskedArray, Error> {
        let whole = dtype.packed_bits().filter(|bits| bits.is_multiple_of(8) && *bits > 0);
        let Some(bits) = whole.filter(|bits| dtype.storage_bits() == Some(*bits)) else {
            let message = format!(
                "a word has whole bytes, and {dtype} has not; choose a type such as u8, s16, s32, u32, s64 or f16"
            );
            return Err(Error::unsupported(message));
        };
        Ok(AskedArray { dtype, bits, shape: shape.map(<[u64]>::to_vec) })
    }

    /// Reads the text after `as`.
    pub(crate) fn read(text: &str) -> Result<AskedArray, Error> {
        let mut scan = Scanner::new(text);
        let name = scan.take(|c| c != '[');
        let name = name.trim_end();
        let dtype = dtype(name)?;
        let shape = match scan.peek() {
            Some(_) => Some(scan.list(("[", "]"), MAX_MODES, Scanner::integer)?),
            None => None,
        };
        scan.end("the words")?;
        AskedArray::of(dtype, shape.as_deref()).map_err(|error| error.at((0, name.len())))
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
    if left == 1 { checked(&shape, count) } else { vec![count] }
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

// The shape under which an array is stored: its extents in memory, outermost first.
//
// The rule, for the SPEC of an array:
//
// | SPEC | storage shape |
// |---|---|
// | a format, a pattern, a tag, an order of dims | its digits in the order of storage, those of extent 1 too |
// | tiles of XLA or JAX | the extents outside the tiles, then those of the tiles, 1 included |
// | a bare map: modes or strides | its dims where it is row-major, its dims reversed where the first is fastest, else its digits without those of extent 1 |
// | storage that is not a box of digits: gaps, a swizzle, a leading dimension, an alignment, more than 32 extents | its length |
//
// So the rank follows from the text and the rank of the array, not from the extents: `TPU_8x128` of any matrix has
// four. A bare map is the exception: the place of a mode of extent 1 is not known from it.
//
// Law: the product of the shape is the capacity.

/// The extents that a notation gives, where they are a box of this many elements; else the length.
pub(crate) fn checked(extents: &[u64], capacity: u64) -> Vec<u64> {
    let fits = extents.len() <= MAX_MODES;
    let product = extents.iter().try_fold(1u128, |all, extent| all.checked_mul((*extent).into()));
    let is_box = fits && product == Some(capacity.into());
    if is_box { extents.to_vec() } else { vec![capacity] }
}

/// The shape of a bare map.
pub(crate) fn of_map(layout: &TensorLayout) -> Vec<u64> {
    let dims = layout.extents();
    if layout.capacity() == 0 {
        return dims.to_vec();
    }
    let Some(digits) = long_digits(layout) else { return vec![layout.capacity()] };
    let mut long: Vec<(usize, u64)> =
        dims.iter().copied().enumerate().filter(|(_, extent)| *extent > 1).collect();
    if digits == long {
        return dims.to_vec();
    }
    long.reverse();
    if digits == long {
        return dims.iter().rev().copied().collect();
    }
    digits.into_iter().map(|(_, extent)| extent).collect()
}

/// The dim and the extent of each digit that is longer than 1, where the storage is a box of digits.
fn long_digits(layout: &TensorLayout) -> Option<Vec<(usize, u64)>> {
    let pattern = Pattern::of(layout).ok()?;
    let storage = pattern.storage(layout.extents()).ok()?;
    let axes = pattern.digits().iter().map(|digit| usize::from(digit.axis()));
    let digits = axes.zip(storage.as_slice().iter().copied());
    Some(digits.filter(|(_, extent)| *extent > 1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use tilewright_core::Dtype;

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

    fn stored(text: &str, dims: &[u64]) -> Vec<u64> {
        let spec = Spec::parse(text).unwrap();
        let given = (!spec.is_concrete()).then_some((dims, Dtype::F16));
        spec.resolve(given.map(|it| it.0), given.map(|it| it.1)).unwrap().storage_shape()
    }

    /// The length and the tile of what each general text stores, whatever the dims.
    #[test]
    fn the_rank_of_a_storage_shape_does_not_change_with_the_dims() {
        let texts: [(&str, usize); 26] = [
            ("row-major", 2),
            ("col-major", 2),
            ("BA->AB", 2),
            ("{1,0}", 2),
            ("{0,1}", 2),
            ("{1,0:T(8,128)}", 4),
            ("{1,0:T(4,1)}", 4),
            ("{0,1:T(1,4)(2,1)}", 6),
            ("{1,0:T(8,128)(2,1)}", 6),
            ("{1,0:T(3,4)(2,1)}", 6),
            ("{1,0:T(*,4)}", 2),
            ("{1,0:T(256)}", 3),
            ("{1,0:T(2,2,2)}", 6),
            ("{1,0:T(2,2)L(64)}", 1),
            ("Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))", 6),
            ("TPU_8x128", 4),
            ("zN", 4),
            ("zN[M0=1,C0=1]", 4),
            ("zN^T", 4),
            ("COL32", 3),
            ("COL32[LD=4096]", 1),
            ("ba", 2),
            ("BA16a16b", 4),
            ("BA1a4b2a", 5),
            ("(m1 m0:1) (n1 n0:4) -> n1 m1 m0 n0", 4),
            ("linalg.pack inner_dims_pos = [1] inner_tiles = [8]", 3),
        ];
        let extents = [0u64, 1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 127, 128, 129, 256, 300];
        let mut seen = 0;
        for (text, rank) in texts {
            for (m, n) in extents.iter().flat_map(|m| extents.map(|n| (*m, n))) {
                let Ok(spec) = Spec::parse(text) else { panic!("{text}") };
                let Ok(named) = spec.resolve(Some(&[m, n]), Some(Dtype::F16)) else { continue };
                let shape = named.storage_shape();
                assert_eq!(shape.len(), rank, "{text} of {m}×{n}: {shape:?}");
                assert_eq!(shape.iter().product::<u64>(), named.layout().capacity(), "{text}");
                // The SPEC that is recorded for the array gives the same shape.
                let again = Spec::parse_built_in(&named.to_spec()).unwrap();
                assert_eq!(again.resolve(None, None).unwrap().storage_shape(), shape, "{text}");
                seen += 1;
            }
        }
        assert!(seen > 7000, "{seen}");
    }

    #[test]
    fn tiles_are_stored_as_the_format_of_the_same_tiles() {
        for dims in [[8, 256], [8, 128], [1, 1], [20, 300], [0, 5]] {
            assert_eq!(stored("{1,0:T(8,128)}", &dims), stored("TPU_8x128", &dims));
        }
        assert_eq!(stored("f32[8,256]{1,0:T(8,128)}", &[]), [1, 2, 8, 128]);
        assert_eq!(stored("f32[256]{0:T(8,128)}", &[]), [1, 2, 8, 128]);
        // Tiles that do not divide each other are a box all the same.
        assert_eq!(stored("{1,0:T(3,4)(2,1)}", &[6, 4]), [2, 1, 2, 4, 2, 1]);
        assert_eq!(stored("f32[2,3]{0,1}pad(3,5)", &[]), [5, 3]);
        assert_eq!(stored("f32[1,256]{1,0}", &[]), [1, 256]);
    }

    #[test]
    fn a_bare_map_has_no_digits_of_extent_1() {
        assert_eq!(stored("((8,1),(128,2)):((128,2048),(1,1024))", &[]), [2, 8, 128]);
        assert_eq!(stored("((2,3),(2,2)):((4,8),(1,2))", &[]), [3, 2, 2, 2]);
        // Row-major, and the first dim fastest, however the modes of extent 1 are written.
        assert_eq!(stored("(2,3,1,1):(3,1,9,0)", &[]), [2, 3, 1, 1]);
        assert_eq!(stored("(2,1,3):(1,7,2)", &[]), [3, 1, 2]);
        assert_eq!(stored("numpy:shape=(2,3,1,4),strides=(24,8,8,2),dtype=f16", &[]), [2, 3, 1, 4]);
        assert_eq!(stored("(2,3,1,4):(12,1,0,3)", &[]), [2, 4, 3]);
        assert_eq!(stored("(1,1):(1,1)", &[]), [1, 1]);
        // No box.
        assert_eq!(stored("(4,4):(8,1)", &[]), [28]);
        assert_eq!(stored("Sw<1,0,2> o (4,4):(4,1)", &[]), [16]);
        assert_eq!(stored("(2,3):(3,1) valid (2,3) capacity 8", &[]), [8]);
        // The name of an order keeps what the map alone has not.
        assert_eq!(stored("[2,3,1,1] NHWC", &[]), [2, 1, 1, 3]);
    }

    #[test]
    fn extents_that_are_no_box_of_the_storage_are_its_length() {
        assert_eq!(checked(&[2, 3], 6), [2, 3]);
        assert_eq!(checked(&[2, 3], 7), [7]);
        assert_eq!(checked(&[1; 33], 1), [1]);
        assert_eq!(checked(&[u64::MAX, u64::MAX, u64::MAX], 1), [1]);
    }
}
