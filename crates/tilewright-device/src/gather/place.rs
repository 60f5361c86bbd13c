//! Where the elements of a tile are in shared memory, and how many turns of the banks their reads take.
//!
//! A run of the source lies as it does in the array, in chunks of 16 bytes; runs lie a pitch apart. The lowest three bits
//! of a chunk's number are xored with higher ones where that spreads the reads of a warp over the banks, lanes take the
//! words of a vector in turned orders, and the lanes of a warp take vectors of one run or of several.
//!
//! Law: chunks of different numbers lie in different places, below the next multiple of 8 of their number.

use super::{
    job::Job,
    tile::{MOST, Tile},
};
use crate::area::{VECTOR, common};

/// Turns of the banks for each read, in hundredths, that are not worth a further search.
const GOOD: u64 = 110;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Sizes and places of a tile in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Chunks of a run, wherever it begins.
    pub(crate) chunks: u64,
    /// Chunks from a run to the next.
    pub(crate) pitch: u64,
    /// Runs of the source.
    pub(crate) runs: u64,
    /// Whether the runs of a tile begin at different places of a chunk.
    pub(crate) varies: bool,
    /// The shift of a chunk's number whose low bits its own are xored with.
    pub(crate) xor: Option<u32>,
    /// The shift of a lane's number by which lanes turn the order of words, or of elements narrower than a byte.
    pub(crate) turned: Option<u32>,
    /// The vectors of a run that lanes take together; those of the next run follow, and not the others of this one.
    pub(crate) group: Option<u64>,
}

impl Place {
    /// The place of a tile whose reads take the fewest turns.
    pub(crate) fn of(job: &Job, tile: &Tile) -> Place {
        let vector = job.src.vector();
        let runs = tile.index_from(job);
        let chunks = (vector - phase_unit(job, tile) + tile.units_from(job)).div_ceil(vector);
        let varies =
            runs.iter().any(|at| !job.loops[*at].src.unsigned_abs().is_multiple_of(vector));
        let runs = runs.iter().map(|at| tile.take[*at]).product();
        let plain =
            Place { chunks, pitch: chunks, runs, varies, xor: None, turned: None, group: None };
        let fits = |place: &Place| place.shared() <= MOST + MOST / 2;
        let mut best = (plain.cost(job, tile), plain.clone());
        for place in plain.others(job, tile).into_iter().filter(fits) {
            if best.0 <= GOOD {
                break;
            }
            if let Some(cost) = place.cost_below(best.0, job, tile) {
                best = (cost, place);
            }
        }
        best.1
    }

    /// The same with other choices, those of the fewest instructions first.
    fn others(&self, job: &Job, tile: &Tile) -> Vec<Place> {
        let shifts: &[u32] = if job.dst.bits <= 32 { &[3, 2, 4, 1, 0] } else { &[] };
        let turns: Vec<Option<u32>> =
            [None].into_iter().chain(shifts.iter().copied().map(Some)).collect();
        let pitches = if self.runs > 1 { 8 } else { 1 };
        let mut others = Vec::new();
        for group in Place::groups(job, tile) {
            for xor in [None, Some(3), Some(4), Some(5), Some(6)] {
                for &turned in &turns {
                    let more = |more| Place {
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

    /// The numbers of vectors of a run that lanes may take together: all, or a whole sector and more.
    fn groups(job: &Job, tile: &Tile) -> Vec<Option<u64>> {
        let (_, vectors, all) = Place::vectors(job, tile);
        let sizes: &[u64] = if job.dst.bits < 8 { &[8, 16] } else { &[8, 4, 2] };
        let fits = |group: &u64| vectors >= *group && all / vectors >= LANES / group;
        [None].into_iter().chain(sizes.iter().copied().filter(fits).map(Some)).collect()
    }

    /// Bytes of shared memory.
    pub(crate) fn shared(&self) -> u64 {
        (self.runs * self.pitch).next_multiple_of(8) * VECTOR
    }

    /// How far from one turn of a loop to the next in a tile, in units of the source.
    pub(crate) fn step(&self, job: &Job, tile: &Tile, at: usize) -> i64 {
        if tile.from.contains(&at) {
            return job.loops[at].src;
        }
        let index = tile.index_from(job);
        let before = index.iter().take_while(|other| **other != at);
        let runs: u64 = before.map(|other| tile.take[*other]).product();
        if index.contains(&at) { (runs * self.pitch * job.src.vector()) as i64 } else { 0 }
    }

    /// Where a byte of shared memory goes.
    fn spot(&self, byte: u64) -> u64 {
        match self.xor {
            Some(shift) => byte ^ (byte >> shift & 0x70),
            None => byte,
        }
    }

    /// The turns of the banks for each read of a warp, weighted with what the choices cost in instructions.
    pub(crate) fn cost(&self, job: &Job, tile: &Tile) -> u64 {
        self.cost_below(u64::MAX, job, tile).unwrap_or(u64::MAX)
    }

    /// The same where it is below a limit.
    fn cost_below(&self, limit: u64, job: &Job, tile: &Tile) -> Option<u64> {
        let chosen = |yes: bool, cost: u64| if yes { cost } else { 0 };
        let more = chosen(self.xor.is_some(), 12)
            + chosen(self.turned.is_some(), 8)
            + chosen(self.group.is_some(), 6);
        let (mut turns, mut reads, all) = (0, 0, self.reads(job, tile));
        self.each_read(job, tile, |of_read| {
            (turns, reads) = (turns + of_read, reads + 1);
            // Every read that is left takes a turn at least.
            (turns + all - reads) * 100 / all.max(1) + more < limit
        })?;
        let cost = turns * 100 / reads.max(1) + more;
        (cost < limit).then_some(cost)
    }

    /// Whether no other place is worth a search.
    pub(crate) fn is_good(&self, job: &Job, tile: &Tile) -> bool {
        self.cost(job, tile) <= GOOD + 20
    }

    /// The elements of a vector, the vectors of a run, and those of a tile.
    fn vectors(job: &Job, tile: &Tile) -> (u64, u64, u64) {
        let vector = if job.dst.bits < 8 { 4 } else { VECTOR };
        let elements = vector * 8 / job.dst.bits;
        let vectors = (tile.to_elements() / elements).max(1);
        (elements, vectors, vectors * (tile.elements() / tile.to_elements()))
    }

    /// The first lanes of the warps that are looked at, or of their halves where elements have two words.
    fn warps(job: &Job, tile: &Tile) -> impl Iterator<Item = u64> + use<> {
        let wide = (job.src.bits / 32).max(1);
        let (_, _, all) = Place::vectors(job, tile);
        let part = move |warp| (0..wide).map(move |part| warp * LANES + part * (LANES / wide));
        [0, 1, 5].into_iter().flat_map(part).filter(move |first| *first < all)
    }

    /// The reads that are looked at.
    fn reads(&self, job: &Job, tile: &Tile) -> u64 {
        Place::warps(job, tile).count() as u64 * Place::vectors(job, tile).0
    }

    /// Hands out the turns of the banks for each read of some warps of a tile whose runs begin at multiples of 16 bytes,
    /// while more of them are wanted; `None` where the rest is not.
    fn each_read(
        &self,
        job: &Job,
        tile: &Tile,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Option<()> {
        let (elements, vectors, all) = Place::vectors(job, tile);
        let wide = (job.src.bits / 32).max(1);
        let (run, index) =
            (self.steps(job, tile, &tile.to), self.steps(job, tile, &tile.to_index()));
        let mut words = Vec::new();
        for first in Place::warps(job, tile) {
            for element in 0..elements {
                words.clear();
                for lane in (first..first + LANES / wide).filter(|lane| *lane < all) {
                    let (vector, number) = self.of_lane(lane, vectors, all / vectors);
                    let x = vector * elements + self.turn(job, lane, element, elements);
                    let byte = self.byte(job, &run, x, &index, number);
                    words.extend((0..wide).map(|word| byte / 4 + word));
                }
                if !goes_on(banks(&mut words)) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The vector of a run, and the run, that a lane takes.
    fn of_lane(&self, lane: u64, vectors: u64, runs: u64) -> (u64, u64) {
        match self.group {
            None => (lane % vectors, lane / vectors),
            Some(group) => {
                let groups = lane / group;
                ((groups / runs * group + lane % group).min(vectors - 1), groups % runs)
            }
        }
    }

    /// Turns, steps and phases of some loops.
    fn steps(&self, job: &Job, tile: &Tile, loops: &[usize]) -> Vec<Step> {
        let index = tile.index_from(job);
        let step = |at: &usize| {
            let leans = if index.contains(at) { job.loops[*at].src } else { 0 };
            let (turns, step) = (tile.take[*at], self.step(job, tile, *at));
            let back = if step < 0 { (turns as i64 - 1) * -step } else { 0 };
            Step { turns, step, back, lean: leans % job.src.vector() as i64 }
        };
        loops.iter().map(step).collect()
    }

    /// The element that a lane reads at its turn.
    fn turn(&self, job: &Job, lane: u64, element: u64, elements: u64) -> u64 {
        let Some(shift) = self.turned else { return element };
        // A turn is a word, or an element where a vector is one word.
        let step = if job.dst.bits < 8 { 1 } else { 32 / job.dst.bits };
        (element + (lane % LANES >> shift) * step) % elements
    }

    /// The byte of element `x` of a run of the destination.
    fn byte(&self, job: &Job, run: &[Step], x: u64, index: &[Step], number: u64) -> u64 {
        let (mut units, mut phase) = (0i64, 0i64);
        let mut add = |steps: &[Step], mut rest: u64| {
            for step in steps {
                let turn = (rest % step.turns) as i64;
                rest /= step.turns;
                units += turn * step.step + step.back;
                phase += turn * step.lean;
            }
        };
        add(run, x);
        add(index, number);
        let units = units + phase.rem_euclid(job.src.vector() as i64);
        self.spot((units.max(0) as u64) / job.src.per_byte())
    }
}

/// A loop of a tile as reads see it.
#[derive(Clone, Copy, Debug)]
struct Step {
    turns: u64,
    /// Units of the tile from one turn to the next, and those before the first one.
    step: i64,
    back: i64,
    /// Units by which the run of the next turn begins elsewhere in a chunk.
    lean: i64,
}

/// The turns of the banks for some words.
fn banks(words: &mut Vec<u64>) -> u64 {
    words.sort_unstable();
    words.dedup();
    let mut counts = [0u64; 32];
    words.iter().for_each(|word| counts[(word % 32) as usize] += 1);
    counts.into_iter().max().unwrap_or(0)
}

/// The units of the source that every run of every tile begins at a multiple of, at most 16 bytes.
fn phase_unit(job: &Job, tile: &Tile) -> u64 {
    let vector = job.src.vector();
    let first = job.src.first.wrapping_add((job.src.phase * job.src.per_byte()) as i64);
    let loops = job.loops.iter().enumerate();
    let strides = loops.map(|(at, turn)| {
        let inside = tile.from.contains(&at);
        let whole = tile.is_whole(job, at);
        match (inside, whole, turn.src < 0) {
            (true, true, false) => 0,
            (true, _, false) => turn.src.wrapping_mul(tile.take[at] as i64) as u64,
            // A run of a reversed loop begins at its last turn.
            _ => turn.src.unsigned_abs(),
        }
    });
    strides.chain([first as u64]).fold(vector, common)
}
