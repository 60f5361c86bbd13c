//! Tables of jobs: kernels of one text over many arrays, as the words that one launch takes by value; and the arguments
//! of the entries of a text, which determine the sizes of tables. Launches of many arrays use them.
//!
//! Law: the blocks of a table are those of its jobs, one job after the other; block `b` of the launch is block `b -
//! first` of the last job whose `first` is at most `b`.

use std::ffi::CStr;

use tilewright_device::Kernel;

use crate::Error;

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

/// The bytes of arguments that every device accepts.
const BYTES: usize = 4096;
/// The bytes of arguments if compiler and driver are those of CUDA 12.1 or newer.
const BYTES_12_1: usize = 32_764;
/// The most launches with short tables before code with long ones is compiled. The driver copies all arguments of a
/// launch, however few of their jobs are used, so a few arrays are launched sooner with short tables.
const SHORT_TABLES: usize = 4;
/// The bytes of arguments after the table: its count, with space to align it.
const BEHIND: usize = 8;
/// The words of a job before its numbers: source, destination, first block.
const AHEAD: usize = 3;

/// The arguments of a text's entries. It is part of the key of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextArguments {
    params: usize,
    threads: u32,
    jobs: usize,
}

impl TextArguments {
    /// Returns the shape of a kernel, with long arguments or without; `limit` if arguments cannot hold its numbers.
    pub(crate) fn of(kernel: &Kernel, long: bool) -> Result<TextArguments, Error> {
        let (params, threads) = (kernel.params().len(), kernel.threads());
        let bytes = if long { BYTES_12_1 } else { BYTES };
        let jobs = (bytes - BEHIND) / (8 * (AHEAD + params));
        if jobs == 0 {
            let says = format!(
                "a kernel of {params} numbers, and its arguments hold {}; move the array in parts of fewer dims",
                (bytes - BEHIND) / 8 - AHEAD
            );
            return Err(Error::limit(says));
        }
        Ok(TextArguments { params, threads, jobs })
    }

    /// Returns whether a number of jobs of a kernel fills more than [`SHORT_TABLES`] short tables.
    pub(crate) fn needs_long(kernel: &Kernel, jobs: usize) -> bool {
        let short = TextArguments::of(kernel, false).map_or(0, |shape| shape.jobs);
        jobs > SHORT_TABLES * short
    }

    /// Makes a shape for tables alone.
    #[cfg(test)]
    pub(crate) fn of_table(params: usize, jobs: usize) -> TextArguments {
        TextArguments { params, threads: 32, jobs }
    }

    /// Returns the count of numbers of one kernel.
    pub(crate) fn params(self) -> usize {
        self.params
    }

    /// Returns the threads of a block.
    pub(crate) fn threads(self) -> u32 {
        self.threads
    }

    /// Returns the words of a table.
    pub(crate) fn table_words(self) -> usize {
        self.jobs * self.job_words()
    }

    /// Returns the words of a job: source, destination, first block, and the numbers.
    pub(crate) fn job_words(self) -> usize {
        AHEAD + self.params
    }

    /// Returns the name of the entry for one array.
    pub(crate) fn one(self) -> &'static CStr {
        c"tw_move"
    }

    /// Returns the name of the entry for a table of arrays.
    pub(crate) fn many(self) -> &'static CStr {
        c"tw_move_table"
    }

    /// Returns the text of the entry for a table, which follows that of a kernel. Its jobs are passed by value: nothing
    /// is allocated, copied or waited for, and a graph that captures the launch has its own copy.
    pub(crate) fn entry(self) -> String {
        let jobs = self.jobs;
        format!(
            "// Many arrays of one structure.
struct tw_move_jobs {{ tw_move_job jobs[{jobs}]; }};
extern \"C\" __global__ void __launch_bounds__(NT, MINBLOCKS)
tw_move_table(const __grid_constant__ tw_move_jobs table, u32 count) {{
  u32 number, own;
  FIND_JOB(number, own, table.jobs, count, blockIdx.x);
  const tw_move_job& job = table.jobs[number];
  tw_move_body(job.src, job.dst, job.params, own);
}}
"
        )
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::TensorLayout;
    use tilewright_device::{Alignment, DevicePlan};
    use tilewright_relayout::{Elements, Program};

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

    /// The table and its count fit the arguments of a launch, and one more job would not.
    #[test]
    fn arguments_are_filled_and_not_exceeded() {
        for rank in 1..5 {
            let extents: Vec<u64> = (0..rank).map(|dim| 5 + dim).collect();
            let rows = TensorLayout::row_major(&extents).unwrap();
            let columns = TensorLayout::col_major(&extents).unwrap();
            let program = Program::new(&rows, &columns, Elements::same(24), 0).unwrap();
            let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
            for (long, bytes) in [(false, 4096), (true, 32_764)] {
                let shape = TextArguments::of(&plan.kernels()[0], long).unwrap();
                let job = 8 * (AHEAD + shape.params());
                assert!(8 * shape.table_words() + 4 <= bytes, "{shape:?}");
                assert!(8 * shape.table_words() + job + 8 > bytes, "{shape:?}");
                assert!(shape.entry().contains(&format!("jobs[{}]", shape.jobs)));
            }
            let short = TextArguments::of(&plan.kernels()[0], false).unwrap().jobs;
            let needs_long = |jobs| TextArguments::needs_long(&plan.kernels()[0], jobs);
            assert!(!needs_long(SHORT_TABLES * short) && needs_long(SHORT_TABLES * short + 1));
        }
    }
}
