//! Moves array data in the memory of CUDA devices.
//!
//! The driver and the compiler NVRTC are opened when they are needed: this crate builds without CUDA, and if CUDA is
//! missing at run time, the error lists the names that were tried. A [`Move`] is a program with its kernels; a launch
//! queues them on a stream and returns.
//!
//! | module | contents |
//! |---|---|
//! | `cuda` | [`Cuda`]: driver, compiler and code together; launches |
//! | `movement` | [`Move`]: a program, and its kernels for pointers of each alignment; [`Job`]: a move with its memory |
//! | `settings` | the places where the libraries are looked for; the message if they are not found |
//! | `compiler` | NVRTC, and the architecture that a text is compiled for |
//! | `modules` | compiled code in memory and in files, and its keys |
//! | `device` | devices with their primary contexts; checks of the memory of jobs |
//! | `table` | the arguments of entries; many arrays in one launch |
//! | `context` | [`DeviceContext`]: a device with [`Memory`] that this process owns; [`Queue`]: work in order, timed by events |
//! | `error` | errors of devices, and the code of the driver |
//! | `raw` | the calls of both libraries, the only `unsafe` code |
//!
//! ```
//! use tilewright_cuda::Cuda;
//! match Cuda::shared() {
//!     Ok(_) => println!("a device is there"),
//!     Err(error) if error.is_unavailable() => println!("without a device: {error}"),
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! # Errors
//!
//! The kind of an error is a stable word. Unless it is `driver`, nothing has been written.
//!
//! | word | meaning |
//! |---|---|
//! | `no-driver`, `no-compiler` | a library was not found; the message lists the names and places that were tried |
//! | `too-old` | a library lacks a function that is needed |
//! | `no-device` | the driver works, but finds no device |
//! | `architecture` | the compiler makes no code for this device, or none that the driver accepts |
//! | `memory` | an address is not in memory that a device can reach |
//! | `devices` | the memory of source, destination or stream is on different devices |
//! | `stream` | a stream of a context that is not the device's primary one |
//! | `captured` | code would have to be loaded while the stream is captured |
//! | `compile` | the compiler refused a kernel; the message has its log |
//! | `driver` | a call of the driver's failed: [`Error::code`] |
//! | `buffer` | memory too short for the plan, or memory that overlaps |
//! | `limit` | a stated bound is reached |
//! | `unsupported` | no kernel supports the move |
//!
//! ```
//! use tilewright_cuda::{Cuda, Settings};
//! let nowhere = Settings::default().with_driver("no/such/libcuda.so");
//! let error = Cuda::open(&nowhere).unwrap_err();
//! assert_eq!((error.kind(), error.is_unavailable(), error.code()), ("no-driver", true, None));
//! assert!(error.to_string().contains("no/such/libcuda.so"), "{error}");
//! ```
#![deny(unsafe_code)]

mod compiler;
mod context;
mod cuda;
mod device;
mod error;
mod modules;
mod movement;
#[allow(unsafe_code, reason = "the calls of the driver and the compiler, each with its proof")]
mod raw;
mod settings;
mod table;

pub use crate::context::{Queue, Span, Step};
pub use crate::{context::StreamEvent, modules::Counts, movement::Job};
pub use context::{DeviceContext, Facts, Memory};
pub use cuda::Cuda;
pub use movement::Move;
pub use raw::{DeviceBytes, Stream};
pub use settings::Settings;
pub use tilewright_error::Error;

/// The example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
