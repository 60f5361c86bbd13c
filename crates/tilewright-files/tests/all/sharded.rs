//! Checkpoints of several files.

use std::fs;

use tempfile::TempDir;
use tilewright_files::{Reading, Request, Verdict, open, verify};

use crate::common::*;

pub(crate) const INDEX: &str = "model.safetensors.index.json";
pub(crate) const SHARDS: [&str; 2] =
    ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];

fn index(map: &str) -> String {
    format!(r#"{{"metadata":{{"total_size":160,"by":"x"}},"weight_map":{{{map}}},"other":[1]}}"#)
}

fn map() -> String {
    let [one, two] = SHARDS;
    format!(r#""a":"{one}","b":"{two}","c":"{two}""#)
}

pub(crate) fn checkpoint(folder: &TempDir) {
    let a = r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[4,5],"data_offsets":[0,80]}}"#;
    let bc = r#"{"b":{"dtype":"BF16","shape":[6,5],"data_offsets":[0,60]},"c":{"dtype":"U8","shape":[20],"data_offsets":[60,80]}}"#;
    write(folder, SHARDS[0], safetensors(a, &noise(80)));
    write(folder, SHARDS[1], safetensors(bc, &noise(80)));
    write(folder, INDEX, index(&map()));
}

#[test]
fn a_checkpoint_is_converted_shard_by_shard_with_its_index() {
    let [folder, there, back] = [folder(), folder(), folder()];
    checkpoint(&folder);
    let (input, out) = (folder.path().join(INDEX), there.path().join(INDEX));
    let request = to("zN[M0=4,C0=4]").skip_unfit(true).verify(true);
    convert(&input, &out, request).unwrap();
    assert_eq!(names(&there), [SHARDS[0], SHARDS[1], INDEX]);
    let text: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(text["metadata"]["total_size"], 4 * 8 * 4 + 8 * 8 * 2 + 20);
    assert_eq!((&text["metadata"]["by"], &text["other"][0]), (&"x".into(), &1.into()));
    assert_eq!(
        text["weight_map"],
        serde_json::from_str::<serde_json::Value>(&index(&map())).unwrap()["weight_map"]
    );
    let (header, _) = parts(there.path().join(SHARDS[0]));
    assert_eq!(header["__metadata__"]["tilewright.layout.a"], "f32[4,5] zN[M0=4,C0=4]");
    assert_eq!(header["__metadata__"]["format"], "pt");
    assert!(matches!(verify(&out, &input, &Request::new(), &()).unwrap(), Verdict::Same { .. }));

    let home = back.path().join(INDEX);
    convert(&out, &home, to("row-major").verify(true)).unwrap();
    for (shard, tensors) in [(SHARDS[0], &["a"][..]), (SHARDS[1], &["b", "c"][..])] {
        for name in tensors {
            assert_eq!(
                tensor(back.path().join(shard), name),
                tensor(folder.path().join(shard), name)
            );
        }
    }
    let opened = open(&home, &Reading::default()).unwrap();
    assert_eq!((opened.format(), opened.tensors().len()), ("sharded safetensors", 3));
}

#[test]
fn a_checkpoint_is_not_written_over_itself() {
    let [folder, other] = [folder(), folder()];
    checkpoint(&folder);
    let input = folder.path().join(INDEX);
    let error = convert(
        &input,
        folder.path().join("new.safetensors.index.json"),
        to("row-major").force(true),
    )
    .unwrap_err();
    assert!(
        error.is_usage() && error.kind() == "same-file" && error.to_string().contains(SHARDS[0]),
        "{error}"
    );
    write(&other, SHARDS[1], "precious");
    let error = convert(&input, other.path().join(INDEX), to("row-major")).unwrap_err();
    assert!(error.kind() == "exists" && error.to_string().contains(SHARDS[1]));
    assert_eq!(names(&other), [SHARDS[1]]);
    let error = convert(&input, other.path().join("one.safetensors"), to("row-major")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("index.json"), "{error}");
}

#[test]
fn a_shard_that_appears_meanwhile_undoes_the_whole() {
    let [folder, there] = [folder(), folder()];
    checkpoint(&folder);
    let input = open(folder.path().join(INDEX), &Reading::default()).unwrap();
    let conversion =
        tilewright_files::Conversion::prepare(&input, there.path().join(INDEX), to("col-major"))
            .unwrap();
    write(&there, SHARDS[1], "precious");
    assert_eq!(conversion.run(&()).unwrap_err().kind(), "exists");
    assert_eq!(names(&there), [SHARDS[1]]);
    assert_eq!(fs::read(there.path().join(SHARDS[1])).unwrap(), b"precious");
}

#[test]
fn an_index_that_does_not_fit_its_shards_is_refused() {
    let folder = folder();
    let [one, two] = SHARDS;
    let cases = [
        (format!(r#""a":"{one}","b":"{two}""#), "\"c\""),
        (format!(r#"{},"d":"{two}""#, map()), "\"d\""),
        (format!(r#""a":"{two}","b":"{two}","c":"{one}""#), "\"c\""),
        (format!(r#"{},"d":"none.safetensors""#, map()), "none.safetensors"),
        (format!(r#"{},"d":"../{two}""#, map()), "file name beside"),
        (format!(r#"{},"d":"/etc/passwd""#, map()), "file name beside"),
        (format!(r#"{},"d":"..""#, map()), "file name beside"),
        (format!(r#"{},"d":"""#, map()), "file name beside"),
        (format!(r#"{},"a":"{one}""#, map()), "twice"),
        (format!(r#"{},"d":4"#, map()), "not a checkpoint index"),
    ];
    for (map, part) in cases {
        checkpoint(&folder);
        let path = write(&folder, INDEX, index(&map));
        let error = open(&path, &Reading::default()).unwrap_err();
        assert!(error.is_io() && error.to_string().contains(part), "{map}: {error}");
    }
    for text in ["", "[]", "{}", "{\"weight_map\":1}", "{\"weight_map\":{},\"weight_map\":{}}"] {
        let path = write(&folder, INDEX, text);
        assert_eq!(open(&path, &Reading::default()).unwrap_err().kind(), "corrupt", "{text}");
    }
    checkpoint(&folder);
    fs::remove_file(folder.path().join(two)).unwrap();
    let error = open(folder.path().join(INDEX), &Reading::default()).unwrap_err();
    assert!(error.kind() == "io" && error.to_string().contains(two));
}

/// Two runs replace the same set at the same time: one of the results is whole, and no file of the other remains. If both found
/// the usual names free, the second finds them occupied.
#[test]
fn of_two_forced_runs_at_once_one_result_stays() {
    let [first, second, there] = [folder(), folder(), folder()];
    for (folder, seed) in [(&first, 0), (&second, 80)] {
        checkpoint(folder);
        let a = r#"{"a":{"dtype":"F32","shape":[4,5],"data_offsets":[0,80]}}"#;
        write(folder, SHARDS[0], safetensors(a, &noise(160)[seed..][..80]));
    }
    let out = there.path().join(INDEX);
    convert(first.path().join(INDEX), &out, to("zN[M0=4,C0=4]").skip_unfit(true)).unwrap();
    for round in 0..12 {
        let done: Vec<bool> = std::thread::scope(|scope| {
            let runs = [(&first, "col-major"), (&second, "zN[M0=2,C0=4]")];
            let runs = runs.map(|(folder, layout)| {
                let (input, out) = (folder.path().join(INDEX), &out);
                scope.spawn(move || {
                    let request = to(layout).skip_unfit(true).force(true);
                    convert(input, out, request).map_err(|error| error.kind())
                })
            });
            let done = runs.map(|run| run.join().unwrap());
            assert!(done.iter().all(|run| run.as_ref().err().is_none_or(|kind| *kind == "exists")));
            done.iter().map(Result::is_ok).collect()
        });
        assert!(done.contains(&true), "round {round}");
        let opened = open(&out, &Reading::default()).unwrap();
        let mut own: Vec<_> = opened.files().map(|path| path.to_path_buf()).collect();
        own.push(out.clone());
        own.sort();
        let there = names(&there).into_iter().map(|name| there.path().join(name));
        assert_eq!(there.collect::<Vec<_>>(), own, "round {round}");
        let same = [&first, &second].map(|folder| {
            let verdict = verify(&out, folder.path().join(INDEX), &Request::new(), &()).unwrap();
            matches!(verdict, Verdict::Same { .. })
        });
        assert!(same[0] != same[1], "round {round}: {same:?}");
    }
}
