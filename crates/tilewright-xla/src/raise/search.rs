//! Finds tiles that put given digits into their storage order. Used by `raise.rs`.
//!
//! The working dims of XLA's walk are simulated as pieces: runs of digits of one dim. A tile moves the top digits of some
//! pieces to the left and leaves the rest to the right, in the same order. Each round takes the longest list of the next
//! digits in storage order that one tile can take.

use tilewright_core::TensorLayout;

use super::digits::RaisedDigit;
use crate::{Layout, Tile, TileDim};

/// The limit up to which divisors of a capacity are searched, with their counterparts.
const DIVISORS: u64 = 4096;

/// A working dim: the numbers of its digits, minor to major.
#[derive(Clone, Default)]
struct DigitGroup {
    digits: Vec<usize>,
    bound: u64,
}

/// The goal of the tiles.
struct TileGoal {
    /// The extents of the digits, and whether they are the top ones of their dims, in storage order, minor first.
    extents: Vec<u64>,
    top: Vec<bool>,
    /// The extents of the digits in storage.
    rooms: Vec<u64>,
    /// After digit `.0`, all digits so far are merged and padded to `.1` elements.
    breaks: Vec<(usize, u64)>,
}

/// Returns a layout with the dims in `order` (major to minor), with tiles that may or may not succeed: the caller
/// verifies it. With `by_tile`, a storage longer than the digits need comes from a tile, not from `L`.
pub(super) fn layout(
    order: &[usize],
    digits: &[RaisedDigit],
    tensor: &TensorLayout,
    by_tile: bool,
) -> Option<Layout> {
    let capacity = tensor.capacity();
    let (task, phantom) = TileGoal::new(digits, capacity, by_tile);
    let mut list = Vec::new();
    for &dim in order {
        let numbers = (0..digits.len()).filter(|&at| digits[at].dim == dim);
        let mut numbers: Vec<usize> = numbers.collect();
        tilewright_core::sort_short(&mut numbers, |&at| digits[at].div);
        let digits = numbers.into_iter().map(|at| at + usize::from(phantom)).collect();
        list.push(DigitGroup { digits, bound: *tensor.extents().get(dim)? });
    }
    if phantom {
        // A dim of one coordinate in the most minor position can take the padding; otherwise a dim before all.
        match list.last_mut() {
            Some(piece) if piece.digits.is_empty() => piece.digits.push(0),
            _ => list.insert(0, DigitGroup { digits: vec![0], bound: 1 }),
        }
    }
    let tiles = task.tiles(list)?;
    let minor_to_major: Vec<u64> = order.iter().rev().map(|&dim| dim as u64).collect();
    let layout = Layout::new(&minor_to_major).ok()?.with_tiles(&tiles);
    let padded = layout.padded_elements(tensor.extents()).ok()?;
    if padded == capacity {
        return Some(layout);
    }
    layout.with_tail_padding_alignment(alignment(padded, capacity)?).ok()
}

/// Returns the smallest alignment found that rounds `padded` elements up to `capacity`.
fn alignment(padded: u64, capacity: u64) -> Option<u64> {
    let more = capacity.checked_sub(padded)?;
    let small = (1..=DIVISORS.min(capacity)).filter(|&divisor| capacity.is_multiple_of(divisor));
    small.flat_map(|divisor| [divisor, capacity / divisor]).filter(|&divisor| divisor > more).min()
}

impl TileGoal {
    /// Returns the task, and whether digit 0 belongs to no dim: it is the space below the smallest stride.
    fn new(digits: &[RaisedDigit], capacity: u64, by_tile: bool) -> (TileGoal, bool) {
        let lowest =
            digits.first().map_or(if by_tile { capacity } else { 1 }, |digit| digit.stride);
        let phantom = lowest > 1;
        let mut task = TileGoal { extents: vec![], top: vec![], rooms: vec![], breaks: vec![] };
        if phantom {
            task.push(1, true, lowest);
        }
        for (at, digit) in digits.iter().enumerate() {
            let next = digits.get(at + 1).map(|next| next.stride);
            let room = match next.or(by_tile.then_some(capacity)) {
                Some(next) if next.is_multiple_of(digit.stride) => next / digit.stride,
                Some(next) => {
                    task.breaks.push((at + usize::from(phantom), next));
                    digit.extent
                }
                None => digit.extent,
            };
            task.push(digit.extent, digit.top, room);
        }
        (task, phantom)
    }

    fn push(&mut self, extent: u64, top: bool, room: u64) {
        self.extents.push(extent);
        self.top.push(top);
        self.rooms.push(room);
    }

    fn tiles(&self, mut list: Vec<DigitGroup>) -> Option<Vec<Tile>> {
        let (mut tiles, mut start, mut left) = (Vec::new(), 0, self.extents.len());
        // Each round takes a digit, fixes bounds or splits a piece.
        for _ in 0..=4 * self.extents.len() {
            while list.get(start).is_some_and(|piece| self.settled(piece, left)) {
                left -= list[start].digits.len();
                start += 1;
            }
            if start == list.len() {
                return self.breaks(list, tiles);
            }
            let active = list.split_off(start);
            let taken = self.plan(&active, left)?;
            let (tile, mut next) = self.apply(active, &taken);
            tiles.push(Tile::sizes(&tile).ok()?);
            list.append(&mut next);
        }
        None
    }

    /// Returns whether a piece is in its final position: its digits are the next of `left`, with their extents in storage.
    fn settled(&self, piece: &DigitGroup, left: usize) -> bool {
        let count = piece.digits.len();
        let in_order =
            piece.digits.iter().rev().enumerate().all(|(i, &digit)| digit + i + 1 == left);
        count <= left && in_order && self.fits(&piece.digits, piece.bound)
    }

    /// Returns whether digits that share a working dim of this bound all have their extents in storage.
    fn fits(&self, digits: &[usize], bound: u64) -> bool {
        let Some((&last, lower)) = digits.split_last() else {
            return bound == 1;
        };
        let breaks = |digit| self.breaks.iter().any(|&(at, _)| at == digit);
        let full = |&digit: &usize| self.rooms[digit] == self.extents[digit] && !breaks(digit);
        let exact = lower.iter().all(full);
        exact && self.low(lower).checked_mul(self.rooms[last]) == Some(bound)
    }

    /// Returns the product of the extents of digits.
    fn low(&self, digits: &[usize]) -> u64 {
        digits.iter().fold(1, |product: u64, &digit| product.saturating_mul(self.extents[digit]))
    }

    /// Returns the bound that a piece should have.
    fn wanted(&self, piece: &DigitGroup) -> u64 {
        match piece.digits.split_last() {
            None => 1,
            Some((&last, [])) => self.rooms[last],
            Some((&last, lower)) if self.top[last] => {
                self.low(lower).saturating_mul(self.rooms[last])
            }
            Some(_) => piece.bound,
        }
    }

    /// Returns how many top digits the next tile takes from each piece.
    fn plan(&self, active: &[DigitGroup], left: usize) -> Option<Vec<usize>> {
        let taken = self.longest(active, left);
        let pads = active.iter().any(|piece| self.wanted(piece) != piece.bound);
        if pads || taken.iter().any(|&count| count > 0) {
            return Some(taken);
        }
        // The next digit is inside a piece: take the digits above it, or, to be padded, the digit itself.
        let inside = |piece: &DigitGroup| piece.digits.iter().position(|&digit| digit + 1 == left);
        let mut above = taken;
        for (count, piece) in above.iter_mut().zip(active) {
            if let Some(at) = inside(piece) {
                *count = (piece.digits.len() - 1 - at).max(1);
            }
        }
        above.iter().any(|&count| count > 0).then_some(above)
    }

    /// Returns the longest run of next digits that one tile takes.
    fn longest(&self, active: &[DigitGroup], mut left: usize) -> Vec<usize> {
        let mut taken = vec![0; active.len()];
        let mut from = 0;
        while left > 0 {
            let next = (from..active.len()).find(|&at| {
                let digits = &active[at].digits;
                digits.len().checked_sub(taken[at] + 1).is_some_and(|top| digits[top] + 1 == left)
            });
            let Some(at) = next else { break };
            let (low, high) = active[at].digits.split_at(active[at].digits.len() - taken[at] - 1);
            if !self.fits(high, active[at].bound.div_ceil(self.low(low))) {
                break;
            }
            taken[at] += 1;
            from = at;
            left -= 1;
        }
        taken
    }

    /// Returns the tile that takes `taken[i]` top digits of piece `i`, and the working dims after it.
    fn apply(&self, active: Vec<DigitGroup>, taken: &[usize]) -> (Vec<u64>, Vec<DigitGroup>) {
        let (mut tile, mut outer, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, &count) in active.into_iter().zip(taken) {
            let (low, high) = piece.digits.split_at(piece.digits.len() - count);
            let size = if count == 0 { self.wanted(&piece) } else { self.low(low) };
            tile.push(size);
            outer.push(DigitGroup {
                digits: high.to_vec(),
                bound: piece.bound.div_ceil(size.max(1)),
            });
            inner.push(DigitGroup { digits: low.to_vec(), bound: size });
        }
        outer.append(&mut inner);
        (tile, outer)
    }

    /// Adds a merging tile for each stride that is not a multiple of the one before.
    fn breaks(&self, mut list: Vec<DigitGroup>, mut tiles: Vec<Tile>) -> Option<Vec<Tile>> {
        for &(digit, size) in &self.breaks {
            let within =
                |piece: &DigitGroup| piece.digits.iter().max().is_some_and(|&top| top <= digit);
            let from = list.iter().position(within)?;
            let merged = list.split_off(from);
            let mut dims = vec![TileDim::Combine; merged.len() - 1];
            dims.push(TileDim::Size(size));
            tiles.push(Tile::new(&dims).ok()?);
            let digits = merged.into_iter().flat_map(|piece| piece.digits).collect();
            list.extend([
                DigitGroup { digits: vec![], bound: 1 },
                DigitGroup { digits, bound: size },
            ]);
        }
        Some(tiles)
    }
}
