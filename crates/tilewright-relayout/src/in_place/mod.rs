//! Plans within one buffer, which holds the source before the run and the destination after it.
//!
//! Two kinds of moves need no second buffer. If the buffer divides into chunks that exchange no elements, each chunk is
//! moved through a scratch buffer ([`chunks`]). If the loops of the plan swap in pairs, as in a square transpose, pairs
//! of blocks are exchanged through the scratch buffer ([`swap`]). Everything else is refused.
//!
//! Law: the buffer ends with the bytes that [`Plan::run`] would have written to a second buffer.

mod chunks;
mod exchange;
mod swap;

use core::fmt;

use chunks::Chunks;
use swap::Swap;

use crate::{
    Error, Plan,
    cpu::scratch::{FreeList, WorkBuffers},
    plan::PlanInner,
    program::region::Loop,
};

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
    if inner.program.dst_bytes() == 0 || chunks::stays(inner) {
        return Some((Vec::new(), None));
    }
    let chunks = Chunks::of(inner, scratch);
    if chunks.as_ref().is_some_and(|chunks| chunks.closed() <= SMALL_CHUNK) {
        return Some((Vec::new(), chunks));
    }
    let Some(swaps) = swap::swaps(inner, scratch) else { return Some((Vec::new(), Some(chunks?))) };
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
        let wanted = if threads == 0 { crate::cpu::pool::wanted(0) } else { threads };
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
