//! The two libraries as safe calls, and the memory and streams of callers: the only folder of the crate that may
//! contain `unsafe`.
//!
//! | file | contents |
//! |---|---|
//! | `library.rs` | a library opened at run time, and tables of its functions |
//! | `driver.rs` | the calls of the driver |
//! | `nvrtc.rs` | the calls of the compiler |
//! | `loaded.rs` | code in a context, and its launch |
//! | `caller.rs` | memory and streams that a caller gives |
//! | `owned.rs` | the calls for memory and streams that this process owns; the memory itself |
//! | `event.rs`, `graph.rs` | the calls for events; those for graphs |

mod caller;
mod driver;
mod event;
mod graph;
mod library;
mod loaded;
mod nvrtc;
mod owned;

pub use caller::{DeviceBytes, Stream};
pub(crate) use driver::{Allocation, Context, Driver};
pub(crate) use event::{Event, Events};
pub(crate) use graph::Graph;
pub(crate) use library::Library;
pub(crate) use loaded::Loaded;
pub(crate) use nvrtc::{CodeForm, Nvrtc};
pub(crate) use owned::{Allocated, DeviceApi, OwnedStream};
