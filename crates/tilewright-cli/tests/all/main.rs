//! Tests of `tilewright-cli` through the program: one program with a module for each notion.

mod answers;
mod banks;
mod bench;
mod bench_device;
mod draw;
mod emit;
mod eval;
mod files;
mod fingerprint;
mod infer;
mod messages;
mod module;
mod own_formats;
mod readme;
mod recast;
mod recast_layouts;
mod recast_metadata;
mod recast_verified;
mod recipe;
mod reshard;
mod shard_files;
mod shards;
mod tables;
mod told;
mod width;
mod words;
