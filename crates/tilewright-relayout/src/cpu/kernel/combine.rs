//! Streamed writes of runs at any alignment. Lines that a run fills are streamed. What it has of other lines waits in a small
//! table, keyed by the line, until other runs have the rest; so blocks may come in any order.
//!
//! Law: after [`Combiner::end`], the destination holds the bytes of all runs, and no other byte was written.

use super::{
    enter::{Work, enter},
    isa::Isa,
    rows::stream_line,
    vector::Vector,
};
use crate::cpu::cost;

const LINE: usize = cost::LINE as usize;

/// The lines of a set of the table.
const WAYS: usize = 4;

/// The fewest and the most lines of a table: 256 KiB at most, a quarter of a second-level cache.
const LEAST: usize = 64;
const MOST: usize = 4 << 10;

/// A line that is not complete: its first byte relative to the destination, and a bit for each byte that it has.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    line: isize,
    has: u64,
}

/// The lines that wait for their other bytes. It is reused from run to run.
#[derive(Debug, Default)]
pub(crate) struct Combiner {
    waiting: Vec<Waiting>,
    bytes: Vec<[u8; LINE]>,
    /// The bits by which a hash is shifted to the number of its set.
    shift: u32,
    turn: usize,
}

/// Runs of equal length, by their positions in a buffer and in the destination.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    pub(crate) len: usize,
    pub(crate) places: Vec<(usize, i64)>,
}

impl Combiner {
    /// Makes room for about `lines` lines.
    pub(crate) fn reserve(&mut self, lines: usize) {
        let count = lines.next_power_of_two().clamp(LEAST, MOST);
        if self.waiting.len() != count {
            self.waiting = vec![Waiting::default(); count];
            self.bytes = vec![[0; LINE]; count];
            self.shift = usize::BITS - (count / WAYS).trailing_zeros();
        }
    }

    /// Writes runs of a buffer to their positions from byte `to` of the destination on.
    pub(crate) fn write(
        &mut self,
        isa: Isa,
        runs: &Runs,
        buffer: &[u8],
        (out, to): (&mut [u8], i64),
    ) {
        let bounds = (buffer.len(), out.len());
        let inside = |(at, dst): &(usize, i64)| {
            let first = usize::try_from(to + dst).ok();
            at.checked_add(runs.len).is_some_and(|end| end <= bounds.0)
                && first
                    .and_then(|first| first.checked_add(runs.len))
                    .is_some_and(|end| end <= bounds.1)
        };
        assert!(runs.places.iter().all(inside), "the runs of a block are inside of its part");
        let (buffer, out) = (buffer.as_ptr(), out.as_mut_ptr());
        // SAFETY: every run is within the slices, one of which is exclusive, as was found before. Lines that wait have bytes
        // of runs of earlier calls with the same destination. The machine has the instruction set, as `Isa::chosen` and its
        // callers make sure.
        unsafe {
            enter(
                isa,
                isa.register(),
                WriteRuns { combiner: self, runs, buffer, out, to: to as isize },
            )
        };
    }

    /// Writes all lines that still wait.
    pub(crate) fn end(&mut self, isa: Isa, out: &mut [u8]) {
        // SAFETY: lines that wait have bytes of runs, which are within the destination. The machine has the instruction set.
        unsafe { enter(isa, isa.register(), End { combiner: self, out: out.as_mut_ptr() }) };
    }

    /// Adds the first `len` bytes at `from` to a line, from its byte `at` on. Streams the line if it is complete.
    ///
    /// # Safety
    /// `len` is below a line and ends within it. These bytes are readable, and their positions in the destination writable;
    /// the machine has the instruction set of `V`.
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        out: *mut u8,
        line: isize,
        at: usize,
        len: usize,
        from: *const u8,
    ) {
        let hash = (line as usize / LINE).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let first = (hash >> self.shift) * WAYS;
        let set: &mut [Waiting; WAYS] =
            (&mut self.waiting[first..first + WAYS]).try_into().expect("a set has all its lines");
        let known = set.iter().position(|it| it.has != 0 && it.line == line);
        let way = known.or_else(|| set.iter().position(|it| it.has == 0)).unwrap_or_else(|| {
            self.turn = (self.turn + 1) % WAYS;
            self.turn
        });
        let (own, bytes) = (&mut set[way], &mut self.bytes[first + way]);
        // SAFETY: `# Safety` of `add`: the bytes are readable and end within the line. What a line has is writable.
        unsafe {
            if own.line != line && own.has != 0 {
                put::<V>(own, bytes, out);
            }
            let given = (u64::MAX >> (LINE - len)) << at;
            if own.has == !given && (at == 0 || at + len == LINE) {
                // The line is put together in registers: a load of bytes that were just stored would wait for all stores before.
                let own_first = at > 0;
                let given = from.wrapping_sub(at);
                let (first, rest, count) = if own_first {
                    (bytes.as_ptr(), given, at)
                } else {
                    (given, bytes.as_ptr(), len)
                };
                let to = out.wrapping_offset(line);
                for k in (0..LINE).step_by(V::BYTES) {
                    let first = V::load(first.wrapping_add(k));
                    let rest = V::load(rest.wrapping_add(k));
                    first
                        .splice(rest, count.saturating_sub(k).min(V::BYTES))
                        .stream(to.wrapping_add(k));
                }
                own.has = 0;
                return;
            }
            own.line = line;
            own.has |= given;
            V::copy_short(from, bytes.as_mut_ptr().add(at), len);
            if own.has == u64::MAX {
                stream_line::<V>(bytes.as_ptr(), out.wrapping_offset(line));
                own.has = 0;
            }
        }
    }
}

/// Writes what a line has, and frees it.
///
/// # Safety
/// Every byte that it has is writable; the machine has the instruction set of `V`.
#[cold]
#[inline(always)]
unsafe fn put<V: Vector>(own: &mut Waiting, bytes: &[u8; LINE], out: *mut u8) {
    let to = out.wrapping_offset(own.line);
    while own.has != 0 {
        let at = own.has.trailing_zeros() as usize;
        let len = (!(own.has >> at)).trailing_zeros() as usize;
        // SAFETY: `# Safety` of `put`: these `len` bytes are writable; `len` is below a line, since complete lines do not wait.
        unsafe { V::copy_short(bytes.as_ptr().add(at), to.wrapping_add(at), len) };
        own.has &= !((u64::MAX >> (LINE - len)) << at);
    }
}

/// The writes of the runs of one block.
struct WriteRuns<'a> {
    combiner: &'a mut Combiner,
    runs: &'a Runs,
    buffer: *const u8,
    out: *mut u8,
    to: isize,
}

impl Work for WriteRuns<'_> {
    /// Every run is readable in the buffer and writable in the destination, and the two do not overlap.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let WriteRuns { combiner, runs, buffer, out, to } = self;
        let over = out.addr() % LINE;
        for (at, dst) in &runs.places {
            let (mut from, mut dst, mut left) =
                (buffer.wrapping_add(*at), to + *dst as isize, runs.len);
            let begun = (over.wrapping_add_signed(dst)) % LINE;
            // SAFETY: `# Safety` of `Work::with`: the run is readable and writable. Each step takes bytes that are left.
            unsafe {
                if begun > 0 {
                    let len = left.min(LINE - begun);
                    combiner.add::<V>(out, dst - begun as isize, begun, len, from);
                    (from, dst, left) = (from.add(len), dst + len as isize, left - len);
                }
                let mut place = out.wrapping_offset(dst);
                while left >= LINE {
                    stream_line::<V>(from, place);
                    (from, place, left) = (from.add(LINE), place.wrapping_add(LINE), left - LINE);
                }
                if left > 0 {
                    combiner.add::<V>(
                        out,
                        place.addr().wrapping_sub(out.addr()) as isize,
                        0,
                        left,
                        from,
                    );
                }
            }
        }
    }
}

/// The writes of all lines that wait.
struct End<'a> {
    combiner: &'a mut Combiner,
    out: *mut u8,
}

impl Work for End<'_> {
    /// Every byte that a waiting line has is writable in the destination.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for (own, bytes) in self.combiner.waiting.iter_mut().zip(&self.combiner.bytes) {
            // SAFETY: `# Safety` of `Work::with`: every byte that the line has is writable.
            unsafe { put::<V>(own, bytes, self.out) };
        }
        V::fence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of many lengths, written in orders that fill lines from both ends, with tables that are too small for them.
    #[test]
    fn runs_in_any_order_are_written_once_and_nothing_else_is() {
        let count = if cfg!(miri) { 12 } else { 300 };
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            let mut combiner = Combiner::default();
            for (len, apart, first) in [
                (1, 1, 0),
                (7, 7, 3),
                (63, 63, 1),
                (64, 64, 5),
                (65, 70, 0),
                (130, 130, 60),
                (40, 200, 9),
            ] {
                for step in [1, 7, count - 1] {
                    let buffer: Vec<u8> =
                        (0..LINE + len * count + LINE).map(|i| (i * 31) as u8).collect();
                    let mut out = vec![0xEE; first + apart * count + 3];
                    let mut expected = out.clone();
                    let place = |i: usize| (LINE + i * len, (i * apart) as i64);
                    combiner.reserve(1);
                    for i in (0..count).map(|i| i * step % count) {
                        let runs = Runs { len, places: vec![place(i)] };
                        combiner.write(isa, &runs, &buffer, (&mut out, first as i64));
                        let (at, to) = place(i);
                        expected[first + to as usize..][..len]
                            .copy_from_slice(&buffer[at..][..len]);
                    }
                    combiner.end(isa, &mut out);
                    assert!(
                        out == expected,
                        "{} runs of {len}, {apart} apart, by {step}",
                        isa.name()
                    );
                }
            }
        }
    }
}
