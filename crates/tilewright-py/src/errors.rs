//! The library's errors as exceptions of the package: `tilewright/_errors.py` has the classes.

use std::io;

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
            let cause = std::error::Error::source(&error);
            let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
            let kind = match cause.map(io::Error::kind) {
                Some(io::ErrorKind::NotFound) => "missing",
                Some(io::ErrorKind::PermissionDenied) => "denied",
                _ => error.kind(),
            };
            refused(&format!("file-{kind}"), keywords(&error.to_string()))
        })
    }
}

/// The options that messages advise, and what they are called here.
const OPTIONS: [(&str, &str); 9] = [
    ("--dims", "dims"),
    ("--dtype", "dtype"),
    ("--force", "force=True"),
    ("--from", "from_"),
    ("--memory", "memory"),
    ("--rule", "rules"),
    ("--skip-unfit", "skip_unfit=True"),
    ("--tensor", "tensors"),
    ("--to", "to"),
];

/// A message of the program with its options as Python's keywords.
fn keywords(message: &str) -> String {
    let word = |word: &str| {
        let option = word.trim_end_matches([',', ';', '.', ':']);
        let known = OPTIONS.iter().find(|(name, _)| *name == option);
        known.map_or_else(|| word.to_owned(), |(name, keyword)| word.replacen(name, keyword, 1))
    };
    message.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A parser's error about `text`.
pub(crate) fn parse(text: &str, error: &ParseError) -> PyErr {
    let kind = error.cause().map_or("parse", core::Error::kind);
    let rendered = error.render(text).to_string();
    make(kind, &error.to_string(), Some(error.span()), Some(rendered))
}
