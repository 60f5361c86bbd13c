//! The fingerprint of the data that a conversion records, in every format and with any memory, and the differences it detects.

use std::{collections::BTreeMap, fs, path::Path};

use tilewright_files::{
    Action, Collection, Conversion, Difference, Fingerprint, Key, Reading, Request, Verdict, open,
    verify, verify_recorded,
};

use crate::{common::*, sharded};

/// Returns the records of a file, by tensor.
fn recorded(path: impl AsRef<Path>) -> BTreeMap<String, Fingerprint> {
    let input = open(path, &Reading::default()).unwrap();
    let own = input.tensors().iter();
    own.filter_map(|tensor| Some((tensor.name().to_owned(), tensor.recorded()?))).collect()
}

/// Returns the fingerprints of the data of a file, by tensor.
fn summed(path: impl AsRef<Path>) -> BTreeMap<String, Fingerprint> {
    let all = Collection::open(path).unwrap().fingerprints(&Key::default(), &()).unwrap();
    all.tensors.into_iter().map(|tensor| (tensor.name, tensor.fingerprint)).collect()
}

fn said(verdict: Verdict) -> String {
    match verdict {
        Verdict::Same { .. } => "same".into(),
        Verdict::Differs(found) => found.to_string(),
    }
}

/// Writes an array of 16-bit elements in zN; returns the file, its result, and the bytes of the result.
fn one_in_zn(folder: &tempfile::TempDir) -> (std::path::PathBuf, std::path::PathBuf, Vec<u8>) {
    let input = write(folder, "in.safetensors", one("F16", &[20, 24], &noise(960)));
    let out = folder.path().join("out.safetensors");
    convert(&input, &out, to("zN").force(true)).unwrap();
    let bytes = fs::read(&out).unwrap();
    (input, out, bytes)
}

/// Returns the position of the record in the bytes of a file.
fn place(path: &Path, bytes: &[u8]) -> usize {
    let text = recorded(path)["t"].to_string();
    bytes.windows(16).position(|part| part == text.as_bytes()).unwrap()
}

#[test]
fn a_result_records_what_its_source_sums_up_to() {
    let [folder, shards] = [folder(), folder()];
    sharded::checkpoint(&shards);
    let array = write(&folder, "a.npy", npy("<f4", false, "(5, 7)", &noise(140)));
    for (input, out, layout) in [
        (corpus(LLM), "a.safetensors", "zN"),
        (corpus(CNN), "b.safetensors", "{0,1,2,3}"),
        (corpus("tiny_quantised.gguf"), "c.gguf", "(m) (n n0:32) -> n m n0"),
        (corpus("tiny_stored.npz"), "d.npz", "{0,1:T(2,3)}"),
        (corpus("tiny_deflated.npz"), "e.npz", "{0,1:T(2,3)}"),
        (array.clone(), "f.npy", "zN"),
        (array.clone(), "g.safetensors", "zN"),
        (shards.path().join(sharded::INDEX), sharded::INDEX, "zN[M0=4,C0=4]"),
    ] {
        let out = folder.path().join(out);
        let (mut results, own) = (Vec::new(), summed(&input));
        for memory in [4096, 20_000, 1 << 20, 1 << 30] {
            let request = to(layout).skip_unfit(true).force(true).memory(memory).verify(true);
            convert(&input, &out, request).unwrap();
            let kept = recorded(&out);
            assert!(!kept.is_empty(), "{out:?}");
            for (name, data) in &kept {
                assert!(own.values().any(|own| own == data), "{out:?}: {name} within {memory}");
            }
            assert_eq!(summed(&out).values().max(), own.values().max(), "{out:?}");
            let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
            assert_eq!((said(checked.verdict), checked.recorded), ("same".into(), kept.len()));
            // The index of shards that replace others has new names for them.
            let bytes =
                if out.ends_with(sharded::INDEX) { Vec::new() } else { fs::read(&out).unwrap() };
            results.push((kept, bytes));
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{out:?}");
    }
    convert(&array, format!("raw:{}", folder.path().join("h").display()), to("zN")).unwrap();
    let raw = format!("raw:{}", folder.path().join("h").display());
    assert_eq!(recorded(&raw), summed(&array));
    assert_eq!(said(verify_recorded(&raw, &Request::new(), &()).unwrap().verdict), "same");
}

#[test]
fn a_stream_has_the_records_of_a_file() {
    let folder = folder();
    for (input, layout) in [
        (corpus(LLM), "zN"),
        (corpus("tiny_quantised.gguf"), "(m) (n n0:32) -> n m n0"),
        (corpus("tiny_stored.npz"), "{0,1:T(2,3)}"),
    ] {
        let out = folder.path().join(input.file_name().unwrap());
        convert(&input, &out, to(layout).skip_unfit(true)).unwrap();
        let opened = open(&input, &Reading::default()).unwrap();
        let request = to(layout).skip_unfit(true);
        let conversion = Conversion::prepare_stream(&opened, "-", request).unwrap();
        let mut bytes = Vec::new();
        conversion.run_to(&mut bytes, &()).unwrap();
        assert!(!recorded(&out).is_empty() && bytes == fs::read(&out).unwrap(), "{input:?}");
    }
}

#[test]
fn every_flipped_bit_of_a_record_is_found() {
    let folder = folder();
    let (input, out, bytes) = one_in_zn(&folder);
    let at = place(&out, &bytes);
    for bit in 0..8 * 16 {
        let mut wrong = bytes.clone();
        wrong[at + bit / 8] ^= 1 << (bit % 8);
        fs::write(&out, wrong).unwrap();
        let verdict = verify(&out, &input, &Request::new(), &());
        assert!(!matches!(verdict, Ok(Verdict::Same { .. })), "bit {bit}");
        let alone = verify_recorded(&out, &Request::new(), &());
        let same = |checked| matches!(checked, Ok(Verdict::Same { .. }));
        assert!(!same(alone.map(|checked| checked.verdict)), "bit {bit}");
        let back = convert(&out, folder.path().join("back.safetensors"), to("row-major"));
        assert!(back.is_err() && names(&folder).len() == 2, "bit {bit}");
    }
}

#[test]
fn data_that_changed_behind_its_record_is_not_converted() {
    let folder = folder();
    let (input, out, bytes) = one_in_zn(&folder);
    let back = folder.path().join("back.safetensors");
    let len = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let named = open(&out, &Reading::default()).unwrap().tensors()[0].layout().clone();
    for coord in [[0, 0], [7, 3], [19, 23]] {
        let at = named.layout().offset(&coord).unwrap() as usize;
        let mut wrong = bytes.clone();
        wrong[len + 2 * at] ^= 4;
        fs::write(&out, &wrong).unwrap();
        let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
        let Verdict::Differs(Difference::Record { is, recorded: kept, .. }) = &checked.verdict
        else {
            panic!("{checked:?}")
        };
        assert_eq!((*is, *kept), (summed(&out)["t"], summed(&input)["t"]));
        let error = convert(&out, &back, to("row-major")).unwrap_err();
        assert_eq!((error.kind(), names(&folder).len()), ("corrupt", 2));
        assert!(error.to_string().contains("is recorded"), "{error}");
    }
    // Padding is not part of the data.
    let mut filled = bytes.clone();
    *filled.last_mut().unwrap() ^= 1;
    fs::write(&out, &filled).unwrap();
    convert(&out, &back, to("row-major")).unwrap();
    assert_eq!(tensor(&back, "t"), tensor(&input, "t"));
}

/// A record that fits the data of a wrong result contradicts the original.
#[test]
fn a_record_of_other_data_is_a_difference_of_its_own() {
    let folder = folder();
    let (input, out, bytes) = one_in_zn(&folder);
    let at = place(&out, &bytes);
    let mut wrong = bytes.clone();
    wrong[at..at + 16].copy_from_slice(b"0000000000000001");
    fs::write(&out, wrong).unwrap();
    let Verdict::Differs(found) = verify(&out, &input, &Request::new(), &()).unwrap() else {
        panic!()
    };
    assert_eq!(found.tensor(), Some("t"));
    let (is, text) = (summed(&input)["t"], found.to_string());
    assert_eq!(
        text,
        format!("tensor \"t\" has data with fingerprint {is}, and 0000000000000001 is recorded")
    );
}

#[test]
fn files_without_records_stay_valid_and_get_none() {
    let folder = folder();
    let (input, out, bytes) = one_in_zn(&folder);
    let (mut header, data) = parts(&out);
    header["__metadata__"].as_object_mut().unwrap().remove("tilewright.data.t").unwrap();
    let old = write(&folder, "old.safetensors", safetensors(&header.to_string(), &data));
    assert!(recorded(&old).is_empty());
    assert_eq!(said(verify(&old, &input, &Request::new(), &()).unwrap()), "same");
    let error = verify_recorded(&old, &Request::new(), &()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("records no fingerprint"), "{error}");
    // A copy keeps the record of its file; moved data get a record.
    let copy = folder.path().join("copy.safetensors");
    convert(&old, &copy, to("zN").force(true)).unwrap();
    assert!(recorded(&copy).is_empty());
    convert(&old, &copy, to("nZ").force(true)).unwrap();
    assert_eq!(recorded(&copy), summed(&input));
    convert(&copy, copy.with_extension("2.safetensors"), to("zN")).unwrap();
    assert_eq!(fs::read(copy.with_extension("2.safetensors")).unwrap(), bytes);
}

#[test]
fn what_is_converted_already_is_refused_and_never_taken_apart_twice() {
    let folder = folder();
    let array = write(&folder, "a.npy", npy("<f2", false, "(20, 24)", &noise(960)));
    let path = |name: &str| folder.path().join(name);
    let both = write(
        &folder,
        "both.safetensors",
        safetensors(
            r#"{"a":{"dtype":"F16","shape":[20,24],"data_offsets":[0,960]},"b":{"dtype":"F16","shape":[20],"data_offsets":[960,1000]}}"#,
            &noise(1000),
        ),
    );
    for (input, out, again) in [
        (both.clone(), path("x.safetensors"), path("y.safetensors")),
        (array.clone(), path("x.npy"), path("y.npy")),
    ] {
        // Padding of 12 rows: once filled, it does not have to be filled again.
        let zn = || to("zN").skip_unfit(true);
        convert(&input, &out, zn()).unwrap();
        let error = convert(&out, &again, zn()).unwrap_err();
        assert_eq!((error.kind(), error.is_usage()), ("converted", true));
        let text = error.to_string();
        assert!(text.contains("is converted already: tensor \"a") && text.contains("zN"), "{text}");
        assert!(!again.exists());
        convert(&out, &again, zn().force(true)).unwrap();
        assert_eq!(fs::read(&out).unwrap(), fs::read(&again).unwrap());
        assert_eq!((recorded(&out), recorded(&again)), (recorded(&out), recorded(&out)));
        assert_eq!(said(verify(&again, &input, &zn(), &()).unwrap()), "same");
        // A change of container or layout is a conversion.
        convert(&out, &again, to("nZ").skip_unfit(true).force(true)).unwrap();
        assert_eq!(summed(&again), summed(&input));
        // Read with another layout than the noted one, it would be shuffled twice.
        for from in ["row-major", "nZ"] {
            let request = to("zN").from(spec(from)).only("a*").force(true);
            let error = convert(&out, &again, request).unwrap_err();
            let text = error.to_string();
            assert!(error.is_usage(), "{text}");
            // Without padding the array would take fewer bytes.
            assert_eq!(text.contains("2048 bytes are there"), from == "row-major", "{text}");
            assert!(text.contains("has layout `f16[20,24] zN` by the "), "{text}");
            assert!(text.contains("remove the note"), "{text}");
            let named = ["tilewright.layout.a", ".npy.tilewright.json"];
            assert!(named.iter().any(|note| text.contains(note)), "{text}");
        }
        let request = to("row-major").from(spec("zN")).only("a*").force(true);
        convert(&out, &again, request).unwrap();
        assert_eq!((summed(&again), recorded(&again)), (summed(&input), BTreeMap::new()));
    }
    // With one more tensor to convert, the run continues.
    let (out, again) = (path("z.safetensors"), path("z2.safetensors"));
    convert(&both, &out, to("zN").only("a")).unwrap();
    let input = open(&out, &Reading::default()).unwrap();
    let request = to("zN").rule("b", spec("{0}")).force(true);
    let conversion = Conversion::prepare(&input, &again, request).unwrap();
    assert!(conversion.jobs().iter().all(|job| *job.action() == Action::Copy));
    assert_eq!(conversion.jobs().iter().filter(|job| job.is_already_so()).count(), 2);
}

/// Data in short runs are not summed during a conversion; an existing record is kept.
#[test]
fn what_a_swizzle_takes_apart_keeps_the_record_of_its_source() {
    let folder = folder();
    let (input, out, _) = one_in_zn(&folder);
    let path = |name: &str| folder.path().join(name);
    convert(&out, path("s.safetensors"), to("Sw<2,1,3> o (20,24):(24,1)")).unwrap();
    assert_eq!(recorded(path("s.safetensors")), summed(&input));
    convert(path("s.safetensors"), path("z.safetensors"), to("zN")).unwrap();
    assert_eq!(fs::read(path("z.safetensors")).unwrap(), fs::read(&out).unwrap());
}

/// Writes two arrays of 16-bit elements with records, `b` in this layout; returns the input and the result.
fn two(folder: &tempfile::TempDir, layout: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let header = r#"{"a":{"dtype":"F16","shape":[20,24],"data_offsets":[0,960]},"b":{"dtype":"F16","shape":[16,24],"data_offsets":[960,1728]}}"#;
    let input = write(folder, "two.safetensors", safetensors(header, &noise(1728)));
    let [zn, out] = ["zn.safetensors", "recorded.safetensors"].map(|name| folder.path().join(name));
    convert(&input, &zn, to("zN").force(true)).unwrap();
    // In `layout` it is not summed if that is a swizzle: its record is copied.
    convert(&zn, &out, to(layout).only("b").force(true)).unwrap();
    assert_eq!(recorded(&out), summed(&input));
    (input, out)
}

#[test]
fn no_record_is_carried_along_unchecked() {
    for layout in ["zN[M0=8]", "Sw<2,1,3> o (16,24):(24,1)"] {
        let folder = folder();
        let (input, out) = two(&folder, layout);
        let again = folder.path().join("again.safetensors");
        let requests = [
            // Read by its note; copied beside another that moves; left as unfit; moved, with and without a record.
            to(layout).only("b").force(true),
            to("nZ").only("a"),
            Request::new().rule("a", spec("nZ")).rule("b", spec("{0}")).skip_unfit(true),
            to("nZ"),
            to("row-major"),
        ];
        let streamed = |request: &Request| {
            let opened = open(&out, &Reading::default()).unwrap();
            let conversion = Conversion::prepare_stream(&opened, "-", request.clone()).unwrap();
            let mut bytes = Vec::new();
            let done = conversion.run_to(&mut bytes, &());
            (done.map(drop), bytes)
        };
        for request in &requests {
            for memory in [4096, 1 << 20] {
                let request = request.clone().memory(memory).force(true);
                convert(&out, &again, request.clone()).unwrap();
                assert_eq!(summed(&again), summed(&input));
                let (done, bytes) = streamed(&request);
                done.unwrap();
                assert!(bytes == fs::read(&again).unwrap());
            }
        }
        fs::remove_file(&again).unwrap();
        let whole = fs::read(&out).unwrap();
        let data =
            whole.len() - open(&out, &Reading::default()).unwrap().tensors()[1].bytes() as usize;
        let named = open(&out, &Reading::default()).unwrap().tensors()[1].layout().clone();
        for coord in [[0, 0], [7, 3], [15, 23]] {
            let mut wrong = whole.clone();
            wrong[data + 2 * named.layout().offset(&coord).unwrap() as usize] ^= 0x10;
            fs::write(&out, wrong).unwrap();
            for request in &requests {
                let said = |error: &tilewright_files::Error| {
                    assert_eq!(error.kind(), "corrupt");
                    let text = error.to_string();
                    assert!(text.contains("tensor \"b\" has data with fingerprint"), "{text}");
                };
                said(&convert(&out, &again, request.clone()).unwrap_err());
                assert_eq!(names(&folder).len(), 3, "{layout}");
                let (done, bytes) = streamed(request);
                said(&done.unwrap_err());
                assert!(bytes.is_empty());
            }
        }
        // A tensor that is not read has no record.
        convert(&out, folder.path().join("a.npy"), to("row-major").only("a")).unwrap();
    }
}

#[test]
fn what_cannot_be_compared_is_named() {
    let folder = folder();
    let (input, out) = two(&folder, "nZ");
    let (header, data) = parts(&out);
    let changed = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
        let mut header = header.clone();
        change(header["__metadata__"].as_object_mut().unwrap());
        let path = write(&folder, "changed.safetensors", safetensors(&header.to_string(), &data));
        verify_recorded(&path, &Request::new(), &())
    };
    let whole = changed(&|_| ()).unwrap();
    assert_eq!((whole.recorded, whole.tensors, whole.remark()), (2, 2, None));
    // A layout without a record: the others are compared.
    let checked = changed(&|known| drop(known.remove("tilewright.data.b"))).unwrap();
    assert_eq!(
        (checked.recorded, checked.tensors, &checked.unrecorded[..]),
        (1, 2, &["b".to_owned()][..])
    );
    assert_eq!(said(checked.verdict.clone()), "same");
    let remark = r#"a layout is recorded for "b", and no fingerprint: not compared"#;
    assert_eq!(checked.remark().unwrap(), remark);
    // No records at all.
    let error = changed(&|known| known.retain(|key, _| !key.contains(".data."))).unwrap_err();
    let text = error.to_string();
    assert!(
        error.is_usage() && text.contains(r#"; a layout is recorded for "a", "b", and no"#),
        "{text}"
    );
    // A record without its layout, and the record of a missing tensor.
    let lost = changed(&|known| drop(known.remove("tilewright.layout.b"))).unwrap();
    assert!(
        said(lost.verdict.clone()).contains("tensor \"b\" has data with fingerprint"),
        "{lost:?}"
    );
    let lost =
        changed(&|known| drop(known.insert("tilewright.layout.c".into(), "f16[2] {0}".into())));
    let text = said(lost.unwrap().verdict);
    assert!(text.contains("tensor \"c\": it is missing, but \"tilewright.layout.c\" is"), "{text}");
    let wrong = changed(&|known| {
        known.remove("tilewright.layout.b").unwrap();
        known.insert("tilewright.data.b".into(), "none".into());
    });
    let text = said(wrong.unwrap().verdict);
    assert!(text.contains("tensor \"b\": \"tilewright.data.b\" notes"), "{text}");
    // A record of plain data needs no layout.
    let own = summed(&input);
    let text = format!(
        r#"{{"__metadata__":{{"tilewright.data.a":"{}"}},"a":{{"dtype":"F16","shape":[20,24],"data_offsets":[0,960]}}}}"#,
        own["a"]
    );
    let path = write(&folder, "plain.safetensors", safetensors(&text, &noise(1728)[..960]));
    let checked = verify_recorded(&path, &Request::new(), &()).unwrap();
    assert_eq!((said(checked.verdict), checked.recorded), ("same".into(), 1));
}

#[test]
fn an_array_that_changed_behind_its_note_is_a_difference() {
    let folder = folder();
    let array = write(&folder, "in.npy", npy("<f2", false, "(20, 24)", &noise(960)));
    for (name, prefix) in [("out.npy", ""), ("out.bin", "raw:")] {
        let path = folder.path().join(name);
        let out = format!("{prefix}{}", path.display());
        convert(&array, &out, to("zN")).unwrap();
        assert_eq!(said(verify_recorded(&out, &Request::new(), &()).unwrap().verdict), "same");
        let bytes = fs::read(&path).unwrap();
        // A copy has the same bytes.
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        assert_eq!(said(verify_recorded(&out, &Request::new(), &()).unwrap().verdict), "same");
        let mut flipped = bytes.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for (wrong, what) in [
            (flipped.clone(), "and the checksum of this file is"),
            (
                [&bytes[..], &[0; 960][..]].concat(),
                "bytes with layout `f16[20,24] zN`, and this file has",
            ),
        ] {
            fs::write(&path, &wrong).unwrap();
            let checked = verify_recorded(&out, &Request::new(), &()).unwrap();
            let text = said(checked.verdict);
            assert!(text.contains("was changed or replaced since it was written"), "{text}");
            assert!(text.contains(".tilewright.json is a note of other bytes"), "{text}");
            assert!(text.contains("`f16[20,24] zN`") && text.contains(what), "{text}");
            let text = said(verify(&out, &array, &Request::new(), &()).unwrap());
            assert!(text.contains("was changed or replaced since it was written"), "{text}");
        }
        // A file that is not a note does not describe the file.
        fs::write(folder.path().join(format!("{name}.tilewright.json")), "{}").unwrap();
        assert!(verify_recorded(&out, &Request::new(), &()).unwrap_err().is_usage());
    }
}

#[test]
fn what_a_result_leaves_out_is_said() {
    let folder = folder();
    let header = r#"{"__metadata__":{"tilewright.fill.a":"0x3c00","tilewright.fill.b":"0x3c00","own":"x"},"a":{"dtype":"F16","shape":[20,24],"data_offsets":[0,960]},"b":{"dtype":"F16","shape":[2,2],"data_offsets":[960,968]}}"#;
    let path = write(&folder, "stray.safetensors", safetensors(header, &noise(968)));
    let input = open(&path, &Reading::default()).unwrap();
    let said = |request: Request| {
        let conversion = Conversion::prepare(&input, folder.path().join("o.safetensors"), request);
        conversion.unwrap().warnings().collect::<Vec<_>>()
    };
    let one = r#"metadata "tilewright.fill.a" is left out: its tensor has no recorded layout"#;
    assert_eq!(said(to("zN").only("a")), [one]);
    assert_eq!(said(to("row-major")), Vec::<String>::new());
    assert_eq!(said(to("zN")).len(), 2);
}
