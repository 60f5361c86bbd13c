//! The common part of dialects with one stride per dim: a layout as dims, strides and an offset, or the
//! feature that such a dialect cannot express.

use tilewright_core::{Layout, Mode, TensorLayout};

use crate::Error;

/// Dims with one stride each, in elements.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    pub(super) dims: Vec<u64>,
    pub(super) strides: Vec<i64>,
    pub(super) offset: i64,
}

pub(super) fn unsupported(message: impl Into<String>) -> Error {
    Error::unsupported(message)
}

impl Strided {
    /// Converts a layout to dims, strides and an offset; errors name `who`, the notation.
    pub(super) fn of(tensor: &TensorLayout, who: &str) -> Result<Strided, Error> {
        check_affine(tensor, who)?;
        let mut strides = Vec::new();
        for (dim, &extent) in tensor.extents().iter().enumerate() {
            strides.push(single_stride(
                tensor.layout().axis(dim).unwrap_or(&[]),
                extent,
                dim,
                who,
            )?);
        }
        let dims = tensor.extents().to_vec();
        let strided = Strided { dims, strides, offset: tensor.layout().offset() };
        let spanned = strided.layout()?.capacity();
        if spanned != tensor.capacity() {
            return Err(unsupported(format!(
                "{who} cannot express padding: {} elements of storage, of which the array spans {spanned}",
                tensor.capacity()
            )));
        }
        Ok(strided)
    }

    pub(super) fn layout(&self) -> Result<TensorLayout, Error> {
        let modes = self.dims.iter().zip(&self.strides);
        let modes: Vec<Mode> = modes.map(|(&extent, &stride)| Mode::new(extent, stride)).collect();
        Ok(TensorLayout::of(&Layout::flat(&modes)?.with_offset(self.offset)?))
    }

    /// Returns whether these are the strides of the dense array in row-major order. Strides of dims with at most
    /// one coordinate, and of empty arrays, move nothing and may be any.
    pub(super) fn is_row_major(&self) -> bool {
        self.is_dense((0..self.dims.len()).rev())
    }

    pub(super) fn is_col_major(&self) -> bool {
        self.is_dense(0..self.dims.len())
    }

    /// The dims of a dense array, fastest first; `None` where there are gaps, overlaps or turns.
    pub(super) fn minor_to_major(&self) -> Option<Vec<u64>> {
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        // Dims with one coordinate move nothing.
        tilewright_core::sort_short(&mut order, |&dim| {
            (self.dims.get(dim) > Some(&1), self.strides.get(dim).copied())
        });
        let dense = self.is_dense(order.iter().copied());
        dense.then(|| order.iter().map(|&dim| dim as u64).collect())
    }

    fn is_dense(&self, mut minor_to_major: impl Iterator<Item = usize>) -> bool {
        if self.dims.contains(&0) {
            return true;
        }
        let mut dense = 1i128;
        minor_to_major.all(|dim| {
            let extent = i128::from(self.dims.get(dim).copied().unwrap_or(1));
            let stride = self.strides.get(dim).copied().map_or(0, i128::from);
            let fits = extent == 1 || stride == dense;
            dense = dense.saturating_mul(extent);
            fits
        })
    }
}

/// Refuses layouts without strides.
pub(super) fn check_affine(tensor: &TensorLayout, who: &str) -> Result<(), Error> {
    if !tensor.is_strided() {
        return Err(unsupported(format!(
            "dims are merged, or tiled by tiles that do not divide one another; {who} has strides only"
        )));
    }
    if !tensor.layout().swizzle().is_identity() {
        return Err(unsupported(format!("{who} cannot express a swizzle")));
    }
    Ok(())
}

/// The one stride of a dim whose digits go on from one another.
fn single_stride(modes: &[Mode], extent: u64, dim: usize, who: &str) -> Result<i64, Error> {
    let mut moving = modes.iter().filter(|mode| mode.extent() > 1);
    let Some(first) = moving.next() else {
        return Ok(modes.first().map_or(0, |mode| mode.stride()));
    };
    let mut covered = first.extent();
    for mode in moving {
        if covered >= extent {
            break;
        }
        if i128::from(mode.stride()) != i128::from(first.stride()) * i128::from(covered) {
            return Err(unsupported(format!(
                "dim {dim} steps by {} within {covered} elements and by {} between them; {who} has one stride per dim",
                first.stride(),
                mode.stride()
            )));
        }
        covered = covered.saturating_mul(mode.extent());
    }
    Ok(first.stride())
}
