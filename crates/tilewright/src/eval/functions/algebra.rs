//! Functions for the operations of the algebra: on one layout, composition, products, and divisions into tiles.
//!
//! A product repeats a layout according to another layout.

use tilewright_core::{Error, IntTuple, Layout, Swizzle, Tiler};

use crate::eval::{
    functions::{
        Answer, Call, Function, Refusal, arguments::By, coordinates::flat_coord, integer,
        structure::layout, tuples::gcd,
    },
    lexer::{Items, with_tilers},
    value::Form,
};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "coalesce(L[, profile])",
        "Merges modes into as few as possible with the same function; with a profile, within each of its parts.",
        "(layout: LayoutLike, profile: Shape | None = None, /) -> Layout",
        "(2,(1,6)):(1,(6,2))",
        |call| match call.count() {
            1 => layout(call.layout(0)?.coalesce()),
            _ => layout(call.layout(0)?.coalesce_by(call.profile(1)?.profile())?),
        },
    ),
    Function::new(
        "coalesce_x(L)",
        "Coalesces, and keeps the offsets beyond the end, where the last mode continues.",
        "(layout: LayoutLike, /) -> Layout",
        "(2,4):(1,2)",
        |call| layout(call.layout(0)?.coalesce_extended()),
    ),
    Function::new(
        "filter(L[, profile])",
        "Modes of stride 0 dropped, then coalesced: the same offsets, fewer coordinates; with a profile, within each of its parts.",
        "(layout: LayoutLike, profile: Shape | None = None, /) -> Layout",
        "(4,3):(0,1)",
        |call| match call.count() {
            1 => layout(call.layout(0)?.filter()?),
            // A mode of stride 0 has one coordinate, so that coalescing drops it.
            _ => {
                let once = call.layout(0)?.filter_zeros()?;
                layout(once.coalesce_by(call.profile(1)?.profile())?)
            }
        },
    ),
    Function::new(
        "filter_zeros(L)",
        "Sets the extent of each mode of stride 0 to 1.",
        "(layout: LayoutLike, /) -> Layout",
        "(4,3):(0,1)",
        |call| layout(call.layout(0)?.filter_zeros()?),
    ),
    Function::new(
        "composition(A, B or tiler)",
        "R(c) = A(B(c)), bracketed as B; with a tiler, axis by axis. Also written A o B.",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(6,2):(8,2), (4,3):(3,1)",
        composition,
    ),
    Function::new(
        "complement(L[, n])",
        "The layout that fills what L leaves free below n (its cosize), in order.",
        "(layout: LayoutLike, n: int | None = None, /) -> Layout",
        "4:2, 24",
        |call| match call.count() {
            1 => layout(call.layout(0)?.complement_within()?),
            _ => layout(call.layout(0)?.complement(extent(call, 1)?)?),
        },
    ),
    Function::new(
        "right_inverse(L)",
        "The longest R with L(R(i)) = i, from offset 0 on.",
        "(layout: LayoutLike, /) -> Layout",
        "(4,8):(8,1)",
        |call| layout(call.layout(0)?.right_inverse()?),
    ),
    Function::new(
        "left_inverse(L)",
        "R with R(L(i)) = i, except that coordinates of modes of stride 0 become 0; other modes of L may not collide. A hole is not an index.",
        "(layout: LayoutLike, /) -> Layout",
        "(4,8):(8,1)",
        |call| layout(call.layout(0)?.left_inverse()?),
    ),
    Function::new(
        "nullspace(L)",
        "The layout of the coordinates that modes of stride 0 send to one offset.",
        "(layout: LayoutLike, /) -> Layout",
        "(4,3):(0,1)",
        |call| layout(call.layout(0)?.nullspace()?),
    ),
    Function::new(
        "domain_distribute(shape, n)",
        "A layout of coordinates of the shape: of n of them if the divisors of its extents and n allow it.",
        "(shape: Any, n: Shape, /) -> Layout",
        "(15,14), 6",
        domain_distribute,
    ),
    Function::new(
        "max_common_layout(A, B)",
        "The longest C with A(C(i)) = i = B(C(i)).",
        "(a: LayoutLike, b: LayoutLike, /) -> Layout",
        "(4,8):(1,4), (4,8):(1,8)",
        |call| layout(call.layout(0)?.max_common_layout(&call.layout(1)?)?),
    ),
    Function::new(
        "max_common_vector(A, B)",
        "The size of max_common_layout(A, B): how many elements move at once.",
        "(a: LayoutLike, b: LayoutLike, /) -> int",
        "(4,8):(1,4), (4,8):(1,8)",
        |call| {
            let common = call.layout(0)?.max_common_vector(&call.layout(1)?)?;
            // A size fits 63 bits.
            integer(common as i64)
        },
    ),
    Function::new(
        "max_alignment(L)",
        "The length of the aligned runs of elements that L consists of; of a swizzle, that of the runs that it keeps.",
        "(layout: LayoutLike, /) -> int",
        "(8,4):(1,12)",
        |call| match call.form(0)? {
            Form::Swizzle(swizzle) => integer(1 << swizzle.base()),
            _ => integer(call.layout(0)?.max_alignment() as i64),
        },
    ),
];

/// Returns the number of coordinates of an integer or shape.
pub(super) fn extent(call: &Call<'_>, i: usize) -> Result<u64, Refusal> {
    let size = call.shape(i)?.product()?;
    u64::try_from(size).map_err(|_| Refusal::Message("out-of-range", format!("{size} is below 0")))
}

/// As CuTe defines it: each extent, from the first on, takes what it has in common with the rest of n.
fn domain_distribute(call: &Call<'_>) -> Answer {
    let shape = IntTuple::flat(call.shape(0)?.values())?;
    let mut rest = call.shape(1)?.product()?;
    let below = shape.values().iter().chain([&rest]).find(|&&value| value < 1);
    if let Some(below) = below {
        let message = format!("{below} is below 1; give extents and a number of 1 or more");
        return Err(Refusal::Message("illegal", message));
    }
    let mut taken = |extent: &i64| {
        let common = gcd(*extent, rest);
        rest /= common;
        common
    };
    let extents: Vec<i64> = shape.values().iter().map(&mut taken).collect();
    let strides = shape.compact_col_major()?;
    layout(Layout::from_shape_stride(&IntTuple::flat(&extents)?, &strides)?.coalesce())
}

/// Evaluates `A o B`; A may be a swizzle.
pub(in crate::eval) fn composition(call: &Call<'_>) -> Answer {
    if let Form::Swizzle(outer) = call.form(0)? {
        return match call.form(1)? {
            Form::Swizzle(inner) => Ok(Form::Swizzle(outer.after(inner))),
            _ => under(*outer, call.layout(1)?),
        };
    }
    if let (Form::Linear(_), _) | (_, Form::Linear(_)) = (call.form(0)?, call.form(1)?) {
        return Ok(Form::Linear(Box::new(call.linear(1)?.compose(&call.linear(0)?)?)));
    }
    let a = call.layout(0)?;
    if let Form::Swizzle(inner) = call.form(1)? {
        // The swizzle acts on the layout's own indices.
        let indices = Layout::compact_col_major(&a.shape())?;
        return layout(a.composition(&indices.with_swizzle(*inner)?)?);
    }
    match call.by(1)? {
        By::Layout(b) => layout(a.composition(&b)?),
        By::Modes(parts) => layout(with_tilers(&parts, |by| a.composition_tiler(by))?),
        By::Basis(b) => layout(a.composition_basis(&b)?),
        By::Keep => layout(a),
    }
}

fn under(swizzle: Swizzle, inner: Layout) -> Answer {
    layout(inner.with_swizzle(swizzle.after(&inner.swizzle()))?)
}

pub(super) static PRODUCTS: &[Function] = &[
    Function::new(
        "logical_product(A, B or tiler)",
        "A repeated as B specifies: (A, repetition); with a tiler, in each axis.",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(2,2):(1,2), (3,2):(1,3)",
        |call| by_layout_or_mode(call, Layout::logical_product, Layout::logical_product_tiler),
    ),
    Function::new(
        "zipped_product(A, B or tiler)",
        "((axes of A), (axes of the repetition)).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(4,8):(1,4), (2,3)",
        |call| by_layout_or_mode(call, Layout::zipped_product, Layout::zipped_product_tiler),
    ),
    Function::new(
        "tiled_product(A, B or tiler)",
        "(A, axis of the repetition, axis, …).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(4,8):(1,4), (2,3)",
        |call| by_layout_or_mode(call, Layout::tiled_product, Layout::tiled_product_tiler),
    ),
    Function::new(
        "flat_product(A, B or tiler)",
        "(axis of A, axis, …, axis of the repetition, axis, …).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(4,8):(1,4), (2,3)",
        |call| by_layout_or_mode(call, Layout::flat_product, Layout::flat_product_tiler),
    ),
    Function::new(
        "blocked_product(A, B)",
        "Axis by axis, with A inside: blocks A arranged as B.",
        "(a: LayoutLike, b: LayoutLike, /) -> Layout",
        "(2,2):(1,2), (3,2)",
        |call| times(call, Layout::blocked_product),
    ),
    Function::new(
        "raked_product(A, B)",
        "Axis by axis, with B inside: A's elements are spread, with the repetitions between them.",
        "(a: LayoutLike, b: LayoutLike, /) -> Layout",
        "(2,2):(1,2), (3,2)",
        |call| times(call, Layout::raked_product),
    ),
    Function::new(
        "tile_to_shape(L, shape[, order])",
        "L repeated to fill a shape, its repetitions ordered as given, smallest first (0, 1, …).",
        "(layout: LayoutLike, shape: Shape, order: Shape | None = None, /) -> Layout",
        "(4,4):(4,1), (8,12), (1,0)",
        |call| {
            let (block, shape) = (call.layout(0)?, call.shape(1)?);
            layout(match call.count() {
                2 => block.tile_to_shape(&shape)?,
                _ => block.tile_to_shape_ordered(&shape, &call.tuple(2)?)?,
            })
        },
    ),
];

fn times(call: &Call<'_>, product: fn(&Layout, &Layout) -> Result<Layout, Error>) -> Answer {
    layout(product(&call.layout(0)?, &call.layout(1)?)?)
}

pub(super) static DIVISIONS: &[Function] = &[
    Function::new(
        "logical_divide(A, B or tiler)",
        "A by tiles B: (tile, rest); with a tiler, in each axis.",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(6,8):(8,1), (3,4)",
        |call| by_layout_or_mode(call, Layout::logical_divide, Layout::logical_divide_tiler),
    ),
    Function::new(
        "zipped_divide(A, B or tiler)",
        "((tile of each axis), (rest of each axis)).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(6,8):(8,1), <3,4>",
        |call| by_layout_or_mode(call, Layout::zipped_divide, Layout::zipped_divide_tiler),
    ),
    Function::new(
        "tiled_divide(A, B or tiler)",
        "((tile of each axis), rest, rest, …).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(6,8):(8,1), <3,4>",
        |call| by_layout_or_mode(call, Layout::tiled_divide, Layout::tiled_divide_tiler),
    ),
    Function::new(
        "flat_divide(A, B or tiler)",
        "(tile, tile, …, rest, rest, …).",
        "(a: LayoutLike, b: TilerLike, /) -> Layout",
        "(6,8):(8,1), <3,4>",
        |call| by_layout_or_mode(call, Layout::flat_divide, Layout::flat_divide_tiler),
    ),
    Function::new(
        "local_tile(L, tiler, coord[, step])",
        "The tile at a coordinate of the rest of zipped_divide(L, tiler): layout+offset; parts of the rest at `_` stay. A step leaves out the parts of tiler and coordinate where it has `_`.",
        "(layout: LayoutLike, tiler: TilerLike, coord: Slicer, step: Slicer | None = None, /) -> Layout",
        "(8,8):(8,1), <2,4>, (1,1)",
        |call| match call.count() {
            4 => local_tile(&call.with(&[call.placed(0)?, call.diced(1, 3)?, call.diced(2, 3)?])),
            _ => local_tile(call),
        },
    ),
    Function::new(
        "local_partition(L, T, i)",
        "The elements of each tile of T's shape at T's coordinate with offset i: layout+offset.",
        "(layout: LayoutLike, threads: LayoutLike, index: int, /) -> Layout",
        "(8,8):(8,1), (2,4):(4,1), 3",
        local_partition,
    ),
];

fn local_tile(call: &Call<'_>) -> Answer {
    let divided = by_layout_or_mode(call, Layout::zipped_divide, Layout::zipped_divide_tiler)?;
    let Form::Layout(tiled) = divided else { return Ok(divided) };
    cut(&tiled, [kept(&tiled, 0)?, filled(call.items(2)?, &tiled, 1)?])
}

fn local_partition(call: &Call<'_>) -> Answer {
    let (whole, threads) = (call.layout(0)?, call.layout(1)?);
    let tile = Items::of(&threads.shape().product_each()?).parts().unwrap_or_default();
    let tiled = with_tilers(&tile, |by| whole.zipped_divide_tiler(by))?;
    let thread = Items::of(&flat_coord(&threads, call.integer(2)?)?);
    cut(&tiled, [filled(thread, &tiled, 0)?, kept(&tiled, 1)?])
}

/// Returns the slice at a coordinate of (tile, rest).
fn cut(tiled: &Layout, coord: [Items; 2]) -> Answer {
    let slicer = Items::tuple(coord.to_vec())?.slicer()?;
    Ok(Form::Cut(Box::new(tiled.slice_and_offset(&slicer)?)))
}

/// Returns `_` for each part of a position. A tile without brackets, which an integer makes, is one part.
fn kept(tiled: &Layout, position: usize) -> Result<Items, Refusal> {
    let all = Items::leaf(None);
    match tiled.get(&[position])?.profile().depth() {
        0 => Ok(all),
        _ => filled(Items::tuple(vec![all])?, tiled, position),
    }
}

/// Returns a coordinate with `_` for the parts of a position that it lacks.
fn filled(coord: Items, tiled: &Layout, position: usize) -> Result<Items, Refusal> {
    if coord.is_leaf() {
        return Ok(coord);
    }
    let mut parts = coord.split();
    parts.resize(parts.len().max(tiled.get(&[position])?.rank()), Items::leaf(None));
    Ok(Items::tuple(parts)?)
}

/// Divides A by B: as a whole by a layout, axis by axis by a tiler.
fn by_layout_or_mode(
    call: &Call<'_>,
    whole: fn(&Layout, &Layout) -> Result<Layout, Error>,
    by_mode: fn(&Layout, &[Tiler<'_>]) -> Result<Layout, Error>,
) -> Answer {
    let a = call.layout(0)?;
    match call.by(1)? {
        By::Layout(b) => layout(whole(&a, &b)?),
        By::Modes(parts) => layout(with_tilers(&parts, |by| by_mode(&a, by))?),
        By::Basis(_) => call.is_not(1, "a layout or a tiler"),
        By::Keep => layout(a),
    }
}
