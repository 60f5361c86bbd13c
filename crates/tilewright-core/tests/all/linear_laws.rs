//! Linear layouts of many bits and dims: the laws at random points, without a heap and without a panic.

use proptest::prelude::*;
use tilewright_core::{Layout, LinearDim, LinearLayout, Mode, Place, Swizzle, TensorLayout};

/// Returns names that begin with `letter`, one for each of these bits.
fn names(letter: &str, bits: &[usize]) -> Vec<String> {
    (0..bits.len()).map(|i| format!("{letter}{i}")).collect()
}

/// Returns a map between these dims; `seed` determines the image of each bit.
fn build(
    (input, ins): (&str, &[usize]),
    (output, outs): (&str, &[usize]),
    seed: &[u64],
) -> LinearLayout {
    let (in_names, out_names) = (names(input, ins), names(output, outs));
    let mut next = seed.iter().cycle().enumerate();
    let mut coord = || {
        let (i, value) = next.next().unwrap();
        let mixed = value.rotate_left(i as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut rest = mixed;
        let cut = outs.iter().map(|&bits| {
            let part = rest & ((1 << bits) - 1);
            rest = rest.rotate_right(bits as u32);
            part
        });
        cut.collect::<Vec<u64>>()
    };
    let bases: Vec<Vec<Vec<u64>>> =
        ins.iter().map(|&bits| (0..bits).map(|_| coord()).collect()).collect();
    let slices: Vec<Vec<&[u64]>> =
        bases.iter().map(|dim| dim.iter().map(Vec::as_slice).collect()).collect();
    let ins: Vec<(&str, &[&[u64]])> =
        in_names.iter().zip(&slices).map(|(name, dim)| (name.as_str(), dim.as_slice())).collect();
    let outs: Vec<(&str, u64)> =
        out_names.iter().zip(outs).map(|(name, &bits)| (name.as_str(), 1 << bits)).collect();
    LinearLayout::new(&ins, &outs).unwrap()
}

fn dims() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..12, 0..5)
}

fn size(dims: &[LinearDim]) -> usize {
    dims.iter().map(LinearDim::bits).sum()
}

/// Returns an index within the map's input.
fn index(map: &LinearLayout, x: u64) -> u64 {
    x & (map.in_size() - 1)
}

/// Bits in reverse order need a mode each with CuTe's swizzle, and one mode with a swizzle of the bases themselves.
#[test]
fn more_bits_than_modes_are_one_mode() {
    for bits in [32, 33, 40, 62] {
        for more in [0, 1 << (bits - 1)] {
            let bases: Vec<[u64; 1]> = (0..bits)
                .map(|bit| [1 << (bits - 1 - bit) | if bit + 1 == bits { more } else { 0 }])
                .collect();
            let bases: Vec<&[u64]> = bases.iter().map(|basis| &basis[..]).collect();
            let map = LinearLayout::new(&[("i", &bases)], &[("offset", 1 << bits)]).unwrap();
            let layout = map.to_swizzled_layout().unwrap();
            assert!(bits == 32 || layout.modes().len() == 1, "{layout}");
            for x in (0..bits).map(|bit| (1 << bits) - 1 - (1 << bit)) {
                assert_eq!(layout.offset_of(x).unwrap() as u64, map.apply_index(x).unwrap());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tilewright_testing::cases(2_000, 600)))]

    #[test]
    fn laws_of_large_maps(
        (a, b, c) in (dims(), dims(), dims()),
        seed in prop::collection::vec(any::<u64>(), 1..40),
        points in prop::collection::vec(any::<u64>(), 8),
    ) {
        let f = build(("a", &a), ("b", &b), &seed);
        let g = build(("b", &b), ("c", &c), &seed[seed.len() / 2..]);
        let both = f.compose(&g).unwrap();
        for pair in points.windows(2) {
            let (x, y) = (index(&f, pair[0]), index(&f, pair[1]));
            let at = |x| f.apply_index(x).unwrap();
            prop_assert_eq!(at(x ^ y), at(x) ^ at(y));
            prop_assert_eq!(both.apply_index(x), g.apply_index(at(x)));
        }
        prop_assert_eq!(f.to_string().parse::<LinearLayout>().unwrap(), f.clone());
        prop_assert!(f.rank() <= size(f.ins()).min(size(f.outs())));
        // The solution has the same image under g as f has, and is not larger than f.
        let back = both.invert_and_compose(&g).unwrap();
        prop_assert_eq!(&back.compose(&g).unwrap(), &both);
        for &point in &points {
            let x = index(&f, point);
            prop_assert!(back.apply_index(x).unwrap() <= f.apply_index(x).unwrap());
        }
        if let Ok(inverse) = f.pseudo_inverse() {
            let there = inverse.compose(&f).unwrap();
            let x = points[0] & (f.out_size() - 1);
            prop_assert_eq!(there.apply_index(x), Ok(x));
        }
        let product = f.product(&g.rename_ins(&names("z", &b).iter().map(String::as_str).collect::<Vec<_>>()).unwrap());
        if let Ok(product) = product {
            let last = product.divide_left(&f).unwrap();
            prop_assert_eq!(f.product(&last).unwrap(), product.clone());
            prop_assert_eq!(product.rank(), f.rank() + g.rank());
        } else {
            prop_assert!(size(f.ins()) + size(g.ins()) > 62 || size(f.outs()) + size(g.outs()) > 62);
        }
    }

    #[test]
    fn every_invertible_map_is_a_layout(
        (bits, dims) in (1usize..=62, 1usize..=3),
        steps in prop::collection::vec(any::<(u8, u8)>(), 0..200),
        points in prop::collection::vec(any::<u64>(), 8),
    ) {
        // Exchanges and xors of columns keep a matrix invertible, and reach all invertible matrices.
        let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        for (a, b) in steps.iter().map(|&(a, b)| (usize::from(a) % bits, usize::from(b) % bits)) {
            if a < b {
                columns.swap(a, b);
            } else if a > b {
                let add = columns[b];
                columns[a] ^= add;
            }
        }
        let lists: Vec<&[u64]> = columns.chunks(bits.div_ceil(dims)).collect();
        let bases: Vec<Vec<[u64; 1]>> =
            lists.iter().map(|list| list.iter().map(|&basis| [basis]).collect()).collect();
        let slices: Vec<Vec<&[u64]>> =
            bases.iter().map(|list| list.iter().map(|basis| &basis[..]).collect()).collect();
        let names = ["a", "b", "c"];
        let ins: Vec<(&str, &[&[u64]])> = names.iter().copied().zip(slices.iter().map(|s| &s[..])).collect();
        let map = LinearLayout::new(&ins, &[("offset", 1 << bits)]).unwrap();
        prop_assert!(map.collision().is_none());
        let layout = map.to_swizzled_layout().unwrap();
        let tensor = TensorLayout::of(&layout);
        prop_assert_eq!(layout.size(), 1 << bits);
        for x in points.iter().map(|x| x % layout.size()) {
            let offset = layout.offset_of(x).unwrap();
            prop_assert_eq!(offset as u64, map.apply_index(x).unwrap());
            let Ok(Place::Element(coord)) = tensor.locate(offset) else { panic!("{layout} {offset}") };
            prop_assert_eq!(tensor.offset(coord.as_slice()), Ok(offset));
        }
        // The same map with other strides: bits of each dim in their order.
        let text = layout.to_string();
        prop_assert_eq!(&Layout::parse(&text).unwrap(), &layout);
        let mut images: Vec<u64> = columns.clone();
        let extents: Vec<u64> = lists.iter().map(|list| 1 << list.len()).collect();
        let plain = TensorLayout::col_major(&extents).unwrap();
        let plain = plain.layout();
        let other = plain.with_swizzle(Swizzle::of_images(&images).unwrap()).unwrap();
        let other = TensorLayout::of(&other);
        if layout.rank() == other.rank() {
            prop_assert_eq!(tensor.same_function(&other), Ok(true));
            // With one more xor, the least significant bit that it changes is the first difference.
            images[0] = columns[bits - 1] ^ if bits > 1 { columns[0] } else { 0 };
            let moved = plain.with_swizzle(Swizzle::of_images(&images).unwrap()).unwrap();
            prop_assert_eq!(tensor.same_function(&TensorLayout::of(&moved)), Ok(bits == 1));
        }
    }

    #[test]
    fn layouts_and_back(
        modes in prop::collection::vec((0u32..5, 0u64..1 << 20), 1..6),
        (bits, base, shift) in (0u8..4, 0u8..6, -6i8..7),
        points in prop::collection::vec(any::<u64>(), 8),
    ) {
        // Strides of powers of two are disjoint about half of the time.
        let modes: Vec<Mode> = modes
            .iter()
            .map(|&(bits, d)| Mode::new(1 << bits, if d % 3 == 0 { d as i64 } else { 1 << (d % 20) }))
            .collect();
        let Ok(swizzle) = Swizzle::new(bits, base, shift) else { return Ok(()) };
        let layout = Layout::flat(&modes).unwrap().with_swizzle(swizzle).unwrap();
        let offset = |layout: &Layout, x: u64| layout.offset_of(x % layout.size()).unwrap();
        match LinearLayout::of_layout(&layout) {
            Ok(map) => {
                let again = map.to_swizzled_layout().unwrap();
                prop_assert!(again.swizzle().bits() <= swizzle.bits());
                for &x in &points {
                    prop_assert_eq!(map.apply_index(x % layout.size()).unwrap() as i64, offset(&layout, x));
                    prop_assert_eq!(offset(&again, x), offset(&layout, x));
                }
            }
            Err(error) => {
                // The witness is a coordinate at which the sum carries.
                let witness = error.witness().unwrap();
                let witness = witness.as_slice();
                let plain = Layout::flat(&modes).unwrap();
                let sum = plain.offset_at(witness).unwrap();
                let mut xor = 0;
                for (axis, &x) in witness.iter().enumerate() {
                    for bit in (0..64).filter(|bit| x >> bit & 1 == 1) {
                        xor ^= (1 << bit) * modes[axis].stride();
                    }
                }
                prop_assert_ne!(sum, xor);
            }
        }
    }

    #[test]
    fn any_text_is_a_map_or_an_error(text in "[-{}\\[\\]()<>=:,0-9a-c aé]{0,60}|\\PC{0,40}") {
        match LinearLayout::parse(&text) {
            Ok(map) => prop_assert_eq!(LinearLayout::parse(&map.to_string()).unwrap(), map),
            Err(error) => {
                let (from, to) = error.span();
                prop_assert!(from <= to && text.get(from..to).is_some(), "{} {:?}", text, (from, to));
            }
        }
    }
}

#[test]
fn no_operation_needs_a_heap() {
    let text = "{register=[[0,1],[0,2]],lane=[[1,0],[2,0]],warp=[[4,0]]} -> (row:8,column:4)";
    let count = allocation_counter::measure(|| {
        let map = LinearLayout::parse(text).unwrap();
        let inverse = map.inverse().unwrap();
        let back = inverse.compose(&map).unwrap();
        assert!(back.flatten_ins().flatten_outs().consecutive() == 32);
        let layout = map.transpose_outs(&["column", "row"]).unwrap().to_layout().unwrap();
        assert_eq!(layout.rank(), 3);
        assert!(LinearLayout::of_layout(&layout).unwrap().product(&map).is_ok());
        assert!(map.divide_left(&map.sublayout(&["register"], &["column"]).unwrap()).is_ok());
        assert!(map.remove_zeros("lane").unwrap().concat_ins(&map).is_err());
    });
    assert_eq!(count.count_total, 0);
}
