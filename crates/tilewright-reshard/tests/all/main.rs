//! Tests of resharding: laws, checkpoints of other libraries, refusals, killed processes.

mod calls;
mod common;
mod extents;
#[cfg(debug_assertions)]
mod faults;
mod gguf;
mod killed;
mod laws;
#[cfg(debug_assertions)]
mod losses;
mod pairs;
mod real;
mod refused;
mod safety;
mod shards;
