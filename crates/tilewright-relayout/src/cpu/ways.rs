//! A region of a plan with its way, and the ways of the parts that a range of the destination cuts from it.
//!
//! A range of the destination cuts a region into parts along its last loops. The first of these loops may be shorter,
//! the others are complete. So there is a way for each number of last loops, chosen when a part first needs it, and
//! [`Way::plain`] for a part that is too short for its way.

use crate::{
    cpu::{
        kernel::Tools,
        scratch::Scratch,
        way::{Terms, Way, WayKind},
    },
    program::region::{Region, RegionRef},
};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// The ways of one region.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    terms: Terms,
    /// The way of the region, and the number of its runs.
    first: Way,
    ran: Count,
    /// The ways of parts, by the number of omitted loops, from one on.
    inner: OnceLock<Box<[OnceLock<Way>]>>,
    /// The number of runs of other ways.
    others: Count,
}

/// A number of runs.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clone for Count {
    /// A copy of a plan has not run yet.
    fn clone(&self) -> Count {
        Count::default()
    }
}

impl Ways {
    /// Chooses the way of a region.
    pub(crate) fn of(region: &Region, terms: Terms) -> Ways {
        Ways {
            terms,
            first: Way::of(&region.whole(), terms),
            ran: Count::default(),
            inner: OnceLock::new(),
            others: Count::default(),
        }
    }

    /// Returns the way of the whole region.
    pub(crate) fn first(&self) -> &Way {
        &self.first
    }

    /// Returns the name of the way of the whole region, for which these were made.
    pub(crate) fn name(&self, region: &Region) -> String {
        self.first.name(&region.whole(), self.terms)
    }

    /// Returns the inputs of a run other than the data.
    pub(crate) fn tools<'a>(&self, scratch: &'a mut Scratch) -> Tools<'a> {
        let Terms { elements, isa, locality } = self.terms;
        Tools { elements, isa, locality, prefetch: None, ahead: 0, scratch }
    }

    /// Returns the conditions for which the ways were chosen.
    pub(crate) fn terms(&self) -> Terms {
        self.terms
    }

    /// Counts a run of the whole region, or of a part along all loops, by the kind that ran.
    pub(crate) fn add(&self, ran: WayKind) {
        let count = if ran == self.first.kind() { &self.ran } else { &self.others };
        count.add();
    }

    /// Returns the numbers of runs of the way of the whole region and of other ways.
    pub(crate) fn ran(&self) -> (u64, u64) {
        (self.ran.get(), self.others.get())
    }

    /// Moves the whole region for which these were made.
    pub(crate) fn run_all(
        &self,
        region: &Region,
        tools: &mut Tools<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        self.add(self.first.run(tools, &region.whole(), src, out));
    }

    /// Moves a part of the region for which these were made: its last loops, the first of which may be shorter.
    pub(crate) fn run(
        &self,
        region: &Region,
        tools: &mut Tools<'_>,
        part: &RegionRef<'_>,
        src: &[u8],
        out: &mut [u8],
    ) {
        let terms = self.terms;
        let left = region.loops.len() - part.loops.len();
        let whole = RegionRef { loops: &region.loops[left..], ..region.whole() };
        let way = if left == 0 { &self.first } else { self.inner(region, left, &whole) };
        if way.serves(&whole, part, terms) {
            let ran = way.run(tools, part, src, out);
            return if left == 0 { self.add(ran) } else { self.others.add() };
        }
        self.others.add();
        Way::plain(part, terms.elements).run(tools, part, src, out);
    }

    fn inner(&self, region: &Region, left: usize, whole: &RegionRef<'_>) -> &Way {
        let all = || region.loops.iter().map(|_| OnceLock::new()).collect();
        self.inner.get_or_init(all)[left - 1].get_or_init(|| Way::of(whole, self.terms))
    }
}
