//! The program on files: conversions, and all faults of input and output.

mod checked;
mod containers;
mod conversion;
mod interrupted;
mod printed;
mod refused;
mod streams;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
const CNN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tilewright"))
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

/// Returns stdout of a run that must succeed.
fn answer(args: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns stderr of a run that must fail with this exit code, and checks that it contains all of `parts`.
fn refusal(args: &[&str], code: i32, parts: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{args:?}: no {part:?} in {stderr}");
    }
    stderr
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.text(name)
    }

    /// Returns the names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Returns a safetensors file with this header and this many bytes of data.
fn safetensors(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend((0..data).map(|i| i as u8));
    bytes
}

/// Returns the header and the data of a safetensors file.
fn parts(path: &Path) -> (serde_json::Value, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let (len, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*len) as usize);
    (serde_json::from_slice(header).unwrap(), data.to_vec())
}

fn tensor<'a>(header: &serde_json::Value, data: &'a [u8], name: &str) -> &'a [u8] {
    let at = |i: usize| header[name]["data_offsets"][i].as_u64().unwrap() as usize;
    &data[at(0)..at(1)]
}

/// Writes a safetensors file of one f32 matrix of n×n.
fn matrix(folder: &Folder, name: &str, n: usize) -> String {
    let header = format!(
        r#"{{"big":{{"dtype":"F32","shape":[{n},{n}],"data_offsets":[0,{}]}}}}"#,
        4 * n * n
    );
    let padding = (8 - header.len() % 8) % 8;
    folder.write(name, &safetensors(&(header + &" ".repeat(padding)), 4 * n * n))
}
