//! The names of ways, as plans print them.

use super::{Terms, Way};
use crate::{
    cpu::{kernel, transpose::Locality},
    program::region::RegionRef,
};
use core::fmt;

impl Way {
    /// Returns the name of the kernel, with the width that it moves as a unit.
    pub(crate) fn name(&self, region: &RegionRef<'_>, Terms { elements, .. }: Terms) -> String {
        let (src, dst) = (elements.src_bits, elements.dst_bits);
        let width = match region.packed {
            false => format!("{}B", region.run),
            true if elements.are_same() => format!("{src}b"),
            true => format!("{src}b to {dst}b"),
        };
        match self {
            Way::Rows if region.loops.is_empty() => "copy".to_string(),
            Way::Rows => "rows".to_string(),
            Way::Interleave(interleave) => match interleave.rows() {
                (n, true) => format!("interleave {n} rows of {width}"),
                (n, false) => format!("deinterleave {n} rows of {width}"),
            },
            Way::StridedPack(pack) => {
                format!("strided pack of every {} {width}", ordinal(pack.one_of()))
            }
            Way::TiledTranspose(_) => format!("tiled transpose {width}"),
            Way::RegisterTranspose(_) => format!("transpose {width}"),
            Way::TwoPass(_) => format!("two passes of {width}"),
            Way::Staged(_) => format!("staged {width}"),
            Way::Field(_) if src < dst => format!("unpack {width}"),
            Way::Field(_) => format!("pack {width}"),
            Way::Bits => "bits".to_string(),
            Way::Blocks { .. } => format!("blocks {width}"),
            Way::Gather => format!("gather {width}"),
        }
    }

    /// Returns the instruction set, the blocks, and the use of caches.
    pub(crate) fn details(&self, region: &RegionRef<'_>, terms: Terms) -> String {
        let isa = terms.isa.name();
        match self {
            Way::RegisterTranspose(transpose) => {
                let way = match transpose.locality {
                    Locality::Memory => "past the caches",
                    Locality::Arriving | Locality::Cache => "in the caches",
                };
                let ((read, written), shape) = (transpose.runs, &transpose.shape);
                format!(
                    " in {isa}, {way}, blocks of {shape:?} that read {read} and write {written} bytes together"
                )
            }
            Way::TwoPass(two_pass) => {
                let (first, second) = two_pass.names(terms);
                let (shape, bytes) = (&two_pass.taken, two_pass.bytes);
                format!(
                    " in {isa}, through blocks of {shape:?}, {bytes} bytes: {first}, then {second}"
                )
            }
            Way::Staged(staged) => {
                let (rows, columns) = staged.tiled.size();
                let (shape, bytes) = (&staged.taken, staged.stage.bytes);
                format!(
                    " in {isa}, past the caches, through blocks of {shape:?}, {bytes} bytes, in tiles of {rows} rows and {columns} columns"
                )
            }
            Way::TiledTranspose(tiled) => {
                let (rows, columns) = tiled.size();
                format!(" in {isa}, tiles of {rows} rows and {columns} columns")
            }
            Way::Interleave(_) | Way::StridedPack(_) | Way::Field(_) => format!(" in {isa}"),
            Way::Blocks { minor } => {
                let (s, d) = kernel::block_size(region, terms.elements, *minor);
                format!(" in blocks of {s}×{d}")
            }
            Way::Rows | Way::Bits | Way::Gather => String::new(),
        }
    }
}

/// Returns a number as an ordinal.
fn ordinal(n: usize) -> String {
    match n {
        2 => "2nd".to_string(),
        3 => "3rd".to_string(),
        _ => format!("{n}th"),
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Rows => "rows",
            Way::Interleave(_) => "interleave rows",
            Way::StridedPack(_) => "strided pack",
            Way::TiledTranspose(_) => "tiled transpose",
            Way::RegisterTranspose(_) => "transpose",
            Way::TwoPass(_) => "two passes",
            Way::Staged(_) => "staged",
            Way::Field(_) => "field",
            Way::Bits => "bits",
            Way::Blocks { .. } => "blocks",
            Way::Gather => "gather",
        })
    }
}
