//! Test that a second run of a plan allocates no memory.
//!
//! It is a separate program because its allocator counts, which would slow down every other test.

use tilewright_core::{Digit, Fractal, Layout, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Extend, Plan, Program};

fn row(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn cases() -> Vec<(&'static str, TensorLayout, TensorLayout, u32)> {
    let zn = |m, n, c0| Fractal::ZN.pattern(16, c0).layout(&[m, n]).unwrap();
    let tiles = [
        Digit::rest(0, 2),
        Digit::rest(1, 1),
        Digit::fixed(0, 1, 4),
        Digit::fixed(1, 0, 128),
        Digit::fixed(0, 0, 2),
    ];
    let tiles = Pattern::new(2, &tiles).unwrap();
    let blocked = [
        Digit::rest(0, 1),
        Digit::rest(1, 2),
        Digit::rest(2, 0),
        Digit::fixed(1, 1, 4),
        Digit::fixed(0, 0, 16),
        Digit::fixed(1, 0, 4),
    ];
    let blocked = Pattern::new(3, &blocked).unwrap();
    let reversed = Layout::parse("(300,200):(200,-1)").unwrap().with_offset(199).unwrap();
    let every_second = TensorLayout::of(&Layout::parse("(300,200):(400,2)").unwrap());
    vec![
        ("copy", row(&[300, 200]), row(&[300, 200]), 32),
        ("transpose", row(&[512, 512]), TensorLayout::col_major(&[512, 512]).unwrap(), 32),
        ("large", row(&[1200, 1100]), TensorLayout::col_major(&[1200, 1100]).unwrap(), 32),
        ("odd", row(&[301, 203]), TensorLayout::col_major(&[301, 203]).unwrap(), 16),
        ("bytes", row(&[511, 257]), TensorLayout::col_major(&[511, 257]).unwrap(), 8),
        ("nibbles", row(&[128, 256]), TensorLayout::col_major(&[128, 256]).unwrap(), 4),
        ("zN", row(&[512, 512]), zn(512, 512, 16), 16),
        ("zN of words", row(&[512, 512]), zn(512, 512, 8), 32),
        ("zN, ragged", row(&[500, 501]), zn(500, 501, 16), 16),
        ("from zN", zn(500, 501, 16), row(&[500, 501]), 16),
        ("tiles", row(&[256, 512]), tiles.layout(&[256, 512]).unwrap(), 16),
        ("tiles, ragged", row(&[250, 500]), tiles.layout(&[250, 500]).unwrap(), 16),
        (
            "images",
            row(&[3, 100, 100]),
            TensorLayout::ordered(&[3, 100, 100], &[0, 2, 1]).unwrap(),
            8,
        ),
        ("kernels", row(&[64, 64, 9]), blocked.layout(&[64, 64, 9]).unwrap(), 8),
        ("every second", every_second.clone(), row(&[300, 200]), 32),
        (
            "every second, transposed",
            every_second,
            TensorLayout::col_major(&[300, 200]).unwrap(),
            32,
        ),
        ("reversed", TensorLayout::of(&reversed), row(&[300, 200]), 32),
        ("tiny", row(&[3, 5]), TensorLayout::col_major(&[3, 5]).unwrap(), 32),
    ]
}

fn allocations(plan: &Plan) -> u64 {
    let (src, mut dst) = (vec![1; plan.src_bytes() as usize], vec![0; plan.dst_bytes() as usize]);
    plan.run(&src, &mut dst, 1).unwrap();
    allocation_counter::measure(|| plan.run(&src, &mut dst, 1).unwrap()).count_total
}

#[test]
fn everyday_plans() {
    let counts = cases().into_iter().map(|(name, src, dst, bits)| {
        (name, allocations(&Plan::new(&src, &dst, Elements::same(bits), 0).unwrap()))
    });
    let some: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    assert!(some.is_empty(), "{some:?}");
}

/// Blocks that are put together in a cache, of one region and of several with their padding.
#[test]
fn plans_past_the_caches() {
    let zn = Fractal::ZN.pattern(16, 16).batched().layout(&[200, 9, 40]).unwrap();
    let cases = [
        (row(&[700, 90, 3]), TensorLayout::ordered(&[700, 90, 3], &[2, 0, 1]).unwrap(), 16),
        (row(&[9, 64, 150]), TensorLayout::ordered(&[9, 64, 150], &[0, 2, 1]).unwrap(), 32),
        (TensorLayout::col_major(&[200, 9, 40]).unwrap(), zn, 16),
    ];
    let counts = cases.iter().map(|(src, dst, bits)| {
        let program = Program::new(src, dst, Elements::same(*bits), 0).unwrap();
        let plan = Plan::past_caches(program).with_min_range(1);
        (plan.kernel_name(), allocations(&plan))
    });
    let counts: Vec<_> = counts.collect();
    assert!(counts.iter().all(|(_, count)| *count == 0), "{counts:?}");
    let has = |kind: &str| counts.iter().any(|(name, _)| name.starts_with(kind));
    assert!(has("joined") && has("staged"), "{counts:?}");
}

#[test]
fn packing() {
    let matrix = row(&[300, 200]);
    for (src_bits, dst_bits) in [(4, 8), (8, 4), (1, 8), (8, 2)] {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Sign };
        let plan = Plan::new(&matrix, &matrix, elements, 0).unwrap();
        assert_eq!(allocations(&plan), 0, "{elements:?}");
    }
}
