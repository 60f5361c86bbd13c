//! The tests of `tilewright-banks` from outside: one program, with a module for each subject.

mod laws;
