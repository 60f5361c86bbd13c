//! Recognises checkpoints of other libraries that this crate does not read, and names the call that reads them.

use std::path::{Path, PathBuf};

use crate::{Error, error, open::remote};

/// Checkpoints that only Python opens: a file in their folders, a description, and the call that reads them.
const OF_PYTHON: [(&str, &str, &str); 2] = [
    (".metadata", OF_TORCH, RESHARD),
    ("_METADATA", "a checkpoint of Orbax, whose chunks are compressed", UNPACK),
];

const OF_TORCH: &str =
    "a checkpoint as torch stores it (*.distcp), whose list of tensors is a pickle";
const RESHARD: &str = "tilewright.reshard(FOLDER, OUT).run() writes safetensors";
const UNPACK: &str = "tilewright.orbax.unpack(FOLDER, OUT) writes them uncompressed";

/// The names of the checkpoint that transformers wrote before safetensors: the index of several files, or one file.
const BEFORE_SAFETENSORS: [&str; 2] = ["pytorch_model.bin.index.json", "pytorch_model.bin"];

/// Returns the checkpoint of a folder that has no newer one.
pub(crate) fn older(folder: &Path) -> Option<PathBuf> {
    BEFORE_SAFETENSORS
        .iter()
        .map(|name| folder.join(name))
        .find(|path| remote::is_file(path).unwrap_or(false))
}

/// Returns an error for the folder of a checkpoint that only Python opens, with the call.
#[doc(hidden)]
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let found = OF_PYTHON.iter().find(|(name, ..)| folder.join(name).is_file());
    found.map_or(Ok(()), |(_, what, call)| Err(in_python(folder, what, call)))
}

/// Returns an error for a file of such a checkpoint.
pub(crate) fn check_file(file: &Path) -> Result<(), Error> {
    match file.extension().is_some_and(|end| end.eq_ignore_ascii_case("distcp")) {
        true => Err(in_python(file, &format!("a part of {OF_TORCH}"), RESHARD)),
        false => Ok(()),
    }
}

fn in_python(path: &Path, what: &str, call: &str) -> Error {
    error::unsupported(path, format!("it is {what}; it is read from Python: {call}"))
}
