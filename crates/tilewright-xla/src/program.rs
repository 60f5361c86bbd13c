//! The shape of a program: its parameters and its result.

use std::fmt;

use crate::Shape;

/// The shapes of a computation's parameters and result.
///
/// Text: `(x: f32[2]{0}, (unknown): token[]) -> f32[7]{0}`; a parameter without a name prints as `(unknown)`. Printed
/// names read back if they consist of letters, digits and `_.-%`.
///
/// Source: XLA's `xla/shape.h`.
///
/// ```
/// use tilewright_xla::ProgramShape;
/// let program = ProgramShape::parse("(x: f32[2,3]{0,1}, (unknown): token[]) -> f32[7]").unwrap();
/// assert_eq!(program.parameters[0].name, "x");
/// assert_eq!(program.parameters[1].name, "");
/// assert_eq!(program.to_string(), "(x: f32[2,3]{0,1}, (unknown): token[]) -> f32[7]");
/// assert_eq!(
///     program.without_layouts().to_string(),
///     "(x: f32[2,3], (unknown): token[]) -> f32[7]"
/// );
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramShape {
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The shape of the result.
    pub result: Shape,
}

/// A parameter of a [`ProgramShape`].
///
/// ```
/// use tilewright_xla::{Parameter, ProgramShape, Shape};
/// let program = ProgramShape::parse("(x: f32[2]) -> f32[2]").unwrap();
/// let x = Parameter { name: "x".into(), shape: Shape::parse("f32[2]").unwrap() };
/// assert_eq!(program.parameters, [x]);
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The name of the parameter; empty if it has none.
    pub name: String,
    /// The shape of the parameter.
    pub shape: Shape,
}

impl ProgramShape {
    /// Displays the program's shape without layouts, as XLA's `ToString` does; [`fmt::Display`] includes the layouts.
    ///
    /// ```
    /// use tilewright_xla::ProgramShape;
    /// let program = ProgramShape::parse("(x: f32[2,3]{0,1}) -> f32[6]{0}").unwrap();
    /// assert_eq!(program.without_layouts().to_string(), "(x: f32[2,3]) -> f32[6]");
    /// ```
    pub fn without_layouts(&self) -> impl fmt::Display + '_ {
        PrintedProgram { program: self, layouts: false }
    }
}

struct PrintedProgram<'a> {
    program: &'a ProgramShape,
    layouts: bool,
}

impl PrintedProgram<'_> {
    fn shape(&self, f: &mut fmt::Formatter<'_>, shape: &Shape) -> fmt::Result {
        if self.layouts { write!(f, "{shape}") } else { write!(f, "{}", shape.without_layouts()) }
    }
}

impl fmt::Display for PrintedProgram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, parameter) in self.program.parameters.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(if parameter.name.is_empty() { "(unknown)" } else { &parameter.name })?;
            f.write_str(": ")?;
            self.shape(f, &parameter.shape)?;
        }
        f.write_str(") -> ")?;
        self.shape(f, &self.program.result)
    }
}

impl fmt::Display for ProgramShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrintedProgram { program: self, layouts: true }.fmt(f)
    }
}
