//! Writes the code of some conversions as files, for compilers and for reading.
//!
//! `cargo run -p tilewright-device --example sources -- FOLDER` writes `NAME.cu`, `NAME.cl` and `NAME.txt`. The latter
//! describes the launch: threads, blocks, bytes of source and destination, and the numbers.

use std::{error::Error, fs, path::PathBuf};
use tilewright_core::{Digit, Fractal, Layout, Pattern, TensorLayout};
use tilewright_device::{Alignment, DevicePlan, Target};
use tilewright_relayout::{Elements, Extend, Program};

type Answer<T> = Result<T, Box<dyn Error>>;

fn programs() -> Answer<Vec<(&'static str, Program, Alignment)>> {
    let rows = |extents: &[u64]| TensorLayout::row_major(extents);
    let columns = |extents: &[u64]| TensorLayout::col_major(extents);
    let tiles = |a| {
        let digits =
            [Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, a), Digit::fixed(1, 0, 5)];
        Pattern::new(2, &digits)?.layout(&[203, 301])
    };
    let plain = Alignment::default();
    let moved = |src: &TensorLayout, dst: &TensorLayout, bits| {
        Program::new(src, dst, Elements::same(bits), 0x5A5A)
    };
    let transpose =
        |m, n, bits| -> Answer<Program> { Ok(moved(&rows(&[m, n])?, &columns(&[m, n])?, bits)?) };
    let pitched = |text: &str| -> Answer<TensorLayout> {
        let layout = Layout::parse(text)?;
        Ok(TensorLayout::new(&[9, 1000], &layout, layout.cosize() as u64 + 3)?)
    };
    let zn = Fractal::ZN.pattern(16, 16).layout(&[200, 300])?;
    let packed = |src_bits, dst_bits| -> Answer<Program> {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Sign };
        Ok(Program::new(&rows(&[500, 301])?, &rows(&[500, 301])?, elements, 0)?)
    };
    let widened = Elements { src_bits: 8, dst_bits: 32, extend: Extend::Sign };
    let backwards = TensorLayout::of(&Layout::parse("(128,64):(64,-1)+63")?);
    Ok(vec![
        ("transpose_u8", transpose(512, 400, 8)?, plain),
        ("transpose_bf16", transpose(512, 400, 16)?, plain),
        ("transpose_f32", transpose(512, 400, 32)?, plain),
        ("transpose_f64", transpose(512, 400, 64)?, plain),
        ("transpose_any", transpose(37, 53, 16)?, Alignment::new(2, 6)?),
        ("odd_u8", transpose(1003, 771, 8)?, plain),
        ("odd_bf16", transpose(1003, 771, 16)?, plain),
        ("odd_f32", transpose(1003, 771, 32)?, plain),
        ("odd_f64", transpose(1003, 771, 64)?, plain),
        ("image_u8", transpose(50176, 3, 8)?, plain),
        ("image_bf16", transpose(3, 50176, 16)?, plain),
        ("nibbles", transpose(500, 300, 4)?, plain),
        ("packed", packed(8, 4)?, plain),
        ("unpacked", packed(4, 8)?, plain),
        ("backwards_bf16", moved(&backwards, &rows(&[128, 64])?, 16)?, plain),
        ("zn_bf16", moved(&rows(&[200, 300])?, &zn, 16)?, plain),
        ("rows", moved(&pitched("(9,1000):(1024,1)")?, &pitched("(9,1000):(2048,1)")?, 32)?, plain),
        (
            "rows_any",
            moved(&pitched("(9,1000):(1001,1)")?, &pitched("(9,1000):(1003,1)")?, 8)?,
            Alignment::new(3, 8)?,
        ),
        ("digits", moved(&tiles(3)?, &tiles(4)?, 32)?, plain),
        ("widened", Program::new(&rows(&[40, 50])?, &columns(&[40, 50])?, widened, 0)?, plain),
    ])
}

fn main() -> Answer<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/sources".into()));
    fs::create_dir_all(&folder)?;
    for (name, program, alignment) in programs()? {
        let plan = DevicePlan::new(&program, alignment)?;
        for (i, kernel) in plan.kernels().iter().enumerate() {
            let file = |ending: &str| folder.join(format!("{name}_{i}.{ending}"));
            fs::write(file("cu"), kernel.source(Target::Cuda))?;
            fs::write(file("cl"), kernel.source(Target::OpenCl))?;
            let params: Vec<String> = kernel.params().iter().map(u64::to_string).collect();
            let (threads, blocks, (src, dst)) = (kernel.threads(), kernel.blocks(), kernel.bytes());
            fs::write(
                file("txt"),
                format!("{threads} {blocks} {src} {dst}\n{}\n", params.join(" ")),
            )?;
        }
    }
    Ok(())
}
