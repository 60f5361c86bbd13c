//! Conversion of a shape to `ShapeProto`.

use super::{Error, LayoutProto, ShapeProto, inside, layout_write::too_large, messages::MINIMUM};
use crate::{ArrayShape, Dim, Layout, PrimitiveType, Shape, ShapeKind};

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
                let tuple_shapes =
                    super::layout_read::each("tuple_shapes", shapes, Shape::to_proto)?;
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
