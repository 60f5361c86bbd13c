//! The calls that change a folder or sync bytes to the disk. All of them are in this file, so that tests can end a run, or make a
//! call fail, at each of them. Tests of other crates do so too: a debug build counts the calls.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, Write as _},
    path::Path,
};

#[cfg(debug_assertions)]
pub use fault::step;
use tempfile::TempPath;

/// Counts a call in debug builds, for tests; does nothing otherwise.
#[cfg(not(debug_assertions))]
#[inline(always)]
#[doc(hidden)]
pub fn step(_call: &'static str) -> io::Result<()> {
    Ok(())
}

/// Creates a file that does not exist; `mode` are its permissions, to which the system applies the umask.
#[doc(hidden)]
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    step("create")?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let file = options.open(path)?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Create(path.into()));
    Ok(file)
}

/// Appends bytes.
#[doc(hidden)]
pub fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    step("write")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Write(trace::path(file), bytes.into()));
    file.write_all(bytes)
}

/// Extends a file with zeros to this length, and moves to its end.
#[doc(hidden)]
pub fn extend(mut file: &File, len: u64) -> io::Result<()> {
    step("extend")?;
    #[cfg(debug_assertions)]
    trace::note(|| {
        let more = len - file.metadata().map_or(len, |facts| facts.len());
        trace::Done::Write(trace::path(file), vec![0; more as usize])
    });
    file.set_len(len)?;
    file.seek(io::SeekFrom::Start(len)).map(|_| ())
}

/// Appends up to `len` bytes of another file from byte `at` on, without copying them through this process; returns their number,
/// or 0 if the system does not support it.
#[cfg(target_os = "linux")]
pub(crate) fn copy(file: &File, from: &File, mut at: u64, len: u64) -> io::Result<u64> {
    step("copy")?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    match rustix::fs::copy_file_range(from, Some(&mut at), file, None, len) {
        Ok(copied) => {
            #[cfg(debug_assertions)]
            trace::note(|| {
                let mut bytes = vec![0; copied];
                let read = tilewright_transfer::read_at(from, &mut bytes, at - copied as u64);
                trace::Done::Write(trace::path(file), read.map(|()| bytes).unwrap_or_default())
            });
            Ok(copied as u64)
        }
        Err(full @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) => Err(full.into()),
        // Unsupported across file systems, on old systems, and on some others.
        Err(_) => Ok(0),
    }
}

/// Returns 0: other systems do not copy from file to file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn copy(_file: &File, _from: &File, _at: u64, _len: u64) -> io::Result<u64> {
    step("copy")?;
    Ok(0)
}

/// Writes bytes at byte `at` of a file.
#[doc(hidden)]
pub fn place(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    step("place")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Place(trace::path(file), at, bytes.into()));
    tilewright_transfer::write_at(file, bytes, at)
}

/// Waits until a file is on the disk.
#[doc(hidden)]
pub fn sync(file: &File) -> io::Result<()> {
    step("sync")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Sync(trace::path(file)));
    file.sync_all()
}

/// Waits until the bytes of a file are on the disk.
#[doc(hidden)]
pub fn sync_data(file: &File) -> io::Result<()> {
    step("sync of data")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Sync(trace::path(file)));
    file.sync_data()
}

/// Gives a file its name; an existing file of that name is replaced only with `force`.
pub(crate) fn rename(from: TempPath, to: &Path, force: bool) -> io::Result<()> {
    step("rename")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Rename(from.to_path_buf(), to.into()));
    let renamed = if force { from.persist(to) } else { from.persist_noclobber(to) };
    renamed.map_err(|failed| failed.error)
}

/// Gives a file a name that must be free; it keeps its own name otherwise.
#[doc(hidden)]
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    step("rename of a file")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Rename(from.into(), to.into()));
    let renamed = TempPath::try_from_path(from)?.persist_noclobber(to);
    renamed.map_err(|failed| match failed.path.keep() {
        Ok(_) => failed.error,
        Err(kept) => kept.error,
    })
}

/// Removes a file.
#[doc(hidden)]
pub fn remove(path: &Path) -> io::Result<()> {
    step("remove")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::Remove(path.into()));
    fs::remove_file(path)
}

/// Creates a folder that does not exist.
#[doc(hidden)]
pub fn create_folder(path: &Path) -> io::Result<()> {
    step("create of a folder")?;
    fs::create_dir(path)?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::CreateFolder(path.into()));
    Ok(())
}

/// Gives a folder its name, which must be free.
#[doc(hidden)]
pub fn rename_folder(from: &Path, to: &Path) -> io::Result<()> {
    step("rename of a folder")?;
    fs::rename(from, to)?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::RenameFolder(from.into(), to.into()));
    Ok(())
}

/// Removes an empty folder.
#[doc(hidden)]
pub fn remove_folder(path: &Path) -> io::Result<()> {
    step("remove of a folder")?;
    fs::remove_dir(path)?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::RemoveFolder(path.into()));
    Ok(())
}

/// Waits until the names in a folder are on the disk. If the folder cannot be opened for reading, or its file system does not
/// support the call, it returns at once.
#[cfg(unix)]
#[doc(hidden)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    step("sync of a folder")?;
    #[cfg(debug_assertions)]
    trace::note(|| trace::Done::SyncFolder(folder.into()));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(cause) if is_unknown(&cause) => Ok(()),
        synced => synced,
    }
}

#[cfg(not(unix))]
#[doc(hidden)]
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether a call failed because it is not supported here.
#[cfg(unix)]
fn is_unknown(cause: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(cause.kind(), InvalidInput | PermissionDenied | Unsupported)
}

/// Returns the names in a folder; none if it may not be listed.
#[doc(hidden)]
pub fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    match listed(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(Vec::new()),
        names => names,
    }
}

/// Lists a folder by system calls: the standard library panics if closing a folder fails.
#[cfg(target_os = "linux")]
fn listed(folder: &Path) -> io::Result<Vec<OsString>> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::new(File::open(folder)?)? {
        names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned());
    }
    Ok(names)
}

#[cfg(not(target_os = "linux"))]
fn listed(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// The calls of a run in order, for tests.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod trace {
    use std::{cell::RefCell, fs::File, path::PathBuf};

    /// A call and its file, under the name that it had at that time.
    #[derive(Clone, Debug)]
    #[doc(hidden)]
    pub enum Done {
        Create(PathBuf),
        Write(PathBuf, Vec<u8>),
        Place(PathBuf, u64, Vec<u8>),
        Sync(PathBuf),
        Rename(PathBuf, PathBuf),
        Remove(PathBuf),
        CreateFolder(PathBuf),
        RenameFolder(PathBuf, PathBuf),
        RemoveFolder(PathBuf),
        SyncFolder(PathBuf),
    }

    thread_local! {
        static DONE: RefCell<Option<Vec<Done>>> = const { RefCell::new(None) };
    }

    /// Returns the calls of `run` on this thread.
    #[doc(hidden)]
    pub fn of<T>(run: impl FnOnce() -> T) -> Vec<Done> {
        DONE.set(Some(vec![]));
        run();
        DONE.take().unwrap_or_default()
    }

    pub(crate) fn note(done: impl FnOnce() -> Done) {
        DONE.with_borrow_mut(|all| {
            if let Some(all) = all {
                all.push(done());
            }
        });
    }

    /// Records bytes that are written at byte `at` of a file by other means.
    #[doc(hidden)]
    pub fn placed(file: &File, bytes: &[u8], at: u64) {
        note(|| Done::Place(path(file), at, bytes.into()));
    }

    /// Returns the current name of an opened file.
    #[cfg(target_os = "linux")]
    pub(crate) fn path(file: &File) -> PathBuf {
        use std::os::fd::AsRawFd;
        std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default()
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn path(_file: &File) -> PathBuf {
        PathBuf::new()
    }
}

/// Ends the process or fails at the k-th call, for tests.
#[cfg(debug_assertions)]
pub mod fault {
    use std::{cell::Cell, io};

    /// The event at the end of the count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[doc(hidden)]
    pub enum Fault {
        /// The process ends immediately, with this code.
        Exit(i32),
        /// The call fails, and so do the next `more` calls.
        Fail { more: u64 },
        /// A function runs before the call, in place of another process.
        Meanwhile,
    }

    thread_local! {
        static NEXT: Cell<Option<(u64, Fault)>> = const { Cell::new(None) };
        static COUNT: Cell<u64> = const { Cell::new(0) };
        static MEANWHILE: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
    }

    /// Sets `fault` to happen on this thread after `calls` calls.
    #[doc(hidden)]
    pub fn after(calls: u64, fault: Fault) {
        NEXT.set(Some((calls, fault)));
    }

    /// Sets `run` to be called on this thread after `calls` calls.
    #[doc(hidden)]
    pub fn meanwhile(calls: u64, run: impl FnOnce() + 'static) {
        MEANWHILE.set(Some(Box::new(run)));
        NEXT.set(Some((calls, Fault::Meanwhile)));
    }

    /// Removes the fault; returns the number of calls counted since the last time.
    #[doc(hidden)]
    pub fn none() -> u64 {
        NEXT.set(None);
        COUNT.replace(0)
    }

    #[doc(hidden)]
    pub fn step(call: &'static str) -> io::Result<()> {
        COUNT.set(COUNT.get() + 1);
        let Some((left, fault)) = NEXT.get() else { return Ok(()) };
        if left > 0 {
            NEXT.set(Some((left - 1, fault)));
            return Ok(());
        }
        match fault {
            Fault::Exit(code) => std::process::exit(code),
            Fault::Fail { more } => {
                NEXT.set(more.checked_sub(1).map(|more| (0, Fault::Fail { more })));
                Err(io::Error::other(format!("a fault of the test, in {call}")))
            }
            Fault::Meanwhile => {
                NEXT.set(None);
                MEANWHILE.take().into_iter().for_each(|run| run());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut made: Vec<OsString> = (0..500).map(|i| format!("file {i} ü").into()).collect();
        made.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        fs::create_dir(folder.path().join("inner")).unwrap();
        made.push("inner".into());
        let mut listed = names(folder.path()).unwrap();
        listed.retain(|name| name != "." && name != "..");
        made.sort();
        listed.sort();
        assert_eq!(listed, made);
        assert!(names(&folder.path().join("none")).is_err());
    }
}
