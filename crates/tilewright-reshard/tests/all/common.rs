//! Files of tensors for tests, and their contents.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tilewright_files::{Reading, open};

/// Name, element type, extents and row-major bytes of the tensors of a file or folder.
pub(crate) type Tensors = BTreeMap<String, (String, Vec<u64>, Vec<u8>)>;

/// Writes a file of tensors.
pub(crate) fn write(path: &Path, tensors: &Tensors, metadata: &[(&str, &str)]) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    let metadata: serde_json::Map<String, serde_json::Value> =
        metadata.iter().map(|(key, text)| (key.to_string(), (*text).into())).collect();
    header.insert("__metadata__".into(), metadata.into());
    for (name, (dtype, dims, bytes)) in tensors {
        let places = [data.len(), data.len() + bytes.len()];
        let entry = serde_json::json!({"dtype": dtype, "shape": dims, "data_offsets": places});
        header.insert(name.clone(), entry);
        data.extend(bytes);
    }
    let header = serde_json::Value::from(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(path, [&length[..], header.as_bytes(), &data].concat()).unwrap();
}

/// Reads all tensors, in any layout.
pub(crate) fn read(path: &Path) -> Tensors {
    let input = open(path, &Reading::default()).unwrap();
    let one = |tensor: &tilewright_files::Tensor| {
        let reader = input.reader(tensor, None, None).unwrap();
        let mut bytes = vec![0; reader.bytes() as usize];
        reader.read_into(&mut bytes, 1, &()).unwrap();
        let (dtype, dims) = (tensor.file_dtype().to_owned(), tensor.dims().to_vec());
        (tensor.name().to_owned(), (dtype, dims, bytes))
    };
    input.tensors().iter().map(one).collect()
}

/// Gathers the elements of a row-major array at these indices of each dim, element by element.
pub(crate) fn gather(bytes: &[u8], dims: &[u64], lists: &[Vec<u64>]) -> Vec<u8> {
    let size: u64 = dims.iter().product();
    let width = if size == 0 { return Vec::new() } else { bytes.len() / size as usize };
    let mut places = vec![0u64];
    for (extent, list) in dims.iter().zip(lists) {
        places = places.iter().flat_map(|at| list.iter().map(move |i| at * extent + i)).collect();
    }
    places.iter().flat_map(|at| &bytes[*at as usize * width..][..width]).copied().collect()
}

/// Writes a file of these tensors, each a name, an element type, extents and bytes; creates its folder.
pub(crate) fn file(
    path: &Path,
    tensors: &[(&str, &str, Vec<u64>, Vec<u8>)],
    metadata: &[(&str, &str)],
) {
    let tensors = tensors.iter().cloned();
    let named =
        tensors.map(|(name, dtype, dims, bytes)| (name.into(), (dtype.into(), dims, bytes)));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(path, &named.collect(), metadata);
}

/// Returns the names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A checkpoint of another library, in the corpus.
pub(crate) fn sharded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/sharded").join(name)
}
