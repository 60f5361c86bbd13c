//! The note beside a file of one array that cannot record the array's layout: `NAME.tilewright.json`.
//!
//! A note identifies its file by the file's stamp. If the stamp differs because the file was copied, the note identifies it by a
//! checksum of all its bytes. A note of another file is never used. A file of notes keeps the notes of the last results of its
//! name. The new note is on the disk, together with the note of the file that has the name, before the rename that makes it
//! valid. Only one run at a time does this: it holds the lock of the name ([`Lock`]) from the reading of the notes to the rename.
//! A run whose rename fails removes its own note, and no other. So wherever a run ends, the file that has the name has its note.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use flate2::Crc;
use serde::{Deserialize, Serialize};
use tilewright_notation::MAX_TABLED;

use crate::{
    Error, Watch,
    commit::{
        access::Access,
        disk,
        lock::{self, Lock},
        stamp::{Stamp, look},
        temporary::{self, Temporary},
    },
    error,
    layout::{element_layout::ElementLayout, names, record::LAYOUT_KEY},
    open::source::Source,
};

/// The name of the only array of a file.
pub(crate) const ARRAY: &str = "array";

/// The ending of the name of a note, after the name of its file.
const ENDING: &str = ".tilewright.json";

/// The longest name of a file in bytes, on most systems. Longer names of notes are shortened.
const LONGEST_NAME: usize = 255;

/// The longest file of notes that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The largest number of notes that are kept: the note of the file that has the name, and those of the last files that were
/// intended to have it.
const MOST: usize = 4;

/// The first text in a file of notes, which explains it to a person.
const ABOUT: &str = "layout of the file of this name with one of these checksums (CRC-32)";

/// Keys and texts, as in metadata.
pub(crate) type Texts = BTreeMap<String, String>;

/// The note of one file.
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

/// The note found beside a file.
#[derive(Debug, Default)]
pub(crate) struct FoundNote {
    pub(crate) texts: Texts,
    pub(crate) aside: Option<Aside>,
}

/// A file with the name of a note that does not describe the opened file.
#[derive(Clone, Debug)]
pub(crate) struct Aside {
    /// The reason, as a sentence without a full stop.
    pub(crate) said: String,
    /// True if it is a note: then the opened file was changed or replaced after its conversion.
    is_note: bool,
}

impl Aside {
    /// Returns the message for a file that should be unchanged since its conversion, if its note is for other bytes.
    pub(crate) fn changed(&self, file: &Path) -> Option<String> {
        let (file, said) = (file.display(), &self.said);
        self.is_note.then(|| format!("{file} was changed or replaced since it was written: {said}"))
    }
}

/// Returns the path of the note for a file of this path.
pub(crate) fn path_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let mut name = temporary::shortened(name, LONGEST_NAME - ENDING.len());
    name.push(ENDING);
    file.with_file_name(name)
}

/// Returns the note of an open file: beside the path by which it was opened, or beside the target of its links.
pub(crate) fn of(source: &Source, watch: &dyn Watch) -> Result<FoundNote, Error> {
    let path = source.path();
    if !source.is_at(path) {
        return Ok(FoundNote::default());
    }
    let real = fs::canonicalize(path).ok().filter(|real| real != path);
    for path in [Some(path.to_path_buf()), real].into_iter().flatten().map(|path| path_of(&path)) {
        if !path.is_file() {
            continue;
        }
        let (is_note, said) = match read(&path)? {
            None => {
                (false, "is not a note of tilewright and does not describe this file".to_owned())
            }
            Some(mut notes) => match fitting(&notes, source, watch)? {
                Fitting::At(at) => {
                    return Ok(FoundNote { texts: notes.swap_remove(at).texts, aside: None });
                }
                Fitting::None { sum } => (true, of_others(&notes, source.len(), sum)),
            },
        };
        let said = format!("{} {said}", path.display());
        return Ok(FoundNote { texts: Texts::new(), aside: Some(Aside { said, is_note }) });
    }
    Ok(FoundNote::default())
}

/// The note that belongs to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fitting {
    At(usize),
    /// None of them. The checksum is that of the file, if it was needed.
    None {
        sum: Option<u32>,
    },
}

fn fitting(notes: &[Note], source: &Source, watch: &dyn Watch) -> Result<Fitting, Error> {
    let stamp = source.stamp();
    if let Some(at) = notes.iter().rposition(|note| note.stamp == stamp) {
        return Ok(Fitting::At(at));
    }
    if !notes.iter().any(|note| note.stamp.has_length_of(&stamp)) {
        return Ok(Fitting::None { sum: None });
    }
    let sum = sum(source, watch)?;
    let own = |note: &Note| note.stamp.has_length_of(&stamp) && note.sum == sum;
    Ok(notes.iter().rposition(own).map_or(Fitting::None { sum: Some(sum) }, Fitting::At))
}

/// Returns a message that the notes are not those of a file of `len` bytes with this checksum, with the facts of the last note.
fn of_others(notes: &[Note], len: u64, sum: Option<u32>) -> String {
    let other = "is a note of other bytes and does not describe this file";
    let Some(note) = notes.last() else { return other.into() };
    let (noted, lies) = (note.stamp.len(), note.texts.get(&format!("{LAYOUT_KEY}{ARRAY}")));
    let lies =
        lies.map_or(String::new(), |spec| format!(" with layout `{}`", names::clipped(spec)));
    match sum.filter(|_| noted == len) {
        Some(sum) => format!(
            "{other}: it is of {len} bytes of checksum {:08x}{lies}, and the checksum of this file is {sum:08x}",
            note.sum
        ),
        None => format!("{other}: it is of {noted} bytes{lies}, and this file has {len}"),
    }
}

/// Returns the checksum of all bytes of a file.
fn sum(source: &Source, watch: &dyn Watch) -> Result<u32, Error> {
    let (mut crc, mut at, mut buffer) = (Crc::new(), 0, vec![0; 1 << 18]);
    while at < source.len() {
        watch.check_cancelled()?;
        let step = (source.len() - at).min(buffer.len() as u64);
        let bytes = buffer.get_mut(..step as usize).unwrap_or_default();
        source.read(bytes, at)?;
        crc.update(bytes);
        at += step;
    }
    Ok(crc.sum())
}

/// Returns the notes in a file; `None` if it is not a file of notes.
fn read(path: &Path) -> Result<Option<Vec<Note>>, Error> {
    let failed = |cause| error::io(path, "read", cause);
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(LONGEST).read_to_end(&mut text).map_err(failed)?;
    Ok(serde_json::from_slice::<Notes>(&text).ok().map(|notes| notes.notes))
}

/// Returns an error if a file that is not a note has the name of the note of `out`.
pub(crate) fn check_free(out: &Path) -> Result<(), Error> {
    kept(&path_of(out)).map(drop)
}

/// Returns the notes at a path, none if nothing is there; an error if another file is there.
fn kept(path: &Path) -> Result<Vec<Note>, Error> {
    let facts = look(path).map_err(|cause| error::io(path, "look at", cause))?;
    let Some(facts) = facts else { return Ok(Vec::new()) };
    if facts.is_file()
        && let Some(notes) = read(path)?
    {
        return Ok(notes);
    }
    let said = format!(
        "{}: the note for the result would replace this file, which is not a note; move it, or name another output",
        path.display()
    );
    Err(error::usage(said))
}

/// Removes the files of the note of `out` that killed runs have left.
pub(crate) fn sweep(out: &Path) -> Result<(), Error> {
    lock::sweep(out)?;
    temporary::sweep(&path_of(out))
}

/// Gives a finished file its name. A note of these texts and this checksum is on the disk before.
pub(crate) fn persist(
    file: Temporary,
    (texts, sum): (&Texts, u32),
    access: &Access,
    force: bool,
    watch: &dyn Watch,
) -> Result<(), Error> {
    let (out, path) = (file.out().to_path_buf(), path_of(file.out()));
    let own = Note { stamp: file.stamp()?, sum, texts: texts.clone() };
    let _lock = Lock::of(&out, watch)?;
    let mut notes = kept(&path)?;
    make_room(&mut notes, &out, watch);
    notes.push(own.clone());
    let named = write(&path, notes, access).and_then(|()| file.rename(force));
    if named.is_err() {
        // A note that remains is not used for any other file.
        let _ = take_back(&path, &own, access);
    }
    named?;
    temporary::sync_folder(&out)
}

/// Drops the oldest notes until there is room for one more, but never the note of the file that has the name. If that note is not
/// known, all are kept.
fn make_room(notes: &mut Vec<Note>, out: &Path, watch: &dyn Watch) {
    let mut away = (notes.len() + 1).saturating_sub(MOST);
    if away == 0 {
        return;
    }
    let fits = match look(out) {
        Ok(None) => Ok(Fitting::None { sum: None }),
        _ => Source::open(out).and_then(|source| fitting(notes, &source, watch)),
    };
    let Ok(fits) = fits else { return };
    let mut at = (0..).map(Fitting::At);
    notes.retain(|_| {
        let stays = away == 0 || at.next() == Some(fits);
        away -= usize::from(!stays);
        stays
    });
}

/// Removes a note from those at a path.
fn take_back(path: &Path, own: &Note, access: &Access) -> Result<(), Error> {
    let mut notes = kept(path)?;
    let before = notes.len();
    notes.retain(|note| note != own);
    match notes.len() {
        after if after == before => Ok(()),
        0 => disk::remove(path).map_err(|cause| error::io(path, "remove", cause)),
        _ => write(path, notes, access),
    }
}

/// Gives a finished file its name without a note. An existing note, which is for other bytes, is removed as far as permissions
/// allow.
pub(crate) fn persist_plain(file: Temporary, force: bool, watch: &dyn Watch) -> Result<(), Error> {
    let (out, note) = (file.out().to_path_buf(), path_of(file.out()));
    let _lock = Lock::of(&out, watch)?;
    file.persist(force)?;
    if note.is_file() && read(&note).is_ok_and(|notes| notes.is_some()) {
        let _ = disk::remove(&note);
    }
    Ok(())
}

fn write(path: &Path, notes: Vec<Note>, access: &Access) -> Result<(), Error> {
    let failed = |cause| error::io(path, "write the note of the layout", cause);
    let text = serde_json::to_vec(&Notes { about: ABOUT.into(), notes });
    let text = text.map_err(|error| failed(error.into()))?;
    let temporary = Temporary::create(path, path, access)?;
    let file = temporary.writer()?;
    disk::write(&file, &text).and_then(|()| disk::sync(&file)).map_err(failed)?;
    temporary.persist(true)
}

/// Checks the length of a note: it contains the entries of index tables, and is read again.
pub(crate) fn check_note(name: &str, held: &ElementLayout) -> Result<(), Error> {
    let (len, most) = (held.spec().len(), MAX_TABLED);
    if len > most {
        return Err(error::usage(format!(
            "tensor {name:?}: its index tables are {len} bytes of text, but a note holds at most {most}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Returns a file of these bytes that is to be named `out`.
    fn file(out: &Path, bytes: &[u8]) -> Temporary {
        let file = Temporary::create(out, out, &Access::New).unwrap();
        file.writer().unwrap().write_all(bytes).unwrap();
        file
    }

    fn texts(text: &str) -> Texts {
        [("layout".to_owned(), text.to_owned())].into()
    }

    /// Gives `out` these bytes, and the note `text`.
    fn give(out: &Path, bytes: &[u8], text: &str, force: bool) -> Result<(), Error> {
        let mut crc = Crc::new();
        crc.update(bytes);
        persist(file(out, bytes), (&texts(text), crc.sum()), &Access::New, force, &())
    }

    fn noted(out: &Path) -> Texts {
        of(&Source::open(out).unwrap(), &()).unwrap().texts
    }

    #[test]
    fn a_failed_rename_takes_back_its_own_note_alone() {
        let _alone = crate::commit::faults::alone();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.npy");
        fs::write(&out, "plain").unwrap();
        assert_eq!(give(&out, b"1", "one", false).unwrap_err().kind(), "exists");
        assert!(!path_of(&out).exists());
        give(&out, b"1", "one", true).unwrap();
        let before = fs::read(path_of(&out)).unwrap();
        for _ in 0..MOST + 2 {
            assert_eq!(give(&out, b"2", "two", false).unwrap_err().kind(), "exists");
            assert_eq!(
                (noted(&out), fs::read(path_of(&out)).unwrap()),
                (texts("one"), before.clone())
            );
            let plain = persist_plain(file(&out, b"3"), false, &());
            assert_eq!((plain.unwrap_err().kind(), noted(&out)), ("exists", texts("one")));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn the_note_of_the_file_that_has_the_name_is_never_dropped() {
        let _alone = crate::commit::faults::alone();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.npy");
        give(&out, b"1", "one", true).unwrap();
        let one = kept(&path_of(&out)).unwrap().remove(0);
        let stamp = file(&out, b"other").stamp().unwrap();
        let other = |sum| Note { stamp, sum, texts: texts("other") };
        for copied in [false, true] {
            if copied {
                fs::remove_file(&out).unwrap();
                fs::write(&out, b"1").unwrap();
            }
            for (before, behind) in (0..8).flat_map(|n| (0..8).map(move |m| (n, m))) {
                let mut notes: Vec<Note> = (0..before).map(other).collect();
                notes.push(one.clone());
                notes.extend((0..behind).map(|sum| other(100 + sum)));
                let count = notes.len();
                make_room(&mut notes, &out, &());
                assert_eq!(notes.len(), count.min(MOST - 1), "{before} {behind}");
                assert!(notes.contains(&one), "{before} {behind} {copied}");
                let last = (behind > 0).then(|| other(99 + behind));
                assert!(last.is_none_or(|last| notes.contains(&last)));
            }
        }
    }
}
