//! Broken files cause a typed error that describes the fault, never a panic.

use tilewright_files::{Reading, open};

use crate::common::*;

/// Opens a safetensors file of these bytes, which must fail, and returns the kind and the message.
fn refused(bytes: &[u8]) -> (&'static str, String) {
    let folder = folder();
    let path = write(&folder, "t.safetensors", bytes);
    let error = match open(&path, &Reading::default()) {
        Ok(input) => panic!("{} bytes were read as {:?}", bytes.len(), input.tensors()),
        Err(error) => error,
    };
    assert!(error.is_io() && !error.is_usage() && !error.is_cancelled());
    let said = error.to_string();
    assert!(said.contains("t.safetensors"), "{said}");
    (error.kind(), said)
}

fn entry(name: &str, dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
}

#[test]
fn a_broken_file_is_an_error_that_says_so() {
    let good = entry("a", "U8", "[4]", "[0,4]");
    let file = |entries: &[String], data: usize| {
        safetensors(&format!("{{{}}}", entries.join(",")), &vec![0; data])
    };
    let whole = file(std::slice::from_ref(&good), 4);
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (vec![], "corrupt", "0 bytes are too few"),
        (whole[..5].to_vec(), "corrupt", "5 bytes are too few"),
        (whole[..20].to_vec(), "corrupt", "a safetensors header of"),
        (whole[..whole.len() - 1].to_vec(), "corrupt", "fill 4 bytes, but the file has 3"),
        ([whole.clone(), vec![0; 3]].concat(), "corrupt", "fill 4 bytes, but the file has 7"),
        (u64::MAX.to_le_bytes().to_vec(), "corrupt", "18446744073709551615"),
        ([100_000_001u64.to_le_bytes().to_vec(), vec![b' '; 64]].concat(), "corrupt", "100000001"),
        (safetensors("not json", &[]), "corrupt", "safetensors header"),
        (safetensors("[]", &[]), "corrupt", "an object of tensors"),
        (safetensors("{\"a\":", &[]), "corrupt", "EOF"),
        (safetensors(&"[".repeat(100_000), &[]), "corrupt", "safetensors header"),
        (safetensors(&format!("{{\"a\":{}", "{\"a\":".repeat(100_000)), &[]), "corrupt", "header"),
        ([8u64.to_le_bytes().to_vec(), vec![0xFF; 8]].concat(), "corrupt", "UTF-8"),
        (
            file(&[entry("a", "U8", "[4]", "[0,5]")], 5),
            "corrupt",
            "tensor \"a\": [4] elements of U8 take 4 bytes",
        ),
        (
            file(&[entry("a", "U8", "[4]", "[1,5]")], 5),
            "corrupt",
            "\"a\" is the first and begins at byte 1",
        ),
        (file(&[entry("a", "U8", "[4]", "[4,0]")], 4), "corrupt", "\"a\" ends at byte 0, before"),
        (
            file(&[entry("a", "U8", "[4]", "[-1,3]")], 4),
            "corrupt",
            "\"a\": invalid value: integer `-1`",
        ),
        (
            file(&[entry("a", "U8", "[-4]", "[0,4]")], 4),
            "corrupt",
            "\"a\": invalid value: integer `-4`",
        ),
        (file(&[entry("a", "U8", "[4]", "[0,99999999999]")], 4), "corrupt", "99999999999 bytes"),
        (
            file(&[entry("a", "F32", "[9223372036854775807,9223372036854775807]", "[0,4]")], 4),
            "corrupt",
            "more than 2^63 bits",
        ),
        (
            file(&[entry("a", "F32", "[99999999999999999999999]", "[0,4]")], 4),
            "corrupt",
            "\"a\": invalid",
        ),
        (
            file(&[entry("a", "F4", "[3]", "[0,2]")], 2),
            "corrupt",
            "\"a\": [3] elements of F4 take 12 bits",
        ),
        (file(&[entry("a", "I7", "[4]", "[0,4]")], 4), "corrupt", "I7"),
        (
            file(&[good.clone(), entry("b", "U8", "[2]", "[2,4]")], 4),
            "corrupt",
            "\"b\" begins at byte 2, within \"a\"",
        ),
        (
            file(&[good.clone(), entry("b", "U8", "[2]", "[6,8]")], 8),
            "corrupt",
            "\"b\" begins at byte 6, \"a\" before",
        ),
        (file(&[good.clone(), good.clone()], 4), "corrupt", "\"a\" occurs twice"),
        (
            safetensors(
                r#"{"a":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}}"#,
                &[0; 4],
            ),
            "corrupt",
            "\"dtype\" occurs twice",
        ),
        (
            safetensors(r#"{"__metadata__":{"x":"1","x":"2"}}"#, &[]),
            "corrupt",
            "\"x\" occurs twice",
        ),
        (safetensors(r#"{"__metadata__":{},"__metadata__":{}}"#, &[]), "corrupt", "twice"),
        (safetensors(r#"{"__metadata__":{"x":1}}"#, &[]), "corrupt", "header"),
        (
            safetensors(r#"{"a":{"dtype":"U8","shape":[4]}}"#, &[0; 4]),
            "corrupt",
            "\"a\": missing field `data_offsets`",
        ),
        (
            file(&[entry("a", "U8", &format!("{:?}", [1; 1025]), "[0,1]")], 1),
            "corrupt",
            "\"a\": a shape of more than 1024",
        ),
    ];
    for (number, (bytes, kind, part)) in cases.iter().enumerate() {
        let (found, said) = refused(bytes);
        assert!(found == *kind && said.contains(part), "case {number}: {found}: {said}");
    }
}

#[test]
fn notes_that_do_not_fit_their_tensor_are_refused() {
    let noted = |notes: &str| {
        let entry = entry("a", "U8", "[4]", "[0,4]");
        safetensors(&format!(r#"{{"__metadata__":{{{notes}}},{entry}}}"#), &[0; 4])
    };
    let cases = [
        (r#""tilewright.layout.a":"gibberish""#, "tilewright.layout.a"),
        (r#""tilewright.layout.a":"(4):(1)""#, "element type"),
        (r#""tilewright.layout.a":"f32[4]{0}""#, "4 elements of 32 bits"),
        (r#""tilewright.layout.a":"u8[5]{0}""#, "5 elements"),
        (r#""tilewright.layout.a":"u8[4]{0}","tilewright.fill.a":"many""#, "\"many\""),
        (r#""tilewright.layout.a":"s8[4]{0}""#, "is stored as I8 [4], the file has U8 [4]"),
        (r#""tilewright.layout.a":"f8e5m2[4]{0}""#, "F8_E5M2 [4], the file has U8"),
        (r#""tilewright.layout.a":"f32[1]{0}""#, "is stored as F32 [1], the file has U8 [4]"),
        (r#""tilewright.layout.a":"u8[2,2]{0,1}""#, "is stored as U8 [2, 2], the file has U8 [4]"),
        (r#""tilewright.layout.a":"u8[3]{0:T(2)}""#, "is stored as U8 [2, 2], the file has U8 [4]"),
        (r#""tilewright.layout.a":"u8[4] (4):(-1) capacity 4""#, "down to offset -3"),
        (r#""tilewright.layout.a":"u8[4]{0}","tilewright.fill.a":"0x100""#, "a fill of 0x100"),
        // Four bytes that would expand to a gigabyte.
        (
            r#""tilewright.layout.a":"u8[1073741824] (1073741824):(0) capacity 4""#,
            "two elements in one",
        ),
        (r#""tilewright.layout.a":"u8[2,3] (2,3):(1,1)""#, "two elements in one place"),
    ];
    for (notes, part) in cases {
        let (kind, said) = refused(&noted(notes));
        assert!(kind == "corrupt" && said.contains(part), "{said}");
        assert!(said.contains("tensor \"a\": the metadata \"tilewright.layout.a\""), "{said}");
    }
    let folder = folder();
    let stale = noted(r#""tilewright.layout.b":"gibberish""#);
    let path = write(&folder, "t.safetensors", stale);
    assert!(open(path, &Reading::default()).is_ok());
}

#[test]
fn a_file_that_shrinks_after_it_was_opened_is_an_error() {
    let folder = folder();
    let data = noise(1 << 16);
    let path = write(&folder, "t.safetensors", one("U8", &[256, 256], &data));
    let out = folder.path().join("a.safetensors");
    let input = open(&path, &Reading::default()).unwrap();
    let conversion = tilewright_files::Conversion::prepare(&input, &out, to("col-major")).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let error = conversion.run(&()).unwrap_err();
    assert_eq!(error.kind(), "corrupt");
    assert_eq!(names(&folder), ["t.safetensors"]);
}

#[test]
fn files_of_no_known_kind_are_named() {
    let folder = folder();
    let path = write(&folder, "t.bin", "hello");
    let error = open(&path, &Reading::default()).unwrap_err();
    assert!(error.kind() == "unsupported" && error.to_string().contains("raw:PATH"));
    let path = write(&folder, "u.bin", one("U8", &[1], &[7]));
    assert_eq!(open(&path, &Reading::default()).unwrap().format(), "safetensors");
    let error = open(folder.path(), &Reading::default()).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("is a directory"), "{error}");
    let error = open(folder.path().join("none.npy"), &Reading::default()).unwrap_err();
    assert!(error.kind() == "io" && error.to_string().contains("none.npy"));
}

/// Tensors for which no layout is defined are listed and copied; only conversions of them are refused.
#[test]
fn what_has_no_layout_passes_through() {
    let folder = folder();
    let entries = [
        entry("six", "F6_E2M3", "[4,2]", "[0,6]"),
        entry("deep", "U8", &format!("{:?}", [1; 33]), "[6,7]"),
        entry("empty", "F32", "[4611686018427387904,4611686018427387904,0]", "[7,7]"),
        entry("plain", "U8", "[2,3]", "[7,13]"),
        entry("other", "F6_E3M2", "[4]", "[13,16]"),
    ];
    let data: Vec<u8> = (1..17).collect();
    let path =
        write(&folder, "in.safetensors", safetensors(&format!("{{{}}}", entries.join(",")), &data));
    let input = open(&path, &Reading::default()).unwrap();
    let tensor = |name: &str| input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    for (name, part, dtype) in [
        ("six", "6-bit", "f6e2m3fn"),
        ("other", "6-bit", "f6e3m2fn"),
        ("deep", "33", "u8"),
        ("empty", "2^63", "f32"),
    ] {
        let tensor = tensor(name);
        assert!(tensor.refusal().unwrap().contains(part), "{:?}", tensor.refusal());
        assert_eq!(tensor.dtype().name(), dtype);
    }
    assert_eq!((tensor("six").file_dtype(), tensor("six").dims()), ("F6_E2M3", &[4, 2][..]));
    assert_eq!((tensor("deep").dims().len(), tensor("empty").bytes()), (33, 0));
    assert_eq!((tensor("plain").refusal(), tensor("plain").dtype().name()), (None, "u8"));

    let (out, back) = (folder.path().join("out.safetensors"), folder.path().join("b.safetensors"));
    for request in [to("col-major").only("plain"), to("col-major").skip_unfit(true)] {
        convert(&path, &out, request.clone().verify(true).force(true)).unwrap();
        for request in [request, tilewright_files::Request::new()] {
            let verdict = tilewright_files::verify(&out, &path, &request, &()).unwrap();
            assert_eq!(
                verdict,
                tilewright_files::Verdict::Same { bytes: 16, dropped: vec![], changed: vec![] }
            );
        }
    }
    assert_eq!(parts(&out).1, [&data[..7], &[8, 11, 9, 12, 10, 13], &data[13..]].concat());
    convert(&out, &back, to("row-major").only("plain").verify(true)).unwrap();
    assert_eq!(parts(&back), parts(&path));

    for name in ["six", "deep", "empty"] {
        let error = convert(&path, &out, to("col-major").only(name).force(true)).unwrap_err();
        let said = error.to_string();
        assert!(error.is_io() && error.kind() == "unsupported", "{said}");
        assert!(said.contains(&format!("tensor {name:?}")), "{said}");
        assert!(error.remedies().contains(&tilewright_core::Remedy::SkipUnfit));
    }
    // A byte of such a tensor is compared like any other, and so are the facts in its header.
    let bytes = std::fs::read(&out).unwrap();
    let differs = |bytes: &[u8], part: &str| {
        let bad = write(&folder, "bad.safetensors", bytes);
        let request = tilewright_files::Request::new();
        let verdict = tilewright_files::verify(bad, &path, &request, &()).unwrap();
        let tilewright_files::Verdict::Differs(found) = verdict else { panic!("same") };
        let said = found.to_string();
        assert!(said.contains(part), "{said}");
    };
    let mut bad = bytes.clone();
    *bad.last_mut().unwrap() ^= 1;
    differs(&bad, "tensor \"other\" has 0x11 at [2], expected 0x10");
    let text = String::from_utf8_lossy(&bytes[8..]).into_owned();
    let at = 8 + text.find("F6_E3M2").unwrap();
    bad = bytes.clone();
    bad[at..at + 7].copy_from_slice(b"F6_E2M3");
    differs(&bad, "it is F6_E2M3 [4], was F6_E3M2 [4]");
}
