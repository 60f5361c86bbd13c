//! Programs: the elements of two layouts as regions, or as digits if there are too many regions, and the gaps between
//! them. Nothing here depends on a processor.
//!
//! Laws:
//! - The regions of a program, or the leaves of its digits, visit every logical element once, at its offset in the
//!   source and in the destination.
//! - Regions and gaps together cover the destination once.
//! - The programs of the parts of a partition, in any order, have the effect of the program of the whole.

pub(crate) mod cells;
pub(crate) mod digits;
mod display;
pub(crate) mod gaps;
pub(crate) mod list;
mod listed;
pub(crate) mod ops;
mod part;
mod ranges;
pub(crate) mod region;
mod straight;
mod swizzled;
mod tabled;
pub(crate) mod walk;

use crate::{Elements, Error, elements, error};
use core::ops::Range;
use digits::Digits;
use gaps::{Gap, gaps_of};
use part::Part;
use ranges::Ranges;
use region::Region;
use std::sync::OnceLock;
use straight::straight;
use tabled::ProgramTables;
use tilewright_core::{Refinement, TensorLayout};

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
        let refinement =
            Refinement::new(src, dst).map_err(|error| error::of("relayout", &error))?;
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
            .map_err(|error| error::of("a part", &error))?;
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
        Err(error) => Err(error::of(
            "the destination's elements are not proved to have different offsets",
            &error,
        )),
    }
}
