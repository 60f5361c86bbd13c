//! Measures layouts: offsets, and the operations of the algebra.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tilewright_core::{Layout, Profile, TensorLayout, expect_const, layout};

/// The example of CATLASS's document, and a layout of odd extents.
const TILED: Layout = layout!("((4,2),(4,3)):((4,16),(1,32))");
const ODD: Layout = layout!("((3,5),(7,3)):((7,63),(1,21))");
const TENSOR: TensorLayout = expect_const!(TensorLayout::new(&[7, 11], &TILED, 96));

/// Offsets in constant layouts, and the same offsets written by hand.
fn constants(c: &mut Criterion) {
    let by_hand = |[i, j]: [u64; 2]| {
        assert!(i < 8 && j < 12);
        (i % 4) * 4 + (i / 4) * 16 + (j % 4) + (j / 4) * 32
    };
    c.bench_function("offset, 2x2 modes, by hand", |b| b.iter(|| by_hand(black_box([3, 7]))));
    c.bench_function("offset, 2x2 modes, a constant layout", |b| {
        b.iter(|| TILED.offset_at(&black_box([3, 7])).unwrap())
    });
    c.bench_function("offset, 2x2 modes of odd extents, a constant layout", |b| {
        b.iter(|| ODD.offset_at(&black_box([3, 7])).unwrap())
    });
    c.bench_function("offset, 2x2 modes, a constant tensor layout", |b| {
        b.iter(|| TENSOR.offset(&black_box([3, 7])).unwrap())
    });
}

fn parsed(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn offsets(c: &mut Criterion) {
    let flat = parsed("(20,24,28,32):(1,20,480,13440)");
    c.bench_function("offset, 4 modes, coordinate", |b| {
        b.iter(|| black_box(&flat).offset_at(black_box(&[7, 11, 13, 17])).unwrap())
    });
    c.bench_function("offset, 4 modes, linear index", |b| {
        b.iter(|| black_box(&flat).offset_of(black_box(123_456)).unwrap())
    });
    let powers = parsed("((4,8),(16,32)):((1,64),(4,512))");
    c.bench_function("offset, 4 modes of powers of two, 2 axes", |b| {
        b.iter(|| black_box(&powers).offset_at(black_box(&[17, 300])).unwrap())
    });
    c.bench_function("offset, 4 modes of powers of two, linear index", |b| {
        b.iter(|| black_box(&powers).offset_of(black_box(12_345)).unwrap())
    });
    // XLA's bf16[20,200]{1,0:T(8,128)(2,1)}.
    let tiled = parsed("((2,4,3),(128,2)):((1,256,2048),(2,1024))");
    let tensor = TensorLayout::new(&[20, 200], &tiled, 6144).unwrap();
    c.bench_function("offset, bf16[20,200]{1,0:T(8,128)(2,1)}", |b| {
        b.iter(|| black_box(&tensor).offset(black_box(&[17, 131])).unwrap())
    });
    c.bench_function("locate, bf16[20,200]{1,0:T(8,128)(2,1)}", |b| {
        b.iter(|| black_box(&tensor).locate(black_box(3_333)))
    });
}

fn algebra(c: &mut Criterion) {
    for (what, a, b) in [
        ("4 modes with 4", "(8,4,16,2):(1,64,8,256)", "((8,4),(16,2)):((1,8),(32,512))"),
        ("2 modes with 4", "(128,128):(128,1)", "(16,8,8,16):(1,16,128,1024)"),
        ("refused", "(6,2):(1,7)", "(3,2):(2,3)"),
        ("carries cancel", "(2,2,2):(1,3,5)", "(2,2):(3,1)"),
    ] {
        let (x, y) = (parsed(a), parsed(b));
        c.bench_function(&format!("composition, {what}"), |b| {
            b.iter(|| black_box(&x).composition(black_box(&y)))
        });
    }
    let nested = parsed("((2,4),(2,8)):((1,2),(8,32))");
    c.bench_function("coalesce, 4 modes", |b| b.iter(|| black_box(&nested).coalesce()));
    c.bench_function("flatten, 4 modes", |b| b.iter(|| black_box(&nested).flatten()));
    let profile = Profile::flat(2).unwrap();
    c.bench_function("coalesce by mode, 4 modes", |b| {
        b.iter(|| black_box(&nested).coalesce_by(black_box(&profile)))
    });
}

criterion_group!(benches, constants, offsets, algebra);
criterion_main!(benches);
