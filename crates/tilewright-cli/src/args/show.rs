//! The options of `show`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ArrayArgs, layout, path};

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The layout
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) spec: String,
    /// Another layout of the same array, drawn beside it
    #[arg(allow_hyphen_values = true, value_parser = layout)]
    pub(crate) other: Option<String>,
    #[command(flatten)]
    pub(crate) array: ArrayArgs,
    /// Name the elements a, b, c … in the padded array
    #[arg(long, conflicts_with = "numbers", help_heading = "In the cells")]
    pub(crate) names: bool,
    /// Print memory order on one line instead of a grid
    #[arg(long, help_heading = "In the cells")]
    pub(crate) memory: bool,
    /// Number the elements in row-major order
    #[arg(long, help_heading = "In the cells")]
    pub(crate) numbers: bool,
    /// Draw borders around tiles instead of cells
    #[arg(long, conflicts_with = "memory", help_heading = "In the cells")]
    pub(crate) tiles: bool,
    /// Draw it as SVG into FILE, or - for stdout
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw it as an interactive page
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) html: Option<PathBuf>,
    /// Draw it as a tikzpicture
    #[arg(long, value_name = "FILE", value_parser = path(), help_heading = "Into files")]
    pub(crate) tikz: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, help_heading = "Into files")]
    pub(crate) force: bool,
    /// Draw which of N threads holds each element, if threads store their values one after another
    #[arg(long, value_name = "N", conflicts_with_all = ["other", "memory", "names", "numbers"], help_heading = "Other pictures")]
    pub(crate) threads: Option<u64>,
    /// Values that a thread holds of a tile [default: the array is one tile]
    #[arg(long, value_name = "N", requires = "threads", help_heading = "Other pictures")]
    pub(crate) values: Option<u64>,
    /// Draw which thread holds each cell of a tile, for a layout from (thread, value) to cells
    #[arg(long, value_name = "M,N", conflicts_with_all = ["other", "memory", "names", "numbers", "threads"], help_heading = "Other pictures")]
    pub(crate) tile: Option<String>,
    /// Draw the banks of shared memory and the conflicts of threads that read N elements at once
    #[arg(long, value_name = "N", conflicts_with_all = ["other", "memory", "names", "numbers", "threads", "tile"], help_heading = "Other pictures")]
    pub(crate) banks: Option<u64>,
    /// Draw which devices hold each element of a sharded array, ARRAY @ SHARDING
    #[arg(long, conflicts_with_all = ["other", "memory", "names", "numbers", "tiles", "threads", "tile", "banks"], help_heading = "Other pictures")]
    pub(crate) devices: bool,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always, or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: Colour,
}

/// The choice of colours in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR says otherwise
    Auto,
    /// Into files and pipes, too
    Always,
    /// Not at all
    Never,
}
