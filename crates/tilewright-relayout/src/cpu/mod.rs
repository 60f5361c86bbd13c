//! Execution of programs on the CPU: the choice of a kernel for each region, the kernels, and the threads.

pub(crate) mod cost;
#[cfg(test)]
mod forced;
pub(crate) mod joined;
#[allow(unsafe_code)]
pub(crate) mod kernel;
pub(crate) mod padding;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod scratch;
pub(crate) mod share;
pub(crate) mod transpose;
pub(crate) mod way;
pub(crate) mod workers;
