//! The parts in which a tensor of a result is made: runs that are copied from file to file, ranges of its storage, or tiles.
//! Threads that fill a file share them.
//!
//! Law: the parts of a tensor write every byte of it that is not a zero of padding, each once.

use std::{fs::File, io, ops::Range};

use tilewright_relayout::{Plan, Region, Tile, Tiles};
use tilewright_transfer::{Stage, part};

use crate::{
    Error,
    commit::disk,
    open::origin::Made,
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
    /// The lengths of ranges that cut no region, in ascending order.
    starts: Vec<u64>,
    /// True if its regions are runs of files that together write all of it, and are copied.
    pub(crate) copied: bool,
    /// True if its padding is zero, or if it has none.
    pub(crate) zeros: bool,
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
    Tiles(Tiles),
}

/// The largest number of regions for which ranges that cut none are searched.
const TRIED: usize = 4096;

/// Returns the lengths, in ascending order, of ranges that cut no region: ranges of such a length begin at regions.
fn starts(plan: &Plan) -> Vec<u64> {
    let ends = |region: &Region| {
        let reach = region.loops.iter().map(|level| (level.extent as i64 - 1) * level.dst);
        (region.dst as u64, region.dst as u64 + reach.sum::<i64>() as u64)
    };
    let regions = plan.program().regions().unwrap_or_default();
    let ends: Vec<(u64, u64)> = regions.iter().take(TRIED + 1).map(ends).collect();
    if ends.len() > TRIED {
        return Vec::new();
    }
    let mut starts: Vec<u64> = ends.iter().map(|(first, _)| *first).filter(|it| *it > 0).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| ends.iter().all(|(first, last)| first / start == last / start));
    starts
}

impl<'c> Making<'c> {
    pub(crate) fn new(
        (name, plan): (&'c str, Plan),
        source: Box<dyn Made + 'c>,
        (copied, zeros): (bool, bool),
    ) -> Making<'c> {
        let starts = if copied { Vec::new() } else { starts(&plan) };
        Making { name, plan, source, starts, copied, zeros }
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
            let (ranges, step) = self.ranges(len)?;
            let tiles = plan.tiles(len).filter(|_| self.zeros && self.len() > len);
            let tiles = tiles.map(|tiles| (cost(tiles.cost()), Parts::Tiles(tiles)));
            let tiles = tiles.filter(|(cost, _)| *cost < ranges);
            let (cost, parts) = tiles.unwrap_or((ranges, Parts::Ranges(step)));
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, parts));
            }
            if is_cheap(cost.into(), self.len()) {
                break;
            }
        }
        Ok(best.map_or(Parts::Ranges(most), |(_, parts)| parts))
    }

    /// Returns the cost and the length of the cheapest ranges of up to `len` bytes: those that the plan suggests, or those that
    /// cut no region.
    fn ranges(&self, len: u64) -> Result<(u64, u64), Error> {
        let suggested = self.plan.ranges(len).next().map_or(len, |range| range.end - range.start);
        let whole = self.starts.iter().rev().find(|start| **start <= len);
        let whole = whole.map(|start| len / start * start);
        let costs = [Some(suggested), whole].into_iter().flatten().map(|step| {
            let range = 0..step.min(self.len());
            Ok((cost_of_range(&self.plan, range).map_err(|error| self.failed(&error))?, step))
        });
        let costs = costs.collect::<Result<Vec<(u64, u64)>, Error>>()?;
        Ok(costs.into_iter().min().unwrap_or((0, len)))
    }

    fn failed(&self, error: &tilewright_relayout::Error) -> Error {
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
            |end| Error::usage(format!("byte {end} of {:?} lies outside it", making.name));
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
        if let Some((source, at)) = making.source.in_file(from) {
            while done < len {
                match disk::copy(source.file(), at + done, (file, to + done), len - done) {
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
