//! Functions as text, a file a family of languages.

mod infix;
mod mlir;

use crate::{Function, Language, Width};

/// The text of a function under a name.
pub(crate) fn print(function: &Function, name: &str, language: Language, bits: Width) -> String {
    match language {
        Language::Mlir => mlir::print(function, name, bits),
        _ => infix::print(function, name, language, bits),
    }
}
