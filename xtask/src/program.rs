//! Builds the program for the commands that run it.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::shell::{Outcome, command, run, target};

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
