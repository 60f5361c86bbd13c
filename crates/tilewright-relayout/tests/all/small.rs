//! Tests of every small pair of layouts, at every width, against the oracle.

use crate::common::{broadcasts, check, cubes, layout, pattern};
use tilewright_core::TensorLayout;
use tilewright_relayout::{Elements, Extend, Plan};

const WIDTHS: [u32; 13] = [1, 2, 4, 8, 16, 24, 32, 40, 64, 96, 128, 192, 2048];
const CUTS: [u64; 9] = [1, 2, 5, 5, 17, 30, 64, 99, 200];
const FILL: u128 = 0x0123_4567_89AB_CDEF_1122_3344_5566_77ED;

#[test]
fn every_pair_at_every_width() {
    for (at, dst) in cubes().into_iter().enumerate() {
        for (number, src) in cubes().iter().chain(&broadcasts()).enumerate() {
            // All widths, or every other one in turn.
            let step = tilewright_testing::cases(1, 2);
            for bits in WIDTHS.into_iter().skip((at + number) % step).step_by(step) {
                check(src, &dst, Elements::same(bits), FILL, &CUTS);
            }
        }
    }
}

#[test]
fn every_packing_and_unpacking() {
    let (widths, mut number) = ([1, 2, 4, 8, 16, 32], 0);
    for dst in cubes().iter().step_by(2) {
        for src in cubes().iter().chain(&broadcasts()).step_by(3) {
            number += 1;
            for (src_bits, dst_bits) in widths.iter().flat_map(|a| widths.map(|b| (*a, b))) {
                // Both, or one in turn.
                let step = tilewright_testing::cases(1, 2);
                number += 1;
                for extend in
                    [Extend::Zero, Extend::Sign].into_iter().skip(number % step).step_by(step)
                {
                    check(src, dst, Elements { src_bits, dst_bits, extend }, FILL, &CUTS);
                }
            }
        }
    }
}

#[test]
fn one_dim_in_every_pair_of_digit_systems() {
    let mut patterns = vec![pattern(1, &[(0, 0, 0)])];
    for a in 1..=5 {
        patterns.push(pattern(1, &[(0, 0, a), (0, 1, 0)]));
        patterns.push(pattern(1, &[(0, 2, 0), (0, 0, a), (0, 1, 3)]));
    }
    for (src, dst) in patterns.iter().flat_map(|src| patterns.iter().map(move |dst| (src, dst))) {
        for extent in [0, 1, 2, 7, 12, 25] {
            let (src, dst) = (src.layout(&[extent]).unwrap(), dst.layout(&[extent]).unwrap());
            for bits in [1, 4, 16, 24] {
                check(&src, &dst, Elements::same(bits), 5, &[3, 4, 11]);
            }
        }
    }
}

#[test]
fn matrices_with_ragged_edges() {
    let tiles = [
        pattern(2, &[(0, 0, 0), (1, 0, 0)]),
        pattern(2, &[(1, 0, 0), (0, 0, 0)]),
        pattern(2, &[(1, 1, 0), (0, 1, 0), (0, 0, 4), (1, 0, 8)]),
        pattern(2, &[(0, 1, 0), (1, 1, 0), (1, 0, 16), (0, 0, 16)]),
        pattern(2, &[(0, 2, 0), (1, 1, 0), (0, 1, 4), (1, 0, 8), (0, 0, 2)]),
        pattern(2, &[(1, 1, 0), (0, 1, 0), (0, 0, 3), (1, 0, 5)]),
    ];
    for extents in [[1, 1], [1, 40], [16, 16], [37, 1], [33, 50], [70, 131]] {
        let pairs = tiles.iter().flat_map(|src| tiles.iter().map(move |dst| (src, dst)));
        for (number, (src, dst)) in pairs.enumerate() {
            let (src, dst) = (src.layout(&extents).unwrap(), dst.layout(&extents).unwrap());
            // All widths, or every third in turn.
            let step = tilewright_testing::cases(1, 3);
            for bits in [1, 4, 8, 16, 32, 48, 64, 128].into_iter().skip(number % step).step_by(step)
            {
                check(&src, &dst, Elements::same(bits), FILL, &[1, 100, 777, 778, 3000, 9000]);
            }
            let unpack = Elements { src_bits: 4, dst_bits: 16, extend: Extend::Sign };
            check(&src, &dst, unpack, FILL, &[1, 100, 777, 778, 3000]);
        }
    }
}

#[test]
fn scalars_and_empty_arrays() {
    let scalar = TensorLayout::row_major(&[]).unwrap();
    let empty = TensorLayout::row_major(&[3, 0, 2]).unwrap();
    let padded = empty.with_capacity(9).unwrap();
    for bits in WIDTHS {
        check(&scalar, &scalar, Elements::same(bits), FILL, &[1, 2]);
        check(&scalar, &layout(&[], "()", 5), Elements::same(bits), FILL, &[1, 2]);
        check(&empty, &empty, Elements::same(bits), FILL, &[]);
        check(&empty, &padded, Elements::same(bits), FILL, &[1, 2]);
    }
}

#[test]
fn strided_columns_and_reversed_rows() {
    let rows = TensorLayout::row_major(&[20, 30]).unwrap();
    let sources = [
        layout(&[20, 30], "(20,30):(120,4)", 3000),
        layout(&[20, 30], "(20,30):(5,200)", 6000),
        TensorLayout::new(
            &[20, 30],
            &tilewright_core::Layout::parse("(20,30):(-30,-1)").unwrap().with_offset(599).unwrap(),
            600,
        )
        .unwrap(),
    ];
    for src in &sources {
        for bits in [1, 4, 8, 32, 96] {
            check(src, &rows, Elements::same(bits), FILL, &[1, 50, 51, 1000]);
        }
        let pack = Elements { src_bits: 32, dst_bits: 2, extend: Extend::Zero };
        check(src, &rows, pack, FILL, &[1, 50, 51, 100]);
    }
}

#[test]
fn the_bytes_behind_the_arrays_are_left_alone() {
    let layout = TensorLayout::row_major(&[3]).unwrap();
    let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    let mut out = [9; 5];
    plan.run(&[1, 2, 3, 4, 5], &mut out, 1).unwrap();
    assert_eq!(out, [1, 2, 3, 9, 9]);
}
