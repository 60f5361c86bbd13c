//! `.npz`: a ZIP archive with one `.npy` file for each array, as `numpy.savez` writes it.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.savez.html>. Stored arrays are read in place; deflated ones
//! (`numpy.savez_compressed`) are first unpacked to a file without a name. Every checksum is verified before a result is written.
//! Results are stored, never deflated.
//!
//! An array keeps its name, and has the shape of its storage, as in an `.npy` file. Its layout is recorded in an entry of its
//! own, `tilewright.json`, an object of texts like the metadata of safetensors files. Raw elements (`|V2`, which NumPy writes for
//! bf16) are moved as unsigned integers of their length. An entry that is not an array is copied with its name, and so are texts
//! of `tilewright.json` that do not describe arrays.

mod plan;
mod unpack;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use tilewright_core::Dtype;

use super::{
    format::{Beside, Container, Fact, Format, Member, Opened, Opening},
    metadata_notes::{self, LAYOUT_KEY, Noted, Role},
    npy::{self, Descr, Header},
    target::Target,
    zip::{Archive, ArchiveEntry},
};
use crate::{
    Error, Job, Tensor, Watch, error,
    layout::{element_layout::ElementLayout, names, record::Recorded},
    open::{
        source::Source,
        tensor::{OTHER, Piece},
    },
};

pub(crate) const FORMAT: Format = Format {
    name: "npz",
    shown: ".npz",
    becomes: "an .npz file",
    prefix: Some("npz:"),
    ending: Some(".npz"),
    recognises: |head, _| head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
    several: false,
    splits: false,
    orders: true,
    ties: false,
    longest_name: None,
    open,
    create: Some(|pairs| Box::new(Npz::new(pairs))),
    alone: false,
    array: None,
    describes: None,
};

/// The name of the entry that records layouts.
const NOTES: &str = "tilewright.json";

/// The longest entry of layouts that is read, in bytes.
const LONGEST_NOTES: u64 = 1 << 26;

/// The ending of the names of entries that are arrays.
const ENDING: &str = ".npy";

#[derive(Debug)]
struct Npz {
    notes: BTreeMap<String, String>,
    /// The stored entries, whose checksums are not yet verified.
    stored: Vec<ArchiveEntry>,
    /// The number of bytes of deflated entries: deflated, and unpacked.
    deflated: (u64, u64),
}

impl Container for Npz {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn plan(&self, input: &Opened, path: &Path, jobs: &[Job]) -> Result<Vec<Target>, Error> {
        let moved = metadata_notes::moved(input, jobs);
        let kept = self.texts(input).filter(|(key, _, role)| role.stays(key, &moved));
        let kept = kept.map(|(key, text, _)| (key.clone(), text.clone())).collect();
        Ok(vec![plan::target(input, kept, path, jobs)?])
    }

    fn renewed(
        &self,
        opened: &Opened,
        beside: &Beside<'_>,
    ) -> Result<Option<Box<dyn Container>>, Error> {
        let texts = metadata_notes::renewed(self.metadata(), opened, beside.pairs);
        Ok(Some(Box::new(Npz::new(texts))))
    }

    fn metadata(&self) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
        Box::new(self.notes.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }

    fn facts(&self, opened: &Opened) -> Vec<Fact> {
        let fact = |(key, value, role): (&String, &String, Role)| Fact {
            about: format!("{NOTES} {key:?}"),
            exact: value.as_bytes().to_vec(),
            said: format!("{:?}", names::clipped(value)),
            goes_with: role.goes_with(key),
            key: Some(key.clone()),
            is_place: false,
        };
        self.texts(opened).filter(|(.., role)| *role != Role::Note).map(fact).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let (packed, size) = self.deflated;
        let said = || {
            format!(
                "{packed} bytes are deflated from {size}, and reading unpacks them; a conversion stores them unpacked"
            )
        };
        (size > 0).then(said).into_iter().collect()
    }

    fn is_summed(&self) -> bool {
        true
    }

    fn check(&self, opened: &Opened, watch: &dyn Watch) -> Result<(), Error> {
        let Some(file) = opened.files.first() else { return Ok(()) };
        self.stored.iter().try_for_each(|entry| entry.check_sum(&file.source, watch))
    }
}

impl Npz {
    /// Returns a new file of stored entries with these texts.
    fn new(texts: Vec<(String, String)>) -> Npz {
        Npz { notes: texts.into_iter().collect(), stored: Vec::new(), deflated: (0, 0) }
    }

    /// Iterates over the texts of the notes, with their roles in a conversion.
    fn texts(&self, opened: &Opened) -> impl Iterator<Item = (&String, &String, Role)> {
        let own: HashSet<&str> = opened.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        let known: HashSet<&str> = self.notes.keys().map(String::as_str).collect();
        self.notes.iter().map(move |(key, text)| (key, text, Role::of(key, &own, &known)))
    }
}

fn open(opening: Opening<'_>) -> Result<Opened, Error> {
    let archive = Archive::read(&opening.source)?;
    let (notes, arrays): (Vec<ArchiveEntry>, Vec<ArchiveEntry>) =
        archive.entries.into_iter().partition(|entry| entry.name == NOTES);
    let mut stored: Vec<ArchiveEntry> =
        arrays.iter().filter(|entry| !entry.is_deflated).cloned().collect();
    stored.extend(notes.iter().cloned());
    let notes = match notes.first() {
        Some(entry) => read_notes(&opening.source, entry)?,
        None => BTreeMap::new(),
    };
    let path = &opening.source.path().to_path_buf();
    let unpacked = unpack::all(&opening.source, &arrays, opening.watch)?;
    let mut files = vec![Member::alone(opening.source)];
    let (unpacked, mut places) = match unpacked {
        Some((source, places)) => (Some(source), places.into_iter()),
        None => (None, Vec::new().into_iter()),
    };
    files.extend(unpacked.map(Member::alone));
    let known = notes.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    let mut tensors = Vec::new();
    for entry in &arrays {
        let (file, at) = match entry.is_deflated {
            true => (1, places.next().unwrap_or(0)),
            false => (0, entry.at),
        };
        let Some(member) = files.get(file) else { continue };
        tensors.push(tensor(&member.source, entry, (file, at), &known)?);
    }
    if let Some(name) = names::twice(tensors.iter().map(|tensor| tensor.name.as_str())) {
        let said = format!("an array and another entry are both called {name:?}");
        return Err(error::unsupported(path, said));
    }
    let packed = arrays.iter().filter(|entry| entry.is_deflated);
    let deflated = packed.fold((0, 0), |(len, size), entry| (len + entry.len, size + entry.size));
    let container = Box::new(Npz { notes, stored, deflated });
    Ok(Opened { container, index: None, files, tensors })
}

/// Reads the texts of the entry that records layouts.
fn read_notes(source: &Source, entry: &ArchiveEntry) -> Result<BTreeMap<String, String>, Error> {
    let wrong = |said: String| error::corrupt(source.path(), format!("{NOTES}: {said}"));
    if entry.is_deflated || entry.size > LONGEST_NOTES {
        let size = entry.size;
        return Err(wrong(format!(
            "it must be stored, not deflated, in at most {LONGEST_NOTES} bytes, here {size}"
        )));
    }
    let mut text = crate::convert::budget::zeros(entry.size)?;
    source.read(&mut text, entry.at)?;
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

/// Returns an array, whose `.npy` file begins at byte `at` of the file of this number.
fn tensor(
    source: &Source,
    entry: &ArchiveEntry,
    (file, at): (usize, u64),
    known: &HashMap<&str, &str>,
) -> Result<Tensor, Error> {
    let about = |said: String| format!("entry {:?}: {said}", entry.name);
    let Some(name) = entry.name.strip_suffix(ENDING) else {
        let said = format!("it is not an array, whose name ends in {ENDING}");
        let other = refused(source, entry, (&entry.name, file, at), said)?;
        return Ok(Tensor { file_dtype: OTHER.into(), ..other });
    };
    let header = match Header::within(source, at, entry.size) {
        Ok(header) => header,
        // An array of another type is kept as bytes.
        Err(error) if error.kind() == "unsupported" => {
            return refused(source, entry, (name, file, at), error.message().to_owned());
        }
        Err(error) => return Err(error),
    };
    if header.rest > 0 {
        let said = format!("{} bytes follow its elements", header.rest);
        return Err(error::corrupt(source.path(), about(said)));
    }
    let contradiction = |said: String| error::contradiction(source.path(), about(said));
    let mut noted = None;
    let held = match metadata_notes::of(known, name) {
        Some(note) => {
            let order = Some(header.descr.order);
            let read = note.read(header.len, order, |held| npy::check_storage(held, &header));
            let Noted { held, data } = read.map_err(|said| {
                contradiction(format!("{:?}{said}", format!("{LAYOUT_KEY}{name}")))
            })?;
            noted = Some(Recorded { data });
            held
        }
        None => match plain(&header) {
            Ok(held) => held,
            Err(said) => return refused(source, entry, (name, file, at), said),
        },
    };
    let Header { descr, shape, at, len, .. } = header;
    Ok(Tensor {
        name: name.into(),
        file_dtype: descr.text,
        storage: shape,
        file_dims: None,
        refusal: None,
        pieces: vec![Piece::whole(file, at, len, &held)],
        held,
        noted,
        len,
    })
}

/// Returns an entry without a known layout: it is kept with its header.
fn refused(
    source: &Source,
    entry: &ArchiveEntry,
    (name, file, at): (&str, usize, u64),
    refusal: String,
) -> Result<Tensor, Error> {
    let len = entry.size;
    let held = ElementLayout::bytes_alone(len).ok_or_else(|| {
        error::unsupported(source.path(), format!("entry {:?}: {refusal}", entry.name))
    })?;
    Ok(Tensor {
        name: name.into(),
        file_dtype: "npy".into(),
        storage: vec![len],
        file_dims: None,
        refusal: Some(refusal),
        pieces: vec![Piece::whole(file, at, len, &held)],
        held,
        noted: None,
        len,
    })
}

/// Returns the element type of a header; raw elements are unsigned integers of their length.
fn dtype_of(descr: &Descr) -> Option<Dtype> {
    let raw = match descr.bytes {
        1 => Some(Dtype::U8),
        2 => Some(Dtype::U16),
        4 => Some(Dtype::U32),
        8 => Some(Dtype::U64),
        _ => None,
    };
    descr.dtype.or(raw)
}

/// Returns the array in the layout of its header.
fn plain(header: &Header) -> Result<ElementLayout, String> {
    let Descr { text, order, .. } = &header.descr;
    let dtype = dtype_of(&header.descr)
        .ok_or_else(|| format!("dtype {text:?} is raw bytes of a width that no integer has"))?;
    let held = npy::plain(header, dtype).map_err(|error| error.to_string())??;
    held.ordered(*order)
}
