//! Measures the time to read a shape, to locate an element, and to scan a module.

use std::{hint::black_box, path::PathBuf};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tilewright_xla::{ArrayShape, HloModule, Shape, index_util::Indexer};

/// The size of the module that is scanned, in bytes.
const MODULE: usize = 50 << 20;

fn parse(c: &mut Criterion) {
    for text in [
        "f32[2,3]{1,0}",
        "bf16[20,200]{1,0:T(8,128)(2,1)}",
        "(s32[], f32[8]{0}, f32[5,8]{1,0}, f32[5,8]{1,0})",
    ] {
        c.bench_function(&format!("parse {text}"), |b| b.iter(|| Shape::parse(black_box(text))));
    }
    let shape = Shape::parse("bf16[20,200]{1,0:T(8,128)(2,1)}").unwrap();
    c.bench_function("print", |b| b.iter(|| black_box(&shape).to_string()));
    let bytes = shape.to_proto_bytes().unwrap();
    c.bench_function("proto", |b| b.iter(|| Shape::from_proto_bytes(black_box(&bytes))));
}

fn index(c: &mut Criterion) {
    let shape = ArrayShape::parse("bf16[20,200]{1,0:T(8,128)(2,1)}").unwrap();
    let tensor = shape.lower().unwrap();
    c.bench_function("index", |b| {
        b.iter(|| black_box(&tensor).offset(black_box(&[17, 131])).unwrap())
    });
    let indexer = Indexer::of(&shape).unwrap();
    c.bench_function("indexer", |b| b.iter(|| black_box(&indexer).offset(black_box(&[17, 131]))));
    c.bench_function("lower", |b| b.iter(|| black_box(&shape).lower()));
}

/// Returns a module of about [`MODULE`] bytes: the computations of a recorded one, repeated.
fn module() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/hlo/scan_fft.txt");
    let text = std::fs::read_to_string(path).unwrap().replace("ENTRY ", "");
    let (head, body) = text.split_at(text.find("%fused_computation").unwrap());
    format!("{head}{}", body.repeat(MODULE / body.len()))
}

fn scan(c: &mut Criterion) {
    let text = module();
    let mut group = c.benchmark_group("hlo");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("scan", |b| {
        b.iter_with_large_drop(|| HloModule::parse(black_box(&text)).unwrap())
    });
    let literal = format!(
        "HloModule m\nENTRY e {{\n  c = f32[9] constant({{{}0}})\n}}\n",
        "1.25, ".repeat(MODULE / 6)
    );
    group.throughput(Throughput::Bytes(literal.len() as u64));
    group.bench_function("literal", |b| b.iter(|| HloModule::parse(black_box(&literal)).unwrap()));
    group.finish();
}

criterion_group!(benches, parse, index, scan);
criterion_main!(benches);
