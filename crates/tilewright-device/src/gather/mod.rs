//! Flat gather: runs of the source lie in shared memory as they do in the array, and elements are gathered from them in
//! the destination's vectors. For few channels on either side, inner dims of 3 or 14, reversed dims, and elements whose
//! width changes.
//!
//! A block takes a box of turns that makes runs long on both sides. What begins within 16 bytes stays so in the tile,
//! since a copy without registers has to be aligned; each run's own beginning is added where an element is looked up.
//! Extents that a tile takes whole are part of the text, so that its divisions are by constants.
//!
//! Laws: no byte outside the source is read; each byte of the destination is written once, in a vector where the run has
//! all of it, else by an element, or by a byte of elements.

mod fetch;
mod job;
mod place;
mod text;
mod tile;

use crate::{
    Error,
    area::Area,
    kernel::{Kernel, Launch, Way},
};
use place::Place;
use tile::Tile;

pub(crate) use job::{Job, Side};

/// Threads of a block.
const THREADS: u32 = 256;

/// The least bytes of runs, on either side, that make a tile worth its detour.
const WORTH: u64 = 32;

/// The kernel of an area whose runs are long enough.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    let job = Job::of(area);
    let tile = Tile::of(&job)?;
    let (from, to) = (tile.units_from(&job), tile.to_elements() * job.dst.bits / 8);
    (from >= WORTH && to >= WORTH).then(|| kernel(&job, &tile))?
}

/// The kernel of a job, however short its runs are.
pub(crate) fn any(job: &Job) -> Option<Result<Vec<Kernel>, Error>> {
    kernel(job, &Tile::of(job)?)
}

fn kernel(job: &Job, tile: &Tile) -> Option<Result<Vec<Kernel>, Error>> {
    let place = Place::of(job, tile);
    let grid = text::grid(job, tile)?;
    let (before, body, numbers) = text::of(job, tile, &place, &grid);
    let launch = Launch {
        way: if job.is_plain() { Way::Gather } else { Way::Widths },
        threads: THREADS,
        resident: 4,
        blocks: grid.blocks(),
        shared: place.shared() as u32,
        bytes: (job.src.bytes, job.dst.bytes),
    };
    let takes: Vec<String> = tile.take.iter().map(u64::to_string).collect();
    let comment = format!(
        "Gather: elements of {} bits to {}; a block takes {} turns of the loops.",
        job.src.bits,
        job.dst.bits,
        takes.join(" × ")
    );
    Some(Kernel::new(launch, &comment, &before, body, numbers).map(|kernel| vec![kernel]))
}
