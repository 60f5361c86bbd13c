//! Benchmarks of relayout as data: the moves are written in `definitions/*.toml`, with the checksums of the bytes that
//! they must produce, and are measured next to memcpy in the same run.
//!
//! | want | call |
//! |---|---|
//! | the cases | [`definitions`], [`Definition::case`] |
//! | a case as its plan and bytes | [`Case::plan`], [`data`] |
//! | its boxes, for other libraries | [`Case::boxes`] |
//! | the expected bytes, one element at a time | [`Case::expected`] |
//! | cases for which nothing was tuned | [`random`], [`Case::given`] |
//! | buffers at the offsets of `malloc` | [`Case::at`] |
//! | buffers on small pages | [`Bench::on_pages`] |
//! | measurements | [`Bench`] |
//! | measurements on a device | [`DeviceBench`], [`Case::of_bytes`] |
//! | summaries of many measurements | [`summary`], [`tiny`], [`planning`] |
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

mod case;
mod check;
mod copy;
pub mod data;
mod definition;
mod device;
mod error;
mod machine;
mod measure;
mod pages;
mod random;
mod row;
mod turns;

pub use case::{Boxed, Case, Offsets, Size};
pub use definition::{Definition, definitions, parse};
pub use device::{Asked, DeviceBench, DeviceRow};
pub use error::Error;
pub use machine::Machine;
pub use measure::{Bench, Effort};
pub use pages::Pages;
pub use random::{RANDOM_BYTES, random};
pub use row::{Planning, Row, Summary, Tiny, planning, summary, tiny};
pub use tilewright::relayout::Loop;
