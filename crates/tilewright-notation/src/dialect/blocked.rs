//! The common part of dialects with tiles: the numbers of the tiles outermost, one digit a dim, and inside
//! them the digits within a tile, all of a size.
//!
//! A dim within one tile has no digit for the number of tiles; it is written as one tile then, however its
//! layout came to be.

use tilewright_core::{Digit, Pattern, TensorLayout};

use super::{canonical::simplified, strided::unsupported};
use crate::Error;

/// A digit within a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileDigit {
    pub(super) axis: u8,
    pub(super) size: u64,
    /// The product of the less significant digits of its dim.
    pub(super) below: u64,
}

/// Dims in whole tiles.
#[derive(Clone, Debug)]
pub(super) struct Blocked {
    /// Every dim once, outermost first.
    pub(super) outer: Vec<u8>,
    /// Outermost first.
    pub(super) inner: Vec<TileDigit>,
}

impl Blocked {
    /// The layout in these words, digits kept as they are where they are such words, else joined.
    pub(super) fn of(tensor: &TensorLayout, who: &str) -> Result<Blocked, Error> {
        let plain = Pattern::of(tensor).ok();
        let kept = plain.and_then(|plain| {
            let blocked = Blocked::split(tensor, &plain)?;
            (blocked.outer.len() == plain.rank() && blocked.nested()).then_some(blocked)
        });
        kept.map_or_else(|| Blocked::joined(tensor, who), Ok)
    }

    fn joined(tensor: &TensorLayout, who: &str) -> Result<Blocked, Error> {
        let tensor = simplified(tensor)?;
        let pattern = Pattern::of(&tensor)?;
        let mut blocked = Blocked::split(&tensor, &pattern).ok_or_else(|| {
            unsupported(format!("{who} cannot express an empty array within a tile"))
        })?;
        // A dim within one tile has the number 0 of it.
        let axes = (0..pattern.rank()).map(|axis| axis as u8);
        let rest: Vec<u8> = axes.filter(|axis| !blocked.outer.contains(axis)).collect();
        blocked.outer.extend(rest);
        Ok(blocked)
    }

    /// The digits in front that number whole tiles, and the others, which get a size.
    fn split(tensor: &TensorLayout, pattern: &Pattern) -> Option<Blocked> {
        let digits = pattern.digits();
        let count = |axis: u8| digits.iter().filter(|digit| digit.axis() == axis).count();
        let numbers = |digit: &&Digit| {
            digit.size().is_none() && usize::from(digit.level()) + 1 == count(digit.axis())
        };
        let outer: Vec<u8> = digits.iter().take_while(numbers).map(|digit| digit.axis()).collect();
        let mut inner = Vec::new();
        for digit in digits.iter().skip(outer.len()) {
            let modes = tensor.layout().axis(usize::from(digit.axis()))?;
            let (below, rest) = modes.split_at_checked(usize::from(digit.level()))?;
            let below = below.iter().map(|mode| mode.extent()).product();
            let size = rest.first()?.extent();
            if size == 0 {
                return None;
            }
            inner.push(TileDigit { axis: digit.axis(), size, below });
        }
        Some(Blocked { outer, inner })
    }

    /// Returns whether the digits of each dim go from the most to the least significant.
    pub(super) fn nested(&self) -> bool {
        self.inner.iter().enumerate().all(|(at, digit)| {
            let mut before = self.inner.iter().take(at);
            before.all(|other| other.axis != digit.axis || other.below > digit.below)
        })
    }

    /// The digits within tiles of one dim.
    pub(super) fn tiles(&self, axis: u8) -> impl Iterator<Item = &TileDigit> {
        self.inner.iter().filter(move |digit| digit.axis == axis)
    }
}
