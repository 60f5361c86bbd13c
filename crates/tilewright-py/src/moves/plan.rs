//! `Plan`: a move that is planned once and run many times.

use std::sync::Arc;

use pyo3::{prelude::*, types::PyType};
use tilewright::relayout::Plan;

use super::{
    prepare::{Prepared, Source},
    stream,
};
use crate::{
    answers::drawing::PyDrawing,
    arguments::{
        Integer, Integers, TextArgument,
        ask::{Ask, Wanted},
        given, html, tuple,
    },
    errors::{Raised, refused},
    foreign::{Argument, Facts, Memory, device},
    values::tensor::layout_of,
};

/// Moves of fewer bytes run in the calling thread, which keeps the GIL.
const SMALL: u64 = 1 << 15;

/// A move of the elements of one layout to another: planned once, run many times.
///
/// ``Plan(from_, to, dims=None, dtype=None, bits=None, fill=None, order="C")`` is for storages in the layout ``from_``;
/// ``Plan.of(array, to)`` is for arrays with the shape and strides of that one. A printed plan shows its loops and its kernel; a
/// notebook draws the move.
///
/// Raises ``ParseError``, ``NeedsDimsError``, ``MismatchError`` for layouts that do not fit each other, ``UnsupportedError`` for
/// a destination in which two elements share storage.
///
/// >>> import numpy
/// >>> from tilewright import Plan
/// >>> plan = Plan("u16[2,3] row-major", "col-major")
/// >>> plan.src_bytes, plan.dst_bytes, plan.padding
/// (12, 12, 0)
/// >>> plan.run(numpy.arange(6, dtype=numpy.uint16)).tolist()
/// [[0, 3], [1, 4], [2, 5]]
#[pyclass(name = "Plan", module = "tilewright", frozen)]
pub(crate) struct PyPlan(Arc<Prepared>);

#[pymethods]
impl PyPlan {
    #[new]
    #[pyo3(signature = (from_, to, *, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "(from_, to, *, dims=None, dtype=None, bits=None, fill=None, order='C')")]
    fn new(
        from_: &Bound<'_, PyAny>,
        to: &Bound<'_, PyAny>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
        bits: Option<Integer<u32>>,
        fill: Option<&Bound<'_, PyAny>>,
        order: Option<TextArgument>,
    ) -> PyResult<PyPlan> {
        let ask = Ask::new(None, Some(to), dims, dtype, bits, fill, order)?;
        Prepared::alone(&ask, &Wanted::of("from_", from_)?).map(|made| PyPlan(Arc::new(made)))
    }

    /// Returns the plan for arrays with the shape, strides and type of this one; the arguments are those of ``relayout``.
    #[classmethod]
    #[pyo3(signature = (array, /, to = None, *, from_ = None, out = None, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "($cls, array, /, to=None, *, from_=None, out=None, dims=None, dtype=None, bits=None, fill=None, order='C')")]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn of(
        _class: &Bound<'_, PyType>,
        array: &Bound<'_, PyAny>,
        to: Option<&Bound<'_, PyAny>>,
        from_: Option<&Bound<'_, PyAny>>,
        out: Option<&Bound<'_, PyAny>>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
        bits: Option<Integer<u32>>,
        fill: Option<&Bound<'_, PyAny>>,
        order: Option<TextArgument>,
    ) -> PyResult<PyPlan> {
        let ask = Ask::new(from_, to, dims, dtype, bits, fill, order)?;
        let out = out.map(|out| Memory::given_anywhere("out", out)).transpose()?;
        Prepared::new(&ask, &Memory::anywhere(array)?.facts, out.as_ref())
            .map(|made| PyPlan(Arc::new(made)))
    }

    /// Moves the elements of ``src``; returns ``out``, or a new array of the library of ``src`` and of the storage's shape. The
    /// GIL is released meanwhile. ``threads`` is one per core by default.
    ///
    /// Raises ``MismatchError`` for a source of another shape or size, ``ReadOnlyError``, ``OverlapError``, ``DtypeError``, and
    /// ``CopyError`` for arrays that could only be moved through a copy.
    #[pyo3(signature = (src, out = None, *, threads = None))]
    fn run<'py>(
        &self,
        src: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<Integer<usize>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let source = Memory::given_anywhere("src", src)?;
        run(&self.0, (&source, src), "src", out, given("threads", threads)?)
    }

    /// The number of bytes of a source.
    #[getter]
    fn src_bytes(&self) -> u64 {
        self.0.plan.src_bytes()
    }

    /// The number of bytes of a result, including padding.
    #[getter]
    fn dst_bytes(&self) -> u64 {
        self.0.plan.dst_bytes()
    }

    /// The number of elements of the destination that hold no logical element, and get the fill.
    #[getter]
    fn padding(&self) -> u64 {
        self.0.plan.padding()
    }

    /// The name of the kernel that does the largest part of the move.
    #[getter]
    fn kernel(&self) -> String {
        self.0.plan.kernel_name().to_string()
    }

    /// The layout of the source.
    #[getter]
    fn from_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout_of(py, &self.0.from)
    }

    /// The layout of the destination.
    #[getter]
    fn to<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout_of(py, &self.0.to)
    }

    /// The shape of a new result: the extents of the storage, outermost first; with ``order="F"`` innermost first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, self.0.form.listed())
    }

    fn __str__(&self) -> String {
        self.0.plan.to_string()
    }

    fn __repr__(&self) -> String {
        let (from, to) = (self.0.from.to_spec(), self.0.to.to_spec());
        format!("<Plan: {from} to {to}, {}>", self.0.plan.kernel_name())
    }

    /// Returns the plan as text, and a picture of the move.
    fn _repr_html_(&self) -> String {
        let (from, to) = (&self.0.from, &self.0.to);
        if from.has_tables() || to.has_tables() {
            return format!("<pre>{}</pre>", html(&self.0.plan.to_string()));
        }
        PyDrawing::below(&self.0.plan.to_string(), from.stored(), to.stored())
    }
}

/// Checks the arrays and moves the elements.
pub(crate) fn run<'py>(
    prepared: &Prepared,
    (source, array): stream::DeviceArray<'_, 'py>,
    name: &'static str,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    expected(&prepared.source, source, name)?;
    let (result, mut target) = match out {
        Some(out) => (out.clone(), Memory::given_anywhere("out", out)?),
        None => {
            let made = prepared.form.empty(py, source)?;
            let memory = Memory::anywhere(&made)?;
            (made, memory)
        }
    };
    if out.is_some() {
        fits(prepared, py, source, &target)?;
    }
    if stream::is_asked(source, &target) {
        if prepared.narrow.is_some() {
            let says =
                "elements that lose bits are checked on the CPU; bring the array there first";
            return Err(refused("device", says));
        }
        let sides = ((source, array), (&target, &result));
        stream::planned(&prepared.plan, &prepared.kernels, sides.0, sides.1)?;
        return if out.is_some() { Ok(result) } else { source.handed_over(result) };
    }
    let (from, to) = (source.bytes()?, target.bytes_mut()?);
    if let Some(narrow) = &prepared.narrow {
        py.detach(|| narrow.check(prepared.from.stored().layout(), from))?;
    }
    moved(py, &prepared.plan(), (from, to), threads)?;
    Ok(result)
}

/// Moves the elements, and releases the GIL unless the move is too short for that.
pub(crate) fn moved(
    py: Python<'_>,
    plan: &Plan,
    (from, to): (&[u8], &mut [u8]),
    threads: Option<usize>,
) -> PyResult<()> {
    if plan.dst_bytes() < SMALL {
        return plan.run(from, to, 1).raised();
    }
    let threads = device::threads(threads);
    py.detach(|| plan.run(from, to, threads)).raised()
}

/// Refuses a source for which the plan was not made.
pub(crate) fn expected(source: &Source, given: &Memory, name: &'static str) -> PyResult<()> {
    match source {
        Source::Array(facts) if *facts == given.facts => Ok(()),
        Source::Array(facts) => {
            let says = format!(
                "the plan is for {}, the array is {}",
                described(facts),
                described(&given.facts)
            );
            Err(refused("mismatch", says))
        }
        Source::Storage { bytes, shape, dtype, bits, swapped } => {
            let length = given.storage_length(Argument::Source(name), shape, false)? as u64;
            if length != *bytes {
                let says = format!("a storage of {length} bytes where the layout takes {bytes}");
                return Err(refused("mismatch", says));
            }
            let other =
                given.facts.dtype.is_some_and(|own| dtype.is_some_and(|dtype| dtype != own));
            let differs = given.facts.bits() != *bits || given.facts.swapped != *swapped || other;
            if given.itemsize() > 1 && differs {
                let name =
                    dtype.map_or_else(|| format!("{bits} bits"), |dtype| dtype.name().into());
                let says = format!(
                    "elements of {name} are expected, but the array has {}",
                    described(&given.facts)
                );
                return Err(refused("dtype", says));
            }
            Ok(())
        }
    }
}

/// Refuses an output that the result does not fit, or that overlaps the source.
fn fits(prepared: &Prepared, py: Python<'_>, source: &Memory, out: &Memory) -> PyResult<()> {
    let bytes = prepared.plan.dst_bytes();
    if !out.writable {
        let says = "the output is read-only, requires a gradient, or its library does not say that it may be \
                    written";
        return Err(refused("read-only", says));
    }
    if out.span() as u64 != bytes || out.facts.size().saturating_mul(out.itemsize() as u64) != bytes
    {
        let says = format!(
            "an output of {} elements over {} bytes; the result is {bytes} contiguous bytes",
            out.facts.size(),
            out.span()
        );
        return Err(refused("mismatch", says));
    }
    prepared.form.check(py, source, out)?;
    if source.overlaps(out) {
        let says = "the output overlaps the source, which would be overwritten before it is read";
        return Err(refused("overlap", says));
    }
    if prepared.own_order {
        return match out.layout()? == *prepared.to.stored().layout() {
            true => Ok(()),
            false => {
                Err(refused("mismatch", "the output has another layout than the plan's output"))
            }
        };
    }
    let told = prepared.form.is_turned();
    out.storage_length(Argument::Out, &prepared.form.shape, told).map(drop)
}

fn described(facts: &Facts) -> String {
    let (shape, strides) = (tuple(&facts.shape), tuple(&facts.strides));
    format!("shape {shape} of {} with strides {strides} bytes", element(facts))
}

/// Returns the element type as text.
pub(crate) fn element(facts: &Facts) -> String {
    let order = if facts.swapped { "big-endian " } else { "" };
    match facts.dtype {
        Some(dtype) => format!("{order}{dtype}"),
        None => format!("{} bytes", facts.itemsize),
    }
}
