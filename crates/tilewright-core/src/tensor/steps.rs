//! The steps from a logical coordinate to the axes of a layout.
//!
//! Strided layouts need none. Tiles that merge dims unevenly (`T(2,*,4)`) or do not divide one another (`T(3,4)(2,1)`)
//! need a few steps before strides apply.
//!
//! Law: [`Steps::back`] is the inverse of [`Steps::forth`] on every coordinate within the extents, and returns `None` for
//! every other working coordinate.

use crate::{Coord, Error, MAX_MODES, macros::tri};

/// The largest number of steps of one [`TensorLayout`](crate::TensorLayout).
pub const MAX_STEPS: usize = 32;

/// One step on the list of working axes, which begins as the logical dims.
///
/// ```
/// use tilewright_core::{Layout, Step, TensorLayout};
/// // Like XLA's `*` in a tile: rows and columns become one axis of 15, which is cut into tiles of 4.
/// let merge = Step::Merge { major: 0, minor: 1 };
/// let split = Step::Split { axis: 0, by: 4 };
/// let layout = Layout::parse("(4,4):(8,1)").unwrap();
/// let tensor = TensorLayout::with_steps(&[3, 5], &[merge, split], &layout, 28).unwrap();
/// // Element (1,2) has index 7 of them: tile 1, position 3.
/// assert_eq!(tensor.offset(&[1, 2]), Ok(11));
/// // An axis joins another axis, not itself.
/// let itself = Step::Merge { major: 1, minor: 1 };
/// assert!(TensorLayout::with_steps(&[3, 5], &[itself], &layout, 28).is_err());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Joins axis `major` to axis `minor` as its more significant part (`minor ← major·extent + minor`) and removes it
    /// from the list; the axes after it move up.
    Merge {
        /// The position of the axis that is removed.
        major: u8,
        /// The position of the axis that it joins, counted before `major` is removed.
        minor: u8,
    },
    /// Replaces axis `axis` by its quotient by `by`, rounded up in extent; the remainder is appended to the list as a new
    /// axis of extent `by`.
    Split {
        /// The position of the axis that is split.
        axis: u8,
        /// The extent of the new inner axis, at least 1.
        by: u64,
    },
}

impl Step {
    /// Returns whether two steps are equal, as a `const fn`.
    pub(crate) const fn same(self, other: Step) -> bool {
        match (self, other) {
            (Step::Merge { major: a, minor: b }, Step::Merge { major: c, minor: d }) => {
                a == c && b == d
            }
            (Step::Split { axis: a, by: b }, Step::Split { axis: c, by: d }) => a == c && b == d,
            (Step::Merge { .. }, Step::Split { .. }) | (Step::Split { .. }, Step::Merge { .. }) => {
                false
            }
        }
    }
}

/// A checked list of steps for given extents.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Steps {
    steps: [Step; MAX_STEPS],
    len: usize,
}

/// A list of working axes.
pub(crate) struct Working {
    pub(crate) axes: [u64; MAX_MODES],
    pub(crate) len: usize,
}

impl Working {
    pub(crate) const fn of(axes: &[u64]) -> Working {
        let mut working = Working { axes: [0; MAX_MODES], len: axes.len() };
        let mut i = 0;
        while i < axes.len() {
            working.axes[i] = axes[i];
            i += 1;
        }
        working
    }

    pub(crate) const fn remove(&mut self, at: usize) {
        let mut i = at;
        while i + 1 < self.len {
            self.axes[i] = self.axes[i + 1];
            i += 1;
        }
        self.len -= 1;
    }

    const fn insert(&mut self, at: usize, x: u64) {
        let mut i = self.len;
        while i > at {
            self.axes[i] = self.axes[i - 1];
            i -= 1;
        }
        self.axes[at] = x;
        self.len += 1;
    }
}

impl Steps {
    pub(crate) const NONE: Steps =
        Steps { steps: [Step::Split { axis: 0, by: 1 }; MAX_STEPS], len: 0 };

    /// Returns the steps, if they are legal on these extents, and the extents of the working axes after them.
    pub(crate) const fn new(extents: &[u64], list: &[Step]) -> Result<(Steps, Working), Error> {
        if list.len() > MAX_STEPS {
            return Err(Error::limit(
                "{} steps from logical dims to axes",
                [list.len() as i128],
                "a layout has at most 32",
            ));
        }
        let (mut steps, mut working) = (Steps::NONE, Working::of(extents));
        while steps.len < list.len() {
            tri!(extend(&mut working, list[steps.len], steps.len));
            steps.steps[steps.len] = list[steps.len];
            steps.len += 1;
        }
        Ok((steps, working))
    }

    pub(crate) const fn copied(&self) -> Steps {
        Steps { steps: self.steps, len: self.len }
    }

    #[inline]
    pub(crate) const fn as_slice(&self) -> &[Step] {
        self.steps.split_at(self.len).0
    }

    /// Returns the working coordinate of a logical coordinate within `extents`.
    pub(crate) const fn forth(&self, extents: &[u64], coord: &[u64]) -> Working {
        let (mut x, mut extent, mut i) = (Working::of(coord), Working::of(extents), 0);
        while i < self.len {
            match self.steps[i] {
                Step::Merge { major, minor } => {
                    let (major, minor) = (major as usize, minor as usize);
                    x.axes[minor] += x.axes[major] * extent.axes[minor];
                    x.remove(major);
                }
                Step::Split { axis, by } => {
                    let axis = axis as usize;
                    x.axes[x.len] = x.axes[axis] % by;
                    x.axes[axis] /= by;
                    x.len += 1;
                }
            }
            apply(&mut extent, self.steps[i]);
            i += 1;
        }
        x
    }

    /// Returns the logical coordinate of a working coordinate; `None` for padding of a step.
    pub(crate) const fn back(&self, extents: &[u64], working: &Coord) -> Option<Coord> {
        let (mut x, mut i) = (Working::of(working.as_slice()), self.len);
        // An axis may be larger than the part that the steps reach.
        if !within(&x, &self.extents_before(extents, self.len)) {
            return None;
        }
        while i > 0 {
            i -= 1;
            let before = self.extents_before(extents, i);
            match self.steps[i] {
                Step::Merge { major, minor } => {
                    let (major, minor) = (major as usize, minor as usize);
                    let at = if minor > major { minor - 1 } else { minor };
                    let extent = before.axes[minor];
                    if extent == 0 {
                        return None;
                    }
                    let merged = x.axes[at];
                    x.axes[at] = merged % extent;
                    x.insert(major, merged / extent);
                }
                Step::Split { axis, by } => {
                    let (outer, inner) = (x.axes[axis as usize], x.axes[x.len - 1]);
                    x.len -= 1;
                    x.axes[axis as usize] = match outer.checked_mul(by) {
                        Some(product) => product.saturating_add(inner),
                        None => return None,
                    };
                }
            }
            if !within(&x, &before) {
                return None;
            }
        }
        let (mut coord, mut axis) = (Coord::EMPTY, 0);
        while axis < x.len {
            coord.push(x.axes[axis]);
            axis += 1;
        }
        Some(coord)
    }

    /// Returns the extents of the working axes before step `count`.
    pub(crate) const fn extents_before(&self, extents: &[u64], count: usize) -> Working {
        let (mut working, mut i) = (Working::of(extents), 0);
        while i < count {
            apply(&mut working, self.steps[i]);
            i += 1;
        }
        working
    }
}

const fn within(x: &Working, extents: &Working) -> bool {
    let mut i = 0;
    while i < x.len {
        if x.axes[i] >= extents.axes[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Applies a checked step to extents.
const fn apply(extents: &mut Working, step: Step) {
    match step {
        Step::Merge { major, minor } => {
            extents.axes[minor as usize] *= extents.axes[major as usize];
            extents.remove(major as usize);
        }
        Step::Split { axis, by } => {
            extents.axes[axis as usize] = extents.axes[axis as usize].div_ceil(by);
            extents.axes[extents.len] = by;
            extents.len += 1;
        }
    }
}

/// Checks a step, then applies it to the extents.
const fn extend(extents: &mut Working, step: Step, at: usize) -> Result<(), Error> {
    let (a, b) = match step {
        Step::Merge { major, minor } => (major as usize, minor as usize),
        Step::Split { axis, .. } => (axis as usize, axis as usize),
    };
    if a >= extents.len || b >= extents.len {
        return Err(Error::out_of_range(
            "step {} names axis {} of {}",
            [at as i128, if a > b { a } else { b } as i128, extents.len as i128],
            "",
        ));
    }
    match step {
        Step::Merge { .. } => {
            if a == b {
                return Err(Error::illegal(
                    "step {} merges axis {} into itself",
                    [at as i128, a as i128],
                    "",
                ));
            }
            let merged = extents.axes[a] as i128 * extents.axes[b] as i128;
            if merged > i64::MAX as i128 {
                return Err(Error::overflow(
                    "step {} merges to extent {}",
                    [at as i128, merged],
                    "",
                ));
            }
        }
        Step::Split { by, .. } => {
            if by == 0 || by > i64::MAX as u64 {
                return Err(Error::illegal(
                    "step {} splits by {}",
                    [at as i128, by as i128],
                    "a tile's extent is 1 or more",
                ));
            }
            if extents.len == MAX_MODES {
                return Err(Error::limit("step {} makes more than 32 axes", [at as i128], ""));
            }
        }
    }
    apply(extents, step);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Coord, Layout, Place, Step, TensorLayout};

    #[test]
    fn back_undoes_forth_also_where_an_axis_is_larger_than_the_steps_reach() {
        let splits = [Step::Split { axis: 0, by: 3 }, Step::Split { axis: 1, by: 2 }];
        let merge = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
        for (extents, steps, layout) in [
            (&[5][..], &splits, "(2,2,4):(8,4,1)"),
            (&[5], &splits, "(3,3,3):(9,3,1)"),
            (&[5], &splits, "(2,2,2):(4,2,1)"),
            (&[3, 5], &merge, "(5,7):(7,1)"),
            (&[2, 7], &merge, "(4,4):(8,1)"),
        ] {
            let layout = Layout::parse(layout).unwrap();
            let capacity = layout.cosize() as u64;
            let tensor = TensorLayout::with_steps(extents, steps, &layout, capacity).unwrap();
            for offset in 0..capacity as i64 {
                let there = |coord: &Coord| tensor.offset(coord.as_slice()) == Ok(offset);
                let expected = (0..tensor.size()).map(|i| tensor.coord_of(i).unwrap()).find(there);
                let place = expected.map_or(Place::Padding, Place::Element);
                assert_eq!(tensor.locate(offset), Ok(place), "{tensor:?} at {offset}");
            }
        }
    }
}
