//! Generates device code from a program that moves array data: CUDA, HIP, OpenCL, and C++ on the host for tests.
//!
//! | module | contents |
//! |---|---|
//! | `plan` | a program as a list of kernels; the first way that handles a region moves it |
//! | `byte_region` | a region in bytes between two pointers, the input of the ways; the alignment of both, the choices that measurements decide, and swizzles |
//! | `rows` | runs of at least 64 bytes, moved through registers |
//! | `transpose` | vectors exchanged in registers and reordered in shared memory |
//! | `realign` | transposes whose rows may have any alignment: a transpose that shifts vectors on both sides |
//! | `gather` | few channels, odd inner dims, other widths: runs copied to shared memory, elements gathered from them |
//! | `elements`, `fill` | one element for each thread, for any program; padding |
//! | `grid` | loops as a grid of blocks and threads |
//! | `kernel` | text and numbers of a launch, and the languages that the text compiles as |
//!
//! ```
//! use tilewright_core::TensorLayout;
//! use tilewright_device::{Alignment, DevicePlan, Target};
//! use tilewright_relayout::{Elements, Program};
//! let rows = TensorLayout::row_major(&[300, 500]).unwrap();
//! let columns = TensorLayout::col_major(&[300, 500]).unwrap();
//! let program = Program::new(&rows, &columns, Elements::same(32), 0)?;
//! let plan = DevicePlan::new(&program, Alignment::default())?;
//! for kernel in plan.kernels() {
//!     println!("{} × {}: {}", kernel.blocks(), kernel.threads(), kernel.source(Target::Cuda));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod byte_region;
mod elements;
mod fill;
mod gather;
mod grid;
mod kernel;
mod plan;
mod realign;
mod rows;
mod transpose;

pub use crate::kernel::Target;
pub use byte_region::{Alignment, Options};
pub use kernel::{Kernel, Way};
pub use plan::DevicePlan;
pub use tilewright_error::Error;
