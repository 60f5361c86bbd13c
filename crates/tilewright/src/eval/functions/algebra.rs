//! Functions for the operations of the algebra: on one layout, composition, products, and divisions into tiles.
//!
//! A product repeats a layout according to another layout.

use tilewright_core::{Error, IntTuple, Layout, Swizzle, Tiler};

use crate::eval::{
    functions::{
        Answer, Call, Function, Refusal, arguments::By, coordinates::flat_coord, structure::layout,
        tuples::gcd,
    },
    items::{Items, with_tilers},
    value::Form,
};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "coalesce",
        arguments: "L[, profile]",
        doc: native!(
            "Merges modes into as few as possible with the same function; with a profile, within each of its parts."
        ),
        python: native!("(layout: LayoutLike, profile: Shape | None = None, /) -> Layout"),
        example: native!("(2,(1,6)):(1,(6,2))"),
        counts: (1, 2),
        run: |call| match call.count() {
            1 => layout(call.layout(0)?.coalesce()),
            _ => layout(call.layout(0)?.coalesce_by(call.profile(1)?.profile())?),
        },
    },
    Function {
        name: "coalesce_x",
        arguments: "L",
        doc: native!(
            "Coalesces, and keeps the offsets beyond the end, where the last mode continues."
        ),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(2,4):(1,2)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.coalesce_extended()),
    },
    Function {
        name: "filter",
        arguments: "L[, profile]",
        doc: native!(
            "Modes of stride 0 dropped, then coalesced: the same offsets, fewer coordinates; with a profile, within each of its parts."
        ),
        python: native!("(layout: LayoutLike, profile: Shape | None = None, /) -> Layout"),
        example: native!("(4,3):(0,1)"),
        counts: (1, 2),
        run: |call| match call.count() {
            1 => layout(call.layout(0)?.filter()?),
            // A mode of stride 0 has one coordinate, so that coalescing drops it.
            _ => {
                let once = call.layout(0)?.filter_zeros()?;
                layout(once.coalesce_by(call.profile(1)?.profile())?)
            }
        },
    },
    Function {
        name: "filter_zeros",
        arguments: "L",
        doc: native!("Sets the extent of each mode of stride 0 to 1."),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(4,3):(0,1)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.filter_zeros()?),
    },
    Function {
        name: "composition",
        arguments: "A, B or tiler",
        doc: native!(
            "R(c) = A(B(c)), bracketed as B; with a tiler, axis by axis. Also written A o B."
        ),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(6,2):(8,2), (4,3):(3,1)"),
        counts: (2, 2),
        run: composition,
    },
    Function {
        name: "complement",
        arguments: "L[, n]",
        doc: native!("The layout that fills what L leaves free below n (its cosize), in order."),
        python: native!("(layout: LayoutLike, n: int | None = None, /) -> Layout"),
        example: native!("4:2, 24"),
        counts: (1, 2),
        run: |call| match call.count() {
            1 => layout(call.layout(0)?.complement_within()?),
            _ => layout(call.layout(0)?.complement(extent(call, 1)?)?),
        },
    },
    Function {
        name: "right_inverse",
        arguments: "L",
        doc: native!("The longest R with L(R(i)) = i, from offset 0 on."),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(4,8):(8,1)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.right_inverse()?),
    },
    Function {
        name: "left_inverse",
        arguments: "L",
        doc: native!(
            "R with R(L(i)) = i, except that coordinates of modes of stride 0 become 0; other modes of L may not collide. A hole is not an index."
        ),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(4,8):(8,1)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.left_inverse()?),
    },
    Function {
        name: "nullspace",
        arguments: "L",
        doc: native!("The layout of the coordinates that modes of stride 0 send to one offset."),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(4,3):(0,1)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.nullspace()?),
    },
    Function {
        name: "domain_distribute",
        arguments: "shape, n",
        doc: native!(
            "A layout of coordinates of the shape: of n of them if the divisors of its extents and n allow it."
        ),
        python: native!("(shape: Any, n: Shape, /) -> Layout"),
        example: native!("(15,14), 6"),
        counts: (2, 2),
        run: domain_distribute,
    },
    Function {
        name: "max_common_layout",
        arguments: "A, B",
        doc: native!("The longest C with A(C(i)) = i = B(C(i))."),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> Layout"),
        example: native!("(4,8):(1,4), (4,8):(1,8)"),
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.max_common_layout(&call.layout(1)?)?),
    },
    Function {
        name: "max_common_vector",
        arguments: "A, B",
        doc: native!("The size of max_common_layout(A, B): how many elements move at once."),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> int"),
        example: native!("(4,8):(1,4), (4,8):(1,8)"),
        counts: (2, 2),
        run: |call| {
            let common = call.layout(0)?.max_common_vector(&call.layout(1)?)?;
            // A size fits 63 bits.
            super::observe::integer(common as i64)
        },
    },
    Function {
        name: "max_alignment",
        arguments: "L",
        doc: native!(
            "The length of the aligned runs of elements that L consists of; of a swizzle, that of the runs that it keeps."
        ),
        python: native!("(layout: LayoutLike, /) -> int"),
        example: native!("(8,4):(1,12)"),
        counts: (1, 1),
        run: |call| match call.form(0)? {
            Form::Swizzle(swizzle) => super::observe::integer(1 << swizzle.base()),
            _ => super::observe::integer(call.layout(0)?.max_alignment() as i64),
        },
    },
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
    Function {
        name: "logical_product",
        arguments: "A, B or tiler",
        doc: native!("A repeated as B specifies: (A, repetition); with a tiler, in each axis."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(2,2):(1,2), (3,2):(1,3)"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::logical_product, Layout::logical_product_tiler),
    },
    Function {
        name: "zipped_product",
        arguments: "A, B or tiler",
        doc: native!("((axes of A), (axes of the repetition))."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(4,8):(1,4), (2,3)"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::zipped_product, Layout::zipped_product_tiler),
    },
    Function {
        name: "tiled_product",
        arguments: "A, B or tiler",
        doc: native!("(A, axis of the repetition, axis, …)."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(4,8):(1,4), (2,3)"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::tiled_product, Layout::tiled_product_tiler),
    },
    Function {
        name: "flat_product",
        arguments: "A, B or tiler",
        doc: native!("(axis of A, axis, …, axis of the repetition, axis, …)."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(4,8):(1,4), (2,3)"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::flat_product, Layout::flat_product_tiler),
    },
    Function {
        name: "blocked_product",
        arguments: "A, B",
        doc: native!("Axis by axis, with A inside: blocks A arranged as B."),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> Layout"),
        example: native!("(2,2):(1,2), (3,2)"),
        counts: (2, 2),
        run: |call| times(call, Layout::blocked_product),
    },
    Function {
        name: "raked_product",
        arguments: "A, B",
        doc: native!(
            "Axis by axis, with B inside: A's elements are spread, with the repetitions between them."
        ),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> Layout"),
        example: native!("(2,2):(1,2), (3,2)"),
        counts: (2, 2),
        run: |call| times(call, Layout::raked_product),
    },
    Function {
        name: "tile_to_shape",
        arguments: "L, shape[, order]",
        doc: native!(
            "L repeated to fill a shape, its repetitions ordered as given, smallest first (0, 1, …)."
        ),
        python: native!(
            "(layout: LayoutLike, shape: Shape, order: Shape | None = None, /) -> Layout"
        ),
        example: native!("(4,4):(4,1), (8,12), (1,0)"),
        counts: (2, 3),
        run: |call| {
            let (block, shape) = (call.layout(0)?, call.shape(1)?);
            layout(match call.count() {
                2 => block.tile_to_shape(&shape)?,
                _ => block.tile_to_shape_ordered(&shape, &call.tuple(2)?)?,
            })
        },
    },
];

fn times(call: &Call<'_>, product: fn(&Layout, &Layout) -> Result<Layout, Error>) -> Answer {
    layout(product(&call.layout(0)?, &call.layout(1)?)?)
}

pub(super) static DIVISIONS: &[Function] = &[
    Function {
        name: "logical_divide",
        arguments: "A, B or tiler",
        doc: native!("A by tiles B: (tile, rest); with a tiler, in each axis."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(6,8):(8,1), (3,4)"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::logical_divide, Layout::logical_divide_tiler),
    },
    Function {
        name: "zipped_divide",
        arguments: "A, B or tiler",
        doc: native!("((tile of each axis), (rest of each axis))."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(6,8):(8,1), <3,4>"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::zipped_divide, Layout::zipped_divide_tiler),
    },
    Function {
        name: "tiled_divide",
        arguments: "A, B or tiler",
        doc: native!("((tile of each axis), rest, rest, …)."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(6,8):(8,1), <3,4>"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::tiled_divide, Layout::tiled_divide_tiler),
    },
    Function {
        name: "flat_divide",
        arguments: "A, B or tiler",
        doc: native!("(tile, tile, …, rest, rest, …)."),
        python: native!("(a: LayoutLike, b: TilerLike, /) -> Layout"),
        example: native!("(6,8):(8,1), <3,4>"),
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::flat_divide, Layout::flat_divide_tiler),
    },
    Function {
        name: "local_tile",
        arguments: "L, tiler, coord[, step]",
        doc: native!(
            "The tile at a coordinate of the rest of zipped_divide(L, tiler): layout+offset; parts of the rest at `_` stay. A step leaves out the parts of tiler and coordinate where it has `_`."
        ),
        python: native!(
            "(layout: LayoutLike, tiler: TilerLike, coord: Slicer, step: Slicer | None = None, /) -> Layout"
        ),
        example: native!("(8,8):(8,1), <2,4>, (1,1)"),
        counts: (3, 4),
        run: |call| match call.count() {
            4 => local_tile(&call.with(&[call.placed(0)?, call.diced(1, 3)?, call.diced(2, 3)?])),
            _ => local_tile(call),
        },
    },
    Function {
        name: "local_partition",
        arguments: "L, T, i",
        doc: native!(
            "The elements of each tile of T's shape at T's coordinate with offset i: layout+offset."
        ),
        python: native!("(layout: LayoutLike, threads: LayoutLike, index: int, /) -> Layout"),
        example: native!("(8,8):(8,1), (2,4):(4,1), 3"),
        counts: (3, 3),
        run: local_partition,
    },
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
