//! Weighted sums of rows of 16 numbers.
//!
//! Law: sum `i` is the sum of weight · number `i` over the rows, exactly. The loops are plain ones over arrays of 16,
//! which the compiler turns into the registers of each instruction set.

use super::{
    enter::{Work, enter},
    isa::Isa,
    vector::Vector,
};
use crate::numbers::{HALF, LANES, Numbers, Row};

/// Each half of a weight has 31 bits, a number 16: the sum of 2¹⁶ products is below 2⁶³.
const MOST: usize = 1 << 16;

/// The sums of both halves of the weights.
type Halves = [[u64; LANES]; 2];

pub(crate) fn sums(
    numbers: Numbers,
    mask: u16,
    bytes: &[u8],
    from: u64,
    rows: &[Row],
) -> [u128; LANES] {
    let isa = Isa::chosen();
    let mut sums = [0; LANES];
    for rows in rows.chunks(MOST) {
        let mut halves = [[0; LANES]; 2];
        let task = Task { mask, bytes, from, rows, out: &mut halves };
        match numbers {
            Numbers::Bits1 => run(isa, Bits::<1>, task),
            Numbers::Bits2 => run(isa, Bits::<2>, task),
            Numbers::Bits4 => run(isa, Bits::<4>, task),
            Numbers::Bytes => run(isa, Bytes, task),
            Numbers::Little => run(isa, Pairs::<false>, task),
            Numbers::Big => run(isa, Pairs::<true>, task),
        }
        for (sum, (low, high)) in sums.iter_mut().zip(halves[0].into_iter().zip(halves[1])) {
            *sum += u128::from(low) + (u128::from(high) << HALF);
        }
    }
    sums
}

/// What is summed, and where the sums go.
struct Task<'a> {
    mask: u16,
    bytes: &'a [u8],
    from: u64,
    rows: &'a [Row],
    out: &'a mut Halves,
}

fn run<R: Read>(isa: Isa, read: R, task: Task<'_>) {
    // SAFETY: `Isa::chosen` names an instruction set that the machine has. The work is safe code.
    let entered = unsafe { enter(isa, isa.register(), Sum(read, task)) };
    debug_assert!(entered, "every instruction set has its registers");
}

/// How 16 numbers are read.
trait Read: Copy {
    /// The bits of a number.
    const BITS: usize;

    /// The numbers from number `at` on; `None` if the bytes end before the last of them.
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]>;
}

/// Numbers of one byte.
#[derive(Clone, Copy)]
struct Bytes;

impl Read for Bytes {
    const BITS: usize = 8;

    #[inline(always)]
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]> {
        let row = bytes.get(at..)?.first_chunk::<LANES>()?;
        Some(row.map(u16::from))
    }
}

/// Numbers of two bytes, big-endian or not.
#[derive(Clone, Copy)]
struct Pairs<const BIG: bool>;

impl<const BIG: bool> Read for Pairs<BIG> {
    const BITS: usize = 16;

    #[inline(always)]
    fn read(self, bytes: &[u8], at: usize) -> Option<[u16; LANES]> {
        let row = bytes.as_chunks::<2>().0.get(at..)?.first_chunk::<LANES>()?;
        let number = if BIG { u16::from_be_bytes } else { u16::from_le_bytes };
        Some(row.map(number))
    }
}

/// Packed numbers of `BITS` bits, those of the low bits of a byte first.
#[derive(Clone, Copy)]
struct Bits<const BITS: usize>;

impl<const BITS: usize> Read for Bits<BITS> {
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
struct Sum<'a, R>(R, Task<'a>);

impl<R: Read> Work for Sum<'_, R> {
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Sum(read, Task { mask, bytes, from, rows, out }) = self;
        let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
        for row in rows {
            let at = from.saturating_add(row.at);
            let near = usize::try_from(at).unwrap_or(usize::MAX);
            let numbers = match read.read(bytes, near) {
                Some(numbers) => numbers,
                None => short(read, bytes, at),
            };
            for i in 0..LANES {
                let number = u64::from(numbers[i] & mask);
                low[i] += number * u64::from(row.low);
                high[i] += number * u64::from(row.high);
            }
        }
        *out = [low, high];
    }
}

/// Numbers of which some lie behind the end, or near it, those behind as 0.
#[cold]
#[inline(never)]
fn short<R: Read>(read: R, bytes: &[u8], at: u64) -> [u16; LANES] {
    let bit = u128::from(at) * R::BITS as u128;
    let first = usize::try_from(bit / 8).ok();
    let rest = first.and_then(|first| bytes.get(first..)).unwrap_or_default();
    let mut padded = [0; 2 * LANES];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    read.read(&padded, (bit % 8) as usize / R::BITS).unwrap_or_default()
}
