//! The compiler's messages for programs over this crate, and the code that it generates.

mod assembly;
mod errors;
mod rustc;

use rustc::Compiler;

#[test]
fn a_check_shows_our_sentences() {
    let compiler = Compiler::for_checks("checks");
    errors::const_items(&compiler);
    errors::types(&compiler);
}

#[test]
fn a_build_shows_the_rest_and_makes_the_code_written_by_hand() {
    let compiler = Compiler::for_builds("builds");
    errors::generic_constants(&compiler);
    assembly::offsets_of_static_layouts(&compiler);
}
