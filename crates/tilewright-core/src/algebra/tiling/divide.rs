//! `logical_divide` and its zipped, tiled and flat forms: a layout as tiles of itself.
//!
//! Law: `logical_divide(A, T) = A ∘ (T, T*)` with T* = complement(T, size(A)). Axis 0 iterates inside one tile, axis 1
//! over the tiles, and together they reach exactly the offsets that A reaches. By mode, each axis is divided by its own
//! tiler: `zipped` gathers tiles and rests, `tiled` spreads the rests, `flat` spreads both.
//!
//! Defined iff T has a complement, the composition is a layout, and the tiles cover A. Swizzle and offset of A are kept.
//!
//! A tile that does not divide A: `logical_divide` refuses it, since its result would reach beyond A (unless A ends in a
//! stride of 0 or overlaps itself, so that it reaches nothing new). The zipped, tiled and flat forms by mode cut an array
//! into tiles of which the last are partly outside: each axis is rounded up to whole tiles, as in CuTe. The law holds inside
//! the axis; outside, the last mode of the axis continues, and the reader has to mask it. A tile larger than its axis is
//! refused (CuTe loses or invents elements), except where the law holds for it: over an axis with only one offset, of one
//! coordinate or repeated, every tile reaches that offset and no other (`logical_divide(1:1, 8:1) = (8,1):(0,0)`, as in
//! CuTe).
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::{
    Error, Layout, Mode, Tiler,
    algebra::{
        nested::walk::{Builder, Chain},
        tiling::by_mode::{Arrangement, ModeOperation, by_mode, gathered},
    },
    const_fn::tri,
    layout::{
        observe::{same_sums, sorted},
        reach,
    },
};

impl Layout {
    /// Returns the layout as (tile, rest), for a tile of its colexicographic indices.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the tiles reach beyond this layout or leave out coordinates;
    /// [undecided](Error::is_undecided) if the tiles reach beyond its indices and its modes interleave over more than
    /// [`SEARCH_BITS`](crate::SEARCH_BITS) offsets; otherwise those of [`Layout::complement`] and [`Layout::composition`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let divided = parse("(4,2,3):(2,1,8)").logical_divide(&parse("4:2")).unwrap();
    /// assert_eq!(divided.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// let error = parse("10:1").logical_divide(&parse("4:1")).unwrap_err();
    /// assert!(error.is_mismatch() && error.to_string().contains("12 coordinates of 10"));
    /// ```
    pub const fn logical_divide(&self, tile: &Layout) -> Result<Layout, Error> {
        let both = tri!(tile.and_rest(self.size()));
        let divided = tri!(self.coalesce().composition(&both));
        tri!(check_cover(self, tile, &both, &divided));
        Ok(divided)
    }

    /// Returns the tile, and the layout of its repetitions that fill `size` coordinates.
    const fn and_rest(&self, size: u64) -> Result<Layout, Error> {
        Layout::from_layouts(&[self, &tri!(self.complement(size))])
    }

    /// Divides like [`Layout::logical_divide`] and rounds up to whole tiles.
    pub(crate) const fn divide_up(&self, tile: &Layout) -> Result<Layout, Error> {
        let refusal = match self.logical_divide(tile) {
            Ok(divided) => return Ok(divided),
            Err(refusal) => refusal,
        };
        let both = tri!(tile.and_rest(self.size()));
        let (low, high) = reach(both.modes(), both.offset());
        let covers = low == 0 && high >= self.size() as i128 && both.exhaustive();
        if (refusal.is_mismatch() || refusal.is_undecided()) && covers && tile.size() <= self.size()
        {
            return self.coalesce().composition(&both);
        }
        Err(refusal)
    }

    /// Divides like [`Layout::logical_divide`]; only [`Layout::zipped_divide_tiler`] differs from it.
    ///
    /// # Errors
    /// Those of [`Layout::logical_divide`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (layout, tile) = (parse("24:1"), parse("(2,3):(1,4)"));
    /// // Axis 0 iterates inside the tile, axis 1 over the tiles.
    /// assert_eq!(layout.zipped_divide(&tile).unwrap().to_string(), "((2,3),(2,2)):((1,4),(2,12))");
    /// assert!(layout.zipped_divide(&parse("7:1")).unwrap_err().is_mismatch());
    /// ```
    pub const fn zipped_divide(&self, tile: &Layout) -> Result<Layout, Error> {
        self.logical_divide(tile)
    }

    /// Returns the layout as (tile, rest0, rest1, …).
    ///
    /// # Errors
    /// Those of [`Layout::logical_divide`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (layout, tile) = (parse("24:1"), parse("(2,3):(1,4)"));
    /// assert_eq!(layout.tiled_divide(&tile).unwrap().to_string(), "((2,3),2,2):((1,4),2,12)");
    /// assert!(layout.tiled_divide(&parse("5:1")).unwrap_err().is_mismatch());
    /// ```
    pub const fn tiled_divide(&self, tile: &Layout) -> Result<Layout, Error> {
        spread(&tri!(self.logical_divide(tile)), Arrangement::Tiled)
    }

    /// Returns the layout as (tile0, tile1, …, rest0, rest1, …).
    ///
    /// # Errors
    /// Those of [`Layout::logical_divide`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (layout, tile) = (parse("24:1"), parse("(2,3):(1,4)"));
    /// assert_eq!(layout.flat_divide(&tile).unwrap().to_string(), "(2,3,2,2):(1,4,2,12)");
    /// assert!(layout.flat_divide(&parse("5:1")).unwrap_err().is_mismatch());
    /// ```
    pub const fn flat_divide(&self, tile: &Layout) -> Result<Layout, Error> {
        spread(&tri!(self.logical_divide(tile)), Arrangement::Flat)
    }

    /// Divides each axis into (tile, rest) by its own tiler; an axis without a tiler, or with a kept one, is unchanged.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for more tilers than axes; otherwise those of [`Layout::logical_divide`], whose
    /// numbers then refer to the axis alone.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(6,8):(8,1)").unwrap();
    /// let by = [Tiler::Extent(3), Tiler::Extent(4)];
    /// let text = |divided: Layout| divided.to_string();
    /// assert_eq!(text(layout.logical_divide_tiler(&by).unwrap()), "((3,2),(4,2)):((8,24),(1,4))");
    /// assert_eq!(text(layout.zipped_divide_tiler(&by).unwrap()), "((3,4),(2,2)):((8,1),(24,4))");
    /// assert_eq!(text(layout.tiled_divide_tiler(&by).unwrap()), "((3,4),2,2):((8,1),24,4)");
    /// assert_eq!(text(layout.flat_divide_tiler(&by).unwrap()), "(3,4,2,2):(8,1,24,4)");
    /// assert!(layout.logical_divide_tiler(&[Tiler::Extent(4)]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "logical_divide")]
    pub const fn logical_divide_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        by_mode(self, tilers, ModeOperation::Divide)
    }

    /// Returns the layout as ((tile0, tile1, …), (rest0, rest1, …)), by mode. The tile of a kept axis is `1:0`.
    ///
    /// An axis that its tile does not divide is rounded up to whole tiles. Coordinates past its end are not elements;
    /// their offsets are those of its last mode, continued.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a tile larger than its axis; otherwise those of
    /// [`Layout::logical_divide_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let layout = Layout::parse("(10,4):(4,1)").unwrap();
    /// let zipped = layout.zipped_divide_tiler(&[Tiler::Extent(4)]).unwrap();
    /// assert_eq!(zipped.to_string(), "((4),(3,4)):((4),(16,1))");
    /// assert!(layout.zipped_divide_tiler(&[Tiler::Extent(12)]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "zipped_divide")]
    pub const fn zipped_divide_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::DivideUp, Arrangement::Zipped)
    }

    /// Returns the layout as ((tile0, tile1, …), rest0, rest1, …), by mode.
    ///
    /// # Errors
    /// Those of [`Layout::zipped_divide_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let image = Layout::parse("(4,6):(6,1)").unwrap();
    /// let tiled = image.tiled_divide_tiler(&[Tiler::Extent(2), Tiler::Extent(3)]).unwrap();
    /// // All of tile (1,0): axis 0 iterates inside the tile.
    /// assert_eq!(tiled.to_string(), "((2,3),2,2):((6,1),12,3)");
    /// assert_eq!(tiled.offset_at(&[0, 1, 0]), Ok(12));
    /// ```
    #[doc(alias = "tiled_divide")]
    pub const fn tiled_divide_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::DivideUp, Arrangement::Tiled)
    }

    /// Returns the layout as (tile0, tile1, …, rest0, rest1, …), by mode.
    ///
    /// # Errors
    /// Those of [`Layout::zipped_divide_tiler`].
    ///
    /// ```
    /// use tilewright_core::{Layout, Tiler};
    /// let image = Layout::parse("(4,6):(6,1)").unwrap();
    /// let tiled = image.flat_divide_tiler(&[Tiler::Extent(2), Tiler::Extent(3)]).unwrap();
    /// // (row in tile, column in tile, tile row, tile column).
    /// assert_eq!(tiled.to_string(), "(2,3,2,2):(6,1,12,3)");
    /// assert_eq!(tiled.offset_at(&[1, 2, 1, 1]), Ok(23));
    /// ```
    #[doc(alias = "flat_divide")]
    pub const fn flat_divide_tiler(&self, tilers: &[Tiler<'_>]) -> Result<Layout, Error> {
        gathered(self, tilers, ModeOperation::DivideUp, Arrangement::Flat)
    }
}

pub(crate) const fn plus(a: i64, b: i64) -> Result<i64, Error> {
    match a.checked_add(b) {
        Some(sum) => Ok(sum),
        None => Err(Error::overflow(
            "offsets {} and {} together",
            [a as i128, b as i128],
            "offsets must stay below 2^63",
        )),
    }
}

/// Spreads out the parts of (tile, rest).
const fn spread(divided: &Layout, form: Arrangement) -> Result<Layout, Error> {
    let (tile, rest) = (tri!(divided.get(&[0])), tri!(divided.get(&[1])));
    let mut builder = Builder::new();
    builder.open();
    match form {
        Arrangement::Zipped | Arrangement::Tiled => tri!(builder.whole(&tile)),
        Arrangement::Flat => tri!(builder.parts(&tile)),
    }
    match form {
        Arrangement::Zipped => tri!(builder.whole(&rest)),
        Arrangement::Tiled | Arrangement::Flat => tri!(builder.parts(&rest)),
    }
    tri!(builder.close());
    builder.layout(divided.offset(), divided.swizzle())
}

/// Checks that the tiles reach the offsets that the layout reaches.
const fn check_cover(
    layout: &Layout,
    tile: &Layout,
    both: &Layout,
    divided: &Layout,
) -> Result<(), Error> {
    let (low, high) = reach(both.modes(), both.offset());
    let size = layout.size() as i128;
    let exact = low == 0 && high + 1 == size && both.exhaustive();
    if exact || tri!(same_image(layout, divided)) {
        return Ok(());
    }
    if tile.size() > layout.size() {
        return Err(Error::mismatch(
            "a tile of {} coordinates of {}",
            [tile.size() as i128, size],
            "a tile must not be larger than the layout; pad the layout to the tile first",
        ));
    }
    if high + 1 > size {
        return Err(Error::mismatch(
            "the tiles reach over {} coordinates of {}",
            [high + 1, size],
            "a tile's size must divide the extent; pad the layout to whole tiles first",
        ));
    }
    let mut covered = both.size() as i128;
    if covered > size {
        covered = size;
    }
    Err(Error::mismatch(
        "the tiles reach at most {} coordinates of {}, in steps from {} to {}",
        [covered, size, low, high],
        "a tile's strides must divide one another, and its gaps must hold whole tiles",
    ))
}

/// Returns whether both reach the same offsets.
const fn same_image(a: &Layout, b: &Layout) -> Result<bool, Error> {
    let (low_a, high_a) = reach(a.modes(), a.offset());
    let (low_b, high_b) = reach(b.modes(), b.offset());
    if low_a != low_b || high_a != high_b || a.size() == 0 || b.size() == 0 {
        return Ok(false);
    }
    let (x, y) = match (ascending(a), ascending(b)) {
        (Ok(x), Ok(y)) => (x, y),
        _ => return Ok(false),
    };
    if same_modes(x.modes(), y.modes()) {
        return Ok(true);
    }
    // If no mode overlaps the next, the set of offsets determines the modes.
    if apart(x.modes()) && apart(y.modes()) { Ok(false) } else { same_sums(x.modes(), y.modes()) }
}

const fn same_modes(a: &[Mode], b: &[Mode]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i].extent() != b[i].extent() || a[i].stride() != b[i].stride() {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}

const fn apart(ascending: &[Mode]) -> bool {
    let mut i = 1;
    while i < ascending.len() {
        let (low, high) = (ascending[i - 1], ascending[i]);
        if low.extent() as i128 * low.stride() as i128 > high.stride() as i128 {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns the modes of nonzero stride, smallest |stride| first, merged where they chain.
const fn ascending(layout: &Layout) -> Result<Chain, Error> {
    let ((modes, len), mut chain, mut i) = (sorted(layout.modes()), Chain::new(), 0);
    while i < len {
        tri!(chain.push(modes[i].extent(), modes[i].stride().unsigned_abs() as i128));
        i += 1;
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{collections::BTreeSet, string::ToString, vec::Vec};

    fn set(layout: &Layout) -> BTreeSet<i64> {
        image(layout).into_iter().collect()
    }

    #[test]
    fn every_pair_of_small_layouts() {
        let mut tiles = Vec::new();
        for_each_layout(2, 1..=3, 0..=6, |tile| tiles.push(tile.clone()));
        let (mut answered, mut missed) = (0, 0);
        for_each_layout(2, 1..=4, 0..=5, |layout| {
            for tile in &tiles {
                let brute = tile.complement(layout.size()).and_then(|rest| {
                    let both = Layout::from_layouts(&[tile, &rest]).unwrap();
                    layout.coalesce().composition(&both).map(|composed| (both, composed))
                });
                match layout.logical_divide(tile) {
                    Ok(divided) => {
                        answered += 1;
                        let (both, _) = brute.unwrap();
                        assert_eq!(set(&divided), set(layout), "{layout} {tile} {divided}");
                        assert_eq!(
                            divided.get(&[0]).unwrap().shape().product(),
                            tile.shape().product()
                        );
                        assert_eq!(divided.rank(), 2);
                        for i in 0..both.size() {
                            let index = both.offset_of(i).unwrap() as u64;
                            if index < layout.size() {
                                assert_eq!(
                                    divided.offset_of(i),
                                    layout.offset_of(index),
                                    "{layout} {tile}"
                                );
                            }
                        }
                    }
                    Err(_) => {
                        // If the same offsets are reached, the division succeeds.
                        let exact = brute.is_ok_and(|(_, composed)| set(&composed) == set(layout));
                        missed += u32::from(exact);
                    }
                }
            }
        });
        assert!(answered > 20_000 && missed == 0, "{answered} {missed}");
    }

    #[test]
    fn offsets_and_swizzles_stay() {
        let parse = |text| Layout::parse(text).unwrap();
        let layout = parse("Sw<1,1,2> o 8 o (8,4):(1,8)");
        let divided = layout.logical_divide_tiler(&[Tiler::Extent(4), Tiler::Extent(2)]).unwrap();
        assert_eq!(divided.to_string(), "Sw<1,1,2> o 8 o ((4,2),(2,2)):((1,4),(8,16))");
        assert_eq!(
            layout.logical_divide(&parse("4:1")).unwrap().to_string(),
            "Sw<1,1,2> o 8 o (4,8):(1,4)"
        );
        let swizzled = parse("Sw<1,0,1> o 4:1");
        assert!(parse("8:1").logical_divide(&swizzled).unwrap_err().is_unsupported());
        let backwards = parse("12:2+5").logical_divide(&parse("4:-1+3")).unwrap();
        assert_eq!(backwards.to_string(), "(4,3):(-2,8)+11");
    }

    #[test]
    fn tiles_that_do_not_fit() {
        let parse = |text| Layout::parse(text).unwrap();
        let one = parse("1:1").logical_divide(&parse("8:1")).unwrap();
        assert_eq!(one.to_string(), "(8,1):(0,0)");
        let larger = parse("4:1").logical_divide(&parse("8:1")).unwrap_err().to_string();
        assert!(larger.starts_with("a tile of 8 coordinates of 4"), "{larger}");
        for (layout, tile) in
            [("4:1", "4:2"), ("(2,2):(4,1)", "6:1"), ("(6):(2)", "(6,3,1):(1,1,3)"), ("8:1", "0:1")]
        {
            assert!(parse(layout).logical_divide(&parse(tile)).is_err(), "{layout} {tile}");
        }
        let layout = parse("(12,(4,8)):(7,(1,30))");
        assert!(
            layout
                .zipped_divide_tiler(&[Tiler::Keep, Tiler::Extent(128)])
                .unwrap_err()
                .is_mismatch()
        );
        let kept = layout.zipped_divide_tiler(&[Tiler::Keep, Tiler::Extent(16)]).unwrap();
        assert_eq!((kept.size(), kept.rank()), (384, 2));
        assert!(layout.flat_divide_tiler(&[Tiler::Keep; 3]).unwrap_err().is_mismatch());
    }

    #[test]
    fn every_small_axis_rounded_up_to_whole_tiles() {
        let mut tiles = Vec::new();
        for_each_layout(2, 1..=3, 0..=4, |tile| tiles.push(tile.clone()));
        let mut rounded = 0;
        for_each_layout(2, 1..=4, 0..=4, |axis| {
            let whole = Layout::from_layouts(&[axis]).unwrap();
            for tile in &tiles {
                let Ok(divided) = whole.zipped_divide_tiler(&[Tiler::Layout(tile)]) else {
                    assert!(axis.logical_divide(tile).is_err(), "{axis} {tile}");
                    continue;
                };
                rounded += u32::from(axis.logical_divide(tile).is_err());
                let both = tile.and_rest(axis.size()).unwrap();
                // Every element of the axis is present, at its own offset.
                let mut seen = BTreeSet::new();
                for i in 0..both.size() {
                    let index = both.offset_of(i).unwrap() as u64;
                    if index < axis.size() {
                        seen.insert(index);
                        assert_eq!(divided.offset_of(i), axis.offset_of(index), "{axis} {tile}");
                    }
                }
                assert!(seen.len() as u64 == axis.size() || set(&divided) == set(axis));
                assert!(tile.size() <= axis.size() || set(&divided) == set(axis), "{axis} {tile}");
            }
        });
        assert!(rounded > 1_000, "{rounded}");
    }

    #[test]
    fn the_cases_of_the_documents() {
        let parse = |text| Layout::parse(text).unwrap();
        for (layout, tile, expected) in [
            ("(6,8):(8,1)", "(3,4):(1,3)", "((3,(2,2)),4):((8,(24,1)),2)"),
            ("32:1", "2:8", "(2,(8,2)):(8,(1,16))"),
            ("(6,6):(1,12)", "(6,3):(3,1)", "(((2,3),3),2):(((3,12),1),36)"),
            // All of A's 384 elements, once.
            ("(12,32)", "(4,8)", "((4,8),12):((1,4),32)"),
        ] {
            let divided = parse(layout).logical_divide(&parse(tile)).unwrap();
            assert_eq!(divided.to_string(), expected, "{layout} {tile}");
        }
        let (a, b) = (parse("3:3"), parse("(2,4):(1,8)"));
        let by = [Tiler::Layout(&a), Tiler::Layout(&b)];
        let zipped = |layout| parse(layout).zipped_divide_tiler(&by).unwrap().to_string();
        assert_eq!(
            zipped("(9,(4,8)):(59,(13,1))"),
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
        );
        assert_eq!(zipped("(9,32):(1,9)"), "((3,(2,4)),(3,4)):((3,(9,72)),(1,18))");
        // Past index 8 the last mode reaches only offsets that A also reaches.
        let (layout, tile) = ("((3,1,3)):((1,2,1))", "((3,4),(2,4)):((0,0),(1,3))");
        let divided = parse(layout).logical_divide(&parse(tile)).unwrap();
        assert_eq!(set(&divided), set(&parse(layout)));
        assert!(
            parse("(3,3):(1,1)").logical_divide(&parse("(2,5):(1,3)")).unwrap_err().is_mismatch()
        );
        let wide = parse("(5000,5000):(1,1)").logical_divide(&parse("(2500,2,5000):(1,2500,5000)"));
        assert_eq!(wide.map(|divided| divided.size()), Ok(25_000_000));
        let divided = parse("12:1").tiled_divide(&parse("3:4")).unwrap();
        assert_eq!(divided.to_string(), "(3,4):(4,1)");
        let divided = parse("24:1").flat_divide(&parse("(2,3):(1,4)")).unwrap();
        assert_eq!(divided.to_string(), "(2,3,2,2):(1,4,2,12)");
    }
}
