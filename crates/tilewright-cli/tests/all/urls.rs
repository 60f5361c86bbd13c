//! A program that is built without stores and hubs says so.

use std::process::Command;

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
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
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
