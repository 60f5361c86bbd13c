//! Tests of layouts under matrices of bits: moved whole, in chunks, in parts and within one buffer, against the oracle.

use crate::common::{naive, noise, run_chunk};
use tilewright_core::{Layout, Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Plan, Program};

/// Numbers that do not repeat soon.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    /// An invertible matrix of this many bits, made by additions and exchanges of columns.
    fn matrix(&mut self, bits: usize) -> Vec<u64> {
        let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        for _ in 0..self.below(4) * bits as u64 {
            let (a, b) = (self.below(bits as u64) as usize, self.below(bits as u64) as usize);
            if a < b {
                columns.swap(a, b);
            } else if a > b {
                let add = columns[b];
                columns[a] ^= add;
            }
        }
        columns
    }

    /// A layout of an array of these extents under a matrix of its bits.
    fn layout(&mut self, extents: &[u64]) -> TensorLayout {
        let order: Vec<u64> = match self.below(2) {
            0 => (0..extents.len() as u64).collect(),
            _ => (0..extents.len() as u64).rev().collect(),
        };
        let plain = TensorLayout::ordered(extents, &order).unwrap();
        let bits = extents.iter().map(|n| n.trailing_zeros() as usize).sum();
        under(&plain, &self.matrix(bits))
    }
}

fn under(plain: &TensorLayout, images: &[u64]) -> TensorLayout {
    let swizzle = Swizzle::of_images(images).unwrap();
    TensorLayout::of(&plain.layout().with_swizzle(swizzle).unwrap())
}

fn check(src: &TensorLayout, dst: &TensorLayout, bits: u32) {
    let plan = Plan::new(src, dst, Elements::same(bits), 0).unwrap();
    let bytes = noise(plan.src_bytes() as usize, src.size() + u64::from(bits));
    let expected = naive(src, dst, Elements::same(bits), 0, &bytes);
    for threads in [1, 3] {
        let mut out = vec![0xA5; expected.len()];
        plan.run(&bytes, &mut out, threads).unwrap();
        assert!(out == expected, "{plan}");
    }
    let size = (plan.dst_bytes() / 3).max(1);
    let chunks: Vec<u8> = plan
        .ranges(size)
        .flat_map(|range| run_chunk(&plan.chunk(range).unwrap(), &bytes, 2, 0x5A))
        .collect();
    assert!(chunks == expected, "{plan}");
    if let Ok(in_place) = plan.in_place_within(1 << 16) {
        let mut buffer = bytes.clone();
        in_place.run(&mut buffer, 2).unwrap();
        assert!(buffer == expected, "{in_place}");
    }
}

#[test]
fn every_matrix_of_three_bits_and_back() {
    let row = TensorLayout::row_major(&[2, 4]).unwrap();
    let mut count = 0;
    for code in 0..512u64 {
        let images = [code & 7, code >> 3 & 7, code >> 6];
        let Ok(swizzle) = Swizzle::of_images(&images) else { continue };
        let swizzled = TensorLayout::of(&row.layout().with_swizzle(swizzle).unwrap());
        for bits in [4, 8, 32] {
            check(&row, &swizzled, bits);
            check(&swizzled, &row, bits);
        }
        count += 1;
    }
    assert_eq!(count, 168);
}

#[test]
fn random_matrices_of_twelve_bits_and_fewer() {
    let mut dice = Dice(0x1234_5678_9ABC_DEF1);
    for round in 0..150 {
        let (a, b, c) = (dice.below(5), dice.below(5), dice.below(5));
        let extents = [1 << a, 1 << b, 1 << c];
        let (src, dst) = (dice.layout(&extents), dice.layout(&extents));
        check(&src, &dst, [1, 4, 8, 16, 32, 64, 128][round % 7]);
        // The same layout on both sides is one copy.
        let plan = Plan::new(&src, &src, Elements::same(8), 0).unwrap();
        let regions = plan.program().regions().map(<[_]>::len);
        assert_eq!(regions, Some(1), "{plan}");
    }
}

#[test]
fn parts_batches_and_padding_under_a_matrix() {
    let mut dice = Dice(0x0FED_CBA9_8765_4321);
    for _ in 0..60 {
        let extents = [8, 16];
        let (src, dst) = (dice.layout(&extents), dice.layout(&extents));
        let (r, c) = (dice.below(8), dice.below(16));
        let part = [1 + dice.below(8 - r), 1 + dice.below(16 - c)];
        let program =
            Program::of_part((&src, &[r, c]), (&dst, &[0, 0]), &part, Elements::same(16)).unwrap();
        let bytes = noise(256, r + c);
        let mut out = vec![0xEE; 256];
        let mut expected = out.clone();
        Plan::of(program).run(&bytes, &mut out, 2).unwrap();
        for (i, j) in (0..part[0]).flat_map(|i| (0..part[1]).map(move |j| (i, j))) {
            let from = 2 * src.offset(&[r + i, c + j]).unwrap() as usize;
            let to = 2 * dst.offset(&[i, j]).unwrap() as usize;
            expected[to..to + 2].copy_from_slice(&bytes[from..from + 2]);
        }
        assert!(out == expected, "{src:?} {dst:?} {part:?}");
    }
    // A batch of 3, whose matrices act within each, and rows that are padded.
    let batch = Layout::parse("F2<1,3,7,15,31,32,66> o (3,8,16):(128,16,1)").unwrap();
    let padded = Layout::parse("F2<2,1,4,8,48,33> o (3,8,16):(256,32,1)").unwrap();
    let row = TensorLayout::row_major(&[3, 7, 13]).unwrap();
    let [batch, padded] = [batch, padded]
        .map(|layout| TensorLayout::new(&[3, 7, 13], &layout, layout.cosize() as u64).unwrap());
    for (src, dst) in [(&row, &batch), (&batch, &row), (&batch, &padded), (&padded, &batch)] {
        for bits in [4, 16] {
            check(src, dst, bits);
        }
    }
}

/// Arrays too large for regions, and a matrix that mixes the highest bits with the lowest.
#[test]
fn a_large_array_under_a_dense_matrix() {
    let mut dice = Dice(0x7777_1234_5678_9ABC);
    let row = TensorLayout::row_major(&[512, 256]).unwrap();
    for round in 0..3 {
        let dense = under(&row, &dice.matrix(17));
        for (src, dst) in [(&row, &dense), (&dense, &row)] {
            let plan = Plan::new(src, dst, Elements::same(16), 0).unwrap();
            let bytes = noise(plan.src_bytes() as usize, round);
            let expected = naive(src, dst, Elements::same(16), 0, &bytes);
            let mut out = vec![0; expected.len()];
            plan.run(&bytes, &mut out, 2).unwrap();
            assert!(out == expected, "{plan}");
            let whole: u64 =
                plan.program().source_ranges().map(|range| range.end - range.start).sum();
            assert_eq!(whole, plan.src_bytes());
        }
    }
}
