//! Laws of moves as maps of bytes: moves compose, a destination depends only on the source's permutation, padding holds
//! the given fill, and neither threads nor cuts change the result.

use proptest::prelude::*;
use tilewright_core::{Digit, Pattern, TensorLayout};
use tilewright_relayout::{Elements, Plan};

/// Bytes that differ from their neighbours.
fn bytes(len: u64) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

fn moved(src: &TensorLayout, dst: &TensorLayout, bits: u32, fill: u128, source: &[u8]) -> Vec<u8> {
    let plan = Plan::new(src, dst, Elements::same(bits), fill).unwrap();
    let mut out = vec![0xA5; plan.dst_bytes() as usize];
    plan.run(source, &mut out, 1).unwrap();
    out
}

fn len(layout: &TensorLayout, bits: u32) -> u64 {
    (layout.capacity() * u64::from(bits)).div_ceil(8)
}

/// Three dims in blocks, the digits in any order of storage.
fn blocked() -> impl Strategy<Value = Pattern> {
    let sizes = prop::array::uniform3(1u64..5);
    (sizes, Just([0, 1, 2, 3, 4, 5]).prop_shuffle()).prop_map(|(sizes, order)| {
        let digit = |i: usize| match i / 3 {
            0 => Digit::fixed(i as u8, 0, sizes[i]),
            _ => Digit::rest(i as u8 - 3, 1),
        };
        Pattern::new(3, &order.map(digit)).unwrap()
    })
}

fn width() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![8u32, 16, 24, 32, 64])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn two_moves_are_one(
        patterns in prop::array::uniform3(blocked()),
        extents in prop::array::uniform3(1u64..10),
        bits in width(),
        fill in any::<u8>(),
    ) {
        let [a, b, c] = patterns.map(|pattern| pattern.layout(&extents).unwrap());
        let source = bytes(len(&a, bits));
        let between = moved(&a, &b, bits, 0, &source);
        let fill = u128::from(fill);
        prop_assert_eq!(
            moved(&b, &c, bits, fill, &between),
            moved(&a, &c, bits, fill, &source)
        );
    }

    #[test]
    fn padding_holds_the_fill_and_elements_do_not(
        pattern in blocked(),
        extents in prop::array::uniform3(1u64..10),
        bits in width(),
        fill in any::<u32>(),
    ) {
        let rows = TensorLayout::row_major(&extents).unwrap();
        let dst = pattern.layout(&extents).unwrap();
        let source = bytes(len(&rows, bits));
        let out = moved(&rows, &dst, bits, u128::from(fill), &source);
        let unit = bits as usize / 8;
        let mut expected: Vec<Vec<u8>> =
            vec![u128::from(fill).to_le_bytes()[..unit].to_vec(); dst.capacity() as usize];
        for (index, element) in source.chunks(unit).enumerate() {
            expected[dst.offset_of(index as u64).unwrap() as usize] = element.to_vec();
        }
        prop_assert_eq!(out, expected.concat());
    }

    #[test]
    fn cuts_and_threads_are_not_seen(
        (a, b) in (blocked(), blocked()),
        extents in prop::array::uniform3(1u64..12),
        bits in width(),
        threads in 1usize..5,
        range in 1u64..200,
    ) {
        let [src, dst] = [a, b].map(|pattern| pattern.layout(&extents).unwrap());
        let source = bytes(len(&src, bits));
        let whole = moved(&src, &dst, bits, 7, &source);
        let plan = Plan::new(&src, &dst, Elements::same(bits), 7).unwrap();
        let mut out = vec![0; whole.len()];
        plan.run(&source, &mut out, threads).unwrap();
        prop_assert_eq!(&out, &whole);
        // Ranges in any order, each from the bytes that it lists.
        let ranges: Vec<_> = plan.ranges(range).collect();
        prop_assert_eq!(ranges.iter().map(|range| range.end - range.start).sum::<u64>(), whole.len() as u64);
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }

    #[test]
    fn bytes_of_padding_in_the_source_are_not_seen(
        (a, b) in (blocked(), blocked()),
        extents in prop::array::uniform3(1u64..10),
        bits in width(),
    ) {
        let [src, dst] = [a, b].map(|pattern| pattern.layout(&extents).unwrap());
        let mut source = bytes(len(&src, bits));
        let out = moved(&src, &dst, bits, 0, &source);
        let unit = bits as usize / 8;
        let mut used = vec![false; src.capacity() as usize];
        (0..src.size()).for_each(|index| used[src.offset_of(index).unwrap() as usize] = true);
        for (element, _) in source.chunks_mut(unit).zip(used).filter(|(_, used)| !used) {
            element.iter_mut().for_each(|byte| *byte = !*byte);
        }
        prop_assert_eq!(moved(&src, &dst, bits, 0, &source), out);
    }
}

/// Orders of three dims are a group: moving by each and back is the identity, for every width of whole bytes.
#[test]
fn every_order_and_back() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for extents in [[2, 3, 4], [1, 7, 5], [16, 8, 4], [33, 1, 17]] {
        for bits in [8, 16, 32, 64, 128] {
            let layouts = orders.map(|order| TensorLayout::ordered(&extents, &order).unwrap());
            let source = bytes(len(&layouts[0], bits));
            for layout in &layouts {
                let there = moved(&layouts[0], layout, bits, 0, &source);
                assert_eq!(moved(layout, &layouts[0], bits, 0, &there), source, "{layout:?}");
                let mut sorted = [there, source.clone()];
                sorted.iter_mut().for_each(|bytes| bytes.sort_unstable());
                assert_eq!(sorted[0], sorted[1], "no byte is lost or made");
            }
        }
    }
}
