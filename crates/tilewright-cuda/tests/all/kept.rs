//! Code on disk: the next process reads it, and compiles it again if it is incomplete or for another compiler.

use std::{fs, path::PathBuf};

use crate::emulated::Emulated;
use tilewright_core::TensorLayout;
use tilewright_cuda::{Counts, Cuda, Move, Settings, Stream};
use tilewright_relayout::{Elements, Program};

/// Returns the counts of a process that moves one array; the result is checked.
fn counted(machine: &Emulated, settings: &Settings) -> Counts {
    let (rows, columns) =
        (TensorLayout::row_major(&[12, 7]).unwrap(), TensorLayout::col_major(&[12, 7]).unwrap());
    let moved = Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap());
    let (src, dst) = (machine.memory(0, 84), machine.memory(0, 84));
    src.put(0, &(0..84).collect::<Vec<u8>>());
    let cuda = Cuda::open(settings).unwrap();
    cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
    let expected: Vec<u8> = (0..84).map(|at| at % 12 * 7 + at / 12).collect();
    assert_eq!(dst.get(), expected);
    cuda.counts()
}

fn files(machine: &Emulated) -> Vec<PathBuf> {
    let folder = fs::read_dir(machine.path().join("cache")).unwrap();
    folder.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_next_process_compiles_nothing() {
    let machine = Emulated::new();
    let counts = counted(&machine, &machine.settings());
    assert_eq!((counts.compiled, counts.read), (1, 0));
    let [file] = &files(&machine)[..] else { panic!("{:?}", files(&machine)) };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.len() == 64 + 5 && name.ends_with(".code"), "{name}");
    let counts = counted(&machine, &machine.settings());
    assert_eq!((counts.compiled, counts.read), (0, 1));
}

#[test]
fn a_file_that_is_not_whole_is_compiled_again_and_mended() {
    let machine = Emulated::new();
    counted(&machine, &machine.settings());
    let file = files(&machine).remove(0);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    for bad in [&whole[..whole.len() - 1], &whole[..40], &[], &flipped] {
        fs::write(&file, bad).unwrap();
        let counts = counted(&machine, &machine.settings());
        assert_eq!((counts.compiled, counts.read), (1, 0), "{} bytes", bad.len());
        assert_eq!(fs::read(&file).unwrap().len(), whole.len());
        assert_eq!(counted(&machine, &machine.settings()).read, 1);
    }
}

#[test]
fn another_compiler_or_device_has_its_own_code() {
    let machine = Emulated::new();
    assert_eq!(counted(&machine, &machine.settings()).compiled, 1);
    machine.compiler_version(12, 5);
    assert_eq!(counted(&machine, &machine.settings()).compiled, 1);
    machine.capability(0, 8, 6);
    assert_eq!(counted(&machine, &machine.settings()).compiled, 1);
    assert_eq!(files(&machine).len(), 3);
    machine.compiler_version(12, 4);
    machine.capability(0, 9, 0);
    assert_eq!(counted(&machine, &machine.settings()).compiled, 0);
}

#[test]
fn a_disk_that_takes_nothing_is_no_failure() {
    let machine = Emulated::new();
    let file = machine.path().join("file");
    fs::write(&file, "").unwrap();
    for _ in 0..2 {
        let counts = counted(&machine, &machine.settings().with_cache(file.join("below")));
        assert_eq!((counts.compiled, counts.read), (1, 0));
    }
    let without = Settings::default()
        .with_driver(machine.path().join("libcuda.so"))
        .with_compiler(machine.path().join("libnvrtc.so"));
    assert_eq!(counted(&machine, &without).compiled, 1);
    assert!(!machine.path().join("cache").exists());
}
