//! The bounds of a picture. Parts that are left out are shown as `…`, and counted in a note. All pictures use them.
//!
//! Law: whatever the layout, at most [`Limits::cells`] cells of grids are drawn, and at most that number of memory; and
//! at most [`MOST`] whatever the limits. So the time and memory for a picture depend on its own size, not on the
//! layout's.

/// The most cells of grids, and of memory, whatever the limits.
pub const MOST: u64 = 1 << 16;

/// The bounds of a picture.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_draw::{Limits, Subject, grid};
/// let huge = TensorLayout::row_major(&[1_000_000, 1_000_000])?;
/// let scene = grid(&Subject::new(&huge), &Limits { rows: 4, columns: 4, ..Limits::default() })?;
/// assert_eq!(scene.panels().next().map(|panel| panel.cells.len()), Some(16));
/// assert_eq!(scene.notes, ["left out: 999997 of 1000000 rows, 999997 of 1000000 columns"]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most rows of one grid.
    pub rows: u64,
    /// The most columns of one grid.
    pub columns: u64,
    /// The most grids, for arrays of more than two dims.
    pub panels: u64,
    /// The most cells of all grids together, and of memory. Each of them has at least one cell if it is drawn.
    pub cells: u64,
}

impl Default for Limits {
    /// Grids of 32 rows and 32 columns, 8 of them, 2048 cells.
    fn default() -> Limits {
        Limits { rows: 32, columns: 32, panels: 8, cells: 2048 }
    }
}

impl Limits {
    /// Returns the limits that apply: at least one of everything, at most [`MOST`] cells in all.
    pub(crate) fn kept(&self) -> Limits {
        let cells = self.cells.clamp(1, MOST);
        let columns = self.columns.clamp(1, cells);
        let rows = self.rows.clamp(1, (cells / columns).max(1));
        Limits { rows, columns, panels: self.panels.clamp(1, cells), cells }
    }

    /// Returns the number of grids of `cells` cells each that are drawn.
    pub(crate) fn grids(&self, cells: u64) -> u64 {
        self.panels.min(self.cells / cells.max(1)).max(1)
    }
}

/// The facts about a dim that decide which part of it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<'a> {
    /// The number of coordinates, padding included.
    pub(crate) extent: u64,
    /// The number of coordinates of elements.
    pub(crate) real: u64,
    /// The sizes of tiles, inner first.
    pub(crate) tiles: &'a [u64],
}

/// Returns the coordinates along a dim that are drawn, `None` for a gap: the first ones, up to the end of a tile if
/// that costs little, and the last few. If padding is so long that it would be all of the last ones, the last elements
/// are shown too.
pub(crate) fn shown(reach: Reach<'_>, most: u64) -> Vec<Option<u64>> {
    let Reach { extent, real, tiles } = reach;
    if extent <= most {
        return (0..extent).map(Some).collect();
    }
    if most < 3 {
        return (0..most.saturating_sub(1)).map(Some).chain([None]).collect();
    }
    let tail = (most / 8).max(1);
    let elements = tail.div_ceil(2);
    // Padding that hides the last elements: these are shown before it, after their own gap.
    let apart = tail > 1 && extent.saturating_sub(real) >= tail && real >= most;
    let head = most - 1 - tail - u64::from(apart);
    let whole = |size: &u64| head - head % (*size).max(1);
    let fits = tiles.iter().rev().map(whole).find(|&whole| whole >= head - head / 4);
    let first = (0..fits.unwrap_or(head)).map(Some).chain([None]);
    if apart {
        let last = (real - elements..real).map(Some).chain([None]);
        return first.chain(last).chain((extent - (tail - elements)..extent).map(Some)).collect();
    }
    first.chain((extent - tail..extent).map(Some)).collect()
}

/// Returns those of the shown coordinates that are within this extent, without a gap at the end.
pub(crate) fn within(shown: &[Option<u64>], extent: u64) -> Vec<Option<u64>> {
    let mut kept: Vec<Option<u64>> =
        shown.iter().copied().filter(|x| x.is_none_or(|x| x < extent)).collect();
    let end = kept.iter().flatten().next_back().map_or(0, |last| last + 1);
    if end == extent && kept.last() == Some(&None) {
        kept.pop();
    }
    kept
}

/// Returns the number of the `extent` coordinates that are not shown.
pub(crate) fn missing(extent: u64, shown: &[Option<u64>]) -> u64 {
    extent - shown.iter().flatten().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_fits_and_ascends() {
        for extent in 0..40 {
            for (real, most) in (0..=extent).flat_map(|real| (1..40).map(move |most| (real, most)))
            {
                for tiles in [&[][..], &[1], &[2, 4], &[0], &[5, 100]] {
                    let shown = shown(Reach { extent, real, tiles }, most);
                    assert!(shown.len() as u64 <= most.max(1), "{extent} {real} {most} {tiles:?}");
                    let all: Vec<u64> = shown.iter().flatten().copied().collect();
                    assert!(all.is_sorted_by(|a, b| a < b) && all.iter().all(|&x| x < extent));
                    assert_eq!(missing(extent, &shown) == 0, !shown.contains(&None));
                    let seen = real == 0 || most < 16 || all.contains(&(real - 1));
                    assert!(seen || real < most, "{extent} {real} {most}: {shown:?}");
                    let part = within(&shown, real);
                    assert_eq!(missing(real, &part) == 0, !part.contains(&None), "{part:?} {real}");
                }
            }
        }
        let (one, gap) = (Some, None);
        let of = |extent, real, tiles, most| shown(Reach { extent, real, tiles }, most);
        assert_eq!(of(100, 100, &[2, 4], 8)[5..], [one(5), gap, one(99)]);
        assert_eq!(of(100, 100, &[5], 8)[4..], [one(4), gap, one(99)]);
        assert_eq!(of(u64::MAX, u64::MAX, &[], 3), [one(0), gap, one(u64::MAX - 1)]);
        let padded = of(208, 200, &[16], 32);
        assert_eq!(padded[25..], [one(25), gap, one(198), one(199), gap, one(206), one(207)]);
        assert_eq!(within(&padded, 200)[25..], [one(25), gap, one(198), one(199)]);
    }

    #[test]
    fn limits_are_bounded() {
        let all = u64::MAX;
        let limits = Limits { rows: all, columns: all, panels: all, cells: all }.kept();
        assert!(limits.rows * limits.columns <= MOST && limits.panels <= MOST);
        let none = Limits { rows: 0, columns: 0, panels: 0, cells: 0 }.kept();
        assert_eq!((none.rows, none.columns, none.panels, none.cells), (1, 1, 1, 1));
    }
}
