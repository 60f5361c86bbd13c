//! `logical_product` and its forms: a layout repeated along another. `tile_to_shape`: a block repeated until it fills a shape.
//!
//! Law: `logical_product(A, B) = (A, A* ∘ B)` with A* = complement(A, size(A)·cosize(B)), which has at least cosize(B)
//! coordinates (if A has gaps, the last stride of A* continues). Axis 0 is A, and axis 1 places its copies by B:
//! `R(a, b) = A(a) + A*(B(b))`. If B is injective, no two copies share an offset. `zipped` is the same; `tiled` and `flat`
//! spread the axes. `blocked_product` and `raked_product` join axis i of A with axis i of A* ∘ B: with A's axis first, whole
//! blocks follow one another; with B's first, elements of different blocks alternate.
//!
//! By mode, each axis is multiplied by its own tiler, and its copies fill the gaps of that axis alone. The copies of
//! different axes may share offsets: `(4,8):(1,4)` by `<2,2>` is `((4,2),(8,2)):((1,4),(4,1))`, as `8:4` has space for its
//! two copies at distance 1.
//!
//! Defined iff A has a complement and A* ∘ B is a layout. Swizzle and offset of A are kept on the result.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.
//!
//! Law: the axes of the result have the sizes of the shape, its first coordinates are the block, and its blocks follow
//! one another in the given order: `blocked_product(block, ordered(shape / block, order))`.
//!
//! Defined iff each axis of the block divides that of the shape, and the block has a complement. Swizzle and offset of
//! the block are kept on the result.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::{
    Error, IntTuple, Layout, MAX_MODES, Mode, Tiler,
    algebra::{
        nested::walk::Builder,
        tiling::{
            by_mode::{Arrangement, ModeOperation, alone, by_mode, check_plain, gathered},
            divide::plus,
        },
    },
    const_fn::tri,
};

impl Layout {
    /// Repeats this layout along `by`: (this, copies). By mode: [`Layout::logical_product_tiler`].
    ///
    /// # Errors
    /// Those of [`Layout::complement`] and [`Layout::composition`]; [overflow](Error::is_overflow) beyond 64 bits.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let product = parse("(2,2):(4,1)").logical_product(&parse("(3,2):(2,1)")).unwrap();
    /// assert_eq!(product.to_string(), "((2,2),(3,2)):((4,1),(8,2))");
    /// // The gap within (16,2):(12,2) holds 3 copies below the next 12, not 8 in a row.
    /// assert!(parse("(16,2):(12,2)").logical_product(&parse("8:1")).is_err());
    /// ```
    pub const fn logical_product(&self, by: &Layout) -> Result<Layout, Error> {
        let copies = tri!(copies(self, by));
        let mut builder = Builder::new();
        builder.open();
        tri!(builder.whole(self));
        tri!(builder.whole(&copies));
        tri!(builder.close());
        builder.layout(tri!(plus(self.offset(), copies.offset())), self.swizzle())
    }

    /// Multiplies like [`Layout::logical_product`]; for a layout as the operand, the two forms are equal.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (tile, grid) = (parse("(2,2):(2,1)"), parse("(3,4):(4,1)"));
    /// // (in the tile, which tile): twelve copies of four elements.
    /// let product = tile.zipped_product(&grid).unwrap();
    /// assert_eq!(product.to_string(), "((2,2),(3,4)):((2,1),(16,4))");
    /// ```
    pub const fn zipped_product(&self, by: &Layout) -> Result<Layout, Error> {
        self.logical_product(by)
    }

    /// Repeats this layout along `by`: (this, copies0, copies1, …).
    ///
    /// # Errors
    /// Those of [`Layout::logical_product`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let product = parse("(3,4):(4,1)").tiled_product(&parse("(2,5):(1,2)")).unwrap();
    /// assert_eq!(product.to_string(), "((3,4),2,5):((4,1),12,24)");
    /// ```
    pub const fn tiled_product(&self, by: &Layout) -> Result<Layout, Error> {
        let copies = tri!(copies(self, by));
        let mut builder = Builder::new();
        builder.open();
        tri!(builder.whole(self));
        tri!(builder.parts(&copies));
        tri!(builder.close());
        builder.layout(tri!(plus(self.offset(), copies.offset())), self.swizzle())
    }

    /// Repeats this layout along `by`, with both spread: (this0, this1, …, copies0, copies1, …).
    ///
    /// # Errors
    /// Those of [`Layout::logical_product`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let product = parse("(3,4):(4,1)").flat_product(&parse("(2,5):(1,2)")).unwrap();
    /// assert_eq!(product.to_string(), "(3,4,2,5):(4,1,12,24)");
    /// assert!(parse("(2,12):(5,3)").flat_product(&parse("2:1")).unwrap_err().is_unsupported());
    /// ```
    pub const fn flat_product(&self, by: &Layout) -> Result<Layout, Error> {
        let copies = tri!(copies(self, by));
        let mut builder = Builder::new();
        builder.open();
        tri!(builder.parts(self));
        tri!(builder.parts(&copies));
        tri!(builder.close());
        builder.layout(tri!(plus(self.offset(), copies.offset())), self.swizzle())
    }

    /// Multiplies each axis into (axis, copies) by its own tiler; an axis without a tiler, or with a kept one, is unchanged.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for more tilers than axes; otherwise those of [`Layout::logical_product`], whose
    /// numbers then refer to the axis alone.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(4,8):(1,4)").unwrap();
    /// let by = [Tiler::Extent(2), Tiler::Extent(2)];
    /// let text = |product: Layout| product.to_string();
    /// assert_eq!(text(layout.logical_product_tiler(&by).unwrap()), "((4,2),(8,2)):((1,4),(4,1))");
    /// assert_eq!(text(layout.zipped_product_tiler(&by).unwrap()), "((4,8),(2,2)):((1,4),(4,1))");
    /// assert_eq!(text(layout.tiled_product_tiler(&by).unwrap()), "((4,8),2,2):((1,4),4,1)");
    /// assert_eq!(text(layout.flat_product_tiler(&by).unwrap()), "(4,8,2,2):(1,4,4,1)");
    /// assert!(layout.logical_product_tiler(&[Tiler::Extent(2); 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "logical_product")]
    pub const fn logical_product_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        by_mode(self, tilers, ModeOperation::Multiply)
    }

    /// Returns this layout as ((axis0, axis1, …), (copies0, copies1, …)), by mode. The copies of a kept axis are `1:0`;
    /// an axis without a tiler is placed with the copies, as in CuTe.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(4,8):(8,1)").unwrap();
    /// let zipped = layout.zipped_product_tiler(&[Tiler::Keep, Tiler::Extent(3)]).unwrap();
    /// assert_eq!(zipped.to_string(), "((4,8),(1,3)):((8,1),(0,8))");
    /// let one = layout.zipped_product_tiler(&[Tiler::Extent(3)]).unwrap();
    /// assert_eq!(one.to_string(), "((4),(3,8)):((8),(1,1))");
    /// ```
    #[doc(alias = "zipped_product")]
    pub const fn zipped_product_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::Multiply, Arrangement::Zipped)
    }

    /// Returns this layout as ((axis0, axis1, …), copies0, copies1, …), by mode.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(4,8):(1,4)").unwrap();
    /// let tiled = layout.tiled_product_tiler(&[Tiler::Extent(3), Tiler::Extent(2)]).unwrap();
    /// assert_eq!(tiled.to_string(), "((4,8),3,2):((1,4),4,1)");
    /// ```
    #[doc(alias = "tiled_product")]
    pub const fn tiled_product_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::Multiply, Arrangement::Tiled)
    }

    /// Returns this layout as (axis0, axis1, …, copies0, copies1, …), by mode.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(4,8):(1,4)").unwrap();
    /// let flat = layout.flat_product_tiler(&[Tiler::Extent(3), Tiler::Extent(2)]).unwrap();
    /// assert_eq!(flat.to_string(), "(4,8,3,2):(1,4,4,1)");
    /// ```
    #[doc(alias = "flat_product")]
    pub const fn flat_product_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::Multiply, Arrangement::Flat)
    }

    /// Arranges blocks of this layout axis by axis like `by`; the lower rank is filled up with `1:0`.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (a, b) = (parse("(3,4):(4,1)"), parse("(2,5):(1,2)"));
    /// assert_eq!(a.blocked_product(&b).unwrap().to_string(), "((3,2),(4,5)):((4,12),(1,24))");
    /// assert_eq!(a.raked_product(&b).unwrap().to_string(), "((2,3),(5,4)):((12,4),(24,1))");
    /// assert!(parse("(2,12):(5,3)").blocked_product(&b).unwrap_err().is_unsupported());
    /// ```
    pub const fn blocked_product(&self, by: &Layout) -> Result<Layout, Error> {
        interleaved(self, by, true)
    }

    /// Arranges copies of this layout like [`Layout::blocked_product`], with the elements of different blocks alternating
    /// within each axis.
    ///
    /// # Errors
    /// Those of [`Layout::logical_product`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let raked = parse("(2,3):(3,1)").raked_product(&parse("(2,2):(2,1)")).unwrap();
    /// assert_eq!(raked.to_string(), "((2,2),(2,3)):((12,3),(6,1))");
    /// assert!(parse("(2,2):(1,1)").raked_product(&parse("2:1")).unwrap_err().is_unsupported());
    /// ```
    pub const fn raked_product(&self, by: &Layout) -> Result<Layout, Error> {
        interleaved(self, by, false)
    }
}

/// Returns the offsets of the copies: complement ∘ `by`.
const fn copies(layout: &Layout, by: &Layout) -> Result<Layout, Error> {
    tri!(check_plain(by));
    let cells = layout.size() as i128 * by.cosize() as i128;
    if cells > i64::MAX as i128 {
        return Err(Error::overflow(
            "{} copies of {} elements",
            [by.cosize() as i128, layout.size() as i128],
            "offsets must stay below 2^63",
        ));
    }
    let cells = if cells < 0 { 0 } else { cells as u64 };
    tri!(layout.complement_of(cells, if by.cosize() > 0 { by.cosize() as u64 } else { 0 }))
        .composition(by)
}

/// Returns the layout with `rank` axes, the missing ones `1:0`.
pub(crate) const fn padded(layout: &Layout, rank: usize) -> Result<Layout, Error> {
    if layout.rank() == rank {
        return Ok(layout.copied());
    }
    let mut builder = Builder::new();
    builder.open();
    tri!(builder.parts(layout));
    let mut i = layout.rank();
    while i < rank {
        tri!(builder.leaf(Mode::new(1, 0)));
        i += 1;
    }
    tri!(builder.close());
    builder.layout(layout.offset(), layout.swizzle())
}

const fn interleaved(block: &Layout, by: &Layout, block_first: bool) -> Result<Layout, Error> {
    let rank = if block.rank() > by.rank() { block.rank() } else { by.rank() };
    let (a, b) = (tri!(padded(block, rank)), tri!(padded(by, rank)));
    let copies = tri!(copies(&a, &b));
    let (mut builder, mut axis) = (Builder::new(), 0);
    builder.open();
    while axis < rank {
        let (x, y) = (tri!(alone(&a, axis)), tri!(alone(&copies, axis)));
        let both = if block_first { [&x, &y] } else { [&y, &x] };
        tri!(builder.whole(&tri!(Layout::from_layouts(&both))));
        axis += 1;
    }
    tri!(builder.close());
    builder.layout(tri!(plus(a.offset(), copies.offset())), a.swizzle())
}

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
    use std::{string::ToString, vec::Vec};

    use super::*;
    use crate::small::{for_each_layout, image};

    #[test]
    fn every_pair_of_small_layouts() {
        let mut all = Vec::new();
        for_each_layout(2, 1..=3, 0..=tilewright_testing::cases(6, 4), |layout| {
            all.push(layout.clone())
        });
        let (mut answered, mut refused) = (0, 0);
        for a in &all {
            for b in &all {
                let Ok(product) = a.logical_product(b) else {
                    refused += 1;
                    continue;
                };
                answered += 1;
                assert_eq!(product.get(&[0]).unwrap(), *a);
                assert_eq!(product.size(), a.size() * b.size());
                let rest = a.complement(a.size() * b.cosize() as u64).unwrap();
                let in_rest = rest.size() >= b.cosize() as u64;
                let mut seen = Vec::new();
                for j in 0..b.size() {
                    let at = b.offset_of(j).unwrap() as u64;
                    for i in 0..a.size() {
                        let offset = product.offset_of(i + j * a.size()).unwrap();
                        seen.push(offset);
                        if in_rest {
                            let expected = a.offset_of(i).unwrap() + rest.offset_of(at).unwrap();
                            assert_eq!(offset, expected, "{a} {b}");
                        }
                    }
                }
                if a.injective() == Ok(true) && b.injective() == Ok(true) {
                    seen.sort_unstable();
                    seen.dedup();
                    assert_eq!(seen.len() as u64, product.size(), "{a} {b} {product}");
                }
                check_by_axis(a, b, &product);
            }
        }
        let least = tilewright_testing::cases((50_000, 10_000), (15_000, 3_000));
        assert!(answered > least.0 && refused > least.1, "{answered} {refused}");
    }

    /// Checks that blocked and raked reach the offsets of the product, each axis its own copies.
    fn check_by_axis(a: &Layout, b: &Layout, product: &Layout) {
        let (blocked, raked) = (a.blocked_product(b).unwrap(), a.raked_product(b).unwrap());
        let sorted = |layout: &Layout| {
            let mut all = image(layout);
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&blocked), sorted(product), "{a} {b}");
        assert_eq!(sorted(&raked), sorted(product), "{a} {b}");
        if a.rank() != b.rank() {
            return;
        }
        for i in 0..a.size() {
            for j in 0..b.size() {
                let (x, y) = (digits(a, i), digits(b, j));
                let at = |first: &[i64], low: &Layout, second: &[i64]| -> Vec<u64> {
                    let extents = low.modes().iter().map(|mode| mode.extent() as i64);
                    first
                        .iter()
                        .zip(second)
                        .zip(extents)
                        .map(|((x, y), e)| (x + y * e) as u64)
                        .collect()
                };
                let whole = product.offset_of(i + j * a.size());
                assert_eq!(blocked.offset_at(&at(&x, a, &y)), whole, "{a} {b}");
                assert_eq!(raked.offset_at(&at(&y, b, &x)), whole, "{a} {b}");
            }
        }
    }

    fn digits(layout: &Layout, index: u64) -> Vec<i64> {
        let coord: IntTuple = layout.shape().idx2crd(index as i64).unwrap();
        coord.values().to_vec()
    }

    #[test]
    fn offsets_and_swizzles_stay_outside() {
        let parse = |text| Layout::parse(text).unwrap();
        let atom = parse("Sw<3,4,3> o (8,64):(64,1)");
        let product = atom.logical_product(&parse("(2,4)")).unwrap();
        assert_eq!(product.to_string(), "Sw<3,4,3> o ((8,64),(2,4)):((64,1),(512,1024))");
        assert!(parse("4:1").logical_product(&atom).unwrap_err().is_unsupported());
        assert!(parse("0:1").logical_product(&parse("2:1")).unwrap_err().is_illegal());
        let huge = parse("4611686018427387904:1");
        assert!(huge.logical_product(&parse("4:1")).unwrap_err().is_overflow());
    }

    #[test]
    fn the_cases_of_the_documents() {
        let parse = |text| Layout::parse(text).unwrap();
        for (a, b, expected) in [
            ("(2,2):(4,1)", "6:1", "((2,2),(2,3)):((4,1),(2,8))"),
            ("3:2", "4:1", "(3,(2,2)):(2,(1,6))"),
            ("3:32", "32:1", "(3,32):(32,1)"),
            ("(3,4):(4,1)", "(2,5):(1,2)", "((3,4),(2,5)):((4,1),(12,24))"),
        ] {
            assert_eq!(parse(a).logical_product(&parse(b)).unwrap().to_string(), expected);
        }
        let (a, b) = (parse("(2,5):(5,1)"), parse("(3,4):(1,3)"));
        assert_eq!(a.blocked_product(&b).unwrap().to_string(), "((2,3),(5,4)):((5,10),(1,30))");
        assert_eq!(a.raked_product(&b).unwrap().to_string(), "((3,2),(4,5)):((10,5),(30,1))");
        let (a, b) = (parse("(3,4):(4,1)"), parse("(2,5):(1,2)"));
        assert_eq!(a.flat_product(&b).unwrap().to_string(), "(3,4,2,5):(4,1,12,24)");
        assert_eq!(
            parse("4:1").blocked_product(&parse("3:1")).unwrap().to_string(),
            "((4,3)):((1,4))"
        );
        assert_eq!(
            parse("4:1").raked_product(&parse("(3,2)")).unwrap().to_string(),
            "((3,4),(2,1)):((4,1),(12,0))"
        );
    }

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
