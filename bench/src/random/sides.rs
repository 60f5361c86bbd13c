//! Layouts as in practice, as SPECs: axes in any order, dense, padded, strided or reversed, and tiles of the catalogue.

use super::dice::Dice;

/// A tiled layout: its share among those that fit, the ranks and widths in bytes that it fits, and its SPEC, in which
/// `ORDER` is any order of the axes.
struct Tiled {
    share: u64,
    ranks: &'static [usize],
    widths: &'static [u64],
    spec: &'static str,
}

const ANY: &[usize] = &[2, 3, 4, 5, 6, 7];
const ALL: &[u64] = &[1, 2, 4, 8, 16];

const fn tiled(
    share: u64,
    ranks: &'static [usize],
    widths: &'static [u64],
    spec: &'static str,
) -> Tiled {
    Tiled { share, ranks, widths, spec }
}

const TILED: [Tiled; 35] = [
    tiled(8, ANY, ALL, "zN"),
    tiled(5, ANY, ALL, "nZ"),
    tiled(5, ANY, ALL, "zZ"),
    tiled(2, ANY, ALL, "nN"),
    tiled(8, ANY, ALL, "{ORDER:T(8,128)}"),
    tiled(8, ANY, &[2], "{ORDER:T(8,128)(2,1)}"),
    tiled(5, ANY, &[1], "{ORDER:T(32,128)(4,1)}"),
    tiled(3, ANY, &[1, 2], "{ORDER:T(8,128)(4,1)}"),
    tiled(2, ANY, ALL, "{ORDER:T(16,16)}"),
    tiled(2, ANY, ALL, "{ORDER:T(32,32)}"),
    tiled(1, ANY, ALL, "{ORDER:T(3,4)}"),
    tiled(1, ANY, ALL, "{ORDER:T(1024)}"),
    tiled(1, &[3, 4, 5], ALL, "{ORDER:T(8,*,128)}"),
    tiled(3, ANY, &[1, 2, 4], "TT_TILE"),
    tiled(3, ANY, &[1, 2], "VNNI"),
    tiled(4, &[2], &[1], "COL32"),
    tiled(3, &[2], &[1], "COL4_4R2_8C"),
    tiled(2, &[2], &[1], "NVFP4_SCALE"),
    tiled(3, &[2], &[1, 2, 4], "AMX_A"),
    tiled(3, &[2], &[1, 2, 4], "AMX_B"),
    tiled(4, &[2], &[1], "BA16a64b4a"),
    tiled(3, &[2], &[2, 4], "BA16a16b"),
    tiled(3, &[3], &[1, 2, 4], "aBc16b"),
    tiled(3, &[3], &[2, 4], "aCB16c2b"),
    tiled(7, &[4], &[1, 2, 4, 8], "NC1HWC0"),
    tiled(6, &[4], &[1, 2, 4], "aBcd16b"),
    tiled(4, &[4], &[1, 2, 4], "aBcd8b"),
    tiled(6, &[4], &[1, 2, 4], "OIhw4i16o4i"),
    tiled(4, &[4], &[2, 4], "OIhw16i16o"),
    tiled(3, &[4], &[1], "NC4HW4"),
    tiled(3, &[4], &[1], "NC32HW32"),
    tiled(3, &[4], &[1, 2, 4], "FRACTAL_Z"),
    tiled(4, &[5], &[1, 2, 4], "NDC1HWC0"),
    tiled(4, &[5], &[1, 2, 4], "aBcde16b"),
    tiled(3, &[5], &[1, 2, 4], "gOIhw16i16o"),
];

/// An order of the axes, the slowest first.
pub(super) type Order = Vec<usize>;

/// Returns the axes in ascending order.
pub(super) fn counted(rank: usize) -> Order {
    (0..rank).collect()
}

/// Returns another order of these axes: most often two groups of adjacent axes are swapped, as in a transpose, a change
/// of channels or an exchange of heads and tokens; else all are reversed, or shuffled.
pub(super) fn other(dice: &mut Dice, order: &[usize]) -> Order {
    match dice.below(100) {
        0..65 => exchanged(dice, order),
        65..75 => order.iter().rev().copied().collect(),
        _ => dice.shuffled(order.len()).into_iter().map(|at| order[at]).collect(),
    }
}

/// Changes `a b c d` to `a c b d`; `a` and `d` may be empty.
fn exchanged(dice: &mut Dice, order: &[usize]) -> Order {
    let rank = order.len();
    let mut cuts: Vec<usize> = dice.shuffled(rank + 1).into_iter().take(3).collect();
    cuts.sort();
    let [first, middle, last] = cuts[..] else { return order.to_vec() };
    [&order[..first], &order[middle..last], &order[first..middle], &order[last..]].concat()
}

/// Returns a dense layout in this order.
pub(super) fn dense(order: &[usize]) -> String {
    match order.is_sorted() {
        true => "row-major".to_owned(),
        false => format!("{{{}}}", minor_to_major(order)),
    }
}

fn minor_to_major(order: &[usize]) -> String {
    let axes: Vec<String> = order.iter().rev().map(usize::to_string).collect();
    axes.join(",")
}

/// The kind of a side that is not dense.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loose {
    /// Padding after each run of the fastest axis.
    Padded,
    /// Only every nth element of the fastest axis.
    Strided,
    /// Some axes from the last element to the first.
    Reversed,
}

/// Returns a layout that is not dense, in this order, with strides as a CuTe layout.
pub(super) fn loose(dice: &mut Dice, order: &[usize], dims: &[u64], how: Loose) -> String {
    let mut strides = vec![0_i64; dims.len()];
    let mut offset = 0;
    let mut span = match how {
        Loose::Strided => dice.share(&[(6, 2), (2, 3), (2, 4)]),
        Loose::Padded | Loose::Reversed => 1,
    };
    let reversed = dice.below(1 << dims.len()).max(1);
    for (place, axis) in order.iter().rev().enumerate() {
        let stride = span;
        span *= dims[*axis];
        if place == 0 && matches!(how, Loose::Padded) {
            span = pitch(dice, span);
        }
        strides[*axis] = stride as i64;
        if matches!(how, Loose::Reversed) && reversed >> place & 1 == 1 {
            strides[*axis] = -(stride as i64);
            offset += stride * (dims[*axis] - 1);
        }
    }
    let list = |all: Vec<String>| all.join(",");
    let extents = list(dims.iter().map(u64::to_string).collect());
    let strides = list(strides.iter().map(i64::to_string).collect());
    let offset = if offset == 0 { String::new() } else { format!("+{offset}") };
    format!("({extents}):({strides}){offset} capacity {span}")
}

/// Returns the distance in elements between the starts of two rows, for rows of `row` elements.
fn pitch(dice: &mut Dice, row: u64) -> u64 {
    match dice.below(3) {
        0 => row + dice.one(&[1, 2, 3, 4, 8, 16]),
        1 => (row + 1).next_multiple_of(dice.one(&[8, 16, 32, 64])),
        _ => (row + 1).next_multiple_of(128),
    }
}

/// Returns a tiled layout that fits the rank and the width; its axes are in this order if its SPEC leaves that open.
pub(super) fn tile(dice: &mut Dice, order: &[usize], width: u64) -> String {
    let fits = |tiled: &&Tiled| tiled.ranks.contains(&order.len()) && tiled.widths.contains(&width);
    let found: Vec<(u64, &str)> =
        TILED.iter().filter(fits).map(|tiled| (tiled.share, tiled.spec)).collect();
    dice.share(&found).replace("ORDER", &minor_to_major(order))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;

    #[test]
    fn other_orders_are_orders() {
        let mut dice = Dice::new(4, 0);
        for rank in 2..=7 {
            for _ in 0..50 {
                let mut order = other(&mut dice, &counted(rank));
                order.sort();
                assert_eq!(order, counted(rank));
            }
        }
        assert_eq!((dense(&[0, 1, 2]), dense(&[1, 2, 0])), ("row-major".into(), "{0,2,1}".into()));
    }

    #[test]
    fn every_tile_is_read() {
        for tiled in TILED {
            for rank in tiled.ranks {
                for width in tiled.widths {
                    let dims: Vec<u64> = (0..*rank as u64).map(|at| 3 + at).collect();
                    let order = minor_to_major(&counted(*rank));
                    let spec = tiled.spec.replace("ORDER", &order);
                    let dtype = super::super::dtype(*width);
                    let case = Case::given(dtype, "row-major", &spec, &dims);
                    assert!(case.is_ok(), "{spec}, {width} bytes, {dims:?}: {case:?}");
                }
            }
        }
    }

    #[test]
    fn loose_sides_hold_every_element_once() {
        let mut dice = Dice::new(5, 0);
        for how in [Loose::Padded, Loose::Strided, Loose::Reversed] {
            for _ in 0..20 {
                let order = dice.shuffled(3);
                let spec = loose(&mut dice, &order, &[3, 4, 5], how);
                let case = Case::given("f32", "row-major", &spec, &[3, 4, 5]).unwrap();
                assert_eq!(case.src().size(), 60);
                assert_ne!(case.to(), "row-major");
            }
        }
    }
}
