//! The library for the page in the browser.
//!
//! It exports [`ask`], which answers a question in JSON, and [`View`], an open layout from which the page reads windows
//! as arrays of numbers while it scrolls. On `wasm32-unknown-unknown` both are exported to JavaScript. Elsewhere they
//! are ordinary functions, so tests can call them. `cargo xtask web` builds the page, with this crate twice: the module
//! that the page starts with has no features. The feature `late` adds index tables and all questions of the library;
//! the page loads that module when the first one answers with an error of the kind `not-built`.
//!
//! ```
//! use tilewright_web::{View, ask};
//! let answer = ask(r#"{"ask": "eval", "text": "size((4,8):(8,1))"}"#);
//! assert_eq!(answer, r#"{"kind":"integer","text":"32","value":32}"#);
//!
//! let tiled = View::open("f32[3,5]{1,0:T(2,2)}", "", "").unwrap();
//! assert_eq!(tiled.grid(&[], 0.0, 2.0, 2, 2), [4.0, 5.0, 6.0, 7.0]);
//! ```
#![forbid(unsafe_code)]

mod question;
mod step;
mod view;

pub use question::ask;
pub use view::View;
