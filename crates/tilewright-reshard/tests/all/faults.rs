//! A run ends, or a call fails, at each call that changes a folder or syncs bytes to the disk. Afterwards the result is
//! complete or the previous one, and the same run completes it.

use std::{
    env, fs,
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tempfile::TempDir;
use tilewright_files::{
    Watch,
    disk::fault::{self, Fault},
};
use tilewright_reshard::{Error, Job, Request, Rules};

use crate::common::{file, names, read};

/// The exit code of a process that a fault ended.
const KILLED: i32 = 77;

const CALL: &str = "TILEWRIGHT_FAULT_CALL";
const FOLDER: &str = "TILEWRIGHT_FAULT_FOLDER";
const CASE: &str = "TILEWRIGHT_FAULT_CASE";

/// Held by each test, because a child process that is starting briefly holds the locks of this one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// All tasks in one process, without an existing result.
    New,
    /// All tasks in one process that replaces a checkpoint, with verification.
    Over,
    /// Two shares of a plan, and the process that finishes it.
    Shares,
    /// A result that is one GGUF file.
    File,
    /// Such a result that replaces a file.
    FileOver,
}

pub(crate) const CASES: [Case; 5] =
    [Case::New, Case::Over, Case::Shares, Case::File, Case::FileOver];

impl Case {
    /// Returns the distance between the calls at which a run ends or fails: 1; or 2 for cases whose calls are of the same kinds as
    /// those of others.
    fn step(self) -> usize {
        if matches!(self, Case::Shares | Case::FileOver) {
            tilewright_testing::cases(1, 2)
        } else {
            1
        }
    }

    fn is_file(self) -> bool {
        matches!(self, Case::File | Case::FileOver)
    }

    /// Returns the name of the result.
    fn out(self) -> &'static str {
        if self.is_file() { "out.gguf" } else { "out" }
    }
}

/// A file with metadata for results in GGUF.
fn model() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/tiny_quantised.gguf")
}

pub(crate) fn prepare(case: Case) -> TempDir {
    let folder = tilewright_testing::folder();
    for rank in 0..2u8 {
        let own: Vec<u8> = (0..6).map(|n| n + 10 * rank).collect();
        let tensors = [("norm", "U8", vec![2], vec![7, 8]), ("w", "U8", vec![2, 3], own)];
        file(&folder.path().join(format!("in/rank_{rank}.safetensors")), &tensors, &[]);
    }
    fs::write(folder.path().join("in/config.json"), "{}").unwrap();
    if case == Case::Over {
        let old = [("w", "U8", vec![2], vec![90, 91])];
        file(&folder.path().join("out/model.safetensors"), &old, &[]);
    }
    if case == Case::FileOver {
        fs::copy(model(), folder.path().join(case.out())).unwrap();
    }
    folder
}

fn job(folder: &Path, case: Case) -> Result<Job, Error> {
    let rules = Rules::new("tp=2")?.rule("norm", "P()")?.rule("*", "[Shard(0)]")?;
    let request = Request::new(folder.join("in"), folder.join(case.out())).from(rules);
    let request = match case.is_file() {
        true => request.metadata(model()),
        false => request.shard_size(8),
    };
    let over = matches!(case, Case::Over | Case::FileOver);
    Job::prepare(request.force(over).verify(over))
}

pub(crate) fn run(folder: &Path, case: Case) -> Result<(), Error> {
    let job = job(folder, case)?;
    if case != Case::Shares {
        return job.run_all(&()).map(drop);
    }
    job.run(job.share(0, 2), "rank-0", &())?;
    job.run(job.share(1, 2), "rank-1", &())?;
    job.finish()
}

pub(crate) type Seen = Option<(Vec<String>, Vec<(String, Vec<u8>)>)>;

/// Returns a reader's view: the names of the files, and the tensors.
fn seen(folder: &Path, case: Case) -> Seen {
    let out = folder.join(case.out());
    let files = out.exists().then(|| if case.is_file() { Vec::new() } else { names(&out) })?;
    let tensors = read(&out).into_iter().map(|(name, (_, _, bytes))| (name, bytes));
    Some((files, tensors.collect()))
}

/// Returns the states before and after a run of the case, and the number of its calls.
pub(crate) fn states(case: Case) -> (Seen, Seen, u64) {
    let folder = prepare(case);
    let before = seen(folder.path(), case);
    fault::none();
    run(folder.path(), case).unwrap();
    let calls = fault::none();
    let after = seen(folder.path(), case);
    assert_eq!(names(folder.path()), ["in", case.out()]);
    let files = if case.is_file() { 0 } else { 4 };
    assert_eq!(after.as_ref().unwrap().0.len(), files, "{after:?}");
    assert!(before != after);
    (before, after, calls)
}

/// Checks that between two renames nothing has the name, that the next run completes any remains, and that no other
/// files are left.
pub(crate) fn check(folder: &Path, case: Case, states: (&Seen, &Seen), what: &str) {
    let (before, after) = states;
    let is = seen(folder, case);
    assert!(is == *before || is == *after || case == Case::Over && is.is_none(), "{what}: {is:?}");
    match run(folder, case) {
        Ok(()) => {}
        Err(error) => assert!(is == *after && error.kind() == "exists", "{what}: {error}"),
    }
    assert_eq!(seen(folder, case), *after, "{what}");
    assert_eq!(names(folder), ["in", case.out()], "{what}");
}

/// Not a test: the body of a process that a fault ends.
#[test]
fn child() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let number = |name| env::var(name).unwrap().parse::<usize>().unwrap();
    fault::after(number(CALL) as u64, Fault::Exit(KILLED));
    run(Path::new(&folder), CASES[number(CASE)]).unwrap();
}

#[test]
fn a_killed_run_leaves_the_result_whole_or_absent_and_the_next_one_completes_it() {
    let _alone = alone();
    for (number, case) in CASES.into_iter().enumerate() {
        let (before, after, calls) = states(case);
        for call in (0..calls).step_by(case.step()) {
            let folder = prepare(case);
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["faults::child", "--exact", "--test-threads=1", "-q"]);
            child.env(CALL, call.to_string()).env(CASE, number.to_string());
            let status = child.env(FOLDER, folder.path()).output().unwrap().status;
            let what = format!("{case:?} killed at call {call} of {calls}");
            assert_eq!(status.code(), Some(KILLED), "{what}");
            check(folder.path(), case, (&before, &after), &what);
        }
        println!("{case:?}: killed at {calls} calls");
    }
}

#[test]
fn a_failing_call_is_an_error_and_the_next_run_completes_the_result() {
    let _alone = alone();
    for (number, case) in CASES.into_iter().enumerate() {
        let (before, after, calls) = states(case);
        // Each call fails alone and with all that follow; or in one of these ways, which alternate over calls and cases.
        let ways = |call: u64| {
            let way = (call as usize / case.step() + number) % 2;
            tilewright_testing::cases(&[0, u64::MAX][..], &[[0], [u64::MAX]][way])
        };
        for (call, more) in (0..calls)
            .step_by(case.step())
            .flat_map(|call| ways(call).iter().map(move |more| (call, *more)))
        {
            let folder = prepare(case);
            fault::after(call, Fault::Fail { more });
            let outcome = run(folder.path(), case);
            fault::none();
            let what = format!("{case:?}, call {call} of {calls} and {more} more");
            match outcome {
                // Files to be removed may remain for the next run.
                Ok(()) => assert_eq!(seen(folder.path(), case), after, "{what}"),
                Err(error) => {
                    assert!(error.to_string().contains("a fault of the test"), "{what}: {error}");
                }
            }
            check(folder.path(), case, (&before, &after), &what);
        }
    }
}

/// The number of ranks that are killed in turn.
const RANKS: u64 = 3;

const RANK: &str = "TILEWRIGHT_FAULT_RANK";

/// Returns a job of ranks: a tensor whose tasks are promised in several lines by each rank.
fn ranked(folder: &Path) -> Job {
    let rules = Rules::new("tp=2").unwrap().rule("*", "[Shard(1)]").unwrap();
    let request = Request::new(folder.join("in.safetensors"), folder.join("out")).to(rules);
    Job::prepare(request.memory(64 << 10)).unwrap()
}

/// Not a test: the body of one rank, which a fault ends.
#[test]
fn child_rank() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let number = |name| env::var(name).unwrap().parse::<u64>().unwrap();
    let (job, rank) = (ranked(Path::new(&folder)), number(RANK));
    fault::after(number(CALL), Fault::Exit(KILLED));
    job.run(job.share(rank, RANKS), &format!("rank-{rank}"), &()).unwrap();
}

/// Ranks are killed a hundred times in one run, each time at another call. No promised task is lost, the result is absent, and the
/// ranks complete it.
#[test]
fn a_hundred_kills_of_ranks_leave_a_run_that_completes() {
    let _alone = alone();
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let bytes: Vec<u8> = (0..12u32 << 20).map(|i| (i * 7 / 5) as u8).collect();
    file(&at("in.safetensors"), &[("w", "U8", vec![3 << 10, 4 << 10], bytes.clone())], &[]);
    let job = ranked(folder.path());
    let (tasks, mut left, mut kills) = (job.tasks(), job.tasks(), 0);
    for turn in 0u64.. {
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["faults::child_rank", "--exact", "--test-threads=1", "-q"]);
        // Every other run ends before it promises anything; the longest of the others promise a few lines.
        let call = if turn % 2 == 0 { turn / 2 % 4 } else { 4 + turn * 7 % 120 };
        child.env(CALL, call.to_string()).env(RANK, (turn % RANKS).to_string());
        let status = child.env(FOLDER, folder.path()).output().unwrap().status;
        assert!(matches!(status.code(), Some(0 | KILLED)), "turn {turn}: {status}");
        kills += u64::from(status.code() == Some(KILLED));
        assert!(!at("out").exists(), "turn {turn}");
        let missing = job.missing().unwrap().len() as u64;
        assert!(
            missing <= left,
            "turn {turn}: {missing} tasks are missing, and before {left} were"
        );
        left = missing;
        if kills == 100 {
            break;
        }
    }
    assert!(left < tasks, "{left} of {tasks}");
    println!("killed {kills} times: {left} of {tasks} tasks are left");
    for rank in 0..RANKS {
        job.run(job.share(rank, RANKS), &format!("rank-{rank}"), &()).unwrap();
    }
    job.finish().unwrap();
    assert_eq!(names(folder.path()), ["in.safetensors", "out"]);
    let rules = Rules::new("tp=2").unwrap().rule("*", "[Shard(1)]").unwrap();
    Job::prepare(Request::new(at("out"), at("back")).from(rules)).unwrap().run_all(&()).unwrap();
    assert!(read(&at("back"))["w"].2 == bytes);
}

/// One rank runs its whole share at each call of the other; neither disturbs the other.
#[test]
fn ranks_that_run_at_once_complete_the_result() {
    let _alone = alone();
    let mut calls = 0;
    for case in [Case::New, Case::Over] {
        let (_, after, _) = states(case);
        let folder = prepare(case);
        let counted = job(folder.path(), case).unwrap();
        counted.run(counted.share(0, 2), "rank-0", &()).unwrap();
        // The last call removes the claim, which is no longer shared then.
        let last = fault::none() - 1;
        for call in 0..last {
            let folder = prepare(case);
            let job = Arc::new(job(folder.path(), case).unwrap());
            let other = job.clone();
            fault::meanwhile(call, move || {
                let run = move || other.run(other.share(1, 2), "rank-1", &());
                assert_eq!(thread::spawn(run).join().unwrap().unwrap(), 1, "call {call}");
            });
            let done = job.run(job.share(0, 2), "rank-0", &());
            assert_eq!(done.unwrap(), 1, "{case:?}, call {call} of {last}");
            job.finish().unwrap();
            fault::none();
            assert_eq!(seen(folder.path(), case), after, "{case:?}, call {call}");
            assert_eq!(names(folder.path()), ["in", case.out()]);
            calls += 1;
        }
    }
    assert!(calls > 20, "{calls}");
}

/// A fault of one thread of a run: of the thread that first reports its total, after a number of its calls.
struct OfOne {
    call: u64,
    fault: Fault,
    is_set: AtomicBool,
    /// The thread that starts the others. It makes its own calls after they have ended.
    starts: thread::ThreadId,
}

impl OfOne {
    fn new(call: u64, fault: Fault) -> OfOne {
        let starts = thread::current().id();
        OfOne { call, fault, is_set: AtomicBool::new(false), starts }
    }
}

impl Watch for OfOne {
    fn total(&self, _: u64) {
        let is_other = thread::current().id() != self.starts;
        if is_other && !self.is_set.swap(true, Ordering::Relaxed) {
            fault::after(self.call, self.fault);
        }
    }
}

fn run_threads(folder: &Path, watch: &OfOne) -> Result<(), Error> {
    job(folder, Case::New)?.run_all_threads(2, watch).map(drop)
}

/// Not a test: the body of a process of two threads, one of which has a fault.
#[test]
fn child_of_threads() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let call = env::var(CALL).unwrap().parse().unwrap();
    run_threads(Path::new(&folder), &OfOne::new(call, Fault::Exit(KILLED))).unwrap();
}

/// Each call of one thread fails, or ends the process, while the other thread is anywhere.
#[test]
fn a_fault_of_one_of_several_threads_leaves_the_result_whole_or_absent() {
    let _alone = alone();
    let (before, after, _) = states(Case::New);
    let mut calls = 0;
    loop {
        let what = format!("call {calls} of a thread");
        let folder = prepare(Case::New);
        let failed = run_threads(folder.path(), &OfOne::new(calls, Fault::Fail { more: 0 }));
        if let Err(error) = &failed {
            assert!(error.to_string().contains("a fault of the test"), "{what}: {error}");
            assert!(seen(folder.path(), Case::New).is_none(), "{what}");
        }
        check(folder.path(), Case::New, (&before, &after), &what);
        let folder = prepare(Case::New);
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["faults::child_of_threads", "--exact", "--test-threads=1", "-q"]);
        child.env(CALL, calls.to_string()).env(FOLDER, folder.path());
        let status = child.output().unwrap().status;
        // A thread that creates its journal second makes one more call, so one of the two may have no call left.
        assert!(matches!(status.code(), Some(0 | KILLED)), "{what}: {status}");
        check(folder.path(), Case::New, (&before, &after), &what);
        if failed.is_ok() && status.success() {
            break;
        }
        calls += 1;
    }
    assert!(calls > 4, "{calls}");
}
