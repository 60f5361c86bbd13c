//! `cargo xtask tidy`: the rules that keep the architecture, as tests over the tracked files.
//!
//! Each rule is a pure function from text to findings, in a file together with the bad inputs that it must find.
//! This file applies the rules to files.
//!
//! | file | rule |
//! |---|---|
//! | `graph.rs` | A1, A2: the crates that each crate may depend on; no cycles between files |
//! | `dialects.rs` | A3, A4: consumers and core name no notation, the facade parses no name |
//! | `libraries.rs` | A1: no `cfg(feature …)` in core; A5: no catch-all arm over core enums; A7: the crates that may print; A6: the folders that may contain `unsafe`, and its proof; no library names an option of the program |
//! | `files.rs` | headers, maps of modules, no unfinished marks, no paths of one machine, readable sizes of files and functions; every public item of a library has an example |
//! | `source.rs` | no rule: files as the rules read them, and findings |
//! | `documents.rs` | links lead to existing files; every document is two links from the README, and in the navigation of the site; A9: every file of the corpus is described |

mod dialects;
mod documents;
mod files;
mod graph;
mod libraries;
mod source;

use std::path::Path;

use self::source::Source;
use crate::shell::{Outcome, metadata};
use source::{Finding, Tree};

/// A rule over one Rust file.
type Rule = fn(&Source) -> Vec<Finding>;

const RULES: [Rule; 12] = [
    libraries::features,
    dialects::findings,
    libraries::open_arms,
    libraries::places,
    libraries::proofs,
    libraries::roots,
    libraries::prints,
    libraries::options,
    files::findings,
    files::sizes,
    files::header,
    files::module_map,
];

/// Prints every finding; the error has their number.
pub(crate) fn run(root: &Path) -> Outcome {
    let tree = Tree::read(root)?;
    let map = tree.text(graph::MAP).unwrap_or_default();
    let mut findings = graph::findings(&metadata(root)?, map, &|path| tree.text(path));
    findings.extend(over_tree(&tree));
    findings.sort();
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("`cargo xtask tidy` found {count} things to mend")),
    }
}

/// Applies every rule except the crate graph's.
fn over_tree(tree: &Tree) -> Vec<Finding> {
    let mut findings = documents::corpus(tree);
    findings.extend(documents::findings(tree));
    for (path, text) in tree.texts() {
        findings.extend(files::unfinished(path, text));
        findings.extend(files::machine_paths(path, text));
        if path.ends_with(".md") {
            findings.extend(documents::links(path, text, &|target| tree.holds(target)));
        }
    }
    let sources = tree.sources();
    findings.extend(graph::cycles(&sources));
    for source in &sources {
        findings.extend(RULES.iter().flat_map(|rule| rule(source)));
    }
    findings
}
