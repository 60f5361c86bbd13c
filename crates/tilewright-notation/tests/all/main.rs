//! The tests of `tilewright-notation` from outside: one program, a module for each notion.

mod axe;
mod catalogue;
mod contract;
mod cutlass;
mod format_corpus;
mod meaning;
mod recognised;
mod round_trip;
mod tables;
mod translate;
mod transposed;
mod triton;
mod triton_instructions;
mod vectors;
