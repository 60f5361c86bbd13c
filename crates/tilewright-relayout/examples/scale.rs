//! Scaling with size: time per byte from 128 MiB up to 4 GiB compared with copying, and the peak of resident memory,
//! which shows whether a run needs memory besides its two buffers.
//!
//! `cargo run --release -p tilewright-relayout --example scale [-- MIB [THREADS]]`, where MIB is the largest array,
//! 4096 by default. Needs twice as much memory.

use std::{env, fs, time::Instant};

use tilewright_core::{Fractal, TensorLayout};
use tilewright_relayout::{Buffer, Elements, Plan};

const MIB: u64 = 1 << 20;

/// The number of runs of each size; the fastest counts.
const TURNS: usize = 3;

/// A name, the bits of an element, and the layouts of an array of a given number of bytes.
type Case = (&'static str, u32, fn(u64) -> (TensorLayout, TensorLayout));

const CASES: [Case; 3] = [
    ("f32 rows to columns", 32, |bytes| {
        let dims = [bytes / 4 / 8192, 8192];
        (TensorLayout::row_major(&dims).unwrap(), TensorLayout::col_major(&dims).unwrap())
    }),
    ("f32 odd rows to columns", 32, |bytes| {
        let dims = [bytes / 4 / 8189, 8189];
        (TensorLayout::row_major(&dims).unwrap(), TensorLayout::col_major(&dims).unwrap())
    }),
    ("16-bit rows to zN", 16, |bytes| {
        let dims = [bytes / 2 / 8192, 8192];
        let fractal = Fractal::ZN.pattern(16, 16);
        (TensorLayout::row_major(&dims).unwrap(), fractal.layout(&dims).unwrap())
    }),
];

fn seconds(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Returns the peak of resident memory in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

fn main() {
    let mut args = env::args().skip(1).map(|arg| arg.parse::<u64>().expect("a number"));
    let (most, threads) = (args.next().unwrap_or(4096) * MIB, args.next().unwrap_or(1) as usize);
    let (mut src, mut dst) = (Buffer::new(most).unwrap(), Buffer::new(most).unwrap());
    for (i, word) in src.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *word = (i as u64).to_le_bytes();
    }
    dst.fill(1);
    let before = peak();
    println!("{:26} {:>8} {:>10} {:>10}", "", "MiB", "ps/byte", "of memcpy");
    for (name, bits, layouts) in CASES {
        let mut size = 128 * MIB;
        while size <= most {
            let (from, to) = layouts(size);
            let plan = Plan::new(&from, &to, Elements::same(bits), 0).unwrap();
            let (len, out) = (plan.src_bytes() as usize, plan.dst_bytes() as usize);
            let (mut copy, mut move_) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..TURNS {
                copy = copy.min(seconds(&mut || dst[..len].copy_from_slice(&src[..len])));
                move_ = move_.min(seconds(&mut || {
                    plan.run(&src[..len], &mut dst[..out], threads).unwrap();
                }));
            }
            let per_byte = move_ / out as f64 * 1e12;
            println!("{name:26} {:>8} {per_byte:>10.1} {:>10.2}", size / MIB, copy / move_);
            size *= 2;
        }
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        let (buffers, more) = (2 * most / MIB, (after - before) >> 10);
        println!(
            "resident: {} MiB for {buffers} MiB of buffers, and {more} KiB for all plans and runs",
            before / MIB
        );
    }
}
