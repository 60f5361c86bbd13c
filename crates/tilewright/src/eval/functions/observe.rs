//! Functions that compute one property of a layout (sizes, offsets, injectivity), compare layouts and shapes, and divide
//! shapes by shapes.

#[cfg(feature = "banks")]
use tilewright_banks::{Between, Sample, matrix_between};
use tilewright_core::{IntTuple, Layout};
#[cfg(feature = "banks")]
use tilewright_core::{LinearLayout, Swizzle, TensorLayout};

use super::{
    Answer, Call, Function, Refusal, integer,
    structure::{array, parts_of},
    tuples::padded,
};
use crate::{
    comparison::{Comparison, compare},
    eval::{
        basis,
        lexer::MAX_LIST,
        value::{Form, Strides},
    },
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

pub(super) static COMPARISONS: &[Function] = &[
    Function::new(
        "same(A, B)",
        "Returns whether two layouts are the same map, without enumerating it.",
        "",
        "(2,3):(3,1), (2,3):(1,2)",
        same,
    ),
    #[cfg(feature = "banks")]
    Function::new(
        "swizzle_between(A, B)",
        "The swizzle that turns the offsets of A into those of B; if there is none, the error names the coordinates and bits that show it.",
        "(a: LayoutLike, b: LayoutLike, /) -> Swizzle",
        "(8,64):(64,1), Sw<3,3,3> o (8,64):(64,1)",
        swizzle_between,
    ),
    Function::new(
        "congruent(a, b)",
        "Returns whether the brackets are the same.",
        "(a: Any, b: Any, /) -> bool",
        "(2,(3,4)), (5,(6,7))",
        |call| shapes(call, IntTuple::congruent),
    ),
    Function::new(
        "weakly_congruent(a, b)",
        "Returns whether b has a's brackets, or more inside them.",
        "(a: Any, b: Any, /) -> bool",
        "(2,3), (5,(6,7))",
        |call| shapes(call, IntTuple::weakly_congruent),
    ),
    Function::new(
        "compatible(a, b)",
        "Returns whether every coordinate of a is one of b: each integer of a is the size of b's part in its place.",
        "(a: Any, b: Any, /) -> bool",
        "(2,12), (2,(3,4))",
        |call| shapes(call, IntTuple::compatible),
    ),
    Function::new(
        "evenly_divides(a, b)",
        "Returns whether tiles b divide shape a evenly: part by part, if b is a tuple.",
        "(a: Any, b: Shape, /) -> bool",
        "(8,12), (4,6)",
        |call| evenly_divides(&call.shape(0)?, &call.tuple(1)?).map(Form::Boolean),
    ),
    Function::new(
        "shape_div(a, b)",
        "Shape a without its b leftmost coordinates.",
        "(a: Shape, b: Shape, /) -> Shape",
        "(12,6), (4,3)",
        |call| Ok(Form::Tuple(call.shape(0)?.shape_div(&call.shape(1)?)?)),
    ),
    Function::new(
        "ceil_div(a, b)",
        "Shape a by shape b, rounded up, part by part; parts that b lacks stay.",
        "(a: Shape, b: Shape, /) -> Shape",
        "(12,7), (5,3)",
        |call| {
            let (a, b) = (call.shape(0)?, call.shape(1)?);
            Ok(Form::Tuple(a.ceil_div(&padded(&a, &b)?)?))
        },
    ),
];

fn shapes(call: &Call<'_>, test: fn(&IntTuple, &IntTuple) -> bool) -> Answer {
    Ok(Form::Boolean(test(&call.shape(0)?, &call.shape(1)?)))
}

/// As CuTe defines it: parts of a that b lacks count as whole, and a tile of more parts than a has never fits.
fn evenly_divides(a: &IntTuple, b: &IntTuple) -> Result<bool, Refusal> {
    if let Some(tile) = b.as_integer() {
        let tiles = a.ceil_div(b)?.product()?;
        return Ok(tiles.checked_mul(tile) == Some(a.product()?));
    }
    let (parts, tiles) = (parts_of(a)?, parts_of(b)?);
    let mut all = tiles.len() <= parts.len();
    for (part, tile) in parts.iter().zip(&tiles).take(if all { tiles.len() } else { 0 }) {
        all &= evenly_divides(part, tile)?;
    }
    Ok(all)
}

fn same(call: &Call<'_>) -> Answer {
    if let (Form::Basis(a), Form::Basis(b)) = (call.form(0)?, call.form(1)?) {
        return Ok(Form::Boolean(a.same_function(b)));
    }
    if let (Form::Linear(_), _) | (_, Form::Linear(_)) = (call.form(0)?, call.form(1)?) {
        return Ok(Form::Boolean(call.linear(0)? == call.linear(1)?));
    }
    let answer = compare(&array(call, 0)?, &array(call, 1)?)?;
    Ok(Form::Boolean(matches!(answer, Comparison::Same { .. })))
}

#[cfg(feature = "banks")]
fn swizzle_between(call: &Call<'_>) -> Answer {
    let (from, to) = (array(call, 0)?, array(call, 1)?);
    match tilewright_banks::swizzle_between(from.layout(), to.layout())? {
        Between::Swizzle(swizzle) => Ok(Form::Swizzle(swizzle)),
        Between::None(samples) => {
            let sample =
                |at: &Sample| format!("{} would become {} at {}", at.from, at.to, tuple(&at.coord));
            let shown: Vec<String> = samples.iter().map(sample).collect();
            let (all, matrix) = (shown.join(", and "), matrix(from.layout(), to.layout()));
            let none = "no swizzle Sw<B,M,S> turns A into B";
            Err(Refusal::Message("no-layout", format!("{none}: {all}; {matrix}")))
        }
    }
}

/// Describes the matrix of bits that turns one layout into another, or the reason why there is none.
#[cfg(feature = "banks")]
fn matrix(from: &TensorLayout, to: &TensorLayout) -> String {
    match matrix_between(from, to) {
        Ok(Between::Swizzle(matrix)) => match offsets(&matrix) {
            Ok(map) => format!("the matrix of bits {map} does"),
            Err(error) => format!("a matrix of bits does, {matrix}: {error}"),
        },
        Ok(Between::None(samples)) => {
            let numbers = |of: fn(&Sample) -> u64| {
                let all = samples.iter().map(of).fold(0, |all, offset| all ^ offset);
                let each: Vec<String> = samples.iter().map(|at| of(at).to_string()).collect();
                format!("{} is {all}", each.join(" ^ "))
            };
            let coords: Vec<String> = samples.iter().map(|at| tuple(&at.coord)).collect();
            let (a, b) = (numbers(|at| at.from), numbers(|at| at.to));
            let (at, none) = (coords.join(", "), "nor does an invertible matrix of bits");
            match samples.as_slice() {
                [one] => format!(
                    "{none}, which sends 0 alone to 0: at {at}, {} in A is {} in B",
                    one.from, one.to
                ),
                _ => format!("{none}: at {at}, {a} in A and {b} in B"),
            }
        }
        Err(error) => format!("it is undecided whether a matrix of bits does: {error}"),
    }
}

/// Returns a matrix as the map of its offsets.
#[cfg(feature = "banks")]
fn offsets(matrix: &Swizzle) -> Result<LinearLayout, tilewright_core::Error> {
    let bases: Vec<[u64; 1]> = matrix.images().iter().map(|&image| [image]).collect();
    let bases: Vec<&[u64]> = bases.iter().map(|basis| &basis[..]).collect();
    LinearLayout::new(&[("offset", &bases)], &[("offset", 1 << bases.len())])
}

#[cfg(feature = "banks")]
fn tuple(coord: &[u64]) -> String {
    let numbers: Vec<String> = coord.iter().map(u64::to_string).collect();
    format!("({})", numbers.join(","))
}
