//! The format of the files of a result: safetensors, whose headers are written here, or another format that plans its own
//! files. The plan of a result uses it.

use std::path::{Path, PathBuf};

use tilewright_files::{
    Input, Reading, has_ending,
    inner::{Models, PlannedFile, PlannedTensor, planned},
};

use crate::{
    Error, Form, Request,
    array::ReshardedArray,
    header::{HeaderEntry, header},
    request::SAFETENSORS,
};

/// The formats of files in a folder.
pub(crate) const FORMATS: [&str; 2] = [SAFETENSORS, "gguf"];

/// The format of the files of a result.
#[derive(Debug, Default)]
pub(crate) struct ResultFormat {
    /// The ending of their names.
    pub(crate) ending: String,
    /// A file of the result, for messages.
    path: PathBuf,
    /// The file whose metadata the request takes.
    given: Option<Input>,
    /// The first file of the source.
    source: Option<Input>,
    /// True if metadata are not compared with the tensors: files hold parts of them, or the request trusts the metadata.
    trusted: bool,
}

impl ResultFormat {
    /// Returns the format that a request asks for.
    pub(crate) fn of(request: &Request, source: Option<&Path>) -> Result<ResultFormat, Error> {
        let ending = request.ending();
        check(request, &ending)?;
        if ending == SAFETENSORS {
            return Ok(ResultFormat { ending, ..ResultFormat::default() });
        }
        let open = |path: &Path| tilewright_files::open(path, &Reading::default());
        let given = request.metadata.first().map(|path| open(path)).transpose()?;
        let source = source.filter(|_| given.is_none()).map(open).transpose()?;
        let path = match request.is_file {
            true => request.output.clone(),
            false => request.output.join(format!("model.{ending}")),
        };
        let trusted = request.to.is_some() || request.trusts_metadata;
        Ok(ResultFormat { ending, path, given, source, trusted })
    }

    /// Returns whether files have the widest elements first, so that all are aligned; another format aligns them itself.
    pub(crate) fn is_sorted(&self) -> bool {
        self.ending == SAFETENSORS
    }

    /// Returns an error for elements that the format cannot name.
    pub(crate) fn check(&self, arrays: &[ReshardedArray]) -> Result<(), Error> {
        if self.ending != SAFETENSORS {
            return Ok(());
        }
        let is_named = |array: &&ReshardedArray| {
            let own = array.dtype.safetensors_name();
            own.is_some_and(|own| own == array.file_dtype)
        };
        let Some(array) = arrays.iter().find(|array| !is_named(array)) else { return Ok(()) };
        let (name, dtype) = (&array.name, array.dtype.name());
        let said = match array.dtype.block() {
            Some(_) => {
                format!("its elements are blocks of {dtype}, which safetensors does not store")
            }
            None => format!(
                "its elements are {dtype}, which safetensors cannot name; only a note records them"
            ),
        };
        let out = "write GGUF: end the name of the result with .gguf, or choose the format gguf for a folder";
        Err(Error::new("unsupported", format!("tensor {name:?}: {said}; {out}")))
    }

    /// Plans a file of these tensors.
    pub(crate) fn header(
        &self,
        entries: &[HeaderEntry<'_>],
        metadata: &[(String, String)],
    ) -> Result<PlannedFile, Error> {
        if self.ending == SAFETENSORS || self.ending.is_empty() {
            let (head, places, bytes) = header(entries, metadata)?;
            let (patches, notes) = (vec![(0, head)], Vec::new());
            return Ok(PlannedFile { patches, places, bytes, notes });
        }
        let tensor = |entry: &HeaderEntry<'_>| {
            let (name, layout, data) = (entry.name.to_owned(), entry.laid.in_files()?, entry.data);
            Ok::<_, Error>(PlannedTensor { name, layout, data })
        };
        let tensors = entries.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
        let (given, source) = (self.given.as_ref(), self.source.as_ref());
        let models = Models { given, source, trusted: self.trusted };
        planned(&self.path, &tensors, metadata, models)
    }
}

/// Returns an error for a format that does not fit the form of a result.
fn check(request: &Request, ending: &str) -> Result<(), Error> {
    let (form, out) = (request.asked_form(), request.output.display());
    if let Some(format) = request.format.as_ref().filter(|format| !FORMATS.contains(&&***format)) {
        let known = FORMATS.join(" or ");
        return Err(Error::usage(format!("files of shards have the format {known}, not {format}")));
    }
    if request.is_file && request.format.is_some() {
        let said = "is a file, and the ending of its name gives its format; do not choose another";
        return Err(Error::usage(format!("{out} {said}")));
    }
    if has_ending(&request.output) && !request.is_file {
        let said = "is the name of a file, and shards are files in a folder; name a folder, and choose the format of its files";
        return Err(Error::usage(format!("{out} {said}")));
    }
    if request.is_file && request.shard_size.is_some() {
        return Err(Error::usage(format!(
            "{out} is one file, and a maximum size splits results into several; name a folder"
        )));
    }
    let is_other = ending != SAFETENSORS;
    if is_other && form == Form::Dcp {
        return Err(Error::usage(format!(
            "files of torch's distributed checkpoint are safetensors, not {ending}"
        )));
    }
    if is_other && request.shard_size.is_some() {
        return Err(Error::usage(format!(
            "{ending} files of a bounded size are not written; write one file"
        )));
    }
    if !is_other && (request.trusts_metadata || !request.metadata.is_empty()) {
        return Err(Error::usage(
            "safetensors keep the metadata of the source; options about metadata are for GGUF",
        ));
    }
    Ok(())
}
