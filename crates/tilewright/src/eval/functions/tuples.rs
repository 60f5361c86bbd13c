//! Arithmetic on tuples, as in CuTe's `int_tuple.hpp` and `tuple_algorithms.hpp` (CUTLASS 4) and in pycute.
//!
//! Laws: `inner_product(c, stride(L))` is `crd2idx(c, L)` for a coordinate with the brackets of L;
//! `round_up(a, b)` is `ceil_div(a, b)` times `b`, part by part; `zip(zip(a, b))` is `(a,b)`.
//!
//! Orders of coordinates, as in CuTe's `int_tuple.hpp` (CUTLASS 4).
//!
//! `X_less` compares two tuples: `elem` all parts, `lex` from the first part on, `colex` from the last part on. The
//! others are made of it: `X_gtr(a, b)` is `X_less(b, a)`, `X_leq(a, b)` is not `X_less(b, a)`, and `X_geq(a, b)` not
//! `X_less(a, b)`. So `elem_leq((1,5), (2,3))` is true, although 5 is more than 3.

use tilewright_core::{IntTuple, MAX_MODES};

use super::{
    Answer, Call, Function, Refusal, integer,
    structure::{layout, parts_of},
};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "inner_product(a, b)",
        "The sum of the products of the integers of two tuples with the same brackets.",
        "(a: Shape, b: Shape, /) -> int",
        "(1,(2,3)), (4,(5,6))",
        |call| integer(inner_product(&call.tuple(0)?, &call.tuple(1)?)?),
    ),
    Function::new(
        "elem_scale(a, b)",
        "Each integer of a times the product of the part of b at its place.",
        "(a: Shape, b: Shape, /) -> Any",
        "(2,3), (4,(5,6))",
        |call| elem_scale(&call.tuple(0)?, &call.tuple(1)?).map(tuple),
    ),
    Function::new(
        "product_each(a)",
        "The product of each part of a tuple; for an integer, a tuple of one, as in CuTe.",
        "(a: Shape, /) -> Any",
        "((4,2),3)",
        |call| Ok(tuple(wrapped(call)?.product_each()?)),
    ),
    Function::new(
        "max(a, …)",
        "The largest of all integers.",
        "(*parts: Shape) -> int",
        "(3,(7,2)), 5",
        |call| reduced(call, |a, b| Ok(a.max(b))),
    ),
    Function::new(
        "min(a, …)",
        "The smallest of all integers.",
        "(*parts: Shape) -> int",
        "(3,(7,2)), 5",
        |call| reduced(call, |a, b| Ok(a.min(b))),
    ),
    Function::new(
        "sum(a, …)",
        "The sum of all integers.",
        "(*parts: Shape) -> int",
        "(3,(7,2)), 5",
        |call| reduced(call, |a, b| a.checked_add(b).ok_or_else(too_large)),
    ),
    Function::new(
        "gcd(a, …)",
        "The greatest common divisor of all integers.",
        "(*parts: Shape) -> int",
        "(12,(18,8)), 6",
        |call| reduced(call, |a, b| Ok(gcd(natural(a)?, natural(b)?))),
    ),
    Function::new(
        "lcm(a, …)",
        "The least common multiple of all integers.",
        "(*parts: Shape) -> int",
        "4, 6",
        |call| {
            reduced(call, |a, b| match gcd(natural(a)?, natural(b)?) {
                0 => Ok(0),
                common => times(a / common, b),
            })
        },
    ),
    Function::new(
        "round_up(a, b)",
        "Each integer of a rounded up to a multiple of the one of b in its place; integers that b lacks are kept.",
        "(a: Shape, b: Shape, /) -> Any",
        "(12,7), (5,4)",
        |call| round_up(&call.tuple(0)?, &call.tuple(1)?).map(tuple),
    ),
    Function::new(
        "reverse(a)",
        "The parts of a tuple from the last to the first.",
        "(a: Shape, /) -> Any",
        "(2,(3,4),5)",
        |call| {
            let whole = call.tuple(0)?;
            match whole.as_integer() {
                Some(_) => Ok(tuple(whole)),
                None => {
                    let mut parts = parts_of(&whole)?;
                    parts.reverse();
                    joined(&parts).map(tuple)
                }
            }
        },
    ),
    Function::new(
        "zip(a, b, …)",
        "A tuple of the first parts of all tuples, of the second parts, and so on; the parts of a single tuple are zipped.",
        "(*tuples: Shape) -> Any",
        "(2,3), (4,5)",
        zip,
    )
    .taking(1, usize::MAX),
    Function::new(
        "front(a)",
        "The first integer of a tuple; a layout itself, as in CuTe.",
        "(a: LayoutLike, /) -> Any",
        "((3,4),2)",
        |call| end(call, |values| values.first()),
    ),
    Function::new(
        "back(a)",
        "The last integer of a tuple; a layout itself, as in CuTe.",
        "(a: LayoutLike, /) -> Any",
        "(2,(3,4))",
        |call| end(call, |values| values.last()),
    ),
    Function::new(
        "repeat(x, n)",
        "A tuple of n times x; for n = 1, x itself, as in CuTe.",
        "(x: Shape, n: int, /) -> Any",
        "(2,3), 2",
        |call| match (call.tuple(0)?, call.position(1)?) {
            (one, 1) => Ok(tuple(one)),
            // A tuple of more parts is refused.
            (one, n) => joined(&vec![one; n.min(MAX_MODES + 1)]).map(tuple),
        },
    ),
    Function::new(
        "repeat_like(a, x)",
        "x in place of each integer of a.",
        "(a: Shape, x: Shape, /) -> Any",
        "(2,(3,4)), 1",
        |call| repeated(&call.tuple(0)?, &call.tuple(1)?).map(tuple),
    ),
    Function::new(
        "product_like(a, guide)",
        "The product of each part of a that is an integer in the guide.",
        "(a: Shape, guide: Shape, /) -> Any",
        "((2,3),(4,(5,6))), (1,(1,1))",
        |call| product_like(&call.tuple(0)?, &call.tuple(1)?).map(tuple),
    ),
    Function::new(
        "flatten_to_tuple(a)",
        "The integers of a tuple; of an integer, a tuple of one.",
        "(a: Shape, /) -> Any",
        "(2,(3,4))",
        |call| Ok(tuple(IntTuple::flat(call.tuple(0)?.values())?)),
    ),
    Function::new(
        "wrap(a)",
        "An integer as a tuple of one; a tuple itself.",
        "(a: Shape, /) -> Any",
        "4",
        |call| wrapped(call).map(tuple),
    ),
    Function::new(
        "unwrap(a)",
        "A tuple without the brackets around a single part.",
        "(a: Shape, /) -> Any",
        "((4,2),)",
        |call| {
            let mut part = call.tuple(0)?;
            while part.as_integer().is_none() && part.rank() == 1 {
                part = part.get(&[0])?;
            }
            Ok(tuple(part))
        },
    ),
];

fn tuple(tuple: IntTuple) -> Form {
    Form::Tuple(tuple)
}

/// Returns an integer at an end of a tuple. CuTe does not take layouts apart here.
fn end(call: &Call<'_>, of: fn(&[i64]) -> Option<&i64>) -> Answer {
    let Form::Tuple(whole) = call.form(0)? else { return layout(call.layout(0)?) };
    integer(*of(whole.values()).ok_or_else(without_integers)?)
}

fn without_integers() -> Refusal {
    Refusal::Message("illegal", "a tuple without integers; give at least one".to_owned())
}

/// Returns argument 0, with an integer as a tuple of one.
fn wrapped(call: &Call<'_>) -> Result<IntTuple, Refusal> {
    let whole = call.tuple(0)?;
    match whole.as_integer() {
        Some(_) => Ok(IntTuple::of(&[&whole])?),
        None => Ok(whole),
    }
}

fn too_large() -> Refusal {
    Refusal::Message(
        "overflow",
        "the result does not fit 64 bits; give smaller integers".to_owned(),
    )
}

fn times(a: i64, b: i64) -> Result<i64, Refusal> {
    a.checked_mul(b).ok_or_else(too_large)
}

pub(super) fn differ(a: &IntTuple, b: &IntTuple) -> Refusal {
    let message = format!("{a} and {b} differ in rank; give both the same brackets");
    Refusal::Message("mismatch", message)
}

/// Returns the parts of two tuples of the same rank.
fn pairs(a: &IntTuple, b: &IntTuple) -> Result<Vec<(IntTuple, IntTuple)>, Refusal> {
    let are_tuples = a.as_integer().is_none() && b.as_integer().is_none();
    let (parts, others) = (parts_of(a)?, parts_of(b)?);
    if !are_tuples || parts.len() != others.len() {
        return Err(differ(a, b));
    }
    Ok(parts.into_iter().zip(others).collect())
}

/// Returns the tuple of these parts.
fn joined(parts: &[IntTuple]) -> Result<IntTuple, Refusal> {
    Ok(IntTuple::of(&parts.iter().collect::<Vec<_>>())?)
}

fn elem_scale(a: &IntTuple, b: &IntTuple) -> Result<IntTuple, Refusal> {
    if let Some(a) = a.as_integer() {
        return Ok(IntTuple::integer(times(a, b.product()?)?));
    }
    let scaled: Result<Vec<IntTuple>, Refusal> =
        pairs(a, b)?.iter().map(|(a, b)| elem_scale(a, b)).collect();
    joined(&scaled?)
}

fn inner_product(a: &IntTuple, b: &IntTuple) -> Result<i64, Refusal> {
    if let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) {
        return times(a, b);
    }
    pairs(a, b)?
        .iter()
        .try_fold(0i64, |sum, (a, b)| sum.checked_add(inner_product(a, b)?).ok_or_else(too_large))
}

fn repeated(a: &IntTuple, one: &IntTuple) -> Result<IntTuple, Refusal> {
    match a.as_integer() {
        Some(_) => Ok(one.clone()),
        None => {
            let all: Result<Vec<_>, _> = parts_of(a)?.iter().map(|a| repeated(a, one)).collect();
            joined(&all?)
        }
    }
}

fn product_like(a: &IntTuple, guide: &IntTuple) -> Result<IntTuple, Refusal> {
    match guide.as_integer() {
        Some(_) => Ok(IntTuple::integer(a.product()?)),
        None => {
            let pairs = pairs(a, guide)?;
            let all: Result<Vec<_>, _> = pairs.iter().map(|(a, b)| product_like(a, b)).collect();
            joined(&all?)
        }
    }
}

/// Returns b with 1 for each part that a has and b lacks.
pub(super) fn padded(a: &IntTuple, b: &IntTuple) -> Result<IntTuple, Refusal> {
    if a.as_integer().is_some() || b.as_integer().is_some() || b.rank() > a.rank() {
        return Ok(b.clone());
    }
    let one = IntTuple::integer(1);
    let tiles = parts_of(b)?;
    let tiles = tiles.iter().chain(std::iter::repeat(&one));
    let all: Result<Vec<_>, _> =
        parts_of(a)?.iter().zip(tiles).map(|(a, b)| padded(a, b)).collect();
    joined(&all?)
}

fn round_up(a: &IntTuple, b: &IntTuple) -> Result<IntTuple, Refusal> {
    match (a.as_integer(), b.as_integer()) {
        (Some(value), Some(step)) => Ok(IntTuple::integer(multiple(value, step)?)),
        (None, None) => {
            let parts = pairs(a, &padded(a, b)?)?;
            let made: Result<Vec<IntTuple>, Refusal> =
                parts.iter().map(|(a, b)| round_up(a, b)).collect();
            joined(&made?)
        }
        _ => Err(differ(a, b)),
    }
}

/// Returns the smallest multiple of `step` that is at least `value`.
fn multiple(value: i64, step: i64) -> Result<i64, Refusal> {
    if step < 1 {
        let message = format!("{value} up to a multiple of {step}; give a step of 1 or more");
        return Err(Refusal::Message("illegal", message));
    }
    if value < 0 {
        let message = format!("{value} is below 0; give an integer of 0 or more");
        return Err(Refusal::Message("illegal", message));
    }
    let up = (step - value % step) % step;
    value.checked_add(up).ok_or_else(too_large)
}

/// Returns the greatest common divisor of two integers, neither below 0.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    tilewright_core::gcd(a.unsigned_abs(), b.unsigned_abs()).cast_signed()
}

fn natural(value: i64) -> Result<i64, Refusal> {
    if value >= 0 {
        return Ok(value);
    }
    Err(Refusal::Message("illegal", format!("{value} is below 0; give integers of 0 or more")))
}

/// Returns what joins all integers of the arguments.
fn reduced(call: &Call<'_>, join: fn(i64, i64) -> Result<i64, Refusal>) -> Answer {
    let tuples = tuples(call)?;
    let mut values = tuples.iter().flat_map(|tuple| tuple.values()).copied();
    let first = values.next().ok_or_else(without_integers)?;
    integer(values.try_fold(first, join)?)
}

fn tuples(call: &Call<'_>) -> Result<Vec<IntTuple>, Refusal> {
    (0..call.count()).map(|i| call.tuple(i)).collect()
}

fn zip(call: &Call<'_>) -> Answer {
    let mut all = tuples(call)?;
    if let [whole] = all.as_slice() {
        if whole.as_integer().is_some() {
            return Ok(tuple(whole.clone()));
        }
        all = parts_of(whole)?;
    }
    let is_tuple = |part: &IntTuple| part.as_integer().is_none();
    let [first, rest @ ..] = all.as_slice() else { return joined(&[]).map(tuple) };
    // CuTe looks at the first part alone.
    if !is_tuple(first) {
        return Ok(tuple(joined(&[joined(&all)?])?));
    }
    if let Some(other) = rest.iter().find(|part| !is_tuple(part) || part.rank() != first.rank()) {
        return Err(differ(first, other));
    }
    let together = |i: usize| -> Result<IntTuple, Refusal> {
        let parts: Result<Vec<IntTuple>, _> = all.iter().map(|part| part.get(&[i])).collect();
        joined(&parts?)
    };
    let zipped: Vec<IntTuple> = (0..first.rank()).map(together).collect::<Result<_, _>>()?;
    joined(&zipped).map(tuple)
}

pub(super) static ORDERS: &[Function] = &[
    row(
        "elem_less(a, b)",
        "Returns whether each integer of a is less than the one of b in its place.",
        |call| less(call, TupleOrder::Each),
    ),
    row("elem_leq(a, b)", "Not elem_less(b, a).", |call| not(more(call, TupleOrder::Each))),
    row("elem_gtr(a, b)", "elem_less(b, a).", |call| more(call, TupleOrder::Each)),
    row("elem_geq(a, b)", "Not elem_less(a, b).", |call| not(less(call, TupleOrder::Each))),
    row(
        "lex_less(a, b)",
        "Returns whether a comes before b if the first part counts most.",
        |call| less(call, TupleOrder::First),
    ),
    row("lex_leq(a, b)", "Not lex_less(b, a).", |call| not(more(call, TupleOrder::First))),
    row("lex_gtr(a, b)", "lex_less(b, a).", |call| more(call, TupleOrder::First)),
    row("lex_geq(a, b)", "Not lex_less(a, b).", |call| not(less(call, TupleOrder::First))),
    row(
        "colex_less(a, b)",
        "Returns whether a comes before b if the last part counts most.",
        |call| less(call, TupleOrder::Last),
    ),
    row("colex_leq(a, b)", "Not colex_less(b, a).", |call| not(more(call, TupleOrder::Last))),
    row("colex_gtr(a, b)", "colex_less(b, a).", |call| more(call, TupleOrder::Last)),
    row("colex_geq(a, b)", "Not colex_less(a, b).", |call| not(less(call, TupleOrder::Last))),
];

const fn row(call: &'static str, doc: &'static str, run: fn(&Call<'_>) -> Answer) -> Function {
    let (python, example) = ("(a: Coord, b: Coord, /) -> bool", "(1,5), (2,3)");
    Function::new(call, doc, python, example, run)
}

/// The parts that decide.
#[derive(Clone, Copy)]
enum TupleOrder {
    /// All of them.
    Each,
    /// The first that differs.
    First,
    /// The last that differs.
    Last,
}

fn less(call: &Call<'_>, order: TupleOrder) -> Answer {
    is_less(&call.tuple(0)?, &call.tuple(1)?, order).map(Form::Boolean)
}

fn more(call: &Call<'_>, order: TupleOrder) -> Answer {
    is_less(&call.tuple(1)?, &call.tuple(0)?, order).map(Form::Boolean)
}

fn not(answer: Answer) -> Answer {
    Ok(match answer? {
        Form::Boolean(answer) => Form::Boolean(!answer),
        other => other,
    })
}

/// Looks at every pair of parts, so that an integer beside a tuple is refused wherever it is.
fn is_less(a: &IntTuple, b: &IntTuple, order: TupleOrder) -> Result<bool, Refusal> {
    match (a.as_integer(), b.as_integer()) {
        (Some(a), Some(b)) => return Ok(a < b),
        (None, None) => {}
        _ => return Err(differ(a, b)),
    }
    let (mut left, mut right) = (parts_of(a)?, parts_of(b)?);
    if matches!(order, TupleOrder::Last) {
        left.reverse();
        right.reverse();
    }
    // The answer of the parts behind those that both have.
    let mut answer = match order {
        TupleOrder::Each => left.len() <= right.len(),
        TupleOrder::First | TupleOrder::Last => left.len() < right.len(),
    };
    for (a, b) in left.iter().zip(&right).rev() {
        let here = is_less(a, b, order)?;
        answer = match order {
            TupleOrder::Each => here && answer,
            TupleOrder::First | TupleOrder::Last => here || (a == b && answer),
        };
    }
    Ok(answer)
}
