//! The longest right inverse if modes overlap: grown mode by mode, with every step and every extent. Used by `right_inverse`.
//!
//! Law: the result R has `L(R(i)) = i`, and no layout R of more coordinates has that. A step of R at size p is an index of
//! offset p less R(0), an index of offset 0; an extent e is possible if all e·p indices have the offsets 0, 1, 2 … The
//! search tries all steps and extents.
//!
//! Bounds: layouts of up to [`SEARCH_BITS`] coordinates, and [`STEPS`] offsets computed; otherwise `Undecided`.

use crate::algebra::nested::build::Chain;
use crate::{Error, Layout, SEARCH_BITS, macros::tri};

/// The most modes of R, each of extent 2 or more.
const MODES: usize = SEARCH_BITS.ilog2() as usize;

/// The number of offsets after which the search ends undecided.
const STEPS: u32 = 1 << 20;

const LEGAL: &str = "invert one of the modes that overlap, or search with `locate`";

/// A right inverse: extents and steps, and the index at offset 0.
#[derive(Clone, Copy)]
struct LongestInverse {
    modes: [(u64, i64); MODES],
    count: usize,
    zero: i64,
    size: u64,
}

/// Returns the longest right inverse of an affine layout whose smallest offset is 0, if it is longer than `size`.
pub(super) const fn longer_than(layout: &Layout, size: u64) -> Result<Option<Layout>, Error> {
    if layout.size() > SEARCH_BITS as u64 {
        return Err(Error::undecided(
            "modes overlap, and the longest right inverse is not searched over {} coordinates; up to {} are",
            [layout.size() as i128, SEARCH_BITS as i128],
            LEGAL,
        ));
    }
    let now = LongestInverse { modes: [(1, 0); MODES], count: 0, zero: 0, size: 1 };
    let best = LongestInverse { size, ..now };
    let mut search = ChainSearch { layout, run: run(layout), now, best, left: STEPS };
    let mut index = 0;
    while index < layout.size() && search.best.size < search.run {
        if tri!(search.offset(index)) == 0 {
            search.now.zero = index as i64;
            tri!(search.grow());
        }
        index += 1;
    }
    if search.best.size == size {
        return Ok(None);
    }
    let (mut chain, mut at) = (Chain::new(), 0);
    while at < search.best.count {
        let (extent, step) = search.best.modes[at];
        tri!(chain.push(extent, step as i128));
        at += 1;
    }
    Ok(Some(tri!(chain.layout(search.best.zero))))
}

/// Returns the number of offsets from 0 on that are reached without a gap; at most [`SEARCH_BITS`] coordinates reach them.
const fn run(layout: &Layout) -> u64 {
    let (mut reached, mut index) = ([false; SEARCH_BITS], 0);
    while index < layout.size() {
        if let Ok(offset) = layout.offset_of(index)
            && offset >= 0
            && offset < SEARCH_BITS as i64
        {
            reached[offset as usize] = true;
        }
        index += 1;
    }
    let mut run = 0;
    while run < SEARCH_BITS && reached[run] {
        run += 1;
    }
    run as u64
}

struct ChainSearch<'a> {
    layout: &'a Layout,
    /// An upper bound on the size of a right inverse.
    run: u64,
    now: LongestInverse,
    best: LongestInverse,
    /// The number of offsets that may still be computed.
    left: u32,
}

impl ChainSearch<'_> {
    const fn offset(&mut self, index: u64) -> Result<i64, Error> {
        if self.left == 0 {
            return Err(Error::undecided(
                "modes overlap, and the longest right inverse was not decided from {} offsets",
                [STEPS as i128],
                LEGAL,
            ));
        }
        self.left -= 1;
        self.layout.offset_of(index)
    }

    /// Tries every mode after the current ones.
    const fn grow(&mut self) -> Result<(), Error> {
        let kept = self.now;
        if kept.size > self.best.size {
            self.best = kept;
        }
        let mut index = 0;
        while index < self.layout.size() && self.best.size < self.run && kept.count < MODES {
            if tri!(self.offset(index)) as u64 == kept.size && !self.merges(index as i64) {
                let (step, mut extent) = (index as i64 - kept.zero, 1);
                while tri!(self.goes_on(step, extent)) {
                    extent += 1;
                    self.now.modes[kept.count] = (extent, step);
                    self.now.count = kept.count + 1;
                    self.now.size = kept.size * extent;
                    tri!(self.grow());
                    self.now = kept;
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Returns whether a step to this index continues the last mode, whose larger extents are tried separately.
    const fn merges(&self, index: i64) -> bool {
        let now = &self.now;
        now.count > 0 && {
            let (extent, step) = now.modes[now.count - 1];
            index - now.zero == extent as i64 * step
        }
    }

    /// Returns whether the current indices, moved by `times` steps, have the next offsets.
    const fn goes_on(&mut self, step: i64, times: u64) -> Result<bool, Error> {
        let mut i = 0;
        while i < self.now.size {
            // Sizes, indices and steps are below `SEARCH_BITS`.
            let (mut rest, mut index, mut at) = (i, self.now.zero + times as i64 * step, 0);
            while at < self.now.count {
                let (extent, step) = self.now.modes[at];
                index += (rest % extent) as i64 * step;
                rest /= extent;
                at += 1;
            }
            if index < 0
                || index as u64 >= self.layout.size()
                || tri!(self.offset(index as u64)) as u64 != times * self.now.size + i
            {
                return Ok(false);
            }
            i += 1;
        }
        Ok(true)
    }
}
