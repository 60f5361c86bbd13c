//! The plan: two layouts, the regions between them, and what they need.

use crate::{
    Elements, Error,
    cpu::hops::Hops,
    cpu::kernel::{self, Isa},
    cpu::pool::{Pool, Scratches},
    cpu::run::MIN_RANGE,
    cpu::weave::{Reach, Weave},
    elements,
    program::digits::Groups,
    program::region::Region,
};
use std::sync::Arc;
use tilewright_core::{Refinement, TensorLayout};

/// Beyond so many boxes, elements are found through tables instead.
const MAX_NESTS: usize = 1024;

/// How to move the elements of one layout to another: pure, owned and printable.
///
/// ```
/// use tilewright_core::{Fractal, TensorLayout};
/// use tilewright_relayout::{Elements, Plan};
/// let src = TensorLayout::row_major(&[100, 100]).unwrap();
/// let dst = Fractal::ZN.pattern(16, 16).layout(&[100, 100]).unwrap();
/// let plan = Plan::new(&src, &dst, Elements::same(16), 0).unwrap();
/// assert_eq!((plan.src_bytes(), plan.dst_bytes(), plan.padding()), (20_000, 25_088, 2_544));
/// assert_eq!(plan.kernel_name(), "transpose 32B");
/// ```
#[derive(Clone)]
pub struct Plan(pub(crate) Arc<Inner>);

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) src: TensorLayout,
    pub(crate) dst: TensorLayout,
    pub(crate) elements: Elements,
    pub(crate) fill: u128,
    /// `None` where there are too many.
    pub(crate) regions: Option<Vec<Region>>,
    pub(crate) groups: Groups,
    /// The least bytes of a thread's range.
    pub(crate) min_range: u64,
    pub(crate) pool: Pool,
    pub(crate) scratches: Scratches,
    pub(crate) isa: Isa,
    /// How the larger regions are woven.
    pub(crate) weaves: Vec<Weave>,
    /// How some of them go in two hops.
    pub(crate) hops: Vec<Hops>,
    pub(crate) src_bytes: u64,
    pub(crate) dst_bytes: u64,
}

impl Plan {
    /// The plan that moves the elements of `src` to `dst`; padding of `dst` becomes the low bits of
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
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[4]).unwrap();
    /// let broadcast = TensorLayout::of(&Layout::parse("(4):(0)").unwrap());
    /// assert!(Plan::new(&broadcast, &src, Elements::same(8), 0).is_ok());
    /// assert!(Plan::new(&src, &broadcast, Elements::same(8), 0).unwrap_err().is_unsupported());
    /// ```
    pub fn new(
        src: &TensorLayout,
        dst: &TensorLayout,
        elements: Elements,
        fill: u128,
    ) -> Result<Plan, Error> {
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
        let (groups, min_range) = (Groups::new(src, dst), MIN_RANGE);
        let isa = Isa::chosen();
        let (weaves, hops) =
            prepared(regions.as_deref().unwrap_or_default(), elements, isa, Reach::of(dst_bytes));
        let (src, dst) = (src.clone(), dst.clone());
        let inner = Inner {
            src,
            dst,
            elements,
            fill,
            regions,
            groups,
            min_range,
            pool: Pool::default(),
            scratches: Scratches::default(),
            isa,
            weaves,
            hops,
            src_bytes,
            dst_bytes,
        };
        Ok(Plan(Arc::new(inner)))
    }

    /// The same plan, whose threads take ranges of the destination of at least `bytes` bytes; 16 KiB
    /// unless set. Shorter ranges share small arrays among more threads. Large arrays may be shared along
    /// another loop, if that keeps all threads busy, whatever is set here.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap().with_min_range(1);
    /// let mut out = [0; 6];
    /// plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 6).unwrap();
    /// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    /// ```
    #[must_use]
    pub fn with_min_range(mut self, bytes: u64) -> Plan {
        Arc::make_mut(&mut self.0).min_range = bytes.max(1);
        self
    }

    /// The bytes of the source: capacity × width, rounded up.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.src_bytes(), 6);
    /// ```
    pub fn src_bytes(&self) -> u64 {
        self.0.src_bytes
    }

    /// The bytes of the destination: capacity × width, rounded up.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.dst_bytes(), 6);
    /// ```
    pub fn dst_bytes(&self) -> u64 {
        self.0.dst_bytes
    }

    /// The destination elements that hold no logical element, and get the fill.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.padding(), 0);
    /// let wide = dst.with_capacity(10).unwrap();
    /// assert_eq!(Plan::new(&src, &wide, Elements::same(8), 0).unwrap().padding(), 4);
    /// ```
    pub fn padding(&self) -> u64 {
        self.0.dst.padding()
    }

    /// The widths of the elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.elements(), Elements::same(8));
    /// ```
    pub fn elements(&self) -> Elements {
        self.0.elements
    }

    /// The layout of the source.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.src(), &src);
    /// ```
    pub fn src(&self) -> &TensorLayout {
        &self.0.src
    }

    /// The layout of the destination.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.dst(), &dst);
    /// ```
    pub fn dst(&self) -> &TensorLayout {
        &self.0.dst
    }
}

impl Inner {
    /// The region that moves most; `None` for an empty array, or where regions are not kept.
    pub(crate) fn main(&self) -> Option<&Region> {
        let bits = |region: &&Region| {
            u128::from(region.size()) * u128::from(region.dst_unit(self.elements))
        };
        self.regions.as_ref()?.iter().max_by_key(bits)
    }
}

/// The regions, if they are few.
fn collect(refinement: &Refinement<'_>, elements: Elements) -> Option<Vec<Region>> {
    let mut regions = Vec::new();
    for block in refinement.blocks() {
        if regions.len() == MAX_NESTS {
            return None;
        }
        regions.push(Region::of(&block, elements));
    }
    Some(regions)
}

/// More weaves than this are not made beforehand.
pub(crate) const MOST_WEAVES: usize = 8;

/// The weaves of the larger regions, and the hops of those that need them.
fn prepared(
    regions: &[Region],
    elements: Elements,
    isa: Isa,
    reach: Reach,
) -> (Vec<Weave>, Vec<Hops>) {
    let (mut weaves, mut hops) = (Vec::new(), Vec::new());
    for region in regions {
        if weaves.len() + hops.len() == MOST_WEAVES {
            break;
        }
        let weave = kernel::weave_of(elements, isa, &region.part(), reach);
        match weave {
            Some(weave) => weaves.push(weave),
            None => hops.extend(kernel::hops_of(elements, isa, &region.part(), reach)),
        }
    }
    (weaves, hops)
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
