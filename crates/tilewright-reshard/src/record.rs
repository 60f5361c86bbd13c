//! The fingerprints of arrays: recorded ones are compared with the data that are read, and results record theirs. Runs
//! and the end of a job use them.
//!
//! A fingerprint is a sum over the elements of an array by their coordinates, so the fingerprints of the boxes of tasks
//! add up to that of the whole. Only whole arrays have one: a local array counts its coordinates from its own first
//! element.

use tilewright_files::Fingerprint;

use crate::{Error, Job, journal};

impl Job {
    /// Returns whether the data of an array are summed while they are read.
    pub(crate) fn sums(&self, array: usize) -> bool {
        self.output.records(array) || self.source.beside.recorded(array).is_some()
    }

    /// Returns the fingerprint of every array that is summed, from the journal entries of all tasks.
    ///
    /// # Errors
    /// `corrupt` if a source records another one.
    pub(crate) fn fingerprints(&self) -> Result<Vec<Option<Fingerprint>>, Error> {
        let arrays = self.source.arrays.len();
        let mut sums = vec![None; arrays];
        if !(0..arrays).any(|array| self.sums(array)) {
            return Ok(sums);
        }
        for (number, promise) in journal::promises(&self.journals())? {
            let Some((task, data)) = self.task(number).zip(promise.data) else { continue };
            if let Some(sum) = sums.get_mut(task.array) {
                *sum = Some(sum.unwrap_or_default() + data);
            }
        }
        for (number, array) in self.source.arrays.iter().enumerate() {
            let is = sums.get(number).copied().flatten().unwrap_or_default();
            if let Some(was) = self.source.beside.recorded(number).filter(|was| *was != is) {
                let said = format!("tensor {:?} has data with fingerprint {is}", array.name);
                let said = format!("{said}, but its file records {was}: it is damaged");
                return Err(Error::new("corrupt", said));
            }
        }
        Ok(sums)
    }
}
