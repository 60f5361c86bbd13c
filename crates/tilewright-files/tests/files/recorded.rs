//! What a conversion records of the data: their fingerprint, in every format, whatever the memory; what is found by it.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{common::*, sharded};
use tilewright_files::{
    Action, Collection, Conversion, Difference, Fingerprint, Key, Reading, Request, Verdict, open,
    verify, verify_recorded,
};

/// What a file records, by tensor.
fn recorded(path: impl AsRef<Path>) -> BTreeMap<String, Fingerprint> {
    let input = open(path, &Reading::default()).unwrap();
    let own = input.tensors().iter();
    own.filter_map(|tensor| Some((tensor.name().to_owned(), tensor.recorded()?))).collect()
}

/// What the data of a file sum up to, by tensor.
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

/// An array of 16 bits an element, in zN: the file, its result, and the bytes of the result.
fn one_in_zn(folder: &tempfile::TempDir) -> (std::path::PathBuf, std::path::PathBuf, Vec<u8>) {
    let input = write(folder, "in.safetensors", one("F16", &[20, 24], &noise(960)));
    let out = folder.path().join("out.safetensors");
    convert(&input, &out, to("zN").force(true)).unwrap();
    let bytes = fs::read(&out).unwrap();
    (input, out, bytes)
}

/// Where the record stands in the bytes of a file.
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
            // The index of shards that take the place of others names them anew.
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
    let tensor = open(&out, &Reading::default()).unwrap().tensors()[0].layout().clone();
    for coord in [[0, 0], [7, 3], [19, 23]] {
        let at = tensor.layout().offset(&coord).unwrap() as usize;
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
        assert!(error.to_string().contains("is recorded of them"), "{error}");
    }
    // Padding is no data.
    let mut filled = bytes.clone();
    *filled.last_mut().unwrap() ^= 1;
    fs::write(&out, &filled).unwrap();
    convert(&out, &back, to("row-major")).unwrap();
    assert_eq!(tensor(&back, "t"), tensor(&input, "t"));
}

/// A record that fits the data of a wrong result lies about the original.
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
        format!(
            "tensor \"t\" has data of fingerprint {is}, and 0000000000000001 is recorded of them"
        )
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
    // A copy says what its file said; what moves is recorded.
    let copy = folder.path().join("copy.safetensors");
    convert(&old, &copy, to("zN").force(true)).unwrap();
    assert!(recorded(&copy).is_empty());
    convert(&old, &copy, to("nZ").force(true)).unwrap();
    assert_eq!(recorded(&copy), summed(&input));
    convert(&copy, &copy.with_extension("2.safetensors"), to("zN")).unwrap();
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
        // Padding of 12 rows: where it was filled, it need not be filled again.
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
        // Another container or another layout is a conversion.
        convert(&out, &again, to("nZ").skip_unfit(true).force(true)).unwrap();
        assert_eq!(summed(&again), summed(&input));
        // Read otherwise than its note says, it would be shuffled twice.
        for from in ["row-major", "nZ"] {
            let request = to("zN").from(spec(from)).only("a*").force(true);
            let error = convert(&out, &again, request).unwrap_err();
            let text = error.to_string();
            assert!(error.is_usage(), "{text}");
            // Without padding the array would take fewer bytes, which is said first.
            if from == "row-major" {
                assert!(text.contains("2048 bytes are there"), "{text}");
                continue;
            }
            assert!(text.contains("remove the note"), "{text}");
            let named = ["tilewright.layout.a", ".npy.tilewright.json"];
            assert!(named.iter().any(|note| text.contains(note)), "{text}");
        }
        let request = to("row-major").from(spec("zN")).only("a*").force(true);
        convert(&out, &again, request).unwrap();
        assert_eq!((summed(&again), recorded(&again)), (summed(&input), BTreeMap::new()));
    }
    // One tensor more to convert, and the run goes on.
    let (out, again) = (path("z.safetensors"), path("z2.safetensors"));
    convert(&both, &out, to("zN").only("a")).unwrap();
    let input = open(&out, &Reading::default()).unwrap();
    let request = to("zN").rule("b", spec("{0}")).force(true);
    let conversion = Conversion::prepare(&input, &again, request).unwrap();
    assert!(conversion.jobs().iter().all(|job| *job.action() == Action::Copy));
    assert_eq!(conversion.jobs().iter().filter(|job| job.is_already_so()).count(), 2);
}

/// Of short runs no sum is made on the way; what was recorded before is kept.
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
