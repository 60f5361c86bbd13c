//! Splits an array into boxes. Jobs make their tasks with it, tasks their parts, and comparisons of copies theirs.
//!
//! ```text
//! size   begins as the extents; while a box has more than M bytes, one dim is halved: the one with which both sides
//! need the fewest calls. Then dims grow again as far as M allows.
//! edges  along each dim, boxes end at ends of pieces of both sides, as far as `size` allows; longer stretches are cut
//! at ends of pieces of one side; still longer ones into equal steps of whole tiles
//! box n  the digits of n over the number of steps of each dim, the first most significant
//! ```
//!
//! Law: the boxes partition the coordinates, and each has at most M bytes or is one element.
//!
//! The cost of a side is computed from the layout of its largest piece: a box that covers the inner modes of a layout
//! is read or written in runs of that length. A box that cuts a tile of a tiled shard, or a column of a column-major
//! one, needs more calls there, so the boxes of a transpose become squares.

use crate::plan::array::{LocalArrays, size};

/// The cost of one intersection of a box and a piece, in calls.
const MEET: u64 = 4;

/// The most calls for each `least` bytes (the smallest size of a part), if a box is moved in parts.
const WORTH: u64 = 32;

/// Equal steps are multiples of this many elements, if they are longer and tiles divide this number.
const ALIGN: u64 = 256;

/// One side of an array, as far as cuts need it.
#[derive(Clone, Debug)]
pub(crate) struct CutSide {
    dims: Vec<DimPieces>,
    /// The modes of the local layout, the smallest stride first.
    modes: Vec<BoxDigit>,
    /// The number of copies of each element.
    copies: u64,
}

/// The pieces and tiles along one dim.
#[derive(Clone, Debug, Default)]
struct DimPieces {
    /// The ends of pieces, in order.
    ends: Vec<u64>,
    /// The length of the longest piece.
    piece: u64,
    /// The length of a tile of the local layout.
    tile: u64,
}

#[derive(Clone, Copy, Debug)]
struct BoxDigit {
    dim: usize,
    extent: u64,
    stride: u64,
}

impl CutSide {
    /// Returns the side of an array of these extents with these pieces.
    pub(crate) fn new(held: &LocalArrays, extents: &[u64]) -> CutSide {
        let along = |dim: usize| {
            let place = |of: &[u64]| of.get(dim).copied().unwrap_or(0);
            let spans =
                held.pieces.iter().map(|piece| (place(&piece.start), place(&piece.extents)));
            let mut ends: Vec<u64> = spans.clone().map(|(start, size)| start + size).collect();
            ends.sort_unstable();
            ends.dedup();
            let piece = spans.map(|(_, size)| size).max().unwrap_or(0).max(1);
            DimPieces { ends, piece, tile: 1 }
        };
        let mut dims: Vec<DimPieces> = (0..extents.len()).map(along).collect();
        let largest = held.pieces.iter().max_by_key(|piece| size(&piece.extents));
        let stored = largest.and_then(|piece| held.stored.get(usize::try_from(piece.source).ok()?));
        let mut modes = Vec::new();
        if let Some(layout) = stored.map(|stored| &stored.laid.layout).filter(|it| it.is_strided())
        {
            for (dim, along) in dims.iter_mut().enumerate() {
                let axis = layout.layout().axis(dim).unwrap_or_default();
                let digits = axis.iter().filter(|mode| mode.extent() > 1 && mode.stride() > 0);
                let inner = axis.split_last().map_or(&[][..], |(_, inner)| inner);
                along.tile = inner.iter().fold(1, |size, mode| size.saturating_mul(mode.extent()));
                modes.extend(digits.map(|mode| BoxDigit {
                    dim,
                    extent: mode.extent(),
                    stride: mode.stride().unsigned_abs(),
                }));
            }
            modes.sort_by_key(|digit| digit.stride);
        }
        let all = held.pieces.iter().map(|piece| size(&piece.extents)).fold(0, u64::saturating_add);
        CutSide { dims, modes, copies: all.div_ceil(size(extents).max(1)).max(1) }
    }

    /// Estimates the cost of all boxes of this size, in calls.
    fn cost(&self, extents: &[u64], size: &[u64]) -> u128 {
        let within = |dim: usize| {
            let piece = self.dims.get(dim).map_or(1, |along| along.piece);
            size.get(dim).copied().unwrap_or(1).min(piece)
        };
        let mut covered = vec![1u64; extents.len()];
        let mut run = 1u64;
        for digit in &self.modes {
            let Some(covered) = covered.get_mut(digit.dim) else { break };
            let turns = within(digit.dim).div_ceil((*covered).max(1));
            if digit.stride != run {
                break;
            }
            run = run.saturating_mul(turns.clamp(1, digit.extent));
            *covered = covered.saturating_mul(digit.extent);
            if turns < digit.extent {
                break;
            }
        }
        let elements = extents.iter().fold(1u128, |all, n| all.saturating_mul(u128::from(*n)));
        let meets = (0..extents.len()).fold(1u128, |all, dim| {
            let extent = extents.get(dim).copied().unwrap_or(1);
            all.saturating_mul(u128::from(extent.div_ceil(within(dim).max(1))))
        });
        let runs = elements.div_ceil(u128::from(run));
        (runs + meets.saturating_mul(MEET.into())).saturating_mul(self.copies.into())
    }
}

/// The boxes of one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Boxes {
    dims: Vec<Vec<Steps>>,
}

/// Adjacent steps of one length; the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Steps {
    /// The number of the first step.
    first: u64,
    start: u64,
    step: u64,
    end: u64,
}

impl Boxes {
    /// Splits an array into boxes of at most `most` bytes, or of one element of `width` bytes.
    pub(crate) fn new(extents: &[u64], width: u64, most: u64, sides: &[CutSide]) -> Boxes {
        let zeros = vec![0; extents.len()];
        if bytes(extents, width) <= most || extents.contains(&0) {
            return Boxes::steps(&zeros, extents, extents, &[]);
        }
        Boxes::steps(&zeros, extents, &BoxSearch { extents, width, most, sides }.size(), sides)
    }

    /// Splits a box into parts. Each has at most `most` bytes, where `most` is the first of `least`, 2 · `least`, 4 ·
    /// `least` … for which at most [`WORTH`] calls fall on each `least` bytes. If there is none, the box is the only
    /// part.
    pub(crate) fn of_box(
        (start, extents): (&[u64], &[u64]),
        width: u64,
        least: u64,
        sides: &[CutSide],
    ) -> Boxes {
        Boxes::steps(start, extents, &Boxes::part(extents, width, least, sides), sides)
    }

    /// Returns the size of such parts.
    fn part(extents: &[u64], width: u64, least: u64, sides: &[CutSide]) -> Vec<u64> {
        let all = bytes(extents, width);
        let doubled = std::iter::successors(Some(least.max(1)), |most| most.checked_mul(2));
        let sizes = doubled.take_while(|most| *most < all).map(|most| {
            let search = BoxSearch { extents, width, most, sides };
            let size = search.size();
            (search.cost(&size), size)
        });
        let most = u128::from(all).saturating_mul(WORTH.into());
        let worth = |(cost, _): &(u128, _)| cost.saturating_mul(least.into()) <= most;
        sizes.into_iter().find(worth).map_or(extents.to_vec(), |(_, size)| size)
    }

    /// Splits a box into boxes of at most this size.
    fn steps(start: &[u64], extents: &[u64], size: &[u64], sides: &[CutSide]) -> Boxes {
        let dims = size.iter().zip(start.iter().zip(extents)).enumerate();
        let dims = dims.map(|(dim, (size, (start, extent)))| {
            let ends = |side: &CutSide| side.dims.get(dim).map_or(Vec::new(), |it| it.ends.clone());
            let lists: Vec<Vec<u64>> = sides.iter().map(ends).collect();
            let mut stretches = Stretches {
                most: *size,
                tile: tile(sides, dim, *size),
                ends: levels(lists),
                steps: Vec::new(),
            };
            stretches.cut(*start, start + extent, 0);
            stretches.steps
        });
        Boxes { dims: dims.collect() }
    }

    /// Returns the number of boxes.
    pub(crate) fn count(&self) -> u64 {
        self.dims.iter().fold(1u64, |all, steps| all.saturating_mul(count(steps)))
    }

    /// Returns the first index and the extents of a box.
    pub(crate) fn at(&self, number: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut rest, mut start, mut size) = (number, Vec::new(), Vec::new());
        for steps in self.dims.iter().rev() {
            let count = count(steps).max(1);
            let (nth, from) = (rest % count, steps.partition_point(|it| it.first <= rest % count));
            rest /= count;
            let Some(steps) = from.checked_sub(1).and_then(|at| steps.get(at)) else { continue };
            let from = steps.start + (nth - steps.first) * steps.step;
            start.push(from);
            size.push(steps.step.min(steps.end - from));
        }
        start.reverse();
        size.reverse();
        (start, size)
    }
}

fn count(steps: &[Steps]) -> u64 {
    let last = steps.last().filter(|last| last.step > 0);
    last.map_or(0, |last| last.first + (last.end - last.start).div_ceil(last.step))
}

fn bytes(size: &[u64], width: u64) -> u64 {
    size.iter().fold(width.max(1), |all, n| all.saturating_mul(*n))
}

/// Returns the number that a step along a dim is a multiple of: the tiles of all sides, and [`ALIGN`] for long steps.
fn tile(sides: &[CutSide], dim: usize, size: u64) -> u64 {
    let tiles = sides.iter().filter_map(|side| side.dims.get(dim)).map(|along| along.tile.max(1));
    let tile = tiles.fold(1u64, |all, tile| {
        let joint = lcm(all, tile);
        if joint <= size { joint } else { all }
    });
    if size >= ALIGN && ALIGN.is_multiple_of(tile) { ALIGN } else { tile }
}

fn lcm(a: u64, b: u64) -> u64 {
    (a / tilewright_core::gcd(a, b).max(1)).saturating_mul(b)
}

/// Returns the ends at which boxes may end, the best first: the common ends of all sides, then those of any side.
fn levels(lists: Vec<Vec<u64>>) -> [Vec<u64>; 2] {
    let mut any = lists.concat();
    any.sort_unstable();
    any.dedup();
    let both = |end: &&u64| lists.iter().all(|list| list.binary_search(end).is_ok());
    [any.iter().filter(both).copied().collect(), any]
}

/// The search for the size of a box.
struct BoxSearch<'a> {
    extents: &'a [u64],
    width: u64,
    most: u64,
    sides: &'a [CutSide],
}

impl BoxSearch<'_> {
    fn size(&self) -> Vec<u64> {
        let mut size = self.extents.to_vec();
        while bytes(&size, self.width) > self.most {
            let Some(better) = self.best(&size, &|dim, size| self.halved(dim, size)) else { break };
            size = better;
        }
        for _ in 0..size.len() {
            let Some(better) = self.best(&size, &|dim, size| self.grown(dim, size)) else { break };
            size = better;
        }
        size
    }

    /// Returns the cheapest of the sizes in which one dim is replaced; the first of equal ones.
    fn best(&self, size: &[u64], other: &dyn Fn(usize, &[u64]) -> Option<u64>) -> Option<Vec<u64>> {
        let next = |dim: usize| {
            let mut next = size.to_vec();
            *next.get_mut(dim)? = other(dim, size)?;
            Some(next)
        };
        (0..size.len()).filter_map(next).min_by_key(|size| self.cost(size))
    }

    /// Estimates the cost of boxes of this size on all sides, in calls.
    fn cost(&self, size: &[u64]) -> u128 {
        let costs = self.sides.iter().map(|side| side.cost(self.extents, size));
        costs.fold(0, u128::saturating_add)
    }

    /// Returns half of a dim, in whole tiles if it has several.
    fn halved(&self, dim: usize, size: &[u64]) -> Option<u64> {
        let now = size.get(dim).copied().filter(|now| *now > 1)?;
        let half = now.div_ceil(2);
        let whole = half.next_multiple_of(tile(self.sides, dim, half));
        Some(if whole < now { whole } else { half })
    }

    /// Returns the largest length of a dim that fits, in whole tiles, if it is longer than now.
    fn grown(&self, dim: usize, size: &[u64]) -> Option<u64> {
        let (now, extent) = (*size.get(dim)?, *self.extents.get(dim)?);
        let others = bytes(size, self.width) / now.max(1);
        let fits = (self.most / others.max(1)).min(extent);
        let tile = tile(self.sides, dim, fits);
        let whole = if fits == extent { fits } else { fits / tile * tile };
        (whole > now).then_some(whole)
    }
}

/// One dim while it is split into steps.
struct Stretches {
    most: u64,
    tile: u64,
    ends: [Vec<u64>; 2],
    steps: Vec<Steps>,
}

impl Stretches {
    /// Cuts a stretch at the ends of a level, at as few of them as `most` allows.
    fn cut(&mut self, from: u64, to: u64, level: usize) {
        if to - from <= self.most {
            return self.push(from, to, to - from);
        }
        let Some(ends) = self.ends.get(level) else { return self.even(from, to) };
        let low = ends.partition_point(|end| *end <= from);
        let inner: Vec<u64> = ends.iter().skip(low).copied().take_while(|end| *end < to).collect();
        let (mut start, mut last) = (from, from);
        for end in inner.into_iter().chain([to]) {
            if end - start > self.most && last > start {
                self.push(start, last, last - start);
                start = last;
            }
            if end - start > self.most {
                self.cut(start, end, level + 1);
                start = end;
            }
            last = end;
        }
        if last > start {
            self.push(start, last, last - start);
        }
    }

    /// Cuts a stretch into equal steps of whole tiles.
    fn even(&mut self, from: u64, to: u64) {
        let most = self.most.max(1);
        let each = (to - from).div_ceil((to - from).div_ceil(most));
        let whole = each.next_multiple_of(self.tile);
        self.push(from, to, if whole <= most { whole } else { most });
    }

    fn push(&mut self, start: u64, end: u64, step: u64) {
        if let Some(last) = self.steps.last_mut()
            && last.step == step
            && (last.end - last.start).is_multiple_of(step)
        {
            last.end = end;
            return;
        }
        self.steps.push(Steps { first: count(&self.steps), start, step, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::array::{Laid, StoredArray};
    use std::sync::Arc;
    use tilewright_core::{Dtype, Fractal, TensorLayout};
    use tilewright_sharded::{Piece, Pieces, Sharded};

    /// The layout of a shard of these extents.
    type Made<'a> = &'a dyn Fn(&[u64]) -> TensorLayout;

    /// Returns the pieces of an array on a mesh: by a rule, with local arrays in a layout.
    fn held(extents: &[u64], rule: &str, layout: &dyn Fn(&[u64]) -> TensorLayout) -> LocalArrays {
        let sharded = Sharded::parse(&format!("bf16{extents:?} @ {rule}")).unwrap();
        let stored = |(file, shard): (usize, tilewright_sharded::Shard)| {
            let layout = layout(shard.stored());
            let (file_dtype, shape) = ("BF16".to_owned(), shard.stored().to_vec());
            let dtype = Dtype::Bf16;
            let laid = Laid {
                file_dtype,
                dtype,
                bits: 16,
                layout,
                shape,
                spec: None,
                packed: false,
                big: false,
            };
            StoredArray { file, laid: Arc::new(laid) }
        };
        let stored = sharded.shards().enumerate().map(stored).collect();
        LocalArrays { stored, pieces: Pieces::of(&sharded).unwrap().pieces, ..Default::default() }
    }

    fn row_major(dims: &[u64]) -> TensorLayout {
        TensorLayout::row_major(dims).unwrap()
    }

    fn col_major(dims: &[u64]) -> TensorLayout {
        TensorLayout::col_major(dims).unwrap()
    }

    fn tiled(dims: &[u64]) -> TensorLayout {
        match dims.contains(&0) {
            true => row_major(dims),
            false => Fractal::ZN.pattern(4, 2).layout(dims).unwrap(),
        }
    }

    /// Checks the law: boxes cover every coordinate once and keep the bound.
    fn check(extents: &[u64], cut: &Boxes, most: u64) {
        let boxes = (0..cut.count()).map(|n| cut.at(n)).enumerate();
        let pieces: Vec<Piece> = boxes
            .map(|(n, (start, size))| {
                assert!(
                    size.iter().product::<u64>() * 2 <= most.max(2),
                    "{extents:?} {most} {size:?}"
                );
                Piece { source: n as u64, start, extents: size, local: vec![0; extents.len()] }
            })
            .collect();
        let count = pieces.len();
        let cover = Pieces { extents: extents.to_vec(), pieces }.cover("a").unwrap();
        assert_eq!((cover.boxes, cover.replicas), (count, 0), "{extents:?} {most}");
    }

    #[test]
    fn boxes_partition_the_coordinates() {
        for extents in (0..6u64.pow(3)).map(|n| vec![n % 6, n / 6 % 6, n / 36]) {
            for most in [1, 2, 3, 4, 7, 16, 50, 1000] {
                check(&extents, &Boxes::new(&extents, 2, most, &[]), most);
            }
        }
        assert_eq!(Boxes::new(&[], 4, 1, &[]).count(), 1);
        assert_eq!(Boxes::new(&[1000, 4], 1, 2500, &[]).at(1), (vec![512, 0], vec![488, 4]));
    }

    /// The law with sides, over every pair of rules and layouts.
    #[test]
    fn boxes_of_any_two_sides_partition_the_coordinates() {
        let rules = [
            "mesh(2,2) [Replicate(), Replicate()]",
            "mesh(2,2) [Shard(0), Replicate()]",
            "mesh(3,2) [Shard(0), Shard(1)]",
            "mesh(2,3) [Shard(1), Shard(1)]",
            "mesh(2,2) [_StridedShard(0, sf=2), Shard(0)]",
            "mesh(5,2) [Shard(1), Shard(0)]",
        ];
        let layouts: [Made<'_>; 3] = [&row_major, &col_major, &tiled];
        let mut checked = 0;
        for extents in [[1, 1], [7, 5], [12, 8], [37, 6], [3, 40], [0, 4], [64, 64]] {
            let sides: Vec<CutSide> = (rules.iter())
                .flat_map(|rule| {
                    layouts.map(|layout| CutSide::new(&held(&extents, rule, layout), &extents))
                })
                .collect();
            for (from, to) in sides.iter().flat_map(|from| sides.iter().map(move |to| (from, to))) {
                // All sizes, or every other one in turn.
                let step = tilewright_testing::cases(1, 2);
                for most in [2, 6, 20, 64, 300, 2048].into_iter().skip(checked % step).step_by(step)
                {
                    let cut = Boxes::new(&extents, 2, most, &[from.clone(), to.clone()]);
                    check(&extents, &cut, most);
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 7 * 18 * 18 * tilewright_testing::cases(6, 3));
    }

    /// Parts partition their box, at any offset, and their calls are worth their bytes or the part is the box.
    #[test]
    fn parts_partition_their_box() {
        let extents = [64, 60];
        let rules =
            ["mesh(1) [Replicate()]", "mesh(3,2) [Shard(0), Shard(1)]", "mesh(4) [Shard(1)]"];
        let layouts: [Made<'_>; 3] = [&row_major, &col_major, &tiled];
        let sides: Vec<CutSide> = (rules.iter())
            .flat_map(|rule| layouts.map(|it| CutSide::new(&held(&extents, rule, it), &extents)))
            .collect();
        let (mut several, mut whole) = (0, 0);
        for (from, to) in sides.iter().flat_map(|from| sides.iter().map(move |to| (from, to))) {
            let both = [from.clone(), to.clone()];
            for (start, size) in [([0, 0], [64, 60]), ([7, 11], [50, 30]), ([63, 0], [1, 60])] {
                for (width, least) in [(1 << 20, 1 << 20), (1 << 20, 100 << 20), (2, 64), (1, 40)] {
                    let cut = Boxes::of_box((&start, &size), width, least, &both);
                    let part = Boxes::part(&size, width, least, &both);
                    let calls: u128 = both.iter().map(|side| side.cost(&size, &part)).sum();
                    let bytes = u128::from(size.iter().product::<u64>() * width);
                    let is_worth = calls * u128::from(least) <= 32 * bytes;
                    assert!(part == size || is_worth, "{start:?} {size:?} {width} {least}");
                    whole += usize::from(!is_worth);
                    let mut seen = vec![0; 64 * 60];
                    for (from, size) in (0..cut.count()).map(|number| cut.at(number)) {
                        (from[0]..from[0] + size[0]).for_each(|row| {
                            (from[1]..from[1] + size[1])
                                .for_each(|column| seen[(row * 60 + column) as usize] += 1);
                        });
                    }
                    let inside =
                        |at: u64, dim: usize| at >= start[dim] && at < start[dim] + size[dim];
                    let once = (0..64 * 60u64).all(|at| {
                        seen[at as usize] == i32::from(inside(at / 60, 0) && inside(at % 60, 1))
                    });
                    assert!(once, "{start:?} {size:?} {width} {least}");
                    several += usize::from(cut.count() > 1);
                }
            }
        }
        assert!(several > 300 && whole > 100, "{several} {whole}");
    }

    #[test]
    fn boxes_end_where_pieces_end_and_at_tiles() {
        let cut = |extents: [u64; 2], from: LocalArrays, to: LocalArrays, most| {
            let sides = [CutSide::new(&from, &extents), CutSide::new(&to, &extents)];
            let cut = Boxes::new(&extents, 2, most, &sides);
            (0..cut.count()).map(|n| cut.at(n)).collect::<Vec<_>>()
        };
        // 37 rows over 4 and over 2: both sides have ends after 10, 19 and 28 rows (torch's parts), and after 19.
        let extents = [37, 64];
        let from = held(&extents, "mesh(2,2) [Shard(0), Shard(0)]", &row_major);
        let to = held(&extents, "mesh(2) [Shard(0)]", &row_major);
        let boxes = cut(extents, from, to, 20 * 128);
        assert_eq!(boxes, [(vec![0, 0], vec![19, 64]), (vec![19, 0], vec![18, 64])]);
        // From rows to columns: neither side has the whole run.
        let extents = [1024, 1024];
        let whole = |layout| held(&extents, "mesh(1) [Replicate()]", layout);
        let boxes = cut(extents, whole(&row_major), whole(&col_major), 32 << 10);
        assert_eq!(boxes.first().unwrap().1, [128, 128]);
        // Into tiles of 4 × 2: whole columns of tiles are contiguous, and rows of 32 bytes are read.
        let boxes = cut([1024, 1024], whole(&row_major), whole(&tiled), 1 << 10);
        let tiles = |(start, size): &(Vec<u64>, Vec<u64>)| {
            start[0] % 4 == 0 && start[1] % 2 == 0 && size[0] % 4 == 0 && size[1] % 2 == 0
        };
        assert!(boxes.iter().all(tiles), "{:?}", boxes.first());
    }
}
