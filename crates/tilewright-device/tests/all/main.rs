//! The tests of `tilewright-device` from outside: one program, a module for each notion.

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
