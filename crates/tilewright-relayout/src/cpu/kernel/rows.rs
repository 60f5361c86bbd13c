//! Copies of contiguous runs of bytes: one by one, or in blocks past the caches; and copies of runs of bits.
//!
//! A block writes whole cache lines past the caches. A line with the end of one run and the start of the next is first
//! composed from both.

use crate::{
    cpu::{
        cost,
        kernel::{
            combine,
            isa::Isa,
            isa::Vector,
            isa::{Work, enter},
        },
        rows::{Before, Blocks, RowBlock, Segment},
        scratch::Scratch,
    },
    program::region::{Loop, RegionRef, for_each},
};

/// Copies `run` bytes.
pub(super) fn copy(src: &[u8], from: i64, out: &mut [u8], to: i64, run: u64) {
    let (from, to, run) = (from as usize, to as usize, run as usize);
    out[to..to + run].copy_from_slice(&src[from..from + run]);
}

/// Copies the runs of a part in the order of the destination.
pub(super) fn rows(isa: Isa, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) {
    let short = part.run < cost::LINE && part.is_within(src.len(), out.len());
    let (Some((level, outer)), true) = (part.loops.split_last(), short) else {
        return for_each(part.loops, part.src, part.dst, &mut |from, to| {
            copy(src, from, out, to, part.run);
        });
    };
    let (source, target, run) = (src.as_ptr(), out.as_mut_ptr(), part.run as usize);
    for_each(outer, part.src, part.dst, &mut |from, to| {
        let from = source.wrapping_offset(from as isize);
        let to = target.wrapping_offset(to as isize);
        // SAFETY: every byte of the part is within the slices, one of which is exclusive, as `is_within`
        // found. The machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), Short { from, to, run, level }) };
    });
}

/// The runs of one loop, each shorter than a line.
struct Short<'a> {
    from: *const u8,
    to: *mut u8,
    run: usize,
    level: &'a Loop,
}

impl Work for Short<'_> {
    /// `run` bytes are readable at every iteration from `from` on and writable at every iteration from `to` on.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Short { from, to, run, level } = self;
        for i in 0..level.extent as isize {
            let from = from.wrapping_offset(i * level.src as isize);
            let to = to.wrapping_offset(i * level.dst as isize);
            // SAFETY: `# Safety` of `Work::with`: `run` bytes are readable and writable at every iteration, as `Short`
            // requires. `rows` makes a `Short` only of runs below a line, 64 bytes.
            unsafe { V::copy_short(from, to, run) };
        }
    }
}

/// Returns whether runs are long enough to be moved in blocks past the caches.
pub(crate) fn are_far(part: &RegionRef<'_>) -> bool {
    !part.packed && part.run >= cost::LINE
}

/// Returns whether all runs are whole lines of the destination.
fn are_lines(part: &RegionRef<'_>, out: &[u8]) -> bool {
    let on_line = |at: u64| at.is_multiple_of(cost::LINE);
    let first = (out.as_ptr().addr() as u64).wrapping_add_signed(part.dst);
    on_line(first)
        && on_line(part.run)
        && part.loops.iter().all(|level| on_line(level.dst.unsigned_abs()))
}

/// Returns whether the order of the destination is also the order of the source.
fn is_in_order(part: &RegionRef<'_>) -> bool {
    part.loops.is_sorted_by(|outer, inner| outer.src >= inner.src)
        && part.loops.iter().all(|level| level.src >= part.run as i64)
}

/// Copies runs of a line or more in [blocks](Blocks): past the caches, unless their ends would be too many partial
/// lines. While a block is streamed, the next one is prefetched.
pub(super) fn rows_far(
    isa: Isa,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    if part.run < cost::LINE || !part.is_within(src.len(), out.len()) {
        return rows(isa, part, src, out);
    }
    let mut blocks = scratch.take_rows();
    blocks.set(part);
    let chain = blocks.chain();
    let least = if chain > part.run { cost::STREAMED_CHAIN } else { cost::STREAMED_RUN };
    let streams = chain >= least || are_lines(part, out);
    if !streams && is_in_order(part) {
        scratch.give_rows(blocks);
        return rows(isa, part, src, out);
    }
    let carried = scratch.lines((blocks.carried() * LINE).max(LINE));
    let ends = src.as_ptr_range();
    let (from, to, run) = (src.as_ptr(), out.as_mut_ptr(), part.run as usize);
    let mut block = Some(blocks.first(part));
    while let Some(own) = block {
        blocks.list();
        block = blocks.next(part);
        let write = BlockWrite {
            blocks: &blocks,
            block: own,
            run,
            from: from.wrapping_offset(own.src as isize),
            to: to.wrapping_offset(own.dst as isize),
            source: (ends.start, ends.end),
            next: block.filter(|_| streams).map(|block| from.wrapping_offset(block.src as isize)),
            carried: carried.wrapping_add(own.carried * LINE),
            streams,
        };
        // SAFETY: every byte of the part is within the slices, one of which is exclusive, as was found before, and the
        // runs of a block are runs of the part; `carried` has a line for each segment of all unfinished blocks. The
        // machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), write) };
    }
    scratch.give_rows(blocks);
    #[cfg(target_arch = "x86_64")]
    super::x86_64::fence();
}

const LINE: usize = cost::LINE as usize;

/// The distance in bytes by which a long run is prefetched.
const AHEAD: usize = (cost::AHEAD * cost::LINE) as usize;

/// A block that is to be written.
pub(super) struct BlockWrite<'a> {
    pub(super) blocks: &'a Blocks,
    pub(super) block: RowBlock,
    /// The bytes of a run.
    pub(super) run: usize,
    /// The start of the block in the source and in the destination.
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// The whole source.
    pub(super) source: (*const u8, *const u8),
    /// The start of the next block in the source, if there is one.
    pub(super) next: Option<*const u8>,
    /// The lines that segments carry, beginning with this block's.
    pub(super) carried: *mut u8,
    /// True if lines are written past the caches.
    pub(super) streams: bool,
}

/// The meeting of two runs in a line: the first bytes of the line are those at `first`, and those from `second` on have
/// the same position in the line.
#[derive(Clone, Copy)]
struct Meet {
    first: *const u8,
    second: *const u8,
    /// The bytes of the first run, fewer than a line.
    count: usize,
    /// True if a whole line is readable at `first`, even outside the source.
    is_line: bool,
}

/// The lines ahead, which are prefetched one by one.
struct Ahead<'a> {
    lines: core::slice::Iter<'a, i64>,
    from: *const u8,
}

impl Ahead<'_> {
    #[inline(always)]
    fn one<V: Vector>(&mut self) {
        if let Some(line) = self.lines.next() {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }
}

impl Work for BlockWrite<'_> {
    /// Every byte that a run of the block reads or writes is readable or writable, and the two do not overlap; `source`
    /// is readable, and each run is in it; runs are no shorter than a line; there is a carried line for each segment,
    /// on a line, and it holds what the previous block left there.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        const { assert!(V::BYTES >= LINE / 4) };
        let lines = if self.next.is_some() { &self.blocks.prefetched[..] } else { &[] };
        let from = self.next.unwrap_or(self.from);
        let mut ahead = Ahead { lines: lines.iter(), from };
        for (i, segment) in self.blocks.segments.iter().enumerate() {
            // SAFETY: `# Safety` of `Work::with`: the requirements of `BlockWrite` hold for the block, so for each of
            // its segments; segment `i` has line `i` of `carried`.
            unsafe {
                if self.streams {
                    self.segment::<V>(segment, self.carried.wrapping_add(i * LINE), &mut ahead);
                } else {
                    self.plain::<V>(segment, &mut ahead);
                }
            }
        }
        // Runs that cross lines touch more lines than they fill.
        while !ahead.lines.as_slice().is_empty() {
            ahead.one::<V>();
        }
    }
}

impl BlockWrite<'_> {
    /// Writes the lines that end in a segment.
    ///
    /// # Safety
    /// Those of the block, for one of its segments and its carried line.
    #[inline(always)]
    unsafe fn segment<V: Vector>(&self, own: &Segment, carried: *mut u8, ahead: &mut Ahead<'_>) {
        let from = self.from.wrapping_offset(own.src as isize);
        let to = self.to.wrapping_offset(own.dst as isize);
        let over = to.addr() % LINE;
        let mut line = to.wrapping_sub(over);
        let mut at = 0;
        // SAFETY: `# Safety` of `segment`: every byte of its runs is readable and writable, and a run is no shorter
        // than a line. So the first line of the segment has bytes of one other run at most, the one before it, and
        // every other line has bytes of two runs at most. `over` and `count` are below a line. A part of a line is
        // written here only if the chain begins (`Before::Nothing`) or ends (`close`): no bytes of others are touched.
        unsafe {
            if over > 0 {
                let second = from.wrapping_sub(over);
                match self.blocks.before(&self.block, own) {
                    Before::Nothing => V::copy_short(from, to, LINE - over),
                    Before::Carried => {
                        let first = carried.cast_const();
                        self.join::<V, true>(
                            Meet { first, second, count: over, is_line: true },
                            line,
                        );
                    }
                    Before::Run(src) => {
                        let end = from.wrapping_offset(src as isize).wrapping_add(self.run);
                        let first = end.wrapping_sub(over);
                        self.join::<V, true>(
                            Meet { first, second, count: over, is_line: false },
                            line,
                        );
                    }
                }
                ahead.one::<V>();
                line = line.wrapping_add(LINE);
                at = LINE - over;
            }
            let mut rows = self.blocks.rows.iter().map(|row| from.wrapping_offset(*row as isize));
            let mut row = rows.next().unwrap_or(from);
            loop {
                let end = self.lines::<V>(row, at, line, ahead);
                line = line.wrapping_add(end - at);
                let count = self.run - end;
                let first = row.wrapping_add(end);
                let Some(next) = rows.next() else {
                    let rest = Meet { first, second: first, count, is_line: false };
                    self.close::<V>(own, rest, line, carried);
                    return;
                };
                row = next;
                at = 0;
                if count > 0 {
                    let second = row.wrapping_sub(count);
                    ahead.one::<V>();
                    self.join::<V, true>(Meet { first, second, count, is_line: false }, line);
                    line = line.wrapping_add(LINE);
                    at = LINE - count;
                }
            }
        }
    }

    /// Writes the whole lines of a run from byte `at` on; returns where they end.
    ///
    /// # Safety
    /// Those of the segment; the run is at `row`, and its byte `at` belongs at `to`, which is on a line.
    #[inline(always)]
    unsafe fn lines<V: Vector>(
        &self,
        row: *const u8,
        mut at: usize,
        to: *mut u8,
        ahead: &mut Ahead<'_>,
    ) -> usize {
        let (begin, is_long) = (at, self.blocks.is_long());
        while at + LINE <= self.run {
            if !is_long {
                ahead.one::<V>();
            } else if at + AHEAD < self.run {
                V::prefetch(row.wrapping_add(at + AHEAD));
            } else {
                V::prefetch(ahead.from.wrapping_add(at + AHEAD - self.run));
            }
            // SAFETY: `# Safety` of `lines`: byte `at` of the run belongs at `to`, which is on a line. The
            // condition of the loop says that a line of the run is left.
            unsafe { combine::stream_line::<V>(row.wrapping_add(at), to.wrapping_add(at - begin)) };
            at += LINE;
        }
        at
    }

    /// Writes the partial line at the end of a segment, or leaves it to the segment that continues there.
    ///
    /// # Safety
    /// Those of the segment; the first bytes of `rest` are the end of its last run and belong at `line`.
    #[inline(always)]
    unsafe fn close<V: Vector>(&self, own: &Segment, rest: Meet, line: *mut u8, carried: *mut u8) {
        if rest.count == 0 {
            return;
        }
        // SAFETY: `# Safety` of `close`: the first `rest.count` bytes of `rest` are readable and belong at
        // `line`; `count` is below a line. `carried` is a line of this segment's own.
        unsafe {
            if self.block.is_continued {
                self.join::<V, false>(rest, carried);
            } else if Blocks::is_end(&self.block, own) {
                V::copy_short(rest.first, line, rest.count);
            }
        }
    }

    /// Writes a line over two runs, past the caches or, unless `STREAMS`, to where it is carried.
    ///
    /// # Safety
    /// `count` bytes are readable at `first`. If `second` is not `first`, the bytes from `count` to the end of a line
    /// are readable at `second`. Both are within the source, unless `is_line` says that `first` is a carried line.
    /// `line` is writable and on a line. The machine has the instruction set of `V`.
    #[inline(always)]
    unsafe fn join<V: Vector, const STREAMS: bool>(&self, meet: Meet, line: *mut u8) {
        let Meet { mut first, mut second, count, is_line } = meet;
        let held;
        if !(is_line || self.has_line(first)) || !self.has_line(second) {
            // SAFETY: `# Safety` of `join`: what `bytes` reads of both runs is readable.
            held = unsafe { bytes(meet) };
            (first, second) = (held.as_ptr(), held.as_ptr());
        }
        for at in (0..LINE).step_by(V::BYTES) {
            // SAFETY: `# Safety` of `join`: `line` is writable and on a line. A whole line is readable at
            // `first` and at `second`: `is_line` says so, `has_line` found it within the source, or both were
            // put together above in `held`.
            unsafe {
                let own = V::load(first.wrapping_add(at));
                let rest = V::load(second.wrapping_add(at));
                let own = own.splice(rest, count.saturating_sub(at).min(V::BYTES));
                if STREAMS {
                    own.stream(line.add(at));
                } else {
                    own.store(line.add(at));
                }
            }
        }
    }

    /// Returns whether a line from here on is within the source.
    #[inline(always)]
    fn has_line(&self, at: *const u8) -> bool {
        at >= self.source.0 && at.wrapping_add(LINE) <= self.source.1
    }

    /// Copies the runs of a segment through the caches.
    ///
    /// # Safety
    /// Those of the segment.
    #[inline(always)]
    unsafe fn plain<V: Vector>(&self, own: &Segment, ahead: &mut Ahead<'_>) {
        let mut to = self.to.wrapping_offset(own.dst as isize);
        for row in &self.blocks.rows {
            let from = self.from.wrapping_offset((own.src + *row) as isize);
            // SAFETY: `# Safety` of `plain`: every run of the segment is readable and writable. `with` requires runs
            // that are no shorter than a line.
            unsafe { through::<V>(from, to, self.run, ahead) };
            to = to.wrapping_add(self.run);
        }
    }
}

/// Copies at least a line through the caches.
///
/// # Safety
/// `len` bytes, at least a line, at `from` are readable and at `to` writable, and the two do not overlap; the
/// machine has the instruction set of `V`.
#[inline(always)]
unsafe fn through<V: Vector>(from: *const u8, to: *mut u8, len: usize, ahead: &mut Ahead<'_>) {
    let mut at = 0;
    // SAFETY: `# Safety` of `through`: `len` bytes are readable and writable, and `len` is a line or more.
    // The last line ends where they end, and may overlap the one before.
    unsafe {
        while at + LINE < len {
            ahead.one::<V>();
            copy_line::<V>(from.add(at), to.add(at));
            at += LINE;
        }
        ahead.one::<V>();
        copy_line::<V>(from.add(len - LINE), to.add(len - LINE));
    }
}

/// Returns the bytes of a line over two runs.
///
/// # Safety
/// `count` bytes are readable at `first`. Where `second` is not `first`, the bytes from `count` to the end of
/// a line are readable at `second`.
#[cold]
unsafe fn bytes(meet: Meet) -> [u8; LINE] {
    let Meet { first, second, count, .. } = meet;
    let mut bytes = [0; LINE];
    // SAFETY: `# Safety` of `bytes`: `count` bytes at `first` are readable, and those from `count` on at
    // `second`, where `second` is not `first`. `count` is below a line.
    unsafe {
        core::ptr::copy_nonoverlapping(first, bytes.as_mut_ptr(), count);
        if first != second {
            let rest = second.wrapping_add(count);
            core::ptr::copy_nonoverlapping(rest, bytes.as_mut_ptr().add(count), LINE - count);
        }
    }
    bytes
}

/// Copies a line.
///
/// # Safety
/// A line at `from` is readable and at `to` writable; the machine has the instruction set of `V`.
#[inline(always)]
unsafe fn copy_line<V: Vector>(from: *const u8, to: *mut u8) {
    for at in (0..LINE).step_by(V::BYTES) {
        // SAFETY: `# Safety` of `copy_line`: a line at `from` is readable, and one at `to` is writable.
        unsafe { V::load(from.add(at)).store(to.add(at)) };
    }
}

/// Copies the runs of a packed part with elements of `bits` bits.
pub(super) fn bit_rows(part: &RegionRef<'_>, bits: u32, src: &[u8], out: &mut [u8]) {
    let bits = u64::from(bits);
    for_each(part.loops, part.src, part.dst, &mut |from, to| {
        copy_bits(src, from as u64 * bits, out, to as u64 * bits, part.run * bits);
    });
}

/// Copies `len` bits from bit `from` of `src` to bit `to` of `out`.
pub(super) fn copy_bits(src: &[u8], mut from: u64, out: &mut [u8], mut to: u64, mut len: u64) {
    let head = ((8 - to % 8) % 8).min(len);
    put_bits(out, to, head, get_bits(src, from, head));
    (from, to, len) = (from + head, to + head, len - head);
    let bytes = (len / 8) as usize;
    let target = &mut out[(to / 8) as usize..][..bytes];
    copy_bytes(&src[(from / 8) as usize..], (from % 8) as u32, target);
    (from, to, len) = (from + bytes as u64 * 8, to + bytes as u64 * 8, len % 8);
    put_bits(out, to, len, get_bits(src, from, len));
}

/// Fills `target` from the bits of `src` from bit `phase` on.
fn copy_bytes(src: &[u8], phase: u32, target: &mut [u8]) {
    if phase == 0 {
        target.copy_from_slice(&src[..target.len()]);
        return;
    }
    for (byte, pair) in target.iter_mut().zip(src.windows(2)) {
        *byte = pair[0] >> phase | pair[1] << (8 - phase);
    }
}

/// Returns up to 8 bits from bit `at` on.
#[inline]
pub(super) fn get_bits(src: &[u8], at: u64, len: u64) -> u8 {
    if len == 0 {
        return 0;
    }
    let (byte, phase) = ((at / 8) as usize, at % 8);
    let mut bits = u16::from(src[byte]);
    if phase + len > 8 {
        bits |= u16::from(src[byte + 1]) << 8;
    }
    (bits >> phase) as u8
}

/// Writes up to 8 bits, all within one byte, at bit `at`.
#[inline]
pub(super) fn put_bits(out: &mut [u8], at: u64, len: u64, bits: u8) {
    if len == 0 {
        return;
    }
    let (byte, phase) = ((at / 8) as usize, at % 8);
    let mask = ((1u16 << len) - 1) as u8;
    out[byte] = out[byte] & !(mask << phase) | (bits & mask) << phase;
}
