//! Properties of a layout as a whole: its size, its image, and whether it is injective.
//!
//! Laws (checked exhaustively below): `size` counts coordinates; `cosize` and `span` bound the image; `injective` means
//! that no two coordinates share an offset; `exhaustive` means that every offset of the span is reached; `contiguous_run` is
//! the length of the first run of the image in memory.

use crate::{Error, Layout, MAX_MODES, Mode, layout::reach};

/// The number of offsets that the exact search of [`Layout::injective`] covers, one bit each.
pub const SEARCH_BITS: usize = 4096;

impl Layout {
    /// Returns the number of coordinates: Π extents; 1 for rank 0.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let size = |text| Layout::parse(text).unwrap().size();
    /// // Strides have no influence: a broadcast has as many coordinates as a copy.
    /// assert_eq!((size("(8,64):(0,1)"), size("(8,64):(64,1)")), (512, 512));
    /// assert_eq!((size("()"), size("(4,0):(1,1)")), (1, 0));
    /// ```
    pub const fn size(&self) -> u64 {
        let (modes, mut size, mut i) = (self.modes(), 1, 0);
        while i < modes.len() {
            size *= modes[i].extent();
            i += 1;
        }
        size
    }

    /// Returns the number of coordinates of one axis; `None` past the last.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let zn = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// assert_eq!((zn.axis_size(0), zn.axis_size(2)), (Some(112), None));
    /// ```
    pub const fn axis_size(&self, axis: usize) -> Option<u64> {
        match self.axis(axis) {
            Some(modes) => {
                let (mut size, mut i) = (1, 0);
                while i < modes.len() {
                    size *= modes[i].extent();
                    i += 1;
                }
                Some(size)
            }
            None => None,
        }
    }

    /// Returns the smallest and largest offset reached, in elements; `None` for an empty layout. With a swizzle, the
    /// bounds of the windows reached.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let bounds = |text| Layout::parse(text).unwrap().bounds();
    /// // A row read backwards, from element 7 on.
    /// assert_eq!(bounds("8:-1+7"), Some((0, 7)));
    /// assert_eq!(bounds("(3,2):(-1,3)"), Some((-2, 3)));
    /// assert_eq!(bounds("(4,0):(1,1)"), None);
    /// ```
    pub const fn bounds(&self) -> Option<(i64, i64)> {
        if self.size() == 0 {
            return None;
        }
        let (low, high) = reach(self.modes(), self.offset());
        let window = self.swizzle().window() as i128;
        if window == 1 {
            return Some((low as i64, high as i64));
        }
        // I3: both are ≥ 0 and the last window fits.
        Some(((low / window * window) as i64, ((high / window + 1) * window - 1) as i64))
    }

    /// Returns 1 + the largest offset reached, in elements; 0 for an empty layout. With a swizzle, rounded up to its
    /// window.
    ///
    /// CuTe's C++ uses `|stride|` and returns 6 for `(3,2):(-1,3)`; the image is −2…3:
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let layout = Layout::parse("(3,2):(-1,3)").unwrap();
    /// assert_eq!((layout.cosize(), layout.span()), (4, 6));
    /// ```
    pub const fn cosize(&self) -> i64 {
        match self.bounds() {
            // I2 and I3 keep the largest offset below `i64::MAX`.
            Some((_, high)) => high + 1,
            None => 0,
        }
    }

    /// Returns the largest − smallest offset reached + 1, in elements; 0 for an empty layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let span = |text| Layout::parse(text).unwrap().span();
    /// // Three rows of five, eight apart: the last row's tail is not part of it.
    /// assert_eq!(span("(3,5):(8,1)"), 21);
    /// assert_eq!((span("(3,2):(-1,3)"), span("0:1")), (6, 0));
    /// ```
    pub const fn span(&self) -> u64 {
        match self.bounds() {
            Some((low, high)) => (high as i128 - low as i128 + 1) as u64,
            None => 0,
        }
    }

    /// Returns whether no two coordinates share an offset.
    ///
    /// The decision first removes modes that cannot collide (a mode that reaches over the sum of all smaller ones; a
    /// mode that differs from all others modulo their common divisor), then searches exactly.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) if the remaining modes reach over [`SEARCH_BITS`] offsets.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// assert_eq!(Layout::parse("(8,4,2):(13,2,1)").unwrap().injective(), Ok(true));
    /// assert_eq!(Layout::parse("(2,2):(1,1)").unwrap().injective(), Ok(false));
    /// // Strides that interleave over more offsets than are searched.
    /// let interleaved = Layout::parse("(999,1000,3):(1001,999,500000)").unwrap();
    /// assert!(interleaved.injective().unwrap_err().is_undecided());
    /// ```
    pub const fn injective(&self) -> Result<bool, Error> {
        // A swizzle is a bijection: it changes nothing here.
        if self.size() < 2 { Ok(true) } else { Rest::of(self.modes()).injective() }
    }

    /// Returns whether every offset of the span is reached. The result is exact: sorted by stride, the reachable offsets
    /// stay an interval as long as no stride jumps beyond its end. With a swizzle, returns whether the windows reached are full.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// assert!(Layout::parse("(3,4):(4,1)").unwrap().exhaustive());
    /// assert!(!Layout::parse("(3,4):(8,1)").unwrap().exhaustive());
    /// ```
    pub const fn exhaustive(&self) -> bool {
        if self.size() == 0 {
            return true;
        }
        let window = self.swizzle().window() as i128;
        let (low, high) = reach(self.modes(), self.offset());
        let full = window == 1 || (low % window == 0 && (high + 1) % window == 0);
        full && run_length(self.modes()) as i128 == high - low + 1
    }

    /// Returns the number of consecutive offsets reached from the smallest on: the length of the first contiguous run in
    /// memory, in elements. With a swizzle, the run ends at the latest with the aligned block that stays contiguous (the
    /// [atom](crate::Swizzle::atom)) around the smallest affine offset.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let run = |text| Layout::parse(text).unwrap().contiguous_run();
    /// assert_eq!((run("(3,4):(4,1)"), run("(3,4):(8,1)"), run("(3,4):(8,2)")), (12, 4, 1));
    /// assert_eq!((run("Sw<1,2,1> o 16:1"), run("Sw<1,2,1> o 16:1+3")), (4, 1));
    /// ```
    pub const fn contiguous_run(&self) -> u64 {
        if self.size() == 0 {
            return 0;
        }
        let run = run_length(self.modes());
        if self.swizzle().is_identity() {
            return run;
        }
        let (low, _) = reach(self.modes(), self.offset());
        let atom = self.swizzle().atom();
        // I3: no affine offset of a layout with a swizzle is negative.
        let left = atom - low as u64 % atom;
        if run < left { run } else { left }
    }

    /// Returns the number of offsets of the span that no coordinate reaches.
    ///
    /// # Errors
    /// [undecided](Error::is_undecided) like [`Layout::injective`], if the layout is not exhaustive.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let count = |text| Layout::parse(text).unwrap().padding_count();
    /// // Two gaps of 3 between three rows of 5 in rows of 8; none after the last.
    /// assert_eq!((count("(3,5):(8,1)"), count("(3,5):(5,1)")), (Ok(6), Ok(0)));
    /// // Sums of 1000, 999 and 7 meet somewhere among two million offsets: too many to mark.
    /// let interleaved = Layout::parse("(999,1000,3):(1000,999,7)").unwrap();
    /// assert!(interleaved.padding_count().unwrap_err().is_undecided());
    /// ```
    pub const fn padding_count(&self) -> Result<u64, Error> {
        if self.exhaustive() {
            return Ok(0);
        }
        match self.injective() {
            Ok(true) => Ok(self.span() - self.size()),
            Ok(false) => match Image::of(&Rest::of(self.modes())) {
                Some(image) => Ok(self.span() - image.count() as u64),
                None => Err(undecided(self.span() as i128 - 1)),
            },
            Err(error) => Err(error),
        }
    }
}

/// Returns the modes sorted by |stride|, smallest first, without those of extent 1 or stride 0.
pub(crate) const fn sorted(modes: &[Mode]) -> ([Mode; MAX_MODES], usize) {
    let (mut all, mut len, mut i) = ([Mode::new(1, 0); MAX_MODES], 0, 0);
    while i < modes.len() {
        let stride = modes[i].stride().unsigned_abs();
        if modes[i].extent() > 1 && stride > 0 {
            let mut at = len;
            while at > 0 && all[at - 1].stride().unsigned_abs() > stride {
                all[at] = all[at - 1];
                at -= 1;
            }
            all[at] = modes[i];
            len += 1;
        }
        i += 1;
    }
    (all, len)
}

/// Returns the length of the interval of offsets reached from the smallest on.
const fn run_length(modes: &[Mode]) -> u64 {
    let (sorted, len) = sorted(modes);
    let (mut run, mut i) = (1u64, 0);
    // The offset `run` itself is out of reach of this and all larger strides once one jumps over it.
    while i < len && sorted[i].stride().unsigned_abs() <= run {
        run += sorted[i].reach().unsigned_abs() as u64;
        i += 1;
    }
    run
}

/// Modes with positive strides, to decide whether their sums collide.
pub(crate) struct Rest {
    modes: [Mode; MAX_MODES],
    len: usize,
    repeats: bool,
}

impl Rest {
    pub(crate) const fn of(modes: &[Mode]) -> Rest {
        let (modes_sorted, len) = sorted(modes);
        let (mut repeats, mut i) = (false, 0);
        while i < modes.len() {
            repeats |= modes[i].extent() > 1 && modes[i].stride() == 0;
            i += 1;
        }
        Rest { modes: modes_sorted, len, repeats }
    }

    pub(crate) const fn injective(mut self) -> Result<bool, Error> {
        if self.repeats {
            return Ok(false);
        }
        while self.peel() {}
        if self.len < 2 {
            return Ok(true);
        }
        let (mut size, mut i) = (1i128, 0);
        while i < self.len {
            size *= self.modes[i].extent() as i128;
            i += 1;
        }
        // Pigeonhole; and two modes that survive peeling meet at their least common multiple.
        if size > self.reach() / self.divisor(usize::MAX) as i128 + 1 || self.len == 2 {
            return Ok(false);
        }
        match Image::of(&self) {
            Some(image) => Ok(!image.repeats),
            None => Err(undecided(self.reach())),
        }
    }

    /// Removes one mode that cannot take part in a collision; returns whether there was one.
    const fn peel(&mut self) -> bool {
        let mut i = 0;
        while i < self.len {
            let stride = self.modes[i].stride().unsigned_abs();
            let others = self.reach() - self.modes[i].reach().abs();
            let divisor = self.divisor(i);
            // Two coordinates in this mode differ by at least `stride`, more than all others can compensate, or by a number
            // that is not a multiple of the divisor of all other strides.
            let apart = divisor == 0 || divisor / gcd(divisor, stride) >= self.modes[i].extent();
            if stride as i128 > others || apart {
                self.remove(i);
                return true;
            }
            i += 1;
        }
        false
    }

    const fn remove(&mut self, at: usize) {
        let mut i = at;
        while i + 1 < self.len {
            self.modes[i] = self.modes[i + 1];
            i += 1;
        }
        self.len -= 1;
    }

    const fn reach(&self) -> i128 {
        let (mut reach, mut i) = (0, 0);
        while i < self.len {
            reach += self.modes[i].reach().abs();
            i += 1;
        }
        reach
    }

    /// Returns the greatest common divisor of all strides except that of mode `except`.
    const fn divisor(&self, except: usize) -> u64 {
        let (mut divisor, mut i) = (0, 0);
        while i < self.len {
            if i != except {
                divisor = gcd(divisor, self.modes[i].stride().unsigned_abs());
            }
            i += 1;
        }
        divisor
    }
}

const fn undecided(reach: i128) -> Error {
    Error::undecided(
        "interleaved strides that reach over {} offsets; the exact search covers {}",
        [reach + 1, SEARCH_BITS as i128],
        "make each stride a multiple of the extent it strides over",
    )
}

/// The set of sums of some modes, one bit each, in units of the strides' common divisor.
struct Image {
    bits: [u64; SEARCH_BITS / 64],
    repeats: bool,
}

impl Image {
    const fn of(rest: &Rest) -> Option<Image> {
        let divisor = rest.divisor(usize::MAX);
        let divisor = if divisor == 0 { 1 } else { divisor };
        if rest.reach() / divisor as i128 >= SEARCH_BITS as i128 {
            return None;
        }
        let mut image = Image { bits: [0; SEARCH_BITS / 64], repeats: false };
        image.bits[0] = 1;
        let mut i = 0;
        while i < rest.len {
            let step = (rest.modes[i].stride().unsigned_abs() / divisor) as usize;
            image.add(step, rest.modes[i].extent() as usize);
            i += 1;
        }
        Some(image)
    }

    /// Adds the union of `extent` copies, `step` apart, each made from the old set.
    const fn add(&mut self, step: usize, extent: usize) {
        let old = self.bits;
        let mut copy = 1;
        while copy < extent {
            let mut at = 0;
            while at + step * copy < SEARCH_BITS {
                if old[at / 64] >> (at % 64) & 1 == 1 {
                    let to = at + step * copy;
                    self.repeats |= self.bits[to / 64] >> (to % 64) & 1 == 1;
                    self.bits[to / 64] |= 1 << (to % 64);
                }
                at += 1;
            }
            copy += 1;
        }
    }

    const fn count(&self) -> u32 {
        let (mut count, mut i) = (0, 0);
        while i < self.bits.len() {
            count += self.bits[i].count_ones();
            i += 1;
        }
        count
    }
}

/// Returns whether the sums of both lists of modes are the same numbers.
///
/// # Errors
/// [undecided](Error::is_undecided) beyond [`SEARCH_BITS`] offsets.
pub(crate) const fn same_sums(a: &[Mode], b: &[Mode]) -> Result<bool, Error> {
    let (a, b) = (Rest::of(a), Rest::of(b));
    let (x, y) = match (Image::of(&a), Image::of(&b)) {
        (Some(x), Some(y)) => (x, y),
        _ => return Err(undecided(a.reach())),
    };
    let mut i = 0;
    while i < x.bits.len() {
        if x.bits[i] != y.bits[i] {
            return Ok(false);
        }
        i += 1;
    }
    Ok(a.divisor(usize::MAX) == b.divisor(usize::MAX))
}

/// Returns the greatest common divisor, which is the other number if one is 0.
///
/// ```
/// assert_eq!((tilewright_core::gcd(12, 18), tilewright_core::gcd(0, 5)), (6, 5));
/// ```
pub const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::collections::BTreeSet;

    #[test]
    fn every_small_layout_is_seen_as_its_table_says() {
        let mut seen = 0;
        for_each_layout(3, 0..=4, -3..=tilewright_testing::cases(9, 6), |layout| {
            let table = image(layout);
            let set: BTreeSet<i64> = table.iter().copied().collect();
            assert_eq!(layout.size(), table.len() as u64, "{layout}");
            let (low, high) = match (set.first(), set.last()) {
                (Some(&low), Some(&high)) => (low, high),
                _ => {
                    assert_eq!((layout.cosize(), layout.span(), layout.exhaustive()), (0, 0, true));
                    return;
                }
            };
            assert_eq!(layout.bounds(), Some((low, high)), "{layout}");
            assert_eq!(layout.injective(), Ok(set.len() == table.len()), "{layout}");
            assert_eq!(layout.exhaustive(), set.len() as i64 == high - low + 1, "{layout}");
            let run = (low..).take_while(|offset| set.contains(offset)).count();
            assert_eq!(layout.contiguous_run(), run as u64, "{layout}");
            let gaps = high - low + 1 - set.len() as i64;
            assert_eq!(layout.padding_count(), Ok(gaps as u64), "{layout}");
            seen += 1;
        });
        assert!(seen > 50_000, "{seen}");
    }

    #[test]
    fn hard_layouts_are_decided_or_say_so() {
        let parse = |text| Layout::parse(text).unwrap();
        assert_eq!(parse("(8,4,2):(13,2,1)").injective(), Ok(true));
        assert_eq!(parse("(5,3):(3,20)").injective(), Ok(true));
        assert_eq!(parse("(1000000,1000000):(1000001,1000003)").injective(), Ok(true));
        assert_eq!(parse("(1000004,1000004):(1000001,1000003)").injective(), Ok(false));
        let hard = parse("(50,50,50):(10007,10009,10037)").injective();
        assert!(hard.is_err_and(|error| error.is_undecided()));
        // A common divisor does not use up the budget.
        assert_eq!(parse("(8,4,2):(13000000,2000000,1000000)").injective(), Ok(true));
    }
}
