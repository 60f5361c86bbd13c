//! Checkpoints in shards become others: laws, checkpoints of other libraries, refusals, kills.

mod calls;
mod common;
mod killed;
mod laws;
mod pairs;
mod real;
mod refused;
