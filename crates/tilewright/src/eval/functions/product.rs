//! Functions for products: a layout repeated according to another layout.

use tilewright_core::{Error, Layout};

use super::{Answer, Call, Function, divide::by_layout_or_mode, structure::layout};

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
