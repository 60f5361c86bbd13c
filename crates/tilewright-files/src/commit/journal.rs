//! The journal of a set of files, written before the set is committed, so that the next run can finish or undo the work of a
//! killed run. It lists the new files, the index whose rename commits them, and the old files that are then removed. Commits of
//! several files use it.
//!
//! A journal is locked while its run is alive. For a journal without a lock the index decides: if the file of that name is the
//! one that the journal describes, the set is committed and its old files are removed; if not, its new files are removed. A file
//! is recognised by its stamp, never by its name alone, and a file that an index in the folder names is never removed.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    commit::{disk, stamp::Stamp, temporary},
    container::sharded::Index,
    error,
    open::source::Source,
};

/// The ending of the name of a journal.
const ENDING: &str = ".set";

/// The longest journal that is read, in bytes.
const LONGEST: u64 = 100_000_000;

/// A file beside the index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) stamp: Stamp,
}

/// A set that is being committed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) index: Stamp,
    pub(crate) new: Vec<Member>,
    pub(crate) old: Vec<Member>,
}

impl Plan {
    /// Returns whether all its files have names in the folder of the index, not paths out of the folder.
    fn is_beside(&self) -> bool {
        let plain = |member: &Member| {
            Path::new(&member.name).file_name().is_some_and(|name| name == member.name.as_str())
        };
        self.new.iter().chain(&self.old).all(plain)
    }
}

/// A plan on the disk, beside its index.
#[derive(Debug)]
pub(crate) struct Journal {
    // The lock lives as long as this handle.
    _file: File,
    path: PathBuf,
    index: PathBuf,
    plan: Plan,
}

impl Journal {
    /// Writes a plan and syncs it to the disk. The file remains when this value is dropped.
    pub(crate) fn write(index: &Path, plan: Plan) -> Result<Journal, Error> {
        let failed = |cause| error::io(index, "write a journal beside it", cause);
        let (file, path) = temporary::locked(index, ENDING, 0o600)?;
        let text = serde_json::to_vec(&plan).map_err(|error| failed(error.into()))?;
        disk::write(&file, &text).and_then(|()| disk::sync(&file)).map_err(failed)?;
        temporary::sync_folder(index)?;
        let path = path.keep().map_err(|kept| failed(kept.error))?;
        Ok(Journal { _file: file, path, index: index.into(), plan })
    }

    /// Returns the journals of killed runs to this index, locked. A journal that was not completely written was never acted on,
    /// and is removed.
    fn left(index: &Path) -> Result<Vec<Journal>, Error> {
        let mut journals = Vec::new();
        for path in temporary::strays(index, ENDING)? {
            let Some(file) = temporary::unlocked(&path) else { continue };
            let source = Source::open(&path)?;
            let text = source.head(source.len().min(LONGEST))?;
            match serde_json::from_slice::<Plan>(&text) {
                // No run writes such a name, so this is not one of our journals.
                Ok(plan) if !plan.is_beside() => continue,
                Ok(plan) => journals.push(Journal { _file: file, path, index: index.into(), plan }),
                Err(_) => disk::remove(&path)
                    .map_err(|cause| error::io(&path, "remove what a killed run left", cause))?,
            }
        }
        Ok(journals)
    }

    /// Finishes or undoes the set, as the index decides. If the file of that name is not an index any more, nothing is removed.
    pub(crate) fn finish(self, keep: &dyn Fn(&Path) -> bool) -> Result<(), Error> {
        let looked =
            |path: &Path| Stamp::at(path).map_err(|cause| error::io(path, "look at", cause));
        let index = looked(&self.index)?;
        if index.is_some() && members(&self.index)?.is_none() {
            return Ok(());
        }
        let committed = index == Some(self.plan.index);
        let away = if committed { &self.plan.old } else { &self.plan.new };
        // An index that cannot be read may name any file.
        let Some(named) = named(temporary::folder(&self.index), &self.index)? else {
            return Ok(());
        };
        let folder = temporary::folder(&self.index);
        for member in away.iter().filter(|member| !named.contains(&member.name)) {
            let path = folder.join(&member.name);
            if looked(&path)? == Some(member.stamp) && !keep(&path) {
                let said = if committed { "remove the old file" } else { "take the new file back" };
                match disk::remove(&path) {
                    // The new set is complete; the run does not fail because an old file may not be removed.
                    Err(cause) if committed && is_forbidden(&cause) => {}
                    removed => removed.map_err(|cause| error::io(&path, said, cause))?,
                }
            }
        }
        temporary::sync_folder(&self.index)?;
        disk::remove(&self.path).map_err(|cause| error::io(&self.path, "remove the journal", cause))
    }
}

/// Finishes or undoes the sets of killed runs to this index; files for which `keep` returns true are not removed.
pub(crate) fn recover(index: &Path, keep: &dyn Fn(&Path) -> bool) -> Result<(), Error> {
    Journal::left(index)?.into_iter().try_for_each(|journal| journal.finish(keep))
}

/// Returns the files that the indices of a folder name; `own` counts as an index whatever its name ends in. `None` if another
/// index may not be read.
pub(crate) fn named(folder: &Path, own: &Path) -> Result<Option<HashSet<String>>, Error> {
    let names = disk::names(folder)
        .map_err(|cause| error::io(own, "list the folder that holds it", cause))?;
    let is_index = |path: &PathBuf| {
        path.file_name() == own.file_name()
            || path.as_os_str().as_encoded_bytes().ends_with(b".index.json")
    };
    let mut named = HashSet::new();
    for path in names.iter().map(|name| folder.join(name)).filter(is_index) {
        let facts = match fs::metadata(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            facts => facts.map_err(|cause| error::io(&path, "look at", cause))?,
        };
        if facts.is_file() {
            match Source::open(&path) {
                Err(error) if error.io_kind() == Some(io::ErrorKind::PermissionDenied) => {
                    return Ok(None);
                }
                source => named.extend(members_of(&source?)?.into_iter().flatten()),
            }
        }
    }
    Ok(Some(named))
}

/// Returns the files that an index names; `None` if it is not an index.
pub(crate) fn members(index: &Path) -> Result<Option<Vec<String>>, Error> {
    members_of(&Source::open(index)?)
}

/// Returns whether the system refused because of missing permissions.
fn is_forbidden(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::PermissionDenied
}

fn members_of(index: &Source) -> Result<Option<Vec<String>>, Error> {
    match Index::read(index) {
        Ok(index) => Ok(Some(index.shards().into_iter().map(str::to_owned).collect())),
        Err(error) if error.kind() == "corrupt" => Ok(None),
        Err(error) => Err(error),
    }
}
