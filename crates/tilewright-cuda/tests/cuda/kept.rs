//! Code on disk: read by the next process, compiled again where it is not whole or not for this compiler.

use std::{fs, path::PathBuf};

use crate::fakes::Fakes;
use tilewright_core::TensorLayout;
use tilewright_cuda::{Counts, Cuda, Move, Settings, Stream};
use tilewright_relayout::{Elements, Program};

/// What one process that moves one array counts; what arrives is right.
fn counted(fakes: &Fakes, settings: &Settings) -> Counts {
    let (rows, columns) =
        (TensorLayout::row_major(&[12, 7]).unwrap(), TensorLayout::col_major(&[12, 7]).unwrap());
    let moved = Move::new(Program::new(&rows, &columns, Elements::same(8), 0).unwrap());
    let (src, dst) = (fakes.memory(0, 84), fakes.memory(0, 84));
    src.put(0, &(0..84).collect::<Vec<u8>>());
    let cuda = Cuda::open(settings).unwrap();
    cuda.launch(&moved, src.whole(), dst.whole(), Stream::LEGACY).unwrap();
    let expected: Vec<u8> = (0..84).map(|at| at % 12 * 7 + at / 12).collect();
    assert_eq!(dst.get(), expected);
    cuda.counts()
}

fn files(fakes: &Fakes) -> Vec<PathBuf> {
    let folder = fs::read_dir(fakes.path().join("cache")).unwrap();
    folder.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_next_process_compiles_nothing() {
    let fakes = Fakes::new();
    let counts = counted(&fakes, &fakes.settings());
    assert_eq!((counts.compiled, counts.read), (1, 0));
    let [file] = &files(&fakes)[..] else { panic!("{:?}", files(&fakes)) };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.len() == 64 + 5 && name.ends_with(".code"), "{name}");
    let counts = counted(&fakes, &fakes.settings());
    assert_eq!((counts.compiled, counts.read), (0, 1));
}

#[test]
fn a_file_that_is_not_whole_is_compiled_again_and_mended() {
    let fakes = Fakes::new();
    counted(&fakes, &fakes.settings());
    let file = files(&fakes).remove(0);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    for bad in [&whole[..whole.len() - 1], &whole[..40], &[], &flipped] {
        fs::write(&file, bad).unwrap();
        let counts = counted(&fakes, &fakes.settings());
        assert_eq!((counts.compiled, counts.read), (1, 0), "{} bytes", bad.len());
        assert_eq!(fs::read(&file).unwrap().len(), whole.len());
        assert_eq!(counted(&fakes, &fakes.settings()).read, 1);
    }
}

#[test]
fn another_compiler_or_device_has_its_own_code() {
    let fakes = Fakes::new();
    assert_eq!(counted(&fakes, &fakes.settings()).compiled, 1);
    fakes.compiler_version(12, 5);
    assert_eq!(counted(&fakes, &fakes.settings()).compiled, 1);
    fakes.capability(0, 8, 6);
    assert_eq!(counted(&fakes, &fakes.settings()).compiled, 1);
    assert_eq!(files(&fakes).len(), 3);
    fakes.compiler_version(12, 4);
    fakes.capability(0, 9, 0);
    assert_eq!(counted(&fakes, &fakes.settings()).compiled, 0);
}

#[test]
fn a_disk_that_takes_nothing_is_no_failure() {
    let fakes = Fakes::new();
    let file = fakes.path().join("file");
    fs::write(&file, "").unwrap();
    for _ in 0..2 {
        let counts = counted(&fakes, &fakes.settings().with_cache(file.join("below")));
        assert_eq!((counts.compiled, counts.read), (1, 0));
    }
    let without = Settings::default()
        .with_driver(fakes.path().join("libcuda.so"))
        .with_compiler(fakes.path().join("libnvrtc.so"));
    assert_eq!(counted(&fakes, &without).compiled, 1);
    assert!(!fakes.path().join("cache").exists());
}
