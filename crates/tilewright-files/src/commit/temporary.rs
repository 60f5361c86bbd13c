//! The file beside OUT that becomes OUT: named after it, locked while it is written, renamed at the end, and removed on any other
//! exit.
//!
//! A killed run leaves its temporary file, unlocked. The next run to the same OUT finds it by its name, sees by the lock that no
//! process writes it, and removes it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use same_file::Handle;
use tempfile::TempPath;

use crate::{
    Error,
    commit::{access::Access, disk, stamp::Stamp},
    error,
};

/// Distinguishes the temporary files of one process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The ending of the name of a temporary file.
pub(crate) const ENDING: &str = ".tmp";

/// An exclusive, locked file beside its destination.
#[derive(Debug)]
pub(crate) struct Temporary {
    // The lock lives as long as this handle.
    file: File,
    path: TempPath,
    out: PathBuf,
}

impl Temporary {
    /// Creates and locks a file that becomes `out`, with the permissions of `access`. It is named after `usual`, so that the next
    /// run finds it whatever the names of its own outputs are.
    pub(crate) fn create(out: &Path, usual: &Path, access: &Access) -> Result<Temporary, Error> {
        let (file, path) = locked(usual, ENDING, access.at_first())?;
        access
            .give(&file)
            .map_err(|cause| error::io(out, "set the permissions of a file beside it", cause))?;
        Ok(Temporary { file, path, out: out.into() })
    }

    /// Returns another handle on the file, for writing.
    pub(crate) fn writer(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|cause| error::io(&self.out, "write", cause))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the destination of the file.
    pub(crate) fn out(&self) -> &Path {
        &self.out
    }

    pub(crate) fn stamp(&self) -> Result<Stamp, Error> {
        let facts = self.file.metadata();
        facts.map(|facts| Stamp::of(&facts)).map_err(|cause| error::io(&self.out, "look at", cause))
    }

    /// Renames the file to its destination and syncs the name to the disk; without `force` only if the name is free.
    pub(crate) fn persist(self, force: bool) -> Result<(), Error> {
        let out = self.out.clone();
        self.rename(force)?;
        sync_folder(&out)
    }

    /// Renames the file to its destination; without `force` only if the name is free.
    pub(crate) fn rename(self, force: bool) -> Result<(), Error> {
        let Temporary { file, path, out } = self;
        let renamed = disk::rename(path, &out, force);
        drop(file);
        renamed.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => error::exists(&out),
            _ => error::io(&out, "rename the finished file to it", cause),
        })
    }
}

/// Writes a new file, which is whole or absent; an existing file of that name is kept.
#[doc(hidden)]
pub fn write_new(out: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (file, path) = locked(out, ENDING, 0o666)?;
    let written = disk::write(&file, bytes).and_then(|()| disk::sync(&file));
    written.map_err(|cause| error::io(out, "write", cause))?;
    Temporary { file, path, out: out.into() }.persist(false)
}

/// Creates and locks a file that is named after `out`.
pub(crate) fn locked(out: &Path, ending: &str, mode: u32) -> Result<(File, TempPath), Error> {
    let failed = |cause| error::io(out, "create a file beside it", cause);
    // Another run can remove a fresh file before its lock is held; then another name is used.
    for _ in 0..64 {
        let path = fresh_path(out, ending)?;
        let file = match disk::create(&path, mode) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(cause) => return Err(failed(cause)),
        };
        let path = TempPath::try_from_path(path).map_err(failed)?;
        if is_ours(&file, &path) {
            return Ok((file, path));
        }
    }
    Err(failed(io::Error::other("64 names for a temporary file were taken")))
}

/// Returns whether the file could be locked and its path still names it.
pub(crate) fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => {}
        // Some network file systems do not support locks; there, files of killed runs remain until they are removed by hand.
        Err(fs::TryLockError::Error(_)) => return true,
        Err(fs::TryLockError::WouldBlock) => return false,
    }
    has_name(file, path)
}

/// Returns whether a path names this file.
pub(crate) fn has_name(file: &File, path: &Path) -> bool {
    let held = file.try_clone().and_then(Handle::from_file);
    matches!((held, Handle::from_path(path)), (Ok(held), Ok(named)) if held == named)
}

/// Longer names are cut, in bytes, so that with the additions they are shorter than 255, the limit of most systems.
const LONGEST_NAME: usize = 160;

/// Returns `.{out name}.tilewright-`, the beginning of the name of every temporary file of `out`.
fn prefix(out: &Path) -> Result<OsString, Error> {
    let name = out.file_name().ok_or_else(|| {
        error::usage(format!("{} does not end in a name; name a file", out.display()))
    })?;
    let mut prefix = OsString::from(".");
    prefix.push(shortened(name, LONGEST_NAME));
    prefix.push(".tilewright-");
    Ok(prefix)
}

/// Returns a name of up to `most` bytes unchanged; a longer one is cut and gets its hash.
pub(crate) fn shortened(name: &OsStr, most: usize) -> OsString {
    let bytes = name.as_encoded_bytes();
    if bytes.len() <= most {
        return name.into();
    }
    let text = name.to_string_lossy();
    let cut = text.floor_char_boundary(LONGEST_NAME.min(most));
    format!("{}~{:016x}", &text[..cut], hash(bytes)).into()
}

/// Returns the path of the file that a process locks when it changes `out`.
pub(crate) fn lock_path(out: &Path) -> Result<PathBuf, Error> {
    let mut name = prefix(out)?;
    name.push("lock");
    Ok(folder(out).join(name))
}

/// FNV-1a, equal in every run: distinguishes long names with the same beginning.
fn hash(name: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    name.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns a name beside `out` that no other temporary file of this process has.
pub(crate) fn fresh_path(out: &Path, ending: &str) -> Result<PathBuf, Error> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = prefix(out)?;
    name.push(format!("{}-{number}{ending}", process::id()));
    Ok(folder(out).join(name))
}

/// Returns the folder that holds `out`.
pub(crate) fn folder(out: &Path) -> &Path {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Removes the temporary files of killed runs to `out`. Locked files, and paths that are not files, are kept.
pub(crate) fn sweep(out: &Path) -> Result<(), Error> {
    for path in strays(out, ENDING)? {
        // The lock is held until the file is removed.
        if let Some(_file) = unlocked(&path) {
            let _ = disk::remove(&path);
        }
    }
    Ok(())
}

/// Returns the files that are named after `out` with this ending.
pub(crate) fn strays(out: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let (prefix, folder) = (prefix(out)?, folder(out));
    let names = disk::names(folder)
        .map_err(|cause| error::io(out, "list the folder that holds it", cause))?;
    let ours = |name: &OsString| {
        is_temporary(name.as_encoded_bytes(), prefix.as_encoded_bytes(), ending.as_bytes())
    };
    Ok(names.into_iter().filter(ours).map(|name| folder.join(name)).collect())
}

/// Returns whether the rest of the name is `{pid}-{n}` and the ending.
fn is_temporary(name: &[u8], prefix: &[u8], ending: &[u8]) -> bool {
    let number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(ending));
    let mut parts = rest.unwrap_or_default().split(|byte| *byte == b'-');
    let (pid, n, end) = (parts.next(), parts.next(), parts.next());
    pid.is_some_and(number) && n.is_some_and(number) && end.is_none()
}

/// Returns a file that no process writes any more, with its lock; `None` for a link, which is never ours.
pub(crate) fn unlocked(path: &Path) -> Option<File> {
    if !fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file()) {
        return None;
    }
    let for_writing = OpenOptions::new().read(true).write(true).open(path);
    // A lock is also granted on a file that is opened only for reading.
    let file = for_writing.or_else(|_| File::open(path)).ok()?;
    // Without locks it is unknown whether a process still writes it.
    (file.try_lock().is_ok() && is_ours(&file, path)).then_some(file)
}

/// Waits until the name of `out` is on the disk.
pub(crate) fn sync_folder(out: &Path) -> Result<(), Error> {
    let synced = disk::sync_folder(folder(out));
    synced.map_err(|cause| error::io(out, "flush its name to the disk", cause))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn create(out: &Path) -> Result<Temporary, Error> {
        Temporary::create(out, out, &Access::New)
    }

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
        drop(create(&out).unwrap());
        assert!(names(folder.path()).is_empty());
        let temporary = create(&out).unwrap();
        temporary.writer().unwrap().write_all(b"abc").unwrap();
        let name = format!(".a.npy.tilewright-{}-", process::id());
        assert!(names(folder.path())[0].starts_with(&name));
        temporary.persist(false).unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"abc");
        let second = create(&out).unwrap();
        assert_eq!(second.persist(false).unwrap_err().kind(), "exists");
        assert_eq!(names(folder.path()), ["a.npy"]);
        create(&out).unwrap().persist(true).unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"");
    }

    #[test]
    fn the_longest_names_have_temporaries_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for (letter, other) in [('a', "b"), ('ü', "ö")] {
            let long = letter.to_string().repeat(253 / letter.len_utf8());
            let (out, near) = (folder.path().join(&long), folder.path().join(long + other));
            assert_ne!(prefix(&out).unwrap(), prefix(&near).unwrap());
            let temporary = create(&out).unwrap();
            let kept = temporary.path().to_path_buf();
            sweep(&near).unwrap();
            temporary.persist(false).unwrap();
            fs::write(&kept, "stray").unwrap();
            sweep(&out).unwrap();
            assert!(out.exists() && !kept.exists());
            fs::remove_file(out).unwrap();
        }
    }

    #[test]
    fn strays_of_the_same_output_are_swept_and_live_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a");
        let live = create(&out).unwrap();
        let kept = [".b.tilewright-1-1.tmp", ".a.tilewright-x-1.tmp", ".a.tilewright-1-1", "a.tmp"];
        for name in kept.iter().chain(&[".a.tilewright-99-0.tmp", ".a.tilewright-1-17.tmp"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        sweep(&out).unwrap();
        assert!(live.path().exists());
        drop(live);
        let mut kept = kept.map(String::from);
        kept.sort();
        assert_eq!(names(folder.path()), kept);
    }
}
