//! Opens files. The format is that of the path's prefix or extension, else the one that the first bytes show.

pub(crate) mod collection;
pub(crate) mod folder;
pub(crate) mod foreign;
pub(crate) mod globs;
pub(crate) mod input;
pub(crate) mod joined;
pub(crate) mod json;
pub(crate) mod lists;
pub(crate) mod origin;
pub(crate) mod place;
pub(crate) mod readable;
pub(crate) mod reading;
pub(crate) mod remote;
pub(crate) mod source;
pub(crate) mod tensor;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use tilewright_core::Remedy;

use crate::{
    Error, Input, Reading, Watch,
    commit::temporary,
    container::{self, Format, Opening, RAW},
    error,
    layout::note_file::{self, FoundNote},
    open::{place::Place, source::Source},
};

/// Opens a file. Its format is that of its prefix (`raw:PATH`, `npy:PATH` …), else of its extension, else the one that its first
/// bytes show. Headers are read and checked, tensors are not. A folder is opened by its one index of shards, else by its one file
/// of named tensors.
///
/// A file of one array (npy, raw) is read by `reading`. In safetensors files every tensor has its dims and type, and is opened
/// with them; a conversion may still read some of them differently (see [`Request`](crate::Request)), if `reading` gives a
/// layout.
///
/// # Errors
/// [i/o](Error::is_io) for files that are missing, truncated, corrupt or hold data for which no layout is defined;
/// [usage](Error::is_usage) if `reading` does not fit the file.
///
/// ```
/// use tilewright_files::{Reading, open};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open(path, &Reading::default()).unwrap();
/// assert_eq!(input.format(), "safetensors");
/// assert!(input.tensors().iter().all(|tensor| tensor.dtype().name() == "f32"));
/// let error = open(env!("CARGO_MANIFEST_DIR"), &Reading::default()).unwrap_err();
/// assert!(error.is_io() && error.to_string().contains("holds no checkpoint"));
/// ```
pub fn open(path: impl AsRef<Path>, reading: &Reading) -> Result<Input, Error> {
    open_place(&Place::parse(path.as_ref()), reading, &())
}

/// Opens a file like [`open`], in a way that `watch` can cancel: when a note is compared with all bytes of a file, or deflated
/// arrays are unpacked.
///
/// # Errors
/// Those of [`open`]; [cancelled](Error::is_cancelled) if `watch` cancels.
///
/// ```
/// use tilewright_files::{Reading, open_watched};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// assert_eq!(open_watched(path, &Reading::default(), &()).unwrap().tensors().len(), 8);
/// ```
pub fn open_watched(
    path: impl AsRef<Path>,
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    open_place(&Place::parse(path.as_ref()), reading, watch)
}

/// Opens the file or folder of a path.
pub(crate) fn open_place(
    place: &Place,
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    let folder = folder::is_folder(place)?.then(|| place.path.clone());
    let (format, source) = file_of(place)?;
    let beside = folder.as_ref().and_then(|folder| folder::set_aside(folder, source.path()));
    Ok(Input { folder, beside, ..open_as(format, source, reading, watch)? })
}

/// Returns the file to open for a path, and its format.
pub(crate) fn file_of(place: &Place) -> Result<(&'static Format, Source), Error> {
    let place = folder::opened(place.clone())?;
    let source = Source::open(&place.path)?;
    let format = place.format.map_or_else(|| container::recognised(&source), Ok)?;
    Ok((format, source))
}

/// Returns the note beside a file, if its format needs notes.
pub(crate) fn noted(
    format: &Format,
    source: &Source,
    watch: &dyn Watch,
) -> Result<FoundNote, Error> {
    match format.array {
        Some(_) => note_file::of(source, watch),
        None => Ok(FoundNote::default()),
    }
}

/// Opens a regular file that is already open, such as standard input; `path` may have a format prefix: `-` or `raw:-`.
///
/// # Errors
/// Those of [`open`]; the index of a checkpoint is refused, because it names files in its folder.
///
/// ```
/// use tilewright_files::{Reading, open_file};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
/// let input = open_file(std::fs::File::open(path)?, "-", &Reading::default()).unwrap();
/// assert_eq!(input.tensors().len(), 8);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_file(file: File, path: impl AsRef<Path>, reading: &Reading) -> Result<Input, Error> {
    open_source(Source::given(file)?, &Place::parse(path.as_ref()), reading)
}

/// Opens the content of a stream, which is first copied to a temporary file; `path` may have a format prefix.
///
/// # Errors
/// Those of [`open_file`].
///
/// ```
/// use tilewright_files::{Reading, open_stream};
/// use tilewright_notation::dtype;
/// let reading = Reading::default().dims(&[2, 3]).dtype(dtype("u8").unwrap());
/// let input = open_stream(&[1, 2, 3, 4, 5, 6][..], "-", &reading).unwrap();
/// assert_eq!((input.format(), input.tensors()[0].dims()), ("raw", &[2, 3][..]));
/// ```
pub fn open_stream(
    stream: impl Read,
    path: impl AsRef<Path>,
    reading: &Reading,
) -> Result<Input, Error> {
    open_source(Source::copied(stream)?, &Place::parse(path.as_ref()), reading)
}

/// Opens a file that is not in a folder. Its format is that of its prefix or its first bytes, else raw bytes if `reading`
/// describes them.
fn open_source(source: Source, place: &Place, reading: &Reading) -> Result<Input, Error> {
    let shown = place.format.map_or_else(|| container::recognised(&source), Ok);
    let alone = shown.as_ref().is_ok_and(|format| !format.several);
    let format = match shown {
        _ if !alone && place.format.is_none() && !reading.is_silent() => &RAW,
        shown => shown?,
    };
    open_with(format, source, reading, None, &())
}

/// Opens a file as one of this format.
pub(crate) fn open_as(
    format: &'static Format,
    source: Source,
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    let beside = temporary::folder(source.path()).to_path_buf();
    open_with(format, source, reading, Some(&|name| beside.join(name)), watch)
}

/// Opens a file as one of this format; `beside` returns the paths of the files in its folder.
pub(crate) fn open_with(
    format: &'static Format,
    source: Source,
    reading: &Reading,
    beside: Option<&dyn Fn(&str) -> PathBuf>,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    let path = source.path().to_path_buf();
    check_reading(format, reading)?;
    let FoundNote { texts, aside } = noted(format, &source, watch)?;
    let opened = (format.open)(Opening { source, reading, watch, note: &texts, beside });
    // The note may have information that the file lacks.
    let opened = opened.map_err(|error| match &aside {
        Some(aside) if error.is_usage() => error.and(&aside.said),
        _ => error,
    })?;
    Ok(Input { path, opened, aside, folder: None, beside: None })
}

/// Returns an error if dims or a type are given that would not be used: most formats record them, so the caller gives them only
/// with another layout.
pub(crate) fn check_reading(format: &Format, reading: &Reading) -> Result<(), Error> {
    if !format.says_all() || reading.from.is_some() || reading.is_silent() {
        return Ok(());
    }
    let given = if reading.dims.is_some() { "dims are" } else { "an element type is" };
    let name = format.name;
    let said = format!("{given} given, but the tensors of a {name} file have their own");
    Err(error::usage(said).with(&[Remedy::Source]))
}
