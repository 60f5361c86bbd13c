//! Plans: two layouts, or two strided arrays, the regions between them, and a kernel for each region.

use core::fmt;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use tilewright_core::{Layout, Mode, TensorLayout, View, ViewMut};

use crate::{
    Elements, Error, Program,
    cpu::{
        cost::MIN_RANGE,
        joined::Joined,
        kernel::{Isa, parallel_move::CutDirection},
        transpose::Locality,
        way::{Count, Terms, Ways},
        workers::{self, FreeList, Pool, Scratch},
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

// Plans between two strided arrays of equal shape with strides in bytes, as NumPy, torch and DLPack describe them.
//
// Law: element `c` of the source, `Σ c[d] · src[d]` bytes after the source's first element, is written `Σ c[d] ·
// dst[d]` bytes after the destination's first element, and no other byte is written.
//
// Strides need not be multiples of the element: a field of a packed structure can have a stride of any number of
// bytes. So moves are counted in *units*. A unit is the largest number of bytes up to 16 that divides the element and
// all strides. An element of several units adds one more dim.

/// The widest unit in bytes: the widest element that the kernels move as one.
const WIDEST: u64 = 16;

/// A dim of both arrays: its extent, and its strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StridedDim {
    extent: u64,
    src: i64,
    dst: i64,
}

impl Plan {
    /// Returns the plan that copies one strided array to another with the same extents and elements of `bytes` bytes.
    ///
    /// Strides are in bytes and may have any sign. A stride of 0 repeats an element and is allowed in the source only.
    /// Each buffer begins with the lowest byte of its elements and ends after the highest. Bytes between the elements
    /// of the destination are not written.
    ///
    /// # Errors
    /// - [mismatch](Error::is_mismatch) where the numbers of extents and strides differ;
    /// - [unsupported](Error::is_unsupported) for elements of 0 bytes, and for a destination in which two elements
    ///   share storage;
    /// - [undecided](Error::is_undecided) for a destination that is not proved injective;
    /// - [overflow](Error::is_overflow) for arrays beyond 2⁶³ − 1 bytes.
    ///
    /// ```
    /// use tilewright_relayout::Plan;
    /// // A matrix of 2 × 3 bytes, its rows read from the last to the first, into every second byte.
    /// let plan = Plan::of_strides(&[2, 3], 1, &[-3, 1], &[6, 2]).unwrap();
    /// let mut out = [9; 11];
    /// plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
    /// assert_eq!(out, [4, 9, 5, 9, 6, 9, 1, 9, 2, 9, 3]);
    ///
    /// let error = Plan::of_strides(&[2, 3], 1, &[3, 1], &[0, 1]).unwrap_err();
    /// assert!(error.is_unsupported());
    /// ```
    pub fn of_strides(
        extents: &[u64],
        bytes: u64,
        src: &[i64],
        dst: &[i64],
    ) -> Result<Plan, Error> {
        if src.len() != extents.len() || dst.len() != extents.len() {
            let (dims, from, to) = (extents.len(), src.len(), dst.len());
            return Err(Error::mismatch(format!(
                "{from} strides of the source and {to} of the destination; {dims} extents have {dims}"
            )));
        }
        if bytes == 0 {
            return Err(Error::unsupported("the element size is 0 bytes; give at least 1"));
        }
        let mut dims = merged(extents, src, dst);
        let unit = unit(bytes, &dims);
        if unit < bytes {
            let within = i64::try_from(unit).unwrap_or(i64::MAX);
            dims.push(StridedDim { extent: bytes / unit, src: within, dst: within });
        }
        let extents: Vec<u64> = dims.iter().map(|dim| dim.extent).collect();
        let side = |what, stride: fn(&StridedDim) -> i64| side(what, &dims, &extents, unit, stride);
        let (src, dst) = (side("source", |dim| dim.src)?, side("destination", |dim| dim.dst)?);
        let origin = vec![0; dims.len()];
        let bits = u32::try_from(unit * 8).unwrap_or(u32::MAX);
        Program::of_part((&src, &origin), (&dst, &origin), &extents, Elements::same(bits))
            .map(Plan::of)
    }
}

/// Returns the dims with more than one coordinate, merged into as few as possible. An array without elements has one
/// dim of extent 0.
fn merged(extents: &[u64], src: &[i64], dst: &[i64]) -> Vec<StridedDim> {
    if extents.contains(&0) {
        return vec![StridedDim { extent: 0, src: 0, dst: 0 }];
    }
    let all = extents.iter().zip(src).zip(dst);
    let all = all.map(|((&extent, &src), &dst)| StridedDim { extent, src, dst });
    let mut dims: Vec<StridedDim> = all.filter(|dim| dim.extent > 1).collect();
    tilewright_core::sort_short(&mut dims, |dim| {
        std::cmp::Reverse((dim.dst.unsigned_abs(), dim.src.unsigned_abs()))
    });
    let mut kept: Vec<StridedDim> = Vec::with_capacity(dims.len());
    for dim in dims {
        match kept.last_mut().and_then(|outer| continued(*outer, dim).map(|one| (outer, one))) {
            Some((outer, one)) => *outer = one,
            None => kept.push(dim),
        }
    }
    kept
}

/// Merges two dims into one, if in both arrays the outer stride continues the inner dim.
fn continued(outer: StridedDim, inner: StridedDim) -> Option<StridedDim> {
    let steps = i64::try_from(inner.extent).ok()?;
    let goes_on = |outer, inner: i64| inner.checked_mul(steps) == Some(outer);
    let extent = outer.extent.checked_mul(inner.extent)?;
    let both = goes_on(outer.src, inner.src) && goes_on(outer.dst, inner.dst);
    both.then_some(StridedDim { extent, ..inner })
}

/// Returns the bytes of a unit.
fn unit(bytes: u64, dims: &[StridedDim]) -> u64 {
    let strides = dims.iter().flat_map(|dim| [dim.src, dim.dst]);
    let common =
        strides.fold(bytes, |common, stride| tilewright_core::gcd(common, stride.unsigned_abs()));
    (1..=WIDEST).rev().find(|unit| common.is_multiple_of(*unit)).unwrap_or(1)
}

/// Returns one array in units, beginning at its lowest byte.
fn side(
    what: &str,
    dims: &[StridedDim],
    extents: &[u64],
    unit: u64,
    stride: fn(&StridedDim) -> i64,
) -> Result<TensorLayout, Error> {
    let within = i64::try_from(unit).unwrap_or(i64::MAX);
    let modes: Vec<Mode> =
        dims.iter().map(|dim| Mode::new(dim.extent, stride(dim) / within)).collect();
    let (mut below, mut above) = (0i128, 1i128);
    for mode in modes.iter().filter(|_| !extents.contains(&0)) {
        let far = i128::from(mode.extent().saturating_sub(1)) * i128::from(mode.stride());
        let end = if far < 0 { &mut below } else { &mut above };
        *end = end.saturating_add(far.abs());
    }
    let beyond = || Error::overflow(format!("the {what} reaches beyond 2^63 - 1 bytes"));
    let origin = i64::try_from(below).map_err(|_| beyond())?;
    let capacity = match extents.contains(&0) {
        true => 0,
        false => u64::try_from(below.saturating_add(above)).map_err(|_| beyond())?,
    };
    let flat = Layout::flat(&modes).and_then(|flat| flat.with_offset(origin));
    flat.and_then(|flat| TensorLayout::new(extents, &flat, capacity))
        .map_err(|error| crate::of(what, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The byte offsets of all elements, by the definition.
    fn places(extents: &[u64], strides: &[i64]) -> Vec<i64> {
        let mut places = vec![0];
        for (extent, stride) in extents.iter().zip(strides) {
            let next = |place: &i64| {
                let (place, stride) = (*place, *stride);
                (0..*extent as i64).map(move |c| place + c * stride).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(next).collect();
        }
        places
    }

    /// Runs the plan and a loop over the elements, and compares every byte. Returns whether there was a plan.
    fn same_as_a_loop(extents: &[u64], bytes: u64, src: &[i64], dst: &[i64]) -> bool {
        let (from, to) = (places(extents, src), places(extents, dst));
        let least = |places: &[i64]| places.iter().copied().min().unwrap_or(0);
        let span = |places: &[i64]| {
            let most = places.iter().copied().max();
            most.map_or(0, |most| (most - least(places)) as usize + bytes as usize)
        };
        let mut taken = to.iter().flat_map(|at| *at..*at + bytes as i64).collect::<Vec<_>>();
        taken.sort_unstable();
        let shared = taken.windows(2).any(|two| two[0] == two[1]);
        let plan = match Plan::of_strides(extents, bytes, src, dst) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(shared || error.is_undecided(), "{error}: {extents:?} {src:?} {dst:?}");
                return false;
            }
        };
        assert!(!shared, "two elements share storage: {extents:?} {bytes} {dst:?}");
        let source: Vec<u8> = (0..span(&from)).map(|at| (at % 251) as u8).collect();
        let mut out = vec![0xEE; span(&to)];
        let mut expected = out.clone();
        for (from_at, to_at) in from.iter().zip(&to) {
            let (a, b) = ((from_at - least(&from)) as usize, (to_at - least(&to)) as usize);
            expected[b..b + bytes as usize].copy_from_slice(&source[a..a + bytes as usize]);
        }
        plan.run(&source, &mut out, 2).unwrap();
        assert_eq!(out, expected, "{extents:?} of {bytes} bytes, {src:?} to {dst:?}");
        true
    }

    #[test]
    fn all_small_arrays_move_as_a_loop_moves_them() {
        let strides = [-7i64, -4, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12];
        let mut counts = [0, 0];
        for bytes in [1u64, 2, 3, 4] {
            for extents in [[2u64, 3], [3, 2], [1, 4], [0, 2]] {
                for a in strides.iter().flat_map(|a| strides.map(|b| [*a, b])) {
                    for b in [[12, 4], [-12, 4], [4, 12], [3, 1], [1, 2], [16, -5], [5, 0], [8, 8]]
                    {
                        let moved = same_as_a_loop(&extents, bytes, &a, &b);
                        counts[usize::from(moved)] += 1;
                    }
                }
            }
        }
        assert!(counts[0] > 1000 && counts[1] > 5000, "{counts:?}");
    }

    #[test]
    fn wide_elements_and_long_rows_move_as_a_loop_moves_them() {
        for bytes in [5u64, 8, 12, 16, 20, 32, 48, 300] {
            let item = bytes as i64;
            for (extents, src, dst) in [
                (vec![9, 17], vec![17 * item, item], vec![item, 9 * item]),
                (vec![9, 17], vec![-17 * item, -item], vec![17 * item, item]),
                (vec![5, 4, 33], vec![0, item, 4 * item], vec![33 * 4 * item, 33 * item, item]),
                (vec![33, 3], vec![3 * item + 1, item], vec![item + 3, 40 * (item + 3)]),
                (vec![], vec![], vec![]),
            ] {
                assert!(same_as_a_loop(&extents, bytes, &src, &dst));
            }
        }
    }

    #[test]
    fn what_has_no_plan_is_said() {
        let error = Plan::of_strides(&[2], 4, &[4, 4], &[4]).unwrap_err();
        assert!(error.is_mismatch() && error.to_string().contains("1 extents have 1"));
        assert!(Plan::of_strides(&[2], 0, &[4], &[4]).unwrap_err().is_unsupported());
        let far = [i64::MAX, i64::MAX];
        assert!(Plan::of_strides(&[3, 3], 1, &far, &[3, 1]).unwrap_err().is_overflow());
    }

    #[test]
    fn dims_that_go_on_are_one_loop() {
        let plan =
            Plan::of_strides(&[4, 1, 5, 6], 4, &[120, 999, 24, 4], &[120, 7, 24, 4]).unwrap();
        assert_eq!(plan.program().extents(), &[120]);
        let plan = Plan::of_strides(&[6, 5], 4, &[-20, -4], &[20, 4]).unwrap();
        assert_eq!(plan.program().extents(), &[30]);
    }
}
