//! Makes the description of a tensor of the result from an assembly: its storage, its pieces, and their sources. Preparing an
//! assembly uses it.

use std::collections::BTreeSet;

use tilewright_notation::Spec;
use tilewright_recipe::{Assembly, Made, Origin, Part};

use crate::{
    Error, Input, Tensor,
    assemble::{
        apart,
        pieces::{
            self, Give, Piece, Unit,
            exact::Exact,
            nest::{Nest, Turn},
            whole::Whole,
        },
        stored::{Take, in_rows, rows},
    },
    convert::job,
    error,
    layout::{dtype, element_layout::ElementLayout},
    open::tensor::{IN_MEMORY, Piece as Stored},
};

/// The tensors of the input with the numbers of an assembly.
pub(crate) struct Known<'a> {
    pub(crate) tensors: &'a [Tensor],
    /// The tensors for which other names stand: their numbers follow those of the tensors.
    pub(crate) tied: Vec<usize>,
    /// The numbers of tensors whose elements may be rounded.
    pub(crate) rounded: BTreeSet<usize>,
}

impl<'a> Known<'a> {
    /// Returns the number of the tensor for a number of the assembly.
    pub(crate) fn number(&self, number: usize) -> Option<usize> {
        match number.checked_sub(self.tensors.len()) {
            None => Some(number),
            Some(tied) => self.tied.get(tied).copied(),
        }
    }

    pub(crate) fn tensor(&self, number: usize) -> Result<(usize, &'a Tensor), String> {
        let own = self.number(number);
        own.and_then(|own| Some((own, self.tensors.get(own)?))).ok_or_else(|| {
            format!("is made of the missing tensor {number} of {}", self.tensors.len())
        })
    }
}

/// Returns a tensor of the result, and the way it is made. The format of the result stores a byte order if it is `ordered`.
pub(crate) fn made(
    made: &Made,
    known: &Known<'_>,
    ordered: bool,
) -> Result<(Tensor, Whole), Error> {
    let wrong = |said: String| error::usage(format!("tensor {:?} {said}", made.name));
    let held = match unchanged(made, known) {
        Some((_, tensor)) if tensor.held.order.is_big() && tensor.refusal.is_none() && !ordered => {
            tensor.held.little().map_err(wrong)?
        }
        Some((number, tensor)) => return Ok(copied(&made.name, number, tensor)),
        None => held(made, known, ordered)?,
    };
    let whole = whole(&made.parts, &held, known).map_err(wrong)?;
    let len = held.bytes().ok_or_else(|| wrong("takes more than 2^63 bytes".into()))?;
    let storage = held.named.storage_shape();
    let pieces = vec![Stored::whole(0, 0, len, &held)];
    let (name, file_dtype) = (made.name.clone(), IN_MEMORY.to_owned());
    let (file_dims, noted, refusal) = (None, None, None);
    let tensor = Tensor { name, file_dtype, storage, file_dims, held, noted, refusal, pieces, len };
    Ok((tensor, whole))
}

/// Returns the tensor that becomes the result unchanged: with the same name and a place for each element, or without a layout by
/// which it could be moved.
pub(crate) fn unchanged<'a>(made: &Made, known: &Known<'a>) -> Option<(usize, &'a Tensor)> {
    let [Part { origin: Origin::Source { tensor, offset: 0 }, offset: 0, digits }] =
        made.parts.as_slice()
    else {
        return None;
    };
    let (number, tensor) = known.tensor(*tensor).ok()?;
    let size = made.extents.iter().copied().fold(1, u64::saturating_mul);
    let turns = digits.iter().map(|it| Turn { extent: it.extent, from: it.source, to: it.made });
    let nest = Nest::new(0, 0, turns);
    let plain =
        made.layout.is_none() && tensor.dtype() == made.dtype && tensor.dims() == made.extents;
    // Torch's expanded tensors have several elements in one place, which files do not store.
    let kept = tensor.name == made.name && tensor.held.layout().injective() != Ok(false);
    let own = kept || tensor.refusal.is_some() || tensor.held.tables().is_some();
    (plain && own && nest.size() == size && nest.run() == size).then_some((number, tensor))
}

/// Returns a tensor of a result whose bytes are those of a tensor.
pub(crate) fn copied(name: &str, number: usize, tensor: &Tensor) -> (Tensor, Whole) {
    let len = tensor.len;
    let nest = Nest::new(0, 0, [Turn { extent: len, from: 1, to: 1 }]);
    let take = Take { tensor: number, rows: false };
    let piece = Piece { give: Give::Tensor(take, 1), exact: Exact::Same, nest };
    let pieces = if len > 0 { vec![piece] } else { Vec::new() };
    let whole = Whole { width: 1, units: len, fill: vec![0], pieces, layout: None };
    let stored = Stored::whole(0, 0, len, &tensor.held);
    // Its own type is kept only if no other names it: its note is written anew.
    let file_dtype = match tensor.refusal {
        Some(_) => tensor.file_dtype.clone(),
        None => IN_MEMORY.to_owned(),
    };
    let tensor =
        Tensor { name: name.to_owned(), file_dtype, pieces: vec![stored], ..tensor.clone() };
    (tensor, whole)
}

/// Returns the layout of a tensor of the result.
fn held(made: &Made, known: &Known<'_>, ordered: bool) -> Result<ElementLayout, Error> {
    let name = &made.name;
    let wrong = |said: String| error::usage(format!("tensor {name:?} {said}"));
    // Elements narrower than a byte stay packed.
    let bits = made.parts.iter().find_map(|part| match part.origin {
        Origin::Source { tensor, .. } => {
            known.tensor(tensor).ok().filter(|(_, it)| it.held.dtype == made.dtype)
        }
        Origin::Fill(_) => None,
    });
    let bits = bits.map(|(_, tensor)| tensor.held.bits);
    let rows = rows(&made.extents, made.dtype, bits).map_err(wrong)?;
    let Some(text) = &made.layout else { return Ok(rows) };
    let spec = Spec::parse(text)
        .map_err(|error| wrong(format!("should have layout {text:?}: {}", error.message())))?;
    let held =
        job::target(name, &rows, &spec, (None, true), (false, &()))?.map_err(error::usage)?;
    if held.order.is_big() && !ordered {
        let said = format!(
            "should have layout {text:?}: its elements are big-endian, which the format of the result does not store"
        );
        return Err(wrong(said));
    }
    if held.layout().injective() != Ok(true) {
        let said = format!("should have layout {text:?}, where elements share storage, or may");
        return Err(wrong(said));
    }
    Ok(held)
}

/// Returns a stored tensor from its parts: over its storage or, if loops do not describe its layout, by rows.
pub(crate) fn whole(
    parts: &[Part],
    held: &ElementLayout,
    known: &Known<'_>,
) -> Result<Whole, String> {
    let own = if pieces::is_direct(held) { Some(direct(parts, held, known)) } else { None };
    match own {
        // A layout may cut this tensor into too many loops.
        Some(Err(_)) if !pieces::is_row_major(held.layout()) => {}
        Some(own) => return own,
        None => {}
    }
    let rows = direct(parts, &in_rows(held)?, known)?;
    Ok(Whole { layout: Some(held.clone()), ..rows })
}

/// Returns a tensor whose layout loops describe.
fn direct(parts: &[Part], held: &ElementLayout, known: &Known<'_>) -> Result<Whole, String> {
    let unit = Unit::of(held)?;
    let units = held.bytes().ok_or("takes more than 2^63 bytes")? / unit.bytes.max(1);
    let size = held.dims().iter().copied().fold(1, u64::saturating_mul);
    let mut pieces = Vec::new();
    let mut given = 0u64;
    for part in parts {
        let source = match part.origin {
            Origin::Source { tensor, .. } => Some(known.tensor(tensor)?),
            Origin::Fill(_) => None,
        };
        let elements = source.map(|(_, it)| it.dims().iter().copied().fold(1, u64::saturating_mul));
        let nest = pieces::nest((part.origin, part.offset, &part.digits), (elements, size))?;
        given = given.saturating_add(nest.size());
        if nest.size() > 0 {
            let rounds = source.is_some_and(|(number, _)| known.rounded.contains(&number));
            pieces.extend(stored((part.origin, source, rounds), &nest, (held, unit))?);
        }
    }
    if given != size {
        return Err(format!("has {size} elements, and its parts give {given}"));
    }
    apart::check(parts)?;
    pieces.sort_by_key(|piece| piece.nest.to);
    Ok(Whole { width: unit.bytes, units, fill: fill(held, unit)?, pieces, layout: None })
}

/// Returns the pieces of a part over storage.
fn stored(
    (origin, source, rounds): (Origin, Option<(usize, &Tensor)>, bool),
    nest: &Nest,
    (held, unit): (&ElementLayout, Unit),
) -> Result<Vec<Piece>, String> {
    let Some((number, tensor)) = source else {
        let Origin::Fill(bits) = origin else { return Ok(Vec::new()) };
        let give = Give::Fill(repeated(bits.into(), held, unit));
        let nests = pieces::stored(nest, (None, unit), (held, unit))?;
        let piece = |nest| Piece { give: give.clone(), exact: Exact::Same, nest };
        return Ok(nests.into_iter().map(piece).collect());
    };
    let name = &tensor.name;
    if let Some(refusal) = &tensor.refusal {
        return Err(format!("is made of {name:?}: {refusal}"));
    }
    let direct = pieces::is_direct(&tensor.held);
    if direct && pieces::is_row_major(tensor.held.layout()) {
        return read((number, tensor, rounds), false, nest, (held, unit));
    }
    let read = |rows| read((number, tensor, rounds), rows, nest, (held, unit));
    let own = if direct { read(false).ok() } else { None };
    own.map_or_else(|| read(true), Ok)
}

/// Returns the pieces of a part of a tensor that is read in its storage, or in rows.
fn read(
    (number, tensor, rounds): (usize, &Tensor, bool),
    rows: bool,
    nest: &Nest,
    (held, unit): (&ElementLayout, Unit),
) -> Result<Vec<Piece>, String> {
    let (name, take) = (&tensor.name, Take { tensor: number, rows });
    let own = &if rows { in_rows(&tensor.held)? } else { tensor.held.clone() };
    let exact = Exact::of(own.dtype, held.dtype).ok_or_else(|| {
        let (is, to) = (own.dtype, held.dtype);
        format!("has elements of {to}, and {name:?} has {is}: recipes move values and do not compute; only bf16 or f16 to f32, and back, are exact")
    })?;
    let exact = if rounds { exact.rounded() } else { exact };
    let from = Unit::of(own).map_err(|said| format!("is made of {name:?}: {said}"))?;
    if exact == Exact::Same && own.bits != held.bits {
        return Err(format!("has elements of {} bits, and {name:?} has {}", held.bits, own.bits));
    }
    let give = Give::Tensor(take, from.bytes);
    let nests = pieces::stored(nest, (Some(own), from), (held, unit))?;
    Ok(nests.into_iter().map(|nest| Piece { give: give.clone(), exact, nest }).collect())
}

/// Returns the value of the layout's padding: the bytes of a unit.
fn fill(held: &ElementLayout, unit: Unit) -> Result<Vec<u8>, String> {
    let fill = held.named.fill();
    let bits = held.dtype.stored_fill(fill, held.bits, held.order);
    let bits =
        bits.map_err(|error| format!("is filled with {}: {error}", dtype::fill_text(fill)))?;
    Ok(repeated(bits, held, unit))
}

/// Returns the bytes of a unit of elements with these bits.
fn repeated(bits: u128, held: &ElementLayout, unit: Unit) -> Vec<u8> {
    let narrow = held.bits < 8;
    let bits = match narrow {
        true => (0..unit.elements).fold(0u128, |all, nth| {
            all | (bits & ((1 << held.bits) - 1)) << (nth as u32 * held.bits)
        }),
        false => bits,
    };
    let mut bytes = bits.to_le_bytes().to_vec();
    bytes.resize(unit.bytes as usize, 0);
    bytes
}

/// Returns the tensors of an input, and the names that stand for some of them.
pub(crate) fn known<'a>(input: &'a Input, assembly: &Assembly) -> Known<'a> {
    let place = |tensor: &Tensor| input.tensors().iter().position(|own| std::ptr::eq(own, tensor));
    let tied = input.tied().filter_map(|(_, tensor)| place(tensor)).collect();
    let mut known = Known { tensors: input.tensors(), tied, rounded: BTreeSet::new() };
    known.rounded = assembly.rounded.iter().filter_map(|number| known.number(*number)).collect();
    known
}
