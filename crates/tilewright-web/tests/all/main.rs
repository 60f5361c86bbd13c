//! Tests of `tilewright-web` through its public functions: one program with a module for each notion.

mod questions;
