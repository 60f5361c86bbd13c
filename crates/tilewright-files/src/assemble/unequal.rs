//! Checks the conditions on the source, and reports the first element that violates one. Running an assembly begins with it.

use super::{
    assembling::Assembling,
    equal::Equality,
    hands::{Hands, Rooms},
    stored::Take,
    whole::{Way, Whole},
};
use crate::{Error, transfer::run::Means, verify::crew::Crew};

impl Assembling<'_> {
    /// Iterates over the tensors that are compared.
    pub(crate) fn equal_tensors(&self) -> impl Iterator<Item = Take> {
        self.equal.iter().flat_map(|equality| equality.sides.iter().flat_map(Whole::taken))
    }

    /// Returns an error if a condition is violated.
    pub(crate) fn check_equal(&self, means: &Means<'_>) -> Result<(), Error> {
        let (rooms, lanes) = (self.rooms(), self.lanes());
        let places = self.places(&means.budget, rooms.rows)?;
        // Two boxes are in memory at the same time.
        let room = rooms.out / 2;
        let rooms = Rooms { out: room.max(1), ..rooms };
        for equality in &self.equal {
            let [first, second] = &equality.sides;
            let first = first.boxed_by(room);
            let second = second.like(&first).ok_or_else(|| {
                Error::usage(format!("{} is cut into too many parts", equality.equal.why))
            })?;
            let Way::Boxes(grid) = &first.way else { continue };
            let crew = Crew::new(means.watch, &means.budget, lanes as usize);
            let budget = &means.budget;
            let join = || {
                let mut hands = [(); 2].map(|()| Hands::new(&places, budget, rooms.half()));
                let (first, second) = (&first, &second);
                Ok(move |number: &u64| equality.differs(&mut hands, [first, second], *number))
            };
            let count = grid.count(first.units);
            let found = crew.first(lanes as usize, 0..count, (|_: &u64| 0, 1, 0), join)?;
            if let Some((number, bits)) = found {
                return Err(self.unequal(equality, number, bits));
            }
        }
        Ok(())
    }

    fn unequal(&self, equality: &Equality, number: u64, [first, second]: [u128; 2]) -> Error {
        let (why, place) = (&equality.equal.why, equality.place(number));
        let tensor = self.source.tensors().get(equality.tensor);
        let coord = tensor.map_or(String::new(), |tensor| {
            let extents = tensor.dims().iter().rev();
            let (_, mut coord) = extents.fold((place, Vec::new()), |(rest, mut coord), extent| {
                coord.push(rest % extent.max(&1));
                (rest / extent.max(&1), coord)
            });
            coord.reverse();
            format!("tensor {:?} at {coord:?}", tensor.name)
        });
        let said = format!("{why}: {coord} has {first:#x}, expected {second:#x}");
        Error::corrupt(&self.source.path, said)
    }
}
