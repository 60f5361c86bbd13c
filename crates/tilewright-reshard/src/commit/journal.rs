//! The journal: the list of tasks that are on the disk.
//!
//! ```text
//! line = JSON [[task, CRC-32 of its box], …] " " CRC-32 of the JSON in hexadecimal "\n"
//! ```
//!
//! If the fingerprint of an array is recorded, the fingerprint of the box follows the sum of the task: the fingerprints
//! of all boxes add up to that of the array.
//!
//! A line is a promise: it is written after the data of its tasks are synced, and is then synced itself. A torn line
//! counts as missing. Each thread writes its own file. If one task has two different sums, the source changed in
//! between.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};
use tilewright_files::{Fingerprint, disk};

use crate::{Error, error};

/// The promise that a task is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Promise {
    pub(crate) task: u64,
    /// The sum of its box.
    pub(crate) sum: u32,
    /// The fingerprint of its box.
    pub(crate) data: Option<Fingerprint>,
}

/// A promise in a line.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PromiseLine {
    Plain(u64, u32),
    Printed(u64, u32, String),
}

impl PromiseLine {
    fn of(promise: &Promise) -> PromiseLine {
        let Promise { task, sum, data } = *promise;
        match data {
            None => PromiseLine::Plain(task, sum),
            Some(data) => PromiseLine::Printed(task, sum, data.to_string()),
        }
    }

    fn promise(&self) -> Option<Promise> {
        Some(match self {
            PromiseLine::Plain(task, sum) => Promise { task: *task, sum: *sum, data: None },
            PromiseLine::Printed(task, sum, data) => {
                Promise { task: *task, sum: *sum, data: Some(data.parse().ok()?) }
            }
        })
    }
}

/// The journal of one thread.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
}

impl Journal {
    /// Creates a new file in the folder of journals.
    pub(crate) fn create(folder: &Path, who: &str) -> Result<Journal, Error> {
        let pid = std::process::id();
        for number in 0..=u32::MAX {
            let path = folder.join(format!("{who}-{pid}-{number}"));
            match disk::create(&path, 0o666) {
                Ok(file) => return Ok(Journal { file }),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(error::io(&path, "create", &cause)),
            }
        }
        Err(Error::new("io", "no file name is free for a journal"))
    }

    /// Appends a line with these tasks, and syncs it.
    pub(crate) fn promise(&mut self, done: &[Promise]) -> io::Result<()> {
        let text = serde_json::to_string(&done.iter().map(PromiseLine::of).collect::<Vec<_>>())?;
        let line = format!("{text} {:08x}\n", crc(text.as_bytes()));
        disk::write(&self.file, line.as_bytes())?;
        disk::sync_data(&self.file)
    }
}

/// Returns the tasks that the journals of a folder name, with their sums.
///
/// # Errors
/// `io` for a folder that cannot be read; `changed` for a task with two different sums.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// // The line of tasks 0 and 1, and a torn one.
/// std::fs::write(folder.path().join("a"), "[[0,7],[1,9]] 7c22293f\n[[2,1]] 00").unwrap();
/// let done = tilewright_reshard::journal::done(folder.path()).unwrap();
/// assert_eq!(done.into_iter().collect::<Vec<_>>(), [(0, 7), (1, 9)]);
/// ```
pub fn done(folder: &Path) -> Result<BTreeMap<u64, u32>, Error> {
    Ok(promises(folder)?.into_iter().map(|(task, promise)| (task, promise.sum)).collect())
}

/// Returns the promises of the journals of a folder, with fingerprints.
pub(crate) fn promises(folder: &Path) -> Result<BTreeMap<u64, Promise>, Error> {
    let failed = |cause| error::io(folder, "list", &cause);
    let listed = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        listed => listed.map_err(failed)?,
    };
    let mut done = BTreeMap::<u64, Promise>::new();
    for entry in listed {
        let path = entry.map_err(failed)?.path();
        let text = fs::read(&path).map_err(|cause| error::io(&path, "read", &cause))?;
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        for promise in lines.filter_map(promised).flatten() {
            let task = promise.task;
            if *done.entry(task).or_insert(promise) != promise {
                let said = format!("task {task} gave two results: a source changed");
                return Err(error::changed(&path, &said));
            }
        }
    }
    Ok(done)
}

/// Returns the promises of a line; `None` for a torn line.
fn promised(line: &[u8]) -> Option<Vec<Promise>> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (text, sum) = text.rsplit_once(' ')?;
    let is_whole = u32::from_str_radix(sum, 16).ok()? == crc(text.as_bytes());
    let entries: Vec<PromiseLine> =
        if is_whole { serde_json::from_str(text).ok()? } else { return None };
    entries.iter().map(PromiseLine::promise).collect()
}

/// Returns the CRC-32 of some bytes.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes may do a task, with one result; another sum or another fingerprint is found.
    #[test]
    fn a_task_with_two_results_is_refused() {
        let data = |byte: u8| {
            let place = (&[0][..], &[4][..]);
            let of = (tilewright_core::Dtype::U8, 8);
            Some(crate::run::moves::of_box(place, of, &[byte; 4]).unwrap())
        };
        let first = Promise { task: 3, sum: 7, data: data(1) };
        for (second, is_one) in [
            (first, true),
            (Promise { task: 4, sum: 8, data: None }, true),
            (Promise { sum: 8, ..first }, false),
            (Promise { data: data(2), ..first }, false),
            (Promise { data: None, ..first }, false),
        ] {
            let folder = tilewright_testing::folder();
            for (who, promise) in [("a", first), ("b", second)] {
                Journal::create(folder.path(), who).unwrap().promise(&[promise]).unwrap();
            }
            match done(folder.path()) {
                Ok(done) => assert!(is_one && done[&3] == 7, "{second:?}"),
                Err(error) => {
                    assert!(!is_one && error.kind() == "changed", "{second:?}: {error}");
                    let said = "task 3 gave two results: a source changed";
                    assert!(error.to_string().ends_with(said), "{error}");
                }
            }
        }
    }
}
