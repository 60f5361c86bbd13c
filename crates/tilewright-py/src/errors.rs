//! The library's errors as exceptions of the package: `tilewright/_errors.py` has the classes.

use pyo3::{exceptions::PyRuntimeError, prelude::*, sync::PyOnceLock};
use tilewright::{ParseError, core, eval, files, notation, relayout};

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// An exception by the stable word of its kind; `span` counts bytes of `text`, and `rendered` has the caret.
fn make(
    kind: &str,
    message: &str,
    span: Option<(usize, usize)>,
    rendered: Option<String>,
) -> PyErr {
    Python::attach(|py| {
        let maker = MAKE.get_or_try_init(py, || {
            py.import("tilewright._errors")?.getattr("make").map(Bound::unbind)
        });
        let made = maker.and_then(|maker| maker.call1(py, (kind, message, span, rendered)));
        match made {
            Ok(exception) => PyErr::from_value(exception.into_bound(py)),
            Err(error) => error,
        }
    })
}

/// An exception of this kind, in words.
pub(crate) fn refused(kind: &str, message: impl AsRef<str>) -> PyErr {
    make(kind, message.as_ref(), None, None)
}

/// What was never expected to fail.
pub(crate) fn broken(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what}; this is a mistake of tilewright"))
}

/// An error of one of the library's crates as an exception.
pub(crate) trait Raised<T> {
    /// The value, or the exception.
    fn raised(self) -> PyResult<T>;
}

impl<T> Raised<T> for Result<T, notation::Error> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| {
            let rendered = error.span().map(|_| error.render());
            make(error.kind(), &error.to_string(), error.span(), rendered)
        })
    }
}

impl<T> Raised<T> for Result<T, eval::Error> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| {
            make(error.kind(), &error.to_string(), Some(error.span()), Some(error.render()))
        })
    }
}

impl<T> Raised<T> for Result<T, core::Error> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| refused(error.kind(), error.to_string()))
    }
}

impl<T> Raised<T> for Result<T, relayout::Error> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| refused(error.kind(), error.to_string()))
    }
}

impl<T> Raised<T> for Result<T, files::Error> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| {
            let message = error.to_string().replace("needs --force", "needs force=True");
            refused(&format!("file-{}", error.kind()), message)
        })
    }
}

/// A parser's error about `text`.
pub(crate) fn parse(text: &str, error: &ParseError) -> PyErr {
    let kind = error.cause().map_or("parse", core::Error::kind);
    let rendered = error.render(text).to_string();
    make(kind, &error.to_string(), Some(error.span()), Some(rendered))
}
