//! Functions that take layouts apart and put them together, without a change of offsets.

use tilewright_core::{BasisLayout, IntTuple, Layout, LayoutPart, LayoutTv, TensorLayout};
use tilewright_notation::ResolvedLayout;

use super::{Answer, Call, Function, Refusal, integer};
use crate::eval::value::{Form, Strides, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "get(x, i, …)",
        "The part at a path of positions: a layout of a layout, a tuple or integer of a tuple.",
        "(x: Any, /, *path: int) -> Any",
        "((4,2),3):((1,12),4), 0, 1",
        |call| match call.form(0)? {
            Form::Tuple(tuple) => Ok(Form::Tuple(tuple.get(&call.path(1)?)?)),
            _ => layout(call.layout(0)?.get(&call.path(1)?)?),
        },
    ),
    Function::new(
        "flatten(x)",
        "All modes side by side, without their brackets; for a tuple, its integers.",
        "(x: LayoutLike, /) -> Any",
        "((4,2),3):((1,12),4)",
        |call| match call.form(0)? {
            Form::Tuple(tuple) if tuple.as_integer().is_some() => Ok(Form::Tuple(tuple.clone())),
            Form::Tuple(tuple) => Ok(Form::Tuple(IntTuple::flat(tuple.values())?)),
            _ => layout(call.layout(0)?.flatten()),
        },
    ),
    Function::new(
        "select(x, i, …)",
        "The axes named, in that order; for a tuple, a tuple.",
        "(x: LayoutLike, /, *axes: int) -> Any",
        "(2,3,4):(12,4,1), 2, 0",
        |call| match parts(call)? {
            Some(parts) => of(call.path(1)?.iter().map(|&i| at(&parts, i))),
            None => layout(call.layout(0)?.select(&call.path(1)?)?),
        },
    ),
    Function::new(
        "take(x, from, to)",
        "The axes from … to - 1; for a tuple, a tuple.",
        "(x: LayoutLike, start: int, stop: int, /) -> Any",
        "(2,3,4):(12,4,1), 1, 3",
        |call| match (parts(call)?, call.position(1)?, call.position(2)?) {
            (Some(parts), from, to) => of(range(&parts, from, to)?.iter().map(Ok)),
            (None, from, to) => layout(call.layout(0)?.take(from, to)?),
        },
    ),
    Function::new(
        "group(x, from, to)",
        "The axes from … to - 1 as one axis; for a tuple, a tuple.",
        "(x: LayoutLike, start: int, stop: int, /) -> Any",
        "(2,3,4):(12,4,1), 0, 2",
        grouped,
    ),
    Function::new(
        "append(A, B)",
        "A with B appended as one more axis; for tuples, a tuple.",
        "(a: LayoutLike, b: LayoutLike, /) -> Any",
        "2:1, 3:4",
        |call| match (parts(call)?, call.form(1)?) {
            (Some(parts), Form::Tuple(one)) => of(parts.iter().chain([one]).map(Ok)),
            _ => layout(call.layout(0)?.append(&call.layout(1)?)?),
        },
    ),
    Function::new(
        "prepend(A, B)",
        "A with B prepended as one more axis; for tuples, a tuple.",
        "(a: LayoutLike, b: LayoutLike, /) -> Any",
        "2:1, 3:4",
        |call| match (parts(call)?, call.form(1)?) {
            (Some(parts), Form::Tuple(one)) => of([one].into_iter().chain(&parts).map(Ok)),
            _ => layout(call.layout(0)?.prepend(&call.layout(1)?)?),
        },
    ),
    Function::new(
        "append_to(A, n[, B])",
        "A with B (1:0 unless given) appended until there are n axes; for tuples, a tuple.",
        "(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any",
        "(2,3):(3,1), 4",
        |call| grown(call, false),
    ),
    Function::new(
        "prepend_to(A, n[, B])",
        "A with B (1:0 unless given) prepended until there are n axes; for tuples, a tuple.",
        "(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any",
        "(2,3):(3,1), 4",
        |call| grown(call, true),
    ),
    Function::new(
        "replace(A, i, B)",
        "A with B in place of axis i; for tuples, a tuple.",
        "(a: LayoutLike, axis: int, b: LayoutLike, /) -> Any",
        "(2,3,4):(12,4,1), 1, 5:1",
        |call| match (parts(call)?, call.position(1)?, call.form(2)?) {
            (Some(parts), axis, Form::Tuple(one)) => {
                at(&parts, axis)?;
                // An integer lacks brackets around its part.
                if matches!(call.form(0)?, Form::Tuple(whole) if whole.as_integer().is_some()) {
                    return Ok(Form::Tuple(one.clone()));
                }
                of(parts.iter().enumerate().map(|(i, part)| Ok(if i == axis { one } else { part })))
            }
            _ => layout(call.layout(0)?.replace(call.position(1)?, &call.layout(2)?)?),
        },
    ),
    Function::new(
        "insert(t, i, x)",
        "The tuple with x before its part i.",
        "(t: Shape, i: int, x: Shape, /) -> Any",
        "(2,(3,4)), 1, 7",
        |call| {
            let (mut parts, i) = (parts_of(&call.tuple(0)?)?, call.position(1)?);
            if i != parts.len() {
                at(&parts, i)?;
            }
            parts.insert(i, call.tuple(2)?);
            of(parts.iter().map(Ok))
        },
    ),
    Function::new(
        "remove(t, i)",
        "The tuple without its part i.",
        "(t: Shape, i: int, /) -> Any",
        "(2,(3,4)), 1",
        |call| {
            let (mut parts, i) = (parts_of(&call.tuple(0)?)?, call.position(1)?);
            at(&parts, i)?;
            let _ = parts.remove(i);
            of(parts.iter().map(Ok))
        },
    ),
    Function::new(
        "unflatten(x, profile)",
        "The modes of a layout, or the parts of a tuple, in the brackets of the profile.",
        "(x: LayoutLike, profile: Shape, /) -> Any",
        "(2,3,4):(12,4,1), (1,(1,1))",
        unflattened,
    ),
    Function::new(
        "make_layout(shape[, stride] or A, B, …)",
        "The layout of a shape, compact if no strides are given; or several layouts side by side, one axis for each.",
        "(*parts: LayoutLike | Shape) -> Layout",
        "(4,2), (1,4)",
        made,
    )
    .taking(1, usize::MAX),
];

pub(super) fn layout(layout: Layout) -> Answer {
    Ok(Form::Layout(Box::new(layout)))
}

/// Returns the parts of a tuple, the only part of an integer, or `None` for a layout.
fn parts(call: &Call<'_>) -> Result<Option<Vec<IntTuple>>, Refusal> {
    match call.form(0)? {
        Form::Tuple(tuple) => parts_of(tuple).map(Some),
        _ => Ok(None),
    }
}

/// Returns the parts of a tuple, or the only part of an integer.
pub(super) fn parts_of(tuple: &IntTuple) -> Result<Vec<IntTuple>, Refusal> {
    match tuple.as_integer() {
        Some(_) => Ok(vec![tuple.clone()]),
        None => Ok((0..tuple.rank()).map(|i| tuple.get(&[i])).collect::<Result<_, _>>()?),
    }
}

/// Evaluates CuTe's `append<n>(A, B)`, or `prepend<n>` if `before` is set.
fn grown(call: &Call<'_>, before: bool) -> Answer {
    let n = call.position(1)?;
    let one = if call.count() == 3 { Some(call.form(2)?) } else { None };
    if let (Some(mut parts), Some(Form::Tuple(one))) = (parts(call)?, one) {
        longer(parts.len(), n)?;
        let mut whole = call.tuple(0)?;
        while parts.len() < n {
            parts.insert(if before { 0 } else { parts.len() }, one.clone());
            whole = IntTuple::of(&parts.iter().collect::<Vec<_>>())?;
        }
        return Ok(Form::Tuple(whole));
    }
    let mut whole = call.layout(0)?;
    let one = if one.is_some() { call.layout(2)? } else { unit()? };
    longer(whole.rank(), n)?;
    while whole.rank() < n {
        whole = if before { whole.prepend(&one)? } else { whole.append(&one)? };
    }
    layout(whole)
}

/// Returns `1:0`.
fn unit() -> Result<Layout, Refusal> {
    Ok(Layout::from_shape_stride(&IntTuple::integer(1), &IntTuple::integer(0))?)
}

/// Returns an error if there are already more than `n` axes.
fn longer(rank: usize, n: usize) -> Result<(), Refusal> {
    if rank <= n {
        return Ok(());
    }
    Err(Refusal::Message("out-of-range", format!("{rank} axes, which are more than {n} already")))
}

fn at(parts: &[IntTuple], i: usize) -> Result<&IntTuple, Refusal> {
    parts.get(i).ok_or_else(|| {
        let message =
            format!("position {i} of a tuple of {}; positions are counted from 0", parts.len());
        Refusal::Message("out-of-range", message)
    })
}

fn range(parts: &[IntTuple], from: usize, to: usize) -> Result<&[IntTuple], Refusal> {
    parts.get(from..to).ok_or_else(|| {
        let message = format!(
            "positions {from} to {to} of a tuple of {}; the first must be at most the second, the second at most the rank",
            parts.len()
        );
        Refusal::Message("out-of-range", message)
    })
}

/// Returns the tuple of these parts.
fn of<'a>(parts: impl Iterator<Item = Result<&'a IntTuple, Refusal>>) -> Answer {
    let parts: Vec<&IntTuple> = parts.collect::<Result<_, _>>()?;
    Ok(Form::Tuple(IntTuple::of(&parts)?))
}

fn grouped(call: &Call<'_>) -> Answer {
    let (from, to) = (call.position(1)?, call.position(2)?);
    let Some(parts) = parts(call)? else { return layout(call.layout(0)?.group(from, to)?) };
    let inner: Vec<&IntTuple> = range(&parts, from, to)?.iter().collect();
    if inner.is_empty() {
        return Err(Refusal::Message("out-of-range", "no position to group".to_owned()));
    }
    let inner = IntTuple::of(&inner)?;
    of(parts[..from].iter().chain([&inner]).chain(&parts[to..]).map(Ok))
}

fn unflattened(call: &Call<'_>) -> Answer {
    let profile = call.profile(1)?;
    let Some(parts) = parts(call)? else {
        let whole = call.layout(0)?;
        let layout_of =
            Layout::new(whole.modes(), profile.profile(), whole.offset(), whole.swizzle());
        return layout(layout_of?);
    };
    if parts.len() != profile.values().len() {
        let (own, wanted) = (parts.len(), profile.values().len());
        let message =
            format!("{own} parts for the {wanted} places of {profile}; give one for each");
        return Err(Refusal::Message("mismatch", message));
    }
    bracketed(&profile, &mut parts.into_iter()).map(Form::Tuple)
}

/// Returns the next parts in the brackets of the profile.
fn bracketed(
    profile: &IntTuple,
    parts: &mut impl Iterator<Item = IntTuple>,
) -> Result<IntTuple, Refusal> {
    if profile.as_integer().is_some() {
        return Ok(parts.next().unwrap_or_else(|| profile.clone()));
    }
    let inner: Result<Vec<IntTuple>, Refusal> =
        parts_of(profile)?.iter().map(|part| bracketed(part, parts)).collect();
    Ok(IntTuple::of(&inner?.iter().collect::<Vec<_>>())?)
}

fn made(call: &Call<'_>) -> Answer {
    if let (2, Form::Tuple(shape)) = (call.count(), call.form(0)?)
        && let Form::Strides(strides) = call.form(1)?
    {
        let map = strides.over(shape).map_err(|message| Refusal::Message("parse", message))?;
        return Ok(Form::Basis(Box::new(map)));
    }
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

// Functions that build layouts from shapes and from other layouts, and that view the same memory as larger or smaller
// elements.

pub(super) static MAKERS: &[Function] = &[
    Function::new(
        "tile(L, shape)",
        "The tile of this shape at the origin, with blocks and strides kept (TLA's MakeLayoutTile).",
        "(layout: LayoutLike, shape: Shape, /) -> Layout | TensorLayout",
        "(8,12):(12,1), (4,6)",
        tile,
    ),
    Function::new(
        "make_layout_tv(thr, val)",
        "(thread, value) → cell of the tile, for this arrangement of threads and values; its extents are those of raked_product(thr, val).",
        "(thr: LayoutLike, val: LayoutLike, /) -> Layout",
        "(4,8):(8,1), (2,2):(2,1)",
        |call| layout(LayoutTv::new(&call.layout(0)?, &call.layout(1)?)?.layout().clone()),
    ),
    Function::new(
        "make_ordered_layout(shape, order)",
        "The compact layout whose parts vary in the given order, smallest first.",
        "(shape: Shape, order: Shape, /) -> Layout",
        "(2,3,4), (2,0,1)",
        |call| layout(Layout::ordered(&call.shape(0)?, &call.tuple(1)?)?),
    ),
    Function::new(
        "with_shape(L, shape)",
        "L with the coordinates of the shape, matched by colexicographic index.",
        "(layout: LayoutLike, shape: Shape, /) -> Layout",
        "(4,8):(8,1), (8,4)",
        |call| {
            let indices = Layout::compact_col_major(&call.tuple(1)?)?;
            layout(call.layout(0)?.composition(&indices)?)
        },
    ),
    Function::new(
        "make_layout_like(L)",
        "The compact layout of the same shape, ordered by L's strides; strides of 0 are kept.",
        "(layout: LayoutLike, /) -> Layout",
        "(4,8):(16,1)",
        |call| layout(call.layout(0)?.compact_like()?),
    ),
    Function::new(
        "make_identity_layout(shape)",
        "The map of each coordinate to itself, with basis strides; for an integer n, n:1.",
        "(shape: Shape, /) -> Layout | Value",
        "(2,3)",
        identity,
    ),
    Function::new(
        "make_basis_like(shape)",
        "The strides of make_identity_layout(shape).",
        "(shape: Shape, /) -> Value | Shape",
        "(2,(3,4))",
        |call| match identity(call)? {
            Form::Basis(map) => Ok(Form::Strides(Strides::of(&map))),
            _ => integer(1),
        },
    ),
    Function::new(
        "compact_col_major(shape[, current])",
        "The strides of the compact layout whose first mode varies fastest, from `current` on.",
        "(shape: Shape, current: int | None = None, /) -> Shape",
        "(2,(3,4))",
        |call| from(call, &call.shape(0)?.compact_col_major()?),
    ),
    Function::new(
        "compact_row_major(shape[, current])",
        "The strides of the compact layout whose last mode varies fastest, from `current` on.",
        "(shape: Shape, current: int | None = None, /) -> Shape",
        "(2,(3,4))",
        |call| from(call, &call.shape(0)?.compact_row_major()?),
    ),
    Function::new(
        "compact_order(shape, order)",
        "The strides of the compact layout whose parts vary in the given order, smallest first.",
        "(shape: Shape, order: Shape, /) -> Shape",
        "(2,3,4), (2,0,1)",
        |call| Ok(Form::Tuple(call.shape(0)?.compact_order(&call.tuple(1)?)?)),
    ),
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
    let named =
        ResolvedLayout::new("tile", tensor, whole.dtype(), whole.explicit_bits(), whole.fill());
    Ok(Form::Spec(Box::new(named)))
}

pub(super) static CASTS: &[Function] = &[
    Function::new(
        "upcast(L, n)",
        "L seen as elements n times as large.",
        "(layout: LayoutLike, n: int, /) -> Layout",
        "(4,8):(8,1), 2",
        |call| layout(call.layout(0)?.upcast(call.natural(1)?)?),
    ),
    Function::new(
        "downcast(L, n)",
        "L seen as elements n times as small.",
        "(layout: LayoutLike, n: int, /) -> Layout",
        "(4,8):(8,1), 2",
        |call| layout(call.layout(0)?.downcast(call.natural(1)?)?),
    ),
    Function::new(
        "recast(L, from_bits, to_bits)",
        "L of elements of from_bits seen as elements of to_bits.",
        "(layout: LayoutLike, from_bits: int, to_bits: int, /) -> Layout",
        "(4,8):(8,1), 16, 8",
        |call| layout(call.layout(0)?.recast(call.natural(1)?, call.natural(2)?)?),
    ),
];

/// Returns argument `i` as the layout of an array.
pub(super) fn array(call: &Call<'_>, i: usize) -> Result<ResolvedLayout, Refusal> {
    match Value(call.form(i)?.clone()).to_named() {
        Some(named) => Ok(named),
        None => {
            // A layout that is not the layout of an array has its own error.
            let _ = call.layout(i)?;
            call.is_not(i, "a layout")
        }
    }
}
