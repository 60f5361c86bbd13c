//! An array as a storage: its elements lie densely, in C's order or, where that is told, in Fortran's.

use pyo3::prelude::*;

use super::{Family, Memory};
use crate::{errors::refused, spelling::tuple};

/// Which argument an array is, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is read, under this name.
    Source(&'static str),
    /// It is written.
    Out,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Source(name) => name,
            Place::Out => "out",
        }
    }

    /// Why an array in Fortran's order is not taken whose shape reads the same both ways.
    fn undecided(self, shape: &str, copied: &str) -> String {
        let name = self.name();
        let (lists, instead) = match self {
            Place::Source(_) => (
                "may list the extents of a storage innermost first, or be a transposed one",
                format!("pass {name}.T for the first, {copied} for the second"),
            ),
            Place::Out => (
                "may list the extents of the result innermost first, or be its transpose",
                "give order='F' for the first, an output in C's order for the second".to_owned(),
            ),
        };
        format!("{name}= of shape {shape} in Fortran's order {lists}; {instead}")
    }
}

impl Memory {
    /// The length in bytes of a storage of these extents, outermost first, which the array lists so or, in Fortran's
    /// order, the other way round. Where its shape reads the same both ways, only `told` tells that from the transpose of
    /// a storage.
    pub(crate) fn storage_length(
        &self,
        place: Place,
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

    /// The bytes of an array whose elements lie densely, the last dim fastest.
    pub(crate) fn row_major_bytes(&self, place: Place) -> PyResult<&[u8]> {
        self.is_row_major(place).and_then(|()| self.bytes())
    }

    /// Refuses an array whose elements do not lie densely, the last dim fastest.
    fn is_row_major(&self, place: Place) -> PyResult<()> {
        if self.facts.is_row_major() {
            return Ok(());
        }
        let (shape, strides) = (tuple(&self.facts.shape), tuple(&self.facts.strides));
        let instead = match place {
            Place::Out => "give an output that is".to_owned(),
            Place::Source(name) => {
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

    /// How a contiguous copy is made, in Python.
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
