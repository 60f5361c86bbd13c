//! The integration tests of `tilewright-sharded`: one program, with a module for each subject.

mod laws;
mod makers;
mod vectors;
