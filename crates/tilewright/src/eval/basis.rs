//! Maps to coordinates: their strides as text, and functions of layouts applied to them.
//!
//! A map with basis strides is a layout for each part of a coordinate, all over one shape. A function that only chooses
//! and arranges coordinates of its first argument, such as `zipped_divide`, therefore acts on each part. Law: `f(M, …)`
//! at a coordinate is the tuple of the parts `f(M.part(i), …)` there.

use tilewright_core::{BasisLayout, IntTuple, Layout, Mode};

use super::{
    functions::{Argument, Call, Refusal},
    value::{Form, Strides},
};
use crate::Error;

/// The functions that only choose and arrange coordinates.
const BY_PARTS: [&str; 14] = [
    "slice",
    "dice",
    "A o B",
    "composition",
    "coalesce",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "flatten",
    "get",
    "select",
    "take",
    "group",
];

/// Returns the answer for a map in the first argument, or behind the coordinate of a slice; `None` for other arguments and
/// functions.
///
/// The map becomes one layout of integers, whose digits are the components: modes then merge only where all components do.
pub(super) fn by_parts(
    name: &str,
    arguments: &[Argument],
    span: (usize, usize),
    run: fn(&Call<'_>) -> Result<Form, Refusal>,
) -> Option<Result<Form, Refusal>> {
    let at = usize::from(matches!(name, "slice" | "dice"));
    let Form::Basis(map) = &arguments.get(at)?.form else { return None };
    BY_PARTS.contains(&name).then(|| {
        let base = base(map).ok_or_else(|| {
            let message = format!("the components of {map} do not fit 63 bits together");
            Refusal::Message("unsupported", message)
        })?;
        let answer = |layout: Layout| {
            let mut own = arguments.to_vec();
            own[at].form = Form::Layout(Box::new(layout));
            run(&Call::new(name, &own, span))
        };
        match answer(packed(map, base)?) {
            Ok(Form::Layout(layout)) => unpacked(map, base, &layout),
            Ok(_) => Call::new(name, arguments, span).is_not(at, "a layout"),
            Err(refusal) => {
                // The refusal of a component has the numbers of the component.
                parts(map).try_for_each(|part| answer(part).map(|_| ()))?;
                Err(refusal)
            }
        }
    })
}

fn parts(map: &BasisLayout) -> impl Iterator<Item = Layout> {
    (0..map.components()).map_while(|i| map.part(i))
}

/// Returns a base in which each component of a coordinate is one digit, from -base/2 to base/2.
fn base(map: &BasisLayout) -> Option<i64> {
    let reach = |part: Layout| {
        let far = |mode: &Mode| {
            mode.stride().checked_abs()?.checked_mul(i64::try_from(mode.extent().max(1)).ok()?)
        };
        part.modes().iter().try_fold(1i64, |sum, mode| sum.checked_add(far(mode)?))
    };
    let reaches = parts(map).map(reach).collect::<Option<Vec<i64>>>()?;
    let base = reaches.into_iter().max()?.checked_mul(2)?;
    base.checked_pow(map.components() as u32)?;
    Some(base)
}

/// Returns the layout of the numbers whose digits are the components.
fn packed(map: &BasisLayout, base: i64) -> Result<Layout, Refusal> {
    let parts: Vec<Layout> = parts(map).collect();
    let stride = |leaf: usize| {
        let digits = parts.iter().rev().map(|part| part.modes()[leaf].stride());
        digits.fold(0, |number, digit| number * base + digit)
    };
    let shape = map.shape();
    let strides: Vec<i64> = (0..shape.values().len()).map(stride).collect();
    Ok(Layout::from_shape_stride(shape, &IntTuple::new(&strides, shape.profile())?)?)
}

/// Returns the map whose components are the digits of a layout, at the places of the components of `map`.
fn unpacked(map: &BasisLayout, base: i64, layout: &Layout) -> Result<Form, Refusal> {
    let shape = layout.shape();
    let stride = |leaf: usize| {
        let (mut rest, mut terms) = (layout.modes()[leaf].stride(), Vec::new());
        for path in (0..map.components()).map_while(|i| map.path(i)) {
            let digit = (rest + base / 2).rem_euclid(base) - base / 2;
            rest = (rest - digit) / base;
            if digit != 0 {
                let path: String = path.iter().rev().map(|step| format!("@{step}")).collect();
                terms.push(format!("{digit}{path}"));
            }
        }
        if terms.is_empty() { "0".to_owned() } else { terms.join("+") }
    };
    let strides: Vec<String> = (0..shape.values().len())
        .map(|leaf| {
            let (opened, closed) = shape.profile().brackets(leaf).unwrap_or((0, 0));
            "(".repeat(opened) + &stride(leaf) + &")".repeat(closed)
        })
        .collect();
    let map = Strides::new(strides.join(",")).over(&shape).map(|map| Form::Basis(Box::new(map)));
    map.map_err(|message| Refusal::Message("unsupported", message))
}

/// Returns the shape of the smallest box of coordinates from 0 that holds all values.
pub(super) fn coshape(map: &BasisLayout) -> Result<IntTuple, Refusal> {
    let is_below = |part: Layout| part.modes().iter().any(|mode| mode.stride() < 0);
    if parts(map).any(is_below) {
        let message = format!("{map} has a stride below 0; take the parts of the coordinate apart");
        return Err(Refusal::Message("unsupported", message));
    }
    let last = map.coord_at(&IntTuple::integer(map.shape().product()? - 1))?;
    let extents: Vec<i64> = last.values().iter().map(|value| value + 1).collect();
    Ok(IntTuple::new(&extents, last.profile())?)
}

/// Returns the tuple of these parts as strides, if one of them names a basis; the others are integers or tuples.
pub(super) fn strides_of(parts: &[Argument]) -> Option<Result<Strides, Error>> {
    let mut named = parts.iter().filter(|part| matches!(part.form, Form::Strides(_)));
    named.next()?;
    let text = |part: &Argument| match &part.form {
        Form::Strides(strides) => Ok(strides.to_string()),
        Form::Tuple(tuple) => Ok(tuple.to_string()),
        other => {
            let message = format!("{} among strides such as 1@0", other.described());
            Err(Error::new("arguments", message).at(part.span))
        }
    };
    let texts: Result<Vec<String>, Error> = parts.iter().map(text).collect();
    Some(texts.map(|texts| Strides::new(format!("({})", texts.join(",")))))
}
