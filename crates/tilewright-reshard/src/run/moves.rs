//! A box of an array in memory, read from pieces in files, and written to pieces in files. Runs, counts of calls and
//! comparisons of copies use it.
//!
//! Both directions are programs of parts between the layout of a local array and the row-major box, run by a [`Stage`].
//! The calls follow from layouts alone. [`tilewright_transfer::reads`] and [`tilewright_transfer::writes`] list them, so the cost of a job is known before data
//! move.

use std::{fs::File, io};

use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Plan, Program};
use tilewright_transfer::{Budget, Buffer, Failed, Stage, read_at, write_at};

use crate::{Error, plan::array::Meet};

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
    stage: Stage,
}

impl BoxBuffer {
    /// Makes an empty box, with two further buffers of at most `most` bytes.
    pub(crate) fn new(budget: &Budget, most: u64) -> Result<BoxBuffer, Error> {
        let (layout, stage) = (TensorLayout::row_major(&[0])?, Stage::new(budget, most));
        Ok(BoxBuffer { layout, bits: 8, bytes: None, len: 0, budget: budget.clone(), stage })
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
        file: &File,
        (from, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), MoveError> {
        let moved = plan((from, &meet.local), (&self.layout, &meet.within), meet, self.bits)?;
        let out = self.bytes.as_mut().and_then(|bytes| bytes.get_mut(..self.len));
        self.stage.read(&moved, out.unwrap_or_default(), &mut |bytes, from| {
            read_at(file, bytes, at + from)
        })
    }

    /// Writes the intersection of the box and a local array, which begins at byte `at` of a file.
    pub(crate) fn write(
        &mut self,
        file: &File,
        (to, at): (&TensorLayout, u64),
        meet: &Meet,
    ) -> Result<(), MoveError> {
        let moved = plan((&self.layout, &meet.within), (to, &meet.local), meet, self.bits)?;
        let bytes = self.bytes.as_ref().and_then(|bytes| bytes.get(..self.len));
        self.stage.write(&moved, bytes.unwrap_or_default(), &mut |bytes, to| {
            write_at(file, bytes, at + to)
        })
    }
}
