//! Elements that a result stores in fewer bits: none loses its value in silence.
//!
//! Law: what is stored in fewer bits is the same number when it is read again. Integers are looked at before they are
//! moved; of floats, whose patterns have no bits to spare, every one would be another number.

use pyo3::prelude::*;
use tilewright::{
    Dtype, TensorLayout,
    layouts::DtypeKind,
    relayout::{Cut, Elements, Extend},
};

use crate::{errors::refused, spelling::tuple};

/// What the elements of a source are checked for before they are moved.
pub(crate) struct Narrow {
    /// The readings of an element as a number: one of them has to fit all.
    readings: Vec<Elements>,
    /// How the width was asked for, in words.
    asked: String,
}

impl Narrow {
    /// The check of elements of `dtype` that come in an array of the type `own`, if there is one and its type is known;
    /// `None` where nothing is lost. `by_bits` says that the argument `bits=` asked for the width.
    pub(crate) fn of(
        elements: Elements,
        dtype: Option<Dtype>,
        own: Option<Option<Dtype>>,
        by_bits: bool,
    ) -> PyResult<Option<Narrow>> {
        let Elements { src_bits, dst_bits, .. } = elements;
        let needs = dtype.and_then(Dtype::bits);
        let is_bool = dtype.is_some_and(|dtype| dtype.kind() == DtypeKind::Bool);
        // Bits above those of a type that the array itself does not have are no part of its values.
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
                "{asked} cuts every element of {dtype}, which has {needs}; only integers are packed"
            );
            return Err(refused("dtype", says));
        }
        // An array of this very type: the other bits are no part of a value, but of a truth value's, which is any but 0.
        if fits && !is_bool && own.is_some_and(|own| own == dtype) {
            return Ok(None);
        }
        let signed = elements.extend == Extend::Sign;
        let elements = Elements { dst_bits: least, ..elements };
        let mut readings = vec![elements];
        // Patterns of signed numbers in an array of unsigned ones, or of bytes, are often without their sign.
        let own = own.flatten();
        if signed && own.is_none_or(|own| !own.is_signed_integer()) {
            readings.push(Elements { extend: Extend::Zero, ..elements });
        }
        Ok(Some(Narrow { readings, asked }))
    }

    /// Refuses bytes of a source with an element that loses its value, and names the first.
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
