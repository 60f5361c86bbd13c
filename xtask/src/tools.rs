//! The tools that steps need in addition to Rust: finds or fetches them.

use std::path::Path;

use crate::{
    python,
    shell::{Outcome, command, works},
    web,
};

/// A tool that a step needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Python from 3.11 on, with the modules that a virtual environment needs.
    Python,
    /// Node from 20 on, with npm.
    Node,
    /// A Rust compiler with a standard library for browsers.
    Wasm,
    Browser,
}

/// A program that checks that this Node is new enough.
const NODE: &str = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";

impl Tool {
    /// Finds the tool, or fetches it if possible; the error names the missing part.
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

    /// Returns a sentence about the first of some tools that is missing and cannot be fetched.
    pub(crate) fn missing(tools: &[Tool], root: &Path) -> Option<String> {
        tools.iter().find_map(|tool| tool.fetch(root).err())
    }
}
