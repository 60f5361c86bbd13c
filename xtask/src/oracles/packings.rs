//! Compares the program with other libraries: the functions that pack and shuffle weights, from the packages that own
//! the formats, with the named formats; and answers to the same questions, drawn from the libraries' documentation.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Verdict, command, has, libraries, read_back::program, sh, target, verdict};
use crate::shell::{Outcome, pip, venv};

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
