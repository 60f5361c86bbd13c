//! [`Pieces`]: an array as boxes, and the law that they cover it. Readers of checkpoints in shards use it.
//!
//! ```text
//! the boxes, with equal ones counted once, partition the index space:   no element is missing, none is in two
//! ```
//!
//! A hole would become zeros when the array is put together, and in an overlap the last writer's data would remain.
//! Both are refused, with the box.

use std::fmt;

use crate::{
    Error,
    mesh::MAX_AXES,
    sharded::{Sharded, boxes},
    split::{Cut, Intervals},
};

/// The most steps of a search for holes and overlaps.
const MAX_STEPS: u64 = 1 << 26;

/// A box of an array in one of several arrays that hold parts of it.
///
/// ```
/// use tilewright_sharded::{Pieces, Sharded};
/// let pieces = Pieces::of(&Sharded::parse("f32[8] @ mesh(2) [_StridedShard(0, sf=2)]")?)?;
/// let piece = &pieces.pieces[1];
/// assert_eq!((piece.source, piece.start[0], piece.extents[0], piece.local[0]), (0, 4, 2, 2));
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The number of the array that holds it: a position of a mesh, or a file.
    pub source: u64,
    /// The first index of each dim, in the whole array.
    pub start: Vec<u64>,
    /// The extents of the box.
    pub extents: Vec<u64>,
    /// The index of its first element in the array that holds it.
    pub local: Vec<u64>,
}

/// An array as a list of boxes, each in one of the arrays that hold them: the second form of a sharded array, which
/// containers use.
///
/// ```
/// use tilewright_sharded::{Piece, Pieces};
/// let piece = |source, start| Piece { source, start: vec![start], extents: vec![4], local: vec![0] };
/// let whole = Pieces { extents: vec![8], pieces: vec![piece(0, 0), piece(1, 4), piece(2, 4)] };
/// assert_eq!(whole.cover("w")?.replicas, 1);
/// let hole = Pieces { extents: vec![9], ..whole };
/// assert_eq!(hole.cover("w").unwrap_err().to_string(), "`w` [9]: no piece holds [8,9); a shard file may be missing");
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pieces {
    /// The extents of the whole array.
    pub extents: Vec<u64>,
    /// The boxes.
    pub pieces: Vec<Piece>,
}

/// The counts of the pieces of a complete array.
///
/// ```
/// use tilewright_sharded::{Cover, Pieces, Sharded};
/// let pieces = Pieces::of(&Sharded::parse("f32[8] @ mesh(2,2) [Shard(0), Replicate()]")?)?;
/// assert_eq!(pieces.cover("w")?, Cover { boxes: 2, replicas: 2 });
/// # Ok::<(), tilewright_sharded::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The number of different boxes.
    pub boxes: usize,
    /// The number of pieces whose box another piece holds already.
    pub replicas: usize,
}

impl Pieces {
    /// Returns the boxes of every shard, in the order of positions.
    ///
    /// # Errors
    /// `limit` beyond 2²² boxes.
    ///
    /// ```
    /// use tilewright_sharded::{Pieces, Sharded};
    /// // Both devices hold k and v, and each holds a half of q: the common part is a separate box.
    /// let sharded = Sharded::parse("f32[160] @ mesh(tp=2) vllm:qkv(h=8,g=1,d=16)")?;
    /// let pieces = Pieces::of(&sharded)?;
    /// assert_eq!(pieces.cover("qkv")?.replicas, 1);
    /// # Ok::<(), tilewright_sharded::Error>(())
    /// ```
    pub fn of(sharded: &Sharded) -> Result<Pieces, Error> {
        let extents = sharded.extents().to_vec();
        let edges: Vec<Vec<u64>> = (0..extents.len()).map(|dim| edges(sharded, dim)).collect();
        let mut pieces = Vec::new();
        for shard in sharded.shards() {
            for part in boxes(&shard.dims) {
                let cut = part
                    .start
                    .iter()
                    .zip(&part.extents)
                    .zip(&edges)
                    .map(|((start, length), edges)| between(*start, *length, edges));
                let cut: Vec<Intervals> = cut.collect();
                for inner in boxes(&cut) {
                    if pieces.len() as u64 == crate::mesh::MAX_INTERVALS {
                        return Err(Error::limit("the sharded array has more than 4194304 boxes"));
                    }
                    let from =
                        inner.start.iter().zip(&part.start).map(|(inner, part)| inner - part);
                    let local = from.zip(&part.local).map(|(within, local)| within + local);
                    let (source, local) = (shard.position, local.collect());
                    pieces.push(Piece {
                        source,
                        start: inner.start,
                        extents: inner.extents,
                        local,
                    });
                }
            }
        }
        Ok(Pieces { extents, pieces })
    }

    /// Checks that the pieces hold every element of the array `name` once: equal boxes are replicas, and any other
    /// overlap is refused, as is a hole.
    ///
    /// # Errors
    /// `mismatch` for a box outside the array, a hole or an overlap, with its box; `limit` if the search exceeds 2²⁶
    /// steps.
    ///
    /// ```
    /// use tilewright_sharded::{Piece, Pieces};
    /// let piece = |source, start| Piece { source, start: vec![0, start], extents: vec![2, 3], local: vec![0, 0] };
    /// let twice = Pieces { extents: vec![2, 5], pieces: vec![piece(0, 0), piece(1, 2)] };
    /// let said = "`w` [2,5]: source 0 and source 1 both hold [0,2) × [2,3)";
    /// assert_eq!(twice.cover("w").unwrap_err().to_string(), said);
    /// ```
    pub fn cover(&self, name: &str) -> Result<Cover, Error> {
        let mut found: Vec<&Piece> = Vec::new();
        for piece in self.pieces.iter().filter(|piece| !piece.extents.contains(&0)) {
            self.check_inside(name, piece)?;
            found.push(piece);
        }
        let pieces = found.len();
        found.sort_by(|a, b| (&a.start, &a.extents).cmp(&(&b.start, &b.extents)));
        found.dedup_by(|a, b| (&a.start, &a.extents) == (&b.start, &b.extents));
        let boxes = found.len();
        if !self.extents.contains(&0) {
            let mut search =
                OverlapSearch { extents: &self.extents, name, steps: 0, outer: Vec::new() };
            search.sweep(&found)?;
        }
        Ok(Cover { boxes, replicas: pieces - boxes })
    }

    fn check_inside(&self, name: &str, piece: &Piece) -> Result<(), Error> {
        let ranks = [piece.start.len(), piece.extents.len(), piece.local.len()];
        let rank = self.extents.len();
        let within = |((start, length), extent): ((&u64, &u64), &u64)| {
            start.checked_add(*length).is_some_and(|end| end <= *extent)
        };
        let dims = piece.start.iter().zip(&piece.extents).zip(&self.extents);
        if rank <= MAX_AXES && ranks.iter().all(|of| *of == rank) && dims.into_iter().all(within) {
            return Ok(());
        }
        let (source, start, extents) = (piece.source, &piece.start, &piece.extents);
        let said = format!("source {source} holds extents {extents:?} from {start:?} on");
        Err(Error::mismatch(format!("`{name}` {:?}: {said}, outside the array", self.extents)))
    }
}

/// Returns the edges at which the list of a dim must be cut so that parts that several devices hold are separate boxes:
/// the edges of listed cuts.
fn edges(sharded: &Sharded, dim: usize) -> Vec<u64> {
    let is_listed = |cut: &Cut| match cut {
        Cut::Listed(_) | Cut::Heads(_) => true,
        Cut::Chunk | Cut::Strided { .. } | Cut::Padded { .. } => false,
    };
    let listed = |split: &&crate::Split| split.dim == dim && is_listed(&split.cut);
    if !sharded.splits().iter().any(|split| listed(&split)) {
        return Vec::new();
    }
    let lists = sharded.shards().filter_map(|shard| shard.dims.get(dim).cloned());
    let mut edges: Vec<u64> = lists
        .flat_map(|list| list.as_slice().to_vec())
        .flat_map(|[start, length]| [start, start + length])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns an interval cut at the edges within it, without joining the pieces again.
fn between(start: u64, length: u64, edges: &[u64]) -> Intervals {
    let end = start + length;
    let from = edges.partition_point(|edge| *edge <= start);
    let inner = edges.iter().skip(from).copied().take_while(|edge| *edge < end);
    let mut cuts = vec![start];
    cuts.extend(inner);
    cuts.push(end);
    Intervals::apart(cuts.windows(2).map(|pair| [pair[0], pair[1] - pair[0]]).collect())
}

/// A search for holes and overlaps, dim by dim: between two edges of a dim, the set of boxes is constant, and these
/// must cover the following dims.
struct OverlapSearch<'a> {
    extents: &'a [u64],
    name: &'a str,
    steps: u64,
    /// The interval of each dim so far.
    outer: Vec<[u64; 2]>,
}

impl OverlapSearch<'_> {
    fn sweep(&mut self, pieces: &[&Piece]) -> Result<(), Error> {
        let dim = self.outer.len();
        let Some(extent) = self.extents.get(dim).copied() else {
            return match pieces {
                [] => Err(self.hole()),
                [_] => Ok(()),
                [one, other, ..] => Err(self.overlap(one, other)),
            };
        };
        let span = |piece: &&Piece| {
            let (start, length) = (piece.start.get(dim), piece.extents.get(dim));
            let start = start.copied().unwrap_or(0);
            (start, start + length.copied().unwrap_or(0))
        };
        let ends = pieces.iter().flat_map(|piece| <[u64; 2]>::from(span(piece)));
        let mut edges: Vec<u64> = ends.chain([0, extent]).collect();
        edges.sort_unstable();
        edges.dedup();
        // The pieces are sorted by their starts, so those of an interval end where one begins after it.
        let mut sorted: Vec<&Piece> = pieces.to_vec();
        sorted.sort_by_key(span);
        let (mut next, mut active): (usize, Vec<&Piece>) = (0, Vec::new());
        for pair in edges.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            active.retain(|piece| span(piece).1 > from);
            while let Some(piece) = sorted.get(next).filter(|piece| span(piece).0 <= from) {
                active.push(piece);
                next += 1;
            }
            self.steps += active.len() as u64 + 1;
            if self.steps > MAX_STEPS {
                let said = format!("`{}`: the boxes take more than {MAX_STEPS} steps", self.name);
                return Err(Error::limit(format!("{said} to compare")));
            }
            self.outer.push([from, to - from]);
            self.sweep(&active)?;
            self.outer.pop();
        }
        Ok(())
    }

    fn hole(&self) -> Error {
        Error::mismatch(format!(
            "{}: no piece holds {}; a shard file may be missing",
            self.title(),
            self.slab()
        ))
    }

    fn overlap(&self, one: &Piece, other: &Piece) -> Error {
        let (first, second) = (one.source.min(other.source), one.source.max(other.source));
        let both = format!("source {first} and source {second} both hold {}", self.slab());
        Error::mismatch(format!("{}: {both}", self.title()))
    }

    fn title(&self) -> String {
        let dims: Vec<String> = self.extents.iter().map(u64::to_string).collect();
        format!("`{}` [{}]", self.name, dims.join(","))
    }

    fn slab(&self) -> Slab<'_> {
        Slab(&self.outer)
    }
}

/// Prints a box.
struct Slab<'a>(&'a [[u64; 2]]);

impl fmt::Display for Slab<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims = self.0.iter().map(|[start, length]| format!("[{start},{})", start + length));
        let text = dims.collect::<Vec<_>>().join(" × ");
        f.write_str(if text.is_empty() { "the one element" } else { &text })
    }
}

/// Returns the boxes of a range of elements of a row-major array, counted from the first: at most 2·rank − 1, in order.
/// A shard of FSDP's flat parameters is such a range.
///
/// ```
/// use tilewright_sharded::boxes_of_range;
/// // Elements 3 to 14 of 4×5: the end of row 0, row 1, the beginning of row 2.
/// let boxes = boxes_of_range(&[4, 5], 3, 14);
/// assert_eq!(boxes, [(vec![0, 3], vec![1, 2]), (vec![1, 0], vec![1, 5]), (vec![2, 0], vec![1, 4])]);
/// ```
pub fn boxes_of_range(extents: &[u64], from: u64, to: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
    let size = extents.iter().try_fold(1u64, |size, extent| size.checked_mul(*extent));
    let to = to.min(size.unwrap_or(u64::MAX));
    let mut boxes = Vec::new();
    collect_range(extents, &mut Vec::new(), from, to, &mut boxes);
    boxes
}

fn collect_range(
    extents: &[u64],
    outer: &mut Vec<u64>,
    from: u64,
    to: u64,
    boxes: &mut Vec<(Vec<u64>, Vec<u64>)>,
) {
    if from >= to || outer.len() > MAX_AXES {
        return;
    }
    let Some((_, inner)) = extents.split_first() else {
        boxes.push((outer.clone(), vec![1; outer.len()]));
        return;
    };
    let row = inner.iter().fold(1u64, |size, extent| size.saturating_mul(*extent)).max(1);
    let (first, last) = (from.div_ceil(row), to / row);
    let mut within = |index: u64, from: u64, to: u64| {
        outer.push(index);
        collect_range(inner, outer, from, to, boxes);
        outer.pop();
    };
    if first > last {
        return within(last, from - last * row, to - last * row);
    }
    if !from.is_multiple_of(row) {
        within(first - 1, from % row, row);
    }
    if last > first {
        let mut start = outer.clone();
        let mut size = vec![1; outer.len()];
        start.push(first);
        start.resize(outer.len() + extents.len(), 0);
        size.push(last - first);
        size.extend(inner);
        boxes.push((start, size));
    }
    if !to.is_multiple_of(row) {
        outer.push(last);
        collect_range(inner, outer, 0, to % row, boxes);
        outer.pop();
    }
}
