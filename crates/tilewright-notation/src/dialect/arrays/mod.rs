//! Dialects of libraries of arrays: one stride a dim, or an order of dims.

pub(super) mod arrow;
pub(super) mod dlpack;
pub(super) mod gguf;
pub(super) mod halide;
pub(super) mod mdspan;
pub(super) mod numpy;
pub(super) mod safetensors;
pub(super) mod strided;
pub(super) mod torch;
