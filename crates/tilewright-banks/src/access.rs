//! An access of shared memory: the elements that each thread reads or writes, how many at once, and the offset of each
//! thread's vector in each instruction.
//!
//! An instruction is one step of one warp in one repetition of the tile. Law: the elements of a vector are contiguous in
//! memory, and its first byte is a multiple of its size. Otherwise construction fails, and the error names the thread and
//! the coordinate.

use tilewright_core::{Coord, Error, TensorLayout};

use crate::{Spread, spread::row_major};

/// An access of an array by the threads of a [`Spread`]. Each instruction moves `vector` consecutive values of each
/// thread. The tile of the spread is repeated over the array from its origin on; a thread whose element is outside the
/// array does nothing.
///
/// ```
/// use tilewright_banks::{Access, Spread};
/// let access = Access::read("row", Spread::rows(&[4, 64], 1, 2, 32)?, 2)?;
/// assert_eq!((access.name(), access.vector(), access.is_write()), ("row", 2, false));
/// assert_eq!(access.spread().values(), 8);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    name: String,
    spread: Spread,
    vector: u64,
    write: bool,
}

impl Access {
    /// Creates a read of `vector` elements at once by each thread.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless `vector` divides the number of values of a thread.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// let spread = Spread::rows(&[4, 64], 1, 2, 32)?;
    /// assert!(Access::read("row", spread, 3).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn read(name: &str, spread: Spread, vector: u64) -> Result<Access, Error> {
        if vector == 0 || !spread.values().is_multiple_of(vector) {
            let numbers = [spread.values().into(), vector.into()];
            let legal = "choose a vector size that divides them";
            return Err(Error::mismatch(
                "{} values per thread do not divide into vectors of {}",
                numbers,
                legal,
            ));
        }
        Ok(Access { name: name.into(), spread, vector, write: false })
    }

    /// Creates a write of `vector` elements at once by each thread.
    ///
    /// # Errors
    /// Those of [`Access::read`].
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert!(Access::write("row", Spread::rows(&[4, 64], 1, 1, 32)?, 1)?.is_write());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn write(name: &str, spread: Spread, vector: u64) -> Result<Access, Error> {
        Ok(Access { write: true, ..Access::read(name, spread, vector)? })
    }

    /// Returns the name under which results mention the access.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("column", Spread::columns(&[8, 8], 1, 1, 32)?, 1)?.name(), "column");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the map from (thread, value) to elements.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("row", Spread::rows(&[8, 8], 1, 1, 32)?, 1)?.spread().threads(), 32);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn spread(&self) -> &Spread {
        &self.spread
    }

    /// Returns the number of elements that a thread accesses at once.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert_eq!(Access::read("row", Spread::rows(&[8, 8], 1, 4, 32)?, 4)?.vector(), 4);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn vector(&self) -> u64 {
        self.vector
    }

    /// Returns whether the access is a write.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// assert!(!Access::read("row", Spread::rows(&[8, 8], 1, 1, 32)?, 1)?.is_write());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn is_write(&self) -> bool {
        self.write
    }
}

/// The most threads, over all instructions of an access.
pub const MAX_CELLS: u64 = 1 << 20;

/// Marks a thread that does nothing.
const NONE: u64 = u64::MAX;

impl Access {
    /// Checks that warps of `lanes` threads can access their vectors at once in an array of elements of `bits` bits: the
    /// elements of a vector are contiguous, and vectors are aligned.
    ///
    /// # Errors
    /// Those of [`conflicts`](crate::conflicts), which accepts the same accesses.
    ///
    /// ```
    /// use tilewright_banks::{Access, Spread};
    /// use tilewright_core::TensorLayout;
    /// let tile = TensorLayout::row_major(&[8, 64])?;
    /// let of = |along| Access::read("row", Spread::rows(&[8, 64], along, 4, 32)?, 4)?.fits(&tile, 16, 32);
    /// assert!(of(1).is_ok() && of(0).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn fits(&self, layout: &TensorLayout, bits: u32, lanes: usize) -> Result<(), Error> {
        VectorOffsets::of(self, layout, bits, lanes).map(|_| ())
    }
}

/// One instruction of an access: a step of a warp in a repetition of the tile.
///
/// ```
/// use tilewright_banks::{Access, Banks, Spread, conflicts};
/// use tilewright_core::TensorLayout;
/// let tile = TensorLayout::row_major(&[64, 32])?;
/// let access = Access::read("column", Spread::columns(&[64, 32], 1, 1, 32)?, 1)?;
/// let clash = conflicts(&tile, 32, &Banks::NVIDIA, &access)?.worst.unwrap();
/// assert_eq!((clash.moment.tile.as_slice(), clash.moment.warp, clash.moment.step), (&[0, 0][..], 0, 0));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The coordinate at which this repetition of the tile begins.
    pub tile: Vec<u64>,
    /// The number of the warp.
    pub warp: u64,
    /// The index of the vector of each thread, from 0.
    pub step: u64,
}

/// The offsets of all vectors of an access.
pub(crate) struct VectorOffsets<'a> {
    access: &'a Access,
    extents: Vec<u64>,
    pub(crate) lanes: usize,
    /// The width of an element in bits.
    bits: u64,
    pub(crate) bytes: u64,
    /// The offset in elements of each thread's vector, instruction by instruction.
    starts: Vec<u64>,
}

impl<'a> VectorOffsets<'a> {
    pub(crate) fn of(
        access: &'a Access,
        layout: &TensorLayout,
        bits: u32,
        lanes: usize,
    ) -> Result<VectorOffsets<'a>, Error> {
        let (bits, extents) = (u64::from(bits), layout.extents());
        if access.spread().tile().len() != extents.len() {
            let numbers = [access.spread().tile().len() as i128, extents.len() as i128];
            let legal = "give the tile one dim per dim of the array";
            return Err(Error::mismatch("a tile of {} dims of an array of {}", numbers, legal));
        }
        let wide = bits.checked_mul(access.vector()).filter(|wide| wide.is_multiple_of(8));
        let Some(bytes) = wide.map(|wide| wide / 8).filter(|&bytes| bytes > 0) else {
            let numbers = [access.vector().into(), bits.into()];
            let legal = "a thread accesses whole bytes";
            return Err(Error::illegal("vectors of {} elements of {} bits", numbers, legal));
        };
        let mut places = VectorOffsets {
            access,
            extents: extents.to_vec(),
            lanes,
            bits,
            bytes,
            starts: Vec::new(),
        };
        let all = places.instructions().checked_mul(lanes as u64);
        if all.is_none_or(|all| all > MAX_CELLS) {
            let numbers = [i128::from(places.instructions()), lanes as i128];
            let legal = "at most 1048576 accesses are counted; take a smaller array";
            return Err(Error::limit("{} instructions of {} threads", numbers, legal));
        }
        for at in 0..places.instructions() {
            let moment = places.moment(at);
            for lane in 0..lanes {
                let start = places.start(layout, &moment, lane)?;
                places.starts.push(start);
            }
        }
        Ok(places)
    }

    /// Returns the number of tiles, and the number of their values that are inside the array.
    pub(crate) fn counted(&self) -> (u64, u64) {
        let vectors = self.starts.iter().filter(|&&start| start != NONE).count() as u64;
        let tiles = self.tiles().into_iter().fold(1, u64::saturating_mul);
        (tiles, vectors.saturating_mul(self.access.vector()))
    }

    /// Returns the number of tiles along each dim; the last may be partial.
    fn tiles(&self) -> Vec<u64> {
        let tile = self.access.spread().tile();
        self.extents.iter().zip(tile).map(|(extent, &tile)| extent.div_ceil(tile.max(1))).collect()
    }

    fn steps(&self) -> u64 {
        self.access.spread().values() / self.access.vector()
    }

    fn warps(&self) -> u64 {
        self.access.spread().threads().div_ceil(self.lanes as u64)
    }

    /// The number of instructions.
    pub(crate) fn instructions(&self) -> u64 {
        let counts = self.tiles().into_iter().chain([self.steps(), self.warps()]);
        counts.fold(1u64, u64::saturating_mul)
    }

    pub(crate) fn moment(&self, at: u64) -> Moment {
        let (steps, warps) = (self.steps().max(1), self.warps().max(1));
        let tile = row_major(&self.tiles(), at / steps / warps);
        let begins = tile.iter().zip(self.access.spread().tile()).map(|(at, extent)| at * extent);
        Moment { tile: begins.collect(), warp: at / steps % warps, step: at % steps }
    }

    /// Returns the thread of the map that a lane of an instruction runs.
    pub(crate) fn thread(&self, at: u64, lane: usize) -> u64 {
        self.moment(at).warp * self.lanes as u64 + lane as u64
    }

    /// Returns the coordinate of an element of a thread's vector; `None` if the thread has no such element.
    pub(crate) fn coord(&self, at: u64, lane: usize, element: u64) -> Option<Vec<u64>> {
        self.coord_in(&self.moment(at), lane, element)
    }

    fn coord_in(&self, moment: &Moment, lane: usize, element: u64) -> Option<Vec<u64>> {
        let thread = moment.warp * self.lanes as u64 + lane as u64;
        if thread >= self.access.spread().threads() {
            return None;
        }
        let value = moment.step * self.access.vector() + element;
        let within = self.access.spread().coord(thread, value)?;
        let coord: Vec<u64> = within.iter().zip(&moment.tile).map(|(x, from)| x + from).collect();
        coord.iter().zip(&self.extents).all(|(x, extent)| x < extent).then_some(coord)
    }

    /// Returns the offset of a thread's vector; checks that its elements are contiguous and aligned.
    fn start(&self, layout: &TensorLayout, moment: &Moment, lane: usize) -> Result<u64, Error> {
        let Some(first) = self.coord_in(moment, lane, 0) else { return Ok(NONE) };
        let start = layout.offset(&first)?;
        for element in 1..self.access.vector() {
            let numbers = [element.into(), self.access.vector().into(), lane as i128];
            let Some(next) = self.coord_in(moment, lane, element) else {
                let legal = "a vector has to be inside the array; access fewer at once";
                let message =
                    "element {} of the {} that thread {} accesses here is outside the array";
                return Err(witnessed(Error::illegal(message, numbers, legal), &first));
            };
            if layout.offset(&next)?.checked_sub(start) != Some(element as i64) {
                let legal = "the elements of a vector have to be contiguous; access fewer at once";
                let message = "element {} of the {} that thread {} accesses here does not follow the one before it";
                return Err(witnessed(Error::illegal(message, numbers, legal), &first));
            }
        }
        let aligned = u64::try_from(start).ok().filter(|start| {
            let bits = start.checked_mul(self.bits);
            bits.is_some_and(|bits| bits.is_multiple_of(self.bytes * 8))
        });
        aligned.ok_or_else(|| {
            let numbers = [self.bytes.into(), start.into(), self.bits.into()];
            let legal = "a vector must begin at a multiple of its bytes, 0 or more";
            let message = "a vector of {} bytes at offset {} of elements of {} bits";
            witnessed(Error::illegal(message, numbers, legal), &first)
        })
    }

    /// Iterates over the active threads of an instruction, each with the offset of its vector in elements.
    pub(crate) fn threads(&self, at: u64) -> impl Iterator<Item = (usize, u64)> + '_ {
        let from = usize::try_from(at).unwrap_or(0) * self.lanes;
        let starts = self.starts.get(from..from + self.lanes).unwrap_or_default();
        starts.iter().copied().enumerate().filter(|(_, start)| *start != NONE)
    }

    /// Returns the first byte of the vector at an offset.
    pub(crate) const fn byte(&self, offset: u64) -> u64 {
        offset.saturating_mul(self.bits) / 8
    }
}

fn witnessed(error: Error, coord: &[u64]) -> Error {
    match Coord::new(coord) {
        Ok(coord) => error.at(coord),
        Err(_) => error,
    }
}
