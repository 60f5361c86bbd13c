//! The tests of `tilewright-web` from outside: one program, a module for each notion.

mod questions;
