//! Dialects of digits: patterns, named formats, orders of dims, and the canonical form that they print from.

pub(super) mod canonical;
pub(super) mod einops;
pub(super) mod format;
pub(super) mod order;
pub(super) mod pack;
pub(super) mod pattern;
pub(super) mod template;
