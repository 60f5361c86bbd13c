//! Reads, moves and writes at the same time: workers make pieces, and the calling thread writes them in order. Each file of a
//! conversion is written by it.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use tilewright_transfer::{Limits, beside};

use crate::{
    Action, Conversion, Error,
    container::Section,
    convert::{
        budget::{Budget, Buffer},
        output::Output,
        shares::Shares,
        work::{Pass, Queue},
        worker::{Command, Message, PipelineWorker, WorkerContext},
    },
    error,
};

/// The longest time between two calls of the watcher if no message arrives.
const PATIENCE: Duration = Duration::from_millis(50);

/// Writes the sections of a file.
pub(crate) fn write(
    conversion: &Conversion<'_>,
    (sections, pass): (&[Section], Pass),
    output: &mut Output<'_>,
    limits: &Limits<'_>,
) -> Result<(), Error> {
    let (budget, is_remote) = (limits.budget(), conversion.source.is_remote());
    let twice = is_remote && conversion.jobs.iter().any(|job| job.record.is_read());
    let keeping = twice.then(|| budget.share(budget.limit() / 2));
    let left = budget.limit() - keeping.as_ref().map_or(0, Budget::limit);
    let converted = conversion.jobs.iter().filter(|job| job.action == Action::Convert);
    let lengths = converted.map(|job| job.bytes_in);
    let shares = Shares::of_source(left, is_remote.then_some(lengths));
    let queue = (shares, keeping);
    let queue = Queue::new(conversion, sections, queue, (output.is_placed(), pass));
    let queue = Mutex::new(queue);
    let stop = AtomicBool::new(false);
    let context = WorkerContext { queue: &queue, stop: &stop, shares, pool: limits.pool(), budget };
    let (homes, commands, seats) = seats(shares.workers);
    let work = |number: usize| {
        let seat = seats.get(number).and_then(|seat| locked(seat).take());
        if let Some((say, home)) = seat {
            PipelineWorker::new(&context, number, say, home).run();
        }
    };
    let written = beside(shares.workers, work, |started| {
        let written = started
            .map_err(|cause| error::io(output.path(), "start a thread", cause))
            .and_then(|()| in_order(&commands, &homes, output));
        stop.store(true, Ordering::Relaxed);
        // A worker that waits for a buffer ends.
        drop((homes, commands));
        written
    })?;
    let taken = locked(&queue).taken();
    if written < taken {
        let cause = io::Error::other(format!("{written} of {taken} parts were made"));
        return Err(error::io(output.path(), "finish it", cause));
    }
    Ok(())
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The channel of a worker to the writer, and that from which its buffers return.
type Seat<'c> = Mutex<Option<(Sender<Message<'c>>, Receiver<Buffer>)>>;

/// Returns the channels of the workers: those that carry buffers back to them, that of their messages, and those that each takes.
fn seats<'c>(workers: usize) -> (Vec<Sender<Buffer>>, Receiver<Message<'c>>, Vec<Seat<'c>>) {
    let (say, commands) = channel();
    let seat = |_| {
        let (back, home) = channel();
        (back, Mutex::new(Some((say.clone(), home))))
    };
    let (homes, seats) = (0..workers).map(seat).unzip();
    (homes, commands, seats)
}

/// Writes the messages of the workers, in the order of their numbers, until all workers have ended; returns the number of batches.
fn in_order(
    commands: &Receiver<Message<'_>>,
    homes: &[Sender<Buffer>],
    output: &mut Output<'_>,
) -> Result<u64, Error> {
    let (mut next, mut early) = (0, BTreeMap::<u64, VecDeque<Message<'_>>>::new());
    loop {
        while let Some(message) = early.get_mut(&next).and_then(VecDeque::pop_front) {
            match message.command {
                Command::Piece(buffer, len) => {
                    output.write(buffer.get(..len).unwrap_or_default())?;
                    // A worker that has ended does not need its buffers.
                    let _ = homes.get(message.worker).map(|home| home.send(buffer));
                }
                Command::Reserve(len, element) => output.room(len, &element)?,
                Command::Tile(buffer, tile, list) => {
                    output
                        .place(buffer.get(..tile.dst_len()).unwrap_or_default(), tile.writes())?;
                    drop((tile, list));
                    let _ = homes.get(message.worker).map(|home| home.send(buffer));
                }
                Command::Placed => output.placed()?,
                Command::Section(section) => output.section(section)?,
                Command::Sum(number, sum) => output.summed(number, sum),
                Command::Copy { source, at, len } => output.copy(source, at, len)?,
                Command::Failed(error) => return Err(error),
                Command::Done => {
                    early.remove(&next);
                    next += 1;
                }
            }
        }
        match commands.recv_timeout(PATIENCE) {
            Ok(message) => early.entry(message.number).or_default().push_back(message),
            Err(RecvTimeoutError::Timeout) => output.check_cancelled()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(next),
        }
    }
}
