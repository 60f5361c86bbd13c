//! Distances between neighbours along a dim, if they are constant.

use tilewright_core::{Error, Mode, TensorLayout};

use super::dimension_number;
use crate::{ArrayShape, index_util, permutation::index};

impl ArrayShape {
    /// Returns the distance in elements between neighbours along a logical dim; negative numbers count from the end. XLA
    /// ignores tiles here.
    ///
    /// A dim with fewer than two coordinates has the stride that more coordinates would have in the untiled array; an empty
    /// dim counts as one of extent 1.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [unsupported](Error::is_unsupported) if tiles
    /// make the distance vary; those of [`Layout::lower`](crate::Layout::lower).
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let stride = |text: &str, dim| ArrayShape::parse(text).unwrap().dimension_stride(dim);
    /// assert_eq!(stride("f32[3,5,7]", 0), Ok(35));
    /// // Whole tiles of one row: exact. Tiles of two: not constant.
    /// assert_eq!(stride("f32[3,5]{1,0:T(8)}", 0), Ok(8));
    /// assert!(stride("f32[3,5]{1,0:T(2,2)}", 0).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "GetDimensionStride")]
    pub fn dimension_stride(&self, dim: i64) -> Result<u64, Error> {
        let at = dimension_number(dim, self.dims.len())?;
        StrideSource::of(self)?.stride(at)
    }

    /// Returns the distance in bytes between neighbours along each logical dim, exact under tiles and element sizes.
    ///
    /// # Errors
    /// Those of [`ArrayShape::dimension_stride`]; [unsupported](Error::is_unsupported) for elements that are not whole
    /// bytes; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let strides = |text: &str| ArrayShape::parse(text).unwrap().byte_strides();
    /// assert_eq!(strides("f32[3,5,7]").unwrap(), [140, 28, 4]);
    /// assert_eq!(strides("pred[3,5]{1,0:E(32)}").unwrap(), [20, 4]);
    /// assert!(strides("s4[3,5]{1,0:E(4)}").unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "ByteStrides")]
    pub fn byte_strides(&self) -> Result<Vec<u64>, Error> {
        let bits = self.element_bits()?;
        if !bits.is_multiple_of(8) {
            return Err(Error::unsupported(
                "byte strides of elements of {} bits",
                [bits.into()],
                "byte strides need whole bytes; use strides in elements",
            ));
        }
        let strides = StrideSource::of(self)?;
        let bytes = |dim: usize| {
            let stride = strides.stride(dim)?;
            stride.checked_mul(bits / 8).filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(
                || {
                    Error::overflow(
                        "a stride of {} elements of {} bits in dim {}",
                        [stride.into(), bits.into(), dim as i128],
                        "a stride is at most 2^63 - 1 bytes",
                    )
                },
            )
        };
        (0..self.dims.len()).map(bytes).collect()
    }
}

/// The data from which the strides of an array are read.
struct StrideSource {
    extents: Vec<u64>,
    /// The strides of the untiled array, with an empty dim as one of extent 1.
    dense: Vec<u64>,
    /// The tiled array, if there are tiles and elements.
    tiled: Option<TensorLayout>,
}

impl StrideSource {
    fn of(shape: &ArrayShape) -> Result<StrideSource, Error> {
        let (extents, layout) = (shape.extents()?, shape.layout_or_default());
        layout.validate(&extents)?;
        index_util::count(&extents)?;
        let (mut dense, mut inner) = (vec![0; extents.len()], 1);
        for &dim in layout.minor_to_major() {
            if let (Some(slot), Some(&extent)) =
                (dense.get_mut(index(dim)), extents.get(index(dim)))
            {
                *slot = inner;
                inner *= extent.max(1);
            }
        }
        let plain = layout.tiles().is_empty() || extents.contains(&0);
        let tiled = if plain { None } else { Some(layout.lower(&extents)?) };
        Ok(StrideSource { extents, dense, tiled })
    }

    fn stride(&self, dim: usize) -> Result<u64, Error> {
        let extent = self.extents.get(dim).copied().unwrap_or(0);
        match &self.tiled {
            Some(tensor) if extent > 1 && !tensor.is_strided() => Err(Error::unsupported(
                "dim {} is not strided: the tiles that cut it do not divide one another",
                [dim as i128],
                "use an indexer for offsets",
            )),
            Some(tensor) if extent > 1 => {
                one_stride(dim, extent, tensor.layout().axis(dim).unwrap_or(&[]))
            }
            _ => Ok(self.dense.get(dim).copied().unwrap_or(0)),
        }
    }
}

/// Returns the single stride of the digits of a dim of this extent, 2 or more.
fn one_stride(dim: usize, extent: u64, modes: &[Mode]) -> Result<u64, Error> {
    let (mut below, mut stride) = (1u128, None);
    for mode in modes.iter().filter(|mode| mode.extent() > 1) {
        if below >= u128::from(extent) {
            break;
        }
        let first = *stride.get_or_insert(mode.stride());
        if i128::from(mode.stride()) != i128::from(first) * below as i128 {
            return Err(varies(dim, first, mode.stride(), below));
        }
        below *= u128::from(mode.extent());
    }
    Ok(stride.and_then(|stride| u64::try_from(stride).ok()).unwrap_or(0))
}

fn varies(dim: usize, first: i64, then: i64, at: u128) -> Error {
    Error::unsupported(
        "dim {} has no single stride: {} elements between neighbours, but coordinate {} is at {}",
        [dim as i128, first.into(), at as i128, then.into()],
        "tiles cut it; use an indexer for offsets",
    )
}
