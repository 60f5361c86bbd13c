//! The fill of the padding: the positions of the destination that hold no element.

use crate::{Elements, Gap, Program, cpu::cost};
use core::ops::Range;

/// Fills the destination bytes from `start` on with the low bits of `fill`.
pub(crate) fn fill(elements: Elements, fill: u128, start: u64, out: &mut [u8]) {
    repeat(pattern(elements.dst_bits, fill, &mut [0; WIDEST]), start, out);
}

/// Repeats a pattern, which begins at byte 0 of the destination, from byte `start` on.
fn repeat(pattern: &[u8], start: u64, out: &mut [u8]) {
    if pattern.iter().all(|&byte| byte == pattern[0]) {
        out.fill(pattern[0]);
        return;
    }
    let width = pattern.len();
    let phase = (start % width as u64) as usize;
    let (first, rest) = out.split_at_mut(((width - phase) % width).min(out.len()));
    first.copy_from_slice(&pattern[phase..][..first.len()]);
    for element in rest.chunks_mut(width) {
        element.copy_from_slice(&pattern[..element.len()]);
    }
}

/// Fills the parts of the gaps in the destination bytes `range`, which `out` holds, and nothing else.
pub(crate) fn fill_gaps(
    elements: Elements,
    fill: u128,
    gaps: &[Gap],
    range: &Range<u64>,
    out: &mut [u8],
) {
    if gaps.is_empty() {
        return;
    }
    let (bits, mut room) = (u64::from(elements.dst_bits), [0; WIDEST]);
    let pattern = pattern(elements.dst_bits, fill, &mut room);
    for gap in gaps {
        if gap.packed {
            let units = range.start * 8 / bits..range.end * 8 / bits;
            gap.runs_in(units, &mut |run| {
                let bit = |unit: u64| (unit * bits - range.start * 8) as usize;
                put_bits(pattern[0], bit(run.start)..bit(run.end), out);
            });
        } else {
            gap.runs_in(range.clone(), &mut |run| {
                let at = |byte: u64| (byte - range.start) as usize;
                repeat(pattern, run.start, &mut out[at(run.start)..at(run.end)]);
            });
        }
    }
}

/// Returns whether filling the gaps of a destination of `bytes` bytes is less work than filling the whole destination
/// before its elements are written. A run shorter than a line costs the line twice: the line is read before the write,
/// and its elements are written later.
pub(crate) fn are_sparse(gaps: &[Gap], elements: Elements, bytes: u64) -> bool {
    let line = u128::from(cost::LINE);
    let cost = |gap: &Gap| {
        let bits = if gap.packed { elements.dst_bits } else { 8 };
        let run = u128::from(gap.run) * u128::from(bits) / 8;
        let runs = u128::from(gap.size() / gap.run);
        runs * if run < 4 * line { run + 2 * line } else { run }
    };
    gaps.iter().map(cost).sum::<u128>() < u128::from(bytes)
}

/// Sets some bits to the bits of `byte` at the same positions.
fn put_bits(byte: u8, bits: Range<usize>, out: &mut [u8]) {
    let mut at = bits.start;
    while at < bits.end {
        let end = bits.end.min((at / 8 + 1) * 8);
        let mask = (((1u16 << (end - at)) - 1) << (at % 8)) as u8;
        let to = &mut out[at / 8];
        *to = *to & !mask | byte & mask;
        at = end;
    }
}

/// The bytes of the widest element.
const WIDEST: usize = 256;

/// Returns the bytes of one element, or one byte of packed elements.
fn pattern(bits: u32, fill: u128, room: &mut [u8; WIDEST]) -> &[u8] {
    if bits >= 8 {
        let bytes = fill.to_le_bytes();
        room[..bytes.len()].copy_from_slice(&bytes);
        return &room[..bits as usize / 8];
    }
    let element = (fill & ((1 << bits) - 1)) as u8;
    room[0] = (0..8 / bits).fold(0, |byte, i| byte | element << (i * bits));
    &room[..1]
}

/// Clears the bits after the last element, if `out` ends the destination and the whole destination is written.
pub(crate) fn clear_tail(program: &Program, end: u64, out: &mut [u8]) {
    let (bits, capacity) = (program.elements().dst_bits, program.dst().capacity());
    if bits >= 8 || program.is_part() {
        return;
    }
    let all = capacity * u64::from(bits);
    if !all.is_multiple_of(8)
        && end == all.div_ceil(8)
        && let Some(last) = out.last_mut()
    {
        *last &= (1 << (all % 8)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GapLoop;
    use tilewright_core::{Fractal, TensorLayout};

    #[test]
    fn gaps_of_any_range_get_the_fill_and_elements_stay() {
        for bits in [1, 2, 4, 8, 24, 192] {
            for (a, b) in [(4, 4), (3, 5), (2, 16)] {
                let src = TensorLayout::row_major(&[7, 9]).unwrap();
                let dst = Fractal::ZN.pattern(a, b).layout(&[7, 9]).unwrap();
                let fill = 0x0123_4567_89AB_CDEF_1122_3344_5566_77E5;
                let program = Program::new(&src, &dst, Elements::same(bits), fill).unwrap();
                let gaps = program.gaps().unwrap();
                // The expected result: an array of ones whose gaps are filled.
                let mut ones = vec![0; program.dst_bytes() as usize];
                let plan = crate::Plan::new(&src, &dst, Elements::same(bits), fill).unwrap();
                plan.run(&vec![0xFF; program.src_bytes() as usize], &mut ones, 1).unwrap();
                for step in [1, 5, 64, 10_000] {
                    let mut out = vec![0xFF; ones.len()];
                    for (i, part) in out.chunks_mut(step).enumerate() {
                        let start = (i * step) as u64;
                        let range = start..start + part.len() as u64;
                        fill_gaps(Elements::same(bits), fill, gaps, &range, part);
                        clear_tail(&program, range.end, part);
                    }
                    assert!(out == ones, "{bits} {a}x{b} {step}\n{out:x?}\n{ones:x?}");
                }
            }
        }
    }

    #[test]
    fn gaps_are_filled_alone_where_they_are_few_or_long() {
        let gap = |extent, stride, run| Gap {
            packed: false,
            dst: stride - run,
            run,
            loops: vec![GapLoop { extent, stride }],
        };
        let sparse = |gap: Gap, bytes| are_sparse(&[gap], Elements::same(8), bytes);
        // The gaps: a fourth byte after every three; half of every line; a tenth of every row; half of all pages.
        assert!(!sparse(gap(1000, 4, 1), 4000));
        assert!(!sparse(gap(1000, 64, 32), 64_000));
        assert!(sparse(gap(1000, 1000, 100), 1_000_000));
        assert!(sparse(gap(1000, 8192, 4096), 8_192_000));
        assert!(are_sparse(&[], Elements::same(8), 1));
    }
}
