//! Flat gather: runs of the source are copied to shared memory in their order, and elements are gathered from them in
//! vectors of the destination. It serves few channels on either side, inner dims of 3 or 14, reversed dims, and
//! elements whose width changes.
//!
//! A block takes a box of iterations with long runs on both sides. The tile keeps each run's offset within 16 bytes,
//! because a copy without registers must be aligned; the lookup of an element adds the offset of its run. Extents that
//! a tile contains completely are constants of the text, so divisions by them are cheap.
//!
//! If it needs fewer bank cycles, the tile keeps the order of the destination instead: elements of the source's vectors
//! are scattered to it, and its runs are stored in vectors. Odd numbers of planes are interleaved this way.
//!
//! Laws: no byte outside the source is read; each byte of the destination is written once, in a vector if the vector is
//! completely within the run, else with an element, or with a byte of elements.

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
use place::SharedTile;
use tile::GatherTile;

pub(crate) use job::{GatherJob, Storage};

/// The threads of a block.
const THREADS: u32 = 256;

/// The least bytes of a run, on either side, for which a tile is faster than direct accesses.
const WORTH: u64 = 32;

/// Makes the kernel of an area with long enough runs.
pub(crate) fn take(area: &Area) -> Option<Result<Vec<Kernel>, Error>> {
    if !area.maps.are_none() {
        return None;
    }
    let job = GatherJob::of(area);
    let tile = GatherTile::of(&job)?;
    let (from, to) = (tile.units_from(&job), tile.to_elements() * job.dst.bits / 8);
    (from >= WORTH && to >= WORTH).then(|| kernel(&job, &tile))?
}

/// Makes the kernel of a job, however short its runs are.
pub(crate) fn any(job: &GatherJob) -> Option<Result<Vec<Kernel>, Error>> {
    kernel(job, &GatherTile::of(job)?)
}

fn kernel(job: &GatherJob, tile: &GatherTile) -> Option<Result<Vec<Kernel>, Error>> {
    let grid = text::grid(job, tile)?;
    let place = SharedTile::of(job, tile);
    let from = Fetch { lies: Lies::AsSource, job, tile, place: &place };
    let mirrored = tile.mirrored(job).filter(|_| !place.is_good(job, tile)).map(|tile| {
        let job = job.mirrored();
        (SharedTile::of(&job, &tile), job, tile)
    });
    let to = mirrored.as_ref().map(|(place, job, tile)| Fetch {
        lies: Lies::AsDestination,
        job,
        tile,
        place,
    });
    let better = to
        .filter(|to| to.place.fits())
        .filter(|to| to.place.cost(to.job, to.tile) < place.cost(job, tile));
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
        "Gather: elements of {} bits to {}; a block takes {} iterations of the loops{lies}.",
        job.src.bits,
        job.dst.bits,
        takes.join(" × ")
    )
}
