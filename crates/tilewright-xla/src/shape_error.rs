//! [`ShapeError`]: the error of an invalid shape, with the array at fault.

use std::fmt;

use tilewright_core::Error;

use crate::{ArrayShape, ShapeIndex};

/// The error of a shape that contains an invalid array.
///
/// ```
/// use tilewright_xla::Shape;
/// let shape = Shape::parse("(f32[1,2]{1,0}, (f32[2,3], token[]))").unwrap();
/// let error = shape.validate_with_layouts().unwrap_err();
/// assert_eq!(error.index().as_slice(), [1, 0]);
/// assert_eq!(
///     error.to_string(),
///     "member {1,0}: shape f32[2,3] does not have a layout; write one, or fill in the default ones"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ShapeError {
    index: ShapeIndex,
    /// The text of the array, cut if it has many dims.
    array: String,
    /// `None` if the layout is missing. Boxed, so that a `Result` stays small.
    cause: Option<Box<Error>>,
}

/// The largest number of bytes of an array's text in an error.
const MAX_ARRAY: usize = 200;

impl ShapeError {
    pub(crate) fn new(index: ShapeIndex, array: &ArrayShape, cause: Option<Error>) -> ShapeError {
        let mut text = match cause {
            None => array.without_layout().to_string(),
            Some(_) => array.to_string(),
        };
        if text.len() > MAX_ARRAY {
            text.truncate(MAX_ARRAY);
            text.push('…');
        }
        ShapeError { index, array: text, cause: cause.map(Box::new) }
    }

    /// Returns the path of the array in the shape; empty if it is the shape itself.
    ///
    /// ```
    /// use tilewright_xla::{Shape, ShapeIndex};
    /// let shape = Shape::parse("(f32[1]{0}, (f32[2]))").unwrap();
    /// let error = shape.validate_with_layouts().unwrap_err();
    /// assert_eq!(error.index(), &ShapeIndex::new(&[1, 0]));
    /// // The path leads to the array at fault.
    /// assert_eq!(shape.at(error.index()).unwrap().to_string(), "f32[2]");
    /// ```
    pub fn index(&self) -> &ShapeIndex {
        &self.index
    }

    /// Returns whether the array lacks a layout.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let error = Shape::parse("f32[2]").unwrap().validate_with_layouts().unwrap_err();
    /// assert!(error.is_missing_layout() && error.cause().is_none());
    /// ```
    pub fn is_missing_layout(&self) -> bool {
        self.cause.is_none()
    }

    /// Returns what is wrong with the array, unless it lacks a layout.
    ///
    /// ```
    /// use tilewright_xla::{Layout, Shape};
    /// let mut shape = Shape::parse("f32[2]").unwrap();
    /// shape.as_array_mut().unwrap().set_layout(Some(Layout::descending(2)));
    /// // A layout of two dims on an array of one.
    /// assert!(shape.validate().unwrap_err().cause().unwrap().is_mismatch());
    /// ```
    pub fn cause(&self) -> Option<&Error> {
        self.cause.as_deref()
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.index.is_empty() {
            write!(f, "member {}: ", self.index)?;
        }
        match &self.cause {
            None => write!(
                f,
                "shape {} does not have a layout; write one, or fill in the default ones",
                self.array
            ),
            Some(cause) => write!(f, "shape {}: {cause}", self.array),
        }
    }
}

tilewright_core::debug_as_display!(ShapeError);

impl std::error::Error for ShapeError {}

/// The kind is that of the cause, or `illegal` if a layout is missing.
impl From<ShapeError> for tilewright_error::Error {
    fn from(error: ShapeError) -> tilewright_error::Error {
        let kind = error.cause().map_or("illegal", Error::kind);
        tilewright_error::Error::new(kind, error.to_string()).with_source(error)
    }
}
