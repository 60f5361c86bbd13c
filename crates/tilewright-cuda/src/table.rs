//! Tables of jobs: kernels of one text over many arrays, as the words that one launch takes by value. Launches of many
//! arrays use them.
//!
//! Law: the blocks of a table are those of its jobs, one job after the other; block `b` of the launch is block
//! `b - first` of the last job whose `first` is at most `b`.

use crate::shape::TextArguments;

/// The most blocks of a launch.
const BLOCKS: u32 = (1 << 31) - 1;

/// The arguments of a kernel's launch, with checked memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) params: &'a [u64],
    pub(crate) blocks: u32,
}

/// Some jobs as words. One value is filled again for each launch of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobTable {
    words: Vec<u64>,
    shape: TextArguments,
    count: u32,
    blocks: u32,
}

impl JobTable {
    /// Makes an empty table for the entries of a text.
    pub(crate) fn new(shape: TextArguments) -> JobTable {
        JobTable { words: vec![0; shape.table_words()], shape, count: 0, blocks: 0 }
    }

    /// Fills the table with the first of some jobs, as many as one launch allows, and returns the others.
    pub(crate) fn fill<'a, 'b>(&mut self, jobs: &'a [Launch<'b>]) -> &'a [Launch<'b>] {
        (self.count, self.blocks) = (0, 0);
        for (job, words) in jobs.iter().zip(self.words.chunks_exact_mut(self.shape.job_words())) {
            let blocks = self.blocks.checked_add(job.blocks).filter(|blocks| *blocks <= BLOCKS);
            let (Some(blocks), [src, dst, first, params @ ..]) = (blocks, words) else { break };
            (*src, *dst, *first) = (job.src, job.dst, self.blocks.into());
            params.iter_mut().zip(job.params).for_each(|(word, param)| *word = *param);
            (self.count, self.blocks) = (self.count + 1, blocks);
        }
        jobs.get(self.count as usize..).unwrap_or_default()
    }

    /// Returns the words of a table of this shape. Those after the last job mean nothing.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the number of jobs.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the blocks of the launch.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns tables that contain these jobs in order.
    fn all(mut jobs: &[Launch<'_>], shape: TextArguments) -> Vec<JobTable> {
        let (mut table, mut tables) = (JobTable::new(shape), Vec::new());
        while !jobs.is_empty() {
            jobs = table.fill(jobs);
            tables.push(table.clone());
        }
        tables
    }

    /// Returns the job of a block, and the block's number in it, by the search of the entry.
    fn found(table: &JobTable, width: usize, block: u64) -> (u64, u64) {
        let first = |job: usize| table.words()[job * width + 2];
        let (mut low, mut high) = (0, table.count() as usize);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if first(middle) <= block { low = middle } else { high = middle }
        }
        (table.words()[low * width], block - first(low))
    }

    /// Over all lists of at most five jobs of one to three blocks, in tables of one to four jobs: every block of every
    /// job is run once, in order.
    #[test]
    fn every_block_of_every_job_is_run_once() {
        for list in 0..4u32.pow(5) {
            let blocks: Vec<u32> =
                (0..5).map(|at| list / 4u32.pow(at) % 4).filter(|blocks| *blocks > 0).collect();
            for (params, jobs) in [(1, 1), (2, 2), (1, 3), (3, 4)] {
                let shape = TextArguments::of_table(params, jobs);
                let numbers: Vec<u64> = vec![9; params];
                let launches = blocks.iter().enumerate().map(|(at, &blocks)| Launch {
                    src: at as u64,
                    dst: 100 + at as u64,
                    params: &numbers,
                    blocks,
                });
                let tables = all(&launches.collect::<Vec<_>>(), shape);
                assert_eq!(tables.len(), blocks.len().div_ceil(jobs));
                let run: Vec<(u64, u64)> = tables
                    .iter()
                    .flat_map(|table| {
                        assert_eq!(table.words().len(), shape.table_words());
                        (0..table.blocks()).map(|block| found(table, 3 + params, block.into()))
                    })
                    .collect();
                let all: Vec<(u64, u64)> = (0..blocks.len())
                    .flat_map(|at| (0..blocks[at]).map(move |block| (at as u64, block.into())))
                    .collect();
                assert_eq!(run, all);
            }
        }
    }

    #[test]
    fn a_launch_has_no_more_blocks_than_it_may() {
        let launch = |blocks| Launch { src: 0, dst: 0, params: &[1], blocks };
        let jobs = [launch(BLOCKS), launch(1), launch(BLOCKS - 1), launch(1)];
        let tables = all(&jobs, TextArguments::of_table(1, 8));
        let blocks: Vec<u32> = tables.iter().map(JobTable::blocks).collect();
        assert_eq!(blocks, [BLOCKS, BLOCKS, 1]);
    }
}
