//! Formats of numbers in memory, and weighted rows of them: the input of [`sums`](fn@crate::sums).

/// The count of numbers in a row.
pub const LANES: usize = 16;

/// The format of numbers in memory, each of at most 16 bits.
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
    /// Packed numbers of 1 bit, the lowest bit of a byte first.
    Bits1,
    /// Packed numbers of 2 bits, the lowest bits of a byte first.
    Bits2,
    /// Packed numbers of 4 bits, the lowest bits of a byte first.
    Bits4,
    /// Numbers of one byte.
    Bytes,
    /// Numbers of two bytes, little-endian.
    Little,
    /// Numbers of two bytes, big-endian.
    Big,
}

/// The bits of one half of a weight.
pub(crate) const HALF: u32 = 31;

/// A row of [`LANES`] consecutive numbers, and the weight that they are multiplied with.
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
    /// The low bits and the high bits of the weight, [`HALF`] each.
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl Row {
    /// Returns the row that begins at number `at`. The weight is below 2⁶²; higher bits are ignored.
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
