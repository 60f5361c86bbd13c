//! The stage of a strip: a small buffer for each row of the destination, with the alignment of that row to cache lines.
//! When a buffer is full, its whole lines are written past the caches; the partial last line stays.

use super::{
    enter::{Work, enter},
    isa::Isa,
    vector::Vector,
};
use crate::cpu::{cost, scratch::Scratch};

const LINE: usize = cost::LINE as usize;

/// The bytes of a row in the stage; small, since nothing is read while they are written.
pub(super) const PITCH: usize = (1 << 10) + 2 * LINE;

/// The maximal number of rows of a strip.
pub(super) const ROWS: usize = 8;

/// Data that will be written past the caches.
#[derive(Debug)]
pub(super) struct RowStage {
    /// The buffer of the rows, after a line that is read but not used.
    pub(super) buffer: *mut u8,
    pub(super) rows: [HeldRow; ROWS],
}

/// A stretch of a row: `fill` bytes from the line `line` on, the first `skip` of which are not the row's.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldRow {
    line: *mut u8,
    skip: usize,
    pub(super) fill: usize,
}

impl RowStage {
    /// Returns an empty stage.
    pub(super) fn new(scratch: &mut Scratch) -> RowStage {
        let none = HeldRow { line: core::ptr::null_mut(), skip: 0, fill: 0 };
        let buffer = scratch.lines(LINE + ROWS * PITCH).wrapping_add(LINE);
        RowStage { buffer, rows: [none; ROWS] }
    }

    /// Makes row `k` begin, or continue, at `to`.
    ///
    /// # Safety
    /// Those of [`super::strip::run`], for what the row held before.
    #[inline(always)]
    pub(super) unsafe fn begin<V: Vector>(&mut self, k: usize, to: *mut u8) {
        let held = &mut self.rows[k];
        if held.line.wrapping_add(held.fill) == to && held.fill > held.skip {
            return;
        }
        // SAFETY: `# Safety` of `begin`: all bytes that the row held before are in the destination, and the machine has
        // the instruction set, which is what `finish` requires.
        unsafe { self.finish::<V>(k) };
        let phase = to.addr() % LINE;
        self.rows[k] = HeldRow { line: to.wrapping_sub(phase), skip: phase, fill: phase };
    }

    /// Writes the whole lines of row `k`; the rest moves to the front.
    ///
    /// # Safety
    /// The row's bytes are in the destination; the machine has the instruction set.
    #[inline(always)]
    pub(super) unsafe fn flush<V: Vector>(&mut self, k: usize) {
        let HeldRow { line, skip, fill } = self.rows[k];
        let whole = fill / LINE * LINE;
        if whole == 0 {
            return;
        }
        let buffer = self.buffer.wrapping_add(k * PITCH);
        // SAFETY: `skip` is below a line, and bytes `skip..fill` of the buffer are those of the row;
        // lines are aligned on both sides. The moved line begins after the first one and ends within
        // the row's part of the buffer, two lines longer than what it is filled with.
        unsafe {
            let mut at = 0;
            if skip > 0 {
                V::copy_short(buffer.add(skip), line.wrapping_add(skip), LINE - skip);
                at = LINE;
            }
            while at < whole {
                for part in (at..at + LINE).step_by(V::BYTES) {
                    V::load(buffer.add(part)).stream(line.wrapping_add(part));
                }
                at += LINE;
            }
            core::ptr::copy_nonoverlapping(buffer.add(whole), buffer, LINE);
        }
        self.rows[k] = HeldRow { line: line.wrapping_add(whole), skip: 0, fill: fill - whole };
    }

    /// Writes all of row `k`.
    ///
    /// # Safety
    /// Those of [`RowStage::flush`].
    #[inline(always)]
    unsafe fn finish<V: Vector>(&mut self, k: usize) {
        // SAFETY: `# Safety` of `flush`, which `finish` shares: the row's bytes are in the destination.
        // `flush` leaves fewer of them than a line, which `copy_short` can copy.
        unsafe {
            self.flush::<V>(k);
            let HeldRow { line, skip, fill } = self.rows[k];
            if fill > skip {
                let from = self.buffer.add(k * PITCH + skip);
                V::copy_short(from, line.wrapping_add(skip), fill - skip);
            }
        }
        self.rows[k].skip = self.rows[k].fill;
    }
}

/// Writes what the stage still holds.
///
/// # Safety
/// Those of [`super::strip::run`].
pub(super) unsafe fn finish(isa: Isa, mut stage: RowStage) {
    // SAFETY: `# Safety` of `finish`: all bytes that the stage holds are in the destination, and the machine has the
    // instruction set. Any register divides a line, so `RowStage::flush` can copy lines in registers of any
    // size.
    unsafe { enter(isa, isa.register(), Finish(&mut stage)) };
}

/// The rest of a stage.
struct Finish<'a>(&'a mut RowStage);

impl Work for Finish<'_> {
    /// The requirements are those of [`finish`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for k in 0..ROWS {
            // SAFETY: `# Safety` of `Work::with`: all bytes that each row holds are in the destination, as `finish`
            // requires.
            unsafe { self.0.finish::<V>(k) };
        }
        V::fence();
    }
}

/// The byte numbers of a register, repeated, so that a table may begin at any byte.
static ROUND_16: [u8; 32] = round(16);
static ROUND_32: [u8; 64] = round(32);
static ROUND_64: [u8; 128] = round(64);

/// No byte for a register's length, then its byte numbers.
static NEXT: [u8; 128] = {
    let mut table = round(64);
    let mut i = 0;
    while i < 64 {
        table[i] = 0x80;
        i += 1;
    }
    table
};

/// Returns the numbers below `of`, repeated.
const fn round<const N: usize>(of: u8) -> [u8; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = (i % of as usize) as u8;
        i += 1;
    }
    table
}

/// Returns the tables, for [`Vector::arrange`] and [`Vector::pick`], of the last `phase` bytes of a register followed
/// by the first bytes of the next register.
#[inline(always)]
pub(super) fn turned<V: Vector>(phase: usize) -> (*const u8, *const u8) {
    const { assert!(matches!(V::BYTES, 16 | 32 | 64)) };
    let round = match V::BYTES {
        16 => ROUND_16.as_ptr(),
        32 => ROUND_32.as_ptr(),
        _ => ROUND_64.as_ptr(),
    };
    (round.wrapping_add(V::BYTES - phase), NEXT.as_ptr().wrapping_add(64 - phase))
}
