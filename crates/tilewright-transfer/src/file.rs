//! Positional reads and writes of files. Files are never mapped, so a file that shrinks while it is read causes an
//! error, not a signal.

use std::{fs::File, io};

/// Fills `bytes` from byte `at` of a file.
///
/// # Errors
/// Those of the system; `UnexpectedEof` if the file ends before.
///
/// ```
/// let file = tempfile::tempfile().unwrap();
/// tilewright_transfer::write_at(&file, &[1, 2, 3], 4).unwrap();
/// let mut two = [0; 2];
/// tilewright_transfer::read_at(&file, &mut two, 5).unwrap();
/// assert_eq!(two, [2, 3]);
/// assert!(tilewright_transfer::read_at(&file, &mut two, 6).is_err());
/// ```
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Writes all of `bytes` from byte `at` of a file on; the file's own position does not change.
///
/// # Errors
/// Those of the system.
///
/// ```
/// let file = tempfile::tempfile().unwrap();
/// tilewright_transfer::write_at(&file, &[7], 9).unwrap();
/// assert_eq!(file.metadata().unwrap().len(), 10);
/// ```
#[cfg(unix)]
pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Fills `bytes` from byte `at` of a file.
///
/// # Errors
/// Those of the system; `UnexpectedEof` if the file ends before.
#[cfg(not(unix))]
pub fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Writes all of `bytes` from byte `at` of a file on; the file's own position does not change.
///
/// # Errors
/// Those of the system.
#[cfg(not(unix))]
pub fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    let next = file.stream_position()?;
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.seek(io::SeekFrom::Start(next)).map(|_| ())
}
