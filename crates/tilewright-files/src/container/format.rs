//! The interface between a file format and the rest of the crate: [`Format`] names, recognises and opens files,
//! [`Opened`] is an open file with its tensors.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

use tilewright_recipe::Conditions;

use super::target::Target;
use crate::{
    Error, Job, Reading, Tensor, Watch,
    layout::{held::Held, note::Texts},
    open::{source::Source, tensor::Piece},
};

/// What makes a new file that says these texts, by their keys, beside its tensors.
type Create = fn(Vec<(String, String)>) -> Box<dyn Container>;

/// A format of files.
pub(crate) struct Format {
    /// What [`Input::format`](crate::Input::format) says.
    pub(crate) name: &'static str,
    /// A file of it in messages: `.npy`, `raw:PATH`.
    pub(crate) shown: &'static str,
    /// What a file of it is converted to, in words.
    pub(crate) becomes: &'static str,
    /// What names it before a path, whatever the path's own end says.
    pub(crate) prefix: Option<&'static str>,
    /// How names of its files end, letters in either case.
    pub(crate) ending: Option<&'static str>,
    /// Whether the first 64 bytes of a file of this length are those of the format.
    pub(crate) recognises: fn(&[u8], u64) -> bool,
    /// Whether a result is several files, of which the named one comes last and names the others.
    pub(crate) several: bool,
    /// True if a file may be one of several parts. Opening any part reads all of them.
    pub(crate) splits: bool,
    /// Whether the files say the order of an element's bytes.
    pub(crate) orders: bool,
    /// Whether metadata may say that a name stands for the tensor of another.
    pub(crate) ties: bool,
    /// Opens a file.
    pub(crate) open: fn(Opening<'_>) -> Result<Opened, Error>,
    /// A new file that says this beside its tensors: what arrays in memory become. `None` for formats that are
    /// written only from files of theirs.
    pub(crate) create: Option<Create>,
    /// Whether one array of a file of another format can become a file of this one.
    pub(crate) alone: bool,
    /// For formats of one array without a name.
    pub(crate) array: Option<OneArray>,
    /// The prefix of metadata keys that describe a model without a `config.json`.
    pub(crate) describes: Option<&'static str>,
}

/// What a format of one array without a name has besides.
pub(crate) struct OneArray {
    /// Whether a file says itself how the result of a job lies; else that is noted beside it. The text is
    /// that of the element type in the input.
    pub(crate) says: fn(&str, &Held) -> bool,
    /// Opens a result, which may not say itself how its array lies.
    pub(crate) result: fn(Source, Expected<'_>) -> Result<Result<Opened, String>, Error>,
}

/// How an array must lie in a result that cannot say it.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// The array of the original.
    pub(crate) tensor: &'a Tensor,
    /// What it is read as.
    pub(crate) from: &'a Held,
    /// How it must lie, where that was asked.
    pub(crate) to: Option<&'a Held>,
    /// What is noted beside the result.
    pub(crate) note: &'a Texts,
}

/// What a file is opened with.
pub(crate) struct Opening<'a> {
    pub(crate) source: Source,
    pub(crate) reading: &'a Reading,
    /// Who may stop it, where all bytes of the file are read.
    pub(crate) watch: &'a dyn Watch,
    /// What is noted beside the file.
    pub(crate) note: &'a Texts,
    /// The path of a file beside this one by its name; `None` for what lies in no folder.
    pub(crate) beside: Option<&'a dyn Fn(&str) -> PathBuf>,
}

/// What an opened file holds.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) container: Box<dyn Container>,
    /// The file that names the others, and holds no tensors.
    pub(crate) index: Option<Source>,
    /// The files that hold tensors.
    pub(crate) files: Vec<Member>,
    pub(crate) tensors: Vec<Tensor>,
}

/// One file that holds tensors.
#[derive(Debug)]
pub(crate) struct Member {
    /// The name by which an index names the file; empty where nothing does.
    pub(crate) name: String,
    pub(crate) source: Source,
}

impl Member {
    /// A file that no other names.
    pub(crate) fn alone(source: Source) -> Member {
        Member { name: String::new(), source }
    }
}

/// What an opened file is, apart from its tensors.
pub(crate) trait Container: fmt::Debug + Send + Sync {
    fn format(&self) -> &'static Format;

    /// The files of a result of this format at `path`; the last is `path` itself.
    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error>;

    /// An error if the bytes of tensors are not those that the file's checksums were made of.
    fn check(&self, _opened: &Opened, _watch: &dyn Watch) -> Result<(), Error> {
        Ok(())
    }

    /// A new file, or several, of this format for other tensors: it says what this one says beside its own tensors,
    /// and these pairs. `None` for formats that keep nothing but one array, or checksums of what they hold.
    ///
    /// # Errors
    /// What it says beside its own tensors contradicts the others, and is not to be trusted.
    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let _ = (opened, beside);
        Ok(None)
    }

    /// What the file says beside its tensors, as key and text.
    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(std::iter::empty())
    }

    /// What the metadata say of the model, as keys with values, where they say that at all.
    fn config(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }

    /// What a result must say as its original does, beside tensors and notes of their layouts.
    fn facts(&self, _opened: &Opened) -> Vec<Fact> {
        Vec::new()
    }

    /// Returns the contradictions between the file's metadata and a configuration, as a sentence without its full stop.
    fn contradictions(&self, _config: &serde_json::Value) -> Option<String> {
        None
    }

    /// What is not as a user may expect, in sentences without an end.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns warnings about checks of a result that were not made, as sentences without a full stop.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }

    /// The text of the index for tensors of `total` bytes in files of other names, where there is one.
    fn index(&self, _total: u64, _names: &HashMap<&str, &str>) -> Option<String> {
        None
    }
}

/// What a new file says that its model does not.
pub(crate) struct Beside<'a> {
    /// What is said beside the tensors, by its keys.
    pub(crate) pairs: &'a [(String, String)],
    /// Its tensors, each with the file that holds it.
    pub(crate) tensors: &'a [Tensor],
    /// The names of the files.
    pub(crate) files: &'a [String],
    /// What the model may say of the model whose tensors these are.
    pub(crate) result: &'a Conditions,
    /// The sizes of the model that has these tensors, under the keys of `config.json`.
    pub(crate) config: &'a serde_json::Value,
    /// True if the metadata come from the input itself.
    pub(crate) own: bool,
    /// Whether what the model says of tensors is not compared with these.
    pub(crate) trusted: bool,
}

/// One thing that a file says beside its tensors.
pub(crate) struct Fact {
    /// What it is about: ``metadata "format"``.
    pub(crate) about: String,
    /// What is compared.
    pub(crate) exact: Vec<u8>,
    /// The same for a message.
    pub(crate) said: String,
    /// The tensor with whose own layout it may go: a note that meant nothing is replaced by that of a result.
    pub(crate) goes_with: Option<String>,
}

impl Opened {
    /// The file that holds a piece.
    fn file(&self, path: &Path, tensor: &Tensor, piece: &Piece) -> Result<&Source, Error> {
        let missing = || Error::corrupt(path, format!("no file holds {:?}", tensor.name));
        self.files.get(piece.file).map(|file| &file.source).ok_or_else(missing)
    }

    /// Where the bytes of a tensor begin; `path` is that of the input.
    pub(crate) fn place(&self, path: &Path, tensor: &Tensor) -> Result<(&Source, u64), Error> {
        match tensor.pieces.as_slice() {
            [piece] => Ok((self.file(path, tensor, piece)?, piece.at)),
            pieces => {
                let count = pieces.len();
                let said =
                    format!("tensor {:?} is stored in {count} pieces; one is read", tensor.name);
                Err(Error::unsupported(path, said))
            }
        }
    }

    /// The tensors of one of the files.
    pub(crate) fn tensors_of(&self, file: usize) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().filter(move |tensor| tensor.file() == Some(file))
    }
}

impl Format {
    /// Whether a file of this format can become one of another: where it is one array, or one is taken from it.
    pub(crate) fn can_become(&self, other: &Format) -> bool {
        let one = self.array.is_some() || other.array.is_some();
        self == other || other.alone && one
    }

    /// Whether files say the dims and types of their tensors, so that nothing else needs to.
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
