//! What other libraries answer where they differ from this one: the file `docs/explanation/comparison.md` of the project.
#![doc = include_str!("../docs/comparison.md")]
// Its brackets are shapes and intervals.
#![allow(rustdoc::broken_intra_doc_links)]
