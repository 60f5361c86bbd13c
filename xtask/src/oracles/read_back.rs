//! Files that the program writes, read back by the libraries of their formats.

use std::path::Path;

use super::{Verdict, command, has, has_jax, libraries, pinned, sh, target, verdict};
use crate::{
    program::{self, Build},
    python,
    shell::{Outcome, output},
    wheel,
};

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

/// Who holds what of arrays in shards, by torch's processes and JAX's devices.
pub(super) fn shards(root: &Path) -> Verdict {
    let (python, has_torch) = match libraries(root) {
        Ok(libraries) => libraries,
        Err(why) => return Verdict::Skipped(why),
    };
    let there = [("torch", has_torch), ("jax", has_jax(root, &python))];
    let asked: Vec<&str> = there.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    if asked.is_empty() {
        return Verdict::Skipped("neither torch nor jax installs here".into());
    }
    let ask = |program: String| {
        let python = python.to_string_lossy();
        asked.iter().try_for_each(|name| {
            sh(&mut command(root, &[&*python, "tests/oracle/shards.py", name, &program]))
        })
    };
    verdict(program(root).and_then(ask))
}

/// Plans of resharding on Ray and Dask, as far as these install, while their processes are killed.
pub(super) fn clusters(root: &Path) -> Verdict {
    let python = match pinned(root) {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    for package in ["ray", "distributed"] {
        if !has(root, &python, package) {
            println!("    {package} does not install here; its workers are not killed");
        }
    }
    let killed = wheel::tests_with(root, &python, &["tests/test_clusters.py"]);
    verdict(killed.and_then(|mut tests| {
        // A number that is set is the caller's.
        if std::env::var_os("TILEWRIGHT_KILLS").is_none() {
            tests.env("TILEWRIGHT_KILLS", "100");
        }
        sh(&mut tests)
    }))
}

/// The answers of XLA and Triton that `docs/explanation/comparison.md` states, asked of the versions it names.
pub(super) fn others(root: &Path) -> Verdict {
    let made = target(root).and_then(|target| {
        python::venv(root, &target.join("oracles/others"), &root.join("tests/oracle/others.txt"))
    });
    match made {
        Ok(python) => {
            verdict(sh(&mut command(root, &[&*python.to_string_lossy(), "tests/oracle/others.py"])))
        }
        Err(why) => Verdict::Skipped(why),
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
    verdict(program(root).and_then(|program| {
        sh(&mut command(root, &[&*python.to_string_lossy(), script, "check", &program]))
    }))
}

/// The program, built with its checks.
pub(super) fn program(root: &Path) -> Outcome<String> {
    Ok(program::build(root, Build::Debug)?.to_string_lossy().into_owned())
}

/// Functions for CUDA, compiled by NVRTC, which needs no GPU.
pub(super) fn nvrtc(root: &Path) -> Verdict {
    let made = target(root).and_then(|target| {
        python::venv(root, &target.join("oracles/nvrtc"), &root.join("tests/oracle/nvrtc.txt"))
    });
    let python = match made {
        Ok(python) => python.to_string_lossy().into_owned(),
        Err(why) => return Verdict::Skipped(why),
    };
    verdict(
        program(root).and_then(|program| {
            sh(&mut command(root, &[&python, "tests/oracle/nvrtc.py", &program]))
        }),
    )
}

/// The kernels of moves on devices, compiled by NVRTC, which is found and called as where there is a device.
pub(super) fn device_code(root: &Path) -> Verdict {
    let made = target(root).and_then(|target| {
        python::venv(root, &target.join("oracles/nvrtc"), &root.join("tests/oracle/nvrtc.txt"))
    });
    let library = made.and_then(|python| {
        let code = "import nvidia, pathlib; print(next(path for folder in nvidia.__path__ for path in sorted(pathlib.Path(folder).rglob('libnvrtc.so.*'))))";
        output(&mut command(root, &[&*python.to_string_lossy(), "-c", code]))
    });
    let library = match library {
        Ok(library) => library,
        Err(why) => return Verdict::Skipped(why),
    };
    let words = ["cargo", "test", "--package", "tilewright-cuda", "--test", "all", "--"];
    let mut test = command(root, &[&words[..], &["--ignored", "--nocapture", "nvrtc"]].concat());
    verdict(sh(test.env("TILEWRIGHT_LIBNVRTC", library.trim())))
}
