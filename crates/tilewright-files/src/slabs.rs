//! A storage cut into windows of its bytes, each of which holds the elements of a box of coordinates.
//!
//! Law: the boxes of all slabs hold every coordinate once, and a slab's elements lie from its first byte to its last
//! as they do in the storage.
//!
//! The digits of a layout are ordered by their strides. Where the outermost digits are fixed and the next one takes a
//! range of values, elements lie in one window of the storage; their coordinates are a box if, of each dim, the digits
//! that are fixed are its most significant ones.

use std::ops::Range;

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::{
    boxes::Area,
    digits::{Digit, digits},
    held::bytes_of,
};

/// One window, and the box of coordinates in it.
pub(crate) struct Slab {
    /// The first byte of the window in the storage.
    pub(crate) from: u64,
    /// The coordinates.
    pub(crate) area: Area,
    /// How they lie in the window, the first at coordinate 0.
    pub(crate) layout: TensorLayout,
}

/// The slabs of a storage, in the order of their bytes.
pub(crate) struct Slabs {
    extents: Vec<u64>,
    /// The largest strides first.
    digits: Vec<Digit>,
    bits: u32,
    /// The digit that takes a range of values, and how many; those before it are fixed.
    cut: usize,
    count: u64,
    /// The values of the digits up to that one.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// Slabs of about `most` bytes of a storage of elements of `bits` bits; `None` for a layout that they do not fit:
    /// one with swizzles, negative strides or an offset, or whose windows are no boxes.
    pub(crate) fn new(layout: &TensorLayout, bits: u32, most: u64) -> Option<Slabs> {
        let bare = layout.layout();
        if !layout.is_strided() || !bare.swizzle().is_identity() || bare.offset() != 0 {
            return None;
        }
        let mut digits = digits(bare);
        digits.sort_by_key(|digit| std::cmp::Reverse((digit.stride, digit.place)));
        if digits.last()?.stride < 0 {
            return None;
        }
        let bytes = |digit: &Digit| bytes_of(digit.stride as u64, bits);
        let cut = digits.iter().position(|digit| bytes(digit).is_some_and(|len| len <= most))?;
        let outer = digits.get(..=cut)?;
        let whole = |digit: &Digit| (digit.stride as u128 * u128::from(bits)).is_multiple_of(8);
        if !is_box(&digits, cut) || !outer.iter().all(whole) {
            return None;
        }
        let digit = digits.get(cut)?;
        let count = even(most / bytes(digit)?.max(1)).min(digit.extent);
        let (extents, next) = (layout.extents().to_vec(), Some(vec![0; cut + 1]));
        let slabs = Slabs { extents, digits, bits, cut, count, next };
        let (_, longest) = slabs.made(&vec![0; cut + 1])?;
        (bytes_of(longest.capacity(), bits)? <= most.saturating_mul(4)).then_some(slabs)
    }

    /// The coordinates where the outer digits have these values; `None` where there is padding alone.
    fn area(&self, values: &[u64]) -> Option<Area> {
        let mut area: Area = self.extents.iter().map(|extent| 0..*extent).collect();
        let mut low = vec![0u64; area.len()];
        for (i, (digit, value)) in self.digits.iter().zip(values).enumerate() {
            let taken = if i == self.cut { self.taken(*value) } else { 1 };
            let start = low[digit.axis] + value * digit.place;
            low[digit.axis] = start;
            let end = start.saturating_add(taken.saturating_mul(digit.place));
            area[digit.axis] = start..end.min(self.extents[digit.axis]);
        }
        area.iter().all(|range| range.start < range.end).then_some(area)
    }

    /// How many values the cut digit takes from this one on.
    fn taken(&self, value: u64) -> u64 {
        self.count.min(self.digits[self.cut].extent - value)
    }

    /// The box at these values, and its layout.
    fn made(&self, values: &[u64]) -> Option<(Area, TensorLayout)> {
        let area = self.area(values)?;
        let taken = self.taken(*values.last()?);
        let (mut modes, mut counts, mut last) = (Vec::new(), Vec::new(), 0i64);
        for axis in 0..area.len() {
            let inner = self.digits.iter().enumerate().skip(self.cut);
            let mut own: Vec<_> = inner.filter(|(_, digit)| digit.axis == axis).collect();
            own.sort_by_key(|(_, digit)| digit.place);
            counts.push(own.len().max(1));
            if own.is_empty() {
                modes.push(Mode::new(1, 0));
            }
            for (i, digit) in own {
                let extent = if i == self.cut { taken } else { digit.extent };
                last = last.checked_add((extent as i64 - 1).checked_mul(digit.stride)?)?;
                modes.push(Mode::new(extent, digit.stride));
            }
        }
        let extents: Vec<u64> = area.iter().map(|range| range.end - range.start).collect();
        let bare = Layout::nested(&modes, &counts).ok()?;
        let layout = TensorLayout::new(&extents, &bare, last as u64 + 1).ok()?;
        Some((area, layout))
    }

    /// The values behind these.
    fn step(&self, mut values: Vec<u64>) -> Option<Vec<u64>> {
        for i in (0..values.len()).rev() {
            values[i] += if i == self.cut { self.count } else { 1 };
            if values[i] < self.digits[i].extent {
                return Some(values);
            }
            values[i] = 0;
        }
        None
    }
}

impl Iterator for Slabs {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        loop {
            let values = self.next.take()?;
            self.next = self.step(values.clone());
            let Some((area, layout)) = self.made(&values) else { continue };
            let offset = |(digit, value): (&Digit, &u64)| u128::from(*value) * digit.stride as u128;
            let offset: u128 = self.digits.iter().zip(&values).map(offset).sum();
            let from = (offset * u128::from(self.bits) / 8) as u64;
            return Some(Slab { from, area, layout });
        }
    }
}

/// Whether of each dim the digits up to the cut are its most significant ones.
fn is_box(digits: &[Digit], cut: usize) -> bool {
    digits.iter().take(cut + 1).enumerate().all(|(i, digit)| {
        let mut later = digits.iter().skip(i + 1);
        later.all(|other| other.axis != digit.axis || other.place < digit.place)
    })
}

/// A number of turns that tiles of usual sizes divide, where it is large.
fn even(count: u64) -> u64 {
    let count = count.max(1);
    let grain = 1u64 << count.ilog2().saturating_sub(2);
    count / grain * grain
}

/// What two boxes have in common.
pub(crate) fn meet(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Area> {
    let both = |(a, b): (&Range<u64>, &Range<u64>)| a.start.max(b.start)..a.end.min(b.end);
    let area: Area = a.iter().zip(b).map(both).collect();
    area.iter().all(|range| range.start < range.end).then_some(area)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::size;
    use tilewright_notation::Spec;

    /// Elements of a slab lie where the storage has them, and every element is in one.
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
        for (text, bits) in texts.iter().flat_map(|text| [4, 8, 16].map(|bits| (text, bits))) {
            let f16 = Some(tilewright_core::Dtype::F16);
            let named = Spec::parse(text).unwrap().resolve(Some(&[37, 50]), f16);
            let Ok(named) = named else { panic!("{text}") };
            let layout = named.layout();
            for most in [1, 64, 700, 4096, 1 << 20] {
                let Some(slabs) = Slabs::new(layout, bits, most) else { continue };
                let mut seen = 0;
                for Slab { from, area, layout: own } in slabs {
                    assert!(bytes_of(own.capacity(), bits).unwrap() <= 4 * most, "{text} {most}");
                    seen += size(&area);
                    for (m, n) in area[0].clone().flat_map(|m| area[1].clone().map(move |n| (m, n)))
                    {
                        let there = layout.offset(&[m, n]).unwrap() as u64;
                        let own = own.offset(&[m - area[0].start, n - area[1].start]).unwrap();
                        assert_eq!(from * 8 / u64::from(bits) + own as u64, there, "{text} {most}");
                    }
                }
                assert_eq!(seen, 37 * 50, "{text} {bits} {most}");
            }
            assert!(Slabs::new(layout, 16, 4096).is_some(), "{text}");
        }
    }

    #[test]
    fn windows_that_are_no_boxes_have_no_slabs() {
        let of = |text: &str| {
            let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
            Slabs::new(named.layout(), 8, 16).is_some()
        };
        assert!(of("(8,8):(8,1)") && of("((2,4),8):((8,16),1)"));
        // The less significant digit of a dim is the outer one.
        assert!(!of("((2,4),8):((64,8),1)"));
        assert!(!of("S<1,4,3> o (16,16):(16,1)") && !of("(8,8):(-8,1)"));
        assert!(meet(&[0..4, 2..5], &[1..9, 5..6]).is_none());
        assert_eq!(meet(&[0..4, 2..5], &[1..9, 0..3]), Some(vec![1..4, 2..3]));
    }
}
