//! [`Array`]: the data of which a fingerprint is computed, in any layout; and [`Windows`], the array as ranges of its storage.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use tilewright_core::{ByteOrder, Dtype, Refinement, TensorLayout};
use tilewright_relayout::CALL;

use crate::{
    Error, Fingerprint, Key,
    key::{Field, Weights},
    plan::Area,
    sum::{self, Sums, Units},
};

/// An array in storage: its layout, the type and width of its elements, and its part of a whole.
///
/// Its fingerprint is Σ x\[i\]·w⁰(i₀)·w¹(i₁)… over the logical coordinates i, in the field of 2⁶¹ − 1 elements, with
/// the elements' bit patterns as numbers and with weights drawn from a [`Key`]. So it is equal in every layout, and
/// padding does not count.
///
/// ```
/// use tilewright_core::{Dtype, Fractal, TensorLayout};
/// use tilewright_fingerprint::{Array, Key};
/// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
/// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
/// let tiles = Fractal::ZN.pattern(2, 2).layout(&[2, 3]).unwrap();
/// let of = |layout, bytes: &[u8]| Array::new(layout, Dtype::U8)?.fingerprint(bytes, &Key::default());
/// let found = of(&rows, &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(of(&columns, &[1, 4, 2, 5, 3, 6])?, found);
/// assert_eq!(of(&tiles, &[1, 2, 4, 5, 3, 77, 6, 77])?, found);
/// assert_ne!(of(&rows, &[2, 1, 3, 4, 5, 6])?, found);
/// # Ok::<(), tilewright_fingerprint::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Array<'a> {
    layout: &'a TensorLayout,
    dtype: Dtype,
    bits: u32,
    order: ByteOrder,
    /// The coordinate in the whole of the array's first element, modulo 2⁶⁴: only the part has coordinates of the whole.
    origin: Vec<u64>,
    /// The part that counts, in coordinates of the array.
    part: Vec<Range<u64>>,
    /// For each dim, its position among the dims of the whole.
    dims: Vec<usize>,
}

impl<'a> Array<'a> {
    /// Returns a whole array, with elements in whole bytes, little-endian.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for offsets below 0.
    ///
    /// ```
    /// use tilewright_core::{Dtype, Layout, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// // Elements are patterns: 1.0 is 0x3c00.
    /// let scalar = TensorLayout::row_major(&[]).unwrap();
    /// let one = Array::new(&scalar, Dtype::F16).unwrap().fingerprint(&[0, 0x3C], &Key::default());
    /// assert_eq!(one.unwrap().to_string(), "0000000000003c00");
    ///
    /// let below = TensorLayout::of(&Layout::parse("(3):(-1)").unwrap());
    /// assert!(Array::new(&below, Dtype::F16).unwrap_err().is_unsupported());
    /// ```
    pub fn new(layout: &'a TensorLayout, dtype: Dtype) -> Result<Array<'a>, Error> {
        if let Some((low, _)) = layout.layout().bounds()
            && low < 0
        {
            return Err(Error::unsupported(format!(
                "a layout that reaches down to offset {low}; offsets begin at 0"
            )));
        }
        let bits = dtype.storage_bits().or_else(|| Some(dtype.block()?.bytes * 8)).unwrap_or(8);
        let rank = layout.rank();
        let part = layout.extents().iter().map(|extent| 0..*extent).collect();
        let (origin, dims) = (vec![0; rank], (0..rank).collect());
        Ok(Array { layout, dtype, bits, order: ByteOrder::Little, origin, part, dims })
    }

    /// Sets the width of elements in memory. If it is larger than the width of the values, the low bits count, so
    /// packed and unpacked data agree. A truth value in a byte is the whole byte.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for widths other than 1, 2, 4 and whole bytes, and for fewer bits than the
    /// values have.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[4]).unwrap();
    /// let array = Array::new(&layout, Dtype::S4)?;
    /// let unpacked = array.clone().fingerprint(&[1, 2, 3, 0xFF], &Key::default())?;
    /// assert_eq!(array.bits(4)?.fingerprint(&[0x21, 0xF3], &Key::default())?, unpacked);
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn bits(self, bits: u32) -> Result<Array<'a>, Error> {
        sum::check(self.dtype, bits)?;
        Ok(Array { bits, ..self })
    }

    /// Sets the byte order of numbers.
    ///
    /// ```
    /// use tilewright_core::{ByteOrder, Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[1]).unwrap();
    /// let array = Array::new(&layout, Dtype::F32)?;
    /// let little = array.clone().fingerprint(&[0, 0, 0x80, 0x3F], &Key::default())?;
    /// let big = array.order(ByteOrder::Big).fingerprint(&[0x3F, 0x80, 0, 0], &Key::default())?;
    /// assert_eq!(little, big);
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn order(self, order: ByteOrder) -> Array<'a> {
        Array { order, ..self }
    }

    /// Makes this a part of a whole, in which its first element has this coordinate.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, or if the part reaches beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let (half, whole) = (TensorLayout::row_major(&[2]).unwrap(), TensorLayout::row_major(&[4]).unwrap());
    /// let of = |layout, origin, bytes: &[u8]| {
    ///     Array::new(layout, Dtype::U8)?.at(&[origin])?.fingerprint(bytes, &Key::default())
    /// };
    /// assert_eq!(of(&half, 0, &[5, 6])? + of(&half, 2, &[7, 8])?, of(&whole, 0, &[5, 6, 7, 8])?);
    /// assert!(Array::new(&half, Dtype::U8)?.at(&[0, 2]).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn at(self, origin: &[u64]) -> Result<Array<'a>, Error> {
        self.check_rank("an origin", origin.len())?;
        let end =
            |(at, extent): (&u64, &u64)| at.checked_add(*extent).filter(|end| *end >> 63 == 0);
        if !origin.iter().zip(self.layout.extents()).all(|pair| end(pair).is_some()) {
            let extents = self.layout.extents();
            let said = format!("an array of {extents:?} at {origin:?} reaches beyond 2^63 - 1");
            return Err(Error::mismatch(said));
        }
        Ok(Array { origin: origin.to_vec(), ..self })
    }

    /// Restricts the array to a box of its coordinates. The elements keep their coordinates.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, or a box that is not within the array.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[4]).unwrap();
    /// let array = Array::new(&layout, Dtype::U8)?;
    /// let of = |part: std::ops::Range<u64>, bytes: &[u8]| {
    ///     array.clone().part(&[part])?.fingerprint(bytes, &Key::default())
    /// };
    /// // Where do they differ? In the second half.
    /// let (a, b) = ([1, 2, 3, 4], [1, 2, 3, 9]);
    /// assert_eq!(of(0..2, &a)?, of(0..2, &b)?);
    /// assert_ne!(of(2..4, &a)?, of(2..4, &b)?);
    /// assert!(array.clone().part(&[2..5]).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn part(self, part: &[Range<u64>]) -> Result<Array<'a>, Error> {
        self.check_rank("a part", part.len())?;
        let extents = self.layout.extents();
        if !part
            .iter()
            .zip(extents)
            .all(|(range, end)| range.start <= range.end && range.end <= *end)
        {
            return Err(Error::mismatch(format!("a part {part:?} of an array of {extents:?}")));
        }
        Ok(Array { part: part.to_vec(), ..self })
    }

    /// Restricts the array to a box of its coordinates, whose first element has this coordinate in a whole.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, a box that is not within the array, or one that reaches beyond
    /// 2⁶³ − 1 in the whole.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// // A shard holds the last two elements of a whole before its first two.
    /// let (shard, whole) = (TensorLayout::row_major(&[4]).unwrap(), TensorLayout::row_major(&[4]).unwrap());
    /// let of = |part, start, bytes: &[u8]| {
    ///     Array::new(&shard, Dtype::U8)?.part_at(&[part], &[start])?.fingerprint(bytes, &Key::default())
    /// };
    /// let sum = of(0..2, 2, &[7, 8, 5, 6])? + of(2..4, 0, &[7, 8, 5, 6])?;
    /// assert_eq!(sum, Array::new(&whole, Dtype::U8)?.fingerprint(&[5, 6, 7, 8], &Key::default())?);
    /// assert!(Array::new(&shard, Dtype::U8)?.part_at(&[0..2], &[u64::MAX]).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn part_at(self, part: &[Range<u64>], start: &[u64]) -> Result<Array<'a>, Error> {
        self.check_rank("a start", start.len())?;
        let array = self.part(part)?;
        let ends = |(at, range): (&u64, &Range<u64>)| {
            at.checked_add(range.end - range.start).is_some_and(|end| end >> 63 == 0)
        };
        if !start.iter().zip(part).all(ends) {
            let said = format!("a part {part:?} at {start:?} reaches beyond 2^63 - 1");
            return Err(Error::mismatch(said));
        }
        let origin = start.iter().zip(part).map(|(at, range)| at.wrapping_sub(range.start));
        Ok(Array { origin: origin.collect(), ..array })
    }

    /// Permutes the dims: dim `d` counts as dim `dims[d]`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless every dim is named once.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let (a, b) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::row_major(&[3, 2]).unwrap());
    /// let (key, dtype) = (Key::default(), Dtype::U8);
    /// let matrix = Array::new(&a, dtype)?.fingerprint(&[1, 2, 3, 4, 5, 6], &key)?;
    /// // The second is the first transposed.
    /// let other = Array::new(&b, dtype)?.dims_as(&[1, 0])?;
    /// assert_eq!(other.fingerprint(&[1, 4, 2, 5, 3, 6], &key)?, matrix);
    /// # Ok::<(), tilewright_fingerprint::Error>(())
    /// ```
    pub fn dims_as(self, dims: &[usize]) -> Result<Array<'a>, Error> {
        self.check_rank("a list of dims", dims.len())?;
        if !(0..dims.len()).all(|dim| dims.contains(&dim)) {
            return Err(Error::mismatch(format!("dims {dims:?}; name each of them once")));
        }
        Ok(Array { dims: dims.to_vec(), ..self })
    }

    fn check_rank(&self, what: &str, len: usize) -> Result<(), Error> {
        let rank = self.layout.rank();
        if len == rank {
            return Ok(());
        }
        Err(Error::mismatch(format!("{what} of {len} dims for an array of {rank}")))
    }

    /// Returns the fingerprint of the data in `bytes`, the array's storage.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the bytes end before the last element;
    /// [unsupported](Error::is_unsupported) for a width that is not supported.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[2]).unwrap();
    /// let array = Array::new(&layout, Dtype::U16).unwrap();
    /// let under = |key: u128| array.clone().fingerprint(&[1, 0, 2, 0], &Key::new(key)).unwrap();
    /// assert_eq!(under(1), under(1));
    /// assert_ne!(under(1), under(2));
    /// assert!(array.clone().fingerprint(&[1, 0, 2], &Key::new(1)).unwrap_err().is_buffer());
    /// ```
    pub fn fingerprint(self, bytes: &[u8], key: &Key) -> Result<Fingerprint, Error> {
        let mut sum = Fingerprint::default();
        for window in self.windows(u64::MAX, key)? {
            let range = window.bytes();
            if range.end > bytes.len() as u64 {
                let (len, end) = (bytes.len(), range.end);
                return Err(Error::buffer(format!("{len} bytes for an array that reads {end}")));
            }
            // The bytes after the last element are not counted and need no checks.
            sum += window.fingerprint(&bytes[range.start as usize..]);
        }
        Ok(sum)
    }

    /// Iterates over windows of its storage of at most `most` bytes, as far as single elements and layouts permit, for
    /// data that is not in memory.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a width that is not supported.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Fingerprint, Key};
    /// let layout = TensorLayout::row_major(&[100, 10]).unwrap();
    /// let file: Vec<u8> = (0..1000).map(|i| i as u8).collect();
    /// let array = Array::new(&layout, Dtype::U8).unwrap();
    /// let whole = array.clone().fingerprint(&file, &Key::default()).unwrap();
    /// let mut sum = Fingerprint::default();
    /// for window in array.windows(64, &Key::default()).unwrap() {
    ///     let range = window.bytes();
    ///     assert!(range.end - range.start <= 64);
    ///     sum += window.fingerprint(&file[range.start as usize..range.end as usize]);
    /// }
    /// assert_eq!(sum, whole);
    /// ```
    pub fn windows(self, most: u64, key: &Key) -> Result<Windows<'a>, Error> {
        sum::check(self.dtype, self.bits)?;
        let units = Units::new(self.dtype, self.bits, self.order, key);
        let weights = (0..self.part.len()).map(|dim| {
            let last = self.part[dim].end.saturating_sub(1);
            let largest = match self.part[dim].is_empty() {
                true => 0,
                false => self.origin[dim].wrapping_add(last),
            };
            Weights::new(key, self.dims[dim] as u32, largest)
        });
        let sums = Arc::new(Sums { units, weights: weights.collect() });
        Ok(Windows::new(self.layout, self.part, self.origin, self.bits, most, sums))
    }
}

// [`Windows`]: an array as ranges of its storage, each with the elements in it.
//
// Law: every element is in one window, and within its bytes.

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
