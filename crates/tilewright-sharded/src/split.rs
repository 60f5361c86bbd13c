//! [`Split`]: one cut of a dim over axes of a mesh.

use crate::{Error, heads::Heads, intervals::Intervals, mesh::Mesh};

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
