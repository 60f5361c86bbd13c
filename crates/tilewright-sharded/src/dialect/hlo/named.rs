//! The form of an `HloSharding` with named axes: a mesh, and the axes of each dim.

use std::fmt;

use tilewright_core::Dtype;

use super::TileKind;
use crate::{
    Error,
    dialect::axes::{self, DimAxes},
    mesh::Mesh,
    scan::comma,
    sharded::Sharded,
    split::AxisPart,
};

/// The form with named axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) mesh: Mesh,
    pub(super) body: NamedBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedBody {
    Word(TileKind),
    Dims { dims: Vec<DimAxes>, others: Vec<Other> },
}

/// Axes that cut no dim: their kind, the reduction in the text, and the axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) kind: TileKind,
    pub(super) reduction: String,
    pub(super) axes: DimAxes,
}

impl Other {
    /// Returns an error if some of these axes hold summands, or values that only the program determines.
    pub(super) fn check(others: &[Other]) -> Result<(), Error> {
        match others.iter().find(|other| other.kind != TileKind::Replicated) {
            Some(other) => Err(other.kind.refused()),
            None => Ok(()),
        }
    }
}

impl Named {
    pub(super) fn sharded(&self, extents: &[u64], dtype: Option<Dtype>) -> Result<Sharded, Error> {
        let (dims, others) = match &self.body {
            NamedBody::Word(TileKind::Replicated) => {
                return Sharded::new(extents, dtype, self.mesh.clone(), Vec::new());
            }
            NamedBody::Word(kind) => return Err(kind.refused()),
            NamedBody::Dims { dims, others } => (dims, others),
        };
        Other::check(others)?;
        if dims.len() != extents.len() {
            let (given, rank) = (dims.len(), extents.len());
            let said = format!("axes of {given} dims for an array of {rank} dims");
            return Err(Error::mismatch(said));
        }
        let parts: Vec<Vec<AxisPart>> = dims.iter().map(|dim| dim.parts.clone()).collect();
        let splits = axes::splits(&parts, &self.mesh)?;
        Sharded::new(extents, dtype, self.mesh.clone(), splits)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.mesh.sizes().iter().enumerate();
        let axes = comma(sizes.map(|(axis, size)| format!("'{}'={size}", self.mesh.name(axis))));
        if let (true, Some([device])) = (axes.is_empty(), self.mesh.order()) {
            return write!(f, "maximal_mesh[device_id={device}]");
        }
        write!(f, "mesh[{axes}]")?;
        if let Some(order) = self.mesh.order() {
            write!(f, ", device_ids=({})", comma(order))?;
        }
        match &self.body {
            NamedBody::Word(kind) => write!(f, ", {}", kind.word()),
            NamedBody::Dims { dims, others } => {
                let print = |dim: &DimAxes| axes::print(dim, &self.mesh, '\'');
                let dims: Vec<String> = dims.iter().map(print).collect();
                write!(f, ", [{}]", dims.join(", "))?;
                let mut others = others.iter();
                others.try_for_each(|Other { kind, reduction, axes }| {
                    write!(f, ", {}={reduction}{}", kind.word(), print(axes))
                })
            }
        }
    }
}
