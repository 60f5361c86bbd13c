//! The tests of `tilewright-draw` from outside: one program, a module for each notion.

mod golden;
mod laws;
mod prints;
