//! A tensor of a result that a plan makes of others. A conversion has one for each of its tensors, and the pipeline makes its bytes.

use std::{cmp::Reverse, collections::BinaryHeap};

use tilewright_relayout::{Plan, Region};

use crate::open::origin::{Made, Origin};

/// A tensor that is made of others: a plan, and the source that it reads.
#[derive(Debug)]
pub(crate) struct Making<'c> {
    pub(crate) plan: Plan,
    pub(crate) source: Box<dyn Made + 'c>,
    /// True if its regions are runs of files that together write all of it, and are copied.
    pub(crate) copied: bool,
    /// The bits of an element of padding.
    pub(crate) fill: u128,
}

impl<'c> Making<'c> {
    pub(crate) fn new(
        plan: Plan,
        source: Box<dyn Made + 'c>,
        (copied, fill): (bool, u128),
    ) -> Making<'c> {
        Making { plan, source, copied, fill }
    }

    /// Returns whether its bytes are those of one file, one after the other.
    pub(crate) fn is_alone(&self) -> bool {
        let regions = self.plan.program().regions().unwrap_or_default();
        self.copied && matches!(regions, [region] if region.loops.is_empty())
    }

    /// Returns the source that the plan reads, and the position of its first byte: the file itself, if bytes of one are copied.
    pub(crate) fn origin(&self) -> (Origin<'_>, u64) {
        match self.is_alone() {
            true => self.origin_at(0),
            false => (Origin::Made(&*self.source), 0),
        }
    }

    /// Returns the file that has byte `at` of the source and the following ones, and their position in it; else the source.
    fn origin_at(&self, at: u64) -> (Origin<'_>, u64) {
        match self.source.in_file(at) {
            Some((source, at)) => (Origin::File(source), at),
            None => (Origin::Made(&*self.source), at),
        }
    }

    /// Iterates over the copied runs in the order of the result, each with its source, its position there, and its length.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Origin<'_>, u64, u64)> + Send + '_ {
        let regions = self.plan.program().regions().unwrap_or_default();
        let mut each: Vec<_> =
            regions.iter().map(|region| (in_order(region), region.run)).collect();
        let first = each.iter_mut().enumerate();
        let first = first.filter_map(|(number, (runs, _))| Some(Reverse((runs.next()?, number))));
        let mut next: BinaryHeap<_> = first.collect();
        std::iter::from_fn(move || {
            let Reverse(((_, from), number)) = next.pop()?;
            let (runs, len) = each.get_mut(number)?;
            next.extend(runs.next().map(|run| Reverse((run, number))));
            let (source, at) = self.origin_at(from);
            Some((source, at, *len))
        })
    }
}

/// Iterates over the runs of a region in the order of the result: positions there, and in the source.
fn in_order(region: &Region) -> Box<dyn Iterator<Item = (u64, u64)> + Send + '_> {
    let runs = region.runs().map(|(src, dst)| (dst as u64, src as u64));
    match region.loops.is_sorted_by_key(|turn| Reverse(turn.dst)) {
        true => Box::new(runs),
        false => {
            let mut runs: Vec<_> = runs.collect();
            runs.sort_unstable();
            Box::new(runs.into_iter())
        }
    }
}

#[cfg(test)]
mod tests {
    use tilewright_relayout::{Loop, Program};

    use super::*;
    use crate::Error;

    #[derive(Debug)]
    struct Nothing;

    impl Made for Nothing {
        fn read(&self, _: &mut [u8], _: u64) -> Result<(), Error> {
            Ok(())
        }

        fn path(&self) -> &std::path::Path {
            std::path::Path::new("")
        }
    }

    /// The runs of regions that interleave, with loops in either order, follow one another in the result.
    #[test]
    fn runs_are_in_the_order_of_the_result() {
        let rows = |src: i64, dst: i64, turned: bool| {
            let mut loops =
                vec![Loop { extent: 5, src: 4, dst: 8 }, Loop { extent: 3, src: 20, dst: 40 }];
            if turned {
                loops.reverse();
            }
            Region { packed: false, src, dst, run: 4, loops }
        };
        for turned in [false, true] {
            let regions = vec![rows(60, 4, turned), rows(0, 0, turned)];
            let program = Program::of_regions(regions, (120, 120), 32, 0).unwrap();
            let making = Making::new(Plan::of(program), Box::new(Nothing), (true, 0));
            let found: Vec<(u64, u64)> = making.runs().map(|(_, at, len)| (at, len)).collect();
            let expected: Vec<(u64, u64)> = (0..30).map(|n| (n / 2 * 4 + n % 2 * 60, 4)).collect();
            assert_eq!(found, expected);
        }
    }
}
