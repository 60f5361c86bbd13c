//! The oracle: one element after the other, bit by bit, by the layouts' own offsets.

use tilewright_core::{Fractal, Layout, Step, Swizzle, TensorLayout};
use tilewright_relayout::{Elements, Extend};
use tilewright_testing::{bit, set_bit};

/// The bytes of this many elements, rounded up.
pub(crate) fn bytes_of(elements: u64, bits: u32) -> usize {
    (elements * u64::from(bits)).div_ceil(8) as usize
}

/// Bytes that do not repeat soon.
pub(crate) fn filled(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// The destination, written bit by bit.
pub(crate) fn naive(
    src: &TensorLayout,
    dst: &TensorLayout,
    elements: Elements,
    fill: u128,
    source: &[u8],
) -> Vec<u8> {
    let Elements { src_bits, dst_bits, extend } = elements;
    let (from_bits, to_bits) = (u64::from(src_bits), u64::from(dst_bits));
    let mut out = vec![0; bytes_of(dst.capacity(), dst_bits)];
    for cell in 0..dst.capacity() {
        for i in 0..to_bits {
            set_bit(&mut out, cell * to_bits + i, i < 128 && fill >> i & 1 == 1);
        }
    }
    for index in 0..src.size() {
        let from = src.offset_of(index).unwrap() as u64 * from_bits;
        let to = dst.offset_of(index).unwrap() as u64 * to_bits;
        let sign = extend == Extend::Sign && bit(source, from + from_bits - 1);
        for i in 0..to_bits {
            let value = if i < from_bits { bit(source, from + i) } else { sign };
            set_bit(&mut out, to + i, value);
        }
    }
    out
}

/// Layouts of an m×n matrix: orders, padding, blocks, gaps, reversed, swizzled, merged; the last one
/// repeats one row.
pub(crate) fn layouts(m: u64, n: u64) -> Vec<TensorLayout> {
    let row = TensorLayout::row_major(&[m, n]).unwrap();
    let of = |text: String, capacity: u64| {
        TensorLayout::new(&[m, n], &Layout::parse(&text).unwrap(), capacity).unwrap()
    };
    let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
    let outer = (m * n).div_ceil(4);
    let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
    let merged = Layout::parse(&format!("({outer},4):(4,1)")).unwrap();
    let fractal = |fractal: Fractal, a, b| fractal.pattern(a, b).layout(&[m, n]).unwrap();
    vec![
        row.clone(),
        TensorLayout::col_major(&[m, n]).unwrap(),
        fractal(Fractal::ZN, 4, 4),
        fractal(Fractal::NN, 3, 8),
        fractal(Fractal::ZZ, 16, 2),
        fractal(Fractal::NZ, 5, 7),
        of(format!("({m},{n}):({},1)", n + 6), m * (n + 6) + 3),
        of(format!("({m},{n}):(3,{})", 3 * m), 3 * m * n + 1),
        of(format!("({m},{n}):({n},-1)+{}", n.max(1) - 1), m * n),
        TensorLayout::new(&[m, n], &swizzled, swizzled.cosize() as u64).unwrap(),
        TensorLayout::with_steps(&[m, n], &steps, &merged, outer * 4).unwrap(),
        of(format!("({m},{n}):(0,2)"), 2 * n),
    ]
}
