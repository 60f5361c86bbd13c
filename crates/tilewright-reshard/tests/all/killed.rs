//! Processes that are killed at any time: the result is absent until it is complete, and a rerun completes it.

use std::{
    env,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::common::{Tensors, read, write};
use tilewright_reshard::{Job, Request, Rules};

/// The environment variable with the plan of a process that will be killed.
const PLAN: &str = "RESHARD_TEST_PLAN";

/// The environment variable with its number of threads.
const THREADS: &str = "RESHARD_TEST_THREADS";

/// The body of a process that is killed: one rank's share of a plan and the end of the job, or both in several threads.
#[test]
fn child() {
    let Some(plan) = env::var_os(PLAN) else { return };
    let job = Job::of_plan(plan.as_ref()).unwrap();
    let threads = env::var(THREADS).unwrap().parse().unwrap();
    if threads > 1 {
        job.run_all_threads(threads, &()).unwrap();
        return;
    }
    job.run(0..job.tasks(), "child", &()).unwrap();
    job.finish().unwrap();
}

#[test]
fn a_killed_run_leaves_nothing_half_done() {
    kill_until_whole(1);
}

#[test]
fn a_killed_run_of_threads_leaves_nothing_half_done() {
    kill_until_whole(3);
}

/// Kills runs at increasing times until one completes. A box has several parts.
fn kill_until_whole(threads: usize) {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let bytes = |seed: u64| (0..1_000_000u64).map(|i| (i * 31 / 7 + seed) as u8).collect();
    let tensor = |seed| ("BF16".to_owned(), vec![1000, 500], bytes(seed));
    let whole: Tensors = (0..4).map(|n| (format!("w{n}"), tensor(n))).collect();
    write(&at("in.safetensors"), &whole, &[]);
    let rules = Rules::new("tp=3").unwrap().rule("*", "[Shard(1)]").unwrap();
    let request = Request::new(at("in.safetensors"), at("out")).to(rules.clone());
    let job = Job::prepare(request.memory(64 << 10).part(1 << 10)).unwrap();
    job.write_plan(&at("plan")).unwrap();
    let (mut kills, mut left) = (0, job.tasks());
    for round in 0u64.. {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "killed::child"])
            .env(PLAN, at("plan"))
            .env(THREADS, threads.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Later rounds are longer, so that a slow machine completes too.
        sleep(Duration::from_micros(500 + round % 40 * 2500 + round / 40 * 50_000));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        kills += u32::from(!ended);
        if at("out").exists() {
            break;
        }
        let missing = job.missing().unwrap().len() as u64;
        assert!(missing <= left, "{missing} tasks are missing, and before {left} were");
        left = missing;
    }
    assert!(kills > 0);
    let back = Request::new(at("out"), at("back")).from(rules);
    Job::prepare(back).unwrap().run_all(&()).unwrap();
    assert!(read(&at("back")) == whole);
}

/// Ranks in any order, twice and at once: no task depends on another.
#[test]
fn ranks_share_a_plan() {
    let folder = tilewright_testing::folder();
    let at = |name: &str| folder.path().join(name);
    let bytes: Vec<u8> = (0..90_000u32).map(|i| (i / 3) as u8).collect();
    let whole: Tensors = [("w".to_owned(), ("U8".to_owned(), vec![300, 300], bytes))].into();
    write(&at("in.safetensors"), &whole, &[]);
    let job = Job::prepare(Request::new(at("in.safetensors"), at("out")).memory(64 << 10)).unwrap();
    std::thread::scope(|scope| {
        for rank in [2, 0, 1, 2] {
            let job = &job;
            scope.spawn(move || job.run(job.share(rank, 3), &format!("rank-{rank}"), &()).unwrap());
        }
    });
    assert!(job.missing().unwrap().is_empty());
    job.finish().unwrap();
    assert_eq!(read(&at("out")), whole);
}
