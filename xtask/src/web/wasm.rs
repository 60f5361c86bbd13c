//! The library compiled to WebAssembly, by whatever compiler can.
//!
//! Most have the target, or rustup adds it. Where it cannot, Debian's compiler for browsers builds the
//! standard library itself from its source package.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{Outcome, command, output, run, say, target, works};

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// Finds or fetches a compiler that has a standard library for the target.
pub(super) fn fetch(root: &Path) -> Outcome {
    if has_target(root) || adds_target(root) { Ok(()) } else { debian(root) }
}

/// The compiled library with the features that these words choose. The next compilation writes the same file.
pub(crate) fn compile(root: &Path, features: &[&str]) -> Outcome<PathBuf> {
    let folder = target(root)?;
    if has_target(root) || adds_target(root) {
        run(library(command(root, &["cargo"]), &folder).args(features).arg("--locked"))?;
        return Ok(built(&folder));
    }
    say(&format!("    no {TARGET} from rustup; Debian's compiler builds the standard library"));
    let folder = folder.join("web-debian");
    debian(root)?;
    let mut build = library(command(root, &["/usr/bin/cargo"]), &folder);
    build.args(features).arg("-Zbuild-std=std,panic_abort");
    build.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker(root)?);
    run(&mut build)?;
    Ok(built(&folder))
}

/// The build of the library; the kernels' helpers of other instruction sets are not news here. Messages of panics name files
/// of packages without the folders of this machine, so the module is the same on every machine.
fn library(mut cargo: Command, folder: &Path) -> Command {
    cargo.args(["build", "--package", "tilewright-web", "--lib", "--profile", "web"]);
    cargo.args(["--target", TARGET, "--target-dir"]).arg(folder);
    let mut flags = vec!["-Awarnings".to_owned()];
    flags
        .extend(registries().iter().map(|path| format!("--remap-path-prefix={}=", path.display())));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    cargo
}

/// The folders that cargo unpacks packages into.
fn registries() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let folders = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    folders.into_iter().flatten().flatten().map(|folder| folder.path()).collect()
}

fn built(folder: &Path) -> PathBuf {
    folder.join(TARGET).join("web/tilewright_web.wasm")
}

/// Returns whether the compiler in use has a standard library for the target.
fn has_target(root: &Path) -> bool {
    let sysroot = output(&mut command(root, &["rustc", "--print", "sysroot"]));
    sysroot.is_ok_and(|path| {
        let folder = Path::new(path.trim()).join("lib/rustlib").join(TARGET).join("lib");
        folder.is_dir()
    })
}

/// Has rustup add the target to the compiler in use, and nothing else.
fn adds_target(root: &Path) -> bool {
    works(&mut command(root, &["rustup", "--version"]))
        && run(&mut command(root, &["rustup", "target", "add", TARGET])).is_ok()
}

/// Debian's compiler, installed where it is not.
fn debian(root: &Path) -> Outcome {
    if Path::new("/usr/bin/rustc").exists() && Path::new("/usr/bin/cargo").exists() {
        return Ok(());
    }
    install(root, &PACKAGES)
}

/// Installs packages of the system.
pub(super) fn install(root: &Path, packages: &[&str]) -> Outcome {
    let apt = |words: &[&str]| {
        let mut apt = command(root, &["apt-get", "--quiet", "--quiet", "--yes"]);
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(words);
        run(&mut apt)
    };
    let words = [&["install", "--no-install-recommends"], packages].concat();
    // Lists may be missing, or older than the packages they name.
    let installed = apt(&words).or_else(|_| apt(&["update"]).and_then(|()| apt(&words)));
    installed.map_err(|error| format!("{error}; as root it installs {}", packages.join(" ")))
}

/// The linker that comes with the compiler in use: Debian's packages bring none for browsers.
fn linker(root: &Path) -> Outcome<PathBuf> {
    let sysroot = output(&mut command(root, &["rustc", "--print", "sysroot"]))?;
    let hosts = Path::new(sysroot.trim()).join("lib/rustlib");
    let folders = fs::read_dir(&hosts).map_err(|error| format!("{}: {error}", hosts.display()))?;
    let linkers = folders.flatten().map(|host| host.path().join("bin/rust-lld"));
    linkers.into_iter().find(|linker| linker.exists()).ok_or_else(|| {
        format!("no rust-lld under {}, and rustup cannot add {TARGET}", hosts.display())
    })
}
