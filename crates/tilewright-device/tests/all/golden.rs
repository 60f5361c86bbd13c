//! Compares texts of kernels with recorded ones, which were read. `TILEWRIGHT_GOLDEN=write` records them again; read
//! them afterwards.

use std::{fs, path::Path};

use tilewright_core::{Digit, Fractal, Layout, Pattern, Swizzle, TensorLayout};
use tilewright_device::{Alignment, DevicePlan};
use tilewright_relayout::{Elements, Extend, Program};

/// Checks that the listing of a program equals the recorded one.
fn keeps(name: &str, program: &Program, alignment: Alignment) {
    let text = DevicePlan::new(program, alignment).unwrap().listing();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("TILEWRIGHT_GOLDEN").is_some_and(|what| what == "write") {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == kept,
        "{name} is written otherwise; TILEWRIGHT_GOLDEN=write keeps it, read it\n{text}"
    );
}

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

fn moved(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> Program {
    Program::new(src, dst, Elements::same(bits), 0x1234).unwrap()
}

#[test]
fn transposes() {
    for (bits, name) in [(8, "u8"), (16, "bf16"), (32, "f32"), (64, "f64")] {
        let program = moved(&rows(&[1024, 768]), &columns(&[1024, 768]), bits);
        keeps(&format!("transpose_{name}.txt"), &program, Alignment::default());
    }
}

#[test]
fn ragged_transposes() {
    let program = moved(&rows(&[1004, 772]), &columns(&[1004, 772]), 32);
    keeps("ragged_f32.txt", &program, Alignment::default());
}

#[test]
fn backwards() {
    let backwards = TensorLayout::of(&Layout::parse("(256,128):(128,-1)+127").unwrap());
    keeps("backwards_bf16.txt", &moved(&backwards, &rows(&[256, 128]), 16), Alignment::default());
}

#[test]
fn nibbles_that_share_bytes() {
    let zn = Fractal::ZN.pattern(16, 16).layout(&[99, 77]).unwrap();
    keeps("nibbles_with_gaps.txt", &moved(&rows(&[99, 77]), &zn, 4), Alignment::default());
    let (from, to) = (rows(&[4, 3]), columns(&[9, 7]));
    let elements = Elements { src_bits: 8, dst_bits: 2, extend: Extend::Zero };
    let part = Program::of_part((&from, &[0, 0]), (&to, &[3, 1]), &[4, 3], elements).unwrap();
    keeps("part_of_pairs_of_bits.txt", &part, Alignment::default());
}

#[test]
fn rows_of_any_pitch() {
    let pitched = |pitch: u64| {
        let layout = Layout::parse(&format!("(9,1000):({pitch},1)")).unwrap();
        TensorLayout::of(&layout)
    };
    let program = |from, to| {
        let (src, dst) = (pitched(from), pitched(to));
        let elements = Elements::same(8);
        Program::of_part((&src, &[0, 0]), (&dst, &[0, 0]), &[9, 1000], elements).unwrap()
    };
    keeps("rows.txt", &program(1024, 2048), Alignment::default());
    keeps("rows_anywhere.txt", &program(1001, 1003), Alignment::new(3, 8).unwrap());
}

#[test]
fn elements_digits_and_fill() {
    let tiles = |a, b| {
        let inner = [Digit::fixed(0, 0, a), Digit::fixed(1, 0, b)];
        let digits = [[Digit::rest(0, 1), Digit::rest(1, 1)], inner].concat();
        Pattern::new(2, &digits).unwrap().layout(&[203, 301]).unwrap()
    };
    keeps("digits.txt", &moved(&tiles(3, 4), &tiles(4, 5), 24), Alignment::default());
    let zn = Fractal::ZN.pattern(16, 16).layout(&[100, 96]).unwrap();
    keeps("zn_with_gaps.txt", &moved(&rows(&[100, 96]), &zn, 16), Alignment::default());
    let widened = Elements { src_bits: 8, dst_bits: 32, extend: Extend::Sign };
    let program = Program::new(&rows(&[40, 50]), &columns(&[40, 50]), widened, 0).unwrap();
    keeps("widened.txt", &program, Alignment::default());
}

#[test]
fn odd_transposes() {
    let program = |bits| moved(&rows(&[1003, 771]), &columns(&[1003, 771]), bits);
    keeps("odd_u8.txt", &program(8), Alignment::default());
    keeps("odd_f32_anywhere.txt", &program(32), Alignment::new(6, 2).unwrap());
}

#[test]
fn swizzled() {
    let under = |side: &TensorLayout, swizzle: Swizzle| {
        TensorLayout::of(&side.layout().with_swizzle(swizzle).unwrap())
    };
    let (plain, turned) = (rows(&[512, 256]), columns(&[512, 256]));
    let hopper = Swizzle::new(3, 3, 3).unwrap();
    keeps("swizzled_rows.txt", &moved(&plain, &under(&plain, hopper), 16), Alignment::default());
    let other = Swizzle::new(2, 2, 3).unwrap();
    let program = moved(&under(&plain, hopper), &under(&turned, other), 32);
    keeps("swizzled_transpose.txt", &program, Alignment::default());
    let matrix = Swizzle::of_images(&[2, 1 + 8, 4, 8, 16 + 4]).unwrap();
    let program = moved(&under(&plain, matrix), &turned, 8);
    keeps("swizzled_elements.txt", &program, Alignment::new(1, 0).unwrap());
}

#[test]
fn few_channels() {
    let program = moved(&rows(&[50_176, 3]), &columns(&[50_176, 3]), 8);
    keeps("channels_apart_u8.txt", &program, Alignment::default());
    let program = moved(&rows(&[3, 50_176]), &columns(&[3, 50_176]), 16);
    keeps("channels_together_bf16.txt", &program, Alignment::new(2, 0).unwrap());
}

#[test]
fn packed() {
    let nibbles = moved(&rows(&[500, 300]), &columns(&[500, 300]), 4);
    keeps("nibbles.txt", &nibbles, Alignment::default());
    let (src, dst) = (rows(&[500, 301]), rows(&[500, 301]));
    let elements = Elements { src_bits: 8, dst_bits: 4, extend: Extend::Zero };
    let program = Program::new(&src, &dst, elements, 0).unwrap();
    keeps("cut_to_nibbles.txt", &program, Alignment::default());
}
