//! Strips: kernels that read a few registers, write a few, and advance, until the end of a row.
//!
//! Data that is written past the caches goes through a [stage](RowStage): a small buffer for each row of the
//! destination, with the alignment of that row to cache lines. When a buffer is full, its whole lines are written past
//! the caches; the partial last line stays.
//!
//! Loops over arrays of registers use counters, because iterators of arrays caused a quarter of the code that the
//! compiler generated for this crate.
#![allow(clippy::needless_range_loop)]

use crate::{
    cpu::{
        cost,
        kernel::{
            isa::Isa,
            isa::Vector,
            isa::{Kinds, Work, enter},
        },
        scratch::Scratch,
        transpose::Locality,
    },
    program::region::{Loop, for_each},
};

/// The computation of a step from a few registers.
pub(super) trait Make<const O: usize> {
    /// Returns the registers of one step, whose source begins at `from`.
    ///
    /// # Safety
    /// What the step reads is readable, which the implementor states in registers of `V`; the machine has the
    /// instruction set.
    unsafe fn make<V: Vector>(&self, from: *const u8) -> [V; O];

    /// Prefetches the lines of a step.
    fn prefetch<V: Vector>(&self, from: *const u8);
}

/// Rows that are written in parallel: each step advances by `step` bytes in the source, and writes `O` registers either
/// into one row or each into its own row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub(super) from: *const u8,
    /// The source of the next strip.
    pub(super) next: *const u8,
    pub(super) step: usize,
    /// The source of the last step, in bytes after `from`; the last steps overlap.
    pub(super) last: usize,
    pub(super) to: *mut u8,
    /// The distance between rows, or 0 if there is one row.
    pub(super) apart: isize,
    /// The bytes of each row: at least those that a step writes there.
    pub(super) len: usize,
    /// The distance in bytes by which prefetches are ahead, or 0.
    pub(super) ahead: usize,
}

const LINE: usize = cost::LINE as usize;

/// Runs a strip with registers of `register` bytes, one of [`registers`]; past the caches if there is a stage.
///
/// # Safety
/// For every step, including the last, what `make` reads is readable, and what it writes is in the destination, which
/// no one else uses; so is what the stage was given before. The machine has the instruction set.
pub(super) unsafe fn run<M: Make<O>, const O: usize>(
    (isa, register): (Isa, usize),
    make: &M,
    strip: &Strip,
    stage: Option<&mut RowStage>,
) {
    // SAFETY: `# Safety` of `run` is what `StripSteps` requires.
    let entered = unsafe { enter(isa, register, StripSteps { make, strip, stage }) };
    debug_assert!(entered, "strips have the registers of `registers`");
}

/// A strip, its computation, and its stage.
struct StripSteps<'a, M, const O: usize> {
    make: &'a M,
    strip: &'a Strip,
    stage: Option<&'a mut RowStage>,
}

impl<M: Make<O>, const O: usize> Work for StripSteps<'_, M, O> {
    /// The kinds of [`registers`].
    const KINDS: Kinds = Kinds { words: false, of_32: false };

    /// The requirements are those of [`run`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let StripSteps { make, strip, stage } = self;
        // SAFETY: `# Safety` of `Work::with`: the requirements of `run` hold, and so they do for the part of it that
        // each arm does.
        unsafe {
            match (stage, strip.apart == 0) {
                (None, _) => strip.cached::<V, M, O>(make),
                (Some(stage), true) => strip.staged::<V, M, O, 1>(make, stage),
                (Some(stage), false) => strip.staged::<V, M, O, O>(make, stage),
            }
        }
    }
}

/// Calls `one` with the start of each strip in the source and in the destination, and the start of the next strip in
/// the source.
pub(super) fn each(around: &[Loop], first: (i64, i64), one: &mut dyn FnMut(i64, i64, i64)) {
    let mut waiting: Option<(i64, i64)> = None;
    for_each(around, first.0, first.1, &mut |from, to| {
        if let Some((last, place)) = waiting.replace((from, to)) {
            one(last, place, from);
        }
    });
    if let Some((from, to)) = waiting {
        one(from, to, from);
    }
}

/// Returns the sizes of registers that strips use, the largest first.
pub(super) fn registers(isa: Isa) -> &'static [usize] {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => &[64, 16],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => &[16],
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => &[16],
        Isa::Generic => &[],
    }
}

/// Returns the distance by which a row of `row` bytes is prefetched, if `side` rows are read in parallel: not beyond
/// the next row, and 0 for data in a cache.
pub(super) fn ahead(locality: Locality, row: usize, side: usize) -> usize {
    match locality {
        Locality::Memory | Locality::Arriving => {
            (cost::AHEAD as usize / side).min(row / LINE) * LINE
        }
        Locality::Cache => 0,
    }
}

/// Writes registers that are `apart` bytes apart.
///
/// # Safety
/// They are writable; the machine has the instruction set.
#[inline(always)]
unsafe fn put<V: Vector, const O: usize>(held: [V; O], to: *mut u8, apart: isize) {
    for k in 0..O {
        // SAFETY: `# Safety` of `put`: a register is writable at each multiple of `apart` below `O`.
        unsafe { held[k].store(to.wrapping_offset(k as isize * apart)) };
    }
}

impl Strip {
    /// Returns the bytes that a step writes in each row.
    fn width<V: Vector, const O: usize>(&self) -> usize {
        if self.apart == 0 { O * V::BYTES } else { V::BYTES }
    }

    /// Prefetches for a later step while the step at `from` runs; if this row `end`s before that, in the next row.
    #[inline(always)]
    fn prefetch<V: Vector, M: Make<O>, const O: usize>(&self, make: &M, from: usize, end: usize) {
        if self.ahead > 0 {
            let soon = from + self.ahead;
            make.prefetch::<V>(match soon.checked_sub(end) {
                None => self.from.wrapping_add(soon),
                Some(over) => self.next.wrapping_add(over),
            });
        }
    }

    /// Runs the strip through the caches.
    ///
    /// # Safety
    /// Those of [`run`].
    #[inline(always)]
    unsafe fn cached<V: Vector, M: Make<O>, const O: usize>(&self, make: &M) {
        let width = self.width::<V, O>();
        let apart = if self.apart == 0 { V::BYTES as isize } else { self.apart };
        let end = self.len / width * self.step;
        // SAFETY: `# Safety` of `run`: what each step, and the last one at `last`, reads is readable, and what it
        // writes is in the rows. `len` is at least `width`, so the last step begins within the rows.
        unsafe {
            for i in 0..self.len / width {
                self.prefetch::<V, M, O>(make, i * self.step, end);
                let held = make.make::<V>(self.from.add(i * self.step));
                put(held, self.to.wrapping_add(i * width), apart);
            }
            if !self.len.is_multiple_of(width) {
                let to = self.to.wrapping_add(self.len - width);
                put(make.make::<V>(self.from.add(self.last)), to, apart);
            }
        }
    }

    /// Runs the strip past the caches, `R` rows through the stage.
    ///
    /// # Safety
    /// Those of [`run`].
    #[inline(always)]
    unsafe fn staged<V: Vector, M: Make<O>, const O: usize, const R: usize>(
        &self,
        make: &M,
        stage: &mut RowStage,
    ) {
        let width = self.width::<V, O>();
        let (steps, rest) = (self.len / width, self.len % width);
        // The capacity of the rows of the stage after a partial line, in whole steps.
        let room = (PITCH - 2 * LINE) / width;
        for k in 0..R {
            let to = self.to.wrapping_offset(k as isize * self.apart);
            // SAFETY: `# Safety` of `run`: all bytes that the stage got before are in the destination, which `begin`
            // requires.
            unsafe { stage.begin::<V>(k, to) };
        }
        let mut done = 0;
        while done < steps {
            let count = room.min(steps - done);
            // SAFETY: `# Safety` of `run` holds for these steps. Every row of the stage holds less than a line, since
            // `begin` and `flush` leave no more, and `room` steps fit after that.
            unsafe { self.fill::<V, M, O, R>(make, stage, done, count) };
            done += count;
        }
        if rest > 0 {
            let mut last = [0; 512];
            // SAFETY: `# Safety` of `run`: every byte that the step at `last` reads is readable, and what it writes is
            // in the rows. `O` is at most 8 and a register has at most 64 bytes, so `last` holds all registers. `rest`
            // is below `width`, which is at most 512, and a row of the stage has room for it after less than a line.
            unsafe {
                let held = make.make::<V>(self.from.add(self.last));
                for k in 0..O {
                    held[k].store(last[k * V::BYTES..][..V::BYTES].as_mut_ptr());
                }
                for k in 0..R {
                    let part = &last[k * width..][width - rest..width];
                    let to = stage.buffer.add(k * PITCH + stage.rows[k].fill);
                    core::ptr::copy_nonoverlapping(part.as_ptr(), to, rest);
                    stage.rows[k].fill += rest;
                    stage.flush::<V>(k);
                }
            }
        }
    }

    /// Runs `count` steps from step `done` on, through the stage.
    ///
    /// # Safety
    /// Those of [`run`]; the rows of the stage have room for them.
    #[inline(always)]
    unsafe fn fill<V: Vector, M: Make<O>, const O: usize, const R: usize>(
        &self,
        make: &M,
        stage: &mut RowStage,
        done: usize,
        count: usize,
    ) {
        let is_phased = |held: &HeldRow| !held.fill.is_multiple_of(V::BYTES);
        // SAFETY: `# Safety` of `fill` is what `steps` requires: the steps may be run, and the rows have room for them.
        // `staged` passes at least one step.
        unsafe {
            if stage.rows[..R].iter().any(is_phased) {
                self.steps::<V, M, O, R, true>(make, stage, done, count);
            } else {
                self.steps::<V, M, O, R, false>(make, stage, done, count);
            }
        }
        for k in 0..R {
            stage.rows[k].fill += count * self.width::<V, O>();
            // SAFETY: `# Safety` of `run`: the bytes that `steps` wrote to the row are in the destination.
            unsafe { stage.flush::<V>(k) };
        }
    }

    /// Runs the steps of a filling. Rows that are `PHASED` are filled at multiples of a register of the stage: each
    /// store takes the end of one made register and the start of the next, so that a load soon after it reads the bytes
    /// of one store, not of two.
    ///
    /// # Safety
    /// Those of [`Strip::fill`]; `count` is at least 1.
    #[inline(always)]
    unsafe fn steps<V: Vector, M: Make<O>, const O: usize, const R: usize, const PHASED: bool>(
        &self,
        make: &M,
        stage: &RowStage,
        done: usize,
        count: usize,
    ) {
        const { assert!(R == 1 || R == O) };
        let width = self.width::<V, O>();
        let end = self.len / width * self.step;
        // SAFETY: the stage's buffer follows a line (`RowStage::new`), so a register before the end of each row is
        // readable. `# Safety` of `fill`: each row has room for `count` steps, and what `make` reads for them is
        // readable.
        unsafe {
            let mut rows = [RowFill::<V>::of::<PHASED>(stage, 0); R];
            for k in 1..R {
                rows[k] = RowFill::of::<PHASED>(stage, k);
            }
            for i in 0..count {
                let from = (done + i) * self.step;
                self.prefetch::<V, M, O>(make, from, end);
                let made = make.make::<V>(self.from.add(from));
                for k in 0..O {
                    let (row, place) = if R == 1 { (0, k * V::BYTES) } else { (k, 0) };
                    rows[row].put::<PHASED>(made[k], i * width + place);
                }
            }
            if PHASED {
                for k in 0..R {
                    rows[k].last.store(rows[k].end.wrapping_add(count * width - V::BYTES));
                }
            }
        }
    }
}

/// A row of the stage while it is filled.
#[derive(Clone, Copy)]
struct RowFill<V> {
    /// The end of the row before the filling.
    end: *mut u8,
    /// The start of the first register that is written. It contains `end`.
    to: *mut u8,
    /// The tables of [`turned`].
    tables: (*const u8, *const u8),
    /// The last register that was made.
    last: V,
}

impl<V: Vector> RowFill<V> {
    /// Returns row `k` of a stage.
    ///
    /// # Safety
    /// A register before the end of the row is readable; the machine has the instruction set.
    #[inline(always)]
    unsafe fn of<const PHASED: bool>(stage: &RowStage, k: usize) -> RowFill<V> {
        let end = stage.buffer.wrapping_add(k * PITCH + stage.rows[k].fill);
        let phase = if PHASED { end.addr() % V::BYTES } else { 0 };
        // SAFETY: `# Safety` of `of`: a register before `end` is readable.
        let last = unsafe { V::load(end.wrapping_sub(V::BYTES)) };
        RowFill { end, to: end.wrapping_sub(phase), tables: turned::<V>(phase), last }
    }

    /// Adds a register to the row, by a store `at` bytes after `to`. In a phased row the store begins before the end of
    /// the row, and repeats bytes of `last` there.
    ///
    /// # Safety
    /// A register at that place is in the row's part of the stage; the machine has the instruction set.
    #[inline(always)]
    unsafe fn put<const PHASED: bool>(&mut self, register: V, at: usize) {
        let to = self.to.wrapping_add(at);
        // SAFETY: `# Safety` of `put`: a register is writable there. The tables have a register's bytes (`turned`).
        unsafe {
            if PHASED {
                let (own, next) = self.tables;
                self.last.arrange(own).pick(register, next).store(to);
                self.last = register;
            } else {
                register.store(to);
            }
        }
    }
}

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
    /// Those of [`run`], for what the row held before.
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
/// Those of [`run`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_asked_for_no_further_than_the_next_one() {
        for row in [0, 63, 64, 100, 4096, 1 << 20] {
            assert_eq!(ahead(Locality::Cache, row, 1), 0);
            for (locality, side) in
                [(Locality::Memory, 1), (Locality::Arriving, 3), (Locality::Memory, 8)]
            {
                let ahead = ahead(locality, row, side);
                assert!(ahead <= row && ahead.is_multiple_of(LINE), "{row} {side}");
                assert_eq!(ahead > 0, row >= LINE);
            }
        }
    }
}
