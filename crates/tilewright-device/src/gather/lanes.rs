//! The assignment of vectors of a tile's runs to the threads of a block, in the order of their numbers.
//!
//! Laws: each vector of each run is taken once. The groups of vectors of a run begin at multiples of a number of bytes
//! in memory, so no two groups of a run touch the same sector.

use super::{job::GatherJob, tile::GatherTile};
use crate::access::{SECTOR, VECTOR, common};

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
