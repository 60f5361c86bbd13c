//! The arguments of a move as values that can be compared, which form the key of the plan cache. Most functions of the package
//! parse their arguments with it.

use pyo3::{prelude::*, types::PyString};
use tilewright::{ArrayLayout, Dtype, Named, Spec, files::FileLists, notation};

use crate::{
    integer::{Integer, Integers, given},
    order::ResultOrder,
    spec::{dtype_of, fill_of, spec_of},
    text::{TextArgument, text},
    values::PyTensorLayout,
};

/// The arguments of a move, without the arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ask {
    pub(crate) from: Option<Wanted>,
    pub(crate) to: Option<Wanted>,
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    /// The width of a stored element of the destination.
    pub(crate) bits: Option<u32>,
    pub(crate) fill: Option<String>,
    /// The order in which a new result lists its extents.
    pub(crate) order: ResultOrder,
}

/// A layout argument as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    /// A SPEC.
    Text(String),
    /// A layout that is already parsed.
    Read(Box<Named>),
}

impl Wanted {
    /// Returns the layout of an argument.
    pub(crate) fn of(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if value.is_instance_of::<PyString>() {
            return text(argument, value).map(Wanted::Text);
        }
        if let Ok(tensor) = value.cast::<PyTensorLayout>() {
            return Ok(Wanted::Read(Box::new(tensor.get().0.clone())));
        }
        spec_of(argument, value).map(|spec| Wanted::Text(spec.to_string()))
    }

    /// Returns the layout for these dims and this element type.
    pub(crate) fn resolve(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<Named, notation::Error> {
        match self {
            Wanted::Text(text) => Spec::parse(text)?.resolve(dims, dtype),
            Wanted::Read(read) => {
                let own = read.dtype();
                let agrees = dims.is_none_or(|dims| dims == read.layout().extents())
                    && (own.is_none() || dtype.is_none() || own == dtype);
                let (bits, fill) = (read.explicit_bits(), read.fill());
                let named = Named::clone(read).with_elements(own.or(dtype), bits, fill);
                let named = named.with_byte_order(None);
                // The error is that of the SPEC, which names the values that disagree.
                if agrees { Ok(named) } else { Spec::parse(&named.to_spec())?.resolve(dims, dtype) }
            }
        }
    }

    /// Returns the layout for these dims and this element type, with its index tables if it has any.
    pub(crate) fn array_layout(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<ArrayLayout, notation::Error> {
        match self.spec().filter(Spec::has_tables) {
            Some(spec) => spec.array_layout(dims, dtype, &FileLists::default()),
            None => self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named)),
        }
    }

    /// Returns its SPEC; `None` for a text that does not parse.
    pub(crate) fn spec(&self) -> Option<Spec> {
        match self {
            Wanted::Text(text) => Spec::parse(text).ok(),
            Wanted::Read(read) => Spec::parse(&read.to_spec()).ok(),
        }
    }

    /// Returns the width of the element type that a layout itself names.
    pub(crate) fn dtype_bits(&self) -> Option<u32> {
        match self {
            Wanted::Text(text) => {
                let named = Spec::parse(text).and_then(|spec| spec.resolve(None, None)).ok()?;
                named.dtype().and(named.element_bits())
            }
            Wanted::Read(read) => read.dtype()?.storage_bits(),
        }
    }
}

impl Ask {
    pub(crate) fn new(
        from: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
        bits: Option<Integer<u32>>,
        fill: Option<&Bound<'_, PyAny>>,
        order: Option<TextArgument>,
    ) -> PyResult<Ask> {
        Ok(Ask {
            from: from.map(|from| Wanted::of("from_", from)).transpose()?,
            to: to.map(|to| Wanted::of("to", to)).transpose()?,
            dims: Integers::given("dims", dims)?,
            dtype: dtype.map(dtype_of).transpose()?,
            bits: given("bits", bits)?,
            fill: fill.map(fill_of).transpose()?,
            order: ResultOrder::of(order)?,
        })
    }
}
