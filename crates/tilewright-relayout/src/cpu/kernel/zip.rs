//! A few rows joined element by element into one, or one row dealt out to a few: pairs and quads of rows
//! inside a tile, the three channels of an image.

use crate::program::region::Loop;

/// The most rows that are joined or dealt out at once.
pub(super) const MOST: usize = 16;

/// Two loops and how many turns of each are taken.
pub(super) struct Pair<'a> {
    /// The loop that is contiguous in the source.
    pub(super) s: &'a Loop,
    /// The loop that is contiguous in the destination.
    pub(super) d: &'a Loop,
    pub(super) count: (usize, usize),
}

impl Pair<'_> {
    /// Whether one loop is short and the other goes on where it ends: a few rows become one, or one
    /// row becomes a few.
    pub(super) fn is_zip<const W: usize>(&self) -> bool {
        let (w, (s, d)) = (W as i64, self.count);
        let joins = d <= MOST && self.d.dst == w && self.s.dst == d as i64 * w;
        let parts = s <= MOST && self.s.src == w && self.d.src == s as i64 * w;
        (joins && self.s.src == w) || (parts && self.d.dst == w)
    }
}

/// Moves a pair of loops of which one is short and the other goes on where it ends.
pub(super) fn zip<const W: usize>(pair: &Pair<'_>, src: &[u8], from: i64, out: &mut [u8], to: i64) {
    let (s, d) = pair.count;
    let joins = pair.d.dst == W as i64 && pair.s.dst == (d * W) as i64 && pair.s.src == W as i64;
    if joins && d <= MOST {
        let row = |i: usize| elements::<W>(src, from + i as i64 * pair.d.src, s);
        let joined = out[to as usize..][..s * d * W].as_chunks_mut::<W>().0;
        return match d {
            2 => join::<W, 2>(joined, row),
            3 => join::<W, 3>(joined, row),
            4 => join::<W, 4>(joined, row),
            8 => join::<W, 8>(joined, row),
            _ => (0..d).for_each(|i| spread(row(i), joined, i, d)),
        };
    }
    let dealt = elements::<W>(src, from, s * d);
    for j in 0..s {
        let row = &mut out[(to + j as i64 * pair.s.dst) as usize..][..d * W];
        let row = row.as_chunks_mut::<W>().0;
        match s {
            2 => deal::<W, 2>(dealt, row, j),
            3 => deal::<W, 3>(dealt, row, j),
            4 => deal::<W, 4>(dealt, row, j),
            8 => deal::<W, 8>(dealt, row, j),
            _ => row.iter_mut().zip(dealt.chunks_exact(s)).for_each(|(to, from)| *to = from[j]),
        }
    }
}

fn elements<const W: usize>(bytes: &[u8], at: i64, count: usize) -> &[[u8; W]] {
    bytes[at as usize..][..count * W].as_chunks::<W>().0
}

/// Element `i` of every group of `N` comes from row `i`.
fn join<'a, const W: usize, const N: usize>(
    to: &mut [[u8; W]],
    row: impl Fn(usize) -> &'a [[u8; W]],
) {
    let groups = to.as_chunks_mut::<N>().0;
    let rows: [&[[u8; W]]; N] = core::array::from_fn(|i| &row(i)[..groups.len()]);
    for (j, group) in groups.iter_mut().enumerate() {
        for i in 0..N {
            group[i] = rows[i][j];
        }
    }
}

fn spread<const W: usize>(row: &[[u8; W]], to: &mut [[u8; W]], i: usize, count: usize) {
    for (group, element) in to.chunks_exact_mut(count).zip(row) {
        group[i] = *element;
    }
}

/// Element `j` of every group of `N`.
fn deal<const W: usize, const N: usize>(from: &[[u8; W]], to: &mut [[u8; W]], j: usize) {
    for (element, group) in to.iter_mut().zip(from.as_chunks::<N>().0) {
        *element = group[j];
    }
}
