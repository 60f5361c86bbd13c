//! Speed of plans whose digits do not divide one another: GB/s read and written by one thread, by two, and in chunks,
//! and the share of memcpy with one thread, compared with a regular transpose of the same number of elements.
//!
//! `cargo run --release -p tilewright-relayout --example irregular [-- --quick]`

use std::{env, hint::black_box, time::Instant};

use tilewright_core::{Digit, Layout, Pattern, Step, Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Plan};

struct Case {
    name: &'static str,
    src: TensorLayout,
    dst: TensorLayout,
    bits: u32,
}

fn tiles(n: u64, rows: u64, columns: u64) -> TensorLayout {
    let digits = [
        Digit::rest(0, 1),
        Digit::rest(1, 1),
        Digit::fixed(0, 0, rows),
        Digit::fixed(1, 0, columns),
    ];
    Pattern::new(2, &digits).unwrap().layout(&[n, n]).unwrap()
}

/// XLA's `{1,0:T(a,b)(c,d)}`, where c does not divide a, nor d b.
fn nested(n: u64, [a, b]: [u64; 2], [c, d]: [u64; 2]) -> TensorLayout {
    let split = |axis, by| Step::Split { axis, by };
    let steps = [split(0, a), split(1, b), split(2, c), split(3, d)];
    let (rows, columns, inner) = (n.div_ceil(a), n.div_ceil(b), (a.div_ceil(c), b.div_ceil(d)));
    let (tile, line) = (c * d, c * d * inner.1);
    let (whole, all) = (line * inner.0, line * inner.0 * columns);
    let text = format!(
        "({rows},{columns},{},{},{c},{d}):({all},{whole},{line},{tile},{d},1)",
        inner.0, inner.1
    );
    let layout = Layout::parse(&text).unwrap();
    TensorLayout::with_steps(&[n, n], &steps, &layout, rows * all).unwrap()
}

/// XLA's `{2,1,0:T(2,*,4)}`.
fn merged(extents: [u64; 3]) -> TensorLayout {
    let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
    let inner = (extents[1] * extents[2]).div_ceil(4);
    let text = format!("({},{inner},4):(4,{},1)", extents[0], 4 * extents[0]);
    let layout = Layout::parse(&text).unwrap();
    TensorLayout::with_steps(&extents, &steps, &layout, extents[0] * inner * 4).unwrap()
}

/// All dims merged, stored in columns of fives.
fn line(n: u64) -> TensorLayout {
    let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 5 }];
    let outer = (n * n).div_ceil(5);
    let layout = Layout::parse(&format!("({outer},5):(1,{outer})")).unwrap();
    TensorLayout::with_steps(&[n, n], &steps, &layout, outer * 5).unwrap()
}

fn swizzled(n: u64) -> TensorLayout {
    let row = TensorLayout::row_major(&[n, n]).unwrap();
    let layout = row.layout().with_swizzle(Swizzle::new(3, 4, 3).unwrap()).unwrap();
    TensorLayout::new(&[n, n], &layout, layout.cosize() as u64).unwrap()
}

fn cases(n: u64) -> Vec<Case> {
    let row = TensorLayout::row_major(&[n, n]).unwrap();
    let col = TensorLayout::col_major(&[n, n]).unwrap();
    let cube = [n, 33, n / 33];
    let case = |name, src: &TensorLayout, dst: &TensorLayout, bits| Case {
        name,
        src: src.clone(),
        dst: dst.clone(),
        bits,
    };
    vec![
        case("regular: f32 transpose", &row, &col, 32),
        case("f32 to T(3,4)(2,1)", &row, &nested(n, [3, 4], [2, 1]), 32),
        case("f32 from T(3,4)(2,1)", &nested(n, [3, 4], [2, 1]), &row, 32),
        case("f32 columns to T(3,4)(2,1)", &col, &nested(n, [3, 4], [2, 1]), 32),
        case("f32 to T(7,100)(3,9)", &row, &nested(n, [7, 100], [3, 9]), 32),
        case("f32 from T(7,100)(3,9)", &nested(n, [7, 100], [3, 9]), &row, 32),
        case("f32 columns to T(7,100)(3,9)", &col, &nested(n, [7, 100], [3, 9]), 32),
        case("f32 T(4,4) to T(3,5)", &tiles(n, 4, 4), &tiles(n, 3, 5), 32),
        case("u8 T(4,4) to T(3,5)", &tiles(n, 4, 4), &tiles(n, 3, 5), 8),
        case("4-bit T(4,4) to T(3,5)", &tiles(n, 4, 4), &tiles(n, 3, 5), 4),
        case("f32 T(8,128) to T(3,128)", &tiles(n, 8, 128), &tiles(n, 3, 128), 32),
        case("f32 to T(2,*,4)", &TensorLayout::row_major(&cube).unwrap(), &merged(cube), 32),
        case("f32 to all dims as one", &row, &line(n), 32),
        case("f32 columns to all dims as one", &col, &line(n), 32),
        case("f32 to Sw<3,4,3>", &row, &swizzled(n), 32),
        case("f32 columns from Sw<3,4,3>", &swizzled(n), &col, 32),
    ]
}

fn best(runs: usize, mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

/// Moves everything in chunks of 64 KiB.
fn in_chunks(plan: &Plan, source: &[u8], out: &mut [u8]) {
    let mut buffer = Vec::new();
    for range in plan.ranges(1 << 16) {
        let chunk = plan.chunk(range.clone()).unwrap();
        buffer.resize(buffer.len().max(chunk.buffer_len()), 0);
        for read in chunk.reads() {
            let from = read.src as usize;
            buffer[read.at..read.at + read.len].copy_from_slice(&source[from..from + read.len]);
        }
        chunk.run(&buffer, &mut out[range.start as usize..range.end as usize], 1).unwrap();
    }
}

fn main() {
    let quick = env::args().any(|argument| argument == "--quick");
    let (n, runs) = if quick { (512, 2) } else { (2048, 5) };
    let heads = ["1 thread", "2 threads", "chunks", "share"];
    println!(
        "{:32} {:>9} {:>9} {:>9} {:>7}  kernel",
        "case", heads[0], heads[1], heads[2], heads[3]
    );
    for case in cases(n) {
        let plan = Plan::new(&case.src, &case.dst, Elements::same(case.bits), 0).unwrap();
        let source: Vec<u8> = (0..plan.src_bytes() as u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8)
            .collect();
        let moved = (plan.src_bytes() + plan.dst_bytes()) as f64 / 1e9;
        let mut outs = [0, 1, 2].map(|i| vec![i; plan.dst_bytes() as usize]);
        let rates = [1, 2].map(|threads| {
            let out = &mut outs[threads - 1];
            moved / best(runs, || plan.run(black_box(&source), black_box(out), threads).unwrap())
        });
        let each = (source.len() + outs[0].len()) / 2;
        let (from, mut to) = (vec![1u8; each], vec![2u8; each]);
        let memcpy = moved / best(runs, || black_box(&mut to).copy_from_slice(black_box(&from)));
        let chunked = moved / best(1, || in_chunks(&plan, &source, &mut outs[2]));
        assert!(outs[0] == outs[1] && outs[0] == outs[2], "{}", case.name);
        println!(
            "{:32} {:>9.3} {:>9.3} {chunked:>9.3} {:>7.3}  {}",
            case.name,
            rates[0],
            rates[1],
            rates[0] / memcpy,
            plan.kernel_name()
        );
    }
}
