//! [`Split`]: one cut of a dim over axes of a mesh. [`Heads`]: a fused tensor of queries, keys and values, in the orders that
//! its makers use; Megatron's and vLLM's notation cuts it. [`Intervals`]: the indices of a dim that are held after cuts.
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
    mesh::{MAX_INTERVALS, Mesh, list},
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

// [`Intervals`]: the indices of one dim that are held, in local order, and the three rules that cut them. Shards,
// pieces and layouts are computed from them.
//
// With c = ceil(N / n) for a list of N indices and n parts:
//
// ```text
// chunk(L, n, i)      = the part of L from min(N, i·c) to min(N, (i+1)·c), counted along L        torch.chunk
// strided(L, n, i, f) = chunk(chunk(L, f, 0), n, i) … chunk(chunk(L, f, f-1), n, i), one after another
// pick(L, P)          = the indices of L at the positions P
// ```
//
// The first two are `pick` at positions that follow from N alone.

/// A list of intervals of indices, in local order: the local index counts through them, one after another.
///
/// The list is canonical: no interval is empty, and an interval that begins at the end of the previous one is joined to
/// it. Ends are below 2⁶³.
///
/// ```
/// use tilewright_sharded::Intervals;
/// let rows = Intervals::whole(37);
/// // torch cuts 37 rows in two, then each part in two again.
/// let quarter = rows.chunk(2, 1).chunk(2, 0);
/// assert_eq!(quarter.to_string(), "[19,28)");
/// assert_eq!(rows.strided(2, 1, 2).as_slice(), [[10, 9], [28, 9]]);
/// assert_eq!(rows.strided(2, 1, 2).length(), 18);
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Intervals(Vec<[u64; 2]>);

impl Intervals {
    /// Returns all indices of a dim of this extent, cut off at 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// assert_eq!(Intervals::whole(8).as_slice(), [[0, 8]]);
    /// assert!(Intervals::whole(0).is_empty());
    /// ```
    pub fn whole(extent: u64) -> Intervals {
        let mut whole = Intervals::default();
        whole.push(0, extent.min(i64::MAX as u64));
        whole
    }

    /// Makes a canonical list of these intervals, given as `[start, length]`.
    ///
    /// # Errors
    /// `overflow` if an end or the sum of the lengths exceeds 2⁶³ − 1, `limit` beyond [`MAX_INTERVALS`].
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// let list = Intervals::new(&[[8, 2], [10, 2], [4, 0], [0, 1]])?;
    /// assert_eq!(list.as_slice(), [[8, 4], [0, 1]]);
    /// assert!(Intervals::new(&[[u64::MAX, 1]]).is_err());
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn new(list: &[[u64; 2]]) -> Result<Intervals, Error> {
        let (mut intervals, mut sum) = (Intervals::default(), 0u64);
        if list.len() as u64 > MAX_INTERVALS {
            let most = format!("a list of {} intervals; at most {MAX_INTERVALS}", list.len());
            return Err(Error::limit(most));
        }
        for &[start, length] in list {
            let fits = |end: Option<u64>| end.filter(|end| *end <= i64::MAX as u64);
            let end = fits(start.checked_add(length));
            match (end, fits(sum.checked_add(length))) {
                (Some(_), Some(next)) => sum = next,
                _ => {
                    let message = format!("{length} indices from {start} on exceed 63 bits");
                    return Err(Error::overflow(message));
                }
            }
            intervals.push(start, length);
        }
        Ok(intervals)
    }

    /// Returns the intervals, as `[start, length]`.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// assert_eq!(Intervals::whole(9).chunk(4, 2).as_slice(), [[6, 3]]);
    /// assert_eq!(Intervals::whole(9).chunk(4, 3).as_slice(), [[0; 2]; 0]);
    /// ```
    pub fn as_slice(&self) -> &[[u64; 2]] {
        &self.0
    }

    /// Returns whether the list is empty.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// assert!(Intervals::whole(2).chunk(4, 3).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of indices: the local extent.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// assert_eq!(Intervals::new(&[[0, 3], [8, 2]])?.length(), 5);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn length(&self) -> u64 {
        self.0.iter().map(|[_, length]| length).sum()
    }

    /// Iterates over the indices, in local order.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// let list = Intervals::new(&[[8, 2], [0, 1]])?;
    /// assert_eq!(list.indices().collect::<Vec<_>>(), [8, 9, 0]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn indices(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|[start, length]| *start..start + length)
    }

    /// Returns part `index` of `count`, cut as by `torch.chunk`: each part has ceil(N / count) indices, the last ones
    /// fewer or none.
    ///
    /// A `count` of 0 cuts nothing.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// let rows = Intervals::whole(9);
    /// let lengths: Vec<u64> = (0..4).map(|i| rows.chunk(4, i).length()).collect();
    /// assert_eq!(lengths, [3, 3, 3, 0]);
    /// ```
    pub fn chunk(&self, count: u64, index: u64) -> Intervals {
        let (from, to) = places(self.length(), count, index);
        self.pick([[from, to - from]])
    }

    /// Returns part `index` of `count` of each of `factor` chunks, one after another: torch's `_StridedShard`.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// // Gate and up, 6 rows each, over two devices.
    /// assert_eq!(Intervals::whole(12).strided(2, 1, 2).as_slice(), [[3, 3], [9, 3]]);
    /// ```
    pub fn strided(&self, count: u64, index: u64, factor: u64) -> Intervals {
        let whole = self.length();
        // Chunks beyond the indices are empty.
        let chunks = (0..factor.min(whole.max(1))).map(|chunk| places(whole, factor, chunk));
        self.pick(chunks.map(|(from, to)| {
            let (first, end) = places(to - from, count, index);
            [from + first, end - first]
        }))
    }

    /// Returns block `index` of `step` indices, cut off at the end.
    pub(crate) fn block(&self, step: u64, index: u64) -> Intervals {
        let whole = self.length();
        let from = step.saturating_mul(index).min(whole);
        let to = from.saturating_add(step).min(whole);
        self.pick([[from, to - from]])
    }

    /// Returns the indices at these positions, given as `[start, length]` and counted along the list. Positions beyond
    /// the end are ignored.
    ///
    /// ```
    /// use tilewright_sharded::Intervals;
    /// let list = Intervals::new(&[[10, 4], [30, 4]])?;
    /// assert_eq!(list.pick([[2, 4], [0, 1]]).as_slice(), [[12, 2], [30, 2], [10, 1]]);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn pick(&self, places: impl IntoIterator<Item = [u64; 2]>) -> Intervals {
        let mut ends = Vec::with_capacity(self.0.len());
        let mut sum = 0;
        for [_, length] in &self.0 {
            sum += length;
            ends.push(sum);
        }
        let mut picked = Intervals::default();
        for [from, length] in places {
            let to = from.saturating_add(length).min(sum);
            let mut at = from;
            let mut which = ends.partition_point(|end| *end <= at);
            while at < to
                && let (Some([start, length]), Some(end)) = (self.0.get(which), ends.get(which))
            {
                let until = to.min(*end);
                picked.push(start + length - (end - at), until - at);
                (at, which) = (until, which + 1);
            }
        }
        picked
    }

    /// Joins intervals where they touch; their ends fit 63 bits.
    pub(crate) fn joined(list: impl IntoIterator<Item = [u64; 2]>) -> Intervals {
        let mut joined = Intervals::default();
        list.into_iter().for_each(|[start, length]| joined.push(start, length));
        joined
    }

    /// Makes a list whose intervals stay separate where they touch: edges between boxes.
    pub(crate) fn apart(list: Vec<[u64; 2]>) -> Intervals {
        Intervals(list)
    }

    /// Returns the list moved by `by`; `None` if it would leave the range of indices.
    pub(crate) fn moved(&self, by: i128) -> Option<Intervals> {
        let place = |start: u64| u64::try_from(i128::from(start) + by).ok();
        let list = self.0.iter().map(|[start, length]| Some([place(*start)?, *length]));
        list.collect::<Option<Vec<_>>>().map(Intervals)
    }

    /// Appends an interval whose end fits 63 bits.
    fn push(&mut self, start: u64, length: u64) {
        match self.0.last_mut() {
            _ if length == 0 => {}
            Some([last, held]) if *last + *held == start => *held += length,
            Some(_) | None => self.0.push([start, length]),
        }
    }
}

/// Returns the beginning and end of chunk `index` of `count`, of `whole` positions.
fn places(whole: u64, count: u64, index: u64) -> (u64, u64) {
    let each = whole.div_ceil(count.max(1));
    let from = each.saturating_mul(index).min(whole);
    (from, from.saturating_add(each).min(whole))
}

/// Prints `[0,32) ∪ [40,48)`, in local order; `empty` for none.
impl fmt::Display for Intervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&list(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of the header, index by index.
    fn naive_chunk(list: &[u64], count: usize, index: usize) -> Vec<u64> {
        let each = list.len().div_ceil(count);
        list.iter().copied().skip(each * index).take(each).collect()
    }

    #[test]
    fn chunk_and_strided_are_the_rules_index_by_index() {
        let mut checked = 0;
        for n in 0..26 {
            let lists = [
                Intervals::whole(n),
                Intervals::new(&[[40, n / 2], [5, n - n / 2]]).unwrap(),
                Intervals::new(&(0..n).rev().map(|i| [2 * i, 1]).collect::<Vec<_>>()).unwrap(),
            ];
            for list in lists {
                let all: Vec<u64> = list.indices().collect();
                for count in 1..8 {
                    for index in 0..count {
                        let chunk = list.chunk(count as u64, index as u64);
                        let expected = naive_chunk(&all, count, index);
                        assert_eq!(chunk.indices().collect::<Vec<_>>(), expected);
                        for factor in 1..6 {
                            let strided = list.strided(count as u64, index as u64, factor as u64);
                            let expected: Vec<u64> = (0..factor)
                                .map(|at| naive_chunk(&all, factor, at))
                                .flat_map(|part| naive_chunk(&part, count, index))
                                .collect();
                            assert_eq!(strided.indices().collect::<Vec<_>>(), expected);
                            assert_eq!(Intervals::new(strided.as_slice()), Ok(strided));
                            checked += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(checked, 26 * 3 * 28 * 5);
    }

    #[test]
    fn nothing_leaves_its_numbers() {
        let whole = Intervals::whole(u64::MAX);
        assert_eq!(whole.length(), i64::MAX as u64);
        assert_eq!(whole.strided(3, 2, 1).length(), whole.chunk(3, 2).length());
        assert!(whole.chunk(2, u64::MAX).is_empty());
        assert!(whole.chunk(0, 1).is_empty());
        assert!(whole.block(u64::MAX, 1).is_empty());
        assert!(whole.pick([[u64::MAX, u64::MAX]]).is_empty());
        assert_eq!(Intervals::whole(3).strided(1, 0, u64::MAX), Intervals::whole(3));
    }
}
