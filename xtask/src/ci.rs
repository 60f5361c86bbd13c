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

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    algebra, conformance,
    oracles::release,
    pictures,
    shell::{self, Outcome, command, metadata, output, run as sh, target, works},
    site, tidy, web, wheel,
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
    steps.step("tests", || {
        sh(&mut command(root, &["cargo", "test", "--workspace", "--no-fail-fast"]))
    })
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

// Steps in order: announced, timed, and left out where a tool is missing. Tools that steps need in addition to Rust
// are found or fetched here.

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
        let record = env::temp_dir().join(format!("xtask-both-{}", std::process::id()));
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
