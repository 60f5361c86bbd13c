//! What was decided, what was refused, and why: the file `DESIGN.md` of the project.
#![doc = include_str!("../docs/DESIGN.md")]
// Its brackets are shapes and intervals.
#![allow(rustdoc::broken_intra_doc_links)]
