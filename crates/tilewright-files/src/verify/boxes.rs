//! Cuts an array into boxes of coordinates, so that the bytes of a box are long contiguous ranges on both sides. Comparisons and
//! readers use it.
//!
//! Law: the boxes contain every coordinate once. Their shape only affects speed.

use std::ops::Range;

use tilewright_core::TensorLayout;
use tilewright_relayout::{Areas, DimDigit, box_extents};

use crate::{
    Error,
    verify::digits::{OffsetDigit, digits},
};

/// The coordinates of a box: a range for each dim.
pub(crate) type Area = Vec<Range<u64>>;

/// Cuts coordinates of an array into boxes of at most `most` elements for two layouts with the same, non-empty extents, in the
/// storage order of the second. `scattered` tells of each dim whether only all of its indices are contiguous; it may be empty.
pub(crate) fn boxes(
    layouts: [&TensorLayout; 2],
    scattered: [&[bool]; 2],
    (area, most): (&Area, u64),
) -> Result<impl Iterator<Item = Area> + Send + use<>, tilewright_core::Error> {
    let extents: Vec<u64> = area.iter().map(|range| range.end - range.start).collect();
    let sides = sides(layouts, scattered, (&extents, most))?;
    let starts: Vec<u64> = area.iter().map(|range| range.start).collect();
    let moved = move |mut area: Area| {
        for (range, start) in area.iter_mut().zip(&starts) {
            *range = range.start + start..range.end + start;
        }
        area
    };
    Ok(Areas::new(extents, sides, by_stride(layouts[1])?).map(moved))
}

/// Returns the extents of such a box in an array of `extents`.
fn sides(
    layouts: [&TensorLayout; 2],
    scattered: [&[bool]; 2],
    (extents, most): (&[u64], u64),
) -> Result<Vec<u64>, tilewright_core::Error> {
    let [a, b] = [0, 1].map(|side| stored(layouts[side], scattered[side]));
    Ok(box_extents(extents, [&a?, &b?], most))
}

/// Returns the number of coordinates of a box.
pub(crate) fn size(area: &Area) -> u64 {
    area.iter().map(|range| range.end - range.start).product()
}

/// Returns a coordinate of a part of a box that is searched, if there is one.
pub(crate) type Among<'a> = &'a mut dyn FnMut(&Area) -> Result<Option<Vec<u64>>, Error>;

/// Returns the first coordinate of a box, in row-major order, that is searched. `found` is not before it, and `among` returns a
/// coordinate of a part of the box that is not before the first one there, if there is one. Each part is half of the coordinates
/// before the known one, so all parts together are less than the box.
pub(crate) fn first(
    mut area: Area,
    mut found: Vec<u64>,
    among: Among<'_>,
) -> Result<Vec<u64>, Error> {
    for dim in 0..area.len() {
        loop {
            let start = area[dim].start;
            area[dim].end = found[dim] + 1;
            if found[dim] == start {
                break;
            }
            let mut low = area.clone();
            low[dim].end = start.midpoint(area[dim].end);
            match among(&low)? {
                Some(lower) => found = lower,
                None => area[dim].start = low[dim].end,
            }
        }
    }
    Ok(found)
}

/// Returns the dims of a layout, ordered by the distance of neighbours, closest first; dims of one coordinate are last.
pub(crate) fn by_stride(layout: &TensorLayout) -> Result<Vec<usize>, tilewright_core::Error> {
    let (origin, mut keyed) = (vec![0; layout.rank()], Vec::new());
    for dim in (0..layout.rank()).rev() {
        let run = layout.run(&origin, dim)?;
        let distance = if run.len > 1 { run.stride.unsigned_abs() } else { u64::MAX };
        keyed.push((distance, dim));
    }
    keyed.sort_by_key(|(distance, _)| *distance);
    Ok(keyed.into_iter().map(|(_, dim)| dim).collect())
}

/// Returns the digits of a layout's dims in the order of memory, smallest strides first: extending a box along them makes its
/// ranges longer. A scattered dim does so only when it is whole.
fn stored(
    layout: &TensorLayout,
    scattered: &[bool],
) -> Result<Vec<DimDigit>, tilewright_core::Error> {
    let mut all: Vec<OffsetDigit> = match layout.is_strided() {
        true => digits(layout.layout()),
        // A layout without strides gets, for each dim, the stride of its first run.
        false => (by_stride(layout)?.into_iter())
            .map(|axis| {
                let stride = layout.run(&vec![0; layout.rank()], axis)?.stride;
                Ok(OffsetDigit { axis, place: 1, extent: layout.extents()[axis], stride })
            })
            .collect::<Result<_, tilewright_core::Error>>()?,
    };
    all.retain(|digit| digit.stride != 0 && digit.place < layout.extents()[digit.axis]);
    all.sort_by_key(|digit| digit.stride.unsigned_abs());
    let side = |&OffsetDigit { axis, place, extent, .. }: &OffsetDigit| match scattered.get(axis) {
        Some(true) => DimDigit { axis, place: place.saturating_mul(extent), extent: 1 },
        _ => DimDigit { axis, place, extent },
    };
    Ok(all.iter().map(side).collect())
}

#[cfg(test)]
mod tests {
    use tilewright_core::Fractal;

    use super::*;

    #[test]
    fn boxes_hold_every_coordinate_once_and_no_more_than_they_may() {
        let rows = TensorLayout::row_major(&[5, 7, 30]).unwrap();
        let columns = TensorLayout::col_major(&[5, 7, 30]).unwrap();
        for most in [1, 2, 5, 16, 100, 2000] {
            let mut seen = std::collections::BTreeSet::new();
            for whole in [vec![0..5, 0..7, 0..30], vec![2..3, 1..7, 16..30]] {
                seen.clear();
                for area in boxes([&rows, &columns], [&[]; 2], (&whole, most)).unwrap() {
                    assert!(size(&area) <= most);
                    for a in area[0].clone() {
                        for b in area[1].clone() {
                            assert!(area[2].clone().all(|c| seen.insert((a, b, c))));
                        }
                    }
                }
                assert_eq!(seen.len() as u64, size(&whole));
                let inside = |at: u64, dim: usize| whole[dim].contains(&at);
                assert!(
                    seen.iter().all(|at| inside(at.0, 0) && inside(at.1, 1) && inside(at.2, 2))
                );
            }
        }
        let point = TensorLayout::row_major(&[]).unwrap();
        assert_eq!(boxes([&point, &point], [&[]; 2], (&vec![], 9)).unwrap().count(), 1);
    }

    /// For all pairs of places in a small box, whichever of them is known, and whether the search finds the first or the last of a
    /// part.
    #[test]
    fn the_first_of_the_searched_coordinates_is_found() {
        let whole: Area = vec![1..4, 0..3, 5..7];
        let place = |n: u64| vec![1 + n / 6, n / 2 % 3, 5 + n % 2];
        for (one, other) in (0..18).flat_map(|one| (0..18).map(move |other| (one, other))) {
            for last in [false, true] {
                let mut compared = 0;
                let mut among = |part: &Area| {
                    compared += size(part);
                    let inside =
                        |n: &u64| place(*n).iter().zip(part).all(|(x, all)| all.contains(x));
                    let found = [one, other].into_iter().filter(inside);
                    let found = if last { found.max() } else { found.min() };
                    Ok(found.map(place))
                };
                let found = first(whole.clone(), place(one), &mut among).unwrap();
                assert_eq!(found, place(one.min(other)), "{one} {other}");
                assert!(compared <= size(&whole));
            }
        }
    }

    #[test]
    fn a_box_is_long_on_both_sides() {
        let within = |a: &TensorLayout, b, scattered, most| {
            sides([a, b], [scattered, &[]], (a.extents(), most)).unwrap()
        };
        let sides = |a: &TensorLayout, b, most| within(a, b, &[], most);
        let rows = TensorLayout::row_major(&[3001, 7007]).unwrap();
        let columns = TensorLayout::col_major(&[3001, 7007]).unwrap();
        assert_eq!(sides(&rows, &columns, 4096), [64, 64]);
        let zn = Fractal::ZN.pattern(16, 8).layout(&[3001, 7007]).unwrap();
        // Two blocks of 16 × 8 on top of each other are a range of 256 elements, and so is a row.
        assert_eq!(sides(&zn, &rows, 8192), [32, 256]);
        assert_eq!(sides(&rows, &rows, 8192), [1, 7007]);
        // Columns in any order are read whole, rows in any order one by one.
        assert_eq!(within(&rows, &columns, &[false, true], 1 << 20), [144, 7007]);
        assert_eq!(within(&rows, &columns, &[true, false], 4096), [64, 64]);
    }
}
