//! Checks that the code compiles for other machines, and with the oldest compiler.

use std::path::Path;

use crate::shell::{Outcome, command, metadata, run as sh, target, works};

/// Targets for which the code compiles. It is tested on Linux alone.
pub(crate) const TARGETS: [&str; 5] = [
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-pc-windows-gnu",
];

/// Members that need an interpreter or a browser, or are internal tools.
const NOT_FOR_ALL: [&str; 3] = ["tilewright-py", "tilewright-web", "xtask"];

/// Checks that the standard library of a target is installed, or can be fetched.
pub(crate) fn has(root: &Path, triple: &str) -> Outcome {
    match works(&mut command(root, &["rustup", "target", "add", triple])) {
        true => Ok(()),
        false => Err(format!("rustup cannot fetch the standard library of {triple}")),
    }
}

/// Checks the libraries and the program for a target. It does not link, so it needs no linker of that system.
pub(crate) fn check(root: &Path, triple: &str) -> Outcome {
    let folder = target(root)?.join("oracles/platforms");
    let words = ["cargo", "check", "--workspace", "--quiet", "--target", triple];
    let mut check = command(root, &words);
    sh(without(&mut check, &NOT_FOR_ALL).env("CARGO_TARGET_DIR", folder))
}

/// Returns the oldest compiler that `Cargo.toml` promises.
pub(crate) fn oldest(root: &Path) -> Outcome<String> {
    let metadata = metadata(root)?;
    let version = metadata["packages"][0]["rust_version"].as_str();
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml has no `rust-version`".into())
}

/// Checks that a compiler of this version is installed, or can be.
pub(crate) fn has_compiler(root: &Path, version: &str) -> Outcome {
    let words = ["rustup", "toolchain", "install", version, "--profile", "minimal"];
    match works(&mut command(root, &words)) {
        true => Ok(()),
        false => Err(format!("rustup cannot install Rust {version}")),
    }
}

/// Checks every published crate with the compiler of this version.
pub(crate) fn check_with(root: &Path, version: &str) -> Outcome {
    let folder = target(root)?.join("oracles/oldest");
    let words = ["rustup", "run", version, "cargo", "check", "--workspace", "--quiet"];
    let mut check = command(root, &words);
    sh(without(&mut check, &["xtask"]).env("CARGO_TARGET_DIR", folder))
}

fn without<'a>(
    cargo: &'a mut std::process::Command,
    members: &[&str],
) -> &'a mut std::process::Command {
    members.iter().fold(cargo, |cargo, name| cargo.args(["--exclude", name]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    #[test]
    fn the_promised_compiler_is_a_version() {
        let version = oldest(&root()).unwrap();
        assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
    }
}
