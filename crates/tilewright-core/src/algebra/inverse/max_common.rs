//! `max_common_layout`, `max_common_vector`: the elements that two layouts keep in the same order.
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

use crate::algebra::nested::build::Chain;
use crate::{Error, Layout, Mode, Profile, Swizzle, macros::tri};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use std::vec::Vec;

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
}
