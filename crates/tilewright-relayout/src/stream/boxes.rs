//! Boxes whose contiguous stretches have about equal length in the source and in the destination, and a cut of a region
//! or of an array into such boxes.
//!
//! Laws: each position of the region or of the array is in one box. A box has at most the stated number of elements.
//! The shape of boxes affects speed only.
//!
//! # Boxes of digits
//!
//! Boxes of a program without regions: the elements whose digits of the destination have a range of values each. Tiles of
//! such programs are these boxes; the source bytes of a box are listed, because a table may place them anywhere.
//!
//! Law: a box is dense in its buffer, in the order of the destination, and each of its places is an element or padding.

use core::ops::Range;

use tilewright_core::TensorLayout;

use crate::{
    Elements, Plan, Program,
    cpu::{kernel, padding},
    program::{
        digits::{Digits, SourceStep},
        region::{Loop, Region},
    },
    stream::scattered::Stretches,
};

/// An iterator over the boxes of a region.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    region: Region,
    /// The loops of the region, with the run as the last loop.
    loops: Vec<Loop>,
    areas: Areas,
}

impl Boxes {
    /// Cuts a region into boxes of at most `most` units.
    pub(crate) fn new(region: &Region, elements: Elements, most: u64) -> Boxes {
        Boxes::scattered(region, elements, most, &[])
    }

    /// Cuts a region into boxes of at most `most` units. `scattered` tells of which loops, with the run as the last one,
    /// the iterations are not contiguous in the source unless all are taken.
    pub(crate) fn scattered(
        region: &Region,
        elements: Elements,
        most: u64,
        scattered: &[bool],
    ) -> Boxes {
        // Elements are not cut.
        let bytes = u64::from(elements.src_bits / 8).max(1);
        let whole = !region.packed && region.run.is_multiple_of(bytes);
        let grain = if whole { bytes } else { 1 };
        let step = grain as i64;
        let run = Loop { extent: region.run / grain, src: step, dst: step };
        let loops: Vec<Loop> = region.loops.iter().copied().chain([run]).collect();
        let sides = sides(&loops, scattered, (most / grain).max(1));
        let extents = loops.iter().map(|level| level.extent).collect();
        let areas = Areas::new(extents, sides, (0..loops.len()).rev().collect());
        Boxes { region: region.clone(), loops, areas }
    }

    /// Returns the number of boxes.
    pub(crate) fn len(&self) -> u64 {
        self.areas.len()
    }

    /// Returns a box of indices as a region.
    pub(crate) fn region(&self, area: &[Range<u64>]) -> Region {
        let Region { packed, mut src, mut dst, .. } = self.region;
        let (mut run, mut loops) = (1, Vec::with_capacity(area.len()));
        for (i, (level, range)) in self.loops.iter().zip(area).enumerate() {
            src += range.start as i64 * level.src;
            dst += range.start as i64 * level.dst;
            let extent = range.end - range.start;
            if i + 1 == self.loops.len() {
                run = extent * level.dst as u64;
            } else if extent > 1 {
                loops.push(Loop { extent, ..*level });
            }
        }
        Region { packed, src, dst, run, loops }
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<u64>>;

    /// Loops are in the order of the destination: the last one changes fastest.
    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        self.areas.next()
    }
}

/// Returns the extents of a box of at most `most` units.
fn sides(loops: &[Loop], scattered: &[bool], most: u64) -> Vec<u64> {
    let extents: Vec<u64> = loops.iter().map(|level| level.extent).collect();
    let by = |stride: fn(&Loop) -> i64, scattered: &[bool]| {
        let mut order: Vec<usize> = (0..loops.len()).filter(|i| stride(&loops[*i]) != 0).collect();
        tilewright_core::sort_short(&mut order, |i| stride(&loops[*i]).unsigned_abs());
        let digit = |axis: usize| match scattered.get(axis) {
            Some(true) => DimDigit { axis, place: extents[axis], extent: 1 },
            _ => DimDigit { axis, place: 1, extent: extents[axis] },
        };
        order.into_iter().map(digit).collect::<Vec<_>>()
    };
    let stored = [by(|level| level.src, scattered), by(|level| level.dst, &[])];
    box_extents(&extents, [&stored[0], &stored[1]], most)
}

/// A digit of a dim in the storage order of an array: its values step over `place` coordinates of the dim `axis`.
///
/// ```
/// // The rows within a tile of 8 rows, and the tiles.
/// use tilewright_relayout::DimDigit;
/// let dim = [DimDigit { axis: 0, place: 1, extent: 8 }, DimDigit { axis: 0, place: 8, extent: 100 }];
/// assert_eq!(dim[1].place, dim[0].place * dim[0].extent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimDigit {
    /// The dim.
    pub axis: usize,
    /// The coordinates of one step.
    pub place: u64,
    /// The number of values.
    pub extent: u64,
}

/// A box that cannot double grows to a multiple of this, which kernels move best.
const GRAIN: u64 = 16;

/// Returns the extents of a box of at most `most` elements, at least one. `stored` has the digits of two storage
/// orders, the contiguous ones first. The box begins as one element. Then it grows along the next digit of the order
/// with the shorter stretches, up to twice as far.
///
/// ```
/// use tilewright_relayout::{DimDigit, box_extents};
/// let (rows, columns) = (DimDigit { axis: 0, place: 1, extent: 3001 }, DimDigit { axis: 1, place: 1, extent: 7007 });
/// // One is stored by rows, the other by columns.
/// assert_eq!(box_extents(&[3001, 7007], [&[columns, rows], &[rows, columns]], 4096), [64, 64]);
/// ```
pub fn box_extents(extents: &[u64], stored: [&[DimDigit]; 2], most: u64) -> Vec<u64> {
    let mut sides = vec![1; extents.len()];
    loop {
        let size: u64 = sides.iter().product();
        let mut ordered = stored;
        tilewright_core::sort_short(&mut ordered, |stored| stretch(stored, &sides, extents));
        let grown = ordered.into_iter().find_map(|stored| {
            let (axis, to) = growth(stored, &sides, extents)?;
            let room = most / (size / sides[axis]);
            let to = if to <= room { to } else { room / GRAIN * GRAIN };
            (to > sides[axis]).then_some((axis, to))
        });
        match grown {
            Some((axis, to)) => sides[axis] = to,
            None => return sides,
        }
    }
}

/// Returns the number of coordinates that a digit reaches along its dim.
fn end(digit: &DimDigit, extents: &[u64]) -> u64 {
    digit.place.saturating_mul(digit.extent).min(extents[digit.axis])
}

/// Returns the number of elements of a box that are contiguous in memory.
fn stretch(stored: &[DimDigit], sides: &[u64], extents: &[u64]) -> u64 {
    let mut run = 1u64;
    for digit in stored {
        let end = end(digit, extents);
        let reached = sides[digit.axis].min(end).div_ceil(digit.place);
        run = run.saturating_mul(reached);
        if sides[digit.axis] < end {
            break;
        }
    }
    run
}

/// Returns the dim that extends the stretches, and its next extent; `None` if the box contains the whole array.
fn growth(stored: &[DimDigit], sides: &[u64], extents: &[u64]) -> Option<(usize, u64)> {
    let digit = stored.iter().find(|digit| sides[digit.axis] < end(digit, extents))?;
    let twice = sides[digit.axis].max(digit.place).saturating_mul(2) / digit.place * digit.place;
    Some((digit.axis, twice.min(end(digit, extents))))
}

/// An iterator over the boxes of an array, each as a range for each dim.
///
/// ```
/// use tilewright_relayout::Areas;
/// // Boxes of 2 rows and 2 columns, of which the rows change fastest.
/// let areas: Vec<_> = Areas::new(vec![3, 4], vec![2, 2], vec![0, 1]).collect();
/// assert_eq!(areas[..2], [vec![0..2, 0..2], vec![2..3, 0..2]]);
/// assert_eq!(areas.len(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct Areas {
    extents: Vec<u64>,
    pub(crate) sides: Vec<u64>,
    order: Vec<usize>,
    next: Option<Vec<u64>>,
}

impl Areas {
    /// Cuts an array of these extents into boxes of the extents `sides`. The dims change in this order, the first fastest.
    ///
    /// ```
    /// assert_eq!(tilewright_relayout::Areas::new(vec![5], vec![2], vec![0]).next(), Some(vec![0..2]));
    /// ```
    pub fn new(extents: Vec<u64>, sides: Vec<u64>, order: Vec<usize>) -> Areas {
        let next = Some(vec![0; extents.len()]);
        Areas { extents, sides, order, next }
    }

    /// Returns the number of boxes.
    pub(crate) fn len(&self) -> u64 {
        let counts = self.extents.iter().zip(&self.sides).map(|(all, side)| all.div_ceil(*side));
        counts.fold(1, u64::saturating_mul)
    }
}

impl Iterator for Areas {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        let low = self.next.take()?;
        let end = |dim: usize| low[dim].saturating_add(self.sides[dim]).min(self.extents[dim]);
        let area: Vec<Range<u64>> = (0..low.len()).map(|dim| low[dim]..end(dim)).collect();
        let mut next = low;
        for &dim in &self.order {
            if area[dim].end < self.extents[dim] {
                next[dim] = area[dim].end;
                self.next = Some(next);
                break;
            }
            next[dim] = 0;
        }
        Some(area)
    }
}

/// Returns the two halves of a box; `None` for a single position.
///
/// ```
/// use tilewright_relayout::halves;
/// assert_eq!(halves(&[0..3, 5..9]), Some([vec![0..3, 5..7], vec![0..3, 7..9]]));
/// assert!(halves(&[1..2, 5..6]).is_none() && halves(&[]).is_none());
/// ```
pub fn halves(area: &[Range<u64>]) -> Option<[Vec<Range<u64>>; 2]> {
    let len = |dim: &usize| area[*dim].end - area[*dim].start;
    let longest = (0..area.len()).max_by_key(len).filter(|dim| len(dim) > 1)?;
    let (mut low, mut high) = (area.to_vec(), area.to_vec());
    let middle = area[longest].start + len(&longest) / 2;
    (low[longest].end, high[longest].start) = (middle, middle);
    Some([low, high])
}

/// A list of stretches takes at most one part in this many of a buffer.
const LIST: u64 = 16;

/// The digits of a program as loops over elements, which [`Boxes`] cuts.
#[derive(Clone, Debug)]
pub(crate) struct DigitLoops {
    /// Units are elements. The steps of the source are approximate.
    pub(crate) region: Region,
    /// The digit of each loop, and that of the run at the end.
    digits: Vec<Option<usize>>,
    /// True for each loop whose indices are scattered in the source unless it is whole.
    scattered: Vec<bool>,
}

impl DigitLoops {
    /// Returns the loops of a program without regions. Returns `None` if boxes of its digits are not boxes of the
    /// destination, or if bytes outside its elements must not be written.
    pub(crate) fn of(program: &Program) -> Option<DigitLoops> {
        if program.regions().is_some() || program.is_part() {
            return None;
        }
        let digits = program.digits();
        if digits.is_empty() || !digits.swizzles().1.is_identity() || !is_apart(program) {
            return None;
        }
        let mut order: Vec<usize> = (0..digits.digits.len()).collect();
        let stride = |i: usize| digits.digits[i].stride.unsigned_abs();
        tilewright_core::sort_short(&mut order, |&i| core::cmp::Reverse(stride(i)));
        let last = order.last().copied().filter(|&i| stride(i) == 1);
        let steps: Vec<SourceStep> = order.iter().map(|&i| digits.source_step(i)).collect();
        let each = order.iter().zip(&steps).map(|(&i, step)| {
            let (extent, dst) = (digits.digits[i].extent, digits.digits[i].stride.abs());
            Loop { extent, src: step.mean as i64, dst }
        });
        let mut loops: Vec<Loop> = each.collect();
        let mut scattered: Vec<bool> = steps.iter().map(|step| step.is_scattered).collect();
        let mut digit: Vec<Option<usize>> = order.into_iter().map(Some).collect();
        let run = match last {
            Some(_) => loops.pop().map_or(1, |level| level.extent),
            None => {
                digit.push(None);
                scattered.push(false);
                1
            }
        };
        let dst = digits.lowest();
        let region = Region { packed: true, src: 0, dst, run, loops };
        Some(DigitLoops { region, digits: digit, scattered })
    }

    /// Cuts the loops into boxes of at most `most` elements.
    pub(crate) fn cut(&self, elements: Elements, most: u64) -> Boxes {
        Boxes::scattered(&self.region, elements, most, &self.scattered)
    }

    /// Returns the digits within a box, with the strides of its dense buffer.
    fn within(&self, digits: &Digits, area: &[Range<u64>]) -> Digits {
        let (mut own, mut pitch) = (digits.clone(), 1);
        own.base.1 = 0;
        for (range, digit) in area.iter().zip(&self.digits).rev() {
            let Some(digit) = digit.and_then(|i| own.digits.get_mut(i)) else { continue };
            let extent = range.end - range.start;
            // A loop begins at the lowest offset, which is that of the last value of a negative stride.
            let first = match digit.stride < 0 {
                true => digit.first + digit.extent - range.end,
                false => digit.first + range.start,
            };
            digit.stride = digit.stride.signum() * pitch as i64;
            (digit.first, digit.extent) = (first, extent);
            pitch *= extent;
        }
        own.base.1 = -own.lowest();
        own
    }
}

impl Digits {
    /// Returns the lowest offset of the destination, before its swizzle.
    fn lowest(&self) -> i64 {
        let low = |digit: &crate::DigitRange| {
            let values = digit.values();
            let end = if digit.stride < 0 { values.end as i64 - 1 } else { values.start as i64 };
            end * digit.stride
        };
        self.base.1 + self.digits.iter().map(low).sum::<i64>()
    }
}

/// Returns whether every combination of digits has its own place, also those that hold no element.
fn is_apart(program: &Program) -> bool {
    let digits = program.digits().digits().iter();
    let all = digits.fold(1u128, |all, digit| all.saturating_mul(digit.extent.into()));
    let bare = || TensorLayout::of(program.dst().layout()).injective() == Ok(true);
    all == u128::from(program.dst().size()) || bare()
}

/// The elements of a box: their digits, and the stretches of the source that hold them.
#[derive(Clone)]
pub(crate) struct DigitBox {
    digits: Digits,
    stretches: Stretches,
    /// The number of elements of the dense buffer.
    len: u64,
}

impl DigitBox {
    /// Returns the elements of a box, whose list of stretches is short beside a buffer of `most` bytes.
    pub(crate) fn of(plan: &Plan, loops: &DigitLoops, area: &[Range<u64>], most: u64) -> DigitBox {
        let digits = loops.within(plan.program().digits(), area);
        let len = area.iter().map(|range| range.end - range.start).product();
        let mut stretches = Stretches::bounded(plan.elements().src_bits, most / LIST);
        stretches.add_all(&digits, 0..len as i64);
        DigitBox { digits, stretches, len }
    }

    /// Returns the bytes of the buffer that the reads fill.
    pub(crate) fn bytes(&self) -> u128 {
        self.stretches.bytes()
    }

    /// Returns the bytes of the list of reads.
    pub(crate) fn overhead(&self) -> u64 {
        self.stretches.overhead()
    }

    /// Returns the number of reads.
    pub(crate) fn count(&self) -> u64 {
        self.stretches.len() as u64
    }

    /// Returns a read: its byte offset in the source, its length, and its position in the buffer.
    pub(crate) fn read(&self, i: u64) -> (u64, u64, u64) {
        self.stretches.read(i as usize)
    }

    /// Moves the elements from the buffer of the reads to that of the box. Its padding gets the fill.
    pub(crate) fn run(&self, plan: &Plan, src: &[u8], out: &mut [u8]) {
        let (program, elements) = (plan.program(), plan.elements());
        if program.padding() > 0 {
            padding::fill(elements, program.fill(), 0, out);
        }
        self.digits.walk(0..self.len as i64, &mut |leaf| {
            self.stretches.place(leaf, &mut |leaf, shift| {
                kernel::table(elements, leaf, (shift, 0), src, out);
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::boxes::halves;

    fn region(loops: &[(u64, i64, i64)], run: u64) -> Region {
        let level = |&(extent, src, dst): &(u64, i64, i64)| Loop { extent, src, dst };
        Region { packed: false, src: 1000, dst: 0, run, loops: loops.iter().map(level).collect() }
    }

    #[test]
    fn a_box_is_as_long_in_the_source_as_in_the_destination() {
        let sides = |loops: &[(u64, i64, i64)], run, most| {
            Boxes::new(&region(loops, run), Elements::same(32), most).areas.sides
        };
        let transposed = [(4096, 4, 16384), (4096, 16384, 4)];
        assert_eq!(sides(&transposed, 4, 1 << 14), [64, 64, 1]);
        // A box grows while there is room, by whole grains.
        assert_eq!(sides(&transposed, 4, 28 << 10), [112, 64, 1]);
        // A loop that is contiguous on both sides is not cut before the bound requires it.
        assert_eq!(sides(&[(100, 400, 800)], 400, 1 << 20), [100, 100]);
    }

    #[test]
    fn boxes_hold_every_position_once() {
        let all = [
            region(&[], 40),
            region(&[(5, -4, 100), (7, 40, 12), (3, 12, 4)], 4),
            region(&[(5, 0, 100), (3, 60, 20)], 20),
        ];
        for (whole, most) in
            all.iter().flat_map(|whole| [1, 7, 16, 60, 1000].map(|most| (whole, most)))
        {
            let seen = |region: &Region| {
                let mut seen = vec![];
                crate::program::region::for_each(
                    &region.loops,
                    region.src,
                    region.dst,
                    &mut |src, dst| {
                        seen.extend((0..region.run as i64).map(|u| (dst + u, src + u)));
                    },
                );
                seen.sort_unstable();
                seen
            };
            let cut = Boxes::new(whole, Elements::same(32), most);
            let (count, mut found) = (cut.len(), vec![]);
            let areas: Vec<_> = cut.clone().collect();
            assert_eq!(areas.len() as u64, count);
            for area in areas {
                let parts = match halves(&area) {
                    Some([low, high]) => vec![low, high],
                    None => vec![area],
                };
                for part in parts {
                    let part = cut.region(&part);
                    assert!(part.size() <= most.max(4));
                    found.extend(seen(&part));
                }
            }
            found.sort_unstable();
            assert_eq!(found, seen(whole), "{whole:?} by {most}");
        }
    }
}
