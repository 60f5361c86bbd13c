//! Conversion of protos to values and back: `LayoutProto` with the padding of the original proto (fields 2 and 3),
//! `ShapeProto`, and `ProgramShapeProto`.

use tilewright_core::Error as Refusal;

use super::{
    Error, LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto, inside,
    of_field,
};
use crate::{
    ArrayShape, Dim, Layout, Padded, PaddedShape, PaddingValue, Parameter, PrimitiveType,
    ProgramShape, Shape, ShapeIndex, ShapeKind, Split, Tile, TileDim,
    proto::MINIMUM,
    shape::{too_deep, too_many_dims},
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

// Conversion between `ShapeProto` and a shape, and between `ProgramShapeProto` and [`ProgramShape`].
//
// The recursion is at most [`Shape::MAX_DEPTH`] deep, whatever the message.

/// The padding found so far, each with the path of its array; `None` if padding is refused.
type FoundPadding<'a> = Option<&'a mut Vec<(ShapeIndex, Padded)>>;

impl ShapeProto {
    /// Returns the shape, in which every array is valid ([`ArrayShape::validate`]).
    ///
    /// # Errors
    /// The error names the field at fault: an unknown element type, a negative dim, dynamic flags whose number is neither 0
    /// nor that of the dims, members of a shape that is not a tuple, a layout that does not fit or is not of an array, a buffer
    /// without exactly one array, more than [`ArrayShape::MAX_RANK`] dims, or more than [`Shape::MAX_DEPTH`] nested tuples; and
    /// those of [`super::LayoutProto::to_layout`].
    ///
    /// ```
    /// use tilewright_xla::proto::ShapeProto;
    /// let proto = ShapeProto::parse("element_type: F32 dimensions: [2,3]").unwrap();
    /// assert_eq!(proto.to_shape().unwrap().to_string(), "f32[2,3]");
    /// let proto = ShapeProto::parse("element_type: F32 dimensions: [2,-3]").unwrap();
    /// let error = proto.to_shape().unwrap_err();
    /// assert_eq!(error.to_string(), "dimensions[1]: -3 is negative; a dim is 0 or more; an unbounded one is -2^63 and dynamic");
    /// ```
    pub fn to_shape(&self) -> Result<Shape, Error> {
        self.read(&ShapeIndex::default(), &mut None)
    }

    /// Returns the shape, and the padding of the original proto in its arrays' layouts, each with the path of its array.
    ///
    /// # Errors
    /// Those of [`ShapeProto::to_shape`]; a width smaller than its dim.
    ///
    /// ```
    /// use tilewright_xla::proto::ShapeProto;
    /// let text = "element_type: F32 dimensions: [2,3] \
    ///     layout { minor_to_major: [0,1] padded_dimensions: [3,5] padding_value: LOWEST_PAD }";
    /// let (shape, padding) = ShapeProto::parse(text).unwrap().to_padded_shape().unwrap();
    /// assert_eq!(shape.to_string(), "f32[2,3]{0,1}");
    /// assert_eq!(padding[0].1.to_string(), "pad(3,5)fill(lowest)");
    ///
    /// let narrow = text.replace("[3,5]", "[1,5]");
    /// let error = ShapeProto::parse(&narrow).unwrap().to_padded_shape().unwrap_err();
    /// assert!(error.cause::<tilewright_core::Error>().unwrap().is_illegal());
    /// ```
    pub fn to_padded_shape(&self) -> Result<(Shape, Vec<(ShapeIndex, Padded)>), Error> {
        let mut padding = Vec::new();
        let shape = self.read(&ShapeIndex::default(), &mut Some(&mut padding))?;
        Ok((shape, padding))
    }

    fn read(&self, index: &ShapeIndex, found: &mut FoundPadding<'_>) -> Result<Shape, Error> {
        match self.primitive()? {
            PrimitiveType::Tuple => self.tuple(index, found),
            PrimitiveType::Token => self.plain().map(|()| Shape::token()),
            PrimitiveType::Opaque => self.plain().map(|()| Shape::opaque()),
            PrimitiveType::Buffer => self.buffer(index, found),
            _ => self.array(index, found).map(Shape::array), // open set
        }
    }

    fn primitive(&self) -> Result<PrimitiveType, Error> {
        PrimitiveType::from_number(self.element_type)
            .filter(|&primitive| primitive != PrimitiveType::Invalid)
            .ok_or_else(|| {
                let cause = Refusal::illegal(
                    "no element type has the number {}",
                    [self.element_type.into()],
                    "they are 1 to 34",
                );
                of_field("element_type", cause)
            })
    }

    fn tuple(&self, index: &ShapeIndex, found: &mut FoundPadding<'_>) -> Result<Shape, Error> {
        self.no_dims()?;
        if index.len() >= Shape::MAX_DEPTH {
            return Err(of_field("", too_deep()));
        }
        let mut members = Vec::with_capacity(self.tuple_shapes.len());
        for (at, member) in (0u64..).zip(&self.tuple_shapes) {
            let read = member.read(&index.child(at), found);
            members.push(read.map_err(|error| inside(error, format_args!("tuple_shapes[{at}]")))?);
        }
        Shape::tuple(members).map_err(|error| of_field("", error))
    }

    fn buffer(&self, index: &ShapeIndex, found: &mut FoundPadding<'_>) -> Result<Shape, Error> {
        self.no_dims()?;
        let [member] = self.tuple_shapes.as_slice() else {
            let cause = Refusal::mismatch(
                "a buffer of {} shapes",
                [self.tuple_shapes.len() as i128],
                "a buffer refers to one array",
            );
            return Err(of_field("tuple_shapes", cause));
        };
        let within = |error: Error| inside(error, "tuple_shapes[0]");
        let primitive = member.primitive().map_err(within)?;
        if !primitive.is_array() {
            let says = "a buffer of what is not an array, but type number {}";
            let cause =
                Refusal::illegal(says, [primitive.number().into()], "a buffer refers to one array");
            return Err(within(of_field("element_type", cause)));
        }
        member.array(index, found).map(Shape::buffer).map_err(within)
    }

    /// Refuses fields that only arrays and tuples have.
    fn plain(&self) -> Result<(), Error> {
        self.no_dims()?;
        self.no_members()
    }

    /// Refuses fields that only arrays have.
    fn no_dims(&self) -> Result<(), Error> {
        let present = [
            ("dimensions", !self.dimensions.is_empty()),
            ("is_dynamic_dimension", !self.is_dynamic_dimension.is_empty()),
            ("layout", self.layout.is_some()),
        ];
        match present.iter().find(|(_, present)| *present) {
            None => Ok(()),
            Some((field, _)) => {
                let says = "a shape of type number {} has a field that only arrays have";
                let cause =
                    Refusal::illegal(says, [self.element_type.into()], "leave the field out");
                Err(of_field(*field, cause))
            }
        }
    }

    fn no_members(&self) -> Result<(), Error> {
        if self.tuple_shapes.is_empty() {
            return Ok(());
        }
        let cause = Refusal::illegal(
            "{} members of a shape of type number {}",
            [self.tuple_shapes.len() as i128, self.element_type.into()],
            "only tuples and buffers have members",
        );
        Err(of_field("tuple_shapes", cause))
    }

    fn array(&self, index: &ShapeIndex, found: &mut FoundPadding<'_>) -> Result<ArrayShape, Error> {
        self.no_members()?;
        let element_type = self.primitive()?;
        let dims = self.dims()?;
        let array = ArrayShape { element_type, dims, layout: None };
        array.validate().map_err(|error| of_field("dimensions", error))?;
        let within = |error: Error| inside(error, "layout");
        let layout = self.read_layout(&array, index, found).map_err(within)?;
        let array = ArrayShape { layout, ..array };
        array.validate().map_err(|error| of_field("layout", error))?;
        Ok(array)
    }

    fn read_layout(
        &self,
        array: &ArrayShape,
        index: &ShapeIndex,
        found: &mut FoundPadding<'_>,
    ) -> Result<Option<Layout>, Error> {
        let Some(layout) = &self.layout else { return Ok(None) };
        let Some(found) = found else { return layout.to_layout().map(Some) };
        let (layout, padded) = layout.to_padded_layout()?;
        if let Some(padded) = padded {
            let refused = |error| of_field("padded_dimensions", error);
            padded.validate(&array.extents().map_err(refused)?).map_err(refused)?;
            found.push((index.clone(), padded));
        }
        Ok(Some(layout))
    }

    fn dims(&self) -> Result<Vec<Dim>, Error> {
        let (dims, flags) = (self.dimensions.len(), self.is_dynamic_dimension.len());
        if dims > ArrayShape::MAX_RANK {
            return Err(of_field("dimensions", too_many_dims(dims)));
        }
        if flags != 0 && flags != dims {
            let says = "{} flags of dynamic dims for {} dims";
            let cause =
                Refusal::mismatch(says, [flags as i128, dims as i128], "give one per dim, or none");
            return Err(of_field("is_dynamic_dimension", cause));
        }
        let flags = self.is_dynamic_dimension.iter().copied().chain(std::iter::repeat(false));
        let dims = self.dimensions.iter().zip(flags).enumerate();
        dims.map(|(at, (&extent, dynamic))| dim(at, extent, dynamic)).collect()
    }
}

fn dim(at: usize, extent: i64, dynamic: bool) -> Result<Dim, Error> {
    match (u64::try_from(extent), dynamic) {
        (Ok(extent), false) => Ok(Dim::Static(extent)),
        (Ok(bound), true) => Ok(Dim::Bounded(bound)),
        (Err(_), true) if extent == MINIMUM => Ok(Dim::Unbounded),
        (Err(_), _) => Err(of_field(
            format!("dimensions[{at}]"),
            Refusal::illegal(
                "{} is negative",
                [extent.into()],
                "a dim is 0 or more; an unbounded one is -2^63 and dynamic",
            ),
        )),
    }
}

impl Shape {
    /// Returns the shape as XLA's message. It is at most [`Shape::MAX_DEPTH`] messages deep, not counting those of layouts,
    /// so that every reader accepts it.
    ///
    /// # Errors
    /// [illegal](tilewright_core::Error::is_illegal) for a dim or a number of a split of 2⁶³ or more.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, PrimitiveType, Shape};
    /// let shape = Shape::parse("f32[?,<=784]").unwrap();
    /// let proto = shape.to_proto().unwrap();
    /// assert_eq!((proto.dimensions, proto.is_dynamic_dimension), (vec![i64::MIN, 784], vec![true; 2]));
    /// let huge = Shape::array(ArrayShape::new(PrimitiveType::U8, &[1 << 63]));
    /// assert_eq!(huge.to_proto().unwrap_err().name().unwrap(), "dimensions[0]");
    /// ```
    pub fn to_proto(&self) -> Result<ShapeProto, Error> {
        match self.kind() {
            ShapeKind::Array(array) => of_array(array),
            ShapeKind::Token => Ok(bare(PrimitiveType::Token)),
            ShapeKind::Opaque => Ok(bare(PrimitiveType::Opaque)),
            ShapeKind::Buffer(array) => {
                let member = of_array(array).map_err(|error| inside(error, "tuple_shapes[0]"))?;
                Ok(ShapeProto { tuple_shapes: vec![member], ..bare(PrimitiveType::Buffer) })
            }
            ShapeKind::Tuple(shapes) => {
                let tuple_shapes = each("tuple_shapes", shapes, Shape::to_proto)?;
                Ok(ShapeProto { tuple_shapes, ..bare(PrimitiveType::Tuple) })
            }
        }
    }
}

fn bare(primitive: PrimitiveType) -> ShapeProto {
    ShapeProto { element_type: primitive.number(), ..ShapeProto::default() }
}

fn of_array(array: &ArrayShape) -> Result<ShapeProto, Error> {
    let dims = array.dims.iter().enumerate();
    let dimensions = dims.map(|(at, dim)| extent(at, dim)).collect::<Result<_, _>>()?;
    let layout = array.layout.as_ref().map(of_layout).transpose()?;
    let is_dynamic_dimension =
        array.dims.iter().map(|dim| !matches!(dim, Dim::Static(_))).collect();
    Ok(ShapeProto { dimensions, is_dynamic_dimension, layout, ..bare(array.element_type) })
}

fn of_layout(layout: &Layout) -> Result<Box<LayoutProto>, Error> {
    layout.to_proto().map(Box::new).map_err(|error| inside(error, "layout"))
}

fn extent(at: usize, dim: &Dim) -> Result<i64, Error> {
    match *dim {
        Dim::Static(extent) | Dim::Bounded(extent) => {
            i64::try_from(extent).map_err(|_| too_large(format!("dimensions[{at}]"), extent))
        }
        Dim::Unbounded => Ok(MINIMUM),
    }
}

impl ProgramShapeProto {
    /// Returns the program's shape. There may be fewer names than parameters.
    ///
    /// # Errors
    /// A missing result; more names than parameters; those of [`ShapeProto::to_shape`].
    ///
    /// ```
    /// use tilewright_xla::{ProgramShape, proto::ProgramShapeProto};
    /// let program = ProgramShape::parse("((unknown): opaque[], scalar: f32[]) -> f32[7]").unwrap();
    /// assert_eq!(program.to_proto().unwrap().to_program_shape().unwrap(), program);
    /// let error = ProgramShapeProto::default().to_program_shape().unwrap_err();
    /// assert_eq!(error.name().unwrap(), "result");
    /// ```
    pub fn to_program_shape(&self) -> Result<ProgramShape, Error> {
        let (names, count) = (self.parameter_names.len(), self.parameters.len());
        if names > count {
            let says = "{} names for {} parameters";
            let cause = Refusal::mismatch(says, [names as i128, count as i128], "one each at most");
            return Err(of_field("parameter_names", cause));
        }
        let shapes = each("parameters", &self.parameters, ShapeProto::to_shape)?;
        let names = self.parameter_names.iter().cloned().chain(std::iter::repeat(String::new()));
        let parameters = shapes.into_iter().zip(names);
        Ok(ProgramShape {
            parameters: parameters.map(|(shape, name)| Parameter { name, shape }).collect(),
            result: self.result()?.to_shape().map_err(|error| inside(error, "result"))?,
        })
    }

    fn result(&self) -> Result<&ShapeProto, Error> {
        self.result.as_ref().ok_or_else(|| {
            let cause =
                Refusal::illegal("a program without a result", [], "write `()` for no result");
            of_field("result", cause)
        })
    }
}

impl ProgramShape {
    /// Returns the program's shape as XLA's message.
    ///
    /// # Errors
    /// Those of [`crate::Shape::to_proto`].
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// let program = ProgramShape::parse("(x: f32[2], y: f32[]) -> f32[2]").unwrap();
    /// let proto = program.to_proto().unwrap();
    /// assert_eq!(proto.parameter_names, ["x", "y"]);
    /// assert_eq!(proto.parameters[0].dimensions, [2]);
    /// ```
    pub fn to_proto(&self) -> Result<ProgramShapeProto, Error> {
        let shape = |parameter: &Parameter| parameter.shape.to_proto();
        Ok(ProgramShapeProto {
            parameters: each("parameters", &self.parameters, shape)?,
            result: Some(self.result.to_proto().map_err(|error| inside(error, "result"))?),
            parameter_names: self.parameters.iter().map(|one| one.name.clone()).collect(),
        })
    }
}
