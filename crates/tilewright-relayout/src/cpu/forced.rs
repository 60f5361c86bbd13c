//! Tests of plans that find elements through tables, in threads and in chunks, against a naive loop.

use crate::{Elements, Extend, Plan};
use proptest::prelude::*;
use std::sync::Arc;
use tilewright_core::{Digit, Layout, Pattern, Step, Swizzle, TensorLayout};
use tilewright_testing::{bit, set_bit};

/// Returns the plan, forced to find its elements through tables in tiny ranges, even if there are few boxes.
fn forced(src: &TensorLayout, dst: &TensorLayout, elements: Elements) -> Plan {
    let mut plan = Plan::new(src, dst, elements, FILL).unwrap().with_min_range(3);
    Arc::make_mut(&mut plan.0).program.forget_regions();
    plan
}

const FILL: u128 = 0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210;

fn naive(src: &TensorLayout, dst: &TensorLayout, elements: Elements, source: &[u8]) -> Vec<u8> {
    let (from_bits, to_bits) = (u64::from(elements.src_bits), u64::from(elements.dst_bits));
    let mut out = vec![0; (dst.capacity() * to_bits).div_ceil(8) as usize];
    for (cell, i) in (0..dst.capacity()).flat_map(|cell| (0..to_bits).map(move |i| (cell, i))) {
        set_bit(&mut out, cell * to_bits + i, i < 128 && FILL >> i & 1 == 1);
    }
    for index in 0..src.size() {
        let from = src.offset_of(index).unwrap() as u64 * from_bits;
        let to = dst.offset_of(index).unwrap() as u64 * to_bits;
        let sign = elements.extend == Extend::Sign && bit(source, from + from_bits - 1);
        for i in 0..to_bits {
            set_bit(&mut out, to + i, if i < from_bits { bit(source, from + i) } else { sign });
        }
    }
    out
}

/// Runs a plan whole, by ranges, and by chunks that see only the bytes that they asked for.
fn check(src: &TensorLayout, dst: &TensorLayout, elements: Elements, cuts: &[u64]) {
    let plan = forced(src, dst, elements);
    let source: Vec<u8> =
        (0..plan.src_bytes() as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let expected = naive(src, dst, elements, &source);
    let what = || format!("{src:?}\n{dst:?}\n{elements:?}\n{cuts:?}");
    for threads in [1, 2] {
        let mut out = vec![0xA5; expected.len()];
        plan.run(&source, &mut out, threads).unwrap();
        assert!(out == expected, "{threads} threads: {}", what());
    }
    let mut at: Vec<u64> = cuts.iter().map(|cut| cut % (plan.dst_bytes() + 1)).collect();
    at.extend([0, plan.dst_bytes()]);
    at.sort_unstable();
    for pair in at.windows(2) {
        let (range, here) = (pair[0]..pair[1], pair[0] as usize..pair[1] as usize);
        let mut out = vec![0x5A; here.len()];
        plan.run_range(range.clone(), &source, &mut out).unwrap();
        assert!(out == expected[here.clone()], "{range:?}: {}", what());
        let chunk = plan.chunk(range.clone()).unwrap();
        let mut buffer = vec![0xEE; chunk.buffer_len()];
        for read in chunk.reads() {
            let from = read.src as usize;
            buffer[read.at..read.at + read.len].copy_from_slice(&source[from..from + read.len]);
        }
        for threads in [1, 2] {
            out.fill(0x77);
            chunk.run(&buffer, &mut out, threads).unwrap();
            assert!(out == expected[here.clone()], "{range:?} as a chunk: {}", what());
        }
    }
}

/// A layout of any kind: digits in any storage order, strides of both signs, steps, swizzles.
fn layout(extents: [u64; 3]) -> impl Strategy<Value = TensorLayout> {
    let order = Just((0..9usize).collect::<Vec<_>>()).prop_shuffle();
    let sizes = prop::array::uniform6(1u64..6);
    let pattern = (sizes, order).prop_map(move |(sizes, order)| {
        let digit = |i: usize| match i % 3 {
            2 => Digit::rest(i as u8 / 3, 2),
            level => Digit::fixed(i as u8 / 3, level as u8, sizes[i / 3 * 2 + level]),
        };
        let digits: Vec<Digit> = order.into_iter().map(digit).collect();
        Pattern::new(3, &digits).unwrap().layout(&extents).unwrap()
    });
    let swizzled = (0u8..3, 0u8..3, 2i8..4).prop_map(move |(bits, base, shift)| {
        let row = TensorLayout::row_major(&extents).unwrap();
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        let layout = row.layout().with_swizzle(swizzle).unwrap();
        TensorLayout::new(&extents, &layout, layout.cosize() as u64).unwrap()
    });
    let stepped = (0u8..3, 1u8..3, 1u64..6, 1u64..4, any::<bool>());
    let stepped = stepped.prop_map(move |(major, by, outer, inner, back)| {
        let (minor, by) = ((major + by) % 3, outer + 1);
        let steps = [
            Step::Merge { major, minor },
            Step::Split { axis: 0, by },
            Step::Split { axis: 2, by: inner },
        ];
        let mut sizes = extents.to_vec();
        sizes[usize::from(minor)] *= sizes[usize::from(major)];
        sizes.remove(usize::from(major));
        let sizes = [sizes[0].div_ceil(by), sizes[1], by.div_ceil(inner), inner];
        let mut strides = [0; 4];
        let mut all = 1;
        for i in 0..4 {
            let i = if back { i } else { 3 - i };
            strides[i] = all;
            all *= sizes[i];
        }
        let text = format!("({},{},{},{})", sizes[0], sizes[1], sizes[2], sizes[3]);
        let text = format!("{text}:({},{},{},{})", strides[0], strides[1], strides[2], strides[3]);
        TensorLayout::with_steps(&extents, &steps, &Layout::parse(&text).unwrap(), all).unwrap()
    });
    let strided = prop::array::uniform3(-4i64..5).prop_map(move |signs| {
        // Dense except for the signs and a gap, so that elements do not overlap.
        let (a, b) = (extents[2] as i64 + signs[0].abs(), extents[1] as i64);
        let strides = [a * b, a, 1].map(|stride| stride);
        let mut modes = [tilewright_core::Mode::new(1, 0); 3];
        let mut offset = 0;
        for i in 0..3 {
            let stride = if signs[i] < 0 { -strides[i] } else { strides[i] };
            modes[i] = tilewright_core::Mode::new(extents[i], stride);
            offset -= (extents[i] as i64 - 1) * stride.min(0);
        }
        TensorLayout::of(&Layout::flat(&modes).unwrap().with_offset(offset).unwrap())
    });
    prop_oneof![2 => pattern, 1 => swizzled, 2 => stepped, 1 => strided]
}

fn elements() -> impl Strategy<Value = Elements> {
    let same = prop::sample::select(vec![1, 2, 4, 8, 16, 24, 32, 64, 128, 2048]);
    let width = || prop::sample::select(vec![1, 2, 4, 8, 16, 32]);
    let extend = prop::sample::select(vec![Extend::Zero, Extend::Sign]);
    let differ = (width(), width(), extend).prop_map(|(src_bits, dst_bits, extend)| Elements {
        src_bits,
        dst_bits,
        extend,
    });
    prop_oneof![2 => same.prop_map(Elements::same), 1 => differ]
}

fn pair() -> impl Strategy<Value = (TensorLayout, TensorLayout)> {
    prop::array::uniform3(1u64..9).prop_flat_map(|extents| (layout(extents), layout(extents)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn tables_move_what_a_naive_loop_moves(
        (src, dst) in pair(),
        elements in elements(),
        cuts in prop::collection::vec(any::<u64>(), 0..4),
    ) {
        check(&src, &dst, elements, &cuts);
    }
}

/// A broadcast source, an empty one, a scalar.
#[test]
fn tables_of_degenerate_arrays() {
    let of = |extents: &[u64], text: &str, capacity| {
        TensorLayout::new(extents, &Layout::parse(text).unwrap(), capacity).unwrap()
    };
    let row = TensorLayout::row_major(&[40, 60]).unwrap();
    let tiles = of(&[40, 60], "((7,6),(9,7)):((9,441),(1,63))", 2646);
    for text in ["(40,60):(0,0)", "(40,60):(0,1)", "(40,60):(1,1)", "(40,60):(3,0)"] {
        let src = of(&[40, 60], text, 300);
        for bits in [2, 8, 32] {
            check(&src, &row, Elements::same(bits), &[77, 600, 1033]);
            check(&src, &tiles, Elements::same(bits), &[77, 600, 1033]);
        }
    }
    let empty = of(&[0, 3], "(2,3):(3,1)", 6);
    check(&empty, &of(&[0, 3], "(2,3):(1,2)", 9), Elements::same(16), &[3]);
    check(&of(&[], "()", 2), &of(&[], "()", 5), Elements::same(8), &[1, 3]);
}

/// Scattered reads that are far apart, more than their list may hold.
#[test]
fn tables_of_long_arrays_with_distant_reads() {
    let of = |text: &str, capacity| {
        TensorLayout::new(&[300, 40], &Layout::parse(text).unwrap(), capacity).unwrap()
    };
    let far = of("(300,40):(3,1000)", 41_000);
    let tiles = of("((7,43),(9,5)):((9,315),(1,63))", 13_545);
    for bits in [4, 8, 32] {
        check(&far, &tiles, Elements::same(bits), &[100, 110, 3000, 4000]);
        check(&tiles, &far, Elements::same(bits), &[100, 110, 3000, 20_000]);
    }
}
