//! Speed of plans within one buffer compared with two buffers and with memcpy of the same bytes: medians of interleaved
//! rounds, in milliseconds. Argument: the number of threads, 1 by default.

use std::time::Instant;
use tilewright_core::{Digit, Fractal, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Plan};

const TURNS: usize = 7;

fn timed(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(name: &str, src: &TensorLayout, dst: &TensorLayout, bits: u32, threads: usize) {
    let plan = Plan::new(src, dst, Elements::same(bits), 0).unwrap();
    let bytes = plan.src_bytes() as usize;
    let (mut one, mut two) = (vec![1; bytes], vec![2; bytes]);
    let in_place = plan.in_place().unwrap();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..TURNS {
        times[0].push(timed(|| two.copy_from_slice(&one)));
        times[1].push(timed(|| plan.run(&one, &mut two, threads).unwrap()));
        times[2].push(timed(|| in_place.run(&mut one, threads).unwrap()));
    }
    let [copy, run, placed] = times.map(median);
    println!(
        "{name:32} {:5} MB  memcpy {copy:7.1}  two buffers {run:7.1}  one {placed:7.1}",
        bytes >> 20
    );
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let row = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
    for (n, bits) in [(8192, 32), (8191, 32), (4096, 64), (11584, 8), (8192, 16), (2896, 128)] {
        let columns = TensorLayout::col_major(&[n, n]).unwrap();
        measure(&format!("transpose {n} of {bits} bits"), &row(&[n, n]), &columns, bits, threads);
    }
    let batch = TensorLayout::ordered(&[8, 2048, 2048], &[1, 2, 0]).unwrap();
    measure("8 transposes 2048 of 32 bits", &row(&[8, 2048, 2048]), &batch, 32, threads);
    let heads = TensorLayout::ordered(&[512, 512, 64], &[2, 0, 1]).unwrap();
    measure("swap 512, 512 of 64×16 bits", &row(&[512, 512, 64]), &heads, 16, threads);
    let inner = TensorLayout::ordered(&[512, 64, 512], &[0, 1, 2]).unwrap();
    measure("210 of 512, 64, 512, 16 bits", &row(&[512, 64, 512]), &inner, 16, threads);
    let digits = [Digit::rest(0, 1), Digit::rest(1, 0), Digit::fixed(0, 0, 2)];
    let pairs = Pattern::new(2, &digits).unwrap().layout(&[8192, 8192]).unwrap();
    measure("pairs of rows, 16 bits", &row(&[8192, 8192]), &pairs, 16, threads);
    let fractal = |fractal: Fractal| fractal.pattern(16, 16).layout(&[8192, 8192]).unwrap();
    measure("zN to nZ, 16 bits", &fractal(Fractal::ZN), &fractal(Fractal::NZ), 16, threads);
}
