//! The tests of `tilewright-fixed` from outside: one program, with a module for each subject.

mod compiler;
mod laws;
