//! Layouts found from two buffers: every named format, ragged and aligned, from the offsets of the corpus; and the answers for
//! buffers with no layout or with several.

use std::fs;

use serde_json::Value;
use tilewright::{
    Fill, ResolvedLayout, Spec, TensorLayout,
    infer::{Found, Inference, infer},
    notation::catalogue,
    recognise,
};

/// Returns a buffer with element i at `offsets[i]`, and zero elsewhere.
fn packed(values: &[u32], offsets: &[u64], capacity: u64) -> Vec<u8> {
    let mut bytes = vec![0; 4 * capacity as usize];
    for (value, offset) in values.iter().zip(offsets) {
        bytes[4 * *offset as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

fn bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn offsets(layout: &TensorLayout) -> Vec<u64> {
    (0..layout.size()).map(|index| layout.offset_of(index).unwrap() as u64).collect()
}

fn found(answer: Inference, what: &str) -> Found {
    match answer {
        Inference::Found(found) => found,
        other => panic!("{what}: {other:?}"),
    }
}

fn cases() -> impl Iterator<Item = (String, Vec<u64>, u64)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/formats");
    catalogue().flat_map(move |format| {
        let text = fs::read_to_string(format!("{folder}/{}.jsonl", format.name)).unwrap();
        let cases: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        cases.into_iter().map(|case| {
            let text = |key: &str| case[key].as_str().unwrap().to_owned();
            let offsets = case["offsets"].as_array().unwrap();
            let offsets = offsets.iter().map(|at| at.as_u64().unwrap()).collect();
            let spec = format!("{} format:{}", text("array"), text("format"));
            (spec, offsets, case["capacity"].as_u64().unwrap())
        })
    })
}

/// Random bytes moved into a format are at its offsets, and unchanged after the way back, for every case of the corpus with
/// elements of its own width.
#[cfg(feature = "relayout")]
#[test]
fn every_named_format_moves_exactly_both_ways() {
    use tilewright::{Elements, Plan};
    let mut seen = 0;
    for (text, offsets, _) in cases() {
        let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
        let plain = TensorLayout::row_major(named.layout().extents()).unwrap();
        let bits = named.element_bits().unwrap();
        let there = Plan::new(&plain, named.layout(), Elements::same(bits), 0).unwrap();
        let back = Plan::new(named.layout(), &plain, Elements::same(bits), 0).unwrap();
        let mut from = vec![0; there.src_bytes() as usize];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for byte in &mut from {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        let bit = |bytes: &[u8], at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
        // Bits after the last packed element are 0.
        for at in offsets.len() as u64 * u64::from(bits)..8 * from.len() as u64 {
            from[(at / 8) as usize] &= !(1 << (at % 8));
        }
        let (mut stored, mut again) = (vec![0; there.dst_bytes() as usize], vec![0; from.len()]);
        there.run(&from, &mut stored, 1).unwrap();
        back.run(&stored, &mut again, 1).unwrap();
        assert_eq!(again, from, "{text}");
        for (index, to) in offsets.iter().enumerate() {
            let bits = u64::from(bits);
            let same = |b| bit(&from, index as u64 * bits + b) == bit(&stored, to * bits + b);
            assert!((0..bits).all(same), "{text} at {index}");
        }
        seen += 1;
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn every_named_format_is_found_and_named() {
    for (text, offsets, capacity) in cases().step_by(tilewright_testing::cases(1, 2)) {
        let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
        let dims = named.layout().extents();
        let values: Vec<u32> = (0..offsets.len() as u32).collect();
        let packed = packed(&values, &offsets, capacity);
        let found = found(infer(&bytes(&values), dims, &packed, 4), &text);
        assert_eq!(found.layout.same_function(named.layout()), Ok(true), "{text}");
        assert_eq!(found.layout.capacity(), capacity, "{text}");
        let again = ResolvedLayout::new(
            "",
            found.layout,
            named.dtype(),
            named.explicit_bits(),
            Fill::Unspecified,
        );
        let names: Vec<String> = recognise(&again).into_iter().map(|found| found.name).collect();
        let name = text.split("format:").nth(1).unwrap();
        assert!(names.iter().any(|other| other == name), "{text}: {names:?}");
    }
}

#[test]
fn repeated_values_are_enough_while_they_differ_here_and_there() {
    for (text, offsets, capacity) in cases().step_by(tilewright_testing::cases(1, 2)) {
        let named = Spec::parse(&text).unwrap().resolve(None, None).unwrap();
        // 251 values in the order of a hash.
        let value = |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u32 % 251 + 1;
        let values: Vec<u32> = (0..offsets.len() as u64).map(value).collect();
        let packed = packed(&values, &offsets, capacity);
        match infer(&bytes(&values), named.layout().extents(), &packed, 4) {
            Inference::Found(found) => {
                assert_eq!(found.layout.same_function(named.layout()), Ok(true), "{text}");
            }
            Inference::Ambiguous { layouts, .. } => {
                let same = |one: &TensorLayout| one.same_function(named.layout()) == Ok(true);
                assert!(layouts.iter().any(same), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn small_and_thin_arrays_hide_digits_and_are_found() {
    for text in [
        "u32[1,40] zN[C0=16]",
        "u32[40,1] zN[C0=16]",
        "u32[3,4] MMA_M16N8K16_16BIT_A",
        "u32[1,1,3,5] NC1HWC0",
        "u32[5] (m1:2 m0:8) -> m0 m1",
        "u32[10] (m1:4 m0) -> m0 m1",
        "u32[7,5,3] (a1 a0:2) b (c1 c0:4) -> b a1 c1 a0 c0",
        "u32[6,6]{1,0:T(4,4)(2,1)}",
    ] {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        let layout = named.layout();
        let values: Vec<u32> = (1..=layout.size() as u32).collect();
        let packed = packed(&values, &offsets(layout), layout.capacity());
        let found = found(infer(&bytes(&values), layout.extents(), &packed, 4), text);
        assert_eq!(found.layout.same_function(layout), Ok(true), "{text}");
        assert!(found.only);
    }
}

#[test]
fn what_has_no_layout_or_several_is_told() {
    let iota: Vec<u32> = (0..64).collect();
    let none = |packed: &[u8]| match infer(&bytes(&iota), &[8, 8], packed, 4) {
        Inference::None { why } => why,
        other => panic!("{other:?}"),
    };
    let mut wrong = bytes(&iota);
    wrong.swap(4 * 40, 4 * 41);
    assert!(none(&wrong).starts_with("digits "));
    assert!(none(&bytes(&iota[..63])).contains("holds 63 elements, but the array has 64"));
    assert!(none(&[0; 255]).contains("not whole numbers"));
    assert!(
        none(&vec![9; 256])
            .contains("64 elements of the array are not in the packed buffer, the first")
    );
    let mut rotated = iota.clone();
    rotated.rotate_left(3);
    assert!(none(&bytes(&rotated)).contains("element 0"));
    // Constant data, and data constant along rows in a square.
    assert!(matches!(infer(&[3; 64], &[8, 8], &[3; 64], 1), Inference::Ambiguous { .. }));
    let stripes: Vec<u8> = (0..64).map(|i| i % 2).collect();
    assert!(matches!(infer(&stripes, &[8, 8], &stripes, 1), Inference::Ambiguous { .. }));
    assert!(matches!(infer(&[], &[0, 8], &[], 4), Inference::Ambiguous { .. }));
    assert!(matches!(infer(&[1, 2], &[3], &[1, 2], 1), Inference::None { .. }));
    assert!(matches!(infer(&[1, 2], &[u64::MAX, 3], &[1, 2], 1), Inference::None { .. }));
}

/// A changed element is named, with the layout of the others; several are counted.
#[test]
fn changed_elements_are_named_or_counted() {
    for text in
        ["f32[20,40] zN", "f32[3,37]{0,1:T(2,4)}", "f32[8,20,3,3] NC1HWC0", "f32[7,9] col-major"]
    {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        let layout = named.layout();
        let values: Vec<u32> = (1..=layout.size() as u32).collect();
        let right = packed(&values, &offsets(layout), layout.capacity());
        for element in [0, 1, layout.size() / 2, layout.size() - 1] {
            let mut wrong = right.clone();
            let at = layout.offset_of(element).unwrap() as usize;
            wrong[4 * at + 3] = 0x80;
            let answer = infer(&bytes(&values), layout.extents(), &wrong, 4);
            let Inference::AllButOne { layout: found, element: index, cell } = answer else {
                panic!("{text}: {answer:?}")
            };
            assert_eq!((index, cell as usize), (element, at), "{text}");
            assert_eq!(found.same_function(layout), Ok(true), "{text}");
            // The value of another element: this one is there twice, and the changed one is lost.
            wrong[4 * at..4 * at + 4].copy_from_slice(&values[element as usize ^ 2].to_le_bytes());
            let answer = infer(&bytes(&values), layout.extents(), &wrong, 4);
            let Inference::None { why } = answer else { panic!("{text}: {answer:?}") };
            assert!(why.starts_with("1 element of the array is not in the packed buffer"), "{why}");
        }
    }
}

#[test]
fn wide_elements_are_compared_whole() {
    let rows: Vec<u8> = (0..6u8).flat_map(|i| [[0; 15].as_slice(), &[i]].concat()).collect();
    let order = [0, 3, 1, 4, 2, 5];
    let packed: Vec<u8> = order.iter().flat_map(|i| rows[16 * i..16 * i + 16].to_vec()).collect();
    let found = found(infer(&rows, &[2, 3], &packed, 16), "wide");
    assert_eq!(found.layout.layout().to_string(), "(2,3):(1,2)");
}

#[test]
fn dims_and_halves_that_are_stored_backwards_are_found() {
    for text in [
        "(6,5):(-5,1)+25",
        "(6,5):(-5,-1)+29",
        "(6,5):(1,-6)+24",
        "(4,3,2):(6,-2,1)+4",
        "(4,3,2):(-1,4,-12)+15",
        // The halves of the rows, and of the columns of a transposed array, are exchanged.
        "((3,2),5):((5,-15),1)+15",
        "(5,(4,2)):(1,(5,-20))+20",
        // Tiles with their rows in reverse order.
        "((4,3),(4,2)):((4,-32),(1,16))+64",
    ] {
        let layout = TensorLayout::of(&tilewright::Layout::parse(text).unwrap());
        let values: Vec<u32> = (1..=layout.size() as u32).collect();
        let packed = packed(&values, &offsets(&layout), layout.capacity());
        let answer = infer(&bytes(&values), layout.extents(), &packed, 4);
        if text.starts_with("((4,3)") {
            // The search does not try a digit that is neither a dim nor half of one.
            assert!(matches!(answer, Inference::None { .. }), "{answer:?}");
            continue;
        }
        let found = found(answer, text);
        assert_eq!(found.layout.same_function(&layout), Ok(true), "{text}");
        assert!(found.only && found.padding.is_none(), "{text}");
    }
    // Both ends have the same value, so the direction of the dim cannot be decided.
    let answer = infer(&bytes(&[1, 2, 1, 3, 3, 3]), &[2, 3], &bytes(&[3, 3, 3, 1, 2, 1]), 4);
    let Inference::Ambiguous { layouts, .. } = answer else { panic!("{answer:?}") };
    assert!(layouts.len() > 1);
}

/// Returns the offset of every element of an array in row-major order, if the storage `layout` holds its dims `back` in reverse
/// order; `None` if one of those dims is padded.
fn backwards(layout: &TensorLayout, back: usize) -> Option<Vec<u64>> {
    let extents = layout.extents();
    let reversed = |dim: usize| back >> dim & 1 != 0;
    let whole = |dim: usize| layout.layout().axis_size(dim) == Some(extents[dim]);
    if (0..extents.len()).any(|dim| reversed(dim) && !whole(dim)) {
        return None;
    }
    let offset = |index: u64| {
        let (mut left, mut coord) = (index, vec![0; extents.len()]);
        for dim in (0..extents.len()).rev() {
            let x = left % extents[dim];
            coord[dim] = if reversed(dim) { extents[dim] - 1 - x } else { x };
            left /= extents[dim];
        }
        layout.offset(&coord).unwrap() as u64
    };
    Some((0..layout.size()).map(offset).collect())
}

/// Every set of dims backwards, in every order of two or three dims and in blocks, of elements of 1, 2, 4 and 8 bytes.
#[test]
fn every_set_of_dims_backwards_is_found() {
    let orders = [
        "a b -> a b",
        "a b -> b a",
        "a (b1 b0:2) -> b1 a b0",
        "(a1 a0:3) b -> a1 b a0",
        "(a1 a0:2) (b1 b0:3) -> b1 a1 b0 a0",
        "a b c -> a b c",
        "a b c -> a c b",
        "a b c -> b a c",
        "a b c -> b c a",
        "a b c -> c a b",
        "a b c -> c b a",
        "a b (c1 c0:2) -> c1 a b c0",
        "(a1 a0:2) b (c1 c0:2) -> b a1 c1 a0 c0",
    ];
    let shapes: [&[u64]; 9] = [
        &[2, 3],
        &[3, 2],
        &[6, 4],
        &[5, 3],
        &[1, 4],
        &[2, 3, 4],
        &[4, 3, 2],
        &[4, 1, 5],
        &[2, 2, 2],
    ];
    let (mut seen, mut widths) = (0, [1, 2, 4, 8].into_iter().cycle());
    for (order, dims) in orders.iter().flat_map(|order| shapes.map(|dims| (order, dims))) {
        if order.starts_with("a b c") || order.contains("(c1") {
            if dims.len() != 3 {
                continue;
            }
        } else if dims.len() != 2 {
            continue;
        }
        let named = Spec::parse(order).unwrap().resolve(Some(dims), None).unwrap();
        for back in 0..1 << dims.len() {
            let Some(offsets) = backwards(named.layout(), back) else { continue };
            let (width, size) = (widths.next().unwrap(), named.layout().size());
            let element = |i: u64| (i + 1).to_le_bytes()[..width].to_vec();
            let array: Vec<u8> = (0..size).flat_map(element).collect();
            let mut stored = vec![0; width * named.layout().capacity() as usize];
            for (i, at) in offsets.iter().enumerate() {
                stored[width * *at as usize..][..width].copy_from_slice(&element(i as u64));
            }
            let what = format!("{order} of {dims:?}, dims {back:#b} backwards");
            let found = found(infer(&array, dims, &stored, width), &what);
            assert_eq!(self::offsets(&found.layout), offsets, "{what}");
            assert!(found.only, "{what}");
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen}");
}

/// An array of one value has a layout only if the buffer holds the value often enough.
#[test]
fn a_constant_array_is_not_found_where_its_value_is_absent() {
    for packed in [[0u8, 1, 2, 3], [7, 7, 7, 0]] {
        let Inference::None { why } = infer(&[7; 4], &[2, 2], &packed, 1) else { panic!() };
        assert!(why.contains("holds the array's only value"), "{why}");
    }
    assert!(matches!(infer(&[7; 4], &[2, 2], &[0, 7, 7, 7, 7], 1), Inference::Ambiguous { .. }));
}
