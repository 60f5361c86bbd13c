//! `make_layout_tv`: the cell of a tile for each value of each thread.
//!
//! Law: with `mn = raked_product(thr, val)`, a map from the tile's cells to `thread + threads·value`, `tv(t, v)` is the
//! one cell with `mn(cell) = t + threads·v`, so every cell is owned exactly once.
//!
//! Defined iff `thr` numbers the threads 0…threads − 1, each once, and `val` the values likewise; otherwise the error
//! names a number that is missing or taken twice. [`Layout::exact_cover`] checks any thread-value layout.
//!
//! Source: the CuTe DSL's `make_layout_tv`; CUTLASS `include/cute/algorithm/` (`tiled_copy`).

use crate::algebra::inverse::cover::Survey;
use crate::{Error, IntTuple, Layout, Mode, macros::tri};

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
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{string::ToString, vec::Vec};

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
