//! The brackets around a layout's leaves, and nested tuples as text: the brackets around the text of the leaves.
//!
//! Law: [`Profile::push`] of the pieces of a profile reproduces it; `9` ≠ `(9)`.

use core::fmt;

use crate::{Error, MAX_DEPTH, MAX_MODES, const_fn::tri};

/// The brackets around the leaves of a nested tuple: `((4,2),(4,3))` and `(4,2,4,3)` have the same leaves
/// and different profiles.
///
/// A profile stores two counts per leaf, the brackets opened before it and closed after it, without a heap or a tree.
/// `9`, a bare leaf of depth 0, differs from `(9)`, a tuple of one. `()` has rank 0.
///
/// Source: CUTLASS `include/cute/int_tuple.hpp`.
///
/// ```
/// use tilewright_core::Profile;
/// let nested = Profile::nested(&[2, 2]).unwrap();
/// assert_eq!((nested.leaves(), nested.rank(), nested.depth()), (4, 2, 2));
/// assert_eq!(nested.axis(1), Some((2, 4)));
/// assert_eq!(Profile::LEAF.depth(), 0);
/// // There is no empty tuple among other parts.
/// assert!(Profile::nested(&[2, 0]).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    leaves: u8,
    opened: [u8; MAX_MODES],
    closed: [u8; MAX_MODES],
    /// The brackets that are open after the last leaf.
    open: u8,
    /// The number of axes, and one bit per leaf, set for the last leaf of an axis; index functions iterate by these.
    rank: u8,
    ends: u32,
}

const _: () = assert!(MAX_MODES <= u32::BITS as usize);

impl Profile {
    /// `()`: rank 0.
    pub const EMPTY: Profile = Profile {
        leaves: 0,
        opened: [0; MAX_MODES],
        closed: [0; MAX_MODES],
        open: 0,
        rank: 0,
        ends: 0,
    };

    /// A bare leaf: rank 1, depth 0.
    pub const LEAF: Profile = Profile { leaves: 1, rank: 1, ends: 1, ..Profile::EMPTY };

    /// Returns a tuple of `rank` leaves, `(·,·,·)`.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`].
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// let profile = Profile::flat(3).unwrap();
    /// assert_eq!((profile.leaves(), profile.rank(), profile.depth()), (3, 3, 1));
    /// assert!(Profile::flat(33).unwrap_err().is_limit());
    /// ```
    pub const fn flat(rank: usize) -> Result<Profile, Error> {
        if rank > MAX_MODES {
            return Err(too_many());
        }
        Ok(Profile::tuple(rank))
    }

    /// Returns a tuple of leaves, at most [`MAX_MODES`] of them.
    #[inline]
    pub(crate) const fn tuple(rank: usize) -> Profile {
        let mut profile = Profile::EMPTY;
        if rank > 0 {
            profile.leaves = rank as u8;
            profile.opened[0] = 1;
            profile.closed[rank - 1] = 1;
            profile.rank = rank as u8;
            profile.ends = u32::MAX >> (MAX_MODES - rank);
        }
        profile
    }

    /// Returns a tuple of axes with `leaves[i]` leaves each; an axis of one leaf is bare: `[2, 1]` is `((·,·),·)`.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`]; [illegal](Error::is_illegal) for an axis without leaves.
    ///
    /// ```
    /// use tilewright_core::{Layout, Profile};
    /// let profile = Profile::nested(&[2, 1]).unwrap();
    /// assert!(profile.same(Layout::parse("((4,2),12)").unwrap().profile()));
    /// assert!(Profile::nested(&[2, 0]).unwrap_err().is_illegal());
    /// ```
    pub const fn nested(leaves: &[usize]) -> Result<Profile, Error> {
        let mut profile = Profile::EMPTY;
        let mut axis = 0;
        while axis < leaves.len() {
            let (count, last) = (leaves[axis], axis + 1 == leaves.len());
            if count == 0 {
                return Err(Error::illegal(
                    "axis {} has no modes",
                    [axis as i128],
                    "every axis needs one; write an axis of one coordinate as 1:0",
                ));
            }
            let mut i = 0;
            while i < count {
                let opened = (axis == 0 && i == 0) as usize + (count > 1 && i == 0) as usize;
                let ends = i + 1 == count;
                let closed = (count > 1 && ends) as usize + (last && ends) as usize;
                tri!(profile.push(opened, closed));
                i += 1;
            }
            axis += 1;
        }
        Ok(profile)
    }

    /// Appends a leaf after `opened` opening brackets and before `closed` closing ones.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_MODES`] or [`MAX_DEPTH`]; [illegal](Error::is_illegal) if more brackets are
    /// closed than open, or if no bracket is open around a second leaf.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// // ((·,·),·), leaf by leaf.
    /// let mut profile = Profile::EMPTY;
    /// profile.push(2, 0).unwrap();
    /// profile.push(0, 1).unwrap();
    /// profile.push(0, 1).unwrap();
    /// assert!(profile.same(&Profile::nested(&[2, 1]).unwrap()));
    /// // Every bracket is closed: no leaf may follow.
    /// assert!(profile.push(0, 0).unwrap_err().is_illegal());
    /// ```
    pub const fn push(&mut self, opened: usize, closed: usize) -> Result<(), Error> {
        let at = self.leaves as usize;
        if at == MAX_MODES {
            return Err(too_many());
        }
        let open = self.open();
        if opened > MAX_DEPTH || open + opened > MAX_DEPTH {
            return Err(Error::limit(
                "brackets nested deeper than {}",
                [MAX_DEPTH as i128],
                "flatten the inner tuples",
            ));
        }
        if at > 0 && open == 0 {
            return Err(Error::illegal("leaf {} is outside the tuple", [at as i128], ""));
        }
        if closed > open + opened {
            return Err(Error::illegal(
                "closing bracket without an opening one at leaf {}",
                [at as i128],
                "",
            ));
        }
        self.opened[at] = opened as u8;
        self.closed[at] = closed as u8;
        self.open = (open + opened - closed) as u8;
        // At depth 1 after a leaf, an axis of the outermost tuple ends here; at depth 0, the tuple ends, or the leaf is
        // bare.
        if self.open <= 1 {
            self.ends |= 1 << at;
            self.rank += 1;
        }
        self.leaves += 1;
        Ok(())
    }

    /// Returns the number of brackets that are open after the last leaf.
    pub(crate) const fn open(&self) -> usize {
        self.open as usize
    }

    /// Returns one bit per leaf, set for the last leaf of an axis.
    #[inline]
    pub(crate) const fn ends(&self) -> u32 {
        self.ends
    }

    /// Returns the number of leaves.
    ///
    /// ```
    /// use tilewright_core::{Layout, Profile};
    /// assert_eq!(Layout::parse("((4,2),(4,3))").unwrap().profile().leaves(), 4);
    /// assert_eq!(Profile::EMPTY.leaves(), 0);
    /// ```
    #[inline]
    pub const fn leaves(&self) -> usize {
        self.leaves as usize
    }

    /// Returns the number of brackets opened before `leaf` and closed after it; `None` past the last leaf.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// // ((·,·),·): two brackets open before the first leaf, one closes after the second.
    /// let profile = Profile::nested(&[2, 1]).unwrap();
    /// let all: Vec<_> = (0..4).map(|leaf| profile.brackets(leaf)).collect();
    /// assert_eq!(all, [Some((2, 0)), Some((0, 1)), Some((0, 1)), None]);
    /// ```
    pub const fn brackets(&self, leaf: usize) -> Option<(usize, usize)> {
        if leaf < self.leaves as usize {
            Some((self.opened[leaf] as usize, self.closed[leaf] as usize))
        } else {
            None
        }
    }

    /// Returns the number of top-level positions (axes); 1 for a bare leaf.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// assert_eq!(Profile::nested(&[2, 1]).unwrap().rank(), 2);
    /// assert_eq!((Profile::LEAF.rank(), Profile::EMPTY.rank()), (1, 0));
    /// ```
    #[inline]
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Returns the depth of nesting: 0 for a bare leaf, 1 for a flat tuple and for `()`.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// assert_eq!((Profile::LEAF.depth(), Profile::EMPTY.depth()), (0, 1));
    /// assert_eq!(Profile::nested(&[2, 1]).unwrap().depth(), 2);
    /// ```
    pub const fn depth(&self) -> usize {
        if self.leaves == 0 {
            return 1;
        }
        let (mut open, mut deepest, mut i) = (0, 0, 0);
        while i < self.leaves as usize {
            open += self.opened[i] as usize;
            if open > deepest {
                deepest = open;
            }
            open -= self.closed[i] as usize;
            i += 1;
        }
        deepest
    }

    /// Returns the range `from..to` of the leaves of top-level position `axis`; `None` past the last.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// let profile = Profile::nested(&[2, 1, 3]).unwrap();
    /// assert_eq!((profile.axis(2), profile.axis(3)), (Some((3, 6)), None));
    /// ```
    pub const fn axis(&self, axis: usize) -> Option<(usize, usize)> {
        let (mut ends, mut from, mut before) = (self.ends, 0, axis);
        while ends != 0 {
            let to = ends.trailing_zeros() as usize + 1;
            if before == 0 {
                return Some((from, to));
            }
            before -= 1;
            from = to;
            ends &= ends - 1;
        }
        None
    }

    /// Returns whether both have the same brackets.
    ///
    /// ```
    /// use tilewright_core::Profile;
    /// let nested = |leaves: &[usize]| Profile::nested(leaves).unwrap();
    /// // The same number of leaves, other brackets; and 9 is not (9).
    /// assert!(!nested(&[2, 1]).same(&nested(&[1, 2])));
    /// assert!(!Profile::LEAF.same(&Profile::flat(1).unwrap()));
    /// ```
    pub const fn same(&self, other: &Profile) -> bool {
        if self.leaves != other.leaves {
            return false;
        }
        let mut i = 0;
        while i < self.leaves as usize {
            if self.opened[i] != other.opened[i] || self.closed[i] != other.closed[i] {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns a copy: `Clone::clone` as a `const fn`.
    ///
    /// ```
    /// use tilewright_core::{Profile, expect_const};
    /// const PAIRS: Profile = expect_const!(Profile::nested(&[2, 2]));
    /// const SAME: Profile = PAIRS.copied();
    /// assert!(PAIRS.same(&SAME));
    /// ```
    pub const fn copied(&self) -> Profile {
        Profile {
            leaves: self.leaves,
            opened: self.opened,
            closed: self.closed,
            open: self.open,
            rank: self.rank,
            ends: self.ends,
        }
    }
}

const fn too_many() -> Error {
    Error::limit(
        "more than {} modes",
        [MAX_MODES as i128],
        "merge modes that chain, or drop those of extent 1",
    )
}

impl Profile {
    /// Writes the brackets, and each leaf by `leaf`, with commas between them.
    ///
    /// # Errors
    /// Those of the formatter.
    ///
    /// ```
    /// use std::fmt;
    /// use tilewright_core::Profile;
    /// struct Letters(Profile);
    /// impl fmt::Display for Letters {
    ///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    ///         self.0.write(f, |f, leaf| f.write_str(["a", "b", "c"][leaf]))
    ///     }
    /// }
    /// assert_eq!(Letters(Profile::nested(&[2, 1]).unwrap()).to_string(), "((a,b),c)");
    /// assert_eq!(Letters(Profile::EMPTY).to_string(), "()");
    /// ```
    pub fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        leaf: impl Fn(&mut fmt::Formatter<'_>, usize) -> fmt::Result,
    ) -> fmt::Result {
        if self.leaves() == 0 {
            return f.write_str("()");
        }
        for i in 0..self.leaves() {
            let (opened, closed) = self.brackets(i).unwrap_or((0, 0));
            f.write_str(if i == 0 { "" } else { "," })?;
            (0..opened).try_for_each(|_| f.write_str("("))?;
            leaf(f, i)?;
            (0..closed).try_for_each(|_| f.write_str(")"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_a_nested_profile_are_consecutive() {
        let profile = Profile::nested(&[1, 3, 2]).unwrap();
        assert_eq!(profile.rank(), 3);
        assert_eq!(
            [profile.axis(0), profile.axis(1), profile.axis(2)],
            [Some((0, 1)), Some((1, 4)), Some((4, 6))]
        );
        assert_eq!(profile.axis(3), None);
        assert_eq!(profile.depth(), 2);
    }

    #[test]
    fn limits_are_errors() {
        assert!(Profile::flat(MAX_MODES).is_ok());
        assert!(Profile::flat(MAX_MODES + 1).unwrap_err().is_limit());
        let mut deep = Profile::EMPTY;
        assert!(deep.push(MAX_DEPTH + 1, 0).unwrap_err().is_limit());
        assert!(deep.push(MAX_DEPTH, MAX_DEPTH).is_ok());
        assert!(deep.push(0, 0).unwrap_err().is_illegal());
        assert!(deep.push(usize::MAX, 0).unwrap_err().is_limit());
    }

    #[test]
    fn a_tuple_of_one_is_no_leaf() {
        let one = Profile::flat(1).unwrap();
        assert_ne!(one, Profile::LEAF);
        assert_eq!((one.rank(), one.depth()), (1, 1));
        assert_eq!((Profile::EMPTY.rank(), Profile::EMPTY.depth()), (0, 1));
    }
}
