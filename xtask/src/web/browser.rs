//! The browser that the page's tests use.

use std::path::Path;

use super::wasm::install;
use crate::shell::{Outcome, command, works};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The path of a browser; Debian's Chromium is installed where there is none.
pub(super) fn find(root: &Path) -> Outcome<String> {
    if let Some(found) = present(root) {
        return Ok(found);
    }
    install(root, &["chromium", "fonts-dejavu-core"])?;
    present(root).ok_or_else(|| "chromium is installed and not on the path".into())
}

fn present(root: &Path) -> Option<String> {
    let found = |name: &str| {
        let mut which = command(root, &["which", name]);
        let path = crate::shell::output(&mut which).ok()?.trim().to_owned();
        works(&mut command(root, &[&*path, "--version"])).then_some(path)
    };
    NAMES.into_iter().find_map(found)
}
