//! Computes the layout of an array from its facts.

use pyo3::PyResult;
use tilewright::{
    Layout, TensorLayout,
    layouts::{MAX_MODES, Mode},
};

use super::{Facts, raw::BEYOND};
use crate::{
    errors::{Raised, refused},
    spelling::tuple,
};

impl Facts {
    /// Returns the facts of an array with other strides, in elements.
    pub(crate) fn with_strides(mut self, strides: &[u64]) -> PyResult<Facts> {
        if strides.len() != self.shape.len() {
            let (shape, strides) = (tuple(&self.shape), tuple(strides));
            let says = format!("strides={strides} of an array of shape {shape}");
            return Err(refused("mismatch", says));
        }
        let bytes = |stride: &u64| {
            i64::try_from(*stride).unwrap_or(i64::MAX).saturating_mul(self.itemsize as i64)
        };
        self.strides = strides.iter().map(bytes).collect();
        self.settle();
        Ok(self)
    }

    /// Returns the layout over exactly these bytes: dims are the array's, offset 0 is the lowest element.
    pub(crate) fn layout(&self) -> PyResult<TensorLayout> {
        let (origin, span) = self.reach().ok_or_else(|| refused("array", BEYOND))?;
        let size = self.itemsize as i64;
        if self.strides.iter().any(|stride| stride % size != 0) {
            let (strides, item) = (tuple(&self.strides), self.itemsize);
            let says = format!("strides of {strides} bytes are not whole elements of {item} bytes");
            return Err(refused("copy", format!("{says}; copy the array first")));
        }
        if self.shape.len() > MAX_MODES {
            let dims = self.shape.len();
            let says = format!("an array of {dims} dims; a layout has at most {MAX_MODES}");
            return Err(refused(
                "limit",
                format!("{says}, so leave out dims of extent 1 or merge some"),
            ));
        }
        let modes = self.shape.iter().zip(&self.strides);
        let modes =
            modes.map(|(extent, stride)| Mode::new(*extent, stride / size)).collect::<Vec<_>>();
        let flat = Layout::flat(&modes).and_then(|flat| flat.with_offset(origin as i64 / size));
        let capacity = (span / self.itemsize) as u64;
        TensorLayout::new(&self.shape, &flat.raised()?, capacity).raised()
    }
}
