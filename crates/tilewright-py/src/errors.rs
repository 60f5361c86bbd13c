//! Converts the library's errors to exceptions of the package, whose classes are in `tilewright/_errors.py`. All
//! modules raise exceptions through it.

use std::io;

use pyo3::{panic::PanicException, prelude::*, sync::PyOnceLock};
use tilewright::{Error, Remedy, layouts::ParseError};

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns an exception for the stable word of its kind; `span` counts bytes of `text`, and `rendered` has the caret.
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

/// Returns an exception of this kind with a message.
pub(crate) fn refused(kind: &str, message: impl AsRef<str>) -> PyErr {
    make(kind, message.as_ref(), None, None)
}

/// Returns the error with the name of the argument that it concerns.
pub(crate) fn about(argument: &str, error: PyErr) -> PyErr {
    Python::attach(|py| {
        let named = py
            .import("tilewright._errors")
            .and_then(|errors| errors.getattr("about")?.call1((argument, error.value(py))));
        named.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// Returns the exception for a failure that should be impossible.
pub(crate) fn broken(what: &str) -> PyErr {
    refused("internal", format!("{what}; this is a mistake of tilewright, please report it"))
}

/// Makes every panic an exception of the package.
///
/// PyO3 catches the panics of functions that Python calls in this module, and raises its `PanicException` with the message. That
/// class is not derived from `Exception`, so `except Exception` misses it. Its `__new__` is replaced by one that raises the
/// package's `InternalError`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let panicked = py.import("tilewright._errors")?.getattr("panicked")?;
    py.get_type::<PanicException>().setattr("__new__", panicked)
}

/// Conversion of an error of the library to an exception.
pub(crate) trait Raised<T> {
    /// Returns the value, or the exception.
    fn raised(self) -> PyResult<T>;
}

impl<T, E: Into<Error>> Raised<T> for Result<T, E> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| exception(&error.into()))
    }
}

/// Returns the exception, with its remedies spelled as arguments.
fn exception(error: &Error) -> PyErr {
    let word = match error.io_kind() {
        Some(io::ErrorKind::NotFound) => "missing",
        Some(io::ErrorKind::PermissionDenied) => "denied",
        _ => error.kind(),
    };
    // An error in the caller's arguments is not a failure of a file.
    let kind = match error.is_file() && !(error.is_usage() && word == "usage") {
        true => format!("file-{word}"),
        false => word.to_owned(),
    };
    let rendered = error.span().map(|_| error.rendered(argument));
    make(&kind, &error.spelled(argument), error.span(), rendered)
}

/// Returns the arguments that apply a remedy, as text.
pub(crate) fn argument(remedy: Remedy) -> String {
    match remedy {
        Remedy::Overwrite => "overwriting it needs force=True",
        Remedy::MoreMemory { least: Some(least) } => {
            return format!("memory= takes {least} at least");
        }
        Remedy::MoreMemory { least: None } => "raise memory=",
        Remedy::LessMemory => "lower memory=",
        Remedy::Dims => "give dims, such as dims=(100, 100)",
        Remedy::Dtype => "give dtype, such as dtype=\"bf16\"",
        Remedy::DimsAndDtype => "give dims= and dtype=",
        Remedy::Source => "give the layout it has, such as from_=\"row-major\"",
        Remedy::Target => "give the layout as to=",
        Remedy::NoTarget => {
            "leave out to=, rules=, from_=, dims=, dtype=, fill=, store= and skip_unfit="
        }
        Remedy::Rule => "give layouts as rules=",
        Remedy::OtherLayout => "give it another layout with rules=",
        Remedy::LeaveOut => "leave it out with tensors=",
        Remedy::SkipUnfit => "skip these tensors with skip_unfit=True",
        Remedy::File => "name a file",
        Remedy::Unverified => "leave verify=True out",
        Remedy::Name => "choose one with tensors=",
        Remedy::Again => "to copy it, give force=True",
        Remedy::Original => "give the original file",
        Remedy::Metadata => "give it as metadata=",
        Remedy::OtherDirection => {
            "the other direction of the recipe fits: give inverse=True, or omit it if it is given"
        }
        Remedy::TrustMetadata => "to write them as they are, give trust_metadata=True",
        Remedy::AnyConfig => "to convert anyway, give any_config=True",
        Remedy::Sizes => "pass sizes={axis: n}, or put a config.json beside the input",
        Remedy::Allow => "pass allow=[name]",
        Remedy::Extents => "state them as extents=, or accept them with trust_extents=True",
        Remedy::Heads => "change the rule, or accept it with trust_extents=True",
        Remedy::FromMesh => "give from_mesh= to reshard, such as from_mesh=\"tp=2\"",
        Remedy::Reshard => "use reshard, which joins it into whole tensors",
        other => return other.to_string(),
    }
    .to_owned()
}

/// Returns the exception for a parser's error about `text`.
pub(crate) fn parse(text: &str, error: &ParseError) -> PyErr {
    exception(&Error::from(error.clone()).in_text(text))
}
