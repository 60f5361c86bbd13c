//! Calls of functions with values instead of text, conversions into values, and the outermost operation of an
//! expression, with its operands and its value, for pictures.

use tilewright_core::{IntTuple, Layout, LayoutTv, Mode, Swizzle};
use tilewright_notation::Named;

use super::{
    functions::{self, Argument},
    items::Items,
    lexer,
    parser::{self, Expr, Node},
    run,
    value::{Form, TilerPart, Value},
};
use crate::Error;

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

/// Outermost operation of an expression, with its value.
///
/// ```
/// use tilewright::eval::{Operation, operation};
/// let found = operation("logical_product((2,2):(4,1), 6:1)")?;
/// let Some(Operation::Copied { sign, result, .. }) = found else { panic!() };
/// assert_eq!((sign, result.to_string()), ("⊗", "((2,2),(2,3)):((4,1),(2,8))".to_owned()));
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The indices of one layout that another selects: compositions and divisions.
    Composed {
        /// The sign between the operands.
        sign: &'static str,
        /// The layout that is indexed.
        a: Layout,
        /// The indices, or the tile.
        b: Layout,
        /// The value.
        result: Layout,
    },
    /// A copy of one layout for each index of another: products.
    Copied {
        /// The sign between the operands.
        sign: &'static str,
        /// The layout that is copied.
        a: Layout,
        /// The order of the copies.
        b: Layout,
        /// The value.
        result: Layout,
    },
    /// A tile that is distributed over threads.
    Dealt {
        /// (thread, value) → cell of the tile, colexicographic.
        tv: Layout,
        /// The extents of the tile.
        tile: Vec<u64>,
    },
}

/// Returns the outermost operation of an expression, if it combines two layouts; `None` for others.
///
/// # Errors
/// As [`evaluate`](super::evaluate).
///
/// ```
/// use tilewright::eval::{Operation, operation};
/// assert!(matches!(operation("8:2 o 4:1")?, Some(Operation::Composed { .. })));
/// // A tiler is a layout of indices too: here of the first tile, of 2 rows and 4 columns.
/// let Some(Operation::Composed { b, .. }) = operation("zipped_divide((4,8), <2,4>)")? else { panic!() };
/// assert_eq!(b.to_string(), "(2,4):(1,4)");
/// // And a tuple is the compact layout of that shape.
/// assert!(matches!(operation("blocked_product((2,2):(1,2), (3,2))")?, Some(Operation::Copied { .. })));
/// // A layout alone is not an operation.
/// assert_eq!(operation("(4,8):(8,1)")?, None);
/// assert!(operation("8:2 o").is_err());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn operation(text: &str) -> Result<Option<Operation>, Error> {
    let found = parser::parse(text).and_then(|expr| taken_apart(&expr));
    found.map_err(|error| error.in_text(text))
}

fn taken_apart(expr: &Expr<'_>) -> Result<Option<Operation>, Error> {
    let Some(result) = layout(run::run(expr)?) else { return Ok(None) };
    let (name, operands) = match &expr.node {
        Node::Chain(operands) => ("composition", operands),
        Node::Call { name, arguments, .. } => (*name, arguments),
        Node::Group(inner) => return taken_apart(inner),
        _ => return Ok(None),
    };
    let [a, b] = operands.as_slice() else { return Ok(None) };
    if name == "make_layout_tv" {
        return dealt(expr, a, b, result).map(Some);
    }
    // A tuple in place of a layout is the compact layout of that shape.
    let whole = |form: Form, span| Argument { form, span }.layout(name).ok();
    let (a, b, of_b) = (whole(run::run(a)?, a.span), run::run(b)?, b.span);
    let Some(a) = a else { return Ok(None) };
    // A product by a tuple copies each axis separately, and a single layout cannot describe their order.
    let tuple = matches!(&b, Form::Tuple(shape) if shape.as_integer().is_none());
    let by_axis = tuple && !matches!(name, "blocked_product" | "raked_product");
    let b = match name.ends_with("_product") {
        true if by_axis => None,
        true => whole(b, of_b),
        false => indices(&a, b),
    };
    let Some(b) = b else { return Ok(None) };
    Ok(match name {
        "composition" => Some(Operation::Composed { sign: "∘", a, b, result }),
        "logical_divide" | "zipped_divide" | "tiled_divide" | "flat_divide" => {
            Some(Operation::Composed { sign: "⊘", a, b, result })
        }
        "logical_product" | "zipped_product" | "tiled_product" | "flat_product"
        | "blocked_product" | "raked_product" => {
            Some(Operation::Copied { sign: "⊗", a, b, result })
        }
        _ => None,
    })
}

/// Returns the indices of A that an operand selects: those of a layout, or those of the first tile of a tiler.
fn indices(a: &Layout, b: Form) -> Option<Layout> {
    match b {
        Form::Tiler(parts) => first_tile(a, &parts),
        Form::Tuple(shape) if shape.as_integer().is_none() => {
            first_tile(a, &Items::of(&shape).parts()?)
        }
        other => layout(other),
    }
}

/// Returns the indices of A within the first tile, with a list of modes for each axis.
fn first_tile(a: &Layout, parts: &[TilerPart]) -> Option<Layout> {
    let (mut modes, mut counts, mut step) = (Vec::new(), Vec::new(), 1i64);
    for (axis, part) in parts.iter().enumerate() {
        let whole = a.axis_size(axis)?;
        let own = match part {
            TilerPart::Layout(tile) if tile.offset() != 0 || !tile.swizzle().is_identity() => {
                return None;
            }
            TilerPart::Layout(tile) => tile.modes().to_vec(),
            TilerPart::Extent(extent) => vec![Mode::new(*extent, 1)],
            TilerPart::Keep => vec![Mode::new(whole, 1)],
            TilerPart::Modes(inner) => first_tile(&a.get(&[axis]).ok()?, inner)?.modes().to_vec(),
        };
        counts.push(own.len());
        for mode in own {
            modes.push(Mode::new(mode.extent(), mode.stride().checked_mul(step)?));
        }
        step = step.checked_mul(i64::try_from(whole).ok()?)?;
    }
    Layout::nested(&modes, &counts).ok()
}

/// Returns the tile that threads and values make together in this arrangement.
fn dealt(expr: &Expr<'_>, thr: &Expr<'_>, val: &Expr<'_>, tv: Layout) -> Result<Operation, Error> {
    let name = "make_layout_tv";
    let arranged =
        |expr: &Expr<'_>| Argument { form: run::run(expr)?, span: expr.span }.layout(name);
    let dealt = LayoutTv::new(&arranged(thr)?, &arranged(val)?);
    let dealt = dealt.map_err(|error| lexer::core(expr.span, name, &error))?;
    let extents = dealt.tile().values().iter();
    let tile = extents.map(|&extent| u64::try_from(extent).unwrap_or(0)).collect();
    Ok(Operation::Dealt { tv, tile })
}

fn layout(form: Form) -> Option<Layout> {
    Value(form).as_layout().cloned()
}
