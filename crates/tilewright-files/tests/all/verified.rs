//! Tests that verification finds every fault.

use std::fs;

use tempfile::TempDir;
use tilewright_core::Fill;
use tilewright_files::{Reading, Request, Tensor, Verdict, open, verify};

use crate::common::*;

/// Writes a 5×6 tensor of 16-bit elements in tiles of 4×4, and its original.
fn pair(folder: &TempDir, fill: Fill) -> (std::path::PathBuf, std::path::PathBuf) {
    let header = r#"{"__metadata__":{"k":"v"},"t":{"dtype":"I16","shape":[5,6],"data_offsets":[0,60]},"u":{"dtype":"U8","shape":[4],"data_offsets":[60,64]}}"#;
    let path = write(folder, "in.safetensors", safetensors(header, &noise(64)));
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, to("{1,0:T(4,4)}").only("t").fill(fill)).unwrap();
    (path, out)
}

fn differs(out: &std::path::Path, against: &std::path::Path, memory: u64) -> Option<String> {
    match verify(out, against, &Request::new().memory(memory), &()).unwrap() {
        Verdict::Same { bytes, .. } => {
            assert_eq!(bytes, 64 * 2 + 4);
            None
        }
        Verdict::Differs(found) => Some(found.to_string()),
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let folder = folder();
    for fill in [Fill::Unspecified, Fill::Lowest] {
        let (path, out) = pair(&folder, fill);
        let (_, data) = parts(&out);
        assert_eq!(data.len(), 64 * 2 + 4);
        assert_eq!(differs(&out, &path, 1 << 20), None);
        let good = fs::read(&out).unwrap();
        let start = good.len() - data.len();
        for byte in 0..data.len() {
            for bit in [0, 7] {
                let mut bad = good.clone();
                bad[start + byte] ^= 1 << bit;
                fs::write(&out, &bad).unwrap();
                let said = differs(&out, &path, 1 << 20).expect("a difference");
                if byte >= 128 {
                    assert!(
                        said.contains("\"u\" has") && said.contains(&format!("[{}]", byte - 128)),
                        "{said}"
                    );
                    continue;
                }
                let offset = byte / 2;
                let (row, col) =
                    (offset / 32 * 4 + offset / 4 % 4, offset / 16 % 2 * 4 + offset % 4);
                let place = if row < 5 && col < 6 {
                    format!("at [{row}, {col}]")
                } else {
                    format!("padding at offset {offset}")
                };
                assert!(said.contains(&place) && said.contains("\"t\""), "{byte}: {said}");
            }
        }
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn differences_beside_the_elements_are_found() {
    let folder = folder();
    let (path, out) = pair(&folder, Fill::Unspecified);
    let good = String::from_utf8_lossy(&fs::read(&out).unwrap()).into_owned();
    assert!(good.contains("\"k\":\"v\""));
    let bytes = fs::read(&out).unwrap();
    let patched = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut bad = bytes.clone();
        bad[at..at + to.len()].copy_from_slice(to.as_bytes());
        let path = write(&folder, "bad.safetensors", bad);
        differs(&path, &folder.path().join("in.safetensors"), 1 << 20).unwrap()
    };
    assert!(patched("\"k\":\"v\"", "\"k\":\"w\"").contains("metadata"));
    assert!(patched("\"k\":\"v\"", "\"l\":\"v\"").contains("metadata"));
    assert!(patched("\"u\":{", "\"w\":{").contains("\"u\" is missing"));
    assert!(patched("\"k\":\"v\"", "\"k\":\"w\"").contains("\"k\" is \"w\", was \"v\""));
    assert!(patched("\"k\":\"v\"", "\"l\":\"v\"").contains("\"l\" is \"v\", was not there"));
    assert!(patched("s16[5,6]", "s16[6,6]").contains("logical dims"));
    // The facts that the file states about a converted tensor contradict each other: a wrong one in either place is found.
    assert!(
        patched("s16[5,6]", "u16[5,6]").contains("is stored as U16 [2, 2, 4, 4], the file has I16")
    );
    assert!(patched("\"I16\"", "\"U16\"").contains("the file has U16 [2, 2, 4, 4]"));
    assert!(patched("[2,2,4,4]", "[4,2,2,4]").contains("the file has I16 [4, 2, 2, 4]"));
    assert!(patched("[2,2,4,4]", "[1,1,8,8]").contains("tensor \"t\""));
    assert!(patched("{1,0:T(4,4)}", "{1,0:T(4,8)}").contains("tensor \"t\""));
    assert!(patched("\"dtype\":\"U8\"", "\"dtype\":\"I8\"").contains("elements are s8, were u8"));
    assert_eq!(differs(&out, &path, 1 << 20), None);
}

/// Windows and blocks far smaller than the tensor give the same result.
#[test]
fn verification_is_bounded_and_still_exact() {
    let folder = folder();
    let data = noise(100 * 120 * 4);
    let path = write(&folder, "in.safetensors", one("F32", &[100, 120], &data));
    for text in ["zN[M0=16,C0=8]", "col-major", "{0,1:T(3,5)}", "{1,0:T(7,11)(2,1)}"] {
        let out = folder.path().join("out.safetensors");
        convert(&path, &out, to(text).force(true)).unwrap();
        let verdict = |memory| verify(&out, &path, &Request::new().memory(memory), &()).unwrap();
        assert!(matches!(verdict(4096), Verdict::Same { .. }), "{text}");
        let mut bad = fs::read(&out).unwrap();
        let at = bad.len() - 1 - 4 * 777;
        bad[at] ^= 1;
        fs::write(&out, bad).unwrap();
        let (small, large) = (verdict(4096), verdict(1 << 20));
        assert!(
            small == large && matches!(small, Verdict::Differs(_)),
            "{text}: {small:?} {large:?}"
        );
    }
}

#[test]
fn stray_bits_behind_packed_elements_are_found() {
    let folder = folder();
    let path = write(&folder, "in.safetensors", one("BOOL", &[3, 1], &[1, 0, 1]));
    let out = folder.path().join("out.safetensors");
    convert(&path, &out, to("{1,0:E(1)}").verify(true)).unwrap();
    assert_eq!(tensor(&out, "t").2, [0b101]);
    let mut bad = fs::read(&out).unwrap();
    *bad.last_mut().unwrap() = 0b1000_0101;
    fs::write(&out, bad).unwrap();
    let verdict = verify(&out, &path, &Request::new(), &()).unwrap();
    assert!(
        matches!(&verdict, Verdict::Differs(found) if found.to_string().contains("last byte")),
        "{verdict:?}"
    );
}

/// `verify` accepts the options of `convert`: it then reads and expects the same layouts.
#[test]
fn the_flags_of_a_conversion_verify_it() {
    let folder = folder();
    let header = r#"{"a":{"dtype":"I16","shape":[4,4],"data_offsets":[0,32]},"b":{"dtype":"I16","shape":[4,4],"data_offsets":[32,64]},"c":{"dtype":"U8","shape":[3],"data_offsets":[64,67]}}"#;
    let path = write(&folder, "in.safetensors", safetensors(header, &noise(67)));
    let out = folder.path().join("out.safetensors");
    let requests = [
        to("row-major").from(spec("col-major")),
        to("col-major").from(spec("col-major")),
        to("{1,0:T(2,4)}").from(spec("col-major")).only("a"),
        to("zN[M0=2,C0=2]").from(spec("zN[M0=2,C0=2]")).dims(&[4, 4]).only("[ab]"),
        to("row-major").from(spec("zN[M0=2,C0=2]")).dims(&[3, 4]).only("b"),
        to("row-major").from(spec("zN[M0=2,C0=2]")).skip_unfit(true),
        to("row-major")
            .from(spec("row-major"))
            .dtype(tilewright_notation::dtype("f16").unwrap())
            .only("a"),
        Request::new().rule("a", spec("{0,1}")).rule("b", spec("{1,0:T(3,3)}")).fill(Fill::Lowest),
    ];
    for request in requests {
        convert(&path, &out, request.clone().force(true).verify(true)).unwrap();
        let verdict = verify(&out, &path, &request, &()).unwrap();
        assert!(matches!(verdict, Verdict::Same { .. }), "{request:?}: {verdict:?}");
    }
    // Without --from the elements are at other places; without --tensor too many tensors are read this way.
    convert(&path, &out, to("row-major").from(spec("col-major")).only("a").force(true)).unwrap();
    for request in [Request::new(), Request::new().from(spec("col-major"))] {
        let verdict = verify(&out, &path, &request, &()).unwrap();
        assert!(
            matches!(&verdict, Verdict::Differs(found) if found.to_string().contains(" has 0x")),
            "{verdict:?}"
        );
    }
    let request = Request::new().from(spec("col-major")).only("a");
    assert!(matches!(verify(&out, &path, &request, &()).unwrap(), Verdict::Same { .. }));
    let error = verify(&out, &path, &Request::new().from(spec("zN[M0=2,C0=2]")), &()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("\"c\""), "{error}");
    for request in [
        Request::new().dims(&[4, 4]),
        Request::new().dtype(tilewright_notation::dtype("s16").unwrap()),
    ] {
        let error = verify(&out, &path, &request, &()).unwrap_err();
        assert!(
            error.is_usage() && error.remedies().contains(&tilewright_core::Remedy::Source),
            "{error}"
        );
    }
}

#[test]
fn a_result_that_lies_otherwise_than_asked_differs() {
    let folder = folder();
    let (path, out) = pair(&folder, Fill::One);
    let said = |request: Request| match verify(&out, &path, &request, &()).unwrap() {
        Verdict::Same { .. } => "same".into(),
        Verdict::Differs(found) => found.to_string(),
    };
    assert_eq!(said(to("{1,0:T(4,4)}").only("t").fill(Fill::One)), "same");
    assert_eq!(said(to("(m1 m0:4) (n1 n0:4) -> m1 n1 m0 n0").only("t").fill(Fill::One)), "same");
    let expected = "tensor \"t\": its layout is s16[5,6]fill(one) {1,0:T(4,4)}, expected s16[5,6]fill(one) row-major";
    assert_eq!(said(to("row-major").only("t").fill(Fill::One)), expected);
    assert!(said(to("{1,0:T(4,2)}").only("t")).contains("its layout is"));
    assert!(said(to("row-major").only("u")).contains("tensor \"t\": its layout is"));
    assert!(
        said(to("{1,0:T(4,4)}").only("t").fill(Fill::Zero))
            .contains("records padding of one, expected 0")
    );
    assert!(said(to("{1,0:T(4,4)}").only("t")).contains("records padding of one"));
    assert!(said(Request::new().fill(Fill::Lowest)).contains("expected lowest"));
    assert_eq!(said(Request::new()), "same");
}

#[test]
fn arrays_that_say_otherwise_than_asked_differ() {
    let folder = folder();
    let data = noise(48);
    let path = write(&folder, "in.npy", npy("<f4", false, "(3, 4)", &data));
    let (out, raw) = (folder.path().join("out.npy"), folder.path().join("out.bin"));
    let (raw_path, raw) = (raw.clone(), format!("raw:{}", raw.display()));
    let named = |path: &std::path::Path| match path == raw_path {
        true => std::path::PathBuf::from(&raw),
        false => path.to_path_buf(),
    };
    convert(&path, &out, to("{1,0:T(2,4)}")).unwrap();
    convert(&path, &raw, to("{1,0:T(2,4)}")).unwrap();
    let good = fs::read(&out).unwrap();
    let said = |out: &std::path::Path, request: Request| match verify(out, &path, &request, &())
        .unwrap()
    {
        Verdict::Same { .. } => "same".into(),
        Verdict::Differs(found) => found.to_string(),
    };
    assert_eq!(said(&out, to("{1,0:T(2,4)}")), "same");
    assert_eq!(said(raw.as_ref(), to("{1,0:T(2,4)}")), "same");
    // Their notes record the layout; without notes it is in the bytes, or nowhere.
    for out in [out.as_path(), raw_path.as_path()] {
        assert_eq!(
            said(&named(out), to("{1,0:T(4,2)}")),
            "tensor \"array\": its layout is f32[3,4]{1,0:T(2,4)}, expected f32[3,4]{1,0:T(4,2)}"
        );
        assert_eq!(said(&named(out), Request::new()), "same");
        fs::remove_file(format!("{}.tilewright.json", out.display())).unwrap();
    }
    assert!(said(raw.as_ref(), to("{1,0:T(4,2)}")).contains(", expected 0x"));
    assert_eq!(
        said(raw.as_ref(), to("row-major")),
        "the file has 64 bytes, f32[3,4] row-major takes 48"
    );
    assert_eq!(
        said(&out, to("{1,0:T(3,4)}")),
        "the header says [2, 1, 2, 4] in C order, expected [1, 1, 3, 4] in C order"
    );
    let patched = |from: &str, to_text: &str| {
        let at = good.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut bad = good.clone();
        bad[at..at + from.len()].copy_from_slice(to_text.as_bytes());
        said(&write(&folder, "bad.npy", bad), to("{1,0:T(2,4)}"))
    };
    assert_eq!(patched("<f4", "<i4"), "the header says elements of \"<i4\", expected \"<f4\"");
    assert!(patched("(2, 1, 2, 4)", "(4, 1, 2, 2)").contains("[4, 1, 2, 2] in C order"));
    assert!(patched("False", "True ").contains("in Fortran order, expected"));
    // A transposed file itself records its order, and its type is still checked.
    convert(&path, &out, to("col-major").force(true)).unwrap();
    assert_eq!(said(&out, Request::new()), "same");
    let mut bad = fs::read(&out).unwrap();
    let at = bad.windows(3).position(|part| part == b"<f4").unwrap();
    bad[at + 1] = b'i';
    assert!(said(&write(&folder, "bad.npy", bad), Request::new()).contains("\"<i4\""));
    let error = verify(&raw, &path, &Request::new(), &()).unwrap_err();
    assert!(
        error.is_usage() && error.remedies().contains(&tilewright_core::Remedy::Target),
        "{error}"
    );
}

/// Returns all facts that a file states about its tensors and apart from them.
fn meaning(path: &std::path::Path) -> Option<Vec<String>> {
    let input = open(path, &Reading::default()).ok()?;
    let tensor = |it: &Tensor| {
        let (layout, fill) = (it.layout().layout(), it.fill());
        let facts = (it.name(), it.dtype(), it.file_dtype(), it.bits(), it.storage());
        let data = (it.recorded(), input.bytes(it, 1 << 20).unwrap());
        format!("{facts:?} {layout:?} {fill:?} {data:?}")
    };
    let mut said: Vec<String> = input.tensors().iter().map(tensor).collect();
    let notes = ["tilewright.layout.", "tilewright.fill.", "tilewright.data."];
    let own = input.metadata().filter(|(key, _)| notes.iter().all(|note| !key.starts_with(note)));
    said.extend(own.map(|pair| format!("{pair:?}")));
    Some(said)
}

#[test]
fn every_bit_of_a_header_that_means_something_is_compared() {
    let folder = folder();
    let header = r#"{"__metadata__":{"format":"pt"},"p":{"dtype":"U8","shape":[3,5],"data_offsets":[0,15]},"q":{"dtype":"F16","shape":[4],"data_offsets":[15,23]}}"#;
    let input = write(&folder, "in.safetensors", safetensors(header, &noise(23)));
    let out = folder.path().join("out.safetensors");
    let request = to("row-major").rule("p", spec("zN[M0=2,C0=4]")).fill(Fill::Bits(0x2a));
    convert(&input, &out, request).unwrap();
    let bytes = fs::read(&out).unwrap();
    let len = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text = String::from_utf8(bytes[8..len].to_vec()).unwrap();
    let keys = ["fill(0x2a)", "tilewright.fill.p", "tilewright.data.p"];
    assert!(keys.iter().all(|key| text.contains(key)), "{text}");
    let own = meaning(&out).unwrap();
    let (mut found, mut alike) = (0, 0);
    let flipped = folder.path().join("flipped.safetensors");
    // All bits, or every third, so bits of every place in a byte.
    for bit in (0..8 * len).step_by(tilewright_testing::cases(1, 3)) {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&flipped, &bytes).unwrap();
        match verify(&flipped, &input, &Request::new(), &()) {
            Ok(Verdict::Same { .. }) => {
                assert_eq!(meaning(&flipped).as_ref(), Some(&own), "bit {bit} of {text}");
                alike += 1;
            }
            _ => found += 1,
        }
    }
    println!("{found} flips found, {alike} without a meaning");
    assert!(found > tilewright_testing::cases(100, 50) * alike, "{found} {alike}");
    // Typical changes by users to such a file.
    for (from, to) in [
        ("fill(0x2a)", "fill(0x3a)"),
        ("tilewright.fill.p", "tilewright.fill.x"),
        ("tilewright.fill.p", "tilewright.fill.q"),
        ("tilewright.fill.p\":\"0x2A", "tilewright.fill.p\":\"0x3A"),
    ] {
        let changed = [&bytes[..8], text.replace(from, to).as_bytes(), &bytes[len..]].concat();
        assert!(changed.len() == bytes.len() && changed != bytes, "{from} to {to}");
        fs::write(&flipped, changed).unwrap();
        let verdict = verify(&flipped, &input, &Request::new(), &()).unwrap();
        assert!(matches!(verdict, Verdict::Differs(_)), "{from} to {to}: {verdict:?}");
    }
}

/// Equal bytes are not enough if padding must have another value.
#[test]
fn copies_differ_from_what_another_fill_makes() {
    let folder = folder();
    let original = write(&folder, "in.npy", npy("<f4", false, "(3, 5)", &noise(60)));
    let path = |name: &str| folder.path().join(name);
    let layout = "f32[3,5]{1,0:T(2,2)}";
    convert(&original, path("a.npy"), to(layout)).unwrap();
    for ending in ["", ".tilewright.json"] {
        fs::copy(path(&format!("a.npy{ending}")), path(&format!("b.npy{ending}"))).unwrap();
    }
    let said = |request: Request| match verify(path("b.npy"), path("a.npy"), &request, &()).unwrap()
    {
        Verdict::Same { .. } => "same".into(),
        Verdict::Differs(found) => found.to_string(),
    };
    for request in [Request::new(), to(layout), to(layout).fill(Fill::Zero)] {
        assert_eq!(said(request), "same");
    }
    for request in [to(layout), Request::new()] {
        let found = said(request.fill(Fill::Bits(0x3a)));
        assert!(found.contains("padding at offset") && found.contains("0x3a"), "{found}");
    }
    // The bytes that the conversion would have written are equal.
    let filled = to(layout).fill(Fill::Bits(0x3a));
    convert(path("a.npy"), path("b.npy"), filled.clone().force(true)).unwrap();
    assert_eq!(said(filled), "same");
}

#[test]
fn bytes_behind_an_array_are_a_difference() {
    let folder = folder();
    let original = write(&folder, "a.npy", npy("<f4", false, "(3, 4)", &noise(48)));
    let out = folder.path().join("b.npy");
    for text in ["col-major", "row-major"] {
        convert(&original, &out, to(text).force(true)).unwrap();
        let good = fs::read(&out).unwrap();
        for rest in [&b""[..], b"\0", b"junk\n"] {
            fs::write(&out, [&good, rest].concat()).unwrap();
            for request in [Request::new(), to(text)] {
                let found = match verify(&out, &original, &request, &()).unwrap() {
                    Verdict::Same { .. } => None,
                    Verdict::Differs(found) => Some(found.to_string()),
                };
                let behind = |said: &str| {
                    said.contains(" after the array ") && said.contains(" not part of it")
                };
                assert_eq!(found.as_deref().is_some_and(behind), !rest.is_empty(), "{found:?}");
            }
        }
    }
}
