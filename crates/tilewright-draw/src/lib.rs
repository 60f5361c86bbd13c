//! Draws layouts.
//!
//! A picture is made in two independent steps. A drawing function converts a layout to a [`Scene`]: cells, margins,
//! rules, colours, a legend. A printer then writes the scene as SVG, as interactive HTML, as TikZ, or as text for a
//! terminal. So k kinds of pictures and n printers are k + n files.
//!
//! | picture | contents |
//! |---|---|
//! | [`grid()`] | the position of each element; tiles as borders, padding hatched |
//! | [`memory()`] | the element at each offset |
//! | [`conversion()`] | one array in two layouts, grids and memories, with one colour for corresponding elements |
//! | [`pair()`], [`memory_pair()`] | the grids of two layouts alone, or their memories |
//! | [`owners()`], [`fragment()`] | the thread that holds each element, and the index of the value |
//! | [`distribution()`] | the holders of a linear layout's elements, such as Triton's registers, lanes and warps |
//! | [`devices()`] | the devices that hold each element of a sharded array |
//! | [`coordinates()`] | the value of each cell in a layout whose values are coordinates |
//! | [`banks()`] | the banks of shared memory, and the conflicts of reads, without a swizzle and with it |
//! | [`bank_conflicts()`] | the bank of each element, before and after a change, and the threads that wait for each other |
//! | [`step()`] | an operation of the algebra: its operands and its result |
//!
//! Pictures are bounded by [`Limits`], list the parts that they leave out, and are deterministic.
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

mod page;
pub mod palette;
mod pictures {
    //! The pictures: a function from layouts to a scene in each file.

    pub(crate) mod banks;
    pub(crate) mod conversion;
    pub(crate) mod devices;
    pub(crate) mod step;
    pub(crate) mod threads;
}
mod printers;
mod scene;
mod sheet;
mod subject;

pub use crate::{
    pictures::{
        banks::{Access, Waiting, bank_conflicts, banks},
        conversion::{conversion, memory, memory_line, memory_pair, pair},
        devices::{Device, devices},
        step::{Relation, step},
        threads::{distribution, fragment, owners},
    },
    sheet::{coordinates, grid},
};
pub use scene::{Band, Cell, Joint, Key, Limits, MOST, Margin, Paint, Panel, Scene};
pub use subject::{Label, Subject};
