//! What is printed reads back: to_spec, the notations, canonical texts, for random layouts.

use proptest::prelude::*;
use tilewright_core::{Fill, Layout, Mode, TensorLayout};
use tilewright_notation::{ResolvedLayout, Spec, dtype, notations};

const ELEMENTS: [&str; 8] = ["pred", "s4", "u8", "bf16", "f32", "c128", "f8e4m3fn", "f4e2m1fn"];

fn dims(rank: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1u64..=9, rank)
}

fn shuffled(len: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..len).collect::<Vec<_>>()).prop_shuffle()
}

/// A pattern of 1 to 3 axes of 1 to 3 digits, and dims for it.
fn pattern() -> impl Strategy<Value = (String, Vec<u64>)> {
    let axes = prop::collection::vec((1usize..=3, 2u64..=4, 2u64..=3), 1..=3);
    (axes, dims(3..=3)).prop_flat_map(|(axes, dims)| {
        let names: Vec<String> = axes
            .iter()
            .enumerate()
            .flat_map(|(a, (count, ..))| {
                (0..*count).rev().map(move |d| format!("{}{d}", ["m", "n", "k"][a]))
            })
            .collect();
        shuffled(names.len()).prop_map(move |order| {
            let mut text = String::new();
            for (a, (count, first, second)) in axes.iter().enumerate() {
                let letter = ["m", "n", "k"][a];
                text += &match count {
                    1 => format!("{letter}0 "),
                    2 => format!("({letter}1 {letter}0:{first}) "),
                    _ => format!("({letter}2 {letter}1:{second} {letter}0:{first}) "),
                };
            }
            let order: Vec<&str> = order.iter().map(|&i| names[i].as_str()).collect();
            (format!("{text}-> {}", order.join(" ")), dims[..axes.len()].to_vec())
        })
    })
}

/// A general HLO layout, perhaps tiled or padded, and dims for it.
fn hlo() -> impl Strategy<Value = (String, Vec<u64>)> {
    let parts = (dims(0..=3), 0u8..5, 1u64..=4, 1u64..=4, 0u64..=3);
    parts.prop_flat_map(|(dims, form, a, b, extra)| {
        shuffled(dims.len()).prop_map(move |order| {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            let order = order.join(",");
            let widths: Vec<String> = dims.iter().map(|dim| (dim + extra).to_string()).collect();
            let text = match form {
                0 => format!("{{{order}}}"),
                1 => format!("{{{order}:T({a},{b})}}"),
                2 => format!("{{{order}:T({a},{b})({},1)E(4)}}", b + 1),
                3 => format!("{{{order}:T({a},*,{b})L({a})S(1)}}"),
                _ => format!("{{{order}}}pad({})fill(lowest)", widths.join(",")),
            };
            (text, dims.clone())
        })
    })
}

/// An injective or broadcasting layout of nested axes with offset, as CuTe text with suffixes.
fn cute() -> impl Strategy<Value = String> {
    let axis = prop::collection::vec((1u64..=4, -6i64..=12), 1..=3);
    (prop::collection::vec(axis, 1..=3), 0i64..=3, 0u64..=9, any::<bool>()).prop_map(
        |(axes, offset, more, clip)| {
            let modes: Vec<Mode> = axes.iter().flatten().map(|&(e, s)| Mode::new(e, s)).collect();
            let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
            let layout = Layout::nested(&modes, &counts).unwrap().with_offset(offset).unwrap();
            let bare = TensorLayout::of(&layout);
            let valid: Vec<String> = bare
                .extents()
                .iter()
                .map(|e| (if clip { (e - 1).max(1) } else { *e }).to_string())
                .collect();
            format!("{layout} valid ({}) capacity {}", valid.join(","), bare.capacity() + more)
        },
    )
}

fn check(named: &ResolvedLayout) {
    let text = named.to_spec();
    let again = Spec::parse(&text).unwrap_or_else(|e| panic!("{}", e.render())).resolve(None, None);
    let again = again.unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(again.layout(), named.layout(), "{text}");
    assert_eq!(again.dtype(), named.dtype(), "{text}");
    assert_eq!(again.explicit_bits(), named.explicit_bits(), "{text}");
    assert_eq!(again.element_bits(), named.element_bits(), "{text}");
    assert_eq!(again.fill(), named.fill(), "{text}");
    assert_eq!(again.is_bare(), named.is_bare(), "{text}");
    assert_eq!(again.to_spec(), text);
}

/// Checks that what a notation prints reads back to the same map, and returns how many printed.
fn check_prints(named: &ResolvedLayout) -> Vec<&'static str> {
    let tensor = named.layout();
    let mut said = Vec::new();
    for notation in notations() {
        let Ok(text) = notation.print(named) else { continue };
        let spec = Spec::parse(&text).unwrap_or_else(|e| panic!("{}", e.render()));
        let again = spec.resolve(Some(tensor.extents()), named.dtype()).unwrap();
        assert_eq!(again.layout().capacity(), tensor.capacity(), "{text}");
        for index in 0..tensor.size() {
            assert_eq!(
                again.layout().offset_of(index),
                tensor.offset_of(index),
                "{text} at {index}"
            );
        }
        said.push(notation.name());
    }
    said
}

fn element() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(&ELEMENTS[..]))
}

fn fill() -> impl Strategy<Value = Fill> {
    let known =
        vec![Fill::Unspecified, Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest, Fill::Unknown];
    prop_oneof![prop::sample::select(known), any::<u128>().prop_map(Fill::Bits)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn patterns((text, dims) in pattern(), element in element()) {
        let element = element.map(|name| dtype(name).unwrap());
        let named = Spec::parse(&text).unwrap().resolve(Some(&dims), element).unwrap();
        prop_assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
        check(&named);
        let said = check_prints(&named);
        prop_assert!(said.contains(&"cute") && said.contains(&"pattern") && said.contains(&"hlo"));
        // The same layout under no name at all.
        let plain = ResolvedLayout::new("", named.layout().clone(), element, None, Fill::Unspecified);
        check(&plain);
        prop_assert!(check_prints(&plain).len() >= 3);
    }

    #[test]
    fn hlo_layouts((text, dims) in hlo(), element in element()) {
        let element = element.map(|name| dtype(name).unwrap());
        let named = Spec::parse(&text).unwrap().resolve(Some(&dims), element).unwrap();
        check(&named);
        prop_assert!(check_prints(&named).contains(&"hlo"));
        check(&ResolvedLayout::new("?", named.layout().clone(), element, Some(7), Fill::One));
    }

    #[test]
    fn cute_layouts(text in cute(), element in element(), bits in prop::option::of(1u32..=200), fill in fill()) {
        let named = Spec::parse(&text).unwrap().resolve(None, element.map(|e| dtype(e).unwrap())).unwrap();
        check(&named);
        prop_assert!(check_prints(&named).contains(&"cute"));
        check(&ResolvedLayout::new(named.name(), named.layout().clone(), named.dtype(), bits, fill));
    }

    #[test]
    fn orders_and_formats(
        spec in prop::sample::select(&["row-major", "col-major", "{1,0}", "AB->BA", "zN", "nZ[C0=3]", "TT_TILE", "COL32", "zNUnAlign", "AB2a3b2a"][..]),
        dims in dims(2..=2),
        bits in prop::option::of(1u32..=64),
        fill in fill(),
    ) {
        let f16 = dtype("f16").ok();
        let named = Spec::parse(spec).unwrap().resolve(Some(&dims), f16).unwrap();
        check(&named);
        prop_assert!(check_prints(&named).len() >= 3);
        let dressed = ResolvedLayout::new(spec, named.layout().clone(), f16, bits, fill);
        check(&dressed);
        prop_assert!(dressed.to_spec().contains(spec));
    }

    #[test]
    fn any_text_is_a_spec_or_an_error(
        text in prop::collection::vec(prop::sample::select(&[
            "(", ")", ",", ":", "->", "…", "...", "m", "m0", "n1", "16", "3", "0", "C0", "[", "]", "{", "}",
            "=", "zN", "NZ", "nz", "row-major", "NHWC", "AB", "BA", "aB", "Ab", "ab", "16b", "2a", "nChw", "f32", "bf16", "T(2,2)", "T(2,*)", "pad(3,5)",
            "fill(0)", "E(4)", "valid", "capacity", "steps", "split(0,2)", "merge(0,1)", " ", " ", "Sw<2,0,2> o ",
            "cute:", "hlo:", "format:", "pattern:", "order:", "shape:", "numpy:", "shape=", "strides=", "dtype=",
            "torch:", "dlpack:", "arrow:", "safetensors:", "gguf:", "jax:", "Layout(", "major_to_minor=", "tiling=",
            "size=", "stride=", "storage_offset=", "memory_format=channels_last", "byte_offset=", "NULL", "ne=",
            "permutation=", "'", "\"", "typestr", "data_offsets", "{'shape': ", "torch.empty(", "type=",
            "memref<", "2x3xf32", ">", "affine_map<", "(d0, d1) -> (", "d0", "d1 ", "floordiv 2", "mod 2", "strided<[", "*",
            "linalg.pack ", "inner_dims_pos = [0]", "inner_tiles = [2]", "outer_dims_perm = [1,0]", "std::", "layout_left",
            "layout_stride", "_padded<4>", "::mapping(", "extents(2,3)", "halide:", "{0,2,1}", "einops:", "rearrange(",
            "preset=", "torch_npu", "(2,3)", ":(3,1)", "[2,3]", "{1,0}", "-", "+", "é", "99999999999999999999",
        ][..]), 0..9).prop_map(|parts| parts.concat()),
        dims in prop::collection::vec(prop_oneof![0u64..=5, any::<u64>()], 0..4),
    ) {
        any_text(&text, &dims);
    }

    #[test]
    fn any_unicode_is_a_spec_or_an_error(text in "\\PC{0,60}") {
        any_text(&text, &[2, 3]);
    }
}

fn any_text(text: &str, dims: &[u64]) {
    match Spec::parse(text) {
        Ok(spec) => {
            let canonical = spec.to_string();
            let again =
                Spec::parse(&canonical).unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
            assert_eq!(again.to_string(), canonical, "{text}");
            for (dims, element) in
                [(None, None), (Some(dims), None), (Some(dims), dtype("s4").ok())]
            {
                let (one, two) = (spec.resolve(dims, element), again.resolve(dims, element));
                assert_eq!(one, two, "{text}");
                let Ok(named) = one else { continue };
                assert!(spec.fits(named.layout().rank()), "{text}");
                check(&named);
                for notation in notations() {
                    let _ = notation.print(&named);
                }
            }
        }
        Err(error) => {
            let (from, to) = error.span().unwrap_or((0, 0));
            assert!(from <= to && to <= text.len(), "{text}: {from}..{to}");
            assert!(
                text.is_char_boundary(from) && text.is_char_boundary(to),
                "{text}: {from}..{to}"
            );
            assert!(
                !error.to_string().is_empty() && error.render().starts_with(&error.to_string())
            );
        }
    }
}

#[test]
fn layouts_with_steps_and_no_name() {
    for (text, dims) in [("{2,1,0:T(2,*,4)}", &[4, 3, 5][..]), ("{1,0:T(3,4)(2,1)}", &[7, 9])] {
        let named = Spec::parse(text).unwrap().resolve(Some(dims), None).unwrap();
        assert!(!named.layout().is_strided(), "{text}");
        let plain =
            ResolvedLayout::new("", named.layout().clone(), dtype("f32").ok(), Some(3), Fill::Zero);
        check(&plain);
        assert!(plain.to_spec().contains(" steps "), "{}", plain.to_spec());
    }
}
