//! Computes the layout of a local array of a result: the requested SPEC, if it fits, or row-major. The plan of a result
//! uses it.

use std::sync::Arc;

use tilewright_core::{Fill, TensorLayout};
use tilewright_files::inner::ShardLayout;
use tilewright_notation::{Named, Spec};

use crate::{
    Error, Form, Request,
    plan::array::{Laid, ReshardedArray},
};

/// Returns the layout that is requested for all shards.
pub(crate) fn spec(request: &Request) -> Result<Option<Spec>, Error> {
    let Some(text) = &request.layout else { return Ok(None) };
    if request.asked_form() == Form::Dcp {
        return Err(Error::usage("torch's distributed checkpoint holds only row-major boxes"));
    }
    let spec = Spec::parse(text).map_err(Error::without_span)?;
    Ok(Some(spec))
}

impl Laid {
    /// Returns the layout of the elements in the terms of files.
    pub(crate) fn in_files(&self) -> Result<ShardLayout, Error> {
        let (dtype, bits) = (self.dtype, self.own_bits());
        if self.big {
            let said = "shards with big-endian elements are not compared; reshard them to whole tensors first";
            return Err(Error::new("unsupported", said));
        }
        let named = match &self.spec {
            Some(text) => {
                let spec =
                    Spec::parse(text).and_then(|it| it.resolve(Some(self.dims()), Some(dtype)));
                spec.map_err(Error::without_span)?
            }
            None => {
                let plain = TensorLayout::row_major(&self.shape)?;
                Named::new("row-major", plain, Some(dtype), None, Fill::Unspecified)
            }
        };
        Ok(ShardLayout { named, dtype, bits })
    }
}

/// Makes a local array of these extents.
pub(crate) fn laid(
    array: &ReshardedArray,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<Arc<Laid>, Error> {
    let about = |error: Error| error.about(&format!("tensor {:?}", array.name));
    let plain = |shape: &Vec<u64>| {
        let own = array.unit().map_or_else(|| shape.clone(), |unit| unit.in_elements(extents));
        Ok((TensorLayout::row_major(extents)?, own, None))
    };
    let laid = array.packed.as_ref().map_or_else(|| layout(array, extents, spec), plain);
    let (layout, shape, spec) = laid.map_err(about)?;
    let (file_dtype, dtype, bits) = (array.file_dtype.clone(), array.dtype, array.bits);
    let packed = array.packed.is_some();
    let laid = Laid { file_dtype, dtype, bits, layout, shape, spec, packed, big: false };
    match laid.bytes() {
        Some(_) => Ok(Arc::new(laid)),
        None => Err(about(Error::new("overflow", "it exceeds 2^63 - 1 bytes"))),
    }
}

/// Returns the layout of a local array, its stored shape, and its SPEC if it is not row-major.
fn layout(
    array: &ReshardedArray,
    extents: &[u64],
    spec: Option<&Spec>,
) -> Result<(TensorLayout, Vec<u64>, Option<String>), Error> {
    let plain = TensorLayout::row_major(extents)?;
    let spec = spec.filter(|spec| spec.fits(extents.len()) && !extents.contains(&0));
    let Some(spec) = spec else { return Ok((plain, extents.to_vec(), None)) };
    let named = spec.resolve(Some(extents), Some(array.dtype));
    let named = named.map_err(Error::without_span)?;
    let is_same = named.dtype() == Some(array.dtype) && named.element_bits() == Some(array.bits);
    if !is_same || named.byte_order().is_some_and(|order| order.is_big()) {
        let said = format!("{} has a different element type from {}", named.to_spec(), array.dtype);
        return Err(Error::new("unsupported", said));
    }
    if named.stored_as().is_some() || !matches!(named.fill(), Fill::Unspecified | Fill::Zero) {
        let said = format!(
            "{}: shards are stored as their elements, and padding holds zeros",
            named.to_spec()
        );
        return Err(Error::new("unsupported", said));
    }
    if *named.layout() == plain {
        return Ok((plain, extents.to_vec(), None));
    }
    Ok((named.layout().clone(), named.storage_shape(), Some(named.to_spec())))
}
