//! Random pairs, run by the emulated device, one by one and all together: results equal those of the processor, and no
//! byte around them is written.

#[path = "../../../tilewright-device/tests/all/host/dice.rs"]
mod dice;

use tilewright_cuda::{Cuda, Job, Move, Stream};
use tilewright_device::{Alignment, DevicePlan};
use tilewright_relayout::Program;

use crate::{
    emulated::Emulated,
    launches::{Held, sides},
};
use dice::Dice;

/// The number of random pairs.
fn pairs() -> u64 {
    tilewright_testing::cases(50, 8)
}

/// A move with its name, both sides, and the expected result.
struct One {
    name: String,
    moved: Move,
    src: Held,
    dst: Held,
    expected: Vec<u8>,
}

impl One {
    fn new(machine: &Emulated, name: String, program: Program, ahead: (usize, usize)) -> One {
        let (src, dst, expected) = sides(machine, &program, ahead);
        One { name, moved: Move::new(program), src, dst, expected }
    }

    /// Returns whether elements narrower than a byte have runs that are not whole bytes: no kernel moves them.
    fn is_refused(&self) -> bool {
        let (elements, program) = (self.moved.program().elements(), self.moved.program());
        let at = Alignment::of_addresses(self.src.given().address(), self.dst.given().address());
        elements.src_bits.min(elements.dst_bits) < 8
            && DevicePlan::new(program, at).is_err_and(|error| error.is_unsupported())
    }

    fn job(&self) -> Job<'_> {
        Job { moved: &self.moved, src: self.src.given(), dst: self.dst.given() }
    }
}

/// Launches each alone, then all together to memory that is written anew. Moves without a kernel are refused, and left
/// out. Returns the number of moves that ran.
fn run(machine: &Emulated, mut all: Vec<One>) -> usize {
    let cuda: Cuda = machine.open();
    let stream = machine.stream(0);
    all.retain(|one| match cuda.launch_many(&[one.job()], stream) {
        Ok(()) => {
            assert!(one.dst.taken() == one.expected, "{}: {}", one.name, one.moved.program());
            true
        }
        Err(error) => {
            assert!(one.is_refused(), "{}: {error}", one.name);
            assert_eq!(error.kind(), "unsupported", "{}: {error}", one.name);
            assert!(one.dst.is_untouched(), "{}", one.name);
            false
        }
    });
    let alone = cuda.counts();
    all.iter().for_each(|one| one.dst.mark());
    let jobs: Vec<Job<'_>> = all.iter().map(One::job).collect();
    cuda.launch_many(&jobs, Stream::LEGACY).unwrap();
    for one in &all {
        assert_eq!(one.dst.taken(), one.expected, "{} among others", one.name);
    }
    let both = cuda.counts();
    assert_eq!(both.compiled, alone.compiled, "the same kernels");
    assert!(both.launched - alone.launched <= alone.launched, "{alone:?}, {both:?}");
    all.len()
}

#[test]
fn random_pairs_arrive_wherever_they_begin() {
    let machine = Emulated::new();
    let all = (0..pairs()).map(|index| {
        let mut dice = Dice::new(7 << 32 | index);
        let program = dice.program();
        let width = u64::from(program.elements().src_bits / 8).max(1);
        let step = dice.one(&[16, width, width, 1]);
        let mut ahead = || (dice.below(16) * step % 16) as usize;
        One::new(&machine, format!("pair 7:{index}"), program, (ahead(), ahead()))
    });
    let arrived = run(&machine, all.collect());
    assert!(arrived > pairs() as usize / 2, "{arrived} of {} pairs have kernels", pairs());
}
