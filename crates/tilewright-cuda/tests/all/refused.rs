//! Refusals and their messages: nothing is written, no context remains, and the next launch works.

use std::fs;

use crate::emulated::{Emulated, FAILED, Memory};
use tilewright_core::TensorLayout;
use tilewright_cuda::{Cuda, DeviceBytes, Error, Job, Move, Stream};
use tilewright_relayout::{Elements, Program};

fn transpose() -> Move {
    let (rows, columns) =
        (TensorLayout::row_major(&[19, 23]).unwrap(), TensorLayout::col_major(&[19, 23]).unwrap());
    Move::new(Program::new(&rows, &columns, Elements::same(24), 0).unwrap())
}

/// Allocates memory for both sides on a device.
fn sides(machine: &Emulated, moved: &Move) -> (Memory, Memory) {
    let src = machine.memory(0, moved.src_bytes() as usize);
    src.put(0, &vec![1; moved.src_bytes() as usize]);
    (src, machine.memory(0, moved.dst_bytes() as usize))
}

fn refused(cuda: &Cuda, moved: &Move, src: DeviceBytes, dst: DeviceBytes, stream: Stream) -> Error {
    cuda.launch(moved, src, dst, stream).unwrap_err()
}

#[test]
fn a_missing_driver_is_told_with_its_places() {
    let machine = Emulated::new();
    let nowhere = machine.path().join("no-libcuda.so");
    let error = Cuda::open(&machine.settings().with_driver(&nowhere)).unwrap_err();
    assert!(error.kind() == "no-driver" && error.is_unavailable());
    let says = error.to_string();
    for word in ["TILEWRIGHT_LIBCUDA", "no-libcuda.so", "The driver of CUDA devices is not found"] {
        assert!(says.contains(word), "{says}");
    }
    let text = machine.path().join("text.so");
    fs::write(&text, "no library").unwrap();
    let error = Cuda::open(&machine.settings().with_driver(&text)).unwrap_err();
    assert_eq!(error.kind(), "no-driver");
    // A library, but not this one.
    let other = machine.path().join("libnvrtc.so");
    let error = Cuda::open(&machine.settings().with_driver(&other)).unwrap_err();
    assert_eq!(error.kind(), "too-old");
    assert!(error.to_string().contains("has no cuInit"), "{error}");
}

#[test]
fn a_machine_without_devices_is_told() {
    let error = Cuda::open(&Emulated::with(0, 12_040).settings()).unwrap_err();
    assert!(error.kind() == "no-device" && error.is_unavailable(), "{error}");
    let error = Cuda::open(&Emulated::with(-1, 12_040).settings()).unwrap_err();
    assert_eq!((error.kind(), error.code()), ("no-device", Some(100)));
    assert!(error.to_string().contains("no CUDA-capable device is detected"), "{error}");
}

#[test]
fn a_missing_compiler_is_told_when_it_is_needed() {
    let machine = Emulated::new();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let nowhere = machine.path().join("no-libnvrtc.so");
    let cuda = Cuda::open(&machine.settings().with_compiler(nowhere)).unwrap();
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert!(error.kind() == "no-compiler" && error.is_unavailable());
    assert!(error.to_string().contains("TILEWRIGHT_LIBNVRTC"), "{error}");
    let old = Cuda::open(&machine.settings().with_compiler(machine.old_compiler())).unwrap();
    let error = refused(&old, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert_eq!(error.kind(), "too-old");
    assert!(error.to_string().contains("nvrtcGetNumSupportedArchs"), "{error}");
    assert!(dst.get().iter().all(|byte| *byte == 0));
    assert_eq!(machine.depth(), 0);
}

/// A compiler that is too old is skipped if another one is found; a folder that is set comes before the loader's own.
#[test]
fn the_next_compiler_is_tried() {
    let machine = Emulated::new();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let folders = ["old", "new"].map(|name| machine.path().join(name));
    for (folder, from) in folders.iter().zip(["libnvrtc-old.so", "libnvrtc.so"]) {
        fs::create_dir(folder).unwrap();
        fs::copy(machine.path().join(from), folder.join("libnvrtc.so.12")).unwrap();
    }
    let driver =
        tilewright_cuda::Settings::default().with_driver(machine.path().join("libcuda.so"));
    let settings = driver.with_folder(&folders[0]).with_folder(&folders[1]);
    let cuda = Cuda::open(&settings).unwrap();
    cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
    assert!(dst.get().iter().all(|byte| *byte == 1));
}

#[test]
fn a_text_that_is_refused_shows_the_log() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    machine.compiler_fails(6);
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert_eq!((error.kind(), error.code()), ("compile", Some(6)));
    assert!(error.to_string().contains("tilewright.cu(7): error: told to fail"), "{error}");
    // A failure is not cached.
    machine.compiler_fails(0);
    cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
}

#[test]
fn a_device_that_is_too_old_is_told() {
    let machine = Emulated::new();
    machine.capability(0, 7, 0);
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert_eq!(error.kind(), "architecture");
    assert!(
        error.to_string().contains("compute capability 7.0, and NVRTC 12.4 makes code for 7.5"),
        "{error}"
    );
    assert_eq!(machine.compiled(), 0);
}

#[test]
fn a_driver_that_is_older_than_the_compiler_is_told() {
    // A device that the compiler does not know gets code for the newest architecture that it knows, which an older
    // driver refuses.
    let machine = Emulated::with(1, 12_030);
    machine.capability(0, 12, 0);
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert_eq!((error.kind(), error.code()), ("architecture", Some(222)));
    let says = error.to_string();
    assert!(says.contains("compute_100") && says.contains("newer driver"), "{says}");
    assert!(dst.get().iter().all(|byte| *byte == 0));
    // Machine code of the same major version is accepted.
    machine.capability(0, 9, 0);
    let cuda = machine.open();
    cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
    assert!(dst.get().iter().all(|byte| *byte == 1));
}

#[test]
fn devices_before_the_oldest_are_refused() {
    let machine = Emulated::new();
    machine.capability(0, 6, 1);
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), Stream::LEGACY);
    assert_eq!(error.kind(), "architecture");
    assert!(error.to_string().contains("compute capability 6.1"), "{error}");
    assert!(dst.get().iter().all(|byte| *byte == 0));
    assert_eq!((cuda.counts().launched, machine.compiled()), (0, 0));
}

/// If a driver looks up addresses only in a context, one is made, once, and released at the end.
#[test]
fn a_question_that_needs_a_context_gets_one() {
    let machine = Emulated::new();
    machine.needs_context();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    machine.log();
    for _ in 0..3 {
        cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
    }
    let made = |log: &[String]| {
        log.iter().filter(|line| line.starts_with("cuDevicePrimaryCtxRetain")).count()
    };
    assert_eq!(made(&machine.log()), 1);
    assert!(dst.get().iter().all(|byte| *byte == 1));
    drop(cuda);
    assert_eq!((machine.retained(0), machine.depth()), (0, 0));
}

/// Captured work runs when its graph does, after the earlier work of the stream.
#[test]
fn a_graph_runs_what_was_captured() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let stream = machine.stream(0);
    cuda.launch(&moved, src.whole(), dst.whole(), stream).unwrap();
    dst.put(0, &vec![7; moved.dst_bytes() as usize]);
    machine.capture(stream, 1);
    cuda.launch(&moved, src.whole(), dst.whole(), stream).unwrap();
    let graph = machine.captured(stream);
    assert!(dst.get().iter().all(|byte| *byte == 7));
    for times in 0..2 {
        src.put(0, &vec![3 + times; moved.src_bytes() as usize]);
        machine.run(graph, stream);
        assert!(dst.get().iter().all(|byte| *byte == 3 + times));
    }
}

#[test]
fn the_architecture_is_the_devices() {
    for ((major, minor), option) in
        [((9, 0), "sm_90 "), ((8, 7), "sm_86 "), ((12, 0), "compute_100 ")]
    {
        let machine = Emulated::new();
        machine.capability(0, major, minor);
        let cuda = machine.open();
        let moved = transpose();
        let (src, dst) = sides(&machine, &moved);
        cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
        assert!(
            machine.options().contains(&format!("--gpu-architecture={option}")),
            "{}",
            machine.options()
        );
        assert!(dst.get().iter().all(|byte| *byte == 1));
    }
}

#[test]
fn memory_of_two_devices_or_of_none_is_told() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let other = machine.memory(1, moved.dst_bytes() as usize);
    let error = refused(&cuda, &moved, src.whole(), other.whole(), Stream::LEGACY);
    assert_eq!(error.kind(), "devices");
    assert!(
        error.to_string().starts_with("the source is on device 0 and the destination on device 1"),
        "{error}"
    );
    // SAFETY: the memory is refused before it is used.
    let host = unsafe { DeviceBytes::new(4096, moved.src_bytes()) };
    let error = refused(&cuda, &moved, host, dst.whole(), Stream::LEGACY);
    assert_eq!(error.kind(), "memory");
    assert!(
        error.to_string().contains("address 0x1000, is not in the memory of a CUDA device"),
        "{error}"
    );
    let jobs = [
        Job { moved: &moved, src: src.whole(), dst: dst.whole() },
        Job { moved: &moved, src: src.whole(), dst: other.whole() },
    ];
    let error = cuda.launch_many(&jobs, Stream::LEGACY).unwrap_err();
    assert!(error.to_string().contains("the destination of job 1 on device 1"), "{error}");
    assert!(dst.get().iter().chain(&other.get()).all(|byte| *byte == 0));
    assert_eq!(cuda.counts().launched, 0);
}

/// Memory at fault among that of many jobs, whose addresses are between those of the others or beyond.
#[test]
fn one_wrong_memory_among_many_is_told() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let bytes = moved.src_bytes() as usize;
    let memory = machine.memory(0, 40 * bytes);
    let part = |at: usize| memory.part(at * bytes, bytes);
    let job = |at| Job { moved: &moved, src: part(at), dst: part(20 + at) };
    let jobs: Vec<Job<'_>> = (0..20).map(job).collect();
    // SAFETY: the memory is refused before it is used.
    let host = unsafe { DeviceBytes::new(4096, moved.src_bytes()) };
    let behind = memory.whole().address() + memory.whole().bytes();
    // SAFETY: as above.
    let behind = unsafe { DeviceBytes::new(behind, moved.src_bytes()) };
    let other = machine.memory(1, bytes).whole();
    for (wrong, kind, says) in [
        (host, "memory", "the source of job 7, 1311 bytes at address 0x1000, is not in the memory"),
        (behind, "memory", "the source of job 7, 1311 bytes at address"),
        (
            other,
            "devices",
            "the source of job 0 is on device 0 and the source of job 7 on device 1",
        ),
    ] {
        let mut jobs = jobs.clone();
        jobs[7].src = wrong;
        let error = cuda.launch_many(&jobs, Stream::LEGACY).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with(says), "{error}");
    }
    assert_eq!((cuda.counts().launched, machine.depth()), (0, 0));
    cuda.launch_many(&jobs, Stream::LEGACY).unwrap();
}

#[test]
fn a_stream_of_another_context_is_told() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    for stream in [machine.stream(1), machine.foreign_stream(0)] {
        let error = refused(&cuda, &moved, src.whole(), dst.whole(), stream);
        assert_eq!(error.kind(), "stream");
        assert!(error.to_string().contains("device 0"), "{error}");
    }
    assert_eq!((cuda.counts().launched, machine.compiled()), (0, 0));
}

#[test]
fn a_captured_stream_takes_what_is_loaded_and_nothing_else() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let first = "once before the capture";
    let implicit = "give a stream of your own";
    let streams = [(machine.stream(0), 1), (machine.stream(0), 2), (Stream::LEGACY, 3)];
    for ((stream, status), says) in streams.into_iter().zip([first, first, implicit]) {
        machine.capture(stream, status);
        let error = refused(&cuda, &moved, src.whole(), dst.whole(), stream);
        assert!(error.is_captured() && error.kind() == "captured");
        assert!(error.to_string().contains(says), "{error}");
        machine.capture(stream, 0);
    }
    assert_eq!((cuda.counts().launched, machine.compiled()), (0, 0));
    let stream = machine.stream(0);
    cuda.launch(&moved, src.whole(), dst.whole(), stream).unwrap();
    // Even loaded code is refused if the default stream must not be used.
    machine.capture(Stream::LEGACY, 3);
    let error = cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap_err();
    assert!(error.is_captured() && error.to_string().contains(implicit), "{error}");
    assert_eq!(cuda.counts().launched, 1);
    machine.capture(Stream::LEGACY, 0);
    machine.capture(stream, 1);
    dst.put(0, &vec![0; moved.dst_bytes() as usize]);
    machine.log();
    cuda.launch(&moved, src.whole(), dst.whole(), stream).unwrap();
    assert!(
        machine
            .log()
            .iter()
            .any(|line| line.starts_with("cuLaunchKernel") && line.ends_with("captured"))
    );
    assert!(dst.get().iter().all(|byte| *byte == 0), "a captured launch runs later");
    machine.capture(stream, 0);
    // A graph may hold its code: it stays loaded when the value is dropped.
    machine.log();
    drop(cuda);
    assert!(!machine.log().contains(&"cuModuleUnload".to_owned()));
}

#[test]
fn a_compiler_that_knows_no_grid_constants_is_told() {
    let machine = Emulated::new();
    machine.compiler_version(11, 6);
    let cuda = machine.open();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let error = refused(&cuda, &moved, src.whole(), dst.whole(), machine.stream(0));
    assert!(error.kind() == "too-old" && error.is_unavailable(), "{error}");
    assert!(
        error.to_string().contains("NVRTC 11.6") && error.to_string().contains("11.7 has first")
    );
    machine.compiler_version(11, 7);
    cuda.launch(&moved, src.whole(), dst.whole(), machine.stream(0)).unwrap();
}

#[test]
fn memory_too_short_or_twice_is_told() {
    let machine = Emulated::new();
    let cuda = machine.open();
    let moved = transpose();
    let bytes = moved.src_bytes() as usize;
    let (src, dst) = sides(&machine, &moved);
    machine.log();
    let short = refused(&cuda, &moved, src.part(0, bytes - 1), dst.whole(), Stream::LEGACY);
    assert_eq!(short.to_string(), "a source of 1310 bytes is too short; the plan reads 1311");
    let short = refused(&cuda, &moved, src.whole(), dst.part(0, 7), Stream::LEGACY);
    assert_eq!(short.to_string(), "a destination of 7 bytes is too short; the plan writes 1311");
    let both = machine.memory(0, 3 * bytes);
    for at in [0, 1, bytes - 1] {
        let error =
            refused(&cuda, &moved, both.part(0, bytes), both.part(at, bytes), Stream::LEGACY);
        assert!(error.kind() == "buffer" && error.to_string().contains("overlaps"), "{error}");
        let error =
            refused(&cuda, &moved, both.part(at, bytes), both.part(0, bytes), Stream::LEGACY);
        assert_eq!(error.kind(), "buffer");
    }
    let job = |src: DeviceBytes, dst: DeviceBytes| Job { moved: &moved, src, dst };
    let spare = machine.memory(0, 3 * bytes);
    // Two jobs with the same destination, one that reads another's destination, and both at a distance of one byte.
    for (one, other) in [
        (job(src.whole(), dst.whole()), job(src.whole(), dst.whole())),
        (
            job(src.whole(), both.part(0, bytes)),
            job(both.part(bytes - 1, bytes), spare.part(0, bytes)),
        ),
        (
            job(both.part(bytes - 1, bytes), spare.part(0, bytes)),
            job(src.whole(), both.part(0, bytes)),
        ),
    ] {
        let error = cuda.launch_many(&[one, other], Stream::LEGACY).unwrap_err();
        assert!(error.kind() == "buffer" && error.to_string().contains("job 1"), "{error}");
    }
    // SAFETY: the memory is refused before it is used.
    let far = unsafe { DeviceBytes::new(u64::MAX - 5, moved.src_bytes()) };
    assert_eq!(refused(&cuda, &moved, far, dst.whole(), Stream::LEGACY).kind(), "buffer");
    assert_eq!(machine.log(), Vec::<String>::new(), "no call of the driver");
    // One source for two adjacent destinations is legal.
    let jobs = [job(src.whole(), both.part(0, bytes)), job(src.whole(), both.part(bytes, bytes))];
    cuda.launch_many(&jobs, Stream::LEGACY).unwrap();
}

/// Every call of a first and of a second launch fails once: the error is the driver's, contexts are restored, and the
/// same launch works afterwards.
#[test]
fn a_failure_of_any_call_is_an_error_and_leaves_no_trace() {
    let machine = Emulated::new();
    let moved = transpose();
    let (src, dst) = sides(&machine, &moved);
    let expected = vec![1; moved.dst_bytes() as usize];
    let (mut failed, stream) = (0, machine.stream(0));
    for after in 0.. {
        machine.fail("", after);
        let run = || -> Result<(), Error> {
            let cuda = Cuda::open(&machine.settings())?;
            cuda.launch(&moved, src.whole(), dst.whole(), stream)?;
            cuda.launch(&moved, src.whole(), dst.whole(), stream)
        };
        let ended = run();
        if machine.still_to_fail() {
            ended.unwrap();
            break;
        }
        assert_eq!((machine.depth(), machine.retained(0)), (0, 0), "after {after} calls");
        // If a call fails while code from the disk is loaded, the code is compiled instead.
        if let Err(error) = ended {
            assert_eq!((error.kind(), error.code()), ("driver", Some(FAILED)), "{error}");
            assert!(
                error
                    .to_string()
                    .contains("CUDA_ERROR_LAUNCH_FAILED (719), unspecified launch failure"),
                "{error}"
            );
            failed += 1;
        }
        dst.put(0, &vec![0; moved.dst_bytes() as usize]);
        let cuda = machine.open();
        cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
        assert_eq!(dst.get(), expected);
    }
    assert!(failed > 15, "{failed} calls");
}
