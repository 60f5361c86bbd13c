//! The packaging of a result: its format, its files, their metadata, and their destination. Preparing an assembly determines it.

use std::path::{Path, PathBuf};

use tilewright_core::Remedy;
use tilewright_recipe::{Assembly, ConfigJson};

use crate::{
    Action, Error, Input, Job, Request, Tensor,
    assemble::{config_json, given::CONFIG},
    commit::{destination, mark, new_folder::NewFolder},
    container::{Beside, Container, FORMATS, Format, Member, Opened, Target},
    convert::conversion,
    error,
    layout::{
        names,
        note_file::{self, Texts},
    },
    open::{folder::Companions, place::Place, remote, tensor::Piece},
};

/// Settings for the files of a result, in addition to its input and its name.
///
/// ```
/// use tilewright_files::Packaging;
/// // Files of at most 5 GB, which say what the input's do.
/// let packaging = Packaging { largest: Some(5_000_000_000), ..Packaging::default() };
/// assert!(packaging.metadata.is_none());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct Packaging<'a> {
    /// The source of the metadata of the result; `None` means the input. A GGUF result from another format needs one.
    pub metadata: Option<&'a Input>,
    /// The largest number of bytes of tensors in one of several files; `None` means the length of the longest such file of the
    /// input. A longer tensor gets a separate file. It is refused for a result of one file.
    pub largest: Option<u64>,
    /// True if metadata of another file are written unchanged, even if they contradict the tensors. Otherwise, the metadata of a
    /// GGUF file must fit the tensors, and `general.file_type` is corrected.
    pub trusted: bool,
}

/// The destination of a result, with its format and request.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) out: PathBuf,
    pub(crate) format: &'static Format,
    pub(crate) request: Request,
    pub(crate) targets: Vec<Target>,
    /// True if the result goes to a stream.
    pub(crate) streamed: bool,
    /// The note beside the result, if its format cannot describe the layout of its array.
    pub(crate) note: Option<Texts>,
    pub(crate) folder: Option<NewFolder>,
}

/// Returns the result as an input that holds these tensors, and its frame.
pub(crate) fn framed(
    input: &Input,
    mut tensors: Vec<Tensor>,
    (place, folder, (out, streamed)): (Place, Option<NewFolder>, (&Path, bool)),
    (request, packaging, assembly): (Request, &Packaging<'_>, &Assembly),
) -> Result<(Input, Frame), Error> {
    if let Some(name) = names::twice(tensors.iter().map(|tensor| tensor.name.as_str())) {
        return Err(error::usage(format!("tensor {name:?} is made twice")));
    }
    let model = packaging.metadata.unwrap_or(input);
    let format = place.format.unwrap_or(input.container_format());
    let own = input.container_format();
    // One safetensors file and several have the same names of element types.
    if format != own && !(format.ties && own.ties) {
        check_arrays(&tensors, format)?;
    }
    format.check_one(tensors.len(), out)?;
    let files = match format.several {
        true => shared_out(input, &mut tensors, packaging.largest)?,
        false => {
            if packaging.largest.is_some() {
                let out = out.display();
                let said = format!(
                    "{out}: the result of one file is one file, and a shard size does not split it; a checkpoint of several files becomes several"
                );
                return Err(error::usage(said));
            }
            vec![String::new()]
        }
    };
    let trusted = packaging.trusted;
    let (pairs, result) = (&assembly.metadata[..], &assembly.result);
    let config = &known(input, assembly)?;
    if let Some(wrong) = input.opened.container.contradictions(config).filter(|_| !trusted) {
        let said = format!("{}: the metadata do not fit: {wrong}", input.path.display());
        return Err(error::usage(said).with(&[Remedy::TrustMetadata]));
    }
    let own = packaging.metadata.is_none();
    let beside = Beside { pairs, tensors: &tensors, files: &files, result, config, own, trusted };
    if let Some(model) = packaging.metadata.filter(|model| model.container_format() != format) {
        return Err(unlike(model, format, out));
    }
    let container = container(input, model, format, &beside)?;
    let files = members(input, files)?;
    let opened = Opened { container, index: None, files, tensors };
    let made = Input { path: place.path.clone(), opened, aside: None, folder: None, beside: None };
    let jobs = jobs(made.tensors());
    let targets = made.opened.container.plan(&made.opened, &place.path, &jobs)?;
    let note = made.note(format, &jobs);
    if folder.is_none() && !streamed {
        [input, model]
            .into_iter()
            .try_for_each(|it| destination::check(it, &targets, request.force))?;
        let noted = note.is_some() && !remote::is_url(&place.path);
        if noted {
            note_file::check_free(&place.path)?;
        }
    }
    Ok((made, Frame { out: place.path, format, request, targets, streamed, note, folder }))
}

/// Checks that the tensors are arrays, which every format can store.
fn check_arrays(tensors: &[Tensor], format: &Format) -> Result<(), Error> {
    let other = tensors.iter().find_map(|tensor| Some((&tensor.name, tensor.refusal.as_ref()?)));
    other.map_or(Ok(()), |(name, refusal)| {
        let said = format!(
            "a {} file stores only arrays, and tensor {name:?} lacks a layout: {refusal}; let the recipe `drop` it",
            format.shown
        );
        Err(error::usage(said))
    })
}

/// Returns the sizes of the model under the keys of `config.json`: those of the configuration, replaced by those that the
/// recipe solved.
fn known(input: &Input, assembly: &Assembly) -> Result<serde_json::Value, Error> {
    let mut known = match input.config()? {
        Some(serde_json::Value::Object(config)) => config,
        _ => serde_json::Map::new(),
    };
    known.extend(assembly.solved.iter().map(|(key, size)| (key.clone(), (*size).into())));
    Ok(known.into())
}

/// Messages about a result.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Facts that may surprise.
    pub(crate) notes: Vec<String>,
    /// Warnings, shown with `--quiet` too: checks that were not made, and files that a reader needs and does not find.
    pub(crate) cautions: Vec<String>,
}

/// Copies or changes the configuration as the recipe demands.
pub(crate) fn configure(
    input: &Input,
    companions: &mut Companions,
    config: &ConfigJson,
) -> Result<Messages, Error> {
    let there = companions.find(CONFIG).is_some();
    let (mut notes, mut cautions) = (Vec::new(), Vec::new());
    match config {
        ConfigJson::Unsaid if there => cautions.push(format!(
            "{CONFIG} is copied as it is; the recipe does not say whether it describes the result"
        )),
        ConfigJson::Leave(why) => {
            companions.leave(CONFIG);
            notes.extend(there.then(|| format!("{CONFIG} is not copied: {why}")));
        }
        ConfigJson::Change(change) => match input.config_text()?.filter(|_| there) {
            Some((path, text)) => {
                let changed = config_json::changed(&text, change)
                    .ok_or_else(|| error::corrupt(&path, "it is not a JSON object"))?;
                companions.change(CONFIG, changed.into_bytes());
            }
            None => {
                let set = serde_json::Value::from(change.set.clone());
                cautions.push(format!(
                    "there is no {CONFIG} to change; that of the result needs {set}"
                ));
            }
        },
        // It is copied like other files.
        ConfigJson::Keep if !there => cautions.push(format!(
            "there is no {CONFIG} in the input; a library that loads the result needs one"
        )),
        _ => {}
    }
    Ok(Messages { notes, cautions })
}

/// Returns a warning that a single file leaves the configuration of its input behind.
pub(crate) fn unconfigured(input: &Input, config: &ConfigJson) -> Result<Option<String>, Error> {
    if input.config_text()?.is_none() {
        return Ok(None);
    }
    let said = format!(
        "{CONFIG} beside the input is not copied, because the result is a file, not a folder"
    );
    Ok(match config {
        ConfigJson::Leave(_) => None,
        ConfigJson::Change(change) => {
            let set = serde_json::Value::from(change.set.clone());
            let remove = match change.remove.is_empty() {
                true => String::new(),
                false => format!(" and without {}", change.remove.join(", ")),
            };
            Some(format!("{said}; a library that loads the result needs it with {set}{remove}"))
        }
        _ => Some(format!("{said}; a library that loads the result needs it")),
    })
}

/// Returns a warning if the recipe makes names for one kind of file and the result is another kind.
pub(crate) fn misplaced(format: &Format, assembly: &Assembly) -> Option<String> {
    let is_for = |one: &&&Format| {
        let begins = one.describes.is_some_and(|it| assembly.result.has_key_with(it));
        begins && one.name != format.name
    };
    let meant = FORMATS.iter().find(is_for)?;
    let (named, shown) = (meant.name, format.shown);
    Some(format!(
        "the tensors have the names that readers of {named} know, and the result is a {shown} file, which these do not read; the ending of its name decides its kind: {}",
        meant.ending.unwrap_or_default()
    ))
}

/// Returns a warning if the format of a result cannot record what the recipe states.
pub(crate) fn unrecorded(frame: &Frame, assembly: &Assembly) -> Option<String> {
    let lost = frame.format.array.is_some() && !assembly.metadata.is_empty();
    lost.then(|| {
        let shown = frame.format.shown;
        format!("{shown} cannot store metadata: the recipe that undoes this one is not recorded, and a later comparison needs the recipe")
    })
}

/// Returns the metadata that the conversion by an assembly writes to this result, as texts; `None` if they are unknown, such as
/// those of a GGUF file that another file gave.
pub(crate) fn written(
    out: &Input,
    against: &Input,
    packaging: &Packaging<'_>,
    assembly: &Assembly,
) -> Result<Option<Vec<(String, String)>>, Error> {
    let files = out.opened.files.iter().map(|file| mark::usual(&file.name).into_owned());
    let (files, config) = (files.collect::<Vec<_>>(), known(against, assembly)?);
    let (pairs, result) = (&assembly.metadata[..], &assembly.result);
    let (own, trusted) = (packaging.metadata.is_none(), packaging.trusted);
    let tensors = out.tensors();
    let beside = Beside { pairs, tensors, files: &files, result, config: &config, own, trusted };
    let models = [packaging.metadata.unwrap_or(against), against];
    let container = of_models(&models, out.container_format(), &beside)?;
    let texts = |container: Box<dyn Container>| {
        container.metadata().map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
    };
    Ok(container.map(texts))
}

/// Returns the destination of the result: in a folder that becomes OUT, a file, or a stream.
pub(crate) fn placed(
    input: &Input,
    (out, streamed): (&Path, bool),
    request: &Request,
) -> Result<(Place, Option<NewFolder>), Error> {
    let place = Place::parse(out);
    if streamed {
        let format = place.format.unwrap_or(input.container_format());
        return destination::check_stream(format, request).map(|()| (place, None));
    }
    if let Some(folder) = input.folder.as_ref().filter(|_| place.format.is_none()) {
        let folder = NewFolder::new(out, Companions::of(folder, input)?)?;
        let path = folder.path.join(input.path.file_name().unwrap_or_default());
        return Ok((Place { path, format: Some(input.container_format()) }, Some(folder)));
    }
    destination::check_name(&place.path)?;
    if place.format.is_none() && place.path.extension().is_some() {
        // Returns the error that names the legal endings.
        destination::format_of(input, &place)?;
    }
    let format = place.format.unwrap_or(input.container_format());
    conversion::swept(input, format, &place.path)?;
    Ok((place, None))
}

/// Returns the error for metadata of one format that are given for a result of another.
pub(crate) fn unlike(model: &Input, format: &Format, out: &Path) -> Error {
    let (from, out, own) = (model.path.display(), out.display(), model.container_format());
    let (is, shown) = (own.shown, format.shown);
    let end = own.ending.unwrap_or_default();
    error::usage(format!(
        "{out}: the result is a {shown} file, and the metadata are those of {from}, a {is} file; the ending of the result's name decides its kind: {end}"
    ))
}

/// Returns the container of the result: that of the model for other tensors, or a new one.
fn container(
    input: &Input,
    model: &Input,
    format: &'static Format,
    beside: &Beside<'_>,
) -> Result<Box<dyn Container>, Error> {
    if let Some(container) = of_models(&[model, input], format, beside)? {
        return Ok(container);
    }
    let (shown, model, path) = (format.shown, model.path.display(), input.path.display());
    if !format.several {
        let said = format!(
            "{shown} needs model metadata that {model} lacks: take its metadata from a {shown} file"
        );
        return Err(error::usage(said).with(&[Remedy::Metadata]));
    }
    Err(error::usage(format!(
        "{path}: a recipe's result is several files only if its input is, with the input's names; name one .safetensors file"
    )))
}

/// Returns the container of the first of these models that has the format and can be renewed for other tensors, else a new one;
/// `None` if the format needs a model.
pub(super) fn of_models(
    models: &[&Input],
    format: &'static Format,
    beside: &Beside<'_>,
) -> Result<Option<Box<dyn Container>>, Error> {
    for model in models.iter().filter(|model| model.container_format() == format) {
        if let Some(container) = model.opened.container.renewed(&model.opened, beside)? {
            return Ok(Some(container));
        }
    }
    Ok(format.create.map(|create| create(beside.pairs.to_vec())))
}

/// Distributes the tensors over files in their order; returns the names of the files.
fn shared_out(
    input: &Input,
    tensors: &mut [Tensor],
    largest: Option<u64>,
) -> Result<Vec<String>, Error> {
    let files = &input.opened.files;
    let longest = files.iter().map(|file| file.source.len()).max().unwrap_or(u64::MAX);
    let most = largest.unwrap_or(longest).max(1);
    let (mut file, mut held) = (0, 0u64);
    for tensor in tensors {
        if held > 0 && held.saturating_add(tensor.len) > most {
            (file, held) = (file + 1, 0);
        }
        held = held.saturating_add(tensor.len);
        tensor.pieces = vec![Piece::whole(file, 0, tensor.len, &tensor.held)];
    }
    let own: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let own = mark::usual_names(own.iter().copied());
    Ok(file_names(&own, file + 1))
}

/// Returns the names of `count` files: those of the input if it has `count` files, else numbered names.
fn file_names(own: &[String], count: usize) -> Vec<String> {
    if own.len() == count {
        return own.to_vec();
    }
    let first =
        own.first().map_or("model", |name| name.strip_suffix(".safetensors").unwrap_or(name));
    let stem = first.find("-00001-of-").and_then(|at| first.get(..at)).unwrap_or(first);
    (1..=count).map(|number| format!("{stem}-{number:05}-of-{count:05}.safetensors")).collect()
}

/// Returns the files of a result; each gets the permissions of a file of the input.
fn members(input: &Input, names: Vec<String>) -> Result<Vec<Member>, Error> {
    let own = &input.opened.files;
    let member = |(number, name): (usize, String)| {
        let model = own.get(number % own.len().max(1));
        Some(model.map(|file| Ok(Member { name, source: file.source.again()? })).transpose())
    };
    let all = names.into_iter().enumerate().filter_map(member);
    all.filter_map(Result::transpose).collect()
}

/// Returns the jobs that describe the layout of each tensor in a file.
pub(crate) fn jobs(tensors: &[Tensor]) -> Vec<Job> {
    let job = |(number, tensor)| Job::copy(number, tensor, Action::Copy);
    tensors.iter().enumerate().map(job).collect()
}

#[cfg(test)]
mod tests {
    use super::file_names;

    #[test]
    fn files_are_named_as_those_of_the_input() {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let two = own(&["m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"]);
        assert_eq!(file_names(&two, 2), two);
        let three = file_names(&two, 3);
        assert_eq!(three[2], "m-00003-of-00003.safetensors");
        assert_eq!(file_names(&own(&["a.safetensors"]), 2)[0], "a-00001-of-00002.safetensors");
        assert_eq!(file_names(&[], 1), ["model-00001-of-00001.safetensors"]);
    }
}
