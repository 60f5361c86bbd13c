//! Folders that hold a checkpoint: which of the files is opened, and which others are copied in a conversion. Opening, conversion
//! and verification of folders use it.
//!
//! The checkpoint is the folder's one index of shards, else its one file of tensors with names, else `pytorch_model.bin` or its
//! index. Other files are copied unchanged
//! if they are not weights and not longer than [`LONGEST`]: `config.json`, tokenizers, licences. Links to files are followed,
//! since folders of the Hugging Face hub consist of them. Everything else (folders, weights of other formats, longer files) is
//! not copied, and a warning names it.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use tilewright_core::Remedy;
use tilewright_transfer::Limits;

use crate::{
    Error, Input, Reading, Tensor, Watch,
    commit::{access::Access, disk},
    container::{self, FORMATS, Format, Opened, Opening, safetensors::BOXES},
    error,
    layout::note_file::Texts,
    open::{
        foreign,
        origin::Origin,
        place::{self, Place},
        remote,
        source::{Source, unusual_kind},
    },
    verify::compare,
};

/// The longest file that is copied, in bytes: the tokenizers of the largest vocabularies have 35 MB.
const LONGEST: u64 = 64 << 20;

/// The largest number of files that are copied.
const MOST: usize = 1000;

/// The number of bytes of such a file that are in memory at once.
const PIECE: u64 = 64 << 10;

/// The number of files that are not copied that a warning names.
const NAMED: usize = 8;

/// The endings of names of files that hold weights in other formats, and of their indices.
const WEIGHTS: [&str; 15] = [
    ".bin",
    ".pt",
    ".pth",
    ".ckpt",
    ".pkl",
    ".h5",
    ".msgpack",
    ".ot",
    ".onnx",
    ".onnx_data",
    ".tflite",
    ".pb",
    ".bin.index.json",
    ".h5.index.json",
    ".msgpack.index.json",
];

/// Returns the file to open for a path: the checkpoint in it, if it is a folder.
pub(crate) fn opened(place: Place) -> Result<Place, Error> {
    // A path with a format prefix names a file of that format.
    if !is_folder(&place)? {
        return Ok(place);
    }
    let path = checkpoint(&place.path)?;
    Ok(Place { format: container::by_ending(&path), path })
}

/// Returns whether a path names a folder and does not have a format prefix.
pub(crate) fn is_folder(place: &Place) -> Result<bool, Error> {
    match place.format == container::by_ending(&place.path) {
        true => place::is_folder(&place.path),
        false => Ok(false),
    }
}

/// Returns the file in a folder that names all its tensors.
fn checkpoint(folder: &Path) -> Result<PathBuf, Error> {
    let names = names(folder)?;
    let (indices, files): (Vec<&Format>, Vec<&Format>) =
        FORMATS.iter().filter(|format| format.array.is_none()).partition(|format| format.several);
    for format in indices.iter().chain(&files) {
        let is_one =
            |path: &&PathBuf| of_tensors(path) == Some(*format) && !remote::is_listed_folder(path);
        let found: Vec<&PathBuf> = names.iter().filter(is_one).collect();
        match found[..] {
            [] => {}
            [one] if part_of(one).is_some() && !format.several && !format.splits => {
                let said = format!("{} holds {} alone", folder.display(), shown(one));
                return Err(error::usage(format!("{said}; {}", unlisted(format))));
            }
            [one] => return Ok(one.clone()),
            [one, ..] if format.splits && are_parts(&found) && !is_alone(one, format) => {
                return Ok(one.clone());
            }
            _ => match preferred(&found) {
                Some(one) => return Ok(one.clone()),
                None => return Err(several(folder, &found, format)),
            },
        }
    }
    if let Some(older) = foreign::older(folder) {
        return Ok(older);
    }
    foreign::check_folder(folder)?;
    let known: Vec<String> = indices
        .iter()
        .chain(&files)
        .filter_map(|format| format.ending)
        .filter(|end| !WEIGHTS.contains(end))
        .map(|end| format!("*{end}"))
        .collect();
    let known = known.join(", ");
    let said = format!(
        "it is a directory that holds no checkpoint: no file {known}, and no pytorch_model.bin"
    );
    Err(error::unrecognised(folder, said))
}

/// Returns the file that is opened in place of all of these: `model.safetensors` beside `consolidated*.safetensors`, which is the
/// same model with the names of its makers.
fn preferred<'a>(found: &[&'a PathBuf]) -> Option<&'a PathBuf> {
    let mut others = found.iter().copied().filter(|path| !is_consolidated(path));
    let one = others.next().filter(|path| shown(path) == "model.safetensors")?;
    others.next().is_none().then_some(one)
}

/// Returns whether a file's name is that of the second form of a model that its makers publish twice.
fn is_consolidated(path: &Path) -> bool {
    let name = shown(path).to_lowercase();
    name.starts_with("consolidated") && name.ends_with(".safetensors")
}

/// Returns a message on the folder's other files of the same model as the opened checkpoint, as a sentence without a full stop.
pub(crate) fn set_aside(folder: &Path, opened: &Path) -> Option<String> {
    // The shards of an index belong to it.
    if shown(opened).to_lowercase().starts_with("consolidated") {
        return None;
    }
    let names = names(folder).ok()?;
    let others: Vec<String> = names
        .iter()
        .filter(|path| *path != opened && is_consolidated(path))
        .map(|path| shown(path))
        .collect();
    let (others, opened) = (others.join(", "), shown(opened));
    (!others.is_empty()).then(|| format!("{opened} is read, and not {others} beside it"))
}

/// Returns the error for a folder of several files of tensors, none of which names the tensors of all.
fn several(folder: &Path, found: &[&PathBuf], format: &Format) -> Error {
    let (count, ending) = (found.len(), format.ending.unwrap_or_default());
    let first = found.first().map_or_else(String::new, |first| shown(first));
    let said = format!("{} holds {count} files *{ending}, such as {first}", folder.display());
    let opened = found.iter().take(2).filter_map(|path| open(path, format));
    let opened: Vec<Opened> = opened.collect();
    if opened.iter().any(|one| one.container.metadata().any(|(key, _)| key == BOXES)) {
        let said = format!("{said}: a torch checkpoint in shards, as {BOXES} says");
        return error::usage(said).with(&[Remedy::Reshard]);
    }
    let shares = |one: &Opened, other: &Opened| {
        let names: HashSet<&str> = one.tensors.iter().map(Tensor::name).collect();
        other.tensors.iter().any(|tensor| names.contains(tensor.name()))
    };
    match &opened[..] {
        [one, other] if shares(one, other) => {
            let said = format!(
                "{said}, which hold tensors of the same names: they look like files of ranks"
            );
            error::usage(said).with(&[Remedy::FromMesh])
        }
        _ if format.several => error::usage(format!("{said}; name one of them")),
        _ if found.iter().any(|path| part_of(path).is_some()) => {
            error::usage(format!("{said}; {}", unlisted(format)))
        }
        _ => {
            let said = format!("{said}, and no index lists the tensors of all files");
            let fix =
                "name one of them if it is a whole checkpoint, or put the index into the folder";
            error::usage(format!("{said}; {fix}"))
        }
    }
}

/// Opens a file for a look at its tensors; `None` if it cannot be read.
fn open(path: &Path, format: &Format) -> Option<Opened> {
    let (reading, note) = (Reading::default(), Texts::default());
    let source = Source::open(path).ok()?;
    let opening = Opening { source, reading: &reading, watch: &(), note: &note, beside: None };
    (format.open)(opening).ok()
}

/// Returns whether a file that is named as one of several does not state that it is: it may be the file of a rank.
fn is_alone(path: &Path, format: &Format) -> bool {
    open(path, format).is_some_and(|opened| opened.files.len() == 1)
}

/// Returns the common beginning of the names of all parts, and the number of parts, for a file that is named as one of several:
/// `model-00001-of-00003.safetensors`.
fn part_of(path: &Path) -> Option<(String, u64)> {
    let name = shown(path);
    let (before, behind) = name.rsplit_once("-of-")?;
    let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    let count = behind.get(..end)?.parse().ok().filter(|count| *count > 1)?;
    let stem = before.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem.to_owned(), count))
}

/// Returns true if all files are named as parts of one checkpoint.
fn are_parts(found: &[&PathBuf]) -> bool {
    let of = |path: &&PathBuf| part_of(path);
    let first = found.first().and_then(of);
    first.is_some() && found.iter().all(|path| of(path) == first)
}

/// Returns the end of an error about parts of a checkpoint without an index: the reason and the fix.
fn unlisted(format: &Format) -> String {
    let named = "they are named as parts of one checkpoint";
    match (format.name, format.ending) {
        ("safetensors", Some(ending)) => format!(
            "{named}, and its index *{ending}.index.json is missing: put it into the folder"
        ),
        _ => format!("{named}, but files of this format are not read as one checkpoint"),
    }
}

/// Returns the format of a file in a folder, by its name; `None` for weights in other formats and their indices.
pub(crate) fn of_tensors(path: &Path) -> Option<&'static Format> {
    container::by_ending(path).filter(|_| !is_foreign(path))
}

/// Returns whether a file's name is that of weights in another format, or of their index.
fn is_foreign(path: &Path) -> bool {
    let name = shown(path).to_lowercase();
    WEIGHTS.iter().any(|ending| name.ends_with(ending))
}

/// The paths in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if remote::is_url(folder) {
        return remote::list(folder);
    }
    let failed = |cause| error::io(folder, "list", cause);
    let listed = fs::read_dir(folder).map_err(failed)?;
    let mut paths = listed
        .map(|entry| Ok(entry.map_err(failed)?.path()))
        .collect::<Result<Vec<PathBuf>, Error>>()?;
    paths.sort();
    Ok(paths)
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the first difference between the files beside the tensors of two folders; `None` if one of the two is not a folder.
/// `chosen` removes files or changes them, as a recipe does.
pub(crate) fn difference(
    out: &Place,
    against: &Input,
    chosen: &dyn Fn(&mut Companions) -> Result<(), Error>,
    limits: &Limits<'_>,
) -> Result<Option<String>, Error> {
    let Some(own) = &against.folder else { return Ok(None) };
    if !is_folder(out)? {
        return Ok(None);
    }
    let mut companions = Companions::of(own, against)?;
    chosen(&mut companions)?;
    companions.difference(&out.path, limits)
}

/// The files in a folder beside its checkpoint.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Companions {
    /// The files that are copied.
    pub taken: Vec<PathBuf>,
    /// The folder that was opened as the input, if any: its result is another one.
    pub(crate) source: Option<PathBuf>,
    /// The new bytes of files that are changed, by their names.
    changed: BTreeMap<OsString, Vec<u8>>,
    /// Descriptions of the files that are not copied.
    left: Vec<String>,
}

impl Companions {
    /// Returns the companions of an input that was opened by its folder.
    pub(crate) fn of(folder: &Path, input: &Input) -> Result<Companions, Error> {
        let beside = Companions::beside(folder, &input.sources().map(Source::path).collect())?;
        Ok(Companions { source: Some(folder.to_owned()), ..beside })
    }

    /// Returns the files in a folder beside these files.
    #[doc(hidden)]
    pub fn beside(folder: &Path, own: &HashSet<&Path>) -> Result<Companions, Error> {
        let mut companions = Companions::default();
        for path in names(folder)? {
            if own.contains(path.as_path()) || is_of_a_run(&path) {
                continue;
            }
            match stays(&path)? {
                Some(why) => companions.left.push(format!("{} ({why})", shown(&path))),
                None => companions.taken.push(path),
            }
        }
        if companions.taken.len() > MOST {
            let count = companions.taken.len();
            let said = format!("{count} files are beside its tensors; at most {MOST} are copied");
            return Err(error::unsupported(folder, said));
        }
        Ok(companions)
    }

    /// Returns companions that are exactly these files.
    #[doc(hidden)]
    pub fn these(taken: Vec<PathBuf>) -> Companions {
        Companions { taken, ..Companions::default() }
    }

    /// Returns a message on the files that are not copied, as a sentence without a full stop.
    #[doc(hidden)]
    pub fn warning(&self) -> Option<String> {
        let named = self.left.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.left.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!self.left.is_empty()).then(|| format!("not taken along: {named}{more}"))
    }

    /// Returns the copied file of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Path> {
        let is_it = |path: &&PathBuf| path.file_name().is_some_and(|own| own == name);
        self.taken.iter().find(is_it).map(PathBuf::as_path)
    }

    /// Removes the file of this name from the copied files.
    pub(crate) fn leave(&mut self, name: &str) {
        self.taken.retain(|path| path.file_name().is_none_or(|own| own != name));
    }

    /// Gives the copied file of this name other bytes.
    pub(crate) fn change(&mut self, name: &str, bytes: Vec<u8>) {
        self.changed.insert(name.into(), bytes);
    }

    /// Iterates over the files: name, path, and the new bytes if it is changed.
    #[cfg(feature = "remote")]
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, &Path, Option<&[u8]>)> {
        self.taken.iter().map(|path| {
            let changed = path.file_name().and_then(|name| self.changed.get(name));
            (shown(path), path.as_path(), changed.map(Vec::as_slice))
        })
    }

    /// Returns the first of these files that differs in another folder. Other files of that folder are not compared.
    pub(crate) fn difference(
        &self,
        folder: &Path,
        limits: &Limits<'_>,
    ) -> Result<Option<String>, Error> {
        for path in &self.taken {
            let other = folder.join(path.file_name().unwrap_or_default());
            if !remote::is_file(&other)? {
                let (name, folder) = (shown(path), folder.display());
                return Ok(Some(format!(
                    "{name:?}, which must be copied, is missing from {folder}"
                )));
            }
            let is = Source::open(&other)?;
            let said = match path.file_name().and_then(|name| self.changed.get(name)) {
                Some(bytes) => is_other(&is, bytes)?,
                None => differs(&is, &Source::open(path)?, limits)?,
            };
            if let Some(said) = said {
                return Ok(Some(format!("{:?}, which must be copied, {said}", shown(path))));
            }
        }
        Ok(None)
    }

    /// Copies the files to another folder, and syncs them to the disk.
    #[doc(hidden)]
    pub fn copy_to(&self, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
        self.taken.iter().try_for_each(|path| {
            let name = path.file_name().unwrap_or_default();
            match self.changed.get(name) {
                Some(bytes) => write(bytes, path, &folder.join(name)),
                None => copy(path, &folder.join(name), watch),
            }
        })
    }
}

/// Returns whether a file is one that a run creates beside its result: a temporary file, a lock, a journal.
fn is_of_a_run(path: &Path) -> bool {
    let name = shown(path);
    name.starts_with('.') && name.contains(".tilewright-")
}

/// Returns the reason why a path is not copied; `None` if it is.
fn stays(path: &Path) -> Result<Option<String>, Error> {
    let weights = container::by_ending(path).is_some() || is_foreign(path);
    let len = match remote::is_url(path) {
        true if remote::is_listed_folder(path) => return Ok(Some("a folder".into())),
        true if weights => 0,
        true => Source::open(path)?.len(),
        false => {
            let doing = match fs::read_link(path) {
                Ok(to) => format!("follow the link to {}", to.display()),
                Err(_) => "look at".to_owned(),
            };
            let facts = fs::metadata(path).map_err(|cause| error::io(path, &doing, cause))?;
            if facts.is_dir() {
                return Ok(Some("a folder".into()));
            }
            if let Some(kind) = unusual_kind(&facts) {
                return Ok(Some(kind.into()));
            }
            facts.len()
        }
    };
    if weights {
        return Ok(Some("weights of another file".into()));
    }
    Ok((len > LONGEST).then(|| format!("{len} bytes, more than {LONGEST}")))
}

/// Compares a file with the bytes that a recipe gives it.
fn is_other(is: &Source, bytes: &[u8]) -> Result<Option<String>, Error> {
    let same = is.len() == bytes.len() as u64 && is.head(is.len())? == bytes;
    is.check_unchanged()?;
    Ok((!same).then(|| "differs from what the recipe writes".into()))
}

/// Compares a file with another one. It is an error if one of them changes meanwhile.
fn differs(is: &Source, was: &Source, limits: &Limits<'_>) -> Result<Option<String>, Error> {
    if is.len() != was.len() {
        return Ok(Some(format!("has {} bytes, had {}", is.len(), was.len())));
    }
    let sides = [is, was].map(|source| (Origin::File(source), 0));
    if let Some(at) = compare::unequal(sides, (is.len(), 1), limits)? {
        let [mut a, mut b] = [[0]; 2];
        is.read(&mut a, at)?;
        was.read(&mut b, at)?;
        return Ok(Some(format!("has {:#x} at byte {at}, had {:#x}", a[0], b[0])));
    }
    is.check_unchanged()?;
    was.check_unchanged()?;
    Ok(None)
}

/// Writes a file with the permissions of another one.
fn write(bytes: &[u8], model: &Path, to: &Path) -> Result<(), Error> {
    let source = Source::open(model)?;
    let failed = |cause| error::io(to, "write", cause);
    let access = Access::of(to, source.facts());
    let file = disk::create(to, access.at_first()).map_err(failed)?;
    access.give(&file).map_err(failed)?;
    disk::write(&file, bytes).map_err(failed)?;
    disk::sync(&file).map_err(failed)
}

/// Copies a file with its permissions.
fn copy(from: &Path, to: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let source = Source::open(from)?;
    let failed = |cause| error::io(to, "write", cause);
    let access = Access::of(to, source.facts());
    let file = disk::create(to, access.at_first()).map_err(failed)?;
    access.give(&file).map_err(failed)?;
    let (mut at, mut piece) = (0, vec![0; PIECE as usize]);
    while at < source.len() {
        watch.check_cancelled()?;
        let step = (source.len() - at).min(piece.len() as u64) as usize;
        source.read(&mut piece[..step], at)?;
        disk::write(&file, &piece[..step]).map_err(failed)?;
        at += step as u64;
    }
    source.check_unchanged()?;
    disk::sync(&file).map_err(failed)
}
