//! Elements one by one, at offsets from tables.

use super::{Codec, bits, line};
use crate::{
    Elements,
    program::walk::{Leaf, Pair},
};

/// Moves a leaf from `src` to `out`, its offsets, in elements, shifted on either side.
pub(crate) fn table(elements: Elements, leaf: &Leaf<'_>, shift: Pair, src: &[u8], out: &mut [u8]) {
    let Elements { src_bits, dst_bits, .. } = elements;
    let leaf = &Shifted { leaf: *leaf, shift };
    let run = leaf.leaf.run;
    if !elements.are_same() {
        return convert(elements, leaf, src, out);
    }
    if src_bits < 8 {
        let bits = u64::from(dst_bits);
        if run == 1 {
            // An element lies within one byte.
            return each(leaf, |from, to| {
                bits::put(out, to as u64 * bits, bits, bits::get(src, from as u64 * bits, bits));
            });
        }
        return each(leaf, |from, to| {
            bits::copy(src, from as u64 * bits, out, to as u64 * bits, run * bits);
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

/// A leaf, and by how much its offsets are shifted on either side.
struct Shifted<'a> {
    leaf: Leaf<'a>,
    shift: Pair,
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
    each(leaf, |from, to| {
        let (from, to) = (from as usize * width, to as usize * width);
        out[to..to + N].copy_from_slice(&src[from..from + N]);
    });
}

/// Unpacks and packs elements, whose widths differ.
fn convert(elements: Elements, leaf: &Shifted<'_>, src: &[u8], out: &mut [u8]) {
    let (codec, mut row) = (Codec::Packed(elements), [[0; 4]]);
    each(leaf, |from, to| {
        for i in 0..leaf.leaf.run as i64 {
            line::load(codec, src, from + i, 1, &mut row);
            line::store(codec, out, to + i, 1, &row);
        }
    });
}
