//! The folder beside OUT that becomes OUT: created, filled and synced under the lock of OUT's name, then renamed. Conversions and
//! assemblies of folders use it.
//!
//! OUT is whole or absent: the rename is the commit. A folder that is not empty is never replaced, because its other content is
//! unknown. A killed run leaves its folder; the next run to the same OUT removes it, under the lock.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Error, Watch,
    commit::{
        destination, disk,
        lock::{self, Lock},
        temporary, upload,
    },
    error,
    open::{folder::Companions, place::Place, remote},
};

/// A folder that is filled, and its destination; one in an object store is filled in place.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct NewFolder {
    pub(crate) out: PathBuf,
    /// The folder that is filled.
    pub(crate) path: PathBuf,
    pub(crate) companions: Companions,
}

impl NewFolder {
    /// Returns a folder that may become `out`.
    #[doc(hidden)]
    pub fn new(out: &Path, companions: Companions) -> Result<NewFolder, Error> {
        if Place::parse(out).format.is_some() {
            let out = out.display();
            let said = "names a file, but a folder becomes a folder; to convert only its tensors, name the file in that folder";
            return Err(error::usage(format!("{out} {said}")));
        }
        remote::check_scheme(out)?;
        if remote::is_url(out) {
            let text = out.to_string_lossy();
            let out = PathBuf::from(text.trim_end_matches('/'));
            upload::check_folder(&out)?;
            return Ok(NewFolder { path: out.clone(), out, companions });
        }
        // A slash at the end only marks a folder.
        let out: PathBuf = out.components().collect();
        if let Some(source) = &companions.source {
            check_apart(source, &out)?;
        }
        destination::check_name(&out)?;
        destination::check_folder(&out)?;
        lock::sweep(&out)?;
        check_free(&out)?;
        Ok(NewFolder { path: temporary::fresh_path(&out, temporary::ENDING)?, out, companions })
    }

    /// Returns the folder that is filled.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder, lets `fill` write into it, and gives it its name.
    #[doc(hidden)]
    pub fn filled<T>(
        &self,
        watch: &dyn Watch,
        fill: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _lock = Lock::of(&self.out, watch)?;
        check_free(&self.out)?;
        for stray in temporary::strays(&self.out, temporary::ENDING)? {
            remove_filled(&stray);
        }
        let failed = |cause| error::io(&self.out, "make a folder beside it", cause);
        disk::create_folder(&self.path).map_err(failed)?;
        let made = Made(&self.path);
        let done = fill()?;
        self.companions.copy_to(made.0, watch)?;
        let synced = disk::sync_folder(made.0);
        synced.map_err(|cause| error::io(&self.out, "flush its files to the disk", cause))?;
        watch.check_cancelled()?;
        self.named()?;
        temporary::sync_folder(&self.out)?;
        Ok(done)
    }

    /// Gives the folder its name; an empty folder of that name is removed.
    fn named(&self) -> Result<(), Error> {
        if self.out.is_dir() {
            disk::remove_folder(&self.out).map_err(|_| error::occupied(&self.out))?;
        }
        disk::rename_folder(&self.path, &self.out).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory => error::occupied(&self.out),
            _ => error::io(&self.out, "rename the finished folder to it", cause),
        })
    }
}

/// A folder that was created; it is removed if it still exists.
struct Made<'a>(&'a Path);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        remove_filled(self.0);
    }
}

/// Returns an error for a result inside of its source, or a source inside of its result.
#[doc(hidden)]
pub fn check_apart(source: &Path, result: &Path) -> Result<(), Error> {
    let (from, to) = (real(source), real(result));
    let is_folder = |path: &Path| path.is_dir() || remote::is_url(path);
    let said = |inner: &Path, outer: &Path| {
        let said = format!("{} is inside {}", inner.display(), outer.display());
        let legal = "the result must be a separate folder, outside the source";
        Err(Error::new("same-file", format!("{said}: {legal}")))
    };
    match from == to {
        true => Ok(()),
        false if is_folder(&from) && to.starts_with(&from) => said(result, source),
        false if from.starts_with(&to) => said(source, result),
        false => Ok(()),
    }
}

/// Returns a path with links followed in the part of it that exists.
fn real(path: &Path) -> PathBuf {
    if remote::is_url(path) {
        return path.to_string_lossy().trim_end_matches('/').into();
    }
    let path = &std::path::absolute(path).unwrap_or_else(|_| path.into());
    let known = path.ancestors().find_map(|known| Some((known, fs::canonicalize(known).ok()?)));
    let rest = known.as_ref().and_then(|(known, _)| path.strip_prefix(known).ok());
    match (&known, rest) {
        (Some((_, real)), Some(rest)) if rest != Path::new("") => real.join(rest),
        (Some((_, real)), _) => real.clone(),
        (None, _) => path.to_owned(),
    }
}

/// Removes a folder that a run has created, with the files in it. A path that is not a folder is kept, and so is a folder that
/// cannot be removed: the next run tries again.
#[doc(hidden)]
pub fn remove_filled(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
        return;
    }
    let inside = disk::names(folder).unwrap_or_default();
    for name in inside.iter().filter(|name| *name != "." && *name != "..") {
        let _ = disk::remove(&folder.join(name));
    }
    let _ = disk::remove_folder(folder);
}

/// Returns an error unless the name is free or that of an empty folder.
fn check_free(out: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(out).is_err() || is_empty_folder(out) {
        true => Ok(()),
        false => Err(error::occupied(out)),
    }
}

/// Returns whether a path names an empty folder, not through a link.
#[doc(hidden)]
pub fn is_empty_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
        && fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none())
}
