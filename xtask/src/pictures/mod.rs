//! `cargo xtask pictures`: draws the README's pictures: the plot of speed from a record, and the recording of a
//! terminal with the program.
//!
//! The plot reads a file of `bench/record/`, so its numbers are measured; it is drawn for light and for dark pages. The
//! recording runs the program and keeps its output. With `--check` nothing is written: the files must equal the
//! pictures that would be drawn.

mod plot;
mod recording;

use std::{fs, path::Path};

use crate::{
    program::{self, Build},
    shell::Outcome,
};

/// The folder of the pictures.
const FOLDER: &str = "docs/readme";

/// Draws all pictures, or compares them. The program is the one at this path, or one that is built.
pub(crate) fn run(root: &Path, check: bool, program: Option<&Path>) -> Outcome {
    let program = match program {
        Some(program) => program.to_path_buf(),
        None => program::build(root, Build::Debug)?,
    };
    let terminal = recording::svg(&recording::played(root, &program)?);
    let pictures = plot::svgs(root)?.into_iter().chain([("terminal.svg", terminal)]);
    pictures.into_iter().try_for_each(|(name, text)| kept(root, name, &text, check))
}

/// Writes a picture, or returns an error if the file in the folder differs.
fn kept(root: &Path, name: &str, text: &str, check: bool) -> Outcome {
    let file = format!("{FOLDER}/{name}");
    let path = root.join(&file);
    let is_fresh = fs::read_to_string(&path).is_ok_and(|kept| kept == text);
    match (is_fresh, check) {
        (true, _) => Ok(()),
        (false, true) => Err(format!("{file} is out of date; `cargo xtask pictures` draws it")),
        (false, false) => fs::create_dir_all(root.join(FOLDER))
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{file}: {error}")),
    }
}

/// Escapes a text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
