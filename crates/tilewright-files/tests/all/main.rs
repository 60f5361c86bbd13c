//! Whole files, through the public interface.

mod access;
mod arrays;
mod common;
mod corpus;
mod corrupt;
mod differential;
mod dtypes;
mod fingerprints;
mod folders;
mod gguf;
mod kinds;
mod matrices;
mod memory;
mod npz;
mod output;
mod overlap;
mod pt;
mod quantised;
mod read;
mod recorded;
mod shapes;
mod sharded;
mod tables;
mod verified;
mod words;
mod writer;
