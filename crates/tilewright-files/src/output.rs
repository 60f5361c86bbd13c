//! A file that is being written: bytes in order, with progress and interruption.

use std::path::Path;

use flate2::Crc;

use crate::{
    Error, Watch,
    budget::{Budget, Buffer},
    container::Section,
    shares::of_output,
    sink::Sink,
    source::Source,
    watch::go_on,
};

/// The most bytes written between two looks at the watch.
const STEP: u64 = 8 << 20;

/// The bytes between two calls that tell the system to write to the disk what is final.
const FINAL: u64 = 32 << 20;

/// The output of one target.
pub(crate) struct Output<'a> {
    sink: Box<dyn Sink + 'a>,
    path: &'a Path,
    watch: &'a dyn Watch,
    budget: &'a Budget,
    through: Option<Buffer<'a>>,
    /// The checksum of what is written, while one is made, and those that are made.
    sum: Option<Crc>,
    sums: Vec<u32>,
    written: u64,
    begun: u64,
}

impl<'a> Output<'a> {
    pub(crate) fn new(
        sink: Box<dyn Sink + 'a>,
        path: &'a Path,
        watch: &'a dyn Watch,
        budget: &'a Budget,
    ) -> Output<'a> {
        let (through, sum, sums) = (None, None, Vec::new());
        Output { sink, path, watch, budget, through, sum, sums, written: 0, begun: 0 }
    }

    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    /// An error if the watcher asked to stop.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        go_on(self.watch)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for step in bytes.chunks(STEP as usize) {
            self.go_on()?;
            self.sink.write(step).map_err(|cause| Error::io(self.path, "write", cause))?;
            if let Some(sum) = &mut self.sum {
                sum.update(step);
            }
            self.advance(step.len() as u64);
        }
        Ok(())
    }

    /// Appends what belongs to no tensor.
    pub(crate) fn section(&mut self, section: &Section) -> Result<(), Error> {
        match section {
            Section::Bytes(bytes) => self.write(bytes)?,
            Section::Zeros(len) => self.zeros(*len)?,
            Section::Begin => self.sum = Some(Crc::new()),
            Section::End => self.sums.extend(self.sum.take().map(|sum| sum.sum())),
            Section::Late(_, make) => {
                let bytes = make(&self.sums);
                self.write(&bytes)?;
            }
            Section::Tensor(_) => {}
        }
        Ok(())
    }

    /// Appends zeros.
    fn zeros(&mut self, mut len: u64) -> Result<(), Error> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while len > 0 {
            let step = len.min(ZEROS.len() as u64);
            self.write(&ZEROS[..step as usize])?;
            len -= step;
        }
        Ok(())
    }

    /// Appends the bytes `at..at + len` of a file.
    pub(crate) fn copy(&mut self, from: &Source, mut at: u64, len: u64) -> Result<(), Error> {
        let end = at.saturating_add(len);
        // A checksum is made of bytes in memory.
        if self.sum.is_some() {
            return self.copy_through(from, at, end);
        }
        while at < end {
            self.go_on()?;
            let step = (end - at).min(STEP);
            let copied = self.sink.copy(from.file(), at, step);
            let copied = copied.map_err(|cause| Error::io(self.path, "write", cause))?.min(step);
            if copied == 0 {
                return self.copy_through(from, at, end);
            }
            self.advance(copied);
            at += copied;
        }
        Ok(())
    }

    /// The same through a buffer.
    fn copy_through(&mut self, from: &Source, mut at: u64, end: u64) -> Result<(), Error> {
        let mut through = match self.through.take() {
            Some(buffer) => buffer,
            None => self.budget.buffer(of_output(self.budget.limit()))?,
        };
        while at < end {
            let step = (end - at).min(through.len() as u64) as usize;
            let Some(bytes) = through.get_mut(..step) else { break };
            from.read(bytes, at)?;
            self.write(bytes)?;
            at += step as u64;
        }
        self.through = Some(through);
        Ok(())
    }

    fn advance(&mut self, bytes: u64) {
        self.watch.advance(bytes);
        self.written += bytes;
        if self.written - self.begun >= FINAL {
            self.sink.begin(self.begun, self.written - self.begun);
            self.begun = self.written;
        }
    }

    /// The last checksum that was made.
    pub(crate) fn last_sum(&self) -> Option<u32> {
        self.sums.last().copied()
    }

    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.sink.sync().map_err(|cause| Error::io(self.path, "bring it to the disk", cause))
    }
}
