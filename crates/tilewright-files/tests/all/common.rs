//! Helpers of the tests: generated files, and conversions in one call.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tilewright_files::{Conversion, Error, Report, Request, open};
use tilewright_notation::Spec;

pub(crate) const CNN: &str = "tiny_cnn_f32.safetensors";
pub(crate) const LLM: &str = "tiny_llm_mixed.safetensors";

/// Returns the path of a file of the corpus.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data").join(name)
}

pub(crate) fn folder() -> TempDir {
    tilewright_testing::folder()
}

pub(crate) fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn to(text: &str) -> Request {
    Request::new().to(spec(text))
}

/// Opens, prepares and runs a conversion.
pub(crate) fn convert(
    input: impl AsRef<Path>,
    out: impl AsRef<Path>,
    request: Request,
) -> Result<Report, Error> {
    let input = open(input, request.reading())?;
    Conversion::prepare(&input, out, request)?.run(&())
}

/// Returns a safetensors file of this header text and these bytes.
pub(crate) fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// Returns a safetensors file of one tensor `t`.
pub(crate) fn one(dtype: &str, shape: &[u64], data: &[u8]) -> Vec<u8> {
    let len = data.len();
    let header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[0,{len}]}}}}"#);
    safetensors(&header, data)
}

/// Returns an .npy file of version 1.0.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    npy_of((1, 0), &text, data)
}

/// Returns an .npy file of any version and header text.
pub(crate) fn npy_of(version: (u8, u8), text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend_from_slice(&[version.0, version.1]);
    match version.0 {
        1 => bytes.extend_from_slice(&(text.len() as u16).to_le_bytes()),
        _ => bytes.extend_from_slice(&(text.len() as u32).to_le_bytes()),
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

pub(crate) fn write(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns the header text and the data of a safetensors file.
pub(crate) fn parts(path: impl AsRef<Path>) -> (serde_json::Value, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    assert_eq!(len % 8, 0, "the header is aligned");
    (serde_json::from_slice(&bytes[8..8 + len]).unwrap(), bytes[8 + len..].to_vec())
}

/// Returns the bytes of a tensor as the `safetensors` crate reads them.
pub(crate) fn tensor(
    path: impl AsRef<Path>,
    name: &str,
) -> (safetensors::Dtype, Vec<usize>, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let view = file.tensor(name).unwrap();
    (view.dtype(), view.shape().to_vec(), view.data().to_vec())
}

/// Returns bytes without short periods.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the names in a folder, sorted.
pub(crate) fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
