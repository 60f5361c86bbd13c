//! `cargo xtask web`: the page in the browser, from the library to `web/dist`.
//!
//! What it needs it fetches: the compiler's target, the packages of `web/package-lock.json`, and for its tests a
//! browser. The library is compiled to WebAssembly. Most compilers have the target, or rustup adds it. Where it cannot,
//! Debian's compiler for browsers builds the standard library itself from its source package.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{Outcome, command, output, run, say, target, works};

/// Builds the page.
pub(crate) fn build(root: &Path) -> Outcome {
    let web = root.join("web");
    packages(&web)?;
    let binder = binder(root)?;
    for (folder, features) in MODULES {
        let compiled = compile(root, features)?;
        run(command(&web, &[&binder.to_string_lossy()]).arg(compiled).arg(folder))?;
        fold(&web, &format!("{folder}/tilewright_web_bg.wasm"))?;
    }
    run(&mut command(&web, &["node_modules/.bin/tsc", "--project", "."]))?;
    run(&mut command(&web, &["node", "build.mjs"]))
}

/// The folders of the modules, with the words by which cargo chooses their features: the module that the page starts with, and
/// the one that it loads when a question needs more.
const MODULES: [(&str, &[&str]); 2] =
    [("generated", &["--no-default-features"]), ("generated/late", &[])];

/// The passes that merge equal functions, and the few that shorten the code without hiding its repetitions from compression.
/// Others, such as `--local-cse`, make the module shorter and its compressed form longer.
const PASSES: [&str; 23] = [
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--rse",
    "--vacuum",
    "--remove-unused-brs",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--duplicate-function-elimination",
    "--remove-unused-module-elements",
    "--simplify-locals-nostructure",
    "--optimize-instructions",
    "--vacuum",
    "--optimize-instructions",
    "--vacuum",
    "--duplicate-function-elimination",
    "--remove-unused-module-elements",
    "--remove-unused-names",
    "--merge-blocks",
    "--code-pushing",
];

/// The features of WebAssembly that the compiler uses.
const USED: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Makes the compiled library shorter, and puts its functions in an order that compresses well.
fn fold(web: &Path, module: &str) -> Outcome {
    let optimize = |passes: &[&str]| {
        let mut optimize = command(web, &["node", "node_modules/binaryen/bin/wasm-opt"]);
        run(optimize.args(USED).args(passes).args([module, "-o", module]))
    };
    optimize(&PASSES)?;
    run(&mut command(web, &["node", "order.mjs", module]))?;
    optimize(&["--reorder-functions-by-name"])
}

/// Checks that the library can be compiled; fetches the missing tools.
pub(crate) fn has_compiler(root: &Path) -> Outcome {
    fetch(root)
}

/// Checks that there is a browser for the tests; installs one if there is none.
pub(crate) fn has_browser(root: &Path) -> Outcome {
    find(root).map(|_| ())
}

/// Asks the page what the corpus holds, in Node, and uses it in a browser.
pub(crate) fn test(root: &Path) -> Outcome {
    // Two files at a time: a test waits for the frames of its browser longer than it works.
    let mut tests = browsing(root, &["node", "--test", "--test-concurrency=2"])?;
    run(tests.arg("--test-reporter=spec").args(test_files(&root.join("web/tests"))?))
}

/// Takes a picture of everything the page shows, on four screens, dark and light; it fails where a part is wider
/// than its screen, or complains.
pub(crate) fn shots(root: &Path) -> Outcome {
    run(&mut browsing(root, &["node", "tests/shots.mjs"])?)
}

/// A command in the page's folder, with the paths of a browser and of the screenshots in its environment.
fn browsing(root: &Path, words: &[&str]) -> Outcome<Command> {
    let mut made = command(&root.join("web"), words);
    made.env("CHROMIUM", find(root)?).env("SCREENSHOTS", target(root)?.join("screenshots"));
    Ok(made)
}

fn test_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect();
    files.sort();
    Ok(files)
}

/// The program that writes the JavaScript which calls the compiled library.
fn binder(root: &Path) -> Outcome<PathBuf> {
    let folder = target(root)?.join("web-bindgen");
    let mut build = command(root, &["cargo", "build", "--quiet", "--locked", "--manifest-path"]);
    run(build.arg("web/bindgen/Cargo.toml").arg("--target-dir").arg(&folder))?;
    Ok(folder.join("debug/tilewright-bindgen"))
}

/// Installs the packages that the lock file names, unless they are there.
fn packages(web: &Path) -> Outcome {
    let wanted = read(&web.join("package-lock.json"))?;
    let stamp = web.join("node_modules/.installed");
    if fs::read_to_string(&stamp).is_ok_and(|had| had == wanted) {
        return Ok(());
    }
    run(&mut command(web, &["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The path of a browser; Debian's Chromium is installed where there is none.
fn find(root: &Path) -> Outcome<String> {
    if let Some(found) = present(root) {
        return Ok(found);
    }
    install(root, &["chromium", "fonts-dejavu-core"])?;
    present(root).ok_or_else(|| "chromium is installed and not on the path".into())
}

fn present(root: &Path) -> Option<String> {
    let found = |name: &str| {
        let mut which = command(root, &["which", name]);
        let path = output(&mut which).ok()?.trim().to_owned();
        works(&mut command(root, &[&*path, "--version"])).then_some(path)
    };
    NAMES.into_iter().find_map(found)
}

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// Finds or fetches a compiler that has a standard library for the target.
fn fetch(root: &Path) -> Outcome {
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
fn install(root: &Path, packages: &[&str]) -> Outcome {
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
