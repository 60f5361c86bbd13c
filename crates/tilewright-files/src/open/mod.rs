//! Opens files. The format is the one that the path names, else the one that the first bytes show.

pub(crate) mod bytes;
pub(crate) mod collection;
pub(crate) mod folder;
pub(crate) mod foreign;
pub(crate) mod globs;
pub(crate) mod input;
pub(crate) mod list_files;
pub(crate) mod lists;
pub(crate) mod origin;
pub(crate) mod place;
pub(crate) mod reading;
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
    layout::note::{self, Found},
    open::{place::Place, source::Source},
};

/// Opens a file: by the prefix of its format (`raw:PATH`, `npy:PATH` …), or by what its extension names, or else what
/// its first bytes show. Headers are read and checked, tensors are not. A folder is opened by its one index of shards,
/// else by its one file of named tensors.
///
/// A file of one array (npy, raw) is read as `reading` says. In safetensors files every tensor says
/// itself what it is, and is opened as that; a conversion may still read some of them otherwise
/// (see [`Request`](crate::Request)), if `reading` says in which layout.
///
/// # Errors
/// [i/o](Error::is_io) for files that are missing, truncated, corrupt or hold what no layout can be
/// given to; [usage](Error::is_usage) where `reading` does not fit the file.
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

/// [`open`], which `watch` may stop: where a note is to be compared with all bytes of a file, or deflated arrays are
/// unpacked.
///
/// # Errors
/// As [`open`]; [cancelled](Error::is_cancelled) if `watch` says so.
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

/// Opens what a path names.
pub(crate) fn open_place(
    place: &Place,
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    let folder = folder::is_folder(place).then(|| place.path.clone());
    let (format, source) = file_of(place)?;
    let beside = folder.as_ref().and_then(|folder| folder::set_aside(folder, source.path()));
    Ok(Input { folder, beside, ..open_as(format, source, reading, watch)? })
}

/// The file that is opened for a path, and its format.
pub(crate) fn file_of(place: &Place) -> Result<(&'static Format, Source), Error> {
    let place = folder::opened(place.clone())?;
    let source = Source::open(&place.path)?;
    let format = place.format.map_or_else(|| container::recognised(&source), Ok)?;
    Ok((format, source))
}

/// What is noted beside a file of a format that needs notes.
pub(crate) fn noted(format: &Format, source: &Source, watch: &dyn Watch) -> Result<Found, Error> {
    match format.array {
        Some(_) => note::of(source, watch),
        None => Ok(Found::default()),
    }
}

/// Opens a regular file that is open already, as standard input may be; `path` says its kind, or does not,
/// as `-` and `raw:-` do.
///
/// # Errors
/// As [`open`]; a checkpoint's index is refused, for it names files beside itself.
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

/// Opens what a stream has, all of which is copied to a temporary file first; `path` says its kind, or does
/// not.
///
/// # Errors
/// As [`open_file`].
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

/// What lies in no folder: it is of the format that its place or its first bytes show, else bytes, where
/// `reading` says which.
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

/// The same, where `beside` knows the paths of the files beside it.
pub(crate) fn open_with(
    format: &'static Format,
    source: Source,
    reading: &Reading,
    beside: Option<&dyn Fn(&str) -> PathBuf>,
    watch: &dyn Watch,
) -> Result<Input, Error> {
    let path = source.path().to_path_buf();
    check_reading(format, reading)?;
    let Found { texts, aside } = noted(format, &source, watch)?;
    let opened = (format.open)(Opening { source, reading, watch, note: &texts, beside });
    // What a file does not say itself, its note said.
    let opened = opened.map_err(|error| match &aside {
        Some(aside) if error.is_usage() => error.and(&aside.said),
        _ => error,
    })?;
    Ok(Input { path, opened, aside, folder: None, beside: None })
}

/// An error if dims or a type are said that nothing would ask for: most formats say them, unless the
/// tensors are read in another layout.
pub(crate) fn check_reading(format: &Format, reading: &Reading) -> Result<(), Error> {
    if !format.says_all() || reading.from.is_some() || reading.is_silent() {
        return Ok(());
    }
    let given = if reading.dims.is_some() { "dims are" } else { "an element type is" };
    let name = format.name;
    let said = format!(
        "{given} given, but the tensors of a {name} file say their dims and types themselves; to be read otherwise, they need a layout too"
    );
    Err(Error::usage(said).with(&[Remedy::Source]))
}
