//! How this machine moves what a program says.

pub(crate) mod clip;
pub(crate) mod cost;
pub(crate) mod cut;
#[cfg(test)]
mod forced;
pub(crate) mod hops;
#[allow(unsafe_code)]
pub(crate) mod kernel;
pub(crate) mod padding;
pub(crate) mod pool;
pub(crate) mod run;
pub(crate) mod weave;
