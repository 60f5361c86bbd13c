//! Checks of plans against a naive loop, and small layouts of every kind.

use tilewright_core::{Digit, Layout, Pattern, Step, Swizzle, TensorLayout};
use tilewright_relayout::{Chunk, Elements, Plan};
pub(crate) use tilewright_testing::noise;

pub(crate) use crate::naive::naive;

/// The bytes that a chunk writes, given only what it asked to read.
pub(crate) fn run_chunk(chunk: &Chunk, src: &[u8], threads: usize, before: u8) -> Vec<u8> {
    let mut buffer = vec![0xA5; chunk.buffer_len()];
    let mut filled = vec![false; buffer.len()];
    for read in chunk.reads() {
        let from = read.src as usize;
        buffer[read.at..read.at + read.len].copy_from_slice(&src[from..from + read.len]);
        for mark in &mut filled[read.at..read.at + read.len] {
            assert!(!*mark, "two reads to one place");
            *mark = true;
        }
    }
    assert!(filled.iter().all(|&mark| mark), "the reads fill the buffer");
    let mut out = vec![before; (chunk.range().end - chunk.range().start) as usize];
    chunk.run(&buffer, &mut out, threads).unwrap();
    out
}

/// Checks all ways to run a plan against the oracle; `cuts` divide the destination.
pub(crate) fn check(
    src: &TensorLayout,
    dst: &TensorLayout,
    elements: Elements,
    fill: u128,
    cuts: &[u64],
) {
    // Tiny ranges, so that small arrays are cut among threads too.
    let plan = Plan::new(src, dst, elements, fill).unwrap().with_min_range(7);
    let bytes = noise(plan.src_bytes() as usize, src.size() + 1);
    let expected = naive(src, dst, elements, fill, &bytes);
    assert_eq!(expected.len() as u64, plan.dst_bytes());
    for (threads, before) in [(1, 0x00), (1, 0xFF), (2, 0xFF), (3, 0x5A)] {
        let mut out = vec![before; expected.len()];
        plan.run(&bytes, &mut out, threads).unwrap();
        assert!(out == expected, "{plan}\n{threads} threads\n{out:x?}\n{expected:x?}");
    }
    runs_what_it_prints(&plan);
    let mut at = 0;
    let cuts = cuts.iter().copied().filter(|&cut| cut <= plan.dst_bytes());
    for cut in cuts.chain([plan.dst_bytes()]) {
        let range = at.min(cut)..cut;
        let part = &expected[range.start as usize..range.end as usize];
        let mut out = vec![0xC3; part.len()];
        plan.run_range(range.clone(), &bytes, &mut out).unwrap();
        assert!(out == part, "{plan}\n{range:?}\n{out:x?}\n{part:x?}");
        let chunk = plan.chunk(range.clone()).unwrap();
        let out = run_chunk(&chunk, &bytes, 1 + (cut % 2) as usize, 0x3C);
        assert!(out == part, "{plan}\n{range:?} as a chunk\n{out:x?}\n{part:x?}");
        at = cut;
    }
}

/// Checks that a plan that ran completely has run the kernels that it prints, and no others.
pub(crate) fn runs_what_it_prints(plan: &Plan) {
    let (text, ran) = (plan.to_string(), plan.ways_run());
    let says = |name: &str, end: &str| text.contains(&format!("\n  {name}{end}"));
    let printed = |name: &str| says(name, ", ") || says(name, " in ") || name == "tables";
    assert!(ran.iter().all(|(name, _)| printed(name)), "{plan}\n{ran:?}");
    let main = plan.kernel_name();
    assert!(main == "fill" || ran.iter().any(|(name, _)| *name == main), "{plan}\n{ran:?}");
}

/// The pattern with these digits, as (axis, level, size); size 0 takes the rest.
pub(crate) fn pattern(rank: usize, digits: &[(u8, u8, u64)]) -> Pattern {
    let digits: Vec<Digit> = digits
        .iter()
        .map(|&(axis, level, size)| match size {
            0 => Digit::rest(axis, level),
            _ => Digit::fixed(axis, level, size),
        })
        .collect();
    Pattern::new(rank, &digits).unwrap()
}

pub(crate) fn layout(extents: &[u64], text: &str, capacity: u64) -> TensorLayout {
    TensorLayout::new(extents, &Layout::parse(text).unwrap(), capacity).unwrap()
}

/// Layouts of 2×3×6 elements of every kind: dense in all orders, blocked, ragged, padded, reversed,
/// merged, unevenly split, swizzled, offset.
pub(crate) fn cubes() -> Vec<TensorLayout> {
    let extents = [2, 3, 6];
    let steps = |list: &[Step], text: &str, capacity| {
        let layout = Layout::parse(text).unwrap();
        TensorLayout::with_steps(&extents, list, &layout, capacity).unwrap()
    };
    let row = TensorLayout::row_major(&extents).unwrap();
    let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
    let shifted = Layout::parse("(2,3,6):(-18,6,1)").unwrap().with_offset(20).unwrap();
    let backwards = Layout::parse("(2,3,6):(1,-2,-6)").unwrap().with_offset(34).unwrap();
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut all: Vec<TensorLayout> =
        orders.iter().map(|order| TensorLayout::ordered(&extents, order).unwrap()).collect();
    let merge = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
    let split = [Step::Split { axis: 1, by: 3 }, Step::Split { axis: 3, by: 2 }];
    all.extend([
        steps(&merge, "(2,5,4):(4,8,1)", 40),
        steps(&split, "(2,2,6,2,2):(24,12,2,1,96)", 192),
        TensorLayout::new(&extents, &swizzled, 40).unwrap(),
        TensorLayout::new(&extents, &shifted, 40).unwrap(),
        TensorLayout::new(&extents, &backwards, 36).unwrap(),
        pattern(3, &[(2, 1, 0), (0, 0, 0), (1, 1, 0), (1, 0, 2), (2, 0, 4)])
            .layout(&extents)
            .unwrap(),
        pattern(3, &[(2, 1, 0), (1, 0, 0), (2, 0, 3), (0, 0, 0)]).layout(&extents).unwrap(),
        pattern(3, &[(1, 1, 0), (2, 0, 8), (1, 0, 2), (0, 0, 4)]).layout(&extents).unwrap(),
        layout(&extents, "(2,3,6):(40,11,1)", 90),
        layout(&extents, "(2,3,6):(1,13,2)", 45),
    ]);
    all
}

/// Sources in which elements share storage.
pub(crate) fn broadcasts() -> Vec<TensorLayout> {
    [
        ("(2,3,6):(0,0,0)", 1),
        ("(2,3,6):(0,6,1)", 18),
        ("(2,3,6):(1,1,1)", 9),
        ("(2,3,6):(1,2,0)", 7),
    ]
    .iter()
    .map(|(text, capacity)| layout(&[2, 3, 6], text, *capacity))
    .collect()
}
