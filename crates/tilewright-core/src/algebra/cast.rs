//! Layouts in larger or smaller elements: `upcast`, `downcast`, `recast`.
//!
//! Laws. `upcast(L, n)` regards n elements as one: a leaf s:d with 0 < |d| < n shrinks by k = n/|d|, and
//! `⌊L(c)/n⌋ = upcast(L, n)(⌊c/k⌋ leaf by leaf)` for every c. `downcast(L, n)` regards one element as n: the first leaf of
//! stride ±1 grows n-fold, and `⌊downcast(L, n)(c)/n⌋ = L(c with ⌊·/n⌋ at that leaf)`, each of the n parts once. Therefore
//! `upcast(downcast(L, n), n) = L`. `recast(L, from, to)` goes through the greatest common width. Brackets are kept, and
//! nothing is coalesced.
//!
//! Defined where these laws hold. For `upcast`, strides divide n or are divisible by it, and likewise extents (a partial
//! group could not be filled by other elements); the offsets inside a group must not add up to n or more. The stride of a
//! mode of extent 1 has no effect. `downcast` needs a leaf of stride ±1: the parts of elements that are further apart would
//! need a leaf that does not exist. A swizzle is converted if n is a power of two; for `upcast`, 2^base of the swizzle must
//! be at least n.
//!
//! Source: CUTLASS `include/cute/layout.hpp`.

use crate::{Error, Layout, MAX_MODES, Mode, Swizzle, const_fn::tri, layout::observe::gcd};

impl Layout {
    /// Returns the layout in elements that are `n` times as large.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if a stride or an extent is not divisible, or an element would begin within a larger
    /// one; [illegal](Error::is_illegal) for n = 0; [unsupported](Error::is_unsupported) if the swizzle cannot be converted.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(8,4):(1,8)").unwrap();
    /// assert_eq!(layout.upcast(4).unwrap().to_string(), "(2,4):(1,2)");
    /// assert!(layout.upcast(3).unwrap_err().is_mismatch());
    /// ```
    pub const fn upcast(&self, n: u64) -> Result<Layout, Error> {
        tri!(check_factor(n));
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        // The remainder of an offset by n: it stays between 0 and n − 1.
        let rest = self.offset().rem_euclid(n as i64) as i128;
        let (mut low, mut high) = (rest, rest);
        while i < self.modes().len() {
            let mode = self.modes()[i];
            modes[i] = tri!(grouped(mode, n, i));
            if !mode.stride().unsigned_abs().is_multiple_of(n) {
                let within =
                    Mode::new(mode.extent() / max(modes[i].extent(), 1), mode.stride()).reach();
                low += if within < 0 { within } else { 0 };
                high += if within > 0 { within } else { 0 };
            }
            i += 1;
        }
        if low < 0 || high >= n as i128 {
            return Err(Error::mismatch(
                "elements {} to {} of a group of {}",
                [low, high, n as i128],
                "a group's elements must stay inside it: make offsets and strides multiples or divisors of n",
            ));
        }
        let swizzle = tri!(shifted(self.swizzle(), n, true));
        Layout::new(
            modes.split_at(i).0,
            self.profile(),
            self.offset().div_euclid(n as i64),
            swizzle,
        )
    }

    /// Returns the layout in elements that are `n` times as small.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if no leaf has stride ±1; [illegal](Error::is_illegal) for n = 0;
    /// [overflow](Error::is_overflow) beyond 64 bits; [unsupported](Error::is_unsupported) if the swizzle cannot be converted.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(8,4):(1,8)").downcast(4).unwrap().to_string(), "(32,4):(1,32)");
    /// assert!(parse("(8,4):(2,16)").downcast(4).unwrap_err().is_mismatch());
    /// ```
    pub const fn downcast(&self, n: u64) -> Result<Layout, Error> {
        tri!(check_factor(n));
        if n == 1 {
            return Ok(self.copied());
        }
        let split = match unit(self.modes()) {
            Some(split) => split,
            None => {
                return Err(Error::mismatch(
                    "no mode of stride 1 to split into {} parts",
                    [n as i128],
                    "prepend a mode 1:1, which grows into the parts of an element",
                ));
            }
        };
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < self.modes().len() {
            let mode = self.modes()[i];
            modes[i] = if i == split {
                Mode::new(tri!(times(mode.extent() as i128, n)) as u64, mode.stride())
            } else {
                Mode::new(mode.extent(), tri!(times(mode.stride() as i128, n)))
            };
            i += 1;
        }
        let backwards = self.modes()[split].stride() < 0;
        let first = if backwards { n as i64 - 1 } else { 0 };
        let offset = match tri!(times(self.offset() as i128, n)).checked_add(first) {
            Some(offset) => offset,
            None => return Err(beyond(self.offset() as i128, n)),
        };
        let swizzle = tri!(shifted(self.swizzle(), n, false));
        Layout::new(modes.split_at(i).0, self.profile(), offset, swizzle)
    }

    /// Returns the layout of elements of `from` bits in elements of `to` bits, over the same memory.
    ///
    /// # Errors
    /// Those of [`Layout::upcast`] and [`Layout::downcast`]; [illegal](Error::is_illegal) for a width of 0 bits.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(8,4):(1,8)").unwrap();
    /// // Eight elements of 6 bits are twelve of 4 bits.
    /// assert_eq!(layout.recast(6, 4).unwrap().to_string(), "(12,4):(1,12)");
    /// assert_eq!(layout.recast(16, 32).unwrap().to_string(), "(4,4):(1,4)");
    /// // Eight elements of 4 bits do not fill a whole number of elements of 6 bits.
    /// assert!(layout.recast(4, 6).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "recast_layout")]
    pub const fn recast(&self, from: u64, to: u64) -> Result<Layout, Error> {
        if from == 0 || to == 0 {
            return Err(Error::illegal(
                "elements of {} bits seen as elements of {}",
                [from as i128, to as i128],
                "widths are 1 bit or more",
            ));
        }
        let common = gcd(from, to);
        tri!(self.downcast(from / common)).upcast(to / common)
    }
}

const fn max(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

const fn check_factor(n: u64) -> Result<(), Error> {
    if n > 0 && n <= i64::MAX as u64 {
        return Ok(());
    }
    Err(Error::illegal("{} elements seen as one", [n as i128], "1 to 2^63 - 1 elements"))
}

const fn times(a: i128, n: u64) -> Result<i64, Error> {
    let product = a * n as i128;
    if product > i64::MAX as i128 || product < i64::MIN as i128 {
        return Err(beyond(a, n));
    }
    Ok(product as i64)
}

const fn beyond(a: i128, n: u64) -> Error {
    Error::overflow("{} times {}", [a, n as i128], "extents and strides must fit 64 bits")
}

/// Returns the first mode of stride 1, otherwise the first of stride −1.
const fn unit(modes: &[Mode]) -> Option<usize> {
    let (mut found, mut i) = (None, modes.len());
    while i > 0 {
        i -= 1;
        let stride = modes[i].stride();
        let better = match found {
            None => stride.unsigned_abs() == 1,
            Some(at) => {
                let other: Mode = modes[at];
                stride == 1 || (stride == -1 && other.stride() == -1)
            }
        };
        if better {
            found = Some(i);
        }
    }
    found
}

/// Returns mode `i` in groups of `n` elements.
const fn grouped(mode: Mode, n: u64, i: usize) -> Result<Mode, Error> {
    let (extent, stride) = (mode.extent(), mode.stride());
    let size = stride.unsigned_abs();
    if size.is_multiple_of(n) {
        return Ok(Mode::new(extent, stride / n as i64));
    }
    if !n.is_multiple_of(size) {
        if extent < 2 {
            // The stride of a mode of extent 1 has no effect.
            return Ok(Mode::new(extent, 0));
        }
        return Err(Error::mismatch(
            "stride {} of mode {} in groups of {} elements",
            [stride as i128, i as i128, n as i128],
            "a stride must divide the number of elements, or be a multiple of it",
        ));
    }
    let per_group = n / size;
    let fits = extent.is_multiple_of(per_group) || (extent > 0 && per_group.is_multiple_of(extent));
    if !fits {
        return Err(Error::mismatch(
            "extent {} of mode {}, of which {} make a group of {}",
            [extent as i128, i as i128, per_group as i128, n as i128],
            "an extent must fill whole groups, or divide one",
        ));
    }
    Ok(Mode::new(extent.div_ceil(per_group), if stride < 0 { -1 } else { 1 }))
}

/// Returns the swizzle over elements that are n times as large or as small.
const fn shifted(swizzle: Swizzle, n: u64, larger: bool) -> Result<Swizzle, Error> {
    if swizzle.is_identity() || n == 1 {
        return Ok(swizzle);
    }
    let bits = n.trailing_zeros();
    let moved = match n.is_power_of_two() {
        true if larger => swizzle.shifted_down(bits),
        true => swizzle.shifted_up(bits),
        false => None,
    };
    let [changed, low] = swizzle.numbers();
    match moved {
        Some(moved) => Ok(moved),
        None => Err(Error::unsupported(
            "a factor of {} under a swizzle of {} bits above the lowest {}",
            [n as i128, changed, low],
            "the factor is a power of two, at most 2^base where elements become larger",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use std::{collections::BTreeSet, string::ToString, vec::Vec};

    fn check_up(layout: &Layout, n: u64, up: &Layout) {
        let shape = layout.shape();
        for i in 0..layout.size() {
            let coord = shape.idx2crd(i as i64).unwrap();
            let coarse: Vec<i64> = coord
                .values()
                .iter()
                .zip(layout.modes())
                .map(|(c, mode)| {
                    let size = mode.stride().unsigned_abs();
                    c / if mode.extent() < 2 || size % n == 0 { 1 } else { (n / size) as i64 }
                })
                .collect();
            let coarse = up.offset_at(&coarse.iter().map(|&c| c as u64).collect::<Vec<_>>());
            assert_eq!(
                coarse,
                Ok(layout.offset_of(i).unwrap().div_euclid(n as i64)),
                "{layout} {n} {up}"
            );
        }
    }

    fn check_down(layout: &Layout, n: u64, down: &Layout) {
        let split = unit(layout.modes()).unwrap();
        let mut parts = BTreeSet::new();
        for i in 0..down.size() {
            let fine = down.offset_of(i).unwrap();
            let mut coord: Vec<u64> = down
                .shape()
                .idx2crd(i as i64)
                .unwrap()
                .values()
                .iter()
                .map(|&c| c as u64)
                .collect();
            let part = coord[split] % n;
            coord[split] /= n;
            assert_eq!(
                Ok(fine.div_euclid(n as i64)),
                layout.offset_at(&coord),
                "{layout} {n} {down}"
            );
            assert!(parts.insert((coord, fine.rem_euclid(n as i64))), "{layout} {n} {down} {part}");
        }
        assert_eq!(parts.len() as u64, layout.size() * n);
        assert_eq!(down.upcast(n).as_ref(), Ok(layout), "{down}");
    }

    #[test]
    fn every_small_layout() {
        let (mut ups, mut downs) = (0, 0);
        for_each_layout(3, 1..=4, -2..=8, |layout| {
            for (n, offset) in [(1, 0), (2, 0), (2, 1), (3, 6), (4, 2), (4, 3), (6, 0)] {
                let layout = layout.with_offset(offset).unwrap();
                if let Ok(up) = layout.upcast(n) {
                    check_up(&layout, n, &up);
                    ups += 1;
                }
                if n < 4
                    && n > 1
                    && layout.rank() < 3
                    && let Ok(down) = layout.downcast(n)
                {
                    check_down(&layout, n, &down);
                    downs += 1;
                }
            }
        });
        assert!(ups > 50_000 && downs > 1_000, "{ups} {downs}");
    }

    #[test]
    fn swizzles_follow() {
        let layout = Layout::parse("Sw<2,2,3> o (8,8):(1,8)").unwrap();
        check_up(&layout, 4, &layout.upcast(4).unwrap());
        check_down(&layout, 2, &layout.downcast(2).unwrap());
        assert!(layout.upcast(8).unwrap_err().is_unsupported());
        assert!(layout.downcast(3).unwrap_err().is_unsupported());
    }

    #[test]
    fn the_cases_of_the_documents() {
        let parse = |text| Layout::parse(text).unwrap();
        let wide = parse("(32,(32,4)):(32,(1,1024))").upcast(16).unwrap();
        assert_eq!(wide.to_string(), "(32,(2,4)):(2,(1,64))");
        // The stride of a mode of extent 1 has no effect.
        assert_eq!(parse("(1,8):(5,1)").upcast(4).unwrap().to_string(), "(1,2):(0,1)");
        // Sums of parts must not reach the next group.
        assert!(parse("(2,2):(1,1)").upcast(2).unwrap_err().is_mismatch());
        assert!(parse("4:1+1").upcast(4).unwrap_err().is_mismatch());
        assert!(parse("4:1").upcast(0).unwrap_err().is_illegal());
        assert!(parse("(4,2):(1,4611686018427387904)").downcast(4).unwrap_err().is_overflow());
    }
}
