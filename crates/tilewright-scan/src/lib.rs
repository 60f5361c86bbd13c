//! A cursor for reading texts, whose errors point at the bytes at fault, and suggestions for misspelled words.
//!
//! The crate knows no layout, and of notations only [`TileText`], which layouts and shardings have in common. Each
//! reader has its own error type, into which a [`Fault`] converts:
//!
//! ```
//! use tilewright_scan::{Fault, Scanner, did_you_mean};
//! #[derive(Debug)]
//! struct Refused(Fault);
//! impl From<Fault> for Refused {
//!     fn from(fault: Fault) -> Refused {
//!         Refused(fault)
//!     }
//! }
//! let mut scanner = Scanner::<Refused>::new("tile(8,x)");
//! let (word, _) = scanner.name("a rule")?;
//! let Refused(fault) = scanner.list(("(", ")"), 2, Scanner::integer).unwrap_err();
//! assert_eq!((fault.span, fault.to_string()), ((7, 8), "expected an integer, found `x`".into()));
//! assert_eq!(did_you_mean(word, ["tiles", "rows"]), "; did you mean `tiles`?");
//! # Ok::<(), Refused>(())
//! ```
#![forbid(unsafe_code)]

mod alike;
mod iters;
mod nearest;
mod scanner;

pub use crate::scanner::Fault;
pub use alike::{Alike, Pattern, thousands};
pub use iters::{Iter, MEMORY, Term, TileText, eat_script};
pub use nearest::{alternatives, did_you_mean, distance, nearest, or_one_of};
pub use scanner::{Scanner, comma, tuple};
