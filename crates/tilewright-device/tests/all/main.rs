//! The integration tests of `tilewright-device`: one program, with a module for each subject.

mod cases;
mod far;
mod gather;
mod golden;
mod host;
mod kernels;
mod mutants;
mod pairs;
mod realigned;
mod simulator;
mod swizzled;
mod ways;
mod widths;
