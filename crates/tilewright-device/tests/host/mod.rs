//! Kernels of the dialect, run on the host by a simulator that behaves as an adversarial device, and compared with
//! the engine of `tilewright-relayout`. Without a compiler of C++ nothing is run, and it says so; in CI there is one.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod batch;
pub mod mutate;
pub mod report;
pub mod simulator;

use batch::{Batch, has_no_findings};
use tilewright_device::{Alignment, DevicePlan};
use tilewright_relayout::Program;

/// A program with what it says of itself when it fails.
pub struct Case {
    pub name: String,
    pub program: Program,
    pub alignment: Alignment,
}

impl Case {
    pub fn new(name: impl Into<String>, program: Program) -> Case {
        Case { name: name.into(), program, alignment: Alignment::default() }
    }

    pub fn at(self, src: u8, dst: u8) -> Case {
        Case { alignment: Alignment::new(src, dst).unwrap(), ..self }
    }
}

/// Compiles all plans, runs them, and compares every byte; gives the kernels of each case.
pub fn check(cases: &[Case]) -> Vec<DevicePlan> {
    let mut batch = Batch::default();
    let add = |case: &Case| batch.add(&case.name, &case.program, case.alignment);
    let plans = cases.iter().map(add).collect();
    if let Some(done) = batch.run() {
        has_no_findings(&batch, &done);
    }
    plans
}
