//! Conversions: there and back, by rules, within memory, and of arrays and raw bytes.

use super::*;

#[test]
fn the_main_job_there_and_back() {
    let folder = Folder::new();
    let (there, back) = (folder.text("there.safetensors"), folder.text("back.safetensors"));
    answer(&["convert", LLM, &there, "--to", "zN", "--tensor", "*proj.weight", "--verify"]);
    answer(&["convert", &there, &back, "--to", "row-major", "--verify"]);
    assert_eq!(fs::read(LLM).unwrap(), fs::read(&back).unwrap());
    assert!(answer(&["verify", &there, "--against", LLM]).starts_with("same"));

    let (old, old_data) = parts(Path::new(LLM));
    let (new, new_data) = parts(Path::new(&there));
    let mut converted = 0;
    for name in old.as_object().unwrap().keys().filter(|name| *name != "__metadata__") {
        let (from, to) = (tensor(&old, &old_data, name), tensor(&new, &new_data, name));
        if !name.ends_with("proj.weight") {
            assert_eq!((from, &old[name]["shape"]), (to, &new[name]["shape"]), "{name}");
            continue;
        }
        let dim = |i: usize| old[name]["shape"][i].as_u64().unwrap() as usize;
        let (rows, columns) = (dim(0), dim(1));
        let (m1, n1) = (rows.div_ceil(16), columns.div_ceil(16));
        assert_eq!(new[name]["shape"], serde_json::json!([n1, m1, 16, 16]));
        let layout = format!("bf16[{rows},{columns}] zN");
        assert_eq!(new["__metadata__"][format!("tilewright.layout.{name}")], layout);
        // The formula of the format, element by element: blocks of 16×16, column by column.
        let mut expected = vec![0u8; n1 * m1 * 256 * 2];
        for m in 0..rows {
            for n in 0..columns {
                let at = (n / 16) * m1 * 256 + (m / 16) * 256 + (m % 16) * 16 + n % 16;
                expected[2 * at..2 * at + 2].copy_from_slice(&from[2 * (m * columns + n)..][..2]);
            }
        }
        assert_eq!(to, expected, "{name}");
        converted += 1;
    }
    assert_eq!(converted, 14);
}

#[test]
fn rules_fills_and_plans() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    let args =
        ["convert", CNN, &out, "--rule", "*.weight={0,1,2,3}", "--to", "row-major", "--skip-unfit"];
    let plan = answer(&[&args[..], &["--dry-run"]].concat());
    assert!(
        plan.contains("0.weight: ")
            && plan.contains("3.weight: skipped")
            && plan.contains("0.bias"),
        "{plan}"
    );
    assert!(folder.names().is_empty());
    answer(&args);
    let padded = folder.text("padded.safetensors");
    let args = ["convert", CNN, &padded, "--to", "{0:T(100)}", "--tensor", "*.bias"];
    answer(&[&args[..], &["--fill", "lowest", "--verify"]].concat());
    let (header, data) = parts(Path::new(&padded));
    let bias = tensor(&header, &data, "3.bias");
    assert_eq!((bias.len(), &bias[40..44]), (400, &f32::NEG_INFINITY.to_le_bytes()[..]));
    let json: serde_json::Value =
        serde_json::from_str(&answer(&["info", &padded, "--json"])).unwrap();
    assert_eq!(json["tensors"].as_array().unwrap().len(), 8);
    refusal(
        &["convert", CNN, &out, "--to", "zN", "--force"],
        2,
        &["bias", "rank 1", "--skip-unfit"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--tensor", "nothing*", "--force"],
        2,
        &["nothing*"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--rule", "oops", "--force"],
        2,
        &["GLOB=SPEC"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--memory", "lots", "--force"],
        2,
        &["512M"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--fill", "seven", "--force"],
        2,
        &["--fill"],
    );
}

#[test]
fn a_tensor_larger_than_the_memory_bound() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 1024);
    let (there, back) = (folder.text("there.safetensors"), folder.text("back.safetensors"));
    answer(&["convert", &input, &there, "--to", "{0,1:T(8,128)}", "--memory", "256K", "--verify"]);
    answer(&["convert", &there, &back, "--to", "row-major", "--memory", "256K", "--verify"]);
    assert_eq!(parts(Path::new(&input)).1, parts(Path::new(&back)).1);
}

#[test]
fn arrays_and_raw_bytes() {
    let folder = Folder::new();
    let raw = folder.write("in.raw", &(0..24u8).collect::<Vec<_>>());
    let (npy, tiled, back) =
        (folder.text("a.npy"), folder.text("tiled.npy"), folder.text("back.raw"));
    let input = format!("raw:{raw}");
    answer(&[
        "convert",
        &input,
        &npy,
        "--to",
        "row-major",
        "--dims",
        "4,6",
        "--dtype",
        "u8",
        "--verify",
    ]);
    assert!(answer(&["info", &npy]).contains("[4, 6]"));
    let pattern = "(m1 m0:2) (n1 n0:3) -> n1 m1 m0 n0";
    answer(&["convert", &npy, &tiled, "--to", pattern, "--verify"]);
    assert!(answer(&["verify", &tiled, "--against", &npy, "--to", pattern]).starts_with("same"));
    let from = format!("u8[4,6] {pattern}");
    answer(&["convert", &tiled, &format!("raw:{back}"), "--from", &from, "--to", "row-major"]);
    assert_eq!(fs::read(back).unwrap(), (0..24u8).collect::<Vec<_>>());
    refusal(
        &[
            "convert",
            &input,
            &npy,
            "--to",
            "row-major",
            "--dims",
            "4,7",
            "--dtype",
            "u8",
            "--force",
        ],
        2,
        &["24", "28"],
    );
    refusal(&["convert", &input, &npy, "--to", "row-major", "--force"], 2, &["dims"]);
}
