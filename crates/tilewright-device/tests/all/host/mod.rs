//! Kernels of the dialect, run on the host by a simulator that behaves as an adversarial device, and compared with the
//! engine of `tilewright-relayout`. Without a C++ compiler nothing runs, and a message says so; in CI there is one.

pub(crate) mod batch;
pub(crate) mod dice;
pub(crate) mod mutate;
pub(crate) mod report;
pub(crate) mod simulator;

use batch::{Batch, has_no_findings};
use tilewright_device::{Alignment, DevicePlan, Way};
use tilewright_relayout::Program;

/// A program with its name for failures.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) alignment: Alignment,
    /// The way to move it, if it is not the one that the plan chooses.
    pub(crate) way: Option<Way>,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, program: Program) -> Case {
        Case { name: name.into(), program, alignment: Alignment::default(), way: None }
    }

    pub(crate) fn at(self, src: u8, dst: u8) -> Case {
        Case { alignment: Alignment::new(src, dst).unwrap(), ..self }
    }

    pub(crate) fn by(self, way: Way) -> Case {
        Case { way: Some(way), ..self }
    }

    fn plan(&self) -> DevicePlan {
        let plan = match self.way {
            Some(way) => DevicePlan::by(way, &self.program, self.alignment),
            None => DevicePlan::new(&self.program, self.alignment),
        };
        plan.unwrap_or_else(|error| panic!("{}: {error}\n{}", self.name, self.program))
    }
}

/// Compiles and runs some of the cases, the same in each run, or all of them as [`crate::cases`] decides. All are
/// planned.
pub(crate) fn check_some(cases: Vec<Case>) {
    let few = tilewright_testing::cases(cases.len(), simulator::IN_A_FILE);
    cases.iter().for_each(|case| drop(case.plan()));
    let mut some = cases;
    let all = some.len();
    let mut number = 0u64;
    some.retain(|_| {
        number += 1;
        // Multiples of this odd number are spread evenly.
        let place = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        place as usize % all.max(1) < few
    });
    check(&some);
}

/// Compiles all plans, runs them, and compares every byte; returns the kernels of each case.
pub(crate) fn check(cases: &[Case]) -> Vec<DevicePlan> {
    let mut batch = Batch::default();
    let plans: Vec<DevicePlan> = cases.iter().map(Case::plan).collect();
    for (case, plan) in cases.iter().zip(&plans) {
        // A text declares at most 48 KiB of shared memory, or it does not compile for a device.
        let shared = plan.kernels().iter().map(|kernel| kernel.shared()).max();
        assert!(
            shared.unwrap_or(0) <= 48 << 10,
            "{}: {shared:?} bytes of shared memory",
            case.name
        );
        batch.add_plan(&case.name, &case.program, case.alignment, plan);
    }
    if let Some(done) = batch.run() {
        has_no_findings(&batch, &done);
    }
    plans
}
