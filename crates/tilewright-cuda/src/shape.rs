//! The arguments of a compiled text's entries: the number of numbers, threads, and jobs of a table. It determines the
//! text of the entries and the sizes of tables.

use std::ffi::CStr;

use tilewright_device::Kernel;

use crate::Error;

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
