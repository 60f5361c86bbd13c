//! Writes arrays in memory: compared with conversions of the same elements, with tied names, and with invalid requests.

use std::fs;

use tilewright_core::Fill;
use tilewright_files::{Error, Input, Reading, Report, Request, Watch, Writer, open};
use tilewright_notation::ResolvedLayout;

use crate::common::*;

fn named(text: &str) -> ResolvedLayout {
    spec(text).resolve(None, None).unwrap()
}

/// Writes a file of one array `t`.
fn write_one(
    out: impl AsRef<std::path::Path>,
    layout: &str,
    bytes: &[u8],
    request: Request,
) -> Result<Report, Error> {
    Writer::new(request).array("t", &named(layout), bytes)?.write(out, &())
}

/// Returns the rows of the tensor `t` of a file, or of its only one.
fn rows(path: impl AsRef<std::path::Path>, reading: &Reading) -> Vec<u8> {
    let input = open(path, reading).unwrap();
    let reader = input.reader(&input.tensors()[0], None, None).unwrap();
    let mut out = vec![0; reader.bytes() as usize];
    reader.read_into(&mut out, 1, &()).unwrap();
    out
}

/// Returns the name of a tensor's layout.
fn layout(input: &Input, name: &str) -> String {
    let spec = input.tensor(name).unwrap().layout().to_spec();
    spec.split_once(' ').unwrap().1.into()
}

const LAYOUTS: [&str; 6] = [
    "row-major",
    "col-major",
    "zN",
    "{1,0:T(8,128)(2,1)}",
    "S<2,4,3> o (64,64):(64,1) valid (40,52)",
    "(n n0:4) (m1 m0:2) -> n m0 m1 n0",
];

/// Every array in every layout becomes the same file as in a conversion of a file of the same bytes.
#[test]
fn what_is_written_is_what_a_conversion_writes() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let data = noise(40 * 52 * 2);
    let plain = write(&folder, "t.safetensors", one("BF16", &[40, 52], &data));
    let mut checked = 0;
    for (from, held) in LAYOUTS.into_iter().enumerate() {
        let raw = format!("raw:{}", at("held.bin").display());
        convert(&plain, &raw, to(held).force(true)).unwrap();
        let held_bytes = fs::read(at("held.bin")).unwrap();
        let dims = (!held.starts_with('S')).then_some(&[40, 52][..]);
        let layout = spec(held).resolve(dims, tilewright_notation::dtype("bf16").ok()).unwrap();
        let bounds = [(4096, 1), (1 << 24, 1), (1 << 30, 3)];
        // Each pair of layouts with all bounds, or with one of them in turn.
        let step = tilewright_testing::cases(1, 3);
        for (text, (memory, threads)) in LAYOUTS.iter().enumerate().flat_map(|(to, text)| {
            bounds
                .into_iter()
                .skip((from + to) % step)
                .step_by(step)
                .map(move |bound| (text, bound))
        }) {
            let request = || to(text).force(true).memory(memory).threads(threads);
            for name in ["a.safetensors", "a.npz", "a.npy"] {
                let writer = Writer::new(request().verify(true)).array("t", &layout, &held_bytes);
                let report = writer.unwrap().write(at(name), &()).unwrap();
                assert!(report.verified().is_some() && report.peak_memory() <= memory);
                assert!(rows(at(name), &Reading::default()) == data, "{held} to {text}, {name}");
                checked += 1;
            }
            convert(&plain, at("b.safetensors"), request()).unwrap();
            let [a, b] = ["a.safetensors", "b.safetensors"].map(|name| fs::read(at(name)).unwrap());
            // The data of a swizzled source are not summed, so no fingerprint is recorded.
            let alike = a == b || held.starts_with('S');
            assert!(alike, "{held} to {text}: not the file of a conversion");
        }
    }
    assert_eq!(checked, 6 * 6 * 3 * tilewright_testing::cases(3, 1));
}

#[test]
fn an_array_that_repeats_elements_or_runs_backwards_is_written_as_it_is_seen() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    let data: Vec<u8> = (0..8).collect();
    for (layout, bytes, expected) in [
        // Repeated rows, and repeated columns.
        ("(3,8):(0,1)", &data[..], (0..24).map(|i| i % 8).collect::<Vec<u8>>()),
        ("(8,3):(1,0)", &data[..], (0..24).map(|i| i / 3).collect()),
        // Every other element of rows of four.
        ("(2,2):(4,2)", &data[..7], vec![0, 2, 4, 6]),
        ("(3):(-2)+4", &data[..5], vec![4, 2, 0]),
    ] {
        let named = spec(layout).resolve(None, tilewright_notation::dtype("u8").ok()).unwrap();
        for target in ["row-major", "{0:T(8)}"] {
            let rank = named.layout().rank();
            if target == "{0:T(8)}" && rank != 1 {
                continue;
            }
            let writer = Writer::new(to(target).force(true).verify(true));
            writer.array("t", &named, bytes).unwrap().write(&out, &()).unwrap();
            assert_eq!(rows(&out, &Reading::default()), expected, "{layout} to {target}");
        }
    }
}

#[test]
fn numbers_with_their_highest_byte_first_are_turned_where_the_format_asks() {
    let folder = folder();
    let data = noise(30 * 40 * 4);
    let turned: Vec<u8> = data.chunks(4).flat_map(|one| one.iter().rev().copied()).collect();
    for text in ["row-major", "zN", "col-major"] {
        for memory in [4096, 1 << 26] {
            for name in ["a.safetensors", "a.npy", "a.npz"] {
                let out = folder.path().join(name);
                let request = to(text).force(true).memory(memory).verify(true);
                write_one(&out, ">f4[30,40] row-major", &turned, request).unwrap();
                assert!(rows(&out, &Reading::default()) == data, "{text} {name}");
            }
        }
    }
}

#[test]
fn packed_and_blocked_elements_are_written() {
    let folder = folder();
    let nibbles = noise(40 * 32 / 2);
    for name in ["a.safetensors", "a.npz"] {
        let out = folder.path().join(name);
        for text in ["row-major", "{1,0:E(4)}", "{0,1:T(8)E(4)}"] {
            write_one(&out, "u4[40,32]{1,0:E(4)}", &nibbles, to(text).force(true).verify(true))
                .unwrap();
            let input = open(&out, &Reading::default()).unwrap();
            let back = spec("{1,0:E(4)}");
            let reader = input.reader(&input.tensors()[0], Some(&back), None).unwrap();
            let mut bytes = vec![0; reader.bytes() as usize];
            reader.read_into(&mut bytes, 1, &()).unwrap();
            assert!(bytes == nibbles, "{name} {text}");
        }
        let blocks = noise(4 * 2 * 18);
        write_one(&out, "q4_0[4,64] row-major", &blocks, Request::new().force(true)).unwrap();
        assert_eq!(rows(&out, &Reading::default()), blocks);
    }
}

#[test]
fn rules_and_what_no_layout_is_meant_for() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    let data = noise(24 * 24 * 2);
    let square = named("bf16[24,24] col-major");
    let line = named("bf16[24] row-major");
    let write = |request: Request| {
        let writer = Writer::new(request.force(true).verify(true)).array("w", &square, &data)?;
        let writer = writer.array("norm", &line, &data[..48])?.array("v", &square, &data)?;
        writer.write(&out, &())?;
        let input = open(&out, &Reading::default())?;
        Ok::<_, Error>(["w", "norm", "v"].map(|name| layout(&input, name)))
    };
    let rules = to("zN").rule("*norm*", spec("row-major")).rule("v", spec("col-major"));
    assert_eq!(write(rules).unwrap(), ["zN", "row-major", "col-major"]);
    assert_eq!(write(Request::new()).unwrap(), ["row-major"; 3]);
    assert_eq!(write(to("zN").skip_unfit(true)).unwrap(), ["zN", "row-major", "zN"]);
    assert_eq!(write(to("zN").only("w")).unwrap(), ["zN", "row-major", "row-major"]);
    let error = write(to("zN")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("\"norm\""), "{error}");
    // Padding has the requested value.
    write(to("zN").only("w").fill(Fill::One)).unwrap();
    let input = open(&out, &Reading::default()).unwrap();
    assert_eq!(input.tensor("w").unwrap().fill(), Fill::One);
}

#[test]
fn tied_arrays_are_stored_once_and_both_names_are_answered() {
    let folder = folder();
    let out = folder.path().join("a.safetensors");
    let (data, other) = (noise(16 * 24 * 2), noise(16 * 24 * 2));
    let rows = named("bf16[16,24] row-major");
    let turned = named("bf16[24,16] col-major");
    let writer = |request: Request| {
        let writer = Writer::new(request.force(true)).array("embed", &rows, &data).unwrap();
        let writer = writer.array("other", &rows, &other).unwrap();
        // The same bytes as another array.
        let writer = writer.array("turned", &turned, &data).unwrap();
        writer.array("head", &rows, &data).unwrap().array("empty", &named("u8[0] row-major"), &[])
    };
    let stored = |request: Request| {
        writer(request.verify(true)).unwrap().write(&out, &()).unwrap();
        let input = open(&out, &Reading::default()).unwrap();
        let tied: Vec<(String, String)> =
            input.tied().map(|(name, of)| (name.into(), of.name().into())).collect();
        (input.tensors().len(), tied, layout(&input, "head"))
    };
    let tie = vec![("head".to_owned(), "embed".to_owned())];
    assert_eq!(stored(Request::new()), (4, tie.clone(), "row-major".into()));
    // A pattern may match the omitted name; in another layout it is a tensor of its own.
    let ruled = to("row-major").rule("head", spec("row-major"));
    assert_eq!(stored(ruled), (4, tie, "row-major".into()));
    assert_eq!(stored(to("row-major").rule("head", spec("zN"))), (5, vec![], "zN".into()));
    // For the reference crate, the name is in the metadata and is not a tensor.
    stored(Request::new());
    assert_eq!(parts(&out).0["__metadata__"]["head"], "embed");
    assert!(
        safetensors::SafeTensors::deserialize(&fs::read(&out).unwrap())
            .unwrap()
            .tensor("head")
            .is_err()
    );
    // Conversions keep it, in one file and in several.
    let there = folder.path().join("b.safetensors");
    convert(&out, &there, to("col-major").skip_unfit(true).verify(true)).unwrap();
    assert_eq!(open(&there, &Reading::default()).unwrap().tensor("head").unwrap().name(), "embed");
    // NumPy reads every name from an archive.
    let npz = folder.path().join("a.npz");
    writer(Request::new()).unwrap().write(&npz, &()).unwrap();
    assert_eq!(open(&npz, &Reading::default()).unwrap().tensors().len(), 5);
    // Another text under this key of the metadata is not overwritten.
    let text = writer(Request::new()).unwrap().metadata("head", "of the table");
    let error = text.write(&out, &()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("of the table"), "{error}");
}

#[test]
fn names_that_are_no_ties_are_not_answered() {
    let folder = folder();
    let header = r#"{"__metadata__":{"format":"pt","a":"b","none":"c","tilewright.x":"pt","tie":"b"},
        "pt":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
        "a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},
        "b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}"#;
    let path = write(&folder, "a.safetensors", safetensors(header, &[1, 2, 3]));
    let input = open(&path, &Reading::default()).unwrap();
    let name = |name| input.tensor(name).map(|tensor| tensor.name());
    assert_eq!((name("a"), name("tie"), name("pt")), (Some("a"), Some("b"), Some("pt")));
    assert_eq!((name("format"), name("none"), name("tilewright.x")), (None, None, None));
    assert!(input.tied().map(|(name, _)| name).eq(["tie"]));
}

struct Stop;

impl Watch for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

/// Every mistake is an error before anything is written.
#[test]
fn what_is_refused() {
    let folder = folder();
    let data = noise(48);
    let (rows, line) = (named("f32[3,4] row-major"), named("f32[12] row-major"));
    let one = |request| Writer::new(request).array("t", &rows, &data).unwrap();
    let at = |name: &str| folder.path().join(name);
    let plain = Request::new;
    let reading = plain().dims(&[3, 4]);
    let cases = [
        (one(plain()).array("t", &line, &data).unwrap(), "a.safetensors", "\"t\" is given twice"),
        (
            one(plain()).array("u", &line, &data).unwrap(),
            "a.npy",
            "holds one array, and the result is 2 tensors",
        ),
        (Writer::new(plain()), "a.npy", "holds one array, and the result is 0 tensors"),
        (one(plain()).metadata("a", "b"), "a.npy", "cannot store metadata"),
        (one(plain()), "a.gguf", "can be saved as .safetensors"),
        (one(plain()), "a.safetensors.index.json", "can be saved as .safetensors"),
        (one(plain()), "a.bin", "raw:PATH"),
        (one(plain()), "none/a.npz", "folder"),
        (one(reading), "a.npz", "have their own layout; do not give one"),
        (one(to("NCHW")), "a.npz", "tensor \"t\" of dims [3, 4] has rank 2"),
        (one(plain().rule("w*", spec("row-major"))), "a.npz", "\"w*\""),
        (one(to("zN").fill(Fill::Bits(1 << 40))), "a.npz", "tensor \"t\": a fill"),
        (one(plain().memory(1)), "a.npz", "at least 4096"),
        (one(plain()).array("__metadata__", &line, &data).unwrap(), "a.safetensors", "cannot hold"),
    ];
    for (writer, name, said) in cases {
        let error = writer.write(at(name), &()).unwrap_err();
        assert!(error.to_string().contains(said), "{name}: {error}");
        assert!(error.is_usage() || name.contains("none"), "{error}");
    }
    for (layout, bytes, said) in [
        (spec("(3,4):(4,1)").resolve(None, None).unwrap(), &data[..], "has no element type"),
        (rows.clone(), &data[..47], "47 bytes are there"),
        (named("s4[96]{0:E(2)}"), &data[..], "whose values have 4"),
    ] {
        let error = Writer::new(plain()).array("t", &layout, bytes).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(said), "{error}");
        assert!(error.to_string().contains("tensor \"t\""), "{error}");
    }
    assert!(one(plain()).write(at("a.npz"), &Stop).unwrap_err().is_cancelled());
    assert_eq!(names(&folder), Vec::<String>::new());
    one(plain()).write(at("a.npz"), &()).unwrap();
    assert_eq!(one(plain()).write(at("a.npz"), &()).unwrap_err().kind(), "exists");
    one(plain().force(true)).write(at("a.npz"), &()).unwrap();
    assert_eq!(names(&folder), ["a.npz"]);
}

/// A file of one array that cannot record its layout has a note beside it, like the result of a conversion.
#[test]
fn notes_stand_beside_files_of_one_array() {
    let folder = folder();
    let data = noise(48);
    let out = folder.path().join("a.npy");
    write_one(&out, "f32[3,4] row-major", &data, to("{1,0:T(2,4)}")).unwrap();
    assert_eq!(names(&folder), ["a.npy", "a.npy.tilewright.json"]);
    assert_eq!(rows(&out, &Reading::default()), data);
    write_one(&out, "f32[3,4] row-major", &data, Request::new().force(true)).unwrap();
    assert_eq!(names(&folder), ["a.npy"]);
    let raw = format!("raw:{}", folder.path().join("b.bin").display());
    write_one(&raw, "f32[3,4] col-major", &data, Request::new()).unwrap();
    let reading =
        Reading::default().dims(&[3, 4]).dtype(tilewright_notation::dtype("f32").unwrap());
    assert_eq!(rows(&raw, &reading).len(), 48);
}
