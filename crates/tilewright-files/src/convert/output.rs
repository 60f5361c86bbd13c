//! A file or a stream that is being written: bytes in order, or within a room in any order, with progress and cancellation. The
//! pipeline writes to it.

use std::{collections::BTreeMap, fs::File, io, path::Path};

use flate2::Crc;
use tilewright_fingerprint::Fingerprint;
use tilewright_relayout::Write;

use crate::{
    Error, Watch,
    commit::disk,
    container::Section,
    convert::{
        budget::{Budget, Buffer},
        shares::of_output,
    },
    error,
    open::origin::Origin,
};

/// The largest number of bytes written between two calls of the watcher.
const STEP: u64 = 8 << 20;

/// The number of bytes of padding that are written at once.
const ZEROS: usize = 4096;

/// The number of bytes between two calls that ask the system to write final bytes to the disk.
const FINAL: u64 = 32 << 20;

/// The output of one target.
pub(crate) struct Output<'a> {
    sink: Box<dyn Sink + 'a>,
    path: &'a Path,
    watch: &'a dyn Watch,
    budget: &'a Budget,
    through: Option<Buffer>,
    /// The checksum of written bytes while it is being made, and finished ones.
    sum: Option<Crc>,
    sums: Vec<u32>,
    /// Fingerprints of data, by the numbers of jobs.
    data: BTreeMap<usize, Fingerprint>,
    /// Positions of written fingerprints, their jobs, and the values that were written.
    early: Vec<(u64, usize, Fingerprint)>,
    written: u64,
    begun: u64,
    room: Room,
}

/// A part of the file that is written in any order.
#[derive(Default)]
struct Room {
    at: u64,
    len: u64,
    /// The number of bytes reported to the watcher.
    told: u64,
}

impl<'a> Output<'a> {
    pub(crate) fn new(
        sink: Box<dyn Sink + 'a>,
        path: &'a Path,
        watch: &'a dyn Watch,
        budget: &'a Budget,
    ) -> Output<'a> {
        let (through, sum, sums) = (None, None, Vec::new());
        let (data, early) = (BTreeMap::new(), Vec::new());
        let room = Room::default();
        Output {
            sink,
            path,
            watch,
            budget,
            through,
            sum,
            sums,
            data,
            early,
            written: 0,
            begun: 0,
            room,
        }
    }

    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    /// Returns an error if the watcher cancels.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        self.watch.check_cancelled()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for step in bytes.chunks(STEP as usize) {
            self.watch.check_cancelled()?;
            self.sink.write(step).map_err(|cause| error::io(self.path, "write", cause))?;
            if let Some(sum) = &mut self.sum {
                sum.update(step);
            }
            self.advance(step.len() as u64);
        }
        Ok(())
    }

    /// Appends a section that does not belong to a tensor.
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
            Section::Data(number) => self.data(*number)?,
            Section::Tensor(_) => {}
        }
        Ok(())
    }

    /// Adds a part of the data that the job of this number reads to its fingerprint.
    pub(crate) fn summed(&mut self, number: usize, part: Fingerprint) {
        *self.data.entry(number).or_default() += part;
    }

    /// Returns the fingerprints of the summed data, by the numbers of their jobs.
    pub(crate) fn fingerprints(&self) -> &BTreeMap<usize, Fingerprint> {
        &self.data
    }

    fn data(&mut self, number: usize) -> Result<(), Error> {
        let known = self.data.get(&number).copied().unwrap_or_default();
        self.early.push((self.written, number, known));
        self.write(known.to_string().as_bytes())
    }

    /// Overwrites fingerprints that were not known when they were written.
    pub(crate) fn complete(&mut self) -> Result<(), Error> {
        for (at, number, written) in std::mem::take(&mut self.early) {
            let known = self.data.get(&number).copied().unwrap_or_default();
            if known != written {
                let placed = self.sink.place(known.to_string().as_bytes(), at);
                placed.map_err(|cause| error::io(self.path, "write", cause))?;
            }
        }
        Ok(())
    }

    /// Appends zeros.
    fn zeros(&mut self, mut len: u64) -> Result<(), Error> {
        while len > 0 {
            let step = len.min(ZEROS as u64);
            self.write(&[0; ZEROS][..step as usize])?;
            len -= step;
        }
        Ok(())
    }

    /// Appends the bytes `at..at + len` of a source.
    pub(crate) fn copy(&mut self, from: Origin<'_>, mut at: u64, len: u64) -> Result<(), Error> {
        let end = at.saturating_add(len);
        let file = match from {
            Origin::Memory(..) => return self.write(from.part(at, len)?),
            Origin::Gathered(..) | Origin::Made(_) => return self.copy_through(from, at, end),
            // A checksum needs the bytes in memory.
            Origin::File(_) if self.sum.is_some() => return self.copy_through(from, at, end),
            Origin::File(source) => match source.file() {
                Some(file) => file,
                None => return self.copy_through(from, at, end),
            },
        };
        while at < end {
            self.watch.check_cancelled()?;
            let step = (end - at).min(STEP);
            let copied = self.sink.copy(file, at, step);
            let copied = copied.map_err(|cause| error::io(self.path, "write", cause))?.min(step);
            if copied == 0 {
                return self.copy_through(from, at, end);
            }
            self.advance(copied);
            at += copied;
        }
        Ok(())
    }

    /// Returns the buffer for copies through memory.
    fn through(&mut self) -> Result<Buffer, Error> {
        match self.through.take() {
            Some(held) => Ok(held),
            None => Ok(self.budget.buffer(of_output(self.budget.limit()))?),
        }
    }

    /// Appends bytes of a source through a buffer.
    fn copy_through(&mut self, from: Origin<'_>, mut at: u64, end: u64) -> Result<(), Error> {
        let mut through = self.through()?;
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

    /// Returns whether parts of the file can be written in any order.
    pub(crate) fn is_placed(&self) -> bool {
        self.sink.is_placed()
    }

    /// Makes room for `len` bytes, which hold elements of these bytes until others are [placed](Output::place) there.
    pub(crate) fn room(&mut self, len: u64, element: &[u8]) -> Result<(), Error> {
        self.room = Room { at: self.written, len, told: 0 };
        let failed = |cause| error::io(self.path, "write", cause);
        if element.iter().all(|byte| *byte == 0) {
            return self.sink.extend(self.written + len).map_err(failed);
        }
        let many = element.repeat((ZEROS / element.len()).max(1));
        let mut left = len;
        while left > 0 {
            self.watch.check_cancelled()?;
            let step = left.min(many.len() as u64);
            self.sink.write(&many[..step as usize]).map_err(failed)?;
            left -= step;
        }
        Ok(())
    }

    /// Writes bytes at their places in the room.
    pub(crate) fn place(
        &mut self,
        bytes: &[u8],
        writes: impl Iterator<Item = Write>,
    ) -> Result<(), Error> {
        self.watch.check_cancelled()?;
        let failed = |cause| error::io(self.path, "write", cause);
        for Write { dst, len, at } in writes {
            let end = dst.saturating_add(len as u64);
            let bytes = bytes.get(at..at + len).filter(|_| end <= self.room.len);
            let outside =
                || io::Error::other(format!("byte {end} of a tensor of {}", self.room.len));
            let bytes = bytes.ok_or_else(outside).map_err(failed)?;
            self.sink.place(bytes, self.room.at + dst).map_err(failed)?;
        }
        let told = self.room.told.saturating_add(bytes.len() as u64).min(self.room.len);
        self.watch.advance(told - self.room.told);
        self.room.told = told;
        Ok(())
    }

    /// Ends the room: its bytes are added to the checksum.
    pub(crate) fn placed(&mut self) -> Result<(), Error> {
        let Room { at, len, told } = std::mem::take(&mut self.room);
        if let Some(mut sum) = self.sum.take() {
            let mut through = self.through()?;
            let (mut from, end) = (at, at + len);
            while from < end {
                self.watch.check_cancelled()?;
                let step = (end - from).min(through.len() as u64) as usize;
                let Some(bytes) = through.get_mut(..step) else { break };
                let read = self.sink.read_back(bytes, from);
                read.map_err(|cause| error::io(self.path, "read back", cause))?;
                sum.update(bytes);
                from += step as u64;
            }
            (self.sum, self.through) = (Some(sum), Some(through));
        }
        self.watch.advance(len - told);
        self.wrote(len);
        Ok(())
    }

    fn advance(&mut self, bytes: u64) {
        self.watch.advance(bytes);
        self.wrote(bytes);
    }

    fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
        if self.written - self.begun >= FINAL {
            self.sink.begin(self.begun, self.written - self.begun);
            self.begun = self.written;
        }
    }

    /// Returns the last finished checksum.
    pub(crate) fn last_sum(&self) -> Option<u32> {
        self.sums.last().copied()
    }

    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.sink.sync().map_err(|cause| error::io(self.path, "flush it to the disk", cause))
    }
}

/// The number of bytes of one write to a file. The system copies them into pages of its cache, which it allocates anew for each
/// write: pieces of this size get small pages that were used recently, and the bytes are still in the processor's own cache.
const PIECE: usize = 32 << 10;

/// A destination of bytes: in order or, if possible, at any place, then on the disk.
pub(crate) trait Sink {
    /// Writes all of `bytes` behind those written before.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Appends at most `len` bytes of a file from byte `at` on, without copying them through this process; returns their number,
    /// or 0 if that is not possible.
    fn copy(&mut self, from: &File, at: u64, len: u64) -> io::Result<u64> {
        let _ = (from, at, len);
        Ok(0)
    }

    /// Returns true if bytes may be written to any place of the file, and read back.
    fn is_placed(&self) -> bool {
        false
    }

    /// Makes the file `len` bytes long, with zeros at its end. The next write begins after them.
    fn extend(&mut self, len: u64) -> io::Result<()> {
        let _ = len;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all of `bytes` from byte `at` of the file on, over existing bytes.
    fn place(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let _ = (bytes, at);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fills `bytes` with those of the file from byte `at` on.
    fn read_back(&mut self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let _ = (bytes, at);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Declares the bytes `at..at + len` final, so that the system may begin to write them to the disk.
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

    fn copy(&mut self, from: &File, at: u64, len: u64) -> io::Result<u64> {
        disk::copy(self, from, at, len)
    }

    #[cfg(target_os = "linux")]
    fn begin(&mut self, at: u64, len: u64) {
        // Linux begins to write dirty pages that are not needed, and keeps those whose writing has begun.
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

/// A stream, which is written in order and never read back, so the system cannot copy to it from file to file.
pub(crate) struct Stream<'a>(pub(crate) &'a mut dyn io::Write);

impl Sink for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Makes a sink of a new file.
pub(crate) type Wrap<'a> = &'a dyn Fn(File) -> Box<dyn Sink>;

/// Returns the file itself as a sink; tests use others.
pub(crate) fn plain(file: File) -> Box<dyn Sink> {
    Box::new(file)
}
