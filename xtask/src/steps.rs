//! Steps in order: announced, timed, and left out where a tool is missing. Tools that steps need in addition to Rust
//! are found or fetched here.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    shell::{self, Outcome, command, works},
    web,
};

/// The steps of a run, in one sequence or in two at the same time.
pub(crate) struct Steps {
    root: PathBuf,
    began: Instant,
    done: Mutex<Done>,
}

/// The results of the steps that have ended.
#[derive(Default)]
struct Done {
    took: Vec<(&'static str, Duration)>,
    /// Steps that failed, and their messages, the first first.
    failed: Vec<(&'static str, String)>,
    /// Steps that were not run, and why.
    left_out: Vec<(&'static str, String)>,
}

impl Steps {
    pub(crate) fn new(root: &Path) -> Steps {
        Steps { root: root.to_owned(), began: Instant::now(), done: Mutex::default() }
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces `name`, does it, and says how long it took. Nothing more is begun once a step has failed.
    pub(crate) fn step(&self, name: &'static str, work: impl FnOnce() -> Outcome) -> Outcome {
        if let Some((failed, _)) = self.done().failed.first() {
            return Err(format!("{name}: not begun, since {failed} failed"));
        }
        shell::say(&format!("\n==> {name}"));
        let began = Instant::now();
        let outcome = work().map_err(|message| format!("{name}: {message}"));
        let took = began.elapsed();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("    {name}: {word} in {:.1} s", took.as_secs_f64());
        let mut done = self.done();
        done.took.push((name, took));
        if let Err(message) = &outcome {
            done.failed.push((name, message.clone()));
        }
        outcome
    }

    /// Does a step that needs some tools. It is left out where one is missing and cannot be fetched.
    pub(crate) fn step_with(
        &self,
        tools: &[Tool],
        name: &'static str,
        work: impl FnOnce() -> Outcome,
    ) -> Outcome {
        match Tool::missing(tools, &self.root) {
            None => self.step(name, work),
            Some(why) => {
                println!("    {name}: not run, {why}");
                self.done().left_out.push((name, why));
                Ok(())
            }
        }
    }

    /// Runs two sequences of steps at the same time, the second on its own thread. The output of the second goes into the
    /// file `record`, which is printed when both have ended.
    pub(crate) fn both(
        record: &Path,
        first: impl FnOnce() -> Outcome,
        second: impl FnOnce() -> Outcome + Send,
    ) -> Outcome {
        let failed = |error: io::Error| format!("{}: {error}", record.display());
        let file = File::create(record).map_err(failed)?;
        let (first, second) = thread::scope(|scope| {
            let second = scope.spawn(|| shell::recorded(file, second));
            (first(), second.join())
        });
        let mut text = File::open(record).map_err(failed)?;
        io::copy(&mut text, &mut io::stdout()).map_err(failed)?;
        first.and(second.unwrap_or_else(|_| Err("a step panicked".into())))
    }

    /// Prints the table of all steps, those that were not run, and one line of how many passed, which failed and which were
    /// not run. The outcome is that of the step that failed first; with `strict`, a step that was not run is an error.
    pub(crate) fn summary(&self, strict: bool) -> Outcome {
        let done = self.done();
        println!();
        for (name, took) in &done.took {
            println!("{:>8.1} s  {name}", took.as_secs_f64());
        }
        println!("{:>8.1} s  in all", self.began.elapsed().as_secs_f64());
        for (name, why) in &done.left_out {
            println!(" not run    {name}: {why}");
        }
        println!("{}", done.closing(self.began.elapsed()));
        match (done.failed.first(), done.left_out.first()) {
            (Some((_, message)), _) => Err(message.clone()),
            (None, Some((name, why))) if strict => Err(format!("{name} was not run: {why}")),
            _ => Ok(()),
        }
    }
}

impl Done {
    /// `12 steps passed in 840 s; failed: tests; not run: page`.
    fn closing(&self, took: Duration) -> String {
        let names = |steps: &[(&str, String)]| match steps {
            [] => "none".to_owned(),
            _ => steps.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        };
        let passed = self.took.len() - self.failed.len();
        let (failed, left_out) = (names(&self.failed), names(&self.left_out));
        format!(
            "{passed} steps passed in {} s; failed: {failed}; not run: {left_out}",
            took.as_secs()
        )
    }
}

/// A tool that a step needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Python from 3.11 on, with the modules that a virtual environment needs.
    Python,
    /// Node from 20 on, with npm.
    Node,
    /// A Rust compiler with a standard library for browsers.
    Wasm,
    Browser,
}

/// A program that checks that this Node is new enough.
const NODE: &str = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";

impl Tool {
    /// Finds the tool, or fetches it if possible; the error names the missing part.
    pub(crate) fn fetch(self, root: &Path) -> Outcome {
        match self {
            Tool::Python => shell::system(root).map(|_| ()),
            Tool::Node => {
                let all = [&["node", "-e", NODE][..], &["npm", "--version"]];
                match all.into_iter().all(|words| works(&mut command(root, words))) {
                    true => Ok(()),
                    false => Err("no Node from 20 on with npm is on the path".into()),
                }
            }
            Tool::Wasm => web::has_compiler(root),
            Tool::Browser => web::has_browser(root),
        }
    }

    /// Returns a sentence about the first of some tools that is missing and cannot be fetched.
    pub(crate) fn missing(tools: &[Tool], root: &Path) -> Option<String> {
        tools.iter().find_map(|tool| tool.fetch(root).err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_failed_step_is_named_in_the_message_and_ends_both_lines() {
        let steps = Steps::new(Path::new("."));
        assert_eq!(steps.step("one", || Ok(())), Ok(()));
        assert_eq!(steps.step("two", || Err("no".into())), Err("two: no".into()));
        let next = steps.step("three", || unreachable!("a step has failed"));
        assert_eq!(next, Err("three: not begun, since two failed".into()));
        assert_eq!(steps.summary(true), Err("two: no".into()));
        let closing = steps.done().closing(MINUTE);
        assert_eq!(closing, "1 steps passed in 60 s; failed: two; not run: none");
    }

    #[test]
    fn a_step_left_out_is_an_error_only_where_all_must_run() {
        let steps = Steps::new(Path::new("."));
        steps.done().left_out.push(("page", "no browser".into()));
        assert_eq!(steps.summary(false), Ok(()));
        let closing = steps.done().closing(MINUTE);
        assert_eq!(closing, "0 steps passed in 60 s; failed: none; not run: page");
        assert_eq!(steps.summary(true), Err("page was not run: no browser".into()));
    }

    #[test]
    fn two_lines_run_at_once_and_the_first_failure_is_the_outcome() {
        let record = std::env::temp_dir().join(format!("xtask-both-{}", std::process::id()));
        let steps = Steps::new(Path::new("."));
        let (front, back) = std::sync::mpsc::channel();
        // Each line waits for the other, which would not end if one came after the other.
        let (begun, waits) = std::sync::mpsc::channel();
        let first = || {
            steps.step("first", || {
                front.send(()).unwrap();
                waits.recv().map_err(|error| error.to_string())
            })
        };
        let second = || {
            steps.step("second", move || {
                begun.send(()).unwrap();
                back.recv().map_err(|error| error.to_string())?;
                Err("no".into())
            })
        };
        assert_eq!(Steps::both(&record, first, second), Err("second: no".into()));
        assert_eq!(std::fs::read_to_string(&record).unwrap(), "\n==> second\n");
        std::fs::remove_file(&record).unwrap();
        assert_eq!(steps.summary(true), Err("second: no".into()));
    }
}
