//! Functions that compute one property of a layout: sizes, offsets, injectivity.

use tilewright_core::{IntTuple, Layout};

use super::{Answer, Call, Function, Refusal, integer};
use crate::eval::{
    basis,
    lexer::MAX_LIST,
    value::{Form, Strides},
};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "size(x[, i, j, …])",
        "The number of coordinates, or of the part at a path of positions, if one is given.",
        "(x: Any, /, *path: int) -> int",
        "((4,2),3):((1,12),4)",
        |call| integer(part(call)?.product()?),
    ),
    Function::new(
        "rank(x[, i, j, …])",
        "The number of top-level positions; 1 for an integer.",
        "(x: Any, /, *path: int) -> int",
        "((4,2),3):((1,12),4)",
        |call| integer(part(call)?.rank() as i64),
    ),
    Function::new(
        "depth(x[, i, j, …])",
        "The depth of nested brackets; 0 for an integer.",
        "(x: Any, /, *path: int) -> int",
        "((4,2),3):((1,12),4)",
        |call| integer(part(call)?.depth() as i64),
    ),
    Function::new(
        "shape(x[, i, j, …])",
        "The extents, bracketed as the layout is; a tuple is its own shape.",
        "(x: Any, /, *path: int) -> Shape",
        "((4,2),3):((1,12),4)",
        |call| Ok(Form::Tuple(part(call)?)),
    ),
    Function::new(
        "stride(x[, i, j, …])",
        "The strides in elements, bracketed as the layout is; for a tuple, those of its compact layout.",
        "(x: Any, /, *path: int) -> Shape",
        "((4,2),3):((1,12),4)",
        |call| match call.form(0)? {
            Form::Basis(map) if call.count() == 1 => Ok(Form::Strides(Strides::of(map))),
            _ => Ok(Form::Tuple(call.layout(0)?.get(&call.path(1)?)?.stride())),
        },
    ),
    Function::new(
        "cosize(L[, i, j, …])",
        "1 + the largest offset reached, by the part at a path where one is given; 0 of an empty layout.",
        "(layout: LayoutLike, /, *path: int) -> int",
        "(4,8):(16,1)",
        |call| match call.count() {
            1 => integer(call.layout(0)?.cosize()),
            _ => integer(call.layout(0)?.get(&call.path(1)?)?.cosize()),
        },
    ),
    Function::new(
        "coshape(L)",
        "The shape of the smallest box of the values: of a layout its cosize.",
        "(layout: LayoutLike | Value, /) -> Shape",
        "make_identity_layout((2,3))",
        |call| match call.form(0)? {
            Form::Basis(map) => Ok(Form::Tuple(basis::coshape(map)?)),
            _ => integer(call.layout(0)?.cosize()),
        },
    ),
    Function::new(
        "coprofile(L)",
        "The brackets of the values, with 0 for each integer: of a layout 0.",
        "(layout: LayoutLike | Value, /) -> Shape",
        "make_identity_layout((2,3))",
        |call| match call.form(0)? {
            Form::Basis(map) => Ok(Form::Tuple(map.coord_at(&IntTuple::integer(0))?)),
            _ => call.layout(0).and_then(|_| integer(0)),
        },
    ),
    Function::new(
        "span(L)",
        "The largest offset less the smallest, plus 1.",
        "(layout: LayoutLike, /) -> int",
        "(3,2):(-1,3)",
        |call| {
            let span = call.layout(0)?.span();
            integer(i64::try_from(span).map_err(|_| {
                Refusal::Message("overflow", format!("a span of {span} does not fit 63 bits"))
            })?)
        },
    ),
    Function::new(
        "injective(L)",
        "Returns whether no two coordinates share an offset.",
        "(layout: LayoutLike, /) -> bool",
        "(4,8):(16,1)",
        |call| match call.form(0)? {
            Form::Linear(map) => Ok(Form::Boolean(map.is_injective())),
            _ => Ok(Form::Boolean(call.layout(0)?.injective()?)),
        },
    ),
    Function::new(
        "offsets(L)",
        "A list of the offsets of all coordinates, in colexicographic order.",
        "(layout: LayoutLike, /) -> list[int]",
        "(2,3):(3,1)",
        |call| list(call.layout(0)?),
    ),
    Function::new(
        "swizzle(Sw<b,m,s>, n)",
        "A list of the images of 0 … n - 1 under a swizzle.",
        "(swizzle: Swizzle | str, n: int, /) -> list[int]",
        "Sw<1,0,1>, 4",
        |call| {
            let (swizzle, n) = (call.swizzle(0)?, call.natural(1)?);
            bounded(n)?;
            // The bound on the length also bounds every image.
            Ok(Form::List((0..n).map(|offset| swizzle.apply(offset) as i64).collect()))
        },
    ),
];

/// Returns the shape of the part of argument 0 at the path that the other arguments give.
fn part(call: &Call<'_>) -> Result<IntTuple, Refusal> {
    Ok(call.shape(0)?.get(&call.path(1)?)?)
}

fn bounded(n: u64) -> Result<(), Refusal> {
    if n <= MAX_LIST {
        return Ok(());
    }
    let message = format!("a list of {n} numbers; at most {MAX_LIST} are listed");
    Err(Refusal::Message("limit", message))
}

fn list(layout: Layout) -> Answer {
    bounded(layout.size())?;
    let all: Result<Vec<i64>, _> =
        (0..layout.size()).map(|index| layout.offset_of(index)).collect();
    Ok(Form::List(all?))
}
