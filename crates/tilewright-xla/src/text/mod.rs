//! HLO text: a recursive-descent parser over bytes; every error has its span.
//!
//! ```text
//! program  := '(' [ name ':' shape { ',' name ':' shape } ] ')' '->' shape
//! name     := '(unknown)' | letters, digits and '_', '.', '-', '%'
//! shape    := array | tuple | 'b' '(' array ')' | 'token' '[' ']' | 'opaque' '[' ']'
//! tuple    := '(' [ shape { ',' shape } ] ')'
//! array    := type '[' [ dim { ',' dim } ] ']' [ layout ]
//! dim      := INT | '<=' INT | '?'
//! layout   := '{' [ INT { ',' INT } ] [ ':' { property } ] '}'
//! property := D(…) | T tile {tile} | L(INT) | #(type) | *(type) | E(INT) | S(INT) | SC split {split}
//!           | P(array) | M(INT)
//! tile     := '(' (INT|'*') { ',' (INT|'*') } ')'
//! split    := '(' INT ':' INT { ',' INT } ')'
//! ```
//!
//! White space, `/* … */` and `// …` may occur between tokens. Properties come in this order, each at most once. `P` is
//! read only in a layout on its own. Shapes are printed with or without their layouts.

mod cursor;
mod layout;

use std::fmt;

use tilewright_core::ParseError;

use crate::{ArrayShape, Shape, ShapeKind};

pub(crate) use cursor::Cursor;
#[cfg(feature = "proto")]
pub(crate) use cursor::is_name;
#[cfg(feature = "proto")]
pub(crate) use layout::{layout, layout_properties, shape_prefix};

/// One production of the grammar.
type Production<T> = fn(&mut Cursor<'_>) -> Result<T, ParseError>;

/// Reads a whole text.
pub(crate) fn whole<T>(text: &str, read: Production<T>) -> Result<T, ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// Reads the start of a text; returns the value and the number of bytes read.
pub(crate) fn prefix<T>(text: &str, read: Production<T>) -> Result<(T, usize), ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    Ok((value, cursor.at()))
}

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
