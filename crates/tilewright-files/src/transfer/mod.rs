//! Moves arrays: conversions, readers and writers, with their buffers and threads.

pub(crate) mod budget;
#[cfg(feature = "remote")]
pub(crate) mod checked;
pub(crate) mod conversion;
pub(crate) mod job;
pub(crate) mod kept;
pub(crate) mod output;
pub(crate) mod pipeline;
pub(crate) mod pool;
pub(crate) mod reader;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod shares;
pub(crate) mod slabs;
pub(crate) mod uploads;
pub(crate) mod work;
pub(crate) mod worker;
pub(crate) mod writer;
