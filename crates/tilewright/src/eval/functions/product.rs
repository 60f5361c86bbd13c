//! Functions for products, a layout repeated according to another layout, and for divisions of a layout into tiles.

use tilewright_core::{Error, Layout, Tiler};

use super::{
    Answer, Call, Function, Refusal, arguments::By, coordinates::flat_coord, structure::layout,
};
use crate::eval::{
    items::{Items, with_tilers},
    value::Form,
};

pub(super) static FUNCTIONS: &[Function] = &[
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
pub(super) fn by_layout_or_mode(
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
