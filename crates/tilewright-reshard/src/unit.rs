//! [`Unit`]: the elements of a block along the last dim of an array, and its bytes. Arrays of blocks move as bytes.
//!
//! Law: `in_elements(in_bytes(extents)) = extents`, if no block is cut.

use tilewright_core::Dtype;

/// The block of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) elements: u64,
    pub(crate) bytes: u64,
}

impl Unit {
    /// Returns the unit of a type whose elements are blocks.
    pub(crate) fn of(dtype: Dtype) -> Option<Unit> {
        let block = dtype.block()?;
        Some(Unit { elements: block.elements.into(), bytes: block.bytes.into() })
    }

    /// Returns the unit of an array of this shape, if `extents` count bytes along the last dim only.
    pub(crate) fn of_array(dtype: Dtype, shape: &[u64], extents: &[u64]) -> Option<Unit> {
        let unit = Unit::of(dtype)?;
        (unit.in_bytes(shape)? == extents).then_some(unit)
    }

    /// Returns the bytes of elements along the last dim; `None` if a block is cut.
    pub(crate) fn bytes(self, elements: u64) -> Option<u64> {
        let blocks = elements.is_multiple_of(self.elements).then(|| elements / self.elements)?;
        blocks.checked_mul(self.bytes)
    }

    /// Returns the elements in bytes of whole blocks.
    pub(crate) fn elements(self, bytes: u64) -> u64 {
        bytes / self.bytes * self.elements
    }

    /// Returns extents in elements with the last one in bytes; `None` if a block is cut, and for rank 0.
    pub(crate) fn in_bytes(self, extents: &[u64]) -> Option<Vec<u64>> {
        let (last, lead) = extents.split_last()?;
        Some([lead, &[self.bytes(*last)?]].concat())
    }

    /// Returns extents whose last one counts bytes, in elements.
    pub(crate) fn in_elements(self, extents: &[u64]) -> Vec<u64> {
        let mut extents = extents.to_vec();
        if let Some(last) = extents.last_mut() {
            *last = self.elements(*last);
        }
        extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_return_from_bytes_unless_a_block_is_cut() {
        assert_eq!(Unit::of(Dtype::F32), None);
        for dtype in Dtype::all() {
            let Some(unit) = Unit::of(dtype) else { continue };
            for last in 0..3 * unit.elements {
                let bytes = unit.in_bytes(&[5, last]);
                assert_eq!(bytes.is_some(), last % unit.elements == 0, "{dtype} {last}");
                let Some(bytes) = bytes else { continue };
                assert_eq!(unit.in_elements(&bytes), [5, last]);
                assert_eq!(Unit::of_array(dtype, &[5, last], &bytes), Some(unit));
                assert_eq!(Unit::of_array(dtype, &[5, last], &[4, bytes[1]]), None);
            }
            assert_eq!(unit.in_bytes(&[]), None);
        }
    }
}
