//! The laws of codes, decoded maps and descriptions.

mod compositions;
mod decoding;
mod laws;
mod mutants;
mod patterns;
mod random;
