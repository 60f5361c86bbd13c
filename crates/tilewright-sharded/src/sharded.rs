//! [`Sharded`]: an array cut over a mesh of devices.
//!
//! ```text
//! lists of dim d at coordinate c:   L = [0, extent);   for each split of d, in order:   L = cut(L, count, index(c))
//! index(c)                      :   the digits of c that the split lists, the first most significant
//! ```
//!
//! The lists are the definition. They follow from the splits for any coordinate, so the value is small for every mesh.
//!
//! [`Shard`]: the contents of one position of a mesh.
//!
//! [`Difference`]: the first fact that distinguishes two shardings. Notations use it to compare a printed text with its
//! sharding.

use std::fmt;

use tilewright_core::Dtype;

use crate::{
    Error,
    mesh::{MAX_AXES, MAX_INTERVALS, Mesh},
    split::{Cut, Intervals, Split, check_apart, padded},
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

/// The elements of an array that one device holds.
///
/// Its local array has the [extents](Shard::extents) of the lists, and its index along a dim counts through the list of
/// that dim in order. `Display` is a line of the program's `shards`.
///
/// ```
/// use tilewright_sharded::Sharded;
/// let sharded = Sharded::parse("f32[8,3] @ mesh(dp=2,tp=2) [_StridedShard(0, sf=2), Replicate()]")?;
/// let shard = sharded.shard(0)?;
/// assert_eq!(shard.to_string(), "0 (dp=0,tp=0)  [0,2) ∪ [4,6) × [0,3)");
/// assert_eq!((shard.extents(), shard.boxes().count()), (vec![4, 3], 2));
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    pub(crate) position: u64,
    pub(crate) device: Option<u64>,
    pub(crate) coord: Vec<(String, u64)>,
    pub(crate) dims: Vec<Intervals>,
    pub(crate) stored: Vec<u64>,
    pub(crate) padding: Vec<[u64; 2]>,
}

/// A box of a shard: an interval of each dim, and its offset in the local array.
///
/// ```
/// use tilewright_sharded::{Part, Sharded};
/// let sharded = Sharded::parse("f32[8,3] @ mesh(2) [_StridedShard(0, sf=2)]")?;
/// let second: Part = sharded.shard(0)?.boxes().nth(1).unwrap();
/// assert_eq!((second.start, second.extents, second.local), (vec![4, 0], vec![2, 3], vec![2, 0]));
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The first index of each dim, in the whole array.
    pub start: Vec<u64>,
    /// The extents of the box.
    pub extents: Vec<u64>,
    /// The index of its first element in the local array.
    pub local: Vec<u64>,
}

impl Shard {
    /// Returns the position in the mesh.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[8] @ mesh(2; 7,3) [Shard(0)]")?;
    /// let shard = sharded.shard(1)?;
    /// assert_eq!((shard.position(), shard.device()), (1, Some(3)));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the device, if the sharding names devices.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// // Every device holds the whole array, and the number of devices is unknown.
    /// assert_eq!(Sharded::parse("f32[8] @ {replicated}")?.shard(0)?.device(), None);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn device(&self) -> Option<u64> {
        self.device
    }

    /// Returns the coordinate in the mesh.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("f32[8] @ mesh(2,2) [Shard(0), Replicate()]")?.shard(2)?.coord(), [1, 0]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn coord(&self) -> Vec<u64> {
        self.coord.iter().map(|(_, at)| *at).collect()
    }

    /// Returns the indices of each dim that it holds.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let shard = Sharded::parse("f32[9,2] @ mesh(4) [Shard(0)]")?.shard(3)?;
    /// assert!(shard.dims()[0].is_empty());
    /// assert_eq!(shard.dims()[1].as_slice(), [[0, 2]]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn dims(&self) -> &[Intervals] {
        &self.dims
    }

    /// Returns the extents of the local array, without padding.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let shard = Sharded::parse("f32[13,2] @ mesh(8) [Shard(0)]")?.shard(6)?;
    /// assert_eq!(shard.extents(), [1, 2]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn extents(&self) -> Vec<u64> {
        self.dims.iter().map(Intervals::length).collect()
    }

    /// Returns the extents with which the local array is stored: storage beyond [`Shard::extents`] is padding.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// // XLA's partitioner pads every part to the same extents.
    /// let shard = Sharded::parse("f32[10] @ {devices=[4]<=[4]}")?.shard(3)?;
    /// assert_eq!((shard.extents(), shard.stored()), (vec![1], &[3][..]));
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn stored(&self) -> &[u64] {
        &self.stored
    }

    /// Returns, for each dim, the range of indices after the array's last for which the local array has storage, as
    /// `[start, length]`: not empty if one cut of the dim pads it, and nothing else cuts it. Other padding corresponds
    /// to no index, and is only in [`Shard::stored`].
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// // Four devices with storage for three indices each: the last holds index 9, and has padding for 10 and 11.
    /// let shard = Sharded::parse("f32[10] @ {devices=[4]<=[4]}")?.shard(3)?;
    /// assert_eq!(shard.padding(), [[10, 2]]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn padding(&self) -> &[[u64; 2]] {
        &self.padding
    }

    /// Returns whether it holds no element.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[3] @ mesh(4) [Shard(0)]")?;
    /// assert!(sharded.shard(3)?.is_empty() && !sharded.shard(2)?.is_empty());
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(Intervals::is_empty)
    }

    /// Iterates over the boxes that it holds, in local order: one interval of each dim. The last dim varies fastest.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let sharded = Sharded::parse("f32[8,8] @ mesh(2,2) [_StridedShard(0, sf=2), _StridedShard(1, sf=2)]")?;
    /// let starts: Vec<_> = sharded.shard(0)?.boxes().map(|part| part.start).collect();
    /// assert_eq!(starts, [[0, 0], [0, 4], [4, 0], [4, 4]]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn boxes(&self) -> impl Iterator<Item = Part> + '_ {
        boxes(&self.dims)
    }

    /// Returns the coordinate in the mesh as text.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// assert_eq!(Sharded::parse("f32[8] @ mesh(dp=2,tp=2) P(\"tp\")")?.shard(1)?.place(), "(dp=0,tp=1)");
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn place(&self) -> String {
        let coord: Vec<String> =
            self.coord.iter().map(|(name, at)| format!("{name}={at}")).collect();
        format!("({})", coord.join(","))
    }
}

/// Iterates over the products of intervals, one of each list, with their positions along the lists.
pub(crate) fn boxes(dims: &[Intervals]) -> impl Iterator<Item = Part> + '_ {
    let lists: Vec<Vec<[u64; 3]>> = dims.iter().map(placed).collect();
    let empty = lists.iter().any(Vec::is_empty);
    let mut next = (!empty).then(|| vec![0usize; lists.len()]);
    std::iter::from_fn(move || {
        let at = next.clone()?;
        let of = |field: usize| {
            let chosen = lists.iter().zip(&at);
            chosen.filter_map(|(list, at)| Some(list.get(*at)?[field])).collect()
        };
        let part = Part { start: of(0), extents: of(1), local: of(2) };
        next = advance(at, &lists);
        Some(part)
    })
}

/// Returns each interval with its position along the list: `[start, length, position]`.
fn placed(list: &Intervals) -> Vec<[u64; 3]> {
    let mut place = 0;
    let mut all = Vec::new();
    for [start, length] in list.as_slice() {
        all.push([*start, *length, place]);
        place += length;
    }
    all
}

/// Returns the next choice of one interval of each list, the last fastest; `None` after the last.
fn advance(mut at: Vec<usize>, lists: &[Vec<[u64; 3]>]) -> Option<Vec<usize>> {
    for (index, list) in at.iter_mut().zip(lists).rev() {
        *index += 1;
        if *index < list.len() {
            return Some(at);
        }
        *index = 0;
    }
    None
}

/// Prints `3 (dp=0,tp=3) [0,32) × [36,48)`; `empty` for no elements, `()` for an array without dims.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.device {
            Some(device) => write!(f, "{device} {}  ", self.place())?,
            None => f.write_str("every device  ")?,
        }
        if self.is_empty() {
            return f.write_str("empty");
        }
        let dims: Vec<String> = self.dims.iter().map(Intervals::to_string).collect();
        f.write_str(if dims.is_empty() { "()" } else { "" })?;
        f.write_str(&dims.join(" × "))
    }
}

/// The reason why two shardings are different: a device, and its contents in each.
///
/// ```
/// use tilewright_sharded::Sharded;
/// // The rows that ranks hold, and the rows by torch's own text of the sharding.
/// let held = Sharded::parse("f32[17] @ mesh(4,2) [Shard(0), Shard(0)] order(1,0)")?;
/// let said = Sharded::parse("f32[17] @ mesh(4,2) [_StridedShard(0, sf=2), Shard(0)]")?;
/// let difference = held.difference(&said).unwrap();
/// assert_eq!(difference.to_string(), "device 6 holds empty of dim 0 in one and [15,16) in the other");
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The arrays have other extents, or other elements.
    Array,
    /// A device that only one of the two has.
    Device(Option<u64>),
    /// A device with other lists.
    Lists {
        /// The device.
        device: Option<u64>,
        /// The dim.
        dim: usize,
        /// The indices that it holds in the first.
        one: Intervals,
        /// The indices that it holds in the second.
        other: Intervals,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |device: &Option<u64>| match device {
            Some(device) => format!("device {device}"),
            None => "every device".to_owned(),
        };
        match self {
            Difference::Array => f.write_str("the arrays are not the same"),
            Difference::Device(device) => write!(f, "only one of the two has {}", name(device)),
            Difference::Lists { device, dim, one, other } => {
                let device = name(device);
                write!(f, "{device} holds {one} of dim {dim} in one and {other} in the other")
            }
        }
    }
}

impl Sharded {
    /// Returns the first device, in the order of this mesh, that holds other indices in `other`; `None` if every device
    /// holds the same in both. The axes of the meshes may differ.
    ///
    /// ```
    /// use tilewright_sharded::Sharded;
    /// let a = Sharded::parse("f32[8] @ mesh(dp=2,tp=2) P((\"tp\",\"dp\"))")?;
    /// let b = Sharded::parse("f32[8] @ {devices=[4]0,2,1,3}")?;
    /// assert_eq!(a.difference(&b), None);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn difference(&self, other: &Sharded) -> Option<Difference> {
        if (self.extents(), self.dtype()) != (other.extents(), other.dtype()) {
            return Some(Difference::Array);
        }
        let mut places: Vec<(Option<u64>, u64)> =
            (0..other.mesh().count()).map(|at| (other.mesh().device(at), at)).collect();
        places.sort_unstable();
        for shard in self.shards() {
            let found = places.binary_search_by_key(&shard.device, |(device, _)| *device);
            let Some((_, at)) = found.ok().and_then(|found| places.get(found)) else {
                return Some(Difference::Device(shard.device));
            };
            let theirs = other.at(*at);
            let mut lists = shard.dims.iter().zip(&theirs.dims).enumerate();
            if let Some((dim, (one, other))) = lists.find(|(_, (one, other))| one != other) {
                let (one, other) = (one.clone(), other.clone());
                return Some(Difference::Lists { device: shard.device, dim, one, other });
            }
        }
        let ours: std::collections::HashSet<_> =
            (0..self.mesh().count()).map(|at| self.mesh().device(at)).collect();
        let only = places.iter().find(|(device, _)| !ours.contains(device));
        only.map(|(device, _)| Difference::Device(*device))
    }
}
