//! The buffers of one thread, and what it does with them: reads what a box needs, and puts it where it belongs.

use std::{fmt, fs::File, io};

use tilewright_core::{Layout, Mode, TensorLayout};
use tilewright_relayout::{Elements, Plan, Program};

use super::{
    exact::Exact,
    nest::{Nest, Turn},
    pieces::{Give, Piece},
    spans::Spans,
};
use crate::{
    Error,
    budget::{Budget, Buffer},
    disk,
    source::{self, Source},
};

/// Bytes pass through a buffer in steps of 1 MiB, which stay in the cache.
const STEP: u64 = 1 << 20;

/// Where the tensors of the input begin, by their numbers.
pub(crate) type Places<'c> = [Option<(&'c Source, u64)>];

/// The element that would lose a bit: the number of its tensor, and its unit of that tensor's storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) tensor: usize,
    pub(crate) unit: u64,
}

/// Why a box could not be made.
#[derive(Debug)]
pub(crate) enum Failed {
    Lost(Lost),
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Error(error)
    }
}

/// How a share of the memory is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rooms {
    /// For a box.
    pub(crate) out: u64,
    /// For what is read of one piece at once.
    pub(crate) read: u64,
    /// For the same, of another element type.
    pub(crate) cast: u64,
}

impl Rooms {
    /// Those of one of two who share them.
    pub(crate) fn half(self) -> Rooms {
        Rooms { out: self.out, read: (self.read / 2).max(1), cast: self.cast / 2 }
    }

    /// `share` bytes; `casts` says whether element types change, `width` is the widest unit.
    pub(crate) fn of(share: u64, casts: bool, width: u64) -> Rooms {
        let fifth = share / 5;
        let rooms = match casts {
            true => Rooms { out: fifth * 2, read: fifth, cast: fifth * 2 },
            false => Rooms { out: share / 2, read: share - share / 2, cast: 0 },
        };
        let least = |room: u64| room.max(width);
        Rooms {
            out: least(rooms.out),
            read: least(rooms.read),
            cast: if casts { least(rooms.cast) } else { 0 },
        }
    }
}

/// One thread's buffers.
pub(crate) struct Hands<'b, 'c> {
    places: &'c Places<'c>,
    budget: &'b Budget,
    rooms: Rooms,
    out: Option<Buffer<'b>>,
    read: Option<Buffer<'b>>,
    cast: Option<Buffer<'b>>,
    /// The plan made last: boxes are alike.
    plan: Option<(Vec<Turn>, u64, Plan)>,
}

impl<'b, 'c> Hands<'b, 'c> {
    pub(crate) fn new(places: &'c Places<'c>, budget: &'b Budget, rooms: Rooms) -> Hands<'b, 'c> {
        Hands { places, budget, rooms, out: None, read: None, cast: None, plan: None }
    }

    /// A buffer for a box, of `len` bytes at least; [`Hands::back`] takes it again.
    pub(crate) fn out(&mut self, len: u64) -> Result<Buffer<'b>, Error> {
        grown(self.out.take(), self.budget, len, self.rooms.out)
    }

    pub(crate) fn back(&mut self, out: Buffer<'b>) {
        self.out = Some(out);
    }

    /// What bytes of the input are.
    pub(crate) fn read(&self, tensor: usize, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let place = self.places.get(tensor).copied().flatten();
        let (source, from) = place.ok_or_else(|| Error::usage(format!("no tensor {tensor}")))?;
        source.read(bytes, from.saturating_add(at))
    }

    /// Puts what a nest of a piece takes into `out`, whose units have `width` bytes.
    pub(crate) fn put(
        &mut self,
        piece: &Piece,
        nest: &Nest,
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Failed> {
        match &piece.give {
            Give::Fill(bytes) => Ok(self.spread(nest, bytes, (out, width))?),
            Give::Tensor(tensor, own) => {
                let straight = piece.exact == Exact::Same && nest.run() == nest.size();
                if straight {
                    let bytes = part(out, nest.to * width, nest.size() * width)?;
                    return Ok(self.read(*tensor, nest.from * own, bytes)?);
                }
                self.gathered((*tensor, *own), piece.exact, nest.clone(), (out, width))
            }
        }
    }

    /// The same through a buffer, in parts that fit into it.
    fn gathered(
        &mut self,
        (tensor, own): (usize, u64),
        exact: Exact,
        nest: Nest,
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Failed> {
        let same = exact == Exact::Same;
        // What is not needed may not be what a narrower type holds.
        let room =
            if same { self.rooms.read } else { self.rooms.read.min(self.rooms.cast / width * own) };
        let mut todo = vec![nest];
        while let Some(nest) = todo.pop() {
            let spans = Spans::of(&nest, own, room, same);
            if spans.units().saturating_mul(own) > room
                && let Some(halves) = halves(&nest)
            {
                todo.extend(halves);
                continue;
            }
            let len = spans.units() * own;
            let mut read = grown(self.read.take(), self.budget, len, self.rooms.read)?;
            for (number, start) in (0..).zip(spans.starts()) {
                let bytes = part(&mut read, number * spans.span * own, spans.span * own)?;
                self.read(tensor, (nest.from + start) * own, bytes)?;
            }
            let bytes = part(&mut read, 0, len)?;
            if same {
                self.spread(&spans.rest, bytes, (out, width))?;
            } else {
                let wide = spans.units() * width;
                let mut cast = grown(self.cast.take(), self.budget, wide, self.rooms.cast)?;
                exact.apply(bytes, part(&mut cast, 0, wide)?).map_err(|number| {
                    let (number, span) = (number as u64, spans.span);
                    let start = spans.starts().nth((number / span) as usize).unwrap_or(0);
                    Failed::Lost(Lost { tensor, unit: nest.from + start + number % span })
                })?;
                self.spread(&spans.rest, part(&mut cast, 0, wide)?, (out, width))?;
                self.cast = Some(cast);
            }
            self.read = Some(read);
        }
        Ok(())
    }

    /// Moves units in memory.
    fn spread(
        &mut self,
        nest: &Nest,
        from: &[u8],
        (out, width): (&mut [u8], u64),
    ) -> Result<(), Error> {
        let out =
            out.get_mut((nest.to * width) as usize..).ok_or_else(|| outside(nest.to * width))?;
        let from =
            from.get((nest.from * width) as usize..).ok_or_else(|| outside(nest.from * width))?;
        let known =
            self.plan.take().filter(|(turns, own, _)| *turns == nest.turns && *own == width);
        let plan = match known {
            Some((_, _, plan)) => plan,
            None => plan(nest, width)?,
        };
        let done = plan.run(from, out, 1).map_err(|error| moved(&error));
        self.plan = Some((nest.turns.clone(), width, plan));
        done
    }
}

impl Hands<'_, '_> {
    /// Copies bytes of a tensor to a place of a file; the inner error is that of the file.
    pub(crate) fn copy(
        &mut self,
        (tensor, from): (usize, u64),
        (file, to): (&File, u64),
        len: u64,
    ) -> Result<io::Result<()>, Error> {
        let place = self.places.get(tensor).copied().flatten();
        let (source, at) = place.ok_or_else(|| Error::usage(format!("no tensor {tensor}")))?;
        let mut done = 0;
        while done < len {
            match disk::copy(source.file(), at + from + done, (file, to + done), len - done) {
                Ok(0) => break,
                Ok(copied) => done += copied.min(len - done),
                Err(cause) => return Ok(Err(cause)),
            }
        }
        // By hand, which also hears what is wrong with the source.
        while done < len {
            let step = (len - done).min(STEP).min(self.rooms.read);
            let mut read = grown(self.read.take(), self.budget, step, self.rooms.read)?;
            let bytes = part(&mut read, 0, step)?;
            self.read(tensor, from + done, bytes)?;
            if let Err(cause) = disk::place(file, bytes, to + done) {
                return Ok(Err(cause));
            }
            self.read = Some(read);
            done += step;
        }
        Ok(Ok(()))
    }

    /// The first byte at which bytes of a tensor and of a file differ.
    pub(crate) fn differs(
        &mut self,
        (tensor, from): (usize, u64),
        (file, at): (&File, u64),
        len: u64,
    ) -> Result<io::Result<Option<u64>>, Error> {
        let mut done = 0;
        while done < len {
            let step = (len - done).min(STEP).min(self.rooms.out);
            let mut out = self.out(step)?;
            let bytes = part(&mut out, 0, step)?;
            self.read(tensor, from + done, bytes)?;
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

    /// The first of these bytes that differs from what a file has.
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
            found = source::read_exact_at(file, is, at + number * step).map(|()| {
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

/// The plan that moves a nest from its first element to its first.
fn plan(nest: &Nest, width: u64) -> Result<Plan, Error> {
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
        .map(Plan::of)
        .map_err(|error| moved(&error))
}

fn moved(error: &dyn fmt::Display) -> Error {
    Error::usage(format!("a part of a tensor: {error}"))
}

/// The two halves of a nest along the turn that reaches furthest in the source; `None` for one element.
fn halves(nest: &Nest) -> Option<[Nest; 2]> {
    let turns = nest.turns.iter().enumerate();
    let (number, turn) =
        turns.filter(|(_, turn)| turn.from > 0).max_by_key(|(_, turn)| turn.from)?;
    let half = turn.extent / 2;
    Some([nest.only(number, half, turn.extent - half), nest.only(number, 0, half)])
}

/// A buffer of `len` bytes at least; one that is too short is given back first.
fn grown<'b>(
    held: Option<Buffer<'b>>,
    budget: &'b Budget,
    len: u64,
    most: u64,
) -> Result<Buffer<'b>, Error> {
    if let Some(held) = held.filter(|held| held.len() as u64 >= len) {
        return Ok(held);
    }
    // Boxes grow to the bound sooner or later.
    budget.buffer(len.next_power_of_two().min(most).max(len))
}

/// Some of the bytes.
pub(crate) fn part(bytes: &mut [u8], at: u64, len: u64) -> Result<&mut [u8], Error> {
    let end = at.saturating_add(len);
    let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
    range.and_then(|(at, end)| bytes.get_mut(at..end)).ok_or_else(|| outside(end))
}

fn outside(at: u64) -> Error {
    Error::usage(format!("byte {at} of a box lies outside it"))
}
