//! Bytes of files at positions, and ranges of buffers.

use std::{fs::File, io};

/// A range of a buffer; an error where it is not there.
pub(crate) fn part(bytes: &mut [u8], from: u64, len: u64) -> io::Result<&mut [u8]> {
    let range = usize::try_from(from).ok().zip(usize::try_from(from + len).ok());
    let found = range.and_then(|(from, to)| bytes.get_mut(from..to));
    found.ok_or_else(|| io::Error::other(format!("bytes {from} + {len} beyond a buffer")))
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)
}
