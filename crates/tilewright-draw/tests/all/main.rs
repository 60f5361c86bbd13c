//! The integration tests of `tilewright-draw`: one program, with a module for each subject.

mod golden;
mod laws;
mod prints;
