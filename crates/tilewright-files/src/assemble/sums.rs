//! The fingerprint of one side of a nest, read in windows in the order of its own storage. Verification of an assembly and
//! comparison by a recorded recipe use it.

use std::ops::Range;

use tilewright_core::{Dtype, Layout, Mode, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key};

use tilewright_transfer::part;

use super::nest::{Nest, Turn};
use crate::{Error, error};

/// Fills bytes with those of a tensor from a position on.
pub(crate) type Read<'r> = &'r dyn Fn(&mut [u8], u64) -> Result<(), Error>;

/// A side of a nest: its first unit, and the stride of a loop.
pub(crate) type NestSide = (fn(&Nest) -> u64, fn(&Turn) -> u64);

pub(crate) const FROM: NestSide = (|nest| nest.from, |turn| turn.from);
pub(crate) const TO: NestSide = (|nest| nest.to, |turn| turn.to);

/// Returns the fingerprint of one side of a nest whose units have `width` bytes.
pub(crate) fn of(
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
