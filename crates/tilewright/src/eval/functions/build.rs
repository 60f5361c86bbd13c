//! Functions that build layouts from shapes and from other layouts, and that view the same memory as larger or smaller
//! elements.

use tilewright_core::{BasisLayout, IntTuple, Layout, LayoutTv, TensorLayout};
use tilewright_notation::Named;

use super::{
    Answer, Call, Function, Refusal, coordinates::array, observe::integer, structure::layout,
};
use crate::eval::value::{Form, Strides};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "tile",
        arguments: "L, shape",
        doc: native!(
            "The tile of this shape at the origin, with blocks and strides kept (TLA's MakeLayoutTile)."
        ),
        python: native!("(layout: LayoutLike, shape: Shape, /) -> Layout | TensorLayout"),
        example: native!("(8,12):(12,1), (4,6)"),
        counts: (2, 2),
        run: tile,
    },
    Function {
        name: "make_layout_tv",
        arguments: "thr, val",
        doc: native!(
            "(thread, value) → cell of the tile, for this arrangement of threads and values; its extents are those of raked_product(thr, val)."
        ),
        python: native!("(thr: LayoutLike, val: LayoutLike, /) -> Layout"),
        example: native!("(4,8):(8,1), (2,2):(2,1)"),
        counts: (2, 2),
        run: |call| layout(LayoutTv::new(&call.layout(0)?, &call.layout(1)?)?.layout().clone()),
    },
    Function {
        name: "make_ordered_layout",
        arguments: "shape, order",
        doc: native!("The compact layout whose parts vary in the given order, smallest first."),
        python: native!("(shape: Shape, order: Shape, /) -> Layout"),
        example: native!("(2,3,4), (2,0,1)"),
        counts: (2, 2),
        run: |call| layout(Layout::ordered(&call.shape(0)?, &call.tuple(1)?)?),
    },
    Function {
        name: "with_shape",
        arguments: "L, shape",
        doc: native!("L with the coordinates of the shape, matched by colexicographic index."),
        python: native!("(layout: LayoutLike, shape: Shape, /) -> Layout"),
        example: native!("(4,8):(8,1), (8,4)"),
        counts: (2, 2),
        run: |call| {
            let indices = Layout::compact_col_major(&call.tuple(1)?)?;
            layout(call.layout(0)?.composition(&indices)?)
        },
    },
    Function {
        name: "make_layout_like",
        arguments: "L",
        doc: native!(
            "The compact layout of the same shape, ordered by L's strides; strides of 0 are kept."
        ),
        python: native!("(layout: LayoutLike, /) -> Layout"),
        example: native!("(4,8):(16,1)"),
        counts: (1, 1),
        run: |call| layout(call.layout(0)?.compact_like()?),
    },
    Function {
        name: "make_identity_layout",
        arguments: "shape",
        doc: native!(
            "The map of each coordinate to itself, with basis strides; for an integer n, n:1."
        ),
        python: native!("(shape: Shape, /) -> Layout | Value"),
        example: native!("(2,3)"),
        counts: (1, 1),
        run: identity,
    },
    Function {
        name: "make_basis_like",
        arguments: "shape",
        doc: native!("The strides of make_identity_layout(shape)."),
        python: native!("(shape: Shape, /) -> Value | Shape"),
        example: native!("(2,(3,4))"),
        counts: (1, 1),
        run: |call| match identity(call)? {
            Form::Basis(map) => Ok(Form::Strides(Strides::of(&map))),
            _ => integer(1),
        },
    },
    Function {
        name: "compact_col_major",
        arguments: "shape[, current]",
        doc: native!(
            "The strides of the compact layout whose first mode varies fastest, from `current` on."
        ),
        python: native!("(shape: Shape, current: int | None = None, /) -> Shape"),
        example: native!("(2,(3,4))"),
        counts: (1, 2),
        run: |call| from(call, &call.shape(0)?.compact_col_major()?),
    },
    Function {
        name: "compact_row_major",
        arguments: "shape[, current]",
        doc: native!(
            "The strides of the compact layout whose last mode varies fastest, from `current` on."
        ),
        python: native!("(shape: Shape, current: int | None = None, /) -> Shape"),
        example: native!("(2,(3,4))"),
        counts: (1, 2),
        run: |call| from(call, &call.shape(0)?.compact_row_major()?),
    },
    Function {
        name: "compact_order",
        arguments: "shape, order",
        doc: native!(
            "The strides of the compact layout whose parts vary in the given order, smallest first."
        ),
        python: native!("(shape: Shape, order: Shape, /) -> Shape"),
        example: native!("(2,3,4), (2,0,1)"),
        counts: (2, 2),
        run: |call| Ok(Form::Tuple(call.shape(0)?.compact_order(&call.tuple(1)?)?)),
    },
];

/// Returns the strides times argument 1, if there is one.
fn from(call: &Call<'_>, strides: &IntTuple) -> Answer {
    if call.count() < 2 {
        return Ok(Form::Tuple(strides.clone()));
    }
    let current = call.integer(1)?;
    let scaled: Option<Vec<i64>> =
        strides.values().iter().map(|stride| stride.checked_mul(current)).collect();
    let scaled = scaled.ok_or_else(|| {
        Refusal::Message(
            "overflow",
            format!("strides {strides} times {current} do not fit 64 bits"),
        )
    })?;
    Ok(Form::Tuple(IntTuple::new(&scaled, strides.profile())?))
}

fn identity(call: &Call<'_>) -> Answer {
    let shape = call.shape(0)?;
    match shape.as_integer() {
        Some(_) => layout(Layout::compact_col_major(&shape)?),
        None => Ok(Form::Basis(Box::new(BasisLayout::identity(&shape)?))),
    }
}

/// Returns the tile. Its valid extents are at most those of the whole.
fn tile(call: &Call<'_>) -> Answer {
    let (whole, layout) = (array(call, 0)?, call.layout(0)?);
    let shape = call.tuple(1)?.product_each()?;
    let extents: Result<Vec<u64>, _> = shape.values().iter().map(|&x| u64::try_from(x)).collect();
    let extents = extents
        .map_err(|_| Refusal::Message("illegal", format!("{shape}: extents are 0 or more")))?;
    let tile = layout.tile(&extents)?;
    let meant = whole.layout().extents();
    let valid: Vec<u64> =
        tile.valid().as_slice().iter().zip(meant).map(|(&x, &most)| x.min(most)).collect();
    if valid == tile.valid().as_slice() {
        return Ok(Form::Tile(Box::new(tile)));
    }
    let capacity = TensorLayout::of(tile.layout()).capacity();
    let tensor = TensorLayout::new(&valid, tile.layout(), capacity)?;
    let named = Named::new("tile", tensor, whole.dtype(), whole.explicit_bits(), whole.fill());
    Ok(Form::Spec(Box::new(named)))
}

pub(super) static CASTS: &[Function] = &[
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
