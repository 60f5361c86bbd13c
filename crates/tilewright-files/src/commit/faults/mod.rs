//! Tests in which a run ends, or a call fails, at each call that changes a folder or syncs a file. Afterwards either the result
//! or the previous state is whole, and the next run removes the files that the last one left.

mod losses;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::TempDir;
use tilewright_core::Dtype;
use tilewright_notation::Spec;
use tilewright_recipe::{Assembly, Digit, Made, Origin, Part};

use crate::{
    Assembling, Conversion, Error, Packaging, Reading, Report, Request, Tensor, Writer,
    commit::disk::fault::{self, Fault},
    layout::note_file,
    open,
    open::source::Source,
};

/// The exit code of a process that a fault ended.
const KILLED: i32 = 77;

/// The environment variables that tell a child process the call that ends it, and its folder.
const CALL: &str = "TILEWRIGHT_FAULT_CALL";
const FOLDER: &str = "TILEWRIGHT_FAULT_FOLDER";
const CASE: &str = "TILEWRIGHT_FAULT_CASE";

/// Held by each test: a process that is being started briefly holds the locks of this one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A new checkpoint.
    NewSet,
    /// A checkpoint over another, of which one file has another name.
    OldSet,
    /// A checkpoint over one that a forced run made.
    MarkedSet,
    /// A new array.
    NewFile,
    /// One array over another.
    OldFile,
    /// A new array with a note beside it.
    NewNote,
    /// One array with a note beside it over another with its own.
    OldNote,
    /// An array that needs no note, over one with a note.
    NoNote,
    /// A new array with a note beside it, written in tiles.
    NewTiles,
    /// An array with a note beside it, written in tiles, over another.
    OldTiles,
    /// A new file of arrays in memory.
    NewArrays,
    /// Arrays in memory over another file.
    OldArrays,
    /// A new result of a recipe.
    NewRecipe,
    /// A result of a recipe over another file.
    OldRecipe,
    /// A folder with a checkpoint and another file.
    NewFolder,
}

pub(crate) const CASES: [Case; 14] = [
    Case::NewSet,
    Case::OldSet,
    Case::MarkedSet,
    Case::NewFile,
    Case::OldFile,
    Case::NewNote,
    Case::OldNote,
    Case::NoNote,
    Case::NewTiles,
    Case::OldTiles,
    Case::NewArrays,
    Case::OldArrays,
    Case::NewRecipe,
    Case::OldRecipe,
];

/// These cases and a folder, which one rename commits.
const ALL: [Case; 15] = {
    let mut all = [Case::NewFolder; 15];
    let mut i = 0;
    while i < CASES.len() {
        all[i] = CASES[i];
        i += 1;
    }
    all
};

impl Case {
    fn is_set(self) -> bool {
        matches!(self, Case::NewSet | Case::OldSet | Case::MarkedSet | Case::NewFolder)
    }

    fn force(self) -> bool {
        let old = [Case::OldSet, Case::MarkedSet, Case::OldFile, Case::OldNote, Case::NoNote];
        old.contains(&self) || matches!(self, Case::OldTiles | Case::OldArrays | Case::OldRecipe)
    }

    fn file(self) -> &'static str {
        match self {
            Case::NewFolder => "m",
            _ if self.is_set() => "m.safetensors.index.json",
            _ if self.is_in_memory() => "a.npz",
            _ if self.is_recipe() => "r.safetensors",
            _ => "a.npy",
        }
    }

    fn to(self) -> &'static str {
        match self {
            Case::NewNote | Case::OldNote => "{0,1:T(2,2)}",
            _ if self.is_tiled() => "{2,0,1}",
            _ => "col-major",
        }
    }

    /// Returns whether the result is written in tiles, at their positions in the file.
    pub(crate) fn is_tiled(self) -> bool {
        matches!(self, Case::NewTiles | Case::OldTiles)
    }

    /// Returns whether a recipe makes the result.
    fn is_recipe(self) -> bool {
        matches!(self, Case::NewRecipe | Case::OldRecipe)
    }

    /// Returns whether the arrays are in memory.
    fn is_in_memory(self) -> bool {
        matches!(self, Case::NewArrays | Case::OldArrays)
    }

    /// Returns the shape of an array of bytes; an array in tiles does not fit into memory.
    fn shape(self) -> &'static [u64] {
        if self.is_tiled() { &[16, 16, 100] } else { &[2, 6] }
    }
}

fn safetensors(name: &str, seed: u8) -> Vec<u8> {
    let header = format!(r#"{{"{name}":{{"dtype":"U8","shape":[2,6],"data_offsets":[0,12]}}}}"#);
    let data = (0..12).map(|i| seed + i);
    (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data).collect()
}

/// Creates a checkpoint of two shards of these names, or an array; `seed` distinguishes them.
fn make(folder: &Path, case: Case, shards: [&str; 2], seed: u8) {
    fs::create_dir_all(folder).unwrap();
    if case.is_in_memory() {
        return write(&folder.join(case.file()), seed, Request::new()).map(drop).unwrap();
    }
    if case.is_recipe() {
        return fs::write(folder.join(case.file()), safetensors("a", seed)).unwrap();
    }
    if !case.is_set() {
        let mut bytes = crate::container::npy::header_bytes("|u1", false, case.shape());
        let len = case.shape().iter().product::<u64>();
        bytes.extend((0..len).map(|i| (i / 251 + i) as u8 ^ seed));
        return fs::write(folder.join(case.file()), bytes).unwrap();
    }
    let [a, b] = shards;
    fs::write(folder.join(a), safetensors("a", seed)).unwrap();
    fs::write(folder.join(b), safetensors("b", seed + 100)).unwrap();
    let index = format!(r#"{{"weight_map":{{"a":"{a}","b":"{b}"}}}}"#);
    if case == Case::NewFolder {
        fs::write(folder.join("config.json"), "{}").unwrap();
        return fs::write(folder.join("m.safetensors.index.json"), index).unwrap();
    }
    fs::write(folder.join(case.file()), index).unwrap();
}

/// Writes two arrays in memory.
fn write(out: &Path, seed: u8, request: Request) -> Result<Report, Error> {
    let named = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap();
    let [a, b] = [[seed; 12], [seed + 100; 12]];
    let writer = Writer::new(request).array("a", &named("u8[2,6] row-major"), &a)?;
    writer.array("b", &named("u8[3,4] row-major"), &b)?.write(out, &())
}

/// Creates the input and, if the case has one, the old result.
pub(crate) fn prepare(case: Case) -> TempDir {
    let folder = tilewright_testing::folder();
    let (input, out) = (folder.path().join("in"), folder.path().join("out"));
    make(&input, case, ["1.safetensors", "2.safetensors"], 1);
    fs::create_dir(&out).unwrap();
    match case {
        Case::NewSet | Case::NewFile | Case::NewNote => {}
        Case::NewTiles | Case::NewArrays | Case::NewFolder | Case::NewRecipe => {}
        Case::OldNote | Case::NoNote => {
            make(&folder.path().join("old"), case, ["", ""], 50);
            let old = open(folder.path().join("old").join(case.file()), &Reading::default());
            let request = Request::new().to(Spec::parse("{1,0:T(2,4)}").unwrap());
            let (old, path) = (old.unwrap(), out.join(case.file()));
            Conversion::prepare(&old, path, request).unwrap().run(&()).unwrap();
        }
        Case::OldSet => make(&out, case, ["1.safetensors", "other.safetensors"], 50),
        Case::MarkedSet => {
            let marked = ["1.tilewright-0123456789abcdef.safetensors", "2.safetensors"];
            make(&out, case, marked, 50);
        }
        Case::OldFile | Case::OldTiles | Case::OldArrays | Case::OldRecipe => {
            make(&out, case, ["", ""], 50);
        }
    }
    folder
}

pub(crate) fn run(folder: &Path, case: Case) -> Result<Report, Error> {
    let request = Request::new().to(Spec::parse(case.to()).unwrap()).force(case.force());
    let (request, out) = (request.memory(4096), folder.join("out").join(case.file()));
    if case.is_in_memory() {
        return write(&out, 1, request);
    }
    let path = match case {
        Case::NewFolder => folder.join("in"),
        _ => folder.join("in").join(case.file()),
    };
    let input = open(path, &Reading::default())?;
    if case.is_recipe() {
        let request = Request::new().force(case.force()).memory(4096).verify(true);
        let packaging = Packaging::default();
        return Assembling::prepare(&input, &turned(), out, request, &packaging)?.run(&());
    }
    Conversion::prepare(&input, out, request)?.run(&())
}

/// Returns the transpose of the first tensor, behind a row of a constant.
fn turned() -> Assembly {
    let digit = |extent, source, made| Digit { extent, source, made };
    let source = Origin::Source { tensor: 0, offset: 0 };
    let parts = vec![
        Part { origin: Origin::Fill(9), offset: 0, digits: vec![digit(2, 0, 1)] },
        Part { origin: source, offset: 2, digits: vec![digit(6, 1, 2), digit(2, 6, 1)] },
    ];
    let (name, dtype, extents) = ("t".into(), Dtype::U8, vec![7, 2]);
    let made = Made { name, dtype, extents, layout: None, parts };
    Assembly { made: vec![made], ..Assembly::default() }
}

/// The result as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    Tensors(Vec<(String, String, Vec<u8>)>),
}

pub(crate) fn seen(folder: &Path, case: Case) -> Seen {
    let out = folder.join("out").join(case.file());
    if !out.exists() {
        return Seen::Nothing;
    }
    if case == Case::NewFolder {
        assert_eq!(fs::read(out.join("config.json")).unwrap(), b"{}");
        let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.collect();
        assert_eq!(names.len(), 4, "{names:?}");
    }
    let input = open(&out, &Reading::default()).unwrap();
    let bytes = |tensor| input.bytes(tensor, 1 << 20).unwrap();
    let layout = |tensor: &Tensor| format!("{} {:?}", tensor.layout().to_spec(), tensor.recorded());
    Seen::Tensors(
        input.tensors().iter().map(|it| (it.name().into(), layout(it), bytes(it))).collect(),
    )
}

/// Returns all paths beside the result that are not part of it.
fn rest(folder: &Path, case: Case) -> Vec<PathBuf> {
    let mut own = vec![folder.join("out").join(case.file())];
    // A note is part of the result that it describes.
    let is_noted =
        |path: &Path| !note_file::of(&Source::open(path).unwrap(), &()).unwrap().texts.is_empty();
    if !case.is_set() && own[0].exists() && is_noted(&own[0]) {
        own.push(note_file::path_of(&own[0]));
    }
    if case.is_set() && case != Case::NewFolder && own[0].exists() {
        let input = open(&own[0], &Reading::default()).unwrap();
        own.extend(input.files().map(Path::to_path_buf));
    }
    let entries = fs::read_dir(folder.join("out")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| !own.contains(path)).collect()
}

/// Returns the states before and after a run of the case, and the number of its calls.
fn states(case: Case) -> (Seen, Seen, u64) {
    let folder = prepare(case);
    let before = seen(folder.path(), case);
    fault::none();
    run(folder.path(), case).unwrap();
    let calls = fault::none();
    let after = seen(folder.path(), case);
    assert!(before != after && rest(folder.path(), case).is_empty(), "{case:?}");
    (before, after, calls)
}

/// Checks that the next run completes the work of any run, and that no other files remain.
fn check_next(folder: &Path, case: Case, after: &Seen, what: &str) {
    let done = seen(folder, case) == *after;
    let next = run(folder, case);
    match next {
        Ok(_) => {}
        Err(error) if done && !case.force() => assert_eq!(error.kind(), "exists", "{what}"),
        Err(error) => panic!("{what}: {error}"),
    }
    assert_eq!(seen(folder, case), *after, "{what}");
    assert_eq!(rest(folder, case), Vec::<PathBuf>::new(), "{what}");
}

/// Not a test itself: the work of a child process that a fault ends.
#[test]
fn child() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let number = |name| env::var(name).unwrap().parse::<usize>().unwrap();
    fault::after(number(CALL) as u64, Fault::Exit(KILLED));
    run(Path::new(&folder), ALL[number(CASE)]).unwrap();
}

#[test]
fn a_killed_run_leaves_the_new_result_or_the_old_one_whole() {
    let _alone = alone();
    for (number, case) in ALL.into_iter().enumerate() {
        let (before, after, calls) = states(case);
        let (mut old, mut new) = (0, 0);
        // Every call of every other case; and of the rest, which make the same kinds of calls, every call or every other one.
        let step = if number % 2 == 0 { 1 } else { tilewright_testing::cases(1, 2) };
        for call in (0..calls).step_by(step) {
            let folder = prepare(case);
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["commit::faults::child", "--exact", "--test-threads=1", "-q"]);
            child.env(CALL, call.to_string()).env(CASE, number.to_string());
            let status = child.env(FOLDER, folder.path()).output().unwrap().status;
            let what = format!("{case:?} killed at call {call} of {calls}");
            assert_eq!(status.code(), Some(KILLED), "{what}");
            match seen(folder.path(), case) {
                it if it == after => new += 1,
                it => {
                    assert_eq!(it, before, "{what}");
                    // The old result is never found after the new one.
                    assert_eq!(new, 0, "{what}");
                    old += 1;
                }
            }
            check_next(folder.path(), case, &after, &what);
        }
        println!("{case:?}: killed at {calls} calls: {old} times as before, {new} times new");
        assert!(old > 0 && new > 0);
    }
}

#[test]
fn a_failing_call_is_an_error_and_leaves_the_new_result_or_the_old_one_whole() {
    let _alone = alone();
    for (number, case) in ALL.into_iter().enumerate() {
        let (before, after, calls) = states(case);
        // Each call fails alone and with all that follow; or in one of these ways, which alternate over calls and cases.
        let ways = |call: u64| {
            let way = (call as usize + number) % 2;
            tilewright_testing::cases(&[0, u64::MAX][..], &[[0], [u64::MAX]][way])
        };
        for (call, more) in
            (0..calls).flat_map(|call| ways(call).iter().map(move |more| (call, *more)))
        {
            let folder = prepare(case);
            fault::after(call, Fault::Fail { more });
            let outcome = run(folder.path(), case);
            fault::none();
            let what = format!("{case:?}, call {call} of {calls} and {more} more");
            let is = seen(folder.path(), case);
            match outcome {
                // A call that can be replaced by another way, or by the next run, does not cause an error.
                Ok(_) => assert_eq!(is, after, "{what}"),
                Err(error) => {
                    assert!(
                        error.is_io() && error.to_string().contains("a fault"),
                        "{what}: {error}"
                    );
                    assert!(is == before || is == after, "{what}: {is:?}");
                    let rest = rest(folder.path(), case);
                    assert!(more > 0 || is == after || rest.is_empty(), "{what}: {rest:?}");
                }
            }
            check_next(folder.path(), case, &after, &what);
        }
    }
}

#[test]
fn files_that_another_index_names_stay() {
    let _alone = alone();
    let folder = prepare(Case::OldSet);
    let out = folder.path().join("out");
    let other = r#"{"weight_map":{"b":"other.safetensors"}}"#;
    fs::write(out.join("other.safetensors.index.json"), other).unwrap();
    run(folder.path(), Case::OldSet).unwrap();
    assert!(open(out.join("other.safetensors.index.json"), &Reading::default()).is_ok());
    assert!(!out.join("1.safetensors").exists());
    // The next run finds the usual names free again.
    run(folder.path(), Case::OldSet).unwrap();
    assert!(out.join("1.safetensors").exists() && out.join("2.safetensors").exists());
}

#[test]
fn a_journal_never_takes_what_an_index_names_or_what_is_another_file() {
    let _alone = alone();
    // The run fails at a call at which a shard has its name and the index does not.
    let mut tried = 0;
    for call in (0..states(Case::NewSet).2).step_by(tilewright_testing::cases(1, 2)) {
        let folder = prepare(Case::NewSet);
        fault::after(call, Fault::Fail { more: u64::MAX });
        let outcome = run(folder.path(), Case::NewSet);
        fault::none();
        let shard = folder.path().join("out/1.safetensors");
        if outcome.is_ok() || !shard.exists() {
            continue;
        }
        tried += 1;
        // Another process writes another file there meanwhile, or an index that names it.
        fs::remove_file(&shard).unwrap();
        fs::write(&shard, "precious").unwrap();
        let index = folder.path().join("out").join(Case::NewSet.file());
        fs::write(&index, r#"{"weight_map":{"b":"2.safetensors"}}"#).unwrap();
        let two = folder.path().join("out/2.safetensors").exists();
        assert_eq!(run(folder.path(), Case::NewSet).unwrap_err().kind(), "exists");
        assert_eq!(fs::read(&shard).unwrap(), b"precious");
        assert_eq!(folder.path().join("out/2.safetensors").exists(), two);
    }
    assert!(tried > 0);
}
