//! Dialects of compilers and of the libraries of kernels that they call.

pub(super) mod affine;
pub(super) mod hlo;
pub(super) mod jax;
pub(super) mod linear;
pub(super) mod mlir;
pub(super) mod onednn;
pub(super) mod triton;
