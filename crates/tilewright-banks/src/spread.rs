//! A map from (thread, value) to the coordinates of a tile.
//!
//! Each source of such a map becomes one list of cells: a layout of threads and values, a map that is linear over bits,
//! a layout that stores thread after thread, rows, columns, and the matrices of one instruction. The values of a thread
//! are in the order in which it accesses them.

use tilewright_core::{Error, Layout, LinearLayout, TensorLayout};

/// The most (thread, value) pairs of a map.
pub(crate) const MAX_PAIRS: u64 = 1 << 20;

/// Marks a value that a thread does not have.
const NONE: u64 = u64::MAX;

/// The number of rows of a matrix that `ldmatrix` moves, each addressed by one thread.
const MATRIX: u64 = 8;

/// A map from (thread, value) to coordinates of a tile.
///
/// ```
/// use tilewright_banks::Spread;
/// use tilewright_core::layout;
/// // The accumulator of m16n8k16: CuTe counts the cells of the tile down its columns.
/// let spread = Spread::of_layout(&layout!("((4,8),(2,2)):((32,1),(16,8))"), &[16, 8])?;
/// assert_eq!((spread.threads(), spread.values()), (32, 4));
/// assert_eq!(spread.coord(5, 3), Some(vec![9, 3]));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    tile: Vec<u64>,
    threads: u64,
    values: u64,
    /// The row-major index in the tile, for each value of each thread.
    cells: Vec<u64>,
}

impl Spread {
    /// Creates a map from CuTe's layout of threads and values, whose offsets are colexicographic indices of a tile.
    /// Axis 0 counts the threads, the other axes count their values.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) if an index is outside the tile; [limit](Error::is_limit) beyond 2²⁰ pairs.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// use tilewright_core::layout;
    /// assert!(Spread::of_layout(&layout!("(32,2):(1,32)"), &[8, 8]).is_ok());
    /// let error = Spread::of_layout(&layout!("(32,2):(1,32)"), &[8, 4]).unwrap_err();
    /// assert!(error.is_out_of_range());
    /// ```
    pub fn of_layout(layout: &Layout, tile: &[u64]) -> Result<Spread, Error> {
        let threads = layout.axis_size(0).unwrap_or(1);
        let values = layout.size().checked_div(threads).unwrap_or(0);
        let cells = (tile.iter()).try_fold(1u64, |n, &extent| n.checked_mul(extent)).unwrap_or(0);
        Spread::new(tile, threads, values, |thread, value| {
            // The threads are the fastest digits of the domain.
            let index = layout.offset_of(thread + threads * value)?;
            let index = u64::try_from(index).ok().filter(|&index| index < cells);
            let coord = index.map(|index| colex(tile, index));
            coord.map(Some).ok_or_else(|| {
                let numbers = [thread.into(), value.into(), cells.into()];
                let legal = "indices count the cells of the tile, the first dim fastest";
                Error::out_of_range(
                    "thread {}, value {}: index is outside the tile of {}",
                    numbers,
                    legal,
                )
            })
        })
    }

    /// Creates a map that is linear over bits, from `register`, `lane` and `warp` to the dims of a tile. Of several
    /// blocks, the first is taken. A register that repeats another one counts once.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if the map lacks the dim `lane`; [limit](Error::is_limit) beyond 2²⁰ pairs.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// use tilewright_core::LinearLayout;
    /// let map = LinearLayout::parse("{register=[[0,1]],lane=[[1,0],[2,0]]} -> (dim0:4,dim1:2)").unwrap();
    /// let spread = Spread::of_linear(&map)?;
    /// assert_eq!((spread.threads(), spread.values(), spread.coord(3, 1)), (4, 2, Some(vec![3, 1])));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn of_linear(map: &LinearLayout) -> Result<Spread, Error> {
        let map = map.remove_zeros("register").unwrap_or_else(|_| map.copied());
        let size = |name: &str| map.ins().iter().find(|dim| dim.name() == name).map(|d| d.size());
        let Some(lanes) = size("lane") else {
            let legal = "a map over threads has the dims register, lane and warp";
            return Err(Error::unsupported(
                "no dim `lane` among {}",
                [map.ins().len() as i128],
                legal,
            ));
        };
        let (values, warps) = (size("register").unwrap_or(1), size("warp").unwrap_or(1));
        let tile: Vec<u64> = map.outs().iter().map(|dim| dim.size()).collect();
        Spread::new(&tile, lanes.saturating_mul(warps), values, |thread, value| {
            let place = |name: &str| match name {
                "register" => value,
                "lane" => thread % lanes,
                "warp" => thread / lanes,
                _ => 0,
            };
            let coord: Vec<u64> = map.ins().iter().map(|dim| place(dim.name())).collect();
            Ok(Some(map.apply(&coord)?.as_slice().to_vec()))
        })
    }

    /// Creates a map from a layout that stores thread after thread: value `v` of thread `t` at offset
    /// `t · values + v`, as fragment formats do.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless the threads divide the capacity; [limit](Error::is_limit) beyond 2²⁰
    /// pairs.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// use tilewright_core::{TensorLayout, layout};
    /// let places = TensorLayout::of(&layout!("((8,2),(2,4)):((8,2),(1,16))"));
    /// let spread = Spread::of_places(&TensorLayout::row_major(&[4, 8])?, 4)?;
    /// assert_eq!((spread.values(), spread.coord(2, 5)), (8, Some(vec![2, 5])));
    /// assert!(Spread::of_places(&places, 5).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn of_places(places: &TensorLayout, threads: u64) -> Result<Spread, Error> {
        let capacity = places.capacity();
        if threads == 0 || !capacity.is_multiple_of(threads) {
            let numbers = [capacity.into(), threads.into()];
            let legal = "the number of threads must divide the number of places";
            return Err(Error::mismatch("{} places for {} threads", numbers, legal));
        }
        let values = capacity / threads;
        let mut spread = Spread::new(places.extents(), threads, values, |_, _| Ok(None))?;
        for index in 0..places.size() {
            let offset = usize::try_from(places.offset_of(index)?).unwrap_or(usize::MAX);
            if let Some(cell) = spread.cells.get_mut(offset) {
                *cell = index;
            }
        }
        Ok(spread)
    }

    /// Assigns the vectors of an array to threads row by row. A vector has `vector` elements along dim `along`; vectors
    /// are taken in row-major order, thread by thread and warp by warp.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) unless `vector` divides that dim; [limit](Error::is_limit) beyond 2²⁰ pairs.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// let spread = Spread::rows(&[4, 64], 1, 2, 32)?;
    /// assert_eq!((spread.coord(3, 1), spread.coord(3, 2)), (Some(vec![0, 7]), Some(vec![1, 6])));
    /// assert!(Spread::rows(&[4, 63], 1, 2, 32).unwrap_err().is_mismatch());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn rows(extents: &[u64], along: usize, vector: u64, lanes: u64) -> Result<Spread, Error> {
        Spread::vectors(extents, along, vector, lanes, row_major)
    }

    /// Assigns the vectors of an array to threads column by column: the vectors of [`Spread::rows`], with dim 0 fastest.
    ///
    /// # Errors
    /// Those of [`Spread::rows`].
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// let spread = Spread::columns(&[32, 8], 1, 4, 32)?;
    /// assert_eq!((spread.coord(3, 1), spread.coord(3, 4)), (Some(vec![3, 1]), Some(vec![3, 4])));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn columns(
        extents: &[u64],
        along: usize,
        vector: u64,
        lanes: u64,
    ) -> Result<Spread, Error> {
        Spread::vectors(extents, along, vector, lanes, colex)
    }

    fn vectors(
        extents: &[u64],
        along: usize,
        vector: u64,
        lanes: u64,
        unpack: fn(&[u64], u64) -> Vec<u64>,
    ) -> Result<Spread, Error> {
        let width = extents.get(along).copied().unwrap_or(1);
        if vector == 0 || lanes == 0 || !width.is_multiple_of(vector) {
            let numbers = [width.into(), along as i128, vector.into()];
            let legal = "the vector size must divide the extent of its dim";
            return Err(Error::mismatch("{} elements of dim {} in vectors of {}", numbers, legal));
        }
        let mut counts = extents.to_vec();
        if let Some(count) = counts.get_mut(along) {
            *count /= vector;
        }
        let all: u64 = size(&counts)?;
        Spread::new(extents, lanes, all.div_ceil(lanes) * vector, |thread, value| {
            let at = value / vector * lanes + thread;
            Ok((at < all).then(|| {
                let mut coord = unpack(&counts, at);
                if let Some(x) = coord.get_mut(along) {
                    *x = *x * vector + value % vector;
                }
                coord
            }))
        })
    }

    /// The rows of 16 bytes that `ldmatrix` and `stmatrix` move: one, two or four matrices of 8 rows, in a tile of 8 or
    /// 16 rows. Thread `i` gives the address of row `i mod 8` of matrix `i / 8`. Rows run along dim 1, or along dim 0 with
    /// `trans`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for another number of matrices, for an array that does not have two dims, or if
    /// `vector`, the number of elements in 16 bytes, is 0.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// let spread = Spread::matrices(&[64, 64], 4, false, 8)?;
    /// assert_eq!((spread.tile(), spread.threads(), spread.values()), (&[16, 16][..], 32, 8));
    /// assert_eq!((spread.coord(15, 7), spread.coord(16, 0)), (Some(vec![15, 7]), Some(vec![0, 8])));
    /// assert!(Spread::matrices(&[64, 64], 3, false, 8).unwrap_err().is_illegal());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn matrices(
        extents: &[u64],
        matrices: u64,
        trans: bool,
        vector: u64,
    ) -> Result<Spread, Error> {
        let &[first, second] = extents else {
            let legal = "an instruction moves matrices of an array of two dims";
            return Err(Error::illegal("{} dims", [extents.len() as i128], legal));
        };
        if ![1, 2, 4].contains(&matrices) || vector == 0 {
            let legal = "an instruction moves 1, 2 or 4 matrices with rows of 16 bytes";
            return Err(Error::illegal("{} matrices", [matrices.into()], legal));
        }
        let height = if trans { second } else { first };
        // Matrices are placed below each other up to 16 rows, then side by side.
        let below = if height >= 2 * MATRIX { matrices.min(2) } else { 1 };
        let shape = [below * MATRIX, matrices / below * vector];
        let turned =
            |coord: [u64; 2]| if trans { vec![coord[1], coord[0]] } else { coord.to_vec() };
        Spread::new(&turned(shape), matrices * MATRIX, vector, |thread, value| {
            let (row, matrix) = (thread % MATRIX, thread / MATRIX);
            let at = [matrix % below * MATRIX + row, matrix / below * vector + value];
            Ok(Some(turned(at)))
        })
    }

    fn new(
        tile: &[u64],
        threads: u64,
        values: u64,
        coord: impl Fn(u64, u64) -> Result<Option<Vec<u64>>, Error>,
    ) -> Result<Spread, Error> {
        size(tile)?;
        size(&[threads, values])?;
        let mut cells = Vec::new();
        for (thread, value) in (0..threads).flat_map(|t| (0..values).map(move |v| (t, v))) {
            cells.push(coord(thread, value)?.map_or(NONE, |coord| index(tile, &coord)));
        }
        Ok(Spread { tile: tile.to_vec(), threads, values, cells })
    }

    /// Returns the extents of the tile.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// assert_eq!(Spread::rows(&[4, 64], 1, 1, 32)?.tile(), [4, 64]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn tile(&self) -> &[u64] {
        &self.tile
    }

    /// Returns the number of threads.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// assert_eq!(Spread::rows(&[4, 64], 1, 1, 32)?.threads(), 32);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn threads(&self) -> u64 {
        self.threads
    }

    /// Returns the number of values of a thread.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// assert_eq!(Spread::rows(&[4, 64], 1, 1, 32)?.values(), 8);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub const fn values(&self) -> u64 {
        self.values
    }

    /// Returns the number of (thread, value) pairs that hold an element.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// // The last 8 threads have no value.
    /// assert_eq!(Spread::rows(&[3, 8], 1, 1, 32)?.held(), 24);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn held(&self) -> u64 {
        self.cells.iter().filter(|&&cell| cell != NONE).count() as u64
    }

    /// Returns the coordinate of a value in the tile; `None` if the thread does not have the value.
    ///
    /// ```
    /// use tilewright_banks::Spread;
    /// let spread = Spread::rows(&[3, 8], 1, 1, 32)?;
    /// assert_eq!((spread.coord(9, 0), spread.coord(30, 0)), (Some(vec![1, 1]), None));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn coord(&self, thread: u64, value: u64) -> Option<Vec<u64>> {
        let at = usize::try_from(thread.checked_mul(self.values)?.checked_add(value)?).ok()?;
        let cell = self.cells.get(at).filter(|_| value < self.values)?;
        (*cell != NONE).then(|| row_major(&self.tile, *cell))
    }
}

/// Returns the product of extents if it is within the limit.
fn size(extents: &[u64]) -> Result<u64, Error> {
    let size = extents.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
    size.filter(|&n| n <= MAX_PAIRS).ok_or_else(|| {
        let all = extents.iter().fold(1, |n: i128, &extent| n.saturating_mul(extent.into()));
        let legal = "conflicts are counted for at most 1048576; take a tile";
        Error::limit("{} elements", [all], legal)
    })
}

/// Returns the coordinate of a row-major index.
pub(crate) fn row_major(extents: &[u64], mut index: u64) -> Vec<u64> {
    let mut coord = vec![0; extents.len()];
    for (x, &extent) in coord.iter_mut().zip(extents).rev() {
        (*x, index) = (index % extent.max(1), index / extent.max(1));
    }
    coord
}

/// Returns the coordinate of a colexicographic index.
fn colex(extents: &[u64], mut index: u64) -> Vec<u64> {
    let next = |&extent: &u64| {
        let x = index % extent.max(1);
        index /= extent.max(1);
        x
    };
    extents.iter().map(next).collect()
}

/// Returns the row-major index of a coordinate.
fn index(extents: &[u64], coord: &[u64]) -> u64 {
    extents.iter().zip(coord).fold(0, |index, (extent, x)| index * extent + x)
}
