//! [`Intervals`]: the indices of one dim that are held, in local order, and the three rules that cut them. Shards,
//! pieces and layouts are computed from them.
//!
//! With c = ceil(N / n) for a list of N indices and n parts:
//!
//! ```text
//! chunk(L, n, i)      = the part of L from min(N, i·c) to min(N, (i+1)·c), counted along L        torch.chunk
//! strided(L, n, i, f) = chunk(chunk(L, f, 0), n, i) … chunk(chunk(L, f, f-1), n, i), one after another
//! pick(L, P)          = the indices of L at the positions P
//! ```
//!
//! The first two are `pick` at positions that follow from N alone.

use std::fmt;

use crate::{
    Error,
    mesh::{MAX_INTERVALS, list},
};

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
