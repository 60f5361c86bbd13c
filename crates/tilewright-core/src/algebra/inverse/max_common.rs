//! `max_common_layout`, `max_common_vector`: the elements that two layouts keep in the same order. `max_alignment`: the length of
//! the aligned runs of elements that a layout consists of.
//!
//! Law: `C = max_common_layout(A, B)` has `A(C(i)) = i = B(C(i))` for every i below its size. For injective A and B, no
//! layout of larger size has that. `max_common_vector` is that size: the number of elements that one wide load and store may
//! move.
//!
//! With swizzles, the vector may begin at every multiple of its size, so it is at most the atom of each swizzle:
//! `Sw<2,1,3> o 32:1` and `32:1` have 2 in common, although both begin with 0 … 15. If both layouts have the same swizzle,
//! it permutes both alike and is ignored.
//!
//! Defined for layouts with offset 0 at index 0, on indices inside both.
//!
//! Source: CUTLASS `include/cute/layout.hpp`, `swizzle_layout.hpp`.
//!
//! Law: for n = `max_alignment(L)` and every k, all offsets from k·n to k·n + n − 1 have equally many coordinates. So a load of
//! n elements at a multiple of n reads only elements of L, where it reads one.
//!
//! The modes of strides 1, then their size, and so on are one run. The answer is what its length, the strides of the other
//! modes and the offset have in common, and the atom of the swizzle.
//!
//! Source: CUTLASS `include/cute/layout.hpp`, `swizzle_layout.hpp`. There, an extent or stride that only the kernel knows is
//! taken as 1 or 0; here every integer is known.

use crate::{
    Error, Layout, MAX_MODES, Mode, Profile, Swizzle, algebra::nested::walk::Chain, const_fn::tri,
    layout::observe::gcd,
};

impl Layout {
    /// Returns the longest layout of indices that both layouts send to 0, 1, 2, …
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the smallest offset or that of index 0 is not 0;
    /// [illegal](Error::is_illegal) for a layout without coordinates.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (rows, padded) = (parse("(8,4):(1,8)"), parse("(8,4):(1,16)"));
    /// assert_eq!(rows.max_common_layout(&padded).unwrap().to_string(), "8:1");
    /// assert_eq!(rows.max_common_layout(&parse("(8,4):(4,1)")).unwrap().to_string(), "1:0");
    /// assert!(rows.max_common_layout(&parse("32:1+1")).unwrap_err().is_unsupported());
    /// ```
    pub const fn max_common_layout(&self, other: &Layout) -> Result<Layout, Error> {
        let (one, two) = (self.swizzle(), other.swizzle());
        if one.is_identity() && two.is_identity() {
            return self.common(other);
        }
        let plain = tri!(self.with_swizzle(Swizzle::IDENTITY));
        let common = tri!(plain.common(&tri!(other.with_swizzle(Swizzle::IDENTITY))));
        let atom = if one.atom() < two.atom() { one.atom() } else { two.atom() };
        if one.same(&two) || common.size() <= atom {
            return Ok(common);
        }
        first_elements(&common, atom)
    }

    /// Returns the common layout of two layouts without swizzles.
    const fn common(&self, other: &Layout) -> Result<Layout, Error> {
        tri!(check_start(self));
        tri!(check_start(other));
        let inverse = tri!(other.right_inverse_of_modes());
        let _ = tri!(self.right_inverse_of_modes());
        let common = tri!(side_by_side(self, &inverse));
        let mut count = common.modes().len();
        // Digits that are exact alone may carry into one another together; fewer of them do not.
        loop {
            let shorter = tri!(first(&common, count));
            if tri!(is_identity(self, &shorter)) {
                return Ok(shorter);
            }
            count -= 1;
        }
    }

    /// Returns the number of elements that both layouts keep contiguous, from the same index on.
    ///
    /// # Errors
    /// Those of [`Layout::max_common_layout`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(8,4):(1,8)").max_common_vector(&parse("(8,4):(1,16)")), Ok(8));
    /// // The swizzle keeps groups of two elements together.
    /// assert_eq!(parse("Sw<2,1,3> o 32:1").max_common_vector(&parse("32:1")), Ok(2));
    /// ```
    pub const fn max_common_vector(&self, other: &Layout) -> Result<u64, Error> {
        Ok(tri!(self.max_common_layout(other)).size())
    }
}

const fn check_start(layout: &Layout) -> Result<(), Error> {
    if layout.offset() != 0 {
        return Err(Error::unsupported(
            "the common part with a layout of offset {}",
            [layout.offset() as i128],
            "both layouts must send index 0 to offset 0",
        ));
    }
    Ok(())
}

/// Returns the first modes of the inverse that `layout` sends, each alone, to the next offsets; the last of them may
/// be cut short.
const fn side_by_side(layout: &Layout, inverse: &Layout) -> Result<Layout, Error> {
    let (mut chain, mut next, mut used, mut i) = (Chain::new(), 1, 0, 0);
    while i < inverse.modes().len() && inverse.size() > 1 {
        let (extent, step) = (inverse.modes()[i].extent(), inverse.modes()[i].stride());
        // Indices stay inside `layout` too.
        let room = (layout.size() - 1 - used) / step as u64 + 1;
        let most = if extent < room { extent } else { room };
        let run = tri!(run(layout, Mode::new(most, step), next));
        tri!(chain.push(run, step as i128));
        if run < extent {
            break;
        }
        used += (run - 1) * step as u64;
        next *= run;
        i += 1;
    }
    chain.layout(0)
}

/// Returns how many steps along the indices `line` have the offsets 0, next, 2·next, …
const fn run(layout: &Layout, line: Mode, next: u64) -> Result<u64, Error> {
    let whole = tri!(Layout::new(&[line], &Profile::LEAF, 0, Swizzle::IDENTITY));
    let image = match layout.composition(&whole) {
        Ok(image) => image,
        Err(error) if error.is_no_layout() => {
            let short = Mode::new(before_break(layout, line), line.stride());
            let short = tri!(Layout::new(&[short], &Profile::LEAF, 0, Swizzle::IDENTITY));
            match layout.composition(&short) {
                Ok(image) => image,
                Err(error) if error.is_no_layout() => return Ok(1),
                Err(error) => return Err(error),
            }
        }
        Err(error) => return Err(error),
    };
    let first = image.coalesce().modes()[0];
    Ok(if first.stride() as i128 == next as i128 { first.extent() } else { 1 })
}

/// Returns the number of steps before the first that crosses a boundary between modes.
const fn before_break(layout: &Layout, line: Mode) -> u64 {
    let flat = layout.coalesce();
    let (modes, step) = (flat.modes(), line.stride() as u64);
    let (mut steps, mut boundary, mut i) = (line.extent(), 1, 0);
    while i + 1 < modes.len() {
        boundary *= modes[i].extent();
        let within = step % boundary;
        if within != 0 && boundary.div_ceil(within) < steps {
            steps = boundary.div_ceil(within);
        }
        i += 1;
    }
    steps
}

/// Returns the first `count` modes.
const fn first(layout: &Layout, count: usize) -> Result<Layout, Error> {
    let (mut chain, mut i) = (Chain::new(), 0);
    while i < count {
        let mode = layout.modes()[i];
        tri!(chain.push(mode.extent(), mode.stride() as i128));
        i += 1;
    }
    chain.layout(0)
}

/// Returns at most `count` first elements of a chain: whole modes, and a part of the next.
const fn first_elements(chain: &Layout, count: u64) -> Result<Layout, Error> {
    let (mut cut, mut left, mut i) = (Chain::new(), count, 0);
    while i < chain.modes().len() && left > 1 {
        let mode = chain.modes()[i];
        let extent = if mode.extent() < left { mode.extent() } else { left };
        tri!(cut.push(extent, mode.stride() as i128));
        left /= extent;
        i += 1;
    }
    cut.layout(0)
}

/// Returns whether `layout` sends the indices to 0, 1, 2, …
const fn is_identity(layout: &Layout, indices: &Layout) -> Result<bool, Error> {
    if indices.size() == 1 {
        return Ok(true);
    }
    match layout.composition(indices) {
        Ok(image) => {
            let image = image.coalesce();
            Ok(image.modes().len() == 1 && image.modes()[0].stride() == 1)
        }
        Err(error) if error.is_no_layout() => Ok(false),
        Err(error) => Err(error),
    }
}

impl Layout {
    /// Returns the length of the aligned runs of elements that the layout consists of; 1 if they are single.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let alignment = |text| Layout::parse(text).unwrap().max_alignment();
    /// assert_eq!(alignment("(8,4):(1,8)"), 32);
    /// // Rows of 8 elements begin at multiples of 12.
    /// assert_eq!(alignment("(8,4):(1,12)"), 4);
    /// assert_eq!(alignment("(8,4):(2,16)"), 1);
    /// // The swizzle keeps two elements together.
    /// assert_eq!(alignment("Sw<2,1,3> o (8,8):(8,1)"), 2);
    /// ```
    pub const fn max_alignment(&self) -> u64 {
        let flat = self.coalesce();
        let (modes, mut inside) = (flat.modes(), [false; MAX_MODES]);
        let (mut run, mut i) = (1, 0);
        while i < modes.len() {
            if modes[i].extent() > 1 && modes[i].stride() as i128 == run as i128 {
                run *= modes[i].extent();
                inside[i] = true;
                // A mode before this one may continue the run.
                i = 0;
            } else {
                i += 1;
            }
        }
        let mut common = gcd(run, self.offset().unsigned_abs());
        let mut i = 0;
        while i < modes.len() {
            if !inside[i] && modes[i].extent() > 1 {
                common = gcd(common, modes[i].stride().unsigned_abs());
            }
            i += 1;
        }
        if self.swizzle().is_identity() { common } else { gcd(common, self.swizzle().atom()) }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::small::{for_each_layout, image};

    /// The number of offsets from 0 that both reach at the same indices, for injective layouts.
    fn common_run(a: &Layout, b: &Layout) -> u64 {
        let index = |layout: &Layout, offset: i64| {
            (0..layout.size()).find(|&i| layout.offset_of(i) == Ok(offset))
        };
        (0..).take_while(|&x| index(a, x).is_some() && index(a, x) == index(b, x)).count() as u64
    }

    #[test]
    fn every_pair_of_small_layouts() {
        let mut all = Vec::new();
        for_each_layout(2, 1..=4, 0..=5, |layout| all.push(layout.clone()));
        let mut injective = 0;
        for a in &all {
            for b in &all {
                let common = a.max_common_layout(b).unwrap();
                for i in 0..common.size() {
                    let index = common.offset_of(i).unwrap() as u64;
                    assert_eq!(a.offset_of(index), Ok(i as i64), "{a} {b} {common}");
                    assert_eq!(b.offset_of(index), Ok(i as i64), "{a} {b} {common}");
                }
                if a.injective() == Ok(true) && b.injective() == Ok(true) {
                    assert_eq!(common.size(), common_run(a, b), "{a} {b} {common}");
                    injective += 1;
                }
            }
        }
        assert!(injective > 100_000, "{injective}");
    }

    #[test]
    fn what_has_nothing_in_common() {
        let parse = |text| Layout::parse(text).unwrap();
        assert!(parse("4:1+1").max_common_vector(&parse("4:1")).unwrap_err().is_unsupported());
        assert!(parse("4:-1").max_common_vector(&parse("4:1")).unwrap_err().is_unsupported());
        assert!(parse("0:1").max_common_vector(&parse("4:1")).unwrap_err().is_illegal());
        assert_eq!(parse("3:1").max_common_vector(&parse("8:1")), Ok(3));
        assert_eq!(parse("8:1").max_common_vector(&parse("(3,5):(1,6)")), Ok(3));
    }

    /// Returns whether the offsets of each aligned block of `n` have equally many coordinates.
    fn consists_of_runs(layout: &Layout, n: i64) -> bool {
        let swizzle = layout.swizzle();
        let moved = |offset: i64| {
            if swizzle.is_identity() { offset } else { swizzle.apply(offset as u64) as i64 }
        };
        let offsets: Vec<i64> = image(layout).into_iter().map(moved).collect();
        let count = |offset: i64| offsets.iter().filter(|&&other| other == offset).count();
        offsets.iter().all(|&offset| {
            let first = offset.div_euclid(n) * n;
            (first..first + n).all(|other| count(other) == count(offset))
        })
    }

    #[test]
    fn every_small_layout_consists_of_such_runs() {
        let mut long = 0;
        for_each_layout(2, 1..=4, -3..=8, |layout| {
            for offset in [0, 1, 4] {
                let layout = layout.with_offset(offset).unwrap();
                let n = layout.max_alignment();
                assert!(n >= 1 && consists_of_runs(&layout, n as i64), "{layout} {n}");
                long += u64::from(n > 1);
            }
        });
        assert!(long > 250, "{long}");
        for_each_layout(2, 1..=8, 0..=8, |layout| {
            for (bits, base, shift) in [(1, 0, 1), (1, 1, 2), (2, 1, 2), (1, 2, -1)] {
                let swizzle = Swizzle::new(bits, base, shift).unwrap();
                let layout = layout.with_swizzle(swizzle).unwrap();
                let n = layout.max_alignment();
                assert!(consists_of_runs(&layout, n as i64), "{layout} {n}");
            }
        });
    }

    #[test]
    fn the_answers_of_cute() {
        for (text, expected) in [
            ("(4,8):(8,1)", 32),
            ("(4,8):(1,6)", 2),
            ("(4,8):(1,5)", 1),
            ("(4,8):(2,1)", 2),
            ("(4,8):(0,1)", 8),
            ("(4,8):(1,0)", 4),
            ("(8,4,2):(1,16,12)", 4),
            ("(1,1):(0,0)", 1),
            ("Sw<2,3,3> o (8,64):(1,8)", 8),
            ("Sw<2,3,3> o 4 o (8,64):(1,8)", 4),
        ] {
            assert_eq!(Layout::parse(text).unwrap().max_alignment(), expected, "{text}");
        }
    }
}
