//! Compiles this crate, core and small programs over both with the compiler alone: core has no dependencies, so neither
//! cargo nor a network is needed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A temporary folder with both crates compiled in it, removed at the end.
pub(crate) struct Compiler {
    folder: PathBuf,
}

/// The sources and names of both, in the order of their dependencies.
const CRATES: [[&str; 2]; 2] = [
    [
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tilewright-core/src/lib.rs"),
        "--crate-name=tilewright_core",
    ],
    [concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs"), "--crate-name=tilewright_fixed"],
];

/// The compiler's messages, and the assembly that it wrote.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ok: bool,
    pub(crate) messages: String,
    pub(crate) assembly: String,
}

impl Compiler {
    /// Compiles the crates as in a release build, except for their own machine code, which is not needed.
    pub(crate) fn new() -> Compiler {
        let options = ["--emit=link", "-Cdebug-assertions=no", "-Coverflow-checks=no"];
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compiler-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let compiler = Compiler { folder };
        for [source, name] in CRATES {
            let outcome = compiler.compile(source, &[&options[..], &[name]].concat());
            assert!(outcome.ok, "{}", outcome.messages);
        }
        compiler
    }

    /// Compiles a program as `cargo check` does.
    pub(crate) fn check(&self, program: &str) -> Outcome {
        self.program(program, &["--emit=metadata"])
    }

    /// Compiles a program as a release build does.
    pub(crate) fn build(&self, program: &str) -> Outcome {
        self.program(program, &["--emit=asm", "-O", "-Cdebuginfo=0"])
    }

    fn program(&self, program: &str, options: &[&str]) -> Outcome {
        let source = self.folder.join("program.rs");
        fs::write(&source, program).unwrap();
        let options = [options, &["--crate-name=program", "--extern=tilewright_fixed"]];
        self.compile(source.to_str().unwrap(), &options.concat())
    }

    /// Core is passed even when core itself is compiled, which does not use it.
    fn compile(&self, source: &str, options: &[&str]) -> Outcome {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let out = Command::new(rustc)
            .args(["--edition=2024", "--crate-type=lib", "--cap-lints=warn", source])
            .args(options)
            .args(["--extern=tilewright_core".as_ref(), "-L".as_ref(), self.folder.as_os_str()])
            .args(["--out-dir".as_ref(), self.folder.as_os_str()])
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
