//! Nested values without recursion: iteration over a profile (nodes by path, and two profiles together), builders (brackets
//! and leaves in the order of the text, and flat chains of modes), and the text of tuples and slicers. The operations of the
//! algebra read and write brackets with them.
//!
//! Laws: [`ProfileWalk`] returns the brackets and leaves of a profile in the order of its text; a [`ProfileNode`] at a path is the
//! sub-tuple at that position of the text. [`Builder::layout`] has the brackets and leaves that the builder received, in order; the
//! layout of a [`Chain`] is the coalesced concatenation of the modes that were pushed.
//!
//! # Text of tuples and slicers
//!
//! ```text
//! tuple := item | '(' [ tuple { ',' tuple } [ ',' ] ] ')'
//! item  := '_' | [ '_' ] [ '-' ] digits
//! ```
//!
//! Law: `parse(print(T)) = T`. `()` occurs only alone: an empty tuple among others cannot be written.

use crate::{
    Error, Layout, MAX_DEPTH, MAX_MODES, Mode, ParseError, Profile, Swizzle, const_fn::tri,
    layout::text::Cursor,
};

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

/// A nested tuple under construction. The leaves are modes; for a tuple of integers, the integers are the strides.
pub(crate) struct Builder {
    modes: [Mode; MAX_MODES],
    opened: [usize; MAX_MODES],
    closed: [usize; MAX_MODES],
    len: usize,
    /// The number of brackets opened since the last leaf.
    pending: usize,
}

impl Builder {
    pub(crate) const fn new() -> Builder {
        Builder {
            modes: [Mode::new(1, 0); MAX_MODES],
            opened: [0; MAX_MODES],
            closed: [0; MAX_MODES],
            len: 0,
            pending: 0,
        }
    }

    pub(crate) const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.len).0
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn open(&mut self) {
        // Brackets beyond the limit are not counted; `Profile::push` refuses them.
        if self.pending <= MAX_DEPTH {
            self.pending += 1;
        }
    }

    pub(crate) const fn close(&mut self) -> Result<(), Error> {
        if self.pending == 1 && self.len == 0 {
            self.pending = 0;
            return Ok(());
        }
        if self.pending > 0 || self.len == 0 {
            return Err(Error::illegal(
                "an empty tuple after {} leaves of a layout",
                [self.len as i128],
                "() cannot be part of another layout; a part of one coordinate is 1:0",
            ));
        }
        self.closed[self.len - 1] += 1;
        Ok(())
    }

    pub(crate) const fn leaf(&mut self, mode: Mode) -> Result<(), Error> {
        if self.len == MAX_MODES {
            return Err(Error::limit(
                "more than {} modes",
                [MAX_MODES as i128],
                "merge modes that chain, or drop those of extent 1",
            ));
        }
        self.modes[self.len] = mode;
        self.opened[self.len] = self.pending;
        self.pending = 0;
        self.len += 1;
        Ok(())
    }

    pub(crate) const fn integer(&mut self, value: i64) -> Result<(), Error> {
        self.leaf(Mode::new(0, value))
    }

    /// Appends a node of another tuple with its own brackets.
    pub(crate) const fn node(
        &mut self,
        modes: &[Mode],
        profile: &Profile,
        node: ProfileNode,
    ) -> Result<(), Error> {
        if node.from == node.to {
            self.open();
            return self.close();
        }
        let mut leaf = node.from;
        while leaf < node.to {
            let (opened, closed) = node.brackets(profile, leaf);
            let mut i = 0;
            while i < opened {
                self.open();
                i += 1;
            }
            tri!(self.leaf(modes[leaf]));
            self.closed[self.len - 1] += closed;
            leaf += 1;
        }
        Ok(())
    }

    /// Appends a whole layout as one node.
    pub(crate) const fn whole(&mut self, layout: &Layout) -> Result<(), Error> {
        self.node(layout.modes(), layout.profile(), ProfileNode::root(layout.profile()))
    }

    /// Appends the top-level parts of a layout, without the brackets around them.
    pub(crate) const fn parts(&mut self, layout: &Layout) -> Result<(), Error> {
        let (root, mut i) = (ProfileNode::root(layout.profile()), 0);
        while let Some(node) = root.child(layout.profile(), i) {
            tri!(self.node(layout.modes(), layout.profile(), node));
            i += 1;
        }
        Ok(())
    }

    pub(crate) const fn profile(&self) -> Result<Profile, Error> {
        let (mut profile, mut i) = (Profile::EMPTY, 0);
        while i < self.len {
            tri!(profile.push(self.opened[i], self.closed[i]));
            i += 1;
        }
        Ok(profile)
    }

    pub(crate) const fn layout(&self, offset: i64, swizzle: Swizzle) -> Result<Layout, Error> {
        Layout::new(self.modes(), &tri!(self.profile()), offset, swizzle)
    }
}

/// A flat layout under construction; modes are coalesced as they are pushed.
pub(crate) struct Chain {
    modes: [Mode; MAX_MODES],
    len: usize,
}

impl Chain {
    pub(crate) const fn new() -> Chain {
        Chain { modes: [Mode::new(1, 0); MAX_MODES], len: 0 }
    }

    pub(crate) const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.len).0
    }

    /// Appends a mode of `extent` coordinates with this stride.
    pub(crate) const fn push(&mut self, extent: u64, stride: i128) -> Result<(), Error> {
        if extent == 1 {
            return Ok(());
        }
        if stride > i64::MAX as i128 || stride < i64::MIN as i128 {
            return Err(Error::overflow(
                "stride {} of {} coordinates",
                [stride, extent as i128],
                "strides must fit 64 bits",
            ));
        }
        if self.len > 0 {
            let last = self.modes[self.len - 1];
            let merged = last.extent() as u128 * extent as u128;
            if stride == last.extent() as i128 * last.stride() as i128 && merged <= u64::MAX as u128
            {
                self.modes[self.len - 1] = Mode::new(merged as u64, last.stride());
                return Ok(());
            }
        }
        if self.len == MAX_MODES {
            return Err(Error::limit(
                "more than {} modes that do not chain",
                [MAX_MODES as i128],
                "merge modes that chain, or drop those of extent 1",
            ));
        }
        self.modes[self.len] = Mode::new(extent, stride as i64);
        self.len += 1;
        Ok(())
    }

    /// Returns `1:0`, one bare mode, or a flat tuple.
    pub(crate) const fn layout(&self, offset: i64) -> Result<Layout, Error> {
        match self.len {
            0 => Layout::new(&[Mode::new(1, 0)], &Profile::LEAF, offset, Swizzle::IDENTITY),
            1 => Layout::new(self.modes(), &Profile::LEAF, offset, Swizzle::IDENTITY),
            _ => {
                Layout::new(self.modes(), &tri!(Profile::flat(self.len)), offset, Swizzle::IDENTITY)
            }
        }
    }
}

// The text of tuples and slicers.

/// The longest text that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 4096;

pub(crate) struct TupleReader<'a> {
    cursor: Cursor<'a>,
    pub(crate) builder: Builder,
    /// The leaves that were written `_`, one bit each.
    pub(crate) kept: u32,
}

impl<'a> TupleReader<'a> {
    pub(crate) const fn read(text: &'a str) -> Result<TupleReader<'a>, ParseError> {
        if text.len() > MAX_TEXT {
            return Err(ParseError::new(
                (MAX_TEXT, text.len()),
                "a tuple of {} bytes of text; at most {} are read",
                [text.len() as i128, MAX_TEXT as i128],
            ));
        }
        let cursor = Cursor::starting(text, 0);
        let mut reader = TupleReader { cursor, builder: Builder::new(), kept: 0 };
        tri!(reader.tuple());
        reader.cursor.skip();
        if reader.cursor.at < text.len() {
            return Err(ParseError::new(
                (reader.cursor.at, text.len()),
                "text after the tuple",
                [],
            ));
        }
        Ok(reader)
    }

    const fn tuple(&mut self) -> Result<(), ParseError> {
        let mut open = 0usize;
        loop {
            while self.cursor.eat(b'(') {
                open += 1;
                if open > MAX_DEPTH {
                    return Err(ParseError::new(
                        (self.cursor.at - 1, self.cursor.at),
                        "brackets nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
                self.builder.open();
            }
            if !(open == 1 && self.builder.len() == 0 && self.cursor.eat(b')')) {
                tri!(self.item());
                open = tri!(self.closings(open));
            } else {
                open = 0;
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Reads closing brackets, then a comma, after an item; returns how many brackets stay open.
    const fn closings(&mut self, mut open: usize) -> Result<usize, ParseError> {
        while open > 0 {
            let comma = self.cursor.eat(b',');
            let from = self.cursor.at;
            if self.cursor.eat(b')') {
                if let Err(error) = self.builder.close() {
                    return Err(ParseError::refused((from, self.cursor.at), error));
                }
                open -= 1;
            } else if comma {
                return Ok(open);
            } else {
                return Err(self.cursor.expected_here(
                    "expected `,` or `)`",
                    "expected `,` or `)`, found the end of the text",
                ));
            }
        }
        Ok(0)
    }

    const fn item(&mut self) -> Result<(), ParseError> {
        self.cursor.skip();
        let from = self.cursor.at;
        let underscore = self.cursor.eat(b'_');
        let minus = self.cursor.next() == b'-';
        self.cursor.at += minus as usize;
        let (mut value, mut digits) = (0i128, 0);
        while let Some(digit) = self.cursor.digit() {
            value = value * 10 + digit as i128;
            value = if value > 1 << 64 { 1 << 64 } else { value };
            digits += 1;
        }
        if digits == 0 && (minus || !underscore) {
            return Err(self.cursor.expected_here(
                "expected an integer or `(`",
                "expected an integer or `(`, found the end of the text",
            ));
        }
        let value = if minus { -value } else { value };
        if value > i64::MAX as i128 || value < i64::MIN as i128 {
            return Err(ParseError::new(
                (from, self.cursor.at),
                "the integer does not fit 64 bits",
                [],
            ));
        }
        if digits == 0 && self.builder.len() < 32 {
            self.kept |= 1 << self.builder.len();
        }
        match self.builder.integer(value as i64) {
            Ok(()) => Ok(()),
            Err(error) => Err(ParseError::refused((from, self.cursor.at), error)),
        }
    }
}

/// The error of a builder, with the whole text as its span.
pub(crate) const fn whole(text: &str, error: Error) -> ParseError {
    ParseError::refused((0, text.len()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

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
