//! Answers of expressions, alone or as one line of many.

use std::fmt;

use serde_json::{Value as Json, json};
use tilewright_core::{Fill, TensorLayout};
use tilewright_notation::ResolvedLayout;

use super::Answer;
use crate::{
    Error,
    eval::{Value, evaluate},
};

/// ```
/// use tilewright::{ask::Answer, eval::evaluate};
/// let answer = evaluate("logical_divide((4,8):(8,1), <2,4>)")?.to_json();
/// assert_eq!((&answer["kind"], &answer["shape"]), (&"layout".into(), &serde_json::json!([[2, 2], [4, 2]])));
/// assert_eq!(evaluate("size(4:1)")?.to_json()["value"], 4);
/// assert_eq!(evaluate("\"f16[3,5] row-major\"")?.to_json()["dtype"], "f16");
/// assert_eq!(evaluate("(4,2):(1,4) valid (3,2) capacity 64")?.to_json()["capacity"], 64);
/// # Ok::<(), tilewright::Error>(())
/// ```
impl Answer for Value {
    fn to_json(&self) -> Json {
        let mut answer = json!({ "kind": self.kind(), "text": self.to_string() });
        if let Some(truth) = self.as_bool() {
            answer["value"] = json!(truth);
        }
        if let Some(list) = self.as_list() {
            answer["value"] = json!(list);
        }
        if let Some(tuple) = self.as_tuple() {
            answer["value"] = nested(&tuple.to_string());
        }
        if let Some(layout) = self.as_layout() {
            answer["shape"] = nested(&layout.shape().to_string());
            answer["stride"] = nested(&layout.stride().to_string());
            answer["offset"] = json!(layout.offset());
            let swizzle = layout.swizzle();
            if !swizzle.is_identity() {
                answer["swizzle"] = match swizzle.is_field_xor() {
                    true => json!([swizzle.bits(), swizzle.base(), swizzle.shift()]),
                    false => json!({ "images": swizzle.images() }),
                };
            }
        }
        if let Some(named) = self.to_named().filter(|_| self.kind() == "layout") {
            array(&named, &mut answer);
        }
        answer
    }
}

/// Adds to an answer the properties of an array that the shape and strides of its layout do not give: valid extents, length of
/// the storage, elements and padding.
fn array(named: &ResolvedLayout, answer: &mut Json) {
    let (tensor, layout) = (named.layout(), named.layout().layout());
    let axes = (0..layout.rank()).map_while(|axis| layout.axis_size(axis));
    if !tensor.is_strided() || !axes.eq(tensor.extents().iter().copied()) {
        answer["valid"] = json!(tensor.extents());
    }
    if !tensor.is_strided() || tensor.capacity() != TensorLayout::of(layout).capacity() {
        answer["capacity"] = json!(tensor.capacity());
    }
    if let Some(dtype) = named.dtype() {
        answer["dtype"] = json!(dtype.to_string());
    }
    if let Some(bits) = named.explicit_bits() {
        answer["element_bits"] = json!(bits);
    }
    if named.fill() != Fill::Unspecified {
        answer["fill"] = json!(named.fill().to_string());
    }
}

/// Returns a tuple as nested arrays.
fn nested(tuple: &str) -> Json {
    serde_json::from_str(&tuple.replace('(', "[").replace(')', "]")).unwrap_or(Json::Null)
}

/// Answer of one line, where each line is an expression and an error does not end the run.
///
/// ```
/// use tilewright::ask::{Answer, Line};
/// assert_eq!(Line::of("size((4,8):(8,1))").to_string(), "32");
/// assert_eq!(Line::of("  ").to_json()["kind"], "nothing");
/// let wrong = Line::of("size((4,8)");
/// assert!(wrong.is_no() && wrong.to_string().starts_with("error: column 11: expected"));
/// ```
#[derive(Debug)]
pub enum Line {
    /// The line is empty.
    Nothing,
    /// The value of its expression.
    Value(Value),
    /// The expression has an error.
    Refused {
        /// The error.
        error: Error,
        /// The column of the line at fault, from 1, if the text itself is at fault.
        column: Option<usize>,
    },
}

impl Line {
    /// Evaluates a line.
    ///
    /// ```
    /// use tilewright::ask::Line;
    /// let Line::Refused { error, column } = Line::of("siez(4:1)") else { panic!("no such function") };
    /// assert_eq!((error.span(), column), (Some((0, 4)), Some(1)));
    /// ```
    pub fn of(text: &str) -> Line {
        if text.trim().is_empty() {
            return Line::Nothing;
        }
        match evaluate(text) {
            Ok(value) => Line::Value(value),
            Err(error) => {
                let column = error.column(text).filter(|_| error.is_parse());
                Line::Refused { error, column }
            }
        }
    }

    /// Returns the answer of a line that is not valid text, or too long to be read.
    ///
    /// ```
    /// use tilewright::ask::{Answer, Line};
    /// let line = Line::unread("byte 0 of the line is not UTF-8");
    /// assert_eq!(line.to_json()["error"]["kind"], "parse");
    /// ```
    pub fn unread(message: &str) -> Line {
        let error = Error::new("parse", message);
        Line::Refused { error, column: None }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Nothing => Ok(()),
            Line::Value(value) => write!(f, "{value}"),
            Line::Refused { error, column } => {
                f.write_str("error: ")?;
                if let Some(column) = column {
                    write!(f, "column {column}: ")?;
                }
                f.write_str(&error.to_string().replace(['\n', '\r'], " "))
            }
        }
    }
}

impl Answer for Line {
    fn to_json(&self) -> Json {
        match self {
            Line::Nothing => json!({ "kind": "nothing" }),
            Line::Value(value) => value.to_json(),
            Line::Refused { error, .. } => error.to_json(),
        }
    }

    fn is_no(&self) -> bool {
        matches!(self, Line::Refused { .. })
    }
}
