//! The tests of `tilewright-py` from outside: one program, a module for each notion.

mod foreign;
mod pieces;
