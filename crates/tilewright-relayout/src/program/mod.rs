//! Programs: the elements of two layouts as regions, or as digits if there are too many regions, and the gaps between
//! them. Nothing here depends on a processor.
//!
//! Laws:
//! - The regions of a program, or the leaves of its digits, visit every logical element once, at its offset in the
//!   source and in the destination.
//! - Regions and gaps together cover the destination once.
//! - The programs of the parts of a partition, in any order, have the effect of the program of the whole.

pub(crate) mod digits;
pub(crate) mod gaps;
mod listed;
mod ranges;
pub(crate) mod region;
mod swizzled;
pub(crate) mod walk;

use core::{fmt, ops::Range};
use std::sync::OnceLock;

use tilewright_core::{Coord, Refinement, TensorLayout};
use tilewright_table::{Along, TABLES, TabledLayout};

use crate::{Elements, Error, Op, elements};
use digits::Digits;
use gaps::{Gap, gaps_of};
use ranges::Ranges;
use region::Region;
use swizzled::straight;

/// A program with more regions than this uses digits instead.
pub(crate) const MAX_REGIONS: usize = 1024;

/// The moves from one layout to another as data, for callers that generate code or inspect a conversion.
/// [`Plan`](crate::Plan) runs it on this machine.
///
/// A program runs in these steps:
/// 1. The [`gaps`](Program::gaps) get the [`fill`](Program::fill). If there are too many gaps, the whole destination is
///    filled before elements are written.
/// 2. The elements move, by [`regions`](Program::regions) or, if there are too many, by [`digits`](Program::digits), in
///    any order.
/// 3. The bits of the last byte after the last packed element become 0. A part does not change them.
///
/// The example `c_loops` of this crate prints the nest of loops in C for any program.
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_relayout::{Elements, Program};
/// let src = TensorLayout::row_major(&[100, 100]).unwrap();
/// let dst = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
/// let program = Program::new(&src, &dst, Elements::same(16), 0).unwrap();
/// // Six whole columns of fractals, and the four columns of the last.
/// assert_eq!(program.regions().unwrap().len(), 2);
/// assert_eq!((program.src_bytes(), program.dst_bytes()), (20_000, 25_088));
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Program {
    src: TensorLayout,
    dst: TensorLayout,
    elements: Elements,
    fill: u128,
    src_bytes: u64,
    dst_bytes: u64,
    part: Part,
    /// The index tables of both sides, if either side has any.
    tables: Option<ProgramTables>,
    /// True if the regions were given, and the layouts do not describe them.
    listed: bool,
    /// `None` if there are too many.
    regions: Option<Vec<Region>>,
    digits: OnceLock<Box<Digits>>,
    /// The inner `None` means too many.
    gaps: OnceLock<Option<Vec<Gap>>>,
}

impl Program {
    /// Returns the program that moves the elements of `src` to `dst`. Padding of `dst` becomes the low bits of `fill`
    /// (zeros above bit 127).
    ///
    /// # Errors
    /// - [unsupported](Error::is_unsupported) for widths that [`Elements`] does not list, for a
    ///   destination in which two elements share storage, and for offsets below 0;
    /// - [undecided](Error::is_undecided) for a destination not proved injective;
    /// - [mismatch](Error::is_mismatch) if the logical extents differ;
    /// - [overflow](Error::is_overflow) for storage beyond 2⁶³ − 1 bytes or this machine's addresses.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[4]).unwrap();
    /// let broadcast = TensorLayout::of(&Layout::parse("(4):(0)").unwrap());
    /// assert!(Program::new(&broadcast, &src, Elements::same(8), 0).is_ok());
    /// let error = Program::new(&src, &broadcast, Elements::same(8), 0).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    pub fn new(
        src: &TensorLayout,
        dst: &TensorLayout,
        elements: Elements,
        fill: u128,
    ) -> Result<Program, Error> {
        elements.check()?;
        let refinement = Refinement::new(src, dst)
            .map_err(|error| crate::refused_by_core("relayout", &error))?;
        Program::made(&refinement, (src, dst), Part::whole(src), elements, fill)
    }

    /// Returns the program that moves a part of one array to a part of another: element `c` of the part, with `c` below
    /// `extents`, is at coordinate `src_origin + c` of the source and `dst_origin + c` of the destination.
    ///
    /// The origins may be anywhere, at edges of tiles or not. Bytes of the destination outside the part are not
    /// written, so a part has neither gaps nor fill. Several sources or destinations need a list of programs, which run
    /// in any order.
    ///
    /// # Errors
    /// Those of [`Program::new`], [mismatch](Error::is_mismatch) if the layouts, the origins and the extents differ in
    /// rank, and
    /// - [out of range](Error::is_out_of_range) for a part that reaches beyond either array;
    /// - [overflow](Error::is_overflow) for a part that reaches beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_core::{Fractal, TensorLayout};
    /// use tilewright_relayout::{Elements, Plan, Program};
    /// // Two files of three rows each, into one tiled array of six.
    /// let file = TensorLayout::row_major(&[3, 4]).unwrap();
    /// let whole = Fractal::ZZ.pattern(2, 2).layout(&[6, 4]).unwrap();
    /// let part = |row| {
    ///     let elements = Elements::same(8);
    ///     Program::of_part((&file, &[0, 0]), (&whole, &[row, 0]), &[3, 4], elements)
    /// };
    /// let programs = [part(0).unwrap(), part(3).unwrap()];
    /// let sources: [Vec<u8>; 2] = [(0..12).collect(), (12..24).collect()];
    /// let mut out = [0; 24];
    /// for (program, source) in programs.into_iter().zip(&sources) {
    ///     Plan::of(program).run(source, &mut out, 1).unwrap();
    /// }
    /// assert_eq!(out[..12], [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13]);
    ///
    /// let error = part(4).unwrap_err();
    /// assert!(error.is_out_of_range() && error.to_string().contains("dim 0 of a part from 4 to 7"));
    /// ```
    pub fn of_part(
        (src, src_origin): (&TensorLayout, &[u64]),
        (dst, dst_origin): (&TensorLayout, &[u64]),
        extents: &[u64],
        elements: Elements,
    ) -> Result<Program, Error> {
        elements.check()?;
        let refinement = Refinement::of_part(src, src_origin, dst, dst_origin, extents)
            .map_err(|error| crate::refused_by_core("a part", &error))?;
        let part = Part::new(src_origin, dst_origin, extents);
        Program::made(&refinement, (src, dst), part, elements, 0)
    }

    fn made(
        refinement: &Refinement<'_>,
        (src, dst): (&TensorLayout, &TensorLayout),
        part: Part,
        elements: Elements,
        fill: u128,
    ) -> Result<Program, Error> {
        let src_bytes = elements::bytes("source", src.capacity(), elements.src_bits)?;
        let dst_bytes = elements::bytes("destination", dst.capacity(), elements.dst_bits)?;
        if !part.is_empty() {
            check_low("source", src)?;
            check_low("destination", dst)?;
            check_injective(dst)?;
        }
        let straight = if part.is_part() { None } else { straight(src, dst) };
        let regions = match &straight {
            Some((src, dst)) => match Refinement::new(src, dst) {
                Ok(refinement) => collect(&refinement, elements),
                Err(_) => None,
            },
            None => collect(refinement, elements),
        };
        let (src, dst, digits, gaps) = (src.clone(), dst.clone(), OnceLock::new(), OnceLock::new());
        let tables = None;
        Ok(Program {
            src,
            dst,
            elements,
            fill,
            src_bytes,
            dst_bytes,
            part,
            tables,
            listed: false,
            regions,
            digits,
            gaps,
        })
    }

    /// Returns the extents that are moved: those of the arrays, or of the part.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let part = Program::of_part((&rows, &[0, 4]), (&rows, &[6, 0]), &[2, 4], Elements::same(8));
    /// assert_eq!(part.unwrap().extents(), [2, 4]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        self.part.extents()
    }

    /// Returns the first coordinate that is moved, in the source and in the destination.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let part = Program::of_part((&rows, &[0, 4]), (&rows, &[6, 0]), &[2, 4], Elements::same(8));
    /// assert_eq!(part.unwrap().origins(), ([0, 4].as_slice(), [6, 0].as_slice()));
    /// ```
    pub fn origins(&self) -> (&[u64], &[u64]) {
        (self.part.src.as_slice(), self.part.dst.as_slice())
    }

    /// Returns whether the program moves a part and leaves the other bytes of the destination unchanged.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let part = Program::of_part((&rows, &[0, 0]), (&rows, &[0, 0]), &[8, 8], Elements::same(8));
    /// assert!(part.unwrap().is_part());
    /// assert!(!Program::new(&rows, &rows, Elements::same(8), 0).unwrap().is_part());
    /// ```
    pub fn is_part(&self) -> bool {
        self.part.is_part()
    }

    /// Returns the layout of the source.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.src(), &layout);
    /// ```
    pub fn src(&self) -> &TensorLayout {
        &self.src
    }

    /// Returns the layout of the destination.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.dst(), &layout);
    /// ```
    pub fn dst(&self) -> &TensorLayout {
        &self.dst
    }

    /// Returns the widths of the elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.elements(), Elements::same(8));
    /// ```
    pub fn elements(&self) -> Elements {
        self.elements
    }

    /// Returns the bits of an element of padding; the low bits count.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert_eq!(Program::new(&layout, &layout, Elements::same(8), 7).unwrap().fill(), 7);
    /// ```
    pub fn fill(&self) -> u128 {
        self.fill
    }

    /// Returns the bytes of the source: capacity × width, rounded up.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert_eq!(Program::new(&layout, &layout, Elements::same(4), 0).unwrap().src_bytes(), 3);
    /// ```
    pub fn src_bytes(&self) -> u64 {
        self.src_bytes
    }

    /// Returns the bytes of the destination: capacity × width, rounded up.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert_eq!(Program::new(&layout, &layout, Elements::same(4), 0).unwrap().dst_bytes(), 3);
    /// ```
    pub fn dst_bytes(&self) -> u64 {
        self.dst_bytes
    }

    /// Returns the regions, or `None` if there would be more than 1024; such a program uses digits.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let program = Program::new(&rows, &rows, Elements::same(8), 0).unwrap();
    /// let [all] = program.regions().unwrap() else { panic!("one run") };
    /// assert_eq!((all.run, all.loops.len()), (6, 0));
    /// ```
    pub fn regions(&self) -> Option<&[Region]> {
        self.regions.as_deref()
    }

    /// Returns the boxes of the destination that hold no element and get the fill. Returns `None` if there are more
    /// than 1024 boxes, or if they follow no regular pattern; then everything that no region writes gets the fill.
    ///
    /// Regions and gaps together cover the elements of the destination exactly once. After the last element, packed
    /// elements may leave bits of the last byte, which become 0. Gaps depend on the destination alone, so a program of
    /// digits may have them too. A part has none.
    ///
    /// ```
    /// use tilewright_core::{Fractal, TensorLayout};
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[100, 100]).unwrap();
    /// let dst = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(16), 0).unwrap();
    /// let bytes = program.gaps().unwrap().iter().map(|gap| gap.size());
    /// assert_eq!(bytes.sum::<u64>(), program.padding() * 2);
    /// ```
    pub fn gaps(&self) -> Option<&[Gap]> {
        let found = || match self.is_part() {
            true => Some(Vec::new()),
            // The table decides where holes are; they follow no regular pattern.
            false if self.holes() > 0 => None,
            false => gaps_of(&self.dst, self.elements),
        };
        self.gaps.get_or_init(found).as_deref()
    }

    /// Returns the number of destination elements that the program fills: the sum over all gaps; 0 for a part.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = src.clone().with_capacity(8).unwrap();
    /// assert_eq!(Program::new(&src, &dst, Elements::same(8), 0).unwrap().padding(), 2);
    /// ```
    pub fn padding(&self) -> u64 {
        if self.is_part() { 0 } else { self.dst.padding().saturating_add(self.holes()) }
    }

    /// Iterates over the byte ranges of the source that hold elements, in ascending order, joined where they touch. A
    /// run reads exactly these bytes. Packed elements share bytes.
    ///
    /// The iterator uses bounded memory for arrays of any size.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let part = Program::of_part((&rows, &[5, 4]), (&rows, &[6, 0]), &[2, 4], Elements::same(16));
    /// let part = part.unwrap();
    /// assert_eq!(part.source_ranges().collect::<Vec<_>>(), [88..96, 104..112]);
    /// assert_eq!(part.destination_ranges().collect::<Vec<_>>(), [96..104, 112..120]);
    /// ```
    pub fn source_ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        if self.listed {
            return Ranges::of_cells(self.cells(|region| region.src, |turn| turn.src));
        }
        let bits = self.elements.src_bits;
        match self.tables() {
            Some(tables) => Ranges::with_tables(&self.src, &tables.src, bits),
            None => Ranges::of(&self.src, &self.part.src, self.extents(), bits),
        }
    }

    /// Iterates over the byte ranges of the destination that hold elements, ordered and joined as those of the source.
    /// A run writes them in addition to the fill.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[3, 5]).unwrap();
    /// let padded = TensorLayout::new(&[3, 5], &Layout::parse("(3,8):(8,1)").unwrap(), 24).unwrap();
    /// let program = Program::new(&src, &padded, Elements::same(8), 0).unwrap();
    /// assert_eq!(program.destination_ranges().collect::<Vec<_>>(), [0..5, 8..13, 16..21]);
    /// ```
    pub fn destination_ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        if self.listed {
            return Ranges::of_cells(self.cells(|region| region.dst, |turn| turn.dst));
        }
        let bits = self.elements.dst_bits;
        match self.tables() {
            Some(tables) => Ranges::with_tables(&self.dst, &tables.dst, bits),
            None => Ranges::of(&self.dst, &self.part.dst, self.extents(), bits),
        }
    }

    /// Returns both offsets as sums over digits of the destination. Every program has this form; a program without
    /// [regions](Program::regions) runs by it.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let program = Program::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let strides: Vec<i64> = program.digits().digits().iter().map(|digit| digit.stride()).collect();
    /// assert_eq!(strides, [1, 2]);
    /// ```
    pub fn digits(&self) -> &Digits {
        let made = || {
            if let Some(tables) = self.tables() {
                return Digits::with_tables(&self.src, &self.dst, tables);
            }
            let straight = if self.is_part() { None } else { straight(&self.src, &self.dst) };
            match straight {
                Some((src, dst)) => Digits::new(&src, &dst, &Part::whole(&src)),
                None => Digits::new(&self.src, &self.dst, &self.part),
            }
        };
        self.digits.get_or_init(|| Box::new(made()))
    }

    /// Drops the regions, so that elements are found by digits.
    #[cfg(test)]
    pub(crate) fn forget_regions(&mut self) {
        self.regions = None;
    }

    /// Returns the bytes of the destination that are written: the whole array, or the elements of a part.
    pub(crate) fn moved_bytes(&self) -> u64 {
        if !self.is_part() {
            return self.dst_bytes;
        }
        let elements =
            self.extents().iter().fold(1, |all: u64, extent| all.saturating_mul(*extent));
        elements.saturating_mul(u64::from(self.elements.dst_bits)).div_ceil(8)
    }

    /// Returns the region that moves most, with its number; `None` for an empty array, or if there are too many
    /// regions.
    pub(crate) fn main(&self) -> Option<(usize, &Region)> {
        let regions = self.regions.as_ref()?.iter().enumerate();
        regions.max_by_key(|(_, region)| region.dst_bits(self.elements))
    }
}

/// Collects the regions, if there are at most [`MAX_REGIONS`].
fn collect(refinement: &Refinement<'_>, elements: Elements) -> Option<Vec<Region>> {
    let mut regions = Vec::new();
    for block in refinement.blocks() {
        if regions.len() == MAX_REGIONS {
            return None;
        }
        regions.push(Region::of(&block, elements));
    }
    Some(regions)
}

/// Refuses offsets below 0, since buffers begin at offset 0.
fn check_low(what: &str, layout: &TensorLayout) -> Result<(), Error> {
    match layout.layout().bounds() {
        Some((low, _)) if low < 0 => Err(Error::unsupported(format!(
            "the {what} {layout:?} reaches down to offset {low}; start it at offset {} or above",
            low.unsigned_abs()
        ))),
        _ => Ok(()),
    }
}

fn check_injective(dst: &TensorLayout) -> Result<(), Error> {
    match dst.injective() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::unsupported(format!(
            "elements of the destination {dst:?} share storage; give each its own"
        ))),
        Err(error) => Err(crate::refused_by_core(
            "the destination's elements are not proved to have different offsets",
            &error,
        )),
    }
}

/// A box: element `c` of the part, below the extents, has coordinate `src + c` in the source and `dst + c` in the
/// destination.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) src: Coord,
    pub(crate) dst: Coord,
    extents: Coord,
    is_part: bool,
}

impl Part {
    /// A whole array.
    pub(crate) fn whole(tensor: &TensorLayout) -> Part {
        Part::array(tensor.extents())
    }

    /// A whole array with these extents.
    pub(crate) fn array(extents: &[u64]) -> Part {
        let (zeros, extents) = (vec![0; extents.len()], of(extents));
        Part { src: of(&zeros), dst: of(&zeros), extents, is_part: false }
    }

    /// A part of arrays of this rank.
    pub(crate) fn new(src: &[u64], dst: &[u64], extents: &[u64]) -> Part {
        Part { src: of(src), dst: of(dst), extents: of(extents), is_part: true }
    }

    pub(crate) fn extents(&self) -> &[u64] {
        self.extents.as_slice()
    }

    /// Returns whether bytes outside the elements are left unchanged.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.extents().contains(&0)
    }
}

/// Returns a coordinate; arrays never have more dims than a coordinate has room for.
fn of(axes: &[u64]) -> Coord {
    Coord::new(axes).unwrap_or(Coord::EMPTY)
}

/// The index tables of both sides.
#[derive(Clone, Debug)]
pub(crate) struct ProgramTables {
    pub(crate) src: Vec<Along>,
    pub(crate) dst: Vec<Along>,
    pub(crate) extents: Vec<u64>,
}

impl Program {
    /// Returns the program that moves the elements of `src` to `dst`, both of which may have index tables. Padding of
    /// `dst`, including holes, becomes the low bits of `fill`.
    ///
    /// [`Program::src`] and [`Program::dst`] are the layouts below the tables, whose extents may differ from those of
    /// the array, [`Program::extents`]. If shape and strides can express all tables of both sides, the program is that
    /// of [`Program::new`].
    ///
    /// # Errors
    /// Those of [`Program::new`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan, Program};
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 2]).unwrap());
    /// let list = [Some(2), None, Some(0), Some(1)];
    /// let along = Along::new(&[(0, 1)], &[3, 2], Arc::new(Table::new(3, list).unwrap())).unwrap();
    /// let stored = TensorLayout::row_major(&[4, 2]).unwrap();
    /// let sorted = TabledLayout::new(&[3, 2], vec![along], &stored).unwrap();
    /// let program = Program::of_arrays(&rows, &sorted, Elements::same(8), 9).unwrap();
    /// let mut out = [0; 8];
    /// Plan::of(program).run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [5, 6, 9, 9, 1, 2, 3, 4]);
    ///
    /// let other = TabledLayout::of(&TensorLayout::row_major(&[2, 3]).unwrap());
    /// assert!(Program::of_arrays(&rows, &other, Elements::same(8), 0).unwrap_err().is_mismatch());
    /// ```
    pub fn of_arrays(
        src: &TabledLayout,
        dst: &TabledLayout,
        elements: Elements,
        fill: u128,
    ) -> Result<Program, Error> {
        if !TABLES {
            return Program::new(src.stored(), dst.stored(), elements, fill);
        }
        elements.check()?;
        let plain = |side: &TabledLayout| side.tables().is_empty().then(|| side.stored().clone());
        let folded = |side: &TabledLayout| plain(side).or_else(|| side.fold());
        if let (Some(src), Some(dst)) = (folded(src), folded(dst)) {
            return Program::new(&src, &dst, elements, fill);
        }
        src.check_extents(dst).map_err(|error| crate::refused_by_core("relayout", &error))?;
        let (from, to) = (src.stored(), dst.stored());
        let src_bytes = elements::bytes("source", from.capacity(), elements.src_bits)?;
        let dst_bytes = elements::bytes("destination", to.capacity(), elements.dst_bits)?;
        let part = Part::array(dst.extents());
        if !part.is_empty() {
            check_low("source", from)?;
            check_low("destination", to)?;
            check_injective(to)?;
        }
        let tables = ProgramTables {
            src: src.tables().to_vec(),
            dst: dst.tables().to_vec(),
            extents: dst.extents().to_vec(),
        };
        Ok(Program {
            src: from.clone(),
            dst: to.clone(),
            elements,
            fill,
            src_bytes,
            dst_bytes,
            part,
            tables: Some(tables),
            listed: false,
            regions: None,
            digits: OnceLock::new(),
            gaps: OnceLock::new(),
        })
    }

    /// Returns whether the program looks up index tables.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert!(!Program::new(&rows, &rows, Elements::same(8), 0).unwrap().has_tables());
    /// ```
    pub fn has_tables(&self) -> bool {
        self.tables().is_some()
    }

    pub(crate) fn tables(&self) -> Option<&ProgramTables> {
        if TABLES { self.tables.as_ref() } else { None }
    }

    /// Returns the number of stored elements that hold no element of the array.
    pub(crate) fn holes(&self) -> u64 {
        let Some(tables) = self.tables() else { return 0 };
        let all = tables.extents.iter().fold(1, |all: u64, extent| all.saturating_mul(*extent));
        self.dst.size().saturating_sub(all)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        match self.regions() {
            Some(regions) => {
                regions.iter().try_for_each(|region| self.write_region(f, region, ""))?;
            }
            None if self.has_tables() => {
                write!(f, "\n  index tables, so moved by digits; {}", self.digits())?
            }
            None => write!(f, "\n  more than 1024 regions, so moved by digits; {}", self.digits())?,
        }
        self.write_gaps(f)
    }
}

impl Program {
    /// Writes the extents, the widths and the padding.
    pub(crate) fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = self.elements();
        write!(f, "{:?}", self.extents())?;
        if self.is_part() {
            let ((src, dst), (from, to)) = ((self.src(), self.dst()), self.origins());
            write!(f, " from {from:?} of {:?} to {to:?} of {:?}", src.extents(), dst.extents())?;
        }
        match elements.are_same() {
            true => write!(f, ": {} bits", elements.src_bits)?,
            false => write!(f, ": {} to {} bits", elements.src_bits, elements.dst_bits)?,
        }
        write!(f, ", {} bytes to {} bytes", self.src_bytes(), self.dst_bytes())?;
        if self.is_part() {
            return f.write_str(", the rest is unchanged");
        }
        let (padding, all) = (self.padding(), self.dst().capacity());
        write!(f, ", {padding} of {all} elements padding")?;
        if padding > 0 { write!(f, " of {:#x}", self.fill()) } else { Ok(()) }
    }

    /// Writes the loops of a region after the name of its kernel.
    pub(crate) fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        region: &Region,
        way: &str,
    ) -> fmt::Result {
        let (src, dst) = (region.src_unit(self.elements()), region.dst_unit(self.elements()));
        let Region { run, src: from, dst: to, .. } = region;
        write!(f, "\n  {way}runs of {run}{} from {from} to {to}", unit(dst))?;
        for level in &region.loops {
            write!(f, "\n    {}× source {}, destination {}", level.extent, level.src, level.dst)?;
        }
        if src != dst { write!(f, "\n    the source counts{}", unit(src)) } else { Ok(()) }
    }

    /// Writes the gaps that are filled.
    pub(crate) fn write_gaps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gaps() {
            Some(gaps) => gaps.iter().try_for_each(|gap| self.write_gap(f, gap)),
            None => f.write_str("\n  all bytes without elements are filled first"),
        }
    }

    fn write_gap(&self, f: &mut fmt::Formatter<'_>, gap: &Gap) -> fmt::Result {
        let bits = if gap.packed { self.elements().dst_bits } else { 8 };
        write!(f, "\n  fill runs of {}{} at {}", gap.run, unit(bits), gap.dst)?;
        gap.loops.iter().try_for_each(|level| write!(f, "\n    {}× {}", level.extent, level.stride))
    }
}

fn unit(bits: u32) -> String {
    if bits == 8 { " bytes".to_string() } else { format!(" elements of {bits} bits") }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outer, inner) = self.entries();
        write!(f, "leaves of {outer}×{inner} elements, tables of {} bytes, ", self.table_bytes())?;
        write!(f, "{} steps", self.steps())?;
        for (i, group) in self.groups().iter().enumerate() {
            let digits = self.digits().iter().filter(|digit| digit.group() == i);
            for digit in digits.clone() {
                let (values, register) = (digit.values(), digit.register());
                write!(f, "\n    r{register} {values:?} destination {}", digit.stride())?;
            }
            group.ops().iter().try_for_each(|op| write!(f, "\n      {op}"))?;
        }
        let (src, dst) = self.swizzles();
        match src.is_identity() && dst.is_identity() {
            true => Ok(()),
            false => write!(f, "\n    swizzles: source {src}, destination {dst}"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Op::Split { from, by, to } => write!(f, "r{to} = r{from} % {by}, r{from} /= {by}"),
            Op::Merge { major, minor, extent } => write!(f, "r{minor} += r{major} · {extent}"),
            Op::Within { register, extent } => write!(f, "r{register} < {extent}"),
            Op::Move { register, from, extent, to } => {
                write!(f, "{from} ≤ r{register} < {}, r{register} += {to} - {from}", from + extent)
            }
            Op::Digit { from, by, stride } => {
                write!(f, "source += r{from} % {by} · {stride}, r{from} /= {by}")
            }
            Op::Rest { from, stride } => write!(f, "source += r{from} · {stride}"),
            Op::Look { register, list } => write!(f, "r{register} = list {list}[r{register}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Elements, Program};
    use tilewright_core::{Digit, Fractal, Pattern, TensorLayout};

    #[test]
    fn regions_gaps_and_parts_are_said() {
        let src = TensorLayout::row_major(&[100, 100]).unwrap();
        let dst = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
        let program = Program::new(&src, &dst, Elements::same(16), 0x7FFF).unwrap();
        assert_eq!(
            program.to_string(),
            "[100, 100]: 16 bits, 20000 bytes to 25088 bytes, 2544 of 12544 elements padding of 0x7fff
  runs of 32 bytes from 0 to 0
    6× source 32, destination 3584
    100× source 200, destination 32
  runs of 8 bytes from 192 to 21504
    100× source 200, destination 32
  fill runs of 384 bytes at 3200
    6× 3584
  fill runs of 24 bytes at 21512
    99× 32
  fill runs of 408 bytes at 24680"
        );
        let part = Program::of_part((&src, &[3, 4]), (&dst, &[20, 0]), &[2, 8], Elements::same(4));
        assert_eq!(
            part.unwrap().to_string(),
            "[2, 8] from [3, 4] of [100, 100] to [20, 0] of [100, 100]: 4 bits, 5000 bytes to 6272 \
             bytes, the rest is unchanged
  runs of 4 bytes from 152 to 160
    2× source 50, destination 8"
        );
    }

    #[test]
    fn digits_say_what_they_cost() {
        let tiles = |a, b| {
            let digits = [Digit::rest(0, 1), Digit::rest(1, 1)];
            let inner = [Digit::fixed(0, 0, a), Digit::fixed(1, 0, b)];
            Pattern::new(2, &[digits, inner].concat()).unwrap().layout(&[1000, 1000]).unwrap()
        };
        let program = Program::new(&tiles(3, 4), &tiles(4, 5), Elements::same(8), 0).unwrap();
        let said = program.to_string();
        assert!(program.regions().is_none());
        let digits = program.digits();
        let (bytes, steps) = (digits.table_bytes(), digits.steps());
        assert!(said.contains(&format!("tables of {bytes} bytes, {steps} steps")), "{said}");
        assert!(said.contains("\n      source += r0 % 3 · 4, r0 /= 3\n"), "{said}");
        // Tables take kilobytes for any size of array; an element takes a step, and tables add little.
        assert!(bytes < 1 << 16 && (1_000_000..1_100_000).contains(&steps), "{said}");
    }
}
