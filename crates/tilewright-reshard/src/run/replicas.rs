//! Several pieces that are copies of one box: the first is read, and the others are compared with it, element by
//! element. Runs and verification use it.
//!
//! Without the comparison, a wrong rule would drop data without an error: with `[Replicate()]` for ranks that hold
//! different parts, shapes and lengths fit.

use std::fs::File;

use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::{Budget, Buffer, part};

use crate::{
    Error,
    plan::{array::Meet, cut::Boxes},
    run::moves::{BoxBuffer, MoveError},
};

/// Buffers in which a piece is compared with a box in memory, part by part.
pub(crate) struct Replica {
    room: BoxBuffer,
    /// The corresponding part of the box.
    known: Option<Buffer>,
    budget: Budget,
    /// The most bytes of a part.
    most: u64,
}

impl Replica {
    /// Makes buffers of at most four times this many bytes together.
    pub(crate) fn new(budget: &Budget, most: u64) -> Result<Replica, Error> {
        Ok(Replica {
            room: BoxBuffer::new(budget, most)?,
            known: None,
            budget: budget.clone(),
            most,
        })
    }

    /// Returns the first element at which the piece in this file differs from the box `known`.
    pub(crate) fn difference(
        &mut self,
        known: &BoxBuffer,
        file: &File,
        from: (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<Option<Vec<u64>>, MoveError> {
        let width = u64::from(known.bits / 8);
        for Meet { local, within, extents } in parts(meet, known.bits, self.most) {
            let zeros = vec![0; extents.len()];
            let layout = TensorLayout::row_major(&extents)?;
            let program = Program::of_part(
                (&known.layout, &within),
                (&layout, &zeros),
                &extents,
                Elements::same(known.bits),
            )?;
            let bytes = extents.iter().product::<u64>() * width;
            let own = self.budget.grown(&mut self.known, bytes, self.most)?;
            let own = part(own, 0, bytes)?;
            Plan::of(program).run_range(0..bytes, known.bytes(), own)?;
            self.room.begin(&extents, known.bits, bytes)?;
            let meet = Meet { local, within: zeros, extents: extents.clone() };
            self.room.read(file, from, &meet)?;
            let mut pairs = own.iter().zip(self.room.bytes());
            if own != self.room.bytes()
                && let Some(byte) = pairs.position(|(known, own)| known != own)
            {
                let index = layout.coord_of(byte as u64 / width.max(1))?;
                let index = index.as_slice().iter().zip(&within).map(|(at, from)| at + from);
                return Ok(Some(index.collect()));
            }
        }
        Ok(None)
    }
}

/// Splits a copy into the parts in which it is compared, each of at most this many bytes.
pub(crate) fn parts(meet: &Meet, bits: u32, most: u64) -> impl Iterator<Item = Meet> {
    let cut = Boxes::new(&meet.extents, u64::from(bits / 8), most, &[]);
    (0..cut.count()).map(move |number| {
        let (start, extents) = cut.at(number);
        let behind = |at: &[u64]| at.iter().zip(&start).map(|(at, start)| at + start).collect();
        Meet { local: behind(&meet.local), within: behind(&meet.within), extents }
    })
}
