//! Conversion between `ShapeProto` and a shape, and between `ProgramShapeProto` and [`ProgramShape`].
//!
//! The recursion is at most [`Shape::MAX_DEPTH`] deep, whatever the message.

use tilewright_core::Error as Refusal;

use super::{
    Error, LayoutProto, ProgramShapeProto, ShapeProto, inside,
    layout::{each, too_large},
    of_field,
};
use crate::proto::MINIMUM;
use crate::{
    ArrayShape, Dim, Layout, Padded, Parameter, PrimitiveType, ProgramShape, Shape, ShapeIndex,
    ShapeKind,
    shape::{too_deep, too_many_dims},
};

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
