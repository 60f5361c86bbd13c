//! Reads files that the program wrote with the libraries of their formats.

use std::path::Path;

use super::{Verdict, command, has, has_jax, libraries, pinned, sh, target, verdict};
use crate::{
    program::{self, Build},
    python,
    shell::{Outcome, output},
    wheel,
};

/// Converts GGUF files there and back; the reference library reads the result of each step.
pub(super) fn gguf(root: &Path) -> Verdict {
    read_back(root, "tests/oracle/gguf_files.py", "gguf")
}

/// Converts NumPy's archives there and back; NumPy reads the result of each step.
pub(super) fn npz(root: &Path) -> Verdict {
    read_back(root, "tests/oracle/npz_files.py", "numpy")
}

/// Converts checkpoints of `torch.save` to safetensors, and compares them with what torch loads.
pub(super) fn pt(root: &Path) -> Verdict {
    with_torch(root, "tests/oracle/torch_files.py")
}

/// Loads resharded checkpoints with torch's distributed checkpoint.
pub(super) fn sharded(root: &Path) -> Verdict {
    with_torch(root, "tests/oracle/sharded_files.py")
}

fn with_torch(root: &Path, script: &str) -> Verdict {
    match libraries(root) {
        Err(why) => Verdict::Skipped(why),
        Ok((_, false)) => Verdict::Skipped("torch does not install here".into()),
        Ok((_, true)) => read_back(root, script, "torch"),
    }
}

/// Compares the contents of shards with torch's processes and JAX's devices.
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

/// Runs resharding plans on Ray and Dask, if they can be installed, while their processes are killed.
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
        // A number in the environment takes precedence.
        if std::env::var_os("TILEWRIGHT_KILLS").is_none() {
            tests.env("TILEWRIGHT_KILLS", "100");
        }
        sh(&mut tests)
    }))
}

/// Checks the answers of XLA and Triton in `docs/explanation/comparison.md` with the versions that it names.
pub(super) fn others(root: &Path) -> Verdict {
    asked(root, "others", &[])
}

/// Compares the recorded rows of Axe layouts with what TVM prints and where it puts each element.
pub(super) fn axe(root: &Path) -> Verdict {
    asked(root, "axe", &["--check", "corpus/vectors/axe.jsonl"])
}

/// Runs the script `tests/oracle/NAME.py` with the packages of `NAME.txt`.
fn asked(root: &Path, name: &str, words: &[&str]) -> Verdict {
    let script = format!("tests/oracle/{name}.py");
    match environment_of(root, name) {
        Ok(python) => verdict(sh(command(root, &[&python, &script]).args(words))),
        Err(why) => Verdict::Skipped(why),
    }
}

/// Returns the interpreter with the packages of `tests/oracle/NAME.txt`.
fn environment_of(root: &Path, name: &str) -> Outcome<String> {
    let pins = root.join("tests/oracle").join(name).with_extension("txt");
    let python = python::venv(root, &target(root)?.join("oracles").join(name), &pins)?;
    Ok(python.to_string_lossy().into_owned())
}

/// Runs a script that converts files with the program, and reads the results with a package.
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

/// Builds the program with its debug checks.
pub(super) fn program(root: &Path) -> Outcome<String> {
    Ok(program::build(root, Build::Debug)?.to_string_lossy().into_owned())
}

/// Compiles functions for CUDA with NVRTC, which needs no GPU.
pub(super) fn nvrtc(root: &Path) -> Verdict {
    let python = match environment_of(root, "nvrtc") {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    verdict(
        program(root).and_then(|program| {
            sh(&mut command(root, &[&python, "tests/oracle/nvrtc.py", &program]))
        }),
    )
}

/// Compiles the kernels of device moves with NVRTC, which is found and called as on a machine with a device.
pub(super) fn device_code(root: &Path) -> Verdict {
    let library = environment_of(root, "nvrtc").and_then(|python| {
        let code = "import nvidia, pathlib; print(next(path for folder in nvidia.__path__ for path in sorted(pathlib.Path(folder).rglob('libnvrtc.so.*'))))";
        output(&mut command(root, &[&python, "-c", code]))
    });
    let library = match library {
        Ok(library) => library,
        Err(why) => return Verdict::Skipped(why),
    };
    let words = ["cargo", "test", "--package", "tilewright-cuda", "--test", "all", "--"];
    let mut test = command(root, &[&words[..], &["--ignored", "--nocapture", "nvrtc"]].concat());
    verdict(sh(test.env("TILEWRIGHT_LIBNVRTC", library.trim())))
}
