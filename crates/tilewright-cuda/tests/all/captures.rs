//! Captures of other programs: waiting, allocating and freeing end none of them.

use std::{
    ffi::{c_int, c_void},
    sync::Arc,
    thread,
};

use tilewright_cuda::{Cuda, DeviceContext, Error, Memory, Queue, Span, Step, Stream, StreamEvent};

use crate::emulated::Emulated;

const GLOBAL: c_int = 0;
const OF_THE_THREAD: c_int = 1;
const RELAXED: c_int = 2;
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`.
const UNSUPPORTED: i32 = 900;
/// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
const INVALIDATED: i32 = 901;

type Begin = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type Exchange = unsafe extern "C" fn(*mut c_int) -> c_int;
type Alloc = unsafe extern "C" fn(*mut u64, usize) -> c_int;
type Push = unsafe extern "C" fn(c_int);

/// Returns whether NVIDIA's documentation of `cuThreadExchangeStreamCaptureMode` forbids the pair of modes.
fn is_forbidden(captured: c_int, mode: c_int, is_same_thread: bool) -> bool {
    match (mode, captured) {
        (RELAXED, _) | (_, RELAXED) => false,
        (GLOBAL, GLOBAL) => true,
        _ => is_same_thread,
    }
}

/// The emulated driver forbids the same calls as a driver, and the attempt ends the capture.
#[test]
fn modes_are_those_of_the_documentation() {
    let modes = [GLOBAL, OF_THE_THREAD, RELAXED];
    for (captured, mode) in modes.iter().flat_map(|one| modes.map(|two| (*one, two))) {
        for is_same_thread in [true, false] {
            let machine = Emulated::new();
            let _context = DeviceContext::new(&Arc::new(machine.open()), 0).unwrap();
            let stream = machine.stream(0);
            let handle = stream.handle() as usize;
            let begin = machine.of_driver::<Begin>(c"cuStreamBeginCapture_v2");
            // SAFETY: the stream lives as long as the library.
            let code = unsafe { begin(std::ptr::with_exposed_provenance_mut(handle), captured) };
            assert_eq!(code, 0);
            let exchange = machine.of_driver::<Exchange>(c"cuThreadExchangeStreamCaptureMode");
            let alloc = machine.of_driver::<Alloc>(c"cuMemAlloc_v2");
            let push = machine.of_driver::<Push>(c"emulated_push_primary");
            let asked = move || {
                let (mut before, mut address) = (mode, 0);
                // SAFETY: numbers are written; the context is alive.
                unsafe {
                    push(0);
                    assert_eq!(exchange(&mut before), 0);
                    alloc(&mut address, 8)
                }
            };
            let code = if is_same_thread { asked() } else { thread::spawn(asked).join().unwrap() };
            let case = format!("captured {captured}, mode {mode}, same thread: {is_same_thread}");
            let forbidden = is_forbidden(captured, mode, is_same_thread);
            assert_eq!(code, if forbidden { UNSUPPORTED } else { 0 }, "{case}");
            let ended = machine.ended(stream).map(|_| ());
            assert_eq!(ended, if forbidden { Err(INVALIDATED) } else { Ok(()) }, "{case}");
        }
    }
}

/// Memory of one device, a queue there, and an event.
struct Held {
    cuda: Arc<Cuda>,
    context: Arc<DeviceContext>,
    src: Memory,
    dst: Memory,
    queue: Queue,
    event: StreamEvent,
}

impl Held {
    fn new(machine: &Emulated) -> Held {
        let cuda = Arc::new(machine.open());
        let context = DeviceContext::new(&cuda, 1).unwrap();
        let (src, dst) = (Memory::new(&context, 8).unwrap(), Memory::new(&context, 8).unwrap());
        let queue = Queue::new(&context).unwrap();
        let event = StreamEvent::new(&cuda, 1, Stream::PER_THREAD).unwrap().unwrap();
        Held { cuda, context, src, dst, queue, event }
    }

    fn copy(&self) -> Step<'_> {
        let span = |memory| Span { memory, at: 0 };
        Step::Copy { src: span(&self.src), dst: span(&self.dst), bytes: 8 }
    }
}

/// A name, and the function to call.
type Call = (&'static str, fn(&Held) -> Result<(), Error>);

/// Each call of this crate, while another program captures a stream in mode "global".
#[test]
fn no_call_ends_a_capture() {
    let calls: [Call; 12] = [
        ("a context and a queue", |held| {
            Queue::new(&DeviceContext::new(&held.cuda, 1)?).map(|_| ())
        }),
        ("facts", |held| held.context.facts().map(|_| ())),
        ("memory, made and dropped", |held| Memory::new(&held.context, 8).map(|_| ())),
        ("write", |held| held.src.write(0, b"bytes")),
        ("read", |held| held.src.read(0, &mut [0; 8])),
        ("fill", |held| held.src.fill(1)),
        ("run", |held| held.queue.run(&held.copy())),
        ("wait", |held| held.queue.wait()),
        ("seconds", |held| held.queue.seconds(&held.copy(), 2).map(|_| ())),
        ("a graph", |held| held.queue.graph_seconds(&held.copy(), 2).map(|_| ())),
        ("is_done", |held| held.event.is_done().map(|_| ())),
        ("an event, made and dropped", |held| {
            StreamEvent::new(&held.cuda, 1, Stream::PER_THREAD)?
                .map_or(Ok(()), |event| event.before(Stream::LEGACY))
        }),
    ];
    // On its own device, memory waits for all work, which no capture there allows.
    let waits = ["memory, made and dropped", "write", "read", "fill", "an event, made and dropped"];
    for device in [0, 1] {
        let machine = Emulated::new();
        let held = Held::new(&machine);
        let stream = machine.stream(device);
        for (name, call) in calls.iter().filter(|(name, _)| device == 0 || !waits.contains(name)) {
            machine.capture(stream, 1);
            call(&held).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(machine.ended(stream).is_ok(), "{name} ended the capture on device {device}");
        }
    }
}

/// If a wait is impossible, nothing is freed, because queued work may still use it.
#[test]
fn memory_that_cannot_be_waited_for_stays_allocated() {
    let machine = Emulated::new();
    let held = Held::new(&machine);
    let free = || held.context.facts().unwrap().free_bytes;
    let frees = || machine.log().iter().filter(|line| *line == "cuMemFree").count();
    let before = free();
    let memory = || Memory::new(&held.context, 1000).unwrap();
    // A capture on the same device forbids waiting for all of it.
    let (stream, kept) = (machine.stream(1), memory());
    machine.capture(stream, 1);
    machine.log();
    drop(kept);
    assert_eq!(frees(), 0);
    machine.capture(stream, 0);
    assert_eq!(free(), before - 1000);
    // A failure also prevents the wait.
    let kept = memory();
    machine.fail("cuCtxSynchronize", 0);
    machine.log();
    drop(kept);
    assert_eq!((frees(), machine.still_to_fail()), (0, false));
    assert_eq!(free(), before - 2000);
    // If the wait succeeds, the memory is freed.
    let gone = memory();
    machine.log();
    drop(gone);
    assert_eq!(frees(), 1);
    assert_eq!(free(), before - 2000);
}

/// The default stream waits for all others that are not independent of it, and so for one that is captured.
#[test]
fn the_default_stream_is_not_touched_during_a_capture() {
    let machine = Emulated::new();
    let held = Held::new(&machine);
    let stream = machine.stream(1);
    machine.capture(stream, 1);
    assert_eq!(held.event.before(Stream::LEGACY).unwrap_err().kind(), "captured");
    assert_eq!(StreamEvent::new(&held.cuda, 1, Stream::LEGACY).unwrap_err().kind(), "captured");
    assert!(machine.ended(stream).is_ok());
    held.event.before(Stream::LEGACY).unwrap();
}
