//! Where output bytes go: a file, which takes them in any order, a stream, or, in tests, something that fails at a chosen byte.

use std::{
    fs::File,
    io::{self, Write},
};

use crate::disk;

/// The bytes of one write to a file. The system copies them into pages of its cache, which it takes
/// anew for each write: pieces of this size get small pages that were in use a moment ago, and the
/// bytes are still in the processor's own cache.
const PIECE: usize = 32 << 10;

/// Bytes in order, or where that is possible at any place, then on the disk.
pub(crate) trait Sink {
    /// Writes all of `bytes` behind what was written before.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Appends at most `len` bytes of a file from byte `at` on, without taking them through this
    /// process: how many they were, or 0 if that cannot be done here.
    fn copy(&mut self, from: &File, at: u64, len: u64) -> io::Result<u64> {
        let _ = (from, at, len);
        Ok(0)
    }

    /// Whether bytes may go to any place of the file, and be read back.
    fn is_placed(&self) -> bool {
        false
    }

    /// Makes the file `len` bytes long, with zeros at its end; what is written next goes behind them.
    fn extend(&mut self, len: u64) -> io::Result<()> {
        let _ = len;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all of `bytes` from byte `at` of the file on, where it has bytes already.
    fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let _ = (bytes, at);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fills `bytes` with what the file has from byte `at` on.
    fn read_back(&mut self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let _ = (bytes, at);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Says that the bytes `at..at + len` are final, so that their way to the disk may begin.
    fn begin(&mut self, at: u64, len: u64) {
        let _ = (at, len);
    }

    /// Returns when everything is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Sink for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(PIECE).try_for_each(|piece| disk::write(self, piece))
    }

    #[cfg(target_os = "linux")]
    fn copy(&mut self, from: &File, mut at: u64, len: u64) -> io::Result<u64> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(from, Some(&mut at), &*self, None, len) {
            Ok(copied) => Ok(copied as u64),
            // Across file systems, on old systems, on strange ones: whoever asked copies by hand, and
            // hears then of what is wrong with the files.
            Err(full @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) => Err(full.into()),
            Err(_) => Ok(0),
        }
    }

    #[cfg(target_os = "linux")]
    fn begin(&mut self, at: u64, len: u64) {
        // Linux begins to write dirty pages that are not needed, and keeps those under way.
        if let Some(len) = std::num::NonZeroU64::new(len) {
            let _ = rustix::fs::fadvise(&*self, at, Some(len), rustix::fs::Advice::DontNeed);
        }
    }

    fn is_placed(&self) -> bool {
        true
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        disk::extend(self, len)
    }

    fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        disk::place(self, bytes, at)
    }

    fn read_back(&mut self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        tilewright_transfer::read_at(self, bytes, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        disk::sync(self)
    }
}

/// What is written in order and never read back: nothing can be copied to it from file to file, and
/// nobody asks for its disk.
pub(crate) struct Stream<'a>(pub(crate) &'a mut dyn Write);

impl Sink for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// How a file just created becomes a sink.
pub(crate) type Wrap<'a> = &'a dyn Fn(File) -> Box<dyn Sink>;

/// The sink of production: the file itself.
pub(crate) fn plain(file: File) -> Box<dyn Sink> {
    Box::new(file)
}
