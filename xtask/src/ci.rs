//! `cargo xtask ci`: everything that decides whether a change lands. It begins nothing more after the first failure.
//!
//! The workspace is compiled once for the lints and once for all that runs: the program and the library of the Python package
//! are those that the tests are compiled with. `cargo xtask oracles released` tests the published builds.
//!
//! When that is compiled, two sequences of steps run at once, since most steps leave a processor idle: the tests with the other
//! builds of sources, and whatever runs the program, the Python package or the page. They take about equally long, and neither
//! waits for a build folder.
//!
//! Steps whose tools are missing and cannot be fetched are named and left out; with `CI=true` in the
//! environment that is a failure.

use std::{env, path::Path};

use crate::{
    algebra, conformance, pictures, program, python, release,
    shell::{Outcome, command, run as sh, target},
    site,
    steps::Steps,
    tidy,
    tools::Tool,
    web, wheel,
};

/// The variable that makes cargo keep partial results for later builds of changed code. A full run sets it to 0, since these
/// results cost time in every crate, and gigabytes.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";

/// All steps in order; the error names the command that failed.
pub(crate) fn run(root: &Path) -> Outcome {
    if env::var_os(INCREMENTAL).is_none() {
        let own = env::current_exe().map_err(|error| format!("cargo xtask: {error}"))?;
        return sh(command(root, &[&*own.to_string_lossy(), "ci"]).env(INCREMENTAL, "0"));
    }
    let steps = Steps::new(root);
    let record = target(root)?.join("ci-other-steps.txt");
    let outcome = look(root, &steps).and_then(|()| compiled(root, &steps)).and_then(|()| {
        println!("    the other steps run at the same time; their output: {}", record.display());
        let first = || tests(root, &steps).and_then(|()| features(root, &steps));
        Steps::both(&record, first, || used(root, &steps))
    });
    let strict = env::var_os("CI").is_some_and(|value| value == "true");
    steps.summary(strict).and(outcome)
}

/// Formatting, lints and the project's own rules.
pub(crate) fn look(root: &Path, steps: &Steps) -> Outcome {
    let cargo = |words: &[&str]| command(root, &[&["cargo"], words].concat());
    steps.step("formatting", || sh(&mut cargo(&["fmt", "--all", "--check"])))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.step("clippy", || sh(&mut cargo(&clippy)))?;
    steps.step("tidy", || tidy::run(root))
}

/// All that the tests run, the program and the library of the Python package among it.
fn compiled(root: &Path, steps: &Steps) -> Outcome {
    let mut build = command(root, &["cargo", "test", "--workspace", "--no-run", "--quiet"]);
    steps.step("compiled tests", || sh(&mut build))
}

/// The tests of all crates, with the examples of their documentation.
fn tests(root: &Path, steps: &Steps) -> Outcome {
    steps.step("tests", || sh(&mut command(root, &["cargo", "test", "--workspace"])))
}

/// Sets of features, packages and documentation.
fn features(root: &Path, steps: &Steps) -> Outcome {
    steps.step("features", || release::features(root))?;
    steps.step("packages", || release::packages(root, false))?;
    let mut doc = command(root, &["cargo", "doc", "--workspace", "--no-deps"]);
    steps.step("documentation", || sh(doc.env("RUSTDOCFLAGS", "-D warnings")))
}

/// Checks what is made from the program, the Python package, and the page.
fn used(root: &Path, steps: &Steps) -> Outcome {
    let program = program::tested(root)?;
    steps.step("algebra", || algebra::run(root, true, Some(&program)))?;
    steps.step("pictures", || pictures::run(root, true, Some(&program)))?;
    steps.step_with(&[Tool::Python], "python", || reference(root, &program))?;
    steps.step_with(&[Tool::Python], "conformance", || conformance::ours(root, &program))?;
    steps.step_with(&[Tool::Python], "site", || site::build(root, &program, None))?;
    steps.step_with(&[Tool::Python], "python package", || wheel::test_compiled(root))?;
    let page = [Tool::Node, Tool::Wasm];
    steps.step_with(&page, "page", || web::build(root))?;
    let tools = [&page[..], &[Tool::Browser]].concat();
    steps.step_with(&tools, "page's tests", || web::test(root))
}

/// Lets the reference Python libraries read what the program wrote.
pub(crate) fn reference(root: &Path, program: &Path) -> Outcome {
    let target = target(root)?;
    let python =
        python::venv(root, &target.join("ci-venv"), &root.join("tests/python/requirements.txt"))?;
    sh(&mut python::check(root, &python, program))
}
