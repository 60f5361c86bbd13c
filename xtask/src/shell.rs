//! Running programs: without standard input, and named as typed where they fail.
//!
//! The programs that commands need are here, too: the program itself, and Python environments filled from a file of
//! pinned packages. They are built under the build folder for the commands that use them.

use std::{
    cell::RefCell,
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use serde_json::Value;

/// A result whose error is one sentence that names the command.
pub(crate) type Outcome<T = ()> = Result<T, String>;

thread_local! {
    /// The file that commands of this thread print into; without one they print where this program does.
    static RECORD: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Does `work`. What its commands print, and what it says itself, goes into `file`.
pub(crate) fn recorded<T>(file: File, work: impl FnOnce() -> T) -> T {
    RECORD.set(Some(file));
    let result = work();
    RECORD.take();
    result
}

/// Prints a line, or writes it into the record of this thread.
pub(crate) fn say(line: &str) {
    RECORD.with_borrow_mut(|record| match record {
        None => println!("{line}"),
        // A line that cannot be written is lost; the outcome of the step is not.
        Some(file) => drop(writeln!(file, "{line}")),
    });
}

/// A handle of the record of this thread for a command, if there is one.
fn record() -> Option<Stdio> {
    RECORD.with_borrow(|record| Some(record.as_ref()?.try_clone().ok()?.into()))
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// A command that runs in `folder` and reads nothing.
pub(crate) fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs a command with its output shown, or recorded.
pub(crate) fn run(command: &mut Command) -> Outcome {
    if let (Some(out), Some(errors)) = (record(), record()) {
        command.stdout(out).stderr(errors);
    }
    let status =
        command.status().map_err(|error| format!("{} did not start: {error}", shown(command)))?;
    succeeded(command, status)
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output = command
        .stderr(record().unwrap_or_else(Stdio::inherit))
        .output()
        .map_err(|error| format!("{} did not start: {error}", shown(command)))?;
    succeeded(command, output.status)?;
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed no UTF-8", shown(command)))
}

/// Runs a command of cargo, shows what it says, and returns an error if it prints a warning.
pub(crate) fn without_warnings(command: &mut Command) -> Outcome {
    let output =
        command.output().map_err(|error| format!("{} did not start: {error}", shown(command)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().for_each(say);
    succeeded(command, output.status)?;
    match said.lines().any(|line| line.starts_with("warning")) {
        true => Err(format!("{} warns; remove the warnings above", shown(command))),
        false => Ok(()),
    }
}

/// Runs a command without showing its output, and returns whether it succeeded.
pub(crate) fn works(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn succeeded(command: &Command, status: ExitStatus) -> Outcome {
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} failed ({status})", shown(command))),
    }
}

/// The command as one would type it, with the variables set for it.
fn shown(command: &Command) -> String {
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let set = command.get_envs().filter_map(|(key, value)| Some((key, value?)));
    let mut words: Vec<String> =
        set.map(|(key, value)| format!("{}={:?}", text(key), text(value))).collect();
    words.push(text(command.get_program()));
    words.extend(command.get_args().map(text));
    format!("`{}`", words.join(" "))
}

/// Returns the output of `cargo metadata` about the workspace's own packages.
pub(crate) fn metadata(root: &Path) -> Outcome<Value> {
    let text =
        output(&mut command(root, &["cargo", "metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text)
        .map_err(|error| format!("`cargo metadata` printed no JSON: {error}"))
}

/// The build folder, wherever the user keeps it.
pub(crate) fn target(root: &Path) -> Outcome<PathBuf> {
    let metadata = metadata(root)?;
    let target = metadata["target_directory"].as_str();
    target.map(PathBuf::from).ok_or_else(|| "`cargo metadata` names no target directory".into())
}

/// A way to build the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// With debug checks, the fastest to compile.
    Debug,
    /// With debug checks and optimised, as in tests.
    Checked,
    /// The published build.
    Release,
}

impl Build {
    /// Returns the name of the profile, and of its folder.
    fn profile(self) -> (&'static str, &'static str) {
        match self {
            Build::Debug => ("dev", "debug"),
            Build::Checked => ("test", "debug"),
            Build::Release => ("release", "release"),
        }
    }
}

/// Builds the program and returns its path.
///
/// Cargo gives the selected packages the same features of every dependency. The Python package is selected where its tests use the
/// same profile, so that they compile only its own crate. The published wheel has a profile of its own.
pub(crate) fn build(root: &Path, build: Build) -> Outcome<PathBuf> {
    let (profile, folder) = build.profile();
    let words =
        ["cargo", "build", "--locked", "--bin", "tilewright", "--package", "tilewright-cli"];
    let mut cargo = command(root, &words);
    if build != Build::Release {
        cargo.args(["--package", "tilewright-py"]);
    }
    run(cargo.args(["--profile", profile]))?;
    Ok(target(root)?.join(folder).join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}

/// Returns the path of the program that `cargo test --workspace` compiles.
pub(crate) fn tested(root: &Path) -> Outcome<PathBuf> {
    Ok(target(root)?.join("debug").join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}

/// A program that checks for the oldest Python that supports the pinned packages, with the modules that a virtual
/// environment needs.
const PROBE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Returns the interpreter of a virtual environment in `folder` with the packages of `pins`.
///
/// An environment made from the same pins is reused; any other is made anew.
pub(crate) fn venv(root: &Path, folder: &Path, pins: &Path) -> Outcome<PathBuf> {
    let wanted =
        fs::read_to_string(pins).map_err(|error| format!("{}: {error}", pins.display()))?;
    let python = folder.join("bin/python");
    let stamp = folder.join("pins.txt");
    if fs::read_to_string(&stamp).is_ok_and(|had| had == wanted)
        && works(Command::new(&python).arg("--version"))
    {
        return Ok(python);
    }
    let system = system(root)?;
    run(command(root, &[system, "-m", "venv", "--clear"]).arg(folder))?;
    run(pip(root, &python).arg("--requirement").arg(pins))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// Returns `pip install` in the environment of `python`, without packages.
pub(crate) fn pip(root: &Path, python: &Path) -> Command {
    let mut pip = command(root, &[&*python.to_string_lossy(), "-m", "pip", "install", "--quiet"]);
    pip.args(["--no-input", "--disable-pip-version-check", "--only-binary", ":all:"]);
    pip
}

/// Installs torch: from the index of builds without CUDA, a tenth of the size, or from the usual one if that fails.
fn torch(root: &Path, python: &Path) -> bool {
    let small = ["--retries", "0", "--index-url", "https://download.pytorch.org/whl/cpu", "torch"];
    let sources = [&small[..], &["torch"]];
    sources.into_iter().any(|words| run(pip(root, python).args(words)).is_ok())
}

/// Returns whether Python has a package with the module `module`, or can get it.
pub(crate) fn imported(root: &Path, python: &Path, package: &str, module: &str) -> bool {
    let import = format!("import {module}");
    works(&mut command(root, &[&*python.to_string_lossy(), "-c", &import]))
        || match package {
            "torch" => torch(root, python),
            package => run(pip(root, python).arg(package)).is_ok(),
        }
}

/// Returns whether Python has a package whose module has the same name, or can get it.
pub(crate) fn has(root: &Path, python: &Path, package: &str) -> bool {
    imported(root, python, package, package)
}

/// Returns the check of `tests/python` with the built `program`.
pub(crate) fn check(root: &Path, python: &Path, program: &Path) -> Command {
    let mut check = command(root, &[&*python.to_string_lossy(), "tests/python/check_reference.py"]);
    check.arg(program).env("PYTHONDONTWRITEBYTECODE", "1");
    check
}

/// Returns the first Python on the path that is new enough.
pub(crate) fn system(root: &Path) -> Outcome<&'static str> {
    let names = ["python3", "python3.11", "python3.12", "python3.13", "python"];
    let found = names.into_iter().find(|name| works(&mut command(root, &[*name, "-c", PROBE])));
    found.ok_or_else(|| "no Python from 3.11 on with `venv` and `pip` is on the path (Debian: apt-get install python3-venv)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_as_typed() {
        let folder = env::temp_dir();
        let mut failing = command(&folder, &["cargo", "no-such-subcommand"]);
        failing.env("RUSTDOCFLAGS", "-D warnings").stderr(Stdio::null());
        let message = run(&mut failing).unwrap_err();
        assert!(
            message.starts_with("`RUSTDOCFLAGS=\"-D warnings\" cargo no-such-subcommand` failed"),
            "{message}"
        );
    }

    #[test]
    fn a_record_holds_what_commands_print_and_what_is_said() {
        let path = env::temp_dir().join(format!("xtask-record-{}", std::process::id()));
        let outcome = recorded(File::create(&path).unwrap(), || {
            say("first");
            run(&mut command(&env::temp_dir(), &["sh", "-c", "echo second; echo third >&2"]))
        });
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((outcome, text.as_str()), (Ok(()), "first\nsecond\nthird\n"));
    }

    #[test]
    fn a_warning_is_an_error() {
        let says = |text: &str| {
            let script = format!("echo '{text}' >&2");
            without_warnings(&mut command(&env::temp_dir(), &["sh", "-c", &script]))
        };
        assert_eq!(says("checked, no warning: none"), Ok(()));
        let message = says("warning: unused variable").unwrap_err();
        assert!(message.ends_with(" warns; remove the warnings above"), "{message}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let message = run(&mut command(&env::temp_dir(), &["no-such-program-here"])).unwrap_err();
        assert!(message.starts_with("`no-such-program-here` did not start"), "{message}");
        assert!(!works(&mut command(&env::temp_dir(), &["no-such-program-here"])));
    }
}
