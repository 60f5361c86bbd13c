//! The distribution of a plan among threads: its regions in parts, each a task that owns a part of the destination.
//!
//! Regions whose parts of the destination do not overlap are shared at the same time, others one after the other. A
//! region is cut along its outermost loop into tasks that own slices of the destination. It is cut along another loop
//! into parts that write different bytes of one slice, if its kernel can do that.

use std::sync::{Mutex, PoisonError};

use crate::{
    Error,
    cpu::{
        kernel::{
            ParallelMove, are_disjoint,
            parallel_move::{CutDirection, Partition},
        },
        way::{Way, WayKind, Ways},
        workers,
    },
    plan::PlanInner,
    program::region::{Loop, Region, RegionRef},
};

/// A part of a region, and the slice of the destination that it writes.
struct RegionShare<'a> {
    ways: &'a Ways,
    region: &'a Region,
    cut: Option<Partition>,
    /// The number of the part.
    part: u64,
    /// The first byte of the slice.
    at: u64,
    out: &'a mut [u8],
}

/// The range of destination bytes that contains a region, `from..to`.
type DestinationRange = (u64, u64);

impl PlanInner {
    /// Moves some of the regions in `threads` threads.
    pub(crate) fn share(
        &self,
        regions: &[Region],
        some: Vec<usize>,
        threads: usize,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let each = self.batches(regions, some);
        each.iter().try_for_each(|batch| self.batch(regions, batch, threads, src, out))
    }

    /// Returns some of the regions in batches; those of a batch do not overlap in the destination.
    fn batches(&self, regions: &[Region], mut order: Vec<usize>) -> Vec<Vec<usize>> {
        let bytes: Vec<DestinationRange> =
            regions.iter().map(|region| self.bytes_of(&region.whole())).collect();
        order.sort_by_key(|&i| bytes[i]);
        let mut batches = Vec::new();
        while !order.is_empty() {
            let (mut batch, mut rest, mut end) = (Vec::new(), Vec::new(), 0);
            for i in order {
                if bytes[i].0 >= end {
                    end = bytes[i].1;
                    batch.push(i);
                } else {
                    rest.push(i);
                }
            }
            batches.push(batch);
            order = rest;
        }
        batches
    }

    /// Moves regions that do not overlap in the destination.
    fn batch(
        &self,
        regions: &[Region],
        batch: &[usize],
        threads: usize,
        src: &[u8],
        mut out: &mut [u8],
    ) -> Result<(), Error> {
        if let [only] = *batch
            && let Some(parallel_move) =
                self.parallel_move(&regions[only], &self.ways[only], threads)
        {
            let each =
                |count: usize, one: &(dyn Fn(usize) + Sync)| self.pool.each(threads, count, one);
            if parallel_move.run(src, out, &self.scratches, &each)? {
                self.ways[only].add(WayKind::RegisterTranspose);
                return Ok(());
            }
        }
        let (mut tasks, mut at, mut kept) = (Vec::new(), 0, Vec::new());
        for &i in batch {
            let (region, ways) = (&regions[i], &self.ways[i]);
            let cut = self.cut(region, ways, threads, false);
            for part in 0..cut.map_or(1, |cut| cut.parts()) {
                let of = part_of(region, cut, part, &mut kept);
                let (from, to) = self.bytes_of(&of);
                let rest = out.split_at_mut((from - at) as usize).1;
                let (mine, rest) = rest.split_at_mut((to - from) as usize);
                tasks.push(Mutex::new(RegionShare {
                    ways,
                    region,
                    cut,
                    part,
                    at: from,
                    out: mine,
                }));
                (out, at) = (rest, to);
            }
        }
        self.pool.each(threads, tasks.len(), &|i| {
            let mut task = tasks[i].lock().unwrap_or_else(PoisonError::into_inner);
            self.task(&mut task, src);
        })
    }

    fn task(&self, task: &mut RegionShare<'_>, src: &[u8]) {
        let unit = u64::from(task.region.dst_unit(self.program.elements()));
        self.scratches.with(|scratch| {
            let mut loops = scratch.take_loops(&[]);
            let part = part_of(task.region, task.cut, task.part, &mut loops);
            let part = RegionRef { dst: part.dst - (task.at * 8 / unit) as i64, ..part };
            let tools = &mut task.ways.tools(scratch);
            task.ways.run(task.region, tools, &part, src, task.out);
            scratch.give_loops(loops);
        });
    }

    /// Returns the partition of a region among threads, along any loop or only along the outermost.
    pub(crate) fn cut(
        &self,
        region: &Region,
        ways: &Ways,
        threads: usize,
        any: bool,
    ) -> Option<Partition> {
        let (whole, elements) = (region.whole(), self.program.elements());
        let unit = u64::from(region.dst_unit(elements));
        let bytes = region.size().saturating_mul(unit) / 8;
        let most = bytes / self.min_range.max(1);
        if most < 2 || !are_disjoint(&region.loops, region.run) {
            return None;
        }
        let shape = |i: usize| ways.first().kept_whole(&whole, i, elements);
        let threads = (workers::wanted(threads) as u64, most);
        Partition::of(&whole, &shape, threads, any).filter(|cut| is_in_bytes(cut, region, unit))
    }

    /// Returns the partition of each region among threads, if it is cut.
    pub(crate) fn cuts(&self, threads: usize) -> Vec<Option<Partition>> {
        let regions = self.program.regions().unwrap_or_default();
        let mut cuts = vec![None; regions.len()];
        if workers::wanted(threads) == 1 || self.is_small() {
            return cuts;
        }
        let joined = self.joined();
        let alone = |i: &usize| !joined.is_some_and(|joined| joined.has(*i));
        for batch in self.batches(regions, (0..regions.len()).filter(alone).collect()) {
            for &i in &batch {
                let (region, ways) = (&regions[i], &self.ways[i]);
                let any = batch.len() == 1 && self.parallel_move(region, ways, threads).is_some();
                cuts[i] = self.cut(region, ways, threads, any);
            }
        }
        cuts
    }

    /// Returns whether the plan moves too few bytes for two threads.
    pub(crate) fn is_small(&self) -> bool {
        self.program.moved_bytes() / 2 < self.min_range
    }

    /// Returns the move in which threads share one slice of the destination; `None` if parts of the outermost loop are
    /// as good.
    fn parallel_move<'a>(
        &self,
        region: &'a Region,
        ways: &'a Ways,
        threads: usize,
    ) -> Option<ParallelMove<'a>> {
        let Way::RegisterTranspose(transpose) = ways.first() else { return None };
        let cut = self.cut(region, ways, threads, true)?;
        match cut.along {
            CutDirection::Loop(0) | CutDirection::Run => None,
            CutDirection::Loop(_) => {
                ParallelMove::of(self.terms.isa, transpose, region.whole(), cut)
            }
        }
    }

    /// Returns the range of destination bytes that contains a part; packed elements are extended to whole bytes.
    fn bytes_of(&self, part: &RegionRef<'_>) -> DestinationRange {
        let unit = part.dst_unit(self.program.elements());
        let bits = |units: i64| units as u128 * u128::from(unit);
        let end = part.dst + part.dst_length();
        ((bits(part.dst) / 8) as u64, bits(end).div_ceil(8) as u64)
    }
}

/// Returns a part of a region, or all of it.
fn part_of<'t>(
    region: &'t Region,
    cut: Option<Partition>,
    part: u64,
    loops: &'t mut Vec<Loop>,
) -> RegionRef<'t> {
    match cut {
        Some(cut) => cut.part(&region.whole(), part, loops),
        None => region.whole(),
    }
}

/// Returns whether parts begin at whole bytes.
fn is_in_bytes(cut: &Partition, region: &Region, unit: u64) -> bool {
    let whole = |units: u64| (u128::from(units) * u128::from(unit)).is_multiple_of(8);
    whole(region.dst as u64) && whole(cut.step(&region.whole()))
}

#[cfg(test)]
mod tests {
    use crate::{Elements, Plan};
    use tilewright_core::TensorLayout;

    #[test]
    fn one_slice_is_shared_where_the_outermost_loop_leaves_threads_idle_and_nowhere_else() {
        let row = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
        let shared = |dst: &TensorLayout, extents: &[u64], threads| {
            let plan = Plan::new(&row(extents), dst, Elements::same(32), 0).unwrap();
            let [region] = plan.program().regions().unwrap() else { panic!("one region") };
            plan.0.parallel_move(region, &plan.0.ways[0], threads).is_some()
        };
        // The innermost loop of the source has one block and is the outermost loop of the destination.
        let long = [40, 60, 9, 52];
        assert!(shared(&TensorLayout::col_major(&long).unwrap(), &long, 2));
        assert!(!shared(&TensorLayout::col_major(&long).unwrap(), &long, 1));
        // One case has enough transposes for all threads, the other has nothing to transpose.
        let batch = [15, 249, 284];
        assert!(!shared(&TensorLayout::ordered(&batch, &[1, 2, 0]).unwrap(), &batch, 2));
        assert!(!shared(&row(&long), &long, 2));
    }
}
