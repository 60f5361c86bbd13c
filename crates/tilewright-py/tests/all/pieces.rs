//! The pieces in which tensors of files go to a device: `src/files/pieces.rs` is compiled into this program.
#![allow(clippy::single_range_in_vec_init, reason = "boxes of one dim")]

#[path = "../../src/files/pieces.rs"]
mod own;

use own::TensorBox;
use std::ops::Range;

/// Returns the number of elements of a box.
fn size(area: &[Range<u64>]) -> u64 {
    area.iter().map(|range| range.end - range.start).product()
}

/// Returns the position of a box's first element among those of `whole`, and whether its elements are contiguous there.
fn place(whole: &[Range<u64>], part: &[Range<u64>]) -> (u64, bool) {
    let (mut first, mut within) = (0, 1);
    let mut was_cut = false;
    let mut is_dense = true;
    for (all, own) in whole.iter().zip(part).rev() {
        first += (own.start - all.start) * within;
        within *= all.end - all.start;
        is_dense &= !was_cut || own.end - own.start == 1;
        was_cut |= own != all;
    }
    (first, is_dense)
}

/// Returns the largest number of bytes of a piece: that of elements or rows that cannot be cut, if it is larger.
fn bound(whole: &[Range<u64>], width: u64, most: u64) -> u64 {
    let mut uncut = 256 * width;
    for dim in 0..whole.len() {
        let row = size(&whole[dim + 1..]) * width;
        if dim + 1 < whole.len() && !row.is_multiple_of(8) {
            uncut = uncut.max(row * 8);
        }
    }
    most.max(uncut.div_ceil(8))
}

fn check(whole: &[Range<u64>], width: u64, most: u64) {
    let bytes = (size(whole) * width).div_ceil(8);
    let all = TensorBox::new(whole.to_vec(), width as u32, bytes).pieces(most);
    let mut at = 0;
    for (index, part) in all.iter().enumerate() {
        let says = format!("{part:?} of {whole:?}, {width} bits, {most} bytes");
        assert_eq!(place(whole, part), (at, true), "{says}");
        let bits = size(part) * width;
        assert!(bits.is_multiple_of(8) || index + 1 == all.len(), "{says}");
        assert!(bits.div_ceil(8) <= bound(whole, width, most), "{says}");
        at += size(part);
    }
    assert_eq!(at, size(whole), "{whole:?}");
    if bytes <= most {
        assert_eq!(all.len(), 1, "{whole:?}");
    }
}

#[test]
fn pieces_are_the_box_in_its_order() {
    let extents = [1, 2, 3, 7, 8, 64, 255, 256, 600];
    for width in [1, 2, 4, 6, 8, 16, 32] {
        for most in [1, 33, 64, 1000] {
            for a in extents {
                check(&[5..5 + a], width, most);
                for b in extents {
                    check(&[0..a, 3..3 + b], width, most);
                    for c in [1, 3, 8, 300] {
                        check(&[1..1 + c, 0..a.min(9), 3..3 + b], width, most);
                    }
                }
            }
        }
    }
}

#[test]
fn rows_beyond_the_bound_are_cut_where_they_are_whole_bytes() {
    let (most, row) = (16 << 20, 1 << 28);
    let whole = vec![0..64, 0..row];
    let all = TensorBox::new(whole.clone(), 4, 64 * row / 2).pieces(most);
    assert_eq!(all.len() as u64, 64 * row / 2 / most);
    assert!(all.iter().all(|part| size(part) / 2 <= most));
    // A row that ends within a byte stays with the next one.
    let whole = vec![0..64, 0..row + 1];
    let all = TensorBox::new(whole.clone(), 4, 32 * (row + 1)).pieces(most);
    assert!(all.iter().all(|part| part[0].end - part[0].start == 2));
}

#[test]
fn a_box_of_nothing_is_one_piece() {
    assert_eq!(TensorBox::new(vec![0..3, 4..4], 4, 0).pieces(1), [vec![0..3, 4..4]]);
    assert_eq!(TensorBox::new(Vec::new(), 32, 4).pieces(1), [Vec::<Range<u64>>::new()]);
}

#[test]
fn blocks_of_elements_are_not_cut() {
    // 256 elements are a block of 144 bytes.
    let all = TensorBox::new(vec![0..4, 0..1024], 144 * 8, 4 * 4 * 144).pieces(300);
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|part| size(part) == 512));
}
