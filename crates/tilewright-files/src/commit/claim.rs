//! The claim of a long run on the name of its result: exclusive, or shared with other processes that do the same work. Resharding
//! uses it.
//!
//! A claim is the lock of the name (`lock.rs`), held as long as the run lasts: exclusively if the run works alone, shared if not.
//! The lock file has a line for each process with its work and its name. The work of the first line owns the name; lines with
//! other work after it are of processes that came at the same moment and were refused. A process that finds nobody there removes
//! the lines of killed processes. The last process to leave removes the file.
//!
//! If the file system does not support locks, nobody is refused: otherwise the file of a killed process would block the name
//! forever.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use crate::{
    Error,
    commit::temporary::{self, has_name},
    error,
};

/// The longest wait for a lock that another process holds briefly while it enters or leaves. Tests hold locks for longer, and wait less.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 3 });

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(2);

/// The largest number of bytes of the lines that is read.
const MOST: u64 = 1 << 20;

/// The right of this process to work on a name, until the value is dropped.
#[derive(Debug)]
#[doc(hidden)]
pub struct Claim {
    file: File,
    path: PathBuf,
    is_locked: bool,
}

/// The process that asks for a name, and its work.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Claimant<'a> {
    /// A word that is equal for all processes that may work together.
    pub work: &'a str,
    /// The description of this process for others.
    pub who: &'a str,
    /// True if no other process may work at the same time.
    pub alone: bool,
}

/// The reason why a claim was refused.
#[derive(Debug)]
#[doc(hidden)]
pub enum Busy {
    /// Other processes work on it; the text describes one of them.
    Held(String),
    /// The system refuses.
    Failed(Error),
}

/// The call that locks a file exclusively, and the action that follows it.
#[derive(Clone, Copy)]
struct Alone<'a> {
    try_lock: fn(&File) -> Result<(), TryLockError>,
    first: &'a dyn Fn(),
}

impl Claim {
    /// Claims the name of `out`. A process that finds no other calls `first` while it is alone, and then shares the claim.
    #[doc(hidden)]
    pub fn of(out: &Path, claimant: Claimant<'_>, first: &dyn Fn()) -> Result<Claim, Busy> {
        Claim::by(out, claimant, Alone { try_lock: File::try_lock, first })
    }

    fn by(out: &Path, claimant: Claimant<'_>, to: Alone<'_>) -> Result<Claim, Busy> {
        let path = temporary::lock_path(out).map_err(Busy::Failed)?;
        let failed = |cause| Busy::Failed(error::io(&path, "lock", cause));
        let begun = Instant::now();
        loop {
            if let Some(claim) = attempt(&path, claimant, to).map_err(failed)? {
                return match claim.refused(claimant).map_err(failed)? {
                    Some(other) => Err(Busy::Held(other)),
                    None => Ok(claim),
                };
            }
            if begun.elapsed() > PATIENCE {
                let lines = std::fs::read_to_string(&path).unwrap_or_default();
                return Err(Busy::Held(holder(lines.lines().next().unwrap_or_default())));
            }
            thread::sleep(STEP);
        }
    }

    /// Adds the line of this process; returns the holder of the name if it does other work.
    fn refused(&self, claimant: Claimant<'_>) -> io::Result<Option<String>> {
        if !self.is_locked {
            return Ok(None);
        }
        let Claimant { work, who, .. } = claimant;
        let foreign = |lines: String| {
            let first = lines.lines().next().map(str::to_owned);
            first.filter(|said| said.split(' ').next() != Some(work)).map(|said| holder(&said))
        };
        let other = foreign(self.lines()?);
        if other.is_some() {
            return Ok(other);
        }
        // Two processes may come at once: the one whose line is second leaves.
        let line = format!("{work} {who}, process {}\n", process::id());
        (&self.file).write_all(line.as_bytes())?;
        Ok(foreign(self.lines()?))
    }

    /// Returns the lines of all processes.
    fn lines(&self) -> io::Result<String> {
        let mut file = &self.file;
        file.seek(io::SeekFrom::Start(0))?;
        let mut lines = String::new();
        file.take(MOST).read_to_string(&mut lines)?;
        Ok(lines)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_locked || self.file.try_lock().is_ok() {
            let _ = crate::commit::disk::remove(&self.path);
        }
    }
}

/// Returns the holder of a name from its line.
fn holder(line: &str) -> String {
    match line.split_once(' ') {
        Some((_, who)) => who.to_owned(),
        None => "another process".to_owned(),
    }
}

/// Returns the claim, if it is available now.
fn attempt(path: &Path, claimant: Claimant<'_>, to: Alone<'_>) -> io::Result<Option<Claim>> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let (first, is_locked) = match (to.try_lock)(&file) {
        Ok(()) => (has_name(&file, path), true),
        Err(TryLockError::Error(_)) => (claimant.alone, false),
        Err(TryLockError::WouldBlock) => (false, true),
    };
    if first {
        // Processes listed in the file were killed.
        file.set_len(0)?;
        (to.first)();
    }
    let held = match claimant.alone {
        true => first,
        false => !is_locked || file.try_lock_shared().is_ok() && has_name(&file, path),
    };
    Ok(held.then(|| Claim { file, path: path.to_owned(), is_locked }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_excludes_all_and_together_excludes_other_work() {
        let _alone = crate::commit::faults::alone();
        let folder = tilewright_testing::folder();
        let (out, lock) = (folder.path().join("out"), folder.path().join(".out.tilewright-lock"));
        let of =
            |work: &str, who: &str, alone| Claim::of(&out, Claimant { work, who, alone }, &|| ());
        let refused = |claim: Result<Claim, Busy>| match claim {
            Err(Busy::Held(who)) => who,
            other => panic!("{other:?}"),
        };
        let pid = process::id();
        let first = of("a", "rank-0", false).unwrap();
        let second = of("a", "rank-1", false).unwrap();
        assert_eq!(refused(of("b", "rank-7", false)), format!("rank-0, process {pid}"));
        assert!(refused(of("a", "finish", true)).starts_with("rank-"));
        drop(first);
        assert!(lock.exists());
        drop(second);
        assert!(!lock.exists());
        let one = of("b", "all", true).unwrap();
        assert_eq!(refused(of("b", "rank-0", false)), format!("all, process {pid}"));
        drop(one);
        // The file that a killed process left.
        std::fs::write(&lock, "a rank-3, process 1\n").unwrap();
        drop((of("b", "rank-0", false).unwrap(), of("b", "rank-1", false).unwrap()));
        assert!(!lock.exists());
    }
    /// The line of a process with other work that came at the same moment and was refused remains in the file while the others
    /// work.
    #[test]
    fn who_was_refused_keeps_nobody_out() {
        let _alone = crate::commit::faults::alone();
        let folder = tilewright_testing::folder();
        let (out, lock) = (folder.path().join("out"), folder.path().join(".out.tilewright-lock"));
        let of =
            |work: &str, who: &str| Claim::of(&out, Claimant { work, who, alone: false }, &|| ());
        let first = of("a", "rank-0").unwrap();
        let mut file = OpenOptions::new().append(true).open(&lock).unwrap();
        file.write_all(b"b rank-0, process 1\n").unwrap();
        let second = of("a", "rank-1").unwrap();
        let said = format!("rank-0, process {}", process::id());
        assert!(matches!(of("b", "rank-1"), Err(Busy::Held(other)) if other == said));
        drop((first, second));
        drop(of("b", "rank-1").unwrap());
        assert!(!lock.exists());
    }

    /// The first action runs in one process that is alone, whether the claim is then shared or not.
    #[test]
    fn what_is_done_first_is_done_while_nobody_else_is_there() {
        let _alone = crate::commit::faults::alone();
        let folder = tilewright_testing::folder();
        let (out, count) = (folder.path().join("out"), std::cell::Cell::new(0));
        let first = || count.set(count.get() + 1);
        let of = |alone| Claim::of(&out, Claimant { work: "a", who: "x", alone }, &first);
        let both = (of(false).unwrap(), of(false).unwrap());
        assert_eq!(count.get(), 1);
        drop(both);
        drop(of(true).unwrap());
        assert_eq!(count.get(), 2);
    }

    /// On a file system without locks, the file of a killed process does not block anyone, and nothing remains.
    #[test]
    fn without_locks_nobody_is_refused() {
        let folder = tilewright_testing::folder();
        let (out, lock) = (folder.path().join("out"), folder.path().join(".out.tilewright-lock"));
        for alone in [false, true] {
            std::fs::write(&lock, "a rank-3, process 1\n").unwrap();
            let claimant = Claimant { work: "b", who: "rank-0", alone };
            let try_lock = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
            drop(Claim::by(&out, claimant, Alone { try_lock, first: &|| () }).unwrap());
            assert!(!lock.exists());
        }
    }
}
