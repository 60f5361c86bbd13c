//! Steps in order: announced, timed, and left out where a tool is missing.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{shell::Outcome, tools::Tool};

/// What was done so far.
pub(crate) struct Steps {
    root: PathBuf,
    began: Instant,
    done: Vec<(&'static str, Duration)>,
    failed: Option<&'static str>,
    /// Steps that were not run, and why.
    left_out: Vec<(&'static str, String)>,
}

impl Steps {
    pub(crate) fn new(root: &Path) -> Steps {
        let (done, left_out) = (Vec::new(), Vec::new());
        Steps { root: root.to_owned(), began: Instant::now(), done, failed: None, left_out }
    }

    /// Announces `name`, does it, and says how long it took.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Outcome) -> Outcome {
        println!("\n==> {name}");
        let began = Instant::now();
        let outcome = work();
        let took = began.elapsed();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("    {name}: {word} in {:.1} s", took.as_secs_f64());
        self.done.push((name, took));
        self.failed = self.failed.or(outcome.is_err().then_some(name));
        outcome.map_err(|message| format!("{name}: {message}"))
    }

    /// The same of a step that needs some tools: it is left out where one is missing and cannot be fetched.
    pub(crate) fn step_with(
        &mut self,
        tools: &[Tool],
        name: &'static str,
        work: impl FnOnce() -> Outcome,
    ) -> Outcome {
        match Tool::missing(tools, &self.root) {
            None => self.step(name, work),
            Some(why) => {
                println!("\n==> {name}\n    {name}: not run, {why}");
                self.left_out.push((name, why));
                Ok(())
            }
        }
    }

    /// Prints the table of all steps, those that were not run, and one line of how many passed, which failed and which were
    /// not run. With `strict`, a step that was not run is an error.
    pub(crate) fn summary(&self, strict: bool) -> Outcome {
        println!();
        for (name, took) in &self.done {
            println!("{:>8.1} s  {name}", took.as_secs_f64());
        }
        println!("{:>8.1} s  in all", self.began.elapsed().as_secs_f64());
        for (name, why) in &self.left_out {
            println!(" not run    {name}: {why}");
        }
        println!("{}", self.closing());
        match self.left_out.first() {
            Some((name, why)) if strict => Err(format!("{name} was not run: {why}")),
            _ => Ok(()),
        }
    }

    /// `12 steps passed in 840 s; failed: tests; not run: page`.
    fn closing(&self) -> String {
        let passed = self.done.len() - usize::from(self.failed.is_some());
        let seconds = self.began.elapsed().as_secs();
        let failed = self.failed.unwrap_or("none");
        let left_out: Vec<&str> = self.left_out.iter().map(|(name, _)| *name).collect();
        let left_out = if left_out.is_empty() { "none".into() } else { left_out.join(", ") };
        format!("{passed} steps passed in {seconds} s; failed: {failed}; not run: {left_out}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_named_in_the_message() {
        let mut steps = Steps::new(Path::new("."));
        assert_eq!(steps.step("one", || Ok(())), Ok(()));
        assert_eq!(steps.step("two", || Err("no".into())), Err("two: no".into()));
        assert_eq!(steps.summary(true), Ok(()));
        assert_eq!(steps.closing(), "1 steps passed in 0 s; failed: two; not run: none");
    }

    #[test]
    fn a_step_left_out_is_an_error_only_where_all_must_run() {
        let mut steps = Steps::new(Path::new("."));
        steps.left_out.push(("page", "no browser".into()));
        assert_eq!(steps.summary(false), Ok(()));
        assert_eq!(steps.closing(), "0 steps passed in 0 s; failed: none; not run: page");
        assert_eq!(steps.summary(true), Err("page was not run: no browser".into()));
    }
}
