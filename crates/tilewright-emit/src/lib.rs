//! Layouts as code: the offset function of a layout, and its inverse, as a few operations on integers.
//!
//! A layout is made into [`Digits`]: for each dim its digits, with the sizes below them and their strides. Extents may be
//! numbers or names; of a named extent it may be known that it is a multiple of something. A function is an expression over
//! coordinates, made by constructors that use what is known of ranges and factors: divisions by powers of two are shifts,
//! a digit that is never carried has no remainder, and a test that cannot fail is left out. Every language prints the same
//! expression.
//!
//! | module | what is in it |
//! |---|---|
//! | `expr`, `facts` | expressions over integers, made reduced; what is known of their values |
//! | `product` | sizes and strides: a number times extents, each rounded up to tiles |
//! | `digits` | a layout, or a pattern at named extents, as digits |
//! | `forward`, `backward` | the offset function and its inverse |
//! | `function` | names for what is used twice |
//! | `assume`, `dim` | named extents, and what is known of them |
//! | `language`, `print` | the languages |
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

mod assume;
mod backward;
mod digits;
mod dim;
mod error;
mod expr;
mod facts;
mod forward;
mod function;
mod language;
mod print;
mod product;

pub use assume::Assumption;
pub use digits::Digits;
pub use dim::Dim;
pub use error::Error;
pub use function::Function;
pub use language::{Language, Style, Width};
