//! Opens a result as it is expected: with the layout that it records, or that of its conversion. Comparisons with an original and by
//! a recipe use it.
//!
//! Law: a layout that the file records comes first; an expected one is used where the format cannot record one.

use std::path::PathBuf;

use tilewright_fingerprint::Fingerprint;

use crate::{
    Error, Input, Job, Reading, Tensor, Watch,
    container::{self, Format},
    error,
    layout::{
        element_layout::ElementLayout,
        note_file::{self, FoundNote},
    },
    open::{open_with, source::Source},
};

/// The layout with which a tensor of the original is read, and the requested layout of the result, if any.
pub(crate) struct Expected {
    /// The number of the tensor in the original, and its name in the result.
    pub(crate) tensor: usize,
    pub(crate) name: String,
    pub(crate) from: ElementLayout,
    pub(crate) to: Option<ElementLayout>,
    /// The fingerprint that its conversion computed.
    pub(crate) data: Option<Fingerprint>,
}

impl Expected {
    /// Returns the expectation for the only array of a result, which has this layout.
    pub(crate) fn alone(name: &str, held: &ElementLayout) -> Expected {
        let (from, to) = (held.clone(), Some(held.clone()));
        Expected { tensor: 0, name: name.to_owned(), from, to, data: None }
    }

    pub(crate) fn of(job: Job) -> Expected {
        let Job { tensor, name, from, to, .. } = job;
        Expected { tensor, name, from, to: Some(to), data: None }
    }
}

/// Opens a result with the layout that it records, or, if it cannot record one, with the requested layout. `beside` returns the
/// paths of the files in its folder. The inner error is a difference.
pub(crate) fn open_result(
    format: &'static Format,
    source: Source,
    beside: &dyn Fn(&str) -> PathBuf,
    (tensors, expected): (&[Tensor], &[Expected]),
    watch: &dyn Watch,
) -> Result<Result<Input, String>, Error> {
    let one = expected.first().and_then(|it| Some((it, tensors.get(it.tensor)?)));
    if let (Some(array), Some((expected, tensor))) = (&format.array, one) {
        let path = source.path().to_path_buf();
        let Expected { from, to, .. } = expected;
        let FoundNote { texts, aside } = note_file::of(&source, watch)?;
        let expected = container::Expected { tensor, from, to: to.as_ref(), note: &texts };
        let changed = aside.as_ref().and_then(|aside| aside.changed(&path));
        let opened = match ((array.result)(source, expected), changed) {
            // The note may have information that the file lacks.
            (Err(error), Some(said)) if error.is_usage() => return Ok(Err(said)),
            (opened, None) => opened?,
            (opened, Some(said)) => opened?.map_err(|why| format!("{why}; {said}")),
        };
        return Ok(opened.map(|opened| Input { path, opened, aside, folder: None, beside: None }));
    }
    match open_with(format, source, &Reading::default(), Some(beside), watch) {
        Err(error) if error.case() == error::CONTRADICTION => Ok(Err(error.to_string())),
        opened => opened.map(Ok),
    }
}
