//! What moves: the elements of two layouts as regions, or as digits where regions are too many. Nothing
//! here knows a processor.

pub(crate) mod digits;
pub(crate) mod ops;
pub(crate) mod region;
pub(crate) mod walk;
