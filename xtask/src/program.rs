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
/// Cargo gives the selected packages the same features of every dependency. The Python package is selected too, so a
/// wheel that is built later only compiles its own crate.
pub(crate) fn build(root: &Path, build: Build) -> Outcome<PathBuf> {
    let (profile, folder) = build.profile();
    let packages = ["--package", "tilewright-cli", "--package", "tilewright-py"];
    let mut cargo = command(root, &["cargo", "build", "--locked", "--bin", "tilewright"]);
    run(cargo.args(["--profile", profile]).args(packages))?;
    Ok(target(root)?.join(folder).join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}

/// Returns the path of the program that `cargo test --workspace` compiles.
pub(crate) fn tested(root: &Path) -> Outcome<PathBuf> {
    Ok(target(root)?.join("debug").join(format!("tilewright{}", env::consts::EXE_SUFFIX)))
}
