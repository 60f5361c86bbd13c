//! Reads, moves and writes at the same time: workers make pieces, and the calling thread writes them in order. Each file of a
//! conversion is written by it.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, Scope},
    time::Duration,
};

use crate::{
    Conversion, Error,
    container::Section,
    error,
    transfer::{
        budget::{Budget, Buffer},
        output::Output,
        pool::Pool,
        shares::Shares,
        work::{Pass, Queue},
        worker::{Command, Message, PipelineWorker, WorkerContext},
    },
};

/// The longest time between two calls of the watcher if no message arrives.
const PATIENCE: Duration = Duration::from_millis(50);

/// Writes the sections of a file.
pub(crate) fn write(
    conversion: &Conversion<'_>,
    (sections, pass): (&[Section], Pass),
    output: &mut Output<'_>,
    budget: &Budget,
    pool: &Pool,
) -> Result<(), Error> {
    let is_remote = conversion.input.is_remote();
    let twice = is_remote && conversion.jobs.iter().any(|job| job.record.is_read());
    let keeping = twice.then(|| budget.share(budget.limit() / 2));
    let left = budget.limit() - keeping.as_ref().map_or(0, Budget::limit);
    let shares = Shares::of_source(left, is_remote);
    let queue = (shares, keeping);
    let queue = Queue::new(conversion, sections, queue, (output.is_placed(), pass));
    let queue = Mutex::new(queue);
    let stop = AtomicBool::new(false);
    let context = WorkerContext { queue: &queue, stop: &stop, shares, pool, budget };
    let written = thread::scope(|scope| {
        let (say, commands) = channel();
        let homes = workers(scope, &context, say);
        let written = homes
            .map_err(|cause| error::io(output.path(), "start a thread", cause))
            .and_then(|homes| in_order(&commands, &homes, output));
        stop.store(true, Ordering::Relaxed);
        written
    })?;
    let taken = queue.into_inner().unwrap_or_else(PoisonError::into_inner).taken();
    if written < taken {
        let cause = io::Error::other(format!("{written} of {taken} parts were made"));
        return Err(error::io(output.path(), "finish it", cause));
    }
    Ok(())
}

/// Starts the workers; returns the channels that carry buffers back to them.
fn workers<'s, 'c: 's, 'b: 's>(
    scope: &'s Scope<'s, '_>,
    context: &'b WorkerContext<'c, 'b>,
    say: Sender<Message<'c>>,
) -> io::Result<Vec<Sender<Buffer>>> {
    let mut homes = Vec::new();
    for number in 0..context.shares.workers {
        let (back, home) = channel();
        let worker = PipelineWorker::new(context, number, say.clone(), home);
        let name = format!("tilewright-{number}");
        thread::Builder::new().name(name).spawn_scoped(scope, move || worker.run())?;
        homes.push(back);
    }
    Ok(homes)
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
            Err(RecvTimeoutError::Timeout) => output.go_on()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(next),
        }
    }
}
