//! A file's stamp: its metadata in the file system, which show that a file was replaced or changed without reading it. Opened
//! files, notes and journals contain it.

use std::{
    fs::{self, Metadata},
    io,
    path::Path,
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};

/// A file's number in its file system, its length, and the time when its bytes were last changed. A rename does not change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    number: u64,
    len: u64,
    /// Nanoseconds since 1970, if the system records a time.
    changed: Option<i128>,
}

impl Stamp {
    pub(crate) fn of(facts: &Metadata) -> Stamp {
        Stamp { number: number(facts), len: facts.len(), changed: changed(facts) }
    }

    /// Returns the stamp of bytes that are not a file.
    pub(crate) fn of_length(len: u64) -> Stamp {
        Stamp { number: 0, len, changed: None }
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether both files have the same length.
    pub(crate) fn has_length_of(&self, other: &Stamp) -> bool {
        self.len == other.len
    }

    /// Returns the stamp of the file at a path, if it exists; a link has its own.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Stamp>> {
        look(path).map(|facts| facts.map(|facts| Stamp::of(&facts)))
    }
}

/// Returns the metadata of a path, without following links; `None` if nothing exists there.
pub(crate) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(facts) => Ok(Some(facts)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(cause),
    }
}

#[cfg(unix)]
fn number(facts: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(facts)
}

#[cfg(not(unix))]
fn number(_facts: &Metadata) -> u64 {
    0
}

fn changed(facts: &Metadata) -> Option<i128> {
    let time = facts.modified().ok()?;
    Some(match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    })
}

/// Returns whether an open file still has its bytes, as far as the system records it: number, length and time of the last write
/// are equal. This time can be set back. The time of the last change of any kind cannot, but it also changes with permissions,
/// owner, or the number of links. If only this time differs and none of those do, the bytes count as changed.
pub(crate) fn is_same(was: &Metadata, is: &Metadata) -> bool {
    let explained = touched(was) == touched(is) || circumstances(was) != circumstances(is);
    Stamp::of(was) == Stamp::of(is) && explained
}

/// Returns the time of the last change of any kind, including changes of a file's times; no program can set it.
#[cfg(unix)]
fn touched(facts: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (facts.ctime(), facts.ctime_nsec())
}

#[cfg(not(unix))]
fn touched(_facts: &Metadata) -> (i64, i64) {
    (0, 0)
}

/// Returns the metadata that change without the bytes: permissions, owner, group, number of links.
#[cfg(unix)]
fn circumstances(facts: &Metadata) -> (u32, u32, u32, u64) {
    use std::os::unix::fs::MetadataExt;
    (facts.mode(), facts.uid(), facts.gid(), facts.nlink())
}

#[cfg(not(unix))]
fn circumstances(_facts: &Metadata) -> (u32, u32, u32, u64) {
    (0, 0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_keeps_the_stamp_and_a_write_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "1").unwrap();
        let stamp = Stamp::at(&a).unwrap().unwrap();
        fs::rename(&a, &b).unwrap();
        assert_eq!(Stamp::at(&b).unwrap(), Some(stamp));
        let text = serde_json::to_string(&stamp).unwrap();
        assert_eq!(serde_json::from_str::<Stamp>(&text).unwrap(), stamp);
        fs::write(&b, "12").unwrap();
        assert_ne!(Stamp::at(&b).unwrap(), Some(stamp));
        assert_eq!(Stamp::at(&a).unwrap(), None);
    }
}
