//! The buffers of one thread, and the operations on them: reading the data of a box, and moving it to its places. Threads that
//! fill or compare files use them.

use std::{fmt, fs::File, io, ops::Range};

use tilewright_core::{Layout, Mode, TensorLayout};
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::{self as transfer, Refused, Stage};

use super::{
    by_rows::ByRows,
    exact::Exact,
    grid::Part,
    nest::{Nest, Turn},
    pieces::{Give, Piece},
    stored::{Places, Stored, Take},
    whole::Whole,
};
use crate::{
    Error,
    commit::disk,
    transfer::budget::{Budget, Buffer},
};

/// The number of bytes of a step of a copy, which stays in the cache.
const STEP: u64 = 1 << 20;

/// An element that would lose a bit: its tensor, and its unit there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) take: Take,
    pub(crate) unit: u64,
}

/// The reason why a box could not be made.
#[derive(Debug)]
pub(crate) enum Failed {
    Lost(Lost),
    Error(Error),
}

impl Failed {
    /// Returns the error, without the place of an element that would lose bits.
    pub(crate) fn told(self) -> Error {
        match self {
            Failed::Error(error) => error,
            Failed::Lost(_) => Error::usage("an element would lose bits in its new type"),
        }
    }
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Failed {
        Failed::Error(refused.into())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Error(error)
    }
}

/// The distribution of a thread's memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rooms {
    /// The buffer of a box.
    pub(crate) out: u64,
    /// Each of the two buffers through which a piece is read.
    pub(crate) stage: u64,
    /// The buffer for bytes that are copied or compared, and for elements that change their type.
    pub(crate) read: u64,
    /// The buffer for these elements in the type of the result.
    pub(crate) cast: u64,
    /// Each of the two buffers in which a range is made from rows, and of the two in which rows are made from a storage; 0 if
    /// neither is needed.
    pub(crate) rows: u64,
}

impl Rooms {
    /// Returns the distribution for one of two users that share the memory.
    pub(crate) fn half(self) -> Rooms {
        let half = |room: u64| (room / 2).max(1);
        let (stage, read) = (half(self.stage), half(self.read));
        Rooms { out: self.out, stage, read, cast: self.cast / 2, rows: self.rows / 2 }
    }

    /// Returns the distribution of `share` bytes. `casts` tells whether element types change, `by_rows` whether rows are used;
    /// `width` is the widest unit.
    pub(crate) fn of(share: u64, (casts, by_rows): (bool, bool), width: u64) -> Rooms {
        let (rest, rows) = if by_rows { (share / 2, (share / 8).max(width)) } else { (share, 0) };
        let least = |eighths: u64| (rest / 8 * eighths).max(width);
        match casts {
            true => Rooms { out: least(2), stage: least(1), read: least(2), cast: least(2), rows },
            false => Rooms { out: least(3), stage: least(2), read: least(1), cast: 0, rows },
        }
    }
}

/// The number of plans that are kept.
const PLANS: usize = 4;

/// The buffers of one thread.
pub(crate) struct Hands<'b, 'c> {
    places: &'c Places<'c>,
    budget: &'b Budget,
    rooms: Rooms,
    out: Option<Buffer>,
    read: Option<Buffer>,
    cast: Option<Buffer>,
    stage: Stage,
    /// The stage in which ranges of a storage are made from rows.
    row_stage: Option<Stage>,
    /// The most recent plans: many boxes are alike.
    plans: Vec<(Vec<Turn>, u64, Plan)>,
}

impl<'b, 'c> Hands<'b, 'c> {
    pub(crate) fn new(places: &'c Places<'c>, budget: &'b Budget, rooms: Rooms) -> Hands<'b, 'c> {
        let (stage, plans) = (Stage::new(budget, rooms.stage), Vec::new());
        let (out, read, cast) = (None, None, None);
        let row_stage = (rooms.rows > 0).then(|| Stage::new(budget, rooms.rows));
        Hands { places, budget, rooms, out, read, cast, stage, row_stage, plans }
    }

    /// Returns a buffer for a box, of at least `len` bytes; [`Hands::back`] takes it back.
    pub(crate) fn out(&mut self, len: u64) -> Result<Buffer, Error> {
        grown(self.out.take(), self.budget, len, self.rooms.out)
    }

    pub(crate) fn back(&mut self, out: Buffer) {
        self.out = Some(out);
    }

    /// Reads bytes of the input.
    pub(crate) fn read(&self, take: Take, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
        stored(self.places, take)?.read(bytes, at)
    }

    /// Moves the elements of a nest of a piece into `out`, whose units have `width` bytes.
    pub(crate) fn put(
        &mut self,
        piece: &Piece,
        nest: &Nest,
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Failed> {
        match &piece.give {
            Give::Fill(bytes) => Ok(self.spread(nest, bytes, (out, width))?),
            Give::Tensor(take, own) => {
                if piece.exact == Exact::Same {
                    // Parts of the source are read in one call, ranges of the result in many.
                    let most = (self.rooms.stage / 2 / width).max(1);
                    return within(nest, most, &mut |nest| {
                        let plan = self.plan(nest, width)?;
                        self.fetch((*take, nest.from * own), plan, tail(out, nest.to * width)?)
                    });
                }
                self.cast((*take, *own), piece.exact, nest, (out, width))
            }
        }
    }

    /// Makes a range of a storage from its rows; [`Hands::back`] takes the buffer back.
    pub(crate) fn range(
        &mut self,
        (whole, by_rows): (&Whole, &ByRows),
        range: Range<u64>,
    ) -> Result<Buffer, Failed> {
        let len = range.end - range.start;
        let mut out = self.out(len)?;
        let mut stage = self.row_stage.take().ok_or_else(|| outside(range.start))?;
        let mut read = |bytes: &mut [u8], at: u64| self.rows((whole, by_rows), bytes, at);
        let bytes = part(&mut out, 0, len)?;
        let done = stage.read_range(&by_rows.plan, range, bytes, &mut read);
        self.row_stage = Some(stage);
        done.map_err(|failed| {
            failed.into_error(|error| moved(error).into(), |end| outside(end).into())
        })?;
        Ok(out)
    }

    /// Fills `bytes` with the rows of a tensor from byte `at` on.
    pub(crate) fn rows(
        &mut self,
        (whole, by_rows): (&Whole, &ByRows),
        bytes: &mut [u8],
        at: u64,
    ) -> Result<(), Failed> {
        let (len, width) = (bytes.len() as u64, whole.width);
        if !at.is_multiple_of(width) || !len.is_multiple_of(width) {
            return Err(outside(at).into());
        }
        let (from, end) = (at / width, (at + len) / width);
        let area = Part { rows: (0, 1), columns: (from, end) };
        for (piece, nest) in by_rows.grid.inside(&area) {
            self.put(piece, &nest, (bytes, whole.width))?;
        }
        Ok(())
    }

    /// Moves bytes of a tensor from byte `from` on into memory.
    fn fetch(
        &mut self,
        (take, from): (Take, u64),
        plan: Plan,
        out: &mut [u8],
    ) -> Result<(), Failed> {
        let tensor = stored(self.places, take)?;
        let mut read = |bytes: &mut [u8], at: u64| tensor.read(bytes, from.saturating_add(at));
        let done = self.stage.read(&plan, out, &mut read);
        let end =
            |failed: transfer::Failed<Error>| failed.into_error(|error| moved(error), outside);
        Ok(done.map_err(end)?)
    }

    /// Converts the elements of a nest to another type in `out`. Only elements of the nest are read, since the bytes between them
    /// may not be elements of its type.
    fn cast(
        &mut self,
        (take, own): (Take, u64),
        exact: Exact,
        nest: &Nest,
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Failed> {
        let most = (self.rooms.read / own).min(self.rooms.cast / width).max(1);
        within(nest, most, &mut |nest| {
            let size = nest.size();
            let (packed, placed) = nest.packed();
            let plan = self.plan(&packed, own)?;
            let mut read = grown(self.read.take(), self.budget, size * own, self.rooms.read)?;
            self.fetch((take, nest.from * own), plan, part(&mut read, 0, size * own)?)?;
            let mut cast = grown(self.cast.take(), self.budget, size * width, self.rooms.cast)?;
            let bytes = part(&mut cast, 0, size * width)?;
            exact.apply(part(&mut read, 0, size * own)?, bytes).map_err(|number| {
                Failed::Lost(Lost { take, unit: nest.from + packed.source_of(number as u64) })
            })?;
            self.spread(&placed, bytes, (out, width))?;
            (self.read, self.cast) = (Some(read), Some(cast));
            Ok(())
        })
    }

    /// Moves units in memory.
    fn spread(
        &mut self,
        nest: &Nest,
        from: &[u8],
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Error> {
        let plan = self.plan(nest, width)?;
        let from = usize::try_from(nest.from * width).ok().and_then(|at| from.get(at..));
        let from = from.ok_or_else(|| outside(nest.from * width))?;
        plan.run(from, tail(out, nest.to * width)?, 1).map_err(|error| moved(&error))
    }

    /// Returns the plan that moves a nest, relative to its first elements.
    fn plan(&mut self, nest: &Nest, width: u64) -> Result<Plan, Error> {
        let is_known =
            |(turns, own, _): &(Vec<Turn>, u64, Plan)| (turns, *own) == (&nest.turns, width);
        if let Some((.., plan)) = self.plans.iter().find(|known| is_known(known)) {
            return Ok(plan.clone());
        }
        let plan = Plan::of(program(nest, width)?);
        self.plans.truncate(PLANS - 1);
        self.plans.insert(0, (nest.turns.clone(), width, plan.clone()));
        Ok(plan)
    }
}

impl Hands<'_, '_> {
    /// Copies bytes of a tensor to a position of a file; the inner error is that of the file.
    pub(crate) fn copy(
        &mut self,
        (take, from): (Take, u64),
        (file, to): (&File, u64),
        len: u64,
    ) -> Result<io::Result<()>, Error> {
        let (source, at) = stored(self.places, take)?.file();
        let mut done = 0;
        while done < len {
            match disk::copy(source, at + from + done, (file, to + done), len - done) {
                Ok(0) => break,
                Ok(copied) => done += copied.min(len - done),
                Err(cause) => return Ok(Err(cause)),
            }
        }
        // Reads and writes the rest, which also reports faults of the source.
        while done < len {
            let step = (len - done).min(STEP).min(self.rooms.read);
            let mut read = grown(self.read.take(), self.budget, step, self.rooms.read)?;
            let bytes = part(&mut read, 0, step)?;
            self.read(take, from + done, bytes)?;
            if let Err(cause) = disk::place(file, bytes, to + done) {
                return Ok(Err(cause));
            }
            self.read = Some(read);
            done += step;
        }
        Ok(Ok(()))
    }

    /// Returns the first byte at which bytes of a tensor and of a file differ.
    pub(crate) fn differs(
        &mut self,
        (take, from): (Take, u64),
        (file, at): (&File, u64),
        len: u64,
    ) -> Result<io::Result<Option<u64>>, Error> {
        let mut done = 0;
        while done < len {
            let step = (len - done).min(STEP).min(self.rooms.out);
            let mut out = self.out(step)?;
            let bytes = part(&mut out, 0, step)?;
            self.read(take, from + done, bytes)?;
            let found = self.apart(bytes, (file, at + done))?;
            self.back(out);
            match found {
                Ok(None) => done += step,
                Ok(Some(at)) => return Ok(Ok(Some(done + at))),
                Err(cause) => return Ok(Err(cause)),
            }
        }
        Ok(Ok(None))
    }

    /// Returns the first of these bytes that differs from the file.
    pub(crate) fn apart(
        &mut self,
        bytes: &[u8],
        (file, at): (&File, u64),
    ) -> Result<io::Result<Option<u64>>, Error> {
        let step = (bytes.len() as u64).min(STEP).min(self.rooms.read).max(1);
        let mut read = grown(self.read.take(), self.budget, step, self.rooms.read)?;
        let mut found = Ok(None);
        for (number, some) in (0..).zip(bytes.chunks(step as usize)) {
            let is = part(&mut read, 0, some.len() as u64)?;
            found = tilewright_transfer::read_at(file, is, at + number * step).map(|()| {
                let mut pairs = is.iter().zip(some);
                pairs.position(|(is, was)| is != was).map(|place| number * step + place as u64)
            });
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        self.read = Some(read);
        Ok(found)
    }
}

/// Returns a tensor of the input.
fn stored<'p, 'c>(places: &'p Places<'c>, take: Take) -> Result<&'p Stored<'c>, Error> {
    places.get(&take).ok_or_else(|| Error::usage(format!("no tensor {}", take.tensor)))
}

/// Returns the bytes from byte `at` on.
fn tail(bytes: &mut [u8], at: u64) -> Result<&mut [u8], Error> {
    let found = usize::try_from(at).ok().and_then(|from| bytes.get_mut(from..));
    found.ok_or_else(|| outside(at))
}

/// Returns the program that moves a nest, relative to its first elements.
fn program(nest: &Nest, width: u64) -> Result<Program, Error> {
    let extents: Vec<u64> = nest.turns.iter().map(|turn| turn.extent).collect();
    let (from, to) = nest.reach();
    let side = |stride: fn(&Turn) -> u64, reach: u64| {
        let modes: Vec<Mode> =
            nest.turns.iter().map(|turn| Mode::new(turn.extent, stride(turn) as i64)).collect();
        let layout = Layout::flat(&modes)?;
        TensorLayout::new(&extents, &layout, reach + 1)
    };
    let sides = side(|turn| turn.from, from).and_then(|from| Ok((from, side(|turn| turn.to, to)?)));
    let (from, to) = sides.map_err(|error| moved(&error))?;
    let zeros = vec![0; extents.len()];
    let bits = u32::try_from(width * 8).map_err(|_| moved(&"a unit of more than 2^32 bits"))?;
    Program::of_part((&from, &zeros), (&to, &zeros), &extents, Elements::same(bits))
        .map_err(|error| moved(&error))
}

fn moved(error: &dyn fmt::Display) -> Error {
    Error::usage(format!("a part of a tensor: {error}"))
}

/// Calls `take` with a nest, halved until its parts have at most `most` elements.
fn within(
    nest: &Nest,
    most: u64,
    take: &mut dyn FnMut(&Nest) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut todo = vec![nest.clone()];
    while let Some(nest) = todo.pop() {
        match halves(&nest).filter(|_| nest.size() > most) {
            Some(halves) => todo.extend(halves),
            None => take(&nest)?,
        }
    }
    Ok(())
}

/// Splits a nest into halves along the loop that reaches furthest in the source, or in the result if all loops repeat one
/// element; `None` for one element.
fn halves(nest: &Nest) -> Option<[Nest; 2]> {
    let turns = nest.turns.iter().enumerate();
    let (number, turn) =
        turns.filter(|(_, turn)| turn.extent > 1).max_by_key(|(_, turn)| (turn.from, turn.to))?;
    let half = turn.extent / 2;
    Some([nest.only(number, half, turn.extent - half), nest.only(number, 0, half)])
}

/// Returns a buffer of at least `len` bytes; a buffer that is too short is freed first.
fn grown(mut held: Option<Buffer>, budget: &Budget, len: u64, most: u64) -> Result<Buffer, Error> {
    budget.grown(&mut held, len, most)?;
    held.ok_or_else(|| outside(len))
}

/// Returns some of the bytes.
pub(crate) fn part(bytes: &mut [u8], at: u64, len: u64) -> Result<&mut [u8], Error> {
    let end = at.saturating_add(len);
    let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
    range.and_then(|(at, end)| bytes.get_mut(at..end)).ok_or_else(|| outside(end))
}

fn outside(at: u64) -> Error {
    Error::usage(format!("byte {at} of a box is outside the box"))
}
