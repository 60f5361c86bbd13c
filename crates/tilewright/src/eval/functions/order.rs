//! Orders of coordinates, as in CuTe's `int_tuple.hpp` (CUTLASS 4).
//!
//! `X_less` compares two tuples: `elem` all parts, `lex` from the first part on, `colex` from the last part on. The others are
//! made of it: `X_gtr(a, b)` is `X_less(b, a)`, `X_leq(a, b)` is not `X_less(b, a)`, and `X_geq(a, b)` not `X_less(a, b)`.
//! So `elem_leq((1,5), (2,3))` is true, although 5 is more than 3.

use tilewright_core::IntTuple;

use super::{Answer, Call, Function, Refusal, structure::parts_of, tuples::differ};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    row(
        "elem_less",
        "Returns whether each integer of a is less than the one of b in its place.",
        |call| less(call, Order::Each),
    ),
    row("elem_leq", "Not elem_less(b, a).", |call| not(more(call, Order::Each))),
    row("elem_gtr", "elem_less(b, a).", |call| more(call, Order::Each)),
    row("elem_geq", "Not elem_less(a, b).", |call| not(less(call, Order::Each))),
    row("lex_less", "Returns whether a comes before b if the first part counts most.", |call| {
        less(call, Order::First)
    }),
    row("lex_leq", "Not lex_less(b, a).", |call| not(more(call, Order::First))),
    row("lex_gtr", "lex_less(b, a).", |call| more(call, Order::First)),
    row("lex_geq", "Not lex_less(a, b).", |call| not(less(call, Order::First))),
    row("colex_less", "Returns whether a comes before b if the last part counts most.", |call| {
        less(call, Order::Last)
    }),
    row("colex_leq", "Not colex_less(b, a).", |call| not(more(call, Order::Last))),
    row("colex_gtr", "colex_less(b, a).", |call| more(call, Order::Last)),
    row("colex_geq", "Not colex_less(a, b).", |call| not(less(call, Order::Last))),
];

const fn row(name: &'static str, doc: &'static str, run: fn(&Call<'_>) -> Answer) -> Function {
    let (python, example) = ("(a: Coord, b: Coord, /) -> bool", "(1,5), (2,3)");
    Function { name, arguments: "a, b", doc, python, example, counts: (2, 2), run }
}

/// The parts that decide.
#[derive(Clone, Copy)]
enum Order {
    /// All of them.
    Each,
    /// The first that differs.
    First,
    /// The last that differs.
    Last,
}

fn less(call: &Call<'_>, order: Order) -> Answer {
    is_less(&call.tuple(0)?, &call.tuple(1)?, order).map(Form::Boolean)
}

fn more(call: &Call<'_>, order: Order) -> Answer {
    is_less(&call.tuple(1)?, &call.tuple(0)?, order).map(Form::Boolean)
}

fn not(answer: Answer) -> Answer {
    Ok(match answer? {
        Form::Boolean(answer) => Form::Boolean(!answer),
        other => other,
    })
}

/// Looks at every pair of parts, so that an integer beside a tuple is refused wherever it is.
fn is_less(a: &IntTuple, b: &IntTuple, order: Order) -> Result<bool, Refusal> {
    match (a.as_integer(), b.as_integer()) {
        (Some(a), Some(b)) => return Ok(a < b),
        (None, None) => {}
        _ => return Err(differ(a, b)),
    }
    let (mut left, mut right) = (parts_of(a)?, parts_of(b)?);
    if matches!(order, Order::Last) {
        left.reverse();
        right.reverse();
    }
    // The answer of the parts behind those that both have.
    let mut answer = match order {
        Order::Each => left.len() <= right.len(),
        Order::First | Order::Last => left.len() < right.len(),
    };
    for (a, b) in left.iter().zip(&right).rev() {
        let here = is_less(a, b, order)?;
        answer = match order {
            Order::Each => here && answer,
            Order::First | Order::Last => here || (a == b && answer),
        };
    }
    Ok(answer)
}
