//! [`Split`]: one cut of a dim over axes of a mesh. [`Heads`]: a fused tensor of queries, keys and values, in the orders that its
//! makers use; Megatron's and vLLM's notation cuts it.
//!
//! ```text
//! h=4 query heads, g=2 groups
//! concat    q0 q1 q2 q3 k0 k1 v0 v1      all queries, all keys, all values
//! grouped   q0 q1 k0 v0 q2 q3 k1 v1      group by group: its queries, its key, its value
//! ```
//!
//! A shard in the order `grouped` is Megatron's: the rows in that order, cut into equal runs. With fewer groups than
//! devices, a run is a part of a group. A shard in the order `concat` is vLLM's: its queries, its keys, its values.
//! With fewer groups than devices, each device has one whole key and value, which several devices share.
//!
//! Law: over one device a shard in the order of the array is the array.
//!
//! Source: Megatron-Core's `transformer/attention.py` (`linear_qkv` is a `ColumnParallelLinear` over the groups);
//! vLLM's `layers/linear.py` (`QKVParallelLinear`).

use std::fmt;

use tilewright_core::Counted;

use crate::{
    Error,
    intervals::Intervals,
    mesh::{MAX_INTERVALS, Mesh},
};

/// An axis of a mesh, or some of its digits.
///
/// An axis of size pre·size·rest is divided into three digits, the first most significant; the part is the middle one,
/// as `"x":(pre)size` in Shardy.
///
/// ```
/// use tilewright_sharded::AxisPart;
/// assert_eq!(AxisPart::whole(1), AxisPart { axis: 1, part: None });
/// // The minor half of an axis of size 4.
/// let minor = AxisPart { axis: 0, part: Some((2, 2)) };
/// # let _ = minor;
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisPart {
    /// The axis.
    pub axis: usize,
    /// The product of the digits before the part, and the size of the part; `None` for the whole axis.
    pub part: Option<(u64, u64)>,
}

impl AxisPart {
    /// Returns a whole axis.
    ///
    /// ```
    /// use tilewright_sharded::AxisPart;
    /// assert_eq!(AxisPart::whole(2).axis, 2);
    /// ```
    pub const fn whole(axis: usize) -> AxisPart {
        AxisPart { axis, part: None }
    }

    /// Returns the size and the weight of the digit: it is coordinate / weight mod size.
    pub(crate) fn digit(&self, mesh: &Mesh) -> Result<(u64, u64), Error> {
        let Some(whole) = mesh.sizes().get(self.axis) else {
            let count = mesh.sizes().len();
            return Err(Error::out_of_range(format!("axis {} of a mesh of {count}", self.axis)));
        };
        let (pre, size) = self.part.unwrap_or((1, *whole));
        match pre.checked_mul(size) {
            Some(taken) if taken > 0 && whole % taken == 0 => Ok((size, whole / taken)),
            Some(_) | None => {
                let name = mesh.name(self.axis);
                let legal = format!("their product must divide {whole}");
                let said = format!("`{name}:({pre}){size}` of an axis of size {whole}; {legal}");
                Err(Error::illegal(said))
            }
        }
    }
}

/// The rule by which a dim is cut: the number of parts is the product of the sizes of its axes.
///
/// ```
/// use tilewright_sharded::{AxisPart, Cut, Mesh, Sharded, Split};
/// // A vocabulary of 50,257 words, padded to a multiple of 128 for each of 8 devices.
/// let vocabulary = Split { dim: 0, parts: vec![AxisPart::whole(0)], cut: Cut::Padded { multiple: 1024 } };
/// let sharded = Sharded::new(&[50257, 64], None, Mesh::new(&[8])?, vec![vocabulary])?;
/// let last = sharded.shard(7)?;
/// assert_eq!(last.dims()[0].as_slice(), [[44800, 5457]]);
/// assert_eq!(last.stored(), [6400, 64]);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// [`Intervals::chunk`]: torch's `Shard`.
    Chunk,
    /// [`Intervals::strided`]: torch's `_StridedShard`.
    Strided {
        /// The number of chunks that are each cut.
        factor: u64,
    },
    /// The extent is rounded up to this multiple, then cut evenly; the last parts hold less or nothing, and each is
    /// stored with its padding. If the multiple is the number of parts, this is XLA's cut.
    Padded {
        /// A multiple of the number of parts.
        multiple: u64,
    },
    /// The positions that each part holds, counted along the list that is cut.
    Listed(Vec<Intervals>),
    /// The heads of a fused tensor of queries, keys and values.
    Heads(Heads),
}

/// One cut of one dim, over some axes together, the first most significant.
///
/// ```
/// use tilewright_sharded::{AxisPart, Cut, Mesh, Sharded, Split};
/// let both = Split { dim: 0, parts: vec![AxisPart::whole(1), AxisPart::whole(0)], cut: Cut::Chunk };
/// let sharded = Sharded::new(&[8], None, Mesh::new(&[2, 2])?, vec![both])?;
/// // Axis 1 is the most significant.
/// let starts: Vec<u64> = sharded.shards().map(|shard| shard.dims()[0].as_slice()[0][0]).collect();
/// assert_eq!(starts, [0, 4, 2, 6]);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// The dim that is cut.
    pub dim: usize,
    /// The axes over which it is cut.
    pub parts: Vec<AxisPart>,
    /// The rule.
    pub cut: Cut,
}

impl Split {
    /// Cuts `dim` over one axis, as `torch.chunk` does.
    ///
    /// ```
    /// use tilewright_sharded::{Cut, Split};
    /// assert_eq!(Split::chunk(0, 1).cut, Cut::Chunk);
    /// ```
    pub fn chunk(dim: usize, axis: usize) -> Split {
        Split { dim, parts: vec![AxisPart::whole(axis)], cut: Cut::Chunk }
    }

    /// Returns the number of parts.
    pub(crate) fn count(&self, mesh: &Mesh) -> Result<u64, Error> {
        let mut sizes = self.parts.iter().map(|part| part.digit(mesh).map(|(size, _)| size));
        sizes.try_fold(1u64, |count, size| {
            let product = count.checked_mul(size?);
            product.ok_or_else(|| Error::overflow("the number of parts exceeds 64 bits"))
        })
    }

    /// Returns the number of the part of a coordinate of the mesh.
    pub(crate) fn index(&self, mesh: &Mesh, coord: &[u64]) -> u64 {
        self.parts.iter().fold(0, |index, part| {
            let (size, weight) = part.digit(mesh).unwrap_or((1, 1));
            let digit = coord.get(part.axis).map_or(0, |at| at / weight % size);
            index * size + digit
        })
    }

    /// Returns the indices of a list that part `index` of `count` holds, and the extent with which it is stored.
    pub(crate) fn of(&self, list: &Intervals, count: u64, index: u64) -> (Intervals, u64) {
        let held = match &self.cut {
            Cut::Chunk => list.chunk(count, index),
            Cut::Strided { factor } => list.strided(count, index, *factor),
            Cut::Padded { multiple } => {
                let step = padded(list.length(), *multiple).unwrap_or(0) / count.max(1);
                return (list.block(step, index), step);
            }
            Cut::Listed(lists) => {
                let places = usize::try_from(index).ok().and_then(|index| lists.get(index));
                list.pick(places.map_or(&[][..], Intervals::as_slice).iter().copied())
            }
            Cut::Heads(heads) => list.pick(heads.list(count, index).as_slice().iter().copied()),
        };
        let stored = held.length();
        (held, stored)
    }

    /// Returns the most intervals that a list of at most `before` has after this cut, for a dim of this extent.
    pub(crate) fn most(&self, before: u64, extent: u64) -> u64 {
        match &self.cut {
            Cut::Chunk | Cut::Padded { .. } => before,
            Cut::Strided { factor } => {
                before.saturating_add((*factor).min(extent).saturating_mul(2))
            }
            Cut::Listed(lists) => {
                let longest = lists.iter().map(|list| list.as_slice().len() as u64).max();
                before.saturating_mul(longest.unwrap_or(0).max(1))
            }
            Cut::Heads(heads) => before.saturating_mul(heads.most().max(1)),
        }
    }
}

/// Returns `extent` rounded up to a multiple; `None` beyond 63 bits.
pub(crate) fn padded(extent: u64, multiple: u64) -> Option<u64> {
    extent.checked_next_multiple_of(multiple).filter(|padded| *padded <= i64::MAX as u64)
}

/// Returns an error for parts of axes that share a digit.
pub(crate) fn check_apart<'a>(
    parts: impl IntoIterator<Item = &'a AxisPart>,
    mesh: &Mesh,
) -> Result<(), Error> {
    let mut taken: Vec<(usize, u64, u64)> = Vec::new();
    for part in parts {
        let (size, weight) = part.digit(mesh)?;
        // A digit covers weights from weight to weight·size: two are disjoint if one ends before the other begins.
        let apart = |other: &(usize, u64, u64)| {
            other.0 != part.axis || other.2 <= weight || weight * size <= other.1
        };
        if !taken.iter().all(apart) {
            let name = mesh.name(part.axis);
            return Err(Error::illegal(format!("the axis `{name}` of the mesh is used twice")));
        }
        taken.push((part.axis, weight, weight * size));
    }
    Ok(())
}

/// The order of the heads in a fused tensor of queries, keys and values.
///
/// ```
/// use tilewright_sharded::HeadOrder;
/// assert_eq!(HeadOrder::Grouped.to_string(), "grouped");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeadOrder {
    /// All queries, all keys, all values.
    Concat,
    /// Group by group: its queries, its key, its value.
    Grouped,
}

impl fmt::Display for HeadOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeadOrder::Concat => "concat",
            HeadOrder::Grouped => "grouped",
        })
    }
}

/// The heads of a fused tensor of queries, keys and values, and their order in the array and in each shard.
///
/// ```
/// use tilewright_sharded::{Cut, Sharded};
/// let sharded = Sharded::parse("f32[96] @ mesh(tp=2) megatron:qkv(h=8,g=4,d=6)")?;
/// let Cut::Heads(heads) = &sharded.splits()[0].cut else { panic!() };
/// let said = "8 query heads, 4 key heads and 4 value heads of 6 rows each; the array is grouped, each shard grouped";
/// assert_eq!(heads.to_string(), said);
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heads {
    /// The number of query heads.
    pub queries: u64,
    /// The number of key heads, which equals that of value heads: each serves the queries of its group.
    pub groups: u64,
    /// The number of rows of a head.
    pub rows: u64,
    /// The order in the array.
    pub array: HeadOrder,
    /// The order in each shard, which also determines the rule of cutting.
    pub shard: HeadOrder,
}

/// The parts of a fused tensor: queries, keys, values.
const PARTS: u64 = 3;

impl Heads {
    /// Returns an error unless these heads are the rows of the array and can be cut for this number of devices.
    pub(crate) fn check(&self, rows: u64, count: u64) -> Result<(), Error> {
        let Heads { queries, groups, rows: each, .. } = *self;
        if queries == 0 || groups == 0 || each == 0 {
            return Err(Error::mismatch("h, g and d of qkv must be at least 1"));
        }
        let heads = groups.checked_mul(2).and_then(|kv| kv.checked_add(queries));
        let Some(all) = heads.and_then(|heads| heads.checked_mul(each)) else {
            let said = format!("({queries} + 2·{groups})·{each} rows exceed 2^64");
            return Err(Error::mismatch(said));
        };
        let over = |number: u64, what: &str, by: u64, of: &str| {
            let (number, by) = (Counted(number, what), Counted(by, of));
            Err(Error::mismatch(format!("{number} cannot be shared evenly by {by}")))
        };
        if all != rows {
            let said =
                format!("({queries} + 2·{groups})·{each} = {all} rows, but the array has {rows}");
            return Err(Error::mismatch(said));
        }
        if !queries.is_multiple_of(groups) {
            return over(queries, "query head", groups, "group");
        }
        if !queries.is_multiple_of(count) {
            return over(queries, "query head", count, "device");
        }
        if !groups.is_multiple_of(count) && !count.is_multiple_of(groups) {
            return over(groups, "group", count, "device");
        }
        if self.shard == HeadOrder::Grouped && !all.is_multiple_of(count) {
            return over(all, "row", count, "device");
        }
        if groups.saturating_mul(PARTS).saturating_mul(count) > MAX_INTERVALS {
            let said = format!("{groups} groups on {count} devices");
            return Err(Error::limit(format!("{said}: more than {MAX_INTERVALS} lists")));
        }
        Ok(())
    }

    /// Returns the rows of one device of `count`, in its order.
    pub(crate) fn list(&self, count: u64, index: u64) -> Intervals {
        let groups = 0..self.groups;
        if self.shard == HeadOrder::Grouped {
            let all = groups.flat_map(|group| (0..PARTS).map(move |part| self.place(part, group)));
            return Intervals::joined(all).chunk(count, index);
        }
        let own = |part: u64| {
            let all = Intervals::joined(groups.clone().map(|group| self.place(part, group)));
            // With fewer groups than devices, several devices hold the same key and value.
            match part > 0 && self.groups < count {
                true => all.chunk(self.groups, index / (count / self.groups).max(1)),
                false => all.chunk(count, index),
            }
        };
        Intervals::joined((0..PARTS).flat_map(|part| own(part).as_slice().to_vec()))
    }

    /// Returns the most intervals of one device.
    pub(crate) fn most(&self) -> u64 {
        self.groups.saturating_mul(PARTS)
    }

    /// Returns the interval of the queries (0), the key (1) or the value (2) of a group in the array.
    fn place(&self, part: u64, group: u64) -> [u64; 2] {
        let Heads { queries, groups, rows, array, .. } = *self;
        let each = queries / groups.max(1);
        let first = match (array, part) {
            (HeadOrder::Concat, 0) => group * each,
            (HeadOrder::Concat, _) => queries + (part - 1) * groups + group,
            (HeadOrder::Grouped, 0) => group * (each + 2),
            (HeadOrder::Grouped, _) => group * (each + 2) + each + part - 1,
        };
        [first * rows, if part == 0 { each * rows } else { rows }]
    }
}

/// The counts, and both orders.
impl fmt::Display for Heads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heads { queries, groups, rows, array, shard } = self;
        let q = Counted(*queries, "query head");
        let [k, v] = ["key head", "value head"].map(|noun| Counted(*groups, noun));
        let rows = Counted(*rows, "row");
        write!(f, "{q}, {k} and {v} of {rows} each; the array is {array}, each shard {shard}")
    }
}
