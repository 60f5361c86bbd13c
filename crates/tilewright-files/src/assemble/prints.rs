//! The fingerprint of each piece, over its own digits: summed once where it was taken from, and once where it was put.
//!
//! Law: both are the same, for the digits are those that source and result share. Nothing that moves elements is asked,
//! and neither side is put in another order for it.

use std::{fs::File, ops::Range};

use tilewright_core::{Dtype, Layout, Mode, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key};

use super::{
    assembling::Assembling,
    exact::Exact,
    nest::{Nest, Turn},
    pieces::Give,
    tasks,
};
use crate::{Error, container::Target, crew::Crew, run::Means, source};

/// A buffer has no more bytes than this.
const MOST: u64 = 8 << 20;

/// Fills bytes with those of a tensor from a place of it on.
pub(crate) type Read<'r> = &'r dyn Fn(&mut [u8], u64) -> Result<(), Error>;

/// One piece, and where its tensor begins in the result.
struct Sum<'a> {
    made: usize,
    at: u64,
    tensor: usize,
    width: u64,
    nest: &'a Nest,
}

/// An error if a piece of the result has another fingerprint than where it was taken from.
pub(crate) fn check(
    job: &Assembling<'_>,
    target: &Target,
    file: &File,
    means: &Means<'_>,
) -> Result<(), Error> {
    let places = job.places()?;
    let room = (means.budget.limit() / job.lanes() / 2).clamp(64, MOST);
    let sums = tasks::placed(target, &job.wholes).into_iter().flat_map(|(made, at)| {
        let whole = job.wholes.get(made).into_iter();
        whole.flat_map(move |whole| {
            whole.pieces.iter().filter_map(move |piece| match piece.give {
                Give::Tensor(tensor, width) if piece.exact == Exact::Same => {
                    Some(Sum { made, at, tensor, width, nest: &piece.nest })
                }
                Give::Tensor(..) | Give::Fill(_) => None,
            })
        })
    });
    let budget = &means.budget;
    let join = || {
        let mut buffer = budget.buffer(room)?;
        let places = &places;
        Ok(move |sum: &Sum<'_>| {
            let name = job.made.tensors().get(sum.made).map_or("", |tensor| &tensor.name);
            let place = places.get(sum.tensor).copied().flatten();
            let (own, from) = place.ok_or_else(|| Error::usage("a tensor without a place"))?;
            let read = |bytes: &mut [u8], at: u64| own.read(bytes, from + at);
            let was = of((sum.nest, sum.width), FROM, &mut buffer, &read)?;
            let read = |bytes: &mut [u8], at: u64| {
                let read = source::read_exact_at(file, bytes, sum.at + at);
                read.map_err(|cause| Error::io(&target.path, "read it back", cause))
            };
            let is = of((sum.nest, sum.width), TO, &mut buffer, &read)?;
            Ok((was != is).then(|| format!("tensor {name:?} has a part of fingerprint {is}, and {was} is that of its source")))
        })
    };
    let lanes = job.lanes() as usize;
    let crew = Crew::new(means.watch, &means.budget, lanes);
    match crew.first(lanes, sums, (|_: &Sum<'_>| 0, 1, 0), join)? {
        None => Ok(()),
        Some(said) => Err(Error::corrupt(&target.path, format!("verification failed: {said}"))),
    }
}

/// A side of a nest: its first unit, and the stride of a turn.
pub(crate) type Side = (fn(&Nest) -> u64, fn(&Turn) -> u64);

pub(crate) const FROM: Side = (|nest| nest.from, |turn| turn.from);
pub(crate) const TO: Side = (|nest| nest.to, |turn| turn.to);

/// The fingerprint of one side of a nest whose units have `width` bytes.
pub(crate) fn of(
    (nest, width): (&Nest, u64),
    (first, stride): Side,
    buffer: &mut [u8],
    read: Read<'_>,
) -> Result<Fingerprint, Error> {
    let wrong = |error: &dyn std::fmt::Display| Error::usage(format!("a fingerprint: {error}"));
    // A unit is `width` bytes, whatever they mean.
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
        let bytes = super::hands::part(buffer, 0, end - start)?;
        read(bytes, first(nest) * width + start)?;
        sum += window.fingerprint(bytes);
    }
    Ok(sum)
}
