//! [`Heads`]: a fused tensor of queries, keys and values, in the orders that its makers use. Megatron's and vLLM's
//! notation uses it.
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

use crate::{Error, intervals::Intervals, limits::MAX_INTERVALS};

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
