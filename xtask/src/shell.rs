//! Running programs: without standard input, and named as typed where they fail.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use serde_json::Value;

/// What went wrong, in one sentence that names the command.
pub(crate) type Outcome<T = ()> = Result<T, String>;

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

/// Runs a command with its output shown.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status =
        command.status().map_err(|error| format!("{} did not start: {error}", shown(command)))?;
    succeeded(command, status)
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{} did not start: {error}", shown(command)))?;
    succeeded(command, output.status)?;
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed no UTF-8", shown(command)))
}

/// Whether a command can be run at all and answers well, with nothing shown.
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

/// What `cargo metadata` says of the workspace's own packages.
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
    fn a_missing_program_is_named() {
        let message = run(&mut command(&env::temp_dir(), &["no-such-program-here"])).unwrap_err();
        assert!(message.starts_with("`no-such-program-here` did not start"), "{message}");
        assert!(!works(&mut command(&env::temp_dir(), &["no-such-program-here"])));
    }
}
