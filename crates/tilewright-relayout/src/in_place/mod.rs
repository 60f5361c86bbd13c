//! Plans within one buffer, which holds the source before the run and the destination after it.
//!
//! Two kinds of moves need no second buffer. If the buffer divides into chunks that exchange no elements, each chunk is
//! moved through a scratch buffer ([`chunks`]). If the loops of the plan swap in pairs, as in a square transpose, pairs
//! of blocks are exchanged through the scratch buffer ([`swap`]). Everything else is refused.
//!
//! Law: the buffer ends with the bytes that [`Plan::run`] would have written to a second buffer.
//!
//! A chunk is closed if every element that it holds before the move is in it after the move.

mod exchange;

use core::{fmt, ops::Range};

use rayon::prelude::*;

use crate::{
    Error, Plan,
    cpu::{
        kernel,
        scratch::{FreeList, WorkBuffers},
        transpose::Locality,
        way::{Terms, Ways},
    },
    plan::PlanInner,
    program::region::{Loop, Region, RegionRef, clip},
};
use exchange::Swap;

/// The default scratch of a thread, which fits the second-level cache.
const SCRATCH: u64 = 1 << 20;

/// Chunks of at most this many bytes stay in the first-level caches and are always preferred.
const SMALL_CHUNK: u64 = 1 << 16;

/// A plan that moves its elements within one buffer.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let src = TensorLayout::row_major(&[3, 3]).unwrap();
/// let dst = TensorLayout::col_major(&[3, 3]).unwrap();
/// let transpose = Plan::new(&src, &dst, Elements::same(8), 0).unwrap().in_place().unwrap();
/// let mut matrix = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// transpose.run(&mut matrix, 1).unwrap();
/// assert_eq!(matrix, [1, 4, 7, 2, 5, 8, 3, 6, 9]);
/// ```
#[must_use]
#[derive(Clone)]
pub struct InPlace {
    plan: Plan,
    swaps: Vec<Swap>,
    /// The chunks that are moved after the swaps, or filled if they are padding.
    chunks: Option<Chunks>,
    works: FreeList<WorkBuffers>,
}

impl Plan {
    /// Returns this plan within one buffer, with at most 1 MiB of scratch for each thread.
    ///
    /// # Errors
    /// [second buffer](Error::is_second_buffer) if source and destination differ in size, or if neither closed chunks
    /// within the scratch nor swaps of blocks can move the elements.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern, TensorLayout};
    /// use tilewright_relayout::{Elements, Plan};
    /// // Pairs of rows interleaved, as TPUs store 16-bit elements: each pair stays where it is.
    /// let rows = TensorLayout::row_major(&[1 << 12, 1 << 10]).unwrap();
    /// let digits = [Digit::rest(0, 1), Digit::rest(1, 0), Digit::fixed(0, 0, 2)];
    /// let pairs = Pattern::new(2, &digits).unwrap().layout(&[1 << 12, 1 << 10]).unwrap();
    /// let plan = Plan::new(&rows, &pairs, Elements::same(16), 0).unwrap().in_place().unwrap();
    /// let mut buffer = vec![1; 8 << 20];
    /// plan.run(&mut buffer, 0).unwrap();
    ///
    /// // A matrix that is not square has no pairs of blocks to swap.
    /// let columns = TensorLayout::col_major(&[1 << 12, 1 << 10]).unwrap();
    /// let plan = Plan::new(&rows, &columns, Elements::same(16), 0).unwrap();
    /// assert!(plan.in_place().unwrap_err().is_second_buffer());
    /// ```
    pub fn in_place(&self) -> Result<InPlace, Error> {
        self.in_place_within(SCRATCH)
    }

    /// Returns this plan within one buffer, with at most `scratch` bytes of scratch for each thread.
    ///
    /// # Errors
    /// Those of [`in_place`](Plan::in_place).
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[300, 500]).unwrap();
    /// let dst = TensorLayout::col_major(&[300, 500]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// // The whole array through the scratch, or not at all.
    /// assert!(plan.in_place_within(150_000).is_ok());
    /// let error = plan.in_place_within(149_999).unwrap_err();
    /// assert!(error.is_second_buffer());
    /// ```
    pub fn in_place_within(&self, scratch: u64) -> Result<InPlace, Error> {
        let inner = &*self.0;
        same_sizes(inner)?;
        let (swaps, chunks) = moves(inner, scratch).ok_or_else(|| refused(inner, scratch))?;
        Ok(InPlace { plan: self.clone(), swaps, chunks, works: FreeList::default() })
    }
}

/// Returns the swaps and the chunks of a plan whose sides have equal size.
fn moves(inner: &PlanInner, scratch: u64) -> Option<(Vec<Swap>, Option<Chunks>)> {
    if inner.program.dst_bytes() == 0 || stays(inner) {
        return Some((Vec::new(), None));
    }
    let chunks = Chunks::of(inner, scratch);
    if chunks.as_ref().is_some_and(|chunks| chunks.closed() <= SMALL_CHUNK) {
        return Some((Vec::new(), chunks));
    }
    let Some(swaps) = exchange::swaps(inner, scratch) else {
        return Some((Vec::new(), Some(chunks?)));
    };
    if inner.program.dst().padding() == 0 {
        return Some((swaps, None));
    }
    Some((swaps, Some(Chunks::padding(inner, scratch)?)))
}

fn same_sizes(inner: &PlanInner) -> Result<(), Error> {
    if inner.program.is_part() {
        let message = "the move writes only a part of an array; run it into a second buffer";
        return Err(Error::second_buffer(message.to_string()));
    }
    let (from, to) = (inner.program.src().capacity(), inner.program.dst().capacity());
    if inner.program.elements().are_same() && from == to {
        return Ok(());
    }
    Err(Error::second_buffer(format!(
        "{from} elements of {} bits become {to} of {}; in place, source and destination have the same \
         size: run the plan into a second buffer of {} bytes",
        inner.program.elements().src_bits,
        inner.program.elements().dst_bits,
        inner.program.dst_bytes()
    )))
}

/// Returns the error that explains why elements cannot move in place.
fn refused(inner: &PlanInner, scratch: u64) -> Error {
    let far = |level: &&Loop| level.extent.saturating_mul(level.src.abs_diff(level.dst));
    let why = match (inner.program.regions(), inner.program.main()) {
        (None, _) => "tiles that do not divide one another connect distant offsets".to_string(),
        (_, Some((_, region))) => match region.loops.iter().max_by_key(far) {
            Some(level) if level.src != level.dst => format!(
                "the loop of {} iterations with strides {} to {} {} connects distant offsets",
                level.extent,
                level.src,
                level.dst,
                if region.packed { "elements" } else { "bytes" }
            ),
            _ => format!("runs move from offset {} to {}", region.src, region.dst),
        },
        (_, None) => "the array holds only padding".to_string(),
    };
    Error::second_buffer(format!(
        "{why}; in place, loops swap in pairs or elements stay within chunks of at most {scratch} \
         bytes: run the plan into a second buffer of {} bytes",
        inner.program.dst_bytes()
    ))
}

impl InPlace {
    /// Moves the elements of the buffer with this many threads; 0 means one thread per core.
    ///
    /// The first [`dst_bytes`](Plan::dst_bytes) bytes of the buffer are read and written.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the buffer is too short, before a byte is written;
    /// [unsupported](Error::is_unsupported) if the system refuses to start threads.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap().in_place().unwrap();
    /// let mut buffer = [1, 2, 3, 4, 5, 6];
    /// plan.run(&mut buffer, 1).unwrap();
    /// assert_eq!(buffer, [1, 4, 2, 5, 3, 6]);
    /// assert!(plan.run(&mut buffer[1..], 1).unwrap_err().is_buffer());
    /// ```
    pub fn run(&self, buffer: &mut [u8], threads: usize) -> Result<(), Error> {
        let (bytes, given) = (self.plan.dst_bytes(), buffer.len());
        let Some(buffer) = usize::try_from(bytes).ok().and_then(|bytes| buffer.get_mut(..bytes))
        else {
            return Err(Error::buffer(format!(
                "a buffer of {given} bytes is too short; the plan moves {bytes}"
            )));
        };
        let inner = &*self.plan.0;
        let wanted = if threads == 0 { crate::cpu::workers::wanted(0) } else { threads };
        let work = |threads: usize, buffer: &mut [u8]| {
            for swap in &self.swaps {
                exchange::run(&swap.tasks(inner, &self.works), buffer, threads);
            }
            if let Some(chunks) = &self.chunks {
                chunks.run(inner, &self.works, buffer, threads);
            }
        };
        let tasks = usize::try_from(bytes / inner.min_range.max(1)).unwrap_or(wanted);
        match wanted.min(tasks.max(1)) {
            1 => work(1, buffer),
            wanted if threads == 0 => work(wanted, buffer),
            wanted => return inner.pool.run(wanted, || work(wanted, buffer)),
        }
        Ok(())
    }

    /// Returns the bytes of scratch that a thread uses, without a few KiB for the kernels.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[8000, 8000]).unwrap();
    /// let dst = TensorLayout::col_major(&[8000, 8000]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap().in_place().unwrap();
    /// assert!(plan.scratch_bytes() <= 1 << 16);
    /// ```
    pub fn scratch_bytes(&self) -> u64 {
        let swaps = self.swaps.iter().map(Swap::scratch);
        swaps.chain(self.chunks.iter().map(Chunks::scratch)).max().unwrap_or(0)
    }
}

impl fmt::Display for InPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in place, {} bytes of scratch for a thread", self.scratch_bytes())?;
        for swap in &self.swaps {
            write!(f, "\n  swap of {swap}")?;
        }
        match &self.chunks {
            Some(chunks) => write!(f, "\n  {chunks}"),
            None if self.swaps.is_empty() => write!(f, "\n  nothing moves"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for InPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InPlace({self})")
    }
}

// Closed chunks, which exchange no elements with others.

/// Small chunks are moved together, in groups of about this many bytes.
const TOGETHER: u64 = 1 << 15;

/// The buffer in chunks of one size.
#[derive(Clone, Debug)]
struct Chunks {
    /// The bytes of the smallest closed chunks.
    closed: u64,
    /// The byte at which the first whole chunk begins.
    phase: u64,
    /// The bytes that are moved at a time, a multiple of a chunk.
    block: u64,
    /// The regions to move, if they differ from those of the plan.
    own: Option<Vec<Region>>,
    /// The kernels of the regions.
    ways: Vec<Ways>,
}

/// Returns whether no byte of the buffer changes.
fn stays(inner: &PlanInner) -> bool {
    let still = |region: &Region| region.src == region.dst && region.loops.iter().all(is_common);
    inner.program.dst().padding() == 0
        && inner.program.regions().is_some_and(|regions| regions.iter().all(still))
        // The bits after the last packed element become 0.
        && (inner.program.dst().capacity() * u64::from(inner.program.elements().dst_bits % 8)).is_multiple_of(8)
}

fn is_common(level: &Loop) -> bool {
    level.src == level.dst
}

impl Chunks {
    /// Returns the smallest closed chunks of at most `most` bytes.
    fn of(inner: &PlanInner, most: u64) -> Option<Chunks> {
        let whole = (inner.program.dst_bytes() <= most).then_some((inner.program.dst_bytes(), 0));
        let Some(regions) = inner.program.regions() else {
            return Some(Chunks::new(inner, whole?, most, None));
        };
        let mut sizes: Vec<u64> = regions.iter().flat_map(|region| sizes(inner, region)).collect();
        sizes.retain(|&size| {
            size <= most && size.is_multiple_of(inner.program.elements().dst_align())
        });
        sizes.sort_unstable();
        sizes.dedup();
        let low =
            regions.iter().find(|region| !region.loops.iter().all(is_common)).map_or(0, |region| {
                let low = region.src_low().min(region.dst) as u64;
                if region.packed {
                    low * u64::from(inner.program.elements().dst_bits) / 8
                } else {
                    low
                }
            });
        let closed = sizes.into_iter().find_map(|size| {
            let phases = [
                0,
                low % size / inner.program.elements().dst_align()
                    * inner.program.elements().dst_align(),
            ];
            let fits =
                |phase: &u64| regions.iter().all(|region| closed(inner, region, size, *phase));
            Some((size, phases.into_iter().find(fits)?))
        });
        Some(Chunks::new(inner, closed.or(whole)?, most, None))
    }

    /// Returns chunks in which elements keep their positions and padding gets the fill.
    fn padding(inner: &PlanInner, most: u64) -> Option<Chunks> {
        let align = inner.program.elements().dst_align();
        if align > most {
            return None;
        }
        let still = |region: &Region| {
            let mut region = Region { src: region.dst, ..region.clone() };
            region.loops.iter_mut().for_each(|level| level.src = level.dst);
            region.merge();
            region
        };
        let own = inner.program.regions()?.iter().map(still).collect();
        Some(Chunks::new(inner, (align, 0), most, Some(own)))
    }

    fn new(
        inner: &PlanInner,
        (closed, phase): (u64, u64),
        most: u64,
        own: Option<Vec<Region>>,
    ) -> Chunks {
        let closed = closed.max(1);
        let block = closed * (TOGETHER.min(most).min(inner.program.dst_bytes()) / closed).max(1);
        let terms = Terms { locality: Locality::Cache, ..inner.terms };
        let mut chunks = Chunks { closed, phase, block, own, ways: Vec::new() };
        let regions = chunks.regions(inner).unwrap_or_default();
        chunks.ways = regions.iter().map(|region| Ways::of(region, terms)).collect();
        chunks
    }

    fn regions<'a>(&'a self, inner: &'a PlanInner) -> Option<&'a [Region]> {
        self.own.as_deref().or(inner.program.regions())
    }

    /// Returns the bytes of a closed chunk.
    fn closed(&self) -> u64 {
        self.closed
    }

    /// Returns the bytes of scratch.
    fn scratch(&self) -> u64 {
        self.block
    }

    /// Moves all chunks.
    fn run(
        &self,
        inner: &PlanInner,
        works: &FreeList<WorkBuffers>,
        buffer: &mut [u8],
        threads: usize,
    ) {
        let (head, rest) = buffer.split_at_mut((self.phase as usize).min(buffer.len()));
        let phase = head.len() as u64;
        works.with(|work| self.chunk(inner, work, 0..phase, head));
        let range = |i: usize, len: usize| {
            let from = phase + i as u64 * self.block;
            from..from + len as u64
        };
        let size = usize::try_from(self.block).unwrap_or(usize::MAX);
        if threads == 1 {
            return works.with(|work| {
                for (i, chunk) in rest.chunks_mut(size).enumerate() {
                    self.chunk(inner, work, range(i, chunk.len()), chunk);
                }
            });
        }
        rest.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| {
            works.with(|work| self.chunk(inner, work, range(i, chunk.len()), chunk));
        });
    }

    fn chunk(&self, inner: &PlanInner, work: &mut WorkBuffers, range: Range<u64>, out: &mut [u8]) {
        work.reserve(out.len() as u64);
        let held = &mut work.bytes[..out.len()];
        held.copy_from_slice(out);
        let src = &*held;
        let scratch = core::cell::RefCell::new(&mut work.scratch);
        inner.write(range, out, &|range, out| {
            let Some(regions) = self.regions(inner) else {
                let offsets = inner.offsets(range);
                return inner.program.digits().walk(offsets.clone(), &mut |leaf| {
                    let first = -offsets.start;
                    kernel::table(inner.program.elements(), leaf, (first, first), src, out);
                });
            };
            for (region, ways) in regions.iter().zip(&self.ways) {
                let units = region.dst_range(range, inner.program.elements());
                clip(region, units, &mut |part| {
                    let (from, to) = (part.src - units.0, part.dst - units.0);
                    let part = RegionRef { src: from, dst: to, ..part };
                    let mut scratch = scratch.borrow_mut();
                    ways.run(region, &mut ways.tools(&mut scratch), &part, src, out);
                });
            }
        });
    }
}

/// Iterates over the possible sizes of chunks in bytes: the strides of loops that are equal on both sides.
fn sizes(inner: &PlanInner, region: &Region) -> impl Iterator<Item = u64> {
    let bits = u64::from(region.dst_unit(inner.program.elements()));
    let common = region.loops.iter().filter(|level| is_common(level));
    common.filter_map(move |level| {
        let bits = (level.dst as u64).checked_mul(bits)?;
        bits.is_multiple_of(8).then_some(bits / 8)
    })
}

/// Returns whether the elements of a region stay within chunks of `size` bytes that begin at `phase`.
fn closed(inner: &PlanInner, region: &Region, size: u64, phase: u64) -> bool {
    if region.src == region.dst && region.loops.iter().all(is_common) {
        return true;
    }
    let units = 8 / i128::from(region.dst_unit(inner.program.elements()));
    let (size, phase) = (i128::from(size) * units, i128::from(phase) * units);
    let (mut from, mut to) = ((i128::from(region.src), i128::from(region.src)), (0, 0));
    (to.0, to.1) = (i128::from(region.dst), i128::from(region.dst));
    for level in &region.loops {
        if is_common(level) && i128::from(level.dst) % size == 0 {
            continue;
        }
        let (src, dst) = (i128::from(level.src_reach()), i128::from(level.dst_reach()));
        from = (from.0 + src.min(0), from.1 + src.max(0));
        to = (to.0 + dst.min(0), to.1 + dst.max(0));
    }
    let (low, high) = (from.0.min(to.0), from.1.max(to.1) + i128::from(region.run) - 1);
    (low - phase).div_euclid(size) == (high - phase).div_euclid(size)
}

impl fmt::Display for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.own.is_some() { "padding in" } else { "elements stay within" };
        write!(f, "{what} chunks of {} bytes, {} at a time", self.closed, self.block)
    }
}
