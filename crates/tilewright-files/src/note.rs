//! The note beside a file of one array that cannot say how its array lies: `NAME.tilewright.json`.
//!
//! A note says of which file it is: by the file's stamp, and where that is another (the file was copied), by
//! a checksum of all its bytes. What it says of another file is never believed. It keeps the notes of the
//! last results of its name: the new one is on the disk, with the old one, before the rename that makes its
//! file true. So wherever a run ends, the file that has the name has its note.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use flate2::Crc;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    access::Access,
    disk,
    source::Source,
    stamp::Stamp,
    temporary::{self, Temporary},
};

/// How the name of a note ends, behind that of its file.
const ENDING: &str = ".tilewright.json";

/// The longest file of notes that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// So many notes are kept: of the file that is replaced, and of those that runs at the same time replace.
const MOST: usize = 4;

/// What stands first in a file of notes, for those who find it.
const ABOUT: &str = "how the file of this name lies that has one of these checksums (CRC-32)";

/// Keys and texts, as metadata has them.
pub(crate) type Texts = BTreeMap<String, String>;

/// What is noted of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    stamp: Stamp,
    sum: u32,
    texts: Texts,
}

/// A file of notes, the latest last.
#[derive(Debug, Serialize, Deserialize)]
struct Notes {
    about: String,
    notes: Vec<Note>,
}

/// What is found beside a file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) texts: Texts,
    /// Why a note was left aside.
    pub(crate) warning: Option<String>,
}

/// The note of a file of this path.
pub(crate) fn path_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file.file_name().unwrap_or_default());
    name.push(ENDING);
    file.with_file_name(name)
}

/// What is noted of an open file: beside the path by which it was opened, or where links lead.
pub(crate) fn of(source: &Source) -> Result<Found, Error> {
    let path = source.path();
    if !source.is_at(path) {
        return Ok(Found::default());
    }
    let real = fs::canonicalize(path).ok().filter(|real| real != path);
    for path in [Some(path.to_path_buf()), real].into_iter().flatten().map(|path| path_of(&path)) {
        if !path.is_file() {
            continue;
        }
        let warning = match read(&path)? {
            None => "is no note of tilewright",
            Some(notes) => match fitting(&notes, source)? {
                Some(texts) => return Ok(Found { texts, warning: None }),
                None => "is a note of other bytes",
            },
        };
        let said = format!("{} {warning}, and says nothing of this file", path.display());
        return Ok(Found { texts: Texts::new(), warning: Some(said) });
    }
    Ok(Found::default())
}

/// The texts of the note that is of this file.
fn fitting(notes: &[Note], source: &Source) -> Result<Option<Texts>, Error> {
    let stamp = source.stamp();
    if let Some(note) = notes.iter().rev().find(|note| note.stamp == stamp) {
        return Ok(Some(note.texts.clone()));
    }
    if !notes.iter().any(|note| note.stamp.has_length_of(&stamp)) {
        return Ok(None);
    }
    let sum = sum(source)?;
    let found = notes.iter().rev().find(|note| note.stamp.has_length_of(&stamp) && note.sum == sum);
    Ok(found.map(|note| note.texts.clone()))
}

/// The checksum of all bytes of a file.
fn sum(source: &Source) -> Result<u32, Error> {
    let (mut crc, mut at, mut buffer) = (Crc::new(), 0, vec![0; 1 << 18]);
    while at < source.len() {
        let step = (source.len() - at).min(buffer.len() as u64);
        let bytes = buffer.get_mut(..step as usize).unwrap_or_default();
        source.read(bytes, at)?;
        crc.update(bytes);
        at += step;
    }
    Ok(crc.sum())
}

/// The notes of a file of notes; `None` if it is none.
fn read(path: &Path) -> Result<Option<Vec<Note>>, Error> {
    let failed = |cause| Error::io(path, "read", cause);
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(LONGEST).read_to_end(&mut text).map_err(failed)?;
    Ok(serde_json::from_slice::<Notes>(&text).ok().map(|notes| notes.notes))
}

/// An error if something that is no note has the name that the note of `out` would get.
pub(crate) fn check_free(out: &Path) -> Result<(), Error> {
    let path = path_of(out);
    let Ok(facts) = fs::symlink_metadata(&path) else { return Ok(()) };
    if facts.is_file() && read(&path)?.is_some() {
        return Ok(());
    }
    let said = format!(
        "{}: the layout of the result would be noted there, and it is no note; move it, or name another output",
        path.display()
    );
    Err(Error::usage(said))
}

/// Removes what killed runs have left of the note of `out`.
pub(crate) fn sweep(out: &Path) -> Result<(), Error> {
    temporary::sweep(&path_of(out))
}

/// Gives a finished file its name, with a note of these texts and this checksum, which is on the disk before.
pub(crate) fn persist(
    file: Temporary,
    (texts, sum): (&Texts, u32),
    access: &Access,
    force: bool,
) -> Result<(), Error> {
    let (out, note) = (file.out().to_path_buf(), path_of(file.out()));
    let mut notes = if note.is_file() { read(&note)?.unwrap_or_default() } else { Vec::new() };
    let was_empty = notes.is_empty();
    notes.push(Note { stamp: file.stamp()?, sum, texts: texts.clone() });
    notes.drain(..notes.len().saturating_sub(MOST));
    let named = write(&note, notes, access).and_then(|()| file.rename(force));
    if named.is_err() && was_empty {
        // What stays says nothing of any other file.
        let _ = disk::remove(&note);
    }
    named?;
    temporary::sync_folder(&out)
}

/// The same without a note; one of other bytes goes, as far as that is allowed.
pub(crate) fn persist_plain(file: Temporary, force: bool) -> Result<(), Error> {
    let note = path_of(file.out());
    file.persist(force)?;
    if note.is_file() && read(&note).is_ok_and(|notes| notes.is_some()) {
        let _ = disk::remove(&note);
    }
    Ok(())
}

fn write(path: &Path, notes: Vec<Note>, access: &Access) -> Result<(), Error> {
    let failed = |cause| Error::io(path, "write the note of the layout", cause);
    let text = serde_json::to_vec(&Notes { about: ABOUT.into(), notes });
    let text = text.map_err(|error| failed(error.into()))?;
    let temporary = Temporary::create(path, path, access)?;
    let file = temporary.writer()?;
    disk::write(&file, &text).and_then(|()| disk::sync(&file)).map_err(failed)?;
    temporary.persist(true)
}
