//! The arguments of a move as values that can be compared: the key of the plan cache.

use pyo3::{prelude::*, types::PyString};
use tilewright::{Dtype, Fill, Named, Spec, TensorLayout, notation};

use crate::{
    integer::{Integer, Integers, given},
    order::Order,
    spec::{dtype_of, fill_of, spec_of},
    text::{Text, text},
    values::PyTensorLayout,
};

/// The arguments of a move, but for the arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ask {
    pub(crate) from: Option<Wanted>,
    pub(crate) to: Option<Wanted>,
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    /// The width of a stored element of the destination.
    pub(crate) bits: Option<u32>,
    pub(crate) fill: Option<String>,
    /// How a new result lists its extents.
    pub(crate) order: Order,
}

/// A layout as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    /// A SPEC.
    Text(String),
    /// A layout that is read already.
    Read(Box<Read>),
}

/// A layout with what is known of its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Read {
    name: String,
    layout: TensorLayout,
    dtype: Option<Dtype>,
    bits: Option<u32>,
    fill: Fill,
}

impl Wanted {
    /// The layout that this argument is.
    pub(crate) fn of(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if value.is_instance_of::<PyString>() {
            return text(argument, value).map(Wanted::Text);
        }
        if let Ok(tensor) = value.cast::<PyTensorLayout>() {
            let named = &tensor.get().0;
            return Ok(Wanted::Read(Box::new(Read {
                name: named.name().to_owned(),
                layout: named.layout().clone(),
                dtype: named.dtype(),
                bits: named.explicit_bits(),
                fill: named.fill(),
            })));
        }
        spec_of(argument, value).map(|spec| Wanted::Text(spec.to_string()))
    }

    /// The layout for these dims and this element type.
    pub(crate) fn resolve(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<Named, notation::Error> {
        match self {
            Wanted::Text(text) => Spec::parse(text)?.resolve(dims, dtype),
            Wanted::Read(read) => {
                let Read { name, layout, bits, fill, .. } = &**read;
                let agrees = dims.is_none_or(|dims| dims == layout.extents())
                    && (read.dtype.is_none() || dtype.is_none() || read.dtype == dtype);
                let named =
                    Named::new(name.clone(), layout.clone(), read.dtype.or(dtype), *bits, *fill);
                // The refusal is that of the SPEC, which names what disagrees.
                if agrees { Ok(named) } else { Spec::parse(&named.to_spec())?.resolve(dims, dtype) }
            }
        }
    }

    /// The width of the element type that a layout names itself.
    pub(crate) fn dtype_bits(&self) -> Option<u32> {
        match self {
            Wanted::Text(text) => {
                let named = Spec::parse(text).and_then(|spec| spec.resolve(None, None)).ok()?;
                named.dtype().and(named.element_bits())
            }
            Wanted::Read(read) => read.dtype?.storage_bits(),
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
        order: Option<Text>,
    ) -> PyResult<Ask> {
        Ok(Ask {
            from: from.map(|from| Wanted::of("from_", from)).transpose()?,
            to: to.map(|to| Wanted::of("to", to)).transpose()?,
            dims: Integers::given("dims", dims)?,
            dtype: dtype.map(dtype_of).transpose()?,
            bits: given("bits", bits)?,
            fill: fill.map(fill_of).transpose()?,
            order: Order::of(order)?,
        })
    }
}
