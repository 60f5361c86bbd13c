//! Commits several files together: the shards of a checkpoint and their index.
//!
//! The shards get their names first, then the index gets its own. No existing index contains the shards' names: they are the
//! usual names if these are free, else the usual names with a mark that is new for each run. So the rename of the index commits
//! the whole set. Until then the old set is whole, and afterwards its shards are removed. A journal, written before the first
//! rename, records how to finish or undo the work of a killed run.

use std::{
    borrow::Cow,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
};

use crate::{
    Conversion, Error, Watch,
    commit::{
        journal::{self, Journal, Member, Plan},
        lock::Lock,
        mark,
        stamp::{self, Stamp},
        temporary::{self, Temporary},
    },
    container::{self, Section, Target, safetensors},
    convert::job::total_bytes,
    error,
    open::source::Source,
};

/// Returns the files of a conversion under their final names: with a mark if an index contains one of the usual names, or a file
/// has it.
pub(crate) fn targets<'a>(conversion: &'a Conversion<'_>) -> Result<Cow<'a, [Target]>, Error> {
    let own = &conversion.targets;
    if !conversion.format.several {
        return Ok(own.into());
    }
    let folder = temporary::folder(&conversion.out);
    if !conversion.request.force {
        return Ok(own.into());
    }
    let names = || conversion.input.opened.files.iter().map(|file| file.name.as_str());
    let usual = mark::usual_names(names());
    // An index that cannot be read may contain any name.
    let known = journal::named(folder, &conversion.out)?;
    let is_known = |name: &String| known.as_ref().is_none_or(|known| known.contains(name));
    let taken = |name: &String| is_known(name) || fs::symlink_metadata(folder.join(name)).is_ok();
    if !usual.iter().any(taken) {
        return Ok(own.into());
    }
    let digits = RandomState::new().build_hasher().finish();
    let marked: Vec<String> = usual.iter().map(|name| mark::marked(name, digits)).collect();
    let mut targets = own.clone();
    for (target, name) in targets.iter_mut().zip(&marked) {
        target.path = folder.join(name);
    }
    let renamed = names().zip(marked.iter().map(String::as_str)).collect();
    let index = conversion.input.opened.container.index(total_bytes(&conversion.jobs), &renamed);
    if let (Some(last), Some(text)) = (targets.last_mut(), index) {
        last.sections = vec![Section::Bytes(text.into_bytes())];
    }
    Ok(targets.into())
}

/// Gives a set of files their names; the index is last.
pub(crate) fn commit(
    conversion: &Conversion<'_>,
    mut done: Vec<Temporary>,
    watch: &dyn Watch,
) -> Result<(), Error> {
    let force = conversion.request.force;
    let Some(index) = done.pop() else { return Ok(()) };
    if done.is_empty() {
        return index.persist(force);
    }
    let keep = |path: &Path| conversion.input.holds(path);
    let path = index.out().to_path_buf();
    // If two runs write the same index, the second replaces the files of the first and removes them. A folder without its final
    // name is used by this run alone.
    let lock = conversion.folder.is_none().then(|| Lock::of(&path, watch));
    let _lock = lock.transpose()?;
    let journal = Journal::write(&path, plan(&index, &done, force)?)?;
    let named = done
        .into_iter()
        .try_for_each(|shard| shard.rename(false))
        .and_then(|()| temporary::sync_folder(&path))
        .and_then(|()| index.rename(force));
    if let Err(error) = named {
        // The next run removes files that cannot be removed now.
        let _ = journal.finish(&keep);
        return Err(error);
    }
    // The old files are needed until the new name of the index is on the disk.
    temporary::sync_folder(&path)?;
    journal.finish(&keep)
}

/// Returns the content of the journal of a set.
fn plan(index: &Temporary, shards: &[Temporary], force: bool) -> Result<Plan, Error> {
    let new: Vec<Member> = shards.iter().map(member).collect::<Result<_, Error>>()?;
    let old = if force { old(index.out())? } else { Vec::new() };
    Ok(Plan { index: index.stamp()?, new, old })
}

fn member(shard: &Temporary) -> Result<Member, Error> {
    let name = shard.out().file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Member { name, stamp: shard.stamp()? })
}

/// Returns the files of the set whose index is replaced; none if the name is a link to an index elsewhere.
fn old(index: &Path) -> Result<Vec<Member>, Error> {
    let failed = |path: &Path, cause| error::io(path, "look at", cause);
    let facts = stamp::look(index).map_err(|cause| failed(index, cause))?;
    if !facts.is_some_and(|facts| facts.is_file()) {
        return Ok(Vec::new());
    }
    let folder = temporary::folder(index);
    let member = |name: String| {
        let path = folder.join(&name);
        // An index may name any file; only shards are removed.
        if !is_shard(&path) {
            return None;
        }
        let stamp = Stamp::at(&path).map_err(|cause| failed(&path, cause)).transpose()?;
        Some(stamp.map(|stamp| Member { name, stamp }))
    };
    journal::members(index)?.into_iter().flatten().filter_map(member).collect()
}

/// Returns whether a file begins as a shard does.
fn is_shard(path: &Path) -> bool {
    let looked = || {
        let source = Source::open(path).ok()?;
        container::recognised(&source).ok()
    };
    looked() == Some(&safetensors::FORMAT)
}

/// Returns the shard that the shard of this usual path replaces in the set at `index`: the file of that name, or the one with a
/// mark in its name.
pub(crate) fn predecessor(index: &Path, usual_path: &Path) -> PathBuf {
    let name = usual_path.file_name().unwrap_or_default();
    let members = || journal::members(index).ok().flatten().unwrap_or_default();
    let marked = || members().into_iter().find(|member| mark::usual(member).as_ref() == name);
    let found = if usual_path.exists() { None } else { marked() };
    found.map_or_else(|| usual_path.into(), |member| temporary::folder(index).join(member))
}

/// Returns the path after which the temporary file of a file is named: that of its usual name.
pub(crate) fn usual_path(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => path.with_file_name(mark::usual(name).as_ref()),
        None => path.into(),
    }
}
