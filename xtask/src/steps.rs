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
    /// What was not run, and why.
    left_out: Vec<(&'static str, String)>,
}

impl Steps {
    pub(crate) fn new(root: &Path) -> Steps {
        let (done, left_out) = (Vec::new(), Vec::new());
        Steps { root: root.to_owned(), began: Instant::now(), done, left_out }
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

    /// Prints the table of all steps, and what was not run. With `strict`, that is an error.
    pub(crate) fn summary(&self, strict: bool) -> Outcome {
        println!();
        for (name, took) in &self.done {
            println!("{:>8.1} s  {name}", took.as_secs_f64());
        }
        println!("{:>8.1} s  in all", self.began.elapsed().as_secs_f64());
        for (name, why) in &self.left_out {
            println!(" not run    {name}: {why}");
        }
        match self.left_out.first() {
            Some((name, why)) if strict => Err(format!("{name} was not run: {why}")),
            _ => Ok(()),
        }
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
    }

    #[test]
    fn a_step_left_out_is_an_error_only_where_all_must_run() {
        let mut steps = Steps::new(Path::new("."));
        steps.left_out.push(("page", "no browser".into()));
        assert_eq!(steps.summary(false), Ok(()));
        assert_eq!(steps.summary(true), Err("page was not run: no browser".into()));
    }
}
