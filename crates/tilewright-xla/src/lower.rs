//! Lowers a layout and dims to exact offsets.
//!
//! Law: for every coordinate, `lower(dims).offset(coord)` is the row-major index of the coordinate's image under the walk
//! below, in [`Layout::final_bounds`].
//!
//! The walk, as XLA defines it: write the dims major to minor. For each tile, take one of the most minor dims for each
//! entry of the tile (missing dims count as 1), and merge at each `*` into the next more minor dim. Replace them by their
//! quotients by the tile, rounded up, followed by the tile's extents. The walk is written once ([`DimWalk`]) and used three
//! times: over bounds, over digits (`strided`), and over steps (`stepped`).

mod stepped;
mod strided;

pub(crate) use strided::chained;

use tilewright_core::{Error, MAX_MODES, TensorLayout};

use crate::{Layout, PrimitiveType, Tile, TileDim};

/// The effects of the walk on one dim.
pub(crate) trait DimWalk {
    /// A working dim.
    type Axis;
    /// The reason why a step is impossible.
    type Stop;

    /// A dim of extent 1.
    fn unit(&self) -> Self::Axis;

    /// Merges `major` into the next more minor dim.
    fn merge(&mut self, major: Self::Axis, minor: Self::Axis) -> Result<Self::Axis, Self::Stop>;

    /// Returns the quotient by `by`, rounded up in extent, and the remainder.
    fn split(&mut self, axis: Self::Axis, by: u64) -> Result<(Self::Axis, Self::Axis), Self::Stop>;

    /// Applies all tiles to `axes`, major to minor.
    fn walk(
        &mut self,
        mut axes: Vec<Self::Axis>,
        tiles: &[Tile],
    ) -> Result<Vec<Self::Axis>, Self::Stop> {
        for tile in tiles {
            let missing = tile.dims().len().saturating_sub(axes.len());
            axes.splice(0..0, (0..missing).map(|_| self.unit()).collect::<Vec<_>>());
            let suffix = axes.split_off(axes.len() - tile.dims().len());
            let mut inner = Vec::with_capacity(suffix.len());
            let mut merging = None;
            for (axis, &dim) in suffix.into_iter().zip(tile.dims()) {
                let merged = match merging.take() {
                    Some(major) => self.merge(major, axis)?,
                    None => axis,
                };
                match dim {
                    TileDim::Combine => merging = Some(merged),
                    TileDim::Size(by) => {
                        let (quotient, remainder) = self.split(merged, by)?;
                        axes.push(quotient);
                        inner.push(remainder);
                    }
                }
            }
            axes.append(&mut inner);
        }
        Ok(axes)
    }
}

/// The walk over extents alone.
struct Bounds;

impl DimWalk for Bounds {
    type Axis = u64;
    type Stop = Error;

    fn unit(&self) -> u64 {
        1
    }

    fn merge(&mut self, major: u64, minor: u64) -> Result<u64, Error> {
        let merged = u128::from(major) * u128::from(minor);
        u64::try_from(merged).ok().filter(|&merged| merged <= i64::MAX as u64).ok_or_else(|| {
            Error::overflow(
                "`*` merges dims of {} and {}",
                [major.into(), minor.into()],
                "an extent is at most 2^63 - 1",
            )
        })
    }

    fn split(&mut self, axis: u64, by: u64) -> Result<(u64, u64), Error> {
        Ok((axis.div_ceil(by), by))
    }
}

impl Layout {
    /// Returns the extents of the tiled array, major to minor: the storage is row-major in them. The rank is not limited.
    ///
    /// Those of [`Layout::validate`]; [overflow](Error::is_overflow) if dims merged by `*` exceed 2⁶³ − 1.
    /// Those of [`Layout::validate`]; [overflow](Error::is_overflow) if dims merged by `*` exceed 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
    /// assert_eq!(layout.final_bounds(&[20, 200]).unwrap(), [3, 2, 4, 128, 2, 1]);
    /// assert!(layout.final_bounds(&[20]).unwrap_err().is_mismatch());
    /// ```
    pub fn final_bounds(&self, dims: &[u64]) -> Result<Vec<u64>, Error> {
        self.validate(dims)?;
        Bounds.walk(self.physical(dims), self.tiles())
    }

    /// Returns the length of the storage in elements: the product of the final bounds, rounded up to the tail padding
    /// alignment; 0 for an empty array.
    ///
    /// # Errors
    /// Those of [`Layout::final_bounds`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(2,2)L(32)}").unwrap();
    /// assert_eq!(layout.padded_elements(&[3, 5]), Ok(32));
    /// assert!(layout.padded_elements(&[3]).unwrap_err().is_mismatch());
    /// assert!(layout.padded_elements(&[1 << 40, 1 << 40]).unwrap_err().is_overflow());
    /// ```
    pub fn padded_elements(&self, dims: &[u64]) -> Result<u64, Error> {
        self.padded(&self.final_bounds(dims)?)
    }

    /// Returns the length of the storage in elements, for dims in physical order, the most major first.
    pub(crate) fn padded_in_order(&self, physical: Vec<u64>) -> Result<u64, Error> {
        self.padded(&Bounds.walk(physical, self.tiles())?)
    }

    fn padded(&self, bounds: &[u64]) -> Result<u64, Error> {
        if bounds.contains(&0) {
            return Ok(0);
        }
        let (mut product, limit) = (1u128, i64::MAX as u128);
        for &bound in bounds {
            product = (product * u128::from(bound)).min(limit + 1);
        }
        let padded = product.next_multiple_of(u128::from(self.tail_padding_alignment()));
        if padded > limit {
            return Err(Error::overflow(
                "the padded array has more than {} elements",
                [limit as i128],
                "a storage has at most 2^63 - 1 elements",
            ));
        }
        Ok(padded as u64)
    }

    /// Returns the bytes of the storage: [`Layout::padded_elements`] at the layout's element size, or at the type's
    /// default of whole bytes, rounded up to a byte. The metadata prefix is not included.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1 bytes;
    /// [unsupported](Error::is_unsupported) for a type without values.
    ///
    /// ```
    /// use tilewright_xla::{Layout, PrimitiveType};
    /// let packed = Layout::parse("{1,0:T(2,128)E(4)}").unwrap();
    /// assert_eq!(packed.bytes(&[123, 456], PrimitiveType::S4), Ok(31_744));
    /// assert!(packed.bytes(&[1, 1], PrimitiveType::Token).unwrap_err().is_unsupported());
    /// ```
    pub fn bytes(&self, dims: &[u64], element_type: PrimitiveType) -> Result<u64, Error> {
        let bits = match (self.element_size_in_bits(), element_type.storage_bits()) {
            (_, None) => {
                return Err(Error::unsupported(
                    "arrays of a type without values have no known size",
                    [],
                    "",
                ));
            }
            (0, Some(bits)) => u64::from(bits),
            (bits, Some(_)) => bits,
        };
        let padded = self.padded_elements(dims)?;
        let bytes = (u128::from(padded) * u128::from(bits)).div_ceil(8);
        u64::try_from(bytes).ok().filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(|| {
            Error::overflow(
                "{} elements of {} bits exceed 2^63 - 1 bytes",
                [padded.into(), bits.into()],
                "",
            )
        })
    }

    /// Lowers the layout for an array of these dims to an exact map from coordinates to offsets, for any nesting of
    /// tiles, with `*` and with alignment.
    ///
    /// The result is strided if every tile boundary falls between digits of the dims; otherwise it has the steps of
    /// XLA's algorithm. Digits of extent 1 are omitted, unless a dim has no other. An empty array has the order of its dims and
    /// no storage.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`]; [limit](Error::is_limit) beyond 32 dims, digits or steps.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let tiled = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap().lower(&[20, 200]).unwrap();
    /// assert_eq!(tiled.layout().to_string(), "((2,4,3),(128,2)):((1,256,2048),(2,1024))");
    /// assert_eq!(tiled.offset(&[19, 199]), Ok(5519));
    ///
    /// // 3 and 2 do not divide: exact all the same.
    /// let uneven = Layout::parse("{1,0:T(3,4)(2,1)}").unwrap().lower(&[6, 4]).unwrap();
    /// assert!(!uneven.is_strided());
    /// assert_eq!((uneven.offset(&[5, 3]), uneven.capacity()), (Ok(30), 32));
    /// // Values of the core have at most 32 dims.
    /// assert!(Layout::descending(33).lower(&[1; 33]).unwrap_err().is_limit());
    /// ```
    pub fn lower(&self, dims: &[u64]) -> Result<TensorLayout, Error> {
        let bounds = self.final_bounds(dims)?;
        let capacity = self.padded(&bounds)?;
        if dims.len() > MAX_MODES {
            return Err(Error::limit("{} dims", [dims.len() as i128], "an array has at most 32"));
        }
        if dims.contains(&0) {
            return TensorLayout::ordered(dims, self.minor_to_major());
        }
        match strided::lower(self, dims, capacity) {
            Some(tensor) => Ok(tensor),
            None => stepped::lower(self, dims, capacity),
        }
    }
}
