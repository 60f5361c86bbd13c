//! The encodings as maps from places to coordinates, for a tensor of given extents.
//!
//! Law: each coordinate is reached, by every kind of encoding.

use tilewright_core::LinearLayout;

use super::{
    encoding::Encoding,
    maps::{
        block_map, build, identities, linear, name, names, per_block, shared_out, spanning,
        swizzled,
    },
    mma::blocked_operand,
};
use crate::Error;

impl Encoding {
    /// The map that bases give by themselves, of the smallest tensor that holds them; of other encodings none.
    pub(super) fn own_map(&self) -> Result<Option<LinearLayout>, Error> {
        let (Encoding::Linear([register, lane, warp, block]), Some(rank)) = (self, self.rank())
        else {
            return Ok(None);
        };
        let ins = [("register", register), ("lane", lane), ("warp", warp), ("block", block)];
        spanning(&ins, &names(rank)).map(Some)
    }

    /// The map of a tensor of these extents: powers of two, of a rank that [`Encoding::fits`].
    pub(super) fn map(&self, dims: &[u64]) -> Result<LinearLayout, Error> {
        match self {
            Encoding::Blocked { size, threads, warps, order, blocks } => {
                let tile = identities("register", size, order)?
                    .product(&identities("lane", threads, order)?)?
                    .product(&identities("warp", warps, order)?)?;
                shared_out(&tile, blocks, dims)
            }
            Encoding::Linear(all) => linear(all, dims),
            Encoding::Slice { dim, parent } => slice(*dim, parent, dims),
            Encoding::Swizzled { vec, per_phase, max_phase, order, blocks, rotating } => {
                let numbers = [*vec, *per_phase, *max_phase];
                let tile = |own: &[u64]| swizzled(numbers, *rotating, order, own);
                let block = block_map(blocks, dims)?;
                shared_out(&tile(&per_block(&block, dims))?, blocks, dims)
            }
            Encoding::Mma(mma) => mma.map(dims),
            Encoding::Operand { operand, parent, width } => match parent.as_ref() {
                Encoding::Mma(mma) => mma.operand(*operand, *width, dims),
                Encoding::Blocked { size, threads, warps, order, blocks } if dims.len() > 1 => {
                    blocked_operand([size, threads, warps], order, blocks, *operand, dims)
                }
                _ => Err(Error::unsupported("operands are matrices, or batches of them")),
            },
            Encoding::Nvmma(nvmma) => nvmma.map(dims),
            Encoding::Padded(padded) => padded.map(dims),
            Encoding::TensorMemory(memory) => memory.map(dims),
            Encoding::Partitioned(partitions, piece) => {
                partitions.joined(&piece.map(&partitions.piece(dims)?)?)
            }
            Encoding::SharedLinear { offset, blocks, .. } => {
                let ins = [("offset", offset), ("block", blocks)];
                let outs: Vec<(String, u64)> =
                    dims.iter().enumerate().map(|(i, &extent)| (name(i), extent)).collect();
                build(&ins, &outs).map_err(|error| {
                    Error::mismatch(format!("an encoding of another tensor: {}", error.message()))
                })
            }
        }
    }
}

/// The parent's map of the tensor with one more dim of extent 1, without that dim and without registers that
/// then hold the same.
fn slice(dim: usize, parent: &Encoding, dims: &[u64]) -> Result<LinearLayout, Error> {
    let mut whole = dims.to_vec();
    whole.insert(dim.min(dims.len()), 1);
    let map = parent.map(&whole)?;
    let kept: Vec<String> = (0..whole.len()).filter(|&other| other != dim).map(name).collect();
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let ins: Vec<&str> = map.ins().iter().map(|dim| dim.name()).collect();
    let map = map.sublayout(&ins, &kept)?.remove_zeros("register")?;
    Ok(map.standard_outs()?)
}
