//! Tests of every way to run a plan against a naive loop over the elements: whole, by destination ranges, and by chunks
//! that see only the source bytes they asked for, on one thread and on several.

use crate::naive::{bytes_of, filled, layouts, naive};
use proptest::prelude::*;
use tilewright_core::{Digit, Layout, Pattern, Step, TensorLayout};
use tilewright_relayout::{Elements, Extend, Plan};

const FILL: u128 = 0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210;

/// Runs a plan in every way and compares with the oracle.
fn check(src: &TensorLayout, dst: &TensorLayout, elements: Elements, cuts: &[u64]) {
    // Tiny ranges, so that small arrays are cut among threads too.
    let plan = Plan::new(src, dst, elements, FILL).unwrap().with_min_range(5);
    let source = filled(bytes_of(src.capacity(), elements.src_bits));
    let expected = naive(src, dst, elements, FILL, &source);
    assert_eq!((plan.src_bytes(), plan.dst_bytes()), (source.len() as u64, expected.len() as u64));
    let what = || format!("{src:?}\n{dst:?}\n{elements:?}\n{plan}");
    for threads in [1, 3] {
        for before in [0x00, 0xFF] {
            let mut out = vec![before; expected.len()];
            plan.run(&source, &mut out, threads).unwrap();
            assert_eq!(out, expected, "run, {threads} threads: {}", what());
        }
    }
    let (mut by_range, mut by_chunk) = (vec![0xAA; expected.len()], vec![0x55; expected.len()]);
    for range in pieces(&plan, cuts) {
        let at = range.start as usize..range.end as usize;
        plan.run_range(range.clone(), &source, &mut by_range[at.clone()]).unwrap();
        let chunk = plan.chunk(range).unwrap();
        // Bytes that are not read hold noise.
        let mut buffer = vec![0xEE; chunk.buffer_len()];
        for read in chunk.reads() {
            let from = read.src as usize;
            buffer[read.at..read.at + read.len].copy_from_slice(&source[from..from + read.len]);
        }
        chunk.run(&buffer, &mut by_chunk[at], 2).unwrap();
    }
    assert_eq!(by_range, expected, "by ranges: {}", what());
    assert_eq!(by_chunk, expected, "by chunks: {}", what());
}

/// The destination cut at these bytes, rounded to where the plan may be cut.
fn pieces(plan: &Plan, cuts: &[u64]) -> Vec<std::ops::Range<u64>> {
    let unit = u64::from(plan.elements().dst_bits.div_ceil(8));
    let total = plan.dst_bytes();
    let mut at: Vec<u64> = cuts.iter().map(|cut| cut % (total + 1) / unit * unit).collect();
    at.extend([0, total]);
    at.sort_unstable();
    at.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| pair[0]..pair[1]).collect()
}

#[test]
fn every_pair_of_layouts_of_one_array() {
    let widths = [1, 2, 4, 8, 16, 32, 64, 128, 24, 40, 96, 192];
    for (i, (m, n)) in [(7, 10), (16, 16), (3, 33), (1, 5), (0, 4), (40, 1)].into_iter().enumerate()
    {
        let all = layouts(m, n);
        for (j, src) in all.iter().enumerate() {
            for (k, dst) in all.iter().enumerate().filter(|(_, dst)| dst.injective() == Ok(true)) {
                let bits = widths[(i + j + k) % widths.len()];
                check(src, dst, Elements::same(bits), &[13, 29, 50, 90]);
                check(src, dst, Elements::same(8), &[1, 2, 3]);
            }
        }
    }
}

#[test]
fn every_width_both_ways() {
    let row = TensorLayout::row_major(&[19, 37]).unwrap();
    // All widths, or every third in turn.
    let step = tilewright_testing::cases(1, 3);
    let others = layouts(19, 37);
    let others = others.iter().filter(|layout| layout.injective() == Ok(true));
    for (number, other) in others.enumerate() {
        let widths =
            [1, 2, 4].into_iter().chain((1..=24).map(|bytes| 8 * bytes)).chain([512, 2048]);
        for bits in widths.skip(number % step).step_by(step) {
            check(&row, other, Elements::same(bits), &[100, 1000, 3333]);
            check(other, &row, Elements::same(bits), &[64, 640]);
        }
    }
}

#[test]
fn packing_and_unpacking() {
    let widths = [1, 2, 4, 8, 16, 32];
    let all = layouts(9, 14);
    for (i, src_bits) in widths.into_iter().enumerate() {
        for (j, dst_bits) in widths.into_iter().enumerate() {
            for extend in [Extend::Zero, Extend::Sign] {
                let elements = Elements { src_bits, dst_bits, extend };
                for k in 0..4 {
                    let (src, dst) = (&all[(i + k) % all.len()], &all[(j + 3 * k) % 6]);
                    check(src, dst, elements, &[5, 17, 90]);
                }
            }
        }
    }
}

#[test]
fn loops_that_are_no_powers_of_two() {
    // The weights of small kernels, blocked for vectors, and back.
    let digits = [
        Digit::rest(0, 1),
        Digit::rest(1, 2),
        Digit::rest(2, 0),
        Digit::rest(3, 0),
        Digit::fixed(1, 1, 4),
        Digit::fixed(0, 0, 16),
        Digit::fixed(1, 0, 4),
    ];
    let blocked = Pattern::new(4, &digits).unwrap();
    let sizes = [[32, 32, 3, 3], [30, 34, 3, 3], [16, 16, 1, 3], [48, 64, 5, 7]];
    for extents in sizes.into_iter().take(tilewright_testing::cases(4, 3)) {
        let (row, blocked) =
            (TensorLayout::row_major(&extents).unwrap(), blocked.layout(&extents).unwrap());
        for bits in [8, 16, 32] {
            check(&row, &blocked, Elements::same(bits), &[777, 5000]);
            check(&blocked, &row, Elements::same(bits), &[777, 5000]);
        }
    }
    // Images of odd sizes whose axes are reordered.
    let extents = [3, 16, 5, 32, 9, 7];
    for order in [[3, 1, 4, 0, 2, 5], [1, 3, 5, 4, 2, 0], [0, 5, 4, 1, 3, 2]] {
        let other = TensorLayout::ordered(&extents, &order).unwrap();
        let row = TensorLayout::row_major(&extents).unwrap();
        for bits in [8, 32] {
            check(&row, &other, Elements::same(bits), &[4321, 60_000]);
            check(&other, &row, Elements::same(bits), &[4321, 60_000]);
        }
    }
}

#[test]
fn scalars_and_arrays_of_no_elements() {
    for extents in [&[][..], &[1, 1, 1], &[0], &[3, 0, 2]] {
        let (row, col) =
            (TensorLayout::row_major(extents).unwrap(), TensorLayout::col_major(extents).unwrap());
        check(&row, &col, Elements::same(32), &[]);
    }
    // Tiles of an empty array hold nothing but fill.
    let cells = Layout::parse("(2,3):(3,1)").unwrap();
    let padded = TensorLayout::new(&[0, 3], &cells, 6).unwrap();
    check(&TensorLayout::row_major(&[0, 3]).unwrap(), &padded, Elements::same(16), &[3]);
}

#[test]
fn refusals_come_before_the_first_byte() {
    let row = TensorLayout::row_major(&[4, 6]).unwrap();
    let other = TensorLayout::row_major(&[6, 4]).unwrap();
    assert!(Plan::new(&row, &other, Elements::same(8), 0).unwrap_err().is_mismatch());
    let broadcast = TensorLayout::of(&Layout::parse("(4,6):(0,1)").unwrap());
    let refused = Plan::new(&row, &broadcast, Elements::same(8), 0).unwrap_err();
    assert!(!refused.is_undecided(), "{refused}");
    let hard = TensorLayout::of(&Layout::parse("(50,50,50):(10007,10009,10037)").unwrap());
    let dense = TensorLayout::row_major(&[50, 50, 50]).unwrap();
    assert!(Plan::new(&dense, &hard, Elements::same(8), 0).unwrap_err().is_undecided());
    assert!(Plan::new(&hard, &dense, Elements::same(8), 0).is_ok());
    let below = TensorLayout::of(&Layout::parse("(4,6):(6,-1)").unwrap());
    assert!(Plan::new(&below, &row, Elements::same(8), 0).is_err());
    let plan = Plan::new(&row, &row, Elements::same(32), 0).unwrap();
    let (source, mut out) = (vec![7; 96], vec![0x5A; 95]);
    assert!(plan.run(&source, &mut out, 1).unwrap_err().is_buffer());
    assert!(plan.run(&source[..95], &mut [0; 96], 1).unwrap_err().is_buffer());
    assert!(plan.run_range(0..97, &source, &mut [0; 97]).is_err());
    assert!(plan.run_range(8..16, &source, &mut [0; 7]).unwrap_err().is_buffer());
    assert!(plan.chunk(90..100).is_err());
    assert!(out.iter().all(|byte| *byte == 0x5A));
    let huge = TensorLayout::row_major(&[1 << 31, 1 << 31]).unwrap();
    assert!(Plan::new(&huge, &huge, Elements::same(64), 0).unwrap_err().is_overflow());
}

#[test]
fn chunks_of_large_arrays_read_little_more_than_they_write() {
    let n = 1 << 17;
    let row = TensorLayout::row_major(&[n, n]).unwrap();
    let pattern = |digits: &[Digit]| Pattern::new(2, digits).unwrap().layout(&[n, n]).unwrap();
    let zn = [Digit::rest(1, 1), Digit::rest(0, 1), Digit::fixed(0, 0, 16), Digit::fixed(1, 0, 16)];
    let tpu =
        [Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, 8), Digit::fixed(1, 0, 128)];
    for dst in [TensorLayout::col_major(&[n, n]).unwrap(), pattern(&zn), pattern(&tpu)] {
        for (src, dst) in [(&row, &dst), (&dst, &row)] {
            for bits in [8, 16, 32] {
                let plan = Plan::new(src, dst, Elements::same(bits), 0).unwrap();
                let chunk = plan.chunk(64 << 20..128 << 20).unwrap();
                assert!(chunk.buffer_len() <= 256 << 20, "{} bytes: {plan}", chunk.buffer_len());
                let reads: u64 = chunk.reads().take(1 << 20).map(|read| read.len as u64).sum();
                assert!(reads >= 64 << 20 || chunk.reads().nth(1 << 20).is_some(), "{plan}");
            }
        }
    }
}

/// A pattern of an array of three dims: digits in any storage order.
fn pattern() -> impl Strategy<Value = Pattern> {
    let sizes = prop::collection::vec((1u64..6, 1u64..4), 3);
    (sizes, Just((0..9).collect::<Vec<usize>>()).prop_shuffle()).prop_map(|(sizes, order)| {
        let digit = |i: usize| {
            let (axis, level) = (i / 3, i % 3);
            match level {
                0 => Digit::fixed(axis as u8, 0, sizes[axis].0),
                1 => Digit::fixed(axis as u8, 1, sizes[axis].1),
                _ => Digit::rest(axis as u8, 2),
            }
        };
        Pattern::new(3, &order.into_iter().map(digit).collect::<Vec<_>>()).unwrap()
    })
}

fn width() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(1),
        Just(2),
        Just(4),
        Just(8),
        Just(16),
        Just(24),
        Just(32),
        Just(64),
        Just(128)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_patterns(
        (a, b) in (pattern(), pattern()),
        extents in prop::array::uniform3(0u64..14),
        bits in width(),
        cuts in prop::collection::vec(any::<u64>(), 0..4),
    ) {
        let (src, dst) = (a.layout(&extents).unwrap(), b.layout(&extents).unwrap());
        check(&src, &dst, Elements::same(bits), &cuts);
    }

    #[test]
    fn there_and_back_is_the_identity(
        (a, b) in (pattern(), pattern()),
        extents in prop::array::uniform3(1u64..20),
        bits in width(),
    ) {
        let (src, dst) = (a.layout(&extents).unwrap(), b.layout(&extents).unwrap());
        let elements = Elements::same(bits);
        let there = Plan::new(&src, &dst, elements, 0).unwrap();
        let back = Plan::new(&dst, &src, elements, 0).unwrap();
        // A source whose padding is zero already.
        let canonical = Plan::new(&src, &src, elements, 0).unwrap();
        let mut source = vec![0; there.src_bytes() as usize];
        canonical.run(&filled(source.len()), &mut source, 1).unwrap();
        let (mut packed, mut again) = (vec![0; there.dst_bytes() as usize], vec![1; source.len()]);
        there.run(&source, &mut packed, 2).unwrap();
        back.run(&packed, &mut again, 2).unwrap();
        prop_assert_eq!(again, source);
    }

    #[test]
    fn random_strides_and_steps(
        strides in prop::array::uniform3(-30i64..60),
        extents in prop::array::uniform3(1u64..7),
        by in 1u64..6,
        bits in width(),
    ) {
        let modes = [0, 1, 2].map(|i| tilewright_core::Mode::new(extents[i], strides[i]));
        let reach: i64 = (0..3).map(|i| (extents[i] as i64 - 1) * strides[i].min(0)).sum();
        let strided = Layout::flat(&modes).unwrap().with_offset(5 - reach).unwrap();
        let strided = TensorLayout::of(&strided);
        let merged = extents[1] * extents[2];
        let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by }];
        let outer = merged.div_ceil(by);
        let text = format!("({},{outer},{by}):({},{},1)", extents[0], outer * by, by);
        let stepped = TensorLayout::with_steps(&extents, &steps, &Layout::parse(&text).unwrap(), extents[0] * outer * by).unwrap();
        check(&strided, &stepped, Elements::same(bits), &[7, 40]);
        if strided.injective() == Ok(true) {
            check(&stepped, &strided, Elements::same(bits), &[11, 60]);
        }
    }
}
