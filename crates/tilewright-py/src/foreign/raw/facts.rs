//! What decides how an array is read, apart from its address: shape, strides and element type.

use tilewright::Dtype;

/// The shape, strides and elements of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Facts {
    /// The extents.
    pub(crate) shape: Vec<u64>,
    /// In bytes; of a dim of at most one coordinate 0.
    pub(crate) strides: Vec<i64>,
    /// The bytes of an element.
    pub(crate) itemsize: usize,
    /// The element type; `None` for one that layouts have no name for.
    pub(crate) dtype: Option<Dtype>,
    /// Whether the bytes of each element are in the other order.
    pub(crate) swapped: bool,
}

impl Facts {
    /// Strides of dims of at most one coordinate say nothing, and libraries put anything there.
    pub(crate) fn settle(&mut self) {
        let empty = self.shape.contains(&0);
        for (stride, extent) in self.strides.iter_mut().zip(&self.shape) {
            if *extent <= 1 || empty {
                *stride = 0;
            }
        }
    }

    /// Those of an array of this shape and element type that lies densely, the last dim fastest.
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

    /// The bytes from the lowest element to element 0, and to behind the highest; `None` beyond this machine's
    /// addresses.
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

    /// Whether the elements lie densely, the last dim fastest.
    pub(crate) fn is_row_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides).rev())
    }

    /// Whether the elements lie densely, the first dim fastest: in Fortran's order.
    pub(crate) fn is_col_major(&self) -> bool {
        self.is_dense(self.shape.iter().zip(&self.strides))
    }

    /// Whether these are the dims of elements side by side, the fastest first.
    fn is_dense<'a>(&self, mut dims: impl Iterator<Item = (&'a u64, &'a i64)>) -> bool {
        let mut within = self.itemsize as i64;
        let fits = dims.all(|(&extent, &stride)| {
            let fits = extent <= 1 || stride == within;
            within = within.saturating_mul(i64::try_from(extent.max(1)).unwrap_or(i64::MAX));
            fits
        });
        fits || self.shape.contains(&0)
    }

    /// The number of elements.
    pub(crate) fn size(&self) -> u64 {
        self.shape.iter().fold(1, |size, extent| size.saturating_mul(*extent))
    }

    /// The width of an element as it lies there, in bits.
    pub(crate) fn bits(&self) -> u32 {
        u32::try_from(self.itemsize).unwrap_or(u32::MAX).saturating_mul(8)
    }

    /// The width, where the element type does not say it.
    pub(crate) fn odd_bits(&self) -> Option<u32> {
        let usual = self.dtype.and_then(|dtype| dtype.storage_bits());
        (usual != Some(self.bits())).then(|| self.bits())
    }
}
