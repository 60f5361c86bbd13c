//! [`Windows`]: an array as ranges of its storage, each with the elements in it.
//!
//! Law: every element is in one window, and within its bytes.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use tilewright_core::{Refinement, TensorLayout};
use tilewright_relayout::CALL;

use crate::{Fingerprint, area::Area, field::Field, sum::Sums};

/// The maximal number of areas of a window.
const MOST: usize = 1024;

/// The maximal size of a box whose blocks are listed, since each element may be a block.
const BOX: u64 = 4096;

/// Ranges of an array's storage, with the elements in each; made by [`Array::windows`](crate::Array::windows).
///
/// ```
/// use tilewright_core::{Dtype, TensorLayout};
/// use tilewright_fingerprint::{Array, Key};
/// let layout = TensorLayout::row_major(&[4, 4]).unwrap();
/// let windows = Array::new(&layout, Dtype::U8).unwrap().windows(8, &Key::default()).unwrap();
/// assert_eq!(windows.map(|window| window.bytes()).collect::<Vec<_>>(), [0..8, 8..16]);
/// ```
#[derive(Debug)]
pub struct Windows<'a> {
    layout: &'a TensorLayout,
    /// The coordinate in the whole of the array's first element, modulo 2⁶⁴.
    origin: Vec<u64>,
    bits: u64,
    most: u64,
    sums: Arc<Sums>,
    /// Boxes of coordinates whose blocks are not listed yet, the next one last.
    boxes: Vec<Vec<Range<u64>>>,
    blocks: VecDeque<Area>,
    /// Areas that are in no window yet, the next one last.
    pending: Vec<Area>,
}

/// A range of an array's storage, and the elements that it holds.
///
/// ```
/// use tilewright_core::{Dtype, TensorLayout};
/// use tilewright_fingerprint::{Array, Key};
/// let layout = TensorLayout::row_major(&[3]).unwrap();
/// let array = Array::new(&layout, Dtype::U16).unwrap();
/// let window = array.windows(1 << 20, &Key::default()).unwrap().next().unwrap();
/// assert_eq!(window.bytes(), 0..6);
/// // Only the first element is not 0.
/// assert_eq!(window.fingerprint(&[9, 0, 0, 0, 0, 0]).to_string(), "0000000000000009");
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    bytes: Range<u64>,
    /// The areas, in the order of memory as far as the layout has one.
    areas: Vec<Area>,
    /// The elements before the first byte.
    before: i64,
    sums: Arc<Sums>,
}

impl Window {
    /// Returns its bytes in the storage.
    ///
    /// ```
    /// # use tilewright_core::{Dtype, TensorLayout};
    /// # use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[3]).unwrap().with_capacity(100).unwrap();
    /// let array = Array::new(&layout, Dtype::U16).unwrap();
    /// // Padding is not read.
    /// assert_eq!(array.windows(99, &Key::default()).unwrap().next().unwrap().bytes(), 0..6);
    /// ```
    pub fn bytes(&self) -> Range<u64> {
        self.bytes.clone()
    }

    /// Returns the fingerprint of its elements; `bytes` has the bytes of its range, and missing bytes count as 0.
    ///
    /// ```
    /// # use tilewright_core::{Dtype, TensorLayout};
    /// # use tilewright_fingerprint::{Array, Fingerprint, Key};
    /// let layout = TensorLayout::row_major(&[3]).unwrap();
    /// let array = Array::new(&layout, Dtype::U8).unwrap();
    /// let window = array.windows(99, &Key::default()).unwrap().next().unwrap();
    /// assert_eq!(window.fingerprint(&[0, 0, 0]), Fingerprint::default());
    /// ```
    pub fn fingerprint(&self, bytes: &[u8]) -> Fingerprint {
        let sum = self.areas.iter().fold(Field::ZERO, |sum, area| {
            let area = Area { at: area.at - self.before, ..area.clone() };
            sum + self.sums.of(&area, bytes)
        });
        Fingerprint(sum)
    }
}

impl<'a> Windows<'a> {
    pub(crate) fn new(
        layout: &'a TensorLayout,
        part: Vec<Range<u64>>,
        origin: Vec<u64>,
        bits: u32,
        most: u64,
        sums: Arc<Sums>,
    ) -> Windows<'a> {
        let (pending, blocks, boxes) = (vec![], VecDeque::new(), vec![part]);
        Windows { layout, origin, bits: bits.into(), most, sums, boxes, blocks, pending }
    }

    /// Returns the next area, small enough for a window if possible.
    fn area(&mut self) -> Option<Area> {
        let mut area = self.pending.pop().or_else(|| self.block())?;
        while let Some([head, rest]) = self.parts(&area) {
            self.pending.push(rest);
            area = head;
        }
        Some(area)
    }

    /// Returns the next block of the layout. If there are many, boxes of coordinates are halved until each has few.
    fn block(&mut self) -> Option<Area> {
        while self.blocks.is_empty() {
            let own = self.boxes.pop()?;
            let starts: Vec<u64> = own.iter().map(|range| range.start).collect();
            let extents: Vec<u64> = own.iter().map(|range| range.end - range.start).collect();
            let (layout, size) =
                (self.layout, extents.iter().copied().fold(1, u64::saturating_mul));
            let refinement =
                Refinement::of_part(layout, &starts, layout, &starts, &extents).ok()?;
            let longer = extents.iter().position(|extent| *extent > 1);
            match longer {
                Some(dim) if size > BOX && !refinement.is_regular() => {
                    let (mut low, mut high) = (own.clone(), own);
                    let middle = starts[dim] + extents[dim].div_ceil(2).next_power_of_two() / 2;
                    let middle = middle.max(starts[dim] + 1);
                    (low[dim].end, high[dim].start) = (middle, middle);
                    self.boxes.extend([high, low]);
                }
                _ => {
                    let pairs = self.origin.iter().zip(&starts);
                    let origin: Vec<u64> = pairs.map(|(a, b)| a.wrapping_add(*b)).collect();
                    self.blocks.extend(refinement.blocks().map(|block| Area::of(&block, &origin)));
                }
            }
        }
        self.blocks.pop_front()
    }

    /// Returns the bytes of an area.
    fn range(&self, area: &Area) -> Range<u64> {
        let (low, high) = area.bounds();
        let bit = |at: i64| u128::from(at.unsigned_abs()) * u128::from(self.bits);
        (bit(low) / 8) as u64..bit(high + 1).div_ceil(8) as u64
    }

    /// Cuts an area along its largest stride, if it takes more bytes than a window may have, or only few of many bytes.
    fn parts(&self, area: &Area) -> Option<[Area; 2]> {
        let range = self.range(area);
        let bytes = range.end - range.start;
        let held = u128::from(area.size()) * u128::from(self.bits) / 8;
        let sparse = self.most < u64::MAX && u128::from(bytes) > 8 * held.max(1) && bytes > CALL;
        if bytes <= self.most && !sparse {
            return None;
        }
        let last = area.loops.len().checked_sub(1)?;
        let level = area.loops[last];
        let step = u128::from(level.stride.unsigned_abs()) * u128::from(self.bits) / 8;
        let inner = bytes - (step * u128::from(level.extent - 1)) as u64;
        let room = u128::from(self.most.saturating_sub(inner)) / step.max(1) + 1;
        let most = if sparse { level.extent / 2 } else { level.extent - 1 };
        let iterations = (room.min(u128::from(most)) as u64).max(1);
        // A power of two keeps the rest at the boundary of a digit.
        Some(area.cut(last, 1 << iterations.ilog2()))
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        let area = self.area()?;
        let mut bytes = self.range(&area);
        let mut areas = vec![area];
        while areas.len() < MOST {
            let Some(area) = self.area() else { break };
            let own = self.range(&area);
            let union = bytes.start.min(own.start)..bytes.end.max(own.end);
            let sum = (bytes.end - bytes.start) + (own.end - own.start);
            let near = self.most == u64::MAX || union.end - union.start <= sum.saturating_add(CALL);
            if !near || union.end - union.start > self.most {
                self.pending.push(area);
                break;
            }
            bytes = union;
            areas.push(area);
        }
        let before = (u128::from(bytes.start) * 8 / u128::from(self.bits)) as i64;
        Some(Window { bytes, areas, before, sums: self.sums.clone() })
    }
}
