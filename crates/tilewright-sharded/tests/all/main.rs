//! The tests of `tilewright-sharded` from outside: one program, a module for each notion.

mod laws;
mod makers;
mod vectors;
