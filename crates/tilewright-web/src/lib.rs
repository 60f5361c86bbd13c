//! The library as the page in the browser sees it.
//!
//! It exports two things: [`ask`], a question and its answer as JSON, and [`View`], a layout that is
//! kept open so that a window of it can be read as an array of numbers, as often as the page scrolls.
//! On `wasm32-unknown-unknown` both are exported; elsewhere they are functions like any other, which is
//! how they are tested. `cargo xtask web` builds the page.
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

mod facts;
mod links;
mod question;
mod step;
mod view;

pub use question::ask;
pub use view::View;
