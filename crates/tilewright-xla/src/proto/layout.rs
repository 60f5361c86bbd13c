//! Conversion between `LayoutProto` and a layout, with the padding of the original proto: fields 2 and 3.

use tilewright_core::Error as Refusal;

use super::{Error, LayoutProto, ShapeProto, SplitConfigProto, TileProto, inside, of_field};
use crate::proto::MINIMUM;
use crate::{
    ArrayShape, Layout, Padded, PaddedShape, PaddingValue, PrimitiveType, Shape, Split, Tile,
    TileDim, shape::too_many_dims,
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
            tiles: self.tiles().iter().map(tile_proto).collect::<Result<_, _>>()?,
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
            split_configs: each("split_configs", self.splits(), split_proto)?,
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

fn tile_proto(tile: &Tile) -> Result<TileProto, Error> {
    let dim = |dim: &TileDim| match *dim {
        TileDim::Size(size) => one("tiles", size),
        TileDim::Combine => Ok(MINIMUM),
    };
    Ok(TileProto { dimensions: tile.dims().iter().map(dim).collect::<Result<_, _>>()? })
}

fn split_proto(split: &Split) -> Result<SplitConfigProto, Error> {
    Ok(SplitConfigProto {
        dimension: one("dimension", split.dimension)?,
        split_indices: signed("split_indices", &split.indices)?,
    })
}

impl LayoutProto {
    /// Returns the padding, if the message has widths. A `padding_value` without widths promises nothing.
    pub(super) fn padding(&self) -> Result<Option<Padded>, Error> {
        let value = PaddingValue::from_number(self.padding_value).ok_or_else(|| {
            of_field(
                "padding_value",
                Refusal::illegal(
                    "no padding value has the number {}",
                    [self.padding_value.into()],
                    "they are 0 to 5",
                ),
            )
        })?;
        if self.padded_dimensions.is_empty() {
            return Ok(None);
        }
        let widths = naturals("padded_dimensions", &self.padded_dimensions)?;
        if widths.len() != self.minor_to_major.len() {
            return Err(of_field(
                "padded_dimensions",
                Refusal::mismatch(
                    "layout has {} padded dimensions, but minor_to_major {}",
                    [widths.len() as i128, self.minor_to_major.len() as i128],
                    "they name the padded width of every dim",
                ),
            ));
        }
        Ok(Some(Padded { widths, fill: value.into() }))
    }

    /// Returns the message with this padding.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for a fill of given bits, which no `padding_value` expresses;
    /// [illegal](Error::is_illegal) for a width of 2⁶³ or more.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Padded};
    /// let padded = Padded::parse("pad(3,5)fill(0)").unwrap();
    /// let proto = Layout::ascending(2).to_proto().unwrap().with_padding(&padded).unwrap();
    /// assert_eq!(
    ///     proto.text().to_string(),
    ///     "minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: ZERO_PAD"
    /// );
    /// let bits = Padded::parse("pad(3,5)fill(0x7f)").unwrap();
    /// let error = Layout::ascending(2).to_proto().unwrap().with_padding(&bits).unwrap_err();
    /// assert_eq!(error.name().unwrap(), "padding_value");
    /// ```
    pub fn with_padding(mut self, padded: &Padded) -> Result<LayoutProto, Error> {
        let value = PaddingValue::try_from(padded.fill)
            .map_err(|error| of_field("padding_value", error))?;
        self.padding_value = value.number();
        if self.tail_padding_alignment_in_elements == 1 {
            // Readers of `padded_dimensions` do not know this newer field; 0 means 1.
            self.tail_padding_alignment_in_elements = 0;
        }
        self.padded_dimensions = signed("padded_dimensions", &padded.widths)?;
        Ok(self)
    }
}

impl PaddedShape {
    /// Returns the shape as XLA's original message, with the widths and the padding value in its layout.
    ///
    /// # Errors
    /// Those of [`Shape::to_proto`] and [`LayoutProto::with_padding`]: a fill of given bits is
    /// [unsupported](Error::is_unsupported).
    ///
    /// ```
    /// use tilewright_xla::PaddedShape;
    /// let padded = PaddedShape::parse("f32[2,3]{0,1}pad(3,5)fill(lowest)").unwrap();
    /// let proto = padded.to_proto().unwrap();
    /// assert_eq!(proto.layout.as_ref().unwrap().padded_dimensions, [3, 5]);
    /// assert_eq!(PaddedShape::from_proto(&proto).unwrap(), padded);
    /// ```
    pub fn to_proto(&self) -> Result<ShapeProto, Error> {
        let mut array = ArrayShape::new(self.element_type(), self.extents());
        array.set_layout(Some(self.layout().clone()));
        let mut proto = Shape::array(array).to_proto()?;
        let layout = proto.layout.take().unwrap_or_default().with_padding(self.padding());
        proto.layout = Some(Box::new(layout.map_err(|error| inside(error, "layout"))?));
        Ok(proto)
    }

    /// Creates the shape that XLA's original message describes.
    ///
    /// # Errors
    /// Those of [`ShapeProto::to_padded_shape`] and [`PaddedShape::with_padding`]; [mismatch](Error::is_mismatch) for a
    /// message of a tuple or without widths.
    ///
    /// ```
    /// use tilewright_xla::{PaddedShape, proto::ShapeProto};
    /// let text = "element_type: F32 dimensions: [2,3] layout { minor_to_major: [0,1] padded_dimensions: [3,5] }";
    /// let padded = PaddedShape::from_proto(&ShapeProto::parse(text).unwrap()).unwrap();
    /// assert_eq!(padded.to_string(), "f32[2,3]{0,1}pad(3,5)");
    /// let plain = ShapeProto::parse("element_type: F32 dimensions: [2,3]").unwrap();
    /// assert_eq!(PaddedShape::from_proto(&plain).unwrap_err().name().unwrap(), "layout.padded_dimensions");
    /// ```
    pub fn from_proto(proto: &ShapeProto) -> Result<PaddedShape, Error> {
        let (shape, padding) = proto.to_padded_shape()?;
        let refused = |field, what, hint| of_field(field, Refusal::mismatch(what, [], hint));
        let Some(array) = shape.as_array() else {
            let hint = "use `to_padded_shape` for the arrays of a tuple";
            return Err(refused("element_type", "the message does not describe an array", hint));
        };
        let Some((_, padded)) = padding.into_iter().next() else {
            let hint = "use `to_shape` for a shape without padding";
            return Err(refused("layout.padded_dimensions", "the message lacks widths", hint));
        };
        PaddedShape::with_padding(array, padded).map_err(|error| of_field("", error))
    }
}
