//! Checks the free space of a disk before an output is written. Conversions, resharding and the unpacking of archives use it.

use std::{io, path::Path};

use crate::{Error, commit::temporary, error};

/// Returns an error if the file system of `out` reports less than `bytes` bytes of free space for this user.
#[doc(hidden)]
pub fn check(out: &Path, bytes: u64) -> Result<(), Error> {
    match free(temporary::folder(out)) {
        Some(free) if free < bytes => {
            let said = format!("it takes {bytes} bytes, and its disk has {free} left");
            let cause = io::Error::new(io::ErrorKind::StorageFull, said);
            Err(error::io(out, "write", cause))
        }
        _ => Ok(()),
    }
}

/// Returns the free space in bytes; `None` if the system does not report it.
#[cfg(target_os = "linux")]
fn free(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    // File systems that count no blocks report zero free space and still accept files.
    (facts.f_blocks > 0).then(|| facts.f_bavail.saturating_mul(facts.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_told_with_both_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.npy");
        assert!(check(&out, 0).is_ok() && check(&out, 4096).is_ok());
        if free(folder.path()).is_some() {
            let error = check(&out, u64::MAX).unwrap_err();
            assert!(error.is_io() && error.kind() == "io", "{error}");
            let said = error.to_string();
            assert!(said.contains("it takes 18446744073709551615 bytes"), "{said}");
            assert!(said.contains("out.npy") && said.contains(" left"), "{said}");
        }
        // If the free space is unknown, nothing is refused.
        assert!(check(&folder.path().join("none/out.npy"), u64::MAX).is_ok());
    }
}
