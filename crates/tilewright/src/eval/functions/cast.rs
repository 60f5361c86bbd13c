//! Functions that view the same memory as larger or smaller elements.

use super::{Function, structure::layout};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "upcast",
        arguments: "L, n",
        doc: native!("L seen as elements n times as large."),
        python: native!("(layout: LayoutLike, n: int, /) -> Layout"),
        example: native!("(4,8):(8,1), 2"),
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.upcast(call.natural(1)?)?),
    },
    Function {
        name: "downcast",
        arguments: "L, n",
        doc: native!("L seen as elements n times as small."),
        python: native!("(layout: LayoutLike, n: int, /) -> Layout"),
        example: native!("(4,8):(8,1), 2"),
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.downcast(call.natural(1)?)?),
    },
    Function {
        name: "recast",
        arguments: "L, from_bits, to_bits",
        doc: native!("L of elements of from_bits seen as elements of to_bits."),
        python: native!("(layout: LayoutLike, from_bits: int, to_bits: int, /) -> Layout"),
        example: native!("(4,8):(8,1), 16, 8"),
        counts: (3, 3),
        run: |call| layout(call.layout(0)?.recast(call.natural(1)?, call.natural(2)?)?),
    },
];
