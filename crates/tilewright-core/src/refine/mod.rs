//! Two tensor layouts over the same logical coordinates, as one list of loops.
//!
//! Both layouts cut the coordinate of a logical dim into digits: a cut is where a digit begins, with the stride of the
//! digit. If each cut divides the cuts above it on both sides, the common digits are loops with a stride on either
//! side, and a ragged extent becomes a few clipped boxes. If cuts do not divide (tiles of 3 against tiles of 4), or if
//! steps or swizzles mix dims, the dim is walked in runs instead.
//!
//! Laws: the blocks visit every logical coordinate exactly once, with its offset in both layouts. The offset of `turns`
//! times a cut, below the next cut, is `turns` times the stride at the cut.

pub(crate) mod block;
pub(crate) mod orders;

use crate::{Coord, Error, MAX_MODES, Mode, Step, TensorLayout, const_fn::tri};

/// One common digit of a dim: a cut and its distance on either side.
#[derive(Clone, Copy)]
pub(crate) struct CommonDigit {
    pub(crate) at: u64,
    pub(crate) src: i64,
    pub(crate) dst: i64,
    /// The largest cut of each side up to this one, where its full digits begin.
    own: (u64, u64),
    /// The next cut of each side that the part crosses, where its digit ends.
    next: (u64, u64),
}

/// The common refinement of a source and a destination layout.
///
/// ```
/// use tilewright_core::{Layout, Refinement, TensorLayout};
/// // 5 columns in tiles of 2: two full tiles and one clipped.
/// let src = TensorLayout::row_major(&[2, 5]).unwrap();
/// let tiled = Layout::parse("(2,(2,3)):(2,(1,4))").unwrap();
/// let dst = TensorLayout::new(&[2, 5], &tiled, 12).unwrap();
/// let refinement = Refinement::new(&src, &dst).unwrap();
/// let sizes: Vec<u64> = refinement.blocks().map(|block| block.size()).collect();
/// assert_eq!(sizes, [8, 2]);
///
/// let other = TensorLayout::row_major(&[5, 2]).unwrap();
/// assert!(Refinement::new(&src, &other).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone)]
pub struct Refinement<'a> {
    src: &'a TensorLayout,
    dst: &'a TensorLayout,
    /// The origin of the part on either side.
    origins: (Coord, Coord),
    extents: Coord,
    pub(crate) cuts: [CommonDigit; 2 * MAX_MODES],
    /// The range `from..to` of the cuts of each dim; empty for a dim that is walked in runs.
    ranges: [(usize, usize); MAX_MODES],
    /// The dim along which runs go, if any dim is walked.
    walked: Option<usize>,
}

impl<'a> Refinement<'a> {
    /// Creates the refinement of two layouts with equal logical extents.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents differ.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Refinement, TensorLayout};
    /// let rows = TensorLayout::row_major(&[64, 64]).unwrap();
    /// let zz = Fractal::ZZ.pattern(16, 16).layout(&[64, 64]).unwrap();
    /// let refinement = Refinement::new(&rows, &zz).unwrap();
    /// // 64 = 4·16 both ways: one box of four loops.
    /// let block = refinement.blocks().next().unwrap();
    /// assert_eq!((block.size(), block.loops().len()), (4096, 4));
    ///
    /// let other = TensorLayout::row_major(&[64, 63]).unwrap();
    /// assert!(Refinement::new(&other, &zz).unwrap_err().is_mismatch());
    /// ```
    pub const fn new(
        src: &'a TensorLayout,
        dst: &'a TensorLayout,
    ) -> Result<Refinement<'a>, Error> {
        tri!(same_extents(src, dst));
        let origin = Coord::origin(src.rank());
        Ok(Refinement::made((src, &origin), (dst, &origin), src.extents()))
    }

    /// Creates the refinement of a part of two layouts. Coordinate `c` of the part is `src_origin + c` in the source and
    /// `dst_origin + c` in the destination. The blocks have coordinates of the part.
    ///
    /// Tiled layouts are not translation-invariant, so a part is not a layout of its own. If the origins differ in their
    /// position within a tile, boxes are cut where either side begins its next tile.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the layouts, the origins and the part differ in rank;
    /// [out of range](Error::is_out_of_range) if the part reaches beyond an array; [overflow](Error::is_overflow) if it reaches
    /// beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_core::{Fractal, Refinement, TensorLayout};
    /// let rows = TensorLayout::row_major(&[8, 8]).unwrap();
    /// let zz = Fractal::ZZ.pattern(4, 4).layout(&[100, 100]).unwrap();
    /// // Rows 3 to 7 of the source as rows 50 to 54 of the destination: two rows of a tile and three of the next.
    /// let part = Refinement::of_part(&rows, &[3, 0], &zz, &[50, 96], &[5, 4]).unwrap();
    /// let boxes: Vec<_> = part.blocks().map(|b| (b.src(), b.dst(), b.size())).collect();
    /// let at = |i, j| zz.offset(&[i, j]).unwrap();
    /// assert_eq!(boxes, [(24, at(50, 96), 8), (40, at(52, 96), 12)]);
    ///
    /// let error = Refinement::of_part(&rows, &[4, 0], &zz, &[50, 96], &[5, 4]).unwrap_err();
    /// assert!(error.is_out_of_range());
    /// ```
    pub const fn of_part(
        src: &'a TensorLayout,
        src_origin: &[u64],
        dst: &'a TensorLayout,
        dst_origin: &[u64],
        extents: &[u64],
    ) -> Result<Refinement<'a>, Error> {
        tri!(same_rank(src.rank(), dst.rank()));
        let src_origin = tri!(origin(src, src_origin, extents, SOURCE));
        let dst_origin = tri!(origin(dst, dst_origin, extents, DESTINATION));
        Ok(Refinement::made((src, &src_origin), (dst, &dst_origin), extents))
    }

    const fn made(
        (src, src_origin): (&'a TensorLayout, &Coord),
        (dst, dst_origin): (&'a TensorLayout, &Coord),
        extents: &[u64],
    ) -> Refinement<'a> {
        let zero = CommonDigit { at: 0, src: 0, dst: 0, own: (0, 0), next: (0, 0) };
        let mut refinement = Refinement {
            src,
            dst,
            origins: (src_origin.copied(), dst_origin.copied()),
            extents: coord_of(extents),
            cuts: [zero; 2 * MAX_MODES],
            ranges: [(0, 0); MAX_MODES],
            walked: None,
        };
        let (mut dim, mut at) = (0, 0);
        while dim < src.rank() {
            let end = refinement.cut(dim, at);
            refinement.ranges[dim] = (at, end);
            // Runs go along the dim that is contiguous in the destination, otherwise along the last dim.
            if end == at && extents[dim] > 0 && !refinement.walks_densely() {
                refinement.walked = Some(dim);
            }
            at = end;
            dim += 1;
        }
        refinement
    }

    const fn walks_densely(&self) -> bool {
        match self.walked {
            Some(dim) => match self.dst.run(self.origins.1.as_slice(), dim) {
                Ok(run) => run.stride == 1,
                Err(_) => false,
            },
            None => false,
        }
    }

    /// Returns whether no dim has to be walked in runs. Then there are few blocks, however large the arrays, provided
    /// that the origins of a part have the same position within their tiles.
    ///
    /// ```
    /// use tilewright_core::{Digit, Pattern, Refinement};
    /// let tiles = |size| {
    ///     // (m1 m0:size) n -> m1 n m0
    ///     let digits = [Digit::rest(0, 1), Digit::rest(1, 0), Digit::fixed(0, 0, size)];
    ///     Pattern::new(2, &digits).unwrap().layout(&[1 << 20, 8]).unwrap()
    /// };
    /// let (threes, fours, eights) = (tiles(3), tiles(4), tiles(8));
    /// assert!(Refinement::new(&fours, &eights).unwrap().is_regular());
    /// // 4 is not a multiple of 3: every common cut begins a box of its own.
    /// assert!(!Refinement::new(&threes, &fours).unwrap().is_regular());
    /// ```
    pub const fn is_regular(&self) -> bool {
        self.walked.is_none()
    }

    pub(crate) const fn rank(&self) -> usize {
        self.src.rank()
    }

    pub(crate) const fn extent(&self, dim: usize) -> u64 {
        self.extents.as_slice()[dim]
    }

    pub(crate) const fn is_empty(&self) -> bool {
        let mut dim = 0;
        while dim < self.rank() {
            if self.extent(dim) == 0 {
                return true;
            }
            dim += 1;
        }
        false
    }

    /// Returns the coordinates on either side of a coordinate of the part.
    pub(crate) const fn at(&self, coord: &Coord) -> (Coord, Coord) {
        let (mut src, mut dst, mut dim) = (coord.copied(), coord.copied(), 0);
        while dim < self.rank() {
            src.as_mut_slice()[dim] += self.origins.0.as_slice()[dim];
            dst.as_mut_slice()[dim] += self.origins.1.as_slice()[dim];
            dim += 1;
        }
        (src, dst)
    }

    pub(crate) const fn sides(&self) -> (&'a TensorLayout, &'a TensorLayout) {
        (self.src, self.dst)
    }

    /// Returns a lower bound on the number of blocks of whole arrays that begin before `end`, or of all blocks: no run is
    /// longer than `longest_run`.
    pub(crate) const fn blocks_at_least(&self, end: Option<&Coord>) -> u64 {
        let (mut count, mut leading, mut dim) = (1u64, true, 0);
        while dim < self.src.rank() {
            let mut extent = self.src.extents()[dim];
            if let Some(end) = end
                && leading
            {
                let at = end.as_slice()[dim];
                leading = at == 0;
                extent = if leading { 1 } else { at };
            }
            if is(self.walked, dim) {
                let (a, b) = (longest_run(self.src, dim), longest_run(self.dst, dim));
                extent = extent.div_ceil(if a < b { a } else { b });
            } else if self.ranges[dim].0 < self.ranges[dim].1 {
                extent = 1;
            }
            count = count.saturating_mul(extent);
            dim += 1;
        }
        count
    }

    /// Finds the common cuts of a dim and stores them from `at` on; returns their end, which is `at` if there are none.
    const fn cut(&mut self, dim: usize, at: usize) -> usize {
        let (src, dst) = match (modes(self.src, dim), modes(self.dst, dim)) {
            (Some(src), Some(dst)) => (src, dst),
            _ => return at,
        };
        let (mut end, mut below, mut own) = (at, 1u64, (1, 1));
        loop {
            let a = self.crossed(&self.origins.0, dim, next_cut(src, below));
            let b = self.crossed(&self.origins.1, dim, next_cut(dst, below));
            let (from, to) = (stride_at(src, below), stride_at(dst, below));
            self.cuts[end] = CommonDigit { at: below, src: from, dst: to, own, next: (a, b) };
            end += 1;
            let next = min(a, b);
            if next == u64::MAX {
                return end;
            }
            if !next.is_multiple_of(below) {
                return at;
            }
            own = (if a == next { next } else { own.0 }, if b == next { next } else { own.1 });
            below = next;
        }
    }

    /// Returns the cut if the part has coordinates on both sides of one of its multiples, otherwise `u64::MAX`.
    const fn crossed(&self, origin: &Coord, dim: usize, cut: u64) -> u64 {
        let (from, extent) = (origin.as_slice()[dim], self.extent(dim));
        let crosses = extent > 0 && from / cut < (from + (extent - 1)) / cut;
        if crosses { cut } else { u64::MAX }
    }

    /// Returns the box of a cut dim that begins at a coordinate of the part: the index of the cut of its widest digit, and
    /// the number of that digit's steps.
    pub(crate) const fn clipped(&self, dim: usize, at: u64) -> (usize, u64) {
        let (from, to) = self.ranges[dim];
        if from == to {
            return (0, 0);
        }
        let (src, dst) = (self.origins.0.as_slice()[dim] + at, self.origins.1.as_slice()[dim] + at);
        let mut level = to - 1;
        loop {
            let CommonDigit { at: cut, own, next, .. } = self.cuts[level];
            let room = min(before(src, next.0), before(dst, next.1));
            let turns = min(self.extent(dim) - at, room) / cut;
            // At cut 1, a digit begins everywhere.
            let begins = src.is_multiple_of(own.0) && dst.is_multiple_of(own.1);
            if level == from || begins && turns > 0 {
                return (level, turns);
            }
            level -= 1;
        }
    }
}

impl core::fmt::Debug for Refinement<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?} -> {:?}", self.src, self.dst)
    }
}

/// Returns whether this dim is the walked one.
pub(crate) const fn is(walked: Option<usize>, dim: usize) -> bool {
    match walked {
        Some(walked) => walked == dim,
        None => false,
    }
}

pub(crate) const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

/// Returns the distance from a coordinate to the next multiple of a cut; `u64::MAX` if there is none.
const fn before(coord: u64, cut: u64) -> u64 {
    if cut == u64::MAX { u64::MAX } else { cut - coord % cut }
}

const fn same_extents(a: &TensorLayout, b: &TensorLayout) -> Result<(), Error> {
    tri!(same_rank(a.rank(), b.rank()));
    let mut dim = 0;
    while dim < a.rank() {
        if a.extents()[dim] != b.extents()[dim] {
            return Err(Error::mismatch(
                "dim {} has extent {} against {}",
                [dim as i128, a.extents()[dim] as i128, b.extents()[dim] as i128],
                "both must have the same logical extents",
            ));
        }
        dim += 1;
    }
    Ok(())
}

/// Returns an upper bound on the length of a run along `dim`, at least 1: a run from the origin begins with every
/// digit at 0, and a run under a swizzle ends with its atom.
const fn longest_run(tensor: &TensorLayout, dim: usize) -> u64 {
    let run = match tensor.unswizzled() {
        Ok(affine) => affine.run(Coord::origin(affine.rank()).as_slice(), dim),
        Err(error) => Err(error),
    };
    match run {
        Ok(run) if run.stride != 0 && !tensor.layout().swizzle().is_identity() => {
            let fits = tensor.layout().swizzle().atom().div_ceil(run.stride.unsigned_abs());
            if fits < run.len { fits } else { run.len }
        }
        Ok(run) => run.len,
        // There is an origin, and the bounds without a swizzle are within those with it.
        Err(_) => u64::MAX,
    }
}

const fn same_rank(a: usize, b: usize) -> Result<(), Error> {
    if a == b {
        return Ok(());
    }
    Err(Error::mismatch(
        "an array of {} dims against one of {}",
        [a as i128, b as i128],
        "both must have the same logical extents",
    ))
}

/// The messages about one side: for a part of another rank, and for one that is too long.
type Words = (&'static str, &'static str);

const SOURCE: Words = (
    "an origin of {} and a part of {} dims for a source of {}",
    "dim {} of a part from {} to {} of a source of {}",
);

const DESTINATION: Words = (
    "an origin of {} and a part of {} dims for a destination of {}",
    "dim {} of a part from {} to {} of a destination of {}",
);

/// Checks that the part is within the array; returns its origin.
const fn origin(
    tensor: &TensorLayout,
    origin: &[u64],
    extents: &[u64],
    words: Words,
) -> Result<Coord, Error> {
    let rank = tensor.rank();
    if origin.len() != rank || extents.len() != rank {
        let numbers = [origin.len() as i128, extents.len() as i128, rank as i128];
        return Err(Error::mismatch(words.0, numbers, "both must have one number for each dim"));
    }
    let mut dim = 0;
    while dim < rank {
        let (from, to) = (origin[dim] as i128, origin[dim] as i128 + extents[dim] as i128);
        if to > i64::MAX as i128 {
            return Err(Error::overflow(
                "dim {} of a part from {} to {}",
                [dim as i128, from, to],
                "coordinates are below 2^63",
            ));
        }
        if to > tensor.extents()[dim] as i128 {
            return Err(Error::out_of_range(
                words.1,
                [dim as i128, from, to, tensor.extents()[dim] as i128],
                "a part must end within the array",
            ));
        }
        dim += 1;
    }
    Ok(coord_of(origin))
}

/// Returns the coordinate with these integers, one for each dim.
const fn coord_of(axes: &[u64]) -> Coord {
    let (mut coord, mut dim) = (Coord::origin(axes.len()), 0);
    while dim < axes.len() {
        coord.as_mut_slice()[dim] = axes[dim];
        dim += 1;
    }
    coord
}

/// Returns the modes of a dim that is an axis of its own; `None` with a swizzle, or if steps change the dim.
pub(crate) const fn modes(tensor: &TensorLayout, dim: usize) -> Option<&[Mode]> {
    if !tensor.layout().swizzle().is_identity() {
        return None;
    }
    let (mut axis, mut i) = (dim, 0);
    while i < tensor.steps().len() {
        match tensor.steps()[i] {
            Step::Merge { major, minor } => {
                if axis == major as usize || axis == minor as usize {
                    return None;
                }
                axis -= (axis > major as usize) as usize;
            }
            Step::Split { axis: split, .. } => {
                if axis == split as usize {
                    return None;
                }
            }
        }
        i += 1;
    }
    tensor.layout().axis(axis)
}

/// Returns the distance of one step of a digit whose coordinates are multiples of `cut`.
const fn stride_at(modes: &[Mode], cut: u64) -> i64 {
    let (mut below, mut first, mut stride, mut i) = (1, 1, 0, 0);
    while i < modes.len() {
        if i == 0 || !goes_on(modes, i - 1) {
            (first, stride) = (below, modes[i].stride());
        }
        below *= modes[i].extent();
        if below > cut {
            // Below the extent of these modes, I2 bounds the product.
            return (cut / first) as i64 * stride;
        }
        i += 1;
    }
    0
}

/// Returns the smallest cut of these modes above `cut`; `u64::MAX` if there is none. A mode that continues the one
/// below it makes no cut.
const fn next_cut(modes: &[Mode], cut: u64) -> u64 {
    let (mut below, mut i) = (1u64, 0);
    while i < modes.len() {
        below *= modes[i].extent();
        if below > cut && !goes_on(modes, i) {
            return below;
        }
        i += 1;
    }
    u64::MAX
}

/// Returns whether the mode above mode `i` continues it: its stride is what mode `i` reaches with one more step.
const fn goes_on(modes: &[Mode], i: usize) -> bool {
    if i + 1 >= modes.len() {
        return false;
    }
    let (extent, stride) = (modes[i].extent() as i128, modes[i].stride() as i128);
    modes[i + 1].stride() as i128 == extent * stride
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digit, Layout, Pattern, Swizzle};
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    /// Returns every coordinate that the blocks visit, with its two offsets.
    fn visits(refinement: &Refinement<'_>) -> Vec<(Vec<u64>, i64, i64)> {
        let mut all = vec![];
        for block in refinement.blocks() {
            let mut list = vec![(block.origin().as_slice().to_vec(), block.src(), block.dst())];
            for turn in block.loops() {
                list = list
                    .iter()
                    .flat_map(|(coord, a, b)| {
                        (0..turn.extent).map(move |i| {
                            let mut coord = coord.clone();
                            coord[turn.dim as usize] += i * turn.step;
                            (coord, a + i as i64 * turn.src, b + i as i64 * turn.dst)
                        })
                    })
                    .collect();
            }
            all.extend(list);
        }
        all.sort();
        all
    }

    fn check(src: &TensorLayout, dst: &TensorLayout) {
        let origin = vec![0; src.rank()];
        let whole = Refinement::new(src, dst).unwrap();
        let part = Refinement::of_part(src, &origin, dst, &origin, src.extents()).unwrap();
        assert_eq!(visits(&whole), visits(&part));
        check_part((src, &origin), (dst, &origin), src.extents());
    }

    fn check_part(
        (src, a): (&TensorLayout, &[u64]),
        (dst, b): (&TensorLayout, &[u64]),
        extents: &[u64],
    ) -> usize {
        let part = TensorLayout::row_major(extents).unwrap();
        let add = |origin: &[u64], coord: &[u64]| -> Vec<u64> {
            origin.iter().zip(coord).map(|(a, b)| a + b).collect()
        };
        let expected: Vec<_> = (0..part.size())
            .map(|i| {
                let coord = part.coord_of(i).unwrap().as_slice().to_vec();
                let (from, to) = (add(a, &coord), add(b, &coord));
                (coord, src.offset(&from).unwrap(), dst.offset(&to).unwrap())
            })
            .collect();
        let refinement = Refinement::of_part(src, a, dst, b, extents).unwrap();
        assert_eq!(visits(&refinement), expected, "{src:?} {a:?} {dst:?} {b:?} {extents:?}");
        refinement.blocks().count()
    }

    /// Returns one axis of up to three digits.
    fn axis_patterns() -> Vec<Pattern> {
        let mut all = vec![Pattern::new(1, &[Digit::rest(0, 0)]).unwrap()];
        for a in 1..=6 {
            all.push(Pattern::new(1, &[Digit::fixed(0, 0, a), Digit::rest(0, 1)]).unwrap());
            for b in 1..=3 {
                let digits = [Digit::rest(0, 2), Digit::fixed(0, 0, a), Digit::fixed(0, 1, b)];
                all.push(Pattern::new(1, &digits).unwrap());
            }
        }
        all
    }

    #[test]
    fn every_pair_of_small_digit_systems_visits_each_element_once() {
        let patterns = axis_patterns();
        for src in &patterns {
            for dst in &patterns {
                for extent in 0..=26 {
                    check(&src.layout(&[extent]).unwrap(), &dst.layout(&[extent]).unwrap());
                }
            }
        }
    }

    #[test]
    fn every_part_of_every_pair_of_small_digit_systems_visits_each_element_once() {
        let patterns = axis_patterns();
        for (src, dst) in patterns.iter().flat_map(|a| patterns.iter().map(move |b| (a, b))) {
            let (src, dst) = (src.layout(&[13]).unwrap(), dst.layout(&[17]).unwrap());
            for (a, b) in (0..=13).flat_map(|a| (0..=17).step_by(3).map(move |b| (a, b))) {
                for extent in [0, 1, 2, 5, 6, 9, 12] {
                    if a + extent <= 13 && b + extent <= 17 {
                        check_part((&src, &[a]), (&dst, &[b]), &[extent]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_part_is_a_head_a_body_and_a_tail_where_origins_lie_equally_in_tiles() {
        let tiles = |size| {
            let digits = [Digit::rest(0, 1), Digit::fixed(0, 0, size)];
            Pattern::new(1, &digits).unwrap().layout(&[1 << 40]).unwrap()
        };
        let (small, large) = (tiles(8), tiles(32));
        let count = |a, b, extent| {
            let part = Refinement::of_part(&small, &[a], &large, &[b], &[extent]).unwrap();
            part.blocks().count()
        };
        // Dense tiles of one dim are one run.
        assert_eq!(count(5, 1000, 1 << 30), 1);
        let padded = TensorLayout::of(&Layout::parse("((8,4,1024)):((1,8,40))").unwrap());
        let count = |a, b, extent| check_part((&padded, &[a]), (&padded, &[b]), &[extent]);
        assert_eq!((count(0, 0, 3200), count(5, 5, 3200), count(5, 37, 3210)), (1, 3, 3));
        // A side without tiles may begin anywhere.
        let row = TensorLayout::row_major(&[5000]).unwrap();
        let count_row = |a, b, extent| check_part((&row, &[a]), (&padded, &[b]), &[extent]);
        assert_eq!((count_row(7, 32, 3200), count_row(7, 5, 3210)), (1, 3));
        // One side begins three elements later in its tile: two runs a tile.
        assert_eq!(count(0, 3, 3200), 200);
    }

    #[test]
    fn parts_of_merged_split_and_swizzled_arrays_visit_each_element_once() {
        let all = mixed();
        for (src, dst) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let parts = [
                ([0, 0, 0], [0, 0, 0], [2, 3, 6]),
                ([1, 1, 2], [0, 2, 3], [1, 1, 3]),
                ([0, 1, 0], [0, 0, 1], [2, 2, 5]),
                ([1, 0, 5], [1, 0, 0], [1, 3, 1]),
                ([2, 3, 6], [2, 0, 0], [0, 0, 0]),
                ([1, 2, 1], [1, 2, 2], [1, 1, 4]),
            ];
            for (a, b, extents) in parts {
                check_part((src, &a), (dst, &b), &extents);
            }
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let rows = TensorLayout::row_major(&[4, 6]).unwrap();
        let part = |a: &[u64], b: &[u64], extents: &[u64]| {
            Refinement::of_part(&rows, a, &rows, b, extents).unwrap_err()
        };
        let error = part(&[0, 1], &[0, 0], &[4, 6]);
        assert!(error.is_out_of_range());
        let text = "dim 1 of a part from 1 to 7 of a source of 6; a part must end within the array";
        assert_eq!(error.to_string(), text);
        assert!(part(&[0, 0], &[2, 0], &[3, 1]).to_string().contains("destination of 4"));
        assert!(part(&[0, u64::MAX], &[0, 0], &[1, u64::MAX]).is_overflow());
        assert!(part(&[0, 0], &[0, 1 << 63], &[1, 0]).is_overflow());
        assert!(part(&[0], &[0, 0], &[1, 1]).is_mismatch());
        assert!(part(&[0, 0], &[0, 0], &[1]).is_mismatch());
        assert!(part(&[0, 0], &[0, 0, 0], &[1, 1]).is_mismatch());
        let cube = TensorLayout::row_major(&[4, 6, 1]).unwrap();
        assert!(Refinement::of_part(&rows, &[], &cube, &[], &[]).unwrap_err().is_mismatch());
    }

    fn mixed() -> Vec<TensorLayout> {
        let merged = Layout::parse("(2,5,4):(4,8,1)").unwrap();
        let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
        let uneven = Layout::parse("(2,2,6,2,2):(24,12,2,1,96)").unwrap();
        let splits = [Step::Split { axis: 1, by: 3 }, Step::Split { axis: 3, by: 2 }];
        let box3 = |digits: &[Digit]| Pattern::new(3, digits).unwrap().layout(&[2, 3, 6]).unwrap();
        let row = TensorLayout::row_major(&[2, 3, 6]).unwrap();
        let swizzle = Swizzle::new(2, 1, 2).unwrap();
        let swizzled = row.layout().with_swizzle(swizzle).unwrap();
        vec![
            row.copied(),
            TensorLayout::col_major(&[2, 3, 6]).unwrap(),
            TensorLayout::with_steps(&[2, 3, 6], &steps, &merged, 40).unwrap(),
            TensorLayout::with_steps(&[2, 3, 6], &splits, &uneven, 192).unwrap(),
            TensorLayout::new(&[2, 3, 6], &swizzled, 40).unwrap(),
            box3(&[
                Digit::rest(2, 1),
                Digit::rest(0, 0),
                Digit::rest(1, 1),
                Digit::fixed(1, 0, 2),
                Digit::fixed(2, 0, 4),
            ]),
            box3(&[Digit::rest(2, 1), Digit::rest(1, 0), Digit::fixed(2, 0, 3), Digit::rest(0, 0)]),
        ]
    }

    #[test]
    fn merged_split_and_swizzled_dims_are_walked() {
        for src in mixed() {
            for dst in mixed() {
                check(&src, &dst);
            }
        }
    }

    #[test]
    fn digits_that_go_on_are_not_cut() {
        let of = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
        let (threes, fours) = (of("(3,4):(1,3)"), of("(4,3):(1,4)"));
        let line = |layout: &TensorLayout| TensorLayout::linear(layout.layout()).unwrap();
        let (src, dst) = (line(&threes), line(&fours));
        let refinement = Refinement::new(&src, &dst).unwrap();
        assert!(refinement.is_regular() && refinement.blocks().count() == 1);
        check(&src, &dst);
        check(&src, &line(&of("(4,3):(1,5)")));
        check(&line(&of("(3,2,2):(-1,-3,7)+6")), &line(&of("(2,2,3):(5,10,1)")));
    }

    #[test]
    fn large_ragged_arrays_are_few_blocks() {
        let src = TensorLayout::row_major(&[1_000_003, 1_000_003]).unwrap();
        let tile = Pattern::new(
            2,
            &[Digit::rest(0, 1), Digit::rest(1, 1), Digit::fixed(0, 0, 8), Digit::fixed(1, 0, 128)],
        )
        .unwrap();
        let dst = tile.layout(&[1_000_003, 1_000_003]).unwrap();
        let refinement = Refinement::new(&src, &dst).unwrap();
        assert!(refinement.is_regular());
        assert_eq!(refinement.blocks().count(), 4);
        assert_eq!(refinement.blocks().map(|block| block.size()).sum::<u64>(), src.size());
    }
}
