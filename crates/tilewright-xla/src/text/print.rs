//! Shapes as text, with or without their layouts.

use std::fmt;

use crate::{ArrayShape, Shape, ShapeKind};

/// Every member of a tuple whose number is a multiple of this, except 0, has its number in a comment before it.
const NUMBERED: usize = 5;

impl Shape {
    /// Displays the shape without layouts, as XLA's `ToString` does; [`fmt::Display`] includes the layouts, as
    /// `HumanStringWithLayout` does.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2,3]{0,1:T(2)}, b(s32[4]{0}))").unwrap();
    /// assert_eq!(shape.without_layouts().to_string(), "(f32[2,3], b(s32[4]))");
    /// ```
    #[doc(alias = "HumanString")]
    pub fn without_layouts(&self) -> impl fmt::Display + '_ {
        PrintedShape { shape: self, layouts: false }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrintedShape { shape: self, layouts: true }.fmt(f)
    }
}

/// A shape to print.
#[derive(Clone, Copy)]
struct PrintedShape<'a> {
    shape: &'a Shape,
    layouts: bool,
}

impl<'a> PrintedShape<'a> {
    fn array(&self, f: &mut fmt::Formatter<'_>, array: &ArrayShape) -> fmt::Result {
        if self.layouts { write!(f, "{array}") } else { array.write_dims(f) }
    }

    fn members(&self, f: &mut fmt::Formatter<'_>, shapes: &'a [Shape]) -> fmt::Result {
        for (i, shape) in shapes.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if i > 0 && i % NUMBERED == 0 {
                write!(f, "/*index={i}*/")?;
            }
            write!(f, "{}", PrintedShape { shape, ..*self })?;
        }
        Ok(())
    }
}

impl fmt::Display for PrintedShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape.kind() {
            ShapeKind::Array(array) => self.array(f, array),
            ShapeKind::Token => f.write_str("token[]"),
            ShapeKind::Opaque => f.write_str("opaque[]"),
            ShapeKind::Buffer(array) => {
                f.write_str("b(")?;
                self.array(f, array)?;
                f.write_str(")")
            }
            ShapeKind::Tuple(shapes) => {
                f.write_str("(")?;
                self.members(f, shapes)?;
                f.write_str(")")
            }
        }
    }
}
