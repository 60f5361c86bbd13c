//! Prepares a move: the arguments and an array's facts become a plan, the requirements on a source, and the form of the
//! result. `relayout`, `Plan`, `save` and fingerprints use it.
//!
//! The array's dims and strides are the source's layout; with `from_`, its bytes are a storage in that layout. All
//! decisions are made here; a run only checks that the arrays are those for which the plan was made.
//!
//! Checks elements that a result stores in fewer bits: none may lose its value without an error. Plans to narrower
//! elements and fingerprints use it.
//!
//! Law: an element stored in fewer bits is read as the same number again. Integers are checked before they are moved;
//! floats have no spare bits, so every float would change and is refused.

use std::sync::OnceLock;

use pyo3::prelude::*;
use tilewright::{
    ArrayLayout, Dtype, Fill, ResolvedLayout, TensorLayout,
    cuda::Move,
    layouts::{ByteOrder, DtypeKind},
    relayout::{Elements, Extend, LossyElement, Plan, Program},
};

use super::result::{ResultForm, packed};
use crate::{
    arguments::{
        ask::{Ask, Wanted, parsed_fill},
        tuple,
    },
    errors::{Raised, refused},
    foreign::{Facts, Memory, device},
};

/// Distinct extents that no tile divides.
const EXTENTS: [u64; 8] = [11, 13, 17, 19, 23, 29, 31, 37];

/// A plan with the requirements on its source and the form of its result.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) source: Source,
    pub(crate) form: ResultForm,
    pub(crate) from: ArrayLayout,
    pub(crate) to: ArrayLayout,
    /// The check of elements that lose bits.
    pub(crate) narrow: Option<Narrow>,
    /// True if the destination is the output's own layout, not a storage.
    pub(crate) own_order: bool,
    /// The kernels, created when an array on a device is moved.
    pub(crate) kernels: OnceLock<Move>,
    generation: u32,
}

/// The requirements on the source.
pub(crate) enum Source {
    /// Exactly this shape and these strides.
    Array(Facts),
    /// `bytes` contiguous bytes, in an array that lists this shape outermost first, or in Fortran's order in reverse. Its
    /// elements have this type, with the other byte order if `swapped`.
    Storage { bytes: u64, shape: Vec<u64>, dtype: Option<Dtype>, bits: u32, swapped: bool },
}

/// One side of a move: the layout, and the stored width of its elements.
pub(crate) struct Side {
    pub(crate) array: ArrayLayout,
    pub(crate) bits: u32,
}

impl Side {
    /// Returns a side without index tables.
    fn of(named: ResolvedLayout, bits: u32) -> Side {
        Side { array: ArrayLayout::of(&named), bits }
    }

    /// Returns the layout of what is stored: below the index tables, if there are any.
    pub(crate) fn stored(&self) -> &ResolvedLayout {
        self.array.stored()
    }
}

impl Source {
    fn storage(side: &Side, facts: Option<&Facts>) -> PyResult<Source> {
        let swapped = facts.is_some_and(|facts| facts.swapped);
        if let Some(words) = side.stored().stored_as() {
            let (dtype, bits, shape) = (Some(words.dtype()), words.bits(), words.shape().to_vec());
            return Ok(Source::Storage { bytes: bytes(side)?, shape, dtype, bits, swapped });
        }
        let (dtype, bits) = (side.stored().dtype(), side.bits);
        let mut shape = side.stored().storage_shape();
        // Elements without whole bytes are passed as bytes, and any others may be.
        if facts.map_or(bits % 8 != 0, |facts| facts.bits() != bits) {
            shape = packed(&shape, bits);
        }
        Ok(Source::Storage { bytes: bytes(side)?, shape, dtype, bits, swapped })
    }
}

impl Prepared {
    /// Prepares the move of an array with these facts; `out` is an output whose own layout is the destination, if any.
    pub(crate) fn new(ask: &Ask, facts: &Facts, out: Option<&Memory>) -> PyResult<Prepared> {
        let (from, form) = read(ask, facts)?;
        Prepared::between(ask, from, form, Some(facts), out)
    }

    /// Prepares the move of storages in a layout that is known without an array.
    pub(crate) fn alone(ask: &Ask, from: &Wanted) -> PyResult<Prepared> {
        let from = stored(from, ask, None)?;
        let source = Source::storage(&from, None)?;
        Prepared::between(ask, from, source, None, None)
    }

    fn between(
        ask: &Ask,
        from: Side,
        source: Source,
        facts: Option<&Facts>,
        out: Option<&Memory>,
    ) -> PyResult<Prepared> {
        let to = target(ask, &from, out)?;
        let swapped = facts.is_some_and(|facts| facts.swapped);
        if swapped && from.bits != to.bits {
            let says = "big-endian elements keep their width; make the array little-endian first";
            return Err(refused("unsupported", says));
        }
        let extend = from.stored().dtype().map_or(Extend::Zero, extend);
        let elements = Elements { src_bits: from.bits, dst_bits: to.bits, extend };
        let own = facts.map(|facts| facts.dtype);
        let narrow = Narrow::of(elements, from.stored().dtype(), own, ask.bits.is_some())?;
        let fill = fill(ask, &from, &to)?;
        if swapped && fill != 0 {
            let says = "padding of big-endian elements is zero; make the array little-endian first";
            return Err(refused("unsupported", says));
        }
        let program = Program::of_arrays(from.array.layout(), to.array.layout(), elements, fill);
        let plan = program.map(Plan::of).raised()?;
        let form = ResultForm::of(facts, from.stored().dtype(), to.bits, to.stored(), ask.order);
        if form.loses_order() {
            let says = "big-endian elements keep their type; make the array little-endian first";
            return Err(refused("unsupported", says));
        }
        let generation = device::generation();
        let own_order = ask.to.is_none();
        let (from, to) = (from.array, to.array);
        let kernels = OnceLock::new();
        Ok(Prepared { plan, source, form, from, to, narrow, own_order, kernels, generation })
    }

    /// Returns the plan, with threads of this process.
    pub(crate) fn plan(&self) -> Plan {
        device::own(&self.plan, self.generation)
    }
}

/// Returns the content of the bits above a value.
pub(crate) fn extend(dtype: Dtype) -> Extend {
    if dtype.is_signed_integer() { Extend::Sign } else { Extend::Zero }
}

/// Returns the layout of an array with these facts as a source, and the requirements on it.
pub(crate) fn read(ask: &Ask, facts: &Facts) -> PyResult<(Side, Source)> {
    match &ask.from {
        Some(wanted) => {
            let side = stored(wanted, ask, Some(facts))?;
            let source = Source::storage(&side, Some(facts))?;
            Ok((side, source))
        }
        None => Ok((seen(facts, ask)?, Source::Array(facts.clone()))),
    }
}

/// Returns the layout of the array itself.
fn seen(facts: &Facts, ask: &Ask) -> PyResult<Side> {
    if let Some(dims) = &ask.dims
        && *dims != facts.shape
    {
        let (dims, shape) = (tuple(dims), tuple(&facts.shape));
        let says = format!("dims={dims} of an array of shape {shape}; for a storage, give from_=");
        return Err(refused("mismatch", says));
    }
    let bits = facts.bits();
    if let Some(dtype) = ask.dtype
        && dtype.storage_bits() != Some(bits)
    {
        let says = format!("dtype={dtype} of elements of {bits} bits");
        return Err(refused("dtype", says));
    }
    let dtype = ask.dtype.or(facts.dtype);
    let odd = (dtype.and_then(Dtype::storage_bits) != Some(bits)).then_some(bits);
    let named = ResolvedLayout::new("", facts.layout()?, dtype, odd, Fill::Unspecified);
    Ok(Side::of(named, bits))
}

/// Returns a storage in a given layout.
fn stored(wanted: &Wanted, ask: &Ask, facts: Option<&Facts>) -> PyResult<Side> {
    if let Some(named) = facts.map(|facts| in_words(wanted, ask, facts)).transpose()?.flatten() {
        let bits = named.element_bits().unwrap_or(8);
        return Ok(Side::of(named, bits));
    }
    let listed = match (&ask.dims, facts) {
        (None, Some(facts)) => ordered(wanted, facts, ask.dtype),
        _ => None,
    };
    let dims = ask.dims.as_deref().or(listed.as_deref());
    let array = match (wanted.array_layout(dims, ask.dtype), facts.and_then(|facts| facts.dtype)) {
        (Err(error), Some(dtype)) if error.needs_dtype() => wanted.array_layout(dims, Some(dtype)),
        (resolved, _) => resolved,
    };
    let array = array.raised()?;
    let named = array.stored().clone();
    let width = facts.map(Facts::bits);
    let Some(bits) = named.element_bits().or(width).or(ask.bits) else {
        let says = "the width of an element is not known; give dtype=, or a layout that states it";
        return Err(refused("needs-dtype", says));
    };
    if let Some(width) = width
        && width != bits
        && width != 8
    {
        let says = format!("elements of {width} bits where {} has {bits}", named.to_spec());
        return Err(refused("dtype", says));
    }
    let dtype = named.dtype().or(ask.dtype).or(facts.and_then(|facts| facts.dtype));
    let (odd, fill) = (named.explicit_bits(), named.fill());
    let named = named.with_elements(dtype, odd, fill);
    Ok(Side { array: array.with_stored(named), bits })
}

/// Returns the layout of an array whose stored elements are words that hold the layout's elements.
fn in_words(wanted: &Wanted, ask: &Ask, facts: &Facts) -> PyResult<Option<ResolvedLayout>> {
    let spec = wanted.spec().filter(|spec| !spec.has_tables());
    let (Some(word), Some(spec)) = (facts.dtype, spec) else { return Ok(None) };
    // Bytes may be any storage, in any shape: they are words only if the layout says so, or needs their shape.
    let known = spec.is_concrete() || ask.dims.is_some();
    if spec.words_dtype().is_none() && known && facts.bits() == 8 {
        return Ok(None);
    }
    let found = spec.in_words((word, &facts.shape), ask.dims.as_deref(), ask.dtype).raised()?;
    if found.is_none() && !known && ask.dtype.is_none() && spec.fits(facts.shape.len()) {
        // A format that does not accept such elements reports those that it accepts.
        spec.resolve(Some(&facts.shape), facts.dtype).map(drop).or_else(|error| {
            match error.is_mismatch() {
                true => Err(error).raised(),
                false => Ok(()),
            }
        })?;
    }
    if found.is_some() && facts.swapped {
        let says = "words that hold elements are little-endian; make the array little-endian first";
        return Err(refused("unsupported", says));
    }
    Ok(found)
}

/// Returns the dims of an array that is a storage in a layout without dims of its own, if the array's shape determines them: the
/// layout maps every dim to one extent of the storage, whole and without padding.
///
/// Distinct extents show the extent of each dim in the storage. Two sets of them show that no tile happens to equal one of the
/// extents.
fn ordered(wanted: &Wanted, facts: &Facts, dtype: Option<Dtype>) -> Option<Vec<u64>> {
    let dtype = dtype.or(facts.dtype);
    if facts.shape.len() > EXTENTS.len() || wanted.resolve(None, dtype).is_ok() {
        return None;
    }
    // An array in Fortran's order may be a storage listed in reverse, or the transpose of one: the shape does not determine
    // which.
    if facts.is_col_major() && !facts.is_row_major() {
        return None;
    }
    let shape = facts.shape.clone();
    let stored = |dims: &[u64]| {
        let named = wanted.resolve(Some(dims), dtype).ok()?;
        let whole = named.element_bits().is_none_or(|bits| bits == facts.bits());
        let layout = named.layout();
        (whole && layout.padding() == 0).then(|| named.storage_shape())
    };
    let order = |dims: &[u64]| {
        let stored = stored(dims)?;
        let at = |dim: &u64| stored.iter().position(|extent| extent == dim);
        let order = dims.iter().map(at).collect::<Option<Vec<usize>>>()?;
        (order.len() == stored.len()).then_some(order)
    };
    let mut probe = EXTENTS[..shape.len()].to_vec();
    let found = order(&probe)?;
    probe.reverse();
    let dims: Vec<u64> = found.iter().map(|at| shape[*at]).collect();
    (order(&probe)? == found && stored(&dims)? == shape).then_some(dims)
}

/// Returns the destination of the elements: the requested layout, else the layout of the output.
fn target(ask: &Ask, from: &Side, out: Option<&Memory>) -> PyResult<Side> {
    let extents = from.array.layout().extents();
    let dtype = from.stored().dtype();
    let Some(wanted) = &ask.to else {
        let Some(out) = out else {
            return Err(refused(
                "usage",
                "no layout to move to; give to=, or an array with a layout as out=",
            ));
        };
        let layout = whole(out)?;
        let bits = out.facts.bits();
        let named = ResolvedLayout::new("", layout, dtype, Some(bits), Fill::Unspecified);
        return Ok(Side::of(named, bits));
    };
    let array = wanted.array_layout(Some(extents), dtype).raised()?;
    let named = array.stored();
    let words = named.stored_as().and(named.element_bits());
    if let (Some(asked), Some(own)) = (ask.bits, words)
        && asked != own
    {
        let spec = named.to_spec();
        return Err(refused(
            "mismatch",
            format!("bits={asked} where {spec} has elements of {own}"),
        ));
    }
    let said = words.or(named.explicit_bits()).or_else(|| wanted.dtype_bits());
    let bits = ask.bits.or(said).unwrap_or(from.bits);
    Ok(Side { array, bits })
}

/// Returns the layout of an output, all of whose bytes must be its elements, because a run writes every one of them.
fn whole(out: &Memory) -> PyResult<TensorLayout> {
    let (size, span) = (out.facts.size(), out.span());
    if size.saturating_mul(out.itemsize() as u64) != span as u64 {
        let shape = tuple(out.shape());
        return Err(refused(
            "copy",
            format!(
                "an output of shape {shape} that is a part of a larger array, or repeats elements: its \
                 {size} elements reach over {span} bytes; give a whole array"
            ),
        ));
    }
    out.layout()
}

/// Returns the number of bytes of a storage.
fn bytes(side: &Side) -> PyResult<u64> {
    let bits = u128::from(side.stored().layout().capacity()) * u128::from(side.bits);
    u64::try_from(bits.div_ceil(8))
        .map_err(|_| refused("overflow", "the storage overflows 64 bits"))
}

/// Returns the bits of an element of padding.
fn fill(ask: &Ask, from: &Side, to: &Side) -> PyResult<u128> {
    let own = to.stored().fill();
    let fill = match ask.fill.as_deref().map(parsed_fill).transpose()? {
        Some(asked) if own != Fill::Unspecified && own != asked => {
            let says = format!("fill={asked} where the layout says {own}");
            return Err(refused("mismatch", says));
        }
        Some(asked) => asked,
        None => own,
    };
    match (fill, from.stored().dtype()) {
        (Fill::Unspecified | Fill::Unknown | Fill::Zero, None) => Ok(0),
        (Fill::Bits(bits), None) => Ok(bits),
        (Fill::One | Fill::Lowest | Fill::Highest, None) => {
            Err(refused("needs-dtype", "this fill depends on the element type; give dtype="))
        }
        (fill, Some(dtype)) => dtype.stored_fill(fill, to.bits, ByteOrder::Little).raised(),
    }
}

/// The check of a source's elements before they are moved.
pub(crate) struct Narrow {
    /// The interpretations of an element as a number: all elements must fit one of them.
    readings: Vec<Elements>,
    /// The argument that requested the width, for messages.
    asked: String,
}

impl Narrow {
    /// Returns the check of elements of `dtype` in an array of the type `own`, if there is an array and its type is known; `None`
    /// if nothing can be lost. `by_bits` is true if the argument `bits=` requested the width.
    pub(crate) fn of(
        elements: Elements,
        dtype: Option<Dtype>,
        own: Option<Option<Dtype>>,
        by_bits: bool,
    ) -> PyResult<Option<Narrow>> {
        let Elements { src_bits, dst_bits, .. } = elements;
        let needs = dtype.and_then(Dtype::bits);
        let is_bool = dtype.is_some_and(|dtype| dtype.kind() == DtypeKind::Bool);
        // If the array does not have the type `dtype`, bits above the type's width are not part of a value.
        let own_type = own.is_none_or(|own| own == dtype);
        let (least, by_dtype) = match needs.filter(|_| !own_type && !is_bool) {
            Some(needs) if needs < dst_bits => (needs, dtype),
            _ => (dst_bits, None),
        };
        if least >= src_bits {
            return Ok(None);
        }
        let fits = needs.is_some_and(|needs| needs <= dst_bits);
        let asked = match (by_dtype, by_bits) {
            (Some(dtype), _) => format!("dtype={dtype}"),
            (None, true) => format!("bits={dst_bits}"),
            (None, false) => format!("a layout of {dst_bits} bits per element"),
        };
        let whole = dtype.is_some_and(|dtype| {
            !matches!(dtype.kind(), DtypeKind::Bool | DtypeKind::Signed | DtypeKind::Unsigned)
        });
        if let (Some(dtype), true, false, None) = (dtype, whole, fits, by_dtype) {
            let needs = needs.unwrap_or(src_bits);
            let says = format!(
                "{asked} truncates every element of {dtype}, which has {needs}; only integers are packed"
            );
            return Err(refused("dtype", says));
        }
        // In an array of exactly this type the other bits are not part of a value, except for truth values, where any nonzero
        // number is true.
        if fits && !is_bool && own.is_some_and(|own| own == dtype) {
            return Ok(None);
        }
        let signed = elements.extend == Extend::Sign;
        let elements = Elements { dst_bits: least, ..elements };
        let mut readings = vec![elements];
        // Signed numbers in an array of unsigned ones, or of bytes, are often stored without their sign.
        let own = own.flatten();
        if signed && own.is_none_or(|own| !own.is_signed_integer()) {
            readings.push(Elements { extend: Extend::Zero, ..elements });
        }
        Ok(Some(Narrow { readings, asked }))
    }

    /// Refuses a source with an element that loses its value, and names the first one.
    pub(crate) fn check(&self, layout: &TensorLayout, src: &[u8]) -> PyResult<()> {
        let mut first = None;
        for reading in &self.readings {
            match reading.first_lossy(layout, src) {
                None => return Ok(()),
                Some(cut) => first = first.or(Some(cut)),
            }
        }
        let Some(LossyElement { coord, value, least, most }) = first else { return Ok(()) };
        let (at, asked) = (tuple(coord.as_slice()), &self.asked);
        Err(refused(
            "dtype",
            format!("{asked} cuts element {at}, which is {value}; {least} to {most} fit"),
        ))
    }
}
