//! Weighted sums of rows of numbers, 16 of them at a time, and the formats of these numbers in memory.
//!
//! Law: sum `i` is the sum of weight · number `i` over the rows, exactly. The loops are simple loops over arrays of 16,
//! which the compiler turns into the registers of each instruction set.

use super::{
    isa::Isa,
    isa::Vector,
    isa::{Work, enter},
};

/// The maximal number of rows: each half of a weight has 31 bits, a number 16, so the sum of 2¹⁶ products is below 2⁶³.
const MOST: usize = 1 << 16;

/// The number of adjacent groups of numbers that are summed together.
const GROUPS: usize = 8;

/// The number of rows that are added for one group before the next group follows: the data that they read stays in the
/// fastest cache until then.
const BLOCK: usize = 256;

/// The maximum of half a weight.
const FACTOR: u32 = (1 << HALF) - 1;

/// The sums of both halves of the weights.
type Halves = [[u64; LANES]; 2];

pub(crate) fn sums(
    numbers: Numbers,
    mask: u16,
    bytes: &[u8],
    from: u64,
    rows: &[Row],
    out: &mut [[u128; LANES]],
) {
    let isa = Isa::chosen();
    for (i, out) in out.chunks_mut(GROUPS).enumerate() {
        let from = from.saturating_add((i * GROUPS * LANES) as u64);
        for rows in rows.chunks(MOST) {
            let mut found = [[[0; LANES]; 2]; GROUPS];
            let found = &mut found[..out.len()];
            let task = SumTask { mask, bytes, from, rows, out: found };
            match numbers {
                Numbers::Bits1 => run(isa, Bits::<1>, task),
                Numbers::Bits2 => run(isa, Bits::<2>, task),
                Numbers::Bits4 => run(isa, Bits::<4>, task),
                Numbers::Bytes => run(isa, ByteNumbers, task),
                Numbers::Little => run(isa, Pairs::<false>, task),
                Numbers::Big => run(isa, Pairs::<true>, task),
            }
            for (sums, [low, high]) in out.iter_mut().zip(found) {
                for (sum, (low, high)) in sums.iter_mut().zip(low.iter().zip(high)) {
                    *sum += u128::from(*low) + (u128::from(*high) << HALF);
                }
            }
        }
    }
}

/// The inputs of a sum, and its outputs: the sums of each group of [`LANES`] numbers, one group after the other.
struct SumTask<'a> {
    mask: u16,
    bytes: &'a [u8],
    from: u64,
    rows: &'a [Row],
    out: &'a mut [Halves],
}

fn run<R: NumberFormat>(isa: Isa, read: R, task: SumTask<'_>) {
    // SAFETY: `Isa::chosen` names an instruction set that the machine has. The work is safe code.
    let entered = unsafe { enter(isa, isa.register(), TaskSum(read, task)) };
    debug_assert!(entered, "every instruction set has its registers");
}

/// The format of 16 numbers.
trait NumberFormat: Copy {
    /// The bits of a number.
    const BITS: usize;

    /// Returns the numbers from number `at` on; `None` if the bytes end before the last of them.
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]>;
}

/// Numbers of one byte.
#[derive(Clone, Copy)]
struct ByteNumbers;

impl NumberFormat for ByteNumbers {
    const BITS: usize = 8;

    #[inline(always)]
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]> {
        let row = bytes.get(at..)?.first_chunk::<LANES>()?;
        Some(row.map(u16::from))
    }
}

/// Numbers of two bytes, big-endian or little-endian.
#[derive(Clone, Copy)]
struct Pairs<const BIG: bool>;

impl<const BIG: bool> NumberFormat for Pairs<BIG> {
    const BITS: usize = 16;

    #[inline(always)]
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]> {
        let row = bytes.as_chunks::<2>().0.get(at..)?.first_chunk::<LANES>()?;
        let number = if BIG { u16::from_be_bytes } else { u16::from_le_bytes };
        Some(row.map(number))
    }
}

/// Packed numbers of `BITS` bits, the lowest bits of a byte first.
#[derive(Clone, Copy)]
struct Bits<const BITS: usize>;

impl<const BITS: usize> NumberFormat for Bits<BITS> {
    const BITS: usize = BITS;

    #[inline(always)]
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]> {
        let per = 8 / BITS;
        let shift = at % per * BITS;
        let row = bytes.get(at / per..)?.first_chunk::<9>()?;
        let low =
            u64::from_le_bytes([row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]]);
        let word = low >> shift | u64::from(row[8]) << 1 << (63 - shift);
        Some(std::array::from_fn(|i| (word >> (i * BITS)) as u16 & ((1 << BITS) - 1)))
    }
}

/// The work of one task.
struct TaskSum<'a, R>(R, SumTask<'a>);

impl<R: NumberFormat> Work for TaskSum<'_, R> {
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let TaskSum(read, SumTask { mask, bytes, from, rows, out }) = self;
        for rows in rows.chunks(BLOCK / out.len().clamp(1, GROUPS)) {
            for (i, out) in out.iter_mut().enumerate() {
                let from = from.saturating_add((i * LANES) as u64);
                let mut rest = rows;
                while let [row, after @ ..] = rest {
                    let done = whole(read, mask, bytes, from, rest, out);
                    rest = rest.get(done..).unwrap_or_default();
                    if done == 0 {
                        last(read, mask, bytes, from.saturating_add(row.at), row, out);
                        rest = after;
                    }
                }
            }
        }
    }
}

/// Adds rows up to the first that reaches the end of the bytes; returns their number.
#[inline(always)]
fn whole<R: NumberFormat>(
    read: R,
    mask: u16,
    bytes: &[u8],
    from: u64,
    rows: &[Row],
    out: &mut Halves,
) -> usize {
    // Local variables stay in registers.
    let ([mut low, mut high], mut done) = (*out, 0);
    for row in rows {
        let at = usize::try_from(from.saturating_add(row.at)).unwrap_or(usize::MAX);
        let Some(numbers) = read.read(bytes, at) else { break };
        low = added(low, numbers, mask, row.low);
        high = added(high, numbers, mask, row.high);
        done += 1;
    }
    *out = [low, high];
    done
}

/// Returns the sums plus the products of numbers and half a weight. The mask of `half` shows the compiler that both
/// factors are narrow, because some machines multiply and add such factors in one instruction. The separate function
/// shows it 16 adjacent sums and no others.
#[inline(always)]
fn added(mut sums: [u64; LANES], numbers: [u16; LANES], mask: u16, half: u32) -> [u64; LANES] {
    let half = u64::from(half & FACTOR);
    for i in 0..LANES {
        sums[i] += u64::from(numbers[i] & mask) * half;
    }
    sums
}

/// Adds a row that reaches the end of the bytes or beyond.
#[cold]
#[inline(never)]
fn last<R: NumberFormat>(read: R, mask: u16, bytes: &[u8], at: u64, row: &Row, out: &mut Halves) {
    let numbers = short(read, bytes, at);
    let [low, high] = out;
    *low = added(*low, numbers, mask, row.low);
    *high = added(*high, numbers, mask, row.high);
}

/// Reads numbers at or beyond the end of the bytes; numbers beyond it are 0.
fn short<R: NumberFormat>(read: R, bytes: &[u8], at: u64) -> [u16; LANES] {
    let bit = u128::from(at) * R::BITS as u128;
    let first = usize::try_from(bit / 8).ok();
    let rest = first.and_then(|first| bytes.get(first..)).unwrap_or_default();
    let mut padded = [0; 2 * LANES];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    read.read(&padded, (bit % 8) as usize / R::BITS).unwrap_or_default()
}

// Formats of numbers in memory, and weighted rows of them: the input of [`sums`](fn@crate::sums).

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
