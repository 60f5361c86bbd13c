//! A box of an array in memory: read from pieces in files, written to pieces in files, compared among copies, and summed. Runs,
//! verification and counts of calls use it.
//!
//! Both directions are programs of parts between the layout of a local array and the row-major box, run by a [`Mover`].
//! The calls follow from layouts alone. [`tilewright_transfer::reads`] and [`tilewright_transfer::writes`] list them, so the cost of
//! a job is known before data move.
//!
//! Of several pieces that are copies of one box, the first is read, and the others are compared with it, element by element.
//! Without the comparison, a wrong rule would drop data without an error: with `[Replicate()]` for ranks that hold
//! different parts, shapes and lengths fit.

use std::io;

use tilewright_core::{Dtype, TensorLayout};
use tilewright_files::{Fingerprint, Key};
use tilewright_fingerprint::Array;
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::{Budget, Buffer, Failed, Mover, part};

use crate::{
    Error,
    plan::{array::Meet, cut::Boxes},
    run::handle::Handle,
};

/// The error of a move of a box: of the engine, of memory, or of the system about the file.
pub(crate) type MoveError = Failed<io::Error>;

/// Converts the error of a move that is not about a file.
pub(crate) fn about(failed: MoveError, tensor: &str) -> Error {
    let error = match failed {
        MoveError::Program(error) => error.of_kind("unsupported"),
        MoveError::Memory(refused) => Error::new("memory", refused.to_string()),
        failed @ (MoveError::Outside { .. } | MoveError::Place(_)) => {
            Error::new("io", failed.to_string())
        }
    };
    error.about(&format!("tensor {tensor:?}"))
}

/// Returns the plan that moves the intersection of a local array and a box, whose elements have `bits` bits.
pub(crate) fn plan(
    from: (&TensorLayout, &[u64]),
    to: (&TensorLayout, &[u64]),
    meet: &Meet,
    bits: u32,
) -> Result<Plan, Error> {
    Program::of_part(from, to, &meet.extents, Elements::same(bits)).map(Plan::of)
}

/// A box in memory, and the buffers of its moves.
pub(crate) struct BoxBuffer {
    pub(crate) layout: TensorLayout,
    pub(crate) bits: u32,
    bytes: Option<Buffer>,
    len: usize,
    budget: Budget,
    mover: Mover,
}

impl BoxBuffer {
    /// Makes an empty box, with two further buffers of at most `most` bytes.
    pub(crate) fn new(budget: &Budget, most: u64) -> Result<BoxBuffer, Error> {
        let (layout, mover) = (TensorLayout::row_major(&[0])?, Mover::new(budget, most));
        Ok(BoxBuffer { layout, bits: 8, bytes: None, len: 0, budget: budget.clone(), mover })
    }

    /// Makes the box that of a task. Its contents are unspecified.
    pub(crate) fn begin(
        &mut self,
        extents: &[u64],
        bits: u32,
        bytes: u64,
    ) -> Result<(), MoveError> {
        (self.layout, self.bits) = (TensorLayout::row_major(extents)?, bits);
        self.len = bytes as usize;
        self.budget.grown(&mut self.bytes, bytes, bytes)?;
        Ok(())
    }

    /// Returns the elements of the box, row-major.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_ref().and_then(|bytes| bytes.get(..self.len)).unwrap_or_default()
    }

    /// Reverses the bytes of each number of `unit` bytes.
    pub(crate) fn reverse(&mut self, unit: usize) {
        let bytes = self.bytes.as_mut().and_then(|bytes| bytes.get_mut(..self.len));
        if unit > 1 {
            bytes.unwrap_or_default().chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
    }

    /// Reads the intersection of the box and a local array, which begins at byte `at` of a file.
    pub(crate) fn read(
        &mut self,
        file: &Handle,
        (from, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), MoveError> {
        let moved = plan((from, &meet.local), (&self.layout, &meet.within), meet, self.bits)?;
        let out = self.bytes.as_mut().and_then(|bytes| bytes.get_mut(..self.len));
        self.mover
            .read(&moved, out.unwrap_or_default(), &mut |bytes, from| file.read(bytes, at + from))
    }

    /// Writes the intersection of the box and a local array, which begins at byte `at` of a file.
    pub(crate) fn write(
        &mut self,
        file: &Handle,
        (to, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), MoveError> {
        let moved = plan((&self.layout, &meet.within), (to, &meet.local), meet, self.bits)?;
        let bytes = self.bytes.as_ref().and_then(|bytes| bytes.get(..self.len));
        self.mover
            .write(&moved, bytes.unwrap_or_default(), &mut |bytes, to| file.write(bytes, at + to))
    }
}

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
        file: &Handle,
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

/// Returns the fingerprint of a row-major box in memory, of an array of this type.
pub(crate) fn of_box(
    (start, extents): (&[u64], &[u64]),
    (dtype, bits): (Dtype, u32),
    bytes: &[u8],
) -> Result<Fingerprint, Error> {
    let layout = TensorLayout::row_major(extents)?;
    let sum = || {
        let array = Array::new(&layout, dtype)?.bits(bits)?.at(start)?;
        array.fingerprint(bytes, &Key::default())
    };
    sum().map_err(|error| Error::new(error.kind(), error.to_string()))
}

/// Returns whether arrays of this type have fingerprints.
pub(crate) fn is_summed(dtype: Dtype, bits: u32) -> bool {
    let layout = TensorLayout::row_major(&[1]);
    let summed = |layout: &TensorLayout| {
        Array::new(layout, dtype).and_then(|array| array.bits(bits)).is_ok()
    };
    layout.is_ok_and(|layout| summed(&layout))
}
