//! The stage of a strip: a small buffer for each row of the destination, with the alignment that the row has
//! to cache lines. When a buffer is full its whole lines are written past the caches; its last, partial line
//! stays.

use super::{
    enter::{Work, enter},
    isa::Isa,
    vector::Vector,
};
use crate::cpu::{cost, scratch::Scratch};

const LINE: usize = cost::LINE as usize;

/// The bytes of a row in the stage: few, since nothing is read while they are written.
pub(super) const PITCH: usize = (1 << 10) + 2 * LINE;

/// The most rows of a strip.
pub(super) const ROWS: usize = 8;

/// What is written past the caches, before it is.
#[derive(Debug)]
pub(super) struct Stage {
    /// Behind a line that is read, but not used.
    pub(super) buffer: *mut u8,
    pub(super) rows: [Held; ROWS],
}

/// A stretch of a row: `fill` bytes from the line `line` on, of which the first `skip` are not the row's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    line: *mut u8,
    skip: usize,
    pub(super) fill: usize,
}

impl Stage {
    /// An empty one.
    pub(super) fn new(scratch: &mut Scratch) -> Stage {
        let none = Held { line: core::ptr::null_mut(), skip: 0, fill: 0 };
        let buffer = scratch.lines(LINE + ROWS * PITCH).wrapping_add(LINE);
        Stage { buffer, rows: [none; ROWS] }
    }

    /// Makes row `k` begin, or go on, at `to`.
    ///
    /// # Safety
    /// As for [`super::strip::run`], of what the row held before.
    #[inline(always)]
    pub(super) unsafe fn begin<V: Vector>(&mut self, k: usize, to: *mut u8) {
        let held = &mut self.rows[k];
        if held.line.wrapping_add(held.fill) == to && held.fill > held.skip {
            return;
        }
        // SAFETY: `# Safety` of `begin`: what the row held before lies in the destination, and the machine
        // has the instruction set, which is what `finish` asks for.
        unsafe { self.finish::<V>(k) };
        let phase = to.addr() % LINE;
        self.rows[k] = Held { line: to.wrapping_sub(phase), skip: phase, fill: phase };
    }

    /// Writes the whole lines of row `k`; the rest moves to the front.
    ///
    /// # Safety
    /// The row's bytes lie in the destination; the machine has the instruction set.
    #[inline(always)]
    pub(super) unsafe fn flush<V: Vector>(&mut self, k: usize) {
        let Held { line, skip, fill } = self.rows[k];
        let whole = fill / LINE * LINE;
        if whole == 0 {
            return;
        }
        let buffer = self.buffer.wrapping_add(k * PITCH);
        // SAFETY: `skip` is below a line, and bytes `skip..fill` of the buffer are those of the row;
        // lines are aligned on both sides. The moved line begins behind the first one and ends within
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
        self.rows[k] = Held { line: line.wrapping_add(whole), skip: 0, fill: fill - whole };
    }

    /// Writes all of row `k`.
    ///
    /// # Safety
    /// As for [`Stage::flush`].
    #[inline(always)]
    unsafe fn finish<V: Vector>(&mut self, k: usize) {
        // SAFETY: `# Safety` of `flush`, which `finish` shares: the row's bytes lie in the destination.
        // `flush` leaves fewer of them than a line, which `copy_short` can copy.
        unsafe {
            self.flush::<V>(k);
            let Held { line, skip, fill } = self.rows[k];
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
/// As for [`super::strip::run`].
pub(super) unsafe fn finish(isa: Isa, mut stage: Stage) {
    // SAFETY: `# Safety` of `finish`: what the stage holds lies in the destination, and the machine has the
    // instruction set. Any register divides a line, so `Stage::flush` can copy lines in registers of any
    // size.
    unsafe { enter(isa, isa.register(), Finish(&mut stage)) };
}

/// The rest of a stage.
struct Finish<'a>(&'a mut Stage);

impl Work for Finish<'_> {
    /// As for [`finish`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for k in 0..ROWS {
            // SAFETY: `# Safety` of `Work::with`: what each row holds lies in the destination, as `finish`
            // asks for.
            unsafe { self.0.finish::<V>(k) };
        }
        V::fence();
    }
}

/// The bytes of registers turned round, from any byte on.
static ROUND_16: [u8; 32] = round(16);
static ROUND_32: [u8; 64] = round(32);
static ROUND_64: [u8; 128] = round(64);

/// Nothing of a register, then its bytes.
static NEXT: [u8; 128] = {
    let mut table = round(64);
    let mut i = 0;
    while i < 64 {
        table[i] = 0x80;
        i += 1;
    }
    table
};

/// Numbers below `of`, again and again.
const fn round<const N: usize>(of: u8) -> [u8; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = (i % of as usize) as u8;
        i += 1;
    }
    table
}

/// The tables, for [`Vector::arrange`] and [`Vector::pick`], of the last `phase` bytes of a register and then
/// the first ones of the next.
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
