//! `tile_to_shape`: a block repeated until it fills a shape.
//!
//! Law: the axes of the result have the sizes of the shape, its first coordinates are the block, and its blocks follow
//! one another in the given order: `blocked_product(block, ordered(shape / block, order))`.
//!
//! Defined iff each axis of the block divides that of the shape, and the block has a complement. Swizzle and offset of
//! the block are kept on the result.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::algebra::tiling::product::padded;
use crate::{Error, IntTuple, Layout, MAX_MODES, macros::tri};

impl Layout {
    /// Repeats this block to fill `shape`, along the first axis first.
    ///
    /// # Errors
    /// Those of [`Layout::tile_to_shape_ordered`].
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let block = Layout::parse("(2,2):(1,2)").unwrap();
    /// let shape = |text| IntTuple::parse(text).unwrap();
    /// let tiled = block.tile_to_shape(&shape("(8,8)")).unwrap();
    /// assert_eq!(tiled.to_string(), "((2,4),(2,4)):((1,4),(2,16))");
    /// assert!(block.tile_to_shape(&shape("(8,7)")).unwrap_err().is_mismatch());
    /// ```
    pub const fn tile_to_shape(&self, shape: &IntTuple) -> Result<Layout, Error> {
        let (mut order, mut i) = ([0; MAX_MODES], 0);
        while i < shape.rank() {
            order[i] = i as i64;
            i += 1;
        }
        self.tile_to_shape_ordered(shape, &tri!(IntTuple::flat(order.split_at(i).0)))
    }

    /// Repeats this block to fill `shape`, along the axes of the smallest `order` first.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the block has more axes than the shape, if one does not divide the axis of the
    /// shape, or if `order` has another number of axes; [unsupported](Error::is_unsupported) if the block lacks a complement.
    ///
    /// ```
    /// use tilewright_core::{IntTuple, Layout};
    /// let block = Layout::parse("(3,2):(1,3)").unwrap();
    /// let tuple = |text| IntTuple::parse(text).unwrap();
    /// let tiled = block.tile_to_shape_ordered(&tuple("(6,8)"), &tuple("(1,0)")).unwrap();
    /// assert_eq!(tiled.to_string(), "((3,2),(2,4)):((1,24),(3,6))");
    /// let error = block.tile_to_shape_ordered(&tuple("(7,8)"), &tuple("(1,0)")).unwrap_err();
    /// assert!(error.is_mismatch());
    /// ```
    #[doc(alias = "tile_to_shape")]
    pub const fn tile_to_shape_ordered(
        &self,
        shape: &IntTuple,
        order: &IntTuple,
    ) -> Result<Layout, Error> {
        let rank = shape.rank();
        if self.rank() > rank {
            return Err(Error::mismatch(
                "a block of rank {} in a shape of rank {}",
                [self.rank() as i128, rank as i128],
                "the shape needs at least the block's axes",
            ));
        }
        let (block, sizes) = (tri!(padded(self, rank)), tri!(shape.product_each()));
        let (mut counts, mut axis) = ([0; MAX_MODES], 0);
        while let Some(size) = block.axis_size(axis) {
            let whole = sizes.values()[axis];
            if size == 0 || whole < 0 || whole % size as i64 != 0 {
                return Err(Error::mismatch(
                    "a block of {} along axis {}, which has {}",
                    [size as i128, axis as i128, whole as i128],
                    "blocks fill an axis exactly; round the shape up to whole blocks",
                ));
            }
            counts[axis] = whole / size as i64;
            axis += 1;
        }
        let counts = tri!(IntTuple::flat(counts.split_at(rank).0));
        block.blocked_product(&tri!(Layout::ordered(&counts, order)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::string::ToString;

    #[test]
    fn every_small_block() {
        let mut filled = 0;
        for_each_layout(2, 1..=3, 0..=6, |block| {
            let shape = IntTuple::flat(&[6, 4]).unwrap();
            for order in [[0, 1], [1, 0]] {
                let order = IntTuple::flat(&order).unwrap();
                let tiled = match block.tile_to_shape_ordered(&shape, &order) {
                    Ok(tiled) => tiled,
                    Err(error) => {
                        // The complement is missing, or gaps do not hold a whole number of blocks, or 3 in 4.
                        let divides = block.axis_size(1) != Some(3);
                        assert!(!divides || !error.is_mismatch(), "{block} {error}");
                        continue;
                    }
                };
                filled += 1;
                assert_eq!(tiled.shape().product_each().unwrap(), shape);
                for x in 0..block.axis_size(0).unwrap() {
                    for y in 0..block.axis_size(1).unwrap_or(1) {
                        let coord = [x, y];
                        let own = block.offset_at(&coord[..block.rank()]);
                        assert_eq!(tiled.offset_at(&coord), own, "{block} {tiled}");
                    }
                }
                if block.injective() == Ok(true) {
                    let mut all = image(&tiled);
                    all.sort_unstable();
                    all.dedup();
                    assert_eq!(all.len(), 24, "{block} {tiled}");
                }
            }
        });
        assert!(filled > 300, "{filled}");
    }

    #[test]
    fn shapes_orders_and_swizzles() {
        let tuple = |text| IntTuple::parse(text).unwrap();
        let tiled = |block: &str, shape| Layout::parse(block).unwrap().tile_to_shape(&tuple(shape));
        assert_eq!(
            tiled("(3,2):(1,3)", "(6,8)").unwrap().to_string(),
            "((3,2),(2,4)):((1,6),(3,12))"
        );
        let atom = tiled("Sw<3,4,3> o (8,64):(64,1)", "(16,128)").unwrap();
        assert_eq!(atom.to_string(), "Sw<3,4,3> o ((8,2),(64,2)):((64,512),(1,1024))");
        assert_eq!(tiled("4:1", "((2,4),3)").unwrap().to_string(), "((4,2),(1,3)):((1,4),(0,8))");
        assert!(tiled("(2,2)", "8").unwrap_err().is_mismatch());
        assert!(tiled("(2,12):(5,3)", "(4,24)").unwrap_err().is_unsupported());
        assert!(tiled("(0,2)", "(4,24)").unwrap_err().is_mismatch());
        let block = Layout::parse("(2,2)").unwrap();
        assert!(
            block
                .tile_to_shape_ordered(&tuple("(4,4)"), &tuple("(0,1,2)"))
                .unwrap_err()
                .is_mismatch()
        );
    }
}
