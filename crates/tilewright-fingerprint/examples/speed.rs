//! Speed of fingerprints of data in memory, compared with a simple sum of the same bytes and with memcpy.
//!
//! `cargo run --release -p tilewright-fingerprint --example speed [-- MiB]`, with 512 MiB by default. Every number is
//! the best of seven rounds, in GB of source per second of processor time, or of wall time if the system does not report
//! processor time.

use std::{hint::black_box, time::Instant};

use tilewright_core::{Digit, Dtype, Fractal, Pattern, TensorLayout};
use tilewright_fingerprint::{Array, Key};

/// Seconds of processor time of this thread, or else of the clock.
fn now(start: Instant) -> f64 {
    // The time of a thread is updated when it yields, or at the next tick.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |all| all * 1e-9)
}

fn best(bytes: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let turn = |_| {
        let before = now(start);
        work();
        now(start) - before
    };
    bytes as f64 / (0..7).map(turn).fold(f64::MAX, f64::min) / 1e9
}

/// TPU's tiles of 8 × 128 elements whose rows are stored in pairs.
fn tiles(extents: &[u64]) -> TensorLayout {
    let digits = [
        Digit::rest(0, 2),
        Digit::rest(1, 1),
        Digit::fixed(0, 1, 4),
        Digit::fixed(1, 0, 128),
        Digit::fixed(0, 0, 2),
    ];
    Pattern::new(2, &digits).and_then(|pattern| pattern.layout(extents)).expect("a legal pattern")
}

fn main() {
    let mib = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(512);
    let data: Vec<u8> =
        (0..mib << 20).map(|i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
    let mut copy = vec![1; data.len()];
    let words = || {
        data.chunks_exact(8)
            .map(|word| word.iter().fold(0u64, |all, byte| all << 8 | u64::from(*byte)))
    };
    println!("{:28}{:>8.1}", "memcpy", best(data.len(), || copy.copy_from_slice(black_box(&data))));
    println!(
        "{:28}{:>8.1}",
        "sum",
        best(data.len(), || {
            black_box(words().fold(0, u64::wrapping_add));
        })
    );
    for (dtype, width) in [(Dtype::Bf16, 2), (Dtype::F32, 4), (Dtype::F64, 8), (Dtype::F8e4m3fn, 1)]
    {
        let (rows, columns) = ((mib << 20) / width / 8192, 8192);
        let extents = [rows, columns];
        let per = 32 / width;
        let layouts = [
            ("row-major", TensorLayout::row_major(&extents)),
            ("column-major", TensorLayout::col_major(&extents)),
            ("zN", Fractal::ZN.pattern(16, per).layout(&extents)),
            ("nZ", Fractal::NZ.pattern(per, 16).layout(&extents)),
            ("zZ", Fractal::ZZ.pattern(16, per).layout(&extents)),
            ("T(8,128)(2,1)", Ok(tiles(&extents))),
            ("one dim", TensorLayout::row_major(&[rows * columns])),
            ("rows of 60", TensorLayout::row_major(&[rows * columns / 60, 60])),
        ];
        for (name, layout) in layouts {
            let layout = layout.expect("a legal layout");
            let array = Array::new(&layout, dtype).expect("a legal array");
            let key = Key::default();
            let speed = best(data.len(), || {
                let _ = black_box(array.clone().fingerprint(&data, &key));
            });
            println!("{:28}{speed:>8.1}", format!("{dtype} {name}"));
        }
    }
}
