//! `cargo xtask tidy`: the rules that keep the architecture, as tests over the tracked files.
//!
//! Each rule is a pure function from text to findings, in a file of its own together with the bad
//! inputs that it must find. This file says which rule looks at which file.
//!
//! | file | keeps |
//! |---|---|
//! | `graph.rs` | A1, A2: what each crate may depend on |
//! | `circles.rs` | no circles of files; `modules.rs` and `paths.rs` say which file needs which |
//! | `features.rs` | A1: no `cfg(feature …)` in core |
//! | `dialects.rs` | A3, A4: consumers and core name no notation, the facade asks no name |
//! | `open_arms.rs` | A5: no catch-all arm over core enums |
//! | `unsafety.rs` | A6: where `unsafe` may stand, and its proof |
//! | `console.rs` | A7: who may print |
//! | `options.rs` | no library names an option of the program |
//! | `examples.rs` | every public item of a library shows itself in an example |
//! | `length.rs` | files and functions of a size one can read |
//! | `words.rs` | headers, nothing left unfinished, no machine's paths |
//! | `corpus.rs` | A9: every file of the corpus is described |
//! | `links.rs` | links in the documents lead somewhere |
//! | `documents.rs` | every document is two links from the README, and in the navigation of the site |

mod circles;
mod console;
mod corpus;
mod dialects;
mod documents;
mod examples;
mod features;
mod finding;
mod graph;
mod length;
mod links;
mod modules;
mod open_arms;
mod options;
mod paths;
mod source;
mod tree;
mod unsafety;
mod words;

use std::path::Path;

use self::{finding::Finding, source::Source, tree::Tree};
use crate::shell::{Outcome, metadata};

/// A rule over one Rust file.
type Rule = fn(&Source) -> Vec<Finding>;

const RULES: [Rule; 11] = [
    features::findings,
    dialects::findings,
    open_arms::findings,
    unsafety::places,
    unsafety::proofs,
    unsafety::roots,
    console::findings,
    options::findings,
    examples::findings,
    length::findings,
    words::header,
];

/// Prints every finding; the error counts them.
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

/// Every rule but the crate graph's.
fn over_tree(tree: &Tree) -> Vec<Finding> {
    let mut findings = corpus::findings(tree);
    findings.extend(documents::findings(tree));
    for (path, text) in tree.texts() {
        findings.extend(words::unfinished(path, text));
        findings.extend(words::machine_paths(path, text));
        if path.ends_with(".md") {
            findings.extend(links::findings(path, text, &|target| tree.holds(target)));
        }
    }
    let sources = tree.sources();
    findings.extend(circles::findings(&sources));
    for source in &sources {
        findings.extend(RULES.iter().flat_map(|rule| rule(source)));
    }
    findings
}
