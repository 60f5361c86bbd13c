//! The lock of a name. Only one run at a time changes the file of that name and the note beside it, or the index of that name and
//! its shards.
//!
//! A run holds the lock while it holds the lock of the file `.NAME.tilewright-lock` and this file has its name. The file is
//! removed before its lock is released. A killed run leaves the file unlocked: the next run that wants the lock takes it over,
//! and [`sweep`] removes it.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Error, Watch,
    commit::{
        disk,
        temporary::{self, is_ours, unlocked},
    },
    error,
};

/// The longest wait for another run, which holds the lock while it writes a note and renames two files.
const LONGEST: Duration = Duration::from_secs(60);

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(2);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    // The lock lives as long as this handle.
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits for the lock of `out`, until `watch` cancels.
    pub(crate) fn of(out: &Path, watch: &dyn Watch) -> Result<Lock, Error> {
        let (path, begun) = (temporary::lock_path(out)?, Instant::now());
        loop {
            if let Some(file) = attempt(&path).map_err(|cause| error::io(&path, "lock", cause))? {
                return Ok(Lock { _file: file, path });
            }
            watch.check_cancelled()?;
            if begun.elapsed() > LONGEST {
                let said = "another run holds it; if none does, remove it";
                return Err(error::io(
                    &path,
                    "lock",
                    io::Error::new(io::ErrorKind::TimedOut, said),
                ));
            }
            thread::sleep(STEP);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = disk::remove(&self.path);
    }
}

/// Returns the locked file, if no other process has it.
fn attempt(path: &Path) -> io::Result<Option<File>> {
    match disk::create(path, 0o666) {
        Ok(file) => Ok(is_ours(&file, path).then_some(file)),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(unlocked(path)),
        Err(cause) => Err(cause),
    }
}

/// Removes the lock file that a killed run to `out` has left.
pub(crate) fn sweep(out: &Path) -> Result<(), Error> {
    let path = temporary::lock_path(out)?;
    // The lock is held until the file is removed.
    if let Some(_file) = unlocked(&path) {
        let _ = disk::remove(&path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        fs,
    };

    use super::*;

    /// Releases the lock when another thread waits for it.
    struct Other {
        lock: RefCell<Option<Lock>>,
        waits: Cell<u32>,
    }

    impl Watch for Other {
        fn cancelled(&self) -> bool {
            self.waits.set(self.waits.get() + 1);
            if self.waits.get() > 2 {
                self.lock.take();
            }
            false
        }
    }

    struct Stop;

    impl Watch for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn one_holds_it_and_a_killed_run_does_not() {
        let _alone = crate::commit::faults::alone();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.npy");
        let file = folder.path().join(".a.npy.tilewright-lock");
        let lock = Lock::of(&out, &()).unwrap();
        sweep(&out).unwrap();
        assert!(file.exists());
        assert!(Lock::of(&out, &Stop).unwrap_err().is_cancelled());
        drop(Lock::of(&folder.path().join("b.npy"), &()).unwrap());
        let other = Other { lock: Some(lock).into(), waits: Cell::new(0) };
        drop(Lock::of(&out, &other).unwrap());
        assert!(other.waits.get() > 2 && !file.exists());
        fs::write(&file, "").unwrap();
        drop(Lock::of(&out, &Stop).unwrap());
        assert!(!file.exists());
        fs::write(&file, "").unwrap();
        sweep(&out).unwrap();
        assert!(!file.exists());
    }
}
