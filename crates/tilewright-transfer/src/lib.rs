//! Moves parts of arrays between files and memory, within a bound on buffers.
//!
//! The crates for files and resharding build on it. A move is a [`Plan`](tilewright_relayout::Plan) whose source or
//! destination is in memory. The other side is bytes at positions: a file, a range of one, or a tensor that is
//! gathered. [`reads`] and [`writes`] list the steps of a move, and a [`Mover`] runs them in buffers. So the cost of a
//! job is known before data moves.
//!
//! | task | call |
//! |---|---|
//! | bytes of a file at a position | [`read_at`], [`write_at`] |
//! | the memory, threads and watcher of a job | [`Limits`] |
//! | buffers that are counted | [`Budget`] |
//! | reading a part of an array from a file into memory | [`Mover::read`] |
//! | writing a part in memory to its positions in a file | [`Mover::write`] |
//! | the calls and bytes of such a move | [`reads`], [`writes`], [`Step::calls`] |
//! | cutting a destination into ranges that stay within a bound | [`chunks`] |
//! | bytes of a source that is read in whole elements | [`in_units`] |
//! | sharing work among threads | [`together`], [`beside`], [`first`]; on one piece [`Pool`] |
//! | progress and cancellation | [`Watch`], [`Watch::check_cancelled`] |
//!
//! ```
//! use tilewright_core::TensorLayout;
//! use tilewright_relayout::{Elements, Plan};
//! use tilewright_transfer::{Budget, Mover};
//! // The columns of a matrix of bytes that is stored by rows.
//! let (rows, columns) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
//! let plan = Plan::new(&rows, &columns, Elements::same(8), 0).unwrap();
//! let (stored, mut out) = ([1, 2, 3, 4, 5, 6], [0; 6]);
//! let mut read = |bytes: &mut [u8], at: u64| {
//!     bytes.copy_from_slice(&stored[at as usize..][..bytes.len()]);
//!     Ok::<(), std::io::Error>(())
//! };
//! Mover::new(&Budget::new(1 << 20), 1 << 16).read(&plan, &mut out, &mut read).unwrap();
//! assert_eq!(out, [1, 4, 2, 5, 3, 6]);
//! ```
#![forbid(unsafe_code)]

mod budget;
mod failed;
mod file;
mod limits;
mod mover;
mod range;
mod step;
mod workers;

pub use budget::{Budget, Buffer, Reservation, zeros};
pub use failed::{Failed, Refused};
pub use file::{read_at, write_at};
pub use limits::{Limits, Quiet, Watch};
pub use mover::{Mover, fetch, part};
pub use range::{chunks, in_units};
pub use step::{LONG, Step, is_straight, reads, writes};
pub use workers::{Pieces, Pool, beside, cores, first, together};
