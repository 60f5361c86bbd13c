//! Shared memory in partitions: `#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0,
//! partitionLayout = #ttg.swizzled_shared<{…}>}>`.
//!
//! A dim is cut into `numPartitions · numGroups` pieces, which take turns in the partitions. Each piece has the layout
//! `partitionLayout`; the pieces of a partition follow one another. As the layout of an array, the partitions do so too.
//! Source: Triton, `PartitionedSharedEncodingAttr`.

use tilewright_core::LinearLayout;

use super::{encoding::Partitions, maps::name};
use crate::Error;

impl Partitions {
    /// The extents of a piece of an array.
    pub(super) fn piece(&self, dims: &[u64]) -> Result<Vec<u64>, Error> {
        let Partitions { partitions, groups, dim } = self;
        let pieces = partitions.checked_mul(*groups);
        let mut piece = dims.to_vec();
        match (piece.get_mut(*dim), pieces) {
            (Some(extent), Some(pieces)) if *extent >= pieces => *extent /= pieces,
            _ => {
                let message = format!(
                    "{partitions} partitions of {groups} pieces of dim {dim}; each piece has an element at least"
                );
                return Err(Error::mismatch(message));
            }
        }
        Ok(piece)
    }

    /// The map of the array whose pieces have the map `piece`.
    pub(super) fn joined(&self, piece: &LinearLayout) -> Result<LinearLayout, Error> {
        if piece.ins().iter().any(|dim| dim.name() == "block" && dim.size() > 1) {
            let message = "partitions of memory that several blocks share are not supported";
            return Err(Error::unsupported(message));
        }
        let dim = name(self.dim);
        let parts = LinearLayout::identity(self.partitions, "partition", &dim)?;
        let groups = LinearLayout::identity(self.groups, "offset", &dim)?;
        Ok(piece.product(&parts)?.product(&groups)?)
    }
}
