//! Checkpoints in shards become others: laws, checkpoints of other libraries, refusals, kills.

mod common;
mod killed;
mod laws;
mod real;
mod refused;
