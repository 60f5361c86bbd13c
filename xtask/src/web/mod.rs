//! `cargo xtask web`: the page in the browser, from the library to `web/dist`.
//!
//! What it needs it fetches: the compiler's target (`wasm.rs`), the packages of `web/package-lock.json`, and
//! for its tests a browser (`browser.rs`).

mod browser;
mod wasm;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{Outcome, command, run, target};

/// Builds the page.
pub(crate) fn build(root: &Path) -> Outcome {
    let web = root.join("web");
    packages(&web)?;
    let binder = binder(root)?;
    for (folder, features) in MODULES {
        let compiled = wasm::compile(root, features)?;
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
    wasm::fetch(root)
}

/// Checks that there is a browser for the tests; installs one if there is none.
pub(crate) fn has_browser(root: &Path) -> Outcome {
    browser::find(root).map(|_| ())
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
    made.env("CHROMIUM", browser::find(root)?)
        .env("SCREENSHOTS", target(root)?.join("screenshots"));
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
