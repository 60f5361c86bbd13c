//! The `config.json` next to the tensors: the file that describes a model. The checks of extents and of heads read it.

use std::path::Path;

use tilewright_files::inner::file_in;

pub(crate) use tilewright_files::inner::CONFIG;

use crate::Error;

/// Returns the text of the config in the folder of a checkpoint, or in the folder of its one file; empty if there is
/// none. A text in another encoding than UTF-8 states nothing.
pub(crate) fn text(checkpoint: &Path) -> Result<String, Error> {
    let folder = if checkpoint.is_dir() { Some(checkpoint) } else { checkpoint.parent() };
    let found = file_in(folder.unwrap_or(checkpoint), CONFIG)?;
    Ok(found.and_then(|(_, bytes)| String::from_utf8(bytes).ok()).unwrap_or_default())
}
