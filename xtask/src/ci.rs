//! `cargo xtask ci`: everything that decides whether a change lands, the first failure last.

use std::path::Path;

use crate::{
    python,
    shell::{Outcome, Steps, command, run as sh, target},
    tidy, web, wheel,
};

/// All steps in order; the error names the command that failed.
pub(crate) fn run(root: &Path) -> Outcome {
    let mut steps = Steps::new();
    let outcome = all(root, &mut steps);
    steps.summary();
    outcome
}

fn all(root: &Path, steps: &mut Steps) -> Outcome {
    let cargo = |words: &[&str]| command(root, &[&["cargo"], words].concat());
    steps.step("formatting", || sh(&mut cargo(&["fmt", "--all", "--check"])))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.step("clippy", || sh(&mut cargo(&clippy)))?;
    steps.step("tidy", || tidy::run(root))?;
    steps.step("tests", || sh(&mut cargo(&["test", "--workspace"])))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
    steps.step("documentation", || sh(doc.env("RUSTDOCFLAGS", "-D warnings")))?;
    steps.step("program", || build(root))?;
    steps.step("python", || reference(root))?;
    let mut wheel = None;
    steps.step("wheel", || wheel::build(root).map(|made| wheel = Some(made)))?;
    steps.step("python package", || wheel.map_or(Ok(()), |wheel| wheel::test(root, &wheel)))?;
    steps.step("page", || web::build(root))?;
    steps.step("page's tests", || web::test(root))
}

/// Builds the program as it is handed out.
fn build(root: &Path) -> Outcome {
    sh(&mut command(root, &["cargo", "build", "--profile", "dist", "--package", "tilewright-cli"]))
}

/// Lets the reference Python libraries read what the program wrote.
fn reference(root: &Path) -> Outcome {
    let target = target(root)?;
    let python =
        python::venv(root, &target.join("ci-venv"), &root.join("tests/python/requirements.txt"))?;
    sh(&mut python::check(root, &python, &target.join("dist/tilewright")))
}
