//! Flat gather: runs of the source are copied to shared memory in their order, and elements are gathered from them in
//! vectors of the destination. It serves few channels on either side, inner dims of 3 or 14, reversed dims, and
//! elements narrower than a byte or of another width in the destination.
//!
//! A block takes a box of iterations with long runs on both sides. The tile keeps each run's offset within 16 bytes,
//! because a copy without registers must be aligned; the lookup of an element adds the offset of its run. Extents that
//! a tile contains completely are constants of the text, so divisions by them are cheap.
//!
//! If it needs fewer bank cycles, the tile keeps the order of the destination instead: elements of the source's vectors
//! are scattered to it, and its runs are stored in vectors. Odd numbers of planes are interleaved this way.
//!
//! Where widths differ, elements are read from words of 32 bits, widened or truncated in registers, and assembled to
//! words of the destination, each of which one thread writes.
//!
//! Laws: no byte outside the source is read; each byte of the destination is written once, in a vector if the vector is
//! completely within the run, else with an element, or with a byte of elements. A region of narrow elements is handled
//! only if its runs of the destination are whole bytes, so no other kernel writes any byte of it. The bits after the
//! last element of an array are written as 0.
//!
//! Positions and strides of a side count its units: bits if its elements are narrower than a byte, else bytes.

mod text;
mod tile;

use tilewright_relayout::{Extend, Loop, Program, Region};

use crate::{
    Alignment, Error,
    byte_region::{ByteRegion, VECTOR},
    kernel::{Kernel, Launch, Way},
};
use text::{Fetch, Lies};
use tile::{GatherTile, SharedTile};

/// The threads of a block.
const THREADS: u32 = 256;

/// The least bytes of a run, on either side, for which a tile is faster than direct accesses.
const WORTH: u64 = 32;

/// Makes the kernel of an area with long enough runs.
pub(crate) fn take(area: &ByteRegion) -> Option<Result<Vec<Kernel>, Error>> {
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

/// The elements of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The bits of an element: 1, 2, 4, 8, 16, 32, 64 or 128.
    pub(crate) bits: u64,
    /// The first element, in units.
    pub(crate) first: i64,
    /// The bytes of the array.
    pub(crate) bytes: u64,
    /// The distance of its first byte from the previous multiple of 16.
    pub(crate) phase: u64,
}

impl Storage {
    /// Returns the units of a byte.
    pub(crate) fn per_byte(self) -> u64 {
        if self.bits < 8 { 8 } else { 1 }
    }

    /// Returns the units of an element.
    pub(crate) fn width(self) -> u64 {
        self.bits * self.per_byte() / 8
    }

    /// Returns the units of 16 bytes.
    pub(crate) fn vector(self) -> u64 {
        VECTOR * self.per_byte()
    }
}

/// Elements that are moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatherJob {
    pub(crate) src: Storage,
    pub(crate) dst: Storage,
    pub(crate) extend: Extend,
    /// Loops around one element, each of at least two iterations, with strides in the units of either side. Destination
    /// strides are positive.
    pub(crate) loops: Vec<Loop>,
    /// True if the last byte that it writes may contain bits of no element, which become 0.
    pub(crate) open: bool,
}

impl GatherJob {
    /// Makes the job of an area: elements are as wide as the alignment of all addresses allows.
    pub(crate) fn of(area: &ByteRegion) -> GatherJob {
        let unit = area.unit();
        let mut loops = area.loops.clone();
        loops.push(Loop { extent: area.run / unit, src: unit as i64, dst: unit as i64 });
        loops.retain(|level| level.extent > 1);
        let side = |first: i64, bytes: u64, phase: u8| Storage {
            bits: 8 * unit,
            first,
            bytes,
            phase: phase.into(),
        };
        GatherJob {
            src: side(area.src, area.bytes.0, area.alignment.src()),
            dst: side(area.dst, area.bytes.1, area.alignment.dst()),
            extend: Extend::Zero,
            loops,
            open: false,
        }
    }

    /// Returns the job with source and destination swapped.
    pub(crate) fn mirrored(&self) -> GatherJob {
        let swap = |level: &Loop| Loop { extent: level.extent, src: level.dst, dst: level.src };
        let loops = self.loops.iter().map(swap).collect();
        GatherJob { src: self.dst, dst: self.src, loops, ..self.clone() }
    }

    /// Returns whether units are bytes, and elements keep their width.
    pub(crate) fn is_plain(&self) -> bool {
        self.src.bits == self.dst.bits && self.src.bits >= 8
    }
}

/// Makes the kernel of a region that counts elements; `None` if these share bytes with other kernels' elements, or are
/// wider than a word.
pub(crate) fn take_widths(
    region: &Region,
    program: &Program,
    pointers: Alignment,
) -> Option<Result<Vec<Kernel>, Error>> {
    any(&job(region, program, pointers)?)
}

/// Returns the job of a region that counts elements.
fn job(region: &Region, program: &Program, pointers: Alignment) -> Option<GatherJob> {
    let elements = program.elements();
    let side = |bits: u32, first: i64, bytes: u64, phase: u8| {
        let bits = u64::from(bits);
        let mut side = Storage { bits, first: 0, bytes, phase: phase.into() };
        side.first = first.checked_mul(side.width() as i64)?;
        let aligned = bits <= 8 || (bits <= 32 && side.phase.is_multiple_of(bits / 8));
        (bits.is_power_of_two() && aligned).then_some(side)
    };
    let src = side(elements.src_bits, region.src, program.src_bytes(), pointers.src())?;
    let dst = side(elements.dst_bits, region.dst, program.dst_bytes(), pointers.dst())?;
    let run = Loop { extent: region.run, src: 1, dst: 1 };
    let mut loops = Vec::new();
    for level in region.loops.iter().chain([&run]).filter(|level| level.extent > 1) {
        let (from, to) = (src.width() as i64, dst.width() as i64);
        let (from, to) = (level.src.checked_mul(from)?, level.dst.checked_mul(to)?);
        loops.push(Loop { extent: level.extent, src: from, dst: to });
    }
    let end = (region.dst as u64).checked_add(loops.iter().map(|level| level.extent).product())?;
    let open = !program.is_part() && end == program.dst().capacity();
    Some(GatherJob { src, dst, extend: elements.extend, loops, open })
}
