//! The tests of `tilewright-table` from outside: one program, a module for each notion.

mod laws;
