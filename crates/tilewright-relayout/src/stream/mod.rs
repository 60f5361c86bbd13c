//! Streaming: ranges of the destination and their reads, for arrays larger than memory.
//!
//! A chunk is the program of its plan within a byte range. It holds regions clipped to the range, over a buffer of the
//! bytes that they read, or digits, whose elements are found in a list of stretches. [`cover`] and [`scattered`] decide
//! how far reads are joined across bytes that are not needed. A tile is a box of elements with its reads and its
//! writes.

mod boxes;
pub(crate) mod scattered;
mod tiles;

use core::ops::Range;

use crate::{
    Error, Plan,
    cpu::{kernel, run::check_out},
};
pub use boxes::{Areas, DimDigit, box_extents, halves};
use scattered::{BoxReads, MAX_BUFFER, Refused, Stretches, cover};
pub use tiles::{Tile, Tiles, Write};

/// The cost of a read or write of a file, as a number of bytes: shorter gaps between reads are read.
///
/// ```
/// assert_eq!(tilewright_relayout::CALL, 4096);
/// ```
pub const CALL: u64 = 4096;

// Chunks.

/// A read that a [`Chunk`] needs.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan, Read};
/// let layout = TensorLayout::row_major(&[9]).unwrap();
/// let plan = Plan::new(&layout, &layout, Elements::same(32), 0).unwrap();
/// let reads: Vec<Read> = plan.chunk(8..20).unwrap().reads().collect();
/// assert_eq!(reads, [Read { src: 8, len: 12, at: 0 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The byte offset in the source.
    pub src: u64,
    /// The number of bytes.
    pub len: usize,
    /// The position of the bytes in the buffer.
    pub at: usize,
}

/// A byte range of the destination: the part of a program in it, the reads that it needs, and the kernels that make the
/// range from them. It keeps the plan alive, and nothing else.
///
/// In the chunk of a part, bytes outside the part are not written, so chunks of several parts may write to one output.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let src = TensorLayout::row_major(&[2, 3]).unwrap();
/// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
/// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
///
/// let source = [1, 2, 3, 4, 5, 6];
/// let chunk = plan.chunk(2..4).unwrap();
/// let mut buffer = vec![0; chunk.buffer_len()];
/// for read in chunk.reads() {
///     let from = read.src as usize;
///     buffer[read.at..read.at + read.len].copy_from_slice(&source[from..from + read.len]);
/// }
/// let mut out = [0; 2];
/// chunk.run(&buffer, &mut out, 1).unwrap();
/// assert_eq!(out, [2, 5]);
/// ```
#[derive(Clone)]
pub struct Chunk {
    plan: Plan,
    range: Range<u64>,
    needs: Needs,
    buffer: usize,
}

/// The source bytes that a chunk reads.
#[derive(Clone)]
enum Needs {
    Pieces(Vec<BoxReads>),
    Stretches(Stretches),
}

impl Plan {
    /// Returns the destination bytes `range` as a chunk.
    ///
    /// Reads are as long as the layouts permit, at the price of bytes that are not needed:
    /// - If the plan has regions, the buffer holds at most four times the bytes of the source elements that the range
    ///   needs. It holds more, at most 128 times, only if reads would be shorter than 64 bytes and the step between
    ///   them is at most 4 KiB. Packed elements are read in whole bytes.
    /// - If there are too many regions, gaps of up to 24 bytes are always read, because an entry in the list takes as
    ///   much. Gaps of up to 4 KiB are read if that at most doubles the buffer or if reads are that short. Longer gaps
    ///   are read if the list would exceed the bound of [`Plan::list_bytes`].
    ///
    /// Ranges from [`Plan::ranges`] need the fewest reads.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the range exceeds the destination, [overflow](Error::is_overflow) if the buffer
    /// has more bytes than this machine addresses.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&layout, &layout, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.chunk(2..4).unwrap().buffer_len(), 2);
    /// assert!(plan.chunk(2..7).unwrap_err().is_buffer());
    /// ```
    pub fn chunk(&self, range: Range<u64>) -> Result<Chunk, Error> {
        self.check_range(&range)?;
        let pieces = self.pieces(&range)?;
        let needs = match pieces {
            Some(pieces) => Needs::Pieces(pieces),
            None => Needs::Stretches(self.stretches(&range)),
        };
        let buffer = match &needs {
            Needs::Pieces(pieces) => pieces.iter().map(BoxReads::bytes).sum(),
            Needs::Stretches(stretches) if stretches.bytes() > MAX_BUFFER => {
                return Err(too_long(stretches.bytes()));
            }
            Needs::Stretches(stretches) => stretches.bytes() as usize,
        };
        Ok(Chunk { plan: self.clone(), range, needs, buffer })
    }

    /// Iterates over ranges of about `bytes` bytes that cover the destination, cut where chunks read least. For a part,
    /// they cover the bytes from its first to its last.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[100, 100]).unwrap();
    /// let dst = TensorLayout::col_major(&[100, 100]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(32), 0).unwrap();
    /// let ranges: Vec<_> = plan.ranges(15_000).collect();
    /// assert_eq!(ranges, [0..14_800, 14_800..29_600, 29_600..40_000]);
    /// ```
    pub fn ranges(&self, bytes: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let (span, step) = (self.0.program.span(), self.0.rounded(bytes));
        let (low, high) = (span.start, span.end);
        (low / step..high.div_ceil(step))
            .map(move |i| (i * step).max(low)..(i * step).saturating_add(step).min(high))
    }

    /// Returns the maximal memory, in bytes, of the list of reads of a chunk of `range` bytes, if the length of the
    /// list depends on the range: four times the range, at least 3 KiB. Returns 0 if the length depends on the layouts
    /// alone.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = |bits| Plan::new(&src, &dst, Elements::same(bits), 0).unwrap();
    /// assert_eq!(plan(32).list_bytes(6000), 0);
    /// // Reads of packed elements may begin at different bits.
    /// assert_eq!(plan(4).list_bytes(6000), 24_000);
    /// ```
    pub fn list_bytes(&self, range: u64) -> u64 {
        let even = self.0.program.regions().is_some() && self.0.program.elements().src_bits >= 8;
        if even { 0 } else { scattered::list_bytes(range) }
    }

    /// Returns the pieces of a range; `None` if stretches are needed.
    fn pieces(&self, range: &Range<u64>) -> Result<Option<Vec<BoxReads>>, Error> {
        let Some(regions) = self.0.program.regions() else { return Ok(None) };
        let (mut pieces, mut at, mut refused) = (Vec::new(), 0, None);
        let range = self.whole_elements(range);
        for region in regions {
            cover(region, region.dst_range(&range, self.0.program.elements()), &mut |part| {
                if refused.is_some() {
                    return;
                }
                match BoxReads::of(&part, self.0.program.elements(), at) {
                    Ok(piece) => {
                        at += piece.bytes();
                        pieces.push(piece);
                    }
                    Err(why) => refused = Some(why),
                }
            });
        }
        match refused {
            None => Ok(Some(pieces)),
            Some(Refused::Uneven) => Ok(None),
            Some(Refused::TooLong(bytes)) => Err(too_long(bytes)),
        }
    }

    fn stretches(&self, range: &Range<u64>) -> Stretches {
        let inner = &self.0;
        let mut stretches =
            Stretches::new(inner.program.elements().src_bits, range.end - range.start);
        stretches.add_all(inner.program.digits(), inner.offsets(range));
        stretches
    }

    /// Returns the range, extended to whole elements if widths change.
    fn whole_elements(&self, range: &Range<u64>) -> Range<u64> {
        let align = if self.0.program.elements().are_same() {
            1
        } else {
            self.0.program.elements().dst_align()
        };
        range.start / align * align..range.end.next_multiple_of(align)
    }
}

impl Chunk {
    /// Returns the destination bytes of the chunk.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.chunk(2..4).unwrap().range(), 2..4);
    /// ```
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the bytes of the buffer that the reads fill.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// // The middle column: one element of each row, and little between.
    /// assert_eq!(plan.chunk(2..4).unwrap().buffer_len(), 4);
    /// ```
    pub fn buffer_len(&self) -> usize {
        self.buffer
    }

    /// Returns the bytes of memory that the chunk itself takes, mostly for the list of its reads.
    ///
    /// If there are too many boxes to keep, these are at most [`Plan::list_bytes`].
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let chunk = plan.chunk(2..4).unwrap();
    /// assert!(chunk.overhead_bytes() > 0 && chunk.overhead_bytes() < 4096);
    /// ```
    pub fn overhead_bytes(&self) -> u64 {
        match &self.needs {
            Needs::Pieces(pieces) => {
                let held: usize = pieces.iter().map(BoxReads::overhead).sum();
                (held + (pieces.capacity() - pieces.len()) * size_of::<BoxReads>()) as u64
            }
            Needs::Stretches(stretches) => stretches.overhead(),
        }
    }

    /// Iterates over the reads. Their places in the buffer are disjoint and fill it.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let reads: Vec<_> = plan.chunk(2..4).unwrap().reads().collect();
    /// assert_eq!((reads.len(), reads[0].src, reads[0].len, reads[0].at), (1, 1, 4, 0));
    /// ```
    pub fn reads(&self) -> impl Iterator<Item = Read> + '_ {
        let (pieces, stretches) = match &self.needs {
            Needs::Pieces(pieces) => (pieces.as_slice(), None),
            Needs::Stretches(stretches) => (&[][..], Some(stretches)),
        };
        let regular = pieces.iter().flat_map(|piece| {
            (0..piece.count).map(|i| {
                let (src, at) = piece.read(i);
                Read { src, len: piece.len, at }
            })
        });
        let scattered = stretches.into_iter().flat_map(|stretches| {
            (0..stretches.len()).map(|i| {
                let (src, len, at) = stretches.read(i);
                Read { src, len: len as usize, at: at as usize }
            })
        });
        regular.chain(scattered)
    }

    /// Returns the kernel that moves most of the bytes, named as in [`Plan::kernel_name`]. The range is cut from the
    /// regions of the plan, and the cut regions may need another kernel.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[200, 300]).unwrap();
    /// let dst = TensorLayout::col_major(&[200, 300]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert_eq!(plan.kernel_name(), "transpose 1B");
    /// assert_eq!(plan.chunk(0..60_000).unwrap().kernel_name(), "transpose 1B");
    /// // One column: nothing is left to transpose.
    /// assert_eq!(plan.chunk(0..200).unwrap().kernel_name(), "gather 1B");
    /// ```
    pub fn kernel_name(&self) -> String {
        let Needs::Pieces(pieces) = &self.needs else { return "tables".to_string() };
        let terms = self.plan.0.terms;
        let main = pieces.iter().max_by_key(|piece| piece.region.dst_bits(terms.elements));
        let name = |piece: &BoxReads| piece.ways(terms).name(&piece.region);
        main.map_or_else(|| "fill".to_string(), name)
    }

    /// Writes the destination bytes to `out` from the buffer that the reads filled, with this many threads; 0 means one
    /// thread per core.
    ///
    /// # Errors
    /// [buffer](Error::is_buffer) if the buffer is too short or `out` is not as long as the range,
    /// before a byte is written; [unsupported](Error::is_unsupported) if the system refuses to start
    /// threads.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let chunk = plan.chunk(2..4).unwrap();
    /// let mut out = [0; 2];
    /// chunk.run(&[2, 3, 4, 5], &mut out, 1).unwrap();
    /// assert_eq!(out, [2, 5]);
    /// assert!(chunk.run(&[2], &mut out, 1).unwrap_err().is_buffer());
    /// ```
    pub fn run(&self, buffer: &[u8], out: &mut [u8], threads: usize) -> Result<(), Error> {
        if buffer.len() < self.buffer {
            return Err(Error::buffer(format!(
                "a buffer of {} bytes is too short for a chunk that reads {}",
                buffer.len(),
                self.buffer
            )));
        }
        check_out(&self.range, out.len())?;
        self.plan.0.in_ranges(threads, self.range.start, out, |range, out| {
            self.plan.0.write(range, out, &|range, out| self.write(range, buffer, out));
        })
    }

    fn write(&self, range: &Range<u64>, buffer: &[u8], out: &mut [u8]) {
        let plan = &self.plan.0;
        match &self.needs {
            Needs::Pieces(pieces) => {
                for piece in pieces {
                    let ways = piece.ways(plan.terms);
                    plan.run_region(&piece.region, ways, range, buffer, out);
                }
            }
            Needs::Stretches(stretches) => {
                let offsets = plan.offsets(range);
                plan.program.digits().walk(offsets.clone(), &mut |leaf| {
                    stretches.place(leaf, &mut |leaf, shift| {
                        let shift = (shift, -offsets.start);
                        kernel::table(plan.program.elements(), leaf, shift, buffer, out);
                    });
                });
            }
        }
    }
}

impl core::fmt::Debug for Chunk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Chunk({:?}, {} bytes to read)", self.range, self.buffer)
    }
}

fn too_long(bytes: u128) -> Error {
    Error::overflow(format!("a chunk that reads {bytes} bytes; use a shorter range"))
}
