//! Builders of nested values: brackets and leaves in the order of the text, and flat chains of modes. The operations of the
//! algebra write their results with them.
//!
//! Laws: [`Builder::layout`] has the brackets and leaves that the builder received, in order; the layout of a [`Chain`]
//! is the coalesced concatenation of the modes that were pushed.

use crate::algebra::nested::walk::ProfileNode;
use crate::{Error, Layout, MAX_DEPTH, MAX_MODES, Mode, Profile, Swizzle, macros::tri};

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
