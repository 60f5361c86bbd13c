//! The parts in which a tensor of a result is made: runs that are copied from file to file, ranges of its storage, or tiles.
//! Threads that fill a file share them.
//!
//! Law: the parts of a tensor write every byte of it that is not a zero of padding, each once.

use std::{fs::File, io, ops::Range};

use tilewright_relayout::{Loop, Plan, Region, Tile, Tiles};
use tilewright_transfer::{Stage, part};

use crate::{
    Error,
    commit::disk,
    error,
    open::origin::{Made, Origin},
    transfer::{
        budget::{Budget, Buffer},
        job::unplanned,
        shares::{cost, cost_of_range, is_cheap},
    },
};

/// The number of bytes of the smallest parts: in the cache, and long enough for few calls.
const LEAST: u64 = 1 << 20;

/// A tensor that is made of others: a plan, and the source that it reads.
#[derive(Debug)]
pub(crate) struct Making<'c> {
    pub(crate) name: &'c str,
    pub(crate) plan: Plan,
    pub(crate) source: Box<dyn Made + 'c>,
    /// The positions at which ranges begin that cut no region.
    bounds: Vec<u64>,
    /// True if its regions are runs of files that together write all of it, and are copied.
    pub(crate) copied: bool,
    /// The bits of an element of padding.
    pub(crate) fill: u128,
}

/// A part of a tensor.
pub(crate) enum What {
    /// Bytes of a file, from one position of the source to one position of the result.
    Copy {
        from: u64,
        to: u64,
        len: u64,
    },
    /// These bytes of the storage.
    Range(Range<u64>),
    Tile(Tile),
}

/// The kind of the parts of a tensor.
pub(crate) enum Parts {
    Runs,
    /// Ranges of this number of bytes.
    Ranges(u64),
    /// Ranges of up to this number of bytes that cut no region.
    Groups(u64),
    Tiles(Tiles),
}

/// Returns the positions, in ascending order, at which ranges begin that cut no region; the first is 0.
fn bounds(plan: &Plan) -> Vec<u64> {
    let ends = |region: &Region| {
        let reach: i64 = region.loops.iter().map(Loop::dst_reach).sum();
        (region.dst as u64, (region.dst + reach) as u64 + region.run)
    };
    // Positions of packed elements do not count bytes.
    let regions = plan.program().regions().filter(|all| all.iter().all(|region| !region.packed));
    let mut ends: Vec<(u64, u64)> = regions.unwrap_or_default().iter().map(ends).collect();
    ends.sort_unstable();
    let (mut bounds, mut reached) = (vec![0], 0);
    for (first, end) in ends {
        if first >= reached && first > 0 {
            bounds.push(first);
        }
        reached = reached.max(end);
    }
    bounds
}

impl<'c> Making<'c> {
    pub(crate) fn new(
        (name, plan): (&'c str, Plan),
        source: Box<dyn Made + 'c>,
        (copied, fill): (bool, u128),
    ) -> Making<'c> {
        let bounds = if copied { Vec::new() } else { bounds(&plan) };
        Making { name, plan, source, bounds, copied, fill }
    }

    /// Returns whether its bytes are those of one file, one after the other.
    pub(crate) fn is_alone(&self) -> bool {
        let regions = self.plan.program().regions().unwrap_or_default();
        self.copied && matches!(regions, [region] if region.loops.is_empty())
    }

    /// Returns the source that the plan reads, and the position of its first byte: the file itself, if bytes of one are copied.
    pub(crate) fn origin(&self) -> (Origin<'_>, u64) {
        match self.source.in_file(0).filter(|_| self.is_alone()) {
            Some((source, at)) => (Origin::File(source), at),
            None => (Origin::Made(&*self.source), 0),
        }
    }

    /// Returns the number of bytes of the tensor.
    pub(crate) fn len(&self) -> u64 {
        self.plan.dst_bytes()
    }

    /// Chooses the parts, of up to `most` bytes on either side: the smallest whose calls cost little, else the cheapest.
    pub(crate) fn parts(&self, most: u64) -> Result<Parts, Error> {
        if self.copied {
            return Ok(Parts::Runs);
        }
        let plan = &self.plan;
        if plan.list_bytes(LEAST) > 0 && plan.src_bytes().max(self.len()) <= most {
            // A list of reads costs more than all bytes.
            return Ok(Parts::Ranges(self.len().max(1)));
        }
        let longer = |len: &u64| len.checked_mul(4).filter(|len| *len / 4 < most);
        let mut best: Option<(u64, Parts)> = None;
        for len in std::iter::successors(Some(LEAST.min(most)), longer).map(|len| len.min(most)) {
            let ranges = self.ranges(len, most)?;
            let fits = self.fill == 0 && self.len() > len && plan.program().regions().is_some();
            let tiles = plan.tiles(len).filter(|_| fits);
            let tiles = tiles.map(|tiles| (cost(tiles.cost()), Parts::Tiles(tiles)));
            let tiles = tiles.filter(|(cost, _)| *cost < ranges.0);
            let (cost, parts) = tiles.unwrap_or(ranges);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, parts));
            }
            if is_cheap(cost.into(), self.len()) {
                break;
            }
        }
        Ok(best.map_or(Parts::Ranges(most), |(_, parts)| parts))
    }

    /// Returns the cost of the cheapest ranges of up to `len` bytes, with these: those that the plan suggests, or those that cut
    /// no region. The latter are a little longer if a region is; `most` bounds them.
    fn ranges(&self, len: u64, most: u64) -> Result<(u64, Parts), Error> {
        let step = self.plan.ranges(len).next().map_or(len, |range| range.end - range.start);
        let suggested = (self.cost(0..step.min(self.len()))?, Parts::Ranges(step));
        let ends = self.bounds.iter().skip(1).copied().chain([self.len()]);
        let longest = self.bounds.iter().zip(ends).map(|(start, end)| end - start).max();
        let whole = longest.filter(|longest| *longest <= most.min(2 * len));
        let Some(whole) = whole.map(|longest| len.max(longest)) else { return Ok(suggested) };
        let first = self.groups(whole).next().unwrap_or_default();
        let groups = (self.cost(first)?, Parts::Groups(whole));
        Ok(if groups.0 <= suggested.0 { groups } else { suggested })
    }

    /// Returns the cost of all ranges like this one.
    fn cost(&self, range: Range<u64>) -> Result<u64, Error> {
        cost_of_range(&self.plan, range).map_err(|error| self.failed(&error))
    }

    /// Iterates over ranges of up to `len` bytes that cut no region; a region that is longer is one range.
    fn groups(&self, len: u64) -> impl Iterator<Item = Range<u64>> + Send + '_ {
        let (bounds, end, mut next) = (&self.bounds, self.len(), 0);
        std::iter::from_fn(move || {
            let start = *bounds.get(next).filter(|start| **start < end)?;
            let within = bounds.partition_point(|bound| *bound <= start.saturating_add(len));
            let last = end - start <= len;
            next = if last { bounds.len() } else { (next + 1).max(within - 1) };
            Some(start..bounds.get(next).copied().unwrap_or(end))
        })
    }

    fn failed(&self, error: &Error) -> Error {
        unplanned(self.name, error)
    }

    /// Iterates over the parts of this kind.
    pub(crate) fn each(&self, parts: Parts) -> Box<dyn Iterator<Item = What> + Send + '_> {
        match parts {
            Parts::Runs => Box::new(self.runs()),
            Parts::Ranges(step) => {
                let (step, len) = (step.max(1), self.len());
                let ranges =
                    (0..len.div_ceil(step)).map(move |i| i * step..len.min((i + 1) * step));
                Box::new(ranges.map(What::Range))
            }
            Parts::Groups(len) => Box::new(self.groups(len).map(What::Range)),
            Parts::Tiles(tiles) => Box::new(tiles.map(What::Tile)),
        }
    }

    /// Iterates over the copied runs, in pieces that threads share.
    fn runs(&self) -> impl Iterator<Item = What> + Send + '_ {
        let regions = self.plan.program().regions().unwrap_or_default();
        regions.iter().flat_map(|region| {
            region.runs().flat_map(move |(src, dst)| {
                (0..region.run.div_ceil(LEAST)).map(move |step| {
                    let (from, to) = (src as u64 + step * LEAST, dst as u64 + step * LEAST);
                    What::Copy { from, to, len: LEAST.min(region.run - step * LEAST) }
                })
            })
        })
    }
}

impl What {
    /// Returns the number of bytes of the result that the part writes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            What::Copy { len, .. } => *len,
            What::Range(range) => range.end - range.start,
            What::Tile(tile) => tile.dst_len() as u64,
        }
    }
}

/// The buffers of a thread that makes parts.
pub(crate) struct Maker<'b> {
    budget: &'b Budget,
    /// The largest number of bytes of a buffer.
    most: u64,
    stage: Stage,
    src: Option<Buffer>,
    out: Option<Buffer>,
}

impl<'b> Maker<'b> {
    pub(crate) fn new(budget: &'b Budget, most: u64) -> Maker<'b> {
        Maker { budget, most, stage: Stage::new(budget, most), src: None, out: None }
    }

    /// Makes a part of a tensor whose first byte is at `at` of a file; the inner error is that of the file.
    pub(crate) fn make(
        &mut self,
        making: &Making<'_>,
        what: &What,
        (file, at): (&File, u64),
    ) -> Result<io::Result<()>, Error> {
        let outside =
            |end| error::usage(format!("byte {end} of {:?} lies outside it", making.name));
        let short = |_| outside(making.len());
        match what {
            What::Copy { from, to, len } => self.copy(making, (*from, *len), (file, at + to)),
            What::Range(range) => {
                let len = range.end - range.start;
                let out = self.budget.grown(&mut self.out, len, self.most)?;
                let out = part::<Error>(out, 0, len).map_err(short)?;
                let mut read = |bytes: &mut [u8], at: u64| making.source.read(bytes, at);
                let done = self.stage.read_range(&making.plan, range.clone(), out, &mut read);
                let planned = |error: &_| unplanned(making.name, error);
                done.map_err(|failed| failed.into_error(planned, outside))?;
                Ok(disk::place(file, out, at + range.start))
            }
            What::Tile(tile) => {
                let (src, out) = (tile.src_len() as u64, tile.dst_len() as u64);
                let src = self.budget.grown(&mut self.src, src, self.most)?;
                let out = self.budget.grown(&mut self.out, out, self.most)?;
                for read in tile.reads() {
                    let bytes = part::<Error>(src, read.at as u64, read.len as u64);
                    making.source.read(bytes.map_err(short)?, read.src)?;
                }
                tile.run(src, out).map_err(|error| unplanned(making.name, &error))?;
                Ok(tile.writes().try_for_each(|write| {
                    let bytes = out.get(write.at..write.at + write.len).unwrap_or_default();
                    disk::place(file, bytes, at + write.dst)
                }))
            }
        }
    }

    /// Copies bytes of a source, by the system if it can; the inner error is that of the written file.
    fn copy(
        &mut self,
        making: &Making<'_>,
        (from, len): (u64, u64),
        (file, to): (&File, u64),
    ) -> Result<io::Result<()>, Error> {
        let mut done = 0;
        if let Some((source, at)) = making.source.in_file(from)
            && let Some(held) = source.file()
        {
            while done < len {
                match disk::copy(held, at + done, (file, to + done), len - done) {
                    Ok(0) => break,
                    Ok(copied) => done += copied.min(len - done),
                    Err(cause) => return Ok(Err(cause)),
                }
            }
        }
        // Reads and writes the rest, which also reports faults of the source.
        while done < len {
            let step = (len - done).min(self.most);
            let out = self.budget.grown(&mut self.out, step, self.most)?;
            let bytes = out.get_mut(..step as usize).unwrap_or_default();
            making.source.read(bytes, from + done)?;
            if let Err(cause) = disk::place(file, bytes, to + done) {
                return Ok(Err(cause));
            }
            done += step;
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tilewright_relayout::Program;

    use super::*;

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

    /// Pairs of regions that interleave are not cut, for any length of ranges; a longer pair is one range.
    #[test]
    fn groups_follow_one_another_and_cut_no_region() {
        let rows = |src: i64, dst: i64| Region {
            packed: false,
            src,
            dst,
            run: 4,
            loops: vec![Loop { extent: 5, src: 4, dst: 8 }],
        };
        // Pairs of 40 bytes, with 8 bytes of padding behind each.
        let regions = (0..7).flat_map(|n| [rows(40 * n, 48 * n), rows(40 * n + 20, 48 * n + 4)]);
        let program = Program::of_regions(regions.collect(), (280, 336), 32, 0).unwrap();
        let making = Making::new(("a", Plan::of(program)), Box::new(Nothing), (false, 0));
        for len in 1..400 {
            let mut next = 0;
            for Range { start, end } in making.groups(len) {
                assert_eq!((start, start % 48, end % 48), (next, 0, 0));
                assert!(end - start <= len.max(48) && end > start);
                next = end;
            }
            assert_eq!(next, 336, "{len}");
        }
    }
}
