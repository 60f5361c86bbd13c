//! Copies of contiguous runs whose loops are permuted, in buffers that begin on a line, 16 bytes past one and
//! one element past one, each in turns with memcpy of the same buffers.
//!
//! `cargo run --release -p tilewright-relayout --example rows_speed [-- THREADS [MIB [NAME]]]`: one thread and
//! 128 MiB unless given. Needs twice as much memory.

use std::{env, time::Instant};

use tilewright_core::TensorLayout;
use tilewright_relayout::{Buffer, Elements, Plan};

/// Runs of each case and offset, of which the median counts.
const TURNS: usize = 7;

/// A name, the bits of an element, the extents from the second on, the dims of the destination, minor to major, and
/// the elements behind each row of the source and of the destination.
type Case = (&'static str, u32, &'static [u64], &'static [u64], u64, u64);

const CASES: [Case; 14] = [
    ("heads-tokens 256B x 8", 16, &[2048, 8, 128], &[3, 1, 2, 0], 0, 0),
    ("tokens-heads 256B x 8", 16, &[8, 2048, 128], &[3, 1, 2, 0], 0, 0),
    ("0213 128B x 128", 16, &[128, 128, 64], &[3, 1, 2, 0], 0, 0),
    ("0213 64B x 32", 16, &[1024, 32, 32], &[3, 1, 2, 0], 0, 0),
    ("0213 100B x 16", 32, &[1024, 16, 25], &[3, 1, 2, 0], 0, 0),
    ("0213 94B x 24", 16, &[300, 24, 47], &[3, 1, 2, 0], 0, 0),
    ("0213 256B x 1000", 16, &[512, 1000, 128], &[3, 1, 2, 0], 0, 0),
    ("0213 1KB x 8", 32, &[512, 8, 256], &[3, 1, 2, 0], 0, 0),
    ("0213 5KB x 8", 32, &[512, 8, 1283], &[3, 1, 2, 0], 0, 0),
    ("0213 short streams", 16, &[4, 500, 64], &[3, 1, 2, 0], 0, 0),
    ("04321 reversed 192B", 32, &[24, 17, 20, 48], &[4, 0, 1, 2, 3], 0, 0),
    ("padded to rows 1204B", 32, &[301], &[1, 0], 3, 0),
    ("rows to padded 1204B", 32, &[301], &[1, 0], 0, 3),
    ("rows to padded 200B", 32, &[50], &[1, 0], 0, 3),
];

fn seconds(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The two layouts of a case of about so many bytes.
fn layouts(case: &Case, bytes: u64) -> (TensorLayout, TensorLayout) {
    let (_, bits, inner, order, src_gap, dst_gap) = *case;
    let row = u64::from(bits) / 8 * inner.iter().product::<u64>();
    let dims: Vec<u64> = [bytes / row].iter().chain(inner).copied().collect();
    let padded = |gap: u64| {
        let last = dims[dims.len() - 1];
        let shape: Vec<String> = dims.iter().map(u64::to_string).collect();
        let mut stride = last + gap;
        let mut strides = vec![1];
        for extent in dims[1..dims.len() - 1].iter().rev().chain([&dims[0]]) {
            strides.insert(0, stride);
            stride *= extent;
        }
        let strides: Vec<String> = strides.iter().take(dims.len()).map(u64::to_string).collect();
        let text = format!("({}):({})", shape.join(","), strides.join(","));
        TensorLayout::of(&text.parse().unwrap())
    };
    let dst =
        if dst_gap > 0 { padded(dst_gap) } else { TensorLayout::ordered(&dims, order).unwrap() };
    let src = if src_gap > 0 { padded(src_gap) } else { TensorLayout::row_major(&dims).unwrap() };
    (src, dst)
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let number = |i: usize, or: u64| args.get(i).map_or(or, |arg| arg.parse().expect("a number"));
    let (threads, bytes) = (number(0, 1) as usize, number(1, 128) << 20);
    let (mut src, mut dst) =
        (Buffer::new(2 * bytes + 128).unwrap(), Buffer::new(2 * bytes + 128).unwrap());
    for (i, word) in src.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *word = (i as u64).to_le_bytes();
    }
    dst.fill(1);
    for case in CASES.iter().filter(|case| args.get(2).is_none_or(|name| case.0.contains(name))) {
        let (from, to) = layouts(case, bytes);
        let plan = Plan::new(&from, &to, Elements::same(case.1), 0).unwrap();
        let (len, out) = (plan.src_bytes() as usize, plan.dst_bytes() as usize);
        let element = case.1 as usize / 8;
        print!("{:24}", case.0);
        for offset in [0, 16, element] {
            let (src, dst) = (&src[offset..][..len], &mut dst[offset..][..out]);
            let (mut copies, mut moves) = (Vec::new(), Vec::new());
            let least = len.min(out);
            for _ in 0..TURNS {
                copies.push(seconds(&mut || dst[..least].copy_from_slice(&src[..least])));
                moves.push(seconds(&mut || plan.run(src, dst, threads).unwrap()));
            }
            let (copied, moved) = (median(&mut copies), median(&mut moves));
            print!(" {:7.1} ({:4.2})", 2e-9 * least as f64 / moved, copied / moved);
        }
        println!();
    }
}
