//! Layouts as code: the offset function of a layout, and its inverse, as a few operations on integers.
//!
//! A layout is converted to [`Digits`]: for each dim its digits, with the sizes below them and their strides. Extents
//! are numbers or names; a named extent may be known to be a multiple of something. A function is an expression over
//! coordinates, made by constructors that use known ranges and factors: divisions by powers of two become shifts, a
//! digit that is never carried needs no remainder, and tests that cannot fail are omitted. Every language prints the
//! same expression.
//!
//! | module | contents |
//! |---|---|
//! | `expr` | expressions over integers in reduced form, the known facts of their values, and functions of them |
//! | `digits` | extents that are numbers or names; a layout, or a pattern at named extents, as digits |
//! | `offset` | the offset function and its inverse |
//! | `print` | the languages, and functions as text in each |
//!
//! ```
//! use tilewright_core::{Layout, TensorLayout};
//! use tilewright_emit::{Digits, Language, Style};
//! // Blocks of 16 by 16 of a matrix of 64 by 64: Ascend's zN.
//! let layout = Layout::parse("((16,4),(16,4)):((16,256),(1,1024))").unwrap();
//! let digits = Digits::of(&TensorLayout::of(&layout))?;
//! let code = digits.offset()?.print(Language::Python, &Style::default())?;
//! assert!(code.ends_with("    return i0 * 16 + (i1 & 15) + (i1 >> 4) * 1024\n"), "{code}");
//! # Ok::<(), tilewright_emit::Error>(())
//! ```
#![forbid(unsafe_code)]

mod digits;
mod expr;
mod offset;
mod print;

pub use digits::{Assumption, Digits, Dim};
pub use expr::Function;
pub use print::{Language, Style, Width};
pub use tilewright_error::Error;
