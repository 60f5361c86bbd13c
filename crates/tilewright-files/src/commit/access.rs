//! The permissions of a result: those of the file that it replaces, else those of the input.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

/// The permissions of a file that is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// What the system gives to a new file.
    New,
    /// At most the permissions of another file, from which the system takes the umask.
    #[cfg(unix)]
    Like(u32),
    /// Exactly the permissions of the file that is replaced, and its owner and group where that is allowed.
    #[cfg(unix)]
    Kept(u32, u32, u32),
}

/// The bits of a mode that say who may read, write and execute.
#[cfg(unix)]
const BITS: u32 = 0o777;

impl Access {
    /// The access of a file that replaces what `old` names, if that is there, and else is made from a file
    /// with these facts.
    pub(crate) fn of(old: &Path, input: Option<&Metadata>) -> Access {
        match (fs::metadata(old).ok().filter(Metadata::is_file), input) {
            (Some(old), _) => kept(&old),
            (None, Some(input)) => like(input),
            (None, None) => Access::New,
        }
    }

    /// The mode with which the file is created: nobody gets more at any moment than in the end.
    pub(crate) fn at_first(&self) -> u32 {
        match self {
            Access::New => 0o666,
            #[cfg(unix)]
            Access::Like(mode) => *mode,
            #[cfg(unix)]
            Access::Kept(..) => 0o600,
        }
    }

    /// Gives it to a file just created.
    #[cfg(unix)]
    pub(crate) fn give(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{PermissionsExt, fchown};
        let Access::Kept(mode, owner, group) = *self else { return Ok(()) };
        // Only an administrator gives files away; a group is given by its members.
        if fchown(file, Some(owner), Some(group)).is_err() {
            let _ = fchown(file, None, Some(group));
        }
        let same = std::os::unix::fs::MetadataExt::gid(&file.metadata()?) == group;
        // What another group could do, this one may do only if everybody may.
        let mode = if same { mode } else { mode & !0o070 | (mode & 0o007) << 3 & mode };
        match file.set_permissions(fs::Permissions::from_mode(mode)) {
            // A file system without permissions has none to widen.
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
