//! Wrong input, and paths that cannot work.

use super::*;

#[test]
fn corrupt_files_are_named_and_nothing_is_written() {
    let one = r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let cases: &[(&str, Vec<u8>)] = &[
        ("empty", vec![]),
        ("short", vec![1, 2, 3]),
        ("long-header", u64::MAX.to_le_bytes().to_vec()),
        ("header-beyond", safetensors(one, 16)[..20].to_vec()),
        ("truncated", safetensors(one, 15)),
        ("trailing", safetensors(one, 17)),
        ("no-json", safetensors("{\"a\":", 0)),
        (
            "overlap",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}"#,
                24,
            ),
        ),
        (
            "out-of-range",
            safetensors(r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}}"#, 16),
        ),
        (
            "wrong-size",
            safetensors(r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}}"#, 16),
        ),
        (
            "duplicate",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#,
                16,
            ),
        ),
        (
            "overflow",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,16]}}"#,
                16,
            ),
        ),
    ];
    for (name, bytes) in cases {
        let folder = Folder::new();
        let input = folder.write(&format!("{name}.safetensors"), bytes);
        let out = folder.text("out.safetensors");
        refusal(&["convert", &input, &out, "--to", "row-major"], 3, &[name]);
        refusal(&["info", &input], 3, &[name]);
        assert_eq!(folder.names(), [format!("{name}.safetensors")]);
    }
}

#[test]
fn paths_that_cannot_work() {
    let folder = Folder::new();
    let input = folder.write("in.safetensors", &fs::read(CNN).unwrap());
    let out = folder.text("out.safetensors");
    refusal(
        &["convert", &folder.text("missing.safetensors"), &out, "--to", "row-major"],
        3,
        &["missing"],
    );
    fs::create_dir(folder.path("folder.safetensors")).unwrap();
    refusal(
        &["convert", &folder.text("folder.safetensors"), &out, "--to", "row-major"],
        3,
        &["directory"],
    );
    refusal(
        &["convert", &input, &folder.text("no/such/out.safetensors"), "--to", "row-major"],
        3,
        &["no/such"],
    );
    // OUT is the input itself, also under another name.
    refusal(&["convert", &input, &input, "--to", "row-major", "--force"], 2, &["is the input"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&input, folder.path("link.safetensors")).unwrap();
        refusal(
            &["convert", &input, &folder.text("link.safetensors"), "--to", "row-major", "--force"],
            2,
            &["is the input"],
        );
        refusal(
            &["convert", &folder.text("link.safetensors"), &input, "--to", "row-major", "--force"],
            2,
            &["is the input"],
        );
    }
    // An existing OUT needs --force; without it, the file is unchanged.
    let existing = folder.write("existing.safetensors", b"precious");
    refusal(&["convert", &input, &existing, "--to", "row-major"], 2, &["--force"]);
    assert_eq!(fs::read(&existing).unwrap(), b"precious");
    answer(&["convert", &input, &existing, "--to", "row-major", "--force"]);
    assert_eq!(fs::read(&input).unwrap(), fs::read(CNN).unwrap());
    let error =
        refusal(&["convert", &input, &existing, "--to", "(8,", "--force", "--json"], 2, &[]);
    assert!(serde_json::from_str::<serde_json::Value>(&error).is_ok(), "{error}");
}

#[test]
fn numbers_that_are_none_get_our_message() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    for (option, value, part) in [
        ("--memory", "-1", "--memory -1: expected a size such as"),
        ("--memory", "-5M", "expected a size"),
        ("--memory", "12", "give --memory 4K or more"),
        ("--threads", "-1", "--threads -1: expected a number from 1 to"),
        ("--threads", "many", "expected a number"),
        ("--threads", "99999999", "expected a number"),
        ("--dims", "-1,2", "`-1` is not an integer"),
        ("--dtype", "-f32", "no element type is called `-f32`"),
        ("--fill", "-1", "--fill -1"),
    ] {
        for args in [[option, value].as_slice(), &[&format!("{option}={value}")]] {
            refusal(&[&["convert", LLM, &out, "--to", "zN"], args].concat(), 2, &[part]);
        }
    }
    refusal(&["convert", LLM, &out], 2, &["--to SPEC or --rule GLOB=SPEC"]);
    refusal(&["convert", LLM, &out, "--rule", "*norm*=zM"], 2, &["--rule *norm*: ", "`zN`", "^^"]);
    refusal(
        &["convert", LLM, &out, "--to", "zN", "--dims", "3,3"],
        2,
        &["dims are given", "--from"],
    );
    refusal(&["info", LLM, "--dtype", "f32"], 2, &["an element type is given", "--from"]);
    refusal(&["verify", LLM, "--against", LLM, "--dims", "3"], 2, &["dims are given", "--from"]);
    refusal(&["convert", LLM, &format!("{out}/"), "--to", "zN"], 2, &["ends with a slash"]);
    refusal(&["convert", LLM, "", "--to", "zN"], 2, &["output is empty"]);
    refusal(&["info", ""], 2, &["input is empty"]);
    assert!(folder.names().is_empty());
}
