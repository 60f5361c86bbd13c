//! Bytes of an array that a plan makes when they are read. Sources of an assembly are such bytes: rows of a stored tensor, rows of
//! a tensor of the result, and elements that narrow. A plan reads one tensor, or several joined into one source.
//!
//! Law: the bytes of a range are those that a run of the whole plan writes there.

use std::{
    panic::AssertUnwindSafe,
    path::Path,
    sync::{Mutex, PoisonError},
};

use tilewright_relayout::Plan;
use tilewright_transfer::{Mover, in_units, part};

use crate::{
    Error,
    assemble::pieces::exact::Exact,
    convert::{
        budget::{Budget, Buffer},
        job::unplanned,
    },
    error,
    open::origin::{Made, Origin},
};

/// The buffers in which threads make bytes. A thread takes a room for each read, and returns it.
#[derive(Debug)]
pub(crate) struct Rooms {
    budget: Budget,
    /// The largest number of bytes of a buffer.
    most: u64,
    idle: Mutex<Vec<Room>>,
}

/// The buffers of one read.
#[derive(Debug)]
struct Room {
    mover: Mover,
    wide: Option<Buffer>,
}

/// The number of rooms that a thread uses at the same time: made bytes may be read from made bytes.
const LEVELS: u64 = 2;

/// The number of buffers of a room: two of the mover, and one for wide elements.
const BUFFERS: u64 = 3;

impl Rooms {
    /// Returns rooms for `threads` threads that read at the same time, within this budget.
    pub(crate) fn new(budget: &Budget, threads: usize) -> Rooms {
        Rooms::within(budget.clone(), (budget.limit(), threads))
    }

    /// Returns rooms for `threads` threads that may use `limit` bytes of this budget.
    pub(crate) fn within(budget: Budget, (limit, threads): (u64, usize)) -> Rooms {
        let most = (limit / (threads.max(1) as u64 * LEVELS * BUFFERS)).max(1);
        Rooms { budget, most, idle: Mutex::default() }
    }

    /// Returns the largest number of bytes that were allocated at the same time.
    pub(crate) fn peak(&self) -> u64 {
        self.budget.peak()
    }

    fn with<T>(&self, work: impl FnOnce(&mut Room) -> Result<T, Error>) -> Result<T, Error> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let made = || Room { mover: Mover::new(&self.budget, self.most), wide: None };
        let mut room = taken.unwrap_or_else(made);
        let done = work(&mut room)?;
        idle().push(room);
        Ok(done)
    }
}

/// The destination of a plan, which makes the bytes that are read.
#[derive(Debug)]
pub(crate) struct Moved<'c> {
    /// The name of the tensor, for messages.
    pub(crate) name: &'c str,
    pub(crate) plan: Plan,
    pub(crate) from: Box<dyn Made + 'c>,
    /// The number of bytes whose order is reversed; 1 for none.
    pub(crate) unit: usize,
    pub(crate) narrow: Option<Narrow<'c>>,
    pub(crate) rooms: &'c Rooms,
}

/// The change of elements of 32 bits, which the plan makes, to those of 16 bits, which are read.
pub(crate) struct Narrow<'c> {
    pub(crate) exact: Exact,
    /// Returns the error of an element that would lose a bit, by its number in the storage.
    pub(crate) lost: AssertUnwindSafe<Lost<'c>>,
}

/// Returns the error of an element by its number.
pub(crate) type Lost<'c> = Box<dyn Fn(u64) -> Error + Send + Sync + 'c>;

impl std::fmt::Debug for Narrow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Narrow({:?})", self.exact)
    }
}

impl Moved<'_> {
    /// Fills `bytes` with those of the plan from byte `at` on.
    fn planned(&self, mover: &mut Mover, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let range = at..at.saturating_add(bytes.len() as u64);
        let mut read = |bytes: &mut [u8], at: u64| self.from.read(bytes, at);
        let done = mover.read_range(&self.plan, range, bytes, &mut read);
        done.map_err(|failed| {
            failed.into_error(|error| unplanned(self.name, error), |end| outside(self.name, end))
        })
    }

    /// Fills `bytes` with narrow elements from byte `at` on.
    fn narrowed(&self, narrow: &Narrow<'_>, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.rooms.with(|Room { mover, wide }| {
            let step = (self.rooms.most / 4 * 2).max(2) as usize;
            for (number, bytes) in (0..).zip(bytes.chunks_mut(step)) {
                let (at, len) = (at + number * step as u64, 2 * bytes.len() as u64);
                let wide = self.rooms.budget.grown(wide, len, self.rooms.most)?;
                let wide = part::<Error>(wide, 0, len).map_err(|_| outside(self.name, at))?;
                self.planned(mover, wide, 2 * at)?;
                let done = narrow.exact.apply(wide, bytes);
                done.map_err(|number| (narrow.lost)(at / 2 + number as u64))?;
            }
            Ok(())
        })
    }
}

impl Made for Moved<'_> {
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        // Elements whose bytes are reversed, and narrow ones, are made whole.
        let unit = if self.narrow.is_some() { self.unit.max(2) } else { self.unit };
        in_units(bytes, at, unit as u64, &mut |bytes, at| {
            match &self.narrow {
                Some(narrow) => self.narrowed(narrow, bytes, at),
                None => self.rooms.with(|room| self.planned(&mut room.mover, bytes, at)),
            }?;
            Origin::Made(self).reverse(self.name, bytes, (at, self.unit))
        })
    }

    fn path(&self) -> &Path {
        self.from.path()
    }
}

pub(super) fn outside(name: &str, at: u64) -> Error {
    error::usage(format!("byte {at} of {name:?} lies outside it"))
}
