//! Words applied to a layout: its capacity grows to whole words, and it has their shape.

use std::fmt;

use tilewright_core::Dtype;

use crate::{
    Error,
    error::needs_dtype,
    reading::Resolved,
    storage,
    words::{Asked, Ratio, Words, product, shape},
};

impl Asked {
    /// Spells the storage of an array so. The elements are packed where no other width is given.
    pub(crate) fn apply(
        &self,
        resolved: &mut Resolved,
        spec: &dyn fmt::Display,
    ) -> Result<(), Error> {
        let bits = self.width(resolved, spec)?;
        let ratio = self.ratio(bits, spec)?;
        let (capacity, overflow) = (resolved.layout.capacity(), || too_many(spec));
        let (padded, count) = match ratio {
            Ratio::Elements(per) => {
                let count = capacity.div_ceil(per);
                (count.checked_mul(per).ok_or_else(overflow)?, count)
            }
            Ratio::Words(each) => (capacity, capacity.checked_mul(each).ok_or_else(overflow)?),
        };
        let dims = resolved.words_dims.clone().unwrap_or_else(|| stored(resolved));
        let own = shape(&dims, ratio, count);
        let shape = match &self.shape {
            Some(given) if product(given) != Some(count) => {
                let fits = Words { dtype: self.dtype, bits: self.bits, shape: own, capacity };
                return Err(self.misfit(spec, (capacity, bits, count), &fits));
            }
            Some(given) => given.clone(),
            None => own,
        };
        resolved.layout = resolved.layout.with_capacity(padded)?;
        let whole = resolved.dtype.and_then(Dtype::storage_bits);
        resolved.bits = resolved.bits.or_else(|| (whole != Some(bits)).then_some(bits));
        resolved.bare = false;
        resolved.words = Some(Words { dtype: self.dtype, bits: self.bits, shape, capacity });
        Ok(())
    }

    /// The width of an element.
    fn width(&self, resolved: &Resolved, spec: &dyn fmt::Display) -> Result<u32, Error> {
        if let Some(dtype) = resolved.dtype.filter(|dtype| dtype.block().is_some()) {
            let message =
                format!("`{spec}` is of blocks of {dtype}, but words hold elements without blocks");
            return Err(Error::unsupported(message));
        }
        let own = resolved.bits.or_else(|| resolved.dtype?.packed_bits());
        own.ok_or_else(|| {
            let message =
                format!("`{spec} as {self}` needs the array's dtype, for the width of an element");
            needs_dtype(message)
        })
    }
}

fn too_many(spec: &dyn fmt::Display) -> Error {
    Error::overflow(format!("the words of `{spec}` overflow 64 bits"))
}

/// The shape of the storage in elements.
fn stored(resolved: &Resolved) -> Vec<u64> {
    match &resolved.storage {
        Some(extents) => storage::checked(extents, resolved.layout.capacity()),
        None => storage::of_map(&resolved.layout),
    }
}
