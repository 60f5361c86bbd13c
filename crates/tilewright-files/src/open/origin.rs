//! The source of a tensor's bytes: an open file, memory of the caller, or bytes computed on demand. Readers and comparisons use
//! it.

use std::{fmt, panic::RefUnwindSafe, path::Path};

use crate::{
    Error, error,
    layout::{element_layout::ElementLayout, gathered::Gathered},
    open::source::Source,
};

/// A source from which bytes are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    File(&'a Source),
    /// The bytes of one array, and the path of the result made from them, for messages.
    Memory(&'a [u8], &'a Path),
    /// The dense elements of a tensor with index tables, which begins at a byte of a file.
    Gathered(&'a Source, u64, &'a Gathered),
    /// Bytes that are computed when they are read.
    Made(&'a dyn Made),
}

/// Bytes that are computed from others when they are read. After a panic they are still valid, like those of files.
pub(crate) trait Made: Send + Sync + RefUnwindSafe {
    /// Fills `bytes` from byte `at` on.
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error>;

    /// Returns the path of the file from which they are computed, for messages.
    fn path(&self) -> &Path;

    /// Returns the file that has byte `at` and the following ones unchanged, and their position in it.
    fn in_file(&self, at: u64) -> Option<(&Source, u64)> {
        let _ = at;
        None
    }
}

impl fmt::Debug for dyn Made + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Made({})", self.path().display())
    }
}

impl<'a> Origin<'a> {
    /// Returns the path that a message names.
    pub(crate) fn path(&self) -> &'a Path {
        match self {
            Origin::File(source) | Origin::Gathered(source, ..) => source.path(),
            Origin::Memory(_, path) => path,
            Origin::Made(made) => made.path(),
        }
    }

    /// Returns all bytes, if they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&'a [u8]> {
        match self {
            Origin::File(_) | Origin::Gathered(..) | Origin::Made(_) => None,
            Origin::Memory(bytes, _) => Some(bytes),
        }
    }

    /// Returns whether both are the same open file, so that bytes of both may be copied in one call.
    pub(crate) fn is_file_of(&self, other: &Origin<'_>) -> bool {
        matches!((self, other), (Origin::File(one), Origin::File(other)) if std::ptr::eq(*one, *other))
    }

    /// Returns the tensor with this layout that begins at byte `at` as an array with shape and strides, with its position and
    /// length: itself, or its dense elements if it has index tables.
    pub(crate) fn in_rows(
        self,
        held: &'a ElementLayout,
        (at, len): (u64, u64),
    ) -> Result<(Origin<'a>, &'a ElementLayout, (u64, u64)), Error> {
        match (held.tables(), self) {
            (None, origin) => Ok((origin, held, (at, len))),
            (Some(tables), Origin::File(source)) => {
                Ok((Origin::Gathered(source, at, tables), held.rows(), (0, tables.len())))
            }
            (Some(_), origin) => Err(error::usage(format!(
                "{}: arrays in memory cannot have index tables",
                origin.path().display()
            ))),
        }
    }

    /// Returns for each dim whether only all of its indices are contiguous in the file; empty if no index table scatters them.
    pub(crate) fn scattered(&self) -> &'a [bool] {
        match self {
            Origin::Gathered(_, _, tables) => tables.scattered(),
            Origin::File(_) | Origin::Memory(..) | Origin::Made(_) => &[],
        }
    }

    /// Returns an error if a file was changed since it was opened; borrowed memory does not change.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Origin::File(source) | Origin::Gathered(source, ..) => source.check_unchanged(),
            Origin::Memory(..) | Origin::Made(_) => Ok(()),
        }
    }

    /// Reverses the numbers of `unit` bytes in `bytes`, which begin at byte `from` of the tensor of this name.
    pub(crate) fn reverse(
        &self,
        name: &str,
        bytes: &mut [u8],
        (from, unit): (u64, usize),
    ) -> Result<(), Error> {
        if unit == 1 {
            return Ok(());
        }
        if !from.is_multiple_of(unit as u64) || !bytes.len().is_multiple_of(unit) {
            let said = format!("tensor {name:?} must be read in whole elements");
            return Err(error::unsupported(self.path(), said));
        }
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        Ok(())
    }

    /// Fills `bytes` from byte `at` on.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        match self {
            Origin::File(source) => source.read(bytes, at),
            Origin::Gathered(source, from, tables) => tables.read((source, *from), bytes, at),
            Origin::Made(made) => made.read(bytes, at),
            Origin::Memory(..) => {
                bytes.copy_from_slice(self.part(at, bytes.len() as u64)?);
                Ok(())
            }
        }
    }

    /// Returns some of the bytes in memory; an error for a file.
    pub(crate) fn part(&self, at: u64, len: u64) -> Result<&'a [u8], Error> {
        let end = at.saturating_add(len);
        let part =
            |bytes: &'a [u8]| bytes.get(usize::try_from(at).ok()?..usize::try_from(end).ok()?);
        self.in_memory().and_then(part).ok_or_else(|| {
            error::usage(format!(
                "{}: bytes {at} to {end} are not in memory",
                self.path().display()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_within_its_bounds() {
        let origin = Origin::Memory(&[1, 2, 3], Path::new("out"));
        let mut two = [0; 2];
        origin.read(&mut two, 1).unwrap();
        assert_eq!(two, [2, 3]);
        for at in [2, 3, u64::MAX] {
            let error = origin.read(&mut two, at).unwrap_err().to_string();
            assert!(error.starts_with("out: bytes"), "{error}");
        }
        assert!(!origin.is_file_of(&origin) && origin.part(0, 3).is_ok());
    }
}
