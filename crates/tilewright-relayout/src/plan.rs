//! Plans: two layouts, the regions between them, and a kernel for each region.

use crate::{
    Elements, Error, Program,
    cpu::{
        cost::MIN_RANGE,
        joined::Joined,
        kernel::Isa,
        pool::{Pool, Scratches},
        transpose::Locality,
        way::Terms,
        ways::{Count, Ways},
    },
};
use std::sync::{Arc, OnceLock};
use tilewright_core::TensorLayout;

/// A prepared move of the elements of one layout to another: immutable, owned and printable.
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
#[must_use]
#[derive(Clone)]
pub struct Plan(pub(crate) Arc<PlanInner>);

#[derive(Clone)]
pub(crate) struct PlanInner {
    pub(crate) program: Program,
    /// The minimal number of bytes of a thread's range.
    pub(crate) min_range: u64,
    pub(crate) pool: Pool,
    pub(crate) scratches: Scratches,
    pub(crate) terms: Terms,
    /// The kernels chosen for each region.
    pub(crate) ways: Vec<Ways>,
    /// The regions that are moved together.
    pub(crate) joined: Option<Joined>,
    /// True if gaps are filled one by one; set when first needed.
    pub(crate) sparse: OnceLock<bool>,
    /// The number of runs that found elements through tables.
    pub(crate) tables: Count,
}

impl Plan {
    /// Returns the plan that moves the elements of `src` to `dst`. Padding of `dst` becomes the low bits of `fill`
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
        Program::new(src, dst, elements, fill).map(Plan::of)
    }

    /// Returns the plan that runs a program.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan, Program};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::of(Program::new(&src, &dst, Elements::same(8), 0).unwrap());
    /// let mut out = [0; 6];
    /// plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    /// ```
    pub fn of(program: Program) -> Plan {
        let locality = Locality::of(program.moved_bytes());
        Plan::with_locality(program, locality)
    }

    /// Returns the plan that runs a program and writes past the caches, for a destination that is in no cache. Plans
    /// that move 4 MiB or more always do so. It makes small parts of a large array faster.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan, Program};
    /// let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let columns = TensorLayout::col_major(&[64, 64]).unwrap();
    /// let program = || Program::new(&rows, &columns, Elements::same(16), 0).unwrap();
    /// let src: Vec<u8> = (0..8192).map(|i| i as u8).collect();
    /// let (mut near, mut far) = (vec![0; 8192], vec![0; 8192]);
    /// Plan::of(program()).run(&src, &mut near, 1).unwrap();
    /// Plan::past_caches(program()).run(&src, &mut far, 1).unwrap();
    /// assert_eq!(near, far);
    /// ```
    pub fn past_caches(program: Program) -> Plan {
        Plan::with_locality(program, Locality::Memory)
    }

    fn with_locality(program: Program, locality: Locality) -> Plan {
        let terms = Terms { elements: program.elements(), isa: Isa::chosen(), locality };
        let regions = program.regions().unwrap_or_default();
        let inner = PlanInner {
            ways: regions.iter().map(|region| Ways::of(region, terms)).collect(),
            terms,
            joined: Joined::of(&program, terms),
            program,
            min_range: MIN_RANGE,
            pool: Pool::default(),
            scratches: Scratches::default(),
            sparse: OnceLock::new(),
            tables: Count::default(),
        };
        Plan(Arc::new(inner))
    }

    /// Returns the program that the plan runs.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.program().regions().unwrap().len(), 1);
    /// ```
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// Returns this plan with another minimal range: threads take ranges of the destination of at least `bytes` bytes
    /// (default 16 KiB). Smaller ranges share small arrays among more threads. A large array may still be shared along
    /// another loop, if that keeps all threads busy.
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
    pub fn with_min_range(mut self, bytes: u64) -> Plan {
        Arc::make_mut(&mut self.0).min_range = bytes.max(1);
        self
    }

    /// Returns the bytes of the source: capacity × width, rounded up.
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
        self.0.program.src_bytes()
    }

    /// Returns the bytes of the destination: capacity × width, rounded up.
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
        self.0.program.dst_bytes()
    }

    /// Returns the number of destination elements that hold no logical element and get the fill.
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
        self.0.program.padding()
    }

    /// Returns the widths of the elements.
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
        self.0.program.elements()
    }

    /// Returns the layout of the source.
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
        self.0.program.src()
    }

    /// Returns the layout of the destination.
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
        self.0.program.dst()
    }
}
