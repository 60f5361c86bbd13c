//! Tile assignments, and the form in which XLA prints them.

use std::fmt;

use super::{Body, TileKind};
use crate::{Error, nested::sequence, scan::comma};

/// Tiles of an array and of the dims that devices share, and the devices of all tiles, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiled {
    pub(super) tile: Vec<u64>,
    pub(super) devices: Assignment,
    /// The kinds of the last tile dims.
    pub(super) kinds: Vec<TileKind>,
}

/// Devices as a list, or as 0, 1, … of these dims, transposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    List(Vec<u64>),
    Iota { dims: Vec<u64>, order: Vec<usize> },
}

impl Assignment {
    /// Returns the shortest assignment of these numbers: an iota if possible.
    pub(super) fn of(numbers: Vec<u64>) -> Assignment {
        let signed: Vec<i128> = numbers.iter().map(|number| i128::from(*number)).collect();
        let Some(digits) = sequence(&signed) else { return Assignment::List(numbers) };
        let mut digits: Vec<(i128, u64)> =
            digits.into_iter().map(|(size, _, stride)| (stride, size)).collect();
        digits.reverse();
        let mut sorted = digits.clone();
        tilewright_core::sort_short(&mut sorted, |digit| std::cmp::Reverse(*digit));
        let counted = sorted.iter().rev().try_fold(1i128, |product, (stride, size)| {
            (*stride == product).then_some(product * i128::from(*size))
        });
        if counted.is_none() || numbers.first() != Some(&0) {
            return Assignment::List(numbers);
        }
        let place = |digit: &(i128, u64)| sorted.iter().position(|other| other == digit);
        let order = digits.iter().filter_map(place).collect();
        Assignment::Iota { dims: sorted.iter().map(|(_, size)| *size).collect(), order }
    }

    /// Returns the numbers, row-major over the tiles.
    pub(super) fn numbers(&self) -> Vec<u64> {
        match self {
            Assignment::List(numbers) => numbers.clone(),
            Assignment::Iota { dims, order } => iota(dims, order),
        }
    }
}

/// Returns 0, 1, … in these dims, transposed: the numbers in the order of the result.
pub(super) fn iota(dims: &[u64], order: &[usize]) -> Vec<u64> {
    let stride = |at: usize| dims.iter().skip(at + 1).product::<u64>();
    let mut numbers = vec![0];
    for at in order {
        let size = dims.get(*at).copied().unwrap_or(1);
        let stride = stride(*at);
        let digits = |number: u64| (0..size).map(move |digit| number + digit * stride);
        numbers = numbers.into_iter().flat_map(digits).collect();
    }
    numbers
}

impl Tiled {
    /// Returns an error unless the array's rank is the number of tile dims minus that of kinds.
    pub(super) fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let given = self.tile.len().saturating_sub(self.kinds.len());
        match given == rank {
            true => Ok(()),
            false => Err(Error::mismatch(format!("{given} tile dims for an array of {rank} dims"))),
        }
    }

    /// Returns an error if devices share a tile in a way that does not define its values.
    pub(super) fn check_held(&self) -> Result<(), Error> {
        let other = self.kinds.iter().find(|kind| **kind != TileKind::Replicated);
        other.map_or(Ok(()), |kind| Err(kind.refused()))
    }

    /// Returns the form that XLA prints: kinds are sorted and joined, devices with equal contents are sorted, and sizes
    /// of 1 and other redundant parts are left out.
    pub(super) fn canonical(mut self) -> Body {
        self.sort_kinds();
        if self.kinds == [TileKind::Replicated] {
            self.sort_replicas();
        }
        let data = self.tile.len().saturating_sub(self.kinds.len());
        let bare = self.tile.iter().take(data).all(|size| *size == 1);
        match self.kinds[..] {
            [kind @ (TileKind::Replicated | TileKind::Manual)] if bare => return Body::Word(kind),
            [TileKind::Replicated] if self.tile.last() == Some(&1) => {
                self.tile.pop();
                self.kinds.clear();
            }
            _ => {}
        }
        if let Assignment::Iota { .. } = self.devices {
            self.devices = Assignment::of(self.devices.numbers());
        }
        Body::Tiled(self)
    }

    /// Sorts the kinds, and joins equal ones.
    fn sort_kinds(&mut self) {
        let data = self.tile.len().saturating_sub(self.kinds.len());
        let mut order: Vec<usize> = (0..self.kinds.len()).collect();
        tilewright_core::sort_short(&mut order, |at| self.kinds.get(*at).copied());
        if order.windows(2).any(|pair| pair[0] > pair[1]) {
            let places: Vec<usize> = (0..data).chain(order.iter().map(|at| data + at)).collect();
            let numbers = self.devices.numbers();
            let moved = iota(&self.tile, &places);
            let moved = moved.iter().filter_map(|at| numbers.get(usize::try_from(*at).ok()?));
            let numbers: Vec<u64> = moved.copied().collect();
            self.devices = match self.devices {
                Assignment::Iota { .. } => Assignment::of(numbers),
                Assignment::List(_) => Assignment::List(numbers),
            };
            let tile = places.iter().filter_map(|at| self.tile.get(*at).copied());
            self.tile = tile.collect();
        }
        let kinds: Vec<TileKind> =
            order.iter().filter_map(|at| self.kinds.get(*at).copied()).collect();
        let sizes: Vec<u64> = self.tile.split_off(data);
        self.kinds.clear();
        for (kind, size) in kinds.into_iter().zip(sizes) {
            match (self.kinds.last() == Some(&kind), self.tile.last_mut()) {
                (true, Some(joined)) => *joined *= size,
                (true | false, _) => {
                    self.kinds.push(kind);
                    self.tile.push(size);
                }
            }
        }
    }

    /// Sorts the devices that hold the same tile.
    fn sort_replicas(&mut self) {
        let each = self.tile.last().and_then(|size| usize::try_from(*size).ok()).unwrap_or(1);
        let mut numbers = self.devices.numbers();
        if numbers.chunks(each.max(1)).any(|group| !group.is_sorted()) {
            numbers.chunks_mut(each.max(1)).for_each(<[u64]>::sort_unstable);
            self.devices = match self.devices {
                Assignment::Iota { .. } => Assignment::of(numbers),
                Assignment::List(_) => Assignment::List(numbers),
            };
        }
    }
}

impl fmt::Display for Tiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "devices=[{}]", comma(&self.tile))?;
        match &self.devices {
            Assignment::List(numbers) => f.write_str(&comma(numbers))?,
            Assignment::Iota { dims, order } => {
                let count: u64 = dims.iter().product();
                let plain = order.iter().enumerate().all(|(at, place)| at == *place);
                match plain {
                    true => write!(f, "<=[{count}]")?,
                    false => write!(f, "<=[{}]T({})", comma(dims), comma(order))?,
                }
            }
        }
        match self.kinds[..] {
            [] => Ok(()),
            [TileKind::Replicated] => f.write_str(" last_tile_dim_replicate"),
            _ => {
                let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.word()).collect();
                write!(f, " last_tile_dims={{{}}}", kinds.join(", "))
            }
        }
    }
}
