//! [`Sharded`]: an array cut over a mesh of devices.
//!
//! ```text
//! lists of dim d at coordinate c:   L = [0, extent);   for each split of d, in order:   L = cut(L, count, index(c))
//! index(c)                      :   the digits of c that the split lists, the first most significant
//! ```
//!
//! The lists are the definition. They follow from the splits for any coordinate, so the value is small for every mesh.

use tilewright_core::Dtype;

use crate::{
    Error,
    intervals::Intervals,
    limits::{MAX_AXES, MAX_INTERVALS},
    mesh::Mesh,
    shard::Shard,
    split::{Cut, Split, check_apart, padded},
};

/// A sharded array: extents, element type, mesh, and the splits in the order of cutting.
///
/// ```
/// use tilewright_sharded::{Mesh, Sharded, Split};
/// // torch cuts 37 rows over two axes, one within the other.
/// let rows = Sharded::new(&[37], None, Mesh::new(&[2, 2])?, vec![Split::chunk(0, 0), Split::chunk(0, 1)])?;
/// let lists: Vec<String> = rows.shards().map(|shard| shard.dims()[0].to_string()).collect();
/// assert_eq!(lists, ["[0,10)", "[10,19)", "[19,28)", "[28,37)"]);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharded {
    extents: Vec<u64>,
    dtype: Option<Dtype>,
    mesh: Mesh,
    splits: Vec<Split>,
}

impl Sharded {
    /// Makes an array with these extents, cut by `splits` in this order.
    ///
    /// # Errors
    /// `out-of-range` for a dim or an axis that does not exist; `illegal` for a part of an axis that does not divide
    /// it, for an axis that cuts twice, a factor of 0, or padding that is not a multiple of the parts; `mismatch` for
    /// lists that are not a [`Cut::Listed`] of the dim; `overflow` if the product of the extents exceeds 2⁶³ − 1;
    /// `limit` beyond [`MAX_AXES`] dims or [`MAX_INTERVALS`] intervals.
    ///
    /// ```
    /// use tilewright_sharded::{Mesh, Sharded, Split};
    /// let mesh = Mesh::named(&[("dp", 2), ("tp", 4)])?;
    /// let twice = vec![Split::chunk(0, 1), Split::chunk(1, 1)];
    /// let error = Sharded::new(&[8, 8], None, mesh, twice).unwrap_err();
    /// assert_eq!(error.to_string(), "the axis `tp` of the mesh is used twice");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn new(
        extents: &[u64],
        dtype: Option<Dtype>,
        mesh: Mesh,
        splits: Vec<Split>,
    ) -> Result<Sharded, Error> {
        check_extents(extents)?;
        let sharded = Sharded { extents: extents.to_vec(), dtype, mesh, splits };
        sharded.splits.iter().try_for_each(|split| sharded.check(split))?;
        sharded.check_axes()?;
        sharded.check_intervals()?;
        Ok(sharded)
    }

    /// Returns the extents of the whole array.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("f32[8,6] @ mesh(2) row")?.extents(), [8, 6]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the element type, if it is known.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("BF16[8,6] @ mesh(2) row")?.dtype(), Some(Dtype::Bf16));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// Returns the mesh.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("f32[8,6] @ mesh(tp=2) row")?.mesh().to_string(), "mesh(tp=2)");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Returns the splits, in the order of cutting.
    ///
    /// ```
    /// use tilewright_sharded::{Sharded, Split};
    /// let sharded = Sharded::parse("f32[8] @ mesh(2,2) [Shard(0), Shard(0)] order(1,0)")?;
    /// assert_eq!(sharded.splits(), [Split::chunk(0, 1), Split::chunk(0, 0)]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// Returns the shard of the device at a position.
    ///
    /// # Errors
    /// `out-of-range` past the last position.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[3] @ mesh(4) [Shard(0)]")?;
    /// assert_eq!(sharded.shard(2)?.dims()[0].as_slice(), [[2, 1]]);
    /// assert_eq!(sharded.shard(4).unwrap_err().kind(), "out-of-range");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn shard(&self, position: u64) -> Result<Shard, Error> {
        let count = self.mesh.count();
        match position < count {
            true => Ok(self.at(position)),
            false => Err(Error::out_of_range(format!("position {position} of a mesh of {count}"))),
        }
    }

    /// Iterates over the shards of all devices, in the order of positions.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[9] @ mesh(4) [Shard(0)]")?;
    /// let held: Vec<u64> = sharded.shards().map(|shard| shard.extents()[0]).collect();
    /// assert_eq!(held, [3, 3, 3, 0]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn shards(&self) -> impl Iterator<Item = Shard> + '_ {
        (0..self.mesh.count()).map(|position| self.at(position))
    }

    /// Returns the axes along which every device holds the same: those that are in no split and have more than one
    /// position.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[8] @ mesh(dp=2,tp=4,pp=1) P(\"tp\")")?;
    /// assert_eq!(sharded.replicated(), [0]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn replicated(&self) -> Vec<usize> {
        let sizes = self.mesh.sizes().iter().enumerate();
        let axes = sizes.filter(|(_, size)| **size > 1).map(|(axis, _)| axis);
        let cuts = |axis: usize| {
            let mut parts = self.splits.iter().flat_map(|split| &split.parts);
            parts.any(|part| part.axis == axis)
        };
        axes.filter(|axis| !cuts(*axis)).collect()
    }

    /// Returns the shard at a position of the mesh.
    pub(crate) fn at(&self, position: u64) -> Shard {
        let coord = self.mesh.coord(position);
        let mut dims: Vec<Intervals> = self.extents.iter().map(|n| Intervals::whole(*n)).collect();
        let mut stored = self.extents.clone();
        let mut padding: Vec<[u64; 2]> = self.extents.iter().map(|n| [*n, 0]).collect();
        for split in &self.splits {
            let count = split.count(&self.mesh).unwrap_or(1);
            let index = split.index(&self.mesh, &coord);
            if let (Some(list), Some(extent)) = (dims.get_mut(split.dim), stored.get_mut(split.dim))
            {
                (*list, *extent) = split.of(list, count, index);
                if let (true, Some(behind)) = (self.pads(split), padding.get_mut(split.dim)) {
                    let start = extent.saturating_mul(index).max(behind[0]);
                    *behind = [start, extent.saturating_mul(index + 1).saturating_sub(start)];
                }
            }
        }
        let names = coord.iter().enumerate().map(|(axis, at)| (self.mesh.name(axis), *at));
        let (device, coord) = (self.mesh.device(position), names.collect());
        Shard { position, device, coord, dims, stored, padding }
    }

    /// Returns whether a split pads its dim, and no other split cuts it.
    fn pads(&self, split: &Split) -> bool {
        let alone = || self.splits.iter().filter(|other| other.dim == split.dim).count() == 1;
        matches!(split.cut, Cut::Padded { .. }) && alone()
    }

    /// Checks that a split fits this array and this mesh.
    fn check(&self, split: &Split) -> Result<(), Error> {
        let rank = self.extents.len();
        let Some(extent) = self.extents.get(split.dim) else {
            let dim = split.dim;
            return Err(Error::out_of_range(format!("dim {dim} of an array of {rank} dims")));
        };
        let count = split.count(&self.mesh)?;
        match &split.cut {
            Cut::Chunk => Ok(()),
            Cut::Strided { factor: 0 } => {
                Err(Error::illegal("a strided cut of 0 chunks; use at least 1"))
            }
            Cut::Strided { .. } => Ok(()),
            Cut::Padded { multiple } if *multiple == 0 || multiple % count != 0 => {
                let said = format!("padding to a multiple of {multiple} for {count} parts");
                Err(Error::illegal(format!(
                    "{said}; the multiple must be divisible by the number of parts"
                )))
            }
            Cut::Padded { multiple } => match padded(*extent, *multiple) {
                Some(_) => Ok(()),
                None => {
                    let said = format!("{extent} padded to a multiple of {multiple}");
                    Err(Error::overflow(format!("{said} exceeds 63 bits")))
                }
            },
            Cut::Listed(lists) => check_lists(lists, count, *extent),
            Cut::Heads(heads) => heads.check(*extent, count),
        }
    }

    /// Checks that no digit of an axis cuts twice, among cuts that follow from their index alone.
    fn check_axes(&self) -> Result<(), Error> {
        let ruled = self.splits.iter().filter(|split| !matches!(split.cut, Cut::Listed(_)));
        check_apart(ruled.flat_map(|split| &split.parts), &self.mesh)
    }

    /// Checks that all lists together stay within [`MAX_INTERVALS`].
    fn check_intervals(&self) -> Result<(), Error> {
        let dims = self.extents.iter().enumerate().map(|(dim, extent)| {
            let splits = self.splits.iter().filter(|split| split.dim == dim);
            splits.fold(1, |most, split| split.most(most, *extent))
        });
        let most = dims.fold(0, u64::saturating_add).saturating_mul(self.mesh.count());
        match most <= MAX_INTERVALS {
            true => Ok(()),
            false => {
                let said = format!("up to {most} intervals on all devices together");
                Err(Error::limit(format!("{said}; at most {MAX_INTERVALS}")))
            }
        }
    }
}

/// Checks that the product of extents fits 63 bits, with empty dims counted as one.
fn check_extents(extents: &[u64]) -> Result<(), Error> {
    if extents.len() > MAX_AXES {
        return Err(Error::limit(format!(
            "an array of {} dims; at most {MAX_AXES}",
            extents.len()
        )));
    }
    let fits = |size: &u64| *size <= i64::MAX as u64;
    let product = extents
        .iter()
        .try_fold(1u64, |size, extent| size.checked_mul((*extent).max(1)).filter(fits));
    match product {
        Some(_) => Ok(()),
        None => Err(Error::overflow("the product of the array's extents exceeds 63 bits")),
    }
}

/// Checks that there is a list for each part, within the dim.
fn check_lists(lists: &[Intervals], count: u64, extent: u64) -> Result<(), Error> {
    if lists.len() as u64 != count {
        return Err(Error::mismatch(format!("{} lists for {count} parts", lists.len())));
    }
    let ends = lists.iter().flat_map(Intervals::as_slice).map(|[start, length]| start + length);
    match ends.max().filter(|end| *end > extent) {
        Some(end) => Err(Error::mismatch(format!("a list up to {end} of a dim of {extent}"))),
        None => Ok(()),
    }
}

impl Sharded {
    /// Returns the text of the array: element type and dims.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("BF16[8,6] @ mesh(2) row")?.array(), "bf16[8,6]");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn array(&self) -> String {
        let dims: Vec<String> = self.extents.iter().map(u64::to_string).collect();
        format!("{}[{}]", self.dtype.map_or("", Dtype::name), dims.join(","))
    }
}
