//! Conversions of files, and writers of arrays in memory: what is decided, and what makes the bytes of a result.

pub(crate) mod budget;
#[cfg(feature = "remote")]
pub(crate) mod checked;
pub(crate) mod conversion;
pub(crate) mod job;
pub(crate) mod kept;
pub(crate) mod output;
pub(crate) mod pipeline;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod shares;
pub(crate) mod uploads;
pub(crate) mod work;
pub(crate) mod worker;
pub(crate) mod writer;
