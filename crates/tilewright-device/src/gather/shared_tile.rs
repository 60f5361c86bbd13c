//! Positions of the elements of a tile in shared memory, and the number of bank cycles of their reads.
//!
//! A run of the source keeps its order, in chunks of 16 bytes; the distance between runs is a pitch. The lowest three
//! bits of a chunk's number are xored with higher ones if that spreads the reads of a warp over the banks; lanes rotate
//! the order of the words of a vector; and the lanes of a warp take vectors of one run or of several.
//!
//! Law: chunks of different numbers have different positions, below the next multiple of 8 of their count.

use super::{
    GatherJob,
    tile::{self, GatherTile, Lanes},
};
use crate::alignment::{VECTOR, common};

/// The bank cycles for each read, in hundredths, below which a further search is not worthwhile.
const GOOD: u64 = 110;

/// The number of reads after which a candidate that is much worse than the best is dropped.
const TRIED: u64 = 16;

/// The lanes of a warp.
const LANES: u64 = 32;

/// Sizes and positions of a tile in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedTile {
    /// The chunks of a run, for any offset of the run.
    pub(crate) chunks: u64,
    /// The distance from a run to the next, in chunks.
    pub(crate) pitch: u64,
    /// The number of runs of the source.
    pub(crate) runs: u64,
    /// True if the runs of a tile have different offsets within a chunk.
    pub(crate) varies: bool,
    /// The shift of a chunk's number, whose low bits are then xored with those of the number.
    pub(crate) xor: Option<u32>,
    /// The shift of a lane's number by which lanes rotate the order of words, or of elements narrower than a byte.
    pub(crate) turned: Option<u32>,
    /// The number of consecutive vectors of a run that lanes take before those of the next run.
    pub(crate) group: Option<u64>,
}

/// The most bytes of shared memory that a text may declare for a block.
const SHARED: u64 = 48 << 10;

impl SharedTile {
    /// Returns the positions with the fewest bank cycles for a tile.
    pub(crate) fn of(job: &GatherJob, tile: &GatherTile) -> SharedTile {
        let vector = job.src.vector();
        let runs = tile.index_from(job);
        let chunks = (vector - phase_unit(job, tile) + tile.units_from(job)).div_ceil(vector);
        let varies =
            runs.iter().any(|at| !job.loops[*at].src.unsigned_abs().is_multiple_of(vector));
        let runs = runs.iter().map(|at| tile.take[*at]).product();
        let plain = SharedTile {
            chunks,
            pitch: chunks,
            runs,
            varies,
            xor: None,
            turned: None,
            group: None,
        };
        let mut best = (plain.cost(job, tile), plain.clone());
        for place in plain.others(job, tile).into_iter().filter(SharedTile::fits) {
            if best.0 <= GOOD {
                break;
            }
            if let Some(cost) = place.cost_below(best.0, job, tile) {
                best = (cost, place);
            }
        }
        best.1
    }

    /// Returns variants with other choices, those with the fewest instructions first.
    fn others(&self, job: &GatherJob, tile: &GatherTile) -> Vec<SharedTile> {
        let shifts: &[u32] = if job.dst.bits <= 32 { &[3, 2, 4, 1, 0] } else { &[] };
        let rotations: Vec<Option<u32>> =
            [None].into_iter().chain(shifts.iter().copied().map(Some)).collect();
        let pitches = if self.runs > 1 { 8 } else { 1 };
        let mut others = Vec::new();
        for group in SharedTile::groups(job, tile) {
            for xor in [None, Some(3), Some(4), Some(5), Some(6)] {
                for &turned in &rotations {
                    let more = |more| SharedTile {
                        pitch: self.pitch + more,
                        xor,
                        turned,
                        group,
                        ..self.clone()
                    };
                    others.extend((0..pitches).map(more));
                }
            }
        }
        others
    }

    /// Returns the group sizes for the vectors of a run: all, or sizes of at least a whole sector.
    fn groups(job: &GatherJob, tile: &GatherTile) -> Vec<Option<u64>> {
        let Lanes { vectors, runs, .. } = Lanes::of(job, tile, None);
        let sizes: &[u64] = if job.dst.bits < 8 { &[8, 16] } else { &[8, 4, 2] };
        let fits = |group: &u64| vectors >= *group && runs >= LANES / group;
        [None].into_iter().chain(sizes.iter().copied().filter(fits).map(Some)).collect()
    }

    /// Returns whether a block may have its bytes of shared memory.
    pub(crate) fn fits(&self) -> bool {
        self.shared() <= SHARED
    }

    /// Returns the bytes of shared memory.
    pub(crate) fn shared(&self) -> u64 {
        (self.runs * self.pitch).next_multiple_of(8) * VECTOR
    }

    /// Returns the distance between iterations of a loop in a tile, in units of the source.
    pub(crate) fn step(&self, job: &GatherJob, tile: &GatherTile, at: usize) -> i64 {
        if tile.from.contains(&at) {
            return job.loops[at].src;
        }
        let index = tile.index_from(job);
        let before = index.iter().take_while(|other| **other != at);
        let runs: u64 = before.map(|other| tile.take[*other]).product();
        if index.contains(&at) { (runs * self.pitch * job.src.vector()) as i64 } else { 0 }
    }

    /// Returns the position of a byte in shared memory after the xor.
    fn spot(&self, byte: u64) -> u64 {
        match self.xor {
            Some(shift) => byte ^ (byte >> shift & 0x70),
            None => byte,
        }
    }

    /// Returns the bank cycles for each read of a warp, plus a weight for the instructions of the choices.
    pub(crate) fn cost(&self, job: &GatherJob, tile: &GatherTile) -> u64 {
        self.cost_below(u64::MAX, job, tile).unwrap_or(u64::MAX)
    }

    /// Returns the cost if it is below a limit.
    fn cost_below(&self, limit: u64, job: &GatherJob, tile: &GatherTile) -> Option<u64> {
        let chosen = |yes: bool, cost: u64| if yes { cost } else { 0 };
        let more = chosen(self.xor.is_some(), 12)
            + chosen(self.turned.is_some(), 8)
            + chosen(self.group.is_some(), 6);
        let (mut passes, mut reads) = (0, 0);
        self.each_read(job, tile, |of_read, left| {
            (passes, reads) = (passes + of_read, reads + 1);
            // Every remaining read takes at least one cycle, and rarely fewer than those of the first warps.
            let far = reads >= TRIED && passes * 80 / reads > limit;
            !far && (passes + left) * 100 / (reads + left) + more < limit
        })?;
        let cost = passes * 100 / reads.max(1) + more;
        (cost < limit).then_some(cost)
    }

    /// Returns whether a further search is not worthwhile.
    pub(crate) fn is_good(&self, job: &GatherJob, tile: &GatherTile) -> bool {
        self.cost(job, tile) <= GOOD + 20
    }

    /// Iterates over the first numbers of the warps that are examined, or of their halves if elements have two words.
    fn warps(job: &GatherJob, lanes: &Lanes) -> impl Iterator<Item = u64> + use<> {
        let wide = (job.src.bits / 32).max(1);
        let all = lanes.all();
        let part = move |warp| (0..wide).map(move |part| warp * LANES + part * (LANES / wide));
        [0, 1, 2, 5, 9, 14, 6, 11, 18, 21, 23, 16]
            .into_iter()
            .flat_map(part)
            .filter(move |first| *first < all)
    }

    /// Calls a function with the bank cycles of each read of some warps of the first tile, and with the number of
    /// remaining reads, until it returns false; then the result is `None`.
    fn each_read(
        &self,
        job: &GatherJob,
        tile: &GatherTile,
        mut goes_on: impl FnMut(u64, u64) -> bool,
    ) -> Option<()> {
        let lanes = Lanes::of(job, tile, self.group);
        let elements = lanes.vector * 8 / job.dst.bits;
        let wide = (job.src.bits / 32).max(1);
        let reads = Reads { place: self, job, tile, lanes: &lanes }.of_runs();
        let mut left = SharedTile::warps(job, &lanes).count() as u64 * elements;
        let mut words = Vec::new();
        for first in SharedTile::warps(job, &lanes) {
            for element in 0..elements {
                words.clear();
                for number in (first..first + LANES / wide).filter(|number| *number < lanes.all()) {
                    let element = self.rotated(job, number, element, elements);
                    if let Some(byte) = reads.byte(number, element) {
                        words.extend((0..wide).map(|word| byte / 4 + word));
                    }
                }
                left -= 1;
                if !words.is_empty() && !goes_on(banks(&mut words), left) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Returns iterations, steps and offsets of some loops.
    fn steps(&self, job: &GatherJob, tile: &GatherTile, loops: &[usize]) -> Vec<ReadLoop> {
        let index = tile.index_from(job);
        let step = |at: &usize| {
            let leans = if index.contains(at) { job.loops[*at].src } else { 0 };
            let (iterations, step) = (tile.take[*at], self.step(job, tile, *at));
            let back = if step < 0 { (iterations as i64 - 1) * -step } else { 0 };
            let dst = job.loops[*at].dst / job.dst.per_byte() as i64;
            ReadLoop { iterations, step, back, lean: leans % job.src.vector() as i64, dst }
        };
        loops.iter().map(step).collect()
    }

    /// Returns the element that a lane reads in an iteration.
    fn rotated(&self, job: &GatherJob, lane: u64, element: u64, elements: u64) -> u64 {
        let Some(shift) = self.turned else { return element };
        // The rotation is by words, or by elements if a vector is one word.
        let step = if job.dst.bits < 8 { 1 } else { 32 / job.dst.bits };
        (element + ((lane % LANES) >> shift) * step) % elements
    }
}

/// The reads of vectors of a tile.
#[derive(Clone, Copy, Debug)]
struct Reads<'a> {
    place: &'a SharedTile,
    job: &'a GatherJob,
    tile: &'a GatherTile,
    lanes: &'a Lanes,
}

/// The reads of a tile, with the loops of a run of the destination, and those that count runs.
#[derive(Clone, Debug)]
struct ReadsOfRuns<'a> {
    reads: Reads<'a>,
    run: Vec<ReadLoop>,
    index: Vec<ReadLoop>,
    /// The unit at which the first run of the source begins.
    first: i64,
}

impl<'a> Reads<'a> {
    fn of_runs(self) -> ReadsOfRuns<'a> {
        let Reads { place, job, tile, .. } = self;
        let steps = |loops: &[usize]| place.steps(job, tile, loops);
        let phase = (job.src.phase * job.src.per_byte()) as i64;
        ReadsOfRuns {
            reads: self,
            run: steps(&tile.to),
            index: steps(&tile.to_index()),
            first: job.src.first.wrapping_add(phase),
        }
    }
}

impl ReadsOfRuns<'_> {
    /// Returns the byte of an element of a vector; `None` if the vector is not completely within a run.
    fn byte(&self, number: u64, element: u64) -> Option<u64> {
        let Reads { place, job, tile, lanes } = self.reads;
        let (vector, number) = lanes.of_number(number);
        let mut rest = number;
        let mut lead = tile::first(job);
        for step in &self.index {
            lead += (rest % step.iterations) as i64 * step.dst;
            rest /= step.iterations;
        }
        let x = (vector * lanes.vector) as i64 - lead.rem_euclid(lanes.together as i64);
        let row = (tile.to_elements() * job.dst.bits).div_ceil(8) as i64;
        if x < 0 || x + lanes.vector as i64 > row {
            return None;
        }
        let (mut units, mut phase) = (0i64, self.first);
        let mut add = |steps: &[ReadLoop], mut rest: u64| {
            for step in steps {
                let iteration = (rest % step.iterations) as i64;
                rest /= step.iterations;
                units += iteration * step.step + step.back;
                phase = phase.wrapping_add(iteration * step.lean);
            }
        };
        add(&self.run, x as u64 * 8 / job.dst.bits + element);
        add(&self.index, number);
        let units = units + phase.rem_euclid(job.src.vector() as i64);
        Some(place.spot((units.max(0) as u64) / job.src.per_byte()))
    }
}

/// A loop of a tile, as reads see it.
#[derive(Clone, Copy, Debug)]
struct ReadLoop {
    iterations: u64,
    /// The units of the tile from one iteration to the next, and those before the first one.
    step: i64,
    back: i64,
    /// The change of a run's offset within a chunk from one iteration to the next, in units.
    lean: i64,
    /// The bytes of the destination from one iteration to the next.
    dst: i64,
}

/// Returns the bank cycles of reads of some words.
fn banks(words: &mut Vec<u64>) -> u64 {
    words.sort_unstable();
    words.dedup();
    let mut counts = [0u64; 32];
    words.iter().for_each(|word| counts[(word % 32) as usize] += 1);
    counts.into_iter().max().unwrap_or(0)
}

/// Returns the number of units, at most 16 bytes, of which the beginning of every run of every tile is a multiple.
fn phase_unit(job: &GatherJob, tile: &GatherTile) -> u64 {
    let vector = job.src.vector();
    let first = job.src.first.wrapping_add((job.src.phase * job.src.per_byte()) as i64);
    let loops = job.loops.iter().enumerate();
    let strides = loops.map(|(at, level)| {
        let inside = tile.from.contains(&at);
        let whole = tile.is_whole(job, at);
        match (inside, whole, level.src < 0) {
            (true, true, false) => 0,
            (true, _, false) => level.src.wrapping_mul(tile.take[at] as i64) as u64,
            // A run of a reversed loop begins at its last iteration.
            _ => level.src.unsigned_abs(),
        }
    });
    strides.chain([first as u64]).fold(vector, common)
}
