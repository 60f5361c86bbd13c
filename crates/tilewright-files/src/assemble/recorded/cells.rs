//! Compares the units of two sides of a piece: by sums over the digits that both share, and one by one. The comparison by a
//! recorded recipe uses it.

use std::ops::Range;

use tilewright_core::{Dtype, Layout, Mode, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key};
use tilewright_transfer::part;

use crate::{
    Error,
    assemble::pieces::{
        Give, Piece,
        exact::Exact,
        nest::{Nest, Turn},
    },
    error,
};

/// Both sides of a piece.
pub(crate) struct Sides<'r> {
    pub(crate) from: Read<'r>,
    pub(crate) to: Read<'r>,
    /// The number of bytes of a unit of the result.
    pub(crate) width: u64,
    pub(crate) piece: &'r Piece,
}

/// A unit that differs: its places, and the bits on both sides.
pub(crate) type Apart = (u64, u64, u128, u128);

impl Sides<'_> {
    /// Returns the first part of the piece, of one unit, whose sums differ.
    pub(crate) fn summed(&self, buffer: &mut [u8]) -> Result<Option<Nest>, Error> {
        let mut nest = self.piece.nest.clone();
        if self.same(&nest, buffer)? {
            return Ok(None);
        }
        // Loops keep their number although they become shorter.
        for number in 0..nest.turns.len() {
            while let Some(turn) = nest.turns.get(number).copied().filter(|turn| turn.extent > 1) {
                let half = turn.extent / 2;
                let low = nest.part(number, 0, half);
                nest = match self.same(&low, buffer)? {
                    true => nest.part(number, half, turn.extent - half),
                    false => low,
                };
            }
        }
        Ok(Some(nest))
    }

    fn same(&self, nest: &Nest, buffer: &mut [u8]) -> Result<bool, Error> {
        let was = fingerprint((nest, self.piece.give.width()), FROM, buffer, self.from)?;
        Ok(was == fingerprint((nest, self.width), TO, buffer, self.to)?)
    }

    /// Returns the first unit that differs, unit by unit in the order of the loops.
    pub(crate) fn first(
        &self,
        nest: &Nest,
        [one, other]: [&mut [u8]; 2],
    ) -> Result<Option<Apart>, Error> {
        let Some((inner, outer)) = nest.turns.split_last() else {
            return self.run(
                (nest.from, nest.to),
                Turn { extent: 1, from: 0, to: 0 },
                [one, other],
            );
        };
        let mut digits = vec![0; outer.len()];
        loop {
            let at = |stride: fn(&Turn) -> u64| -> u64 {
                outer.iter().zip(&digits).map(|(turn, digit)| stride(turn) * digit).sum()
            };
            let start = (nest.from + at(|turn| turn.from), nest.to + at(|turn| turn.to));
            let found = self.run(start, *inner, [one, other])?;
            if found.is_some() {
                return Ok(found);
            }
            let Some(next) =
                (0..outer.len()).rev().find(|turn| digits[*turn] + 1 < outer[*turn].extent)
            else {
                return Ok(None);
            };
            digits[next] += 1;
            digits[next + 1..].fill(0);
        }
    }

    /// Returns the first unit of a loop that differs.
    fn run(
        &self,
        (from, to): (u64, u64),
        turn: Turn,
        [one, other]: [&mut [u8]; 2],
    ) -> Result<Option<Apart>, Error> {
        let given = self.piece.give.width();
        let fill = matches!(self.piece.give, Give::Fill(_));
        let stride = if fill { 0 } else { turn.from };
        // The number of units at once is what both buffers can hold.
        let fit = |room: usize, width: u64, stride: u64| {
            (room as u64).saturating_sub(width) / (stride.max(1) * width).max(1) + 1
        };
        let step = fit(one.len(), given, stride).min(fit(other.len(), self.width, turn.to));
        let mut at = 0;
        while at < turn.extent {
            let count = step.min(turn.extent - at);
            let span = |stride: u64, width: u64| ((count - 1) * stride * width + width) as usize;
            let (first, second) = (from + at * stride, to + at * turn.to);
            let (was, is) = (span(stride, given), span(turn.to, self.width));
            let was = one.get_mut(..was).ok_or_else(short)?;
            (self.from)(was, first * given)?;
            let is = other.get_mut(..is).ok_or_else(short)?;
            (self.to)(is, second * self.width)?;
            let (is, was) = (&*is, &*was);
            for number in 0..count {
                let unit = |stride: u64, width: u64| {
                    let start = (number * stride * width) as usize;
                    start..start + width as usize
                };
                let is = is.get(unit(turn.to, self.width)).unwrap_or_default();
                let was = was.get(unit(stride, given)).unwrap_or_default();
                let (mut room, exact) = ([0; 4], self.piece.exact);
                let (exact, expected) = match exact {
                    Exact::Same => (true, was),
                    exact => {
                        let to = room.get_mut(..self.width as usize).ok_or_else(short)?;
                        (exact.apply(was, to).is_ok(), &*to)
                    }
                };
                if !exact || is != expected {
                    let was = if exact { expected } else { was };
                    return Ok(Some((
                        first + number * stride,
                        second + number * turn.to,
                        number_of(is),
                        number_of(was),
                    )));
                }
            }
            at += count;
        }
        Ok(None)
    }
}

fn short() -> Error {
    error::usage("a buffer is too small for an element")
}

/// Returns the first 16 bytes of a unit as a number.
pub(crate) fn number_of(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// Fills bytes with those of a tensor from a position on.
pub(super) type Read<'r> = &'r dyn Fn(&mut [u8], u64) -> Result<(), Error>;

/// A side of a nest: its first unit, and the stride of a loop.
type NestSide = (fn(&Nest) -> u64, fn(&Turn) -> u64);

const FROM: NestSide = (|nest| nest.from, |turn| turn.from);
const TO: NestSide = (|nest| nest.to, |turn| turn.to);

/// Returns the fingerprint of one side of a nest whose units have `width` bytes.
fn fingerprint(
    (nest, width): (&Nest, u64),
    (first, stride): NestSide,
    buffer: &mut [u8],
    read: Read<'_>,
) -> Result<Fingerprint, Error> {
    let wrong = |error: &dyn std::fmt::Display| error::usage(format!("a fingerprint: {error}"));
    // A unit is treated as `width` bytes, whatever its type.
    let mut modes: Vec<Mode> = vec![Mode::new(width, 1)];
    let turns = nest.turns.iter().rev();
    modes.extend(turns.map(|turn| Mode::new(turn.extent, (stride(turn) * width) as i64)));
    let extents: Vec<u64> = modes.iter().map(|mode| mode.extent()).collect();
    let reach = modes.iter().map(|mode| (mode.extent() - 1) * mode.stride() as u64).sum::<u64>();
    let layout =
        Layout::flat(&modes).and_then(|bare| TensorLayout::new(&extents, &bare, reach + 1));
    let layout = layout.map_err(|error| wrong(&error))?;
    let array = Array::new(&layout, Dtype::U8).map_err(|error| wrong(&error))?;
    let windows = array.windows(buffer.len() as u64, &Key::default());
    let mut sum = Fingerprint::default();
    for window in windows.map_err(|error| wrong(&error))? {
        let Range { start, end } = window.bytes();
        let bytes = part::<Error>(buffer, 0, end - start).map_err(|_| wrong(&"a window"))?;
        read(bytes, first(nest) * width + start)?;
        sum += window.fingerprint(bytes);
    }
    Ok(sum)
}
