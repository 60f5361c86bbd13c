//! Functions that compare layouts and shapes, and divide shapes by shapes.

#[cfg(feature = "banks")]
use tilewright_banks::{Between, Sample, matrix_between};
use tilewright_core::IntTuple;
#[cfg(feature = "banks")]
use tilewright_core::{LinearLayout, Swizzle, TensorLayout};

use super::{
    Answer, Call, Function, Refusal,
    structure::{array, parts_of},
    tuples::padded,
};
use crate::{
    comparison::{Comparison, compare},
    eval::value::Form,
};

pub(super) static FUNCTIONS: &[Function] = &[
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
