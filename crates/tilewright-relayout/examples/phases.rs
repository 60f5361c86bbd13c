//! Speed of permutations whose buffers begin within cache lines: the time of memcpy divided by that of the plan,
//! measured alternately, for each case and each pair of offsets.
//!
//! `cargo run --release -p tilewright-relayout --example phases -- [NAME…] [threads=2] [rounds=5] [mb=128]
//! [at=0,0/16,16]`

use std::{env, time::Instant};

use tilewright_core::{Layout, TensorLayout};
use tilewright_relayout::{Buffer, Elements, Plan};

/// A name, the bytes of an element, extents, the dims of the source in the order of the destination.
type Case = (&'static str, u32, &'static [u64], &'static [usize]);

const CASES: &[Case] = &[
    ("u8-odd", 1, &[9973, 12007], &[1, 0]),
    ("u8-square", 1, &[16384, 8192], &[1, 0]),
    ("i16-odd", 2, &[7001, 9001], &[1, 0]),
    ("i16-square", 2, &[8192, 8192], &[1, 0]),
    ("f32-odd", 4, &[5003, 6007], &[1, 0]),
    ("f32-square", 4, &[8192, 4096], &[1, 0]),
    ("f32-tall", 4, &[131_072, 256], &[1, 0]),
    ("f32-wide", 4, &[256, 131_072], &[1, 0]),
    ("f64-odd", 8, &[4001, 4003], &[1, 0]),
    ("c128-odd", 16, &[2801, 3001], &[1, 0]),
    ("i16-to-nchw", 2, &[32, 56, 56, 256], &[0, 3, 1, 2]),
    ("i16-to-nhwc", 2, &[32, 256, 56, 56], &[0, 2, 3, 1]),
    ("f32-to-nhwc", 4, &[32, 96, 112, 112], &[0, 2, 3, 1]),
    ("f32-to-nchw", 4, &[32, 112, 112, 96], &[0, 3, 1, 2]),
    ("f32-021", 4, &[33, 1000, 1100], &[0, 2, 1]),
    ("f32-1302", 4, &[40, 41, 42, 430], &[1, 3, 0, 2]),
    ("f32-reversed", 4, &[24, 24, 24, 24, 100], &[4, 3, 2, 1, 0]),
    ("f32-96", 4, &[64, 96, 96, 64], &[3, 2, 1, 0]),
    ("f32-6d", 4, &[32, 24, 20, 16, 18, 14], &[5, 2, 0, 4, 1, 3]),
    ("i16-0213", 2, &[64, 1024, 16, 64], &[0, 2, 1, 3]),
    ("i16-0213-short", 2, &[64, 1024, 32, 16], &[0, 2, 1, 3]),
    ("i16-zn", 2, &[500, 16, 500, 16], &[2, 0, 1, 3]),
    ("i16-from-zn", 2, &[500, 500, 16, 16], &[1, 2, 0, 3]),
    ("bf16-tiles", 2, &[1000, 4, 2, 64, 128], &[0, 3, 1, 4, 2]),
    ("bf16-from-tiles", 2, &[1000, 64, 4, 128, 2], &[0, 2, 4, 1, 3]),
    ("u8-tiles", 1, &[500, 64, 64, 16, 4], &[0, 2, 1, 3, 4]),
];

fn layouts(extents: &[u64], order: &[usize]) -> (TensorLayout, TensorLayout) {
    let mut strides = vec![0; extents.len()];
    let mut stride = 1i64;
    for &dim in order.iter().rev() {
        strides[dim] = stride;
        stride *= extents[dim] as i64;
    }
    let list = |of: &[String]| of.join(",");
    let extent: Vec<String> = extents.iter().map(u64::to_string).collect();
    let stride: Vec<String> = strides.iter().map(i64::to_string).collect();
    let text = format!("({}):({})", list(&extent), list(&stride));
    let dst = TensorLayout::of(&Layout::parse(&text).unwrap());
    (TensorLayout::row_major(extents).unwrap(), dst)
}

/// The lower quartile, because other processes on the machine can only add to times.
fn quartile(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 4]
}

fn time(f: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

fn copy(src: &[u8], dst: &mut [u8], threads: usize) {
    let part = src.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let mut parts = src.chunks(part).zip(dst.chunks_mut(part));
        let first = parts.next();
        for (src, dst) in parts {
            scope.spawn(|| dst.copy_from_slice(src));
        }
        if let Some((src, dst)) = first {
            dst.copy_from_slice(src);
        }
    });
}

fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let option = |name: &str| given.iter().find_map(|given| given.strip_prefix(name));
    let number =
        |name: &str, other: usize| option(name).map_or(other, |text| text.parse().unwrap());
    let (threads, rounds) = (number("threads=", 1), number("rounds=", 5));
    let places: Vec<(usize, usize)> = option("at=")
        .unwrap_or("0,0/16,16")
        .split('/')
        .map(|pair| pair.split_once(',').unwrap())
        .map(|(src, dst)| (src.parse().unwrap(), dst.parse().unwrap()))
        .collect();
    let names: Vec<&String> = given.iter().filter(|given| !given.contains('=')).collect();
    println!("{:16} memcpy GB/s, then the ratio at {places:?}", "case");
    for (name, width, extents, order) in CASES {
        if !names.is_empty() && !names.iter().any(|given| name.starts_with(given.as_str())) {
            continue;
        }
        let (src, dst) = layouts(extents, order);
        let plan = Plan::new(&src, &dst, Elements::same(8 * width), 0).unwrap();
        let bytes = plan.src_bytes() as usize;
        let mut source = Buffer::new(bytes as u64 + 64).unwrap();
        let mut out = Buffer::new(bytes as u64 + 64).unwrap();
        for (i, byte) in source.iter_mut().enumerate() {
            *byte = ((i as u32).wrapping_mul(2_654_435_761) >> 13) as u8;
        }
        let mut times = vec![Vec::new(); places.len() + 1];
        for round in 0..=rounds {
            let copied =
                time(&mut || copy(&source[16..][..bytes], &mut out[16..][..bytes], threads));
            let run = |(from, to): (usize, usize)| {
                let (source, out) = (&source[from..][..bytes], &mut out[to..][..bytes]);
                time(&mut || plan.run(source, out, threads).unwrap())
            };
            let moved: Vec<f64> = places.iter().copied().map(run).collect();
            if round > 0 {
                let all = std::iter::once(copied).chain(moved);
                times.iter_mut().zip(all).for_each(|(times, time)| times.push(time));
            }
        }
        let quartiles: Vec<f64> = times.iter_mut().map(|times| quartile(times)).collect();
        print!("{name:16} {:5.1}", 2e-9 * bytes as f64 / quartiles[0]);
        quartiles[1..].iter().for_each(|time| print!(" {:5.2}", quartiles[0] / time));
        println!("  {}", plan.kernel_name());
    }
}
