//! The values that Python holds, and conversion of tuples of integers to Python; the methods are in `layout.rs` and
//! `tensor.rs`.

pub(crate) mod layout;
pub(crate) mod sharded;
pub(crate) mod tensor;

use pyo3::{
    prelude::*,
    types::{PyAny, PyTuple},
};
use tilewright::{
    ArrayLayout, Layout, ResolvedLayout,
    layouts::{IntTuple, Swizzle},
};

use crate::errors::Raised;

/// A layout: a function from a coordinate to an offset, in elements.
///
/// ``Layout("((4,2),(4,3)):((4,16),(1,32))")`` parses CuTe's text, ``Layout(shape, stride)`` takes nested tuples of integers,
/// ``Layout(shape)`` is compact with its first mode fastest, as in CuTe.
///
/// Two layouts are equal when their forms are equal; ``tilewright.same`` compares them as functions.
///
/// Raises ``ParseError`` for a text that is not a layout, ``Error`` for shapes and strides that do not fit.
///
/// >>> from tilewright import Layout
/// >>> layout = Layout((4, 8), (8, 1))
/// >>> layout
/// Layout('(4,8):(8,1)')
/// >>> layout((1, 2)), layout.size, layout.shape
/// (10, 32, (4, 8))
#[pyclass(name = "Layout", module = "tilewright", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyLayout(pub(crate) Layout);

/// CuTe's ``Swizzle<bits, base, shift>``: the xor of ``bits`` bits of an offset with the bits ``shift`` positions higher.
/// ``of_images`` makes any other permutation of offsets that is linear over xor.
///
/// >>> from tilewright import Swizzle
/// >>> swizzle = Swizzle(3, 3, 3)
/// >>> swizzle(64), swizzle.window, str(swizzle)
/// (72, 64, 'Sw<3,3,3>')
#[pyclass(name = "Swizzle", module = "tilewright", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PySwizzle(pub(crate) Swizzle);

/// The place of each element of an array in storage: logical extents, a layout of the padded array, a capacity, and the known
/// facts of the elements.
///
/// ``TensorLayout(spec, dims=None, dtype=None)`` parses a SPEC in any notation; ``TensorLayout.of(array)`` is the layout of an
/// existing array. Two are equal when dims, map, capacity, dtype, width and padding are equal; ``same`` compares only the maps.
///
/// Raises ``ParseError`` with ``span`` and a caret, ``NeedsDimsError``, ``NeedsDtypeError``, ``MismatchError``.
///
/// >>> from tilewright import TensorLayout
/// >>> zn = TensorLayout("zN", dims=(100, 30), dtype="f16")
/// >>> zn
/// TensorLayout('f16[100,30] zN')
/// >>> zn.storage_shape, zn.capacity, zn.nbytes
/// ((2, 7, 16, 16), 3584, 7168)
/// >>> zn.offset(16, 0), zn.coord(256)
/// (256, (16, 0))
#[pyclass(name = "TensorLayout", module = "tilewright", frozen)]
#[derive(Clone)]
pub(crate) struct PyTensorLayout(pub(crate) ResolvedLayout);

/// A layout of an array whose storage order along dims is a list of numbers: ``table(0; 2,0,-,1)`` between the array and the
/// layout of its storage. Stored index i of the dim holds index ``list[i]`` of the array; None is a hole.
///
/// ``TabledLayout(spec, dims=None, dtype=None)`` parses a SPEC; ``table(0; @order.npy)`` reads the list from a file. A table that
/// digits can express becomes a layout of shape and strides: in this case ``tables`` is empty, and ``stored`` is the layout.
///
/// Raises the errors of ``TensorLayout``, and ``Error`` for a list that repeats or omits an index.
///
/// >>> from tilewright import TabledLayout
/// >>> rows = TabledLayout("f16[3,8] table(0; 2,-,0,1) row-major")
/// >>> rows.offset(0, 5), rows.coord(9), rows.coord(0)
/// (21, None, (2, 0))
/// >>> rows.tables, rows.stored
/// ([(((0, 1),), [2, None, 0, 1])], TensorLayout('f16[4,8] row-major'))
#[pyclass(name = "TabledLayout", module = "tilewright", frozen)]
#[derive(Clone)]
pub(crate) struct PyTabledLayout(pub(crate) ArrayLayout);

/// Returns a coordinate that is given as arguments: one argument is the coordinate itself, several are its parts.
pub(crate) fn alone<'py>(coord: &Bound<'py, PyTuple>) -> Bound<'py, PyAny> {
    match coord.get_item(0) {
        Ok(one) if coord.len() == 1 => one,
        _ => coord.clone().into_any(),
    }
}

/// Returns Python's nested tuples; an integer stays an integer.
pub(crate) fn from_tuple<'py>(py: Python<'py>, tuple: &IntTuple) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = tuple.as_integer() {
        return Ok(value.into_pyobject(py)?.into_any());
    }
    let parts = (0..tuple.rank()).map(|at| from_tuple(py, &tuple.get(&[at]).raised()?));
    Ok(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any())
}
