//! Tests of a power loss at any moment: the calls of a run are replayed without some of those that were not yet synced. Written
//! bytes may be lost until their file is synced, names until their folder is synced, each independently. Afterwards a reader
//! finds either the whole old result, or the whole new one.
#![cfg(target_os = "linux")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::commit::{
    disk::trace::{self, Done},
    faults::{CASES, alone, prepare, run, seen},
};

/// The largest number of calls for which every combination of lost calls is tried.
const FEW: usize = 10;

/// For more calls, random combinations are tried in addition to the simple ones, with about this number of calls in total.
const SOME: usize = 2000;

/// The files of a folder: the number of the file of each name, and its content.
#[derive(Clone, Default)]
struct World {
    names: BTreeMap<PathBuf, usize>,
    files: Vec<Vec<u8>>,
}

/// A call on files that have numbers.
enum Call {
    Create(PathBuf, usize),
    /// Writes bytes at this position.
    Write(usize, usize, Vec<u8>),
    Sync(usize),
    Rename(PathBuf, PathBuf, usize),
    Remove(PathBuf),
    SyncFolder,
}

impl World {
    /// Returns the current content of a folder.
    fn of(folder: &Path) -> World {
        let mut world = World::default();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            world.names.insert(path.clone(), world.files.len());
            world.files.push(fs::read(path).unwrap());
        }
        world
    }

    fn apply(&mut self, call: &Call) {
        match call {
            Call::Create(path, file) => {
                self.names.insert(path.clone(), *file);
            }
            Call::Write(file, at, bytes) => {
                let end = at + bytes.len();
                let held = &mut self.files[*file];
                held.resize(held.len().max(end), 0);
                held[*at..end].copy_from_slice(bytes);
            }
            Call::Rename(from, to, file) => {
                self.names.remove(from);
                self.names.insert(to.clone(), *file);
            }
            Call::Remove(path) => {
                self.names.remove(path);
            }
            Call::Sync(_) | Call::SyncFolder => {}
        }
    }

    /// Returns the names and bytes that a reader finds.
    fn visible(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.names.iter().map(|(path, file)| (path.clone(), self.files[*file].clone())).collect()
    }
}

/// Returns the recorded calls, with numbers for files; `world` gets an empty file for each that is created.
fn numbered(world: &mut World, done: Vec<Done>) -> Vec<Call> {
    let (mut names, mut lens) = (world.names.clone(), BTreeMap::new());
    let mut calls = vec![];
    for done in done {
        calls.push(match done {
            Done::Create(path) => {
                world.files.push(vec![]);
                let file = world.files.len() - 1;
                names.insert(path.clone(), file);
                Call::Create(path, file)
            }
            Done::Write(path, bytes) => {
                let at = lens.entry(names[&path]).or_insert(0);
                *at += bytes.len();
                Call::Write(names[&path], *at - bytes.len(), bytes)
            }
            Done::Place(path, at, bytes) => Call::Write(names[&path], at as usize, bytes),
            Done::Sync(path) => Call::Sync(names[&path]),
            Done::Rename(from, to) => {
                let file = names.remove(&from).unwrap();
                names.insert(to.clone(), file);
                Call::Rename(from, to, file)
            }
            Done::Remove(path) => {
                names.remove(&path);
                Call::Remove(path)
            }
            Done::SyncFolder(_) => Call::SyncFolder,
            Done::CreateFolder(_) | Done::RenameFolder(..) | Done::RemoveFolder(_) => continue,
        });
    }
    calls
}

/// Returns the calls that may be lost if the power fails after all of these.
fn pending(calls: &[Call]) -> Vec<usize> {
    let synced = |i: usize| match &calls[i] {
        Call::Write(file, ..) => {
            calls[i..].iter().any(|call| matches!(call, Call::Sync(synced) if synced == file))
        }
        Call::Create(..) | Call::Rename(..) | Call::Remove(_) => {
            calls[i..].iter().any(|call| matches!(call, Call::SyncFolder))
        }
        Call::Sync(_) | Call::SyncFolder => true,
    };
    (0..calls.len()).filter(|i| !synced(*i)).collect()
}

/// Returns the sets of lost calls among `count`: all combinations of a few calls; of more calls all, none, one, all but one, and
/// some random ones.
fn losses(count: usize) -> Vec<Vec<bool>> {
    let all = |lost: &dyn Fn(usize) -> bool| (0..count).map(lost).collect::<Vec<bool>>();
    if count <= FEW {
        return (0..1usize << count).map(|set| all(&|i| set >> i & 1 == 1)).collect();
    }
    let mut sets = vec![all(&|_| true), all(&|_| false)];
    for one in 0..count {
        sets.extend([all(&|i| i == one), all(&|i| i != one)]);
    }
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..SOME / count {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 33 & 1 == 1
        };
        sets.push((0..count).map(|_| next()).collect());
    }
    sets
}

/// Returns the states that a power loss at any moment leaves, and the number of losses.
fn worlds(before: &World, calls: &[Call]) -> (BTreeSet<BTreeMap<PathBuf, Vec<u8>>>, u64) {
    let (mut all, mut count) = (BTreeSet::new(), 0);
    for end in 0..=calls.len() {
        let pending = pending(&calls[..end]);
        for lost in losses(pending.len()) {
            let mut world = before.clone();
            for (i, call) in calls[..end].iter().enumerate() {
                let place = pending.iter().position(|at| *at == i);
                if place.is_none_or(|place| !lost[place]) {
                    world.apply(call);
                }
            }
            count += 1;
            all.insert(world.visible());
        }
    }
    (all, count)
}

#[test]
fn lost_power_leaves_the_new_result_or_the_old_one_whole() {
    let _alone = alone();
    for case in CASES {
        let folder = prepare(case);
        let before = seen(folder.path(), case);
        let mut world = World::of(&folder.path().join("out"));
        let done = trace::of(|| run(folder.path(), case).unwrap());
        let placed = done.iter().filter(|done| matches!(done, Done::Place(..))).count();
        // Fingerprints are written into headers at their positions.
        assert!(placed > 0 || !case.is_tiled(), "{case:?}");
        let calls = numbered(&mut world, done);
        let after = seen(folder.path(), case);
        let (mut old, mut new) = (0, 0);
        let (worlds, count) = worlds(&world, &calls);
        // Without losses, the replay equals the run.
        let mut whole = world.clone();
        calls.iter().for_each(|call| whole.apply(call));
        assert_eq!(whole.visible(), World::of(&folder.path().join("out")).visible());
        let out = folder.path().join("out");
        for world in &worlds {
            fs::remove_dir_all(&out).unwrap();
            fs::create_dir(&out).unwrap();
            for (path, bytes) in world {
                fs::write(out.join(path.file_name().unwrap()), bytes).unwrap();
            }
            let found = seen(folder.path(), case);
            assert!(found == before || found == after, "{case:?}: {found:?} in {world:?}");
            match found == after {
                true => new += 1,
                false => old += 1,
            }
        }
        println!(
            "{case:?}: {} calls, {placed} of them at places, {count} losses, {} states: {old} as before, {new} new",
            calls.len(),
            worlds.len()
        );
        assert!(old > 0 && new > 0);
    }
}

/// The replay detects a rename before the sync.
#[test]
fn a_name_before_its_bytes_is_found() {
    let (out, temporary) = (PathBuf::from("out"), PathBuf::from("temporary"));
    let mut world = World { names: [(out.clone(), 0)].into(), files: vec![b"old".to_vec()] };
    let done = |early: bool| {
        let mut done = vec![
            Done::Create(temporary.clone()),
            Done::Write(temporary.clone(), b"new".to_vec()),
            Done::Sync(temporary.clone()),
        ];
        let rename = Done::Rename(temporary.clone(), out.clone());
        match early {
            true => {
                done.insert(2, rename);
                done[3] = Done::Sync(out.clone());
            }
            false => done.push(rename),
        }
        done.push(Done::SyncFolder(PathBuf::new()));
        done
    };
    for early in [false, true] {
        let calls = numbered(&mut world, done(early));
        let (worlds, count) = worlds(&world, &calls);
        let whole = |world: &BTreeMap<PathBuf, Vec<u8>>| {
            world.get(&out).is_some_and(|bytes| bytes == b"old" || bytes == b"new")
        };
        assert_eq!(worlds.iter().all(whole), !early);
        assert!(count > 10);
    }
}
