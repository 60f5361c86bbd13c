//! Calls of functions with values instead of text, and conversions into values.

use tilewright_core::{IntTuple, Layout, Swizzle};
use tilewright_notation::Named;

use crate::Error;

use super::{
    functions::{self, Argument},
    items::Items,
    run,
    value::{Form, Value},
};

/// Calls a function of [`functions`](super::functions) with these arguments.
///
/// # Errors
/// As [`evaluate`](super::evaluate), without a span, since there is no text.
///
/// ```
/// use tilewright::{Layout, eval::{Value, call}};
/// let layout = Layout::parse("4:2")?;
/// let rest = call("complement", vec![Value::from(&layout), Value::from(24)])?;
/// assert_eq!(rest.to_string(), "(2,3):(1,8)");
/// let error = call("complement", Vec::new()).unwrap_err();
/// assert_eq!((error.kind(), error.span()), ("arguments", None));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn call(name: &str, arguments: Vec<Value>) -> Result<Value, Error> {
    let called = || {
        let function = functions::named(name, NOWHERE)?;
        let arguments: Result<Vec<Argument>, Error> =
            arguments.into_iter().map(|value| run::argument(name, placed(value))).collect();
        function.call(&arguments?, NOWHERE)
    };
    called().map(Value).map_err(Error::without_span)
}

/// The span of a value that does not come from a text.
const NOWHERE: (usize, usize) = (0, 0);

fn placed(value: Value) -> Argument {
    Argument { form: value.0, span: NOWHERE }
}

impl Value {
    /// Returns `_`: all coordinates of an axis.
    ///
    /// ```
    /// assert_eq!(tilewright::eval::Value::keep().to_string(), "_");
    /// ```
    pub fn keep() -> Value {
        Value(Form::Slicer(Items::leaf(None)))
    }

    /// Returns a tuple of integers, tuples and `_`.
    ///
    /// # Errors
    /// An error for another kind of part, or beyond the bounds of a tuple.
    ///
    /// ```
    /// use tilewright::eval::Value;
    /// let inner = Value::tuple(vec![Value::from(2), Value::keep()])?;
    /// assert_eq!(Value::tuple(vec![Value::from(1), inner])?.to_string(), "(1,(2,_))");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn tuple(parts: Vec<Value>) -> Result<Value, Error> {
        let parts = parts.into_iter().map(placed).collect();
        run::tuple(parts, NOWHERE).map(Value).map_err(Error::without_span)
    }

    /// Returns a tiler: a layout, an extent or `_` for each axis.
    ///
    /// # Errors
    /// An error for another kind of part.
    ///
    /// ```
    /// use tilewright::{Layout, eval::Value};
    /// let by = Layout::parse("2:4")?;
    /// assert_eq!(Value::tiler(vec![Value::from(&by), Value::from(3)])?.to_string(), "<2:4,3>");
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn tiler(parts: Vec<Value>) -> Result<Value, Error> {
        let parts = parts.into_iter().map(placed).map(run::part);
        let parts: Result<Vec<_>, Error> = parts.collect();
        parts.map(|parts| Value(Form::Tiler(parts))).map_err(Error::without_span)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value(Form::Tuple(IntTuple::integer(value)))
    }
}

impl From<&Layout> for Value {
    fn from(layout: &Layout) -> Value {
        Value(Form::Layout(Box::new(layout.clone())))
    }
}

impl From<Swizzle> for Value {
    fn from(swizzle: Swizzle) -> Value {
        Value(Form::Swizzle(swizzle))
    }
}

/// The layout of an array; without dims of its own, it is a plain layout.
impl From<&Named> for Value {
    fn from(named: &Named) -> Value {
        Value(run::named(named.clone()))
    }
}
