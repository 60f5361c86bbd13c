//! The file beside OUT that becomes OUT: named after it, locked while it is written, renamed at the
//! end, removed on any other way out.
//!
//! A killed run leaves its temporary behind, unlocked; the next run to the same OUT finds it by its
//! name, sees by the lock that nobody writes it, and removes it.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use same_file::Handle;
use tempfile::TempPath;

use crate::Error;

/// Tells apart the temporaries of one process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// An exclusive, locked file beside its destination.
#[derive(Debug)]
pub(crate) struct Temporary {
    // The lock lives as long as this handle.
    file: File,
    path: TempPath,
    out: PathBuf,
}

impl Temporary {
    /// Creates and locks the temporary of `out`.
    pub(crate) fn create(out: &Path) -> Result<Temporary, Error> {
        let failed = |cause| Error::io(out, "create a file beside it", cause);
        // A sweeping neighbour can take a fresh file before its lock is held: then another name is taken.
        for _ in 0..64 {
            let path = fresh_path(out)?;
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(cause) => return Err(failed(cause)),
            };
            let path = TempPath::try_from_path(path).map_err(failed)?;
            if is_ours(&file, &path) {
                return Ok(Temporary { file, path, out: out.into() });
            }
        }
        Err(failed(io::Error::other("64 names for a temporary file were taken")))
    }

    /// Another handle on the same file, for writing.
    pub(crate) fn writer(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|cause| Error::io(&self.out, "write", cause))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file to its destination; without `force` only if there is none.
    pub(crate) fn persist(self, force: bool) -> Result<(), Error> {
        let Temporary { file, path, out } = self;
        let moved = if force { path.persist(&out) } else { path.persist_noclobber(&out) };
        let done = moved.map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => Error::exists(&out),
            _ => Error::io(&out, "rename the finished file to it", failed.error),
        });
        drop(file);
        done?;
        sync_folder(&out);
        Ok(())
    }
}

/// Whether the file could be locked and is still the one its path names.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => {}
        // Some network file systems know no locks; there, strays stay until removed by hand.
        Err(fs::TryLockError::Error(_)) => return true,
        Err(fs::TryLockError::WouldBlock) => return false,
    }
    let held = file.try_clone().and_then(Handle::from_file);
    matches!((held, Handle::from_path(path)), (Ok(held), Ok(named)) if held == named)
}

/// Longer names are cut, in bytes: with what is added they stay below the 255 of most systems.
const LONGEST_NAME: usize = 160;

/// `.{out name}.tilewright-`, which begins the name of every temporary of `out`.
fn prefix(out: &Path) -> Result<String, Error> {
    match out.file_name().and_then(|name| name.to_str()) {
        Some(name) if name.len() <= LONGEST_NAME => Ok(format!(".{name}.tilewright-")),
        Some(name) => {
            let cut = name.floor_char_boundary(LONGEST_NAME);
            Ok(format!(".{}~{:016x}.tilewright-", &name[..cut], hash(name)))
        }
        None => Err(Error::usage(format!("{} names no file in UTF-8", out.display()))),
    }
}

/// FNV-1a, the same in every run: it tells apart long names that begin alike.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn fresh_path(out: &Path) -> Result<PathBuf, Error> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(folder(out).join(format!("{}{}-{number}.tmp", prefix(out)?, process::id())))
}

/// The folder that holds `out`.
pub(crate) fn folder(out: &Path) -> &Path {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Removes what killed runs to the same `out` have left. Whatever cannot be looked at stays.
pub(crate) fn sweep(out: &Path) {
    let (Ok(prefix), Ok(entries)) = (prefix(out), fs::read_dir(folder(out))) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| is_temporary(name, &prefix)) {
            remove_stray(&entry.path());
        }
    }
}

/// Whether the rest of the name is `{pid}-{n}.tmp`.
fn is_temporary(name: &str, prefix: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".tmp"));
    rest.and_then(|rest| rest.split_once('-')).is_some_and(|(pid, n)| number(pid) && number(n))
}

fn remove_stray(path: &Path) {
    // A link of that name is none of ours.
    if !fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file()) {
        return;
    }
    if let Ok(file) = OpenOptions::new().write(true).open(path)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(path);
    }
}

/// Asks for the rename itself to reach the disk; not every system can.
fn sync_folder(out: &Path) {
    if let Ok(folder) = File::open(folder(out)) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn dropped_is_removed_and_persisted_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.npy");
        drop(Temporary::create(&out).unwrap());
        assert!(names(folder.path()).is_empty());
        let temporary = Temporary::create(&out).unwrap();
        temporary.writer().unwrap().write_all(b"abc").unwrap();
        let name = format!(".a.npy.tilewright-{}-", process::id());
        assert!(names(folder.path())[0].starts_with(&name));
        temporary.persist(false).unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"abc");
        let second = Temporary::create(&out).unwrap();
        assert_eq!(second.persist(false).unwrap_err().kind(), "exists");
        assert_eq!(names(folder.path()), ["a.npy"]);
        Temporary::create(&out).unwrap().persist(true).unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"");
    }

    #[test]
    fn the_longest_names_have_temporaries_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for (letter, other) in [('a', "b"), ('ü', "ö")] {
            let long = letter.to_string().repeat(253 / letter.len_utf8());
            let (out, near) = (folder.path().join(&long), folder.path().join(long + other));
            assert_ne!(prefix(&out).unwrap(), prefix(&near).unwrap());
            let temporary = Temporary::create(&out).unwrap();
            let kept = temporary.path().to_path_buf();
            sweep(&near);
            temporary.persist(false).unwrap();
            fs::write(&kept, "stray").unwrap();
            sweep(&out);
            assert!(out.exists() && !kept.exists());
            fs::remove_file(out).unwrap();
        }
    }

    #[test]
    fn strays_of_the_same_output_are_swept_and_live_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a");
        let live = Temporary::create(&out).unwrap();
        let kept = [".b.tilewright-1-1.tmp", ".a.tilewright-x-1.tmp", ".a.tilewright-1-1", "a.tmp"];
        for name in kept.iter().chain(&[".a.tilewright-99-0.tmp", ".a.tilewright-1-17.tmp"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        sweep(&out);
        assert!(live.path().exists());
        drop(live);
        let mut kept = kept.map(String::from);
        kept.sort();
        assert_eq!(names(folder.path()), kept);
    }
}
