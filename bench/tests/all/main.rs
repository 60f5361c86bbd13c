//! The integration tests of `tilewright-bench`: one program, with a module for each subject.

mod definitions;
