//! A tile: the number of iterations of each loop that a block takes, chosen for long runs on both sides; and the
//! vectors of its runs that each thread takes.
//!
//! Laws: the iterations of a run, in their order, are contiguous, and all of them except those of the last loop are in
//! every tile. A run of the destination begins at a whole byte in each tile. A tile has at most [`MOST`] bytes, gaps
//! between runs included. Each vector of each run is taken once. The groups of vectors of a run begin at multiples of a
//! number of bytes in memory, so no two groups of a run touch the same sector.

use tilewright_relayout::Loop;

use super::{GatherJob, Storage};
use crate::byte_region::{SECTOR, VECTOR, common};

/// The most bytes of a tile, gaps between runs included.
pub(super) const MOST: u64 = 44 << 10;

/// The bytes of a tile after which it does not grow further.
const ENOUGH: u64 = 24 << 10;

/// The bytes of a run of the destination whose ends cost little.
const LONG: u64 = 512;

/// The most elements between iterations of the source's innermost loop, so that a run may be sparse.
const SPARSE: u64 = 4;

/// The iterations of loops that a block takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatherTile {
    /// The number of iterations of each loop of the job.
    pub(crate) take: Vec<u64>,
    /// The loops of a run of the source, the smallest stride first.
    pub(crate) from: Vec<usize>,
    /// The loops of a run of the destination, the smallest stride first.
    pub(crate) to: Vec<usize>,
}

impl GatherTile {
    /// Returns the tile for a job; `None` if runs of the destination do not begin or end at whole bytes.
    pub(crate) fn of(job: &GatherJob) -> Option<GatherTile> {
        let from = chain(&job.loops, |level| level.src, first_stride(job));
        let to = chain(&job.loops, |level| level.dst, job.dst.width());
        let sizes = [256, 128, 64, 32, 16].into_iter();
        let mut tile = sizes
            .map(|bytes| {
                let mut take = vec![1; job.loops.len()];
                grow(&mut take, job, &from, job.src, bytes);
                grow(&mut take, job, &to, job.dst, bytes);
                GatherTile { take, from: from.clone(), to: to.clone() }
            })
            .find(|tile| tile.bytes(job) <= MOST)?;
        tile.fill(job);
        tile.lengthen(job);
        tile.end_at_bytes(job);
        let mut more = to.iter();
        loop {
            let runs = GatherTile {
                from: tile.run(&from, job),
                to: tile.run(&to, job),
                take: tile.take.clone(),
            };
            if tile.bytes(job) > MOST || runs.begins_at_bytes(job) {
                return (tile.bytes(job) <= MOST).then_some(runs);
            }
            // If loops are taken completely, fewer runs begin within a byte.
            let at = *more.next()?;
            tile.take[at] = job.loops[at].extent;
        }
    }

    /// Returns the tile of a mirrored job; `None` if runs of the tile would contain elements of others, or elements
    /// that move more than once, or backwards.
    pub(crate) fn mirrored(&self, job: &GatherJob) -> Option<GatherTile> {
        let forward = job.loops.iter().all(|level| level.src > 0);
        let begins = |chain: &[usize], side: fn(&Loop) -> i64, width: u64| {
            chain.first().is_some_and(|at| side(&job.loops[*at]).unsigned_abs() == width)
        };
        let dense = begins(&self.from, |level| level.src, job.src.width())
            && begins(&self.to, |level| level.dst, job.dst.width());
        let narrow = job.src.bits <= 64;
        (job.is_plain() && narrow && forward && dense).then(|| GatherTile {
            take: self.take.clone(),
            from: self.to.clone(),
            to: self.from.clone(),
        })
    }

    /// Returns whether every tile has all iterations of a loop.
    pub(crate) fn is_whole(&self, job: &GatherJob, at: usize) -> bool {
        self.take[at] == job.loops[at].extent
    }

    /// Returns the number of elements of a tile.
    pub(crate) fn elements(&self) -> u64 {
        self.take.iter().product()
    }

    /// Returns the loops of a tile that count runs of the source, with more than one iteration and a stride.
    pub(crate) fn index_from(&self, job: &GatherJob) -> Vec<usize> {
        let counts = |at: &usize| self.take[*at] > 1 && job.loops[*at].src != 0;
        (0..self.take.len()).filter(|at| !self.from.contains(at)).filter(counts).collect()
    }

    /// Returns the loops of a tile that count runs of the destination.
    pub(crate) fn to_index(&self) -> Vec<usize> {
        (0..self.take.len()).filter(|at| !self.to.contains(at) && self.take[*at] > 1).collect()
    }

    /// Returns the units of the source from the first element of a run to the end of its last.
    pub(crate) fn units_from(&self, job: &GatherJob) -> u64 {
        let reach = |at: &usize| (self.take[*at] - 1) * job.loops[*at].src.unsigned_abs();
        self.from.iter().map(reach).sum::<u64>() + job.src.width()
    }

    /// Returns the number of elements of a run of the destination.
    pub(crate) fn to_elements(&self) -> u64 {
        self.to.iter().map(|at| self.take[*at]).product()
    }

    /// Estimates the bytes of shared memory, with one more vector for each run.
    fn bytes(&self, job: &GatherJob) -> u64 {
        let run = GatherTile { from: self.run(&self.from, job), ..self.clone() };
        let units = run.units_from(job) + job.src.vector();
        let runs = run.index_from(job).iter().map(|at| self.take[*at]).product::<u64>();
        units.div_ceil(job.src.vector()).saturating_mul(16).saturating_mul(runs)
    }

    /// Returns the loops of a chain that form one run in this tile: all of them complete except the last.
    fn run(&self, chain: &[usize], job: &GatherJob) -> Vec<usize> {
        let whole = chain.iter().take_while(|at| self.is_whole(job, **at)).count();
        let last = chain.get(whole).filter(|at| self.take[**at] > 1);
        chain[..whole].iter().chain(last).copied().collect()
    }

    /// Doubles the last loop of either run while the tile is small.
    fn fill(&mut self, job: &GatherJob) {
        let chains = [self.to.clone(), self.from.clone()];
        for chain in chains {
            for at in chain {
                let fits = |tile: &GatherTile| tile.bytes(job) <= ENOUGH;
                while !self.is_whole(job, at) {
                    let mut more = self.clone();
                    more.take[at] = up_to(self.take[at] * 2, job.loops[at].extent);
                    if !fits(&more) {
                        break;
                    }
                    *self = more;
                }
                if !self.is_whole(job, at) {
                    break;
                }
            }
        }
    }

    /// Doubles the last loop of a run of the destination if adjacent runs begin within its sectors: other runs touch
    /// the sectors at both ends of such a run again.
    fn lengthen(&mut self, job: &GatherJob) {
        let (sector, per_byte) = (SECTOR * job.dst.per_byte(), job.dst.per_byte() as i64);
        let first = job.dst.first.wrapping_add(job.dst.phase as i64 * per_byte);
        let aligned = |units: i64| units.unsigned_abs().is_multiple_of(sector);
        let run = self.run(&self.to, job);
        let Some(&last) = run.last() else { return };
        let mut others = (0..self.take.len()).filter(|at| !run.contains(at));
        let next = job.loops[last].dst.wrapping_mul(self.take[last] as i64);
        let next = if self.is_whole(job, last) { 0 } else { next };
        if aligned(first) && aligned(next) && others.all(|at| aligned(job.loops[at].dst)) {
            return;
        }
        let elements = |tile: &GatherTile| {
            GatherTile { to: tile.run(&tile.to, job), ..tile.clone() }.to_elements()
        };
        while !self.is_whole(job, last) && elements(self) * job.dst.bits < 8 * LONG {
            let mut more = self.clone();
            more.take[last] = up_to(self.take[last] * 2, job.loops[last].extent);
            if more.bytes(job) > MOST {
                break;
            }
            *self = more;
        }
    }

    /// Takes more iterations of the loops whose next tile would begin within a byte.
    fn end_at_bytes(&mut self, job: &GatherJob) {
        let per_byte = job.dst.per_byte();
        for (take, level) in self.take.iter_mut().zip(&job.loops) {
            let within =
                |take: u64| !(level.dst as u64).wrapping_mul(take).is_multiple_of(per_byte);
            while *take < level.extent && within(*take) {
                *take += 1;
            }
        }
    }

    fn begins_at_bytes(&self, job: &GatherJob) -> bool {
        let per_byte = job.dst.per_byte() as i64;
        let loops = || job.loops.iter().enumerate();
        let whole = |units: i64| units % per_byte == 0;
        let tiles = loops().all(|(at, level)| {
            self.is_whole(job, at) || whole(level.dst.wrapping_mul(self.take[at] as i64))
        });
        let index = self.to_index().into_iter().all(|at| whole(job.loops[at].dst));
        let all: u64 = self.to.iter().map(|at| job.loops[*at].extent).product();
        let open = job.open && loops().all(|(at, _)| self.to.contains(&at));
        let ends = whole((all.wrapping_mul(job.dst.width())) as i64) || open;
        whole(job.dst.first) && tiles && index && ends
    }
}

/// Returns the first stride of the source's chain: an element, or a small number of them if no loop has that stride.
fn first_stride(job: &GatherJob) -> u64 {
    let width = job.src.width();
    let strides = job.loops.iter().map(|level| level.src.unsigned_abs()).filter(|src| *src > 0);
    let least = strides.min().unwrap_or(width);
    if least <= width.saturating_mul(SPARSE) && least.is_multiple_of(width) { least } else { width }
}

/// Returns the loops that continue one another on a side, from a stride on.
fn chain(loops: &[Loop], side: fn(&Loop) -> i64, first: u64) -> Vec<usize> {
    let (mut chain, mut reach) = (Vec::new(), Some(first));
    while let Some(stride) = reach {
        let goes_on = |at: &usize| side(&loops[*at]).unsigned_abs() == stride;
        let Some(at) = (0..loops.len()).filter(|at| !chain.contains(at)).find(goes_on) else {
            break;
        };
        chain.push(at);
        reach = stride.checked_mul(loops[at].extent);
    }
    chain
}

/// Takes iterations of a chain until a run has this number of bytes.
fn grow(take: &mut [u64], job: &GatherJob, chain: &[usize], side: Storage, bytes: u64) {
    let mut got = side.bits;
    for &at in chain {
        if got >= bytes * 8 {
            break;
        }
        let extent = job.loops[at].extent;
        let need = (bytes * 8).div_ceil(got).next_power_of_two();
        take[at] = take[at].max(up_to(need, extent));
        if take[at] < extent {
            break;
        }
        got = got.saturating_mul(extent);
    }
}

/// Returns a power of two of iterations, or all if the extent is less than twice that.
fn up_to(iterations: u64, extent: u64) -> u64 {
    if extent < iterations * 2 { extent } else { iterations }
}

/// Vectors of runs and their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The bytes of a vector.
    pub(super) vector: u64,
    /// The first vector of a run begins at a multiple of this power of two, at or before the run.
    pub(super) together: u64,
    /// The power of two, at most `together`, of which the offset of every run is a multiple.
    pub(super) unit: u64,
    /// The number of vectors of a run, for any offset of the run.
    pub(super) vectors: u64,
    pub(super) runs: u64,
    /// The number of vectors of a run in a group; vectors of the next run follow. `None` if all are one group.
    pub(super) group: Option<u64>,
}

impl Lanes {
    pub(super) fn of(job: &GatherJob, tile: &GatherTile, group: Option<u64>) -> Lanes {
        let (vector, elements) = (vector(job), tile.to_elements());
        let bytes = (elements * job.dst.bits).div_ceil(8);
        let step = strides(job, tile).fold(SECTOR, common);
        let phase = common(VECTOR, first(job) as u64);
        let together = match group {
            Some(group) => group * vector,
            // Runs that begin within a sector are taken from the beginning of the sector.
            None if step.min(2 * phase) < SECTOR && bytes >= 4 * SECTOR => SECTOR,
            None => vector,
        };
        let unit = together.min(step).min(phase);
        let each = group.unwrap_or(1);
        let vectors = (bytes + together - unit).div_ceil(vector).next_multiple_of(each);
        Lanes { vector, together, unit, vectors, runs: tile.elements() / elements, group }
    }

    /// Returns the number of vectors of all runs.
    pub(super) fn all(&self) -> u64 {
        self.vectors * self.runs
    }

    /// Returns the vector and the run of a number.
    pub(super) fn of_number(&self, number: u64) -> (u64, u64) {
        match self.group {
            None => (number % self.vectors, number / self.vectors),
            Some(group) => {
                let groups = number / group;
                (groups / self.runs * group + number % group, groups % self.runs)
            }
        }
    }

    /// Returns the line of the text that computes the vector and the run of the number `i`.
    pub(super) fn line(&self) -> String {
        let Lanes { vectors, runs, group, .. } = self;
        match group {
            None => format!("const u32 v = i % {vectors}u, run = i / {vectors}u;"),
            Some(group) => format!(
                "const u32 v = i / {}u * {group}u + i % {group}u, run = i / {group}u % {runs}u;",
                group * runs
            ),
        }
    }
}

/// Returns the bytes of the destination that one store writes.
fn vector(job: &GatherJob) -> u64 {
    if job.dst.bits < 8 { 4 } else { VECTOR }
}

/// Returns the offset of the destination's first byte, as far as it is known.
pub(super) fn first(job: &GatherJob) -> i64 {
    (job.dst.first / job.dst.per_byte() as i64).wrapping_add(job.dst.phase as i64)
}

/// Iterates over the distances in bytes between runs of the destination, in this tile and in others.
fn strides(job: &GatherJob, tile: &GatherTile) -> impl Iterator<Item = u64> {
    let per_byte = job.dst.per_byte() as i64;
    job.loops.iter().enumerate().map(move |(at, level)| {
        let stride = match (tile.to.contains(&at), tile.is_whole(job, at)) {
            (true, true) => 0,
            (true, false) => level.dst.wrapping_mul(tile.take[at] as i64) / per_byte,
            _ => level.dst / per_byte,
        };
        stride as u64
    })
}

// Positions of the elements of a tile in shared memory, and the number of bank cycles of their reads.
//
// A run of the source keeps its order, in chunks of 16 bytes; the distance between runs is a pitch. The lowest three
// bits of a chunk's number are xored with higher ones if that spreads the reads of a warp over the banks; lanes rotate
// the order of the words of a vector; and the lanes of a warp take vectors of one run or of several.
//
// Law: chunks of different numbers have different positions, below the next multiple of 8 of their count.

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
        let mut lead = first(job);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All small counts, in groups and without.
    #[test]
    fn each_vector_of_each_run_is_taken_once() {
        for (runs, groups) in (1..9).flat_map(|runs| (1..9).map(move |groups| (runs, groups))) {
            for group in [None, Some(2), Some(4), Some(8)] {
                let vectors = groups * group.unwrap_or(1);
                let lanes = Lanes { vector: 16, together: 16, unit: 1, vectors, runs, group };
                let mut all: Vec<_> = (0..lanes.all()).map(|i| lanes.of_number(i)).collect();
                assert!(all.iter().all(|(v, run)| *v < vectors && *run < runs));
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len() as u64, lanes.all(), "{lanes:?}");
            }
        }
    }
}
