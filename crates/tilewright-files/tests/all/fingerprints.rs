//! Fingerprints of files and folders, and the differences they detect: every kind of accident, in every kind of file.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;
use tilewright_core::Dtype;
use tilewright_files::{
    Alike, Apart, Collection, Conversion, Divergence, Fingerprints, Key, Reading, Request, open,
    open_stream, same_data,
};

use crate::{common::*, sharded};

fn opened(path: impl AsRef<Path>) -> Collection {
    Collection::open(path).unwrap()
}

fn summed(path: impl AsRef<Path>) -> Fingerprints {
    opened(path).fingerprints(&Key::default(), &()).unwrap()
}

fn differences(a: impl AsRef<Path>, b: impl AsRef<Path>) -> Vec<Divergence> {
    same_data(&opened(a), &opened(b), &Key::default(), &()).unwrap()
}

/// Writes a file of tensors with elements of 16 bits.
fn file(folder: &TempDir, name: &str, tensors: &[(&str, &[u64], Vec<u8>)]) -> std::path::PathBuf {
    let (mut header, mut data) = (vec![], vec![]);
    for (name, dims, bytes) in tensors {
        let end = data.len() + bytes.len();
        let at = data.len();
        header.push(format!(
            r#""{name}":{{"dtype":"BF16","shape":{dims:?},"data_offsets":[{at},{end}]}}"#
        ));
        data.extend_from_slice(bytes);
    }
    write(folder, name, safetensors(&format!("{{{}}}", header.join(",")), &data))
}

/// Returns experts, two projections of the same shape, a square, and a vector.
fn model() -> Vec<(&'static str, &'static [u64], Vec<u8>)> {
    let all: [(&str, &[u64]); 5] = [
        ("experts", &[4, 6, 5]),
        ("norm", &[12]),
        ("o", &[8, 8]),
        ("w1", &[6, 10]),
        ("w3", &[6, 10]),
    ];
    let bytes = |dims: &[u64]| 2 * dims.iter().product::<u64>() as usize;
    let mut noise = noise(all.iter().map(|(_, dims)| bytes(dims)).sum());
    all.map(|(name, dims)| (name, dims, noise.drain(..bytes(dims)).collect())).into()
}

/// Returns blocks of `len` bytes in another order.
fn permuted(bytes: &[u8], len: usize, order: &[usize]) -> Vec<u8> {
    order.iter().flat_map(|i| bytes[i * len..(i + 1) * len].to_vec()).collect()
}

#[test]
fn every_kind_of_accident_is_found_where_it_happened() {
    let folder = folder();
    let model = model();
    let own = file(&folder, "own.safetensors", &model);
    // The layout differs, so that files are not compared byte by byte.
    let zn = folder.path().join("zn.safetensors");
    convert(&own, &zn, to("zN").skip_unfit(true)).unwrap();
    assert_eq!((differences(&own, &zn), summed(&own)), (vec![], summed(&zn)));
    let changed = |what: usize, bytes: Vec<u8>| {
        let mut other = model.clone();
        other[what].2 = bytes;
        file(&folder, "other.safetensors", &other)
    };
    let mut found = BTreeMap::new();
    let mut accident = |kind: &'static str, what: usize, bytes: Vec<u8>| {
        let differ = bytes != model[what].2;
        let other = changed(what, bytes);
        let said = differences(&zn, &other);
        assert_eq!(said.len(), usize::from(differ), "{kind}: {said:?}");
        assert_eq!(summed(&zn).all == summed(&other).all, !differ, "{kind}");
        if let [one] = &said[..] {
            assert_eq!(one.name, model[what].0);
            *found.entry(kind).or_insert(0) += 1;
        }
        said
    };
    for (what, (_, dims, bytes)) in model.iter().enumerate() {
        for bit in (0..8 * bytes.len()).step_by(tilewright_testing::cases(7, 23)) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let said = accident("a flipped bit", what, flipped);
            let mut at = (bit / 16) as u64;
            let coord: Vec<u64> = dims.iter().rev().map(|dim| (at % dim, at /= dim).0).collect();
            let coord: Vec<u64> = coord.into_iter().rev().collect();
            let Apart::Element { coord: is, a, b } = &said[0].apart else { panic!("{said:?}") };
            assert_eq!((is, a ^ b), (&coord, 1 << (bit % 16)));
        }
    }
    let swaps = |n: usize| (0..n).flat_map(move |i| (0..i).map(move |j| (i, j)));
    for what in [2, 3, 4] {
        let (rows, row) = (model[what].1[0] as usize, 2 * model[what].1[1] as usize);
        for (i, j) in swaps(rows) {
            let mut order: Vec<usize> = (0..rows).collect();
            order.swap(i, j);
            accident("swapped rows", what, permuted(&model[what].2, row, &order));
        }
    }
    let square = (0..64).flat_map(|i| model[2].2[2 * (i % 8 * 8 + i / 8)..][..2].to_vec());
    let said = accident("a transposed square", 2, square.collect());
    assert!(said[0].alike.contains(&Alike::Transposed(vec![1, 0])), "{said:?}");
    for order in [[1, 0, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0], [0, 1, 3, 2]] {
        accident("permuted experts", 0, permuted(&model[0].2, 60, &order));
    }
    let kinds: Vec<(&str, usize)> = found.into_iter().collect();
    assert_eq!(kinds.iter().map(|kind| kind.1 > 0).filter(|some| *some).count(), 4, "{kinds:?}");
    println!("{kinds:?}");
    // Two tensors of the same shape are exchanged.
    let mut other = model.clone();
    (other[3].2, other[4].2) = (model[4].2.clone(), model[3].2.clone());
    let said = differences(&zn, file(&folder, "other.safetensors", &other));
    let named: Vec<_> = said.iter().map(|one| (one.name.as_str(), one.alike.clone())).collect();
    let alike = |name: &str| vec![Alike::Named(name.into())];
    assert_eq!(named, [("w1", alike("w3")), ("w3", alike("w1"))]);
}

#[test]
fn a_renamed_or_tied_tensor_is_found_under_its_other_name() {
    let folder = folder();
    let model = model();
    let own = file(&folder, "own.safetensors", &model);
    let mut other = model.clone();
    other[3].0 = "gate";
    other.push(("tied", model[2].1, model[2].2.clone()));
    let other = file(&folder, "other.safetensors", &other);
    let text: Vec<String> = differences(&own, other).iter().map(Divergence::to_string).collect();
    assert_eq!(
        text,
        [
            "gate is only in the second; the same as w1 of the first",
            "tied is only in the second; the same as o of the first",
            "w1 is only in the first; the same as gate of the second"
        ]
    );
}

#[test]
fn many_renamed_tensors_are_found_by_what_they_hold() {
    let folder = folder();
    let count = 300;
    let held = |i: usize| [i as u8, (i >> 8) as u8, 1, 2];
    let names: Vec<[String; 2]> =
        (0..count).map(|i| [format!("a.{i}"), format!("b.{i}")]).collect();
    let of = |side: usize| {
        let tensors: Vec<(&str, &[u64], Vec<u8>)> = (0..count)
            .map(|i| {
                (names[i][side].as_str(), &[2][..], held((i * (1 + 6 * side)) % count).to_vec())
            })
            .collect();
        file(&folder, &format!("{side}.safetensors"), &tensors)
    };
    let found = differences(of(0), of(1));
    assert_eq!(found.len(), 2 * count);
    for (one, other, alike) in [("a.", "b.", 0), ("b.", "a.", 1)] {
        for divergence in found.iter().filter(|it| it.name.starts_with(one)) {
            let i: usize = divergence.name[2..].parse().unwrap();
            // 7 · 43 is 301, 1 modulo 300.
            let at = if alike == 0 { (i * 43) % count } else { (i * 7) % count };
            let name = format!("{other}{at}");
            let is = if alike == 0 { Alike::Named(name) } else { Alike::NamedFirst(name) };
            assert_eq!(divergence.alike, [is], "{}", divergence.name);
        }
    }
    // If many tensors are equal, the first ones are named, and never the tensor itself.
    let zeros = |name: &str, first: u8| {
        let tensors: Vec<(&str, &[u64], Vec<u8>)> = (names.iter().enumerate())
            .map(|(i, own)| (own[0].as_str(), &[2][..], vec![if i < 100 { first } else { 7 }; 4]))
            .collect();
        file(&folder, name, &tensors)
    };
    let found = differences(zeros("x.safetensors", 0), zeros("y.safetensors", 1));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|divergence| divergence.alike.is_empty()), "{:?}", found[0]);
}

#[test]
fn tensors_without_a_note_are_read_as_said() {
    let folder = folder();
    let bytes: Vec<u8> = noise(2 * 8 * 64);
    let header = r#"{"q":{"dtype":"I32","shape":[8,32],"data_offsets":[0,1024]},"s":{"dtype":"F16","shape":[4],"data_offsets":[1024,1032]}}"#;
    let path =
        write(&folder, "gptq.safetensors", safetensors(header, &[&bytes[..], &[0; 8]].concat()));
    let out = folder.path().join("marlin.safetensors");
    let reading = Reading::default().from(spec("GPTQ")).dtype(Dtype::U4);
    let request = Request::new().from(spec("GPTQ")).dtype(Dtype::U4).only("q");
    convert(&path, &out, request.to(spec("AWQ")).store(Dtype::S32)).unwrap();
    let (a, b) = opened(&path).only_of(opened(&out), &["q"]).unwrap();
    let (a, b) = (a.read_as(&reading).unwrap(), b.read_as(&reading).unwrap());
    assert_eq!(same_data(&a, &b, &Key::default(), &()).unwrap(), []);
    let printed = a.fingerprints(&Key::default(), &()).unwrap();
    assert_eq!(
        (printed.tensors[0].dtype, &printed.tensors[0].dims[..]),
        (Dtype::U4, &[64, 32][..])
    );
    // Without the layout they are words, which are other arrays.
    let found = differences(&path, &out);
    assert!(matches!(&found[..], [Divergence { apart: Apart::Dtype { .. }, .. }]), "{found:?}");
    let error = opened(&path).read_as(&reading).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("tensor \"s\""), "{error}");
    let dims = opened(&path).read_as(&Reading::default().dims(&[2])).unwrap_err();
    assert!(dims.to_string().contains("dims are given"), "{dims}");
}

#[test]
fn a_single_array_needs_no_name() {
    let folder = folder();
    let bytes = noise(120);
    let array = write(&folder, "x.npy", npy("<f4", false, "(5, 6)", &bytes));
    let named = write(&folder, "x.safetensors", one("F32", &[5, 6], &bytes));
    let raw = folder.path().join("x.bin");
    fs::write(&raw, &bytes).unwrap();
    let reading = Reading::default().dims(&[5, 6]).dtype(Dtype::F32);
    let raw = Collection::open_as(format!("raw:{}", raw.display()), &reading).unwrap();
    assert_eq!(differences(&array, &named), []);
    for (a, b) in [(&raw, &opened(&named)), (&opened(&named), &raw), (&raw, &opened(&array))] {
        assert_eq!(same_data(a, b, &Key::default(), &()).unwrap(), []);
    }
    let other = write(&folder, "y.safetensors", one("F32", &[5, 6], &noise(240)[120..]));
    assert!(matches!(
        differences(&array, &other)[..],
        [Divergence { apart: Apart::Element { .. }, .. }]
    ));
    // Two names in files are two tensors.
    let header = r#"{"u":{"dtype":"F32","shape":[5,6],"data_offsets":[0,120]}}"#;
    let renamed = write(&folder, "z.safetensors", safetensors(header, &bytes));
    assert_eq!(differences(&renamed, &named).len(), 2);
}

#[test]
fn a_folder_is_its_checkpoint_and_says_what_it_passes_over() {
    let folder = folder();
    sharded::checkpoint(&folder);
    let whole = summed(folder.path().join(sharded::INDEX));
    assert_eq!(summed(folder.path()), whole);
    assert_eq!(opened(folder.path()).warnings().count(), 0);
    fs::create_dir(folder.path().join("inner")).unwrap();
    write(&folder, "notes.txt", "of no format");
    write(&folder, "lost.safetensors", one("U8", &[3], &[1, 2, 3]));
    assert_eq!(summed(folder.path()), whole);
    let said: Vec<String> = opened(folder.path()).warnings().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].ends_with("subfolders are not read (1: inner)"), "{said:?}");
    assert!(said[1].ends_with("which are not read (1: lost.safetensors)"), "{said:?}");
    // A missing shard is an error, and a shorter index is a difference.
    let all = folder.path().join(sharded::INDEX);
    let text = fs::read_to_string(&all).unwrap();
    let less = text.replace(&format!(r#""a":"{}","#, sharded::SHARDS[0]), "");
    let less = write(&folder, "less.safetensors.index.json", less);
    let said = differences(&all, &less);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].to_string(), "a is only in the first");
    fs::remove_file(&less).unwrap();
    fs::remove_file(folder.path().join(sharded::SHARDS[0])).unwrap();
    let error = Collection::open(folder.path()).unwrap_err();
    assert!(error.is_io() && error.to_string().contains(sharded::SHARDS[0]), "{error}");
}

#[test]
fn archives_have_the_fingerprints_of_their_arrays() {
    let folder = folder();
    let (stored, deflated) = (corpus("tiny_stored.npz"), corpus("tiny_deflated.npz"));
    assert_eq!(summed(&stored), summed(&deflated));
    assert_eq!(differences(&stored, &deflated), []);
    let out = folder.path().join("out.npz");
    convert(&deflated, &out, to("{0,1:T(2,3)}").skip_unfit(true)).unwrap();
    assert_eq!((summed(&out), differences(&out, &stored)), (summed(&stored), vec![]));
}

#[test]
fn a_file_that_is_cut_short_after_it_was_opened_is_an_error() {
    let folder = folder();
    for (name, bytes) in [
        ("a.npy", npy("<f2", false, "(64, 64)", &noise(8192))),
        ("a.safetensors", one("F16", &[64, 64], &noise(8192))),
    ] {
        let path = write(&folder, name, &bytes);
        let whole = opened(&path);
        let other = summed(&path);
        for len in [bytes.len() - 1, bytes.len() - 4000, 200] {
            fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len as u64).unwrap();
            let error = whole.fingerprints(&Key::default(), &()).unwrap_err();
            assert!(error.is_io() && error.to_string().contains(name), "{error}");
            let error = same_data(&whole, &whole, &Key::default(), &()).unwrap_err();
            assert!(error.is_io(), "{error}");
        }
        // The file has the same length, but was written again: it is not the file that was opened.
        fs::write(&path, &bytes).unwrap();
        assert!(whole.fingerprints(&Key::default(), &()).is_err());
        assert_eq!(summed(&path), other);
    }
}

/// The type bf16, which neither a header nor bytes record, is in a note, and is read back.
#[test]
fn arrays_whose_type_no_header_says_are_read_back() {
    let folder = folder();
    let input = write(&folder, "in.npy", npy("|V2", false, "(6, 10)", &noise(120)));
    let raw = |name: &str| format!("raw:{}", folder.path().join(name).display());
    let reading = Reading::default().dtype(Dtype::Bf16);
    let own = Collection::open_as(&input, &reading).unwrap();
    let own = own.fingerprints(&Key::default(), &()).unwrap();
    for layout in ["row-major", "col-major", "zN"] {
        let request = || Request::new().to(spec(layout)).dtype(Dtype::Bf16).force(true);
        let npy = folder.path().join("out.npy");
        convert(&input, &npy, request().verify(true)).unwrap();
        convert(&input, raw("out"), request().verify(true)).unwrap();
        for path in [npy.display().to_string(), raw("out")] {
            assert_eq!(summed(&path), own, "{path} {layout}");
            let read = open(&path, &Reading::default()).unwrap();
            let tensor = &read.tensors()[0];
            assert_eq!((tensor.dtype(), tensor.dims()), (Dtype::Bf16, &[6, 10][..]));
            assert_eq!(tensor.recorded(), Some(own.tensors[0].fingerprint), "{path} {layout}");
        }
    }
    // A stream has no note, so the layout is given if it is another.
    let bytes = fs::read(&input).unwrap();
    let input = open_stream(&bytes[..], "-", &reading).unwrap();
    for (layout, said) in [("row-major", 0), ("zN", 1)] {
        let conversion = Conversion::prepare_stream(&input, "-", to(layout)).unwrap();
        assert_eq!(conversion.warnings().count(), said, "{layout}");
    }
}
