//! The journal of a set of files, written before the set is committed, so that the next run can finish or undo
//! what a killed run began. It lists the new files, the index whose rename commits them, and the old files that
//! are then removed.
//!
//! A journal is locked while its run lives. Of a journal without a lock the index decides: if the file of that
//! name is the one that the journal describes, the set is committed and its old files are removed; if not, its
//! new files are removed. A file is recognised by its stamp, never by its name alone, and no file is removed that
//! an index in the folder names.

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
    open::source::Source,
};

/// How the name of a journal ends.
const ENDING: &str = ".set";

/// The longest journal that is read, in bytes.
const LONGEST: u64 = 100_000_000;

/// A file beside the index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) stamp: Stamp,
}

/// A set on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) index: Stamp,
    pub(crate) new: Vec<Member>,
    pub(crate) old: Vec<Member>,
}

impl Plan {
    /// Whether every file of it is named by a file name beside the index, and by no path out of the folder.
    fn is_beside(&self) -> bool {
        let plain = |member: &Member| {
            Path::new(&member.name).file_name().is_some_and(|name| name == member.name.as_str())
        };
        self.new.iter().chain(&self.old).all(plain)
    }
}

/// A plan that is on the disk, beside the index that it is about.
#[derive(Debug)]
pub(crate) struct Journal {
    // The lock lives as long as this handle.
    _file: File,
    path: PathBuf,
    index: PathBuf,
    plan: Plan,
}

impl Journal {
    /// Writes a plan down, to the disk. It stays when this value goes.
    pub(crate) fn write(index: &Path, plan: Plan) -> Result<Journal, Error> {
        let failed = |cause| Error::io(index, "write a journal beside it", cause);
        let (file, path) = temporary::locked(index, ENDING, 0o600)?;
        let text = serde_json::to_vec(&plan).map_err(|error| failed(error.into()))?;
        disk::write(&file, &text).and_then(|()| disk::sync(&file)).map_err(failed)?;
        temporary::sync_folder(index)?;
        let path = path.keep().map_err(|kept| failed(kept.error))?;
        Ok(Journal { _file: file, path, index: index.into(), plan })
    }

    /// The journals of killed runs to this index, locked. What was not written to its end was never acted
    /// upon, and goes.
    fn left(index: &Path) -> Result<Vec<Journal>, Error> {
        let mut journals = Vec::new();
        for path in temporary::strays(index, ENDING)? {
            let Some(file) = temporary::unlocked(&path) else { continue };
            let source = Source::open(&path)?;
            let text = source.head(source.len().min(LONGEST))?;
            match serde_json::from_slice::<Plan>(&text) {
                // Nobody's run writes such a name: this is no journal of ours.
                Ok(plan) if !plan.is_beside() => continue,
                Ok(plan) => journals.push(Journal { _file: file, path, index: index.into(), plan }),
                Err(_) => disk::remove(&path)
                    .map_err(|cause| Error::io(&path, "remove what a killed run left", cause))?,
            }
        }
        Ok(journals)
    }

    /// Ends the set as the index decides. If what stands there is no index any more, nothing goes.
    pub(crate) fn finish(self, keep: &dyn Fn(&Path) -> bool) -> Result<(), Error> {
        let looked =
            |path: &Path| Stamp::at(path).map_err(|cause| Error::io(path, "look at", cause));
        let index = looked(&self.index)?;
        if index.is_some() && members(&self.index)?.is_none() {
            return Ok(());
        }
        let committed = index == Some(self.plan.index);
        let away = if committed { &self.plan.old } else { &self.plan.new };
        // Where an index cannot be read, it may name any file.
        let Some(named) = named(temporary::folder(&self.index), &self.index)? else {
            return Ok(());
        };
        let folder = temporary::folder(&self.index);
        for member in away.iter().filter(|member| !named.contains(&member.name)) {
            let path = folder.join(&member.name);
            if looked(&path)? == Some(member.stamp) && !keep(&path) {
                let said = if committed { "remove the old file" } else { "take the new file back" };
                match disk::remove(&path) {
                    // The new set is there and true; an old file that may not go is no reason to stop.
                    Err(cause) if committed && is_forbidden(&cause) => {}
                    removed => removed.map_err(|cause| Error::io(&path, said, cause))?,
                }
            }
        }
        temporary::sync_folder(&self.index)?;
        disk::remove(&self.path).map_err(|cause| Error::io(&self.path, "remove the journal", cause))
    }
}

/// Ends what killed runs to this index have begun, and removes what they left; what `keep` says stays.
pub(crate) fn recover(index: &Path, keep: &dyn Fn(&Path) -> bool) -> Result<(), Error> {
    Journal::left(index)?.into_iter().try_for_each(|journal| journal.finish(keep))
}

/// The files that the indices of a folder name; `own` is one of them whatever its name ends in. `None` where
/// another may not be read.
pub(crate) fn named(folder: &Path, own: &Path) -> Result<Option<HashSet<String>>, Error> {
    let names = disk::names(folder)
        .map_err(|cause| Error::io(own, "list the folder that holds it", cause))?;
    let is_index = |path: &PathBuf| {
        path.file_name() == own.file_name()
            || path.as_os_str().as_encoded_bytes().ends_with(b".index.json")
    };
    let mut named = HashSet::new();
    for path in names.iter().map(|name| folder.join(name)).filter(is_index) {
        let facts = match fs::metadata(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            facts => facts.map_err(|cause| Error::io(&path, "look at", cause))?,
        };
        if facts.is_file() {
            match Source::open(&path) {
                Err(error) if error.is_forbidden() => return Ok(None),
                source => named.extend(members_of(&source?)?.into_iter().flatten()),
            }
        }
    }
    Ok(Some(named))
}

/// The files that an index names; `None` if it is not one.
pub(crate) fn members(index: &Path) -> Result<Option<Vec<String>>, Error> {
    members_of(&Source::open(index)?)
}

/// Whether the system says that this is not allowed.
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
