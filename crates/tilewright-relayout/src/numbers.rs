//! Numbers in memory, and rows of them with weights: what [`sums`](fn@crate::sums) adds up.

/// The numbers of a row.
pub const LANES: usize = 16;

/// How numbers lie in memory, at most 16 bits each.
///
/// ```
/// use tilewright_relayout::{Numbers, Row, sums};
/// let row = [Row::new(0, 1)];
/// let bytes = [0x21, 0x43];
/// let of = |numbers| {
///     let mut found = [[0; 16]];
///     sums(numbers, u16::MAX, &bytes, 0, &row, &mut found);
///     found[0]
/// };
/// assert_eq!(of(Numbers::Little)[..2], [0x4321, 0]);
/// assert_eq!(of(Numbers::Big)[..2], [0x2143, 0]);
/// assert_eq!(of(Numbers::Bytes)[..3], [0x21, 0x43, 0]);
/// assert_eq!(of(Numbers::Bits4)[..5], [1, 2, 3, 4, 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Packed numbers of 1 bit, the low bit of a byte first.
    Bits1,
    /// Packed numbers of 2 bits, the low ones first.
    Bits2,
    /// Packed numbers of 4 bits, the low ones first.
    Bits4,
    /// Bytes.
    Bytes,
    /// Two bytes each, little-endian.
    Little,
    /// Two bytes each, big-endian.
    Big,
}

/// The bits of half a weight.
pub(crate) const HALF: u32 = 31;

/// A row of [`LANES`] neighbours, and what they are multiplied with.
///
/// ```
/// use tilewright_relayout::{Numbers, Row, sums};
/// // The second row begins at the third number.
/// let rows = [Row::new(0, 1), Row::new(2, 100)];
/// let mut found = [[0; 16]];
/// sums(Numbers::Bytes, u16::MAX, &[1, 2, 3, 4], 0, &rows, &mut found);
/// assert_eq!(found[0][..3], [301, 402, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub(crate) at: u64,
    /// The weight's low bits and its high ones, [`HALF`] each.
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl Row {
    /// A row whose first number is number `at`, with a weight below 2⁶²; higher bits are ignored.
    ///
    /// ```
    /// use tilewright_relayout::{Numbers, Row, sums};
    /// let weight = (1 << 62) - 1;
    /// let mut found = [[0; 16]];
    /// sums(Numbers::Bytes, u16::MAX, &[0, 255], 0, &[Row::new(1, weight)], &mut found);
    /// assert_eq!(found[0][0], 255 * u128::from(weight));
    /// ```
    pub const fn new(at: u64, weight: u64) -> Row {
        let mask = (1 << HALF) - 1;
        Row { at, low: (weight & mask) as u32, high: (weight >> HALF & mask) as u32 }
    }
}
