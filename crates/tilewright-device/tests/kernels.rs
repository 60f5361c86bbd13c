//! Kernels of all ways, run on the host: what they write is what the processor's plan writes.

mod host;

use host::{Case, check};
use tilewright_core::{Digit, Fractal, Layout, Pattern, Step, Swizzle, TensorLayout};
use tilewright_device::Way;
use tilewright_relayout::{Elements, Extend, Program};

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

fn of(extents: &[u64], text: &str, more: u64) -> TensorLayout {
    let layout = Layout::parse(text).unwrap();
    TensorLayout::new(extents, &layout, layout.cosize() as u64 + more).unwrap()
}

fn moved(src: &TensorLayout, dst: &TensorLayout, bits: u32, fill: u128) -> Program {
    Program::new(src, dst, Elements::same(bits), fill).unwrap()
}

#[test]
fn transposes_of_any_width_and_any_pointer() {
    let mut cases = Vec::new();
    for bits in [8, 16, 24, 32, 48, 64, 128, 256, 2048] {
        let program = || moved(&rows(&[5, 37]), &columns(&[5, 37]), bits, 0);
        cases.push(Case::new(format!("{bits} bits"), program()));
        cases.push(Case::new(format!("{bits} bits, anywhere"), program()).at(3, 9));
        cases.push(Case::new(format!("{bits} bits, by 4"), program()).at(4, 12));
    }
    for (m, n) in [(1, 1), (1, 9), (9, 1), (2, 300), (257, 3)] {
        cases.push(Case::new(
            format!("{m} by {n}"),
            moved(&rows(&[m, n]), &columns(&[m, n]), 16, 0),
        ));
    }
    check(&cases);
}

#[test]
fn reversed_broadcast_and_permuted_dims() {
    let mut cases = Vec::new();
    for bits in [8, 32, 64] {
        let mut add = |extents: &[u64], src: &str, dst: &str| {
            let program = moved(&of(extents, src, 0), &of(extents, dst, 0), bits, 0);
            cases.push(Case::new(format!("{src} to {dst}, {bits} bits"), program));
        };
        add(&[7, 11], "(7,11):(11,-1)+10", "(7,11):(11,1)");
        add(&[7, 11], "(7,11):(-11,1)+66", "(7,11):(1,7)");
        add(&[7, 11], "(7,11):(-11,-1)+76", "(7,11):(-1,7)+6");
        add(&[6, 10], "(6,10):(0,1)", "(6,10):(10,1)");
        add(&[6, 10], "(6,10):(0,0)", "(6,10):(1,6)");
        add(&[3, 4, 5, 6], "(3,4,5,6):(120,30,6,1)", "(3,4,5,6):(1,3,12,60)");
        add(&[3, 4, 5, 6], "(3,4,5,6):(120,30,6,1)", "(3,4,5,6):(6,90,18,1)");
    }
    check(&cases);
}

#[test]
fn gaps_hold_the_fill() {
    let mut cases = Vec::new();
    for (bits, fill) in [
        (8, 0xA5),
        (16, 0x1234),
        (24, 0xABCDEF),
        (32, 0xDEADBEEF),
        (64, 0x0123456789ABCDEF),
        (128, u128::MAX / 3),
        (256, u128::MAX / 5),
        (40, 0x1122334455),
    ] {
        for (m, n) in [(1, 1), (10, 9), (33, 50)] {
            let tiles = Fractal::ZN.pattern(8, 4).layout(&[m, n]).unwrap();
            let program = || moved(&rows(&[m, n]), &tiles, bits, fill);
            cases.push(Case::new(format!("tiles of {m} by {n}, {bits} bits"), program()));
            let element = (bits / 8) as u8;
            if element < 16 {
                cases.push(
                    Case::new(
                        format!("tiles of {m} by {n}, {bits} bits, at an element"),
                        program(),
                    )
                    .at(element, element),
                );
            }
            cases.push(
                Case::new(format!("tiles of {m} by {n}, {bits} bits, anywhere"), program())
                    .at(1, 7),
            );
        }
        let padded = of(&[5, 7], "(5,7):(16,2)", 9);
        cases.push(Case::new(
            format!("padded, {bits} bits"),
            moved(&rows(&[5, 7]), &padded, bits, fill),
        ));
    }
    check(&cases);
}

#[test]
fn packed_elements_that_are_whole_bytes() {
    let tiles = Fractal::ZN.pattern(16, 16).layout(&[64, 64]).unwrap();
    check(&[
        Case::new("4 bits", moved(&rows(&[64, 64]), &tiles, 4, 0)),
        Case::new("1 bit, filled", moved(&rows(&[60, 64]), &tiles_of(60, 64), 1, 1)),
    ]);
}

fn tiles_of(m: u64, n: u64) -> TensorLayout {
    Fractal::ZN.pattern(16, 16).layout(&[m, n]).unwrap()
}

#[test]
fn digits_of_any_program() {
    let uneven = |a, b, extents: &[u64]| {
        let digits = [Digit::rest(0, 1), Digit::rest(1, 1)];
        let inner = [Digit::fixed(0, 0, a), Digit::fixed(1, 0, b)];
        Pattern::new(2, &[digits, inner].concat()).unwrap().layout(extents).unwrap()
    };
    let mut cases = Vec::new();
    for bits in [8, 24, 32, 256] {
        let program = || moved(&uneven(3, 4, &[203, 301]), &uneven(4, 5, &[203, 301]), bits, 0xAB);
        assert!(program().regions().is_none());
        cases.push(Case::new(format!("3 by 4 to 4 by 5, {bits} bits"), program()));
        cases.push(
            Case::new(format!("3 by 4 to 4 by 5, {bits} bits, anywhere"), program()).at(1, 2),
        );
    }
    // Gaps in no regular way: filled first.
    let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    let layout = Layout::parse("(65000,4):(5,1)").unwrap();
    let merged =
        TensorLayout::with_steps(&[20_000, 13], &steps, &layout, layout.cosize() as u64).unwrap();
    let program = moved(&rows(&[20_000, 13]), &merged, 16, 0x7777);
    cases.push(Case::new("merged", program));
    // Swizzles of both kinds.
    let swizzled = rows(&[64, 64]).layout().with_swizzle(Swizzle::new(3, 0, 3).unwrap()).unwrap();
    let swizzled = TensorLayout::of(&swizzled);
    cases.push(Case::new("swizzled", moved(&swizzled, &columns(&[64, 64]), 16, 0)));
    cases.push(Case::new("into a swizzle", moved(&columns(&[64, 64]), &swizzled, 16, 0)));
    check(&cases);
}

#[test]
fn widths_of_whole_bytes_change() {
    let mut cases = Vec::new();
    for extend in [Extend::Zero, Extend::Sign] {
        for (src_bits, dst_bits) in [(8, 16), (8, 32), (16, 32), (32, 16), (16, 8), (32, 8)] {
            let elements = Elements { src_bits, dst_bits, extend };
            let program = Program::new(&rows(&[9, 31]), &columns(&[9, 31]), elements, 0).unwrap();
            cases.push(Case::new(format!("{src_bits} to {dst_bits}, {extend:?}"), program));
        }
    }
    check(&cases);
}

#[test]
fn parts_leave_the_rest_alone() {
    let (src, dst) = (rows(&[40, 50]), tiles_of(40, 50));
    let part = Program::of_part((&src, &[3, 4]), (&dst, &[20, 7]), &[11, 33], Elements::same(16));
    let plans = check(&[Case::new("a part", part.unwrap())]);
    assert!(plans[0].kernels().iter().all(|kernel| kernel.way() != Way::Fill));
}
