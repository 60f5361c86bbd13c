//! Layouts of tiles. `make_layout_tile` keeps the blocks and strides of the whole layout; `make_layout_tv` is the cell of a tile for
//! each value of each thread.
//!
//! Law: `tile_at(o, t)(c) = L(o + c)` for every c below the valid extents. An axis of modes (s0,…,sk) becomes
//! (s0,…,s(k−1), ⌈t/(s0⋯s(k−1))⌉), an axis of one mode becomes t. The valid extent is min(t, size of the axis − o).
//!
//! Defined if o is a multiple of the block s0⋯s(k−1) along each axis. Elsewhere "offset plus layout" would address
//! another element; [`Tile`](crate::Tile) keeps the origin instead.
//!
//! Source: CATLASS `include/tla/layout.hpp` (`MakeLayoutTile`, `GetTileLayout`), extended here to any rank.
//!
//! Law: with `mn = raked_product(thr, val)`, a map from the tile's cells to `thread + threads·value`, `tv(t, v)` is the
//! one cell with `mn(cell) = t + threads·v`, so every cell is owned exactly once.
//!
//! Defined iff `thr` numbers the threads 0…threads − 1, each once, and `val` the values likewise; otherwise the error
//! names a number that is missing or taken twice. [`Layout::exact_cover`] checks any thread-value layout.
//!
//! Source: the CuTe DSL's `make_layout_tv`; CUTLASS `include/cute/algorithm/` (`tiled_copy`).

use core::fmt;

use crate::{
    Coord, Error, IntTuple, Layout, MAX_MODES, Mode, algebra::inverse::cover::Survey, const_fn::tri,
};

/// The layout of a tile, and the extents of the part that is inside the whole layout.
///
/// ```
/// use tilewright_core::Layout;
/// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
/// let tile = whole.tile(&[2, 3]).unwrap();
/// assert_eq!(tile.to_string(), "((4,1),(4,1)):((4,16),(1,32)) valid (2,3)");
/// assert_eq!(whole.tile(&[4, 4]).unwrap().to_string(), "((4,1),(4,1)):((4,16),(1,32))");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTile {
    layout: Layout,
    valid: Coord,
}

impl LayoutTile {
    /// Returns the layout of the tile, with the blocks and strides of the whole layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // A tile of one 4×4 block of the TLA document's 8×12 keeps the block's strides.
    /// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// let tile = whole.tile_at(&[4, 8], &[4, 4]).unwrap();
    /// assert_eq!(tile.layout().to_string(), "((4,1),(4,1)):((4,16),(1,32))+80");
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of coordinates along each axis that are inside both the tile and the whole layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// // Rows 4 to 7 exist; 8 and 9 do not.
    /// let tile = whole.tile_at(&[4, 0], &[6, 4]).unwrap();
    /// assert_eq!(tile.valid().as_slice(), [4, 4]);
    /// ```
    #[doc(alias = "originShape")]
    pub const fn valid(&self) -> &Coord {
        &self.valid
    }
}

impl fmt::Display for LayoutTile {
    /// Writes the layout, and `valid (…)` unless all of it is valid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let valid = self.valid.as_slice();
        fmt::Display::fmt(&self.layout, f)?;
        if valid.iter().enumerate().all(|(axis, &x)| self.layout.axis_size(axis) == Some(x)) {
            return Ok(());
        }
        write!(f, " valid {}", self.valid)
    }
}

impl Layout {
    /// Returns the tile of `shape` coordinates at the origin, one integer per axis.
    ///
    /// # Errors
    /// Those of [`Layout::tile_at`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let zn = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// // A 32×48 tile of an Ascend zN matrix: two blocks by three.
    /// let tile = zn.tile(&[32, 48]).unwrap();
    /// assert_eq!(tile.layout().to_string(), "((16,2),(16,3)):((16,256),(1,1792))");
    /// assert!(zn.tile(&[32]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "make_layout_tile")]
    #[doc(alias = "MakeLayoutTile")]
    #[doc(alias = "GetTileLayout")]
    pub const fn tile(&self, shape: &[u64]) -> Result<LayoutTile, Error> {
        self.tile_at(Coord::origin(self.rank()).as_slice(), shape)
    }

    /// Returns the tile of `shape` coordinates that begins at `origin`; both have one integer per axis.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the ranks differ; [illegal](Error::is_illegal) for a tile of extent 0;
    /// [out of range](Error::is_out_of_range) if the origin is outside the layout; [unsupported](Error::is_unsupported) if the
    /// origin is not on whole blocks.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // TLA's zN of 4-byte elements.
    /// let zn = Layout::parse("((16,7),(8,13)):((8,128),(1,896))").unwrap();
    /// let tile = zn.tile_at(&[16, 8], &[32, 16]).unwrap();
    /// assert_eq!(tile.to_string(), "((16,2),(8,2)):((8,128),(1,896))+1024");
    /// let error = zn.tile_at(&[6, 10], &[32, 16]).unwrap_err();
    /// assert!(error.is_unsupported() && error.to_string().contains("blocks of 16"));
    /// ```
    pub const fn tile_at(&self, origin: &[u64], shape: &[u64]) -> Result<LayoutTile, Error> {
        let rank = self.rank();
        if origin.len() != rank || shape.len() != rank {
            return Err(Error::mismatch(
                "an origin of {} and a tile of {} integers for {} axes",
                [origin.len() as i128, shape.len() as i128, rank as i128],
                "give one per axis",
            ));
        }
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < self.modes().len() {
            modes[i] = self.modes()[i];
            i += 1;
        }
        let (mut valid, mut offset, mut axis) = (Coord::EMPTY, self.offset(), 0);
        while let Some((from, to)) = self.profile().axis(axis) {
            let (block, left) = tri!(cut(self, axis, (from, to), origin[axis], shape[axis]));
            // Inside the domain, I2 bounds the sum.
            offset += (origin[axis] / block) as i64 * modes[to - 1].stride();
            modes[to - 1] = Mode::new(shape[axis].div_ceil(block), modes[to - 1].stride());
            valid.push(if shape[axis] < left { shape[axis] } else { left });
            axis += 1;
        }
        let modes = modes.split_at(self.modes().len()).0;
        let layout = tri!(Layout::new(modes, self.profile(), offset, self.swizzle()));
        Ok(LayoutTile { layout, valid })
    }
}

/// Returns the block that an axis repeats (all of its modes but the last), and the extent of the axis from the
/// tile's origin on.
const fn cut(
    layout: &Layout,
    axis: usize,
    (from, to): (usize, usize),
    origin: u64,
    shape: u64,
) -> Result<(u64, u64), Error> {
    let (mut block, mut i) = (1, from);
    while i + 1 < to {
        block *= layout.modes()[i].extent();
        i += 1;
    }
    let size = block * layout.modes()[to - 1].extent();
    if shape == 0 {
        return Err(Error::illegal(
            "a tile of extent {} along axis {}",
            [0, axis as i128],
            "tiles have one coordinate or more",
        ));
    }
    if origin >= size {
        return Err(Error::out_of_range(
            "a tile from {} on along axis {}, which has {}",
            [origin as i128, axis as i128, size as i128],
            "a tile begins inside the layout",
        ));
    }
    if !origin.is_multiple_of(block) {
        return Err(Error::unsupported(
            "a tile from {} on along axis {}, which repeats blocks of {}",
            [origin as i128, axis as i128, block as i128],
            "begin at a multiple of the block, or take a `Tile`, which keeps its origin",
        ));
    }
    Ok((block, size - origin))
}

/// A tile and the layout (thread, value) → cell; cells are colexicographic indices of the tile.
///
/// ```
/// use tilewright_core::{Layout, LayoutTv};
/// let parse = |text| Layout::parse(text).unwrap();
/// let tv = LayoutTv::new(&parse("(2,3):(3,1)"), &parse("(2,2):(2,1)")).unwrap();
/// assert_eq!(tv.tile().to_string(), "(4,6)");
/// assert_eq!(tv.layout().to_string(), "((3,2),(2,2)):((8,2),(4,1))");
/// // Value 3 of thread 4 is cell (3,3).
/// assert_eq!(tv.layout().offset_at(&[4, 3]), Ok(15));
///
/// let error = LayoutTv::new(&parse("(2,3):(4,1)"), &parse("2:1")).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains("position 5 is thread 6 of 6"));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "make_layout_tv")]
pub struct LayoutTv {
    tile: IntTuple,
    layout: Layout,
}

impl LayoutTv {
    /// Creates the thread-value layout of threads arranged as `thr`, each with values arranged as `val`.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if `thr` or `val` omits a number or has one twice; [illegal](Error::is_illegal) if one
    /// is empty; [unsupported](Error::is_unsupported) for a layout with a swizzle.
    ///
    /// ```
    /// use tilewright_core::{Layout, LayoutTv};
    /// // A warp as 4×8 threads, each with two neighbours of a row.
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let tv = LayoutTv::new(&parse("(4,8):(8,1)"), &parse("(1,2):(2,1)")).unwrap();
    /// assert_eq!(tv.tile().to_string(), "(4,16)");
    /// // A thread with two numbers would own a cell twice.
    /// assert!(LayoutTv::new(&parse("(2,2):(1,1)"), &parse("2:1")).unwrap_err().is_mismatch());
    /// ```
    pub const fn new(thr: &Layout, val: &Layout) -> Result<LayoutTv, Error> {
        tri!(check_numbers(thr, true));
        tri!(check_numbers(val, false));
        let mn = tri!(thr.raked_product(val));
        let flat = tri!(Layout::flat(&[
            Mode::new(thr.size(), 1),
            Mode::new(val.size(), thr.size() as i64),
        ]));
        let layout = tri!(tri!(mn.right_inverse()).composition(&flat));
        let tile = tri!(mn.shape().product_each());
        Ok(LayoutTv { tile, layout })
    }

    /// Returns the extents of the tile.
    ///
    /// ```
    /// use tilewright_core::{Layout, LayoutTv};
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let tv = LayoutTv::new(&parse("(2,3):(3,1)"), &parse("(4,1):(1,0)")).unwrap();
    /// // 2×3 threads of 4×1 values each.
    /// assert_eq!(tv.tile().to_string(), "(8,3)");
    /// ```
    #[doc(alias = "tiler_mn")]
    pub const fn tile(&self) -> &IntTuple {
        &self.tile
    }

    /// Returns the layout (thread, value) → cell.
    ///
    /// ```
    /// use tilewright_core::{Layout, LayoutTv};
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let tv = LayoutTv::new(&parse("(2,3):(3,1)"), &parse("(4,1):(1,0)")).unwrap();
    /// // Thread 3 begins the second row of threads: its values are rows 4 to 7 of column 0.
    /// let cells: Vec<i64> = (0..4).map(|v| tv.layout().offset_at(&[3, v]).unwrap()).collect();
    /// assert_eq!(cells, [4, 5, 6, 7]);
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Checks that the layout numbers its coordinates 0…size − 1, each once.
const fn check_numbers(layout: &Layout, threads: bool) -> Result<(), Error> {
    if !layout.swizzle().is_identity() {
        return Err(Error::unsupported(
            "threads or values numbered under a swizzle of {} bits above the lowest {}",
            layout.swizzle().numbers(),
            "arrange them with a plain layout",
        ));
    }
    let size = layout.size();
    if size == 0 {
        return Err(Error::illegal("{} threads or values", [0], "give one at least"));
    }
    let legal = "a compact layout numbers its coordinates from 0, each once";
    let survey = tri!(Survey::of(layout, size));
    if survey.is_exact() {
        return Ok(());
    }
    if let Some((index, number)) = survey.outside {
        let numbers = [index as i128, number, size as i128];
        return Err(if threads {
            Error::mismatch("position {} is thread {} of {}", numbers, legal)
        } else {
            Error::mismatch("position {} is value {} of {}", numbers, legal)
        });
    }
    match (survey.missing, survey.double) {
        (_, Some((number, a, b))) => {
            let numbers = [number as i128, a as i128, b as i128];
            Err(if threads {
                Error::mismatch("thread {} is at positions {} and {}", numbers, legal)
            } else {
                Error::mismatch("value {} is at positions {} and {}", numbers, legal)
            })
        }
        (Some(number), None) => {
            let numbers = [number as i128, size as i128];
            Err(if threads {
                Error::mismatch("no thread has number {} of {}", numbers, legal)
            } else {
                Error::mismatch("no value has number {} of {}", numbers, legal)
            })
        }
        (None, None) => Err(Error::undecided(
            "whether {} threads or values are numbered once each is undecided",
            [size as i128],
            legal,
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::{string::ToString, vec::Vec};

    use super::*;
    use crate::small::{for_each_layout, image};

    #[test]
    fn every_tile_of_every_small_layout() {
        let mut tiles = 0;
        for_each_layout(3, 1..=3, 0..=5, |flat| {
            if flat.rank() < 3 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[2, 1]).unwrap();
            let (rows, columns) = (layout.axis_size(0).unwrap(), layout.axis_size(1).unwrap());
            let block = layout.modes()[0].extent();
            for origin in (0..=rows).flat_map(|x| [0, columns - 1].map(|y| [x, y])) {
                for shape in [[1, 1], [2, 3], [4, 1], [5, 2]] {
                    let Ok(tile) = layout.tile_at(&origin, &shape) else {
                        assert!(origin[0] == rows || origin[0] % block != 0);
                        continue;
                    };
                    tiles += 1;
                    let valid = tile.valid().as_slice();
                    assert_eq!(
                        valid,
                        [shape[0].min(rows - origin[0]), shape[1].min(columns - origin[1])]
                    );
                    for x in 0..valid[0] {
                        for y in 0..valid[1] {
                            let whole = layout.offset_at(&[origin[0] + x, origin[1] + y]);
                            assert_eq!(tile.layout().offset_at(&[x, y]), whole, "{layout} {tile}");
                        }
                    }
                }
            }
        });
        assert!(tiles > 90_000, "{tiles}");
    }

    #[test]
    fn what_is_no_tile() {
        let layout = Layout::parse("(8,12):(12,1)").unwrap();
        assert!(layout.tile(&[2]).unwrap_err().is_mismatch());
        assert!(layout.tile(&[2, 0]).unwrap_err().is_illegal());
        assert!(layout.tile_at(&[8, 0], &[1, 1]).unwrap_err().is_out_of_range());
        assert!(layout.tile(&[u64::MAX, 1]).unwrap_err().is_overflow());
        assert!(Layout::parse("(0,4)").unwrap().tile(&[1, 1]).unwrap_err().is_out_of_range());
    }

    #[test]
    fn every_pair_of_small_arrangements_owns_every_cell_once() {
        let mut all = Vec::new();
        for_each_layout(2, 1..=3, 0..=3, |layout| all.push(layout.clone()));
        let mut made = 0;
        for thr in &all {
            for val in &all {
                let exact = |layout: &Layout| {
                    let mut numbers = image(layout);
                    numbers.sort_unstable();
                    numbers == (0..layout.size() as i64).collect::<Vec<_>>()
                };
                let tv = match LayoutTv::new(thr, val) {
                    Ok(tv) => tv,
                    Err(error) => {
                        assert!(!exact(thr) || !exact(val), "{thr} {val} {error}");
                        continue;
                    }
                };
                made += 1;
                assert!(exact(thr) && exact(val));
                let cells = tv.tile().product().unwrap() as u64;
                assert_eq!(tv.layout().exact_cover(cells), Ok(()));
                let mn = thr.raked_product(val).unwrap();
                for t in 0..thr.size() {
                    for v in 0..val.size() {
                        let cell = tv.layout().offset_at(&[t, v]).unwrap();
                        assert_eq!(mn.offset_of(cell as u64), Ok((t + v * thr.size()) as i64));
                    }
                }
            }
        }
        assert!(made > 500, "{made}");
    }

    #[test]
    fn numbers_missing_or_twice_are_named() {
        let parse = |text| Layout::parse(text).unwrap();
        let error = |thr, val| LayoutTv::new(&parse(thr), &parse(val)).unwrap_err().to_string();
        assert!(error("(2,2):(1,1)", "2:1").starts_with("thread 1 is at positions"));
        assert!(error("4:1", "2:0").starts_with("value 0 is at positions 0 and 1"));
        assert!(error("4:1+1", "2:1").starts_with("position 3 is thread 4 of 4"));
        assert!(error("0:1", "2:1").starts_with("0 threads"));
        assert!(error("Sw<1,0,1> o 4:1", "2:1").contains("a swizzle of 1 bits above the lowest 0"));
    }
}
