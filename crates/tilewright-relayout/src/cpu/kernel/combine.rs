//! Streamed writes of runs at any alignment. Lines that a run fills are streamed. If the next block continues the runs, the line at
//! the end of each run is carried to it. Bytes of other lines wait in a small table, keyed by the line, until other runs have the
//! rest; so blocks may come in any order.
//!
//! Law: after [`LineWriter::end`], the destination holds the bytes of all runs, and no other byte was written.

use super::{
    isa::Isa,
    isa::Vector,
    isa::{Work, enter},
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

/// The bytes of a line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u8; LINE]);

/// The lines that wait for their other bytes. The table is reused from run to run.
#[derive(Debug, Default)]
pub(crate) struct WaitingLines {
    waiting: Vec<Waiting>,
    bytes: Vec<Line>,
    /// The last line of each run, if the next block continues it.
    carried: Vec<Line>,
    /// The bits by which a hash is shifted to the number of its set.
    shift: u32,
    turn: usize,
    /// True while a writer has not ended.
    is_open: bool,
}

/// Runs of equal length, by their positions in a buffer and in the destination.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    pub(crate) len: usize,
    pub(crate) places: Vec<(usize, i64)>,
}

/// A writer of blocks of runs to one destination.
pub(crate) struct LineWriter<'a> {
    isa: Isa,
    lines: &'a mut WaitingLines,
    runs: &'a Runs,
    out: &'a mut [u8],
    /// The position of the last block and that of the next one, which continues its runs.
    goes_on: Option<(i64, i64)>,
}

impl<'a> LineWriter<'a> {
    /// Returns a writer for blocks of these runs.
    pub(crate) fn new(
        isa: Isa,
        lines: &'a mut WaitingLines,
        runs: &'a Runs,
        out: &'a mut [u8],
    ) -> Self {
        // Each run begins and ends with a line that another block may have.
        let count = (4 * runs.places.len()).next_power_of_two().clamp(LEAST, MOST);
        if lines.is_open || lines.waiting.len() < count {
            lines.waiting = vec![Waiting::default(); count];
            lines.bytes = vec![Line([0; LINE]); count];
            lines.shift = u64::BITS - (count / WAYS).trailing_zeros();
        }
        lines.is_open = true;
        lines.carried.resize(runs.places.len().max(lines.carried.len()), Line([0; LINE]));
        LineWriter { isa, lines, runs, out, goes_on: None }
    }

    /// Writes the runs of a buffer to their positions from byte `to` of the destination on. The next block, if there is one, is
    /// written from byte `next` on; bytes that it shares with this one are equal.
    ///
    /// # Panics
    /// If a run is empty or outside of either, the buffer does not continue for a line before and after it, or another block was to
    /// be next.
    pub(crate) fn write(&mut self, buffer: &[u8], to: i64, next: Option<i64>) {
        let runs = self.runs;
        let bounds = (buffer.len(), self.out.len());
        let inside = |(at, dst): &(usize, i64)| {
            let first = to.checked_add(*dst).and_then(|first| usize::try_from(first).ok());
            let end = |at: usize, more: usize| at.checked_add(runs.len)?.checked_add(more);
            *at >= LINE
                && end(*at, LINE).is_some_and(|end| end <= bounds.0)
                && first.and_then(|first| end(first, 0)).is_some_and(|end| end <= bounds.1)
        };
        assert!(
            runs.len > 0 && runs.places.iter().all(inside),
            "the runs of a block are inside of its part"
        );
        let before = self.goes_on.take();
        assert!(before.is_none_or(|(_, next)| next == to), "the next block is written next");
        // A block that continues the runs by less than a line might complete no line.
        let continues = |next: &i64| (LINE as i64..=runs.len as i64).contains(&(next - to));
        self.goes_on = next.filter(continues).map(|next| (to, next));
        let skipped = before.map(|(before, _)| runs.len - (to - before) as usize);
        let (buffer, out, to) = (buffer.as_ptr(), self.out.as_mut_ptr(), to as isize);
        let continues = self.goes_on.is_some();
        let work = WriteRuns { lines: self.lines, runs, buffer, out, to, skipped, continues };
        // SAFETY: every run is within the slices, one of which is exclusive, and has a line before and after it in the buffer, as
        // was found before. `new` made a carried line for each run. The first `skipped` bytes of a run, all but a line or more, equal
        // the last bytes of the block before. That block wrote a line or more of each run, so the line at the end of the run begins
        // within it, and the carried line has all bytes of the run there. Lines that wait have bytes of runs of this writer: `new`
        // found no others. The machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(self.isa, self.isa.register(), work) };
    }

    /// Writes all lines that still wait.
    ///
    /// # Panics
    /// If another block was to be next: the ends of its runs were carried to it.
    pub(crate) fn end(self) {
        assert!(self.goes_on.is_none(), "the next block is written before the end");
        let LineWriter { isa, lines, out, .. } = self;
        let work = End { lines, out: out.as_mut_ptr() };
        // SAFETY: lines that wait have bytes of runs of this writer, which are within the destination. The machine has the
        // instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), work) };
        lines.is_open = false;
    }
}

impl WaitingLines {
    /// Adds the first `len` bytes at `from` to a line, from its byte `at` on. Streams the line if it is complete.
    ///
    /// # Safety
    /// `len` is at least 1, below a line, and ends within it. These bytes are readable, and so is a line before and after them; their
    /// positions in the destination are writable. The machine has the instruction set of `V`.
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        out: *mut u8,
        line: isize,
        at: usize,
        len: usize,
        from: *const u8,
    ) {
        let hash = (line as u64 / LINE as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let first = (hash >> self.shift) as usize * WAYS;
        let mut way = WAYS;
        for i in 0..WAYS {
            let own = &self.waiting[first + i];
            if own.has != 0 && own.line == line {
                way = i;
                break;
            }
            if own.has == 0 {
                way = i;
            }
        }
        if way == WAYS {
            self.turn = (self.turn + 1) % WAYS;
            way = self.turn;
        }
        let (own, bytes) = (&mut self.waiting[first + way], &mut self.bytes[first + way]);
        // SAFETY: `# Safety` of `add`: the bytes are readable and end within the line; from `at` before them on, a line is readable.
        // What a line has is writable.
        unsafe {
            if own.line != line && own.has != 0 {
                put::<V>(own, bytes, out);
            }
            let given = (u64::MAX >> (LINE - len)) << at;
            if own.has == !given && (at == 0 || at + len == LINE) {
                // The line is put together in registers: a load of bytes that were just stored would wait for all stores before.
                let (begun, given) = (bytes.0.as_ptr(), from.wrapping_sub(at));
                let (first, rest, count) =
                    if at > 0 { (begun, given, at) } else { (given, begun, len) };
                stream_both::<V>((first, count), rest, out.wrapping_offset(line));
                own.has = 0;
                return;
            }
            own.line = line;
            own.has |= given;
            V::copy_short(from, bytes.0.as_mut_ptr().add(at), len);
            if own.has == u64::MAX {
                stream_line::<V>(bytes.0.as_ptr(), out.wrapping_offset(line));
                own.has = 0;
            }
        }
    }
}

/// Writes what a line has, and frees it.
///
/// # Safety
/// Every byte that it has is writable; the machine has the instruction set of `V`.
#[inline(always)]
unsafe fn put<V: Vector>(own: &mut Waiting, bytes: &Line, out: *mut u8) {
    let to = out.wrapping_offset(own.line);
    while own.has != 0 {
        let at = own.has.trailing_zeros() as usize;
        let len = (!(own.has >> at)).trailing_zeros() as usize;
        // SAFETY: `# Safety` of `put`: these `len` bytes are writable; `len` is below a line, since complete lines do not wait.
        unsafe { V::copy_short(bytes.0.as_ptr().add(at), to.wrapping_add(at), len) };
        own.has &= !((u64::MAX >> (LINE - len)) << at);
    }
}

/// The writes of the runs of one block.
struct WriteRuns<'a> {
    lines: &'a mut WaitingLines,
    runs: &'a Runs,
    buffer: *const u8,
    out: *mut u8,
    to: isize,
    /// The bytes of each run that the previous block wrote, if it carried its last lines.
    skipped: Option<usize>,
    /// True if the next block continues the runs.
    continues: bool,
}

impl Work for WriteRuns<'_> {
    /// Every run is readable in the buffer, with a line before and after it, and writable in the destination, and the two do not
    /// overlap; what lines that wait have is writable, too. There is a carried line for each run; if bytes are skipped, it has what
    /// the previous block wrote of the line where they end, and a line or more is left.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let WriteRuns { lines, runs, buffer, out, to, skipped, continues } = self;
        let (over, skip) = (out.addr() % LINE, skipped.unwrap_or(0));
        for (i, (at, dst)) in runs.places.iter().enumerate() {
            let (mut from, mut dst, mut left) = (
                buffer.wrapping_add(at + skip),
                to + *dst as isize + skip as isize,
                runs.len - skip,
            );
            let begun = over.wrapping_add_signed(dst) % LINE;
            // SAFETY: `# Safety` of `Work::with`: the run is readable, with a line on either side, and writable. Each step takes bytes
            // that are left. The first line of a run that continues another has bytes of these two only, both of which are writable.
            unsafe {
                if begun > 0 {
                    let len = left.min(LINE - begun);
                    let line = dst - begun as isize;
                    if skipped.is_some() {
                        let first = lines.carried.as_ptr().add(i).cast();
                        let rest = from.wrapping_sub(begun);
                        stream_both::<V>((first, begun), rest, out.wrapping_offset(line));
                    } else {
                        lines.add::<V>(out, line, begun, len, from);
                    }
                    (from, dst, left) = (from.add(len), dst + len as isize, left - len);
                }
                while left >= LINE {
                    stream_line::<V>(from, out.wrapping_offset(dst));
                    (from, dst, left) = (from.add(LINE), dst + LINE as isize, left - LINE);
                }
                if left > 0 && continues {
                    let carried: *mut u8 = lines.carried.as_mut_ptr().add(i).cast();
                    for k in (0..LINE).step_by(V::BYTES) {
                        V::load(from.add(k)).store(carried.add(k));
                    }
                } else if left > 0 {
                    lines.add::<V>(out, dst, 0, left, from);
                }
            }
        }
    }
}

/// The writes of all lines that wait.
struct End<'a> {
    lines: &'a mut WaitingLines,
    out: *mut u8,
}

impl Work for End<'_> {
    /// Every byte that a waiting line has is writable in the destination.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for (own, bytes) in self.lines.waiting.iter_mut().zip(&self.lines.bytes) {
            // SAFETY: `# Safety` of `Work::with`: every byte that the line has is writable.
            unsafe { put::<V>(own, bytes, self.out) };
        }
        V::fence();
    }
}

/// Copies a line past the caches: its parts directly one after the other, so that they are one write.
///
/// # Safety
/// A line at `from` is readable, and at `to` writable and on a line; the machine has the instruction set of
/// `V`.
#[inline(always)]
pub(super) unsafe fn stream_line<V: Vector>(from: *const u8, to: *mut u8) {
    for at in (0..LINE).step_by(V::BYTES) {
        // SAFETY: `# Safety` of `stream_line`: a line at `from` is readable, one at `to` is writable, and
        // `to` is on a line, so each part is aligned to a register.
        unsafe { V::load(from.add(at)).stream(to.add(at)) };
    }
}

/// Streams a line of the first `count` bytes of one line and the rest of another.
///
/// # Safety
/// `count` is below a line; a line at `first` and at `rest` is readable, and one at `to` writable and on a line; the machine has the
/// instruction set of `V`.
#[inline(always)]
unsafe fn stream_both<V: Vector>((first, count): (*const u8, usize), rest: *const u8, to: *mut u8) {
    for k in (0..LINE).step_by(V::BYTES) {
        // SAFETY: `# Safety` of `stream_both`: both lines are readable, and `to` is writable and on a line.
        unsafe {
            let (first, rest) = (V::load(first.wrapping_add(k)), V::load(rest.wrapping_add(k)));
            let count = count.saturating_sub(k).min(V::BYTES);
            first.splice(rest, count).stream(to.wrapping_add(k));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of many lengths, written in orders that fill lines from both ends, with tables that are too small for them. Some blocks
    /// continue the runs of the block before, and some of these overlap them.
    #[test]
    fn runs_in_any_order_are_written_once_and_nothing_else_is() {
        let count = if cfg!(miri) { 12 } else { 300 };
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            let mut lines = WaitingLines::default();
            for (len, apart, first) in [
                (1, 1, 0),
                (7, 7, 3),
                (63, 63, 1),
                (64, 64, 5),
                (65, 70, 0),
                (130, 130, 60),
                (130, 65, 2),
                (200, 137, 33),
                (300, 290, 7),
                (40, 200, 9),
            ] {
                // Blocks by a step; and in groups of three that continue each other, the last group first.
                for step in [1, 7, count - 1, 0] {
                    let mut out = vec![0xEE; first + apart * count + len + 1000 + 3];
                    let mut expected = out.clone();
                    // Two runs of a block; the second one is far behind the first.
                    let far = if len > apart { apart * count + len + 5 } else { 0 };
                    out.resize(out.len() + far, 0xEE);
                    expected.resize(out.len(), 0xEE);
                    let mut places = vec![(LINE, 0)];
                    places.extend((far > 0).then_some((3 * LINE + len, far as i64)));
                    let runs = Runs { len, places };
                    let at = |i: usize| match step {
                        0 => first + (count - 3 - i / 3 * 3 + i % 3) * apart,
                        _ => first + i * step % count * apart,
                    };
                    let mut writer = LineWriter::new(isa, &mut lines, &runs, &mut out);
                    for i in 0..count {
                        let mut buffer = vec![0; 5 * LINE + 2 * len];
                        for (from, to) in &runs.places {
                            for k in 0..len {
                                let to = at(i) + *to as usize + k;
                                buffer[from + k] = (to * 31 % 251) as u8;
                                expected[to] = buffer[from + k];
                            }
                        }
                        let next = (i + 1 < count).then(|| at(i + 1) as i64);
                        writer.write(&buffer, at(i) as i64, next);
                    }
                    writer.end();
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
