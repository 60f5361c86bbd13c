//! `cargo xtask web`: the page in the browser, from the library to `web/dist`.
//!
//! What it needs it fetches: the compiler's target (`wasm.rs`), the packages of `web/package-lock.json`, and
//! for its tests a browser (`browser.rs`).

mod browser;
mod wasm;

use std::{fs, path::Path};

use crate::shell::{Outcome, command, run, target};

/// Builds the page.
pub(crate) fn build(root: &Path) -> Outcome {
    let web = root.join("web");
    let compiled = wasm::compile(root)?;
    bind(root, &compiled)?;
    packages(&web)?;
    run(&mut command(&web, &["node_modules/.bin/tsc", "--project", "."]))?;
    run(&mut command(&web, &["node", "build.mjs"]))
}

/// Asks the page what the corpus holds, in Node, and uses it in a browser.
pub(crate) fn test(root: &Path) -> Outcome {
    let browser = browser::find(root)?;
    let mut tests = command(&root.join("web"), &["node", "--test", "tests/"]);
    tests.env("CHROMIUM", browser).env("SCREENSHOTS", target(root)?.join("screenshots"));
    run(&mut tests)
}

/// Writes the JavaScript that calls the compiled library, into `web/generated`.
fn bind(root: &Path, compiled: &Path) -> Outcome {
    let folder = target(root)?.join("web-bindgen");
    let mut build = command(root, &["cargo", "run", "--quiet", "--locked", "--manifest-path"]);
    build.arg("web/bindgen/Cargo.toml").arg("--target-dir").arg(folder).arg("--");
    run(build.arg(compiled).arg("web/generated"))
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
