//! What moves: the elements of two layouts as regions, or as digits where regions are too many. Nothing
//! here knows a processor.
//!
//! Law: the regions of a program, or the leaves of its digits, visit every logical element once, at its
//! offset in the source and in the destination.

pub(crate) mod digits;
pub(crate) mod gaps;
pub(crate) mod ops;
pub(crate) mod region;
pub(crate) mod walk;

use crate::{Elements, Error, elements};
use digits::Digits;
use gaps::Gap;
use region::Region;
use std::sync::OnceLock;
use tilewright_core::{Refinement, TensorLayout};

/// A program of more regions than this has digits instead.
pub(crate) const MAX_REGIONS: usize = 1024;

/// What moves from one layout to another: pure, owned and public, for whoever generates code from it or
/// asks what a conversion is. [`Plan`](crate::Plan) runs it on this machine.
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
#[derive(Clone, Debug)]
pub struct Program {
    src: TensorLayout,
    dst: TensorLayout,
    elements: Elements,
    fill: u128,
    src_bytes: u64,
    dst_bytes: u64,
    /// `None` where there are too many.
    regions: Option<Vec<Region>>,
    digits: OnceLock<Box<Digits>>,
    /// `None` inside where there are too many.
    gaps: OnceLock<Option<Vec<Gap>>>,
}

impl Program {
    /// The program that moves the elements of `src` to `dst`; padding of `dst` becomes the low bits of
    /// `fill` (zeros above bit 127).
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
            Refinement::new(src, dst).map_err(|error| Error::of("relayout", &error))?;
        let src_bytes = elements::bytes("source", src.capacity(), elements.src_bits)?;
        let dst_bytes = elements::bytes("destination", dst.capacity(), elements.dst_bits)?;
        if src.size() > 0 {
            check_low("source", src)?;
            check_low("destination", dst)?;
            check_injective(dst)?;
        }
        let regions = collect(&refinement, elements);
        let (src, dst, digits, gaps) = (src.clone(), dst.clone(), OnceLock::new(), OnceLock::new());
        Ok(Program { src, dst, elements, fill, src_bytes, dst_bytes, regions, digits, gaps })
    }

    /// The layout of the source.
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

    /// The layout of the destination.
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

    /// The widths of the elements.
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

    /// The bits of an element of padding: the low bits count.
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

    /// The bytes of the source: capacity × width, rounded up.
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

    /// The bytes of the destination: capacity × width, rounded up.
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

    /// The regions, or `None` where they would be more than 1024: the program is one of digits then.
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

    /// What no element is written to, which gets the fill; `None` where that is more than 1024 boxes or
    /// lies between elements in no regular way: everything that no region writes.
    ///
    /// Regions and gaps together cover the elements of the destination exactly once. Behind the last
    /// element, packed ones may leave bits of the last byte, which become 0. Gaps depend on the
    /// destination alone, so a program of digits may have them, too.
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
        self.gaps.get_or_init(|| gaps::gaps_of(&self.dst, self.elements)).as_deref()
    }

    /// The elements of the destination that the program fills: those of all gaps together.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = src.clone().with_capacity(8).unwrap();
    /// assert_eq!(Program::new(&src, &dst, Elements::same(8), 0).unwrap().padding(), 2);
    /// ```
    pub fn padding(&self) -> u64 {
        self.dst.padding()
    }

    /// Both offsets as sums over digits of the destination.
    pub(crate) fn digits(&self) -> &Digits {
        self.digits.get_or_init(|| Box::new(Digits::new(&self.src, &self.dst)))
    }

    /// Finds elements by digits, as if regions were too many.
    #[cfg(test)]
    pub(crate) fn forget_regions(&mut self) {
        self.regions = None;
    }

    /// The region that moves most, and its number; `None` for an empty array, or where regions are too many.
    pub(crate) fn main(&self) -> Option<(usize, &Region)> {
        let bits = |(_, region): &(usize, &Region)| {
            u128::from(region.size()) * u128::from(region.dst_unit(self.elements))
        };
        self.regions.as_ref()?.iter().enumerate().max_by_key(bits)
    }
}

/// The regions, if they are few.
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

/// Refuses offsets below 0, which no buffer has.
fn check_low(what: &str, layout: &TensorLayout) -> Result<(), Error> {
    match layout.layout().bounds() {
        Some((low, _)) if low < 0 => Err(Error::unsupported(format!(
            "the {what} {layout:?} reaches down to offset {low}; begin it at offset {} or above",
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
        Err(error) => {
            Err(Error::of("the destination is not proved to keep its elements apart", &error))
        }
    }
}
