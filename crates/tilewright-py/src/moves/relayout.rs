//! Moves in one call, each with a cache of plans for equal requests: `relayout`, and the copies `copy_`, `contiguous` and
//! `empty_like` from one strided array to another of the same shape and element type.
//!
//! Copies do not convert bytes. The element types only have to be equal, so types that layouts cannot name are copied too.
//! A plan is kept for each shape, strides and size of an element.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use pyo3::{
    PyResult,
    prelude::*,
    types::{PyDict, PyString, PyTuple},
};
use tilewright::{
    ArrayLayout, Dtype, Fill, ResolvedLayout, cuda::Move, layouts::Mode, relayout::Plan,
};

use crate::{
    arguments::{
        Integer, Integers, TextArgument,
        ask::{Ask, Wanted, dtype_of},
        given, tuple,
    },
    errors::{Raised, about, refused},
    foreign::{Facts, Family, Memory, device},
    moves::{plan, prepare::Prepared, stream},
};

/// The key of a plan: the arguments, the source's facts, and those of the output if its layout is the destination.
#[derive(PartialEq, Eq, Hash)]
struct PlanKey(Ask, Facts, Option<Facts>);

static PLANS: Cache<PlanKey, Prepared> = Cache::new();

#[pyfunction]
#[pyo3(signature = (array, /, to = None, *, from_ = None, out = None, threads = None, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "(array, /, to=None, *, from_=None, out=None, threads=None, dims=None, dtype=None, bits=None, fill=None, order='C')")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub(crate) fn relayout<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    from_: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<Integer<usize>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'py, PyAny>>,
    bits: Option<Integer<u32>>,
    fill: Option<&Bound<'py, PyAny>>,
    order: Option<TextArgument>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = Ask::new(from_, to, dims, dtype, bits, fill, order)?;
    let source = Memory::anywhere(array)?;
    let own = match (out, &ask.to) {
        (Some(out), None) => Some(Memory::given_anywhere("out", out)?),
        _ => None,
    };
    let key = PlanKey(ask, source.facts.clone(), own.as_ref().map(|own| own.facts.clone()));
    let prepared = PLANS.find_or(key, |key| Prepared::new(&key.0, &source.facts, own.as_ref()))?;
    plan::run(&prepared, (&source, array), "array", out, given("threads", threads)?)
}

/// Returns the form of the result of ``relayout`` for an array of this shape and element type, for a library that needs it before
/// an array exists: its shape, the NumPy name of its element type, and the layouts of source and result as SPECs without a
/// promise about padding. ``strides`` are the array's strides, in elements; by default it is contiguous, the last dim fastest.
#[pyfunction]
#[pyo3(signature = (shape, element, /, to, *, strides = None, from_ = None, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "(shape, element, /, to, *, strides=None, from_=None, dims=None, dtype=None, bits=None, fill=None, order='C')")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub(crate) fn relayout_form<'py>(
    py: Python<'py>,
    shape: Integers,
    element: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    strides: Option<Integers>,
    from_: Option<&Bound<'py, PyAny>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'py, PyAny>>,
    bits: Option<Integer<u32>>,
    fill: Option<&Bound<'py, PyAny>>,
    order: Option<TextArgument>,
) -> PyResult<(Bound<'py, PyTuple>, &'static str, String, String)> {
    let ask = Ask::new(from_, Some(to), dims, dtype, bits, fill, order)?;
    let facts = Facts::dense(&shape.of("shape")?, dtype_of(element)?);
    let facts = match Integers::given("strides", strides)? {
        Some(strides) => facts.with_strides(&strides)?,
        None => facts,
    };
    let Prepared { form, from, to, .. } = Prepared::new(&ask, &facts, None)?;
    let own = || facts.dtype.and_then(Dtype::array_name).unwrap_or("uint8");
    let shape = PyTuple::new(py, form.listed())?;
    Ok((shape, form.element().unwrap_or_else(own), unfilled(&from), unfilled(&to)))
}

/// Returns the SPEC of a layout whose padding may have any value.
fn unfilled(side: &ArrayLayout) -> String {
    let stored = side.stored().clone();
    let (dtype, bits) = (stored.dtype(), stored.explicit_bits());
    side.clone().with_stored(stored.with_elements(dtype, bits, Fill::Unspecified)).to_spec()
}

/// Returns the hits, the misses, the number of plans in the cache, and the largest number that it keeps.
#[pyfunction]
pub(crate) fn plan_cache_info() -> (u64, u64, usize, usize) {
    PLANS.info()
}

/// Removes all plans and resets the counts.
#[pyfunction]
pub(crate) fn plan_cache_clear() {
    PLANS.clear();
}

/// Prepares a forked child; called there before anything else.
#[pyfunction]
pub(crate) fn forked() {
    device::count();
    PLANS.forget();
    forget();
}

/// The largest number of plans that are kept.
const MOST: usize = 256;

/// Plans by their keys. The lock is never held while the GIL is released, so a forked child finds it unlocked.
pub(crate) struct Cache<K, V>(Mutex<Kept<K, V>>);

struct Kept<K, V> {
    plans: Option<HashMap<K, CachedPlan<V>>>,
    clock: u64,
    hits: u64,
    misses: u64,
}

/// A plan, and the time of its last use.
struct CachedPlan<V> {
    plan: Arc<V>,
    used: u64,
}

impl<K: Eq + Hash, V> Cache<K, V> {
    /// Returns an empty cache.
    pub(crate) const fn new() -> Cache<K, V> {
        Cache(Mutex::new(Kept { plans: None, clock: 0, hits: 0, misses: 0 }))
    }

    /// Returns the plan of this key; calls `make` if it is not in the cache.
    fn find_or(&self, key: K, make: impl FnOnce(&K) -> PyResult<V>) -> PyResult<Arc<V>> {
        if let Some(plan) = self.with(|kept| kept.find(&key)) {
            return Ok(plan);
        }
        let plan = Arc::new(make(&key)?);
        self.with(|kept| kept.keep(key, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Returns the hits, the misses, the number of plans in the cache, and the largest number that it keeps.
    pub(crate) fn info(&self) -> (u64, u64, usize, usize) {
        self.with(|kept| {
            let count = kept.plans.as_ref().map_or(0, HashMap::len);
            (kept.hits, kept.misses, count, MOST)
        })
    }

    /// Removes all plans and resets the counts.
    fn clear(&self) {
        self.with(|kept| *kept = Kept { plans: None, clock: 0, hits: 0, misses: 0 });
    }

    /// Removes all plans, but keeps the counts.
    pub(crate) fn forget(&self) {
        self.with(|kept| kept.plans = None);
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept<K, V>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Eq + Hash, V> Kept<K, V> {
    fn find(&mut self, key: &K) -> Option<Arc<V>> {
        self.clock += 1;
        match self.plans.as_mut().and_then(|plans| plans.get_mut(key)) {
            Some(entry) => {
                entry.used = self.clock;
                self.hits += 1;
                Some(Arc::clone(&entry.plan))
            }
            None => {
                self.misses += 1;
                None
            }
        }
    }

    fn keep(&mut self, key: K, plan: Arc<V>) {
        let plans = self.plans.get_or_insert_default();
        if plans.len() >= MOST {
            // The half with the oldest use is removed at once, so that this search is rare.
            let mut used: Vec<u64> = plans.values().map(|entry| entry.used).collect();
            used.sort_unstable();
            let middle = used[used.len() / 2];
            plans.retain(|_, entry| entry.used > middle);
        }
        plans.insert(key, CachedPlan { plan, used: self.clock });
    }
}

/// The facts that determine a copy; strides in bytes.
#[derive(PartialEq, Eq, Hash)]
struct CopyKey {
    extents: Vec<u64>,
    src: Vec<i64>,
    dst: Vec<i64>,
    itemsize: usize,
}

/// A plan and the process that made it.
struct Copy {
    plan: Plan,
    /// The kernels, created when an array on a device is copied.
    kernels: OnceLock<Move>,
    generation: u32,
}

static COPIES: Cache<CopyKey, Copy> = Cache::new();

/// Removes the plans of this process.
pub(crate) fn forget() {
    COPIES.forget();
}

#[pyfunction]
#[pyo3(signature = (dst, src, /, *, threads = None))]
pub(crate) fn copy_<'py>(
    dst: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    threads: Option<Integer<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = given("threads", threads)?;
    let (mut to, from) = (named("dst", dst)?, named("src", src)?);
    checked(dst.py(), &to, &from)?;
    moved((&mut to, dst), (&from, src), threads)?;
    Ok(dst.clone())
}

#[pyfunction]
#[pyo3(signature = (array, /, *, threads = None))]
pub(crate) fn contiguous<'py>(
    array: &Bound<'py, PyAny>,
    threads: Option<Integer<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = given("threads", threads)?;
    let from = Memory::any_anywhere(array)?;
    if from.facts.is_row_major() {
        return Ok(array.clone());
    }
    let made = empty(array.py(), &from, &from.facts.shape)?;
    moved((&mut Memory::any_anywhere(&made)?, &made), (&from, array), threads)?;
    from.handed_over(made)
}

#[pyfunction]
#[pyo3(signature = (array, /, layout = None))]
pub(crate) fn empty_like<'py>(
    array: &Bound<'py, PyAny>,
    layout: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, like) = (array.py(), Memory::of_any(array)?);
    let Some(layout) = layout else { return empty(py, &like, &like.facts.shape) };
    let dtype = like.facts.dtype;
    let named = Wanted::of("layout", layout)?.resolve(Some(&like.facts.shape), dtype).raised()?;
    let (first, strides) = strides(&named, &like.facts)?;
    let flat = empty(py, &like, &[named.layout().capacity()])?;
    let shape = PyTuple::new(py, &like.facts.shape)?;
    if like.family == Family::Torch {
        return flat.call_method1("as_strided", (shape, PyTuple::new(py, strides)?, first));
    }
    let itemsize = like.itemsize() as u64;
    let bytes = |stride: u64| stride.saturating_mul(itemsize);
    let keywords = PyDict::new(py);
    keywords.set_item("shape", shape)?;
    keywords.set_item("dtype", flat.getattr("dtype")?)?;
    keywords.set_item("strides", PyTuple::new(py, strides.into_iter().map(bytes))?)?;
    keywords.set_item("offset", bytes(first))?;
    // NumPy has no buffers of element types that other libraries added, but it has buffers of their bytes.
    keywords.set_item("buffer", flat.call_method1("view", ("uint8",))?)?;
    py.import("numpy")?.getattr("ndarray")?.call((), Some(&keywords))
}

/// Copies for torch's own copies if the strides make it worthwhile, and returns whether it did. Everything except two strided
/// tensors of the same element type on the CPU is left to torch.
#[pyfunction]
pub(crate) fn copy_if_strided(
    dst: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    least: u64,
    threads: usize,
) -> PyResult<bool> {
    let (Ok(mut to), Ok(from)) = (Memory::of_any(dst), Memory::of_any(src)) else {
        return Ok(false);
    };
    let bytes = to.facts.size().saturating_mul(to.itemsize() as u64);
    let alike = to.facts.strides == from.facts.strides && to.span() as u64 == bytes;
    if bytes < least || alike || to.facts.shape != from.facts.shape {
        return Ok(false);
    }
    // Autograd has recorded the copy before a kernel of torch runs.
    to.writable |= to.family == Family::Torch;
    if checked(dst.py(), &to, &from).is_err() {
        return Ok(false);
    }
    // If no plan exists, torch refuses the copy with its own message.
    Ok(moved((&mut to, dst), (&from, src), Some(threads)).is_ok())
}

/// Returns the memory of the array that is given as this argument.
fn named(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Memory> {
    Memory::any_anywhere(array).map_err(|error| about(argument, error))
}

/// Returns a new array of these extents, of the library and the element type of `like`; of NumPy if that library cannot make one.
fn empty<'py>(py: Python<'py>, like: &Memory, shape: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let dtype = match (&like.own_dtype, like.facts.dtype.and_then(Dtype::array_name)) {
        (Some(own), _) => own.bind(py).clone(),
        (None, Some(name)) => PyString::new(py, name).into_any(),
        (None, None) => return Err(refused("dtype", "elements of a type that NumPy lacks")),
    };
    like.empty(shape, &dtype)
}

/// Refuses arrays that cannot be copied to each other.
fn checked(py: Python<'_>, to: &Memory, from: &Memory) -> PyResult<()> {
    if !to.writable {
        let says = "the destination is read-only, requires a gradient, or its library does not say that it may be \
                    written";
        return Err(refused("read-only", says));
    }
    same_type(py, to, from)?;
    if to.overlaps(from) {
        let says = "the memory of the destination, from its lowest element to its highest, overlaps that of the \
                    source; copy by way of a new array";
        return Err(refused("overlap", says));
    }
    Ok(())
}

/// Refuses different element types: nothing is converted.
fn same_type(py: Python<'_>, to: &Memory, from: &Memory) -> PyResult<()> {
    let (a, b) = (&to.facts, &from.facts);
    let same = match (a.dtype, b.dtype) {
        (Some(a), Some(b)) => a == b,
        (None, None) => to.family == from.family && to.is_of_type(py, from)?,
        _ => false,
    };
    if same && a.itemsize == b.itemsize && a.swapped == b.swapped {
        return Ok(());
    }
    let (a, b) = (plan::element(a), plan::element(b));
    let says = format!("a source of {b} where the destination is of {a}; nothing is converted");
    Err(refused("dtype", says))
}

/// Returns the strides in bytes of the source, broadcast to the destination's shape: missing dims, and dims of one coordinate,
/// get stride 0.
fn broadcast(to: &Facts, from: &Facts) -> PyResult<Vec<i64>> {
    let lacking = to.shape.len().checked_sub(from.shape.len());
    let fits = lacking.filter(|lacking| {
        to.shape[*lacking..].iter().zip(&from.shape).all(|(to, from)| from == to || *from == 1)
    });
    let Some(lacking) = fits else {
        let (to, from) = (tuple(&to.shape), tuple(&from.shape));
        let says = format!("a source of shape {from} where the destination is of shape {to}");
        return Err(refused("mismatch", says));
    };
    let own = from.strides.iter().zip(&from.shape);
    let own = own.map(|(stride, extent)| if *extent == 1 { 0 } else { *stride });
    Ok(std::iter::repeat_n(0, lacking).chain(own).collect())
}

/// Copies with a plan from the cache.
fn moved(
    (to, to_array): (&mut Memory, &Bound<'_, PyAny>),
    (from, from_array): stream::DeviceArray<'_, '_>,
    threads: Option<usize>,
) -> PyResult<()> {
    let py = to_array.py();
    let src = broadcast(&to.facts, &from.facts)?;
    let Facts { shape, strides, itemsize, .. } = &to.facts;
    if to.facts.size() == 0 {
        return Ok(());
    }
    let key = CopyKey { extents: shape.clone(), src, dst: strides.clone(), itemsize: *itemsize };
    let kept = COPIES.find_or(key, |key| {
        let bytes = key.itemsize as u64;
        let plan = Plan::of_strides(&key.extents, bytes, &key.src, &key.dst).raised()?;
        Ok(Copy { plan, kernels: OnceLock::new(), generation: device::generation() })
    })?;
    if stream::is_asked(from, to) {
        return stream::planned(&kept.plan, &kept.kernels, (from, from_array), (to, to_array));
    }
    let plan = device::own(&kept.plan, kept.generation);
    plan::moved(py, &plan, (from.bytes()?, to.bytes_mut()?), threads)
}

/// Returns the offset of the first element and the strides of the dims, in elements, if strides can express the layout.
fn strides(named: &ResolvedLayout, facts: &Facts) -> PyResult<(u64, Vec<u64>)> {
    let spec = || named.to_spec();
    let bits = named.explicit_bits().unwrap_or(facts.bits());
    if bits != facts.bits() {
        let says = format!("{} has elements of {bits} bits, the array of {}", spec(), facts.bits());
        return Err(refused("dtype", says));
    }
    let layout = named.layout();
    let bare = layout.layout();
    let found = (0..layout.rank()).map(|dim| stride(bare.axis(dim).unwrap_or(&[])));
    let found: Option<Vec<u64>> = found.collect();
    let plain = layout.is_strided() && bare.swizzle().is_identity();
    match (found.filter(|_| plain), u64::try_from(bare.offset())) {
        (Some(strides), Ok(first)) => Ok((first, strides)),
        _ => {
            let says = format!(
                "strides of the array's dims cannot express {}; relayout(array, to) gives its storage",
                spec()
            );
            Err(refused("unsupported", says))
        }
    }
}

/// Returns the stride of a dim whose digits continue each other.
fn stride(modes: &[Mode]) -> Option<u64> {
    let last = modes.last().map_or(0, |mode| mode.stride());
    let mut modes = modes.iter().filter(|mode| mode.extent() > 1);
    // A dim of one coordinate keeps the stride of its layout.
    let Some(first) = modes.next() else { return u64::try_from(last).ok() };
    let mut next = first.stride().checked_mul(i64::try_from(first.extent()).ok()?)?;
    for mode in modes {
        if mode.stride() != next {
            return None;
        }
        next = next.checked_mul(i64::try_from(mode.extent()).ok()?)?;
    }
    u64::try_from(first.stride()).ok()
}
