//! The tools that steps need beside Rust: whether they are here, and how they are fetched.

use std::path::Path;

use crate::{
    python,
    shell::{Outcome, command, works},
    web,
};

/// A tool that a step cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// From 3.11 on, with what a virtual environment needs.
    Python,
    /// From 20 on, with npm.
    Node,
    /// A compiler with a standard library for browsers.
    Wasm,
    Browser,
}

/// Whether this Node is new enough.
const NODE: &str = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";

impl Tool {
    /// Finds the tool, or fetches it where that is possible; the error names what is missing.
    pub(crate) fn fetch(self, root: &Path) -> Outcome {
        match self {
            Tool::Python => python::system(root).map(|_| ()),
            Tool::Node => {
                let all = [&["node", "-e", NODE][..], &["npm", "--version"]];
                match all.into_iter().all(|words| works(&mut command(root, words))) {
                    true => Ok(()),
                    false => Err("no Node from 20 on with npm is on the path".into()),
                }
            }
            Tool::Wasm => web::has_compiler(root),
            Tool::Browser => web::has_browser(root),
        }
    }

    /// The first of some tools that is neither here nor can be fetched, as a sentence.
    pub(crate) fn missing(tools: &[Tool], root: &Path) -> Option<String> {
        tools.iter().find_map(|tool| tool.fetch(root).err())
    }
}
