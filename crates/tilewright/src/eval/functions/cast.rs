//! The same memory as larger or smaller elements.

use super::{Function, structure::layout};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "upcast",
        arguments: "L, n",
        doc: "L seen as elements n times as large.",
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.upcast(call.natural(1)?)?),
    },
    Function {
        name: "downcast",
        arguments: "L, n",
        doc: "L seen as elements n times as small.",
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.downcast(call.natural(1)?)?),
    },
    Function {
        name: "recast",
        arguments: "L, from_bits, to_bits",
        doc: "L of elements of from_bits seen as elements of to_bits.",
        counts: (3, 3),
        run: |call| layout(call.layout(0)?.recast(call.natural(1)?, call.natural(2)?)?),
    },
];
