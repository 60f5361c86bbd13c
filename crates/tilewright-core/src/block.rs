//! A box of elements of two arrays at once: what a joint refinement is made of.

use crate::{Coord, MAX_MODES};

/// The most loops of one [`Block`]: all modes of both layouts, and a run.
pub const MAX_LOOPS: usize = 2 * MAX_MODES + 1;

/// One loop of a [`Block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The logical dim it walks along.
    pub dim: u8,
    /// By how much the logical coordinate grows with each turn.
    pub step: u64,
    /// The number of turns, at least 2.
    pub extent: u64,
    /// The distance between turns in the source, in elements.
    pub src: i64,
    /// The distance between turns in the destination, in elements.
    pub dst: i64,
}

/// A box of elements: an origin and independent loops, the most significant of each dim first.
#[derive(Clone)]
pub struct Block {
    origin: Coord,
    src: i64,
    dst: i64,
    loops: [Loop; MAX_LOOPS],
    len: usize,
}

impl Block {
    pub(crate) const fn new(origin: Coord, src: i64, dst: i64) -> Block {
        let none = Loop { dim: 0, step: 0, extent: 1, src: 0, dst: 0 };
        Block { origin, src, dst, loops: [none; MAX_LOOPS], len: 0 }
    }

    pub(crate) const fn push(&mut self, turn: Loop) {
        if turn.extent > 1 {
            self.loops[self.len] = turn;
            self.len += 1;
        }
    }

    /// The logical coordinate of the first element.
    pub const fn origin(&self) -> &Coord {
        &self.origin
    }

    /// The offset of the first element in the source, in elements.
    pub const fn src(&self) -> i64 {
        self.src
    }

    /// The offset of the first element in the destination, in elements.
    pub const fn dst(&self) -> i64 {
        self.dst
    }

    /// The loops, in no particular order of strides; loops of one turn are left out.
    pub const fn loops(&self) -> &[Loop] {
        self.loops.split_at(self.len).0
    }

    /// The number of elements.
    pub const fn size(&self) -> u64 {
        let (mut size, mut i) = (1, 0);
        while i < self.len {
            size *= self.loops[i].extent;
            i += 1;
        }
        size
    }
}

impl core::fmt::Debug for Block {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}->{} {:?}", self.origin, self.src, self.dst, self.loops())
    }
}
