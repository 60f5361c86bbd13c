//! Permissions of a result: those of the file that it replaces, else those of the input. Each temporary file is created with
//! them.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

/// The permissions of a new file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// The system's default for a new file.
    New,
    /// At most the permissions of another file; the system applies the umask.
    #[cfg(unix)]
    Like(u32),
    /// Exactly the permissions of the replaced file, and its owner and group if the system allows it.
    #[cfg(unix)]
    Kept(u32, u32, u32),
}

/// The bits of a mode for reading, writing and executing.
#[cfg(unix)]
const BITS: u32 = 0o777;

impl Access {
    /// Returns the access of a file that replaces `old`, if that exists, and is otherwise made from a file with this metadata.
    pub(crate) fn of(old: &Path, input: Option<&Metadata>) -> Access {
        match (fs::metadata(old).ok().filter(Metadata::is_file), input) {
            (Some(old), _) => kept(&old),
            (None, Some(input)) => like(input),
            (None, None) => Access::New,
        }
    }

    /// Returns the mode with which the file is created: at no time does it permit more than in the end.
    pub(crate) fn at_first(&self) -> u32 {
        match self {
            Access::New => 0o666,
            #[cfg(unix)]
            Access::Like(mode) => *mode,
            #[cfg(unix)]
            Access::Kept(..) => 0o600,
        }
    }

    /// Applies the access to a file just created.
    #[cfg(unix)]
    pub(crate) fn give(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{PermissionsExt, fchown};
        let Access::Kept(mode, owner, group) = *self else { return Ok(()) };
        // Only an administrator can change the owner; a member of a group can set that group.
        if fchown(file, Some(owner), Some(group)).is_err() {
            let _ = fchown(file, None, Some(group));
        }
        let same = std::os::unix::fs::MetadataExt::gid(&file.metadata()?) == group;
        // If the group differs, its members get only the permissions that everyone has.
        let mode = if same { mode } else { mode & !0o070 | (mode & 0o007) << 3 & mode };
        match file.set_permissions(fs::Permissions::from_mode(mode)) {
            // A file system without permissions cannot widen them.
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            given => given,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn give(&self, _file: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
fn kept(old: &Metadata) -> Access {
    use std::os::unix::fs::MetadataExt;
    Access::Kept(old.mode() & BITS, old.uid(), old.gid())
}

#[cfg(unix)]
fn like(input: &Metadata) -> Access {
    Access::Like(std::os::unix::fs::MetadataExt::mode(input) & BITS)
}

#[cfg(not(unix))]
fn kept(_old: &Metadata) -> Access {
    Access::New
}

#[cfg(not(unix))]
fn like(_input: &Metadata) -> Access {
    Access::New
}
