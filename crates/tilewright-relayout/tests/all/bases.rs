//! Tests of arrays too large for the caches, at addresses that are not aligned to lines or pages.

use tilewright_core::{Digit, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Plan, Program};

/// Bytes that do not repeat soon.
fn filled(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn naive(src: &TensorLayout, dst: &TensorLayout, width: usize, source: &[u8]) -> Vec<u8> {
    let mut out = vec![0; dst.capacity() as usize * width];
    for index in 0..src.size() {
        let from = src.offset_of(index).unwrap() as usize * width;
        let to = dst.offset_of(index).unwrap() as usize * width;
        out[to..to + width].copy_from_slice(&source[from..from + width]);
    }
    out
}

#[test]
fn every_base_of_a_large_array() {
    let extents = [1088, 1280];
    let row = TensorLayout::row_major(&extents).unwrap();
    let column = TensorLayout::col_major(&extents).unwrap();
    let pairs = [Digit::rest(0, 2), Digit::rest(1, 1), Digit::fixed(0, 1, 4)];
    let pairs = [&pairs[..], &[Digit::fixed(1, 0, 128), Digit::fixed(0, 0, 2)]].concat();
    let pairs = Pattern::new(2, &pairs).unwrap().layout(&extents).unwrap();
    let source = filled(row.size() as usize * 8 + 64);
    for (dst, widths) in [(&column, &[4, 8][..]), (&pairs, &[4, 8])] {
        for (src, dst) in [(&row, dst), (dst, &row)] {
            for &width in widths {
                let plan = Plan::new(src, dst, Elements::same(8 * width as u32), 0).unwrap();
                let expected = naive(src, dst, width, &source[3..]);
                let mut out = vec![0; expected.len() + 128];
                // All bases with one thread and with two, or in turn.
                let step = tilewright_testing::cases(1, 2);
                for (at, base) in [0, 16, 4, 33, 60].into_iter().enumerate() {
                    for threads in [1, 2].into_iter().skip(at % step).step_by(step) {
                        out.fill(0xA5);
                        let to = &mut out[base..][..expected.len()];
                        plan.run(&source[3..], to, threads).unwrap();
                        assert!(to == expected, "base {base}, {threads} threads: {plan}");
                        let (before, behind) = (&out[..base], &out[base + expected.len()..]);
                        assert!(before.iter().chain(behind).all(|byte| *byte == 0xA5));
                    }
                }
            }
        }
    }
}

#[test]
fn threads_share_what_has_one_block_along_the_outermost_loop() {
    let extents = [40, 60, 9, 52];
    let src = TensorLayout::row_major(&extents).unwrap();
    let dst = TensorLayout::col_major(&extents).unwrap();
    let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    let source = filled(plan.src_bytes() as usize + 3);
    let expected = naive(&src, &dst, 4, &source[3..]);
    let mut out = vec![0; expected.len() + 128];
    for base in [0, 16, 33] {
        for threads in [1, 2, 3, 8, 0] {
            out.fill(0xA5);
            let to = &mut out[base..][..expected.len()];
            plan.run(&source[3..], to, threads).unwrap();
            assert!(to == expected, "base {base}, {threads} threads: {plan}");
            let (before, behind) = (&out[..base], &out[base + expected.len()..]);
            assert!(before.iter().chain(behind).all(|byte| *byte == 0xA5));
        }
    }
}

#[test]
fn ranges_shorter_than_the_blocks_of_the_whole_go_in_two_hops_as_well() {
    let layout = tilewright_core::Layout::parse("(3000,960):(1920,2)").unwrap();
    let src = TensorLayout::of(&layout);
    let dst = TensorLayout::col_major(&[3000, 960]).unwrap();
    let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    assert!(plan.to_string().contains("two passes") || !cfg!(target_arch = "x86_64"), "{plan}");
    let source = filled(plan.src_bytes() as usize);
    let expected = naive(&src, &dst, 4, &source);
    let mut out = vec![0xA5; expected.len()];
    for threads in [1, 2, 3] {
        out.fill(0xA5);
        plan.run(&source, &mut out, threads).unwrap();
        assert!(out == expected, "{threads} threads");
    }
    let cut = 240 * 12_000;
    let (first, rest) = out.split_at_mut(cut);
    first.fill(0xA5);
    plan.run_range(0..cut as u64, &source, first).unwrap();
    rest.fill(0xA5);
    plan.run_range(cut as u64..expected.len() as u64, &source, rest).unwrap();
    assert!(out == expected);
}

/// Inner dims of few elements are exchanged with rows of odd length: blocks of rows overlap, by more than a filling of the stage
/// has, and the last ones end anywhere.
#[test]
fn rows_of_any_length_past_the_caches() {
    let shapes =
        [[271, 4, 963], [257, 2, 955], [263, 3, 961], [129, 5, 963], [300, 7, 97], [67, 131, 33]];
    for (number, extents) in shapes.into_iter().enumerate() {
        let src = TensorLayout::row_major(&extents).unwrap();
        for order in [[0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let turned: Vec<_> = order.iter().map(|dim| Digit::rest(*dim, 0)).collect();
            let dst = Pattern::new(3, &turned).unwrap().layout(&extents).unwrap();
            for width in [1, 2, 4] {
                let elements = Elements::same(8 * width as u32);
                let program = Program::new(&src, &dst, elements, 0).unwrap();
                let plan = Plan::past_caches(program);
                let own = filled(plan.src_bytes() as usize);
                let expected = naive(&src, &dst, width, &own);
                for (from, to) in [(16, 16), (0, 2), (5, 3 + number)] {
                    // The source ends with the array.
                    let source = [&vec![0; from][..], &own].concat();
                    let mut out = vec![0xA5; expected.len() + 128];
                    plan.run(&source[from..], &mut out[to..][..expected.len()], 1).unwrap();
                    assert!(
                        out[to..][..expected.len()] == expected,
                        "{extents:?} {order:?} {plan}"
                    );
                    let (before, behind) = (&out[..to], &out[to + expected.len()..]);
                    assert!(before.iter().chain(behind).all(|byte| *byte == 0xA5));
                }
            }
        }
    }
}
