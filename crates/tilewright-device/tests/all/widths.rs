//! Packed elements, and widths that change, on the host.

use crate::host::dice::Dice;
use crate::host::{Case, check, check_some};
use tilewright_core::{Fractal, Layout, Swizzle, TensorLayout};
use tilewright_device::{Alignment, DevicePlan, Way};
use tilewright_relayout::{Elements, Extend, Program};

const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

fn of(extents: &[u64], text: &str) -> TensorLayout {
    let layout = Layout::parse(text).unwrap();
    TensorLayout::new(extents, &layout, layout.cosize() as u64).unwrap()
}

fn rows(extents: &[u64]) -> TensorLayout {
    TensorLayout::row_major(extents).unwrap()
}

fn columns(extents: &[u64]) -> TensorLayout {
    TensorLayout::col_major(extents).unwrap()
}

/// Iterates over all pairs of widths, with both kinds of extension.
fn pairs() -> impl Iterator<Item = Elements> {
    let pairs = WIDTHS.into_iter().flat_map(|src_bits| WIDTHS.map(|dst_bits| (src_bits, dst_bits)));
    pairs.flat_map(|(src_bits, dst_bits)| {
        [Extend::Zero, Extend::Sign].map(|extend| Elements { src_bits, dst_bits, extend })
    })
}

#[test]
fn any_widths_in_order_and_transposed() {
    let mut cases = Vec::new();
    for elements in pairs().filter(|elements| elements.src_bits < 8 || elements.dst_bits < 8) {
        for (m, n) in [(9, 11), (33, 70), (1, 1), (64, 128)] {
            let name = format!("{m} by {n}, {elements:?}");
            let (from, to) = (rows(&[m, n]), columns(&[m, n]));
            let mut add = |how: &str, from: &TensorLayout, to: &TensorLayout| {
                let program = Program::new(from, to, elements, 0).unwrap();
                cases.push(Case::new(format!("{name}, {how}"), program));
            };
            add("in order", &from, &from);
            add("transposed", &from, &to);
        }
    }
    check_some(cases);
}

#[test]
fn all_small_transposes_of_nibbles() {
    let mut cases = Vec::new();
    for m in 1..=9 {
        for n in 1..=9 {
            let program =
                |elements| Program::new(&rows(&[m, n]), &columns(&[m, n]), elements, 0).unwrap();
            let at = ((m * 5 % 16) as u8, (n * 3 % 16) as u8);
            let pack = Elements { src_bits: 8, dst_bits: 4, extend: Extend::Zero };
            let unpack = Elements { src_bits: 4, dst_bits: 8, extend: Extend::Sign };
            for elements in [Elements::same(4), pack, unpack] {
                cases.push(
                    Case::new(format!("{m} by {n}, {elements:?}"), program(elements))
                        .at(at.0, at.1),
                );
            }
        }
    }
    check(&cases);
}

/// Vectors of both sides are whole: bits of positions below a byte are exchanged in registers.
#[test]
fn whole_vectors_of_narrow_elements_are_transposed() {
    let mut cases = Vec::new();
    for bits in [1, 2, 4] {
        for (m, n) in [(256, 512), (1024, 128), (640, 384)] {
            let row = rows(&[m, n]);
            for together in [2, 4, 8, 16] {
                // Groups of adjacent rows are interleaved element by element.
                let text = format!(
                    "(({together},{}),{n}):((1,{}),{together})",
                    m / together,
                    together * n
                );
                let tiles = of(&[m, n], &text);
                for (name, from, to) in [("in", &row, &tiles), ("out", &tiles, &row)] {
                    let program = Program::new(from, to, Elements::same(bits), 0).unwrap();
                    let name = format!("{m} by {n}, {bits} bits, {together} rows {name}");
                    cases.push(Case::new(name, program));
                }
            }
        }
    }
    let nibbles = |from: &TensorLayout, to: &TensorLayout, name: &str| {
        Case::new(name, Program::new(from, to, Elements::same(4), 0).unwrap())
    };
    let (row, column) = (rows(&[256, 320]), columns(&[256, 320]));
    cases.push(nibbles(&row, &column, "rows to columns"));
    cases.push(nibbles(&column, &row, "columns to rows").at(0, 0));
    let (dims, reverse) = (rows(&[64, 96, 64]), columns(&[64, 96, 64]));
    cases.push(nibbles(&dims, &reverse, "three dims"));
    for (case, plan) in check(&cases).iter().enumerate() {
        assert_eq!(plan.kernels()[0].way(), Way::Transpose, "{}", cases[case].name);
    }
}

#[test]
fn all_alignments() {
    let mut cases = Vec::new();
    for elements in [(4, 4), (8, 4), (4, 8), (1, 8), (2, 1)] {
        let (src_bits, dst_bits) = elements;
        let elements = Elements { src_bits, dst_bits, extend: Extend::Sign };
        for src in 0..16 {
            for dst in 0..16 {
                let program =
                    Program::new(&rows(&[13, 24]), &columns(&[13, 24]), elements, 0).unwrap();
                cases
                    .push(Case::new(format!("{elements:?} at {src}, {dst}"), program).at(src, dst));
            }
        }
    }
    check(&cases);
}

#[test]
fn wide_elements_change_width() {
    let mut cases = Vec::new();
    for elements in pairs().filter(|elements| elements.src_bits != elements.dst_bits) {
        if elements.src_bits < 8 || elements.dst_bits < 8 {
            continue;
        }
        let program = Program::new(&rows(&[37, 90]), &columns(&[37, 90]), elements, 0).unwrap();
        cases.push(Case::new(format!("{elements:?}"), program).by(Way::Widths));
    }
    check(&cases);
}

#[test]
fn padded_reversed_and_tiled() {
    let mut cases = Vec::new();
    for elements in [Elements::same(4), Elements { src_bits: 8, dst_bits: 4, extend: Extend::Zero }]
    {
        let mut add = |extents: &[u64], src: &str, dst: &str| {
            let program = Program::new(&of(extents, src), &of(extents, dst), elements, 5).unwrap();
            cases.push(Case::new(format!("{src} to {dst}, {elements:?}"), program));
        };
        add(&[12, 34], "(12,34):(34,1)", "(12,34):(1,16)");
        add(&[12, 34], "(12,34):(37,1)", "(12,34):(1,12)");
        add(&[12, 34], "(12,34):(34,-1)+33", "(12,34):(1,12)");
        add(&[300], "(300):(-1)+299", "(300):(1)");
        add(&[6, 8, 10], "(6,8,10):(80,10,1)", "(6,8,10):(1,60,6)");
        add(&[6, 8, 10], "(6,8,10):(80,0,1)", "(6,8,10):(1,60,6)");
    }
    check(&cases);
}

#[test]
fn random_widths() {
    let mut dice = Dice::new(11);
    let all: Vec<Elements> = pairs().collect();
    let mut cases = Vec::new();
    for i in 0..150 {
        let elements = all[dice.below(all.len() as u64) as usize];
        let extents = [1 + dice.below(9), 1 + dice.below(60), 1 + dice.below(60)];
        let (from, to) = (rows(&extents), columns(&extents));
        let (src, dst) = if dice.below(2) == 0 { (from, to) } else { (to, from) };
        let program = Program::new(&src, &dst, elements, 0).unwrap();
        cases.push(Case::new(format!("{i}: {extents:?}, {elements:?}"), program));
    }
    check_some(cases);
}

/// Returns pairs of layouts whose rows, tiles or padding share bytes.
fn sharing() -> Vec<(TensorLayout, TensorLayout)> {
    let tile = Fractal::ZN.pattern(4, 3).layout(&[9, 7]).unwrap();
    let swizzled = |swizzle: Swizzle| {
        let layout = rows(&[16, 16]).layout().with_swizzle(swizzle).unwrap();
        TensorLayout::new(&[16, 16], &layout, 256).unwrap()
    };
    let field = |bits, base, shift| swizzled(Swizzle::new(bits, base, shift).unwrap());
    vec![
        (rows(&[5, 3]), of(&[5, 3], "(5,3):(5,1)")),
        (columns(&[5, 3]), of(&[5, 3], "(5,3):(5,1)")),
        (of(&[5, 3], "(5,3):(5,1)"), of(&[5, 3], "(5,3):(1,7)")),
        (rows(&[5, 3]), of(&[5, 3], "(5,3):(-3,-1)+15")),
        (rows(&[7, 3, 5]), of(&[7, 3, 5], "(7,3,5):(16,-5,1)+10")),
        (rows(&[9, 7]), tile.clone()),
        (tile.clone(), of(&[9, 7], "(9,7):(1,11)")),
        (rows(&[1, 1]), of(&[1, 1], "(1,1):(0,0)+3")),
        (rows(&[0, 3]), rows(&[0, 3])),
        (rows(&[16, 16]), field(1, 0, 4)),
        (field(1, 0, 4), rows(&[16, 16])),
        (rows(&[16, 16]), swizzled(Swizzle::of_images(&[2, 4, 1, 9]).unwrap())),
        (columns(&[16, 16]), field(2, 0, -3)),
    ]
}

#[test]
fn bytes_shared_by_rows_tiles_and_padding() {
    let mut cases = Vec::new();
    for elements in pairs().filter(|elements| elements.src_bits < 8 || elements.dst_bits < 8) {
        for (n, (from, to)) in sharing().iter().enumerate() {
            for fill in [0, 0xA6] {
                let program = Program::new(from, to, elements, fill).unwrap();
                let at = ((n as u8 * 3) % 16, (n as u8 * 5 + 1) % 16);
                let name = format!("{n}: {elements:?}, fill {fill}");
                cases.push(Case::new(name, program).at(at.0, at.1));
            }
        }
    }
    check_some(cases);
}

#[test]
fn parts_keep_what_shares_their_bytes() {
    let mut cases = Vec::new();
    for bits in [1, 2, 4] {
        for (n, (from, to)) in sharing().iter().enumerate() {
            let (whole, rank) = (from.extents(), from.extents().len());
            for part in 0..4 {
                let begin: Vec<u64> = whole.iter().map(|extent| extent / 2 * (part & 1)).collect();
                let room = whole.iter().zip(&begin).map(|(extent, begin)| extent - begin);
                let lengths: Vec<u64> = room.map(|room| room.min(1 + 2 * part)).collect();
                let origin = vec![0; rank];
                for elements in
                    [Elements::same(bits), Elements { src_bits: 8, ..Elements::same(bits) }]
                {
                    let program =
                        Program::of_part((from, &origin), (to, &begin), &lengths, elements);
                    let name = format!("{n}, part {part}: {elements:?}");
                    cases.push(Case::new(name, program.unwrap()).at(3, 7));
                }
            }
        }
    }
    check(&cases);
}

#[test]
fn all_small_rows_with_pitches() {
    let mut cases = Vec::new();
    let bits = [(1, 1), (2, 2), (4, 4), (8, 4), (4, 8)];
    for (src_bits, dst_bits) in bits {
        let elements = Elements { src_bits, dst_bits, extend: Extend::Sign };
        for (m, n) in (1..=4).flat_map(|m| (1..=5).map(move |n| (m, n))) {
            for pitch in n..=n + 2 {
                let to = of(&[m, n], &format!("({m},{n}):({pitch},1)"));
                let program = Program::new(&columns(&[m, n]), &to, elements, 9).unwrap();
                cases.push(
                    Case::new(format!("{m} by {n}, {pitch}, {elements:?}"), program).at(1, 1),
                );
            }
        }
    }
    check(&cases);
}

#[test]
fn interleaved_dims_are_refused() {
    let (from, to) = (rows(&[3, 3]), of(&[3, 3], "(3,3):(3,2)"));
    let program = Program::new(&from, &to, Elements::same(4), 0).unwrap();
    let error = DevicePlan::new(&program, Alignment::default()).unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("interleave"), "{error}");
}
