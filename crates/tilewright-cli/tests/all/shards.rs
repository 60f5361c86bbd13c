//! `shards` of the program, over all recorded vectors, and `explain` and `translate` of arrays in shards.

use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

fn tilewright(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap()
}

fn said(args: &[&str]) -> String {
    let out = tilewright(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Returns the program's answers to lines on its standard input.
fn batch(lines: &[String]) -> (Vec<Value>, Option<i32>) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["shards", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let out = program.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len());
    (answers, out.status.code())
}

fn rows(name: &str) -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/vectors");
    let text = std::fs::read_to_string(root.join(format!("sharding_{name}.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn comma(list: &Value) -> String {
    let word = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    list.as_array().unwrap().iter().map(word).collect::<Vec<_>>().join(",")
}

#[test]
fn a_line_a_device() {
    let text = said(&["shards", "f32[64,48] @ mesh(dp=2,tp=4; 3,2,1,0,7,6,5,4) P(\"dp\",\"tp\")"]);
    assert_eq!(text.lines().next(), Some("3 (dp=0,tp=0)  [0,32) × [0,12)"));
    assert_eq!(text.lines().nth(3), Some("0 (dp=0,tp=3)  [0,32) × [36,48)"));
    let text = said(&["shards", "f32[3,8] @ mesh(4,1) [Shard(0), _StridedShard(1, sf=2)]"]);
    assert_eq!(text.lines().nth(3), Some("3 (0=3,1=0)  empty"));
    let text = said(&["shards", "f32[8] @ mesh(2) [_StridedShard(0, sf=2)] / row-major"]);
    assert_eq!(text, "0 (0=0)  [0,2) ∪ [4,6)\n1 (0=1)  [2,4) ∪ [6,8)\n");
    assert_eq!(said(&["shards", "f32[] @ mesh(1) [Replicate()]"]), "0 (0=0)  ()\n");
    assert_eq!(said(&["shards", "f32[4] @ {replicated}"]), "every device  [0,4)\n");
    let answer = said(&["shards", "f32[8] @ mesh(dp=2,tp=2) P(\"tp\") / col-major", "--json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["version"], &answer["replicated"]), (&json!(1), &json!(["dp"])));
    let device =
        json!({ "device": 1, "coord": [0, 1], "dims": [[[4, 4]]], "layout": "f32[4] col-major" });
    assert_eq!(answer["devices"][1], device);
}

#[test]
fn torch_s_ranks_hold_this() {
    let rows = rows("torch");
    let line = |row: &Value| {
        let (shape, mesh, mut rule) =
            (&row["shape"], comma(&row["mesh"]), comma(&row["placements"]));
        if row["kind"] == "torch_fsdp2" {
            rule = if rule.starts_with("_S") { "Shard(0),Shard(0)".into() } else { rule };
            rule += "] order(1,0";
            return format!("bf16[{}] @ mesh({mesh}) [{rule})", comma(shape));
        }
        format!("bf16[{}] @ mesh({mesh}) [{rule}]", comma(shape))
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let (answers, code) = batch(&lines);
    assert_eq!(code, Some(0));
    for ((row, line), answer) in rows.iter().zip(&lines).zip(&answers) {
        let shards = row["shards"].as_array().unwrap();
        let devices = answer["devices"].as_array().unwrap();
        assert_eq!(devices.len(), shards.len(), "{line}");
        for (device, shard) in devices.iter().zip(shards) {
            assert_eq!(device["device"], shard["rank"], "{line}");
            assert_eq!(device["coord"], shard["coord"], "{line}");
            assert_eq!(device["dims"], shard["dims"], "{line}");
        }
    }
}

/// Returns the device with this number.
fn device<'a>(answer: &'a Value, number: &Value) -> &'a Value {
    let devices = answer["devices"].as_array().unwrap();
    devices.iter().find(|device| device["device"] == *number).unwrap()
}

#[test]
fn jax_s_devices_hold_this() {
    let rows = rows("jax");
    let mut asked: Vec<(String, Option<&Value>, &str)> = Vec::new();
    for row in &rows {
        if row["kind"] == "hlo" {
            let (text, refused) =
                (row["text"].as_str().unwrap(), row["careful_reader"] == "refuse");
            if refused {
                asked.push((format!("f32[8,8] @ {text}"), None, "position"));
            }
            for case in row["cases"].as_array().into_iter().flatten().filter(|_| !refused) {
                let line = format!("f32[{}] @ {text}", comma(&case["shape"]));
                asked.push((line, Some(&case["boxes"]), "position"));
            }
            continue;
        }
        let names = row["axes"].as_array().unwrap().iter().zip(row["mesh"].as_array().unwrap());
        let axes: Vec<String> =
            names.map(|(name, size)| format!("{}={size}", name.as_str().unwrap())).collect();
        let (shape, axes, spec) =
            (comma(&row["shape"]), axes.join(","), row["spec"].as_str().unwrap());
        let line = format!("f32[{shape}] @ mesh({axes}; {}) {spec}", comma(&row["devices"]));
        let boxes = row["refused"].is_null().then_some(&row["boxes"]);
        asked.push((line, boxes, "device"));
        if let Some(hlo) = boxes.and(row["hlo"].as_str()) {
            asked.push((format!("f32[{shape}] @ mesh({axes}) {hlo}"), boxes, "position"));
        }
    }
    let lines: Vec<String> = asked.iter().map(|(line, ..)| line.clone()).collect();
    let (answers, code) = batch(&lines);
    assert_eq!(code, Some(1));
    let mut checked = 0;
    for ((line, boxes, number), answer) in asked.iter().zip(&answers) {
        let Some(boxes) = boxes else {
            assert!(answer["error"]["message"].is_string(), "{line}: {answer}");
            continue;
        };
        for expected in boxes.as_array().unwrap() {
            let found = device(answer, &expected[number]);
            for (list, expected) in
                found["dims"].as_array().unwrap().iter().zip(expected["box"].as_array().unwrap())
            {
                let list = list.get(0).cloned().unwrap_or(json!([0, 0]));
                let same = list == *expected || (list[1] == 0 && expected[1] == 0);
                assert!(same, "{line}: {list} and {expected}");
            }
            checked += 1;
        }
    }
    assert!(checked > 8000, "{checked}");
}

#[test]
fn an_error_is_an_object_of_its_line() {
    let lines = ["f32[8] @ mesh(2) [Shord(0)]", "", "f32[8]", "f32[8] @ mesh(2) [Shard(0)] / zN"];
    let (answers, code) = batch(&lines.map(String::from));
    assert_eq!(code, Some(1));
    assert_eq!(
        (&answers[0]["error"]["kind"], &answers[0]["error"]["span"]),
        (&json!("parse"), &json!([18, 23]))
    );
    assert_eq!(answers[1], json!({ "version": 1, "kind": "nothing" }));
    assert_eq!(answers[2]["error"]["message"], "expected ` @ ` and a sharding");
    assert_eq!(answers[3]["error"]["span"], json!([30, 32]));
    let out = tilewright(&["shards", "f32[8] @ mesh(2) [Shord(0)]"]);
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(error.contains("no placement is called `Shord`; did you mean `Shard`?"), "{error}");
    assert!(
        error.ends_with("\n  f32[8] @ mesh(2) [Shord(0)]\n                    ^^^^^\n"),
        "{error}"
    );
    let out = tilewright(&["index", "f32[8] @ mesh(2) [Shard(0)]", "--coord", "1"]);
    assert!(String::from_utf8(out.stderr).unwrap().contains("a sharded array, where"));
}

#[test]
fn notations_say_a_sharding_or_why_not() {
    let held = "f32[17] @ mesh(dp=4,tp=2) [Shard(0), Shard(0)] order(tp,dp)";
    let to = |spec: &str, to: &str| tilewright(&["translate", spec, "--to", to]);
    let out = to(held, "torch");
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(text, "mesh(dp=4,tp=2) [Shard(0), Shard(0)] order(1,0)\n");
    let out = to(held, "hlo");
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(error.contains("hlo cannot express it: device 1 holds"), "{error}");
    let out = to(held, "foo");
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(error.contains("of shardings there are torch, ") && error.contains("cute"), "{error}");
    let out = to("f16[32,64] @ mesh(tp=2) row / zN", "torch");
    assert_eq!(out.stdout, b"mesh(tp=2) [Shard(1)] / zN\n");
    let out = to("f32[8,4] @ mesh(tp=2) gate_up", "torch");
    assert_eq!(out.stdout, b"mesh(tp=2) [_StridedShard(0, sf=2)]\n");
    let explained = said(&["explain", held]);
    assert!(
        explained
            .contains("none: one layout needs the same list, shifted, on every device: position"),
        "{explained}"
    );
    let answer: Value = serde_json::from_str(&said(&["explain", held, "--json"])).unwrap();
    assert_eq!((&answer["least"], &answer["most"]), (&json!([0]), &json!([3])));
    assert_eq!(answer["notations"]["torch"]["text"], text.trim_end());
}
