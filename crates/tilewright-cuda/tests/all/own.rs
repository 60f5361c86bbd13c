//! Memory, streams and events that this process owns.

use std::sync::Arc;

use tilewright_core::TensorLayout;
use tilewright_cuda::{DeviceContext, Memory, Move, Queue, Span, Step, Stream, StreamEvent};
use tilewright_relayout::{Elements, Program};

use crate::emulated::{Emulated, FAILED};

fn context(machine: &Emulated) -> Arc<DeviceContext> {
    DeviceContext::new(&Arc::new(machine.open()), 1).unwrap()
}

fn span(memory: &Memory, at: u64) -> Span<'_> {
    Span { memory, at }
}

/// Returns the transpose of bytes.
fn turned(rows: u64, columns: u64) -> Move {
    let from = TensorLayout::row_major(&[rows, columns]).unwrap();
    let to = TensorLayout::col_major(&[rows, columns]).unwrap();
    Move::new(Program::new(&from, &to, Elements::same(8), 0).unwrap())
}

fn read(memory: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.bytes() as usize];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_go_there_and_come_back() {
    let machine = Emulated::new();
    let context = context(&machine);
    let memory = Memory::new(&context, 100).unwrap();
    memory.fill(7).unwrap();
    memory.write(3, b"bytes").unwrap();
    let bytes = read(&memory);
    assert_eq!((&bytes[..3], &bytes[3..8], bytes[99]), (&[7; 3][..], &b"bytes"[..], 7));
    for (at, length) in [(96, 5), (101, 0), (u64::MAX, 1)] {
        let mut data = vec![1; length];
        assert_eq!(memory.write(at, &data).unwrap_err().kind(), "buffer", "{at}");
        assert_eq!(memory.read(at, &mut data).unwrap_err().kind(), "buffer", "{at}");
    }
    assert_eq!(read(&memory), bytes);
}

#[test]
fn facts_are_those_of_the_device() {
    let machine = Emulated::new();
    machine.capability(1, 8, 6);
    let facts = context(&machine).facts().unwrap();
    assert!(facts.name.contains("emulated"), "{}", facts.name);
    assert_eq!((facts.capability, facts.driver_cuda), ((8, 6), 12_040));
    assert!(facts.free_bytes <= facts.total_bytes && facts.compiler.is_some());
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let machine = Emulated::new();
    let cuda = Arc::new(machine.open());
    for ordinal in [-1, 2] {
        let error = DeviceContext::new(&cuda, ordinal).unwrap_err();
        assert_eq!(error.kind(), "no-device");
        assert!(error.to_string().contains("there are 2"), "{error}");
    }
}

#[test]
fn more_memory_than_a_device_has_is_an_error_that_says_what_is_free() {
    let machine = Emulated::new();
    let error = Memory::new(&context(&machine), 1 << 50).unwrap_err();
    assert_eq!(error.kind(), "driver");
    assert!(error.to_string().contains("bytes are free"), "{error}");
}

#[test]
fn steps_run_at_any_byte_once_or_timed_or_in_a_graph() {
    let machine = Emulated::new();
    let context = context(&machine);
    let moved = turned(2, 3);
    let (src, dst) = (Memory::new(&context, 20).unwrap(), Memory::new(&context, 20).unwrap());
    src.write(5, b"abcdef").unwrap();
    let queue = Queue::new(&context).unwrap();
    let step = Step::Moves(vec![(&moved, span(&src, 5), span(&dst, 9))]);
    let run = |how: &dyn Fn(&Step<'_>)| {
        dst.fill(b'.').unwrap();
        how(&step);
        assert_eq!(read(&dst), b".........adbecf.....");
    };
    run(&|step| queue.run(step).and_then(|()| queue.wait()).unwrap());
    run(&|step| assert!(queue.seconds(step, 3).unwrap() >= 0.0));
    run(&|step| assert!(queue.graph_seconds(step, 3).unwrap() >= 0.0));
    let copy = Step::Copy { src: span(&src, 5), dst: span(&dst, 0), bytes: 6 };
    queue.graph_seconds(&copy, 2).unwrap();
    assert_eq!(&read(&dst)[..6], b"abcdef");
}

#[test]
fn what_is_beyond_memory_is_refused_and_nothing_written() {
    let machine = Emulated::new();
    let context = context(&machine);
    let moved = turned(2, 3);
    let (src, dst) = (Memory::new(&context, 8).unwrap(), Memory::new(&context, 8).unwrap());
    dst.fill(1).unwrap();
    let queue = Queue::new(&context).unwrap();
    for (from, to) in [(3, 0), (0, 3), (9, 0), (u64::MAX, 0)] {
        let step = Step::Moves(vec![(&moved, span(&src, from), span(&dst, to))]);
        assert_eq!(queue.run(&step).unwrap_err().kind(), "buffer", "{from} {to}");
        let copy = Step::Copy { src: span(&src, from), dst: span(&dst, to), bytes: 6 };
        assert_eq!(queue.run(&copy).unwrap_err().kind(), "buffer", "{from} {to}");
    }
    assert_eq!(read(&dst), [1; 8]);
}

#[test]
fn a_step_that_was_not_run_is_not_captured() {
    let machine = Emulated::new();
    let context = context(&machine);
    let moved = turned(2, 3);
    let (src, dst) = (Memory::new(&context, 8).unwrap(), Memory::new(&context, 8).unwrap());
    let queue = Queue::new(&context).unwrap();
    let step = Step::Moves(vec![(&moved, span(&src, 0), span(&dst, 0))]);
    assert_eq!(queue.graph_seconds(&step, 1).unwrap_err().kind(), "captured");
    // The capture has ended, and the queue is unchanged.
    queue.run(&step).unwrap();
    queue.graph_seconds(&step, 1).unwrap();
}

#[test]
fn a_failure_of_any_call_is_an_error() {
    let calls = [
        "cuMemAlloc",
        "cuMemcpyHtoD",
        "cuMemsetD8",
        "cuStreamCreate",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventSynchronize",
        "cuEventElapsedTime",
        "cuStreamBeginCapture",
        "cuStreamEndCapture",
        "cuGraphInstantiate",
        "cuGraphLaunch",
        "cuMemcpyDtoH",
    ];
    for call in calls {
        let machine = Emulated::new();
        let context = context(&machine);
        let moved = turned(2, 3);
        machine.fail(call, 0);
        let all = || -> Result<(), tilewright_cuda::Error> {
            let (src, dst) = (Memory::new(&context, 8)?, Memory::new(&context, 8)?);
            src.write(0, b"abcdef")?;
            dst.fill(0)?;
            let queue = Queue::new(&context)?;
            let step = Step::Moves(vec![(&moved, span(&src, 0), span(&dst, 0))]);
            queue.run(&step)?;
            queue.graph_seconds(&step, 1)?;
            dst.read(0, &mut [0; 6])
        };
        let error = all().expect_err(call);
        assert_eq!(error.code(), Some(FAILED), "{call}: {error}");
        // No trace of it remains.
        all().unwrap();
    }
}

/// Every choice of two devices for a queue, a source and a destination: only those on one device are queued.
#[test]
fn a_step_takes_place_on_one_device() {
    let machine = Emulated::new();
    let cuda = Arc::new(machine.open());
    let contexts = [0, 1].map(|ordinal| DeviceContext::new(&cuda, ordinal).unwrap());
    let memories = || contexts.each_ref().map(|context| Memory::new(context, 6).unwrap());
    let (sources, destinations) = (memories(), memories());
    let queues = contexts.each_ref().map(|context| Queue::new(context).unwrap());
    let moved = turned(2, 3);
    let queued = || {
        let log = machine.log();
        log.iter()
            .filter(|line| {
                line.starts_with("cuMemcpyDtoDAsync") || line.starts_with("cuLaunchKernel")
            })
            .count()
    };
    for (queue, src, dst) in (0..8).map(|bits| (bits & 1, (bits >> 1) & 1, bits >> 2)) {
        let (from, to) = (span(&sources[src], 0), span(&destinations[dst], 0));
        let copy = Step::Copy { src: from, dst: to, bytes: 6 };
        let moves = Step::Moves(vec![(&moved, from, to)]);
        let refused = if src == dst { "stream" } else { "devices" };
        for (step, kind) in [(copy, "devices"), (moves, refused)] {
            queued();
            let run = queues[queue].run(&step);
            if src == queue && dst == queue {
                run.unwrap();
                assert_eq!(queued(), 1);
            } else {
                let error = run.unwrap_err();
                assert_eq!(error.kind(), kind, "{queue} {src} {dst}: {error}");
                assert_eq!(queued(), 0);
            }
        }
    }
}

/// Whatever is dropped last, the context is released after everything in it.
#[test]
fn a_context_outlives_what_is_in_it() {
    for order in 0..24 {
        let machine = Emulated::new();
        let context = context(&machine);
        let memory = Memory::new(&context, 8).unwrap();
        let queue = Queue::new(&context).unwrap();
        queue.run(&Step::Copy { src: span(&memory, 0), dst: span(&memory, 4), bytes: 4 }).unwrap();
        let event = StreamEvent::new(context.cuda(), 1, Stream::LEGACY).unwrap().unwrap();
        machine.log();
        let mut all: Vec<Box<dyn Send>> =
            vec![Box::new(memory), Box::new(queue), Box::new(event), Box::new(context)];
        let mut left = order;
        while !all.is_empty() {
            drop(all.remove(left % all.len()));
            left /= all.len() + 1;
        }
        let log = machine.log();
        let at = |call: &str| {
            let found: Vec<usize> =
                (0..log.len()).filter(|at| log[*at].starts_with(call)).collect();
            assert_eq!(found.len(), 1, "{order}: {call} in {log:?}");
            found[0]
        };
        let release = at("cuDevicePrimaryCtxRelease");
        for call in ["cuMemFree", "cuStreamDestroy", "cuEventDestroy"] {
            assert!(at(call) < release, "{order}: {call} in {log:?}");
        }
    }
}

/// A driver of CUDA 11.3 has memory and queues; the first call that needs a missing function reports it.
#[test]
fn a_function_that_is_missing_is_missed_where_it_is_needed() {
    let graphs = [
        "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags",
        "cuGraphLaunch",
        "cuGraphExecDestroy",
        "cuGraphDestroy",
    ];
    for name in graphs {
        let machine = Emulated::without(name);
        let context = context(&machine);
        let memory = Memory::new(&context, 8).unwrap();
        memory.write(0, b"abcdefgh").unwrap();
        let queue = Queue::new(&context).unwrap();
        let step = Step::Copy { src: span(&memory, 0), dst: span(&memory, 4), bytes: 4 };
        queue.seconds(&step, 1).unwrap();
        assert_eq!(read(&memory), b"abcdabcd");
        let error = queue.graph_seconds(&step, 1).unwrap_err();
        assert_eq!(error.kind(), "too-old", "{name}");
        assert!(error.to_string().contains(name) && error.to_string().contains("11.4"), "{error}");
        queue.run(&step).unwrap();
    }
    let others =
        ["cuMemAlloc_v2", "cuMemFree_v2", "cuStreamCreate", "cuEventQuery", "cuEventElapsedTime"];
    for name in others {
        let machine = Emulated::without(name);
        let cuda = Arc::new(machine.open());
        let error = DeviceContext::new(&cuda, 0).unwrap_err();
        assert_eq!(error.kind(), "too-old", "{name}");
        assert!(error.to_string().contains(name) && error.to_string().contains("11.0"), "{error}");
    }
}
