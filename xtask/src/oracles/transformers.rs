//! Recipes that are generated from transformers, for every type of the installed version, and the defects that audits find.

use std::path::Path;

use crate::wheel;

use super::{Verdict, command, has, libraries, sh};

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
        if !super::imported(root, &python, package, module) {
            println!("    {package} does not install here; types that need it are not built");
        }
    }
    let wanted = std::env::var("TYPES").unwrap_or_default();
    let page = if wanted.is_empty() { &["--write", PAGE][..] } else { &[] };
    let text = python.to_string_lossy();
    super::verdict(wheel::install(root, &python).and_then(|()| {
        for script in ["defects.py", "loads.py"] {
            let path = format!("tests/oracle/transformers/{script}");
            sh(&mut command(root, &[&*text, "-B", &path]))?;
        }
        let script = [&*text, "-B", "tests/oracle/transformers/ask.py"];
        sh(command(root, &script).args(page).args(wanted.split_whitespace()))
    }))
}
