//! The inputs for solving a recipe: the tensors of an opened input by name, and the configuration beside it. Callers solve
//! recipes with them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tilewright_recipe::Tensor;

use crate::{
    Error, Input,
    commit::temporary,
    error,
    open::json::json,
    open::remote,
    open::source::{Source, is_standard},
};

/// The name of the file that describes a checkpoint to the library that loads it.
pub const CONFIG: &str = "config.json";

/// The longest configuration that is read, in bytes.
const LONGEST: u64 = 16 << 20;

impl Input {
    /// Returns the tensors as recipes see them: those of [`Input::tensors`], followed by the names that [`Input::tied`] lists.
    /// Their positions are the numbers of sources in an assembly.
    ///
    /// ```
    /// use tilewright_files::{Reading, open};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let input = open(path, &Reading::default())?;
    /// let tensors = input.recipe_tensors();
    /// assert_eq!((tensors.len(), tensors[0].name.as_str()), (8, input.tensors()[0].name()));
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn recipe_tensors(&self) -> Vec<Tensor> {
        let own = self.tensors().iter().map(|tensor| (tensor.name(), tensor));
        let all = own.chain(self.tied());
        all.map(|(name, tensor)| Tensor::new(name, tensor.dtype(), tensor.dims())).collect()
    }

    /// Returns the content of `config.json` beside the input, and the metadata of a GGUF file about its model, under the same
    /// keys; `None` if neither exists.
    ///
    /// # Errors
    /// [i/o](Error::is_io) if it cannot be read, is not JSON, or has more than 16 MiB.
    ///
    /// ```
    /// use tilewright_files::{Reading, open};
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// std::fs::copy(path, folder.path().join("model.safetensors")).unwrap();
    /// let input = open(folder.path(), &Reading::default())?;
    /// assert!(input.config()?.is_none());
    /// std::fs::write(folder.path().join("config.json"), r#"{"num_attention_heads": 4}"#).unwrap();
    /// assert_eq!(input.config()?.unwrap()["num_attention_heads"], 4);
    /// std::fs::write(folder.path().join("config.json"), "{").unwrap();
    /// assert!(input.config().unwrap_err().is_io());
    /// # Ok::<(), tilewright_files::Error>(())
    /// ```
    pub fn config(&self) -> Result<Option<serde_json::Value>, Error> {
        let mut said = self.opened.container.config();
        let beside = match self.config_text()? {
            None => None,
            Some((path, text)) => Some(json(&text).map_err(|error| error::corrupt(&path, error))?),
        };
        if said.is_empty() {
            return Ok(beside);
        }
        if let Some(serde_json::Value::Object(beside)) = beside {
            said.extend(beside);
        }
        Ok(Some(said.into()))
    }

    /// Returns the path of the configuration beside the input, and its text.
    pub(crate) fn config_text(&self) -> Result<Option<(PathBuf, String)>, Error> {
        self.text_beside(CONFIG)
    }

    /// Returns the path of a file of this name beside the input, and its text.
    pub(crate) fn text_beside(&self, name: &str) -> Result<Option<(PathBuf, String)>, Error> {
        // Standard input is not in a folder.
        if is_standard(self.path()) {
            return Ok(None);
        }
        let Some((path, bytes)) = file_in(temporary::folder(self.path()), name)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|error| error::corrupt(&path, error))?;
        Ok(Some((path, text)))
    }
}

/// Returns the path and the bytes of a small file in a folder; `None` if there is no such file.
///
/// # Errors
/// If the file is longer than 16 MiB, is not a regular file, or cannot be read.
///
/// ```
/// use tilewright_files::inner::file_in;
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("config.json"), "{}").unwrap();
/// assert_eq!(file_in(folder.path(), "config.json")?.unwrap().1, b"{}");
/// assert!(file_in(folder.path(), "other.json")?.is_none());
/// assert!(file_in(folder.path(), ".").is_err());
/// # Ok::<(), tilewright_files::Error>(())
/// ```
pub fn file_in(folder: &Path, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    let path = folder.join(name);
    let Some(source) = found(&path)? else { return Ok(None) };
    let len = source.len();
    if len > LONGEST {
        let said = format!("a configuration of {len} bytes; at most {LONGEST} are read");
        return Err(error::corrupt(&path, said));
    }
    let bytes = source.head(len)?;
    Ok(Some((path, bytes)))
}

/// Opens a file, if it exists.
fn found(path: &Path) -> Result<Option<Source>, Error> {
    if !remote::is_url(path) {
        return match fs::metadata(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Source::open(path).map(Some),
        };
    }
    match Source::open(path) {
        Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => Ok(None),
        opened => opened.map(Some),
    }
}
