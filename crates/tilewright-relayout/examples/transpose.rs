//! How fast plans run here: GB/s read and written, next to a memcpy of as many bytes in the same run.
//!
//! `cargo run --release -p tilewright-relayout --example transpose [-- --quick]`

use std::{env, hint::black_box, time::Instant};

use tilewright_core::{Digit, Fractal, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Plan};

struct Case {
    name: &'static str,
    src: TensorLayout,
    dst: TensorLayout,
    bits: u32,
}

fn cases(scale: u64) -> Vec<Case> {
    let n = 8192 / scale;
    let row = |extents: &[u64]| TensorLayout::row_major(extents).unwrap();
    let col = |extents: &[u64]| TensorLayout::col_major(extents).unwrap();
    let order = |extents: &[u64], order: &[u64]| TensorLayout::ordered(extents, order).unwrap();
    let image = [32, 256 / scale, 56, 56];
    let tpu = [
        Digit::rest(0, 2),
        Digit::rest(1, 1),
        Digit::fixed(0, 1, 4),
        Digit::fixed(1, 0, 128),
        Digit::fixed(0, 0, 2),
    ];
    let tpu = Pattern::new(2, &tpu).unwrap().layout(&[n, n]).unwrap();
    let zn = Fractal::ZN.pattern(16, 16).layout(&[n, n]).unwrap();
    let case = |name, src: &TensorLayout, dst: &TensorLayout, bits| Case {
        name,
        src: src.clone(),
        dst: dst.clone(),
        bits,
    };
    vec![
        case("f32 transpose", &row(&[n, n]), &col(&[n, n]), 32),
        case("u8 transpose", &row(&[2 * n, n]), &col(&[2 * n, n]), 8),
        case("16-bit transpose", &row(&[n, n]), &col(&[n, n]), 16),
        case("f64 transpose", &row(&[n / 2, n]), &col(&[n / 2, n]), 64),
        case("f32 odd transpose", &row(&[n - 1, n - 3]), &col(&[n - 1, n - 3]), 32),
        case("NCHW to NHWC f32", &row(&image), &order(&image, &[1, 3, 2, 0]), 32),
        case("NHWC to NCHW f32", &order(&image, &[1, 3, 2, 0]), &row(&image), 32),
        case("row-major to zN 16-bit", &row(&[n, n]), &zn, 16),
        case("zN to row-major 16-bit", &zn, &row(&[n, n]), 16),
        case("row-major to T(8,128)(2,1) 16-bit", &row(&[n, n]), &tpu, 16),
    ]
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks_exact(8).fold(0, |sum, word| {
        let word = u64::from_le_bytes([
            word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
        ]);
        (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn seconds(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let quick = env::args().any(|argument| argument == "--quick");
    let (scale, runs) = if quick { (4, 3) } else { (1, 7) };
    println!("{:36} {:>7} {:>9} {:>9} {:>6}  kernel", "case", "threads", "GB/s", "memcpy", "ratio");
    for case in cases(scale) {
        let plan = Plan::new(&case.src, &case.dst, Elements::same(case.bits), 0).unwrap();
        let back = Plan::new(&case.dst, &case.src, Elements::same(case.bits), 0).unwrap();
        let source: Vec<u8> = (0..plan.src_bytes() as u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8)
            .collect();
        let mut out = vec![1; plan.dst_bytes() as usize];
        let mut copy = vec![1; source.len()];
        for threads in [1, 0] {
            let (mut ours, mut memcpy) = (Vec::new(), Vec::new());
            for _ in 0..runs {
                memcpy.push(seconds(|| black_box(&mut copy).copy_from_slice(black_box(&source))));
                ours.push(seconds(|| {
                    plan.run(black_box(&source), black_box(&mut out), threads).unwrap()
                }));
            }
            let moved = (plan.src_bytes() + plan.dst_bytes()) as f64 / 1e9;
            let rate = moved / median(ours);
            let copied = 2.0 * source.len() as f64 / 1e9 / median(memcpy);
            println!(
                "{:36} {:>7} {rate:>9.2} {copied:>9.2} {:>6.2}  {}",
                case.name,
                if threads == 0 { "all".into() } else { threads.to_string() },
                rate / copied,
                plan.kernel_name()
            );
        }
        back.run(&out, &mut copy, 0).unwrap();
        assert_eq!(checksum(&copy), checksum(&source), "{}: there and back", case.name);
    }
}
