//! `.pt`: a checkpoint of `torch.save`, a ZIP archive with a pickle and one entry for each storage. Only read: a conversion writes
//! `.safetensors` or `.npz`.
//!
//! Source: PyTorch, `torch/serialization.py` and `torch/_utils.py`. The tensors are those in dicts, lists and tuples; keys and
//! numbers on the way to one are joined by dots into its name. A tensor is a view of a storage: extents, strides, and the element
//! of the storage where it begins. Its layout has these strides, and its bytes are those from its first element to its last one.
//! The pickle is read as data: nothing is imported or called, so a file cannot run code.

mod pickle;
pub(crate) mod several;
mod state;

use std::{collections::HashMap, path::Path};

use tilewright_core::{ByteOrder, Counted, Dtype, Fill, Layout, Mode, TensorLayout};

use super::{
    format::{Container, Format, Member, Opened, Opening},
    target::Target,
    zip::{Archive, ArchiveEntry},
};
use crate::{
    Error, Job, Tensor, Watch,
    convert::budget::zeros,
    error,
    layout::{
        element_layout::{ElementLayout, bytes_of},
        names,
    },
    open::{source::Source, tensor::Piece},
};
use pickle::Pickle;
use state::{State, View};

pub(crate) const FORMAT: Format = Format {
    name: "pt",
    shown: ".pt",
    becomes: "a .safetensors or .npz file",
    prefix: Some("pt:"),
    ending: Some(".pt"),
    recognises,
    several: false,
    splits: false,
    orders: true,
    ties: false,
    longest_name: None,
    open,
    create: None,
    alone: false,
    array: None,
    describes: None,
};

/// The entry whose name comes first in an archive of torch, after the name of the folder that all entries are in.
const PICKLE: &str = "/data.pkl";

/// The longest pickle that is read, in bytes.
const LONGEST: u64 = 1 << 26;

/// The first bytes of a file of torch before version 1.6: protocol 2, and a number of ten bytes.
const BEFORE_ZIP: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// The number of bytes before the name in the header of an archive's first entry.
const NAME_AT: usize = 30;

fn recognises(head: &[u8], _: u64) -> bool {
    let len = head.get(26..28).map_or(0, |len| usize::from(u16::from_le_bytes([len[0], len[1]])));
    let name = head.get(NAME_AT..).and_then(|rest| rest.get(..len));
    let is_archive = head.starts_with(b"PK\x03\x04");
    is_archive && name.is_some_and(|name| name.ends_with(PICKLE.as_bytes()))
        || head.starts_with(BEFORE_ZIP)
}

/// One file of torch, or several.
#[derive(Debug)]
struct Pt {
    format: &'static Format,
    archives: Vec<TorchArchive>,
}

/// An archive whose checksums are not yet verified.
#[derive(Debug)]
struct TorchArchive {
    entries: Vec<ArchiveEntry>,
    warnings: Vec<String>,
}

impl Container for Pt {
    fn format(&self) -> &'static Format {
        self.format
    }

    fn can_become(&self, other: &Format) -> bool {
        other.create.is_some()
    }

    fn plan(&self, _: &Opened, path: &Path, _: &[Job]) -> Result<Vec<Target>, Error> {
        let (path, Format { shown, becomes, .. }) = (path.display(), self.format);
        Err(error::usage(format!("{path}: {shown} files are not written; name {becomes}")))
    }

    fn is_summed(&self) -> bool {
        true
    }

    fn check(&self, opened: &Opened, watch: &dyn Watch) -> Result<(), Error> {
        let mut files = self.archives.iter().zip(&opened.files);
        files.try_for_each(|(archive, file)| {
            let mut stored = archive.entries.iter().filter(|entry| !entry.is_deflated);
            stored.try_for_each(|entry| entry.check_sum(&file.source, watch))
        })
    }

    fn warnings(&self) -> Vec<String> {
        self.archives.iter().flat_map(|archive| archive.warnings.iter().cloned()).collect()
    }
}

/// The entries of an archive by their names without the folder.
struct Entries<'a> {
    source: &'a Source,
    by_name: HashMap<&'a str, &'a ArchiveEntry>,
}

impl<'a> Entries<'a> {
    fn of(source: &'a Source, archive: &'a Archive) -> Result<Entries<'a>, Error> {
        let pickle = archive.entries.iter().find_map(|entry| entry.name.strip_suffix(PICKLE));
        let folder = pickle.ok_or_else(|| {
            error::corrupt(
                source.path(),
                format!("no entry of the archive is called FOLDER{PICKLE}"),
            )
        })?;
        let own = |entry: &'a ArchiveEntry| {
            Some((entry.name.strip_prefix(folder)?.strip_prefix('/')?, entry))
        };
        Ok(Entries { source, by_name: archive.entries.iter().filter_map(own).collect() })
    }

    /// Returns an entry that is stored as it is.
    fn get(&self, name: &str) -> Result<&'a ArchiveEntry, Error> {
        let entry = self.by_name.get(name).copied();
        let entry =
            entry.ok_or_else(|| self.wrong(format!("the archive lacks the entry {name:?}")))?;
        match entry.is_deflated {
            false => Ok(entry),
            true => Err(error::unsupported(
                self.source.path(),
                format!("the entry {name:?} is deflated, and torch reads stored ones alone"),
            )),
        }
    }

    /// Reads a small entry.
    fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        let entry = self.get(name)?;
        if entry.size > LONGEST {
            let said =
                format!("the entry {name:?} has {} bytes; at most {LONGEST} are read", entry.size);
            return Err(error::unsupported(self.source.path(), said));
        }
        let mut bytes = zeros(entry.size)?;
        self.source.read(&mut bytes, entry.at)?;
        Ok(bytes)
    }

    /// Returns the byte order that the archive states; without a statement it is that of the machines that ran torch then.
    fn order(&self) -> Result<ByteOrder, Error> {
        if !self.by_name.contains_key("byteorder") {
            return Ok(ByteOrder::Little);
        }
        match self.read("byteorder")?.as_slice() {
            b"little" => Ok(ByteOrder::Little),
            b"big" => Ok(ByteOrder::Big),
            other => {
                let order = String::from_utf8_lossy(other).into_owned();
                Err(self.wrong(format!(
                    "the byte order is {:?}, neither little nor big",
                    names::clipped(&order)
                )))
            }
        }
    }

    fn wrong(&self, said: String) -> Error {
        error::corrupt(self.source.path(), said)
    }

    /// Returns a tensor: a view of the storage in an entry.
    fn tensor(
        &self,
        name: String,
        view: &View,
        (file, order): (usize, ByteOrder),
    ) -> Result<Tensor, Error> {
        let about = |said: String| self.wrong(format!("tensor {name:?}: {said}"));
        let entry = self.get(&format!("data/{}", view.storage))?;
        let dtype = Dtype::spelled(view.dtype)
            .ok_or_else(|| about(format!("unknown type {}", view.dtype)))?;
        let bits = dtype.storage_bits().unwrap_or(8);
        let held = layout(view, dtype, bits).and_then(|held| held.ordered(order)).map_err(about)?;
        let len = held.bytes().ok_or_else(|| about("its bytes exceed 2^63".into()))?;
        let first =
            bytes_of(view.offset, bits).and_then(|first| Some((first, first.checked_add(len)?)));
        let Some((first, _)) = first.filter(|(_, end)| *end <= entry.size) else {
            let (offset, size) = (view.offset, entry.size);
            return Err(about(format!(
                "{len} bytes from element {offset} on exceed its storage of {size} bytes"
            )));
        };
        Ok(Tensor {
            file_dtype: view.dtype.into(),
            storage: view.extents.clone(),
            file_dims: None,
            noted: None,
            refusal: None,
            pieces: vec![Piece::whole(file, entry.at + first, len, &held)],
            name,
            held,
            len,
        })
    }
}

/// Returns the layout of a view, named by an order if it has one.
fn layout(view: &View, dtype: Dtype, bits: u32) -> Result<ElementLayout, String> {
    let said = |error: tilewright_core::Error| error.to_string();
    let (rows, columns) =
        (TensorLayout::row_major(&view.extents), TensorLayout::col_major(&view.extents));
    let rows = rows.map_err(said)?;
    let modes =
        view.extents.iter().zip(&view.strides).map(|(extent, stride)| Mode::new(*extent, *stride));
    let layout = Layout::flat(&modes.collect::<Vec<_>>()).map_err(said)?;
    // An array without elements has no bytes, whatever its strides are.
    let strided = if rows.size() == 0 { rows.clone() } else { TensorLayout::of(&layout) };
    let same = |ordered: &TensorLayout| strided.same_function(ordered).unwrap_or(false);
    let (text, layout) = match () {
        () if same(&rows) => ("row-major".into(), rows),
        () if columns.as_ref().is_ok_and(same) => ("col-major".into(), columns.map_err(said)?),
        () => (layout.to_string(), strided),
    };
    Ok(ElementLayout::new(&text, layout, dtype, bits, Fill::Unspecified))
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let (source, archive, tensors) = file(opening.source, 0)?;
    Ok(Opened {
        container: Box::new(Pt { format: &FORMAT, archives: vec![archive] }),
        index: None,
        files: vec![Member::alone(source)],
        tensors,
    })
}

/// Opens the file of this number among the files of a checkpoint.
fn file(source: Source, number: usize) -> Result<(Source, TorchArchive, Vec<Tensor>), Error> {
    if source.head(BEFORE_ZIP.len() as u64)? == BEFORE_ZIP {
        return Err(error::unsupported(
            source.path(),
            "it was saved by torch before version 1.6; save it again: torch.save(torch.load(FILE), FILE)",
        ));
    }
    let archive = Archive::read(&source)?;
    let entries = Entries::of(&source, &archive)?;
    let order = entries.order()?;
    let pickle = Pickle::read(&entries.read("data.pkl")?).map_err(|said| entries.wrong(said))?;
    let State { views, others } =
        State::of(&pickle).map_err(|said| error::unsupported(source.path(), said))?;
    let tensors =
        views.into_iter().map(|(name, view)| entries.tensor(name, &view, (number, order)));
    let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    if let Some(name) = names::twice(tensors.iter().map(|tensor| tensor.name.as_str())) {
        let said =
            format!("two tensors are called {name:?}: the keys on the way to them, joined by dots");
        return Err(error::unsupported(entries.source.path(), said));
    }
    let warnings = [left_out(&others), strided(&tensors)].into_iter().flatten().collect();
    Ok((source, TorchArchive { entries: archive.entries, warnings }, tensors))
}

/// Returns a warning about values that are not tensors.
fn left_out(others: &[String]) -> Option<String> {
    let (first, count) = (others.first()?, Counted(others.len() as u64, "value"));
    Some(format!("{count} not in a tensor, such as {first}, belong to no result"))
}

/// Returns a warning about tensors whose elements a reader without layouts would take in another order.
fn strided(tensors: &[Tensor]) -> Option<String> {
    let mut strided = tensors.iter().filter(|tensor| !tensor.held.is_row_major());
    let (first, more) = (&strided.next()?.name, strided.count());
    let count = Counted(more as u64 + 1, "tensor");
    let said =
        "not in row-major order; readers that know no layouts need them converted to row-major";
    Some(format!("{count}, such as {first:?}, {said}"))
}
