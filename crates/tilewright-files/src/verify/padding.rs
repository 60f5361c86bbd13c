//! Compares the padding of one tensor, found window by window, with its expected value. Comparisons of tensors end with it.
//!
//! A window is a range of the storage with a bit for each element, which is set if the element belongs to the array. Only padding
//! is read.

use std::ops::Range;

use tilewright_core::{Layout, Step, TensorLayout};
use tilewright_relayout::CALL;

use crate::{
    Difference, Error, Watch,
    convert::budget::{Budget, Buffer},
    error,
    verify::{
        digits::{LayoutDigits, Run},
        patch::{FileSide, element, fill_word, words},
    },
};

/// The largest number of bytes of a window's bits, and of padding that is read at once.
const MOST: u64 = 64 << 10;

/// The largest number of values of digits of stride 0 that are all tried. If there are more, an element that only some of them
/// reach is compared like padding.
const REPEATS: u64 = 1 << 16;

/// Returns the first padding of a tensor that does not have the expected value.
pub(crate) fn difference(
    side: &FileSide<'_>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<Option<Difference>, Error> {
    let layout = side.held.layout();
    let none = layout.padding() == 0 && layout.injective() == Ok(true);
    if !none && let Some(found) = windows(side, watch, budget)? {
        return Ok(Some(found));
    }
    let said = tail(side)?;
    Ok(said.map(|text| Difference::Said { tensor: Some(side.name.to_owned()), text }))
}

fn windows(
    side: &FileSide<'_>,
    watch: &dyn Watch,
    budget: &Budget,
) -> Result<Option<Difference>, Error> {
    let layout = side.held.layout();
    let (cover, capacity) = (Cover::new(layout), layout.capacity());
    let mut seen =
        budget.buffer((budget.limit() / 4).min(MOST).min(capacity.div_ceil(8)).max(1))?;
    let unit = u64::from(side.held.bits.div_ceil(8));
    let room = (budget.limit() / 4).min(MOST).min(side.len).max(unit);
    let mut ahead = Ahead { side, bytes: budget.buffer(room)?, holds: 0..0 };
    // A swizzle permutes places within its windows.
    let swizzle = layout.layout().swizzle().window();
    let bits = seen.len() as u64 * 8;
    let step = if swizzle <= bits { bits / swizzle * swizzle } else { bits };
    let mut first = 0;
    while first < capacity {
        watch.check_cancelled()?;
        let window = first..capacity.min(first.saturating_add(step));
        seen.fill(0);
        cover.mark(&window, swizzle <= bits, &mut seen);
        let mut at = window.start;
        while let Some(gap) = gap(&seen, &window, at) {
            if let Some(found) = ahead.difference(&gap)? {
                return Ok(Some(found));
            }
            at = gap.end;
        }
        first = window.end;
    }
    Ok(None)
}

/// The set of offsets that hold elements.
struct Cover<'a> {
    tensor: &'a TensorLayout,
    digits: LayoutDigits,
    /// The ranges of the coordinates of the layout's axes.
    area: Vec<Range<u64>>,
    /// The extents by which merges are undone, in the order of the steps.
    minors: Vec<u64>,
}

impl<'a> Cover<'a> {
    fn new(tensor: &'a TensorLayout) -> Cover<'a> {
        let layout = tensor.layout();
        if tensor.is_strided() {
            let area = tensor.extents().iter().map(|extent| 0..*extent).collect();
            let digits = LayoutDigits::new(layout);
            let alone = layout.swizzle().is_identity();
            let digits = if alone { digits } else { digits.one_by_one() };
            return Cover { tensor, digits, area, minors: vec![] };
        }
        let area = (0..layout.rank()).map(|axis| 0..size(layout, axis)).collect();
        let digits = LayoutDigits::new(layout).one_by_one();
        let digits = match is_ordered(tensor.steps()) || digits.repeats() > REPEATS {
            true => digits,
            false => digits.every_value(),
        };
        Cover { tensor, digits, area, minors: minors(tensor) }
    }

    /// Sets the bits of a window; `aligned` is true if no swizzle crosses its borders.
    fn mark(&self, window: &Range<u64>, aligned: bool, seen: &mut [u8]) {
        let swizzle = self.tensor.layout().swizzle();
        let range = window.start as i64..window.end as i64;
        let range = if swizzle.is_identity() {
            range
        } else {
            range.start..(window.end.next_multiple_of(swizzle.window().min(1 << 62))) as i64
        };
        self.digits.walk(&self.area, aligned.then_some(&range), &mut |run| {
            if self.minors.is_empty()
                && self.tensor.is_strided()
                && swizzle.is_identity()
                && run.stride == 1
            {
                set(seen, window, run.offset as u64, run.count);
                return true;
            }
            for i in (0..run.count).filter(|i| self.is_element(run, *i)) {
                let offset = swizzle.apply((run.offset + i as i64 * run.stride) as u64);
                set(seen, window, offset, 1);
            }
            true
        });
    }

    /// Returns whether an element of a run belongs to the array.
    fn is_element(&self, run: &Run<'_>, i: u64) -> bool {
        if self.tensor.is_strided() {
            return true;
        }
        let mut axes = run.coord.to_vec();
        if let Some(at) = axes.get_mut(run.step.0) {
            *at += i * run.step.1;
        }
        self.undo(&mut axes)
            && axes.iter().zip(self.tensor.extents()).all(|(at, extent)| at < extent)
    }

    /// Converts coordinates of the axes to those of the array, by undoing the steps in reverse. Returns false if an axis is
    /// longer than the steps make it, and this coordinate is beyond.
    fn undo(&self, axes: &mut Vec<u64>) -> bool {
        let mut minors = self.minors.iter().rev();
        for step in self.tensor.steps().iter().rev() {
            match *step {
                Step::Split { axis, by } => {
                    let rest = axes.pop().unwrap_or(0);
                    if rest >= by {
                        return false;
                    }
                    axes[axis as usize] =
                        axes[axis as usize].saturating_mul(by).saturating_add(rest);
                }
                Step::Merge { major, minor } => {
                    let (major, minor) = (major as usize, minor as usize);
                    axes.insert(major, 0);
                    let extent = minors.next().copied().unwrap_or(1).max(1);
                    (axes[major], axes[minor]) = (axes[minor] / extent, axes[minor] % extent);
                }
            }
        }
        true
    }
}

/// Returns whether a coordinate of the axes belongs to the array whenever a coordinate that is larger on some axes does. This is
/// not true if a merge follows a split, because the parts of a split that are merged need not fill its axis.
fn is_ordered(steps: &[Step]) -> bool {
    let splits = steps.iter().position(|step| matches!(step, Step::Split { .. }));
    let merges = steps.iter().rposition(|step| matches!(step, Step::Merge { .. }));
    splits.zip(merges).is_none_or(|(split, merge)| split > merge)
}

fn size(layout: &Layout, axis: usize) -> u64 {
    layout.axis(axis).unwrap_or_default().iter().map(|mode| mode.extent()).product()
}

/// Returns the extent of the axis that each merge joins.
fn minors(tensor: &TensorLayout) -> Vec<u64> {
    let (mut extents, mut minors) = (tensor.extents().to_vec(), vec![]);
    for step in tensor.steps() {
        match *step {
            Step::Split { axis, by } => {
                extents[axis as usize] = extents[axis as usize].div_ceil(by);
                extents.push(by);
            }
            Step::Merge { major, minor } => {
                minors.push(extents[minor as usize]);
                extents[minor as usize] *= extents[major as usize];
                extents.remove(major as usize);
            }
        }
    }
    minors
}

/// Sets the bits of offsets, as far as they are in the window.
fn set(seen: &mut [u8], window: &Range<u64>, offset: u64, count: u64) {
    let mut at = offset.max(window.start) - window.start;
    let end = offset.saturating_add(count).min(window.end).saturating_sub(window.start);
    while at < end {
        let (byte, bit) = ((at / 8) as usize, at % 8);
        let whole = (end - at) / 8;
        if bit == 0 && whole > 0 {
            let bytes = seen.get_mut(byte..byte + whole as usize);
            bytes.unwrap_or_default().fill(u8::MAX);
            at += whole * 8;
            continue;
        }
        let bits = (8 - bit).min(end - at);
        if let Some(seen) = seen.get_mut(byte) {
            *seen |= ((0xFFu16 >> (8 - bits)) << bit) as u8;
        }
        at += bits;
    }
}

/// Returns the first range of offsets from `from` on whose bits are not set.
fn gap(seen: &[u8], window: &Range<u64>, from: u64) -> Option<Range<u64>> {
    let start = next(seen, window, from, false)?;
    Some(start..next(seen, window, start, true).unwrap_or(window.end))
}

/// Returns the first offset from `from` on whose bit is `set`.
fn next(seen: &[u8], window: &Range<u64>, from: u64, set: bool) -> Option<u64> {
    let other = if set { 0 } else { u8::MAX };
    let (mut at, end) = (from - window.start, window.end - window.start);
    while at < end {
        // Offsets outside of the window's bits are compared like padding.
        let rest = seen.get((at / 8) as usize..).unwrap_or_default();
        let byte = rest.first().copied().unwrap_or(0);
        if at % 8 == 0 && byte == other {
            let same = rest.iter().take_while(|byte| **byte == other).count().max(1);
            at += same as u64 * 8;
        } else if (byte >> (at % 8) & 1 == 1) == set {
            return Some(window.start + at);
        } else {
            at += 1;
        }
    }
    None
}

/// Padding that was read, with the bytes after it.
struct Ahead<'a> {
    side: &'a FileSide<'a>,
    bytes: Buffer,
    /// The range of the tensor's bytes in the buffer.
    holds: Range<u64>,
}

impl Ahead<'_> {
    /// Returns the first element of a gap that is not the fill.
    fn difference(&mut self, gap: &Range<u64>) -> Result<Option<Difference>, Error> {
        let bits = self.side.held.bits;
        let mut at = gap.start;
        while at < gap.end {
            let (index, count) = self.get(at, gap.end)?;
            for i in 0..count {
                let is = |word| element(&self.bytes, index + i, bits, word);
                let differs = |word: &u32| is(*word) != Some(fill_word(self.side.fill, *word));
                if let Some(word) = (0..words(bits)).find(differs) {
                    let Some(is) = is(word) else { return Err(self.beyond(at + i)) };
                    return Ok(Some(Difference::Padding {
                        tensor: self.side.name.to_owned(),
                        offset: at + i,
                        is,
                        expected: fill_word(self.side.fill, word),
                    }));
                }
            }
            at += count;
        }
        Ok(None)
    }

    /// Returns the error for padding that was not read.
    fn beyond(&self, offset: u64) -> Error {
        let said = format!("offset {offset} of a tensor of {} bytes", self.side.len);
        error::corrupt(self.side.source.path(), said)
    }

    /// Returns the index in the buffer of the element at an offset, and how many elements up to `end` the buffer has.
    fn get(&mut self, offset: u64, end: u64) -> Result<(u64, u64), Error> {
        let bits = u128::from(self.side.held.bits);
        let byte = |element: u64| (u128::from(element) * bits / 8) as u64;
        let (from, to) = (byte(offset), (u128::from(end) * bits).div_ceil(8) as u64);
        let unit = bits.div_ceil(8) as u64;
        if from < self.holds.start || from + unit > self.holds.end {
            let want = (to - from).max(CALL).min(self.bytes.len() as u64);
            let until = from.saturating_add(want).min(self.side.len);
            let bytes = self.bytes.get_mut(..until.saturating_sub(from) as usize);
            let bytes = bytes.filter(|bytes| bytes.len() as u64 >= unit).ok_or_else(|| {
                let said = format!("byte {from} of a tensor of {} bytes", self.side.len);
                error::corrupt(self.side.source.path(), said)
            })?;
            self.side.source.read(bytes, self.side.at + from)?;
            self.holds = from..until;
        }
        // The buffer begins at a whole byte, and at a whole element if elements are larger.
        let first = (u128::from(self.holds.start) * 8).div_ceil(bits) as u64;
        let held = (u128::from(self.holds.end) * 8 / bits) as u64;
        Ok((offset - first, held.min(end) - offset))
    }
}

/// Checks the bits after the last element of a packed storage.
fn tail(side: &FileSide<'_>) -> Result<Option<String>, Error> {
    let bits = side.held.bits;
    let all = u128::from(side.held.layout().capacity()) * u128::from(bits);
    let used = (all % 8) as u32;
    if bits >= 8 || used == 0 || all.div_ceil(8) != u128::from(side.len) {
        return Ok(None);
    }
    let mut last = [0];
    side.source.read(&mut last, side.at + side.len - 1)?;
    let said = format!(
        "it has {:#x} in its last byte, whose high {} bits hold no element",
        last[0],
        8 - used
    );
    Ok((last[0] >> used != 0).then_some(said))
}

#[cfg(test)]
mod tests {
    use tilewright_core::Fractal;

    use super::*;

    /// Compares the offsets of padding, found window by window, with the offsets that no coordinate has.
    fn check(layout: &TensorLayout, bytes: usize) {
        let mut expected: Vec<bool> = vec![true; layout.capacity() as usize];
        for i in 0..layout.size() {
            expected[layout.offset_of(i).unwrap() as usize] = false;
        }
        let (cover, mut seen) = (Cover::new(layout), vec![0; bytes]);
        let swizzle = layout.layout().swizzle().window();
        let bits = bytes as u64 * 8;
        let step = if swizzle <= bits { bits / swizzle * swizzle } else { bits };
        let (mut first, mut found) = (0, vec![false; expected.len()]);
        while first < layout.capacity() {
            let window = first..layout.capacity().min(first + step);
            seen.fill(0);
            cover.mark(&window, swizzle <= bits, &mut seen);
            let mut at = window.start;
            while let Some(gap) = gap(&seen, &window, at) {
                found[gap.start as usize..gap.end as usize].fill(true);
                at = gap.end;
            }
            first = window.end;
        }
        assert_eq!(found, expected, "{layout:?} by {bytes}");
    }

    #[test]
    fn what_the_bits_do_not_cover_is_compared() {
        for (seen, from, found) in [
            (&[][..], 0, Some(0..24)),
            (&[u8::MAX][..], 0, Some(8..24)),
            (&[u8::MAX, 0][..], 3, Some(8..24)),
            (&[u8::MAX; 3][..], 0, None),
        ] {
            assert_eq!(gap(seen, &(0..24), from), found, "{seen:?}");
        }
    }

    #[test]
    fn padding_is_what_no_coordinate_has() {
        let layout = |text: &str| Layout::parse(text).unwrap();
        let merged = layout("(2,4,4):(4,8,1)");
        let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
        let mut all = vec![
            TensorLayout::with_steps(&[2, 3, 5], &steps, &merged, 40).unwrap(),
            TensorLayout::of(&layout("Sw<2,0,2> o (4,8):(8,1)")),
            TensorLayout::new(&[3, 7], &layout("Sw<2,1,3> o (4,8):(16,1)"), 80).unwrap(),
            TensorLayout::new(&[5, 7], &layout("(8,8):(9,1)"), 100).unwrap(),
            TensorLayout::new(&[5, 7], &layout("(8,8):(9,0)"), 100).unwrap(),
            TensorLayout::new(&[3, 5], &layout("((2,2),(2,3)):((2,12),(1,4))"), 24).unwrap(),
            TensorLayout::new(&[], &layout("1:0"), 9).unwrap_or(TensorLayout::of(&layout("1:0"))),
            TensorLayout::row_major(&[4, 5]).unwrap().with_capacity(77).unwrap(),
        ];
        for (rows, columns) in [(9, 30), (16, 8), (1, 1), (33, 17)] {
            all.push(Fractal::ZN.pattern(4, 8).layout(&[rows, columns]).unwrap());
        }
        for layout in &all {
            for bytes in [1, 2, 3, 8, 100] {
                check(layout, bytes);
            }
        }
    }

    /// Tests random layouts with steps, of axes whose modes may have stride 0.
    #[test]
    fn padding_of_layouts_with_steps_is_what_no_coordinate_has() {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = |count: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % count
        };
        let (mut checked, mut broadcast) = (0, 0);
        for _ in 0..20_000 {
            let extents = [1 + next(5), 1 + next(4)];
            let (mut axes, mut steps) = (extents.to_vec(), vec![]);
            for _ in 0..1 + next(3) {
                let axis = next(axes.len() as u64) as usize;
                if next(2) == 0 || axes.len() == 1 {
                    let by = 1 + next(4);
                    steps.push(Step::Split { axis: axis as u8, by });
                    axes[axis] = axes[axis].div_ceil(by);
                    axes.push(by);
                } else {
                    let minor = (axis + 1 + next(axes.len() as u64 - 1) as usize) % axes.len();
                    steps.push(Step::Merge { major: axis as u8, minor: minor as u8 });
                    axes[minor] *= axes[axis];
                    axes.remove(axis);
                }
            }
            let (mut sizes, mut strides) = (vec![], vec![]);
            for axis in &axes {
                let inner = 1 + next(3);
                let mut stride = || [0, 1, 2, 3, 4, 6][next(6) as usize];
                strides.push(format!("({},{})", stride(), stride()));
                sizes.push(format!("({inner},{})", axis.div_ceil(inner)));
            }
            let text = format!("({}):({})", sizes.join(","), strides.join(","));
            let layout = Layout::parse(&text).unwrap();
            let capacity = layout.bounds().map_or(0, |(_, high)| high as u64 + 3);
            let Ok(layout) = TensorLayout::with_steps(&extents, &steps, &layout, capacity) else {
                continue;
            };
            check(&layout, 1 + next(3) as usize);
            checked += 1;
            broadcast += u32::from(text.contains('0'));
        }
        println!("{checked} layouts, {broadcast} with a stride of 0");
        assert!(checked > 1000 && broadcast > 500);
    }
}
