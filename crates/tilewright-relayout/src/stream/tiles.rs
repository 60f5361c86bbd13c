//! Tiles: boxes of elements, each with its reads and its writes, for arrays larger than memory that are not contiguous
//! along the same dims on both sides.
//!
//! Laws: the tiles of a plan hold every element once. The writes of a tile are the bytes of its elements; if the plan
//! has no regions, they may hold padding too, with its fill, and no other tile writes there. The buffers of a tile stay
//! within the bound, unless it is a single element.

use core::ops::Range;
use std::sync::Arc;

use crate::{
    Error, Plan,
    cpu::{
        transpose::Locality,
        way::{Terms, Ways},
    },
    program::region::Region,
    stream::{
        Read,
        boxes::{Boxes, DigitBox, DigitLoops, halves},
        scattered::{BoxReads, MAX_BUFFER},
    },
};

/// A write that a [`Tile`] needs.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan, Write};
/// let layout = TensorLayout::row_major(&[9]).unwrap();
/// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
/// let tile = plan.tiles(1 << 10).unwrap().next().unwrap();
/// assert_eq!(tile.writes().collect::<Vec<_>>(), [Write { dst: 0, len: 36, at: 0 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The byte offset in the destination.
    pub dst: u64,
    /// The number of bytes.
    pub len: usize,
    /// The position of the bytes in the buffer.
    pub at: usize,
}

/// A box of elements: its reads, its kernels and its writes. Padding of the destination is outside of all tiles. In
/// a plan without regions, some of it may be between the elements of a tile.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let src = TensorLayout::row_major(&[30, 40]).unwrap();
/// let dst = TensorLayout::col_major(&[30, 40]).unwrap();
/// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
/// let source: Vec<u8> = (0..1200).map(|i| i as u8).collect();
/// let (mut result, mut expected) = (vec![0; 1200], vec![0; 1200]);
/// for tile in plan.tiles(256).unwrap() {
///     let (mut from, mut to) = (vec![0; tile.src_len()], vec![0; tile.dst_len()]);
///     assert!(from.len() <= 256 && to.len() <= 256);
///     for read in tile.reads() {
///         from[read.at..][..read.len].copy_from_slice(&source[read.src as usize..][..read.len]);
///     }
///     tile.run(&from, &mut to).unwrap();
///     for write in tile.writes() {
///         result[write.dst as usize..][..write.len].copy_from_slice(&to[write.at..][..write.len]);
///     }
/// }
/// plan.run(&source, &mut expected, 1).unwrap();
/// assert_eq!(result, expected);
/// ```
#[derive(Clone)]
pub struct Tile {
    plan: Plan,
    writes: Writes,
    moves: Moves,
}

/// The reads of a tile, and what moves its elements.
#[derive(Clone)]
enum Moves {
    Region(BoxReads, Arc<TileShape>),
    Digits(Arc<DigitBox>),
}

impl Moves {
    fn bytes(&self) -> usize {
        match self {
            Moves::Region(piece, _) => piece.bytes(),
            Moves::Digits(part) => part.bytes() as usize,
        }
    }

    /// Returns the number of reads.
    fn count(&self) -> u64 {
        match self {
            Moves::Region(piece, _) => piece.count,
            Moves::Digits(part) => part.count(),
        }
    }

    fn read(&self, i: u64) -> Read {
        match self {
            Moves::Region(piece, _) => {
                let (src, at) = piece.read(i);
                Read { src, len: piece.len, at }
            }
            Moves::Digits(part) => {
                let (src, len, at) = part.read(i);
                Read { src, len: len as usize, at: at as usize }
            }
        }
    }
}

/// Writes of equal length, dense in the buffer.
#[derive(Clone)]
struct Writes {
    first: u64,
    /// Extents and distances in bytes, by ascending distance.
    steps: Vec<(u64, u64)>,
    count: u64,
    len: usize,
}

impl Writes {
    /// Returns the writes of a region, whose destination becomes the dense buffer; `unit` is the bytes of a unit.
    fn of(region: &mut Region, unit: u64) -> Writes {
        let (first, mut len, mut pitch) = (region.dst as u64 * unit, region.run, region.run);
        let mut steps = Vec::new();
        for level in region.loops.iter_mut().rev() {
            if steps.is_empty() && level.dst as u64 == len {
                len *= level.extent;
            } else {
                steps.push((level.extent, level.dst as u64 * unit));
            }
            level.dst = pitch as i64;
            pitch *= level.extent;
        }
        region.dst = 0;
        let count = steps.iter().map(|(extent, _)| extent).product();
        Writes { first, steps, count, len: (len * unit) as usize }
    }

    fn write(&self, i: u64) -> Write {
        let (mut dst, mut rest) = (self.first, i);
        for (extent, bytes) in &self.steps {
            dst += rest % extent * bytes;
            rest /= extent;
        }
        Write { dst, len: self.len, at: i as usize * self.len }
    }
}

impl Tile {
    /// Returns the bytes of the buffer that the reads fill.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[9]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
    /// assert_eq!(plan.tiles(1 << 10).unwrap().next().unwrap().src_len(), 36);
    /// ```
    pub fn src_len(&self) -> usize {
        self.moves.bytes()
    }

    /// Returns the bytes of the buffer that the writes take.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[9]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
    /// assert_eq!(plan.tiles(16).unwrap().next().unwrap().dst_len(), 16);
    /// ```
    pub fn dst_len(&self) -> usize {
        self.writes.count as usize * self.writes.len
    }

    /// Iterates over the reads, which together fill the buffer.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan, Read};
    /// let layout = TensorLayout::row_major(&[9]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
    /// let tile = plan.tiles(16).unwrap().nth(1).unwrap();
    /// assert_eq!(tile.reads().collect::<Vec<_>>(), [Read { src: 16, len: 16, at: 0 }]);
    /// ```
    pub fn reads(&self) -> impl Iterator<Item = Read> + '_ {
        (0..self.moves.count()).map(|i| self.moves.read(i))
    }

    /// Returns the bytes of memory of the list of reads, if their number depends on index tables; else 0.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[9]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
    /// assert_eq!(plan.tiles(16).unwrap().next().unwrap().overhead_bytes(), 0);
    /// ```
    pub fn overhead_bytes(&self) -> u64 {
        match &self.moves {
            Moves::Region(..) => 0,
            Moves::Digits(part) => part.overhead(),
        }
    }

    /// Iterates over the writes, which together take the whole buffer.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan, Write};
    /// let layout = TensorLayout::row_major(&[9]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
    /// let tile = plan.tiles(16).unwrap().nth(1).unwrap();
    /// assert_eq!(tile.writes().collect::<Vec<_>>(), [Write { dst: 16, len: 16, at: 0 }]);
    /// ```
    pub fn writes(&self) -> impl Iterator<Item = Write> + '_ {
        (0..self.writes.count).map(|i| self.writes.write(i))
    }

    /// Moves the elements from the buffer that the reads filled to the buffer of the writes.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if a buffer is too short; nothing is written then.
    ///
    /// ```
    /// # use tilewright_core::TensorLayout;
    /// # use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[3]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// let (tile, mut out) = (plan.tiles(16).unwrap().next().unwrap(), [0; 3]);
    /// tile.run(&[1, 2, 3], &mut out).unwrap();
    /// assert_eq!(out, [1, 2, 3]);
    /// assert!(tile.run(&[1, 2], &mut out).unwrap_err().is_buffer());
    /// ```
    pub fn run(&self, src: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let (needs, given) = ((self.src_len(), self.dst_len()), (src.len(), out.len()));
        let (Some(src), Some(out)) = (src.get(..needs.0), out.get_mut(..needs.1)) else {
            return Err(Error::buffer(format!(
                "buffers of {} and {} bytes are too short for a tile of {} and {}",
                given.0, given.1, needs.0, needs.1
            )));
        };
        match &self.moves {
            Moves::Region(_, shape) => {
                let TileShape { region, ways } = &**shape;
                let scratches = &self.plan.0.scratches;
                scratches.with(|scratch| ways.run_all(region, &mut ways.tools(scratch), src, out));
            }
            Moves::Digits(part) => part.run(&self.plan, src, out),
        }
        Ok(())
    }
}

impl core::fmt::Debug for Tile {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (reads, writes) = (self.moves.count(), self.writes.count);
        write!(f, "Tile({reads} reads, {writes} writes, {} bytes)", self.dst_len())
    }
}

/// An iterator over the tiles of a plan, in the order of the destination as far as possible.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let src = TensorLayout::row_major(&[64, 64]).unwrap();
/// let dst = TensorLayout::col_major(&[64, 64]).unwrap();
/// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
/// // 16 tiles of 16 × 16 elements.
/// assert_eq!(plan.tiles(1 << 10).unwrap().count(), 16);
/// ```
#[must_use]
pub struct Tiles {
    plan: Plan,
    /// The loops over digits of a plan without regions.
    loops: Option<DigitLoops>,
    /// The maximal bytes of a buffer.
    most: u64,
    /// The region that is cut next.
    region: usize,
    cut: Option<Boxes>,
    /// The remaining parts of a box that was too large.
    pending: Vec<Vec<Range<u64>>>,
    /// The shapes seen last, which most tiles share.
    shapes: Vec<Arc<TileShape>>,
}

/// The number of shapes that are kept.
const SHAPES: usize = 8;

impl Plan {
    /// Returns the elements as tiles. Neither buffer of a tile exceeds `bytes` bytes, its list of reads included, and
    /// reads and writes have about equal length. Returns `None` if elements are not whole bytes. Returns `None` for a
    /// plan without regions if it moves a part, or if its destination has a swizzle.
    ///
    /// Not all padding is written: callers that write tiles fill the destination first.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let dst = TensorLayout::col_major(&[64, 64]).unwrap();
    /// let plan = |bits| Plan::new(&src, &dst, Elements::same(bits), 0).unwrap();
    /// assert!(plan(8).tiles(1 << 10).unwrap().all(|tile| tile.src_len() <= 1 << 10));
    /// assert!(plan(4).tiles(1 << 10).is_none());
    /// ```
    pub fn tiles(&self, bytes: u64) -> Option<Tiles> {
        let elements = self.elements();
        let whole = |region: &Region| {
            region.src_unit(elements).is_multiple_of(8)
                && region.dst_unit(elements).is_multiple_of(8)
        };
        let loops = match self.program().regions() {
            Some(_) => None,
            None => Some(DigitLoops::of(self.program())?),
        };
        let (plan, most) = (self.clone(), bytes);
        let tiles =
            Tiles { plan, loops, most, region: 0, cut: None, pending: vec![], shapes: vec![] };
        tiles.regions().iter().all(whole).then_some(tiles)
    }
}

impl Tiles {
    /// Estimates the number of reads and writes of all tiles, and the bytes that they read, from the first tile of each
    /// region of the plan.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let dst = TensorLayout::col_major(&[64, 64]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// let (calls, bytes) = plan.tiles(1 << 10).unwrap().cost();
    /// assert_eq!((calls, bytes), (16 * (16 + 16), 64 * 64 * 4));
    /// ```
    pub fn cost(&self) -> (u64, u64) {
        let (mut calls, mut bytes) = (0u64, 0u64);
        for number in 0..self.regions().len() {
            let Some(mut cut) = self.cut_of(number) else { continue };
            let boxes = cut.len();
            let Some(tile) = cut.next().and_then(|area| self.made(&cut, &area)) else {
                continue;
            };
            let each = tile.moves.count() + tile.writes.count;
            calls = calls.saturating_add(each.saturating_mul(boxes));
            bytes = bytes.saturating_add((tile.moves.bytes() as u64).saturating_mul(boxes));
        }
        (calls, bytes)
    }

    /// Returns the kernel that moves most of the bytes, named as in [`Plan::kernel_name`].
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let dst = TensorLayout::col_major(&[64, 64]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// assert!(plan.tiles(1 << 10).unwrap().kernel_name().ends_with("4B"));
    /// ```
    pub fn kernel_name(&self) -> String {
        if self.loops.is_some() {
            return "tables".to_string();
        }
        let main = self.plan.program().main().and_then(|(number, _)| self.cut_of(number));
        let made = main.and_then(|mut cut| {
            let area = cut.next()?;
            self.made(&cut, &area)
        });
        match made.map(|made| made.moves) {
            Some(Moves::Region(_, shape)) => shape.ways.name(&shape.region),
            Some(Moves::Digits(_)) | None => "fill".to_string(),
        }
    }

    fn regions(&self) -> &[Region] {
        match &self.loops {
            Some(loops) => core::slice::from_ref(&loops.region),
            None => self.plan.program().regions().unwrap_or_default(),
        }
    }

    /// Cuts a region into boxes, the first of which stays within the bound.
    fn cut_of(&self, number: usize) -> Option<Boxes> {
        let (region, elements) = (self.regions().get(number)?, self.plan.elements());
        let widest = region.src_unit(elements).max(region.dst_unit(elements)) / 8;
        let mut units = (self.most / u64::from(widest)).max(1);
        loop {
            let cut = match &self.loops {
                Some(loops) => loops.cut(elements, units),
                None => Boxes::new(region, elements, units),
            };
            let first = cut.clone().next()?;
            let fits = self.made(&cut, &first).is_some_and(|made| made.fits(self.most));
            if fits || units == 1 {
                return Some(cut);
            }
            units /= 2;
        }
    }

    /// Returns the reads and writes of a box, if this machine can address them.
    fn made(&self, cut: &Boxes, area: &[Range<u64>]) -> Option<Tile> {
        let (elements, plan) = (self.plan.elements(), self.plan.clone());
        let mut region = cut.region(area);
        let unit = u64::from(region.dst_unit(elements) / 8);
        if let Some(loops) = &self.loops {
            let part = DigitBox::of(&plan, loops, area, self.most);
            let writes = Writes::of(&mut region, unit);
            let fits = part.bytes() <= MAX_BUFFER;
            return fits.then(|| Tile { plan, writes, moves: Moves::Digits(Arc::new(part)) });
        }
        let piece = BoxReads::of(&region.whole(), elements, 0).ok()?;
        let mut region = piece.region.clone();
        let writes = Writes::of(&mut region, unit);
        region.merge();
        let moves = Moves::Region(piece, self.shape(region));
        Some(Tile { plan, writes, moves })
    }

    /// Returns the shape with its kernels, from the kept shapes if possible.
    fn shape(&self, region: Region) -> Arc<TileShape> {
        if let Some(known) = self.shapes.iter().find(|shape| shape.region == region) {
            return known.clone();
        }
        let unit = u64::from(region.dst_unit(self.plan.elements()) / 8);
        let locality = Locality::of(region.size().saturating_mul(unit));
        let ways = Ways::of(&region, Terms { locality, ..self.plan.0.terms });
        Arc::new(TileShape { region, ways })
    }

    /// Returns the next box and its tile.
    fn area(&mut self) -> Option<(Vec<Range<u64>>, Option<Tile>)> {
        loop {
            if self.cut.is_none() {
                self.cut = Some(self.cut_of(self.region)?);
                self.region += 1;
            }
            let area = self.pending.pop().or_else(|| self.cut.as_mut()?.next());
            if let (Some(area), Some(cut)) = (area, &self.cut) {
                let made = self.made(cut, &area);
                return Some((area, made));
            }
            self.cut = None;
        }
    }

    /// Keeps the shape of a tile for those that follow.
    fn keep(&mut self, tile: &Tile) {
        let Moves::Region(_, shape) = &tile.moves else { return };
        if !self.shapes.iter().any(|known| Arc::ptr_eq(known, shape)) {
            self.shapes.truncate(SHAPES - 1);
            self.shapes.insert(0, shape.clone());
        }
    }
}

/// A box over both buffers, with its kernels.
struct TileShape {
    region: Region,
    ways: Ways,
}

impl Tile {
    fn fits(&self, most: u64) -> bool {
        let (written, list) =
            (self.writes.count.saturating_mul(self.writes.len as u64), self.overhead_bytes());
        (self.src_len() as u64).max(written).saturating_add(list) <= most
    }
}

impl Iterator for Tiles {
    type Item = Tile;

    fn next(&mut self) -> Option<Tile> {
        loop {
            let (area, made) = self.area()?;
            if made.as_ref().is_none_or(|made| !made.fits(self.most))
                && let Some([low, high]) = halves(&area)
            {
                self.pending.extend([high, low]);
                continue;
            }
            // A single element fits on every machine.
            let tile = made?;
            self.keep(&tile);
            return Some(tile);
        }
    }
}

impl core::fmt::Debug for Tiles {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Tiles(of {} regions, {} bytes)", self.regions().len(), self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elements;
    use tilewright_core::{Fractal, Layout, TensorLayout};

    /// Compares a run by tiles with a run of the plan: every byte that is not padding is written once.
    fn check(src: &TensorLayout, dst: &TensorLayout, elements: Elements, most: u64) {
        let plan = Plan::new(src, dst, elements, 0).unwrap();
        let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut expected = vec![0; plan.dst_bytes() as usize];
        plan.run(&source, &mut expected, 1).unwrap();
        let (mut result, mut times) = (vec![0; expected.len()], vec![0; expected.len()]);
        let widest = u64::from(elements.src_bits.max(elements.dst_bits) / 8);
        let tiles = plan.tiles(most).unwrap();
        for tile in tiles {
            let (mut from, mut to) = (vec![0; tile.src_len()], vec![0; tile.dst_len()]);
            assert!(from.len().max(to.len()) as u64 <= most.max(widest), "{tile:?}");
            for Read { src, len, at } in tile.reads() {
                from[at..at + len].copy_from_slice(&source[src as usize..][..len]);
            }
            tile.run(&from, &mut to).unwrap();
            for Write { dst, len, at } in tile.writes() {
                result[dst as usize..][..len].copy_from_slice(&to[at..][..len]);
                times[dst as usize..][..len].iter_mut().for_each(|times| *times += 1);
            }
        }
        assert_eq!(result, expected, "{plan} by {most}");
        let written = times.iter().map(|times| u64::from(*times == 1)).sum::<u64>();
        assert!(times.iter().all(|times| *times < 2), "{plan} by {most}");
        assert_eq!(written, src.size() * u64::from(elements.dst_bits / 8), "{plan} by {most}");
    }

    #[test]
    fn tiles_are_the_plan_within_every_bound() {
        let layout = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
        let pair = |extents: &[u64]| {
            let (rows, columns) =
                (TensorLayout::row_major(extents), TensorLayout::col_major(extents));
            (rows.unwrap(), columns.unwrap())
        };
        let mut pairs = vec![pair(&[]), pair(&[37, 53]), pair(&[5, 6, 7, 8]), pair(&[0, 3])];
        pairs.push((layout("(4,6):(0,1)"), layout("(4,6):(1,4)")));
        pairs.push((layout("(40,50):(64,1)"), layout("(40,50):(2,90)")));
        pairs.push((layout("(2,3,5):(3,1,6)"), layout("(2,3,5):(40,11,2)")));
        let zn = Fractal::ZN.pattern(4, 8).layout(&[37, 53]).unwrap();
        pairs.push((TensorLayout::row_major(&[37, 53]).unwrap(), zn.clone()));
        pairs.push((zn, TensorLayout::col_major(&[37, 53]).unwrap()));
        let widths = [(8, 8), (32, 32), (96, 96), (8, 32), (32, 16)];
        for (src, dst) in &pairs {
            for (src_bits, dst_bits) in widths {
                let elements = Elements { src_bits, dst_bits, extend: crate::Extend::Zero };
                for most in [1, 16, 60, 300, 4096, 1 << 20] {
                    check(src, dst, elements, most);
                    if src.injective() == Ok(true) {
                        check(dst, src, elements, most);
                    }
                }
            }
        }
    }
}
