//! A worker: one of the threads that read the input and move elements, with its buffers. The pipeline starts them.
//!
//! A worker owns its buffers; a piece that was queued for the file returns to its worker after it is written. So a worker never waits
//! for the memory of another worker, only for the file.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, Sender},
};

use tilewright_fingerprint::Fingerprint;
use tilewright_relayout::{Chunk, Read, Tile};
use tilewright_transfer::{Failed, Pool, Refused, chunks, fetch};

use crate::{
    Error,
    container::Section,
    convert::{
        budget::{Budget, Buffer, Reservation},
        shares::{Shares, list_bytes},
        work::{ConvertedTensor, Queue, Summed, Work},
    },
    error,
    open::origin::Origin,
};

/// A command of a worker to the writer of the file.
pub(crate) enum Command<'c> {
    /// Writes the first bytes of a buffer, which then returns to the worker.
    Piece(Buffer, usize),
    /// Writes a section that does not belong to a tensor.
    Section(&'c Section),
    /// Makes room for this number of bytes, which hold elements of these bytes until tiles are written.
    Reserve(u64, Vec<u8>),
    /// Writes the buffer of a tile, which has memory for its list of reads.
    Tile(Buffer, Tile, Reservation),
    /// Ends the tiles of this room.
    Placed,
    /// Copies bytes of the input unchanged.
    Copy { source: Origin<'c>, at: u64, len: u64 },
    /// Adds the sum of a window of the data that the job of this number reads.
    Sum(usize, Fingerprint),
    /// Ends the batch of this number.
    Done,
    /// Reports an error of the worker.
    Failed(Error),
}

/// A command of a worker, with the number of its batch.
pub(crate) struct Message<'c> {
    pub(crate) worker: usize,
    pub(crate) number: u64,
    pub(crate) command: Command<'c>,
}

/// The reason why a worker ends early.
pub(crate) enum End {
    /// The writer has stopped.
    Stopped,
    Failed(Error),
}

impl From<Refused> for End {
    fn from(refused: Refused) -> End {
        End::Failed(refused.into())
    }
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// The state that all workers share.
pub(crate) struct WorkerContext<'c, 'b> {
    pub(crate) queue: &'b Mutex<Queue<'c>>,
    pub(crate) stop: &'b AtomicBool,
    pub(crate) shares: Shares,
    pub(crate) pool: &'b Pool,
    pub(crate) budget: &'b Budget,
}

pub(crate) struct PipelineWorker<'c, 'b> {
    context: &'b WorkerContext<'c, 'b>,
    worker: usize,
    number: u64,
    out: Sender<Message<'c>>,
    home: Receiver<Buffer>,
    src: Option<Buffer>,
    /// The piece that is being filled, and the number of its filled bytes.
    piece: Option<(Buffer, usize)>,
    idle: Vec<Buffer>,
    /// The number of pieces that wait to be written.
    away: usize,
    /// The length of new pieces.
    slot: u64,
}

impl<'c, 'b> PipelineWorker<'c, 'b> {
    pub(crate) fn new(
        context: &'b WorkerContext<'c, 'b>,
        worker: usize,
        out: Sender<Message<'c>>,
        home: Receiver<Buffer>,
    ) -> Self {
        let (src, piece, idle) = (None, None, Vec::new());
        PipelineWorker { context, worker, number: 0, out, home, src, piece, idle, away: 0, slot: 0 }
    }

    /// Takes work until none is left.
    pub(crate) fn run(mut self) {
        loop {
            let taken = self.context.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some((number, batch)) = taken else { return };
            self.number = number;
            let command = match batch.map_err(End::Failed).and_then(|batch| self.batch(batch)) {
                Ok(()) => Command::Done,
                Err(End::Failed(error)) => Command::Failed(error),
                Err(End::Stopped) => return,
            };
            let failed = matches!(command, Command::Failed(_));
            if self.send_command(command).is_err() || failed {
                return;
            }
        }
    }

    fn batch(&mut self, batch: Vec<Work<'c>>) -> Result<(), End> {
        for work in batch {
            match work {
                Work::Section(section) => {
                    self.send()?;
                    self.send_command(Command::Section(section))?;
                }
                Work::Copy { source, at, len, kept } if self.context.shares.is_remote => {
                    self.go_on()?;
                    self.src = Some(self.source(0, 0, len)?);
                    let bytes = self.room(len as usize)?;
                    match kept {
                        Some(kept) => kept.read(source, bytes, at)?,
                        None => source.read(bytes, at)?,
                    }
                }
                Work::Copy { source, at, len, .. } => {
                    self.send()?;
                    self.send_command(Command::Copy { source, at, len })?;
                }
                Work::Whole(part) => self.whole(&part)?,
                Work::Range(part, range) => self.range(&part, range)?,
                Work::Room(part) => {
                    self.send()?;
                    self.send_command(Command::Reserve(part.plan.dst_bytes(), part.fill()))?;
                }
                Work::Tile(part, tile) => self.tile(&part, tile)?,
                Work::Placed => self.send_command(Command::Placed)?,
                Work::Sum(summed) => self.sum(&summed)?,
            }
        }
        self.send()
    }

    fn whole(&mut self, part: &ConvertedTensor<'_>) -> Result<(), End> {
        let (plan, piece) = (&part.plan, self.context.shares.piece);
        let needed = if part.lent().is_some() { 0 } else { plan.src_bytes() };
        let mut src = self.source(needed, 0, piece.min(plan.dst_bytes()))?;
        if let Some(bytes) = part.lent() {
            self.src = Some(src);
            return self.moved(part, bytes);
        }
        let len = plan.src_bytes() as usize;
        let bytes = src.get_mut(..len).ok_or_else(|| short(part, len))?;
        self.read(part, bytes, 0)?;
        part.reverse(bytes, 0)?;
        self.moved(part, bytes)?;
        self.src = Some(src);
        Ok(())
    }

    /// Makes the result of a tensor with these bytes, in pieces.
    fn moved(&mut self, part: &ConvertedTensor<'_>, bytes: &[u8]) -> Result<(), End> {
        let (plan, pool) = (&part.plan, self.context.pool);
        for range in plan.ranges(self.context.shares.piece) {
            self.go_on()?;
            let out = self.room((range.end - range.start) as usize)?;
            pool.run_range(plan, range, bytes, out).map_err(|error| part.failed(&error))?;
        }
        Ok(())
    }

    /// Makes a range of the destination, halved while it needs more than the worker may hold.
    fn range(
        &mut self,
        part: &ConvertedTensor<'_>,
        range: std::ops::Range<u64>,
    ) -> Result<(), End> {
        // An element whose bytes are reversed is read whole.
        let (shares, unit) = (self.context.shares, part.job.reversed() as u64);
        let held = |chunk: &Chunk| {
            let range = chunk.range();
            let (src, list) = (chunk.buffer_len() as u64, list_bytes(chunk));
            shares.held(src, list, range.end - range.start)
        };
        let mut take = |chunk: &Chunk| self.chunk(part, chunk).map_err(Failed::Place);
        let done = chunks(&part.plan, range, (unit, shares.share), &held, &mut take);
        done.map_err(|failed| ended(part, failed))
    }

    fn chunk(&mut self, part: &ConvertedTensor<'_>, chunk: &Chunk) -> Result<(), End> {
        let (range, list) = (chunk.range(), list_bytes(chunk));
        let (len, buffer) = (range.end - range.start, chunk.buffer_len());
        let mut src = self.source(buffer as u64, list, len)?;
        let _list = self.context.budget.reserve(list)?;
        self.read_all(part, &mut src, chunk.reads())?;
        let threads = self.context.pool.threads();
        let out = self.room(len as usize)?;
        chunk.run(&src, out, threads).map_err(|error| part.failed(&error))?;
        self.src = Some(src);
        Ok(())
    }

    fn tile(&mut self, part: &ConvertedTensor<'_>, tile: Tile) -> Result<(), End> {
        self.send()?;
        // Tiles that wait to be written keep their lists.
        let (list, all) = (tile.overhead_bytes(), self.context.shares.slots as u64 + 1);
        let lists = list.saturating_mul(all);
        let mut src = self.source(tile.src_len() as u64, lists, tile.dst_len() as u64)?;
        let list = self.context.budget.reserve(list)?;
        self.read_all(part, &mut src, tile.reads())?;
        let out = self.room(tile.dst_len())?;
        tile.run(&src, out).map_err(|error| part.failed(&error))?;
        self.src = Some(src);
        let (buffer, _) = self.piece.take().ok_or(End::Stopped)?;
        self.away += 1;
        self.send_command(Command::Tile(buffer, tile, list))
    }

    /// Reads a window of the source and sums it.
    fn sum(&mut self, summed: &Summed<'_>) -> Result<(), End> {
        self.go_on()?;
        let known = match summed.in_memory()? {
            Some(sum) => Some(sum),
            None => summed.keeping()?,
        };
        if let Some(sum) = known {
            return self.send_command(Command::Sum(summed.number, sum));
        }
        let mut src = self.source(summed.len(), 0, 0)?;
        let bytes = src.get_mut(..summed.len() as usize).ok_or(End::Stopped)?;
        let sum = summed.through(bytes)?;
        self.src = Some(src);
        self.send_command(Command::Sum(summed.number, sum))
    }

    /// Fills a buffer with reads of a tensor.
    fn read_all(
        &self,
        part: &ConvertedTensor<'_>,
        src: &mut [u8],
        reads: impl Iterator<Item = Read>,
    ) -> Result<(), End> {
        let mut read = |bytes: &mut [u8], from: u64| {
            self.read(part, bytes, from)?;
            Ok(part.reverse(bytes, from)?)
        };
        fetch(reads, src, &mut read).map_err(|failed| ended(part, failed))
    }

    fn go_on(&self) -> Result<(), End> {
        if self.context.stop.load(Ordering::Relaxed) { Err(End::Stopped) } else { Ok(()) }
    }

    /// Fills `bytes` from byte `from` of the tensor on.
    fn read(&self, part: &ConvertedTensor<'_>, bytes: &mut [u8], from: u64) -> Result<(), End> {
        let mut at = part.at.saturating_add(from);
        for step in bytes.chunks_mut(self.context.shares.step()) {
            self.go_on()?;
            match &part.kept {
                Some(kept) => kept.read(part.source, step, at)?,
                None => part.source.read(step, at)?,
            }
            at += step.len() as u64;
        }
        Ok(())
    }

    fn send_command(&self, command: Command<'c>) -> Result<(), End> {
        let message = Message { worker: self.worker, number: self.number, command };
        self.out.send(message).map_err(|_| End::Stopped)
    }

    /// Sends the filled bytes.
    fn send(&mut self) -> Result<(), End> {
        match self.piece.take() {
            Some((buffer, filled)) if filled > 0 => {
                self.away += 1;
                self.send_command(Command::Piece(buffer, filled))
            }
            Some((buffer, _)) => {
                self.idle.push(buffer);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Returns the buffer for `len` bytes of source, beside a list of `list` bytes and pieces of `dst`. Buffers only grow, until
    /// they would exceed the share; then all are allocated anew.
    fn source(&mut self, len: u64, list: u64, dst: u64) -> Result<Buffer, End> {
        let had = self.src.as_ref().map_or(0, |src| src.len() as u64);
        let shares = self.context.shares;
        if shares.held(had.max(len), list, self.slot.max(dst)) > shares.share {
            self.send()?;
            while self.away > 0 {
                self.come_home()?;
            }
            (self.src, self.slot) = (None, 0);
            self.idle.clear();
        }
        self.slot = self.slot.max(dst);
        match self.src.take() {
            Some(src) if src.len() as u64 >= len => Ok(src),
            small => {
                drop(small);
                Ok(self.context.budget.buffer(len)?)
            }
        }
    }

    fn come_home(&mut self) -> Result<(), End> {
        let buffer = self.home.recv().map_err(|_| End::Stopped)?;
        self.away -= 1;
        self.idle.push(buffer);
        Ok(())
    }

    /// Returns room for the next `len` bytes of output.
    fn room(&mut self, len: usize) -> Result<&mut [u8], End> {
        if self.piece.as_ref().is_none_or(|(buffer, filled)| buffer.len() - filled < len) {
            self.send()?;
            let buffer = self.slot(len)?;
            self.piece = Some((buffer, 0));
        }
        let (buffer, filled) = self.piece.as_mut().ok_or(End::Stopped)?;
        let from = *filled;
        *filled += len;
        buffer.get_mut(from..from + len).ok_or(End::Stopped)
    }

    /// Returns an empty piece of at least `len` bytes.
    fn slot(&mut self, len: usize) -> Result<Buffer, End> {
        if self.idle.is_empty() && self.away == self.context.shares.slots {
            self.come_home()?;
        }
        match self.idle.pop() {
            Some(buffer) if buffer.len() >= len => Ok(buffer),
            small => {
                drop(small);
                Ok(self.context.budget.buffer(self.slot.max(len as u64))?)
            }
        }
    }
}

/// Returns the end of a worker whose move of a tensor failed.
fn ended(part: &ConvertedTensor<'_>, failed: Failed<End>) -> End {
    let outside = |end| short(part, end as usize).into();
    failed.into_error(|error| part.failed(error).into(), outside)
}

fn short(part: &ConvertedTensor<'_>, len: usize) -> Error {
    error::usage(format!("tensor {:?}: a buffer that is shorter than {len} bytes", part.job.name))
}
