//! Functions for linear layouts: maps between named dims that are linear over bits.

use tilewright_core::{Error, IntTuple, LinearLayout, Profile};

use super::{Answer, Call, Function, Refusal, observe::integer, structure::layout};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "linear",
        arguments: "L",
        doc: native!(
            "The layout as a linear layout, dim0, dim1 … to offset, if it is linear over bits."
        ),
        python: native!("(layout: LayoutLike, /) -> Value"),
        example: native!("(4,4):(4,1)"),
        counts: (1, 1),
        run: |call| linear(call.linear(0)?),
    },
    Function {
        name: "layout",
        arguments: "X",
        doc: native!("The linear layout as a layout of strides, with an axis for each input dim."),
        python: native!("(x: LinearLike, /) -> Layout"),
        example: native!("{dim0=[4,8],dim1=[1,2]} -> (offset:16)"),
        counts: (1, 1),
        run: |call| layout(call.linear(0)?.to_layout()?),
    },
    Function {
        name: "swizzled_layout",
        arguments: "X",
        doc: native!("Like layout, with a swizzle if that yields strides."),
        python: native!("(x: LinearLike, /) -> Layout"),
        example: native!("{dim0=[4,8],dim1=[1,2]} -> (offset:16)"),
        counts: (1, 1),
        run: |call| layout(call.linear(0)?.to_swizzled_layout()?),
    },
    Function {
        name: "identity",
        arguments: "n, [in], [out]",
        doc: native!("The linear layout that sends n coordinates of a dim to themselves."),
        python: native!("(n: int, in_: Dims, out: Dims, /) -> Value"),
        example: native!("8, [lane], [row]"),
        counts: (3, 3),
        run: |call| {
            linear(LinearLayout::identity(call.natural(0)?, name(call, 1)?, name(call, 2)?)?)
        },
    },
    Function {
        name: "strided",
        arguments: "n, stride, [in], [out]",
        doc: native!("The linear layout that sends each of n coordinates x to stride times x."),
        python: native!("(n: int, stride: int, in_: Dims, out: Dims, /) -> Value"),
        example: native!("8, 4, [lane], [row]"),
        counts: (4, 4),
        run: |call| {
            let (n, stride) = (call.natural(0)?, call.natural(1)?);
            linear(LinearLayout::strided(n, stride, name(call, 2)?, name(call, 3)?)?)
        },
    },
    Function {
        name: "zeros",
        arguments: "n, [in], [out]",
        doc: native!("The linear layout that sends n coordinates of a dim to 0."),
        python: native!("(n: int, in_: Dims, out: Dims, /) -> Value"),
        example: native!("4, [lane], [row]"),
        counts: (3, 3),
        run: |call| linear(LinearLayout::zeros(call.natural(0)?, name(call, 1)?, name(call, 2)?)?),
    },
    Function {
        name: "apply",
        arguments: "X, coord",
        doc: native!(
            "The image of a coordinate under a linear layout, with one integer per dim on both sides."
        ),
        python: native!("(x: LinearLike, coord: Coord, /) -> int | tuple[Any, ...]"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), (3,1)"),
        counts: (2, 2),
        run: apply,
    },
    Function {
        name: "compose",
        arguments: "X, Y",
        doc: native!(
            "Applies X, then Y, whose input dims are X's output dims; X o Y is the reverse order."
        ),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:4), {row=[2,1]} -> (bank:4)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.compose(&call.linear(1)?)?),
    },
    Function {
        name: "invert_and_compose",
        arguments: "X, Y",
        doc: native!("The Z with Y(Z(x)) = X(x), the smallest where there are several."),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:4), {reg=[2,1]} -> (row:4)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.invert_and_compose(&call.linear(1)?)?),
    },
    Function {
        name: "inverse",
        arguments: "X",
        doc: native!("The inverse of a linear layout that reaches everything exactly once."),
        python: native!("(x: LinearLike, /) -> Value"),
        example: native!("{lane=[2,1]} -> (row:4)"),
        counts: (1, 1),
        run: |call| linear(call.linear(0)?.inverse()?),
    },
    Function {
        name: "pseudo_inverse",
        arguments: "X",
        doc: native!(
            "The Y with X(Y(x)) = x, the smallest, of a linear layout that reaches everything."
        ),
        python: native!("(x: LinearLike, /) -> Value"),
        example: native!("{lane=[2,1,0]} -> (row:4)"),
        counts: (1, 1),
        run: |call| linear(call.linear(0)?.pseudo_inverse()?),
    },
    Function {
        name: "product",
        arguments: "X, Y or a",
        doc: native!(
            "Both linear layouts side by side: X in the low bits of each dim, Y in the high ones; for a tuple, the product of its integers."
        ),
        python: native!("(x: Any, y: Any = None, /) -> Any"),
        example: native!("{lane=[1]} -> (row:2), {lane=[1]} -> (row:2)"),
        counts: (1, 2),
        run: |call| match call.count() {
            1 => integer(call.tuple(0)?.product()?),
            _ => linear(call.linear(0)?.product(&call.linear(1)?)?),
        },
    },
    Function {
        name: "divide_left",
        arguments: "X, Y",
        doc: native!("The Z with X = product(Y, Z)."),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:4), {lane=[1]} -> (row:2)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.divide_left(&call.linear(1)?)?),
    },
    Function {
        name: "divide_right",
        arguments: "X, Y",
        doc: native!("The Z with X = product(Z, Y)."),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:4), {lane=[1]} -> (row:2)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.divide_right(&call.linear(1)?)?),
    },
    Function {
        name: "reshape_ins",
        arguments: "X, [a:n,…]",
        doc: native!("The same map of indices, the first dim lowest, with other input dims."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[1,2,4]} -> (row:8), [a:2,b:4]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.reshape_ins(&sizes(call, 1)?)?),
    },
    Function {
        name: "reshape_outs",
        arguments: "X, [a:n,…]",
        doc: native!("The same map of indices, the first dim lowest, with other output dims."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[1,2,4]} -> (row:8), [a:2,b:4]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.reshape_outs(&sizes(call, 1)?)?),
    },
    Function {
        name: "flatten_ins",
        arguments: "X",
        doc: native!("All input dims as one, under the name of the first."),
        python: native!("(x: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8)"),
        counts: (1, 1),
        run: |call| linear(call.linear(0)?.flatten_ins()),
    },
    Function {
        name: "flatten_outs",
        arguments: "X",
        doc: native!("All output dims as one, under the name of the first."),
        python: native!("(x: LinearLike, /) -> Value"),
        example: native!("{lane=[[1,0],[0,1]]} -> (row:2,col:2)"),
        counts: (1, 1),
        run: |call| linear(call.linear(0)?.flatten_outs()),
    },
    Function {
        name: "transpose_ins",
        arguments: "X, [a,…]",
        doc: native!("Puts the input dims in another order."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), [warp,lane]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.transpose_ins(&call.dims(1)?.names())?),
    },
    Function {
        name: "transpose_outs",
        arguments: "X, [a,…]",
        doc: native!("Puts the output dims in another order."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[[1,0],[0,1]]} -> (row:2,col:2), [col,row]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.transpose_outs(&call.dims(1)?.names())?),
    },
    Function {
        name: "rename_ins",
        arguments: "X, [a,…]",
        doc: native!("Renames the input dims, in their order."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), [x,y]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.rename_ins(&call.dims(1)?.names())?),
    },
    Function {
        name: "rename_outs",
        arguments: "X, [a,…]",
        doc: native!("Renames the output dims, in their order."),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), [z]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.rename_outs(&call.dims(1)?.names())?),
    },
    Function {
        name: "sublayout",
        arguments: "X, [in,…], [out,…]",
        doc: native!(
            "The map from some input dims to some output dims; the others are set to 0 and omitted."
        ),
        python: native!("(x: LinearLike, in_: Dims, out: Dims, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), [lane], [row]"),
        counts: (3, 3),
        run: |call| {
            let (ins, outs) = (call.dims(1)?.names(), call.dims(2)?.names());
            linear(call.linear(0)?.sublayout(&ins, &outs)?)
        },
    },
    Function {
        name: "concat_ins",
        arguments: "X, Y",
        doc: native!("Joins the input dims of both, into the same output dims; images are xored."),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:8), {warp=[4]} -> (row:8)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.concat_ins(&call.linear(1)?)?),
    },
    Function {
        name: "concat_outs",
        arguments: "X, Y",
        doc: native!("Joins the output dims of both, from the same input dims."),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{lane=[1,2]} -> (row:4), {lane=[1,0]} -> (col:2)"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.concat_outs(&call.linear(1)?)?),
    },
    Function {
        name: "remove_zeros",
        arguments: "X, [in]",
        doc: native!("Removes the bits of an input dim that are sent to 0."),
        python: native!("(x: LinearLike, in_: Dims, /) -> Value"),
        example: native!("{lane=[1,0,2]} -> (row:4), [lane]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.remove_zeros(name(call, 1)?)?),
    },
    Function {
        name: "quotient",
        arguments: "X, [a,…]",
        doc: native!(
            "Removes dims of both sides that are mapped to themselves only, and to which no other dim is mapped."
        ),
        python: native!("(x: LinearLike, dims: Dims, /) -> Value"),
        example: native!("{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block]"),
        counts: (2, 2),
        run: |call| linear(call.linear(0)?.quotient(&call.dims(1)?.names())?),
    },
    Function {
        name: "is_trivial_over",
        arguments: "X, [a,…]",
        doc: native!(
            "Returns whether these dims are mapped to themselves only, and no other dim is mapped to them."
        ),
        python: native!("(x: LinearLike, dims: Dims, /) -> bool"),
        example: native!("{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2), [block]"),
        counts: (2, 2),
        run: |call| Ok(Form::Boolean(call.linear(0)?.is_trivial_over(&call.dims(1)?.names()))),
    },
    Function {
        name: "resize_in",
        arguments: "X, [in:n]",
        doc: native!("Resizes an input dim: removed bits are dropped, new ones are sent to 0."),
        python: native!("(x: LinearLike, dim: Dims, /) -> Value"),
        example: native!("{lane=[1,2],warp=[4]} -> (row:8), [lane:2]"),
        counts: (2, 2),
        run: |call| match sizes(call, 1)?[..] {
            [(name, size)] => linear(call.linear(0)?.resize_in(name, size)?),
            _ => call.is_not(1, "one dim with its size"),
        },
    },
    Function {
        name: "lstsq",
        arguments: "X, Y",
        doc: native!(
            "The Z with X(Z(y)) = Y(y), the smallest where there are several: invert_and_compose(Y, X)."
        ),
        python: native!("(x: LinearLike, y: LinearLike, /) -> Value"),
        example: native!("{reg=[2,1]} -> (row:4), {lane=[1,2]} -> (row:4)"),
        counts: (2, 2),
        run: |call| linear(call.linear(1)?.invert_and_compose(&call.linear(0)?)?),
    },
    Function {
        name: "consecutive",
        arguments: "X",
        doc: native!(
            "The length of the runs that the first input dim makes in the first output dim."
        ),
        python: native!("(x: LinearLike, /) -> int"),
        example: native!("{lane=[1,2,8]} -> (row:16)"),
        counts: (1, 1),
        // At most 2^62.
        run: |call| integer(call.linear(0)?.consecutive() as i64),
    },
    Function {
        name: "free_bits",
        arguments: "X",
        doc: native!("For each input dim the mask of the bits that repeat lower bits."),
        python: native!("(x: LinearLike, /) -> int | tuple[Any, ...]"),
        example: native!("{lane=[1,2,0],warp=[4,3]} -> (row:8)"),
        counts: (1, 1),
        run: |call| {
            let map = call.linear(0)?;
            let masks = map.ins().iter().filter_map(|dim| map.free_bits(dim.name()));
            answer(&masks.collect::<Vec<u64>>())
        },
    },
    Function {
        name: "surjective",
        arguments: "X",
        doc: native!("Returns whether a linear layout reaches every coordinate of its output."),
        python: native!("(x: LinearLike, /) -> bool"),
        example: native!("{lane=[2,1]} -> (row:4)"),
        counts: (1, 1),
        run: |call| Ok(Form::Boolean(call.linear(0)?.is_surjective())),
    },
    Function {
        name: "invertible",
        arguments: "X",
        doc: native!(
            "Returns whether a linear layout reaches every coordinate of its output exactly once."
        ),
        python: native!("(x: LinearLike, /) -> bool"),
        example: native!("{lane=[2,1,0]} -> (row:4)"),
        counts: (1, 1),
        run: |call| Ok(Form::Boolean(call.linear(0)?.is_invertible())),
    },
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
