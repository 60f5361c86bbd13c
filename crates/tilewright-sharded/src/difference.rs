//! [`Difference`]: the first fact that distinguishes two shardings. Notations use it to compare a printed text with its
//! sharding.

use std::fmt;

use crate::{intervals::Intervals, sharded::Sharded};

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
