//! Where output bytes go: a file, or, in tests, something that fails at a chosen byte.

use std::{
    fs::File,
    io::{self, Write},
};

/// Bytes in order, then on the disk.
pub(crate) trait Sink {
    /// Writes all of `bytes` behind what was written before.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns when everything is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Sink for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// How a file just created becomes a sink.
pub(crate) type Wrap<'a> = &'a dyn Fn(File) -> Box<dyn Sink>;

/// The sink of production: the file itself.
pub(crate) fn plain(file: File) -> Box<dyn Sink> {
    Box::new(file)
}
