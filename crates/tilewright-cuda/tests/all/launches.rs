//! Moves through the whole crate, with a driver and a compiler without a device: results equal those of the processor.

use crate::emulated::{Emulated, Memory};
use tilewright_core::{Fractal, Layout, TensorLayout};
use tilewright_cuda::{Cuda, DeviceBytes, Job, Move, Stream};
use tilewright_relayout::{Elements, Plan, Program};

/// The bytes before and after every array, which must not change.
const GUARD: usize = 64;
const MARK: u8 = 0xC3;

/// A program with its name.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
}

fn case(name: &'static str, src: &TensorLayout, dst: &TensorLayout, bits: u32, fill: u128) -> Case {
    Case { name, program: Program::new(src, dst, Elements::same(bits), fill).unwrap() }
}

fn of(text: &str) -> TensorLayout {
    TensorLayout::of(&Layout::parse(text).unwrap())
}

pub(crate) fn cases() -> Vec<Case> {
    let rows = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
    let columns = |extents: &[u64]| TensorLayout::col_major(extents).unwrap();
    let zn = |m, n, unit| Fractal::ZN.pattern(16, unit).layout(&[m, n]).unwrap();
    vec![
        case("transpose of words", &rows(&[70, 33]), &columns(&[70, 33]), 32, 0),
        case("transpose of bytes", &rows(&[37, 53]), &columns(&[37, 53]), 8, 0),
        case("a copy", &rows(&[1000]), &rows(&[1000]), 16, 0),
        case("tiles with padding", &rows(&[50, 40]), &zn(50, 40, 16), 16, 0x3C00),
        case("tiles without", &zn(50, 40, 16), &rows(&[50, 40]), 16, 0),
        case("reversed rows", &rows(&[6, 11]), &of("(6,11):(-11,1)+55"), 32, 0),
        case("gaps that are filled", &rows(&[5, 7]), &of("(5,7):(9,1)"), 64, 0x0102_0304_0506_0708),
        case("a swizzle", &rows(&[8, 64]), &of("Sw<3,3,3> o (8,64):(64,1)"), 16, 0),
        case("one element", &rows(&[]), &rows(&[]), 32, 0),
    ]
}

fn sample(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 131 + at / 251 + 7) as u8).collect()
}

/// An array's memory at a distance from a multiple of 16, with guards.
pub(crate) struct Held {
    memory: Memory,
    at: usize,
    bytes: usize,
}

impl Held {
    fn new(machine: &Emulated, device: i32, bytes: u64, ahead: usize) -> Held {
        let bytes = bytes as usize;
        let memory = machine.memory(device, bytes + 2 * GUARD + ahead);
        memory.put(0, &vec![MARK; bytes + 2 * GUARD + ahead]);
        Held { memory, at: GUARD + ahead, bytes }
    }

    pub(crate) fn given(&self) -> DeviceBytes {
        self.memory.part(self.at, self.bytes)
    }

    /// Fills all of it with the mark.
    pub(crate) fn mark(&self) {
        self.memory.put(0, &vec![MARK; self.memory.get().len()]);
    }

    /// Returns whether nothing was written.
    pub(crate) fn is_untouched(&self) -> bool {
        self.memory.get().iter().all(|byte| *byte == MARK)
    }

    /// Returns the array, and checks that the bytes around it are unchanged.
    pub(crate) fn taken(&self) -> Vec<u8> {
        let all = self.memory.get();
        let (before, rest) = all.split_at(self.at);
        let (own, behind) = rest.split_at(self.bytes);
        assert!(
            before.iter().chain(behind).all(|byte| *byte == MARK),
            "bytes around the array were written"
        );
        own.to_vec()
    }
}

/// Returns both sides of a move, with the source filled, and the expected result.
pub(crate) fn sides(
    machine: &Emulated,
    program: &Program,
    ahead: (usize, usize),
) -> (Held, Held, Vec<u8>) {
    let src = Held::new(machine, 0, program.src_bytes(), ahead.0);
    let dst = Held::new(machine, 0, program.dst_bytes(), ahead.1);
    let bytes = sample(src.bytes);
    src.memory.put(src.at, &bytes);
    let mut expected = vec![MARK; dst.bytes];
    Plan::of(program.clone()).run(&bytes, &mut expected, 1).unwrap();
    (src, dst, expected)
}

#[test]
fn what_arrives_is_what_the_processor_makes() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let stream = machine.stream(0);
    // All cases at each distance, or at one of them in turn.
    let step = tilewright_testing::cases(1, 3);
    for (number, Case { name, program }) in cases().into_iter().enumerate() {
        let moved = Move::new(program);
        for ahead in [(0, 0), (4, 8), (1, 0)].into_iter().skip(number % step).step_by(step) {
            let (src, dst, expected) = sides(&machine, moved.program(), ahead);
            cuda.launch(&moved, src.given(), dst.given(), stream).unwrap();
            assert_eq!(dst.taken(), expected, "{name} at {ahead:?}");
        }
    }
    assert!(cuda.counts().launched > 0);
}

#[test]
fn a_warm_launch_makes_these_calls_and_no_other() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = Move::new(cases().remove(0).program);
    let (src, dst, _) = sides(&machine, moved.program(), (0, 0));
    cuda.launch(&moved, src.given(), dst.given(), machine.stream(0)).unwrap();
    machine.log();
    cuda.launch(&moved, src.given(), dst.given(), machine.stream(0)).unwrap();
    let log = machine.log();
    let calls: Vec<&str> = log.iter().filter_map(|line| line.split(' ').next()).collect();
    let known = [
        "cuPointerGetAttribute",
        "cuPointerGetAttribute",
        "cuCtxPushCurrent",
        "cuStreamGetCtx",
        "cuStreamIsCapturing",
        "cuLaunchKernel",
        "cuCtxPopCurrent",
    ];
    assert_eq!(calls, known);
}

#[test]
fn the_context_of_the_caller_stays() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = Move::new(cases().remove(0).program);
    let (src, dst, expected) = sides(&machine, moved.program(), (0, 0));
    machine.push_foreign(1);
    cuda.launch(&moved, src.given(), dst.given(), Stream::LEGACY).unwrap();
    assert_eq!(dst.taken(), expected);
    assert!(machine.depth() == 1 && machine.top_is_foreign());
    machine.fail("cuLaunchKernel", 0);
    cuda.launch(&moved, src.given(), dst.given(), Stream::LEGACY).unwrap_err();
    assert!(machine.depth() == 1 && machine.top_is_foreign());
    drop(cuda);
    assert!(machine.depth() == 1 && machine.top_is_foreign());
    assert_eq!(machine.retained(0), 0, "the context is given back");
}

#[test]
fn many_tensors_of_one_structure_are_one_launch() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let transpose = |m: u64, n: u64| {
        let (src, dst) =
            (TensorLayout::row_major(&[m, n]).unwrap(), TensorLayout::col_major(&[m, n]).unwrap());
        Move::new(Program::new(&src, &dst, Elements::same(8), 0).unwrap())
    };
    let moves: Vec<Move> = (0..20).map(|at| transpose(131 + 2 * at, 133 + 4 * at)).collect();
    let held: Vec<_> = moves.iter().map(|one| sides(&machine, one.program(), (0, 0))).collect();
    let jobs: Vec<Job<'_>> = moves
        .iter()
        .zip(&held)
        .map(|(moved, (src, dst, _))| Job { moved, src: src.given(), dst: dst.given() })
        .collect();
    cuda.launch_many(&jobs, machine.stream(0)).unwrap();
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
    assert_eq!((cuda.counts().compiled, cuda.counts().launched), (1, 1));
    let log = machine.log();
    assert_eq!(log.iter().filter(|line| line.starts_with("cuLaunchKernel")).count(), 1);
}

/// More arrays than the arguments of a launch can hold, if these are short.
#[test]
fn arguments_of_4_kib_are_filled_and_not_exceeded() {
    let machine = Emulated::with(1, 12_000);
    let cuda = machine.open();
    let rows = TensorLayout::row_major(&[9, 5]).unwrap();
    let columns = TensorLayout::col_major(&[9, 5]).unwrap();
    let moved = Move::new(Program::new(&rows, &columns, Elements::same(24), 0).unwrap());
    let held: Vec<_> = (0..100).map(|_| sides(&machine, moved.program(), (0, 0))).collect();
    let jobs: Vec<Job<'_>> = held
        .iter()
        .map(|(src, dst, _)| Job { moved: &moved, src: src.given(), dst: dst.given() })
        .collect();
    cuda.launch_many(&jobs, machine.stream(0)).unwrap();
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
    let launched = cuda.counts().launched;
    assert!((2..20).contains(&launched), "{launched}");
}

/// Returns the numbers of queries for the device and for the allocation of an address since the last log.
fn queries(machine: &Emulated) -> (usize, usize) {
    let log = machine.log();
    let count = |call| log.iter().filter(|line| line.split(' ').next() == Some(call)).count();
    (count("cuPointerGetAttribute"), count("cuMemGetAddressRange"))
}

#[test]
fn arrays_in_one_allocation_are_looked_up_together() {
    let machine = Emulated::new();
    machine.needs_context();
    let cuda = machine.open();
    let rows = TensorLayout::row_major(&[3, 2]).unwrap();
    let columns = TensorLayout::col_major(&[3, 2]).unwrap();
    let moved = Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap());
    let (src, dst) = (machine.memory(0, 16_000), machine.memory(0, 16_000));
    src.put(0, &b"abcdefghijklmnop".repeat(1000));
    // In no order of addresses.
    let at = |number: usize| 16 * (number * 617 % 1000);
    let job = |number| {
        let (src, dst) = (src.part(at(number), 6), dst.part(at(number), 6));
        Job { moved: &moved, src, dst }
    };
    let jobs: Vec<Job<'_>> = (0..1000).map(job).collect();
    for count in [2, 10, 1000] {
        machine.log();
        cuda.launch_many(&jobs[..count], machine.stream(0)).unwrap();
        // The first address is asked for again in a context, which this driver needs.
        assert_eq!(queries(&machine), (3, 2), "{count} jobs");
    }
    assert_eq!(dst.get(), b"acebdf\0\0\0\0\0\0\0\0\0\0".repeat(1000));
    // If the bounds of an allocation are not known, its next address is looked up too.
    machine.fail("cuMemGetAddressRange", 0);
    cuda.launch_many(&jobs[..10], machine.stream(0)).unwrap();
    assert!(!machine.still_to_fail());
    assert_eq!(queries(&machine), (4, 3));
}

/// Where each array has its own allocation, bounds are of no use and are soon not asked for.
#[test]
fn arrays_in_many_allocations_are_looked_up_once() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = Move::new(cases().remove(2).program);
    let held: Vec<_> = (0..50).map(|_| sides(&machine, moved.program(), (0, 0))).collect();
    let jobs: Vec<Job<'_>> = held
        .iter()
        .map(|(src, dst, _)| Job { moved: &moved, src: src.given(), dst: dst.given() })
        .collect();
    machine.log();
    cuda.launch_many(&jobs, machine.stream(0)).unwrap();
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
    assert_eq!(queries(&machine), (100, 9));
}

/// Few arrays take code with short tables, and many code with long ones. A capture takes what is loaded of either.
#[test]
fn many_arrays_have_code_with_long_tables() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let rows = TensorLayout::row_major(&[9, 5]).unwrap();
    let columns = TensorLayout::col_major(&[9, 5]).unwrap();
    let moved = Move::new(Program::new(&rows, &columns, Elements::same(24), 0).unwrap());
    let held: Vec<_> = (0..500).map(|_| sides(&machine, moved.program(), (0, 0))).collect();
    let jobs: Vec<Job<'_>> = held
        .iter()
        .map(|(src, dst, _)| Job { moved: &moved, src: src.given(), dst: dst.given() })
        .collect();
    let stream = machine.stream(0);
    let launches = |count: usize| {
        let before = cuda.counts().launched;
        cuda.launch_many(&jobs[..count], stream).unwrap();
        cuda.counts().launched - before
    };
    assert_eq!((launches(1), launches(5), cuda.counts().compiled), (1, 1, 1));
    // During a capture, many launches with short tables.
    machine.capture(stream, 1);
    let captured = launches(500);
    let graph = machine.captured(stream);
    assert!(captured > 4 && cuda.counts().compiled == 1, "{captured}");
    assert!(held[5..].iter().all(|(_, dst, _)| dst.is_untouched()));
    machine.run(graph, stream);
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
    held.iter().for_each(|(_, dst, _)| dst.mark());
    let long = launches(500);
    assert!(long < captured && cuda.counts().compiled == 2, "{long}");
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
}

#[test]
fn different_structures_share_a_call() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moves: Vec<Move> = cases().into_iter().map(|case| Move::new(case.program)).collect();
    let held: Vec<_> = moves.iter().map(|one| sides(&machine, one.program(), (0, 0))).collect();
    let jobs: Vec<Job<'_>> = moves
        .iter()
        .zip(&held)
        .map(|(moved, (src, dst, _))| Job { moved, src: src.given(), dst: dst.given() })
        .collect();
    cuda.launch_many(&jobs, Stream::PER_THREAD).unwrap();
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
}

#[test]
fn nothing_to_move_asks_nothing() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let none = TensorLayout::row_major(&[0, 5]).unwrap();
    let moved = Move::new(Program::new(&none, &none, Elements::same(32), 0).unwrap());
    machine.log();
    // SAFETY: nothing is launched with it.
    let null = unsafe { DeviceBytes::new(0, 0) };
    cuda.launch(&moved, null, null, Stream::LEGACY).unwrap();
    cuda.launch_many(&[], Stream::LEGACY).unwrap();
    assert_eq!(machine.log(), Vec::<String>::new());
}

#[test]
fn threads_compile_a_text_once() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = Move::new(cases().remove(0).program);
    let held: Vec<_> = (0..8).map(|_| sides(&machine, moved.program(), (0, 0))).collect();
    std::thread::scope(|scope| {
        for (src, dst, _) in &held {
            let (src, dst, cuda, moved) = (src.given(), dst.given(), &cuda, &moved);
            scope.spawn(move || cuda.launch(moved, src, dst, Stream::LEGACY).unwrap());
        }
    });
    assert!(held.iter().all(|(_, dst, expected)| dst.taken() == *expected));
    assert_eq!(cuda.counts().compiled, 1);
}

#[test]
fn devices_have_their_own_code() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = Move::new(cases().remove(0).program);
    for device in [0, 1, 0] {
        let src = Held::new(&machine, device, moved.src_bytes(), 0);
        let dst = Held::new(&machine, device, moved.dst_bytes(), 0);
        cuda.launch(&moved, src.given(), dst.given(), machine.stream(device)).unwrap();
    }
    // One text for two devices of one kind: compiled once, read from disk for the second.
    let counts = cuda.counts();
    assert_eq!((counts.compiled, counts.read, counts.loaded), (1, 1, 2));
    assert_eq!((machine.retained(0), machine.retained(1)), (1, 1));
}

#[test]
fn modules_are_bounded_and_stay_loaded() {
    let machine = Emulated::new();
    let cuda = Cuda::open(&machine.settings().with_modules(1)).unwrap();
    let moves: Vec<Move> =
        cases().into_iter().take(2).map(|case| Move::new(case.program)).collect();
    machine.log();
    for _ in 0..2 {
        let (src, dst, expected) = sides(&machine, moves[0].program(), (0, 0));
        cuda.launch(&moves[0], src.given(), dst.given(), Stream::LEGACY).unwrap();
        assert_eq!(dst.taken(), expected);
        // Queued work may still run: its code stays loaded, and other code is refused before anything is queued.
        let (src, dst, _) = sides(&machine, moves[1].program(), (0, 0));
        let error = cuda.launch(&moves[1], src.given(), dst.given(), Stream::LEGACY).unwrap_err();
        assert!(error.kind() == "limit" && error.to_string().contains("with_modules"), "{error}");
        assert_eq!(cuda.counts().kept, 1);
    }
    assert!(!machine.log().contains(&"cuModuleUnload".to_owned()));
    assert_eq!((cuda.counts().compiled, cuda.counts().launched), (1, 2));
    drop(cuda);
    let unloaded = machine.log().iter().filter(|line| *line == "cuModuleUnload").count();
    assert_eq!(unloaded, 1);
}
