//! Moves of single elements by tables of their offsets in the source and in the destination.

use super::{Codec, gather};
use crate::{
    Elements,
    cpu::kernel::rows,
    program::walk::{Leaf, Offsets},
};

/// Moves a leaf from `src` to `out`; `shift` is added to its offsets on each side, in elements.
pub(crate) fn table(
    elements: Elements,
    leaf: &Leaf<'_>,
    shift: Offsets,
    src: &[u8],
    out: &mut [u8],
) {
    let Elements { src_bits, dst_bits, .. } = elements;
    let leaf = &Shifted { leaf: *leaf, shift };
    let run = leaf.leaf.run;
    if !elements.are_same() {
        return convert(elements, leaf, src, out);
    }
    if src_bits < 8 {
        let bits = u64::from(dst_bits);
        if run == 1 {
            // An element is within one byte.
            return each(leaf, |from, to| {
                rows::put_bits(
                    out,
                    to as u64 * bits,
                    bits,
                    rows::get_bits(src, from as u64 * bits, bits),
                );
            });
        }
        return each(leaf, |from, to| {
            rows::copy_bits(src, from as u64 * bits, out, to as u64 * bits, run * bits);
        });
    }
    let width = src_bits as usize / 8;
    match width * run as usize {
        1 => lanes::<1>(width, leaf, src, out),
        2 => lanes::<2>(width, leaf, src, out),
        3 => lanes::<3>(width, leaf, src, out),
        4 => lanes::<4>(width, leaf, src, out),
        6 => lanes::<6>(width, leaf, src, out),
        8 => lanes::<8>(width, leaf, src, out),
        12 => lanes::<12>(width, leaf, src, out),
        16 => lanes::<16>(width, leaf, src, out),
        32 => lanes::<32>(width, leaf, src, out),
        64 => lanes::<64>(width, leaf, src, out),
        bytes => each(leaf, |from, to| {
            let (from, to) = (from as usize * width, to as usize * width);
            out[to..to + bytes].copy_from_slice(&src[from..from + bytes]);
        }),
    }
}

/// A leaf, and the shifts of its offsets on each side.
struct Shifted<'a> {
    leaf: Leaf<'a>,
    shift: Offsets,
}

/// Calls `f` with the offsets of each entry.
#[inline(always)]
fn each(shifted: &Shifted<'_>, mut f: impl FnMut(i64, i64)) {
    let Shifted { leaf, shift } = shifted;
    for &(src, dst) in leaf.outer {
        let (src, dst) = (src + shift.0, dst + shift.1);
        for &(from, to) in leaf.inner {
            f(src + from, dst + to);
        }
    }
}

/// Moves `N` bytes for each entry.
fn lanes<const N: usize>(width: usize, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    // For few rows, checking the bounds of both tables takes longer than checking each entry.
    if leaf.leaf.outer.len() < 4 || !leaf.is_within(width, N, src.len(), out.len()) {
        return each(leaf, |from, to| {
            let (from, to) = (from as usize * width, to as usize * width);
            out[to..to + N].copy_from_slice(&src[from..from + N]);
        });
    }
    // SAFETY: `is_within` has found every entry's `N` bytes within `src` and `out`.
    unsafe {
        if width == N { moved::<N>(N, leaf, src, out) } else { moved::<N>(width, leaf, src, out) }
    }
}

/// Moves `N` bytes for each entry, without checking the ends of the buffers.
///
/// # Safety
/// From each entry on, scaled by `width`, there are `N` bytes in `src` and in `out`.
#[inline(always)]
unsafe fn moved<const N: usize>(width: usize, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    let scaled = |at: i64| at as isize * width as isize;
    let (from, to) = (src.as_ptr(), out.as_mut_ptr());
    for &(src, dst) in leaf.leaf.outer {
        let from = from.wrapping_offset(scaled(src + leaf.shift.0));
        let to = to.wrapping_offset(scaled(dst + leaf.shift.1));
        for &(src, dst) in leaf.leaf.inner {
            let (from, to) = (from.wrapping_offset(scaled(src)), to.wrapping_offset(scaled(dst)));
            // SAFETY: `# Safety` of `moved`: there are `N` bytes in `src` and in `out` from the sum of both entries on.
            // The sides are a shared and an exclusive slice, so they do not overlap.
            unsafe {
                to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned())
            };
        }
    }
}

impl Shifted<'_> {
    /// Returns whether `bytes` bytes from each entry on are within buffers of these lengths.
    fn is_within(&self, width: usize, bytes: usize, src: usize, dst: usize) -> bool {
        let (outer, inner) = (Bounds::of(self.leaf.outer), Bounds::of(self.leaf.inner));
        let fits = |low: i128, high: i128, len: usize| {
            low >= 0 && high * width as i128 + bytes as i128 <= len as i128
        };
        let sum = |a: i64, b: i64, shift: i64| i128::from(a) + i128::from(b) + i128::from(shift);
        let (a, b) = self.shift;
        fits(sum(outer.low.0, inner.low.0, a), sum(outer.high.0, inner.high.0, a), src)
            && fits(sum(outer.low.1, inner.low.1, b), sum(outer.high.1, inner.high.1, b), dst)
    }
}

/// The lowest and the highest offset of a table on each side.
struct Bounds {
    low: Offsets,
    high: Offsets,
}

impl Bounds {
    fn of(table: &[Offsets]) -> Bounds {
        let mut bounds = Bounds { low: (0, 0), high: (0, 0) };
        if let Some(&first) = table.first() {
            (bounds.low, bounds.high) = (first, first);
        }
        for pair in table {
            bounds.low = (bounds.low.0.min(pair.0), bounds.low.1.min(pair.1));
            bounds.high = (bounds.high.0.max(pair.0), bounds.high.1.max(pair.1));
        }
        bounds
    }
}

/// Unpacks or packs elements whose widths differ.
fn convert(elements: Elements, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    let (codec, mut row) = (Codec::Packed(elements), [[0; 4]]);
    each(leaf, |from, to| {
        for i in 0..leaf.leaf.run as i64 {
            gather::load(codec, src, from + i, 1, &mut row);
            gather::store(codec, out, to + i, 1, &row);
        }
    });
}
