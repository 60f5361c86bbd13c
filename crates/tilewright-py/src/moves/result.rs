//! The array that a move returns: its shape, its element type, and the order in which it lists its extents. Moves,
//! reads and loads create it.
//!
//! Law: the bytes are the same in both orders. `C` lists the extents of the storage outermost first, as files do; `F`
//! lists them innermost first, in Fortran's order, so that the array in `F` is the transpose of the one in `C`.

use pyo3::{
    prelude::*,
    types::{PyString, PyTuple},
};
use tilewright::{Dtype, ResolvedLayout};

use crate::{
    arguments::{TextArgument, quoted},
    errors::refused,
    foreign::{Facts, Family, Memory},
};

/// The form of results.
pub(crate) struct ResultForm {
    /// The extents of the storage, outermost first; packed elements count as bytes.
    pub(crate) shape: Vec<u64>,
    /// The order in which the array lists them.
    order: ResultOrder,
    element: Element,
    /// The width of a stored element.
    pub(crate) bits: u32,
    /// The element type that an output must have, if it is known.
    dtype: Option<Dtype>,
    /// True if the elements have the other byte order, like those of the source.
    swapped: bool,
}

/// The element type of a result.
enum Element {
    /// The element type of the source.
    Own,
    /// The element type with this NumPy name.
    Named(&'static str),
}

impl ResultForm {
    /// Returns the form of a result in this layout: in the words in which it is stored, or in elements of `bits` bits of the
    /// source's type.
    pub(crate) fn of(
        facts: Option<&Facts>,
        dtype: Option<Dtype>,
        bits: u32,
        to: &ResolvedLayout,
        order: ResultOrder,
    ) -> ResultForm {
        match to.stored_as() {
            Some(words) => ResultForm::new(
                facts,
                Some(words.dtype()),
                words.bits(),
                words.shape().to_vec(),
                order,
            ),
            None => ResultForm::new(facts, dtype, bits, to.storage_shape(), order),
        }
    }

    /// Returns the form for elements of `dtype`, stored in `bits` bits, from a source with these facts.
    pub(crate) fn new(
        facts: Option<&Facts>,
        dtype: Option<Dtype>,
        bits: u32,
        mut shape: Vec<u64>,
        order: ResultOrder,
    ) -> ResultForm {
        let fits = dtype.filter(|dtype| dtype.storage_bits() == Some(bits));
        let same = facts
            .is_some_and(|facts| facts.bits() == bits && (fits.is_none() || facts.dtype == fits));
        let element = match (fits.and_then(Dtype::array_name), bits) {
            _ if same => Element::Own,
            (Some(name), _) => Element::Named(name),
            (None, 16) => Element::Named("uint16"),
            (None, 32) => Element::Named("uint32"),
            (None, 64) => Element::Named("uint64"),
            (None, _) => {
                shape = packed(&shape, bits);
                Element::Named("uint8")
            }
        };
        let swapped = facts.is_some_and(|facts| facts.swapped);
        ResultForm { shape, order, element, bits, dtype: fits, swapped }
    }

    /// Returns whether elements have the other byte order, which a new array would not record.
    pub(crate) fn loses_order(&self) -> bool {
        self.swapped && matches!(self.element, Element::Named(_))
    }

    /// Returns a new array for the result, of the source's library.
    pub(crate) fn empty<'py>(
        &self,
        py: Python<'py>,
        source: &Memory,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dtype = match (&self.element, &source.own_dtype) {
            (Element::Own, Some(own)) => own.bind(py).clone(),
            (Element::Own, None) => {
                let name = source.facts.dtype.and_then(Dtype::array_name).unwrap_or("uint8");
                PyString::new(py, name).into_any()
            }
            (Element::Named(name), _) => PyString::new(py, name).into_any(),
        };
        let made = source.empty(&self.shape, &dtype)?;
        let turn = if source.family == Family::Torch { "permute" } else { "transpose" };
        match self.order {
            ResultOrder::C => Ok(made),
            ResultOrder::F => {
                made.call_method1(turn, (PyTuple::new(py, (0..self.shape.len()).rev())?,))
            }
        }
    }

    /// Returns whether the caller requested extents listed innermost first.
    pub(crate) fn is_turned(&self) -> bool {
        self.order == ResultOrder::F
    }

    /// Returns the shape of a new array.
    pub(crate) fn listed(&self) -> Vec<u64> {
        self.order.listed(&self.shape)
    }

    /// Returns the NumPy name of the element type of a new array, if it differs from the source's.
    pub(crate) fn element(&self) -> Option<&'static str> {
        match self.element {
            Element::Own => None,
            Element::Named(name) => Some(name),
        }
    }

    /// Returns the element type that an output must have, if it has a name.
    pub(crate) fn dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// Refuses an output of other elements; bytes are always accepted.
    pub(crate) fn check(&self, py: Python<'_>, source: &Memory, out: &Memory) -> PyResult<()> {
        let facts = &out.facts;
        let is_bytes = facts.itemsize == 1 && facts.dtype.is_none_or(|dtype| dtype == Dtype::U8);
        if is_bytes {
            return Ok(());
        }
        let same = match (self.dtype, facts.dtype, source.facts.dtype) {
            (Some(wanted), given, _) => Some(wanted) == given,
            // The type of the elements has no name: they come from a storage, or have another width than the source's.
            (None, _, Some(_)) => true,
            (None, None, None) => source.is_of_type(py, out)?,
            (None, Some(_), None) => false,
        };
        if facts.bits() == self.bits && same && facts.swapped == self.swapped {
            return Ok(());
        }
        let name = |dtype: Option<Dtype>, bits, swapped| {
            let order = if swapped { "big-endian " } else { "" };
            let name =
                dtype.map_or_else(|| format!("{bits} bits"), |dtype| dtype.name().to_owned());
            format!("{order}{name}")
        };
        let wanted = name(self.dtype, self.bits, self.swapped);
        let given = name(facts.dtype, facts.bits(), facts.swapped);
        let says = match wanted == given {
            true => "an output of another element type of the same width".to_owned(),
            false => format!("an output of {given} but the result has {wanted}"),
        };
        Err(refused("dtype", says))
    }
}

/// Returns the shape in bytes of elements that do not have whole bytes, or a common width.
pub(crate) fn packed(shape: &[u64], bits: u32) -> Vec<u64> {
    let bits = u64::from(bits);
    match shape.split_last() {
        Some((last, outer)) if last.saturating_mul(bits).is_multiple_of(8) => {
            [outer, &[last.saturating_mul(bits) / 8]].concat()
        }
        _ => {
            let size = shape.iter().fold(1u64, |size, extent| size.saturating_mul(*extent));
            vec![size.saturating_mul(bits).div_ceil(8)]
        }
    }
}

/// The order of extents of a new array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum ResultOrder {
    #[default]
    C,
    F,
}

impl ResultOrder {
    /// Returns the order for NumPy's letter.
    pub(crate) fn of(letter: Option<TextArgument>) -> PyResult<ResultOrder> {
        match TextArgument::given("order", letter)?.as_deref() {
            None | Some("C") => Ok(ResultOrder::C),
            Some("F") => Ok(ResultOrder::F),
            Some(other) => {
                let other = quoted(other);
                let says = format!("order= takes 'C' (outermost extent first) or 'F', not {other}");
                Err(refused("arguments", says))
            }
        }
    }

    /// Returns the extents of a storage, outermost first, in the order of an array.
    pub(crate) fn listed(self, shape: &[u64]) -> Vec<u64> {
        match self {
            ResultOrder::C => shape.to_vec(),
            ResultOrder::F => shape.iter().rev().copied().collect(),
        }
    }
}
