//! The tests of `tilewright-emit` from outside: one program, a module for each notion.

mod compiled;
