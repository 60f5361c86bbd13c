//! Kernels of all ways, run on the host: their results equal those of the processor's plan.

use crate::host::{
    Case,
    batch::{Batch, has_no_findings},
    check,
    simulator::noise,
};
use std::sync::Arc;
use tilewright_core::{Digit, Fractal, Layout, Pattern, Step, Swizzle, TensorLayout};
use tilewright_device::{Alignment, DevicePlan, Options, Way};
use tilewright_relayout::{Elements, Extend, Program};
use tilewright_table::{Along, Table, TabledLayout};

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
    let extents = tilewright_testing::cases([203, 301], [59, 83]);
    for bits in [8, 24, 32, 256] {
        let program = || moved(&uneven(3, 4, &extents), &uneven(4, 5, &extents), bits, 0xAB);
        assert!(program().regions().is_none());
        cases.push(Case::new(format!("3 by 4 to 4 by 5, {bits} bits"), program()));
        cases.push(
            Case::new(format!("3 by 4 to 4 by 5, {bits} bits, anywhere"), program()).at(1, 2),
        );
    }
    // Irregular gaps: filled first.
    let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    let rows_of_13 = tilewright_testing::cases(20_000, 2000);
    let layout = Layout::parse(&format!("({},4):(5,1)", rows_of_13 * 13 / 4)).unwrap();
    let extents = [rows_of_13, 13];
    let merged =
        TensorLayout::with_steps(&extents, &steps, &layout, layout.cosize() as u64).unwrap();
    let program = moved(&rows(&extents), &merged, 16, 0x7777);
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
            let name = format!("{src_bits} to {dst_bits}, {extend:?}");
            cases.push(Case::new(format!("{name}, anywhere"), program.clone()).at(3, 5));
            cases.push(Case::new(format!("{name}, by 2"), program.clone()).at(2, 6));
            cases.push(Case::new(name, program));
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

/// Returns the ways of the kernels of plans, without the fills.
fn ways(plans: &[DevicePlan]) -> Vec<Way> {
    let kernels = plans.iter().flat_map(|plan| plan.kernels());
    kernels.map(|kernel| kernel.way()).filter(|way| *way != Way::Fill).collect()
}

#[test]
fn rows_that_lie_anywhere() {
    let mut cases = Vec::new();
    let pitched = |m: u64, n: u64, pitch: u64| of(&[m, n], &format!("({m},{n}):({pitch},1)"), 0);
    // Contiguous, in whole vectors or not, from any byte to any byte.
    for n in [64, 65, 79, 80, 4096, 5000] {
        for (src, dst) in [(0, 0), (3, 3), (0, 1), (15, 0), (7, 9), (8, 4)] {
            let program = moved(&rows(&[n]), &rows(&[n]), 8, 0);
            cases.push(Case::new(format!("{n} bytes from {src} to {dst}"), program).at(src, dst));
        }
    }
    // Rows of any pitch, of all elements.
    for bits in [8, 16, 32, 64] {
        for (n, from, to) in [(64, 64, 80), (67, 70, 81), (100, 129, 100), (1000, 1001, 1003)] {
            let program = moved(&pitched(9, n, from), &pitched(9, n, to), bits, 0x5A);
            cases.push(Case::new(format!("9 rows of {n}, {from} to {to}, {bits} bits"), program));
        }
    }
    // Rows in another order, backwards, and one row for all.
    let permuted = |text: &str| of(&[5, 6, 70], text, 0);
    for (src, dst) in [
        ("(5,6,70):(420,70,1)", "(5,6,70):(70,350,1)"),
        ("(5,6,70):(-420,70,1)+1680", "(5,6,70):(70,350,1)"),
        ("(5,6,70):(0,70,1)", "(5,6,70):(427,71,1)"),
    ] {
        for bits in [8, 32] {
            let program = moved(&permuted(src), &permuted(dst), bits, 0);
            cases.push(Case::new(format!("{src} to {dst}, {bits} bits"), program));
        }
    }
    let found = ways(&check(&cases));
    assert!(found.iter().all(|way| *way == Way::Rows), "{found:?}");
}

#[test]
fn transposes_of_every_width() {
    let mut cases = Vec::new();
    for (bits, m, n) in [
        (8, 128, 128),
        (8, 400, 272),
        (16, 128, 256),
        (16, 200, 1000),
        (32, 64, 64),
        (32, tilewright_testing::cases(1004, 332), 772),
        (32, 300, 20),
        (64, 64, 32),
        (64, 302, 510),
        (128, 33, 77),
        (128, 200, 7),
    ] {
        let program = moved(&rows(&[m, n]), &columns(&[m, n]), bits, 0);
        cases.push(Case::new(format!("{m} by {n}, {bits} bits"), program));
        // Views whose first vectors have other alignments.
        let (wide, at) = (of(&[m, n], &format!("({m},{n}):({},1)+16", n + 48), 0), 0);
        let program = moved(&wide, &columns(&[m, n]), bits, 0);
        cases.push(Case::new(format!("a view of {m} by {n}, {bits} bits"), program).at(at, 0));
    }
    let plans = check(&cases);
    assert!(ways(&plans).iter().all(|way| *way == Way::Transpose));
    // Two sizes of one structure have one text.
    let texts: std::collections::HashSet<&str> =
        plans.iter().flat_map(|plan| plan.kernels()).map(|kernel| kernel.text()).collect();
    assert!(texts.len() < plans.len(), "{} texts of {}", texts.len(), plans.len());
}

#[test]
fn transposes_of_many_dims() {
    let mut cases = Vec::new();
    let mut add = |extents: &[u64], src: &str, dst: &str, bits| {
        let program = moved(&of(extents, src, 0), &of(extents, dst, 0), bits, 0);
        cases.push(Case::new(format!("{src} to {dst}, {bits} bits"), program));
    };
    for bits in [16, 32] {
        // NCHW to NHWC and back, four dims reversed, the middle dims swapped.
        add(&[2, 64, 24, 8], "(2,64,24,8):(12288,192,8,1)", "(2,64,24,8):(12288,1,512,64)", bits);
        add(&[2, 64, 24, 8], "(2,64,24,8):(12288,1,512,64)", "(2,64,24,8):(12288,192,8,1)", bits);
        add(
            &[24, 20, 28, 40],
            "(24,20,28,40):(22400,1120,40,1)",
            "(24,20,28,40):(1,24,480,13440)",
            bits,
        );
        add(&[2, 32, 16, 8], "(2,32,16,8):(4096,128,8,1)", "(2,32,16,8):(4096,8,256,1)", bits);
        // Backwards along any dim.
        add(&[128, 64], "(128,64):(-64,1)+8128", "(128,64):(1,128)", bits);
        add(&[128, 64], "(128,64):(64,-1)+63", "(128,64):(1,128)", bits);
        add(&[128, 64], "(128,64):(64,-1)+63", "(128,64):(64,1)", bits);
        add(&[128, 64], "(128,64):(-64,-1)+8191", "(128,64):(1,128)", bits);
        add(&[120, 72], "(120,72):(-72,-1)+8639", "(120,72):(1,120)", bits);
        add(&[128, 64], "(128,64):(64,1)", "(128,64):(-1,128)+127", bits);
    }
    for bits in [8, 64] {
        add(&[96, 160], "(96,160):(160,-1)+159", "(96,160):(1,96)", bits);
        add(&[96, 160], "(96,160):(160,-1)+159", "(96,160):(160,1)", bits);
        // A vector with bits of several dims on either side.
        add(&[32, 2, 64, 2], "(32,2,64,2):(256,128,2,1)", "(32,2,64,2):(2,1,64,4096)", bits);
        add(
            &[2, 8, 16, 16, 2],
            "(2,8,16,16,2):(4096,512,32,2,1)",
            "(2,8,16,16,2):(1,2,32,512,16)",
            bits,
        );
    }
    let plans = check(&cases);
    let found = ways(&plans);
    let transposes = found.iter().filter(|way| **way == Way::Transpose).count();
    assert!(transposes * 10 >= found.len() * 9, "{transposes} of {found:?}");
}

#[test]
fn transposes_of_tiled_formats() {
    let mut cases = Vec::new();
    for (m, n) in [(256, 256), (100, 96), (300, 500), (1000, 48)] {
        for fractal in [Fractal::ZN, Fractal::ZZ, Fractal::NN, Fractal::NZ] {
            let tiles = fractal.pattern(16, 16).layout(&[m, n]).unwrap();
            cases.push(Case::new(
                format!("{m} by {n} to {fractal:?}"),
                moved(&rows(&[m, n]), &tiles, 16, 0x1357),
            ));
            cases.push(Case::new(
                format!("{m} by {n} of {fractal:?}"),
                moved(&tiles, &rows(&[m, n]), 16, 0),
            ));
        }
    }
    let tpu = Pattern::new(
        2,
        &[
            Digit::rest(0, 2),
            Digit::rest(1, 1),
            Digit::fixed(0, 1, 4),
            Digit::fixed(1, 0, 128),
            Digit::fixed(0, 0, 2),
        ],
    )
    .unwrap();
    let tpu = tpu.layout(&[256, 512]).unwrap();
    cases.push(Case::new("to T(8,128)(2,1)", moved(&rows(&[256, 512]), &tpu, 16, 0)));
    cases.push(Case::new("of T(8,128)(2,1)", moved(&tpu, &rows(&[256, 512]), 16, 0)));
    let found = ways(&check(&cases));
    assert!(found.contains(&Way::Transpose), "{found:?}");
}

#[test]
fn every_small_permutation() {
    let mut cases = Vec::new();
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for extents in [[2, 3, 64], [16, 4, 16], [5, 8, 24], [32, 16, 2], [7, 32, 32], [64, 1, 48]] {
        for order in orders {
            for bits in [8, 16, 32] {
                let mut strides = [0; 3];
                let mut stride = 1;
                for dim in order {
                    strides[dim as usize] = stride;
                    stride *= extents[dim as usize];
                }
                let [a, b, c] = extents;
                let dst = of(
                    &extents,
                    &format!("({a},{b},{c}):({},{},{})", strides[0], strides[1], strides[2]),
                    0,
                );
                let program = moved(&rows(&extents), &dst, bits, 0);
                cases.push(Case::new(
                    format!("{extents:?} in order {order:?}, {bits} bits"),
                    program,
                ));
            }
        }
    }
    let found = ways(&check(&cases));
    for way in [Way::Transpose, Way::Rows] {
        assert!(found.contains(&way), "{way:?}");
    }
}

#[test]
fn tiles_in_any_order() {
    let mut batch = Batch::default();
    let mut transposes = 0;
    let supertiles = [0, 3, 1000, 1, 2, 8, 64];
    let supertiles = &supertiles[..tilewright_testing::cases(supertiles.len(), 2)];
    for &supertile in supertiles {
        let mut add = |name: &str, program: Program| {
            let options = Options::default().with_supertile(supertile);
            let plan = DevicePlan::with(&program, Alignment::default(), options).unwrap();
            transposes +=
                plan.kernels().iter().filter(|kernel| kernel.way() == Way::Transpose).count();
            batch.add_plan(&format!("{name} {supertile}"), &program, Alignment::default(), &plan);
        };
        let large = [(1004, 772), (64, 2000), (2000, 64), (640, 640)];
        for (m, n) in
            tilewright_testing::cases(large, [(460, 388), (64, 1000), (1000, 64), (384, 384)])
        {
            let name = format!("{m} by {n} in squares of");
            add(&name, moved(&rows(&[m, n]), &columns(&[m, n]), 32, 0));
        }
        let extents = tilewright_testing::cases([24, 20, 28, 160], [24, 10, 14, 80]);
        add("4 dims in squares of", moved(&rows(&extents), &columns(&extents), 16, 0));
    }
    assert_eq!(transposes, 5 * supertiles.len());
    if let Some(done) = batch.run() {
        has_no_findings(&batch, &done);
    }
}

#[test]
fn index_tables_with_holes() {
    let mut cases = Vec::new();
    let stored = |extents: &[u64], holes: u64| {
        // Even indices first, with a hole between some.
        let all = extents[0];
        let order = (0..all).step_by(2).chain((1..all).step_by(2)).map(Some);
        let list: Vec<Option<u64>> = order.chain((0..holes).map(|_| None)).collect();
        let along =
            Along::new(&[(0, 1)], extents, Arc::new(Table::new(all, list).unwrap())).unwrap();
        let rows = rows(&[all + holes, extents[1]]);
        TabledLayout::new(extents, vec![along], &rows).unwrap()
    };
    for (extents, bits) in [([37, 16], 16), ([64, 5], 24), ([129, 33], 8)] {
        let plain = TabledLayout::of(&columns(&extents));
        for holes in [0, 3] {
            let tabled = stored(&extents, holes);
            let elements = Elements::same(bits);
            let program = Program::of_arrays(&plain, &tabled, elements, 0x77).unwrap();
            cases.push(Case::new(format!("{extents:?} into {holes} holes"), program));
            let program = Program::of_arrays(&tabled, &plain, elements, 0).unwrap();
            cases.push(Case::new(format!("{extents:?} out of {holes} holes"), program));
        }
    }
    let plans = check(&cases);
    assert!(
        plans
            .iter()
            .any(|plan| plan.kernels().iter().any(|kernel| kernel.text().contains("list0[")))
    );
    assert!(plans.iter().any(|plan| plan.fills_first()));
}

/// Sources of many times 4 GiB, of which some elements are read: if rows are far apart, offsets within a tile need 64
/// bits.
#[test]
fn sources_beyond_32_bits() {
    let mut batch = Batch::default();
    let mut found = Vec::new();
    for (m, n, pitch) in [
        (64, 64, 1 << 26),
        (64, 64, (1 << 31) + 64),
        (100, 96, 1 << 33),
        (40, 100, (1 << 34) + 4),
        (33, 7, (1 << 32) + 3),
    ] {
        for bits in [16u32, 32] {
            let (element, text) = (u64::from(bits / 8), format!("({m},{n}):({pitch},1)"));
            let src = of(&[m, n], &text, 0);
            for dst in [columns(&[m, n]), rows(&[m, n])] {
                let program = moved(&src, &dst, bits, 0);
                let plan = DevicePlan::new(&program, Alignment::default()).unwrap();
                found.extend(ways(std::slice::from_ref(&plan)));
                let name = format!("{text} {bits} bits to {:?}", dst.layout());
                batch.add_expected(&name, &program, Alignment::default(), &plan, &|from, to| {
                    let mut wanted = vec![0; to.bytes as usize];
                    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        let at = (dst.offset_of(i * n + j).unwrap() as u64 * element) as usize;
                        let bytes = noise(from.seed, (i * pitch + j) * element, element);
                        wanted[at..at + element as usize].copy_from_slice(&bytes);
                    }
                    wanted
                });
            }
        }
    }
    for way in [Way::Transpose, Way::Rows, Way::Elements] {
        assert!(found.contains(&way), "{way:?}");
    }
    assert!(batch.texts().iter().any(|text| text.contains("const i64 s0")));
    if let Some(done) = batch.run() {
        has_no_findings(&batch, &done);
    }
}

#[test]
fn arrays_of_nothing_and_of_one_element() {
    let mut cases = Vec::new();
    for bits in [8, 24, 64] {
        let none = |more: u64| rows(&[0, 4]).with_capacity(more).unwrap();
        for more in [0, 1, 70] {
            let program = moved(&rows(&[0, 4]), &none(more), bits, 0x99);
            cases.push(Case::new(format!("none in {more}, {bits} bits"), program));
        }
        for extents in [vec![], vec![1], vec![1, 1, 1]] {
            let program = moved(&rows(&extents), &columns(&extents), bits, 0);
            cases.push(Case::new(format!("{extents:?}, {bits} bits"), program.clone()));
            cases.push(Case::new(format!("{extents:?}, {bits} bits, anywhere"), program).at(5, 11));
        }
    }
    let plans = check(&cases);
    assert!(plans[0].kernels().is_empty());
    assert!(plans.iter().all(|plan| plan.kernels().len() <= 1));
}

#[test]
fn too_many_blocks_are_refused() {
    // 2^62 bytes by single bytes.
    let (m, n) = (1 << 31, 1 << 31);
    let src = of(&[m, n], &format!("({m},{n}):({n},1)"), 0);
    let program = Program::new(&src, &columns(&[m, n]), Elements::same(8), 0).unwrap();
    let error = DevicePlan::new(&program, Alignment::new(1, 0).unwrap()).unwrap_err();
    assert!(error.is_overflow() && error.to_string().contains("at most 2147483647"), "{error}");
    let error = DevicePlan::new(&program, Alignment::default()).unwrap_err();
    assert!(error.is_overflow(), "{error}");
}
