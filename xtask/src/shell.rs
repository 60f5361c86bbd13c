//! Running programs: without standard input, and named as typed where they fail.

use std::{
    cell::RefCell,
    env,
    ffi::OsStr,
    fs::File,
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
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
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
