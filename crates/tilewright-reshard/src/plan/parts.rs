//! The tasks of a result in an object store: parts of the uploads of its files. Jobs count them, runs make them, and the commit lists
//! what was sent.
//!
//! ```text
//! tasks 0 to p        the parts of the first file, of the second, and so on
//! tasks p to the end  boxes of the arrays whose fingerprints are recorded: they are read and summed
//! ```
//!
//! Law: the parts of a file partition its bytes.

use std::ops::Range;

use tilewright_files::{
    Fingerprint,
    inner::store::{LEAST_PART, MOST_PARTS, StoredPart},
};

use crate::{Error, Request, plan::target::Output};

/// The number of bytes of a part if memory and length allow.
const PART: u64 = 8 << 20;

/// The division of a result into parts of uploads.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileParts {
    /// The number of bytes of a part.
    pub(crate) bytes: u64,
    /// The number of the first part of each file, and at the end the number of all parts.
    first: Vec<u64>,
    /// The number of the first task, the array, and the number of boxes of each array that is summed.
    sums: Vec<(u64, usize, u64)>,
    tasks: u64,
}

/// A task of a result in a store.
pub(crate) enum StoreTask {
    /// A file, the number of a part, and its bytes.
    Part(usize, usize, Range<u64>),
    /// An array, and the number of a box of it.
    Sum(usize, u64),
}

impl FileParts {
    /// Divides the files of a result; `sums` are the arrays that are summed with their numbers of boxes.
    pub(crate) fn of(
        request: &Request,
        output: &Output,
        summed: impl Iterator<Item = (usize, u64)>,
    ) -> Result<FileParts, Error> {
        let bytes = FileParts::bytes_in(output, request.memory);
        let mut parts = FileParts { bytes, first: vec![0], ..FileParts::default() };
        for file in &output.files {
            parts.tasks += file.bytes.div_ceil(bytes).max(1);
            parts.first.push(parts.tasks);
        }
        for (array, boxes) in summed {
            parts.sums.push((parts.tasks, array, boxes));
            parts.tasks += boxes;
        }
        Ok(parts)
    }

    /// Returns the number of bytes of a part of these files within this memory.
    pub(crate) fn bytes_in(output: &Output, memory: u64) -> u64 {
        let longest = output.files.iter().map(|file| file.bytes).max().unwrap_or(0);
        let needed = longest.div_ceil(MOST_PARTS).next_multiple_of(1 << 20);
        PART.min(memory / 4).max(LEAST_PART).max(needed)
    }

    pub(crate) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Returns the numbers of the parts of a file.
    pub(crate) fn of_file(&self, file: usize) -> Range<u64> {
        let first = |file: usize| self.first.get(file).copied().unwrap_or(0);
        first(file)..first(file + 1)
    }

    /// Returns the task of this number in a result.
    pub(crate) fn task(&self, output: &Output, number: u64) -> Option<StoreTask> {
        if number < self.first.last().copied().unwrap_or(0) {
            let file = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
            let part = number - self.first.get(file)?;
            let (start, len) = (part * self.bytes, output.files.get(file)?.bytes);
            return Some(StoreTask::Part(file, part as usize, start..len.min(start + self.bytes)));
        }
        let at = self.sums.partition_point(|(first, ..)| *first <= number).checked_sub(1)?;
        let (first, array, boxes) = self.sums.get(at)?;
        (number - first < *boxes).then_some(StoreTask::Sum(*array, number - first))
    }
}

/// The record of a finished task in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A part that the store has.
    Part(StoredPart),
    /// A part that was sent twice, and got two names: the store has one of them, and it is sent again at the end. Its checksum.
    Twice(u32),
    /// A part that is made at the end.
    Late,
    /// The fingerprint of a box.
    Sum(Fingerprint),
}
