//! Layouts drawn.
//!
//! A picture is made in two steps that know nothing of one another. What there is to see of a layout
//! becomes a [`Scene`]: cells, margins, rules, colours, a legend. A scene is then printed, as SVG, as
//! interactive HTML, as TikZ, or as text for a terminal. So k kinds of pictures and n ways to print them are
//! k + n files.
//!
//! | picture | what it shows |
//! |---|---|
//! | [`grid()`] | where each element is stored; tiles as borders, padding hatched |
//! | [`memory()`] | what each offset stores |
//! | [`conversion()`] | one array in two layouts, grids and memories, one colour for what belongs together |
//! | [`owners()`], [`fragment()`] | which thread holds each element, as which of its values |
//! | [`distribution()`] | the same of a linear layout, Triton's registers, lanes and warps among them |
//! | [`devices()`] | which devices hold each element of an array in shards |
//! | [`coordinates()`] | where a layout with coordinates for values sends each cell |
//! | [`banks()`] | the banks of shared memory, and how often reads collide, without a swizzle and with it |
//! | [`bank_conflicts()`] | the bank of each element, before and after a change, and the threads that wait for each other |
//! | [`step()`] | an operation of the algebra: its operands and its result |
//!
//! Pictures are bounded by [`Limits`], say what they leave out, and are the same whenever they are drawn.
//!
//! ```
//! use tilewright_core::{Layout, TensorLayout};
//! use tilewright_draw::{Limits, Subject, grid};
//! let layout = TensorLayout::of(&Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap());
//! let scene = grid(&Subject::new(&layout), &Limits::default())?;
//! assert!(scene.to_svg().contains(">37</text>"));
//! # Ok::<(), tilewright_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod banks;
mod colouring;
mod conflicts;
mod conversion;
mod coordinates;
mod devices;
mod distribution;
mod escape;
mod grid;
mod holders;
mod html;
mod limits;
mod memory;
pub mod palette;
mod place;
mod scene;
mod sheet;
mod step;
mod subject;
mod svg;
mod terminal;
mod threads;
mod tikz;

pub use banks::{Access, banks};
pub use conflicts::{Waiting, bank_conflicts};
pub use conversion::conversion;
pub use coordinates::coordinates;
pub use devices::devices;
pub use distribution::distribution;
pub use grid::grid;
pub use holders::Device;
pub use limits::{Limits, MOST};
pub use memory::memory;
pub use scene::{Band, Cell, Joint, Key, Margin, Paint, Panel, Scene};
pub use step::{Relation, step};
pub use subject::{Label, Subject};
pub use threads::{fragment, owners};
