//! Iteration over a profile without recursion: nodes by path, and two profiles together. The operations of the algebra that
//! follow brackets use it.
//!
//! Law: [`ProfileWalk`] returns the brackets and leaves of a profile in the order of its text; a [`ProfileNode`] at a path is the
//! sub-tuple at that position of the text.

use crate::{Error, Profile};

/// A sub-tuple or leaf: its leaves `from..to`, inside `level` brackets.
#[derive(Clone, Copy)]
pub(crate) struct ProfileNode {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) level: usize,
}

/// Returns the number of brackets open before `leaf`, those directly before it included.
const fn open_at(profile: &Profile, leaf: usize) -> usize {
    let (mut open, mut i) = (0, 0);
    while let Some((opened, closed)) = profile.brackets(i) {
        open += opened;
        if i == leaf {
            return open;
        }
        open -= closed;
        i += 1;
    }
    open
}

impl ProfileNode {
    pub(crate) const fn root(profile: &Profile) -> ProfileNode {
        ProfileNode { from: 0, to: profile.leaves(), level: 0 }
    }

    pub(crate) const fn is_leaf(self, profile: &Profile) -> bool {
        self.to == self.from + 1 && open_at(profile, self.from) == self.level
    }

    /// Returns the brackets of this node before and after one of its leaves, without those around the node.
    pub(crate) const fn brackets(self, profile: &Profile, leaf: usize) -> (usize, usize) {
        let (opened, closed) = match profile.brackets(leaf) {
            Some(both) => both,
            None => (0, 0),
        };
        let inside = open_at(profile, leaf) - self.level;
        (
            if leaf == self.from { inside } else { opened },
            if leaf + 1 == self.to { inside } else { closed },
        )
    }

    /// Returns part `index`; a leaf is its own part 0.
    pub(crate) const fn child(self, profile: &Profile, index: usize) -> Option<ProfileNode> {
        if self.is_leaf(profile) {
            return if index == 0 { Some(self) } else { None };
        }
        let (mut from, mut count, mut leaf) = (self.from, 0, self.from);
        while leaf < self.to {
            let (_, closed) = self.brackets(profile, leaf);
            if open_at(profile, leaf) - self.level - closed <= 1 {
                if count == index {
                    return Some(ProfileNode { from, to: leaf + 1, level: self.level + 1 });
                }
                count += 1;
                from = leaf + 1;
            }
            leaf += 1;
        }
        None
    }

    pub(crate) const fn rank(self, profile: &Profile) -> usize {
        let mut rank = 0;
        while self.child(profile, rank).is_some() {
            rank += 1;
        }
        rank
    }

    /// Returns the node at a path of positions, each within the node before.
    pub(crate) const fn at(profile: &Profile, path: &[usize]) -> Result<ProfileNode, Error> {
        let (mut node, mut step) = (ProfileNode::root(profile), 0);
        while step < path.len() {
            node = match node.child(profile, path[step]) {
                Some(child) => child,
                None => {
                    return Err(Error::out_of_range(
                        "position {} (step {} of the path) of a tuple of rank {}",
                        [path[step] as i128, step as i128, node.rank(profile) as i128],
                        "positions run from 0 to the rank less one",
                    ));
                }
            };
            step += 1;
        }
        Ok(node)
    }
}

/// A position in the text of a profile, between two brackets or leaves.
pub(crate) struct ProfileWalk<'a> {
    profile: &'a Profile,
    leaf: usize,
    opened: usize,
    closed: usize,
    behind: bool,
    /// For `()`: the number of its two brackets that were returned.
    empty: usize,
}

impl ProfileWalk<'_> {
    pub(crate) const fn new(profile: &Profile) -> ProfileWalk<'_> {
        ProfileWalk { profile, leaf: 0, opened: 0, closed: 0, behind: false, empty: 0 }
    }

    const fn is_empty_tuple(&self) -> bool {
        self.profile.leaves() == 0
    }

    const fn brackets(&self) -> (usize, usize) {
        match self.profile.brackets(self.leaf) {
            Some(both) => both,
            None => (0, 0),
        }
    }

    const fn settle(&mut self) {
        if self.behind && self.closed == self.brackets().1 {
            self.leaf += 1;
            self.opened = 0;
            self.closed = 0;
            self.behind = false;
        }
    }

    /// Returns the number of brackets around this position.
    pub(crate) const fn level(&self) -> usize {
        let before = open_at(self.profile, self.leaf) - self.brackets().0;
        before + self.opened - self.closed
    }

    /// Passes an opening bracket if one is next; returns whether it did.
    pub(crate) const fn open(&mut self) -> bool {
        if self.is_empty_tuple() {
            let next = self.empty == 0;
            self.empty += next as usize;
            return next;
        }
        let next = !self.behind && self.opened < self.brackets().0;
        self.opened += next as usize;
        next
    }

    /// Passes a closing bracket if one is next; returns whether it did.
    pub(crate) const fn close(&mut self) -> bool {
        if self.is_empty_tuple() {
            let next = self.empty == 1;
            self.empty += next as usize;
            return next;
        }
        let next = self.behind;
        self.closed += next as usize;
        self.settle();
        next
    }

    /// Passes a leaf if one is next, and returns its number.
    pub(crate) const fn leaf(&mut self) -> Option<usize> {
        if self.end() || self.behind || self.opened < self.brackets().0 || self.is_empty_tuple() {
            return None;
        }
        self.behind = true;
        let leaf = self.leaf;
        self.settle();
        Some(leaf)
    }

    /// Passes a whole leaf or tuple if one is next, and returns its range of leaves.
    pub(crate) const fn node(&mut self) -> Option<(usize, usize)> {
        if let Some(leaf) = self.leaf() {
            return Some((leaf, leaf + 1));
        }
        let from = self.leaf;
        if !self.open() {
            return None;
        }
        let (mut depth, mut to) = (1, from);
        while depth > 0 {
            if self.open() {
                depth += 1;
            } else if self.close() {
                depth -= 1;
            } else if let Some(leaf) = self.leaf() {
                to = leaf + 1;
            } else {
                return None;
            }
        }
        Some((from, to))
    }

    pub(crate) const fn end(&self) -> bool {
        if self.is_empty_tuple() { self.empty == 2 } else { self.leaf == self.profile.leaves() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use std::{string::String, vec::Vec};

    const TEXTS: [&str; 7] =
        ["()", "7", "(7)", "((7))", "(1,(2,3),4)", "((1,2),(3,(4,5)))", "(((1),2),3)"];

    #[test]
    fn a_walk_spells_the_text() {
        for text in TEXTS {
            let profile = Layout::parse(text).unwrap().profile().clone();
            let (mut walk, mut spelt) = (ProfileWalk::new(&profile), String::new());
            while !walk.end() {
                spelt += if walk.open() {
                    "("
                } else if walk.close() {
                    ")"
                } else {
                    assert!(walk.leaf().is_some());
                    "x"
                };
            }
            let expected: String = text
                .chars()
                .filter(|c| *c != ',')
                .map(|c| if c.is_ascii_digit() { 'x' } else { c })
                .collect();
            assert_eq!(spelt, expected);
            let mut whole = ProfileWalk::new(&profile);
            assert_eq!(whole.node(), Some((0, profile.leaves())));
            assert!(whole.end());
        }
    }

    #[test]
    fn nodes_by_path() {
        let profile = Layout::parse("((1,2),(3,(4,5)))").unwrap().profile().clone();
        let at = |path: &[usize]| ProfileNode::at(&profile, path).map(|node| (node.from, node.to));
        assert_eq!(at(&[1, 1]), Ok((3, 5)));
        assert_eq!(at(&[1, 1, 0, 0]), Ok((3, 4)));
        assert!(at(&[1, 2]).unwrap_err().is_out_of_range());
        let ranks: Vec<usize> = TEXTS
            .iter()
            .map(|text| {
                let profile = Layout::parse(text).unwrap().profile().clone();
                assert_eq!(ProfileNode::root(&profile).rank(&profile), profile.rank());
                profile.rank()
            })
            .collect();
        assert_eq!(ranks, [0, 1, 1, 1, 3, 2, 2]);
    }
}
