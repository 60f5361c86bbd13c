//! The tests of `tilewright-core` from outside: one program, with a module for each subject.

mod algebra_brute;
mod algebra_composition;
mod algebra_counts;
mod algebra_judge;
mod algebra_laws;
mod algebra_swizzled;
mod linear_laws;
mod no_panic;
mod structure_cases;
mod structure_no_panic;
mod views;
