//! A table of files, which all threads of a run share and which are opened when they are needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tilewright_files::disk;

use crate::{Error, error, source::lists::shown};

/// The most files of a table that are open at a time.
const OPEN: usize = 256;

/// The files of one side, by their numbers. Reads and writes are positional, so threads share a file.
pub(crate) struct FileTable {
    paths: Vec<PathBuf>,
    open: Mutex<BTreeMap<usize, Arc<File>>>,
    written: bool,
}

impl FileTable {
    pub(crate) fn new(paths: Vec<PathBuf>, written: bool) -> FileTable {
        FileTable { paths, open: Mutex::default(), written }
    }

    /// Returns the name of a file, without its folder.
    pub(crate) fn name(&self, number: usize) -> String {
        self.paths.get(number).map_or_else(String::new, |path| shown(path))
    }

    /// Returns a file, and opens it if necessary. If too many are open, the table drops another one, which closes after
    /// its last use.
    pub(crate) fn open(&self, number: usize) -> Result<(Arc<File>, &Path), Error> {
        let path = self.paths.get(number).ok_or_else(|| Error::new("io", "no such file"))?;
        let mut open = self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(file) = open.get(&number) {
            return Ok((file.clone(), path));
        }
        if open.len() >= OPEN {
            open.pop_first();
        }
        let file = OpenOptions::new().read(true).write(self.written).open(path);
        let file = Arc::new(file.map_err(|cause| error::io(path, "open", &cause))?);
        open.insert(number, file.clone());
        Ok((file, path))
    }

    /// Syncs these files to the disk. This includes writes through other handles, even closed ones.
    pub(crate) fn sync(&self, numbers: &mut BTreeSet<usize>) -> Result<(), Error> {
        for number in std::mem::take(numbers) {
            let (file, path) = self.open(number)?;
            disk::sync_data(&file).map_err(|cause| error::io(path, "sync", &cause))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three hundred files are written in turns, and 256 of them are open.
    #[test]
    fn few_files_are_open() {
        let folder = tilewright_testing::folder();
        let paths: Vec<PathBuf> = (0..300).map(|n| folder.path().join(n.to_string())).collect();
        paths.iter().for_each(|path| std::fs::write(path, [0; 2]).unwrap());
        let (table, mut written) = (FileTable::new(paths.clone(), true), BTreeSet::new());
        for turn in 0..2u8 {
            for number in 0..paths.len() {
                let (file, _) = table.open(number).unwrap();
                tilewright_transfer::write_at(&file, &[number as u8], turn.into()).unwrap();
                written.insert(number);
                assert!(table.open.lock().unwrap().len() <= OPEN);
            }
        }
        table.sync(&mut written).unwrap();
        assert!(written.is_empty());
        for (number, path) in paths.iter().enumerate() {
            assert_eq!(std::fs::read(path).unwrap(), [number as u8; 2]);
        }
        assert!(table.open(300).is_err() && table.name(7) == "7");
    }
}
