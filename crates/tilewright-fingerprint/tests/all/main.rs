//! The tests of `tilewright-fingerprint` from outside: one program, a module for each notion.

mod laws;
mod mutations;
