//! HLO modules in files: recognised by name or content, and read whole within a bound.
//!
//! The sizes of their arrays come from [`HloComputation::buffers`](tilewright_xla::HloComputation::buffers).

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use tilewright_xla::HloModule;

use crate::Error;

/// The longest file that is read, in bytes: 512 MiB. A module in memory takes a few times the bytes of its file, and a text at
/// worst about forty times. A proto of more than 2²² messages is refused.
pub const MAX_BYTES: u64 = 512 << 20;

/// The number of bytes that are read to recognise a file.
const BEGINNING: u64 = 4096;

/// Returns whether a file is to be read as a module: its name ends with `.txt`, `.pb` or `.hlo`, or it begins with `HloModule`. A
/// file that cannot be opened is judged by its name alone.
///
/// ```
/// use tilewright::module;
/// assert!(module::is_module("dump/module_0001.jit_f.before_optimizations.txt"));
/// assert!(!module::is_module("model.safetensors"));
/// ```
pub fn is_module(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
    let named = extension.is_some_and(|text| ["txt", "pb", "hlo"].contains(&text.as_str()));
    named || beginning(path).is_ok_and(|bytes| HloModule::begins_as_text(&bytes))
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Only a regular file is read: bytes read from a pipe would be lost.
    if path.metadata()?.is_file() {
        File::open(path)?.take(BEGINNING).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a module from its text, from the bytes of its `HloModuleProto`, or from a dumped `HloProto`.
///
/// # Errors
/// [input](Error::is_input) for a file that cannot be read, [limit](Error::is_limit) for one longer than [`MAX_BYTES`], and
/// [module](Error::is_module) for one that is not a module, with the place at fault.
///
/// ```
/// let path = std::env::temp_dir().join(format!("module-{}.txt", std::process::id()));
/// std::fs::write(&path, "HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n")?;
/// let module = tilewright::module::read(&path)?;
/// assert_eq!(module.entry().unwrap().name, "e");
/// std::fs::write(&path, "HloModule m\nENTRY e {\n  ROOT x = f32[2\n}\n")?;
/// let error = tilewright::module::read(&path).unwrap_err();
/// assert!(error.to_string().contains("line 4, column 1: expected `,` or `]`"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<HloModule, Error> {
    let shown = path.as_ref().display();
    let (bytes, len) = bytes(path.as_ref()).map_err(|error| {
        Error::new("input", format!("{shown}: {error}")).of_file().with_source(error)
    })?;
    let len = len.max(bytes.len() as u64);
    if len > MAX_BYTES {
        return Err(Error::new("limit", format!(
                "{shown}: {len} bytes; a module is read up to {MAX_BYTES} bytes (dump it without large constants)"
            )).of_file());
    }
    HloModule::from_bytes(&bytes).map_err(|error| {
        Error::new("module", format!("{shown}: {error}")).of_file().with_source(error)
    })
}

/// Returns the length of a file and its bytes, at most one more than the bound; no bytes if the length exceeds the bound.
fn bytes(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut bytes = Vec::new();
    if len <= MAX_BYTES {
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    Ok((bytes, len))
}
