//! Reads the shape of a program: `(x: f32[2], (unknown): token[]) -> f32[7]`.

use tilewright_core::ParseError;

use super::{cursor::Cursor, shape::shape, whole};
use crate::{Parameter, ProgramShape};

impl ProgramShape {
    /// Reads the shape of a program, with optional white space and comments between tokens.
    ///
    /// # Errors
    /// A [`ParseError`] with the byte span at fault.
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// assert_eq!(ProgramShape::parse("() -> ()").unwrap().to_string(), "() -> ()");
    /// let text = "(x f32[2]) -> f32[2]";
    /// let error = ProgramShape::parse(text).unwrap_err();
    /// assert_eq!(error.span(), (3, 6));
    /// ```
    pub fn parse(text: &str) -> Result<ProgramShape, ParseError> {
        whole(text, program)
    }
}

impl std::str::FromStr for ProgramShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ProgramShape, ParseError> {
        ProgramShape::parse(text)
    }
}

/// The text in place of a parameter's missing name.
const UNKNOWN: &str = "unknown";

/// Reads the shape of a program.
fn program(cursor: &mut Cursor<'_>) -> Result<ProgramShape, ParseError> {
    let parameters = parameters(cursor)?;
    cursor.expect("->", "expected `->` and the shape of the result")?;
    Ok(ProgramShape { parameters, result: shape(cursor)? })
}

fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Parameter>, ParseError> {
    cursor.expect("(", "expected `(` and the parameters")?;
    let mut parameters = Vec::new();
    if cursor.eat(")") {
        return Ok(parameters);
    }
    loop {
        let name = parameter_name(cursor)?;
        cursor.expect(":", "expected `:` between a parameter's name and its shape")?;
        parameters.push(Parameter { name, shape: shape(cursor)? });
        if !cursor.eat(",") {
            cursor.expect(")", "expected `,` or `)` after a parameter")?;
            return Ok(parameters);
        }
    }
}

fn parameter_name(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    if cursor.eat("(") {
        let (word, span) = cursor.word();
        if word != UNKNOWN {
            return Err(ParseError::new(span, "expected `(unknown)` or a parameter's name", []));
        }
        cursor.expect(")", "expected `)`")?;
        return Ok(String::new());
    }
    match cursor.name() {
        ("", _) => Err(cursor.error("expected a parameter's name, or `(unknown)`")),
        (name, _) => Ok(name.to_owned()),
    }
}
