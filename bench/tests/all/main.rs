//! The tests of `tilewright-bench` from outside: one program, a module for each notion.

mod definitions;
