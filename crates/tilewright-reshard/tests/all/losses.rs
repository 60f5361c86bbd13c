//! A power loss at any moment of a run: its calls are replayed without some of those that were not yet synced. Written bytes may be
//! lost until their file is synced, and names until their folder is synced. Afterwards the result is complete, absent or the
//! previous one, and the same run completes it.
#![cfg(target_os = "linux")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use tilewright_files::disk::trace::{self, Done};

use crate::faults::{CASES, alone, check, prepare, run, states};

/// Folders, and files by name.
type Visible = (BTreeSet<PathBuf>, BTreeMap<PathBuf, Vec<u8>>);

/// A file system below a folder: the number of the file of each name, and the contents.
#[derive(Clone, Default)]
struct World {
    folders: BTreeSet<PathBuf>,
    names: BTreeMap<PathBuf, usize>,
    files: Vec<Vec<u8>>,
}

/// A call on files and folders that have numbers.
enum Call {
    Create(PathBuf, usize),
    /// Writes bytes at a position of a file.
    Write(usize, usize, Vec<u8>),
    Sync(usize),
    Rename(PathBuf, PathBuf, usize),
    Remove(PathBuf),
    CreateFolder(PathBuf),
    RenameFolder(PathBuf, PathBuf),
    RemoveFolder(PathBuf),
    SyncFolder(usize),
}

/// Returns the path below the new name of a folder.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from).map_or_else(
        |_| path.into(),
        |rest| match rest.as_os_str().is_empty() {
            true => to.into(),
            false => to.join(rest),
        },
    )
}

impl World {
    /// Returns the content of a folder, except the source.
    fn of(folder: &Path) -> World {
        let (mut world, mut todo) = (World::default(), vec![folder.to_path_buf()]);
        world.folders.insert(folder.into());
        while let Some(next) = todo.pop() {
            for entry in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                if entry == folder.join("in") {
                    continue;
                }
                if entry.is_dir() {
                    world.folders.insert(entry.clone());
                    todo.push(entry);
                } else {
                    world.names.insert(entry.clone(), world.files.len());
                    world.files.push(fs::read(entry).unwrap());
                }
            }
        }
        world
    }

    fn has_folder_of(&self, path: &Path) -> bool {
        path.parent().is_some_and(|parent| self.folders.contains(parent))
    }

    fn apply(&mut self, call: &Call) {
        match call {
            Call::Create(path, file) if self.has_folder_of(path) => {
                self.names.insert(path.clone(), *file);
            }
            Call::Write(file, at, bytes) => {
                let end = at + bytes.len();
                let held = &mut self.files[*file];
                held.resize(held.len().max(end), 0);
                held[*at..end].copy_from_slice(bytes);
            }
            Call::Rename(from, to, file) if self.has_folder_of(to) => {
                self.names.remove(from);
                self.names.insert(to.clone(), *file);
            }
            Call::Remove(path) => {
                self.names.remove(path);
            }
            Call::CreateFolder(path) if self.has_folder_of(path) => {
                self.folders.insert(path.clone());
            }
            // A file that replaces another is renamed by the same call.
            Call::RenameFolder(from, to)
                if self.folders.contains(from) || self.names.contains_key(from) =>
            {
                // If an earlier rename of that name was lost, its folder has no name now.
                self.folders.retain(|path| !path.starts_with(to));
                self.names.retain(|path, _| !path.starts_with(to));
                self.folders = self.folders.iter().map(|path| moved(path, from, to)).collect();
                let names = std::mem::take(&mut self.names);
                let names = names.into_iter().map(|(path, file)| (moved(&path, from, to), file));
                self.names = names.collect();
            }
            Call::RemoveFolder(path) if !self.names.keys().any(|own| own.starts_with(path)) => {
                self.folders.remove(path);
            }
            // A call on a name that was lost changes nothing.
            Call::Create(..) | Call::Rename(..) | Call::CreateFolder(_) => {}
            Call::RenameFolder(..) | Call::RemoveFolder(_) => {}
            Call::Sync(_) | Call::SyncFolder(_) => {}
        }
    }

    fn visible(&self) -> Visible {
        let names = self.names.iter().map(|(path, file)| (path.clone(), self.files[*file].clone()));
        (self.folders.clone(), names.collect())
    }
}

/// The numbers of files and folders by their present names.
#[derive(Default)]
struct Numbers {
    files: BTreeMap<PathBuf, usize>,
    folders: BTreeMap<PathBuf, usize>,
    lengths: BTreeMap<usize, usize>,
}

impl Numbers {
    fn folder(&mut self, path: &Path) -> usize {
        let next = self.folders.len();
        *self.folders.entry(path.into()).or_insert(next)
    }

    fn parent(&mut self, path: &Path) -> usize {
        self.folder(path.parent().unwrap())
    }
}

/// Returns the recorded calls, each with the folders that must be synced to keep it.
fn numbered(world: &mut World, done: Vec<Done>) -> Vec<(Call, Vec<usize>)> {
    let mut numbers = Numbers { files: world.names.clone(), ..Numbers::default() };
    let mut calls = vec![];
    for done in done {
        calls.push(match done {
            Done::Create(path) => {
                world.files.push(vec![]);
                let file = world.files.len() - 1;
                numbers.files.insert(path.clone(), file);
                let folder = numbers.parent(&path);
                (Call::Create(path, file), vec![folder])
            }
            Done::Write(path, bytes) => {
                let file = numbers.files[&path];
                let end = numbers.lengths.entry(file).or_insert(0);
                *end += bytes.len();
                (Call::Write(file, *end - bytes.len(), bytes), vec![])
            }
            Done::Place(path, at, bytes) => {
                (Call::Write(numbers.files[&path], at as usize, bytes), vec![])
            }
            Done::Sync(path) => (Call::Sync(numbers.files[&path]), vec![]),
            Done::Rename(from, to) => {
                let file = numbers.files.remove(&from).unwrap();
                numbers.files.insert(to.clone(), file);
                let folders = vec![numbers.parent(&from), numbers.parent(&to)];
                (Call::Rename(from, to, file), folders)
            }
            Done::Remove(path) => {
                numbers.files.remove(&path);
                let folder = numbers.parent(&path);
                (Call::Remove(path), vec![folder])
            }
            Done::CreateFolder(path) => {
                let folder = numbers.parent(&path);
                (Call::CreateFolder(path), vec![folder])
            }
            Done::RenameFolder(from, to) => {
                let folders = vec![numbers.parent(&from), numbers.parent(&to)];
                let rename = |all: BTreeMap<PathBuf, usize>| {
                    all.into_iter().map(|(path, own)| (moved(&path, &from, &to), own)).collect()
                };
                numbers.files = rename(std::mem::take(&mut numbers.files));
                numbers.folders = rename(std::mem::take(&mut numbers.folders));
                (Call::RenameFolder(from, to), folders)
            }
            Done::RemoveFolder(path) => {
                let folder = numbers.parent(&path);
                (Call::RemoveFolder(path), vec![folder])
            }
            Done::SyncFolder(path) => (Call::SyncFolder(numbers.folder(&path)), vec![]),
        });
    }
    calls
}

/// Returns the calls that may be lost if the power fails after all of these.
fn pending(calls: &[(Call, Vec<usize>)]) -> Vec<usize> {
    let synced = |i: usize| {
        let later = || calls[i..].iter().map(|(call, _)| call);
        match &calls[i] {
            (Call::Write(file, ..), _) => {
                later().any(|it| matches!(it, Call::Sync(own) if own == file))
            }
            (_, folders) => folders.iter().all(|folder| {
                later().any(|it| matches!(it, Call::SyncFolder(own) if own == folder))
            }),
        }
    };
    (0..calls.len()).filter(|i| !synced(*i)).collect()
}

/// Returns the states that a power loss at any moment leaves: of the calls that are not synced all, none, one, or all but one are
/// lost.
fn worlds(before: &World, calls: &[(Call, Vec<usize>)]) -> BTreeSet<Visible> {
    let mut all = BTreeSet::new();
    for end in 0..=calls.len() {
        let pending = pending(&calls[..end]);
        let mut add = |lost: &dyn Fn(usize) -> bool| {
            let mut world = before.clone();
            for (i, (call, _)) in calls[..end].iter().enumerate() {
                if !pending.contains(&i) || !lost(i) {
                    world.apply(call);
                }
            }
            all.insert(world.visible());
        };
        add(&|_| true);
        add(&|_| false);
        for one in &pending {
            add(&|i| i == *one);
            add(&|i| i != *one);
        }
    }
    all
}

/// Makes the files and folders of a state.
fn make(folder: &Path, (folders, files): &Visible) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            _ if entry == folder.join("in") => {}
            true => fs::remove_dir_all(entry).unwrap(),
            false => fs::remove_file(entry).unwrap(),
        }
    }
    folders.iter().for_each(|path| fs::create_dir_all(path).unwrap());
    files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
}

#[test]
fn lost_power_leaves_a_result_whole_or_absent_and_the_next_run_completes_it() {
    let _alone = alone();
    for case in CASES {
        let (before, after, _) = states(case);
        let folder = prepare(case);
        let mut world = World::of(folder.path());
        let done = trace::of(|| run(folder.path(), case).unwrap());
        assert!(done.iter().any(|done| matches!(done, Done::Place(..))), "{case:?}");
        let calls = numbered(&mut world, done);
        // Without losses, the replay equals the run.
        let mut whole = world.clone();
        calls.iter().for_each(|(call, _)| whole.apply(call));
        assert!(whole.visible() == World::of(folder.path()).visible(), "{case:?}");
        let worlds = worlds(&world, &calls);
        let step = tilewright_testing::cases(1, worlds.len() / 40 + 1);
        let mut seen = 0;
        for (number, state) in worlds.iter().enumerate().step_by(step) {
            make(folder.path(), state);
            check(folder.path(), case, (&before, &after), &format!("{case:?}, state {number}"));
            seen += 1;
        }
        println!("{case:?}: {} calls, {seen} of {} states", calls.len(), worlds.len());
        assert!(worlds.len() > 20, "{case:?}");
    }
}
