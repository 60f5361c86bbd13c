//! The claim of a long run on the name of its result: alone, or together with other processes that do the same work.
//!
//! It is the lock of the name (`lock.rs`), held while the run lasts: exclusive where the run is alone, shared where it
//! is not. The file says which work it is and who does it, a line each; who comes first removes the lines of killed
//! processes. The last that goes removes the file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use crate::{
    Error,
    temporary::{self, has_name},
};

/// How long a lock is waited for that another process holds for a moment, on its way in or out.
const PATIENCE: Duration = Duration::from_secs(3);

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(2);

/// The most bytes of the lines that are read.
const MOST: u64 = 1 << 20;

/// A name that this process may work on, until the value is dropped.
#[derive(Debug)]
#[doc(hidden)]
pub struct Claim {
    file: File,
    path: PathBuf,
}

/// Why there is no claim.
#[derive(Debug)]
#[doc(hidden)]
pub enum Busy {
    /// Others work on it: the line of one of them.
    Held(String),
    /// The system refuses.
    Failed(Error),
}

impl Claim {
    /// Claims the name of `out` for `work`, a word that is the same for all who may work together.
    #[doc(hidden)]
    pub fn of(out: &Path, work: &str, who: &str, alone: bool) -> Result<Claim, Busy> {
        let path = temporary::lock_path(out).map_err(Busy::Failed)?;
        let failed = |cause| Busy::Failed(Error::io(&path, "lock", cause));
        let line = format!("{work} {who}, process {}", process::id());
        let begun = Instant::now();
        loop {
            if let Some(file) = attempt(&path, alone).map_err(failed)? {
                let claim = Claim { file, path: path.clone() };
                let foreign = |lines: &str| {
                    let mut before = lines.lines().take_while(|said| *said != line);
                    before.find(|said| said.split(' ').next() != Some(work)).map(holder)
                };
                // Two may come at once: who stands behind the other goes.
                let before = foreign(&claim.lines().map_err(failed)?);
                let other = match before {
                    Some(other) => Some(other),
                    None => foreign(&claim.sign(&line).map_err(failed)?),
                };
                return other.map_or(Ok(claim), |other| Err(Busy::Held(other)));
            }
            if begun.elapsed() > PATIENCE {
                let lines = std::fs::read_to_string(&path).unwrap_or_default();
                return Err(Busy::Held(holder(lines.lines().next().unwrap_or_default())));
            }
            thread::sleep(STEP);
        }
    }

    /// Writes the line, behind those of others; gives all.
    fn sign(&self, line: &str) -> io::Result<String> {
        (&self.file).write_all(format!("{line}\n").as_bytes())?;
        self.lines()
    }

    /// The lines of all.
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
        if self.file.try_lock().is_ok() {
            let _ = crate::disk::remove(&self.path);
        }
    }
}

/// Who holds a name, of its line.
fn holder(line: &str) -> String {
    match line.split_once(' ') {
        Some((_, who)) => who.to_owned(),
        None => "another process".to_owned(),
    }
}

/// The file, locked, if that can be had now; where the system knows no locks, the file.
fn attempt(path: &Path, alone: bool) -> io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let first = match file.try_lock() {
        Ok(()) => has_name(&file, path),
        Err(TryLockError::Error(_)) => return Ok(Some(file)),
        Err(TryLockError::WouldBlock) => false,
    };
    if first {
        // Whoever stands in it was killed.
        file.set_len(0)?;
    }
    let held = match alone {
        true => first,
        false => file.try_lock_shared().is_ok() && has_name(&file, path),
    };
    Ok(held.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_excludes_all_and_together_excludes_other_work() {
        let _alone = crate::faults::alone();
        let folder = tempfile::tempdir().unwrap();
        let (out, lock) = (folder.path().join("out"), folder.path().join(".out.tilewright-lock"));
        let of = |work: &str, who: &str, alone| Claim::of(&out, work, who, alone);
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
        // What a killed process left.
        std::fs::write(&lock, "a rank-3, process 1\n").unwrap();
        drop((of("b", "rank-0", false).unwrap(), of("b", "rank-1", false).unwrap()));
        assert!(!lock.exists());
    }
}
