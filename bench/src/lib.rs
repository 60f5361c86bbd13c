//! Benchmarks of relayout as data: what is moved is written in `definitions/*.toml`, with the checksum of
//! the bytes that must come out, and measured next to memcpy in the same run.
//!
//! | want | call |
//! |---|---|
//! | the cases | [`definitions`], [`Definition::case`] |
//! | a case as its plan and bytes | [`Case::plan`], [`data`] |
//! | its boxes, for other libraries | [`Case::boxes`] |
//! | what must come out, one element at a time | [`Case::expected`] |
//! | cases that nothing was tuned for | [`random`], [`Case::given`] |
//! | buffers as `malloc` gives them | [`Case::at`] |
//! | how fast it is | [`Bench`] |
//! | the same on a device | [`DeviceBench`], [`Case::of_bytes`] |
//! | what many come to | [`summary`], [`tiny`], [`planning`] |
//!
//! ```
//! use tilewright_bench::{Bench, Effort, Size, definitions};
//! let all = definitions()?;
//! let turned = all.iter().find(|case| case.name() == "transpose-f32-odd").unwrap();
//! let case = turned.case(Size::Small)?;
//! let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
//! assert!(row.is_right() && row.gb_per_s() > 0.0);
//! # Ok::<(), tilewright_bench::Error>(())
//! ```
#![forbid(unsafe_code)]

mod boxes;
mod case;
mod check;
mod copy;
mod cpu_time;
pub mod data;
mod definition;
mod device;
mod error;
mod expected;
mod machine;
mod measure;
mod offsets;
mod random;
mod row;
mod short;
mod size;
mod turns;

pub use boxes::{Boxed, Turn};
pub use case::Case;
pub use definition::{Definition, definitions, parse};
pub use device::{Asked, DeviceBench, DeviceRow};
pub use error::Error;
pub use machine::Machine;
pub use measure::{Bench, Effort};
pub use offsets::Offsets;
pub use random::{RANDOM_BYTES, random};
pub use row::Row;
pub use short::{Planning, Summary, Tiny, planning, summary, tiny};
pub use size::Size;
