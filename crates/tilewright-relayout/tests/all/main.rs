//! The tests of `tilewright-relayout` from outside: one program, a module for each notion.

mod bases;
mod c_loops;
mod common;
mod composed;
mod forced;
mod in_place;
mod matrices;
mod naive;
mod oracle;
mod packed;
mod plan;
mod program;
mod small;
mod tabled;
