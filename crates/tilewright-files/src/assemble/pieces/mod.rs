//! The parts of a tensor as nests over storage: layouts on both sides are composed with the digits of the part. Descriptions of
//! tensors consist of them.
//!
//! ```text
//! element of a tensor, row-major  ->  coordinate, in extents of the padded array  ->  digits of the layout  ->  storage
//! ```
//!
//! Each arrow is [`Nest::through`]: digits of a place get other weights, after the nest is cut so that they are digits. Storage
//! counts units: elements, blocks of elements if the type has blocks, or bytes for elements narrower than a byte.

pub(crate) mod exact;
pub(crate) mod made;
pub(crate) mod nest;
pub(crate) mod whole;

use tilewright_core::TensorLayout;
use tilewright_recipe::{Digit, Origin};

use crate::{
    assemble::{
        pieces::{
            exact::Exact,
            nest::{MOST, Nest, TooMany, Turn},
        },
        stored::Take,
    },
    layout::element_layout::ElementLayout,
};

/// Elements of a result that have the same source.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) give: Give,
    pub(crate) exact: Exact,
    /// The loops from units of the source's storage to those of the result.
    pub(crate) nest: Nest,
}

/// The source of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Give {
    /// A tensor of the input, whose units have this number of bytes.
    Tensor(Take, u64),
    /// The bytes of one unit.
    Fill(Vec<u8>),
}

impl Give {
    /// Returns the number of bytes of a unit.
    pub(crate) fn width(&self) -> u64 {
        match self {
            Give::Tensor(_, width) => *width,
            Give::Fill(bytes) => bytes.len() as u64,
        }
    }
}

/// The unit of a tensor's storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The number of elements.
    pub(crate) elements: u64,
    pub(crate) bytes: u64,
}

impl Unit {
    pub(crate) fn of(held: &ElementLayout) -> Result<Unit, String> {
        let bits = u64::from(held.bits);
        if bits > 0 && bits.is_multiple_of(8) {
            return Ok(Unit { elements: held.together(), bytes: bits / 8 });
        }
        if bits > 0 && 8u64.is_multiple_of(bits) && is_row_major(held.layout()) {
            return Ok(Unit { elements: 8 / bits, bytes: 1 });
        }
        Err(format!("elements of {bits} bits are not whole bytes, and are moved only row-major"))
    }
}

/// Returns the nest of a part in elements, row-major on both sides; the error describes the fault.
pub(crate) fn nest(
    (origin, offset, digits): (Origin, u64, &[Digit]),
    (source, made): (Option<u64>, u64),
) -> Result<Nest, String> {
    let from = match origin {
        Origin::Source { offset, .. } => offset,
        Origin::Fill(_) => 0,
    };
    let turn = |digit: &Digit| {
        let from = if source.is_some() { digit.source } else { 0 };
        Turn { extent: digit.extent, from, to: digit.made }
    };
    let nest = Nest::new(from, offset, digits.iter().map(turn));
    if nest.size() == 0 {
        return Ok(nest);
    }
    let (far, end) = nest.reach();
    let beyond = |side: &str, at: u64, size: u64| {
        let said = format!("reaches element {at} of {side}, which has {size}");
        (at >= size).then_some(said)
    };
    let source = source.and_then(|size| beyond("its source", from.saturating_add(far), size));
    if let Some(said) = source.or(beyond("the result", offset.saturating_add(end), made)) {
        return Err(said);
    }
    if !nest.is_nested() {
        return Err(
            "has digits that overlap in the result: each must step over those inside it".into()
        );
    }
    Ok(nest)
}

/// Returns the nests over storage of a nest over elements, row-major on both sides.
pub(crate) fn stored(
    nest: &Nest,
    (from, from_unit): (Option<&ElementLayout>, Unit),
    (to, to_unit): (&ElementLayout, Unit),
) -> Result<Vec<Nest>, String> {
    let Some(nest) = in_units(nest, from.map(|_| from_unit.elements), to_unit.elements) else {
        let together = from_unit.elements.max(to_unit.elements);
        return Err(format!(
            "takes apart {together} elements that are stored together; a part must keep them whole, adjacent and in order"
        ));
    };
    let mut nests = through(vec![nest], to)?;
    check_nested(&nests, to)?;
    if let Some(from) = from {
        nests = nests.iter().map(Nest::swapped).collect();
        let made = |said: String| format!("is made of a tensor that {said}");
        nests = through(nests, from).map_err(made)?;
        check_nested(&nests, from).map_err(made)?;
        nests = nests.iter().map(Nest::swapped).collect();
    }
    Ok(nests)
}

/// Returns true if loops over storage describe this layout. Tensors in other layouts are read and written by rows.
pub(crate) fn is_direct(held: &ElementLayout) -> bool {
    if held.tables().is_some() || held.order.is_big() || Unit::of(held).is_err() {
        return false;
    }
    let all = Nest::new(0, 0, [Turn { extent: held.layout().size(), from: 1, to: 1 }]);
    through(vec![all], held).is_ok_and(|nests| check_nested(&nests, held).is_ok())
}

/// Checks that each loop steps over everything inside it: boxes and windows of storage are cut along the largest strides.
fn check_nested(nests: &[Nest], held: &ElementLayout) -> Result<(), String> {
    let steps = |nest: &Nest| {
        let turns = nest.turns.iter().copied().filter(|turn| turn.to != 0);
        let mut turns: Vec<Turn> = turns.collect();
        turns.sort_by_key(|turn| std::cmp::Reverse(turn.to));
        Nest { turns, ..nest.clone() }
    };
    match is_row_major(held.layout()) || nests.iter().all(|nest| steps(nest).is_nested()) {
        true => Ok(()),
        false => Err(format!(
            "has layout `{}`, whose digits interleave: each must step over those inside it; convert it before or after",
            held.named.to_spec()
        )),
    }
}

/// Returns the nest in units of this number of elements on either side; `None` if it would split a unit.
fn in_units(nest: &Nest, from: Option<u64>, to: u64) -> Option<Nest> {
    if to == 1 && from.unwrap_or(1) == 1 {
        return Some(nest.clone());
    }
    let from = from.unwrap_or(to);
    let whole = |place: u64, unit: u64| place.is_multiple_of(unit).then_some(place / unit);
    let mut turns = nest.turns.clone();
    let inner = turns.pop()?;
    let side = inner.to == 1 && (inner.from == 1 || inner.from == 0);
    let extent = whole(inner.extent, to).filter(|_| side && from == to)?;
    let turn =
        |turn: Turn| Some(Turn { from: whole(turn.from, from)?, to: whole(turn.to, to)?, ..turn });
    let mut turns = turns.into_iter().map(turn).collect::<Option<Vec<Turn>>>()?;
    turns.push(Turn { extent, ..inner });
    Some(Nest::new(whole(nest.from, from)?, whole(nest.to, to)?, turns))
}

/// Returns the nests with the second array in this layout.
fn through(nests: Vec<Nest>, held: &ElementLayout) -> Result<Vec<Nest>, String> {
    let layout = held.layout();
    if is_row_major(layout) || layout.size() == 0 {
        return Ok(nests);
    }
    let [padded, stored] = digits(layout).ok_or_else(|| {
        format!(
            "has layout `{}`, which is not a sum of strides of digits; convert it before or after",
            held.named.to_spec()
        )
    })?;
    let step = |nests: Vec<Nest>, digits: &[(u64, u64)]| {
        let all = nests.iter().map(|nest| nest.through(digits));
        let many =
            || format!("is cut into too many parts by the layout `{}`", held.named.to_spec());
        let mut found = Vec::new();
        for nests in all {
            found.extend(nests.map_err(|TooMany| many())?);
            if found.len() > MOST {
                return Err(many());
            }
        }
        Ok::<Vec<Nest>, String>(found)
    };
    let mut nests = step(step(nests, &padded)?, &stored)?;
    let offset = u64::try_from(layout.layout().offset()).unwrap_or(0);
    nests.iter_mut().for_each(|nest| nest.to = nest.to.saturating_add(offset));
    Ok(nests)
}

/// Digits of places in one order, each with its weight in another.
type Weights = Vec<(u64, u64)>;

/// Returns the digits from row-major elements to those of the padded array, and from these to storage; `None` if strides do not
/// describe the layout.
fn digits(layout: &TensorLayout) -> Option<[Weights; 2]> {
    let bare = layout.layout();
    if !layout.is_strided() || !bare.swizzle().is_identity() || bare.offset() < 0 {
        return None;
    }
    let (mut padded, mut stored) = (Vec::new(), Vec::new());
    let (mut row_major, mut radix) = (1u64, 1u64);
    for (dim, extent) in layout.extents().iter().enumerate().rev() {
        padded.push((row_major, radix));
        row_major = row_major.checked_mul(*extent)?;
        for mode in bare.axis(dim)?.iter().filter(|mode| mode.extent() > 1) {
            stored.push((radix, u64::try_from(mode.stride()).ok()?));
            radix = radix.checked_mul(mode.extent())?;
        }
    }
    padded.reverse();
    stored.reverse();
    // The rest below the last digit is 0.
    Some([padded, stored])
}

/// Returns whether elements are stored in row-major order without padding.
pub(crate) fn is_row_major(layout: &TensorLayout) -> bool {
    TensorLayout::row_major(layout.extents()).is_ok_and(|rows| {
        rows.capacity() == layout.capacity() && rows.same_function(layout) == Ok(true)
    })
}
