//! The walk over digits: a sum of one stride per digit, as long as tile boundaries fall between digits.
//!
//! A working dim is a list of atoms. An atom is a digit of one logical dim, `⌊x / div⌋ mod extent`, with the weight
//! `place` in the working dim. The atoms nest: the sum of those below an atom stays below its place. A tile boundary `t` is
//! harmless if each atom is entirely below it, is a multiple of it, or can be cut at `t / place`: evenly, or anywhere if it
//! is the top digit of its dim, where rounding up is padding.
//!
//! At any other boundary the whole working dim becomes a lump, a dim of its own with its own digits. If the digits of a
//! lump chain in the end, the lump has one stride, and so have its atoms: `T(*,5)` on the most minor dims only pads.
//!
//! The result nests: each stride is larger than the reach of all smaller digits.

use tilewright_core::{Layout as Strided, MAX_MODES, Mode, TensorLayout};

use super::DimWalk;
use crate::Layout;

/// A digit of a logical dim or a lump within a working dim.
#[derive(Clone, Copy)]
struct Atom {
    /// The logical dim; numbers from the rank on are lumps.
    dim: usize,
    div: u64,
    extent: u64,
    /// The extent in storage; more than `extent` is padding, which only a top digit has.
    room: u64,
    place: u64,
    /// Set if the dim has no more significant digit.
    top: bool,
}

/// A working dim: its atoms, minor to major, and its extent in storage.
struct WorkingDim {
    atoms: Vec<Atom>,
    bound: u64,
}

/// A stride or a size beyond 64 bits.
struct Beyond;

/// The state of the walk; it collects lumps.
struct SplitState {
    rank: usize,
    lumps: Vec<WorkingDim>,
}

impl DimWalk for SplitState {
    type Axis = WorkingDim;
    type Stop = Beyond;

    fn unit(&self) -> WorkingDim {
        WorkingDim { atoms: Vec::new(), bound: 1 }
    }

    fn merge(&mut self, major: WorkingDim, mut minor: WorkingDim) -> Result<WorkingDim, Beyond> {
        for mut atom in major.atoms {
            atom.place = atom.place.checked_mul(minor.bound).ok_or(Beyond)?;
            match minor.atoms.last_mut() {
                Some(last) if last.continues(&atom) => *last = last.joined(&atom).ok_or(Beyond)?,
                _ => minor.atoms.push(atom),
            }
        }
        minor.bound = minor.bound.checked_mul(major.bound).ok_or(Beyond)?;
        Ok(minor)
    }

    fn split(&mut self, axis: WorkingDim, by: u64) -> Result<(WorkingDim, WorkingDim), Beyond> {
        if let Some(parts) = axis.parts(by) {
            return Ok(parts);
        }
        let mut extent = 1u64;
        for atom in &axis.atoms {
            extent = (atom.extent - 1)
                .checked_mul(atom.place)
                .and_then(|x| x.checked_add(extent))
                .ok_or(Beyond)?;
        }
        let (dim, room) = (self.rank + self.lumps.len(), axis.bound);
        let lump = Atom { dim, div: 1, extent, room, place: 1, top: true };
        let whole = WorkingDim { atoms: vec![lump], bound: axis.bound };
        self.lumps.push(axis);
        whole.parts(by).ok_or(Beyond)
    }
}

impl WorkingDim {
    /// Returns the quotient and the remainder by `by`, if the boundary falls between digits.
    fn parts(&self, by: u64) -> Option<(WorkingDim, WorkingDim)> {
        let last = self.atoms.iter().rposition(|atom| atom.extent > 1);
        let last = last.or(self.atoms.len().checked_sub(1));
        let mut outer = WorkingDim { atoms: Vec::new(), bound: self.bound.div_ceil(by) };
        let mut inner = WorkingDim { atoms: Vec::new(), bound: by };
        for (at, &atom) in self.atoms.iter().enumerate() {
            match atom.place.checked_mul(atom.extent) {
                Some(end) if end <= by => inner.atoms.push(atom.below(by, Some(at) == last)),
                _ if atom.place.is_multiple_of(by) || atom.extent == 1 => {
                    outer.atoms.push(Atom { place: atom.place / by, ..atom });
                }
                _ => {
                    let (low, high) = atom.cut(by)?;
                    inner.atoms.push(low);
                    outer.atoms.push(high);
                }
            }
        }
        Some((outer, inner))
    }
}

impl Atom {
    /// Returns whether `high` is the next digit of the same dim, at the next place.
    fn continues(&self, high: &Atom) -> bool {
        self.dim == high.dim
            && self.room == self.extent
            && self.div.checked_mul(self.extent) == Some(high.div)
            && self.place.checked_mul(self.extent) == Some(high.place)
    }

    /// Joins the two digits into one.
    fn joined(&self, high: &Atom) -> Option<Atom> {
        let extent = self.extent.checked_mul(high.extent)?;
        Some(Atom { extent, room: self.extent.checked_mul(high.room)?, top: high.top, ..*self })
    }

    /// Returns the atom below boundary `by`; the `last` atom of its working dim may be padded up to the boundary.
    fn below(self, by: u64, last: bool) -> Atom {
        let room = by / self.place;
        let widens = self.top && last && by.is_multiple_of(self.place);
        Atom { room: if widens { room } else { self.room.min(room) }, ..self }
    }

    /// Returns the parts below and above a boundary inside the atom.
    fn cut(self, by: u64) -> Option<(Atom, Atom)> {
        let extent = by / self.place;
        if !by.is_multiple_of(self.place) || !(self.top || self.extent.is_multiple_of(extent)) {
            return None;
        }
        let low = Atom { extent, room: extent, top: false, ..self };
        let (high, room) = (self.extent.div_ceil(extent), self.room.div_ceil(extent));
        let div = self.div.checked_mul(extent)?;
        Some((low, Atom { div, extent: high, room, place: 1, ..self }))
    }
}

/// Returns the strided form, if there is one within the limits. `dims` fit the layout and are not 0.
pub(super) fn lower(layout: &Layout, dims: &[u64], capacity: u64) -> Option<TensorLayout> {
    let whole = |&dim: &u64| {
        let dim = usize::try_from(dim).ok()?;
        let extent = *dims.get(dim)?;
        let atom = Atom { dim, div: 1, extent, room: extent, place: 1, top: true };
        Some(WorkingDim { atoms: vec![atom], bound: extent })
    };
    let axes: Option<Vec<WorkingDim>> = layout.minor_to_major().iter().rev().map(whole).collect();
    let mut split = SplitState { rank: dims.len(), lumps: Vec::new() };
    let axes = split.walk(axes?, layout.tiles()).ok()?;
    let digits = strides(&axes, split)?;
    // The digits of a lump may use less than the space of the digits merged into it.
    let axes = axes_of(&digits, true).or_else(|| axes_of(&digits, false))?;
    let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
    let strided = Strided::nested(&axes.concat(), &counts).ok()?;
    TensorLayout::new(dims, &strided, capacity).ok()
}

/// Returns the modes of each dim, with or without padding, if they nest.
fn axes_of(digits: &[Vec<PlacedDigit>], padded: bool) -> Option<Vec<Vec<Mode>>> {
    let axes = digits.iter().map(|digits| ordered(digits, padded)).collect();
    Some(shortened(axes)).filter(|axes| nests(axes.concat()))
}

/// The divisor, extent and mode of a digit.
type PlacedDigit = (u64, u64, Mode);

/// Returns the digits of each logical dim with their strides, unless a lump has several strides.
fn strides(axes: &[WorkingDim], split: SplitState) -> Option<Vec<Vec<PlacedDigit>>> {
    let mut digits = vec![Vec::new(); split.rank + split.lumps.len()];
    let mut weight = 1u64;
    for axis in axes.iter().rev() {
        spread(axis, weight, &mut digits)?;
        weight = weight.checked_mul(axis.bound)?;
    }
    for lump in split.lumps.iter().rev() {
        let stride = common_stride(digits.pop()?)?;
        spread(lump, stride, &mut digits)?;
    }
    Some(digits)
}

/// Adds the atoms of a working dim of this weight to the digits of their dims.
fn spread(axis: &WorkingDim, weight: u64, digits: &mut [Vec<PlacedDigit>]) -> Option<()> {
    for atom in &axis.atoms {
        let stride = i64::try_from(weight.checked_mul(atom.place)?).ok()?;
        digits.get_mut(atom.dim)?.push((atom.div, atom.extent, Mode::new(atom.room, stride)));
    }
    Some(())
}

/// Returns the stride of a lump whose digits chain.
fn common_stride(mut digits: Vec<PlacedDigit>) -> Option<u64> {
    digits.retain(|&(_, extent, _)| extent > 1);
    tilewright_core::sort_short(&mut digits, |&(div, _, _)| div);
    let Some(&(_, _, first)) = digits.first() else { return Some(1) };
    let stride = u64::try_from(first.stride()).ok()?;
    let chains = |&(div, _, mode): &PlacedDigit| {
        i128::from(mode.stride()) == i128::from(div) * i128::from(stride)
    };
    digits.iter().all(chains).then_some(stride)
}

/// Returns a dim's modes, the fastest first, without those of extent 1 unless there is no other.
fn ordered(digits: &[PlacedDigit], padded: bool) -> Vec<Mode> {
    let mut digits = digits.to_vec();
    tilewright_core::sort_short(&mut digits, |&(div, extent, mode)| {
        (div, extent == 1, mode.extent() == 1)
    });
    let mode = |&(_, extent, mode): &PlacedDigit| {
        if padded { mode } else { Mode::new(extent, mode.stride()) }
    };
    let modes: Vec<Mode> = digits.iter().map(mode).collect();
    let longer: Vec<Mode> = modes.iter().copied().filter(|mode| mode.extent() > 1).collect();
    if longer.is_empty() { modes.into_iter().take(1).collect() } else { longer }
}

/// Returns whether each stride exceeds the reach of all smaller modes. A lump may violate this if a tile is larger
/// than the part that the lump uses but smaller than its bound.
fn nests(mut modes: Vec<Mode>) -> bool {
    modes.retain(|mode| mode.extent() > 1);
    tilewright_core::sort_short(&mut modes, |mode| mode.stride());
    modes.windows(2).all(|pair| match pair {
        [low, high] => {
            i128::from(low.stride()) * i128::from(low.extent()) <= i128::from(high.stride())
        }
        _ => true,
    })
}

/// Merges modes that chain, if there are more than a layout can hold.
fn shortened(mut axes: Vec<Vec<Mode>>) -> Vec<Vec<Mode>> {
    if axes.iter().map(Vec::len).sum::<usize>() > MAX_MODES {
        for modes in &mut axes {
            *modes = chained(modes);
        }
    }
    axes
}

/// Merges each mode that continues the one before it.
pub(crate) fn chained(modes: &[Mode]) -> Vec<Mode> {
    let mut merged: Vec<Mode> = Vec::new();
    for &mode in modes {
        match merged.last_mut() {
            Some(last) if continues(*last, mode) => {
                *last = Mode::new(last.extent().saturating_mul(mode.extent()), last.stride());
            }
            _ => merged.push(mode),
        }
    }
    merged
}

fn continues(low: Mode, high: Mode) -> bool {
    i128::from(low.stride()) * i128::from(low.extent()) == i128::from(high.stride())
}
