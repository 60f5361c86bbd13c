//! The interface between a file format and the rest of the crate: [`Format`] names, recognises and opens files,
//! [`Opened`] is an open file with its tensors.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use tilewright_core::Counted;
use tilewright_recipe::Conditions;

use super::target::Target;
use crate::{
    Error, Job, Reading, Tensor, Watch, error,
    layout::{element_layout::ElementLayout, note_file::Texts},
    open::{source::Source, tensor::Piece},
};

/// Makes a container for a new file that has these key and text pairs in its metadata.
type Create = fn(Vec<(String, String)>) -> Box<dyn Container>;

/// A file format.
pub(crate) struct Format {
    /// The name that [`Input::format`](crate::Input::format) returns.
    pub(crate) name: &'static str,
    /// The form of a file's name in messages: `.npy`, `raw:PATH`.
    pub(crate) shown: &'static str,
    /// The possible results for a file of the format, for messages.
    pub(crate) becomes: &'static str,
    /// The prefix that selects the format before a path, whatever the path's extension is.
    pub(crate) prefix: Option<&'static str>,
    /// The ending of the names of its files, in either case of letters.
    pub(crate) ending: Option<&'static str>,
    /// Returns true if these are the first 512 bytes of a file of the format that has this length.
    pub(crate) recognises: fn(&[u8], u64) -> bool,
    /// True if a result has several files. The named file is written last and names the others.
    pub(crate) several: bool,
    /// True if a file may be one of several parts. Opening any part reads all of them.
    pub(crate) splits: bool,
    /// True if the files record the byte order of elements.
    pub(crate) orders: bool,
    /// True if metadata may state that a name stands for the tensor of another name.
    pub(crate) ties: bool,
    /// The most bytes of a tensor's name that other readers accept, and their name; `None` without a bound.
    pub(crate) longest_name: Option<(usize, &'static str)>,
    /// Opens a file.
    pub(crate) open: fn(Opening<'_>) -> Result<Opened, Error>,
    /// Makes a new file with this metadata, for arrays in memory. `None` for formats that are written only from files of the same
    /// format.
    pub(crate) create: Option<Create>,
    /// True if one array of a file of another format can become a file of this format.
    pub(crate) alone: bool,
    /// Functions of formats that hold one array without a name.
    pub(crate) array: Option<OneArray>,
    /// The prefix of metadata keys that describe a model without a `config.json`.
    pub(crate) describes: Option<&'static str>,
}

/// Functions of a format that holds one array without a name.
pub(crate) struct OneArray {
    /// Returns true if a file itself records the layout of a job's result; otherwise the note beside it records the layout. The
    /// text is that of the element type in the input.
    pub(crate) says: fn(&str, &ElementLayout) -> bool,
    /// Opens a result, which may not record the layout of its array.
    pub(crate) result: fn(Source, Expected<'_>) -> Result<Result<Opened, String>, Error>,
}

/// The expected layout of an array in a result that cannot record it.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// The array of the original.
    pub(crate) tensor: &'a Tensor,
    /// The layout with which the original is read.
    pub(crate) from: &'a ElementLayout,
    /// The requested layout of the result, if any.
    pub(crate) to: Option<&'a ElementLayout>,
    /// The texts of the note beside the result.
    pub(crate) note: &'a Texts,
}

/// The arguments of opening a file.
pub(crate) struct Opening<'a> {
    pub(crate) source: Source,
    pub(crate) reading: &'a Reading,
    /// Can cancel an opening that reads all bytes of the file.
    pub(crate) watch: &'a dyn Watch,
    /// The texts of the note beside the file.
    pub(crate) note: &'a Texts,
    /// Returns the path of the file with this name in the same folder; `None` if the input is not in a folder.
    pub(crate) beside: Option<&'a dyn Fn(&str) -> PathBuf>,
}

/// An opened file with its tensors.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) container: Box<dyn Container>,
    /// The index file, which names the others and holds no tensors.
    pub(crate) index: Option<Source>,
    /// The files that hold tensors.
    pub(crate) files: Vec<Member>,
    pub(crate) tensors: Vec<Tensor>,
}

/// One file that holds tensors.
#[derive(Debug)]
pub(crate) struct Member {
    /// The name of the file in an index; empty if no index names it.
    pub(crate) name: String,
    pub(crate) source: Source,
}

impl Member {
    /// Returns a file that no index names.
    pub(crate) fn alone(source: Source) -> Member {
        Member { name: String::new(), source }
    }
}

/// The part of an opened file that depends on its format: everything except the tensors.
pub(crate) trait Container: fmt::Debug + Send + Sync {
    fn format(&self) -> &'static Format;

    /// Returns whether the file can be converted to a file of the other format.
    fn can_become(&self, other: &Format) -> bool {
        self.format().can_become(other)
    }

    /// Plans the files of a result of this format at `path`; the last one is `path` itself.
    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error>;

    /// Returns whether the file has checksums of its tensors' bytes.
    fn is_summed(&self) -> bool {
        false
    }

    /// Checks the file's checksums.
    ///
    /// # Errors
    /// The bytes of the tensors do not have these checksums.
    fn check(&self, _opened: &Opened, _watch: &dyn Watch) -> Result<(), Error> {
        Ok(())
    }

    /// Returns a container for new files of this format with other tensors. It keeps this file's metadata that do not describe
    /// tensors, and adds the given pairs. `None` for formats that hold only one array.
    ///
    /// # Errors
    /// The metadata contradict the new tensors and must not be copied.
    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let _ = (opened, beside);
        Ok(None)
    }

    /// Returns the metadata of the file as key and text.
    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(std::iter::empty())
    }

    /// Returns the keys and values of a model's configuration that the metadata contain.
    fn config(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }

    /// Returns the facts that a result must have in common with its original, apart from tensors and notes of their layouts.
    fn facts(&self, _opened: &Opened) -> Vec<Fact> {
        Vec::new()
    }

    /// Returns the contradictions between the file's metadata and a configuration, as a sentence without its full stop.
    fn contradictions(&self, _config: &serde_json::Value) -> Option<String> {
        None
    }

    /// Returns warnings about the file that a user may not expect, as sentences without a full stop.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns warnings about checks of a result that were not made, as sentences without a full stop.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the tensors are in shards.
    fn is_sharded(&self) -> bool {
        false
    }

    /// Returns the places of the pieces of a tensor whose local arrays have layouts of their own.
    fn boxes(&self, _tensor: &str) -> Option<&[LocalBox]> {
        None
    }

    /// Returns the text of the index for tensors of `total` bytes in files with other names, if the format has an index.
    fn index(&self, _total: u64, _names: &HashMap<&str, &str>) -> Option<String> {
        None
    }
}

/// The description of a new file that is made from the metadata of a model.
pub(crate) struct Beside<'a> {
    /// The metadata pairs to add.
    pub(crate) pairs: &'a [(String, String)],
    /// The tensors of the new file, each with the number of the file that holds it.
    pub(crate) tensors: &'a [Tensor],
    /// The names of the files.
    pub(crate) files: &'a [String],
    /// The conditions on what the model's metadata may state about the model with the new tensors.
    pub(crate) result: &'a Conditions,
    /// The sizes of the model that has the new tensors, under the keys of `config.json`.
    pub(crate) config: &'a serde_json::Value,
    /// True if the metadata come from the input itself.
    pub(crate) own: bool,
    /// True if the model's metadata about tensors are not compared with the new tensors.
    pub(crate) trusted: bool,
}

/// One fact that a file states in addition to its tensors.
pub(crate) struct Fact {
    /// The subject of the fact: ``metadata "format"``.
    pub(crate) about: String,
    /// The bytes that are compared.
    pub(crate) exact: Vec<u8>,
    /// The value as a message shows it.
    pub(crate) said: String,
    /// The tensor whose layout the fact may disappear with: a note without meaning is replaced by the note of a result.
    pub(crate) goes_with: Option<String>,
    /// The key of an entry of metadata, without the name of its file.
    pub(crate) key: Option<String>,
    /// True if it is the name of a tensor's file.
    pub(crate) is_place: bool,
}

/// The place of a box: the layout of the local array, and the first index in it.
#[derive(Clone, Debug)]
pub(crate) struct LocalBox {
    pub(crate) held: ElementLayout,
    pub(crate) local: Arc<[u64]>,
}

impl Opened {
    /// Returns the file that holds a piece.
    pub(crate) fn file(
        &self,
        path: &Path,
        tensor: &Tensor,
        piece: &Piece,
    ) -> Result<&Source, Error> {
        let missing = || error::corrupt(path, format!("no file holds {:?}", tensor.name));
        self.files.get(piece.file).map(|file| &file.source).ok_or_else(missing)
    }

    /// Returns the file and the position of a tensor's first byte; `path` is the path of the input.
    pub(crate) fn place(&self, path: &Path, tensor: &Tensor) -> Result<(&Source, u64), Error> {
        match tensor.pieces.as_slice() {
            [piece] => Ok((self.file(path, tensor, piece)?, piece.at)),
            pieces => {
                let count = pieces.len();
                let said = format!(
                    "tensor {:?} is stored in {count} pieces; it must be in one piece",
                    tensor.name
                );
                Err(error::unsupported(path, said))
            }
        }
    }

    /// Iterates over the tensors of one of the files.
    pub(crate) fn tensors_of(&self, file: usize) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().filter(move |tensor| tensor.file() == Some(file))
    }
}

impl Format {
    /// Returns whether a file of this format can be converted to the other: the formats are equal, or one array is converted.
    pub(crate) fn can_become(&self, other: &Format) -> bool {
        let one = self.array.is_some() || other.array.is_some();
        self == other || other.alone && one
    }

    /// Checks that a file of one array at `out` gets one tensor.
    pub(crate) fn check_one(&self, count: usize, out: &Path) -> Result<(), Error> {
        if self.array.is_none() || count == 1 {
            return Ok(());
        }
        let (out, shown, count) = (out.display(), self.shown, Counted(count as u64, "tensor"));
        Err(error::usage(format!("{out}: {shown} holds one array, and the result is {count}")))
    }

    /// Returns a warning about names of tensors that other readers of the format refuse as too long.
    pub(crate) fn too_long<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<String> {
        let (most, reader) = self.longest_name?;
        let mut long = names.filter(|name| name.len() > most);
        let (first, more) = (long.next()?, long.count());
        let named = match more {
            0 => format!("the name {first:?} has"),
            more => format!("the name {first:?} and {more} more have"),
        };
        Some(format!(
            "{named} more than {most} bytes, and {reader} refuses such a file; give the tensors shorter names"
        ))
    }

    /// Returns whether files record the dims and types of their tensors, so that the caller does not have to give them.
    pub(crate) fn says_all(&self) -> bool {
        self.array.is_none()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
