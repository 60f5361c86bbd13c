//! `cargo xtask oracles`: heavy checks against real libraries and the interpreter of undefined
//! behaviour. What does not install is skipped, with the reason; what runs must pass.

use std::path::Path;

use crate::{
    python,
    shell::{Outcome, command, run as sh, target, works},
};

/// What became of one oracle.
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// One oracle over the workspace at this root.
type Oracle = fn(&Path) -> Verdict;

/// Runs every oracle, also after one has failed.
pub(crate) fn run(root: &Path) -> Outcome {
    let oracles: [(&str, Oracle); 2] = [("safetensors and torch", torch), ("miri", miri)];
    let mut failed = Vec::new();
    for (name, oracle) in oracles {
        println!("\n==> {name}");
        match oracle(root) {
            Verdict::Passed => println!("    {name}: ok"),
            Verdict::Skipped(why) => println!("    {name}: skipped, {why}"),
            Verdict::Failed(why) => {
                println!("    {name}: FAILED, {why}");
                failed.push(name);
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("these oracles disagree: {}", failed.join(", "))),
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// The Python check, read back by torch as well where it installs.
fn torch(root: &Path) -> Verdict {
    match environment(root) {
        Err(why) => Verdict::Skipped(why),
        Ok((mut check, has_torch)) => {
            if has_torch {
                check.arg("--torch");
            } else {
                println!("    torch does not install here; numpy's reader alone");
            }
            verdict(sh(&mut check))
        }
    }
}

/// The check with the program built and the libraries installed, and whether torch is one of them.
fn environment(root: &Path) -> Outcome<(std::process::Command, bool)> {
    sh(&mut command(
        root,
        &["cargo", "build", "--profile", "dist", "--package", "tilewright-cli"],
    ))?;
    let target = target(root)?;
    let pins = root.join("tests/python/requirements.txt");
    let python = python::venv(root, &target.join("oracles/venv"), &pins)?;
    let has_torch =
        has_torch(root, &python) || (python::torch(root, &python) && has_torch(root, &python));
    Ok((python::check(root, &python, &target.join("dist/tilewright")), has_torch))
}

fn has_torch(root: &Path, python: &Path) -> bool {
    works(&mut command(root, &[&*python.to_string_lossy(), "-c", "import torch"]))
}

/// The crate that holds all `unsafe` code, interpreted.
fn miri(root: &Path) -> Verdict {
    if !works(&mut command(root, &["rustup", "run", "nightly", "cargo", "miri", "--version"])) {
        let how = "rustup toolchain install nightly --component miri,rust-src";
        return Verdict::Skipped(format!("no Miri on a nightly toolchain here; `{how}` brings it"));
    }
    let folder = match target(root) {
        Ok(target) => target.join("oracles/miri"),
        Err(why) => return Verdict::Failed(why),
    };
    let words = [
        "rustup",
        "run",
        "nightly",
        "cargo",
        "miri",
        "test",
        "--package",
        "tilewright-relayout",
        "--lib",
    ];
    let mut miri = command(root, &words);
    miri.env("CARGO_TARGET_DIR", folder)
        .env("PROPTEST_CASES", "4")
        .env("MIRIFLAGS", "-Zmiri-disable-isolation");
    verdict(sh(&mut miri))
}
