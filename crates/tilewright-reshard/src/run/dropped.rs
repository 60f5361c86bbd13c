//! Elements of the source that belong to no index of an array: rows that a rule calls padding, such as those of
//! `megatron:vocab(pad=64)`. Runs drop them, after a look at their values; remarks count them.
//!
//! Law: the boxes of a local array here and its pieces partition its coordinates.

use tilewright_core::TensorLayout;
use tilewright_transfer::Limits;

use crate::{
    Error, Job,
    plan::array::{LocalArrays, Meet, ReshardedArray, size},
    run::{
        FileTable, failure,
        moves::{BoxBuffer, about, parts},
    },
};

/// A box: its first index, and its extents.
type Area = (Vec<u64>, Vec<u64>);

/// Returns the rest of a box without another: at most two boxes for each dim.
fn without((start, extents): &Area, (from, lengths): (&[u64], &[u64])) -> Vec<Area> {
    let (mut rest, mut left) = (Vec::new(), (start.clone(), extents.clone()));
    for dim in 0..start.len() {
        let (first, end) = (left.0[dim], left.0[dim] + left.1[dim]);
        let (low, high) =
            (from[dim].clamp(first, end), (from[dim] + lengths[dim]).clamp(first, end));
        if low >= high {
            return vec![(start.clone(), extents.clone())];
        }
        for (first, end) in [(first, low), (high, end)] {
            let mut part = left.clone();
            (part.0[dim], part.1[dim]) = (first, end - first);
            rest.extend((first < end).then_some(part));
        }
        (left.0[dim], left.1[dim]) = (low, high - low);
    }
    rest
}

impl LocalArrays {
    /// Returns the boxes of the local array of this number that are in no piece.
    fn dropped(&self, number: usize) -> Vec<Area> {
        let Some(stored) = self.stored.get(number) else { return Vec::new() };
        let dims = stored.laid.dims();
        let held = self.pieces.iter().chain(&self.copies);
        let own = held.filter(|piece| piece.source == number as u64);
        own.fold(vec![(vec![0; dims.len()], dims.to_vec())], |rest, piece| {
            rest.iter().flat_map(|area| without(area, (&piece.local, &piece.extents))).collect()
        })
    }

    /// Returns the number of elements that are in no piece.
    fn padding(&self) -> u64 {
        let held = self.pieces.iter().chain(&self.copies).map(|piece| size(&piece.extents));
        let all = self.stored.iter().map(|stored| size(stored.laid.dims()));
        all.fold(0, u64::saturating_add).saturating_sub(held.fold(0, u64::saturating_add))
    }
}

impl Job {
    /// Returns a sentence, without a full stop, about the elements of the source that the result does not hold.
    pub(crate) fn dropped(&self) -> Option<String> {
        let padded: Vec<&ReshardedArray> = self.padded().map(|(_, array)| array).collect();
        let name = &padded.first()?.name;
        let more = match padded.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let counts = padded.iter().map(|array| in_elements(array, array.held.padding()));
        let all = counts.fold(0, u64::saturating_add);
        Some(format!("{all} values of padding in the files of {name:?}{more} are dropped"))
    }

    /// Iterates over the arrays whose files have padding, with their numbers.
    fn padded(&self) -> impl Iterator<Item = (usize, &ReshardedArray)> {
        let all = self.source.arrays.iter().enumerate();
        all.filter(|(_, array)| array.held.padding() > 0)
    }

    /// Returns an error if padding of the source has values other than 0, unless the request drops these, too.
    pub(crate) fn check_padding(&self, limits: &Limits<'_>) -> Result<(), Error> {
        if self.request.drops_padding {
            return Ok(());
        }
        let files = FileTable::of(&self.source.files);
        let mut room = BoxBuffer::new(limits.budget(), self.buffers())?;
        for (number, array) in self.padded() {
            for stored in 0..array.held.stored.len() {
                for area in array.held.dropped(stored) {
                    if limits.watch().cancelled() {
                        return Err(Error::new("cancelled", "cancelled before any task began"));
                    }
                    self.check_area(&files, &mut room, ((number, array), stored, area))?;
                }
            }
        }
        Ok(())
    }

    /// Returns an error if a box of a local array has a value other than 0.
    fn check_area(
        &self,
        files: &FileTable,
        room: &mut BoxBuffer,
        ((number, array), stored, (start, extents)): ((usize, &ReshardedArray), usize, Area),
    ) -> Result<(), Error> {
        let Some(stored) = array.held.stored.get(stored) else { return Ok(()) };
        let Some(at) = self.source.places.at(stored.file, number) else { return Ok(()) };
        let (file, path) = files.open(stored.file)?;
        let meet = Meet { local: start, within: vec![0; extents.len()], extents };
        let width = u64::from(array.bits / 8).max(1);
        for Meet { local, extents, .. } in parts(&meet, array.bits, self.buffers()) {
            let begun = room.begin(&extents, array.bits, size(&extents).saturating_mul(width));
            begun.map_err(|failed| about(failed, &array.name))?;
            let part = Meet { within: vec![0; extents.len()], local, extents };
            let read = room.read(&file, (&stored.laid.layout, at), &part);
            read.map_err(|failed| failure(failed, "read", path, &array.name))?;
            if let Some(byte) = room.bytes().iter().position(|byte| *byte != 0) {
                let within =
                    TensorLayout::row_major(&part.extents)?.coord_of(byte as u64 / width)?;
                let place = within.as_slice().iter().zip(&part.local);
                let mut place: Vec<u64> = place.map(|(at, from)| at + from).collect();
                if let Some(last) = place.last_mut() {
                    *last = in_elements(array, *last);
                }
                let file = files.name(stored.file);
                let said = format!(
                    "tensor {:?}: {file} has a value other than 0 at {place:?}, which its rule calls padding",
                    array.name
                );
                return Err(Error::new("padding", format!("{said}; the result would lose it")));
            }
        }
        Ok(())
    }
}

/// Returns a count of bytes of blocks as one of elements; those of other arrays count elements already.
fn in_elements(array: &ReshardedArray, count: u64) -> u64 {
    array.unit().map_or(count, |unit| unit.elements(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all boxes in a small one, the rest and the box partition it.
    #[test]
    fn a_box_and_the_rest_partition_the_whole() {
        let whole = (vec![0, 0], vec![3, 4]);
        for (a, b) in (0..4u64).flat_map(|a| (0..5u64).map(move |b| (a, b))) {
            for (c, d) in (0..4u64).flat_map(|c| (0..5u64).map(move |d| (c, d))) {
                let mut seen = [[0; 4]; 3];
                let mut add = |start: &[u64], extents: &[u64]| {
                    for row in start[0]..(start[0] + extents[0]).min(3) {
                        for column in start[1]..(start[1] + extents[1]).min(4) {
                            seen[row as usize][column as usize] += 1;
                        }
                    }
                };
                let rest = without(&whole, (&[a, b], &[c, d]));
                rest.iter().for_each(|(start, extents)| add(start, extents));
                let meets = a < 3 && b < 4 && c > 0 && d > 0;
                add(&[a, b], &if meets { [c, d] } else { [0, 0] });
                let covered = seen.iter().flatten().all(|count| *count == 1);
                assert!(covered, "{:?} on {:?}: {seen:?}", [a, b], [c, d]);
            }
        }
    }
}
