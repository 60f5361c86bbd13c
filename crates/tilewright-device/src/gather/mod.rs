//! Flat gather: runs of the source lie in shared memory as they do in the array, and elements are gathered from them in
//! the destination's vectors. For few channels on either side, inner dims of 3 or 14, reversed dims, and elements whose
//! width changes.
//!
//! A block takes a box of turns that makes runs long on both sides. What begins within 16 bytes stays so in the tile,
//! since a copy without registers has to be aligned; each run's own beginning is added where an element is looked up.
//! Extents that a tile takes whole are part of the text, so that its divisions are by constants.
//!
//! Where that takes fewer turns of the banks, the tile lies as the destination instead: elements of the source's vectors
//! are scattered over it, and its runs are stored in vectors. Odd numbers of planes are put together so.
//!
//! Laws: no byte outside the source is read; each byte of the destination is written once, in a vector where the run has
//! all of it, else by an element, or by a byte of elements.

mod fetch;
mod job;
mod lanes;
mod place;
mod scatter;
mod text;
mod tile;

use crate::{
    Error,
    area::Area,
    kernel::{Kernel, Launch, Way},
};
use fetch::{Fetch, Lies};
use place::Place;
use tile::Tile;

pub(crate) use job::{Job, Side};

/// Threads of a block.
const THREADS: u32 = 256;

/// The least bytes of runs, on either side, that make a tile worth its detour.
const WORTH: u64 = 32;

/// The kernel of an area whose runs are long enough.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    if !area.maps.are_none() {
        return None;
    }
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
    let grid = text::grid(job, tile)?;
    let place = Place::of(job, tile);
    let from = Fetch { lies: Lies::AsSource, job, tile, place: &place };
    let mirrored = tile.mirrored(job).filter(|_| !place.is_good(job, tile)).map(|tile| {
        let job = job.mirrored();
        (Place::of(&job, &tile), job, tile)
    });
    let to = mirrored.as_ref().map(|(place, job, tile)| Fetch {
        lies: Lies::AsDestination,
        job,
        tile,
        place,
    });
    let better = to.filter(|to| to.place.cost(to.job, to.tile) < place.cost(job, tile));
    let fetch = better.unwrap_or(from);
    let (before, body, numbers) = text::of(fetch, &grid);
    let launch = Launch {
        way: if job.is_plain() { Way::Gather } else { Way::Widths },
        threads: THREADS,
        resident: 4,
        blocks: grid.blocks(),
        shared: fetch.place.shared() as u32,
        bytes: (job.src.bytes, job.dst.bytes),
    };
    Some(Kernel::new(launch, &comment(fetch), &before, body, numbers).map(|kernel| vec![kernel]))
}

fn comment(fetch: Fetch) -> String {
    let Fetch { job, tile, lies, .. } = fetch;
    let takes: Vec<String> = tile.take.iter().map(u64::to_string).collect();
    let lies = match lies {
        Lies::AsSource => "",
        Lies::AsDestination => ", and its tile has the destination's layout",
    };
    format!(
        "Gather: elements of {} bits to {}; a block takes {} turns of the loops{lies}.",
        job.src.bits,
        job.dst.bits,
        takes.join(" × ")
    )
}
