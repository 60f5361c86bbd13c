//! The integration tests of `tilewright-table`: one program, with a module for each subject.

mod laws;
