//! Functions for linear layouts: maps between named dims that are linear over bits.

use tilewright_core::{Error, IntTuple, LinearLayout, Profile};

use super::{Answer, Call, Function, Refusal, integer, structure::layout};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "linear(L)",
        "The layout as a linear layout, dim0, dim1 … to offset, if it is linear over bits.",
        "(layout: LayoutLike, /) -> Value",
        "(4,4):(4,1)",
        |call| linear(call.linear(0)?),
    ),
    Function::new(
        "layout(X)",
        "The linear layout as a layout of strides, with an axis for each input dim.",
        "(x: LinearLike, /) -> Layout",
        "{dim0=[4,8],dim1=[1,2]} -> (offset:16)",
        |call| layout(call.linear(0)?.to_layout()?),
    ),
    Function::new(
        "swizzled_layout(X)",
        "Like layout, with a swizzle if that yields strides.",
        "(x: LinearLike, /) -> Layout",
        "{dim0=[4,8],dim1=[1,2]} -> (offset:16)",
        |call| layout(call.linear(0)?.to_swizzled_layout()?),
    ),
    Function::new(
        "identity(n, [in], [out])",
        "The linear layout that sends n coordinates of a dim to themselves.",
        "(n: int, in_: Dims, out: Dims, /) -> Value",
        "8, [lane], [row]",
        |call| {
            linear(LinearLayout::identity(call.natural(0)?, name(call, 1)?, name(call, 2)?)?)
        },
    ),
    Function::new(
        "strided(n, stride, [in], [out])",
        "The linear layout that sends each of n coordinates x to stride times x.",
        "(n: int, stride: int, in_: Dims, out: Dims, /) -> Value",
        "8, 4, [lane], [row]",
        |call| {
            let (n, stride) = (call.natural(0)?, call.natural(1)?);
            linear(LinearLayout::strided(n, stride, name(call, 2)?, name(call, 3)?)?)
        },
    ),
    Function::new(
        "zeros(n, [in], [out])",
        "The linear layout that sends n coordinates of a dim to 0.",
        "(n: int, in_: Dims, out: Dims, /) -> Value",
        "4, [lane], [row]",
        |call| linear(LinearLayout::zeros(call.natural(0)?, name(call, 1)?, name(call, 2)?)?),
    ),
    Function::new(
        "apply(X, coord)",
        "The image of a coordinate under a linear layout, with one integer per dim on both sides.",
        "(x: LinearLike, coord: Coord, /) -> int | tuple[Any, ...]",
        "{lane=[1,2],warp=[4]} -> (row:8), (3,1)",
        apply,
    ),
    Function::new(
        "compose(X, Y)",
        "Applies X, then Y, whose input dims are X's output dims; X o Y is the reverse order.",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:4), {row=[2,1]} -> (bank:4)",
        |call| linear(call.linear(0)?.compose(&call.linear(1)?)?),
    ),
    Function::new(
        "invert_and_compose(X, Y)",
        "The Z with Y(Z(x)) = X(x), the smallest where there are several.",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:4), {reg=[2,1]} -> (row:4)",
        |call| linear(call.linear(0)?.invert_and_compose(&call.linear(1)?)?),
    ),
    Function::new(
        "inverse(X)",
        "The inverse of a linear layout that reaches everything exactly once.",
        "(x: LinearLike, /) -> Value",
        "{lane=[2,1]} -> (row:4)",
        |call| linear(call.linear(0)?.inverse()?),
    ),
    Function::new(
        "pseudo_inverse(X)",
        "The Y with X(Y(x)) = x, the smallest, of a linear layout that reaches everything.",
        "(x: LinearLike, /) -> Value",
        "{lane=[2,1,0]} -> (row:4)",
        |call| linear(call.linear(0)?.pseudo_inverse()?),
    ),
    Function::new(
        "product(X, Y or a)",
        "Both linear layouts side by side: X in the low bits of each dim, Y in the high ones; for a tuple, the product of its integers.",
        "(x: Any, y: Any = None, /) -> Any",
        "{lane=[1]} -> (row:2), {lane=[1]} -> (row:2)",
        |call| match call.count() {
            1 => integer(call.tuple(0)?.product()?),
            _ => linear(call.linear(0)?.product(&call.linear(1)?)?),
        },
    )
    .taking(1, 2),
    Function::new(
        "divide_left(X, Y)",
        "The Z with X = product(Y, Z).",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:4), {lane=[1]} -> (row:2)",
        |call| linear(call.linear(0)?.divide_left(&call.linear(1)?)?),
    ),
    Function::new(
        "divide_right(X, Y)",
        "The Z with X = product(Z, Y).",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:4), {lane=[1]} -> (row:2)",
        |call| linear(call.linear(0)?.divide_right(&call.linear(1)?)?),
    ),
    Function::new(
        "reshape_ins(X, [a:n,…])",
        "The same map of indices, the first dim lowest, with other input dims.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[1,2,4]} -> (row:8), [a:2,b:4]",
        |call| linear(call.linear(0)?.reshape_ins(&sizes(call, 1)?)?),
    ),
    Function::new(
        "reshape_outs(X, [a:n,…])",
        "The same map of indices, the first dim lowest, with other output dims.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[1,2,4]} -> (row:8), [a:2,b:4]",
        |call| linear(call.linear(0)?.reshape_outs(&sizes(call, 1)?)?),
    ),
    Function::new(
        "flatten_ins(X)",
        "All input dims as one, under the name of the first.",
        "(x: LinearLike, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8)",
        |call| linear(call.linear(0)?.flatten_ins()),
    ),
    Function::new(
        "flatten_outs(X)",
        "All output dims as one, under the name of the first.",
        "(x: LinearLike, /) -> Value",
        "{lane=[[1,0],[0,1]]} -> (row:2,col:2)",
        |call| linear(call.linear(0)?.flatten_outs()),
    ),
    Function::new(
        "transpose_ins(X, [a,…])",
        "Puts the input dims in another order.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8), [warp,lane]",
        |call| linear(call.linear(0)?.transpose_ins(&call.dims(1)?.names())?),
    ),
    Function::new(
        "transpose_outs(X, [a,…])",
        "Puts the output dims in another order.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[[1,0],[0,1]]} -> (row:2,col:2), [col,row]",
        |call| linear(call.linear(0)?.transpose_outs(&call.dims(1)?.names())?),
    ),
    Function::new(
        "rename_ins(X, [a,…])",
        "Renames the input dims, in their order.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8), [x,y]",
        |call| linear(call.linear(0)?.rename_ins(&call.dims(1)?.names())?),
    ),
    Function::new(
        "rename_outs(X, [a,…])",
        "Renames the output dims, in their order.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8), [z]",
        |call| linear(call.linear(0)?.rename_outs(&call.dims(1)?.names())?),
    ),
    Function::new(
        "sublayout(X, [in,…], [out,…])",
        "The map from some input dims to some output dims; the others are set to 0 and omitted.",
        "(x: LinearLike, in_: Dims, out: Dims, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8), [lane], [row]",
        |call| {
            let (ins, outs) = (call.dims(1)?.names(), call.dims(2)?.names());
            linear(call.linear(0)?.sublayout(&ins, &outs)?)
        },
    ),
    Function::new(
        "concat_ins(X, Y)",
        "Joins the input dims of both, into the same output dims; images are xored.",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:8), {warp=[4]} -> (row:8)",
        |call| linear(call.linear(0)?.concat_ins(&call.linear(1)?)?),
    ),
    Function::new(
        "concat_outs(X, Y)",
        "Joins the output dims of both, from the same input dims.",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{lane=[1,2]} -> (row:4), {lane=[1,0]} -> (col:2)",
        |call| linear(call.linear(0)?.concat_outs(&call.linear(1)?)?),
    ),
    Function::new(
        "remove_zeros(X, [in])",
        "Removes the bits of an input dim that are sent to 0.",
        "(x: LinearLike, in_: Dims, /) -> Value",
        "{lane=[1,0,2]} -> (row:4), [lane]",
        |call| linear(call.linear(0)?.remove_zeros(name(call, 1)?)?),
    ),
    Function::new(
        "quotient(X, [a,…])",
        "Removes dims of both sides that are mapped to themselves only, and to which no other dim is mapped.",
        "(x: LinearLike, dims: Dims, /) -> Value",
        "{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block]",
        |call| linear(call.linear(0)?.quotient(&call.dims(1)?.names())?),
    ),
    Function::new(
        "is_trivial_over(X, [a,…])",
        "Returns whether these dims are mapped to themselves only, and no other dim is mapped to them.",
        "(x: LinearLike, dims: Dims, /) -> bool",
        "{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block]",
        |call| Ok(Form::Boolean(call.linear(0)?.is_trivial_over(&call.dims(1)?.names()))),
    ),
    Function::new(
        "resize_in(X, [in:n])",
        "Resizes an input dim: removed bits are dropped, new ones are sent to 0.",
        "(x: LinearLike, dim: Dims, /) -> Value",
        "{lane=[1,2],warp=[4]} -> (row:8), [lane:2]",
        |call| match sizes(call, 1)?[..] {
            [(name, size)] => linear(call.linear(0)?.resize_in(name, size)?),
            _ => call.is_not(1, "one dim with its size"),
        },
    ),
    Function::new(
        "lstsq(X, Y)",
        "The Z with X(Z(y)) = Y(y), the smallest where there are several: invert_and_compose(Y, X).",
        "(x: LinearLike, y: LinearLike, /) -> Value",
        "{reg=[2,1]} -> (row:4), {lane=[1,2]} -> (row:4)",
        |call| linear(call.linear(1)?.invert_and_compose(&call.linear(0)?)?),
    ),
    Function::new(
        "consecutive(X)",
        "The length of the runs that the first input dim makes in the first output dim.",
        "(x: LinearLike, /) -> int",
        "{lane=[1,2,8]} -> (row:16)",
        // At most 2^62.
        |call| integer(call.linear(0)?.consecutive() as i64),
    ),
    Function::new(
        "free_bits(X)",
        "For each input dim the mask of the bits that repeat lower bits.",
        "(x: LinearLike, /) -> int | tuple[Any, ...]",
        "{lane=[1,2,0],warp=[4,3]} -> (row:8)",
        |call| {
            let map = call.linear(0)?;
            let masks = map.ins().iter().filter_map(|dim| map.free_bits(dim.name()));
            answer(&masks.collect::<Vec<u64>>())
        },
    ),
    Function::new(
        "surjective(X)",
        "Returns whether a linear layout reaches every coordinate of its output.",
        "(x: LinearLike, /) -> bool",
        "{lane=[2,1]} -> (row:4)",
        |call| Ok(Form::Boolean(call.linear(0)?.is_surjective())),
    ),
    Function::new(
        "invertible(X)",
        "Returns whether a linear layout reaches every coordinate of its output exactly once.",
        "(x: LinearLike, /) -> bool",
        "{lane=[2,1,0]} -> (row:4)",
        |call| Ok(Form::Boolean(call.linear(0)?.is_invertible())),
    ),
];

fn linear(map: LinearLayout) -> Answer {
    Ok(Form::Linear(Box::new(map)))
}

/// Returns the only name between brackets.
fn name<'a>(call: &Call<'a>, i: usize) -> Result<&'a str, Refusal> {
    match call.dims(i)?.names()[..] {
        [name] => Ok(name),
        _ => call.is_not(i, "one dim"),
    }
}

/// Returns names and sizes.
fn sizes<'a>(call: &Call<'a>, i: usize) -> Result<Vec<(&'a str, u64)>, Refusal> {
    match call.dims(i)?.sizes() {
        Some(sizes) => Ok(sizes),
        None => call.is_not(i, "dims with sizes such as `[row:8,column:4]`"),
    }
}

fn apply(call: &Call<'_>) -> Answer {
    let map = call.linear(0)?;
    let coord = call.tuple(1)?;
    let below = |_| Error::out_of_range("a coordinate below 0", [], "coordinates are 0 or more");
    let values: Result<Vec<u64>, Error> =
        coord.values().iter().map(|&x| u64::try_from(x).map_err(below)).collect();
    answer(map.apply(&values?)?.as_slice())
}

/// Returns an integer for one dim, a tuple for several.
fn answer(of_dims: &[u64]) -> Answer {
    // Coordinates have at most 62 bits.
    match of_dims {
        [one] => integer(*one as i64),
        all => {
            let values: Vec<i64> = all.iter().map(|&x| x as i64).collect();
            Ok(Form::Tuple(IntTuple::new(&values, &Profile::flat(values.len())?)?))
        }
    }
}
