//! Expressions over layouts: the operations of the algebra by name, in text.
//!
//! [`evaluate`] reads an expression and returns its [`Value`]; [`functions`] lists the functions. Values are integers,
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
mod call;
mod dims;
mod functions;
mod items;
mod lexer;
mod parser;
mod run;
mod value;

use std::borrow::Cow;

use tilewright_notation::Named;

use crate::Error;
use lexer::Word;

pub use call::{Operation, call, operation};
pub use functions::{Function, functions};
#[cfg(feature = "draw")]
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
fn spelled(text: &str, refused: Error) -> Result<value::Form, Error> {
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
pub fn layout_of(text: &str) -> Result<Named, Error> {
    let value = evaluate(text)?;
    let integer = value.kind() == "integer";
    value.to_named().filter(|_| !integer).ok_or_else(|| {
        let message = format!("the expression is {}, not a layout", value.0.described());
        Error::new("arguments", message).at((0, text.len())).in_text(text)
    })
}
