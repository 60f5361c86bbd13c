//! `exact_cover`: checks that every cell has exactly one owner, and finds cells with none or two. `complement`: the layout of the
//! copies that fill what a layout leaves uncovered.
//!
//! Law: `exact_cover(L, n)` is `Ok` iff L maps its coordinates one to one onto 0…n − 1. Otherwise the error names a
//! coordinate outside, or the first cell without an owner and the first with two. Coordinates are colexicographic indices.
//!
//! Law: drop L's modes of stride 0 and take absolute strides. Then no two coordinates of `(L, complement(L, n))` share an
//! offset, and no further step of their largest stride begins below n (so without gaps, every offset below n is reached).
//! The strides of the complement ascend. Offset, signs and swizzle of L do not matter: they move or permute whole
//! offsets.
//!
//! Defined iff L, sorted by stride, is a chain: each stride d' is at least s·d of the mode s:d before it. Otherwise
//! modes interleave and the complement is refused, whether L is injective or not. If s·d does not divide d', the offsets of
//! the last incomplete step stay uncovered; [`Layout::complement_gap`] returns the first of them. A complement never has an
//! extent of 0. This excludes nothing useful: a layout whose copies cover 0, 1, 2, … without overlap is a chain of divisors.
//!
//! Source: CUTLASS `include/cute/layout.hpp` (`complement`); the canonical form is the same.

use crate::{
    Error, Layout, MAX_MODES, Mode, SEARCH_BITS, Swizzle,
    algebra::nested::walk::Chain,
    const_fn::tri,
    layout::{index::Solver, observe::sorted, reach},
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

impl Layout {
    /// Returns the layout that repeats this one over at least `n` offsets without overlap.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if modes interleave; [illegal](Error::is_illegal) for a layout without
    /// coordinates; [overflow](Error::is_overflow) beyond 64 bits.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(2,2):(1,6)").complement(24).unwrap().to_string(), "(3,2):(2,12)");
    /// assert_eq!(parse("(4,6):(1,4)").complement(24).unwrap().to_string(), "1:0");
    /// // Injective, but 5 is below 12·3.
    /// let error = parse("(2,12):(5,3)").complement(24).unwrap_err();
    /// assert!(error.is_unsupported() && error.to_string().contains("injective, but modes interleave"));
    /// ```
    pub const fn complement(&self, n: u64) -> Result<Layout, Error> {
        self.complement_of(n, 1)
    }

    /// Returns the complement over at least `n` offsets with at least `count` coordinates.
    pub(crate) const fn complement_of(&self, n: u64, count: u64) -> Result<Layout, Error> {
        if self.size() == 0 {
            return Err(Error::illegal(
                "the complement over {} offsets of a layout without coordinates",
                [n as i128],
                "give the layout one coordinate at least",
            ));
        }
        let (modes, len) = sorted(self.modes());
        let (mut chain, mut current, mut size, mut i) = (Chain::new(), 1u128, 1u128, 0);
        while i < len {
            let (extent, stride) = (modes[i].extent(), modes[i].stride().unsigned_abs() as u128);
            if stride < current {
                return Err(interleaved(self, modes[i - 1], modes[i]));
            }
            tri!(chain.push((stride / current) as u64, current as i128));
            // Below `current`, which is below 2^64.
            size *= stride / current;
            current = stride * extent as u128;
            i += 1;
        }
        let (rest, repeats) = ((n as u128).div_ceil(current), (count as u128).div_ceil(size));
        let rest = if rest > repeats { rest } else { repeats };
        tri!(chain.push(if rest == 0 { 1 } else { rest as u64 }, current as i128));
        chain.layout(0)
    }

    /// Returns the complement up to this layout's own reach, which fills its gaps.
    ///
    /// # Errors
    /// Those of [`Layout::complement`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// assert_eq!(Layout::parse("(2,2):(4,1)").unwrap().complement_within().unwrap().to_string(), "2:2");
    /// ```
    #[doc(alias = "complement")]
    pub const fn complement_within(&self) -> Result<Layout, Error> {
        let (modes, mut reach, mut i) = (self.modes(), 1u128, 0);
        while i < modes.len() {
            reach += modes[i].reach().unsigned_abs();
            i += 1;
        }
        // I2 keeps the reach below 2^63.
        self.complement(reach as u64)
    }

    /// Returns the first range of offsets, `from..to`, that this layout and its complement together do not reach, counted
    /// from this layout's smallest offset. It is the end of a step of one stride that the smaller modes do not fill. `None` if
    /// every offset is reached, or if the complement does not exist.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // 4:1 fits once below stride 6.
    /// let gappy = Layout::parse("(4,6):(1,6)").unwrap();
    /// assert_eq!(gappy.complement(48).unwrap().to_string(), "2:36");
    /// assert_eq!(gappy.complement_gap(), Some((4, 6)));
    /// assert_eq!(Layout::parse("(4,6):(1,8)").unwrap().complement_gap(), None);
    /// ```
    pub const fn complement_gap(&self) -> Option<(u64, u64)> {
        let (modes, len) = sorted(self.modes());
        let (mut current, mut i) = (1u128, 0);
        while i < len {
            let stride = modes[i].stride().unsigned_abs() as u128;
            if stride < current {
                return None;
            }
            if !stride.is_multiple_of(current) {
                return Some(((stride / current * current) as u64, stride as u64));
            }
            current = stride * modes[i].extent() as u128;
            i += 1;
        }
        None
    }
}

/// The error for neighbours by stride, `low` and `high`, that overlap.
const fn interleaved(layout: &Layout, low: Mode, high: Mode) -> Error {
    let numbers = [
        low.extent() as i128,
        low.stride().unsigned_abs() as i128,
        high.extent() as i128,
        high.stride().unsigned_abs() as i128,
    ];
    let legal = "each stride is at least extent times stride of the mode below it; compose with a layout \
                 whose modes do not interleave, or list the offsets";
    match layout.injective_apart() {
        Ok(true) => Error::unsupported(
            "injective, but modes interleave: {}:{} reaches over the stride of {}:{}, so no layout fills the gaps",
            numbers,
            legal,
        ),
        Ok(false) => Error::unsupported(
            "not injective: {}:{} and {}:{} reach a common offset, so it has no complement",
            numbers,
            legal,
        ),
        Err(_) => Error::unsupported(
            "modes interleave: {}:{} reaches over the stride of {}:{}, so no layout fills the gaps",
            numbers,
            legal,
        ),
    }
}

impl Layout {
    /// Returns whether the modes of nonzero stride never collide.
    pub(crate) const fn injective_apart(&self) -> Result<bool, Error> {
        tri!(self.filter_zeros()).injective()
    }
}

#[cfg(test)]
mod tests {
    use std::{format, string::ToString, vec, vec::Vec};

    use super::*;
    use crate::small::{for_each_layout, image};

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

    /// Checks the law; bits are counted from the smallest offset.
    fn check(layout: &Layout, n: u64, rest: &Layout) {
        let filtered = layout.filter_zeros().unwrap();
        let (low, _) = filtered.bounds().unwrap();
        let (a, b) = (image(&filtered), image(rest));
        let top = a.iter().max().unwrap() - low + b.iter().max().unwrap() + 1;
        let mut seen = vec![false; top as usize];
        for x in &b {
            for y in &a {
                let cell = &mut seen[(x + y - low) as usize];
                assert!(!*cell, "{layout} {n} {rest}");
                *cell = true;
            }
        }
        let modes = filtered.modes().iter().chain(rest.modes());
        let end = modes.map(|mode| mode.extent() * mode.stride().unsigned_abs()).max();
        assert!(end.max(Some(1)) >= Some(n), "{layout} {n} {rest}");
        let strides: Vec<i64> = rest.modes().iter().map(|mode| mode.stride()).collect();
        assert!(strides.is_sorted() && rest.modes().iter().all(|mode| mode.extent() > 0));
        assert_eq!(rest.size() == 1, rest.to_string() == "1:0");
        match layout.complement_gap() {
            // The reached offsets do not depend on n: the first hole below the reach is the gap.
            Some((from, to)) => {
                assert!(
                    !seen[from as usize..to.min(top as u64) as usize].contains(&true),
                    "{layout} {rest}"
                );
                assert!(seen[..from as usize].iter().all(|cell| *cell), "{layout} {rest}");
            }
            None => assert!(seen.iter().all(|cell| *cell), "{layout} {n} {rest}"),
        }
    }

    #[test]
    fn the_complement_of_every_small_layout() {
        let (mut answered, mut refused) = (0, 0);
        for_each_layout(3, 1..=4, 0..=tilewright_testing::cases(12, 8), |layout| {
            if layout.rank() == 3 && layout.modes()[2].stride() % 3 == 2 {
                return;
            }
            for n in [0, 1, 7, 24] {
                match layout.complement(n) {
                    Ok(rest) => {
                        check(layout, n, &rest);
                        answered += 1;
                    }
                    Err(error) => {
                        let text = error.to_string();
                        assert!(error.is_unsupported());
                        let injective = layout.injective_apart().unwrap();
                        assert_eq!(
                            text.starts_with("injective, but"),
                            injective,
                            "{layout} {text}"
                        );
                        refused += 1;
                    }
                }
            }
            if let Ok(rest) = layout.complement_within() {
                check(layout, layout.filter_zeros().unwrap().span(), &rest);
            }
        });
        let least = tilewright_testing::cases((60_000, 10_000), (20_000, 4_000));
        assert!(answered > least.0 && refused > least.1, "{answered} {refused}");
    }

    #[test]
    fn negative_strides_offsets_and_swizzles() {
        for_each_layout(2, 1..=4, -8..=-1, |layout| {
            if let Ok(rest) = layout.complement(30) {
                check(layout, 30, &rest);
            }
        });
        let parse = |text| Layout::parse(text).unwrap();
        assert_eq!(parse("Sw<1,1,1> o 8 o 4:2").complement(24), parse("4:2").complement(24));
        assert!(parse("(0,4):(1,2)").complement(9).unwrap_err().is_illegal());
        assert_eq!(parse("4:1").complement(1 << 62).unwrap().to_string(), "1152921504606846976:4");
        assert!(parse("1:0").complement(u64::MAX).unwrap_err().is_overflow());
        assert_eq!(
            parse("2:9223372036854775806").complement(9).unwrap().to_string(),
            "9223372036854775806:1"
        );
    }
}
