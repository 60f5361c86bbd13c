//! `cargo xtask ci`: everything that decides whether a change lands. It begins nothing more after the first failure.
//! And `cargo xtask check`: the quick loop.
//!
//! In `ci`, the workspace is compiled once for the lints and once for all that runs: the program and the library of the
//! Python package are those that the tests are compiled with. `cargo xtask oracles released` tests the published
//! builds.
//!
//! When that is compiled, two sequences of steps run at once, since most steps leave a processor idle: the tests with
//! the other builds of sources, and whatever runs the program, the Python package or the page. They take about equally
//! long, and neither waits for a build folder.
//!
//! Steps whose tools are missing and cannot be fetched are named and left out; with `CI=true` in the environment that
//! is a failure.
//!
//! `check` runs formatting, lints, the project's rules, and the fast tests of what changed since this branch left
//! `main`, committed or not. The fast tests of a package are those beside its code; of its other tests, the modules
//! that changed run too.

use std::{collections::BTreeMap, env, path::Path};

use crate::{
    algebra, conformance,
    oracles::release,
    pictures,
    shell::{self, Outcome, command, metadata, output, run as sh, target},
    site,
    steps::{Steps, Tool},
    tidy, web, wheel,
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
    let program = shell::tested(root)?;
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
        shell::venv(root, &target.join("ci-venv"), &root.join("tests/python/requirements.txt"))?;
    sh(&mut shell::check(root, &python, program))
}

/// All steps in order; the error names the command that failed.
pub(crate) fn quick(root: &Path) -> Outcome {
    let steps = Steps::new(root);
    let outcome = all(root, &steps);
    let whole = steps.summary(true);
    outcome.and(whole)
}

fn all(root: &Path, steps: &Steps) -> Outcome {
    look(root, steps)?;
    let packages = packages(root)?;
    let changed = changed(root)?;
    for (package, programs) in touched(&packages, &changed) {
        println!("\n    {}", package.name);
        let cargo = || command(root, &["cargo", "test", "--quiet", "--package", &package.name]);
        let own = if package.has_library { &["--lib", "--bins"][..] } else { &["--bins"] };
        steps.step("tests", || sh(cargo().args(own)))?;
        for (program, modules) in programs {
            let mut cargo = cargo();
            cargo.args(["--test", &program, "--"]).args(modules);
            steps.step("tests", || sh(&mut cargo))?;
        }
    }
    Ok(())
}

/// A package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    /// True if it has a library with tests in its source files.
    has_library: bool,
}

/// The folder of each package, from the root.
fn packages(root: &Path) -> Outcome<BTreeMap<String, Package>> {
    let metadata = metadata(root)?;
    let all = metadata["packages"].as_array().into_iter().flatten();
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?).parent()?;
        let folder = manifest.strip_prefix(root).ok()?.to_str()?.to_owned();
        let name = package["name"].as_str()?.to_owned();
        let targets = package["targets"].as_array()?;
        let is_tested_library = |target: &serde_json::Value| {
            let kinds = target["kind"].as_array().into_iter().flatten();
            target["test"] == true && kinds.filter_map(|kind| kind.as_str()).any(is_library)
        };
        let has_library = targets.iter().any(is_tested_library);
        Some((folder, Package { name, has_library }))
    };
    Ok(all.filter_map(folder).collect())
}

/// Returns whether cargo calls a target of this kind a library.
fn is_library(kind: &str) -> bool {
    matches!(kind, "lib" | "rlib" | "dylib" | "cdylib" | "staticlib" | "proc-macro")
}

/// The files that differ from where this branch left `main`, from the root.
fn changed(root: &Path) -> Outcome<Vec<String>> {
    let git = |words: &[&str]| output(&mut command(root, &[&["git"], words].concat()));
    let base = git(&["merge-base", "HEAD", "main"]).unwrap_or_else(|_| "HEAD".into());
    let differ = git(&["diff", "--name-only", base.trim()])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(differ.lines().chain(new.lines()).map(str::to_owned).collect())
}

/// The programs of tests to run of a package, and which modules of each: none where all of them run.
type Programs = BTreeMap<String, Vec<String>>;

/// The packages that have some of the files, and which of these are test files of theirs.
fn touched(
    packages: &BTreeMap<String, Package>,
    changed: &[String],
) -> BTreeMap<Package, Programs> {
    let mut touched: BTreeMap<Package, Programs> = BTreeMap::new();
    for path in changed {
        let owner = packages.iter().find_map(|(folder, package)| {
            let rest = path.strip_prefix(folder.as_str())?.strip_prefix('/')?;
            Some((package, rest))
        });
        let Some((package, rest)) = owner else { continue };
        let programs = touched.entry(package.clone()).or_default();
        let Some((program, module)) = test_of(rest) else { continue };
        let modules = programs.entry(program.to_owned()).or_default();
        modules.extend(module.filter(|module| !modules.contains(module)));
    }
    touched
}

/// The program of tests that a file of a package belongs to, and its module there: `tests/all/plan.rs` is module `plan` of
/// program `all`, whose `main.rs` has no tests of its own; `tests/no_heap.rs` is a program.
fn test_of(path: &str) -> Option<(&str, Option<String>)> {
    let rest = path.strip_prefix("tests/")?.strip_suffix(".rs")?;
    let Some((program, file)) = rest.split_once('/') else { return Some((rest, None)) };
    let module = file.split('/').next().filter(|module| *module != "main")?;
    Some((program, Some(format!("{module}::"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_belong_to_packages_and_tests() {
        let packages = [("crates/a", "a"), ("crates/ab", "ab"), ("bench", "bench")]
            .map(|(folder, name)| {
                (folder.to_owned(), Package { name: name.to_owned(), has_library: true })
            })
            .into();
        let changed = [
            "crates/ab/src/lib.rs",
            "crates/ab/tests/no_heap.rs",
            "crates/ab/tests/all/main.rs",
            "crates/ab/tests/all/plan.rs",
            "crates/ab/tests/all/files/one.rs",
            "crates/ab/tests/all/files/two.rs",
            "crates/ab/tests/golden/one.txt",
            "bench/README.md",
            "README.md",
        ]
        .map(str::to_owned);
        let touched = touched(&packages, &changed);
        let of = |name: &str| {
            let found = touched.iter().find(|(package, _)| package.name == name);
            found.map(|(_, programs)| {
                let shown = |(program, modules): (&String, &Vec<String>)| {
                    [std::slice::from_ref(program), &modules[..]].concat().join(" ")
                };
                programs.iter().map(shown).collect::<Vec<_>>().join(", ")
            })
        };
        assert_eq!(of("ab").as_deref(), Some("all plan:: files::, no_heap"));
        assert_eq!((of("bench").as_deref(), of("a")), (Some(""), None));
    }
}
