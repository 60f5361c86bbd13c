//! A tensor of the result: its pieces, and the plan that moves them from their sources to its storage. Running an assembly uses it.
//!
//! If loops do not describe the layout, the pieces are those of its rows, and another plan moves the rows to their places.

use std::{collections::HashMap, path::Path};

use tilewright_relayout::{Loop, Plan, Program, Region};
use tilewright_transfer::LONG;

use crate::{
    Error,
    assemble::{
        pieces::{Give, Piece, exact::Exact, nest::Turn},
        stored::{
            Places, Take,
            joined::{Joined, Member},
        },
    },
    convert::job::unplanned,
    error,
    layout::element_layout::ElementLayout,
};

/// A tensor of the result.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// The number of bytes of a unit.
    pub(crate) width: u64,
    /// The number of units of its storage, or of its rows.
    pub(crate) units: u64,
    /// The value of padding: the bytes of a unit.
    pub(crate) fill: Vec<u8>,
    pub(crate) pieces: Vec<Piece>,
    /// The layout that the rows are moved to, if the pieces are those of rows.
    pub(crate) layout: Option<ElementLayout>,
}

impl Whole {
    /// Iterates over the tensors from which it is made.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Take> {
        self.pieces.iter().filter_map(|piece| match piece.give {
            Give::Tensor(take, _) => Some(take),
            Give::Fill(_) => None,
        })
    }

    /// Returns the change of its elements from f32, if some become narrower.
    pub(crate) fn narrow(&self) -> Option<Exact> {
        self.pieces.iter().find_map(|piece| piece.exact.narrow())
    }

    /// Returns whether copies of runs make it: long ones, or a single one.
    pub(crate) fn is_runs(&self) -> bool {
        let alone = self.pieces.len() == 1;
        let is_long = |piece: &Piece| {
            let run = piece.nest.run();
            let copied = matches!(piece.give, Give::Tensor(take, width) if width == self.width && !take.rows);
            let long = run.saturating_mul(self.width) >= LONG || alone && run == piece.nest.size();
            copied && long && piece.exact == Exact::Same
        };
        let given = self.pieces.iter().map(|piece| piece.nest.size()).fold(0, u64::saturating_add);
        self.layout.is_none() && given == self.units && self.pieces.iter().all(is_long)
    }

    /// Returns the plan of the pieces, and the source that it reads. If elements narrow, those of the plan are f32.
    pub(crate) fn planned<'c>(
        &self,
        (name, path): (&str, &'c Path),
        places: &Places<'c>,
    ) -> Result<(Plan, Joined<'c>), Error> {
        let narrow = self.narrow();
        let unit = if narrow.is_some() { 4 } else { self.width };
        let wide = |bytes: &[u8]| match narrow {
            None => bytes.to_vec(),
            Some(exact) => {
                let mut all = [[0; 2].as_slice(), bytes].concat();
                exact.widen_in_place(&mut all);
                all
            }
        };
        let (mut joined, mut begins) = (Joined::new(path), HashMap::new());
        let mut regions = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let from = match &piece.give {
                Give::Fill(bytes) => joined.add(Member::Fill(wide(bytes)), unit),
                Give::Tensor(take, own) => {
                    let (low, begin) = match begins.get(take) {
                        Some(known) => *known,
                        None => {
                            let stored = places.get(take).cloned();
                            let stored =
                                stored.ok_or_else(|| error::usage("a tensor without a place"))?;
                            let (low, high) = self.reach(*take);
                            let member = match (*own == unit, piece.exact) {
                                (true, Exact::Round) => Member::Rounded(stored, low * own),
                                (true, _) => Member::Tensor(stored, low * own),
                                (false, Exact::Same) => Member::Wide(
                                    stored,
                                    low * own,
                                    narrow.unwrap_or(Exact::Same).back(),
                                ),
                                (false, exact) => Member::Wide(stored, low * own, exact),
                            };
                            let begin = joined.add(member, (high - low) * unit);
                            begins.insert(*take, (low, begin));
                            (low, begin)
                        }
                    };
                    begin + (piece.nest.from - low) * unit
                }
            };
            regions.push(region(piece, from, unit));
        }
        let fill = number_of(&wide(&self.fill));
        let sides = (joined.len(), self.units.saturating_mul(unit));
        let bits = u32::try_from(unit * 8).unwrap_or(u32::MAX);
        let program = Program::of_regions(regions, sides, bits, fill);
        Ok((Plan::of(program.map_err(|error| unplanned(name, &error))?), joined))
    }

    /// Returns the range of units of a tensor from the first to the last that is taken.
    fn reach(&self, take: Take) -> (u64, u64) {
        let own = |piece: &&Piece| matches!(piece.give, Give::Tensor(own, _) if own == take);
        let ends = |piece: &Piece| (piece.nest.from, piece.nest.from + piece.nest.reach().0 + 1);
        let all = self.pieces.iter().filter(own).map(ends);
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
    }
}

/// Returns the first 16 bytes of a unit as a number.
pub(crate) fn number_of(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// Returns the loops of a piece in bytes; its source begins at byte `from`.
fn region(piece: &Piece, from: u64, unit: u64) -> Region {
    let turn = |turn: &Turn| Loop {
        extent: turn.extent,
        src: (turn.from * unit) as i64,
        dst: (turn.to * unit) as i64,
    };
    let loops = piece.nest.turns.iter().map(turn).collect();
    let (src, dst) = (from as i64, (piece.nest.to * unit) as i64);
    Region { packed: false, src, dst, run: unit, loops }
}
