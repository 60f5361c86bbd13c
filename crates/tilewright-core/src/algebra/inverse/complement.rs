//! `complement`: the layout of the copies that fill what a layout leaves uncovered.
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

use crate::algebra::nested::walk::Chain;
use crate::{Error, Layout, Mode, layout::observe::sorted, macros::tri};

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
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{string::ToString, vec, vec::Vec};

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
    fn every_small_layout() {
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
