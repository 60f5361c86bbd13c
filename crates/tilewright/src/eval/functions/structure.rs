//! Functions that take layouts apart and put them together, without a change of offsets.

use tilewright_core::{IntTuple, Layout, LayoutPart};

use super::{Answer, Call, Function, Refusal};
use crate::eval::value::Form;

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "get",
        arguments: "x, i, …",
        doc: native!(
            "The part at a path of positions: a layout of a layout, a tuple or integer of a tuple."
        ),
        python: native!("(x: Any, /, *path: int) -> Any"),
        example: native!("((4,2),3):((1,12),4), 0, 1"),
        counts: (2, usize::MAX),
        run: |call| match call.form(0)? {
            Form::Tuple(tuple) => Ok(Form::Tuple(tuple.get(&call.path(1)?)?)),
            _ => layout(call.layout(0)?.get(&call.path(1)?)?),
        },
    },
    Function {
        name: "flatten",
        arguments: "x",
        doc: native!("All modes side by side, without their brackets; for a tuple, its integers."),
        python: native!("(x: LayoutLike, /) -> Any"),
        example: native!("((4,2),3):((1,12),4)"),
        counts: (1, 1),
        run: |call| match call.form(0)? {
            Form::Tuple(tuple) if tuple.as_integer().is_some() => Ok(Form::Tuple(tuple.clone())),
            Form::Tuple(tuple) => Ok(Form::Tuple(IntTuple::flat(tuple.values())?)),
            _ => layout(call.layout(0)?.flatten()),
        },
    },
    Function {
        name: "select",
        arguments: "x, i, …",
        doc: native!("The axes named, in that order; for a tuple, a tuple."),
        python: native!("(x: LayoutLike, /, *axes: int) -> Any"),
        example: native!("(2,3,4):(12,4,1), 2, 0"),
        counts: (2, usize::MAX),
        run: |call| match parts(call)? {
            Some(parts) => of(call.path(1)?.iter().map(|&i| at(&parts, i))),
            None => layout(call.layout(0)?.select(&call.path(1)?)?),
        },
    },
    Function {
        name: "take",
        arguments: "x, from, to",
        doc: native!("The axes from … to - 1; for a tuple, a tuple."),
        python: native!("(x: LayoutLike, start: int, stop: int, /) -> Any"),
        example: native!("(2,3,4):(12,4,1), 1, 3"),
        counts: (3, 3),
        run: |call| match (parts(call)?, call.position(1)?, call.position(2)?) {
            (Some(parts), from, to) => of(range(&parts, from, to)?.iter().map(Ok)),
            (None, from, to) => layout(call.layout(0)?.take(from, to)?),
        },
    },
    Function {
        name: "group",
        arguments: "x, from, to",
        doc: native!("The axes from … to - 1 as one axis; for a tuple, a tuple."),
        python: native!("(x: LayoutLike, start: int, stop: int, /) -> Any"),
        example: native!("(2,3,4):(12,4,1), 0, 2"),
        counts: (3, 3),
        run: grouped,
    },
    Function {
        name: "append",
        arguments: "A, B",
        doc: native!("A with B appended as one more axis; for tuples, a tuple."),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> Any"),
        example: native!("2:1, 3:4"),
        counts: (2, 2),
        run: |call| match (parts(call)?, call.form(1)?) {
            (Some(parts), Form::Tuple(one)) => of(parts.iter().chain([one]).map(Ok)),
            _ => layout(call.layout(0)?.append(&call.layout(1)?)?),
        },
    },
    Function {
        name: "prepend",
        arguments: "A, B",
        doc: native!("A with B prepended as one more axis; for tuples, a tuple."),
        python: native!("(a: LayoutLike, b: LayoutLike, /) -> Any"),
        example: native!("2:1, 3:4"),
        counts: (2, 2),
        run: |call| match (parts(call)?, call.form(1)?) {
            (Some(parts), Form::Tuple(one)) => of([one].into_iter().chain(&parts).map(Ok)),
            _ => layout(call.layout(0)?.prepend(&call.layout(1)?)?),
        },
    },
    Function {
        name: "append_to",
        arguments: "A, n[, B]",
        doc: native!(
            "A with B (1:0 unless given) appended until there are n axes; for tuples, a tuple."
        ),
        python: native!("(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any"),
        example: native!("(2,3):(3,1), 4"),
        counts: (2, 3),
        run: |call| grown(call, false),
    },
    Function {
        name: "prepend_to",
        arguments: "A, n[, B]",
        doc: native!(
            "A with B (1:0 unless given) prepended until there are n axes; for tuples, a tuple."
        ),
        python: native!("(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any"),
        example: native!("(2,3):(3,1), 4"),
        counts: (2, 3),
        run: |call| grown(call, true),
    },
    Function {
        name: "replace",
        arguments: "A, i, B",
        doc: native!("A with B in place of axis i; for tuples, a tuple."),
        python: native!("(a: LayoutLike, axis: int, b: LayoutLike, /) -> Any"),
        example: native!("(2,3,4):(12,4,1), 1, 5:1"),
        counts: (3, 3),
        run: |call| match (parts(call)?, call.position(1)?, call.form(2)?) {
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
    },
    Function {
        name: "insert",
        arguments: "t, i, x",
        doc: native!("The tuple with x before its part i."),
        python: native!("(t: Shape, i: int, x: Shape, /) -> Any"),
        example: native!("(2,(3,4)), 1, 7"),
        counts: (3, 3),
        run: |call| {
            let (mut parts, i) = (parts_of(&call.tuple(0)?)?, call.position(1)?);
            if i != parts.len() {
                at(&parts, i)?;
            }
            parts.insert(i, call.tuple(2)?);
            of(parts.iter().map(Ok))
        },
    },
    Function {
        name: "remove",
        arguments: "t, i",
        doc: native!("The tuple without its part i."),
        python: native!("(t: Shape, i: int, /) -> Any"),
        example: native!("(2,(3,4)), 1"),
        counts: (2, 2),
        run: |call| {
            let (mut parts, i) = (parts_of(&call.tuple(0)?)?, call.position(1)?);
            at(&parts, i)?;
            let _ = parts.remove(i);
            of(parts.iter().map(Ok))
        },
    },
    Function {
        name: "unflatten",
        arguments: "x, profile",
        doc: native!(
            "The modes of a layout, or the parts of a tuple, in the brackets of the profile."
        ),
        python: native!("(x: LayoutLike, profile: Shape, /) -> Any"),
        example: native!("(2,3,4):(12,4,1), (1,(1,1))"),
        counts: (2, 2),
        run: unflattened,
    },
    Function {
        name: "make_layout",
        arguments: "shape[, stride] or A, B, …",
        doc: native!(
            "The layout of a shape, compact if no strides are given; or several layouts side by side, one axis for each."
        ),
        python: native!("(*parts: LayoutLike | Shape) -> Layout"),
        example: native!("(4,2), (1,4)"),
        counts: (1, usize::MAX),
        run: made,
    },
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
