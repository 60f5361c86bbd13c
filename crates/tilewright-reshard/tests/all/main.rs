//! Checkpoints in shards become others: laws, checkpoints of other libraries, refusals, kills.

mod calls;
mod common;
mod extents;
#[cfg(debug_assertions)]
mod faults;
mod killed;
mod laws;
mod pairs;
mod real;
mod refused;
mod safety;
