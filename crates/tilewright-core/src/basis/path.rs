//! The position of a component in a nested coordinate.
//!
//! Law: [`Leaves`] returns the paths of a profile's leaves in the order of its text; walking from path to path in that
//! order writes the brackets of the coordinate.

use crate::{Error, MAX_DEPTH, Profile, algebra::nested::build::Builder, macros::tri};

/// Positions, outermost first; an empty path is the coordinate itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Path {
    steps: [u8; MAX_DEPTH],
    depth: usize,
}

impl Path {
    pub(super) const ROOT: Path = Path { steps: [0; MAX_DEPTH], depth: 0 };

    /// A position of the coordinate itself.
    pub(super) const fn top(position: u8) -> Path {
        let mut path = Path::ROOT;
        path.steps[0] = position;
        path.depth = 1;
        path
    }

    pub(super) const fn steps(&self) -> &[u8] {
        self.steps.split_at(self.depth).0
    }

    pub(super) const fn first(self) -> u8 {
        self.steps[0]
    }

    /// Returns this path with one more position outside of it, unless it becomes too deep.
    pub(super) const fn within(self, position: u8) -> Option<Path> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        let (mut path, mut i) = (Path::top(position), 0);
        while i < self.depth {
            path.steps[i + 1] = self.steps[i];
            i += 1;
        }
        path.depth = self.depth + 1;
        Some(path)
    }

    /// Returns the number of positions with which both begin.
    const fn common(self, other: Path) -> usize {
        let mut i = 0;
        while i < self.depth && i < other.depth && self.steps[i] == other.steps[i] {
            i += 1;
        }
        i
    }

    pub(super) const fn is(self, other: Path) -> bool {
        self.depth == other.depth && self.common(other) == self.depth
    }

    /// Returns whether the other path is inside this one.
    pub(super) const fn contains(self, other: Path) -> bool {
        self.depth < other.depth && self.common(other) == self.depth
    }

    /// Returns whether this path comes first in a coordinate's text.
    pub(super) const fn before(self, other: Path) -> bool {
        let common = self.common(other);
        common < self.depth && common < other.depth && self.steps[common] < other.steps[common]
    }

    /// Writes the brackets and zeros between the component at this path, the last one written, and the next; then moves
    /// to the next.
    pub(super) const fn walk(&mut self, next: Path, builder: &mut Builder) -> Result<(), Error> {
        let common = self.common(next);
        let (mut depth, mut from) = (self.depth, 0);
        while depth > common + 1 {
            tri!(builder.close());
            depth -= 1;
        }
        if self.depth > 0 {
            from = self.steps[common] as usize + 1;
        } else {
            builder.open();
        }
        let mut level = common;
        while level < next.depth {
            if level > common {
                builder.open();
                from = 0;
            }
            while from < next.steps[level] as usize {
                tri!(builder.integer(0));
                from += 1;
            }
            level += 1;
        }
        *self = next;
        Ok(())
    }

    /// Closes all brackets after the last component.
    pub(super) const fn leave(self, builder: &mut Builder) -> Result<(), Error> {
        let mut depth = self.depth;
        while depth > 0 {
            tri!(builder.close());
            depth -= 1;
        }
        Ok(())
    }
}

/// Iterator over the paths of a profile's leaves.
pub(super) struct Leaves<'a> {
    profile: &'a Profile,
    leaf: usize,
    at: Path,
}

impl Leaves<'_> {
    pub(super) const fn new(profile: &Profile) -> Leaves<'_> {
        Leaves { profile, leaf: 0, at: Path::ROOT }
    }

    pub(super) const fn next(&mut self) -> Option<Path> {
        let (opened, _) = match self.profile.brackets(self.leaf) {
            Some(both) => both,
            None => return None,
        };
        if self.leaf > 0 {
            let (_, closed) = match self.profile.brackets(self.leaf - 1) {
                Some(both) => both,
                None => return None,
            };
            self.at.depth -= closed;
            self.at.steps[self.at.depth - 1] += 1;
        }
        let mut i = 0;
        while i < opened {
            self.at.steps[self.at.depth] = 0;
            self.at.depth += 1;
            i += 1;
        }
        self.leaf += 1;
        // Positions past the depth are 0 in every path, so that equal paths are equal values.
        let mut path = self.at;
        let mut i = path.depth;
        while i < MAX_DEPTH {
            path.steps[i] = 0;
            i += 1;
        }
        Some(path)
    }
}
