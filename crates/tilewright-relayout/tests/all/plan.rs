//! Tests of plans: refusals, printed texts, and the needs of chunks of large arrays.

use crate::common::{layout, naive, noise, pattern, run_chunk};
use tilewright_core::{Fractal, Layout, Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Extend, Plan, Program};

fn row(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn col(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

#[test]
fn short_buffers_are_refused_before_a_byte_is_written() {
    let plan = Plan::new(&row(&[4, 6]), &col(&[4, 6]), Elements::same(4), 0).unwrap();
    for (src, dst) in [(11, 12), (12, 11), (0, 0)] {
        let mut out = vec![7; dst];
        assert!(plan.run(&vec![1; src], &mut out, 1).unwrap_err().is_buffer());
        assert!(out.iter().all(|&byte| byte == 7));
    }
    for (range, out) in [(0..5, 4), (0..13, 13), (3..3, 1)] {
        let mut out = vec![7; out];
        assert!(plan.run_range(range, &[0; 12], &mut out).unwrap_err().is_buffer());
        assert!(out.iter().all(|&byte| byte == 7));
    }
    assert!(plan.chunk(0..13).unwrap_err().is_buffer());
    let chunk = plan.chunk(2..9).unwrap();
    let mut out = [7; 7];
    assert!(chunk.run(&vec![0; chunk.buffer_len() - 1], &mut out, 1).unwrap_err().is_buffer());
    assert!(chunk.run(&vec![0; chunk.buffer_len()], &mut out[1..], 1).unwrap_err().is_buffer());
    assert_eq!(out, [7; 7]);
}

#[test]
fn what_no_plan_is_made_for() {
    let new = |src: &TensorLayout, dst: &TensorLayout| Plan::new(src, dst, Elements::same(32), 0);
    let square = row(&[4, 4]);
    assert!(new(&square, &row(&[4, 5])).unwrap_err().is_mismatch());
    assert!(new(&square, &row(&[16])).unwrap_err().is_mismatch());
    assert!(new(&square, &layout(&[4, 4], "(4,4):(1,1)", 7)).unwrap_err().is_unsupported());
    let negative = layout(&[4, 4], "(4,4):(-4,1)", 16);
    assert!(new(&square, &negative).unwrap_err().is_unsupported());
    assert!(new(&negative, &square).unwrap_err().is_unsupported());
    let cube = [50, 50, 50];
    let hard = layout(&cube, "(50,50,50):(10007,10009,10037)", 2_000_000);
    let error = new(&row(&cube), &hard).unwrap_err();
    assert!(error.is_undecided(), "{error}");
    let huge = row(&[1 << 61]);
    assert!(new(&huge, &huge).unwrap_err().is_overflow());
    let bits = Elements::same(4);
    assert!(Plan::new(&huge, &huge, bits, 0).is_err_and(|error| error.is_overflow()));
    for (src_bits, dst_bits) in [(0, 0), (3, 3), (12, 12), (2056, 2056), (8, 24), (64, 32)] {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Zero };
        let error = Plan::new(&square, &square, elements, 0).unwrap_err();
        assert!(error.is_unsupported(), "{error}");
    }
}

#[test]
fn spans_near_the_limit_are_errors_or_plans_and_no_overflow() {
    // The reads of a chunk of 2⁶² bytes are more than a buffer holds.
    let huge = row(&[1 << 62]);
    let plan = Plan::new(&huge, &huge, Elements::same(8), 0).unwrap();
    assert!(plan.chunk(0..1 << 62).unwrap_err().is_overflow());
    // Strides whose product with an extent exceeds 2⁶³.
    let far = layout(&[2, 2], "(2,2):(1,4611686018427387904)", (1 << 62) + 2);
    assert_eq!(Plan::new(&far, &row(&[2, 2]), Elements::same(8), 0).unwrap().dst_bytes(), 4);
}

#[test]
fn a_part_of_a_large_array_is_planned_for_what_it_moves() {
    let (src, dst) = (row(&[64, 64]), row(&[1 << 15, 1 << 15]));
    let part = Program::of_part((&src, &[0, 0]), (&dst, &[100, 100]), &[64, 64], Elements::same(8));
    let plan = Plan::of(part.unwrap());
    assert!(!plan.to_string().contains("past the caches"), "{plan}");
    assert!(plan.shared(2).to_string().contains("one thread"), "{}", plan.shared(2));
}

#[test]
fn plans_are_values() {
    fn value<T: Clone + Send + Sync + 'static>(_: &T) {}
    let plan = Plan::new(&row(&[8]), &row(&[8]), Elements::same(8), 0).unwrap();
    value(&plan);
    value(&plan.chunk(0..8).unwrap());
}

/// The name that a plan prints, if it is the only kernel that the plan has run.
fn ran(src: &TensorLayout, dst: &TensorLayout, elements: Elements) -> String {
    let plan = Plan::new(src, dst, elements, 0).unwrap();
    let source = vec![1; plan.src_bytes() as usize];
    for threads in [1, 2] {
        plan.run(&source, &mut vec![0; plan.dst_bytes() as usize], threads).unwrap();
    }
    let (name, runs) = (plan.kernel_name(), plan.ways_run());
    assert!(runs.iter().all(|(way, _)| *way == name), "{name}: {runs:?}");
    assert!(!runs.is_empty() || name == "fill", "{name}");
    name
}

#[test]
fn a_plan_runs_what_it_prints() {
    let same = |src: &TensorLayout, dst: &TensorLayout, bits| ran(src, dst, Elements::same(bits));
    let extents = [128, 256];
    assert_eq!(same(&row(&extents), &row(&extents), 32), "copy");
    assert_eq!(same(&row(&extents), &row(&extents), 1), "copy");
    assert_eq!(same(&row(&extents), &col(&extents), 32), "transpose 4B");
    assert_eq!(same(&row(&extents), &col(&extents), 4), "transpose 4b");
    let tiles = pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, 8), (1, 0, 128)]);
    assert_eq!(same(&row(&extents), &tiles.layout(&extents).unwrap(), 16), "rows");
    let zn = Fractal::ZN.pattern(16, 16).layout(&extents).unwrap();
    assert_eq!(same(&row(&extents), &zn, 16), "transpose 32B");
    assert_eq!(same(&row(&[0]), &row(&[0]), 16), "fill");
    // Loops and runs too small for registers.
    assert_eq!(same(&row(&[3, 5]), &col(&[3, 5]), 32), "blocks 4B");
    assert_eq!(same(&layout(&[40], "(40):(9)", 360), &row(&[40]), 16), "gather 2B");
    let nibbles = Elements { src_bits: 4, dst_bits: 16, extend: Extend::Sign };
    assert_eq!(ran(&row(&[40]), &row(&[40]), nibbles), "gather 4b to 16b");
    // Four channels of bytes move as one element of four bytes.
    let (nhwc, blocks) = (row(&[16, 32, 4]), layout(&[16, 32, 4], "(16,32,4):(4,64,1)", 2048));
    assert_eq!(same(&nhwc, &blocks, 8), "transpose 4B");
}

/// Only some machines have registers that pick bytes from a table.
#[test]
fn picks_are_called_so_where_the_machine_has_them() {
    let channels = |dst: &TensorLayout| ran(&row(&[64, 3, 100]), dst, Elements::same(32));
    let nhwc = layout(&[64, 3, 100], "(64,3,100):(300,1,3)", 19_200);
    assert!(["interleave 3 rows of 4B", "blocks 4B"].contains(&channels(&nhwc).as_str()));
    let every = ran(&layout(&[1280], "(1280):(2)", 2560), &row(&[1280]), Elements::same(16));
    assert!(["strided pack of every 2nd 2B", "gather 2B"].contains(&every.as_str()), "{every}");
    let nibbles = Elements { src_bits: 4, dst_bits: 8, extend: Extend::Sign };
    let unpacked = ran(&row(&[1000]), &row(&[1000]), nibbles);
    assert!(["unpack 4b to 8b", "gather 4b to 8b"].contains(&unpacked.as_str()), "{unpacked}");
}

#[test]
fn a_plan_prints_its_loops() {
    let zn = Fractal::ZN.pattern(16, 16).layout(&[32, 64]).unwrap();
    let plan = Plan::new(&row(&[32, 64]), &zn, Elements::same(16), 0).unwrap();
    let text = plan.to_string();
    for part in [
        "[32, 64]: 16 bits, 4096 bytes to 4096 bytes, 0 of 2048 elements padding",
        // The choice of registers depends on the machine.
        "transpose 32B",
        "runs of 32 bytes",
        "4× source 32, destination 1024",
        "32× source 128, destination 32",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn chunks_of_arrays_too_large_to_allocate_stay_small() {
    let extents = [3_000_000, 1_000_000];
    let zn = |m, n| Fractal::ZN.pattern(m, n).layout(&extents).unwrap();
    let pairs = [
        (row(&extents), col(&extents)),
        (row(&extents), zn(16, 16)),
        (zn(16, 16), row(&extents)),
        (zn(16, 8), zn(8, 32)),
        (col(&extents), zn(16, 16)),
    ];
    for (src, dst) in &pairs {
        for bits in [8, 16, 32] {
            let plan = Plan::new(src, dst, Elements::same(bits), 0).unwrap();
            for len in [1 << 12, 1 << 20, 1 << 26] {
                for start in [0, 12_345_678_901, plan.dst_bytes() - len] {
                    let chunk = plan.chunk(start..start + len).unwrap();
                    let buffer = chunk.buffer_len() as u64;
                    assert!(buffer <= 4 * len, "{plan} {start} {len}: {buffer}");
                }
            }
        }
    }
}

#[test]
fn ranges_cut_between_columns_and_reads_are_long() {
    let extents = [40_000, 100_000];
    let plan = Plan::new(&row(&extents), &col(&extents), Elements::same(32), 0).unwrap();
    let ranges: Vec<_> = plan.ranges(64 << 20).collect();
    assert_eq!(ranges.first().unwrap().start, 0);
    assert_eq!(ranges.last().unwrap().end, plan.dst_bytes());
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    let chunk = plan.chunk(ranges[1].clone()).unwrap();
    let (mut reads, mut bytes) = (0, 0);
    for read in chunk.reads() {
        assert!(read.len >= 1024);
        (reads, bytes) = (reads + 1, bytes + read.len as u64);
    }
    assert_eq!((reads, bytes), (40_000, ranges[1].end - ranges[1].start));
    // A range that cuts columns reads their rows in one piece too.
    let chunk = plan.chunk(1_000_000..65_000_000).unwrap();
    assert!(chunk.reads().all(|read| read.len >= 1024));
}

#[test]
fn many_threads_give_the_bytes_of_one() {
    let extents = [301, 517];
    let tiles = pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, 8), (1, 0, 128)]);
    let uneven = pattern(2, &[(1, 1, 0), (0, 1, 0), (0, 0, 7), (1, 0, 24)]);
    let dsts = [col(&extents), tiles.layout(&extents).unwrap(), uneven.layout(&extents).unwrap()];
    let srcs = [row(&extents), tiles.layout(&extents).unwrap()];
    for (src, dst) in srcs.iter().flat_map(|src| dsts.iter().map(move |dst| (src, dst))) {
        for elements in [1, 4, 8, 16, 24, 64].map(Elements::same).into_iter().chain([Elements {
            src_bits: 2,
            dst_bits: 16,
            extend: Extend::Sign,
        }]) {
            let plan = Plan::new(src, dst, elements, 0x1234).unwrap();
            let bytes = noise(plan.src_bytes() as usize, 3);
            let expected = naive(src, dst, elements, 0x1234, &bytes);
            for threads in [0, 1, 2, 3] {
                let mut out = vec![0xFF; expected.len()];
                plan.run(&bytes, &mut out, threads).unwrap();
                assert!(out == expected, "{plan} {threads}");
            }
            let all = plan.dst_bytes();
            for range in [0..all, 1..all, 333..all - 1] {
                let chunk = plan.chunk(range.clone()).unwrap();
                let out = run_chunk(&chunk, &bytes, 3, 0xEE);
                assert!(out == expected[range.start as usize..range.end as usize], "{plan}");
            }
        }
    }
}

#[test]
fn boxes_without_number_are_no_trouble() {
    // Each of 16 dims of 3 in digits of 2: 2^16 boxes, none of which is kept.
    let modes = vec!["(2,2)"; 16].join(",");
    let strides: Vec<String> =
        (0..16).map(|i| format!("({},{})", 1u64 << (2 * i + 1), 1u64 << (2 * i))).collect();
    let text = format!("({modes}):({})", strides.join(","));
    let dst = TensorLayout::new(&[3; 16], &Layout::parse(&text).unwrap(), 1 << 32).unwrap();
    let plan = Plan::new(&row(&[3; 16]), &dst, Elements::same(8), 0).unwrap();
    assert_eq!(plan.kernel_name(), "tables");
}

/// A plan of many boxes whose chunk is cut among threads.
#[test]
fn a_chunk_of_a_plan_without_boxes_is_the_same_on_any_number_of_threads() {
    let extents = [4200, 4, 3];
    let of = |text: &str| layout(&extents, text, 4200 * 12);
    let (src, dst) = (of("((3,1400),4,3):((1,36),3,12)"), of("((4,1050),4,3):((1,48),4,16)"));
    let pairs = [(src.clone(), dst), (src, swizzled(&extents))];
    for (src, dst) in &pairs {
        let plan = Plan::new(src, dst, Elements::same(8), 7).unwrap().with_min_range(100);
        assert_eq!(plan.kernel_name(), "tables");
        let bytes = noise(plan.src_bytes() as usize, 5);
        let expected = naive(src, dst, Elements::same(8), 7, &bytes);
        for range in [0..plan.dst_bytes(), 1234..31_000, 11_111..11_200] {
            let chunk = plan.chunk(range.clone()).unwrap();
            for threads in [1, 2, 3, 16] {
                let out = run_chunk(&chunk, &bytes, threads, 0xEE);
                assert!(out == expected[range.start as usize..range.end as usize], "{plan}");
            }
        }
    }
}

fn swizzled(extents: &[u64]) -> TensorLayout {
    let swizzle = Swizzle::new(2, 1, 3).unwrap();
    let layout = col(extents).layout().with_swizzle(swizzle).unwrap();
    TensorLayout::new(extents, &layout, layout.cosize() as u64).unwrap()
}
