//! Every row of the catalogue against an index formula written out here, and against published numbers.

use std::collections::BTreeSet;

use tilewright_core::TensorLayout;
use tilewright_notation::{Spec, catalogue, dtype};

fn resolve(text: &str, dims: &[u64], element: &str) -> TensorLayout {
    let element = dtype(element).ok();
    let spec = Spec::parse(text).unwrap_or_else(|e| panic!("{}", e.render()));
    spec.resolve(Some(dims), element)
        .unwrap_or_else(|e| panic!("{text} {dims:?}: {e}"))
        .layout()
        .clone()
}

fn text(spec: &str, dims: &[u64], element: &str) -> String {
    resolve(spec, dims, element).layout().to_string()
}

/// `x` rounded up to a multiple of `m`.
fn up(x: u64, m: u64) -> u64 {
    x.div_ceil(m) * m
}

/// C0 as the vendors document it: 32 bytes of elements, 64 of 4 bits.
fn c0_of(element: &str) -> u64 {
    match element {
        "f4e2m1fn" => 64,
        "s8" => 32,
        "f16" => 16,
        "f32" => 8,
        other => panic!("{other}"),
    }
}

/// The offset of a matrix element and the cells of the whole: `(i, j, rows, columns, C0)`.
type Matrix = fn(u64, u64, u64, u64, u64) -> (u64, u64);

/// Blocks of `a × b`: number of the block and the place within, both by row-major formulas.
fn z_z(i: u64, j: u64, r: u64, c: u64, a: u64, b: u64) -> (u64, u64) {
    (((i / a) * (up(c, b) / b) + j / b) * a * b + (i % a) * b + j % b, up(r, a) * up(c, b))
}

const MATRICES: &[(&str, Matrix)] = &[
    ("zN", |i, j, r, c, c0| ((j / c0) * up(r, 16) * c0 + i * c0 + j % c0, up(r, 16) * up(c, c0))),
    ("nZ", |i, j, r, c, c0| ((i / c0) * up(c, 16) * c0 + j * c0 + i % c0, up(r, c0) * up(c, 16))),
    ("zZ", |i, j, r, c, c0| z_z(i, j, r, c, 16, c0)),
    ("nN", |i, j, r, c, c0| z_z(j, i, c, r, 16, c0)),
    ("L0C", |i, j, r, c, _| ((j / 16) * up(r, 16) * 16 + i * 16 + j % 16, up(r, 16) * up(c, 16))),
    ("zNUnAlign", |i, j, r, c, c0| ((j / c0) * r * c0 + i * c0 + j % c0, r * up(c, c0))),
    ("Weight4BitnZ", |i, j, r, c, _| {
        ((i / 32) * up(c, 16) * 32 + j * 32 + i % 32, up(r, 32) * up(c, 16))
    }),
    ("PaddingRowMajor[BR=4,BC=8]", |i, j, r, c, _| z_z(i, j, r, c, 4, 8)),
    ("PaddingColumnMajor[BR=4,BC=8]", |i, j, r, c, _| z_z(j, i, c, r, 8, 4)),
    ("MxScaleRowMajorA", |i, j, r, c, _| (i * up(c, 2) + j, r * up(c, 2))),
    ("MxScaleRowMajorB", |i, j, r, c, _| ((i / 2) * 2 * c + 2 * j + i % 2, up(r, 2) * c)),
    ("MxScaleColumnMajorA", |i, j, r, c, _| ((j / 2) * 2 * r + 2 * i + j % 2, r * up(c, 2))),
    ("MxScaleColumnMajorB", |i, j, r, c, _| (j * up(r, 2) + i, up(r, 2) * c)),
    ("MxScalezZ", |i, j, r, c, _| z_z(i, j, r, c, 16, 2)),
    ("MxScalenN", |i, j, r, c, _| z_z(j, i, c, r, 16, 2)),
    ("SCALE_128x4", |i, j, r, c, _| {
        let tile = (i / 128) * (up(c, 4) / 4) + j / 4;
        (tile * 512 + (i % 32) * 16 + (i % 128 / 32) * 4 + j % 4, up(r, 128) * up(c, 4))
    }),
    ("COL32", |i, j, r, c, _| ((j / 32) * 32 * r + i * 32 + j % 32, r * up(c, 32))),
    ("COL4_4R2_8C", |i, j, r, c, _| {
        let within = ((i & 1) << 7)
            + (((i % 8) >> 1) << 2)
            + ((j & 3) + (((j >> 2) & 1) << 4))
            + (((j % 32) >> 3) << 5);
        ((j / 32) * 32 * up(r, 8) + (i / 8) * 256 + within, up(r, 8) * up(c, 32))
    }),
    ("COL32_2R_4R4", |i, j, r, c, _| {
        let row = (((i % 8 / 2) * 4 + i % 32 / 8) * 2 + i % 2) * 32;
        ((j / 32) * 32 * up(r, 32) + (i / 32) * 1024 + row + j % 32, up(r, 32) * up(c, 32))
    }),
    ("TT_TILE", |i, j, r, c, _| {
        let face = (i % 32 / 16) * 2 + j % 32 / 16;
        let tile = (i / 32) * (up(c, 32) / 32) + j / 32;
        (tile * 1024 + face * 256 + (i % 16) * 16 + j % 16, up(r, 32) * up(c, 32))
    }),
    ("TPU_8x128", |i, j, r, c, _| z_z(i, j, r, c, 8, 128)),
    ("TPU_8x128_2x1", |i, j, r, c, _| {
        let tile = (i / 8) * (up(c, 128) / 128) + j / 128;
        (tile * 1024 + (i % 8 / 2) * 256 + (j % 128) * 2 + i % 2, up(r, 8) * up(c, 128))
    }),
    ("TPU_8x128_4x1", |i, j, r, c, _| {
        let tile = (i / 8) * (up(c, 128) / 128) + j / 128;
        (tile * 1024 + (i % 8 / 4) * 512 + (j % 128) * 4 + i % 4, up(r, 8) * up(c, 128))
    }),
];

/// Whether a format is for elements of this type.
fn takes(spec: &str, element: &str) -> bool {
    let bits = dtype(element).unwrap().packed_bits();
    let format = catalogue().find(|format| format.name == name(spec)).unwrap();
    format.widths.is_empty() || format.widths.iter().any(|width| Some(width.bits) == bits)
}

const ELEMENTS: [&str; 4] = ["f4e2m1fn", "s8", "f16", "f32"];
const SHAPES: [[u64; 2]; 7] =
    [[1, 1], [16, 16], [64, 64], [33, 40], [7, 130], [130, 7], [100, 100]];

/// The part of a SPEC before its parameters.
fn name(spec: &str) -> &str {
    spec.split('[').next().unwrap()
}

#[test]
fn matrices_are_where_their_formulas_say() {
    for (spec, formula) in MATRICES {
        for element in ELEMENTS.into_iter().filter(|element| takes(spec, element)) {
            for [r, c] in SHAPES {
                let tensor = resolve(spec, &[r, c], element);
                for (i, j) in (0..r).flat_map(|i| (0..c).map(move |j| (i, j))) {
                    let (offset, capacity) = formula(i, j, r, c, c0_of(element));
                    let at = format!("{spec} {element}[{r},{c}] at ({i},{j})");
                    assert_eq!(tensor.offset(&[i, j]), Ok(offset as i64), "{at}");
                    assert_eq!(tensor.capacity(), capacity, "{at}");
                }
            }
        }
    }
}

/// The offset of an image element: `(n, c, d, h, w, extents, C0)`.
type Image = fn([u64; 5], [u64; 5], u64) -> (u64, u64);

const IMAGES: &[(&str, bool, Image)] = &[
    ("NC1HWC0", false, |[n, c, _, h, w], [ns, cs, _, hs, ws], c0| {
        let c1 = cs.div_ceil(c0);
        ((((n * c1 + c / c0) * hs + h) * ws + w) * c0 + c % c0, ns * c1 * hs * ws * c0)
    }),
    ("NDC1HWC0", true, |[n, c, d, h, w], [ns, cs, ds, hs, ws], c0| {
        let c1 = cs.div_ceil(c0);
        (
            ((((n * ds + d) * c1 + c / c0) * hs + h) * ws + w) * c0 + c % c0,
            ns * ds * c1 * hs * ws * c0,
        )
    }),
    ("FRACTAL_Z", false, |[n, c, _, h, w], [ns, cs, _, hs, ws], c0| {
        let n16 = up(ns, 16);
        (((((c / c0) * hs + h) * ws + w) * n16 + n) * c0 + c % c0, up(cs, c0) * hs * ws * n16)
    }),
    ("FRACTAL_Z_3D", true, |[n, c, d, h, w], [ns, cs, ds, hs, ws], c0| {
        let (n16, c1) = (up(ns, 16), cs.div_ceil(c0));
        let offset = ((((d * c1 + c / c0) * hs + h) * ws + w) * n16 + n) * c0 + c % c0;
        (offset, ds * c1 * hs * ws * n16 * c0)
    }),
    ("CI1KHKWCOCI0", false, |[n, c, _, h, w], [ns, cs, _, hs, ws], c0| {
        (((((c / c0) * hs + h) * ws + w) * ns + n) * c0 + c % c0, up(cs, c0) * hs * ws * ns)
    }),
];

#[test]
fn images_are_where_their_formulas_say() {
    for (spec, has_depth, formula) in IMAGES {
        for element in ELEMENTS {
            for extents in [[1, 1, 1, 1, 1], [2, 40, 2, 3, 5], [17, 33, 3, 2, 1], [16, 64, 1, 3, 3]]
            {
                let [n, c, d, h, w] = extents;
                let extents = if *has_depth { extents } else { [n, c, 1, h, w] };
                let dims = if *has_depth { vec![n, c, d, h, w] } else { vec![n, c, h, w] };
                let tensor = resolve(spec, &dims, element);
                for index in 0..tensor.size() {
                    let coord = tensor.coord_of(index).unwrap();
                    let at = match *coord.as_slice() {
                        [n, c, h, w] => [n, c, 0, h, w],
                        [n, c, d, h, w] => [n, c, d, h, w],
                        _ => panic!("rank"),
                    };
                    let (offset, capacity) = formula(at, extents, c0_of(element));
                    assert_eq!(
                        tensor.offset_of(index),
                        Ok(offset as i64),
                        "{spec} {element} {at:?}"
                    );
                    assert_eq!(tensor.capacity(), capacity, "{spec} {element}{dims:?}");
                }
            }
        }
    }
}

#[test]
fn every_formula_here_is_of_a_row() {
    let written: BTreeSet<&str> =
        MATRICES.iter().map(|row| name(row.0)).chain(IMAGES.iter().map(|row| row.0)).collect();
    let rows: BTreeSet<&str> = catalogue().map(|format| format.name).collect();
    assert!(written.is_subset(&rows));
}

#[test]
fn names_are_unique_and_examples_resolve() {
    let mut names = BTreeSet::new();
    for format in catalogue() {
        assert!(!format.source.is_empty());
        for name in format.aliases.iter().chain([&format.name]) {
            assert!(names.insert(*name), "{name} is listed twice");
        }
        let spec = Spec::parse(format.example).unwrap_or_else(|e| panic!("{}", e.render()));
        assert!(spec.is_concrete() && spec.to_string().contains(format.name));
        let named = spec.resolve(None, None).unwrap();
        assert_eq!(named.to_spec(), format.example);
        for alias in format.aliases {
            let other = Spec::parse(&format.example.replace(format.name, alias)).unwrap();
            assert_eq!(other.resolve(None, None).unwrap().layout(), named.layout());
        }
    }
}

#[test]
fn leading_dims_are_outermost_where_they_are_allowed() {
    let mut seen = 0;
    for format in catalogue() {
        let named = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        // The example's own dims: those of the pattern, which may stand behind others.
        let own = named.layout().extents();
        let own = &own[own.len() - format.axes().len()..];
        let spec = format.example.split_once(' ').unwrap().1;
        let spec = Spec::parse(spec).unwrap();
        assert_eq!(spec.fits(own.len() + 1), format.pattern.starts_with('…'), "{}", format.name);
        if !spec.fits(own.len() + 1) {
            continue;
        }
        let of = |dims: &[u64]| {
            let named = spec.resolve(Some(dims), named.dtype());
            named.unwrap_or_else(|e| panic!("{}: {e}", format.name)).layout().clone()
        };
        let (one, many) = (of(own), of(&[&[2, 3], own].concat()));
        let size = one.size();
        for (batch, element) in [(0u64, 7u64), (1, size - 1), (5, 31)] {
            let element = element.min(size - 1);
            let offset = one.offset_of(element).unwrap() + (batch * one.capacity()) as i64;
            assert_eq!(many.offset_of(batch * size + element), Ok(offset), "{}", format.name);
        }
        assert_eq!(many.capacity(), 6 * one.capacity());
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

/// The dims that makers name are those of the pattern, and a weight's say which counts the inputs.
#[test]
fn every_format_says_its_dims() {
    for format in catalogue() {
        let rank = format.axes().len();
        let own = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        let given = own.layout().rank();
        let leading = format.pattern.starts_with('…');
        assert!(rank == given || (leading && rank < given), "{}", format.name);
        for other in [rank.saturating_sub(1), rank + 1] {
            let spec = Spec::parse(format.example.split_once(' ').unwrap().1).unwrap();
            if spec.fits(other) || other == 0 {
                continue;
            }
            let error = spec.resolve(Some(&vec![8; other]), own.dtype()).unwrap_err();
            let said = error.to_string();
            assert!(error.is_mismatch(), "{said}");
            let order = match format.in_and_out() {
                Some("in, out") => "(in) N (out)",
                Some(_) => "N (out) K",
                None => "dim",
            };
            assert!(said.contains(order), "{} says no {order}: {said}", format.name);
        }
    }
}

/// Every element has a place of its own, inside the storage.
#[test]
fn every_format_is_one_to_one() {
    for format in catalogue() {
        let named = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        let layout = named.layout();
        let places: BTreeSet<i64> =
            (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect();
        assert_eq!(places.len() as u64, layout.size(), "{}", format.name);
        let last = places.last().map_or(-1, |last| *last);
        assert!(places.first() >= Some(&0) && (last as u64) < layout.capacity(), "{}", format.name);
    }
}

/// A format for elements of some widths refuses those of all others, and says its own.
#[test]
fn every_other_width_is_refused() {
    for format in catalogue().filter(|format| !format.widths.is_empty()) {
        let (spec, own) = (format.example.split_once(' ').unwrap().1, format.example);
        let dims = Spec::parse(own).unwrap().resolve(None, None).unwrap();
        for element in ["u2", "u4", "u8", "f16", "f32", "f64"] {
            let element = dtype(element).unwrap();
            let legal = format.widths.iter().any(|one| Some(one.bits) == element.packed_bits());
            let found =
                Spec::parse(spec).unwrap().resolve(Some(dims.layout().extents()), Some(element));
            match found {
                Ok(_) => assert!(legal, "{} takes {element}", format.name),
                Err(error) => {
                    assert!(
                        !legal && error.is_mismatch(),
                        "{} refuses {element}: {error}",
                        format.name
                    );
                    let text = error.to_string();
                    let (_, said) = text.split_once("needs elements of ").unwrap();
                    let (said, _) = said.split_once(" bits").unwrap();
                    let mut widths: Vec<u32> = format.widths.iter().map(|one| one.bits).collect();
                    widths.sort_unstable();
                    let said: Vec<u32> = said
                        .split([',', ' '])
                        .filter(|word| !["", "or"].contains(word))
                        .map(|width| width.parse().unwrap())
                        .collect();
                    assert_eq!(said, widths, "{text}");
                }
            }
        }
    }
}

#[test]
fn numbers_of_the_tla_harness() {
    for (spec, element, dims, expected) in [
        ("zN", "f16", [100, 100], "((16,7),(16,7)):((16,256),(1,1792))"),
        ("nZ", "f16", [100, 100], "((16,7),(16,7)):((1,1792),(16,256))"),
        ("zZ", "f16", [100, 100], "((16,7),(16,7)):((16,1792),(1,256))"),
        ("zN", "s8", [100, 100], "((16,7),(32,4)):((32,512),(1,3584))"),
        ("zN", "f32", [100, 100], "((16,7),(8,13)):((8,128),(1,896))"),
        ("nZ", "f32", [20, 33], "((8,3),(16,3)):((1,384),(8,128))"),
        ("zN", "f16", [32, 48], "((16,2),(16,3)):((16,256),(1,512))"),
        ("L0C", "f32", [100, 40], "((16,7),(16,3)):((16,256),(1,1792))"),
        ("PaddingRowMajor[BR=4,BC=8]", "f16", [10, 20], "((4,3),(8,3)):((8,96),(1,32))"),
    ] {
        assert_eq!(text(spec, &dims, element), expected, "{spec} {element}");
    }
    let zn = resolve("zN", &[100, 100], "f16");
    let offsets = [[0, 16], [16, 0], [99, 99]].map(|coord| zn.offset(&coord).unwrap());
    assert_eq!((offsets, zn.capacity()), ([1792, 256, 12339], 12544));
    assert_eq!(resolve("PaddingRowMajor[BR=4,BC=8]", &[10, 20], "f16").offset(&[5, 9]), Ok(137));
    assert_eq!(resolve("zZ", &[100, 100], "f16").offset(&[1, 1]), Ok(17));
    assert_eq!(resolve("zN", &[100, 100], "f32").offset(&[16, 16]), Ok(1920));
    // Fmap<half>(2,3,5,7) is (2,3,5,7,16):(1680,560,112,16,1), the channels being (C0, C1) here.
    let map = "(2,(16,3),5,7):(1680,(1,560),112,16)";
    assert_eq!(text("NC1HWC0", &[2, 48, 5, 7], "f16"), map);
}

#[test]
fn the_published_table_of_layouts() {
    let (r, c, c0) = (128u64, 256u64, 16u64);
    let (n, ch, d, h, w) = (32u64, 48u64, 2u64, 3u64, 5u64);
    let (c1, n1) = (ch / c0, n / 16);
    let z = h * w * n1 * 16 * c0;
    for (spec, dims, expected) in [
        ("zN", vec![r, c], format!("((16,8),(16,16)):((16,256),(1,{}))", r * c0)),
        ("zZ", vec![r, c], format!("((16,8),(16,16)):((16,{}),(1,256))", c * 16)),
        ("nZ", vec![r, c], format!("((16,8),(16,16)):((1,{}),(16,256))", c * c0)),
        ("nN", vec![r, c], format!("((16,8),(16,16)):((1,256),(16,{}))", r * 16)),
        (
            "NC1HWC0",
            vec![n, ch, h, w],
            format!(
                "({n},(16,{c1}),{h},{w}):({},(1,{}),{},16)",
                c1 * h * w * c0,
                h * w * c0,
                w * c0
            ),
        ),
        (
            "FRACTAL_Z",
            vec![n, ch, h, w],
            format!(
                "((16,{n1}),(16,{c1}),{h},{w}):((16,256),(1,{z}),{},{})",
                w * n1 * 256,
                n1 * 256
            ),
        ),
        (
            "NDC1HWC0",
            vec![n, ch, d, h, w],
            format!(
                "({n},(16,{c1}),{d},{h},{w}):({},(1,{}),{},{},16)",
                d * c1 * h * w * c0,
                h * w * c0,
                c1 * h * w * c0,
                w * c0
            ),
        ),
        (
            "FRACTAL_Z_3D",
            vec![n, ch, d, h, w],
            format!(
                "((16,{n1}),(16,{c1}),{d},{h},{w}):((16,256),(1,{z}),{},{},{})",
                c1 * z,
                w * n1 * 256,
                n1 * 256
            ),
        ),
        ("TPU_8x128", vec![r, c], "((8,16),(128,2)):((128,2048),(1,1024))".into()),
        ("TPU_8x128_2x1", vec![r, c], "((2,4,16),(128,2)):((1,256,2048),(2,1024))".into()),
        ("COL32", vec![r, c], format!("({r},(32,8)):(32,(1,{}))", 32 * r)),
        ("COL4_4R2_8C", vec![r, c], format!("((2,4,16),(4,8,8)):((128,4,256),(1,16,{}))", 32 * r)),
        (
            "COL32_2R_4R4",
            vec![r, c],
            format!("((2,4,4,4),(32,8)):((32,256,64,1024),(1,{}))", 32 * r),
        ),
        ("SCALE_128x4", vec![r, c], format!("((32,4,1),(4,64)):((16,4,{}),(1,512))", 512 * c / 4)),
        (
            "TT_TILE",
            vec![r, c],
            format!("((16,2,4),(16,2,8)):((16,512,{}),(1,256,1024))", 1024 * c / 32),
        ),
    ] {
        let element = if takes(spec, "f16") { "f16" } else { "s8" };
        assert_eq!(text(spec, &dims, element), expected, "{spec}");
    }
}

/// The offset that each bit of a row or column index adds.
fn weights(spec: &str, rows: bool) -> Vec<i64> {
    let tensor = resolve(spec, &[64, 64], "s8");
    let coord = |x| if rows { [x, 0] } else { [0, x] };
    (0..6).map(|bit| tensor.offset(&coord(1 << bit)).unwrap()).collect()
}

#[test]
fn cublaslt_as_measured_on_the_device() {
    for (spec, rows, cols) in [
        ("COL32", [32, 64, 128, 256, 512, 1024], [1, 2, 4, 8, 16, 2048]),
        ("COL4_4R2_8C", [128, 4, 8, 256, 512, 1024], [1, 2, 16, 32, 64, 2048]),
        ("COL32_2R_4R4", [32, 256, 512, 64, 128, 1024], [1, 2, 4, 8, 16, 2048]),
    ] {
        assert_eq!(weights(spec, true), rows, "{spec}");
        assert_eq!(weights(spec, false), cols, "{spec}");
    }
    let cells = |spec| resolve(spec, &[33, 40], "s8").capacity();
    assert_eq!([cells("COL32"), cells("COL4_4R2_8C"), cells("COL32_2R_4R4")], [2112, 2560, 4096]);
    // Anchors of a third party's test that disagree with the device: r1 -> 4, c4 -> 8, r2 -> 64.
    let col4 = resolve("COL4_4R2_8C", &[64, 64], "s8");
    assert_eq!([[1, 0], [0, 4], [2, 0]].map(|c| col4.offset(&c).unwrap()), [128, 16, 4]);
}

#[test]
fn a_leading_dimension_spreads_the_outermost_blocks() {
    for (name, formula) in MATRICES.iter().filter(|row| row.0.starts_with("COL")) {
        for [r, c] in SHAPES {
            let (_, cells) = formula(0, 0, r, c, 32);
            let (blocks, block) = (c.div_ceil(32), cells / c.div_ceil(32));
            for more in [0, 1, 32, 1000] {
                let ld = block + more;
                let tensor = resolve(&format!("{name}[LD={ld}]"), &[r, c], "s8");
                assert_eq!(tensor.capacity(), (blocks - 1) * ld + block, "{name} {r}x{c} {ld}");
                for (i, j) in (0..r).flat_map(|i| (0..c).map(move |j| (i, j))) {
                    let offset = formula(i, j, r, c, 32).0 + (j / 32) * more;
                    assert_eq!(tensor.offset(&[i, j]), Ok(offset as i64), "{name} {ld} {i},{j}");
                }
            }
            let less = Spec::parse(&format!("{name}[LD={}]", block - 1));
            assert!(block == 1 || less.unwrap().resolve(Some(&[r, c]), None).is_err());
        }
    }
    assert_eq!(text("ROW[LD=8]", &[3, 5], "f32"), "(3,5):(8,1)");
    assert_eq!(text("COL[LD=8]", &[3, 5], "f32"), "(3,5):(1,8)");
    assert_eq!(resolve("COL[LD=8]", &[3, 0], "f32").capacity(), 0);
    let huge = Spec::parse("ROW[LD=9223372036854775808]").unwrap();
    assert!(huge.resolve(Some(&[3, 5]), None).unwrap_err().is_overflow());
    assert!(Spec::parse("ROW[LD=8,ld=9]").unwrap_err().to_string().contains("twice"));
    assert_eq!(Spec::parse("COL32[ ld = 2048 ]").unwrap().to_string(), "COL32[LD=2048]");
}

#[test]
fn tpu_tiles_are_xlas() {
    for (format, hlo) in [
        ("TPU_8x128", "{1,0:T(8,128)}"),
        ("TPU_8x128_2x1", "{1,0:T(8,128)(2,1)}"),
        ("TPU_8x128_4x1", "{1,0:T(8,128)(4,1)}"),
    ] {
        let (ours, xla) = (resolve(format, &[20, 300], "s8"), resolve(hlo, &[20, 300], "s8"));
        assert_eq!(ours.capacity(), xla.capacity());
        assert!((0..6000).all(|index| ours.offset_of(index) == xla.offset_of(index)), "{format}");
    }
}

#[test]
fn the_storage_of_a_batch_of_matrices() {
    // dims {8,100,30} of 16 bits are stored as {8,2,112,16}.
    let tensor = resolve("NZ", &[8, 100, 30], "f16");
    assert_eq!(tensor.capacity(), 8 * 2 * 112 * 16);
    assert_eq!(tensor.offset(&[7, 99, 29]), Ok(((7 * 2 + 1) * 112 + 99) * 16 + 13));
}

#[test]
fn elements_of_another_width_are_refused_with_what_to_say_instead() {
    for (format, elements) in [
        ("MARLIN", &["bf16", "s32", "s2"][..]),
        ("AWQ", &["bf16", "s32"]),
        ("GGML_QS4", &["u8", "f16"]),
        ("MMA_M16N8K64_4BIT_A", &["s8"]),
    ] {
        for element in elements {
            let spec = Spec::parse(format).unwrap();
            let error = spec.resolve(Some(&[64, 128]), dtype(element).ok()).unwrap_err();
            let said = error.to_string();
            assert!(error.is_mismatch() && said.contains("4") && said.contains("u4"), "{said}");
            assert!(said.contains(element) && said.contains("->"), "{said}");
        }
    }
}

#[test]
fn a_width_below_a_byte_that_a_name_states_is_implied_and_printed() {
    for (text, bits, printed) in [
        ("u4[3,64] AWQ", Some(4), "u4[3,64]E(4) AWQ"),
        ("u4[3,64]E(4) AWQ", Some(4), "u4[3,64]E(4) AWQ"),
        ("u4[3,64]E(8) AWQ", Some(8), "u4[3,64]E(8) AWQ"),
        ("u8[3,64] AWQ", Some(8), "u8[3,64] AWQ"),
        ("[3,64] GGML_QS4", Some(4), "[3,64]E(4) GGML_QS4"),
        ("u4[32,128] MARLIN_8BIT", Some(4), "u4[32,128]E(4) MARLIN"),
        ("u8[32,128] MARLIN", Some(8), "u8[32,128] MARLIN"),
        ("s4[64,64] zN", Some(8), "s4[64,64] zN"),
        ("s4[64,64]E(4) zN", Some(4), "s4[64,64]E(4) zN"),
    ] {
        let named = Spec::parse(text).unwrap().resolve(None, None).unwrap();
        assert_eq!((named.element_bits(), named.to_spec().as_str()), (bits, printed), "{text}");
        let again = Spec::parse(printed).unwrap().resolve(None, None).unwrap();
        assert_eq!((again.layout(), again.element_bits()), (named.layout(), bits), "{text}");
    }
}

/// A format with its constants set is its pattern with these numbers in their places.
#[test]
fn parameters_are_the_constants_of_the_pattern() {
    let mut checked = 0;
    for format in catalogue().filter(|format| format.widths.is_empty()) {
        let named: Vec<&str> = format.constants.iter().map(|constant| constant.name).collect();
        let dims = Spec::parse(format.example).unwrap().resolve(None, None).unwrap();
        let dims = dims.layout().extents();
        for sizes in [[2, 3, 4, 6], [1, 5, 2, 3]] {
            let set = named.iter().zip(sizes).map(|(name, size)| format!("{name}={size}"));
            let spec = format!("{}[{}]", format.name, set.collect::<Vec<_>>().join(","));
            let put = |text: String, (name, size): (&&str, u64)| {
                text.replace(&format!(":{name}"), &format!(":{size}"))
            };
            let pattern = named.iter().zip(sizes).fold(format.pattern.to_owned(), put);
            if named.is_empty() || named.len() > sizes.len() {
                continue;
            }
            let by_name = Spec::parse(&spec).and_then(|spec| spec.resolve(Some(dims), None));
            let by_pattern = Spec::parse(&pattern).and_then(|spec| spec.resolve(Some(dims), None));
            let layouts =
                [by_name, by_pattern].map(|read| read.map(|named| named.layout().clone()));
            let [by_name, by_pattern] = layouts.map(|read| read.map_err(|error| error.to_string()));
            assert!(by_name.is_ok(), "{spec}: {by_name:?}");
            assert_eq!(by_name, by_pattern, "{spec} is {pattern}");
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}
