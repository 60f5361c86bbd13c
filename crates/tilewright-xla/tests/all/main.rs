//! The tests of `tilewright-xla` from outside: one program, with a module for each subject.

mod buffers;
mod hlo;
mod laws;
mod names;
mod ops_defects;
mod ops_laws;
mod ops_random;
mod ops_rows;
mod ops_vectors;
mod padding;
mod proto;
mod shape;
mod spec;
mod vectors;
