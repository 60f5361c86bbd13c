//! The tests of `tilewright-banks` from outside: one program, a module for each notion.

mod laws;
