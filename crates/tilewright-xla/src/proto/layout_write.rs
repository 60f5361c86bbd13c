//! Conversion of a layout to `LayoutProto`.

use tilewright_core::Error as Refusal;

use super::{Error, LayoutProto, SplitConfigProto, TileProto, messages::MINIMUM, of_field};
use crate::{Layout, PrimitiveType, Split, Tile, TileDim};

impl Layout {
    /// Returns the layout as XLA's message.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a split whose numbers are 2⁶³ or more; [unsupported](Error::is_unsupported) for
    /// a physical shape, which messages of dense arrays lack.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{2,1,0:T(2,*,128)}").unwrap();
    /// let proto = layout.to_proto().unwrap();
    /// assert_eq!(proto.tiles[0].dimensions, [2, i64::MIN, 128]);
    /// assert_eq!(proto.to_layout().unwrap(), layout);
    ///
    /// use tilewright_xla::Split;
    /// let far = Split { dimension: 0, indices: vec![1 << 63] };
    /// assert!(layout.with_splits(&[far]).to_proto().unwrap_err().is_illegal());
    /// ```
    pub fn to_proto(&self) -> Result<LayoutProto, Error> {
        if self.physical_shape().is_some() {
            let cause = Refusal::unsupported(
                "a property of sparse arrays",
                [],
                "only dense layouts are supported",
            );
            return Err(of_field("physical_shape", cause));
        }
        Ok(LayoutProto {
            minor_to_major: signed("minor_to_major", self.minor_to_major())?,
            tiles: self.tiles().iter().map(tile).collect::<Result<_, _>>()?,
            element_size_in_bits: one("element_size_in_bits", self.element_size_in_bits())?,
            memory_space: one("memory_space", self.memory_space())?,
            dynamic_shape_metadata_prefix_bytes: one(
                "dynamic_shape_metadata_prefix_bytes",
                self.dynamic_metadata_prefix_bytes(),
            )?,
            tail_padding_alignment_in_elements: one(
                "tail_padding_alignment_in_elements",
                self.tail_padding_alignment(),
            )?,
            split_configs: super::layout_read::each("split_configs", self.splits(), split)?,
            index_primitive_type: self.index_type().map_or(0, PrimitiveType::number),
            pointer_primitive_type: self.pointer_type().map_or(0, PrimitiveType::number),
            ..LayoutProto::default()
        })
    }
}

fn one(field: &str, value: u64) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| too_large(field, value))
}

/// Converts numbers to the 63 bits that a proto has for them.
pub(super) fn signed(field: &str, values: &[u64]) -> Result<Vec<i64>, Error> {
    let entry = |(at, &value): (usize, &u64)| {
        i64::try_from(value).map_err(|_| too_large(format!("{field}[{at}]"), value))
    };
    values.iter().enumerate().map(entry).collect()
}

/// The error of a number beyond 63 bits.
pub(super) fn too_large(field: impl Into<String>, value: u64) -> Error {
    let cause = Refusal::illegal("{} is too large", [value.into()], "at most 2^63 - 1");
    of_field(field, cause)
}

fn tile(tile: &Tile) -> Result<TileProto, Error> {
    let dim = |dim: &TileDim| match *dim {
        TileDim::Size(size) => one("tiles", size),
        TileDim::Combine => Ok(MINIMUM),
    };
    Ok(TileProto { dimensions: tile.dims().iter().map(dim).collect::<Result<_, _>>()? })
}

fn split(split: &Split) -> Result<SplitConfigProto, Error> {
    Ok(SplitConfigProto {
        dimension: one("dimension", split.dimension)?,
        split_indices: signed("split_indices", &split.indices)?,
    })
}
