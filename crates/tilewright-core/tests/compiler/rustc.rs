//! This crate and small programs over it, given to the compiler alone: it has no dependencies, so neither
//! cargo nor a network is needed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder of its own with this crate compiled in it, removed at the end.
pub(crate) struct Compiler {
    folder: PathBuf,
}

/// What the compiler said, and the assembly it wrote.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ok: bool,
    pub(crate) messages: String,
    pub(crate) assembly: String,
}

impl Compiler {
    /// For checks: of the crate only what `cargo check` makes of it.
    pub(crate) fn for_checks(name: &str) -> Compiler {
        Compiler::new(name, &["--emit=metadata"])
    }

    /// For builds as well: the crate as in a release build, but for its own machine code, which is not
    /// looked at.
    pub(crate) fn for_builds(name: &str) -> Compiler {
        Compiler::new(name, &["--emit=link", "-Cdebug-assertions=no", "-Coverflow-checks=no"])
    }

    fn new(name: &str, options: &[&str]) -> Compiler {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let compiler = Compiler { folder };
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
        let outcome = compiler.run(source, &[options, &["--crate-name=tilewright_core"]].concat());
        assert!(outcome.ok, "{}", outcome.messages);
        compiler
    }

    /// What `cargo check` does with this program.
    pub(crate) fn check(&self, program: &str) -> Outcome {
        self.compile(program, &["--emit=metadata"])
    }

    /// What a release build does with this program.
    pub(crate) fn build(&self, program: &str) -> Outcome {
        self.compile(program, &["--emit=asm", "-O", "-Cdebuginfo=0"])
    }

    fn compile(&self, program: &str, options: &[&str]) -> Outcome {
        let source = self.folder.join("program.rs");
        fs::write(&source, program).unwrap();
        let library = format!("-L{}", self.folder.display());
        let options = [options, &["--extern=tilewright_core", "--crate-name=program", &library]];
        self.run(source.to_str().unwrap(), &options.concat())
    }

    fn run(&self, source: &str, options: &[&str]) -> Outcome {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let out = Command::new(rustc)
            .args(["--edition=2024", "--crate-type=lib", "--cap-lints=warn", source])
            .args(options)
            .arg("--out-dir")
            .arg(&self.folder)
            .output()
            .unwrap();
        Outcome {
            ok: out.status.success(),
            messages: String::from_utf8(out.stderr).unwrap(),
            assembly: fs::read_to_string(self.folder.join("program.s")).unwrap_or_default(),
        }
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
