//! Tests of plans within one buffer: against the naive, and what is refused.

use crate::common::{cubes, layout, naive, noise, pattern};
use proptest::prelude::*;
use tilewright_core::{Fractal, Layout, TensorLayout};
use tilewright_relayout::{Elements, Extend, InPlace, Plan};

const WIDTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 128, 192];
const FILL: u128 = 0x1122_3344_5566_77ED_0123_4567_89AB_CDEF;

fn row(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

/// The dims from the slowest to the fastest.
fn ordered(extents: &[u64], order: &[u64]) -> TensorLayout {
    let minor_first: Vec<u64> = order.iter().rev().copied().collect();
    TensorLayout::ordered(extents, &minor_first).unwrap()
}

fn plan(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> Plan {
    Plan::new(src, dst, Elements::same(bits), FILL).unwrap().with_min_range(7)
}

/// Checks a plan within one buffer against the naive, and that bytes after the buffer are unchanged.
fn check(plan: &Plan, in_place: &InPlace) {
    let bytes = noise(plan.src_bytes() as usize, plan.src().size() + 1);
    let expected = naive(plan.src(), plan.dst(), plan.elements(), FILL, &bytes);
    for threads in [1, 2, 5] {
        let mut buffer = bytes.clone();
        buffer.extend([0xC3; 9]);
        in_place.run(&mut buffer, threads).unwrap();
        let (moved, behind) = buffer.split_at(bytes.len());
        assert!(moved == expected, "{plan}\n{in_place}\n{threads} threads");
        assert_eq!(behind, [0xC3; 9]);
    }
}

/// Checks a plan within one buffer with different amounts of scratch; returns how many succeeded.
fn check_all(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> usize {
    let plan = plan(src, dst, bits);
    let check = |scratch: &u64| match plan.in_place_within(*scratch) {
        Ok(in_place) => {
            assert!(in_place.scratch_bytes() <= *scratch, "{in_place}");
            check(&plan, &in_place);
            true
        }
        Err(error) => {
            assert!(error.is_second_buffer(), "{error}");
            false
        }
    };
    [2, 9, 48, 200, 1000, 1 << 16].iter().filter(|scratch| check(scratch)).count()
}

#[test]
fn every_small_pair_of_one_size() {
    let cubes = cubes();
    let mut ways = 0;
    for (src, dst) in cubes.iter().flat_map(|src| cubes.iter().map(move |dst| (src, dst))) {
        for bits in [1, 4, 8, 24, 64] {
            if src.capacity() == dst.capacity() {
                ways += check_all(src, dst, bits);
            }
        }
    }
    assert!(ways > 1000);
}

#[test]
fn square_transposes_of_all_sizes() {
    for n in 1..=33 {
        let (src, dst) = (row(&[n, n]), TensorLayout::col_major(&[n, n]).unwrap());
        for bits in WIDTHS {
            let ways = check_all(&src, &dst, bits);
            // With almost no scratch, if bytes move; packed elements need a whole copy.
            assert!(ways == 6 || bits < 8 && ways >= 1, "{n} {bits}");
        }
    }
}

#[test]
fn batches_of_squares_and_squares_of_batches() {
    for (extents, order) in [
        ([5, 9, 9], [0, 2, 1]),
        ([9, 9, 5], [1, 0, 2]),
        ([9, 5, 9], [2, 1, 0]),
        ([40, 3, 3], [0, 2, 1]),
        ([3, 3, 40], [1, 0, 2]),
    ] {
        let dst = ordered(&extents, &order);
        for bits in [8, 16, 24, 64] {
            assert_eq!(check_all(&row(&extents), &dst, bits), 6, "{extents:?} {order:?}");
        }
    }
    let (extents, order) = ([4, 6, 5, 4, 6], [3, 4, 2, 0, 1]);
    let dst = ordered(&extents, &order);
    assert_eq!(check_all(&row(&extents), &dst, 16), 6);
}

#[test]
fn padding_of_swaps_is_filled() {
    for n in [1, 7, 20] {
        let src = layout(&[n, n], &format!("({n},{n}):({},1)", n + 3), n * (n + 3) + 2);
        let dst = layout(&[n, n], &format!("({n},{n}):(1,{})", n + 3), n * (n + 3) + 2);
        for bits in [8, 16, 128] {
            assert!(check_all(&src, &dst, bits) >= 4);
        }
    }
    // Every element has padding around it.
    let src = layout(&[6, 6], "(6,6):(20,3)", 130);
    let dst = layout(&[6, 6], "(6,6):(3,20)", 130);
    assert_eq!(check_all(&src, &dst, 8), 6);
}

#[test]
fn fractals_of_one_shape_swap_with_ragged_edges() {
    let fractal = |fractal: Fractal, n| fractal.pattern(16, 16).layout(&[n, n]).unwrap();
    for n in [16, 48, 50, 100] {
        for (a, b) in [(Fractal::ZN, Fractal::NZ), (Fractal::ZZ, Fractal::NN)] {
            let (a, b) = (fractal(a, n), fractal(b, n));
            assert_eq!(check_all(&a, &b, 16), 6, "{n}");
        }
    }
}

#[test]
fn shuffles_within_panels_and_pairs_of_rows() {
    let rows = row(&[64, 96]);
    // Whole row panels of 16: m1 (n1 m0 n0).
    let panels = pattern(2, &[(0, 1, 0), (1, 1, 0), (0, 0, 16), (1, 0, 8)]);
    let pairs = pattern(2, &[(0, 1, 0), (1, 0, 0), (0, 0, 2)]);
    for (pattern, closed) in [(panels, 16 * 96), (pairs, 2 * 96)] {
        let dst = pattern.layout(&[64, 96]).unwrap();
        for bits in [1, 4, 8, 16, 32] {
            let plan = plan(&rows, &dst, bits);
            let least = closed * u64::from(bits) / 8;
            check(&plan, &plan.in_place_within(least).unwrap());
            check(&plan, &plan.in_place_within(10 * least).unwrap());
            assert!(plan.in_place_within(least - 1).unwrap_err().is_second_buffer());
        }
    }
}

#[test]
fn chunks_may_begin_behind_a_header() {
    for (header, bytes) in (0..=12).flat_map(|header| [1, 2].map(|bytes| (header, bytes))) {
        let of = |text: &str, first: i64| {
            let layout = Layout::parse(text).unwrap().with_offset(header + first).unwrap();
            TensorLayout::new(&[10, 4, 3], &layout, 135).unwrap()
        };
        let (src, dst) = (of("(10,4,3):(12,3,1)", 0), of("(10,4,3):(12,-1,-4)", 11));
        let plan = plan(&src, &dst, 8 * bytes);
        let least = 12 * u64::from(bytes);
        assert!(plan.in_place_within(least - 1).unwrap_err().is_second_buffer());
        check(&plan, &plan.in_place_within(least).unwrap());
        check(&plan, &plan.in_place().unwrap());
    }
}

#[test]
fn large_arrays_among_threads() {
    for (extents, order) in [
        (vec![1021, 1021], vec![1, 0]),
        (vec![3, 400, 400], vec![0, 2, 1]),
        (vec![200, 200, 17], vec![1, 0, 2]),
        (vec![90, 7, 90], vec![2, 1, 0]),
        (vec![500, 14, 14], vec![0, 2, 1]),
    ] {
        for bits in [8, 32] {
            let (src, dst) = (row(&extents), ordered(&extents, &order));
            let plan = Plan::new(&src, &dst, Elements::same(bits), 0).unwrap();
            let bytes = noise(plan.src_bytes() as usize, 3);
            let mut expected = vec![0; bytes.len()];
            plan.run(&bytes, &mut expected, 1).unwrap();
            let in_place = plan.in_place().unwrap();
            for threads in [0, 1, 3] {
                let mut buffer = bytes.clone();
                in_place.run(&mut buffer, threads).unwrap();
                assert!(buffer == expected, "{in_place}");
            }
        }
    }
}

#[test]
fn what_needs_a_second_buffer() {
    let wide = Plan::new(
        &row(&[4]),
        &row(&[4]),
        Elements { src_bits: 4, dst_bits: 8, extend: Extend::Zero },
        0,
    );
    let error = wide.unwrap().in_place().unwrap_err();
    assert!(error.is_second_buffer());
    assert_eq!(
        error.to_string(),
        "4 elements of 4 bits become 4 of 8; in place, source and destination have the same size: run \
         the plan into a second buffer of 4 bytes"
    );
    let padded = row(&[4]).with_capacity(5).unwrap();
    assert!(plan(&row(&[4]), &padded, 8).in_place().unwrap_err().is_second_buffer());
    let columns = TensorLayout::col_major(&[3000, 5000]).unwrap();
    let error = plan(&row(&[3000, 5000]), &columns, 32).in_place().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the loop of 3000 iterations with strides 20000 to 4 bytes connects distant offsets; in place, loops \
         swap in pairs or elements stay within chunks of at most 1048576 bytes: run the plan into a \
         second buffer of 60000000 bytes"
    );
    let zn = Fractal::ZN.pattern(16, 16).layout(&[4096, 4096]).unwrap();
    assert!(plan(&row(&[4096, 4096]), &zn, 16).in_place().unwrap_err().is_second_buffer());
    let (threes, fours) =
        (pattern(1, &[(0, 0, 3), (0, 1, 0)]), pattern(1, &[(0, 0, 4), (0, 1, 0)]));
    let extents = [3 << 20];
    let tiles = plan(&threes.layout(&extents).unwrap(), &fours.layout(&extents).unwrap(), 8);
    assert!(tiles.in_place().unwrap_err().is_second_buffer());
}

#[test]
fn a_short_buffer_is_refused_before_a_byte_is_written() {
    let plan = plan(&row(&[9, 9]), &TensorLayout::col_major(&[9, 9]).unwrap(), 16);
    let mut buffer: Vec<u8> = (0..161).collect();
    let error = plan.in_place().unwrap().run(&mut buffer, 1).unwrap_err();
    assert!(error.is_buffer());
    assert_eq!(error.to_string(), "a buffer of 161 bytes is too short; the plan moves 162");
    assert!(buffer.iter().copied().eq(0..161));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_orders(
        extents in prop::collection::vec(prop::sample::select(vec![1u64, 2, 3, 3, 4, 8, 8]), 1..6),
        seed in any::<u64>(),
        bits in prop::sample::select(WIDTHS.to_vec()),
    ) {
        let order = |mut seed: u64| {
            let mut order: Vec<u64> = (0..extents.len() as u64).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, (seed % (i as u64 + 1)) as usize);
                seed /= i as u64 + 1;
            }
            ordered(&extents, &order)
        };
        check_all(&order(seed % 1000), &order(seed / 1000), bits);
    }
}
