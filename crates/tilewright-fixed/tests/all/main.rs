//! The tests of `tilewright-fixed` from outside: one program, a module for each notion.

mod compiler;
mod laws;
