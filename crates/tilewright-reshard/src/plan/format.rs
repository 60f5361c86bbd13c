//! The format of the files of a result: safetensors, with the data at a multiple of 4 KiB, or another format that plans its own
//! files. The plan of a result uses it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tilewright_files::{
    Fingerprint, Input, has_ending,
    inner::{
        DATA_KEY, LAYOUT_KEY, Models, PlannedFile, PlannedTensor, planned, safetensors_header,
    },
};

use crate::{
    Error, Form, Request,
    plan::array::{Laid, ReshardedArray},
    request::SAFETENSORS,
    source::identity::opened,
};

/// The offset of the data is a multiple of this.
const PAGE: usize = 4096;

/// A tensor of an output file.
#[derive(Clone, Debug)]
pub(crate) struct HeaderEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) laid: &'a Laid,
    /// The fingerprint of the data, if it is recorded.
    pub(crate) data: Option<Fingerprint>,
}

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
        let given = request.metadata.first().map(|path| opened(path)).transpose()?;
        let source = source.filter(|_| given.is_none()).map(opened).transpose()?;
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
        metadata: Vec<(String, String)>,
    ) -> Result<PlannedFile, Error> {
        if self.ending == SAFETENSORS || self.ending.is_empty() {
            return safetensors(entries, metadata);
        }
        let tensor = |entry: &HeaderEntry<'_>| {
            let (name, layout, data) = (entry.name.to_owned(), entry.laid.in_files()?, entry.data);
            Ok::<_, Error>(PlannedTensor { name, layout, data })
        };
        let tensors = entries.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
        let (given, source) = (self.given.as_ref(), self.source.as_ref());
        let models = Models { given, source, trusted: self.trusted };
        planned(&self.path, &tensors, &metadata, models).map_err(Error::of_request)
    }
}

/// Plans a safetensors file, whose metadata have the layouts and fingerprints of tensors, as in converted files.
fn safetensors(
    entries: &[HeaderEntry<'_>],
    metadata: Vec<(String, String)>,
) -> Result<PlannedFile, Error> {
    let mut metadata: BTreeMap<_, _> = metadata.into_iter().collect();
    metadata.entry("format".into()).or_insert("pt".into());
    for HeaderEntry { name, laid, data } in entries {
        let data = data.map(|data| (format!("{DATA_KEY}{name}"), data.to_string()));
        let spec = laid.spec.clone().map(|spec| (format!("{LAYOUT_KEY}{name}"), spec));
        metadata.extend(spec.into_iter().chain(data));
    }
    let tensors = entries.iter().map(|HeaderEntry { name, laid, .. }| {
        (*name, &laid.file_dtype, &laid.shape[..], laid.bytes().unwrap_or(u64::MAX))
    });
    let header = safetensors_header(tensors, Some(&metadata), PAGE)?;
    let mut head = (header.text.len() as u64).to_le_bytes().to_vec();
    head.extend_from_slice(header.text.as_bytes());
    let (patches, places, bytes) = (vec![(0, head)], header.places, header.bytes);
    Ok(PlannedFile { patches, places, bytes, notes: Vec::new() })
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
