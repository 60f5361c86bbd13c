//! `Drawing`: a layout as a picture, for notebooks and files.

use std::path::PathBuf;

use pyo3::{exceptions::PyOSError, prelude::*};
use tilewright::{
    Named,
    draw::{Limits, Scene, Subject, conversion, grid, memory},
};

use crate::errors::{Raised, refused};

/// A picture of a layout. A notebook shows it; ``svg`` is its text, ``save`` writes it to a file.
///
/// >>> from tilewright import parse
/// >>> parse("f32[3,5]{1,0:T(2,2)}").draw().svg[:4]
/// '<svg'
#[pyclass(name = "Drawing", module = "tilewright", frozen)]
pub(crate) struct PyDrawing(Scene);

#[pymethods]
impl PyDrawing {
    /// The picture as SVG.
    #[getter]
    fn svg(&self) -> String {
        self.0.to_svg()
    }

    /// Writes the picture as SVG.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let failed = |error| PyOSError::new_err(format!("{}: {error}", path.display()));
        std::fs::write(&path, self.0.to_svg()).map_err(failed)
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }

    fn _repr_svg_(&self) -> String {
        self.0.to_svg()
    }
}

impl PyDrawing {
    /// A picture of this kind; a conversion is to the second layout.
    pub(crate) fn of(named: &Named, kind: &str, to: Option<&Named>) -> PyResult<PyDrawing> {
        let limits = Limits::default();
        let scene = match (kind, to) {
            ("grid", None) => grid(&subject(named), &limits),
            ("memory", None) => memory(&subject(named), &limits),
            ("grid" | "conversion", Some(to)) => conversion(&subject(named), &subject(to), &limits),
            _ => {
                let says = format!(
                    "no picture is called {kind}; there are grid and memory, and with `to` conversion"
                );
                return Err(refused("arguments", says));
            }
        };
        scene.raised().map(PyDrawing)
    }

    pub(crate) fn html(&self) -> String {
        self.0.to_svg()
    }
}

fn subject(named: &Named) -> Subject<'_> {
    Subject::new(named.layout()).named(named.to_spec()).filled(named.fill())
}
