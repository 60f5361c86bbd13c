//! Writes a small file, which is whole or absent.

use std::path::Path;

use crate::{
    Error,
    commit::{
        access::Access,
        destination::{check_folder, check_free, check_name},
        disk,
        temporary::{self, Temporary},
    },
    error,
};

/// Writes a file like the output of a conversion: to a temporary file beside it, which is synced and then renamed. An existing
/// file is replaced only with `force`.
///
/// # Errors
/// [usage](Error::is_usage) for a path that cannot name a file, or that exists, without `force`; [io](Error::is_io) if writing
/// fails.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("picture.svg");
/// tilewright_files::write(&path, b"<svg/>", false)?;
/// assert!(tilewright_files::write(&path, b"other", false).unwrap_err().kind() == "exists");
/// tilewright_files::write(&path, b"other", true)?;
/// assert_eq!(std::fs::read(&path)?, b"other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), Error> {
    check_name(path)?;
    check_folder(path)?;
    check_free(path, force)?;
    temporary::sweep(path)?;
    let temporary = Temporary::create(path, path, &Access::of(path, None))?;
    let failed = |cause| error::io(path, "write", cause);
    let file = temporary.writer()?;
    disk::write(&file, bytes).and_then(|()| disk::sync(&file)).map_err(failed)?;
    temporary.persist(force)
}
