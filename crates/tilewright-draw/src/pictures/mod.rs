//! The pictures: a function from layouts to a scene in each file.

pub(crate) mod banks;
pub(crate) mod conversion;
pub(crate) mod devices;
pub(crate) mod step;
pub(crate) mod threads;
