//! Checks elements that a result stores in fewer bits: none may lose its value without an error. Plans to narrower elements and
//! fingerprints use it.
//!
//! Law: an element stored in fewer bits is read as the same number again. Integers are checked before they are moved; floats have
//! no spare bits, so every float would change and is refused.

use pyo3::prelude::*;
use tilewright::{
    Dtype, TensorLayout,
    layouts::DtypeKind,
    relayout::{Cut, Elements, Extend},
};

use crate::{errors::refused, spelling::tuple};

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
            match reading.first_cut(layout, src) {
                None => return Ok(()),
                Some(cut) => first = first.or(Some(cut)),
            }
        }
        let Some(Cut { coord, value, least, most }) = first else { return Ok(()) };
        let (at, asked) = (tuple(coord.as_slice()), &self.asked);
        Err(refused(
            "dtype",
            format!("{asked} cuts element {at}, which is {value}; {least} to {most} fit"),
        ))
    }
}
