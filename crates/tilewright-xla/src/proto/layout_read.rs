//! Conversion of `LayoutProto` to a layout.

use tilewright_core::Error as Refusal;

use super::{Error, LayoutProto, SplitConfigProto, TileProto, inside, messages::MINIMUM, of_field};
use crate::{
    ArrayShape, Layout, Padded, PrimitiveType, Split, Tile, TileDim, shape::too_many_dims,
};

/// `Format`: an array of few elements.
const SPARSE: i32 = 2;

impl LayoutProto {
    /// Returns the layout, if the message has one without the padding of the original proto.
    ///
    /// # Errors
    /// The error names the field at fault: a `minor_to_major` that is not a permutation or too long, a negative number, an
    /// illegal tile, properties of sparse arrays, or padded dimensions ([`LayoutProto::to_padded_layout`] reads those).
    ///
    /// ```
    /// use tilewright_xla::proto::LayoutProto;
    /// let proto = LayoutProto::parse("minor_to_major: [1,0] tiles { dimensions: [8,128] }").unwrap();
    /// assert_eq!(proto.to_layout().unwrap().to_string(), "{1,0:T(8,128)}");
    /// let proto = LayoutProto::parse("minor_to_major: [1,1]").unwrap();
    /// assert!(proto.to_layout().unwrap_err().to_string().contains("dim 1 at position 1"));
    /// ```
    pub fn to_layout(&self) -> Result<Layout, Error> {
        match self.to_padded_layout()? {
            (layout, None) => Ok(layout),
            (_, Some(padded)) => Err(of_field(
                "padded_dimensions",
                Refusal::unsupported(
                    "{} padded dimensions, which layouts no longer have",
                    [padded.widths.len() as i128],
                    "read the layout and its padding, or use a tile of the padded size",
                ),
            )),
        }
    }

    /// Returns the layout and, if the message has widths, the padding of the original proto.
    ///
    /// # Errors
    /// Those of [`LayoutProto::to_layout`]; a negative width, an unknown `padding_value`, another number of widths than
    /// dims.
    ///
    /// ```
    /// use tilewright_xla::proto::LayoutProto;
    /// let old = "minor_to_major: [0,1] padded_dimension: [3,5] padding_value: ZERO_PAD";
    /// let proto = LayoutProto::parse(old).unwrap();
    /// let (layout, padded) = proto.to_padded_layout().unwrap();
    /// let tensor = padded.unwrap().lower(&[2, 3], &layout).unwrap();
    /// assert_eq!(tensor.offset(&[1, 2]), Ok(7));
    /// assert!(proto.to_layout().unwrap_err().is_unsupported());
    /// ```
    pub fn to_padded_layout(&self) -> Result<(Layout, Option<Padded>), Error> {
        self.check_dense()?;
        let mut layout = self.order()?;
        let alignment =
            natural("tail_padding_alignment_in_elements", self.tail_padding_alignment_in_elements)?;
        layout = set(
            layout,
            "tail_padding_alignment_in_elements",
            alignment.max(1),
            Layout::with_tail_padding_alignment,
        )?;
        let bits = natural("element_size_in_bits", self.element_size_in_bits)?;
        layout = set(layout, "element_size_in_bits", bits, Layout::with_element_size_in_bits)?;
        let space = natural("memory_space", self.memory_space)?;
        layout = set(layout, "memory_space", space, Layout::with_memory_space)?;
        let bytes = natural(
            "dynamic_shape_metadata_prefix_bytes",
            self.dynamic_shape_metadata_prefix_bytes,
        )?;
        layout = set(
            layout,
            "dynamic_shape_metadata_prefix_bytes",
            bytes,
            Layout::with_dynamic_metadata_prefix_bytes,
        )?;
        layout = layout.with_tiles(&each("tiles", &self.tiles, tile)?);
        layout = layout.with_splits(&each("split_configs", &self.split_configs, split)?);
        layout = self.types(layout)?;
        Ok((layout, self.padding()?))
    }

    /// Returns the layout with the types of its indices and pointers.
    fn types(&self, layout: Layout) -> Result<Layout, Error> {
        let index = primitive(self.index_primitive_type);
        let layout = index
            .and_then(|index| layout.with_index_type(index))
            .map_err(|error| of_field("index_primitive_type", error))?;
        let pointer = primitive(self.pointer_primitive_type);
        pointer
            .and_then(|pointer| layout.with_pointer_type(pointer))
            .map_err(|error| of_field("pointer_primitive_type", error))
    }

    /// Refuses properties that only sparse arrays have.
    fn check_dense(&self) -> Result<(), Error> {
        let present = [
            ("physical_shape", self.physical_shape.is_some()),
            ("format", self.format == SPARSE),
            ("max_sparse_elements", self.max_sparse_elements != 0),
        ];
        match present.iter().find(|(_, present)| *present) {
            None => Ok(()),
            Some((field, _)) => Err(of_field(
                *field,
                Refusal::unsupported(
                    "a property of sparse arrays",
                    [],
                    "only dense layouts are supported",
                ),
            )),
        }
    }

    fn order(&self) -> Result<Layout, Error> {
        if self.minor_to_major.len() > ArrayShape::MAX_RANK {
            return Err(of_field("minor_to_major", too_many_dims(self.minor_to_major.len())));
        }
        let order = naturals("minor_to_major", &self.minor_to_major)?;
        Layout::new(&order).map_err(|error| of_field("minor_to_major", error))
    }
}

/// Returns the type with this number; `None` for 0, which means none.
fn primitive(number: i32) -> Result<Option<PrimitiveType>, Refusal> {
    match PrimitiveType::from_number(number) {
        _ if number == 0 => Ok(None),
        Some(element) => Ok(Some(element)),
        None => Err(Refusal::illegal(
            "no primitive type has the number {}",
            [number.into()],
            "it must be the number of an unsigned integer, such as 8 for U32",
        )),
    }
}

/// Converts a number that must not be negative.
pub(super) fn natural(field: &str, value: i64) -> Result<u64, Error> {
    u64::try_from(value).map_err(|_| negative(field, value))
}

/// Converts numbers that must not be negative.
pub(super) fn naturals(field: &str, values: &[i64]) -> Result<Vec<u64>, Error> {
    let one = |(at, &value): (usize, &i64)| {
        u64::try_from(value).map_err(|_| negative(format!("{field}[{at}]"), value))
    };
    values.iter().enumerate().map(one).collect()
}

fn negative(field: impl Into<String>, value: i64) -> Error {
    of_field(field, Refusal::illegal("{} is negative", [value.into()], "it must be 0 or more"))
}

fn set(
    layout: Layout,
    field: &str,
    value: u64,
    setter: fn(Layout, u64) -> Result<Layout, Refusal>,
) -> Result<Layout, Error> {
    setter(layout, value).map_err(|error| of_field(field, error))
}

/// Reads each message of a repeated field.
pub(crate) fn each<M, T>(
    field: &str,
    messages: &[M],
    read: impl Fn(&M) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let one = |(at, message)| {
        read(message).map_err(|error: Error| inside(error, format_args!("{field}[{at}]")))
    };
    messages.iter().enumerate().map(one).collect()
}

fn tile(proto: &TileProto) -> Result<Tile, Error> {
    let dim = |(at, &value): (usize, &i64)| match (value, u64::try_from(value)) {
        (MINIMUM, _) => Ok(TileDim::Combine),
        (_, Ok(size)) => Ok(TileDim::Size(size)),
        (_, Err(_)) => Err(of_field(
            format!("dimensions[{at}]"),
            Refusal::illegal(
                "{} is negative",
                [value.into()],
                "an extent is 1 or more; -2^63 means `*`",
            ),
        )),
    };
    let dims = proto.dimensions.iter().enumerate().map(dim).collect::<Result<Vec<_>, _>>()?;
    Tile::new(&dims).map_err(|error| of_field("dimensions", error))
}

/// Reads a split. A split without indices splits nothing, and no text can express it.
fn split(proto: &SplitConfigProto) -> Result<Split, Error> {
    let (dimension, indices) =
        (natural("dimension", proto.dimension)?, naturals("split_indices", &proto.split_indices)?);
    if indices.is_empty() {
        let cause = Refusal::illegal(
            "a split of physical dim {} at no index",
            [dimension.into()],
            "give the indices at which a new piece begins",
        );
        return Err(of_field("split_indices", cause));
    }
    Ok(Split { dimension, indices })
}
