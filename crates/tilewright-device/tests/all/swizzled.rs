//! Swizzled arrays: one kernel for each pair, exact, with the sectors of the pair without swizzles.

use crate::host::batch::{Batch, Done, has_no_findings};
use tilewright_core::{Layout, Swizzle, TensorLayout};
use tilewright_device::{Alignment, DevicePlan, Way};
use tilewright_relayout::{Elements, Program};

const FILL: u128 = 0x1234_5678_9ABC_DEF1;

/// Returns CuTe's swizzles of at most three bits, with a base and a distance of at most four.
fn family() -> Vec<Swizzle> {
    let bits = (1..=3u8).flat_map(|bits| (0..=4u8).map(move |base| (bits, base)));
    let all = bits.flat_map(|(bits, base)| (-4..=4i8).map(move |shift| (bits, base, shift)));
    all.filter_map(|(bits, base, shift)| Swizzle::new(bits, base, shift).ok()).collect()
}

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

fn under(side: &TensorLayout, swizzle: Swizzle) -> TensorLayout {
    TensorLayout::of(&side.layout().with_swizzle(swizzle).unwrap())
}

fn moved(src: &TensorLayout, dst: &TensorLayout, bits: u32) -> Program {
    Program::new(src, dst, Elements::same(bits), FILL).unwrap()
}

/// Returns the number of kernels that move elements.
fn movers(plan: &DevicePlan) -> usize {
    plan.kernels().iter().filter(|kernel| kernel.way() != Way::Fill).count()
}

/// Every swizzle, or every fourth, over small arrays of powers of two has one kernel, for any other side.
#[test]
fn one_kernel_moves_them() {
    let (swizzles, step) = (family(), tilewright_testing::cases(1, 4));
    let mut pairs = 0;
    for (number, swizzle) in swizzles.iter().enumerate().step_by(step) {
        for (a, b) in [(0, 5), (2, 3), (4, 4), (6, 3), (3, 7)] {
            let extents = [1 << a, 1 << b];
            for side in [rows(&extents), columns(&extents)] {
                let other = under(&columns(&extents), swizzles[(number * 7 + 3) % swizzles.len()]);
                let swizzled = under(&side, *swizzle);
                for (src, dst) in [
                    (&rows(&extents), &swizzled),
                    (&swizzled, &rows(&extents)),
                    (&swizzled, &other),
                ] {
                    for bits in [8, 16, 32] {
                        let program = moved(src, dst, bits);
                        let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
                        assert_eq!(movers(&plan), 1, "{src:?} {dst:?}\n{}", plan.listing());
                        pairs += 1;
                    }
                }
            }
        }
    }
    assert!(pairs * step > 5000, "{pairs}");
}

/// The pairs on the simulator: each swizzle, or every fourth, with each width and direction, over arrays that
/// alternate.
#[test]
fn small_arrays_are_exact() {
    let swizzles = family();
    let shapes = [[8, 16], [16, 64], [64, 8], [4, 128], [32, 32]];
    let mut batch = Batch::default();
    for (number, swizzle) in swizzles.iter().enumerate().step_by(tilewright_testing::cases(1, 4)) {
        let other = swizzles[(number * 31 + 11) % swizzles.len()];
        for (turn, bits) in [8, 16, 32].into_iter().enumerate() {
            let extents = shapes[(number + turn) % shapes.len()];
            let (plain, turned) = (rows(&extents), columns(&extents));
            let swizzled = under(if number % 3 == 0 { &turned } else { &plain }, *swizzle);
            let program = match (number + turn) % 3 {
                0 => moved(&plain, &swizzled, bits),
                1 => moved(&swizzled, &plain, bits),
                _ => moved(&swizzled, &under(&turned, other), bits),
            };
            let _ =
                batch.add(&format!("{swizzle} of {bits}, {turn}"), &program, Alignment::default());
        }
    }
    println!("{} texts", batch.texts().len());
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}

/// Vectors of 16 bytes stay whole: copies and transposes touch no sector twice, and have no bank conflicts.
#[test]
fn whole_vectors_waste_no_traffic() {
    let mut batch = Batch::default();
    for (bits, extents) in [(16, [256, 128]), (32, [128, 256])] {
        let base = (128u32 / bits).trailing_zeros() as u8;
        for (count, shift) in [(1, 3), (2, 3), (3, 3), (3, 4), (1, 1), (2, 2)] {
            let swizzle = Swizzle::new(count, base, shift).unwrap();
            let (plain, turned) = (rows(&extents), columns(&extents));
            let swizzled = under(&plain, swizzle);
            for (name, src, dst) in [
                ("to", &plain, &swizzled),
                ("from", &swizzled, &plain),
                ("turned to", &turned, &swizzled),
                ("turned from", &swizzled, &turned),
                ("between", &swizzled, &under(&turned, swizzle)),
            ] {
                let name = format!("{name} {swizzle} of {bits}");
                let _ = batch.add(&name, &moved(src, dst, bits), Alignment::default());
            }
        }
    }
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
    for Done { answer, ways, .. } in &done {
        assert!(matches!(ways[..], [Way::Rows | Way::Transpose]), "{}: {ways:?}", answer.plan);
        let ratios = [answer.load, answer.store, answer.read, answer.write].map(|one| one.ratio());
        println!("{ratios:.3?} {ways:?} {}", answer.plan);
        assert!(ratios[0] <= 1.01 && ratios[1] <= 1.01, "{}: {ratios:.3?}", answer.plan);
        assert!(ratios[2] <= 1.0 && ratios[3] <= 1.0, "{}: {ratios:.3?}", answer.plan);
    }
}

/// Other loops around the swizzled ones, gaps, capacity beyond them, parts, matrices, and any alignment.
#[test]
fn all_around_them_is_exact() {
    let mut batch = Batch::default();
    let swizzle = Swizzle::new(3, 3, 3).unwrap();
    let matrices: [&[u64]; 4] = [
        &[1, 2, 4, 8 + 64, 16 + 128, 32 + 8, 64 + 16, 128 + 32 + 8],
        &[2, 4, 1 + 8, 8, 16, 32 + 1],
        &[1, 2, 4, 16, 32, 8 + 16, 64 + 8, 128],
        &[1 + 512, 2, 4 + 8, 8, 16, 32 + 64, 64, 128 + 1, 256, 512],
    ];
    let matrices = matrices.map(|images| Swizzle::of_images(images).unwrap());
    let ats = [(0, 0), (8, 0), (0, 4), (3, 6), (16 - 1, 2)];
    let at = |number: usize| {
        let (src, dst) = ats[number % ats.len()];
        Alignment::new(src, dst).unwrap()
    };
    let maps = [&swizzle].into_iter().chain(&matrices).take(tilewright_testing::cases(5, 2));
    for (number, map) in maps.enumerate() {
        let tall = rows(&[100, 64]);
        let pitched = TensorLayout::of(&Layout::parse("(100,64):(72,1)").unwrap());
        let (tall, pitched) = (under(&tall, *map), under(&pitched, *map));
        // After the elements, and between them.
        let wide = TensorLayout::new(&[100, 64], tall.layout(), 8192).unwrap();
        let gaps = TensorLayout::new(&[100, 64], pitched.layout(), 8192).unwrap();
        let ragged = TensorLayout::new(&[100, 64], pitched.layout(), 7201 + 1024).unwrap();
        let pairs = [
            (rows(&[100, 64]), wide.clone()),
            (columns(&[100, 64]), gaps.clone()),
            (gaps.clone(), columns(&[100, 64])),
            (rows(&[100, 64]), ragged),
            (wide, gaps),
        ];
        for (turn, (src, dst)) in pairs.iter().enumerate() {
            for bits in [8, 16, 32, 64] {
                for at in [Alignment::default(), at(number + turn + bits as usize / 8)] {
                    let name = format!("{map} {turn} of {bits} at {at:?}");
                    let _ = batch.add(&name, &moved(src, dst, bits), at);
                }
            }
            let parts = [([3, 5], [7, 1], [50, 33]), ([0, 8], [40, 16], [60, 48])];
            for (from, to, extents) in parts {
                let part = Program::of_part((src, &from), (dst, &to), &extents, Elements::same(16));
                let at = at(number + turn);
                let _ = batch.add(
                    &format!("{map} {turn} of {extents:?} at {at:?}"),
                    &part.unwrap(),
                    at,
                );
            }
        }
        let widened = Elements { src_bits: 8, dst_bits: 32, ..Elements::same(8) };
        let program = Program::new(&tall, &columns(&[100, 64]), widened, 0).unwrap();
        let _ = batch.add(&format!("{map} widened"), &program, Alignment::default());
        for bits in [24, 128] {
            let _ = batch.add(
                &format!("{map} of {bits}"),
                &moved(&tall, &columns(&[100, 64]), bits),
                at(number),
            );
        }
    }
    println!("{} texts", batch.texts().len());
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}

/// Elements of four bits, for swizzles that keep bytes whole and others.
#[test]
fn packed_elements_move() {
    let mut batch = Batch::default();
    let (plain, extents) = (rows(&[32, 64]), [32, 64]);
    for swizzle in family().into_iter().step_by(tilewright_testing::cases(1, 4)) {
        for turn in [plain.clone(), columns(&extents)] {
            let program = moved(&turn, &under(&plain, swizzle), 4);
            let _ = batch.add(&format!("to {swizzle}"), &program, Alignment::default());
            let program = moved(&under(&plain, swizzle), &turn, 4);
            let _ = batch.add(&format!("from {swizzle}"), &program, Alignment::new(3, 5).unwrap());
        }
    }
    let Some(done) = batch.run() else { return };
    has_no_findings(&batch, &done);
}
