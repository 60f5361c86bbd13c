//! Compares the units of two sides of a piece: by sums over the digits that both share, and one by one. The comparison by a
//! recorded recipe uses it.

use super::{
    exact::Exact,
    nest::{Nest, Turn},
    pieces::{Give, Piece},
    sums::{self, FROM, Read, TO},
};
use crate::{Error, error};

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
                let low = part(&nest, number, 0, half);
                nest = match self.same(&low, buffer)? {
                    true => part(&nest, number, half, turn.extent - half),
                    false => low,
                };
            }
        }
        Ok(Some(nest))
    }

    fn same(&self, nest: &Nest, buffer: &mut [u8]) -> Result<bool, Error> {
        let was = sums::of((nest, self.piece.give.width()), FROM, buffer, self.from)?;
        Ok(was == sums::of((nest, self.width), TO, buffer, self.to)?)
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

/// Returns the nest with some of the values of one loop.
fn part(nest: &Nest, number: usize, start: u64, extent: u64) -> Nest {
    let mut part = nest.clone();
    if let Some(turn) = part.turns.get_mut(number) {
        part.from += start * turn.from;
        part.to += start * turn.to;
        turn.extent = extent;
    }
    part
}

/// Returns the first 16 bytes of a unit as a number.
pub(super) fn number_of(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}
