//! The compiler's messages for programs over this crate, and the code that it generates.

mod assembly;
mod errors;
mod rustc;

use rustc::Compiler;

/// One test: to compile this crate takes most of the time.
#[test]
fn checks_and_builds_show_our_sentences_and_make_the_code_written_by_hand() {
    let compiler = Compiler::new();
    errors::const_items(&compiler);
    errors::types(&compiler);
    errors::generic_constants(&compiler);
    assembly::offsets_of_static_layouts(&compiler);
}
