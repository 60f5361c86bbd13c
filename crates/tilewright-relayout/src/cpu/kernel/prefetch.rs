//! Prefetching of source lines while another part is moved.

use super::{
    enter::{Work, enter},
    isa::Isa,
    vector::Vector,
};
use crate::cpu::cost;
use core::cell::Cell;

const LINE: usize = cost::LINE as usize;

/// A list of lines that are prefetched in order, spread evenly over the bytes that are moved meanwhile.
pub(crate) struct Prefetch<'a> {
    /// The byte from which the lines are counted.
    from: *const u8,
    lines: &'a [i64],
    /// The lines for each byte moved, as a fraction with denominator 2²⁰.
    rate: u64,
    moved: Cell<u64>,
    done: Cell<usize>,
}

impl<'a> Prefetch<'a> {
    /// Returns the prefetch of the lines relative to byte `at` of a source, spread over a move of `moved` bytes.
    pub(crate) fn of(src: &[u8], at: i64, lines: &'a [i64], moved: usize) -> Prefetch<'a> {
        let from = src.as_ptr().wrapping_offset(at as isize);
        let rate = ((lines.len() as u64) << 20).div_ceil(moved.max(1) as u64);
        Prefetch { from, lines, rate, moved: Cell::new(0), done: Cell::new(0) }
    }

    /// Prefetches all remaining lines.
    pub(crate) fn all(&self, isa: Isa) {
        let lines = &self.lines[self.done.get().min(self.lines.len())..];
        // SAFETY: the work only prefetches lines; the machine has the instruction set, as `Isa::chosen` and its callers
        // make sure.
        unsafe { enter(isa, isa.register(), All { from: self.from, lines }) };
    }

    /// Returns the lines that are due while `bytes` bytes are moved.
    #[inline(always)]
    fn next(&self, bytes: usize) -> &'a [i64] {
        self.moved.set(self.moved.get() + bytes as u64);
        let until = (self.moved.get().saturating_mul(self.rate) >> 20) as usize;
        let next = self.done.get()..until.min(self.lines.len());
        self.done.set(next.end);
        &self.lines[next]
    }
}

/// All lines of a list.
struct All<'a> {
    from: *const u8,
    lines: &'a [i64],
}

impl Work for All<'_> {
    /// Nothing further is required: prefetched lines need not be mapped.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for line in self.lines {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }
}

/// The prefetches that accompany writes.
pub(super) struct Prefetches<'a> {
    /// Lines that another region reads; they replace `lines`.
    other: Option<&'a Prefetch<'a>>,
    from: *const u8,
    lines: core::slice::Iter<'a, i64>,
}

impl<'a> Prefetches<'a> {
    pub(super) fn none() -> Prefetches<'a> {
        Prefetches { other: None, from: core::ptr::null(), lines: [].iter() }
    }

    /// Returns prefetches of `other`, or of the lines relative to `from`.
    #[inline(always)]
    pub(super) fn of(
        other: Option<&'a Prefetch<'a>>,
        from: *const u8,
        lines: &'a [i64],
    ) -> Prefetches<'a> {
        Prefetches { other, from, lines: lines.iter() }
    }

    /// Prefetches the lines that are due while `lines` lines are written.
    #[inline(always)]
    pub(super) fn some<V: Vector>(&mut self, lines: usize) {
        if let Some(prefetch) = self.other {
            prefetch.next(lines * LINE).iter().for_each(|line| {
                V::prefetch(prefetch.from.wrapping_offset(*line as isize));
            });
            return;
        }
        for line in self.lines.by_ref().take(lines) {
            V::prefetch(self.from.wrapping_offset(*line as isize));
        }
    }

    /// Prefetches the remaining lines.
    #[inline(always)]
    pub(super) fn rest<V: Vector>(&mut self) {
        if self.other.is_none() {
            self.some::<V>(self.lines.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_asked_for_in_order_by_the_time_a_block_is_moved() {
        let all: Vec<i64> = (0..1000).collect();
        for (count, moved) in [(0, 640), (7, 6400), (100, 6400), (101, 6400), (1000, 6400), (9, 10)]
        {
            for bytes in [16, 32, 64, 128, 1024] {
                let (lines, mut prefetched) = (&all[..count], Vec::<i64>::new());
                let prefetch = Prefetch::of(&[], 0, lines, moved);
                (0..moved.div_ceil(bytes)).for_each(|_| prefetched.extend(prefetch.next(bytes)));
                assert_eq!(prefetched, lines, "{moved} bytes, {bytes} at a time");
                assert!(prefetch.next(bytes).is_empty());
            }
        }
    }
}
