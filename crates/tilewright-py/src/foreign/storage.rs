//! Arrays used as a storage: dense elements, in C order or, if the caller says so, in Fortran order.

use pyo3::prelude::*;

use super::{Family, Memory};
use crate::{errors::refused, spelling::tuple};

/// The argument of an array, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// It is read, and has this name.
    Source(&'static str),
    /// It is written.
    Out,
}

impl Argument {
    fn name(self) -> &'static str {
        match self {
            Argument::Source(name) => name,
            Argument::Out => "out",
        }
    }

    /// Returns the error for an array in Fortran order whose shape is a palindrome.
    fn undecided(self, shape: &str, copied: &str) -> String {
        let name = self.name();
        let (lists, instead) = match self {
            Argument::Source(_) => (
                "may list the extents of a storage innermost first, or be a transposed one",
                format!("pass {name}.T for the first, {copied} for the second"),
            ),
            Argument::Out => (
                "may list the extents of the result innermost first, or be its transpose",
                "give order='F' for the first, an output in C's order for the second".to_owned(),
            ),
        };
        format!("{name}= of shape {shape} in Fortran's order {lists}; {instead}")
    }
}

impl Memory {
    /// Returns the length in bytes of a storage of these extents, outermost first. The array lists them in this order or, in
    /// Fortran order, reversed. If its shape is a palindrome, only `told` distinguishes that from the transpose of a storage.
    pub(crate) fn storage_length(
        &self,
        place: Argument,
        shape: &[u64],
        told: bool,
    ) -> PyResult<usize> {
        let own = &self.facts.shape;
        let turned = own.iter().rev().eq(shape) && self.facts.is_col_major();
        if !turned || self.facts.is_row_major() {
            return self.is_row_major(place).map(|()| self.span());
        }
        match told || *own != shape {
            true => Ok(self.span()),
            false => {
                Err(refused("copy", place.undecided(&tuple(own), &self.contiguous(place.name()))))
            }
        }
    }

    /// Returns the bytes of an array whose elements are dense, the last dim fastest.
    pub(crate) fn row_major_bytes(&self, place: Argument) -> PyResult<&[u8]> {
        self.is_row_major(place).and_then(|()| self.bytes())
    }

    /// Refuses an array whose elements are not dense with the last dim fastest.
    fn is_row_major(&self, place: Argument) -> PyResult<()> {
        if self.facts.is_row_major() {
            return Ok(());
        }
        let (shape, strides) = (tuple(&self.facts.shape), tuple(&self.facts.strides));
        let instead = match place {
            Argument::Out => "give an output that is".to_owned(),
            Argument::Source(name) => {
                format!("it is not copied silently; pass {}", self.contiguous(name))
            }
        };
        let name = place.name();
        Err(refused(
            "copy",
            format!(
                "{name}= is an array of shape {shape} and strides {strides} bytes, which is not contiguous; {instead}"
            ),
        ))
    }

    /// Returns the Python expression that makes a contiguous copy.
    fn contiguous(&self, name: &str) -> String {
        match self.family {
            Family::Torch => format!("{name}.contiguous()"),
            Family::Cupy => format!("cupy.ascontiguousarray({name})"),
            Family::Numpy | Family::Jax | Family::Other => {
                format!("numpy.ascontiguousarray({name})")
            }
        }
    }
}
