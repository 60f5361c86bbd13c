//! Pictures of one operation of the algebra.

use pyo3::prelude::*;

use crate::{drawing::PyDrawing, errors::refused, expression};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(draw_step, module)?)
}

/// Draws an operation of two layouts, a composition, a division or a product: A, B and the result, with corresponding parts in
/// one colour.
///
/// >>> from tilewright import draw_step
/// >>> draw_step("composition", "(6,2):(8,2)", "(4,3):(3,1)").svg[:4]
/// '<svg'
#[pyfunction]
#[pyo3(signature = (operation, a, b, /))]
fn draw_step(operation: &str, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<PyDrawing> {
    let known = operation == "composition"
        || operation.ends_with("_divide")
        || operation.ends_with("_product");
    if !known {
        let says = format!(
            "{operation} is not drawn as a step; only composition, divisions and products are"
        );
        return Err(refused("arguments", says));
    }
    let [a, b] = [expression::argument(a)?, expression::argument(b)?];
    PyDrawing::of_expression(&format!("{operation}({a}, {b})"))
}
