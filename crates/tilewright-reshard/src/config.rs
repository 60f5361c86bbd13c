//! The `config.json` beside the tensors: the file that describes a model.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use crate::Error;

/// The name of the file.
pub(crate) const CONFIG: &str = "config.json";

/// The longest config that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// Returns the text of the config in the folder of a checkpoint, or in the folder of its one file; empty where there is
/// none. A text in another encoding than UTF-8 states nothing.
pub(crate) fn text(checkpoint: &Path) -> Result<String, Error> {
    let folder = if checkpoint.is_dir() { Some(checkpoint) } else { checkpoint.parent() };
    let path = folder.unwrap_or(checkpoint).join(CONFIG);
    let failed = |cause: &io::Error| Error::io(&path, "read", cause);
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(cause) => return Err(failed(&cause)),
    };
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|cause| failed(&cause))?;
    if text.len() as u64 > LONGEST {
        let said = format!("{} is longer than {LONGEST} bytes", path.display());
        return Err(Error::new("limit", said));
    }
    Ok(String::from_utf8(text).unwrap_or_default())
}
