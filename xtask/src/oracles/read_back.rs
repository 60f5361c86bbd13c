//! Files that the program writes, read back by the libraries of their formats.

use std::path::Path;

use super::{Verdict, command, has, libraries, pinned, sh, target, verdict};

/// GGUF files converted there and back, each step read by the reference library.
pub(super) fn gguf(root: &Path) -> Verdict {
    read_back(root, "tests/oracle/gguf_files.py", "gguf")
}

/// The same of NumPy's archives.
pub(super) fn npz(root: &Path) -> Verdict {
    read_back(root, "tests/oracle/npz_files.py", "numpy")
}

/// Checkpoints cut into shards, loaded by torch's distributed checkpoint.
pub(super) fn sharded(root: &Path) -> Verdict {
    match libraries(root) {
        Err(why) => Verdict::Skipped(why),
        Ok((_, false)) => Verdict::Skipped("torch does not install here".into()),
        Ok((_, true)) => read_back(root, "tests/oracle/sharded_files.py", "torch"),
    }
}

/// A script that gives the program files to convert, and reads the results by a package.
fn read_back(root: &Path, script: &str, package: &str) -> Verdict {
    let python = match pinned(root) {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    if !has(root, &python, package) {
        return Verdict::Skipped(format!("{package} does not install here"));
    }
    let checked = sh(&mut command(root, &["cargo", "build", "--package", "tilewright-cli"]))
        .and_then(|()| target(root))
        .and_then(|target| {
            let program = target.join("debug/tilewright").to_string_lossy().into_owned();
            sh(&mut command(root, &[&*python.to_string_lossy(), script, "check", &program]))
        });
    verdict(checked)
}
