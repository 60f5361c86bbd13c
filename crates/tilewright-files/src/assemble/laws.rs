//! Tests of the law: every element of a result is that of a loop over the digits of its parts, for all small digits, in all
//! orders, with sums, layouts on both sides, any bound on memory and any number of threads.

use std::{collections::BTreeSet, fs, path::Path};

use proptest::prelude::*;
use tempfile::TempDir;
use tilewright_core::Dtype;
use tilewright_notation::Spec;
use tilewright_recipe::{Assembly, Digit, Equal, Made, Origin, Part, Recipe, Sizes};
use tilewright_transfer::Limits;

use super::{
    Assembling, Packaging,
    recorded::{Remade, Unlike},
};
use crate::{Conversion, Input, Reading, Request, Tensor, open};

/// Returns the bytes of a safetensors file of these tensors: names, types, extents, data.
pub(crate) fn file(tensors: &[(&str, &str, &[u64], &[u8])], metadata: &str) -> Vec<u8> {
    let (mut header, mut data) = (format!("{{\"__metadata__\":{{{metadata}}}"), Vec::new());
    for (name, dtype, dims, bytes) in tensors {
        let (from, to) = (data.len(), data.len() + bytes.len());
        header += &format!(
            r#","{name}":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[{from},{to}]}}"#
        );
        data.extend_from_slice(bytes);
    }
    header += "}";
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// Writes tensors of 16 bits, whose elements are distinct numbers.
pub(crate) fn numbered(path: &Path, tensors: &[(&str, &[u64])]) {
    let mut next = 1u16;
    let data: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, dims)| {
            let size = dims.iter().product::<u64>();
            (0..size)
                .flat_map(|_| {
                    next = next.wrapping_add(1);
                    next.to_le_bytes()
                })
                .collect()
        })
        .collect();
    let tensors: Vec<_> = tensors
        .iter()
        .zip(&data)
        .map(|((name, dims), data)| (*name, "U16", *dims, data.as_slice()))
        .collect();
    fs::write(path, file(&tensors, r#""format":"pt""#)).unwrap();
}

/// Returns the bytes of the only file of an input.
fn bytes_of(input: &Input) -> Vec<u8> {
    fs::read(input.files().next().unwrap()).unwrap()
}

/// Returns the elements of a tensor in rows, as bytes, through its layout.
fn elements(input: &Input, number: usize) -> Vec<Vec<u8>> {
    elements_in(&bytes_of(input), input, number)
}

/// Returns the coordinate of a row-major index.
fn coord_of(tensor: &Tensor, index: u64) -> Vec<u64> {
    tilewright_core::unravel_index(index, tensor.dims()).collect()
}

/// Returns the position of an element in the file of its tensor, and its number of bytes.
fn place_of(tensor: &Tensor, index: u64) -> (usize, usize) {
    let (width, layout) = (u64::from(tensor.bits() / 8), tensor.held.map());
    let offset = layout.offset(&coord_of(tensor, index)).unwrap() as u64;
    ((tensor.pieces()[0].at() + offset * width) as usize, width as usize)
}

/// Returns the same from the bytes of the input's only file.
fn elements_in(bytes: &[u8], input: &Input, number: usize) -> Vec<Vec<u8>> {
    let tensor = &input.tensors()[number];
    let at = |index| {
        let (at, width) = place_of(tensor, index);
        let mut element = bytes[at..at + width].to_vec();
        if tensor.held.order.is_big() {
            element.reverse();
        }
        element
    };
    (0..tensor.dims().iter().product()).map(at).collect()
}

/// Returns the elements of a result, from its definition.
fn interpreted(made: &Made, input: &Input) -> Vec<Vec<u8>> {
    let size = made.extents.iter().product::<u64>() as usize;
    let mut out = vec![None; size];
    for part in &made.parts {
        let (from, fill) = match part.origin {
            Origin::Source { tensor, offset } => (Some((elements(input, tensor), offset)), 0),
            Origin::Fill(bits) => (None, bits),
        };
        for number in 0..part.elements() {
            let (mut rest, mut at, mut source) = (number, part.offset, 0);
            for digit in part.digits.iter().rev() {
                at += rest % digit.extent * digit.made;
                source += rest % digit.extent * digit.source;
                rest /= digit.extent;
            }
            let width = made.dtype.bits().unwrap() as usize / 8;
            let element = match &from {
                Some((elements, offset)) => elements[(offset + source) as usize].clone(),
                None => fill.to_le_bytes()[..width].to_vec(),
            };
            assert!(
                out[at as usize].replace(element).is_none(),
                "{at} of {:?} comes twice",
                made.name
            );
        }
    }
    out.into_iter().map(Option::unwrap).collect()
}

/// The memory of results that are verified, and of a source with conditions: comparing has lists of what it reads. A request has at
/// least 4096 bytes.
const LISTS: u64 = 700;

/// Runs with this bound on the memory of boxes, even below the least that a request may have.
pub(crate) fn run(
    input: &Input,
    assembly: &Assembly,
    out: &Path,
    memory: u64,
    threads: usize,
) -> Result<(), String> {
    // Verification needs room for the lists of what it reads, which a request always has.
    let request = Request::new().threads(threads).verify(memory >= LISTS).force(true);
    let packaging = Packaging::default();
    let mut job = Assembling::prepare(input, assembly, out, request, &packaging)
        .map_err(|error| error.to_string())?;
    job.frame.request.memory = memory;
    let report = job.run(&()).map_err(|error| error.to_string())?;
    assert!(report.peak_memory() <= memory, "{} of {memory}", report.peak_memory());
    Ok(())
}

/// Returns the coordinate of the first element of a tensor that differs from the recipe, if one does.
fn different(remade: &Remade<'_>, name: &str, (memory, threads): (u64, usize)) -> Option<Vec<u64>> {
    let limits = Limits::new(&(), memory, threads);
    let found = remade.differences(&|own, _| own == name, 1, &limits).unwrap();
    found.into_iter().next().map(|found| match found.unlike {
        Unlike::Element(found) => found.coord,
        other => panic!("{name}: {other:?}"),
    })
}

/// Changes every `step`th element of a result in turn, alone, together with a later one, and exchanged with another: comparing by
/// the recipe finds the first of them. Returns the number of changes.
fn check_changes(input: &Input, assembly: &Assembly, out: &Path, step: usize) -> usize {
    let result = open(out, &Reading::default()).unwrap();
    let (whole, file) = (bytes_of(&result), result.files().next().unwrap().to_path_buf());
    let remade = Remade::new(&result, input, assembly);
    let mut changes = 0;
    for tensor in result.tensors() {
        let size: u64 = tensor.dims().iter().product();
        let bounds = [(LISTS, 1), (2000, 2), (2 << 20, 3)];
        assert_eq!(different(&remade, tensor.name(), bounds[1]), None, "{}", tensor.name());
        for index in (0..size).step_by(step) {
            let bound = bounds[index as usize % bounds.len()];
            let other = (index * 7 + 3) % size;
            let [(at, width), (to, _)] = [index, other].map(|index| place_of(tensor, index));
            let mut expect = |bytes: &[u8], first: Option<u64>| {
                fs::write(&file, bytes).unwrap();
                let expected = first.map(|index| coord_of(tensor, index));
                assert_eq!(different(&remade, tensor.name(), bound), expected, "{}", tensor.name());
                changes += 1;
            };
            let mut bytes = whole.clone();
            bytes[at + width - 1] ^= 1;
            expect(&bytes, Some(index));
            bytes[to] ^= 4;
            expect(&bytes, Some(index.min(other)));
            bytes.copy_from_slice(&whole);
            for byte in 0..width {
                bytes.swap(at + byte, to + byte);
            }
            expect(&bytes, (bytes != whole).then_some(index.min(other)));
        }
    }
    fs::write(&file, &whole).unwrap();
    changes
}

/// Runs with each of these bounds on memory and numbers of threads, and compares with the definition.
fn check(
    input: &Input,
    assembly: &Assembly,
    folder: &TempDir,
    runs: impl IntoIterator<Item = (u64, usize)>,
) {
    let all: Vec<_> = assembly.made.iter().map(|made| interpreted(made, input)).collect();
    let out = folder.path().join("out.safetensors");
    for (memory, threads) in runs {
        run(input, assembly, &out, memory, threads).unwrap();
        let result = open(&out, &Reading::default()).unwrap();
        let bytes = bytes_of(&result);
        assert_eq!(result.tensors().len(), assembly.made.len());
        for (made, expected) in assembly.made.iter().zip(&all) {
            let is = |tensor: &Tensor| tensor.name() == made.name;
            let number = result.tensors().iter().position(is).unwrap();
            assert_eq!(result.tensors()[number].dims(), made.extents);
            let is = elements_in(&bytes, &result, number);
            let first = is.iter().zip(expected).position(|(is, expected)| is != expected);
            assert_eq!(first, None, "{:?} with {memory} bytes and {threads} threads", made.name);
        }
    }
    let elements = |made: &Made| made.extents.iter().product::<u64>() as usize;
    let size: usize = assembly.made.iter().map(elements).sum();
    // Every element of small results; some of large ones.
    check_changes(input, assembly, &out, tilewright_testing::cases(1, size / 200 + 1));
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "what a run leaves beside its result"
    );
}

/// Returns the strides of digits stored in this order, outermost first.
fn strides(order: &[usize], extents: &[u64]) -> Vec<u64> {
    let mut strides = vec![0; extents.len()];
    order.iter().rev().fold(1, |inner, digit| {
        strides[*digit] = inner;
        inner * extents[*digit]
    });
    strides
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = orders(count - 1);
    let longer = |order: &Vec<usize>| {
        let order = order.clone();
        (0..count)
            .map(move |place| {
                let mut order = order.clone();
                order.insert(place, count - 1);
                order
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(longer).collect()
}

/// Returns terms like `abc` of two sources, concatenated at every digit of every order of the result.
pub(crate) fn sums(extents: [u64; 3]) -> Assembly {
    let mut made = Vec::new();
    for (number, to) in orders(3).iter().enumerate() {
        for (first, second) in orders(3).iter().zip(orders(3).iter().cycle().skip(number)) {
            // The digit along which the terms are concatenated: both terms have it whole.
            for place in 0..3 {
                let sum = to[place];
                let mut wide = extents;
                wide[sum] *= 2;
                let strides_to = strides(to, &wide);
                let part = |tensor: usize, order: &[usize]| {
                    let from = strides(order, &extents);
                    let digits = to.iter().map(|&it| Digit {
                        extent: extents[it],
                        source: from[it],
                        made: strides_to[it],
                    });
                    let offset = tensor as u64 * extents[sum] * strides_to[sum];
                    Part {
                        origin: Origin::Source { tensor, offset: 0 },
                        offset,
                        digits: digits.collect(),
                    }
                };
                let name = format!("{to:?}{first:?}{second:?}{place}");
                let parts = vec![part(0, first), part(1, second)];
                let extents = to.iter().map(|digit| wide[*digit]).collect();
                made.push(Made { name, dtype: Dtype::U16, extents, layout: None, parts });
            }
        }
    }
    Assembly { made, ..Assembly::default() }
}

pub(crate) const MEMORIES: [u64; 5] = [100, 333, 1000, 5000, 2 << 20];

#[test]
fn all_orders_of_three_digits_with_a_sum_at_each() {
    for extents in [[2, 3, 4], [4, 1, 3], [5, 5, 2]] {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("in.safetensors");
        let size = extents.iter().product();
        numbered(&path, &[("a", &[size]), ("b", &[size])]);
        let input = open(&path, &Reading::default()).unwrap();
        let assembly = sums(extents);
        let runs = MEMORIES.iter().flat_map(|memory| (1..4).map(move |threads| (*memory, threads)));
        check(&input, &assembly, &folder, runs);
    }
}

#[test]
fn layouts_on_both_sides_are_composed_with_the_digits() {
    let folder = tilewright_testing::folder();
    let (path, plain) =
        (folder.path().join("in.safetensors"), folder.path().join("plain.safetensors"));
    let specs = [
        "col-major",
        "zN[M0=4,C0=4]",
        "{0,1:T(4,2)}",
        "(m m0:3) (n) -> m n m0",
        "{1,0}pad(16,20)fill(one)",
    ];
    for spec in specs {
        numbered(&plain, &[("a", &[12, 10]), ("b", &[12, 10])]);
        let input = open(&plain, &Reading::default()).unwrap();
        let request = Request::new().to(Spec::parse(spec).unwrap()).force(true);
        Conversion::prepare(&input, &path, request).unwrap().run(&()).unwrap();
        fs::remove_file(&plain).unwrap();
        let input = open(&path, &Reading::default()).unwrap();
        let mut made = Vec::new();
        for (number, layout) in specs.iter().enumerate() {
            // Rows interleaved in pairs, columns permuted; then the transpose.
            let part = |tensor: usize, turned: bool| {
                let (row, column) = if turned { (1, 24) } else { (10, 1) };
                let digits = [(6, 20, 4 * row), (2, 10, row), (5, 2, column), (2, 1, 5 * column)];
                let digits = digits.map(|(extent, source, made)| Digit { extent, source, made });
                Part {
                    origin: Origin::Source { tensor, offset: 0 },
                    offset: 2 * row * tensor as u64,
                    digits: digits.to_vec(),
                }
            };
            for (turned, extents) in [(false, vec![24, 10]), (true, vec![10, 24])] {
                let parts = vec![part(0, turned), part(1, turned)];
                let (name, layout) = (format!("{number}{turned}"), Some((*layout).to_owned()));
                let layout = layout.filter(|text| !text.contains("pad"));
                made.push(Made { name, dtype: Dtype::U16, extents, layout, parts });
            }
        }
        let assembly = Assembly { made, ..Assembly::default() };
        check(&input, &assembly, &folder, MEMORIES.map(|memory| (memory, 2)));
        let result = open(folder.path().join("out.safetensors"), &Reading::default()).unwrap();
        let noted = result.metadata().filter(|(key, _)| key.starts_with("tilewright.layout."));
        assert_eq!(noted.count(), 8);
    }
}

#[test]
fn copies_fills_and_single_elements() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    numbered(&path, &[("a", &[4, 6])]);
    let input = open(&path, &Reading::default()).unwrap();
    let source = |offset| Origin::Source { tensor: 0, offset };
    let digit = |extent, source, made| Digit { extent, source, made };
    // Each row three times, followed by a row of a fill.
    let copies = Part {
        origin: source(0),
        offset: 0,
        digits: vec![digit(4, 6, 24), digit(3, 0, 6), digit(6, 1, 1)],
    };
    let fill = Part {
        origin: Origin::Fill(0xabcd),
        offset: 18,
        digits: vec![digit(4, 0, 24), digit(6, 0, 1)],
    };
    let one = Part { origin: source(7), offset: 0, digits: vec![] };
    let made = |name: &str, extents: &[u64], parts| Made {
        name: name.into(),
        dtype: Dtype::U16,
        extents: extents.into(),
        layout: None,
        parts,
    };
    let assembly = Assembly {
        made: vec![
            made("copies", &[4, 4, 6], vec![fill, copies]),
            made("one", &[], vec![one]),
            made("none", &[0, 3], vec![]),
        ],
        equal: vec![Equal {
            first: source(0),
            second: source(0),
            digits: vec![digit(4, 6, 6)],
            why: "itself".into(),
        }],
        metadata: vec![("tilewright.recipe".into(), "x".into())],
        ..Assembly::default()
    };
    check(&input, &assembly, &folder, MEMORIES.iter().skip(2).map(|memory| (*memory, 1)));
    let result = open(folder.path().join("out.safetensors"), &Reading::default()).unwrap();
    assert!(result.metadata().eq([("format", "pt"), ("tilewright.recipe", "x")]));
}

#[test]
fn halves_widen_and_narrow_or_are_refused() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let dims: &[u64] = &[256, 256];
    fs::write(&path, file(&[("bf16", "BF16", dims, &halves), ("f16", "F16", dims, &halves)], ""))
        .unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    let turned = vec![
        Digit { extent: 256, source: 1, made: 256 },
        Digit { extent: 256, source: 256, made: 1 },
    ];
    let made = |name: &str, tensor, dtype| {
        let part = Part {
            origin: Origin::Source { tensor, offset: 0 },
            offset: 0,
            digits: turned.clone(),
        };
        Made { name: name.into(), dtype, extents: dims.into(), layout: None, parts: vec![part] }
    };
    let wide = Assembly {
        made: vec![made("bf16", 0, Dtype::F32), made("f16", 1, Dtype::F32)],
        ..Assembly::default()
    };
    let back = Assembly {
        made: vec![made("bf16", 0, Dtype::Bf16), made("f16", 1, Dtype::F16)],
        ..Assembly::default()
    };
    let (there, again) =
        (folder.path().join("wide.safetensors"), folder.path().join("again.safetensors"));
    let expected = [0, 1].map(|number| elements(&input, number));
    for memory in [300, 10_000, 1 << 20] {
        run(&input, &wide, &there, memory, 2).unwrap();
        let widened = open(&there, &Reading::default()).unwrap();
        run(&widened, &back, &again, memory, 2).unwrap();
        let result = open(&again, &Reading::default()).unwrap();
        assert!([0, 1].map(|number| elements(&result, number)) == expected, "{memory} bytes");
    }
    // One bit more than f16 can hold, at [1, 2] of the source.
    let mut bytes = fs::read(&there).unwrap();
    let at = bytes.len() - 256 * 256 * 4 + (256 + 2) * 4;
    bytes[at] |= 1;
    fs::write(&there, bytes).unwrap();
    let widened = open(&there, &Reading::default()).unwrap();
    let none = folder.path().join("none.safetensors");
    let said = run(&widened, &back, &none, 10_000, 1).unwrap_err();
    assert!(
        said.contains("tensor \"f16\" of f16 would lose bits: \"f16\" of f32 has 0x")
            && said.contains("at [1, 2]"),
        "{said}"
    );
    assert!(!none.exists());
    let computed = Assembly { made: vec![made("x", 0, Dtype::F16)], ..Assembly::default() };
    let said = run(&input, &computed, &none, 10_000, 1).unwrap_err();
    assert!(said.contains("recipes move values and do not compute"), "{said}");
}

/// Element types that change and that do not, into and from layouts and byte orders: with each memory, the result is that of
/// ample memory, byte by byte.
#[test]
fn any_memory_gives_the_same_bytes() {
    let folder = tilewright_testing::folder();
    let path = folder.path().join("in.safetensors");
    let dims: &[u64] = &[37, 53];
    let size = dims.iter().product::<u64>() as usize;
    let halves: Vec<u8> = (0..size).flat_map(|n| (0x3c00 + n as u16).to_le_bytes()).collect();
    let wide: Vec<u8> =
        (0..size).flat_map(|n| [[0, 0], (0x3c00 + n as u16).to_le_bytes()].concat()).collect();
    let bytes: Vec<u8> = (0..size).map(|n| (n * 7 + n / 251) as u8).collect();
    let long: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 1, 2, 3, 4, 5, 6, 7]).collect();
    let tensors = [
        ("bf16", "BF16", dims, &*halves),
        ("f16", "F16", dims, &*halves),
        ("f32", "F32", dims, &*wide),
        ("u8", "U8", dims, &*bytes),
        ("s64", "I64", dims, &*long),
    ];
    fs::write(&path, file(&tensors, "")).unwrap();
    let plain = open(&path, &Reading::default()).unwrap();
    let tiled = folder.path().join("tiled.safetensors");
    let request = Request::new().to(Spec::parse("zN[M0=4,C0=4]").unwrap());
    Conversion::prepare(&plain, &tiled, request).unwrap().run(&()).unwrap();
    let made = [
        (0, Dtype::F32),
        (1, Dtype::F32),
        (2, Dtype::Bf16),
        (0, Dtype::Bf16),
        (3, Dtype::U8),
        (4, Dtype::S64),
    ];
    let turned = [(53, 1, 37), (37, 53, 1)];
    let digits = turned.map(|(extent, source, made)| Digit { extent, source, made });
    let steps = tilewright_testing::cases(97, 1801);
    let turned_bytes = folder.path().join("in.npy");
    big_endian(&turned_bytes, [37, 53]);
    let [tiled, turned_bytes] =
        [tiled, turned_bytes].map(|path| open(path, &Reading::default()).unwrap());
    let inputs = [(plain, &made[..]), (tiled, &made[..]), (turned_bytes, &[(0, Dtype::U16)])];
    for (input, made) in inputs {
        for layout in [None, Some("zN[M0=4,C0=4]"), Some("col-major"), Some("table(0; 0..53) zN")] {
            let result = |(tensor, dtype): (usize, Dtype)| {
                let (origin, digits) = (Origin::Source { tensor, offset: 0 }, digits.to_vec());
                let parts = vec![Part { origin, offset: 0, digits }];
                let (name, layout) = (format!("{tensor}{dtype}"), layout.map(str::to_owned));
                Made { name, dtype, extents: vec![53, 37], layout, parts }
            };
            let made = made.iter().copied().map(result).collect();
            let assembly = Assembly { made, ..Assembly::default() };
            let out = |memory: u64| {
                let out = folder.path().join("out.safetensors");
                run(&input, &assembly, &out, memory, 1).map(|()| fs::read(out).unwrap())
            };
            let expected = out(1 << 20).unwrap();
            for memory in (4096..64 << 10).step_by(steps) {
                assert!(out(memory).unwrap() == expected, "{layout:?}, {memory} bytes");
            }
        }
    }
}

#[test]
fn index_tables_pass_as_they_are() {
    let folder = tilewright_testing::folder();
    let (plain, path) =
        (folder.path().join("plain.safetensors"), folder.path().join("in.safetensors"));
    numbered(&plain, &[("a", &[4, 6])]);
    let input = open(&plain, &Reading::default()).unwrap();
    let request = Request::new().to(Spec::parse("table(0; 3,1,0,2) row-major").unwrap());
    Conversion::prepare(&input, &path, request).unwrap().run(&()).unwrap();
    let input = open(&path, &Reading::default()).unwrap();
    let out = folder.path().join("out.safetensors");
    let made = |name: &str, layout: Option<&str>| {
        let digits = vec![Digit { extent: 24, source: 1, made: 1 }];
        let part = Part { origin: Origin::Source { tensor: 0, offset: 0 }, offset: 0, digits };
        let layout = layout.map(str::to_owned);
        let (dtype, extents) = (Dtype::U16, vec![4, 6]);
        let made = Made { name: name.into(), dtype, extents, layout, parts: vec![part] };
        Assembly { made: vec![made], ..Assembly::default() }
    };
    run(&input, &made("a", None), &out, 10_000, 1).unwrap();
    let result = open(&out, &Reading::default()).unwrap();
    let stored = |input: &Input| {
        let bytes = fs::read(input.files().next().unwrap()).unwrap();
        bytes[input.tensors()[0].pieces()[0].at() as usize..].to_vec()
    };
    assert_eq!(stored(&result), stored(&input));
    assert_eq!(result.tensors()[0].held.spec(), input.tensors()[0].held.spec());
    // Under another name the bytes are the same.
    run(&input, &made("b", None), &out, 10_000, 1).unwrap();
    let result = open(&out, &Reading::default()).unwrap();
    assert_eq!(result.tensors()[0].name(), "b");
    assert_eq!(stored(&result), stored(&input));
    assert_eq!(result.tensors()[0].held.spec(), input.tensors()[0].held.spec());
    // Layouts that share storage, or are big-endian, are refused.
    for (layout, why) in [
        ("(4,6):(3,1)", "share storage"),
        ("table(0; 3,1,0,1) row-major", "gives each element one place"),
        (">u2[4,6]{1,0}", "big-endian"),
    ] {
        let said = run(
            &open(&plain, &Reading::default()).unwrap(),
            &made("d", Some(layout)),
            &out,
            10_000,
            1,
        );
        let said = said.unwrap_err();
        assert!(said.contains(why), "{layout}: {said}");
    }
}

/// Writes a NumPy array whose elements are big-endian.
fn big_endian(path: &Path, dims: [u64; 2]) {
    let header = format!("{{'descr': '>u2', 'fortran_order': False, 'shape': {dims:?}, }}");
    let header = header.replace('[', "(").replace(']', ")") + "\n";
    let data = (1..=dims[0] * dims[1]).flat_map(|number| (number as u16).to_be_bytes());
    let bytes = [&b"\x93NUMPY\x01\0"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()];
    fs::write(path, bytes.concat().into_iter().chain(data).collect::<Vec<u8>>()).unwrap();
}

/// Swizzles, index tables, strides that interleave, and elements in big-endian order are read and written by rows.
#[test]
fn layouts_that_no_loops_say_are_read_and_written_in_rows() {
    let folder = tilewright_testing::folder();
    let path = |name: &str| folder.path().join(name);
    let (plain, source) = (path("plain.safetensors"), path("in.safetensors"));
    let sources = [
        "S<2,1,3> o (8,16):(16,1)",
        "S<3,0,3> o (8,16):(1,8)",
        "table(0; 3,1,0,2,7,5,6,4) col-major",
        "(8,16):(31,17) capacity 500",
        ">u2",
    ];
    let targets = [
        "S<2,1,3> o (16,16):(16,1)",
        "S<3,1,4> o ((4,4),16):((1,64),4) capacity 300",
        "table(1; 15,14,13,12,0,1,2,3,4,5,6,7,8,9,10,11) row-major",
        "(16,16):(31,17) capacity 1000",
        "zN[M0=4,C0=4]",
    ];
    for spec in sources {
        let input = if spec == ">u2" {
            big_endian(&path("in.npy"), [8, 16]);
            open(path("in.npy"), &Reading::default()).unwrap()
        } else {
            numbered(&plain, &[("a", &[8, 16])]);
            let input = open(&plain, &Reading::default()).unwrap();
            let request = Request::new().to(Spec::parse(spec).unwrap()).force(true);
            Conversion::prepare(&input, &source, request).unwrap().run(&()).unwrap();
            fs::remove_file(&plain).unwrap();
            open(&source, &Reading::default()).unwrap()
        };
        // Two copies with alternating rows, and the transpose; unchanged under its own name and under another.
        let part = |number: u64, turned: bool| {
            let (row, column) = if turned { (1, 16) } else { (16, 1) };
            let digits = [(8, 16, 2 * row), (16, 1, column)];
            let digits = digits.map(|(extent, source, made)| Digit { extent, source, made });
            let origin = Origin::Source { tensor: 0, offset: 0 };
            Part { origin, offset: row * number, digits: digits.to_vec() }
        };
        let mut made = Vec::new();
        for (number, layout) in targets.iter().map(|it| Some(*it)).chain([None]).enumerate() {
            for turned in [false, true] {
                let layout = layout.map(str::to_owned);
                let parts = vec![part(0, turned), part(1, turned)];
                let (name, extents) = (format!("{number}{turned}"), vec![16, 16]);
                made.push(Made { name, dtype: Dtype::U16, extents, layout, parts });
            }
        }
        for name in ["a", input.tensors()[0].name(), "b"].into_iter().collect::<BTreeSet<_>>() {
            let digits = vec![Digit { extent: 128, source: 1, made: 1 }];
            let parts =
                vec![Part { origin: Origin::Source { tensor: 0, offset: 0 }, offset: 0, digits }];
            let (name, extents) = (name.to_owned(), vec![8, 16]);
            made.push(Made { name, dtype: Dtype::U16, extents, layout: None, parts });
        }
        let assembly = Assembly { made, ..Assembly::default() };
        let out = path("out.safetensors");
        let all: Vec<_> = assembly.made.iter().map(|made| interpreted(made, &input)).collect();
        for (memory, threads) in [(4096, 1), (5000, 3), (2 << 20, 2)] {
            run(&input, &assembly, &out, memory, threads).unwrap();
            let result = open(&out, &Reading::default()).unwrap();
            for (made, expected) in assembly.made.iter().zip(&all) {
                let is = |tensor: &Tensor| tensor.name() == made.name;
                let number = result.tensors().iter().position(is).unwrap();
                let is = elements(&result, number);
                assert_eq!(is, *expected, "{:?} of {spec} with {memory} bytes", made.name);
                if let Some(layout) = &made.layout {
                    let held = result.tensors()[number].held.spec();
                    assert!(held.starts_with("u16["), "{layout}");
                }
            }
        }
        let step = tilewright_testing::cases(1, 41);
        assert!(check_changes(&input, &assembly, &out, step) > 100);
    }
}

/// The results of all recipes of the corpus: every operation of recipes on tensors that the real libraries made.
#[test]
fn a_changed_element_of_each_recipe_is_found() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes");
    let mut families = 0;
    for family in fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = fs::read_to_string(family.join("recipe.toml")) else { continue };
        let folder = tilewright_testing::folder();
        let input = open(family.join("before.safetensors"), &Reading::default()).unwrap();
        let recipe = Recipe::parse(&text).unwrap();
        let config = input.config().unwrap();
        let assembly = recipe.solve(&input.recipe_tensors(), config.as_ref(), &Sizes::new());
        let (assembly, out) = (assembly.unwrap(), folder.path().join("out.safetensors"));
        run(&input, &assembly, &out, 20_000, 2).unwrap();
        let all: Vec<_> = assembly.made.iter().map(|made| interpreted(made, &input)).collect();
        let result = open(&out, &Reading::default()).unwrap();
        for (made, expected) in assembly.made.iter().zip(&all) {
            let is = |tensor: &Tensor| tensor.name() == made.name;
            let number = result.tensors().iter().position(is).unwrap();
            assert!(elements(&result, number) == *expected, "{family:?} {:?}", made.name);
        }
        let step = tilewright_testing::cases(3, 301);
        assert!(check_changes(&input, &assembly, &out, step) > 10, "{family:?}");
        families += 1;
    }
    assert_eq!(families, 16);
}

/// The extents of the digits; for each term the order of its source and its extent of the sum's digit; the order of the result;
/// the digit of the sum.
type Sum = (Vec<u64>, Vec<(Vec<usize>, u64)>, Vec<usize>, usize);

/// Generates a result of some digits, a random permutation of those of its sources, one of which is a sum.
fn random() -> impl Strategy<Value = Sum> {
    prop::collection::vec(1u64..6, 1..5).prop_flat_map(|extents| {
        let count = extents.len();
        let order = Just((0..count).collect::<Vec<usize>>()).prop_shuffle();
        let terms = prop::collection::vec((order.clone(), 1u64..5), 1..4);
        (Just(extents), terms, order, 0..count)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_sums(
        (extents, terms, to, sum) in random(), memory in 64u64..3000, threads in 1usize..4,
    ) {
        let folder = tilewright_testing::folder();
        let path = folder.path().join("in.safetensors");
        // Each term has its own extent of the sum's digit.
        let sizes: Vec<Vec<u64>> = terms.iter().map(|(_, extent)| {
            let mut own = extents.clone();
            own[sum] = *extent;
            own
        }).collect();
        let names: Vec<String> = (0..terms.len()).map(|number| format!("t{number}")).collect();
        let dims: Vec<[u64; 1]> = sizes.iter().map(|size| [size.iter().product()]).collect();
        let tensors: Vec<(&str, &[u64])> = names.iter().zip(&dims).map(|(name, dims)| (name.as_str(), &dims[..])).collect();
        numbered(&path, &tensors);
        let mut wide = extents.clone();
        wide[sum] = terms.iter().map(|(_, extent)| extent).sum();
        let strides_to = strides(&to, &wide);
        let mut begun = 0;
        let parts = terms.iter().enumerate().map(|(tensor, (order, extent))| {
            let own = &sizes[tensor];
            let from = strides(order, own);
            let digits = to.iter().map(|&it| Digit { extent: own[it], source: from[it], made: strides_to[it] });
            let part = Part { origin: Origin::Source { tensor, offset: 0 }, offset: begun * strides_to[sum], digits: digits.collect() };
            begun += extent;
            part
        }).collect();
        let made = Made { name: "m".into(), dtype: Dtype::U16, extents: to.iter().map(|it| wide[*it]).collect(), layout: None, parts };
        let input = open(&path, &Reading::default()).unwrap();
        check(&input, &Assembly { made: vec![made], ..Assembly::default() }, &folder, [(memory, threads)]);
    }
}

/// Rows of elements that widen, of an empty tensor and of one without dims, and of a tensor that is longer than a step of
/// verification, whose threads have an odd share of the memory.
#[test]
fn rows_widen_and_pass_every_bound_on_memory() {
    let folder = tilewright_testing::folder();
    let path = |name: &str| folder.path().join(name);
    let (plain, source, out) =
        (path("plain.safetensors"), path("in.safetensors"), path("out.safetensors"));
    let [rows, columns] = [16, 1008u64];
    let bf16: Vec<u8> = (0..rows * columns).flat_map(|i| [0, (i % 64) as u8 + 0x3f]).collect();
    let tensors = [
        ("a", "BF16", &[rows, columns][..], bf16.as_slice()),
        ("none", "BF16", &[0, 3][..], &[][..]),
        ("one", "BF16", &[][..], &[1, 2][..]),
    ];
    fs::write(&plain, file(&tensors, r#""format":"pt""#)).unwrap();
    let input = open(&plain, &Reading::default()).unwrap();
    let swizzled = format!("S<2,2,3> o ({rows},{columns}):({columns},1)");
    let request = Request::new().rule("a", Spec::parse(&swizzled).unwrap());
    Conversion::prepare(&input, &source, request).unwrap().run(&()).unwrap();
    let input = open(&source, &Reading::default()).unwrap();
    let order: Vec<String> = (0..rows).rev().map(|row| row.to_string()).collect();
    let tabled = format!("table(0; {}) row-major", order.join(","));
    let digit = |extent, source, made| Digit { extent, source, made };
    let made = |name: &str, dtype, extents: &[u64], layout: Option<&str>, parts| {
        let (name, extents) = (name.to_owned(), extents.to_vec());
        Made { name, dtype, extents, layout: layout.map(str::to_owned), parts }
    };
    let part = |tensor, digits: &[Digit]| {
        vec![Part {
            origin: Origin::Source { tensor, offset: 0 },
            offset: 0,
            digits: digits.to_vec(),
        }]
    };
    let all = [digit(rows, columns, columns), digit(columns, 1, 1)];
    let number = |name| input.tensors().iter().position(|it| it.name() == name).unwrap();
    let [a, none, one] = ["a", "none", "one"].map(number);
    let assembly = Assembly {
        made: vec![
            made("wide", Dtype::F32, &[rows, columns], Some(&tabled), part(a, &all)),
            made("rows", Dtype::Bf16, &[rows, columns], None, part(a, &all)),
            made("swizzled", Dtype::F32, &[rows, columns], Some(&swizzled), part(a, &all)),
            made("none", Dtype::F32, &[0, 3], None, part(none, &[digit(0, 3, 3), digit(3, 1, 1)])),
            made("one", Dtype::F32, &[], None, part(one, &[])),
        ],
        ..Assembly::default()
    };
    let expected = |own: &Made| match own.dtype {
        Dtype::F32 => {
            let halves = interpreted(&Made { dtype: Dtype::Bf16, ..own.clone() }, &input);
            halves.iter().map(|bits| vec![0, 0, bits[0], bits[1]]).collect()
        }
        _ => interpreted(own, &input),
    };
    let whole: Vec<Vec<Vec<u8>>> = assembly.made.iter().map(expected).collect();
    for (memory, threads) in [(5000, 1), (70_006, 3), (8 << 20, 2)] {
        run(&input, &assembly, &out, memory, threads).unwrap();
        let result = open(&out, &Reading::default()).unwrap();
        for (number, tensor) in result.tensors().iter().enumerate() {
            let own = assembly.made.iter().position(|made| made.name == tensor.name()).unwrap();
            let is = elements(&result, number);
            assert!(is == whole[own], "{} with {memory} bytes, {threads} threads", tensor.name());
        }
    }
    // The conversion back narrows; an element that would lose a bit is named by its coordinate.
    let wide = open(&out, &Reading::default()).unwrap();
    let tensor = wide.tensors().iter().position(|it| it.name() == "wide").unwrap();
    let back = Assembly {
        made: vec![made("a", Dtype::Bf16, &[rows, columns], Some(&swizzled), part(tensor, &all))],
        ..Assembly::default()
    };
    let (at, narrow) = (wide.tensors()[tensor].pieces()[0].at(), path("narrow.safetensors"));
    run(&wide, &back, &narrow, 1 << 20, 2).unwrap();
    let mut bytes = fs::read(&out).unwrap();
    // Row 2 of the array is stored in row 13.
    bytes[(at + (13 * columns + 5) * 4) as usize] = 1;
    fs::write(&out, bytes).unwrap();
    let wide = open(&out, &Reading::default()).unwrap();
    let said = run(&wide, &back, &narrow, 1 << 20, 2).unwrap_err();
    assert!(said.contains("would lose bits") && said.contains("at [2, 5]"), "{said}");
}
