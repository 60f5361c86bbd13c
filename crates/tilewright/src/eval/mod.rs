//! Expressions over layouts: the operations of the algebra by name, in text.
//!
//! [`evaluate`] reads an expression and returns its [`Value`]; [`functions`] lists the functions, and [`call`] calls one with
//! values instead of text. [`operation`] takes the outermost operation of an expression apart, for pictures. Values are integers,
//! tuples `(1,(2,3))`, `_`, layouts in CuTe text or as a SPEC in quotes, tilers `<3:3,(2,4):(1,8)>`, swizzles
//! `Sw<2,0,2>` and `F2<2,1>`, maps to coordinates `(2,2):(1@0,1@1)`, and linear layouts `{lane=[1,2],warp=[4]} ->
//! (row:8)`. `A o B` is composition, from the left.
//!
//! - In place of a layout, a tuple is the compact layout of that shape, its first mode fastest. A SPEC in quotes is the layout of
//!   the padded array.
//! - A SPEC in quotes that spreads an array over threads is a linear layout, from registers, lanes, warps and blocks to
//!   coordinates.
//! - In place of a tiler, a tuple has a part for each axis: an extent, a layout, `_`, or a tuple for the modes within the axis. A
//!   layout or an integer tiles the layout as a whole.
//! - Functions that rearrange parts return a tuple for a tuple: `flatten((4,(2,3)))` is `(4,2,3)`.
//! - Coordinates are integers (colexicographic), nested like the layout, or any mixture.
//! - `_4` is 4, `(3,)` a tuple of one. CuTe's C++ is accepted: `cute::`, `Int<4>{}`, `make_shape(…)`, `Layout<…>`,
//!   `LayoutRight{}`, `size<0>(L)`, `L(_,1)`, `E<0>{}`, a `;` at the end; and TLA's `tla::MakeLayout(…)`.
//! - `+ - * / %` calculate with integers; `L+3` moves a layout.
//!
//! Only the operations of the algebra canonicalise values, and every question has an exact answer or an error. Text,
//! nesting and lists are bounded: [`MAX_TEXT`], [`MAX_NESTING`], [`MAX_NODES`], [`MAX_LIST`].
//!
//! ```
//! use tilewright::eval::evaluate;
//! let answer = |text| evaluate(text).map(|value| value.to_string());
//! assert_eq!(answer("(6,2):(8,2) o (4,3):(3,1)").unwrap(), "((2,2),3):((24,2),8)");
//! assert_eq!(answer("get(coalesce((2,(1,6)):(1,(6,2))), 0)").unwrap(), "12:1");
//! assert_eq!(answer("coord(\"f32[3,5]{1,0:T(2,2)}\", 9)").unwrap(), "padding");
//!
//! let error = evaluate("(6,2):(1,7) o (3,2):(2,3)").unwrap_err();
//! assert_eq!(error.kind(), "no-layout");
//! assert!(error.to_string().contains("at (2,1): A(B) is 8, the only candidate gives 7"));
//! ```

mod basis;
mod functions;
mod lexer;
mod parser;
mod run;
mod value;

use std::borrow::Cow;

use tilewright_core::{IntTuple, Layout, LayoutTv, Mode, Swizzle};
use tilewright_notation::ResolvedLayout;

use crate::{
    Error,
    eval::{
        functions::Argument,
        lexer::Word,
        parser::{Expr, Node},
        value::{Form, TilerPart},
    },
};
pub use functions::{Function, functions};
use lexer::Items;
pub(crate) use lexer::whole;
pub use lexer::{MAX_LIST, MAX_NESTING, MAX_NODES, MAX_TEXT};
pub use value::Value;

/// Evaluates an expression, or a SPEC without quotes.
///
/// # Errors
/// An [`Error`] with a span, if the text does not parse, an argument has the wrong type, or the result cannot be a layout. If
/// the text is neither an expression nor a SPEC, the error comes from the parser that read further.
///
/// ```
/// use tilewright::eval::evaluate;
/// assert_eq!(evaluate("same((4,8), (4,8):(1,4))").unwrap().to_string(), "true");
/// assert_eq!(evaluate("f32[3,5]{1,0:T(2,2)}").unwrap().kind(), "layout");
/// let error = evaluate("row-mayor").unwrap_err();
/// assert!(error.to_string().contains("did you mean `row-major`?"));
/// let error = evaluate("colaesce(4:1)").unwrap_err();
/// assert_eq!(error.to_string(), "no function is called `colaesce`; did you mean `coalesce`?");
/// ```
pub fn evaluate(text: &str) -> Result<Value, Error> {
    let form = match parser::parse(text) {
        Ok(expr) => run::run(&expr),
        Err(error) => spelled(text, error),
    };
    form.map(Value).map_err(|error| error.in_text(text))
}

/// Reads a text that is not an expression as a SPEC; `refused` is the error of the parser of expressions.
fn spelled(text: &str, refused: Error) -> Result<Form, Error> {
    if refused.kind() != "parse" || text.contains('"') {
        return Err(refused);
    }
    let reached = |error: &Error| error.span().map_or(0, |(from, _)| from);
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_function = functions().any(|function| function.name() == text);
    let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(in_name)
        && !is_function;
    run::spec(text, (0, text.len()), 0).map_err(|error| {
        // An error of another kind than `parse` shows that the text is a SPEC with something missing.
        let is_spec = error.kind() != "parse" || is_name;
        if is_spec || reached(&error) > reached(&refused) { error } else { refused }
    })
}

/// Returns a text that [`evaluate`] takes in the form for a longer expression: in quotes if it is a SPEC.
///
/// ```
/// use tilewright::eval::{evaluate, operand_text};
/// let inner = operand_text("f32[4,8]{1,0}");
/// assert_eq!(inner, "\"f32[4,8]{1,0}\"");
/// assert_eq!(evaluate(&format!("coalesce({inner})"))?.to_string(), "(4,8):(8,1)");
/// assert_eq!(operand_text("(4,8):(8,1)"), "(4,8):(8,1)");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn operand_text(text: &str) -> Cow<'_, str> {
    match parser::parse(text) {
        Err(error) if error.kind() == "parse" && !text.contains('"') => {
            format!("\"{text}\"").into()
        }
        _ => text.into(),
    }
}

/// Returns whether a text that is not a SPEC is meant as an expression: it calls a function, or composes with `o`.
///
/// ```
/// use tilewright::eval::is_expression;
/// assert!(is_expression("logical_divide((4,8), <2,4>)") && is_expression("(4,8) o 8:2"));
/// assert!(!is_expression("zN") && !is_expression("(o i) -> i o"));
/// assert!(!is_expression("table(0; @o.txt) zN"));
/// ```
pub fn is_expression(text: &str) -> bool {
    let Ok(words) = lexer::words(text) else { return false };
    let ahead: Vec<Word<'_>> = words.iter().map(|token| token.word).take(3).collect();
    let qualified =
        matches!(ahead[..], [Word::Name("cute" | "tla"), Word::Sign(':'), Word::Sign(':')]);
    let words = &words[if qualified { 3 } else { 0 }..];
    let call = match words.get(..2) {
        Some([name, open]) => {
            let known = functions().any(|function| Word::Name(function.name()) == name.word);
            known && open.word == Word::Sign('(')
        }
        _ => false,
    };
    let composed = words.iter().any(|token| token.word == Word::Name("o"));
    let swizzle = matches!(words[0].word, Word::Name("S" | "Sw" | "F2"));
    // The text of an index table may contain the name of a file.
    call || composed && !swizzle && !text.contains("->") && !text.contains(';')
}

/// Returns the layout that an expression evaluates to, as the layout of an array.
///
/// # Errors
/// As [`evaluate`], and an error if the value is not a layout.
///
/// ```
/// use tilewright::eval::layout_of;
/// let named = layout_of("composition((4,8):(8,1), <2,4>)").unwrap();
/// assert_eq!(named.to_spec(), "(2,4):(8,1)");
/// let error = layout_of("size(4:1)").unwrap_err();
/// assert_eq!(error.to_string(), "the expression is an integer, not a layout");
/// ```
pub fn layout_of(text: &str) -> Result<ResolvedLayout, Error> {
    let value = evaluate(text)?;
    let integer = value.kind() == "integer";
    value.to_named().filter(|_| !integer).ok_or_else(|| {
        let message = format!("the expression is {}, not a layout", value.0.described());
        Error::new("arguments", message).at((0, text.len())).in_text(text)
    })
}

/// Calls a function of [`functions`] with these arguments.
///
/// # Errors
/// Those of [`evaluate`], without a span.
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
impl From<&ResolvedLayout> for Value {
    fn from(named: &ResolvedLayout) -> Value {
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
/// As [`evaluate`].
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
