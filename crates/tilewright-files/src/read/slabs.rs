//! Cuts a storage into windows of its bytes, each of which holds the elements of a box of coordinates. Readers use it.
//!
//! Law: the boxes of all slabs hold every coordinate once, and the bytes of a slab, from first to last, hold its elements as those
//! of the storage do.
//!
//! The digits of a layout are ordered by their strides. If the outermost digits are fixed and the next one takes a range of
//! values, the elements are in one window of the storage; their coordinates are a box if, of each dim, the fixed digits are its
//! most significant ones. If the following digit takes a range of values too, the window is made of pieces of the storage, at
//! distances of the stride of the first: a box that is shorter in the storage, and longer in another layout.

use std::ops::Range;

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{
    layout::element_layout::bytes_of,
    verify::{
        boxes::Area,
        digits::{OffsetDigit, digits},
    },
};

/// One window, and its box of coordinates.
pub(crate) struct Slab {
    /// The first byte of the window in the storage.
    from: u64,
    /// The distance from one piece to the next, in the storage and in the window, in bytes.
    apart: (u64, u64),
    /// The coordinates.
    pub(crate) area: Area,
    /// Their layout in the window, with the first at coordinate 0.
    pub(crate) layout: TensorLayout,
}

impl Slab {
    /// Iterates over the pieces of these bytes of the window: the first byte in the storage, and the bytes of the window.
    pub(crate) fn pieces(&self, bytes: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
        let (from, (there, here)) = (self.from, self.apart);
        let mut start = bytes.start;
        std::iter::from_fn(move || {
            let (piece, within) = (start / here, start % here);
            let end = bytes.end.min(start.saturating_add(here - within));
            let found = (start < end).then_some((from + piece * there + within, start..end));
            start = end;
            found
        })
    }
}

/// The slabs of a storage, in the order of their bytes.
pub(crate) struct Slabs {
    extents: Vec<u64>,
    /// The digits, with the largest strides first.
    digits: Vec<OffsetDigit>,
    bits: u32,
    /// The digit that takes a range of values, and the number of these; the digits before it are fixed.
    cut: usize,
    count: u64,
    /// The number of values of its first range.
    first: u64,
    /// The number of values of the following digit, if windows are made of pieces.
    second: Option<u64>,
    /// The values of the digits up to the last of these.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// Returns slabs of about `most` bytes of a storage of elements of `bits` bits, in pieces of about `piece` bytes if that is
    /// given; `None` for a layout that cannot be cut: one with swizzles, negative strides or an offset, or whose windows are not
    /// boxes.
    pub(crate) fn new(
        layout: &TensorLayout,
        bits: u32,
        most: u64,
        piece: Option<u64>,
    ) -> Option<Slabs> {
        let bare = layout.layout();
        if !layout.is_strided() || !bare.swizzle().is_identity() || bare.offset() != 0 {
            return None;
        }
        let mut digits = digits(bare);
        digits.sort_by_key(|digit| std::cmp::Reverse((digit.stride, digit.place)));
        if digits.last()?.stride < 0 {
            return None;
        }
        let bytes = |digit: &OffsetDigit| bytes_of(digit.stride as u64, bits);
        let within = |most: u64| {
            let fits = |digit: &OffsetDigit| bytes(digit).is_some_and(|len| len <= most);
            Some((digits.iter().position(fits)?, most))
        };
        let (last, len) = within(piece.unwrap_or(most))?;
        let taken = |i: usize, len: u64, most: u64| -> Option<u64> {
            Some(even(most / len.max(1)).min(digits.get(i)?.extent))
        };
        let count = taken(last, bytes(digits.get(last)?)?, len)?;
        let (cut, count, second) = match piece {
            None => (last, count, None),
            Some(_) => {
                let piece = count.checked_mul(bytes(digits.get(last)?)?)?;
                let cut = last.checked_sub(1).filter(|cut| are_apart(&digits, *cut))?;
                (cut, taken(cut, piece, most)?, Some(count))
            }
        };
        let whole =
            |digit: &OffsetDigit| (digit.stride as u128 * u128::from(bits)).is_multiple_of(8);
        if !is_box(&digits, last) || !digits.get(..=last)?.iter().all(whole) {
            return None;
        }
        let (extents, next) = (layout.extents().to_vec(), Some(vec![0; last + 1]));
        let slabs = Slabs { extents, digits, bits, cut, count, first: count, second, next };
        let (_, longest, _) = slabs.made(&vec![0; last + 1])?;
        (bytes_of(longest.capacity(), bits)? <= most.saturating_mul(4)).then_some(slabs)
    }

    /// Returns the first slab.
    pub(crate) fn first(&self) -> Option<Slab> {
        self.slab(self.next.as_ref()?)
    }

    /// Returns the axis along which slabs follow each other, and the coordinates where one might begin, up to the second one.
    pub(crate) fn edges(&self) -> (usize, impl Iterator<Item = u64> + use<>) {
        let digit = self.digits[self.cut];
        (digit.axis, (1..self.count.min(digit.extent)).map(move |value| value * digit.place))
    }

    /// Returns the slabs, of which the first ends at edge number `edge`, counted from 0.
    pub(crate) fn beginning(self, edge: u64) -> Slabs {
        Slabs { first: (edge + 1).min(self.count), ..self }
    }

    /// Returns the area for these values of the outer digits; `None` if it is only padding.
    fn area(&self, values: &[u64]) -> Option<Area> {
        let mut area: Area = self.extents.iter().map(|extent| 0..*extent).collect();
        let mut low = vec![0u64; area.len()];
        for (i, (digit, value)) in self.digits.iter().zip(values).enumerate() {
            let start = low[digit.axis] + value * digit.place;
            low[digit.axis] = start;
            // A later digit of the same axis is used only if the cut digit has a single value.
            let taken = self.taken(i, *value);
            let end = start.saturating_add(taken.saturating_mul(digit.place));
            area[digit.axis] = start..end.min(self.extents[digit.axis]);
        }
        area.iter().all(|range| range.start < range.end).then_some(area)
    }

    /// Returns the number of values that a digit takes from this one on.
    fn taken(&self, i: usize, value: u64) -> u64 {
        let count = match (i.checked_sub(self.cut), self.second) {
            (Some(0), _) if value < self.first => self.first - value,
            (Some(0), _) => self.count,
            (Some(_), Some(second)) => second,
            _ => 1,
        };
        count.min(self.digits[i].extent - value)
    }

    /// Returns the box at these values, its layout, and the number of bytes from one piece to the next in the window.
    fn made(&self, values: &[u64]) -> Option<(Area, TensorLayout, u64)> {
        let area = self.area(values)?;
        let taken = |i: usize| match values.get(i) {
            Some(value) => self.taken(i, *value),
            None => self.digits[i].extent,
        };
        let stride = |i: usize| match self.second {
            Some(_) if i == self.cut => self.digits[i + 1].stride.checked_mul(taken(i + 1) as i64),
            _ => Some(self.digits[i].stride),
        };
        let (mut modes, mut counts, mut last) = (Vec::new(), Vec::new(), 0i64);
        for axis in 0..area.len() {
            let inner = self.digits.iter().enumerate().skip(self.cut);
            let mut own: Vec<_> = inner.filter(|(_, digit)| digit.axis == axis).collect();
            own.sort_by_key(|(_, digit)| digit.place);
            counts.push(own.len().max(1));
            if own.is_empty() {
                modes.push(Mode::new(1, 0));
            }
            for (i, _) in own {
                let (extent, stride) = (taken(i), stride(i)?);
                last = last.checked_add((extent as i64 - 1).checked_mul(stride)?)?;
                modes.push(Mode::new(extent, stride));
            }
        }
        let extents: Vec<u64> = area.iter().map(|range| range.end - range.start).collect();
        let bare = Layout::nested(&modes, &counts).ok()?;
        let layout = TensorLayout::new(&extents, &bare, last as u64 + 1).ok()?;
        let piece = bytes_of(stride(self.cut)?.try_into().ok()?, self.bits)?;
        Some((area, layout, piece))
    }

    /// Returns the values after these.
    fn step(&self, mut values: Vec<u64>) -> Option<Vec<u64>> {
        for i in (0..values.len()).rev() {
            values[i] += self.taken(i, values[i]);
            if values[i] < self.digits[i].extent {
                return Some(values);
            }
            values[i] = 0;
        }
        None
    }

    /// Returns the slab at these values.
    fn slab(&self, values: &[u64]) -> Option<Slab> {
        let (area, layout, piece) = self.made(values)?;
        let bytes = |(digit, value): (&OffsetDigit, &u64)| {
            u128::from(*value) * digit.stride as u128 * u128::from(self.bits) / 8
        };
        let from: u128 = self.digits.iter().zip(values).map(bytes).sum();
        let apart = bytes((self.digits.get(self.cut)?, &1));
        Some(Slab { from: from as u64, apart: (apart as u64, piece.max(1)), area, layout })
    }
}

impl Iterator for Slabs {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        loop {
            let values = self.next.take()?;
            self.next = self.step(values.clone());
            if let Some(slab) = self.slab(&values) {
                return Some(slab);
            }
        }
    }
}

/// Returns whether of each dim the digits up to the cut are its most significant ones.
fn is_box(digits: &[OffsetDigit], cut: usize) -> bool {
    digits.iter().take(cut + 1).enumerate().all(|(i, digit)| {
        let mut later = digits.iter().skip(i + 1);
        later.all(|other| other.axis != digit.axis || other.place < digit.place)
    })
}

/// Returns whether the digit after the cut belongs to another axis, and its values are runs that do not overlap.
fn are_apart(digits: &[OffsetDigit], cut: usize) -> bool {
    let [first, second, inner @ ..] = digits.get(cut..).unwrap_or_default() else { return false };
    let last = inner.iter().try_fold(0i64, |last, digit| {
        last.checked_add(digit.stride.checked_mul(digit.extent as i64 - 1)?)
    });
    first.axis != second.axis && last.is_some_and(|last| last < second.stride)
}

/// Rounds a number down to one that tiles of usual sizes divide, if it is large.
fn even(count: u64) -> u64 {
    let count = count.max(1);
    let grain = 1u64 << count.ilog2().saturating_sub(2);
    count / grain * grain
}

/// Returns the intersection of two boxes.
pub(crate) fn meet(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Area> {
    let both = |(a, b): (&Range<u64>, &Range<u64>)| a.start.max(b.start)..a.end.min(b.end);
    let area: Area = a.iter().zip(b).map(both).collect();
    area.iter().all(|range| range.start < range.end).then_some(area)
}

#[cfg(test)]
mod tests {
    use tilewright_notation::Spec;

    use super::*;
    use crate::verify::boxes::size;

    /// Each element of a slab is at the place where the storage has it, and every element is in one slab.
    #[test]
    fn slabs_hold_every_coordinate_where_it_is() {
        let texts = [
            "row-major",
            "col-major",
            "zN",
            "{1,0:T(8,128)(2,1)}",
            "{0,1:T(3,5)}",
            "(m m0:3) (n n0:16 n1:2) -> n m n0 m0 n1",
            "(37,50):(64,1)",
        ];
        const SIZES: [(u64, Option<u64>); 9] = [
            (1, None),
            (64, None),
            (700, None),
            (4096, None),
            (1 << 20, None),
            (700, Some(20)),
            (700, Some(100)),
            (4096, Some(64)),
            (1 << 20, Some(100)),
        ];
        let mut cut = [0, 0];
        for (text, bits) in texts.iter().flat_map(|text| [4, 8, 16].map(|bits| (text, bits))) {
            let f16 = Some(tilewright_core::Dtype::F16);
            let named = Spec::parse(text).unwrap().resolve(Some(&[37, 50]), f16);
            let Ok(named) = named else { panic!("{text}") };
            let layout = named.layout();
            for (most, piece) in SIZES {
                let Some(slabs) = Slabs::new(layout, bits, most, piece) else { continue };
                cut[usize::from(piece.is_some())] += 1;
                let edge = slabs.edges().1.count() as u64 / 2;
                let slabs = if most == 700 { slabs.beginning(edge) } else { slabs };
                let mut seen = 0;
                for slab in slabs {
                    let (area, own) = (&slab.area, &slab.layout);
                    assert!(bytes_of(own.capacity(), bits).unwrap() <= 4 * most, "{text} {most}");
                    seen += size(area);
                    for (m, n) in area[0].clone().flat_map(|m| area[1].clone().map(move |n| (m, n)))
                    {
                        let there = layout.offset(&[m, n]).unwrap() as u64 * u64::from(bits);
                        let own = own.offset(&[m - area[0].start, n - area[1].start]).unwrap();
                        let own = own as u64 * u64::from(bits);
                        let bytes = own / 8..(own + u64::from(bits)).div_ceil(8);
                        let found: Vec<_> = slab.pieces(bytes.clone()).collect();
                        assert_eq!(found, [(there / 8, bytes)], "{text} {most} {piece:?}");
                        assert_eq!(there % 8, own % 8);
                    }
                }
                assert_eq!(seen, 37 * 50, "{text} {bits} {most}");
            }
            assert!(Slabs::new(layout, 16, 4096, None).is_some(), "{text}");
        }
        assert!(cut[0] > 80 && cut[1] > 30, "{cut:?}");
    }

    #[test]
    fn windows_that_are_no_boxes_have_no_slabs() {
        let of = |text: &str| {
            let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
            Slabs::new(named.layout(), 8, 16, None).is_some()
        };
        assert!(of("(8,8):(8,1)") && of("((2,4),8):((8,16),1)"));
        // The less significant digit of a dim is the outer one.
        assert!(!of("((2,4),8):((64,8),1)"));
        assert!(!of("S<1,4,3> o (16,16):(16,1)") && !of("(8,8):(-8,1)"));
        assert!(meet(&[0..4, 2..5], &[1..9, 5..6]).is_none());
        assert_eq!(meet(&[0..4, 2..5], &[1..9, 0..3]), Some(vec![1..4, 2..3]));
    }
}
