//! Functions that divide a layout into tiles.

use tilewright_core::{Error, Layout, Tiler};

use super::{Answer, Call, Function, arguments::By, structure::layout};
use crate::eval::part::with_tilers;

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "logical_divide",
        arguments: "A, B or tiler",
        doc: "A by tiles B: (tile, rest); with a tiler, that in each axis.",
        python: "(a: LayoutLike, b: TilerLike, /) -> Layout",
        example: "(6,8):(8,1), (3,4)",
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::logical_divide, Layout::logical_divide_tiler),
    },
    Function {
        name: "zipped_divide",
        arguments: "A, B or tiler",
        doc: "((tile of each axis), (rest of each axis)).",
        python: "(a: LayoutLike, b: TilerLike, /) -> Layout",
        example: "(6,8):(8,1), <3,4>",
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::zipped_divide, Layout::zipped_divide_tiler),
    },
    Function {
        name: "tiled_divide",
        arguments: "A, B or tiler",
        doc: "((tile of each axis), rest, rest, …).",
        python: "(a: LayoutLike, b: TilerLike, /) -> Layout",
        example: "(6,8):(8,1), <3,4>",
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::tiled_divide, Layout::tiled_divide_tiler),
    },
    Function {
        name: "flat_divide",
        arguments: "A, B or tiler",
        doc: "(tile, tile, …, rest, rest, …).",
        python: "(a: LayoutLike, b: TilerLike, /) -> Layout",
        example: "(6,8):(8,1), <3,4>",
        counts: (2, 2),
        run: |call| by_layout_or_mode(call, Layout::flat_divide, Layout::flat_divide_tiler),
    },
];

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
