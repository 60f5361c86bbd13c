//! `exact_cover`: checks that every cell has exactly one owner, and finds cells with none or two.
//!
//! Law: `exact_cover(L, n)` is `Ok` iff L maps its coordinates one to one onto 0…n − 1. Otherwise the error names a
//! coordinate outside, or the first cell without an owner and the first with two. Coordinates are colexicographic indices.

use crate::{
    Error, Layout, MAX_MODES, SEARCH_BITS, Swizzle, layout::index::Solver, layout::reach,
    macros::tri,
};

impl Layout {
    /// Checks that this layout maps its coordinates one to one onto the cells 0…`cells` − 1.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) with the cells at fault; [undecided](Error::is_undecided) if the first
    /// [`SEARCH_BITS`] cells have one owner each and the others cannot be decided; [unsupported](Error::is_unsupported) for a
    /// swizzle whose window does not divide the number of cells.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("((3,2),(2,2)):((8,2),(4,1))").exact_cover(24), Ok(()));
    /// let error = parse("(4,2):(1,3)").exact_cover(8).unwrap_err();
    /// assert!(error.to_string().starts_with("cell 7 has no owner, cell 3 has two: coordinates"));
    /// ```
    pub const fn exact_cover(&self, cells: u64) -> Result<(), Error> {
        let swizzle = self.swizzle();
        if !cells.is_multiple_of(swizzle.window()) {
            return Err(Error::unsupported(
                "{} cells under a swizzle of windows of {}",
                [cells as i128, swizzle.window() as i128],
                "a swizzle permutes whole windows; round the number of cells up",
            ));
        }
        // The search ignores the swizzle, which permutes the cells.
        let survey = tri!(Survey::of(&tri!(self.with_swizzle(Swizzle::IDENTITY)), cells));
        if survey.is_exact() { Ok(()) } else { Err(survey.error(self, cells)) }
    }
}

/// The owners of the cells 0…n − 1, as far as they violate the law.
pub(crate) struct Survey {
    exact: bool,
    /// A coordinate, by index, and the cell outside that it owns.
    pub(crate) outside: Option<(u64, i128)>,
    /// The first cell without an owner.
    pub(crate) missing: Option<u64>,
    /// The first cell with two owners, and two of them.
    pub(crate) double: Option<(u64, u64, u64)>,
}

impl Survey {
    /// Surveys an affine layout; looks at the first [`SEARCH_BITS`] cells one by one if necessary.
    pub(crate) const fn of(layout: &Layout, cells: u64) -> Result<Survey, Error> {
        let mut survey =
            Survey { exact: false, outside: outside(layout, cells), missing: None, double: None };
        if survey.outside.is_some() {
            return Ok(survey);
        }
        survey.exact = layout.size() == cells && matches!(layout.injective(), Ok(true));
        if !survey.exact {
            tri!(survey.search(layout, cells));
        }
        Ok(survey)
    }

    pub(crate) const fn is_exact(&self) -> bool {
        self.exact
    }

    const fn search(&mut self, layout: &Layout, cells: u64) -> Result<(), Error> {
        let mut cell = 0;
        while cell < cells && cell < SEARCH_BITS as u64 {
            let mut owners = Solver::new(layout, cell as i64);
            match tri!(owners.next()) {
                None if self.missing.is_none() => self.missing = Some(cell),
                None => {}
                Some(first) if self.double.is_none() => {
                    let first = index_of(layout, &first);
                    // For a mode of stride 0, the solver returns the first coordinate only.
                    let second = match repeat(layout) {
                        Some(step) => Some(first + step),
                        None => match tri!(owners.next()) {
                            Some(second) => Some(index_of(layout, &second)),
                            None => None,
                        },
                    };
                    if let Some(second) = second {
                        self.double = Some((cell, first, second));
                    }
                }
                Some(_) => {}
            }
            if self.missing.is_some() && self.double.is_some() {
                break;
            }
            cell += 1;
        }
        Ok(())
    }

    /// The error about the cells of `layout`, which may have a swizzle.
    const fn error(&self, layout: &Layout, cells: u64) -> Error {
        let legal = "every cell is owned by exactly one coordinate";
        if let Some((index, cell)) = self.outside {
            return Error::mismatch(
                "coordinate {} owns cell {}, outside the {} cells",
                [index as i128, cell, cells as i128],
                legal,
            );
        }
        let missing = match self.missing {
            Some(cell) => layout.swizzled(cell as i64) as i128,
            None => -1,
        };
        match self.double {
            Some((cell, a, b)) => {
                let cell = layout.swizzled(cell as i64) as i128;
                if missing < 0 {
                    let numbers = [cell, a as i128, b as i128];
                    return Error::mismatch(
                        "cell {} has two owners: coordinates {} and {}",
                        numbers,
                        legal,
                    );
                }
                Error::mismatch(
                    "cell {} has no owner, cell {} has two: coordinates {} and {}",
                    [missing, cell, a as i128, b as i128],
                    legal,
                )
            }
            None if missing < 0 => Error::undecided(
                "the first {} cells have one owner each; later cells were not searched",
                [SEARCH_BITS as i128],
                legal,
            ),
            None => Error::mismatch("cell {} has no owner", [missing], legal),
        }
    }
}

/// Returns a coordinate whose offset is not a cell, and that offset.
const fn outside(layout: &Layout, cells: u64) -> Option<(u64, i128)> {
    let (low, high) = reach(layout.modes(), layout.offset());
    if layout.size() == 0 || (low >= 0 && high < cells as i128) {
        return None;
    }
    let (mut index, mut step, mut i) = (0, 1, 0);
    while i < layout.modes().len() {
        let mode = layout.modes()[i];
        if (mode.stride() < 0) == (low < 0) {
            index += (mode.extent() - 1) * step;
        }
        step *= mode.extent();
        i += 1;
    }
    Some((index, if low < 0 { low } else { high }))
}

/// Returns the index step of the first mode that repeats its offsets.
const fn repeat(layout: &Layout) -> Option<u64> {
    let (mut step, mut i) = (1, 0);
    while i < layout.modes().len() {
        let mode = layout.modes()[i];
        if mode.stride() == 0 && mode.extent() > 1 {
            return Some(step);
        }
        step *= mode.extent();
        i += 1;
    }
    None
}

const fn index_of(layout: &Layout, leaves: &[u64; MAX_MODES]) -> u64 {
    let (mut index, mut i) = (0, layout.modes().len());
    while i > 0 {
        i -= 1;
        index = index * layout.modes()[i].extent() + leaves[i];
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{format, string::ToString, vec::Vec};

    #[test]
    fn every_small_layout() {
        for_each_layout(3, 1..=3, -2..=6, |layout| {
            let mut all = image(layout);
            all.sort_unstable();
            for cells in [layout.size(), layout.cosize().max(0) as u64] {
                let exact = all == (0..cells as i64).collect::<Vec<_>>();
                let answer = layout.exact_cover(cells);
                assert_eq!(answer.is_ok(), exact, "{layout} {cells}");
                let Err(error) = answer else { continue };
                let text = error.to_string();
                let count = |cell: u64| all.iter().filter(|&&x| x == cell as i64).count();
                if text.starts_with("coordinate") {
                    assert!(all[0] < 0 || all[all.len() - 1] >= cells as i64);
                    continue;
                }
                let missing = (0..cells).find(|&cell| count(cell) == 0);
                let double = (0..cells).find(|&cell| count(cell) > 1);
                if let Some(missing) = missing {
                    assert!(
                        text.contains(&format!("cell {missing} has no owner")),
                        "{layout} {text}"
                    );
                }
                if let Some(double) = double {
                    assert!(text.contains(&format!("cell {double} has two")), "{layout} {text}");
                    let pair =
                        text.split("coordinates ").nth(1).unwrap().split(';').next().unwrap();
                    let pair: Vec<u64> = pair.split(" and ").map(|x| x.parse().unwrap()).collect();
                    assert!(pair[0] != pair[1]);
                    for index in pair {
                        assert_eq!(layout.offset_of(index), Ok(double as i64), "{layout} {text}");
                    }
                }
            }
        });
    }

    #[test]
    fn swizzles_permute_the_cells() {
        let parse = |text| Layout::parse(text).unwrap();
        assert_eq!(parse("Sw<1,0,1> o (4,4):(4,1)").exact_cover(16), Ok(()));
        let error = parse("Sw<1,0,1> o (2,4):(1,4)").exact_cover(16).unwrap_err();
        assert!(error.to_string().starts_with("cell 3 has no owner"), "{error}");
        assert!(parse("Sw<2,0,2> o 6:1").exact_cover(6).unwrap_err().is_unsupported());
        assert_eq!(parse("(0,3):(1,1)").exact_cover(0), Ok(()));
    }
}
