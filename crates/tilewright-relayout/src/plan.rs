//! Plans: two layouts, the regions between them, and a kernel for each region. `strides.rs` makes plans of strided arrays.

use core::fmt;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use tilewright_core::{TensorLayout, View, ViewMut};

use crate::{
    Elements, Error, Program,
    cpu::{
        cost::MIN_RANGE,
        joined::Joined,
        kernel::{Isa, parallel_move::CutDirection},
        scratch::{FreeList, Scratch},
        transpose::Locality,
        way::{Count, Terms, Ways},
        workers::{self, Pool},
    },
    program::region::Region,
};

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
    pub(crate) scratches: FreeList<Scratch>,
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
            scratches: FreeList::default(),
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

/// Copies every element of `src` to the element of `dst` with the same coordinate.
///
/// A destination view of a whole array is written completely: its padding becomes zero. A view of a part (a tile, a
/// slice, permuted dims) is written element by element, and no other element is touched.
///
/// # Errors
/// Those of [`Plan::new`].
///
/// ```
/// use tilewright_core::{TensorLayout, View, ViewMut};
/// use tilewright_relayout::relayout;
/// let (row, col) =
///     (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
/// let mut out = [0f32; 6];
/// let src = View::new(&[1., 2., 3., 4., 5., 6.], &row).unwrap();
/// relayout(&src, &mut ViewMut::new(&mut out, &col).unwrap()).unwrap();
/// assert_eq!(out, [1., 4., 2., 5., 3., 6.]);
///
/// let other = TensorLayout::row_major(&[3, 2]).unwrap();
/// let mut dst = ViewMut::new(&mut out, &other).unwrap();
/// assert!(relayout(&src, &mut dst).unwrap_err().is_mismatch());
/// ```
pub fn relayout<T: Pod>(src: &View<'_, T>, dst: &mut ViewMut<'_, T>) -> Result<(), Error> {
    if src.extents() != dst.extents() {
        return Err(Error::mismatch(format!(
            "a source of {:?} against a destination of {:?}; both must have the same logical extents",
            src.extents(),
            dst.extents()
        )));
    }
    let bits = u32::try_from(size_of::<T>()).ok().and_then(|bytes| bytes.checked_mul(8));
    match bits {
        Some(bits @ 8..=2048) if src.is_whole() && dst.is_whole() => {
            let plan = Plan::new(src.layout(), dst.layout(), Elements::same(bits), 0)?;
            plan.run(bytemuck::cast_slice(src.data()), bytemuck::cast_slice_mut(dst.data_mut()), 0)
        }
        _ => {
            one_by_one(src, dst);
            Ok(())
        }
    }
}

fn one_by_one<T: Pod>(src: &View<'_, T>, dst: &mut ViewMut<'_, T>) {
    for (coord, element) in src.iter() {
        if let Some(place) = dst.get_mut(coord.as_slice()) {
            *place = *element;
        }
    }
}

impl Plan {
    /// Returns the name of the kernel that moves most of the bytes: `copy`, `rows`, `transpose 4B`, `interleave 3 rows
    /// of 4B`, `strided pack of every 2nd 4B`, `tiled transpose 4B`, `staged 4B`, `two passes of 4B`, `unpack 4b to 8b`, `blocks
    /// 4B`, `gather 4B`, `bits`; `fill` for an array without elements, and `tables` if there are too many regions and
    /// elements are found through tables of offsets. `joined` before a name says that boxes of ragged tiles are moved
    /// together, with their padding.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[200, 300]).unwrap();
    /// let dst = TensorLayout::col_major(&[200, 300]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.kernel_name(), "transpose 1B");
    /// assert_eq!(Plan::new(&src, &src, Elements::same(8), 0).unwrap().kernel_name(), "copy");
    /// ```
    pub fn kernel_name(&self) -> String {
        match (self.0.program.main(), self.0.program.regions()) {
            (Some((i, region)), _) => {
                self.joined(i).map_or_else(|| self.0.ways[i].name(region), |joined| joined.0)
            }
            (None, Some(_)) => "fill".to_string(),
            (None, None) => "tables".to_string(),
        }
    }

    /// Returns the kernels that [`run`](Plan::run) and [`run_range`](Plan::run_range) have run since this plan was
    /// made, by the name that the plan prints, with the number of runs of each. `other` counts the remainders of
    /// regions, cut by ranges of the destination, that were too small for the region's kernel.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[200, 300]).unwrap();
    /// let dst = TensorLayout::col_major(&[200, 300]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// plan.run(&[0; 60_000], &mut [0; 60_000], 1).unwrap();
    /// assert_eq!(plan.ways_run(), [("transpose 1B".to_string(), 1)]);
    /// ```
    pub fn ways_run(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = Vec::new();
        let mut add = |name: String, ran: u64| match all.iter_mut().find(|way| way.0 == name) {
            Some(way) => way.1 += ran,
            None if ran > 0 => all.push((name, ran)),
            None => {}
        };
        for (i, (region, ways)) in self.regions().enumerate() {
            let (first, others) = ways.ran();
            if let Some((name, ran)) = self.joined(i) {
                add(name, ran);
            }
            add(ways.name(region), first);
            add("other".to_string(), others);
        }
        add("other".to_string(), self.0.joined().map_or(0, Joined::others));
        add("tables".to_string(), self.0.tables.get());
        all
    }

    /// Returns the text of the plan for this many threads, with how they share each region; 0 means one thread per
    /// core.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2000, 3000]).unwrap();
    /// let dst = TensorLayout::col_major(&[2000, 3000]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// let text = plan.shared(2).to_string();
    /// assert!(text.contains("2 threads share"), "{text}");
    /// assert!(plan.shared(1).to_string().contains("one thread"));
    /// ```
    pub fn shared(&self, threads: usize) -> impl fmt::Display + '_ {
        SharedPlan { plan: self, threads }
    }

    /// Returns the name of the way of a region that is moved with others, and the number of its runs.
    fn joined(&self, i: usize) -> Option<(String, u64)> {
        let joined = self.0.joined()?;
        joined.name(i).map(|(name, _)| (name, joined.ran(i)))
    }

    fn regions(&self) -> impl Iterator<Item = (&Region, &Ways)> {
        self.0.program.regions().unwrap_or_default().iter().zip(&self.0.ways)
    }

    fn write_region(
        &self,
        f: &mut fmt::Formatter<'_>,
        i: usize,
        (region, ways): (&Region, &Ways),
    ) -> fmt::Result {
        let alone = || (ways.name(region), ways.first().details(&region.whole(), ways.terms()));
        let joined = self.0.joined().and_then(|joined| joined.name(i));
        let (name, details) = joined.unwrap_or_else(alone);
        let way = format!("{name}{details}, ");
        self.0.program.write_region(f, region, &way)
    }

    /// Writes the plan; `also` adds a text to each region.
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        also: &dyn Fn(&mut fmt::Formatter<'_>, usize) -> fmt::Result,
    ) -> fmt::Result {
        let program = &self.0.program;
        program.write_head(f)?;
        if program.regions().is_none() {
            write!(f, "\n  tables: the digits do not divide; {}", program.digits())?;
        }
        for (i, (region, ways)) in self.regions().enumerate() {
            self.write_region(f, i, (region, ways))?;
            also(f, i)?;
        }
        match program.gaps() {
            Some(gaps) if !self.0.fills_gaps_alone(gaps) && program.padding() > 0 => {
                f.write_str("\n  the fill is written everywhere before the elements")
            }
            _ => program.write_gaps(f),
        }
    }
}

/// A plan and the number of threads that share it.
struct SharedPlan<'a> {
    plan: &'a Plan,
    threads: usize,
}

impl fmt::Display for SharedPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (threads, cuts) = (workers::wanted(self.threads), self.plan.0.cuts(self.threads));
        self.plan.write(f, &|f, i| {
            if self.plan.joined(i).is_some() && threads > 1 {
                return write!(f, "\n    {threads} threads share its blocks");
            }
            let Some(cut) = cuts[i] else { return write!(f, "\n    one thread") };
            write!(f, "\n    {threads} threads share {} parts along ", cut.parts())?;
            match cut.along {
                CutDirection::Loop(i) => write!(f, "loop {i}"),
                CutDirection::Run => write!(f, "the run"),
            }
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|_, _| Ok(()))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({self})")
    }
}
