//! The facts that determine how an array is read, apart from its address: shape, strides and element type.

use tilewright::Dtype;

/// The shape, strides and elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Facts {
    /// The extents.
    pub(crate) shape: Vec<u64>,
    /// The strides in bytes; 0 for a dim of at most one coordinate.
    pub(crate) strides: Vec<i64>,
    /// The number of bytes of an element.
    pub(crate) itemsize: usize,
    /// The element type; `None` for one that layouts cannot name.
    pub(crate) dtype: Option<Dtype>,
    /// True if the bytes of each element are in the other order.
    pub(crate) swapped: bool,
}

impl Facts {
    /// Sets the strides of dims of at most one coordinate to 0: they have no meaning, and libraries store any number there.
    pub(crate) fn settle(&mut self) {
        let empty = self.shape.contains(&0);
        for (stride, extent) in self.strides.iter_mut().zip(&self.shape) {
            if *extent <= 1 || empty {
                *stride = 0;
            }
        }
    }

    /// Returns the facts of a dense array of this shape and element type, the last dim fastest.
    pub(crate) fn dense(shape: &[u64], dtype: Dtype) -> Facts {
        let itemsize = dtype.storage_bits().map_or(1, |bits| bits.div_ceil(8)) as usize;
        let mut within = itemsize as i64;
        let mut strides: Vec<i64> = Vec::with_capacity(shape.len());
        for extent in shape.iter().rev() {
            strides.push(within);
            within = within.saturating_mul(i64::try_from((*extent).max(1)).unwrap_or(i64::MAX));
        }
        strides.reverse();
        let shape = shape.to_vec();
        let mut facts = Facts { shape, strides, itemsize, dtype: Some(dtype), swapped: false };
        facts.settle();
        facts
    }

    /// Returns the number of bytes from the lowest element to element 0, and to the end of the highest; `None` beyond this
    /// machine's addresses.
    pub(crate) fn reach(&self) -> Option<(usize, usize)> {
        if self.shape.contains(&0) {
            return Some((0, 0));
        }
        let (mut below, mut above) = (0i128, i128::try_from(self.itemsize).ok()?);
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let far = i128::from(extent.saturating_sub(1)).checked_mul(i128::from(*stride))?;
            let side = if far < 0 { &mut below } else { &mut above };
            *side = side.checked_add(far.abs())?;
        }
        let span = isize::try_from(below.checked_add(above)?).ok()?;
        Some((usize::try_from(below).ok()?, span.unsigned_abs()))
    }

    /// Returns whether the elements are dense, the last dim fastest.
    pub(crate) fn is_row_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides).rev())
    }

    /// Returns whether the elements are dense, the first dim fastest: in Fortran order.
    pub(crate) fn is_col_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides))
    }

    /// Returns whether these are the dims of contiguous elements, fastest first.
    fn is_dense<'a>(&self, mut dims: impl Iterator<Item = (&'a u64, &'a i64)>) -> bool {
        let mut within = self.itemsize as i64;
        let fits = dims.all(|(&extent, &stride)| {
            let fits = extent <= 1 || stride == within;
            within = within.saturating_mul(i64::try_from(extent.max(1)).unwrap_or(i64::MAX));
            fits
        });
        fits || self.shape.contains(&0)
    }

    /// Returns the number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.shape.iter().fold(1, |size, extent| size.saturating_mul(*extent))
    }

    /// Returns the stored width of an element, in bits.
    pub(crate) fn bits(&self) -> u32 {
        u32::try_from(self.itemsize).unwrap_or(u32::MAX).saturating_mul(8)
    }

    /// Returns the width, if it is not that of the element type.
    pub(crate) fn odd_bits(&self) -> Option<u32> {
        let usual = self.dtype.and_then(|dtype| dtype.storage_bits());
        (usual != Some(self.bits())).then(|| self.bits())
    }
}
