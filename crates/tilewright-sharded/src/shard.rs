//! [`Shard`]: the contents of one position of a mesh.

use std::fmt;

use crate::intervals::Intervals;

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
