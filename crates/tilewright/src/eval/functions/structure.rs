//! Taking layouts apart and putting them together; no offset changes.

use tilewright_core::{Layout, LayoutPart};

use super::{Answer, Call, Function, Refusal};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "get",
        arguments: "x, i, …",
        doc: "The part at a path of positions: of a layout a layout, of a tuple a tuple or integer.",
        python: "(x: Any, /, *path: int) -> Any",
        example: "((4,2),3):((1,12),4), 0, 1",
        counts: (2, usize::MAX),
        run: |call| match call.form(0)? {
            Form::Tuple(tuple) => Ok(Form::Tuple(tuple.get(&call.path(1)?)?)),
            _ => layout(call.layout(0)?.get(&call.path(1)?)?),
        },
    },
    Function {
        name: "flatten",
        arguments: "L",
        doc: "All modes side by side, without their brackets.",
        python: "(layout: LayoutLike, /) -> Layout",
        example: "((4,2),3):((1,12),4)",
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.flatten()),
    },
    Function {
        name: "select",
        arguments: "L, i, …",
        doc: "The axes named, in that order.",
        python: "(layout: LayoutLike, /, *axes: int) -> Layout",
        example: "(2,3,4):(12,4,1), 2, 0",
        counts: (2, usize::MAX),
        run: |call| layout(call.layout(0)?.select(&call.path(1)?)?),
    },
    Function {
        name: "take",
        arguments: "L, from, to",
        doc: "The axes from … to - 1.",
        python: "(layout: LayoutLike, start: int, stop: int, /) -> Layout",
        example: "(2,3,4):(12,4,1), 1, 3",
        counts: (3, 3),
        run: |call| layout(call.layout(0)?.take(call.position(1)?, call.position(2)?)?),
    },
    Function {
        name: "group",
        arguments: "L, from, to",
        doc: "The axes from … to - 1 as one axis.",
        python: "(layout: LayoutLike, start: int, stop: int, /) -> Layout",
        example: "(2,3,4):(12,4,1), 0, 2",
        counts: (3, 3),
        run: |call| layout(call.layout(0)?.group(call.position(1)?, call.position(2)?)?),
    },
    Function {
        name: "append",
        arguments: "A, B",
        doc: "A with B as one more axis behind.",
        python: "(a: LayoutLike, b: LayoutLike, /) -> Layout",
        example: "2:1, 3:4",
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.append(&call.layout(1)?)?),
    },
    Function {
        name: "prepend",
        arguments: "A, B",
        doc: "A with B as one more axis before.",
        python: "(a: LayoutLike, b: LayoutLike, /) -> Layout",
        example: "2:1, 3:4",
        counts: (2, 2),
        run: |call| layout(call.layout(0)?.prepend(&call.layout(1)?)?),
    },
    Function {
        name: "replace",
        arguments: "A, i, B",
        doc: "A with B in place of axis i.",
        python: "(a: LayoutLike, axis: int, b: LayoutLike, /) -> Layout",
        example: "(2,3,4):(12,4,1), 1, 5:1",
        counts: (3, 3),
        run: |call| layout(call.layout(0)?.replace(call.position(1)?, &call.layout(2)?)?),
    },
    Function {
        name: "make_layout",
        arguments: "shape[, stride] or A, B, …",
        doc: "The layout of a shape, compact where no strides are given; layouts side by side, an axis each.",
        python: "(*parts: LayoutLike | Shape) -> Layout",
        example: "(4,2), (1,4)",
        counts: (1, usize::MAX),
        run: made,
    },
];

pub(super) fn layout(layout: Layout) -> Answer {
    Ok(Form::Layout(Box::new(layout)))
}

fn made(call: &Call<'_>) -> Answer {
    let all = (0..call.count()).map(|i| match call.form(i)? {
        Form::Tuple(tuple) => Ok(Err(tuple.clone())),
        _ => call.layout(i).map(Ok),
    });
    let all = all.collect::<Result<Vec<_>, Refusal>>()?;
    let parts = all.iter().map(|part| match part {
        Ok(layout) => LayoutPart::Layout(layout),
        Err(tuple) => LayoutPart::Tuple(tuple),
    });
    layout(Layout::make(&parts.collect::<Vec<_>>())?)
}
