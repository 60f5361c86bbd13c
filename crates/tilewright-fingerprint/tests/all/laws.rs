//! Tests of the laws of fingerprints: they are the sum of the definition in every layout; parts add up; packed and
//! unpacked data agree; padding never counts.

use proptest::prelude::*;
use tilewright_core::{ByteOrder, Dtype, Fractal, Layout, TensorLayout};
use tilewright_fingerprint::{Array, Fingerprint, Key};

const PRIME: u128 = (1 << 61) - 1;

/// A small source of numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        self.0.rotate_left(32)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// The coordinates of an array, row-major.
fn coords(extents: &[u64]) -> Vec<Vec<u64>> {
    extents.iter().fold(vec![vec![]], |all, extent| {
        let longer = |coord: Vec<u64>| (0..*extent).map(move |i| [&coord[..], &[i]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

/// Bytes in which the element at each coordinate is `pattern(coord)`, of `bits` bits; the rest is noise.
fn stored(
    layout: &TensorLayout,
    bits: u64,
    pattern: &dyn Fn(&[u64]) -> u128,
    dice: &mut Dice,
) -> Vec<u8> {
    let mut bytes = dice.bytes((layout.capacity() * bits).div_ceil(8) as usize);
    for coord in coords(layout.extents()) {
        let at = layout.offset(&coord).unwrap() as u64;
        for bit in 0..bits {
            let place = at * bits + bit;
            let byte = &mut bytes[(place / 8) as usize];
            let one = (pattern(&coord) >> bit & 1) as u8;
            *byte = *byte & !(1 << (place % 8)) | one << (place % 8);
        }
    }
    bytes
}

fn of(layout: &TensorLayout, dtype: Dtype, bytes: &[u8]) -> Fingerprint {
    Array::new(layout, dtype).unwrap().fingerprint(bytes, &Key::default()).unwrap()
}

fn value(fingerprint: Fingerprint) -> u128 {
    u128::from_str_radix(&fingerprint.to_string(), 16).unwrap()
}

/// The weight of a coordinate, by the fingerprint of an array that is 1 there and 0 elsewhere.
fn weight(coord: &[u64]) -> u128 {
    let one = TensorLayout::row_major(&vec![1; coord.len()]).unwrap();
    let array = Array::new(&one, Dtype::U8).unwrap().at(coord).unwrap();
    value(array.fingerprint(&[1], &Key::default()).unwrap())
}

/// The sum of pattern · weight, element by element.
fn naive(extents: &[u64], pattern: &dyn Fn(&[u64]) -> u128) -> u128 {
    coords(extents).iter().fold(0, |sum, c| (sum + pattern(c) % PRIME * weight(c)) % PRIME)
}

/// A pattern of a coordinate.
fn some(coord: &[u64], bits: u64) -> u128 {
    let number =
        coord.iter().fold(7u64, |all, at| (all ^ at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3);
    u128::from(number) & ((1 << bits) - 1)
}

/// Layouts of many kinds over small extents.
fn layouts(extents: &[u64]) -> Vec<TensorLayout> {
    let (m, n) = (extents[0], extents[1]);
    let mut all = vec![
        TensorLayout::row_major(extents).unwrap(),
        TensorLayout::col_major(extents).unwrap(),
        TensorLayout::row_major(extents).unwrap().with_capacity(m * n + 9).unwrap(),
    ];
    let fractals = [Fractal::ZN, Fractal::NZ, Fractal::ZZ, Fractal::NN];
    for (fractal, (rows, columns)) in fractals
        .into_iter()
        .flat_map(|f| [(16, 16), (2, 4), (3, 5), (16, 8), (1, 24)].map(|t| (f, t)))
    {
        all.push(fractal.pattern(rows, columns).layout(extents).unwrap());
    }
    let texts = [
        format!("({m},{n}):({},1)", n + 3),
        format!("({m},{n}):({},2)", 2 * n),
        format!("({m},{n}):(-{n},1)+{}", n * (m - 1)),
        format!("({m},{n}):(1,-{m})+{}", m * (n - 1)),
        format!("({m},{n}):({n},-1)+{}", n - 1),
        format!("({m},{n}):(1,{})", 2 * m + 1),
        format!("({m},{n}):(17,{})", 17 * m + 40),
    ];
    all.extend(texts.iter().map(|text| TensorLayout::of(&Layout::parse(text).unwrap())));
    let swizzled = format!("Sw<2,1,3> o ({m},{n}):({},1)", n.next_multiple_of(8));
    all.push(TensorLayout::of(&Layout::parse(&swizzled).unwrap()));
    all
}

#[test]
fn every_layout_has_the_sum_that_the_definition_says() {
    let mut dice = Dice(1);
    for extents in
        [[1, 1], [3, 5], [16, 16], [17, 33], [40, 130], [130, 40], [2, 300], [300, 1], [1, 700]]
    {
        let pattern = |coord: &[u64]| some(coord, 16);
        let expected = naive(&extents, &pattern);
        for layout in layouts(&extents) {
            let bytes = stored(&layout, 16, &pattern, &mut dice);
            assert_eq!(value(of(&layout, Dtype::Bf16, &bytes)), expected, "{layout:?}");
        }
    }
}

#[test]
fn every_dtype_has_the_sum_of_its_limbs() {
    let mut dice = Dice(2);
    let extents = [5, 37];
    for dtype in Dtype::all() {
        let Some(bits) = dtype.storage_bits().map(u64::from) else { continue };
        let kept = if dtype == Dtype::Pred { 8 } else { u64::from(dtype.bits().unwrap()) };
        let pattern = |coord: &[u64]| {
            let [a, b] = [0, 9].map(|more| some(&[coord, &[more]].concat(), 64.min(kept)));
            if kept > 64 { a | b << 64 } else { a }
        };
        let found: Vec<Fingerprint> = layouts(&extents)
            .iter()
            .map(|layout| of(layout, dtype, &stored(layout, bits, &pattern, &mut dice)))
            .collect();
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{dtype}");
        // Limbs beyond the first have other weights.
        if kept <= 32 {
            assert_eq!(value(found[0]), naive(&extents, &pattern), "{dtype}");
        }
    }
}

#[test]
fn packed_and_unpacked_values_agree_and_so_do_byte_orders() {
    let mut dice = Dice(3);
    let extents = [7, 50];
    for (dtype, bits) in
        [(Dtype::U4, 4), (Dtype::S4, 4), (Dtype::F4e2m1fn, 4), (Dtype::U2, 2), (Dtype::S1, 1)]
    {
        let pattern = |coord: &[u64]| some(coord, bits);
        for layout in layouts(&extents) {
            // The upper bits of bytes are noise.
            let wide = |coord: &[u64]| pattern(coord) | some(coord, 8) >> bits << bits;
            let unpacked = of(&layout, dtype, &stored(&layout, 8, &wide, &mut dice));
            let array = Array::new(&layout, dtype).unwrap().bits(bits as u32).unwrap();
            let bytes = stored(&layout, bits, &pattern, &mut dice);
            assert_eq!(array.fingerprint(&bytes, &Key::default()).unwrap(), unpacked, "{layout:?}");
        }
    }
    for dtype in [Dtype::F16, Dtype::F32, Dtype::F64, Dtype::C64, Dtype::C128, Dtype::S8] {
        let bits = dtype.storage_bits().unwrap();
        let pattern = |coord: &[u64]| some(coord, 60) | some(&[coord, &[1]].concat(), 60) << 64;
        for layout in layouts(&extents) {
            let little = stored(&layout, bits.into(), &pattern, &mut Dice(4));
            let turned = |coord: &[u64]| ByteOrder::Big.stored(dtype, bits, pattern(coord));
            let big = stored(&layout, bits.into(), &turned, &mut dice);
            let array = Array::new(&layout, dtype).unwrap().order(ByteOrder::Big);
            let found = array.fingerprint(&big, &Key::default()).unwrap();
            assert_eq!(found, of(&layout, dtype, &little), "{dtype} {layout:?}");
        }
    }
}

#[test]
fn the_parts_of_every_cut_add_up() {
    let (extents, key) = ([33, 70], Key::new(5));
    let mut dice = Dice(5);
    for layout in layouts(&extents) {
        let bytes = dice.bytes(2 * layout.capacity() as usize);
        let array = || Array::new(&layout, Dtype::F16).unwrap();
        let whole = array().fingerprint(&bytes, &key).unwrap();
        for _ in 0..20 {
            let (row, column) = (dice.below(34), dice.below(71));
            let part = |rows, columns| {
                array().part(&[rows, columns]).unwrap().fingerprint(&bytes, &key).unwrap()
            };
            let sum = part(0..row, 0..column)
                + part(0..row, column..70)
                + part(row..33, 0..column)
                + part(row..33, column..70);
            assert_eq!(sum, whole, "{layout:?} at {row}, {column}");
        }
    }
}

#[test]
fn parts_in_arrays_of_their_own_add_up() {
    let mut dice = Dice(6);
    let (extents, key) = ([37, 90], Key::default());
    let pattern = |coord: &[u64]| some(coord, 16);
    let rows = TensorLayout::row_major(&extents).unwrap();
    let whole = of(&rows, Dtype::U16, &stored(&rows, 16, &pattern, &mut dice));
    for _ in 0..30 {
        let cuts = [[0, dice.below(37), 37], [0, dice.below(90), 90]];
        let mut sum = Fingerprint::default();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let origin = [cuts[0][i], cuts[1][j]];
            let extents = [cuts[0][i + 1] - origin[0], cuts[1][j + 1] - origin[1]];
            if extents.contains(&0) {
                continue;
            }
            let all = layouts(&extents);
            let layout = &all[dice.below(all.len() as u64) as usize];
            let own = |coord: &[u64]| pattern(&[coord[0] + origin[0], coord[1] + origin[1]]);
            let bytes = stored(layout, 16, &own, &mut dice);
            let array = Array::new(layout, Dtype::U16).unwrap().at(&origin).unwrap();
            sum += array.fingerprint(&bytes, &key).unwrap();
        }
        assert_eq!(sum, whole);
    }
}

#[test]
fn windows_of_any_size_add_up_and_hold_their_elements() {
    let mut dice = Dice(7);
    for layout in layouts(&[50, 60]) {
        let bytes = dice.bytes(4 * layout.capacity() as usize);
        let array = || Array::new(&layout, Dtype::F32).unwrap();
        let whole = array().fingerprint(&bytes, &Key::default()).unwrap();
        for most in [1, 4, 63, 64, 1000, 5000, 1 << 20] {
            let windows: Vec<_> = array().windows(most, &Key::default()).unwrap().collect();
            let own = |window: &tilewright_fingerprint::Window| {
                let range = window.bytes();
                assert!(range.end - range.start <= most.max(4), "{layout:?} {range:?} of {most}");
                window.fingerprint(&bytes[range.start as usize..range.end as usize])
            };
            assert_eq!(windows.iter().map(own).sum::<Fingerprint>(), whole, "{layout:?} {most}");
        }
    }
}

#[test]
fn higher_ranks_empty_arrays_and_scalars() {
    let mut dice = Dice(8);
    let pattern = |coord: &[u64]| some(coord, 8);
    for extents in
        [&[3, 4, 5, 6][..], &[2, 1, 3, 1, 20, 2, 2, 3], &[7], &[], &[1000], &[2, 3, 3, 3]]
    {
        let expected = naive(extents, &pattern);
        for layout in [TensorLayout::row_major(extents), TensorLayout::col_major(extents)] {
            let layout = layout.unwrap();
            let bytes = stored(&layout, 8, &pattern, &mut dice);
            assert_eq!(value(of(&layout, Dtype::F8e5m2, &bytes)), expected, "{layout:?}");
        }
    }
    let empty = TensorLayout::row_major(&[3, 0, 4]).unwrap();
    assert_eq!(of(&empty, Dtype::F32, &[]), Fingerprint::default());
}

#[test]
fn transposed_dims_count_as_those_they_are() {
    let extents = [12, 40, 5];
    let pattern = |coord: &[u64]| some(coord, 16);
    let rows = TensorLayout::row_major(&extents).unwrap();
    let whole = of(&rows, Dtype::F16, &stored(&rows, 16, &pattern, &mut Dice(9)));
    for dims in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let turned = TensorLayout::row_major(&dims.map(|dim| extents[dim])).unwrap();
        let own = |coord: &[u64]| {
            let mut at = [0; 3];
            (0..3).for_each(|i| at[dims[i]] = coord[i]);
            pattern(&at)
        };
        let bytes = stored(&turned, 16, &own, &mut Dice(10));
        let array = Array::new(&turned, Dtype::F16).unwrap();
        assert_eq!(
            array.clone().dims_as(&dims).unwrap().fingerprint(&bytes, &Key::default()).unwrap(),
            whole
        );
        let plain = array.fingerprint(&bytes, &Key::default()).unwrap();
        assert_eq!(plain == whole, dims == [0, 1, 2]);
    }
}

#[test]
fn one_dim_is_summed_alike_wherever_it_begins() {
    let mut dice = Dice(11);
    let pattern = |at: u64| some(&[at], 16);
    for origin in [0, 1, 15, 16, 100, 1023, 1024, 16_383, 1 << 40] {
        for len in [1, 17, 40, 1000, 40_000] {
            let layout = TensorLayout::row_major(&[len]).unwrap();
            let bytes = stored(&layout, 16, &|c| pattern(c[0] + origin), &mut dice);
            let at = |layout: &TensorLayout, at: u64, bytes: &[u8]| {
                let array = Array::new(layout, Dtype::F16).unwrap().at(&[at]).unwrap();
                array.fingerprint(bytes, &Key::default()).unwrap()
            };
            let one = TensorLayout::row_major(&[1]).unwrap();
            let parts = (0..len.min(1000)).map(|i| at(&one, origin + i, &bytes[2 * i as usize..]));
            let expected = parts.sum::<Fingerprint>();
            let rest = (len > 1000).then(|| {
                let rest = TensorLayout::row_major(&[len - 1000]).unwrap();
                at(&rest, origin + 1000, &bytes[2000..])
            });
            assert_eq!(at(&layout, origin, &bytes), expected + rest.unwrap_or_default());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_strided_layouts_agree_with_the_definition(
        digits in proptest::collection::vec((1u64..7, 0u8..3), 1..6),
        order in any::<u64>(),
        origin in proptest::array::uniform3(0u64..200),
    ) {
        // Digits of three dims, stored in any order, with gaps.
        let mut dice = Dice(order);
        let mut stored_as: Vec<usize> = (0..digits.len()).collect();
        (1..stored_as.len()).rev().for_each(|i| stored_as.swap(i, dice.below(i as u64 + 1) as usize));
        let (mut strides, mut stride) = (vec![0; digits.len()], 1);
        for i in stored_as {
            strides[i] = stride;
            stride *= digits[i].0 + dice.below(2);
        }
        let axis = |dim: u8, part: &dyn Fn(usize) -> u64| {
            let own = (0..digits.len()).filter(|i| digits[*i].1 == dim).map(part);
            let own: Vec<String> = std::iter::once(1).chain(own).map(|n| n.to_string()).collect();
            format!("({})", own.join(","))
        };
        let all = |part: &dyn Fn(usize) -> u64| format!("({},{},{})", axis(0, part), axis(1, part), axis(2, part));
        let text = format!("{}:{}", all(&|i| digits[i].0), all(&|i| strides[i]));
        let layout = TensorLayout::of(&Layout::parse(&text).unwrap());
        let pattern = |coord: &[u64]| some(coord, 16);
        let bytes = stored(&layout, 16, &pattern, &mut dice);
        let array = Array::new(&layout, Dtype::F16).unwrap().at(&origin).unwrap();
        let found = array.fingerprint(&bytes, &Key::default()).unwrap();
        let expected = coords(layout.extents()).iter().fold(0, |sum, c| {
            let at: Vec<u64> = c.iter().zip(&origin).map(|(a, b)| a + b).collect();
            (sum + pattern(c) * weight(&at)) % PRIME
        });
        prop_assert_eq!(value(found), expected, "{}", text);
    }
}

/// For all boxes of a small array and all places of them in a whole: the parts of a permuted whole add up to its fingerprint, and a
/// box counts as a row-major array at its place.
#[test]
fn a_part_counts_where_it_is_in_the_whole() {
    let (layout, key) = (TensorLayout::col_major(&[3, 4]).unwrap(), Key::default());
    let bytes: Vec<u8> = (1..=12).collect();
    let boxes = (0..3u64).flat_map(|a| (a + 1..=3).map(move |b| a..b));
    for (rows, columns) in boxes.flat_map(|rows| {
        (0..4u64).flat_map(move |a| {
            let rows = rows.clone();
            (a + 1..=4).map(move |b| (rows.clone(), a..b))
        })
    }) {
        let part = [rows.clone(), columns.clone()];
        let extents = [rows.end - rows.start, columns.end - columns.start];
        let own = TensorLayout::row_major(&extents).unwrap();
        let gathered: Vec<u8> = rows
            .clone()
            .flat_map(|row| columns.clone().map(move |column| (row + 3 * column) as usize))
            .map(|at| bytes[at])
            .collect();
        for start in [[0, 0], [0, 5], [1, 0], [2, 1], [700, 3]] {
            let array = Array::new(&layout, Dtype::U8).unwrap().part_at(&part, &start).unwrap();
            let expected = Array::new(&own, Dtype::U8).unwrap().at(&start).unwrap();
            let expected = expected.fingerprint(&gathered, &key).unwrap();
            assert_eq!(array.fingerprint(&bytes, &key).unwrap(), expected, "{part:?} at {start:?}");
        }
    }
}
