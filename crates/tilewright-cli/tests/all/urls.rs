//! A program that is built without stores and hubs says so.

use std::process::Command;

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");

/// Returns what the program says when it refuses.
fn refusal(args: &[&str]) -> String {
    let folder = tilewright_testing::folder();
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let output = program.args(args).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{args:?}");
    said
}

#[test]
fn other_urls_are_refused_with_what_to_write() {
    let recipe = "https://user:very-secret@host/r.toml?very-secret";
    for (args, expected) in [
        (&["info", "file:///none/a.npy"][..], "write /PATH"),
        (&["info", "File://localhost/none/a.npy"], "write /PATH"),
        (
            &["convert", LLM, "file:///none/a.safetensors", "--rule", "*_proj.weight=zN"],
            "write /PATH",
        ),
        (&["reshard", LLM, "file:///none/a"], "write /PATH"),
        (&["reshard", "ftp://host/very-secret", "out"], "a URL begins with s3://"),
        (&["same-data", LLM, "ftp://user:very-secret@host/a.npy"], "a URL begins with s3://"),
        (&["convert", LLM, "out.safetensors", "--recipe", recipe], "download it first"),
        (
            &["reshard", LLM, "out", "--metadata", "ftp://host/very-secret"],
            "a URL begins with s3://",
        ),
        // Plans are files of this machine.
        (
            &["reshard", "plan", LLM, "out", "-o", "s3://very-secret/p"],
            "s3://…: a plan is a file of",
        ),
        (&["reshard", "run", "S3://bucket/p?very-secret"], "a plan is a file of this machine"),
        (&["reshard", "finish", "file:///very-secret"], "write /PATH"),
        (&["learn", "read", "p", "d", "-o", "https://user:very-secret@host/p"], "this machine"),
        (&["show", "6:1", "--svg", "s3://bucket/very-secret"], "s3://…: this result is a file of"),
    ] {
        let said = refusal(args);
        assert!(said.contains(expected) && !said.contains("secret"), "{args:?}: {said}");
    }
}

#[test]
#[cfg(not(feature = "remote"))]
fn a_program_without_the_feature_says_how_to_get_it() {
    for args in [
        &["info", "s3://bucket/a.safetensors"][..],
        &["convert", "hf://owner/name", "out", "--to", "zN"],
        &["fingerprint", "gs://bucket/folder"],
        &["same-data", "az://container/a.npy", "https://host/a.npy"],
        &["reshard", "s3://bucket/in", "out"],
        &["reshard", "in.safetensors", "s3://bucket/out"],
        &["info", "HTTPS://host/a.npy"],
        &["reshard", LLM, "out.gguf", "--metadata", "HTTPS://host/a.gguf"],
        &["reshard", LLM, "out", "--extents", "s3://bucket/extents.json"],
        &["convert", "raw:S3://b/c", "o.npy", "--dims", "2", "--dtype", "u8", "--to", "row-major"],
        &["convert", LLM, "raw:s3://bucket/bytes", "--tensor", "ids.i64", "--to", "row-major"],
    ] {
        let said = refusal(args);
        assert!(
            said.contains("cargo install --path crates/tilewright-cli --features remote"),
            "{said}"
        );
    }
}

#[test]
fn retries_are_a_general_option() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let output = program.args(["--retries", "3", "same", "6:1", "(2,3):(1,2)"]);
    assert!(output.output().unwrap().status.success());
}
